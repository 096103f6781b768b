//===- Positions.cpp - where in a nest an iteration stands -------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

namespace {
/// constant + the sum of coefficient * position along each axis of a nest.
struct LinearPosition {
  SmallVector<int64_t> coefficients;
  int64_t constant = 0;
  void add(const LinearPosition &other, int64_t factor) {
    for (auto [mine, theirs] : llvm::zip(coefficients, other.coefficients))
      mine += theirs * factor;
    constant += other.constant * factor;
  }
};
} // namespace

static std::optional<LinearPosition> linearPosition(Value value, GenericOp nest) {
  LinearPosition result;
  result.coefficients.assign(nest.getDomain().size(), 0);
  if (std::optional<int64_t> constant = Code::known(value)) {
    if (!llvm::isInt<31>(*constant))
      return std::nullopt;
    result.constant = *constant;
    return result;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!llvm::is_contained(nest.getIndexArgs(), argument))
      return std::nullopt;
    result.coefficients[argument.getArgNumber()] = 1;
    return result;
  }
  Operation *op = value.getDefiningOp();
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || op->getParentOp() != nest)
    return std::nullopt;
  std::optional<LinearPosition> x = linearPosition(op->getOperand(0), nest);
  std::optional<LinearPosition> y = linearPosition(op->getOperand(1), nest);
  if (!x || !y)
    return std::nullopt;
  if (isa<arith::MulIOp>(op)) {
    std::optional<int64_t> factor = Code::known(op->getOperand(1));
    if (!factor)
      return std::nullopt;
    result.add(*x, *factor);
  } else {
    result.add(*x, 1);
    result.add(*y, isa<arith::AddIOp>(op) ? 1 : -1);
  }
  // Far from what 32 bits hold, whatever is added up.
  auto small = [](int64_t v) { return llvm::isInt<24>(v); };
  if (!llvm::all_of(result.coefficients, small) || !llvm::isInt<31>(result.constant))
    return std::nullopt;
  return result;
}

/// A position in the nest against a bound that is the same at each: in 32 bits, with what registers differ in
/// on one side, so that each register takes one instruction with an immediate operand.
bool Emitter::emitPositionTest(arith::CmpIOp op, Body &body) {
  using P = arith::CmpIPredicate;
  bool isSigned = op.getPredicate() <= P::sge; // eq, ne, slt, sle, sgt, sge
  if (!body.nest || !op.getLhs().getType().isIndex() || !isSigned ||
      body.nest->isAncestor(op.getRhs().getParentBlock()->getParentOp()))
    return false;
  std::optional<LinearPosition> position = linearPosition(op.getLhs(), body.nest);
  if (!position)
    return false;
  int64_t least = position->constant, most = position->constant;
  Value thread; // what this thread's first register contributes
  for (auto [axis, c] : llvm::enumerate(position->coefficients)) {
    int64_t extent = body.nest.getDomain()[axis];
    if (c == 0)
      continue;
    if (ShapedType::isDynamic(extent) || extent >= (1 << 24) || body.coords->low[axis])
      return false;
    (c < 0 ? least : most) += c * (extent - 1);
    if (Value high = body.coords->high[axis])
      thread = code.add(thread, code.mul(high, c));
  }
  if (least < -(1 << 29) || most > (1 << 29))
    return false;
  // Beyond the least and the most, one bound is as good as another.
  Value bound = code.clamp(lookup(body, op.getRhs()), least - 1, most + 1);
  bound = code.b.createOrFold<arith::IndexCastOp>(code.loc, code.b.getI32Type(), bound);
  if (thread)
    bound = code.sub(bound, thread);
  auto ofRegister = [&](int64_t reg) {
    int64_t sum = position->constant;
    for (auto [axis, c] : llvm::enumerate(position->coefficients))
      if (c)
        sum += c * (body.coords->regs[axis][reg].first + body.coords->regs[axis][reg].second);
    return sum;
  };
  Value here;
  if (body.reg >= 0) {
    here = code.i32(ofRegister(body.reg));
  } else {
    SmallVector<int32_t> all;
    for (int64_t r = 0; r < body.lanes; ++r)
      all.push_back(ofRegister(r));
    auto type = code.vec(code.b.getI32Type(), body.lanes);
    here = arith::ConstantOp::create(code.b, code.loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(all)));
    bound = code.broadcast(bound, body.lanes);
  }
  body.map[op.getResult()] = code.cmp(op.getPredicate(), here, bound);
  return true;
}
