//===- ScheduleHints.h - what the user wrote in Kernel(...) ------------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULEHINTS_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULEHINTS_H
#include "tilec/Dialect/Tile/IR/Tile.h"
#include <optional>

namespace tilec::tile {

/// Arguments of Kernel(...); absent: the compiler's choice. They narrow the menu of schedules.
struct LaunchHints {
  std::optional<int64_t> threads; ///< that compute
  std::optional<bool> persistent;
  std::optional<int64_t> minBlocks;               ///< per multiprocessor
  std::optional<int64_t> panelRows, panelColumns; ///< of blocks that follow each other; at most one of both
};

LaunchHints readHints(LaunchOp launch);

/// The order in which a persistent block takes its tiles: the user's, else panels of 8 rows, whose operands
/// fit the cache; plain rows for chained products.
RasterAttr rasterOf(mlir::MLIRContext *context, const LaunchHints &hints, bool chained);

} // namespace tilec::tile
#endif
