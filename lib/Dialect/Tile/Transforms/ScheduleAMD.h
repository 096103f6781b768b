//===- ScheduleAMD.h - schedules of AMD chips --------------------------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULEAMD_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULEAMD_H
#include "LaunchFeatures.h"
#include "tilec/Support/Target.h"

namespace tilec::tile {

/// Writes #tile.schedule on the launch of a device kernel, #tile.inst (mfma or fma) on its products, the
/// engine of its copies and the stages of its loops. May clone the kernel as scheduleNVIDIA does.
mlir::LogicalResult scheduleAMD(KernelOp kernel, const TargetDesc &target);

} // namespace tilec::tile
#endif
