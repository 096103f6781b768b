//===- InsertDelays.cpp - pauses in front of what synchronises ----------------===//
// For --sanitize=schedule. Which ops get a pause is decided here for all targets; how a warp pauses is the
// conversions' business.
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEINSERTDELAYS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

static bool hasBuffer(ValueRange values) {
  return llvm::any_of(values, [](Value v) { return isa<BufferType>(v.getType()); });
}

static bool touchesSharedMemory(Operation &op) {
  if (isMemoryEffectFree(&op))
    return false;
  if (auto generic = dyn_cast<GenericOp>(op)) {
    bool inside = false;
    generic.getBody().walk([&](Operation *o) { inside |= hasBuffer(o->getOperands()); });
    return inside || hasBuffer(generic->getOperands());
  }
  return hasBuffer(op.getOperands());
}

static bool synchronises(Operation &op) {
  if (auto ring = dyn_cast<RingOp>(op))
    return ring.getBarriers().has_value(); // which are initialised there
  return isa<AcquireOp, ConsumeOp, CommitOp, ReleaseOp, WaitOp, AwaitOp, JoinOp, BarrierOp, FenceOp, TurnOp,
             AsyncCopyOp, AsyncGemmOp, GemmOp>(op) ||
         touchesSharedMemory(op);
}

namespace {
struct InsertDelays : tilec::tile::impl::TileInsertDelaysBase<InsertDelays> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (kernel.isDevice())
      visit(kernel.getDeviceLaunch().getBody().front());
  }

private:
  /// `counters` are the index variables of the loops around a block.
  void visit(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isa<TileDialect, scf::SCFDialect>(op.getDialect()))
        continue;
      if (isa<scf::ForOp, scf::WhileOp, scf::IfOp, WarpGroupsOp>(op))
        visitRegions(op);
      else if (synchronises(op))
        insert(op);
    }
  }

  void visitRegions(Operation &op) {
    for (Region &region : op.getRegions())
      for (Block &block : region) {
        size_t outer = counters.size();
        for (Value argument : block.getArguments())
          if (argument.getType().isIndex())
            counters.push_back(argument);
        visit(block);
        counters.truncate(outer);
      }
  }

  void insert(Operation &op) {
    OpBuilder b(&op);
    DelayOp::create(b, op.getLoc(), nextSite++, counters);
  }

  SmallVector<Value> counters;
  int64_t nextSite = 0;
};
} // namespace
