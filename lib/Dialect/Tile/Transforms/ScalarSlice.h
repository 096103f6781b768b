//===- ScalarSlice.h - what a role can compute by itself ---------------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_SCALARSLICE_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_SCALARSLICE_H
#include "tilec/Dialect/Tile/IR/Tile.h"

namespace tilec::tile {

/// Scalars and views of a launch body that follow from launch values by pure operations, elements of tensors
/// that the launch only reads, loop variables and loop-carried scalars, and all that they follow from.
class ScalarSlice {
public:
  explicit ScalarSlice(LaunchOp launch) : launch(launch) {}

  /// Adds `v`, what it is computed from, and the bounds of the loops on the way. False, and no change, when
  /// other memory, tiles or branches have a part in it.
  bool add(mlir::Value v);

  /// Adds what decides whether and how often `op` runs: bounds of the loops and conditions of the branches
  /// around it. False when there are others.
  bool addSurroundings(mlir::Operation *op);

  bool contains(mlir::Value v) const { return values.contains(v); }

private:
  LaunchOp launch;
  llvm::DenseSet<mlir::Value> values; ///< of the launch body
};

} // namespace tilec::tile
#endif
