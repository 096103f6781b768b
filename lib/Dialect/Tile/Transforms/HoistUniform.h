//===- HoistUniform.h - what a nest computes once -----------------------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_HOISTUNIFORM_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_HOISTUNIFORM_H
#include "tilec/Dialect/Tile/IR/Tile.h"

namespace tilec::tile {

/// Pure operations of the body that do not depend on the iteration move in front of the nest.
void hoistUniform(GenericOp nest);

} // namespace tilec::tile
#endif
