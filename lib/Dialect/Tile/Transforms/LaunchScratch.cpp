//===- LaunchScratch.cpp - shared memory behind single operations ------------===//
#include "LaunchScratch.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"
#include "tilec/Support/LayoutDecisions.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

static int64_t scratchBytes(Operation *op) {
  if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
    TileType from = convert.getSource().getType(), to = convert.getResult().getType();
    unsigned bytes = storageBits(from.getElementType()) / 8;
    Conversion plan = planConversion(from.getLayout().getLayout(), to.getLayout().getLayout(), bytes);
    return plan.kind == Conversion::Shared ? plan.bytes : 0;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    // Partial results are of the accumulator's type: float32 for narrower floats.
    unsigned bytes = std::max<int64_t>(4, storageBits(reduce.getResult().getType().getElementType()) / 8);
    auto plan = planReduction(reduce.getSource().getType().getLayout().getLayout(), reduce.getAxis(), bytes);
    return succeeded(plan) ? plan->sharedBytes : 0;
  }
  if (auto scan = dyn_cast<ScanOp>(op)) // a thread runs along a row of a shared copy
    return scan.getSource().getType().getNumElements() *
           (storageBits(scan.getSource().getType().getElementType()) / 8);
  return 0;
}

int64_t tilec::tile::placeScratch(LaunchOp launch, int64_t offset) {
  int64_t most = 0;
  launch.walk([&](Operation *op) {
    int64_t bytes = ::scratchBytes(op);
    if (bytes == 0)
      return;
    op->setAttr(TileDialect::kScratchAttrName,
                IntegerAttr::get(IntegerType::get(op->getContext(), 64), offset));
    most = std::max(most, bytes);
  });
  return most;
}

int64_t tilec::tile::scratchBytes(LaunchOp launch) {
  int64_t most = 0;
  launch.walk([&](Operation *op) { most = std::max(most, ::scratchBytes(op)); });
  return most;
}
