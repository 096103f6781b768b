//===- AheadCopies.h - copies of a loop that can run before their trip -------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_AHEADCOPIES_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_AHEADCOPIES_H
#include "LaunchFeatures.h"
#include "llvm/ADT/SetVector.h"

namespace tilec::tile {

struct AheadCopies {
  llvm::SmallVector<CopyOp> copies;
  llvm::SetVector<mlir::Operation *> slice; ///< scalars of the body that their addresses need, in order
};

/// The copies by `engine` directly in the loop that another trip can do. Those that must stay in their place
/// become plain copies, with remark R0405.
AheadCopies collectAheadCopies(mlir::scf::ForOp loop, Engine engine);

/// Copies by `engine` that no loop took become plain ones.
void dropEngine(LaunchOp launch, Engine engine);

} // namespace tilec::tile
#endif
