//===- Passes.h - the passes from the tile dialect to itself ---------------===//
#ifndef TILEC_DIALECT_TILE_TRANSFORMS_PASSES_H
#define TILEC_DIALECT_TILE_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tilec/Dialect/Tile/IR/Tile.h"

namespace tilec::tile {
/// The stages that have a contract, in order.
enum class VerifiedStage { Tile, Scheduled, LaidOut, Async, Threads };

#define GEN_PASS_DECL
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

#endif // TILEC_DIALECT_TILE_TRANSFORMS_PASSES_H
