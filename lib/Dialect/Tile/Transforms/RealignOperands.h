//===- RealignOperands.h - operands whose rows start anywhere -----------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_REALIGNOPERANDS_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_REALIGNOPERANDS_H
#include "tilec/Dialect/Tile/IR/Tile.h"

namespace tilec::tile {

/// May the copy, of a pipelined loop, bring aligned words around its rows instead? It fills an operand of
/// matrix products whose rows run across k, of 16 or 32 bits, whole, from a tensor that the launch only
/// reads, at a place and under conditions that the load role can tell by itself.
bool mayRealign(CopyOp copy, LaunchOp launch);

/// Makes it so: the products take the operand out of registers, where `realign` puts it, with its rows along
/// k.
void realignOperand(CopyOp copy);

/// May the threads of the load role make the copy, of a pipelined loop, element by element? It is small and
/// fills a whole buffer, under the same conditions.
bool mayCopyElements(CopyOp copy, LaunchOp launch);

} // namespace tilec::tile
#endif
