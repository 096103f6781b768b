//===- LaunchFeatures.h - what a launch does, as far as schedules care -------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_LAUNCHFEATURES_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_LAUNCHFEATURES_H
#include "tilec/Dialect/Tile/IR/Tile.h"
#include <optional>

namespace tilec::tile {

/// One product. Extents are of op(a) (m x k) and op(b) (k x n).
struct GemmFeature {
  GemmOp op;
  int64_t m, n, k;
  bool aInRegisters; ///< operand a is a tile
  bool bInRegisters;
  mlir::Type a, b, acc;
  bool inLoop;
};

/// A memory-to-memory copy out of a view.
struct CopyFeature {
  CopyOp op;
  mlir::scf::ForOp loop; ///< innermost scf.for around it; may be null
  bool feedsOnlyGemm;    ///< every reader of the buffer is a gemm
  bool feedsGemm;        ///< some reader is
};

struct LaunchFeatures {
  llvm::SmallVector<GemmFeature, 2> gemms;
  llvm::SmallVector<CopyFeature, 4> copies; ///< view -> buffer
  llvm::SmallVector<SplitCopyOp, 2> splits; ///< view -> planes
  llvm::SmallVector<StoreOp, 2> viewStores; ///< tile -> view
  llvm::SmallVector<LoadOp, 4> viewLoads;   ///< view -> tile
  llvm::SmallVector<ReduceOp, 2> reduces;
  llvm::SmallVector<mlir::scf::ForOp, 2> pipelined; ///< loops with tile.pipeline
  int64_t largestTile = 0;                          ///< elements of the largest tile or Parallel domain
  int64_t largestRowReduction = 0;                  ///< extent of the longest reduced axis
};

LaunchFeatures collectFeatures(LaunchOp launch);

/// The only op of that kind in a kernel; null where there is none or more than one.
template <typename OpT> OpT onlyOp(KernelOp kernel) {
  OpT found;
  bool several = kernel
                     .walk([&](OpT op) {
                       bool again = bool(found);
                       found = op;
                       return again ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
                     })
                     .wasInterrupted();
  return several ? OpT() : found;
}

GemmFeature describeGemm(GemmOp gemm);

/// m, n and k of a product, ones dropped and transposes applied.
std::tuple<int64_t, int64_t, int64_t> gemmExtents(GemmOp gemm);

/// A float32 product on the plain units (its instruction is known).
bool isPlainFloat32(GemmOp gemm);

/// What products make of a buffer that they read with k as its fast axis, or as its slow one.
struct OperandAxes {
  bool kFast = false, kSlow = false;
};

/// As it is read by float32 products on the plain units, which want k to be the slow axis in memory.
OperandAxes plainOperandAxes(mlir::Value buffer);

/// Everything that uses a buffer, through its aliases too; the aliases themselves are among them.
llvm::SmallVector<mlir::Operation *> bufferUsers(mlir::Value buffer);

/// Where all that aliases a buffer of two axes are parts of it that matrix operands can be, whole groups of 8
/// rows and of columns at places known now: the columns in whose multiples they begin and end. 0 otherwise.
int64_t columnsOfParts(mlir::Value buffer);

/// Does a product read what another one computed, or statistics of it? Its tiles then have to stay in the
/// threads where that left them.
bool hasChainedProducts(const LaunchFeatures &features);

/// The view behind casts of alignment and safe value; a reshape stands for itself.
mlir::Value rootView(mlir::Value view);

/// Number of the kernel argument behind recasts that keep its shape; none for other views.
std::optional<unsigned> argumentOf(mlir::Value view);

/// May the launch write the tensor of that argument? One that it only reads can be read at any time.
bool launchWrites(LaunchOp launch, unsigned argument);

/// The buffer behind subbuffer and recast_buffer: an alloc.
mlir::Value rootBuffer(mlir::Value buffer);

} // namespace tilec::tile
#endif
