//===- SharedMemory.cpp - sizes of buffers -----------------------------------===//
#include "tilec/Dialect/Tile/IR/SharedMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec::tile;

int64_t tilec::tile::storageBits(Type element) {
  return element.isIndex() ? 64 : std::max<int64_t>(8, element.getIntOrFloatBitWidth());
}

int64_t tilec::tile::bufferBytes(BufferType type) {
  int64_t elements = type.getLayout() ? type.getLayout().getFootprint() : type.getNumElements();
  return elements * storageBits(type.getElementType()) / 8;
}

/// A swizzle's xor zone is one row of its width, and its pattern repeats every eight rows (PTX ISA, "Shared
/// memory matrix layout"); TMA wants 128 bytes in any case.
int64_t tilec::tile::bufferAlign(BufferType type) {
  if (!type.getLayout())
    return 16;
  unsigned zone = type.getLayout().getLayout().zone(tilec::DimId::Offset);
  int64_t row = (int64_t(1) << zone) * storageBits(type.getElementType()) / 8;
  return zone ? std::clamp<int64_t>(8 * row, 128, 1024) : 128;
}

int64_t tilec::tile::slotBytes(BufferType type) {
  return llvm::alignTo(bufferBytes(type), bufferAlign(type));
}
