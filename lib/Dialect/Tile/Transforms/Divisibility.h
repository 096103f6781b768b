//===- Divisibility.h - what index values are known to be multiples of -------===//
// Vector widths, TMA and cp.async legality ask one question: is this byte offset, pitch or address a multiple
// of 16? The facts are constants, types (static sizes, strides, `align`) and `assume(x % c == 0)`, the user's
// or those that the schedule adds to a variant together with its launch condition.
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_DIVISIBILITY_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_DIVISIBILITY_H
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseMap.h"

namespace tilec::tile {

class Divisibility {
public:
  /// Collects the facts of a device kernel: the assumes of its body and of its launch.
  explicit Divisibility(KernelOp kernel) : Divisibility(kernel, {}) {}

  /// An extent taken for a multiple of `factor`.
  struct Supposed {
    mlir::Value view;
    unsigned axis = 0;
    int64_t factor = 1;
  };
  Divisibility(KernelOp kernel, Supposed supposed);

  /// The largest number that `value` is known to be a multiple of, at most 2^30; 2^30 for a constant 0.
  int64_t of(mlir::Value value) const;
  /// Extent of `view` along `axis`.
  int64_t ofExtent(mlir::Value view, unsigned axis) const;
  /// Stride of `view` along `axis`, in elements.
  int64_t ofStride(mlir::Value view, unsigned axis) const;
  /// Alignment in bytes of the base address of `view`.
  int64_t ofAddress(mlir::Value view) const;
  /// Alignment in bytes of the element at these offsets, one per axis.
  int64_t ofElement(mlir::Value view, mlir::ValueRange offsets) const;
  /// Alignment in bytes of each row of the tile at these offsets: of `extents` elements, one per axis.
  int64_t ofRows(mlir::Value view, mlir::ValueRange offsets, llvm::ArrayRef<int64_t> extents) const;
  /// May a box of TMA start at these offsets? Along the last axis it starts at a multiple of 16 bytes;
  /// anything else is an illegal instruction when the copy engine meets it.
  bool startsBox(mlir::Value view, mlir::ValueRange offsets) const;

private:
  int64_t compute(mlir::Value value, unsigned depth) const;
  llvm::DenseMap<mlir::Value, int64_t> facts;                                 // of values
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, int64_t> extents, strides; // of views
};

} // namespace tilec::tile
#endif
