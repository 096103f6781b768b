//===- PlanWGMMA.h - products over warp groups -------------------------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_PLANWGMMA_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_PLANWGMMA_H
#include "LaunchFeatures.h"
#include "ScheduleHints.h"
#include "tilec/Support/Target.h"

namespace tilec::tile {

/// Registers of a thread of one computing warp group beside a load role; setmaxnreg takes the rest from the
/// other.
inline constexpr int64_t kRegistersAlone = 240;

/// Registers that ptxas wants beside the sums of one instruction: among as many as a thread has when the
/// kernel starts, before setmaxnreg.
inline constexpr int64_t kBesideSums = 26;

/// How warp groups share the products of one launch. The 64-row side of the instruction runs over m, or over
/// n where the plan is `swapped`: the accumulator then holds the transposed tile, and m may be any multiple
/// of 8.
struct WGMMAPlan {
  bool swapped = false;
  int64_t rows = 1, columns = 1; ///< warp groups along m and n of the tile
  bool integers = false;         ///< some product is of integers, whose instruction has fewer widths
  int64_t groups() const { return rows * columns; }
  /// Extent of the instruction's n side for a product of m x n.
  int64_t width(int64_t m, int64_t n, int64_t widest = 256) const;
  /// For a product of m x n and 32 bytes along k: cycles of the matrix units of a multiprocessor, and of its
  /// shared memory, at 128 bytes each.
  double matrixCycles(int64_t m, int64_t n) const;
  double sharedCycles(int64_t m, int64_t n) const;
  /// Into how many equal parts can a tile of m x n be cut so that each thread has its share of every part? As
  /// few as `enough` says will do, at most 4; 1 where it cannot be cut.
  int64_t parts(int64_t m, int64_t n, llvm::function_ref<bool(int64_t)> enough) const;
};

/// Are there matrix instructions for operands and sums of these types?
bool hasMatrixTypes(const GemmFeature &g);

/// How far one instruction reaches along k: 32 bytes.
int64_t matrixDepth(const GemmFeature &g);

/// Does the instruction's first operand come out of registers? Operands of other than 16 bits that lie across
/// k in shared memory are read into them.
bool firstInRegisters(const GemmFeature &g, bool swapped);

/// What keeps a product of such types from wgmma, for users.
llvm::StringRef whyNoWGMMA(const GemmFeature &g);

/// A plan for all products of the launch; none where one of them is no wgmma.
std::optional<WGMMAPlan> planWGMMA(const LaunchFeatures &features, const LaunchHints &hints,
                                   const TargetDesc &target);

/// 32-bit registers of one product's sums in each of so many threads.
int64_t sumRegisters(const GemmFeature &g, int64_t threads);
/// The same in each thread of so many warp groups, over all products.
int64_t accumulatorRegisters(const LaunchFeatures &features, int64_t groups);

} // namespace tilec::tile
#endif
