//===- LaunchCost.h - how long a launch takes, before there is code ----------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_LAUNCHCOST_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_LAUNCHCOST_H
#include "PlanWGMMA.h"
#include "tilec/Support/Target.h"
#include <optional>

namespace tilec::tile {

/// Clock cycles: one trip of the main loop, what a block does beside it, what a launch does beside its
/// blocks. A launch of `blocks` blocks with `trips` trips each takes
///
///     ceil(blocks / (multiprocessors * resident)) * (trips * trip + block) + launch
///
/// cycles, where `resident` is how many blocks a multiprocessor runs at once. Good for comparisons between
/// tiles of one kernel, not as a clock.
struct LaunchCost {
  int64_t trip, block, launch;
  int64_t resident = 1;
  int64_t sums = 0;    ///< registers of a computing thread that hold them
  int64_t lines = 0;   ///< rows of 128 bytes that a trip brings
  int64_t steps = 1;   ///< of 128 bytes along k in a trip
  bool turned = false; ///< the sums hold the transposed tile
};

/// What shares the shared memory of a launch with the ring of its main loop.
struct Staging {
  llvm::SmallVector<LoadOp, 2> loads; ///< that the copy engine makes ahead
  int64_t loaded = 0;                 ///< bytes of them
  int64_t stored = 0;                 ///< bytes of the staging buffer of results
  int64_t passes = 1;                 ///< parts in which a result goes through it
};

/// How the results of a launch with one product in a loop, `bytes` in all, leave and what its epilogue reads
/// comes: results in as few parts as leave space for four stages of the loop, or for three, and registers for
/// what the epilogue reads. `ahead`: the copy engine may make the loads.
Staging planStaging(const WGMMAPlan &plan, LaunchOp launch, const LaunchFeatures &features, int64_t bytes,
                    int64_t stage, int64_t room, bool ahead);

/// None where the target has no model, the launch has no product in a loop, or its tile does not fit.
std::optional<LaunchCost> launchCost(LaunchOp launch, const TargetDesc &target);

/// On a kernel, array of strings: the targets for which it also runs results whose rows start anywhere.
/// Absent: for all.
inline constexpr llvm::StringLiteral kAnyPitchAttrName = "tile.any_pitch";

/// Registers of sums that leave room for a realigned operand in a thread.
inline constexpr int64_t kMostSumsBesideRealigned = 160;

/// The same where results, and the operands whose rows are as long, start anywhere: the threads store, and
/// read `realigned` bytes of operands a trip out of words of 16 bytes. None where that does not fit.
std::optional<LaunchCost> costAtAnyPitch(LaunchCost cost, int64_t realigned);

/// The formula above; the launcher computes the same.
int64_t cyclesOf(const LaunchCost &cost, int64_t blocks, int64_t trips, int64_t multiprocessors);

/// The loops around the largest product of a launch, outermost first; empty without a product in a loop.
llvm::SmallVector<mlir::scf::ForOp, 2> mainLoops(LaunchOp launch);

} // namespace tilec::tile
#endif
