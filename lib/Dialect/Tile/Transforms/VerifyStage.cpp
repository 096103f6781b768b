//===- VerifyStage.cpp - tile-verify-stage ---------------------------------===//
//
// Each stage promises the next one something. This pass checks the promise; it is run after each stage in
// tests and in debug builds, and it trusts no pass.
//
//===----------------------------------------------------------------------===//
#include "VerifyStage.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEVERIFYSTAGE
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

namespace {
bool isAsyncOp(Operation *op) {
  return isa<AsyncCopyOp, AsyncGemmOp, InFlightOp, AwaitOp, ReadyOp, WaitOp, JoinOp, RingOp, CursorOp,
             AdvanceOp, AcquireOp, CommitOp, ConsumeOp, ReleaseOp, SlotAtOp, WarpGroupsOp, BarrierOp, FenceOp,
             TurnOp, DelayOp>(op);
}

/// Does `type` mention a layout?
bool hasLayout(Type type) {
  return type
      .walk([](Attribute attr) {
        return isa<LayoutAttr>(attr) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===- Tile ----------------------------------------------------------------===//
LogicalResult verifyTileOp(Operation *op) {
  // A barrier that the user wrote inside `with Threads()` is part of the program.
  if (isAsyncOp(op) && !(isa<BarrierOp>(op) && op->getParentOfType<ThreadsOp>()))
    return op->emitError() << "belongs to stage async";
  if (!isa<TileDialect, arith::ArithDialect, scf::SCFDialect, math::MathDialect>(op->getDialect()) &&
      !(isa<memref::MemRefDialect, vector::VectorDialect>(op->getDialect()) &&
        (op->getParentOfType<ThreadsOp>() || op->getParentOfType<GenericOp>())))
    return op->emitError() << "stage tile knows tile, arith, math and scf only";
  return success();
}

LogicalResult verifyNoLayouts(Operation *op) {
  if (isa<ConvertLayoutOp>(op))
    return op->emitError() << "there are no layouts before assign-layouts";
  if (auto generic = dyn_cast<GenericOp>(op); generic && generic.getLayoutAttr())
    return op->emitError() << "there are no layouts before assign-layouts";
  for (Type type : op->getResultTypes())
    if (hasLayout(type))
      return op->emitError() << "there are no layouts before assign-layouts, got " << type;
  return success();
}

//===- Scheduled -----------------------------------------------------------===//
LogicalResult verifyScheduledOp(Operation *op) {
  if (isAsyncOp(op) && !(isa<BarrierOp>(op) && op->getParentOfType<ThreadsOp>()))
    return op->emitError() << "belongs to stage async";
  if (auto gemm = dyn_cast<GemmOp>(op); gemm && !gemm.getInstAttr())
    return op->emitError() << "product without an instruction after select-schedule";
  if (auto copy = dyn_cast<CopyOp>(op); copy && !copy.getEngineAttr())
    return op->emitError() << "copy without an engine after select-schedule";
  return success();
}

/// What holds from stage scheduled on: decisions are present.
LogicalResult verifyDecisions(KernelOp kernel) {
  WalkResult result = kernel.walk([&](LaunchOp launch) {
    if (launch.getScheduleAttr())
      return WalkResult::advance();
    launch.emitError() << "launch without a schedule after select-schedule";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  bool launches = !kernel.getBody().getOps<LaunchOp>().empty();
  if (launches && !kernel->hasAttr(TileDialect::kTargetAttrName))
    return kernel.emitError() << "kernel without a target after select-schedule";
  return success();
}

//===- Async ---------------------------------------------------------------===//
LogicalResult verifyAsyncOp(Operation *op) {
  auto copy = dyn_cast<CopyOp>(op);
  if (copy && copy.getEngine().value_or(Engine::simt) != Engine::simt)
    return op->emitError() << "asynchronous engine on a synchronous copy";
  if (auto gemm = dyn_cast<GemmOp>(op);
      gemm && gemm.getInstAttr() && gemm.getInst()->getKind() == InstKind::wgmma)
    return op->emitError() << "asynchronous instruction in a synchronous product";
  return success();
}

LogicalResult verifyAsync(KernelOp kernel) {
  if (failed(verifyPendingCounts(kernel)))
    return failure();
  WalkResult result = kernel.walk([](LaunchOp launch) {
    if (failed(verifySharedMemory(launch)) || failed(replayLaunch(launch)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===- Threads -------------------------------------------------------------===//
bool isTileType(Type type) {
  return type
      .walk([](Type inner) {
        return isa<TileDialect>(inner.getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult verifyThreadsOp(Operation *op) {
  if (isa_and_nonnull<TileDialect>(op->getDialect()))
    return op->emitError() << "op of the tile dialect after stage threads";
  for (Type type : op->getResultTypes())
    if (isTileType(type))
      return op->emitError() << "type of the tile dialect after stage threads: " << type;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes())
        if (isTileType(type))
          return op->emitError() << "type of the tile dialect after stage threads: " << type;
  return success();
}

//===- Pass ----------------------------------------------------------------===//
LogicalResult verifyEachOp(Operation *root, function_ref<LogicalResult(Operation *)> verify) {
  return failure(root->walk([&](Operation *op) {
                       return op != root && failed(verify(op)) ? WalkResult::interrupt()
                                                               : WalkResult::advance();
                     })
                     .wasInterrupted());
}

LogicalResult verifyKernel(KernelOp kernel, VerifiedStage stage) {
  if (stage == VerifiedStage::Tile) {
    warnOfUnwrittenBuffers(kernel);
    return failed(verifyEachOp(kernel, verifyTileOp)) ? failure() : verifyEachOp(kernel, verifyNoLayouts);
  }
  if (failed(verifyDecisions(kernel)))
    return failure();
  if (stage == VerifiedStage::Scheduled)
    return failed(verifyEachOp(kernel, verifyScheduledOp)) ? failure()
                                                           : verifyEachOp(kernel, verifyNoLayouts);
  if (stage == VerifiedStage::LaidOut)
    return failed(verifyEachOp(kernel, verifyScheduledOp)) ? failure() : verifyLayouts(kernel);
  return failed(verifyEachOp(kernel, verifyAsyncOp)) || failed(verifyLayouts(kernel)) ? failure()
                                                                                      : verifyAsync(kernel);
}

struct VerifyStage : tilec::tile::impl::TileVerifyStageBase<VerifyStage> {
  using TileVerifyStageBase::TileVerifyStageBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (stage == VerifiedStage::Threads) {
      if (failed(verifyEachOp(getOperation(), verifyThreadsOp)))
        signalPassFailure();
      return;
    }
    // The host part stays at stage tile while the device kernels go on; it is checked as such.
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>([&](KernelOp kernel) {
      bool hostOnly = !kernel.isDevice() && kernel.getBody().getOps<LaunchOp>().empty();
      LogicalResult checked = verifyKernel(kernel, hostOnly ? VerifiedStage::Tile : VerifiedStage(stage));
      return failed(checked) ? WalkResult::interrupt() : WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
