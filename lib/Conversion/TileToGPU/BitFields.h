//===- BitFields.h - floats out of a few bits of integers in memory ----------===//
// Weights of four bits, say: `cast(cast(q[i, j // 2] >> 4 * (j % 2) & 15, int32) - 8, float16)`. Analysis
// only; PackedFields.cpp makes the code.
#ifndef TILEC_LIB_CONVERSION_TILETOGPU_BITFIELDS_H
#define TILEC_LIB_CONVERSION_TILETOGPU_BITFIELDS_H
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Support/Layout.h"

namespace tilec::simt {

/// Where a register's bits are: in a word of 32 bits that the thread reads, perhaps as a part of a vector.
struct FieldPlace {
  int64_t inElement = 0; ///< byte of the element that holds the bits
  int64_t vector = 0;    ///< number of the vector
  int64_t word = 0;      ///< in the vector
  int64_t byte = 0;      ///< in the word, or with `threadByte` on top of the thread's own
  int64_t shift = 0;     ///< in the byte
  int64_t width = 0;     ///< bits
};

/// A vector that a thread reads.
struct FieldVector {
  int64_t first = 0; ///< a register whose bits are in it; of a tile in registers: the number of the word
  int64_t base =
      0; ///< a vector, this or an earlier one, that lies `distance` bytes before this in every thread
  int64_t distance = 0;
};

/// A conversion in the body of a nest whose value is an unsigned field of bits minus a number.
struct BitFields {
  mlir::Operation *conversion = nullptr; ///< sitofp, uitofp
  mlir::Value source;                    ///< the integer: an elem_load of the body, or an argument of it
  int64_t bias = 0;                      ///< what is taken away
  int64_t vectorBytes = 4;               ///< of each read
  bool threadByte = false;               ///< which byte of the words depends on the thread
  int64_t least = 0;                     ///< the register that has the thread's byte, no higher one
  llvm::SmallVector<FieldVector> vectors;
  llvm::SmallVector<FieldPlace> registers; ///< for each register of the nest
};

/// The conversions of that kind in the body, of the first `count` registers. `places`: the register of each
/// operand that is a tile.
llvm::SmallVector<BitFields> findBitFields(tile::GenericOp nest, int64_t count,
                                           llvm::ArrayRef<llvm::SmallVector<int64_t>> places);

} // namespace tilec::simt
#endif
