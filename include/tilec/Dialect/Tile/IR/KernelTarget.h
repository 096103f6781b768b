//===- KernelTarget.h - the chip of a kernel ---------------------------------===//
#ifndef TILEC_DIALECT_TILE_IR_KERNELTARGET_H
#define TILEC_DIALECT_TILE_IR_KERNELTARGET_H
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Support/Target.h"

namespace tilec::tile {

/// The chip that `tile.target` of the kernel names; null without the attribute, or if nobody knows that chip.
const TargetDesc *targetOf(KernelOp kernel);

} // namespace tilec::tile
#endif
