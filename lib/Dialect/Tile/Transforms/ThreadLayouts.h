//===- ThreadLayouts.h - layouts for the threads of one launch ---------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_THREADLAYOUTS_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_THREADLAYOUTS_H
#include "mlir/IR/AffineMap.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Support/LayoutTables.h"
#include "tilec/Support/Target.h"

namespace tilec::tile {

/// The fragments that the computing threads of a launch can hold. All layouts of a launch use the same
/// inputs: `group` and `warp` when there are several warp groups, `warp` alone otherwise.
class ThreadLayouts {
public:
  ThreadLayouts(LaunchOp launch, const TargetDesc &target);

  const ThreadShape &shape() const { return threads; }
  const TargetDesc &targetDesc() const { return target; }

  /// Accesses along the last axis as wide as `vectorBytes`: a thread's neighbours.
  Layout forAccess(llvm::ArrayRef<int64_t> shape, unsigned elemBytes, unsigned vectorBytes = 16) const;
  /// The axis in threads and lanes of a warp.
  Layout forReduction(llvm::ArrayRef<int64_t> shape, unsigned axis, unsigned elemBytes,
                      unsigned vectorBytes) const;
  /// Wide accesses along the last axis of global memory and along the first of shared memory: patches of
  /// several rows and columns per thread. `store`: registers run down the columns first; otherwise along the
  /// rows, with the same elements in each thread. None for extents that are no powers of two.
  std::optional<Layout> forTransposition(llvm::ArrayRef<int64_t> shape, unsigned elemBytes, bool store) const;
  /// Accumulator of a product, and its operand in registers (0: a, 1: b).
  Layout accumulator(GemmOp gemm) const;
  Layout operand(GemmOp gemm, unsigned which) const;

private:
  Layout finish(Layout l) const;
  Layout plainAccumulator(int64_t m, int64_t n, bool alone) const;
  std::optional<Layout> blockAccumulator(int64_t m, int64_t n) const;
  Layout plainLayout(GemmOp gemm, int64_t m, int64_t n) const;

  llvm::SmallVector<int64_t, 2> partition; ///< warp groups or warps along the tile's axes
  const TargetDesc &target;
  ThreadShape threads;
};

/// Does this wgmma take bytes that lie across k out of registers? ldmatrix turns pairs of them, so that a
/// lane gets neighbouring rows, and so do the sums.
bool holdsNeighbours(InstAttr inst, mlir::Type element, bool transA, bool transB);

/// Layout of an operand that a generic of iteration layout `iteration` reads at `map`: some of the axes, in
/// some order. None for any other map.
std::optional<Layout> operandLayout(const Layout &iteration, mlir::AffineMap map);

/// Fills in leading axes of extent 1 so that `l` (of `shape` without ones) fits `shape`.
Layout restoreOnes(Layout l, llvm::ArrayRef<int64_t> shape);

} // namespace tilec::tile
#endif
