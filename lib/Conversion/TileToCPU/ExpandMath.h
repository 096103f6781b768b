//===- ExpandMath.h - float functions and conversions as plain arithmetic ----===//
#ifndef TILEC_LIB_CONVERSION_TILETOCPU_EXPANDMATH_H
#define TILEC_LIB_CONVERSION_TILETOCPU_EXPANDMATH_H
#include "Code.h"

namespace tilec::cpu {

/// Code about floats of one type, scalar or vector.
class MathCode : public Code {
public:
  MathCode(OpBuilder &b, Location loc, unsigned level) : Code(b, loc), level(level) {}
  unsigned level;

  //===- Conversions (ExpandFloat.cpp) ---------------------------------------===//
  Value extend(Value x, Type element);   ///< f16, bf16, f32 -> wider
  Value truncate(Value x, Type element); ///< f64, f32 -> narrower, one rounding
  Value fma(Value x, Value y, Value z);  ///< one rounding (f64 on x86-64-v2: almost)

  //===- Functions (ExpandMath.cpp); x is f32 or f64 ---------------------------===//
  Value exp(Value x);
  Value exp2(Value x);
  Value expm1(Value x);
  Value log(Value x);
  Value log2(Value x);
  Value log10(Value x);
  Value log1p(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value rsqrt(Value x);
  enum Circular { Sin, Cos, Tan };
  Value circular(Circular which, Value x);
  Value pow(Value x, Value y);
  Value remainder(Value x, Value y); ///< of truncated division, exact

  //===- Building blocks -------------------------------------------------------===//
  Type as(Value like, Type element) {
    if (auto vector = dyn_cast<VectorType>(like.getType()))
      return VectorType::get(vector.getShape(), element);
    return element;
  }
  Type element(Value x) { return getElementTypeOrSelf(x.getType()); }
  bool isDouble(Value x) { return element(x).isF64(); }
  Type intOf(Value x) { return as(x, b.getIntegerType(element(x).getIntOrFloatBitWidth())); }
  Value num(Value like, double n) { return number(like.getType(), n); }
  Value i(Value like, int64_t n) { return integer(intOf(like), n); }
  Value bits(Value x) { return arith::BitcastOp::create(b, loc, intOf(x), x); }
  Value bitsAs(Value x, Type type) { return arith::BitcastOp::create(b, loc, as(x, type), x); }
  Value fadd(Value x, Value y) { return fold<arith::AddFOp>(x, y); }
  Value fsub(Value x, Value y) { return fold<arith::SubFOp>(x, y); }
  Value fmul(Value x, Value y) { return fold<arith::MulFOp>(x, y); }
  Value fdiv(Value x, Value y) { return fold<arith::DivFOp>(x, y); }
  /// x * y + z, fused where the processor can.
  Value mad(Value x, Value y, Value z) { return LLVM::FMulAddOp::create(b, loc, x, y, z); }
  Value fcmp(arith::CmpFPredicate p, Value x, Value y) { return arith::CmpFOp::create(b, loc, p, x, y); }
  Value fabs(Value x);
  Value copySign(Value magnitude, Value sign);
  Value shl(Value x, int64_t n) { return fold<arith::ShLIOp>(x, integer(x.getType(), n)); }
  Value shr(Value x, int64_t n) { return fold<arith::ShRUIOp>(x, integer(x.getType(), n)); }
  Value sar(Value x, int64_t n) { return fold<arith::ShRSIOp>(x, integer(x.getType(), n)); }
  Value iadd(Value x, int64_t n) { return fold<arith::AddIOp>(x, integer(x.getType(), n)); }
  Value iand(Value x, int64_t n) { return fold<arith::AndIOp>(x, integer(x.getType(), n)); }
  /// c[0] * x^n + .. + c[n].
  Value polynomial(Value x, ArrayRef<double> coefficients);
  /// x * 2^n for n in twice the exponent range; one rounding.
  Value scale(Value x, Value n);

private:
  Value roundToOdd(Value x);
  Value reduceLog(Value x, Value &exponent);
  Value finishLog(Value x, Value result);
  Value quadrant(Value x, Value &rest, Value &tail, bool exact);
  Value farQuadrant(Value x, Value &rest);
};

} // namespace tilec::cpu
#endif
