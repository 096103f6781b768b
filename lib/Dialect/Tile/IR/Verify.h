//===- Verify.h - checks that several groups of ops share ------------------===//
#ifndef TILEC_LIB_DIALECT_TILE_IR_VERIFY_H
#define TILEC_LIB_DIALECT_TILE_IR_VERIFY_H

#include "tilec/Dialect/Tile/IR/Tile.h"

namespace tilec::tile {
/// "64x128" or "?x64"; "scalar" without axes.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Element types are equal.
llvm::LogicalResult verifySameElement(mlir::Operation *op, mlir::Type lhs, mlir::Type rhs);

/// `memory[offsets..]` holds a region of the extents `want` (compared without ones). One offset per axis, or
/// none for a whole buffer. `side` names the operand in messages.
llvm::LogicalResult verifyRegion(mlir::Operation *op, llvm::StringRef side, mlir::Type memory,
                                 mlir::ValueRange offsets, std::optional<llvm::ArrayRef<int64_t>> extents,
                                 llvm::ArrayRef<int64_t> want);

/// One index per axis of `container`.
llvm::LogicalResult verifyIndices(mlir::Operation *op, mlir::Type container, size_t count);

/// `inbounds` has one entry per axis of `memory`.
llvm::LogicalResult verifyInbounds(mlir::Operation *op, mlir::Type memory,
                                   std::optional<llvm::ArrayRef<bool>> flags);

/// Source, destination and extents of tile.copy and tile.async_copy.
struct CopyShape {
  mlir::Type source, dest;
  mlir::ValueRange sourceOffsets, destOffsets;
  std::optional<llvm::ArrayRef<int64_t>> extents;
  bool transpose = false;
  Im2colAttr im2col;
  std::optional<Engine> engine = std::nullopt; ///< none: not chosen yet
};
llvm::LogicalResult verifyCopy(mlir::Operation *op, const CopyShape &copy);

/// `words` holds the aligned words of 16 bytes around the rows of a region of a view: `extents` are ones but
/// for the last two, the buffer has one word a row more than the region.
llvm::LogicalResult verifyWords(mlir::Operation *op, mlir::Type words, mlir::Type view,
                                mlir::ValueRange offsets, std::optional<llvm::ArrayRef<int64_t>> extents);

/// (M, K) x (K, N) -> (M, N) after transposition, element types that have a product.
struct GemmShape {
  mlir::Type a, b;
  TileType acc;
  bool transA = false, transB = false;
};
llvm::LogicalResult verifyGemm(mlir::Operation *op, const GemmShape &gemm);
} // namespace tilec::tile

#endif // TILEC_LIB_DIALECT_TILE_IR_VERIFY_H
