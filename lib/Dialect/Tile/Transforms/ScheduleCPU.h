//===- ScheduleCPU.h - schedules of x86-64 -----------------------------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULECPU_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULECPU_H
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Support/Target.h"

namespace tilec::tile {

/// One thread per block; register blocks of products.
mlir::LogicalResult scheduleCPU(KernelOp kernel, const TargetDesc &target);

/// The x86-64 level that a device kernel is compiled for; null for other kernels.
const TargetDesc *cpuTargetOf(KernelOp kernel);

/// Are these two extents the same number in every launch? The launcher checks extents that the user gave one
/// name.
bool sameViewExtent(mlir::Value view, unsigned axis, DimOp dim);

/// K elements that one pass over the accumulator covers: B's panel (this many rows of a register block's
/// columns) stays in the first cache level.
int64_t cpuChunk(const TargetDesc &target, int64_t columns, int64_t elementBytes);

} // namespace tilec::tile
#endif
