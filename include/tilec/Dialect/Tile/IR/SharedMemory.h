//===- SharedMemory.h - sizes of buffers, one home for allocation and addresses -===//
#ifndef TILEC_DIALECT_TILE_IR_SHAREDMEMORY_H
#define TILEC_DIALECT_TILE_IR_SHAREDMEMORY_H
#include "tilec/Dialect/Tile/IR/Tile.h"

namespace tilec::tile {

/// Bits of one element in memory: bool takes a byte, index eight.
int64_t storageBits(mlir::Type element);
inline int64_t storageBytes(mlir::Type element) { return storageBits(element) / 8; }
/// Bytes of all elements of a buffer or a tile, without gaps.
template <typename ShapedType> int64_t dataBytes(ShapedType type) {
  return type.getNumElements() * storageBytes(type.getElementType());
}
/// Bytes from the first to the last element, gaps of the layout included.
int64_t bufferBytes(BufferType type);
/// Bytes that the start of the buffer must be a multiple of: what a swizzle or a TMA box counts from.
int64_t bufferAlign(BufferType type);
/// Distance of two slots of a ring for a buffer of that type.
int64_t slotBytes(BufferType type);

} // namespace tilec::tile
#endif
