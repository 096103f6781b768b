//===- ScheduleNVIDIA.h - schedules of NVIDIA chips --------------------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULENVIDIA_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULENVIDIA_H
#include "LaunchFeatures.h"
#include "tilec/Support/Target.h"

namespace tilec::tile {

/// Writes #tile.schedule on the launch of a device kernel, #tile.inst on its products, the engine of its
/// copies and the stages of its loops. May clone the kernel: the first of the clones relies on launch
/// conditions (alignment, pitches), the last on none; all carry tile.launch_name, and conditions stand in
/// tile.conditions.
mlir::LogicalResult scheduleNVIDIA(KernelOp kernel, const TargetDesc &target);

} // namespace tilec::tile
#endif
