//===- ScheduleGPU.h - what the schedulers of GPUs share ---------------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULEGPU_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULEGPU_H
#include "LaunchFeatures.h"
#include "Variants.h"
#include "tilec/Support/Occupancy.h"

namespace tilec::tile {

/// Bytes of shared memory that an NVIDIA block keeps for barriers and exchanges between warps.
constexpr int64_t kReservedShared = 1024;

/// Bytes of one version of each buffer of a launch, and of operands that pass through shared memory.
int64_t bytesOfBuffers(LaunchOp launch);

/// As many of the `asked` blocks as can share a multiprocessor, at least one: by what they need with one
/// version of each buffer.
int64_t residentBlocks(const TargetDesc &target, int64_t asked, const BlockNeeds &needs);

/// The same, with remark R0409 where these are fewer.
int64_t fitBlocks(LaunchOp launch, const TargetDesc &target, int64_t asked, const BlockNeeds &needs);

/// Bytes of buffers that copies of `loop` fill: what one stage of its pipeline takes.
int64_t bytesPerTrip(const LaunchFeatures &features, mlir::scf::ForOp loop);

/// Writes the stages of each pipelined loop of a launch whose copies have engines: what `most` wants of a
/// loop whose copies run ahead (1 for any other), as far as shared memory goes; `staging` bytes of it hold
/// results on their way out, `reserved` barriers and exchanges between warps. Each of the schedule's blocks
/// on a multiprocessor has its share; where it cannot, they are fewer (R0409). Fewer stages than the source
/// asked for is remark R0401, buffers that do not fit at all error E0402.
mlir::LogicalResult fitStages(LaunchOp launch, const TargetDesc &target, int64_t staging, int64_t reserved,
                              llvm::function_ref<int64_t(mlir::scf::ForOp)> most);

/// The tensors whose wide access is worth a condition at launch; `needsMap`: copies and stores that need a
/// tensor map too; `stores`: those that are only stored to as well.
llvm::SmallVector<ViewDemand> wideDemands(LaunchOp launch, const LaunchFeatures &features,
                                          llvm::function_ref<bool(mlir::Operation *)> needsMap,
                                          bool stores = true);

/// Gives a product to the plain arithmetic units, with remark R0402.
void usePlainUnits(const GemmFeature &gemm, const TargetDesc &target);

} // namespace tilec::tile
#endif
