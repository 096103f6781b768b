//===- StagedLoads.h - loads that the copy engine makes ahead ----------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_STAGEDLOADS_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_STAGEDLOADS_H
#include "LaunchFeatures.h"

namespace tilec::tile {

/// May a tensor map describe the view?
bool isMappable(ViewType view);

/// Loads of tiles beside the loops of a launch that may come through shared memory, filled by the copy engine
/// while the main loop runs: as many as fit into \p room bytes.
llvm::SmallVector<LoadOp, 2> stagedLoads(LaunchOp launch, const LaunchFeatures &features, int64_t room);

/// Bytes of the tiles that \p loads make.
int64_t bytesOf(llvm::ArrayRef<LoadOp> loads);

} // namespace tilec::tile
#endif
