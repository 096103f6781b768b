//===- SelectSchedule.cpp - one schedule per device kernel -------------------===//
#include "ScheduleAMD.h"
#include "ScheduleCPU.h"
#include "ScheduleNVIDIA.h"
#include "tilec/Dialect/Tile/IR/KernelTarget.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILESELECTSCHEDULE
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {
struct SelectSchedule : tile::impl::TileSelectScheduleBase<SelectSchedule> {
  void runOnOperation() override {
    SmallVector<KernelOp> kernels;
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (kernel.isDevice() && !kernel.getDeviceLaunch().getScheduleAttr())
        kernels.push_back(kernel);
    for (KernelOp kernel : kernels) {
      const TargetDesc *target = targetOf(kernel);
      if (!target) {
        kernel.emitOpError("has no known tile.target");
        return signalPassFailure();
      }
      if (target->family == Family::CPU && failed(scheduleCPU(kernel, *target)))
        return signalPassFailure();
      if (target->family == Family::NVIDIA && failed(scheduleNVIDIA(kernel, *target)))
        return signalPassFailure();
      if (target->family == Family::AMD && failed(scheduleAMD(kernel, *target)))
        return signalPassFailure();
    }
  }
};
} // namespace
