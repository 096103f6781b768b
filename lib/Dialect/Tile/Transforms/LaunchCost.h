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
};

/// In how many parts the result of a product in a loop, `bytes` in all, goes through its staging buffer: as
/// few as leave space for four stages of `stage` bytes each out of `room`, or for three.
int64_t stagingPasses(const WGMMAPlan &plan, const GemmFeature &product, int64_t bytes, int64_t stage,
                      int64_t room);

/// None where the target has no model, the launch has no product in a loop, or its tile does not fit.
std::optional<LaunchCost> launchCost(LaunchOp launch, const TargetDesc &target);

/// The formula above; the launcher computes the same.
int64_t cyclesOf(const LaunchCost &cost, int64_t blocks, int64_t trips, int64_t multiprocessors);

/// The loops around the largest product of a launch, outermost first; empty without a product in a loop.
llvm::SmallVector<mlir::scf::ForOp, 2> mainLoops(LaunchOp launch);

} // namespace tilec::tile
#endif
