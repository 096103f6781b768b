//===- RoleBuilder.h - clones of a launch body, one per role -----------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_ROLEBUILDER_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_ROLEBUILDER_H
#include "tilec/Dialect/Tile/IR/Tile.h"

namespace tilec::tile {

/// Copies that fill the slots of one ring together.
struct RingPlan {
  llvm::SmallVector<CopyOp, 2> copies; ///< in program order, in one block
  mlir::Operation *first = nullptr;    ///< first and last op of that block that reads the buffers
  mlir::Operation *last = nullptr;
  int64_t depth = 1;
  int64_t bytes = 0; ///< of one slot
};

/// Replaces the body of `launch` by its shared allocations, the rings, and tile.warp_groups with the load and
/// the compute role.
void splitRoles(LaunchOp launch, llvm::ArrayRef<RingPlan> plans);

} // namespace tilec::tile
#endif
