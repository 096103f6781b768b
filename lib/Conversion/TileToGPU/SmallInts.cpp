//===- SmallInts.cpp - small integers become floats without a conversion -----===//
// The conversion instructions of NVIDIA chips run at a quarter of the rate of an addition or less. An integer
// of few bits, put into the mantissa of a power of two, is a float after one subtraction, which is exact.
#include "Emitter.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;

/// What an integer in the body of a nest can be.
static ConstantIntRanges rangeOf(Value v, unsigned depth = 0) {
  unsigned width = ConstantIntRanges::getStorageBitwidth(v.getType());
  ConstantIntRanges all = ConstantIntRanges::maxRange(width);
  constexpr unsigned farEnough = 8;
  auto op = v.getDefiningOp<InferIntRangeInterface>();
  if (!op || depth == farEnough)
    return all;
  SmallVector<ConstantIntRanges> operands;
  for (Value operand : op->getOperands()) {
    if (!operand.getType().isIntOrIndex())
      return all;
    operands.push_back(rangeOf(operand, depth + 1));
  }
  op.inferResultRanges(operands, [&](Value result, const ConstantIntRanges &range) {
    if (result == v)
      all = range;
  });
  return all;
}

Value Emitter::smallIntToFloat(Operation &op, Value operand) {
  if (target.family != Family::NVIDIA || !isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return {};
  Type from = op.getOperand(0).getType(), to = op.getResult(0).getType();
  std::optional<FloatHolder> holder = holderOf(to);
  if (!holder || !from.isInteger() || from.getIntOrFloatBitWidth() < 8)
    return {};
  ConstantIntRanges range = rangeOf(op.getOperand(0));
  bool isSigned = isa<arith::SIToFPOp>(op);
  APInt low = isSigned ? range.smin() : range.umin(), high = isSigned ? range.smax() : range.umax();
  // Sums of the holder and the integers are exact up to twice the holder.
  if (low.getActiveBits() > 62 && !low.isNegative())
    return {};
  int64_t least = isSigned ? low.getSExtValue() : low.getZExtValue();
  int64_t most = isSigned ? high.getSExtValue() : int64_t(high.getLimitedValue(INT64_MAX));
  int64_t span = holder->value - 1;
  if (least < -span || most > span || most - least > span)
    return {};
  int64_t bits = to.getIntOrFloatBitWidth(), width = from.getIntOrFloatBitWidth();
  bool isVector = Code::isVector(operand);
  int64_t lanes = isVector ? cast<VectorType>(operand.getType()).getNumElements() : 0;
  auto typed = [&](Type element) { return isVector ? Type(code.vec(element, lanes)) : element; };
  auto number = [&](Type element, int64_t value) {
    Value c = code.constant(element, value);
    return isVector ? code.broadcast(c, lanes) : c;
  };
  Value v = least ? code.sub(operand, number(from, least)) : operand;
  Type carrier = code.b.getIntegerType(bits);
  if (width < bits)
    v = arith::ExtUIOp::create(code.b, code.loc, typed(carrier), v);
  else if (width > bits)
    v = arith::TruncIOp::create(code.b, code.loc, typed(carrier), v);
  v = code.fold<arith::OrIOp>(v, number(carrier, holder->pattern));
  v = arith::BitcastOp::create(code.b, code.loc, typed(to), v);
  Value base = arith::ConstantOp::create(code.b, code.loc, code.b.getFloatAttr(to, holder->value - least));
  return arith::SubFOp::create(code.b, code.loc, v, isVector ? code.broadcast(base, lanes) : base);
}
