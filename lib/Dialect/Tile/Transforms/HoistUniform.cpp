//===- HoistUniform.cpp - what a nest computes once ---------------------------===//
#include "HoistUniform.h"

using namespace mlir;
using namespace tilec::tile;

void tilec::tile::hoistUniform(GenericOp nest) {
  auto isOutside = [&](Value v) { return !nest.getBody().isAncestor(v.getParentRegion()); };
  SmallVector<Operation *> ops;
  nest.getBody().front().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (op->getNumRegions() == 0 && !isa<ExtractOp>(op) && !op->hasTrait<OpTrait::IsTerminator>() &&
        isPure(op) && llvm::all_of(op->getOperands(), isOutside))
      op->moveBefore(nest);
}
