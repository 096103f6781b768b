//===- RoleBuilder.h - clones of a launch body, one per role -----------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_ROLEBUILDER_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_ROLEBUILDER_H
#include "tilec/Dialect/Tile/IR/Tile.h"

namespace tilec::tile {

/// A copy or split_copy that fills whole buffers.
struct Fill {
  mlir::Operation *op;
  mlir::Value source;
  mlir::ValueRange offsets;
  llvm::SmallVector<mlir::Value, 3> buffers;

  explicit Fill(CopyOp copy)
      : op(copy), source(copy.getSource()), offsets(copy.getSourceOffsets()), buffers{copy.getDest()} {}
  explicit Fill(SplitCopyOp split)
      : op(split), source(split.getSource()), offsets(split.getSourceOffsets()), buffers(split.getPlanes()) {}
};

/// Copies that fill the slots of one ring together.
struct RingPlan {
  llvm::SmallVector<Fill, 2> fills; ///< in program order, in one block
  mlir::Operation *first = nullptr; ///< first and last op of that block that reads the buffers
  mlir::Operation *last = nullptr;
  int64_t depth = 1;
  int64_t bytes = 0; ///< of one slot, that the copy engine brings
  llvm::SmallVector<mlir::Value> buffers() const {
    llvm::SmallVector<mlir::Value> all;
    for (const Fill &fill : fills)
      llvm::append_range(all, fill.buffers);
    return all;
  }
};

/// Replaces the body of `launch` by its shared allocations, the rings, and tile.warp_groups with the load and
/// the compute role.
void splitRoles(LaunchOp launch, llvm::ArrayRef<RingPlan> plans);

} // namespace tilec::tile
#endif
