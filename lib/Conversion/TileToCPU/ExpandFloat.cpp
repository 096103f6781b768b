//===- ExpandFloat.cpp - conversions, narrow floats, integer division --------===//
#include "ExpandMath.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tilec/Conversion/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::cpu;

Value MathCode::fabs(Value x) {
  int64_t all = isDouble(x) ? INT64_MAX : INT32_MAX;
  return bitsAs(iand(bits(x), all), element(x));
}

Value MathCode::copySign(Value magnitude, Value sign) {
  int64_t top = isDouble(sign) ? INT64_MIN : INT32_MIN;
  Value m = iand(bits(magnitude), ~top), s = iand(bits(sign), top);
  return bitsAs(either(m, s), element(sign));
}

//===- Conversions -----------------------------------------------------------===//
Value MathCode::extend(Value x, Type to) {
  Type from = element(x);
  if (from == to)
    return x;
  if (to.isF64() && !from.isF32())
    return extend(extend(x, b.getF32Type()), to);
  if (from.isBF16()) {
    Value wide = arith::ExtUIOp::create(b, loc, as(x, b.getI32Type()), bits(x));
    return bitsAs(shl(wide, 16), b.getF32Type());
  }
  if (from.isF16() && level < 3) {
    Value half = arith::ExtUIOp::create(b, loc, as(x, b.getI32Type()), bits(x));
    Value sign = shl(iand(half, 0x8000), 16), magnitude = shl(iand(half, 0x7fff), 13);
    Value special = cmp(arith::CmpIPredicate::uge, magnitude, integer(magnitude.getType(), 0x7c00 << 13));
    Value small = bitsAs(magnitude, b.getF32Type());
    Value scaled = bits(fmul(small, num(small, 0x1p112))); // exact, denormals too
    Value notFinite = either(magnitude, integer(magnitude.getType(), 0x7f800000));
    return bitsAs(either(select(special, notFinite, scaled), sign), b.getF32Type());
  }
  return arith::ExtFOp::create(b, loc, as(x, to), x);
}

/// f64 -> f32 with the last bit set when anything was lost: rounding that once more equals rounding x once.
Value MathCode::roundToOdd(Value x) {
  Value near = arith::TruncFOp::create(b, loc, as(x, b.getF32Type()), x);
  Value back = arith::ExtFOp::create(b, loc, x.getType(), near);
  Value inexact = fcmp(arith::CmpFPredicate::ONE, back, x);
  Value away = fcmp(arith::CmpFPredicate::OGT, fabs(back), fabs(x));
  Value raw = bits(near);
  Value toward = select(away, iadd(raw, -1), raw);
  return bitsAs(select(inexact, either(toward, i(near, 1)), raw), b.getF32Type());
}

static Value narrowHalf(MathCode &c, Value x) {
  Value raw = c.bits(x), sign = c.shr(c.iand(raw, INT32_MIN), 16), magnitude = c.iand(raw, INT32_MAX);
  Value nan = c.integer(raw.getType(), 0x7e00), inf = c.integer(raw.getType(), 0x7c00);
  using P = arith::CmpIPredicate;
  Value isNan = c.cmp(P::ugt, magnitude, c.integer(raw.getType(), 0x7f800000));
  Value isLarge = c.cmp(P::uge, magnitude, c.integer(raw.getType(), 0x47800000));
  Value isSmall = c.cmp(P::ult, magnitude, c.integer(raw.getType(), 0x38800000));
  // Adding one half makes the unit in the last place that of the denormals: the addition rounds.
  Value pushed = c.bits(c.fadd(c.bitsAs(magnitude, c.b.getF32Type()), c.num(x, 0.5)));
  Value denormal = c.iadd(pushed, -0x3f000000);
  Value odd = c.iand(c.shr(magnitude, 13), 1);
  Value normal = c.shr(c.add(c.iadd(magnitude, static_cast<int32_t>(0xc8000fff)), odd), 13);
  Value result = c.select(isLarge, c.select(isNan, nan, inf), c.select(isSmall, denormal, normal));
  Value word = arith::TruncIOp::create(c.b, c.loc, c.as(x, c.b.getI16Type()), c.either(result, sign));
  return c.bitsAs(word, c.b.getF16Type());
}

static Value narrowBrain(MathCode &c, Value x) {
  Value raw = c.bits(x);
  Value isNan = c.fcmp(arith::CmpFPredicate::UNO, x, x);
  Value odd = c.iand(c.shr(raw, 16), 1);
  Value rounded = c.add(c.iadd(raw, 0x7fff), odd);
  Value quiet = c.either(raw, c.integer(raw.getType(), 0x400000));
  Value high = c.shr(c.select(isNan, quiet, rounded), 16);
  Value word = arith::TruncIOp::create(c.b, c.loc, c.as(x, c.b.getI16Type()), high);
  return c.bitsAs(word, c.b.getBF16Type());
}

Value MathCode::truncate(Value x, Type to) {
  if (element(x) == to)
    return x;
  if (element(x).isF64() && to.getIntOrFloatBitWidth() < 32)
    return truncate(roundToOdd(x), to);
  if (to.isBF16())
    return narrowBrain(*this, x);
  if (to.isF16() && level < 3)
    return narrowHalf(*this, x);
  return arith::TruncFOp::create(b, loc, as(x, to), x);
}

Value MathCode::fma(Value x, Value y, Value z) {
  if (level >= 3)
    return LLVM::FMAOp::create(b, loc, x, y, z);
  if (!isDouble(x)) {
    // The product is exact in f64; the sum is made odd where it was rounded.
    Type f64 = b.getF64Type();
    Value p = fmul(extend(x, f64), extend(y, f64)), w = extend(z, f64), s = fadd(p, w);
    Value t = fsub(s, p), error = fadd(fsub(p, fsub(s, t)), fsub(w, t));
    Value raw = bits(s);
    Value lost = fcmp(arith::CmpFPredicate::ONE, error, num(error, 0.0));
    Value inward = fcmp(arith::CmpFPredicate::OLT, fmul(error, copySign(num(s, 1.0), s)), num(s, 0.0));
    Value odd = either(select(inward, iadd(raw, -1), raw), i(s, 1));
    return arith::TruncFOp::create(b, loc, x.getType(), bitsAs(select(lost, odd, raw), f64));
  }
  // Dekker's product and Knuth's sum.
  auto split = [&](Value v) {
    Value t = fmul(v, num(v, 134217729.0));
    Value high = fsub(t, fsub(t, v));
    return std::make_pair(high, fsub(v, high));
  };
  Value p = fmul(x, y);
  auto [xh, xl] = split(x);
  auto [yh, yl] = split(y);
  Value pe =
      fadd(fsub(fadd(fsub(fmul(xh, yh), p), fadd(fmul(xh, yl), fmul(xl, yh))), num(x, 0.0)), fmul(xl, yl));
  Value s = fadd(p, z), t = fsub(s, p), se = fadd(fsub(p, fsub(s, t)), fsub(z, t));
  Value exact = fadd(s, fadd(se, pe));
  Value finite = fcmp(arith::CmpFPredicate::OLT, fabs(exact), num(x, 1e308));
  return select(finite, exact, s);
}

//===- Patterns --------------------------------------------------------------===//
namespace {
/// Rewrites one operation where it stands. Phase 0 widens arithmetic on narrow floats, phase 1 expands
/// functions (see ExpandMath.cpp), phase 2 the conversions and divisions that both leave behind.
class Expander {
public:
  /// Level 0 is a GPU, which has fused products and computes with narrow floats itself.
  Expander(Operation *root, unsigned level) : root(root), isGPU(level == 0), level(isGPU ? 4 : level) {}

  LogicalResult run() {
    if (!isGPU)
      each([&](Operation *op) { return widenNarrow(op); });
    each([&](Operation *op) { return expandFunction(op); });
    each([&](Operation *op) { return expandConversion(op); });
    if (!isGPU)
      each([&](Operation *op) { return expandRounding(op); });
    each([&](Operation *op) { return expandDivision(op); });
    WalkResult result = root->walk([&](Operation *op) {
      if (!isa<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp, math::AtanOp, math::Atan2Op,
               math::AtanhOp, math::CbrtOp, math::CosOp, math::CoshOp, math::ErfOp, math::ErfcOp, math::ExpOp,
               math::Exp2Op, math::ExpM1Op, math::FPowIOp, math::IPowIOp, math::LogOp, math::Log2Op,
               math::Log10Op, math::Log1pOp, math::PowFOp, math::SinOp, math::SincosOp, math::SinhOp,
               math::TanOp, math::TanhOp>(op))
        return WalkResult::advance();
      op->emitError() << "[E0540] " << op->getName().stripDialect() << " of " << op->getOperand(0).getType()
                      << " is not supported on this target";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

private:
  void each(llvm::function_ref<SmallVector<Value>(Operation *)> rewrite) {
    SmallVector<Operation *> ops;
    root->walk([&](Operation *op) {
      if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      SmallVector<Value> values = rewrite(op);
      if (values.empty())
        continue;
      op->replaceAllUsesWith(values);
      op->erase();
    }
  }

  static bool isNarrow(Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isF16() || element.isBF16();
  }

  /// f16 and bf16 compute in f32 and round once. (f32 has more than twice their digits, so that is the right
  /// result for
  /// + - * / and sqrt.)
  SmallVector<Value> widenNarrow(Operation *op) {
    if (isa<arith::ConstantOp, arith::BitcastOp, arith::SelectOp, arith::ExtFOp, arith::TruncFOp>(op))
      return {};
    bool narrowIn = llvm::any_of(op->getOperandTypes(), isNarrow),
         narrowOut = llvm::any_of(op->getResultTypes(), isNarrow);
    if (!narrowIn && !narrowOut)
      return {};
    OpBuilder b(op);
    MathCode c(b, op->getLoc(), level);
    if (!narrowIn) { // an integer: through f64, which holds every 32-bit number
      Type f64 = c.as(op->getResult(0), b.getF64Type());
      Value wide = isa<arith::UIToFPOp>(op)
                       ? arith::UIToFPOp::create(b, c.loc, f64, op->getOperand(0)).getResult()
                       : arith::SIToFPOp::create(b, c.loc, f64, op->getOperand(0)).getResult();
      return {arith::TruncFOp::create(b, c.loc, op->getResult(0).getType(), wide)};
    }
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.operands.push_back(
          isNarrow(operand.getType())
              ? arith::ExtFOp::create(b, c.loc, c.as(operand, b.getF32Type()), operand).getResult()
              : operand);
    for (Value result : op->getResults())
      state.types.push_back(isNarrow(result.getType()) ? c.as(result, b.getF32Type()) : result.getType());
    state.addAttributes(op->getAttrs());
    Operation *wide = b.create(state);
    SmallVector<Value> results;
    for (auto [before, after] : llvm::zip(op->getResults(), wide->getResults()))
      results.push_back(before.getType() == after.getType()
                            ? after
                            : arith::TruncFOp::create(b, c.loc, before.getType(), after).getResult());
    return results;
  }

  SmallVector<Value> expandFunction(Operation *op) {
    if (op->getNumResults() != 1 || op->getNumOperands() == 0)
      return {};
    Value x = op->getOperand(0);
    Type element = getElementTypeOrSelf(x.getType());
    if (!element.isF32() && !element.isF64())
      return {};
    OpBuilder b(op);
    MathCode c(b, op->getLoc(), level);
    return llvm::TypeSwitch<Operation *, SmallVector<Value>>(op)
        .Case<math::ExpOp>([&](auto) { return SmallVector<Value>{c.exp(x)}; })
        .Case<math::Exp2Op>([&](auto) { return SmallVector<Value>{c.exp2(x)}; })
        .Case<math::ExpM1Op>([&](auto) { return SmallVector<Value>{c.expm1(x)}; })
        .Case<math::LogOp>([&](auto) { return SmallVector<Value>{c.log(x)}; })
        .Case<math::Log2Op>([&](auto) { return SmallVector<Value>{c.log2(x)}; })
        .Case<math::Log10Op>([&](auto) { return SmallVector<Value>{c.log10(x)}; })
        .Case<math::Log1pOp>([&](auto) { return SmallVector<Value>{c.log1p(x)}; })
        .Case<math::TanhOp>([&](auto) { return SmallVector<Value>{c.tanh(x)}; })
        .Case<math::ErfOp>([&](auto) { return SmallVector<Value>{c.erf(x)}; })
        .Case<math::RsqrtOp>([&](auto) { return SmallVector<Value>{c.rsqrt(x)}; })
        .Case<math::SinOp>([&](auto) { return SmallVector<Value>{c.circular(MathCode::Sin, x)}; })
        .Case<math::CosOp>([&](auto) { return SmallVector<Value>{c.circular(MathCode::Cos, x)}; })
        .Case<math::TanOp>([&](auto) { return SmallVector<Value>{c.circular(MathCode::Tan, x)}; })
        .Case<math::PowFOp>([&](auto) { return SmallVector<Value>{c.pow(x, op->getOperand(1))}; })
        .Case<math::FmaOp>(
            [&](auto) { return SmallVector<Value>{c.fma(x, op->getOperand(1), op->getOperand(2))}; })
        .Case<arith::RemFOp>([&](auto) { return SmallVector<Value>{c.remainder(x, op->getOperand(1))}; })
        .Default([](Operation *) { return SmallVector<Value>{}; });
  }

  /// Float to integer saturates, NaN becomes 0.
  SmallVector<Value> expandConversion(Operation *op) {
    OpBuilder b(op);
    if (!isa<arith::FPToSIOp, arith::FPToUIOp>(op))
      return {};
    auto name = b.getStringAttr(isa<arith::FPToSIOp>(op) ? "llvm.fptosi.sat" : "llvm.fptoui.sat");
    return {
        LLVM::CallIntrinsicOp::create(b, op->getLoc(), op->getResult(0).getType(), name, op->getOperands())
            .getResult(0)};
  }

  SmallVector<Value> expandRounding(Operation *op) {
    OpBuilder b(op);
    MathCode c(b, op->getLoc(), level);
    if (auto extend = dyn_cast<arith::ExtFOp>(op); extend && isNarrow(extend.getIn().getType()))
      return keep(op, c.extend(extend.getIn(), getElementTypeOrSelf(extend.getType())));
    if (auto truncate = dyn_cast<arith::TruncFOp>(op); truncate && isNarrow(truncate.getType()))
      return keep(op, c.truncate(truncate.getIn(), getElementTypeOrSelf(truncate.getType())));
    return {};
  }
  /// The expansion of an operation that needs none is a copy of it: leave it alone.
  static SmallVector<Value> keep(Operation *op, Value made) {
    if (made.getDefiningOp() && made.getDefiningOp()->getName() == op->getName() &&
        made.getDefiningOp()->getOperand(0) == op->getOperand(0)) {
      made.getDefiningOp()->erase();
      return {};
    }
    return {made};
  }

  SmallVector<Value> expandDivision(Operation *op);

  Operation *root;
  bool isGPU;
  unsigned level;
};
} // namespace

/// Never traps and is never poison: what the language leaves unspecified is some number.
SmallVector<Value> Expander::expandDivision(Operation *op) {
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op);
  bool isDivision = isSigned || isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
  bool isShift = isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op);
  if (!isDivision && !isShift)
    return {};
  OpBuilder b(op);
  MathCode c(b, op->getLoc(), level);
  Value x = op->getOperand(0), y = op->getOperand(1);
  Type type = x.getType(), element = getElementTypeOrSelf(type);
  int64_t width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  APInt divisor;
  bool isConstant = matchPattern(y, m_ConstantInt(&divisor));
  if (isShift) {
    if (isConstant || !llvm::isPowerOf2_64(width))
      return {};
    op->setOperand(1, c.both(y, c.integer(type, width - 1)));
    return {};
  }
  bool safe = isConstant && !divisor.isZero() && !(isSigned && divisor.isAllOnes());
  if (!safe) {
    Value zero = c.integer(type, 0), one = c.integer(type, 1);
    Value bad = c.cmp(arith::CmpIPredicate::eq, y, zero);
    if (isSigned) {
      Value least = arith::ConstantOp::create(
          b, c.loc,
          isa<VectorType>(type)
              ? cast<TypedAttr>(Attribute(DenseElementsAttr::get(
                    cast<ShapedType>(type),
                    Attribute(b.getIntegerAttr(element, APInt::getSignedMinValue(width))))))
              : cast<TypedAttr>(Attribute(b.getIntegerAttr(element, APInt::getSignedMinValue(width)))));
      Value overflow = c.both(c.cmp(arith::CmpIPredicate::eq, y, c.integer(type, -1)),
                              c.cmp(arith::CmpIPredicate::eq, x, least));
      bad = c.either(bad, overflow);
    }
    y = c.select(bad, one, y);
  }
  auto quotient = [&] { return arith::DivSIOp::create(b, c.loc, x, y).getResult(); };
  if (isa<arith::CeilDivUIOp>(op)) {
    Value q = arith::DivUIOp::create(b, c.loc, x, y), back = c.mul(q, y);
    Value more = c.cmp(arith::CmpIPredicate::ne, back, x);
    return {c.select(more, c.iadd(q, 1), q)};
  }
  if (isa<arith::FloorDivSIOp, arith::CeilDivSIOp>(op)) {
    Value q = quotient(), rest = c.sub(x, c.mul(q, y)), zero = c.integer(type, 0);
    Value inexact = c.cmp(arith::CmpIPredicate::ne, rest, zero);
    // The quotient was rounded toward zero: up when the signs differ, down when they do not.
    Value differ = c.cmp(arith::CmpIPredicate::slt, c.fold<arith::XOrIOp>(rest, y), zero);
    if (isa<arith::FloorDivSIOp>(op))
      return {c.select(c.both(inexact, differ), c.iadd(q, -1), q)};
    return {c.select(c.both(inexact, c.invert(differ)), c.iadd(q, 1), q)};
  }
  if (!safe)
    op->setOperand(1, y);
  return {};
}

namespace tilec {
#define GEN_PASS_DEF_EXPANDMATH
#include "tilec/Conversion/Passes.h.inc"
} // namespace tilec

namespace {
struct ExpandMath : tilec::impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;
  void runOnOperation() override {
    if (failed(Expander(getOperation(), level).run()))
      signalPassFailure();
  }
};
} // namespace
