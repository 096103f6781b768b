//===- LegalizeOperands.h - accesses that must pass through shared memory ----===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_LEGALIZEOPERANDS_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_LEGALIZEOPERANDS_H
#include "tilec/Dialect/Tile/IR/Tile.h"

namespace tilec::tile {

/// Threads hold their own elements only. What reads or writes a fragment at indices that another thread may
/// own is rewritten over a shared copy: register operands of products on the plain units, gathers (`extract`
/// anywhere), operands of a generic at maps that are no selection of axes, outs that are not identity-mapped,
/// reshapes.
void legalizeOperands(LaunchOp launch);

} // namespace tilec::tile
#endif
