//===- AheadCopies.cpp - copies of a loop that can run before their trip -----===//
#include "AheadCopies.h"

using namespace mlir;
using namespace tilec::tile;

/// Pure scalar ops of the loop body that `value` needs, in program order; false if it needs anything else of
/// the body but the loop's variable.
static bool scalarSlice(Value value, scf::ForOp loop, llvm::SetVector<Operation *> &slice) {
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return true;
  if (value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || !isPure(op) || op->getNumRegions())
    return false;
  if (slice.contains(op))
    return true;
  for (Value operand : op->getOperands())
    if (!scalarSlice(operand, loop, slice))
      return false;
  slice.insert(op);
  return true;
}

/// The reason why this copy must stay in its place, or null.
static const char *whyNotAhead(CopyOp copy, scf::ForOp loop, llvm::SetVector<Operation *> &slice) {
  if (copy->getBlock() != loop.getBody())
    return "it stands under a condition";
  if (!copy.getDestOffsets().empty() || !copy.getDest().getDefiningOp<AllocOp>())
    return "it fills only part of its buffer";
  SmallVector<Value> needed(copy.getSourceOffsets());
  needed.push_back(copy.getSource());
  for (Value v : needed)
    if (!scalarSlice(v, loop, slice))
      return "its address depends on computed data";
  SmallVector<Operation *> users = bufferUsers(copy.getDest());
  for (Operation *user : users) {
    if (user == copy)
      continue;
    Operation *top = loop.getBody()->findAncestorOpInBlock(*user);
    if (!top)
      return "its buffer is used outside the loop";
    if (!copy->isBeforeInBlock(top))
      return "its buffer is read before it is filled again (a value of the trip before)";
    auto other = dyn_cast<CopyOp>(user);
    if (!isa<LoadOp, GemmOp, GenericOp, ElemLoadOp, SubbufferOp, RecastBufferOp>(user) &&
        !(other && other.getSource() == copy.getDest()))
      return "its buffer is written elsewhere too";
  }
  return nullptr;
}

AheadCopies tilec::tile::collectAheadCopies(scf::ForOp loop, Engine engine) {
  AheadCopies ahead;
  loop.walk([&](CopyOp copy) {
    if (copy->getParentOfType<scf::ForOp>() != loop || copy.getEngine() != engine)
      return;
    llvm::SetVector<Operation *> needed(ahead.slice.begin(), ahead.slice.end());
    if (const char *why = whyNotAhead(copy, loop, needed)) {
      copy.setEngineAttr(EngineAttr::get(copy.getContext(), Engine::simt));
      copy.emitRemark() << "[R0405] this copy is not overlapped with computation: " << why;
      return;
    }
    ahead.slice = std::move(needed);
    ahead.copies.push_back(copy);
  });
  return ahead;
}

void tilec::tile::dropEngine(LaunchOp launch, Engine engine) {
  launch.walk([&](CopyOp copy) {
    if (copy.getEngine() == engine)
      copy.setEngineAttr(EngineAttr::get(copy.getContext(), Engine::simt));
  });
}
