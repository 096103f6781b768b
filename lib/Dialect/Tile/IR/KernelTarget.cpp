//===- KernelTarget.cpp - the chip of a kernel -------------------------------===//
#include "tilec/Dialect/Tile/IR/KernelTarget.h"

using namespace tilec;
using namespace tilec::tile;

const TargetDesc *tilec::tile::targetOf(KernelOp kernel) {
  auto chip = kernel->getAttrOfType<TargetAttr>(TileDialect::kTargetAttrName);
  return chip ? lookupTarget(chip.getChip()) : nullptr;
}
