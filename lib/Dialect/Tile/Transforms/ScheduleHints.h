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
  std::optional<int64_t> minBlocks; ///< per multiprocessor
};

LaunchHints readHints(LaunchOp launch);

} // namespace tilec::tile
#endif
