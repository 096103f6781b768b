//===- CacheHints.cpp - how long the second-level cache keeps what a copy loads ------===//
// A block's tile of an operand is read again by the blocks along the axes of the grid that it does not depend
// on. Where there are none the data pass through once and need not stay; an operand that all blocks read
// whole should. Which it is depends on the extents of the grid, so the kernel picks the policy when it
// starts.
#include "NVVMEmitter.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

namespace {
/// The axes of the grid that a value depends on.
class GridAxes {
public:
  explicit GridAxes(LaunchOp launch) : launch(launch) {}
  void add(Value value);
  bool uses(unsigned axis) const { return axis < 3 && used[axis]; }
  /// Extents of the grid; of a persistent block, those of the tiles it goes through.
  SmallVector<Value> extents() const {
    return raster ? SmallVector<Value>(RasterOp(raster).getGrid())
                  : SmallVector<Value>(LaunchOp(launch).getGrid());
  }

private:
  void use(unsigned axis) { used[std::min(axis, 2u)] = true; }
  LaunchOp launch;
  RasterOp raster;
  bool used[3] = {false, false, false};
  llvm::DenseSet<Value> seen;
};
} // namespace

void GridAxes::add(Value value) {
  if (!seen.insert(value).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == launch)
      return use(argument.getArgNumber());
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || argument == loop.getInductionVar())
      return;
    unsigned carry = argument.getArgNumber() - 1;
    add(loop.getInitArgs()[carry]);
    return add(loop.getYieldedValues()[carry]);
  }
  Operation *op = value.getDefiningOp();
  if (auto order = dyn_cast<RasterOp>(op)) {
    raster = order;
    return use(cast<OpResult>(value).getResultNumber());
  }
  for (Value operand : op->getOperands())
    add(operand);
}

/// The numbers are those of createpolicy.fractional with fraction 1 (PTX ISA, "createpolicy").
Value NVVMEmitter::cachePolicy(ValueRange offsets) {
  constexpr int64_t evictNormal = 0x1000000000000000, evictFirst = 0x12F0000000000000,
                    evictLast = 0x14F0000000000000;
  GridAxes axes(launch);
  for (Value offset : offsets)
    axes.add(offset);
  Value again, whole; // blocks that read the same tile; tiles there are
  for (auto [axis, extent] : llvm::enumerate(axes.extents())) {
    Value n = flatten(extent).front();
    Value &product = axes.uses(axis) ? whole : again;
    product = product ? code.mul(product, n) : n;
  }
  Value policy = code.i64(evictNormal);
  if (whole)
    policy = code.select(code.eq(whole, 1), code.i64(evictLast), policy);
  if (again)
    policy = code.select(code.eq(again, 1), code.i64(evictFirst), policy);
  return policy;
}
