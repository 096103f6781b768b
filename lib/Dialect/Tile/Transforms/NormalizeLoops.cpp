//===- NormalizeLoops.cpp - loops that can overlap copies with the rest ------===//
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILENORMALIZELOOPS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

namespace {
/// iv, and sums, differences and products of it and values from outside of the loop.
bool isAffineIn(Value v, scf::ForOp loop, bool &usesIv) {
  if (v == loop.getInductionVar()) {
    usesIv = true;
    return true;
  }
  if (loop.isDefinedOutsideOfLoop(v))
    return true;
  Operation *op = v.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ConstantOp>(op))
    return false;
  bool inSides[2] = {false, false};
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (!isAffineIn(operand, loop, inSides[i]))
      return false;
  usesIv |= inSides[0] || inSides[1];
  return !isa<arith::MulIOp>(op) || !(inSides[0] && inSides[1]);
}

/// A copy from a view into shared memory that moves on with the loop.
bool feedsLoop(CopyOp copy, scf::ForOp loop) {
  if (!isa<ViewType>(copy.getSource().getType()) || !isa<BufferType>(copy.getDest().getType()))
    return false;
  bool usesIv = false;
  for (Value offset : copy.getSourceOffsets())
    if (!isAffineIn(offset, loop, usesIv))
      return false;
  return usesIv;
}

struct NormalizeLoops : tilec::tile::impl::TileNormalizeLoopsBase<NormalizeLoops> {
  void runOnOperation() override {
    constexpr int64_t usualStages = 3; // what fits and what pays is the schedule's business
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(TileDialect::kPipelineAttrName))
        return;
      for (CopyOp copy : loop.getBody()->getOps<CopyOp>())
        if (feedsLoop(copy, loop)) {
          loop->setAttr(TileDialect::kPipelineAttrName,
                        PipelineAttr::get(loop.getContext(), usualStages, /*inferred=*/true));
          return;
        }
    });
  }
};
} // namespace
