//===- BufferLayouts.h - where the elements of shared buffers lie ------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_BUFFERLAYOUTS_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_BUFFERLAYOUTS_H
#include "ThreadLayouts.h"

namespace tilec::tile {

/// What a store of a tile to a view takes in a staging buffer; 0 where the copy engine cannot take it from
/// there.
int64_t stagedBytes(StoreOp store);

/// What a load or store of `tile` covers of each axis of its view of that rank: its `extents`, else those of
/// the tile behind ones.
llvm::SmallVector<int64_t> viewExtents(std::optional<llvm::ArrayRef<int64_t>> extents, TileType tile,
                                       size_t rank);

/// Where the schedule says `staging`: stores of a tile to a view become a store to a buffer and a copy by the
/// copy engine.
void stageStores(LaunchOp launch);

/// Computes what only slices read in the parts that they ask for (EpilogueParts.cpp).
void sinkSlices(LaunchOp launch);

/// Loads that the schedule stages become copies into shared memory and loads from there (EpilogueParts.cpp).
void stageLoads(LaunchOp launch);

/// A layout for every buffer of the launch: what wgmma and TMA prescribe, else the one with the fewest bank
/// conflicts over all accesses. Buffers that are looked at under another shape or type lie in row-major
/// order.
void assignBuffers(LaunchOp launch, const ThreadLayouts &layouts);

} // namespace tilec::tile
#endif
