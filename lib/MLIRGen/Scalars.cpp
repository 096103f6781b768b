//===- Scalars.cpp - the language's scalar semantics in arith and math -------===//
#include "Scalars.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::mlirgen;
using hir::BinaryOp;
using hir::CompareOp;
using hir::MathFn;
using hir::UnaryOp;

//===- Types and constants --------------------------------------------------===//
Type Scalars::memoryType(DType t) const {
  switch (t) {
  case DType::F16:
    return b.getF16Type();
  case DType::BF16:
    return b.getBF16Type();
  case DType::F32:
    return b.getF32Type();
  case DType::F64:
    return b.getF64Type();
  case DType::E4M3:
    return Float8E4M3FNType::get(b.getContext());
  case DType::E5M2:
    return Float8E5M2Type::get(b.getContext());
  default:
    return b.getIntegerType(dtypeBits(t));
  }
}

Type Scalars::valueType(DType t) const { return t == DType::Bool ? b.getI1Type() : memoryType(t); }

Value Scalars::fromMemory(Value v, DType t) {
  if (t != DType::Bool || v.getType().isInteger(1))
    return v;
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v,
                               zero(v.getType())); // any non-zero byte is True
}

Value Scalars::toMemory(Value v, DType t) {
  if (t == DType::Bool && v.getType().isInteger(1))
    return arith::ExtUIOp::create(b, loc, b.getI8Type(), v);
  return fit(v, memoryType(t));
}

Value Scalars::index(int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); }
Value Scalars::boolean(bool v) { return arith::ConstantOp::create(b, loc, b.getBoolAttr(v)); }
Value Scalars::integer(Type type, int64_t v) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, v));
}

static FloatAttr realAttr(FloatType type, double v) {
  // Out of range is infinity, or the largest value where the type is narrow: the rule for conversions.
  if (type.getWidth() == 8 && !std::isnan(v)) {
    double max = llvm::APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
    v = std::min(std::max(v, -max), max);
  }
  llvm::APFloat value(v);
  bool losesInfo = false;
  value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return FloatAttr::get(type, value);
}

Value Scalars::real(Type type, double v) {
  return arith::ConstantOp::create(b, loc, realAttr(cast<FloatType>(type), v));
}

Value Scalars::zero(Type type) {
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type)));
}

TypedAttr Scalars::constantAttr(const hir::Expr *expr) const {
  switch (expr->kind) {
  case hir::Expr::IntConst:
    return b.getIntegerAttr(memoryType(expr->type), static_cast<const hir::IntConst *>(expr)->value);
  case hir::Expr::FloatConst:
    return realAttr(cast<FloatType>(memoryType(expr->type)),
                    static_cast<const hir::FloatConst *>(expr)->value);
  case hir::Expr::BoolConst:
    return b.getI8IntegerAttr(static_cast<const hir::BoolConst *>(expr)->value);
  default:
    return {};
  }
}

//===- index and i64 --------------------------------------------------------===//
Value Scalars::fit(Value v, Type type) {
  Type from = v.getType();
  if (from == type || !(from.isIndex() || type.isIndex()))
    return v;
  llvm::APInt constant;
  if (matchPattern(v, m_ConstantInt(&constant)))
    return integer(type, constant.getSExtValue());
  Value result = arith::IndexCastOp::create(b, loc, type, v);
  if (isNonNegative(v))
    setNonNegative(result);
  return result;
}

Value Scalars::toIndex(Value v) { return fit(v, b.getIndexType()); }
Value Scalars::toI64(Value v) { return v.getType().isIndex() ? fit(v, b.getI64Type()) : v; }

bool Scalars::isNonNegative(Value v) const {
  llvm::APInt constant;
  if (matchPattern(v, m_ConstantInt(&constant)))
    return !constant.isNegative();
  return nonNegative.contains(v);
}

Value Scalars::add(Value lhs, Value rhs) { return binary(BinaryOp::Add, DType::I64, lhs, rhs); }
Value Scalars::sub(Value lhs, Value rhs) { return binary(BinaryOp::Sub, DType::I64, lhs, rhs); }
Value Scalars::mul(Value lhs, Value rhs) { return binary(BinaryOp::Mul, DType::I64, lhs, rhs); }

Value Scalars::atLeastZero(Value v) {
  if (isNonNegative(v))
    return v;
  Value result = arith::MaxSIOp::create(b, loc, v, zero(v.getType()));
  setNonNegative(result);
  return result;
}

Value Scalars::andAll(ArrayRef<Value> conditions) {
  Value all;
  for (Value condition : conditions)
    all = all ? arith::AndIOp::create(b, loc, all, condition).getResult() : condition;
  return all ? all : boolean(true);
}

Value Scalars::select(Value cond, Value onTrue, Value onFalse) {
  if (onTrue.getType() != onFalse.getType()) { // index and i64
    onTrue = toI64(onTrue);
    onFalse = toI64(onFalse);
  }
  Value result = arith::SelectOp::create(b, loc, cond, onTrue, onFalse);
  if (isNonNegative(onTrue) && isNonNegative(onFalse))
    setNonNegative(result);
  return result;
}

//===- Operators -------------------------------------------------------------===//
Value Scalars::unary(UnaryOp op, DType t, Value v) {
  switch (op) {
  case UnaryOp::Not:
    return arith::XOrIOp::create(b, loc, v, boolean(true));
  case UnaryOp::BitNot:
    return arith::XOrIOp::create(b, loc, v, integer(v.getType(), -1));
  case UnaryOp::Neg:
    break;
  }
  if (isFloat(t))
    return arith::NegFOp::create(b, loc, v);
  return arith::SubIOp::create(b, loc, zero(v.getType()), v);
}

Value Scalars::binary(BinaryOp op, DType t, Value lhs, Value rhs) {
  if (isNarrowFloat(t)) // only min and max: exact in f32
    return arith::TruncFOp::create(b, loc, lhs.getType(), floatBinary(op, widen(lhs), widen(rhs)));
  if (isFloat(t))
    return floatBinary(op, lhs, rhs);
  if (lhs.getType() != rhs.getType()) { // index arithmetic meets data
    lhs = toI64(lhs);
    rhs = toI64(rhs);
  }
  Value result = integerBinary(op, t, lhs, rhs);
  // Index arithmetic does not overflow: the launcher has checked the sizes.
  bool bothPositive = isNonNegative(lhs) && isNonNegative(rhs);
  bool keepsSign = op != BinaryOp::Sub && op != BinaryOp::Shl && op != BinaryOp::Pow;
  bool positive = bothPositive && keepsSign;
  positive |= op == BinaryOp::Mod && isNonNegative(rhs);
  positive |= op == BinaryOp::Max && (isNonNegative(lhs) || isNonNegative(rhs));
  if (positive && result.getType().isIndex())
    setNonNegative(result);
  return result;
}

Value Scalars::integerBinary(BinaryOp op, DType t, Value lhs, Value rhs) {
  bool isSignedT = isSigned(t);
  switch (op) {
  case BinaryOp::Add:
    return arith::AddIOp::create(b, loc, lhs, rhs);
  case BinaryOp::Sub:
    return arith::SubIOp::create(b, loc, lhs, rhs);
  case BinaryOp::Mul:
    return arith::MulIOp::create(b, loc, lhs, rhs);
  case BinaryOp::BitAnd:
    return arith::AndIOp::create(b, loc, lhs, rhs);
  case BinaryOp::BitOr:
    return arith::OrIOp::create(b, loc, lhs, rhs);
  case BinaryOp::BitXor:
    return arith::XOrIOp::create(b, loc, lhs, rhs);
  case BinaryOp::Shl:
  case BinaryOp::Shr:
    return shift(op, t, lhs, rhs);
  case BinaryOp::Min:
  case BinaryOp::MinNum:
    if (isSignedT)
      return arith::MinSIOp::create(b, loc, lhs, rhs);
    return arith::MinUIOp::create(b, loc, lhs, rhs);
  case BinaryOp::Max:
  case BinaryOp::MaxNum:
    if (isSignedT)
      return arith::MaxSIOp::create(b, loc, lhs, rhs);
    return arith::MaxUIOp::create(b, loc, lhs, rhs);
  case BinaryOp::Pow:
    return integerPower(lhs, rhs);
  case BinaryOp::Div:
  case BinaryOp::FloorDiv:
  case BinaryOp::Mod:
  case BinaryOp::TruncDiv:
  case BinaryOp::TruncMod:
  case BinaryOp::CeilDiv:
    break;
  }
  if (!isSignedT || (lhs.getType().isIndex() && isNonNegative(lhs) && isNonNegative(rhs)))
    return unsignedDivision(op, lhs, rhs);
  return signedDivision(op, lhs, rhs);
}

Value Scalars::unsignedDivision(BinaryOp op, Value lhs, Value rhs) {
  llvm::APInt constant;
  if (!matchPattern(rhs, m_ConstantInt(&constant)) || constant.isZero())
    rhs = arith::MaxUIOp::create(b, loc, rhs, integer(rhs.getType(), 1)); // unspecified, but never a trap
  if (op == BinaryOp::Mod || op == BinaryOp::TruncMod)
    return arith::RemUIOp::create(b, loc, lhs, rhs);
  if (op == BinaryOp::CeilDiv)
    return arith::CeilDivUIOp::create(b, loc, lhs, rhs);
  return arith::DivUIOp::create(b, loc, lhs, rhs);
}

Value Scalars::signedDivision(BinaryOp op, Value lhs, Value rhs) {
  Type type = rhs.getType();
  llvm::APInt constant;
  bool isConstant = matchPattern(rhs, m_ConstantInt(&constant));
  if (!isConstant || constant.isZero() || constant.isAllOnes()) {
    // Division by zero and MIN / -1 are unspecified, but never a trap.
    unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    Value lowest = integer(type, llvm::APInt::getSignedMinValue(bits).getSExtValue());
    auto equal = [&](Value x, Value y) -> Value {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
    };
    Value overflows = arith::AndIOp::create(b, loc, equal(lhs, lowest), equal(rhs, integer(type, -1)));
    Value bad = arith::OrIOp::create(b, loc, equal(rhs, zero(type)), overflows);
    rhs = arith::SelectOp::create(b, loc, bad, integer(type, 1), rhs);
  }
  switch (op) {
  case BinaryOp::TruncMod:
    return arith::RemSIOp::create(b, loc, lhs, rhs);
  case BinaryOp::CeilDiv:
    return arith::CeilDivSIOp::create(b, loc, lhs, rhs);
  case BinaryOp::FloorDiv:
    return arith::FloorDivSIOp::create(b, loc, lhs, rhs);
  case BinaryOp::Mod: {
    Value quotient = arith::FloorDivSIOp::create(b, loc, lhs, rhs);
    return arith::SubIOp::create(b, loc, lhs, arith::MulIOp::create(b, loc, quotient, rhs));
  }
  default:
    return arith::DivSIOp::create(b, loc, lhs, rhs);
  }
}

/// A count outside the width is unspecified: its low bits are used, so that no poison appears.
Value Scalars::shift(BinaryOp op, DType t, Value lhs, Value rhs) {
  Type type = rhs.getType();
  int64_t bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  llvm::APInt constant;
  if (!matchPattern(rhs, m_ConstantInt(&constant)) || constant.uge(bits))
    rhs = arith::AndIOp::create(b, loc, rhs, integer(type, bits - 1));
  if (op == BinaryOp::Shl)
    return arith::ShLIOp::create(b, loc, lhs, rhs);
  if (isSigned(t))
    return arith::ShRSIOp::create(b, loc, lhs, rhs);
  return arith::ShRUIOp::create(b, loc, lhs, rhs);
}

/// Square and multiply over all bits of the exponent; a negative one has no integer result.
Value Scalars::integerPower(Value base, Value exponent) {
  base = toI64(base);
  exponent = toI64(exponent);
  Type type = base.getType();
  Value one = integer(type, 1);
  auto loop = scf::ForOp::create(b, loc, index(0), index(type.getIntOrFloatBitWidth()), index(1),
                                 ValueRange{one, base, exponent});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto args = loop.getRegionIterArgs();
  Value odd = arith::TruncIOp::create(b, loc, b.getI1Type(), args[2]);
  Value product = arith::MulIOp::create(b, loc, args[0], args[1]);
  Value result = arith::SelectOp::create(b, loc, odd, product, args[0]);
  Value square = arith::MulIOp::create(b, loc, args[1], args[1]);
  Value rest = arith::ShRUIOp::create(b, loc, args[2], one);
  scf::YieldOp::create(b, loc, ValueRange{result, square, rest});
  return loop.getResult(0);
}

Value Scalars::floatBinary(BinaryOp op, Value lhs, Value rhs) {
  switch (op) {
  case BinaryOp::Add:
    return arith::AddFOp::create(b, loc, lhs, rhs);
  case BinaryOp::Sub:
    return arith::SubFOp::create(b, loc, lhs, rhs);
  case BinaryOp::Mul:
    return arith::MulFOp::create(b, loc, lhs, rhs);
  case BinaryOp::Div:
    return arith::DivFOp::create(b, loc, lhs, rhs);
  case BinaryOp::Min:
    return arith::MinimumFOp::create(b, loc, lhs, rhs);
  case BinaryOp::Max:
    return arith::MaximumFOp::create(b, loc, lhs, rhs);
  case BinaryOp::MinNum:
    return arith::MinNumFOp::create(b, loc, lhs, rhs);
  case BinaryOp::MaxNum:
    return arith::MaxNumFOp::create(b, loc, lhs, rhs);
  case BinaryOp::Pow:
    return math::PowFOp::create(b, loc, lhs, rhs);
  default:
    break;
  }
  // Quotients that round to an integer are computed in at least f32 and rounded once.
  Type type = lhs.getType();
  Value result = floatDivision(op, widen(lhs), widen(rhs));
  return result.getType() == type ? result : arith::TruncFOp::create(b, loc, type, result).getResult();
}

/// Python's // and % (or C's, for the trunc forms): a quotient that was rounded up over an integer is
/// corrected by the exact remainder.
Value Scalars::floatDivision(BinaryOp op, Value lhs, Value rhs) {
  if (op == BinaryOp::CeilDiv) {
    Value negated = arith::NegFOp::create(b, loc, lhs);
    return arith::NegFOp::create(b, loc, floatDivision(BinaryOp::FloorDiv, negated, rhs));
  }
  bool truncates = op == BinaryOp::TruncDiv || op == BinaryOp::TruncMod;
  Type type = lhs.getType();
  Value zeroF = real(type, 0.0), one = real(type, 1.0);
  auto cmp = [&](arith::CmpFPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  };
  Value ratio = arith::DivFOp::create(b, loc, lhs, rhs);
  Value quotient = truncates ? math::TruncOp::create(b, loc, ratio).getResult()
                             : math::FloorOp::create(b, loc, ratio).getResult();
  Value exact = math::FmaOp::create(b, loc, arith::NegFOp::create(b, loc, quotient), rhs, lhs);
  Value none = cmp(arith::CmpFPredicate::OEQ, quotient, zeroF); // also keeps 0 * infinity out
  Value remainder = select(none, lhs, exact);
  // Its sign is the divisor's (floor) or the dividend's (trunc); else the quotient is one too far from it.
  Value reference = truncates ? lhs : rhs;
  Value wrongSign = arith::XOrIOp::create(b, loc, cmp(arith::CmpFPredicate::OLT, remainder, zeroF),
                                          cmp(arith::CmpFPredicate::OLT, reference, zeroF));
  wrongSign = arith::AndIOp::create(b, loc, wrongSign, cmp(arith::CmpFPredicate::ONE, remainder, zeroF));
  Value divisor = rhs, step = one;
  if (truncates) { // toward zero: step against the sign of the quotient
    Value negative = cmp(arith::CmpFPredicate::OLT, ratio, zeroF);
    divisor = select(negative, arith::NegFOp::create(b, loc, rhs), rhs);
    step = select(negative, real(type, -1.0), one);
    Value lhsNegative = cmp(arith::CmpFPredicate::OLT, lhs, zeroF);
    Value magnitude = math::AbsFOp::create(b, loc, rhs);
    divisor = select(lhsNegative, arith::NegFOp::create(b, loc, magnitude), magnitude);
  }
  if (op == BinaryOp::Mod || op == BinaryOp::TruncMod)
    return select(wrongSign, arith::AddFOp::create(b, loc, remainder, divisor), remainder);
  return select(wrongSign, arith::SubFOp::create(b, loc, quotient, step), quotient);
}

Value Scalars::compare(CompareOp op, DType t, Value lhs, Value rhs) {
  if (isFloat(t)) {
    using P = arith::CmpFPredicate;
    constexpr P predicates[] = {P::OEQ, P::UNE, P::OLT, P::OLE, P::OGT, P::OGE};
    return arith::CmpFOp::create(b, loc, predicates[static_cast<unsigned>(op)], widen(lhs), widen(rhs));
  }
  if (lhs.getType() != rhs.getType()) {
    lhs = toI64(lhs);
    rhs = toI64(rhs);
  }
  using P = arith::CmpIPredicate;
  constexpr P signedOnes[] = {P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge};
  constexpr P unsignedOnes[] = {P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge};
  return arith::CmpIOp::create(b, loc, (isSigned(t) ? signedOnes : unsignedOnes)[static_cast<unsigned>(op)],
                               lhs, rhs);
}

//===- Functions --------------------------------------------------------------===//
/// 10^x = 2^h * (1 + l ln 2) with x log2(10) = h + l in twice the precision: a plain product would lose the
/// low bits of large exponents.
Value Scalars::exp10(Value x) {
  Type type = x.getType();
  constexpr double log2of10 = 3.3219280948873623478703194294894, ln2 = 0.69314718055994530941723212145818;
  bool isDouble = type.isF64();
  double high = isDouble ? log2of10 : static_cast<double>(static_cast<float>(log2of10));
  double low = isDouble ? 1.6616175169735920e-16 : log2of10 - high;
  Value h = arith::MulFOp::create(b, loc, x, real(type, high));
  Value l = math::FmaOp::create(b, loc, x, real(type, high), arith::NegFOp::create(b, loc, h));
  l = math::FmaOp::create(b, loc, x, real(type, low), l);
  Value size = math::AbsFOp::create(b, loc, h);
  Value small =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, size, real(type, isDouble ? 1100.0 : 160.0));
  Value factor = math::FmaOp::create(b, loc, l, real(type, ln2), real(type, 1.0));
  factor = select(small, factor, real(type, 1.0));
  return arith::MulFOp::create(b, loc, math::Exp2Op::create(b, loc, h), factor);
}

Value Scalars::math(MathFn fn, DType t, ArrayRef<Value> args) {
  Value x = args.front();
  if (!isFloat(t)) { // only abs, and rounding of what has no fraction
    if (fn == MathFn::Abs && isSigned(t))
      return mlir::math::AbsIOp::create(b, loc, x);
    if (fn == MathFn::IsNan || fn == MathFn::IsInf)
      return boolean(false);
    return x;
  }
  if (isNarrowFloat(t)) {
    Value wide = this->math(fn, DType::F32, {widen(x)});
    return isa<FloatType>(wide.getType()) ? arith::TruncFOp::create(b, loc, x.getType(), wide).getResult()
                                          : wide;
  }
  switch (fn) {
  case MathFn::Exp:
    return mlir::math::ExpOp::create(b, loc, x);
  case MathFn::Exp2:
    return mlir::math::Exp2Op::create(b, loc, x);
  case MathFn::Exp10:
    return exp10(x);
  case MathFn::Expm1:
    return mlir::math::ExpM1Op::create(b, loc, x);
  case MathFn::Log:
    return mlir::math::LogOp::create(b, loc, x);
  case MathFn::Log2:
    return mlir::math::Log2Op::create(b, loc, x);
  case MathFn::Log10:
    return mlir::math::Log10Op::create(b, loc, x);
  case MathFn::Log1p:
    return mlir::math::Log1pOp::create(b, loc, x);
  case MathFn::Sqrt:
    return mlir::math::SqrtOp::create(b, loc, x);
  case MathFn::Rsqrt:
    return mlir::math::RsqrtOp::create(b, loc, x);
  case MathFn::Sin:
    return mlir::math::SinOp::create(b, loc, x);
  case MathFn::Cos:
    return mlir::math::CosOp::create(b, loc, x);
  case MathFn::Tan:
    return mlir::math::TanOp::create(b, loc, x);
  case MathFn::Tanh:
    return mlir::math::TanhOp::create(b, loc, x);
  case MathFn::Sigmoid: {
    Value e = mlir::math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, x));
    Value one = real(x.getType(), 1.0);
    return arith::DivFOp::create(b, loc, one, arith::AddFOp::create(b, loc, one, e));
  }
  case MathFn::Erf:
    return mlir::math::ErfOp::create(b, loc, x);
  case MathFn::Abs:
    return mlir::math::AbsFOp::create(b, loc, x);
  case MathFn::Floor:
    return mlir::math::FloorOp::create(b, loc, x);
  case MathFn::Ceil:
    return mlir::math::CeilOp::create(b, loc, x);
  case MathFn::Round:
    return mlir::math::RoundEvenOp::create(b, loc, x); // Python's
  case MathFn::Trunc:
    return mlir::math::TruncOp::create(b, loc, x);
  case MathFn::IsNan:
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  case MathFn::IsInf: {
    Value size = mlir::math::AbsFOp::create(b, loc, x);
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, size,
                                 real(x.getType(), std::numeric_limits<double>::infinity()));
  }
  case MathFn::Fma:
    return mlir::math::FmaOp::create(b, loc, x, args[1], args[2]);
  }
  return x;
}
