//===- Casts.cpp - conversions between element types -------------------------===//
//
// int -> int keeps the low bits; float -> int truncates, saturates, and makes 0 of NaN; int -> float and
// float -> float round to nearest even; float -> fp8 saturates (infinities too) and keeps NaN; -> bool is `!=
// 0`.
//
//===----------------------------------------------------------------------===//
#include "Scalars.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::mlirgen;

Value Scalars::widen(Value v) {
  Type type = v.getType();
  if (!isa<FloatType>(type) || type.getIntOrFloatBitWidth() >= 32)
    return v;
  return arith::ExtFOp::create(b, loc, b.getF32Type(), v);
}

bool Scalars::isPlainFloatCast(DType from, DType to) {
  if (!isFloat(from) || !isFloat(to) || isNarrowFloat(to))
    return false;
  return dtypeBits(from) != dtypeBits(to);
}

/// The sign of an out-of-range value decides; the conversion itself is only used where it is defined.
Value Scalars::floatToInt(Value v, DType to) {
  v = widen(v);
  Type floatType = v.getType(), intType = memoryType(to);
  unsigned bits = dtypeBits(to);
  bool isSignedTo = isSigned(to);
  Value result = isSignedTo ? arith::FPToSIOp::create(b, loc, intType, v).getResult()
                            : arith::FPToUIOp::create(b, loc, intType, v).getResult();
  llvm::APInt max = isSignedTo ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  llvm::APInt min = isSignedTo ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits);
  auto intConstant = [&](const llvm::APInt &value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(intType, value));
  };
  // The first value that is too large is a power of two, hence exact in every float type used here.
  Value limit = real(floatType, std::ldexp(1.0, isSignedTo ? bits - 1 : bits));
  Value tooLarge = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, v, limit);
  result = select(tooLarge, intConstant(max), result);
  if (!isSignedTo) {
    // Negative values and NaN alike.
    Value positive = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, v, real(floatType, 0.0));
    return select(positive, result, intConstant(min));
  }
  Value lowest = real(floatType, -std::ldexp(1.0, bits - 1));
  Value tooSmall = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE, v, lowest);
  result = select(tooSmall, intConstant(min), result);
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, v, v);
  return select(isNan, zero(intType), result);
}

/// f64 -> f32 such that a second rounding to fewer bits gives what a single one would have given: toward
/// zero, and the last bit set when anything was cut off.
Value Scalars::roundToOdd(Value v) {
  Type f32 = b.getF32Type(), f64 = b.getF64Type(), i32 = b.getI32Type();
  Value nearest = arith::TruncFOp::create(b, loc, f32, v);
  Value back = arith::ExtFOp::create(b, loc, f64, nearest);
  Value magnitude = this->math(hir::MathFn::Abs, DType::F64, {v});
  Value backMagnitude = this->math(hir::MathFn::Abs, DType::F64, {back});
  Value away = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, backMagnitude, magnitude);
  Value inexact = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, v);
  Value bits = arith::BitcastOp::create(b, loc, i32, nearest);
  Value below = arith::SubIOp::create(b, loc, bits, integer(i32, 1));
  bits = select(away, below, bits);
  Value odd = arith::OrIOp::create(b, loc, bits, integer(i32, 1));
  bits = select(inexact, odd, bits);
  return arith::BitcastOp::create(b, loc, f32, bits);
}

Value Scalars::floatToFloat(Value v, DType from, DType to, bool saturate) {
  if (isNarrowFloat(to)) {
    Value wide = from == DType::F64 ? roundToOdd(v) : widen(v);
    if (saturate) {
      double max = to == DType::E4M3 ? 448.0 : 57344.0;
      wide = arith::MinimumFOp::create(b, loc, wide, real(wide.getType(), max));
      wide = arith::MaximumFOp::create(b, loc, wide, real(wide.getType(), -max));
    }
    return arith::TruncFOp::create(b, loc, memoryType(to), wide);
  }
  if (dtypeBits(from) == dtypeBits(to)) { // float16 <-> bfloat16
    v = widen(v);
    return arith::TruncFOp::create(b, loc, memoryType(to), v);
  }
  if (dtypeBits(from) < dtypeBits(to))
    return arith::ExtFOp::create(b, loc, memoryType(to), v);
  return arith::TruncFOp::create(b, loc, memoryType(to), v);
}

/// Rounds an integer of 32 or 64 bits to odd, to at most 24 digits and at least 11: exact in f32, from where
/// a second rounding to bf16 (8 digits) gives what a single one would have given.
static Value roundIntegerToOdd(OpBuilder &b, Location loc, Value v, bool isSigned) {
  Type type = v.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  Value magnitude = v; // less one where negative, which changes no step below: there the value is exact
  if (isSigned)
    magnitude =
        arith::XOrIOp::create(b, loc, v, arith::ShRSIOp::create(b, loc, v, constant(bits - 1)).getResult());
  // From 2^first on, the low `drop` bits go.
  static constexpr std::pair<unsigned, unsigned> kSteps64[] = {{24, 14}, {38, 28}, {52, 40}},
                                                 kSteps32[] = {{24, 8}};
  Value dropped = constant(0);
  for (auto [first, drop] : bits == 64 ? ArrayRef(kSteps64) : ArrayRef(kSteps32)) {
    Value large =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, magnitude, constant(int64_t(1) << first));
    dropped = arith::SelectOp::create(b, loc, large, constant((int64_t(1) << drop) - 1), dropped);
  }
  // (v & dropped) + dropped carries into the last bit kept exactly if some bit is lost.
  Value lost = arith::AndIOp::create(b, loc, v, dropped);
  Value carried = arith::AddIOp::create(b, loc, lost, dropped);
  Value kept = arith::XOrIOp::create(b, loc, dropped, constant(-1));
  return arith::AndIOp::create(b, loc, arith::OrIOp::create(b, loc, v, carried).getResult(), kept);
}

/// Integer or bool -> float. Chips without a conversion to bf16 go through f32, which would round twice.
Value Scalars::toFloat(Value v, DType from, DType to, bool saturate) {
  DType via = isNarrowFloat(to) ? DType::F32 : to; // what f32 cannot hold exactly saturates anyway
  v = toI64(v);
  if (to == DType::BF16 && v.getType().getIntOrFloatBitWidth() >= 32) {
    v = roundIntegerToOdd(b, loc, v, isSigned(from));
    via = DType::F32;
  }
  Value result = isSigned(from) ? arith::SIToFPOp::create(b, loc, memoryType(via), v).getResult()
                                : arith::UIToFPOp::create(b, loc, memoryType(via), v).getResult();
  return via == to ? result : floatToFloat(result, via, to, saturate);
}

Value Scalars::convert(Value v, DType from, DType to, bool saturate) {
  if (from == to)
    return v;
  if (to == DType::Bool) {
    if (isFloat(from)) {
      v = widen(v);
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, v, zero(v.getType()));
    }
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v, zero(v.getType()));
  }
  if (isFloat(from))
    return isFloat(to) ? floatToFloat(v, from, to, saturate) : floatToInt(v, to);
  if (isFloat(to))
    return toFloat(v, from, to, saturate);
  Type type = memoryType(to);
  if (v.getType().isIndex())
    return type.isInteger(64) ? toI64(v) : arith::IndexCastOp::create(b, loc, type, v).getResult();
  unsigned have = v.getType().getIntOrFloatBitWidth(), want = dtypeBits(to);
  if (have == want)
    return v;
  if (have > want)
    return arith::TruncIOp::create(b, loc, type, v);
  return isSigned(from) ? arith::ExtSIOp::create(b, loc, type, v).getResult()
                        : arith::ExtUIOp::create(b, loc, type, v).getResult();
}
