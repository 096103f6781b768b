//===- LaunchScratch.h - shared memory behind single operations --------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_LAUNCHSCRATCH_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_LAUNCHSCRATCH_H
#include "tilec/Dialect/Tile/IR/Tile.h"

namespace tilec::tile {

/// Reductions across warps and conversions that no shuffle does exchange values through shared memory. They
/// never overlap in time within a role, so one area serves all; each gets `tile.scratch = offset`. Returns
/// the bytes used from `offset` on.
int64_t placeScratch(LaunchOp launch, int64_t offset);

/// The bytes that placeScratch will use.
int64_t scratchBytes(LaunchOp launch);

} // namespace tilec::tile
#endif
