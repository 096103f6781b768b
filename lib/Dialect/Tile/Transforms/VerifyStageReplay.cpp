//===- VerifyStageReplay.cpp - all roles of a launch at once ---------------===//
//
// A bounded check: trip counts of 0, 1, below, at and beyond the depth of each ring, several tiles per block,
// first and second block. Trip counts beyond twice the depth repeat the same states.
//
//===----------------------------------------------------------------------===//
#include "VerifyStage.h"
#include "VerifyStageTrace.h"

#include "llvm/ADT/MapVector.h"
#include <set>

using namespace mlir;

namespace tilec::tile {
namespace {
/// Runs the ring operations of all roles against the rings.
class RingReplay {
public:
  RingReplay(ArrayRef<SmallVector<RingStep>> roles, int64_t extent) : roles(roles), extent(extent) {
    for (auto [r, steps] : llvm::enumerate(roles))
      for (const RingStep &step : steps) {
        Ring &ring = rings[step.ring];
        bool produces = step.event == RingEvent::acquire || step.event == RingEvent::commit;
        (produces ? ring.producers : ring.consumers).try_emplace(r);
      }
  }

  LogicalResult run() {
    SmallVector<size_t> at(roles.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t r = 0; r < roles.size(); ++r)
        while (at[r] < roles[r].size()) {
          FailureOr<bool> done = tryStep(r, roles[r][at[r]]);
          if (failed(done))
            return failure();
          if (!*done)
            break;
          ++at[r];
          moved = true;
        }
    }
    for (size_t r = 0; r < roles.size(); ++r)
      if (at[r] < roles[r].size())
        return reportDeadlock(r, at);
    return checkAllBack();
  }

private:
  /// How often a role has started and ended its part with the slots of one ring.
  struct Side {
    int64_t begun = 0, ended = 0;
  };
  struct Ring {
    llvm::MapVector<size_t, Side> producers, consumers; // by role
    static int64_t slowest(const llvm::MapVector<size_t, Side> &sides) {
      int64_t least = std::numeric_limits<int64_t>::max();
      for (const auto &[role, side] : sides)
        least = std::min(least, side.ended);
      return sides.empty() ? 0 : least;
    }
  };

  std::string size() const { return (" (extents of " + Twine(extent) + ")").str(); }

  /// False: has to wait for another role.
  FailureOr<bool> tryStep(size_t role, const RingStep &step) {
    Ring &ring = rings[step.ring];
    int64_t depth = cast<RingType>(step.ring.getType()).getDepth();
    switch (step.event) {
    case RingEvent::acquire: {
      Side &side = ring.producers[role];
      if (step.use != side.begun)
        return step.op->emitError() << "use " << step.use << " of the ring acquired out of order" << size();
      if (step.use - Ring::slowest(ring.consumers) >= depth)
        return false;
      ++side.begun;
      return true;
    }
    case RingEvent::commit: {
      Side &side = ring.producers[role];
      if (step.use != side.ended || step.use >= side.begun)
        return step.op->emitError() << "commit of use " << step.use << " that was not acquired" << size();
      ++side.ended;
      return true;
    }
    case RingEvent::consume: {
      Side &side = ring.consumers[role];
      if (step.use != side.begun)
        return step.op->emitError() << "use " << step.use << " consumed out of order" << size();
      if (step.use >= Ring::slowest(ring.producers))
        return false;
      ++side.begun;
      return true;
    }
    case RingEvent::release: {
      Side &side = ring.consumers[role];
      if (step.use != side.ended || step.use >= side.begun)
        return step.op->emitError() << "release of use " << step.use << " that was not consumed" << size();
      ++side.ended;
      return true;
    }
    }
    return true;
  }

  LogicalResult reportDeadlock(size_t role, ArrayRef<size_t> at) {
    const RingStep &step = roles[role][at[role]];
    auto diagnostic = step.op->emitError() << "waits for ever: use " << step.use << size();
    for (size_t other = 0; other < roles.size(); ++other)
      if (other != role && at[other] < roles[other].size())
        diagnostic.attachNote(roles[other][at[other]].op->getLoc()) << "while the other role waits here";
    return diagnostic;
  }

  LogicalResult checkAllBack() {
    for (auto &[value, ring] : rings) {
      int64_t lost = Ring::slowest(ring.producers) - Ring::slowest(ring.consumers);
      if (lost != 0)
        return value.getDefiningOp()->emitError() << lost << " slots never come back" << size();
    }
    return success();
  }

  ArrayRef<SmallVector<RingStep>> roles;
  int64_t extent;
  llvm::MapVector<Value, Ring> rings;
};

/// Extents that matter: those at which some loop makes 0, 1, 2, depth, depth + 1 and 2 * depth + 2 trips,
/// with tails.
SmallVector<int64_t> interestingExtents(LaunchOp launch) {
  std::set<int64_t> tiles;
  int64_t depth = 1;
  launch->getParentOfType<KernelOp>().walk([&](Operation *op) {
    if (auto ring = dyn_cast<RingOp>(op))
      depth = std::max(depth, ring.getRing().getType().getDepth());
    if (!isa<arith::CeilDivUIOp, arith::CeilDivSIOp, arith::DivUIOp, arith::DivSIOp>(op))
      return;
    APInt divisor;
    if (matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) && divisor.sgt(1) && divisor.slt(1 << 16))
      tiles.insert(divisor.getSExtValue());
  });
  if (tiles.empty())
    tiles.insert(64);
  int64_t smallest = *tiles.begin();
  std::set<int64_t> extents = {1};
  for (int64_t trips : {int64_t(1), int64_t(2), depth, depth + 1, 2 * depth + 2}) {
    extents.insert(trips * smallest);
    extents.insert(trips * smallest + 1);
  }
  for (int64_t tile : tiles)
    extents.insert(tile + 1);
  return SmallVector<int64_t>(extents.begin(), extents.end());
}

struct LaunchReplay {
  LaunchOp launch;
  WarpGroupsOp groups = {}; // null: token regime
  ReachCache reaches = ReachCache();
  int64_t stepsLeft = 250000; ///< of all runs together; usual launches take up to 100,000
  bool tooLong = false;       ///< a run reached the limit of steps

  LogicalResult run(const TraceSample &sample, bool &sawUnknown) {
    size_t roles = groups ? groups.getBodies().size() : 1;
    SmallVector<SmallVector<RingStep>> steps(roles);
    for (size_t role = 0; role < roles; ++role) {
      Tracer tracer(launch, sample, groups ? std::optional<unsigned>(role) : std::nullopt, reaches,
                    stepsLeft);
      if (failed(tracer.run()))
        return failure();
      sawUnknown |= tracer.sawUnknown();
      tooLong |= tracer.isTruncated();
      if (tooLong)
        return success(); // smaller extents were checked
      llvm::append_range(steps[role], tracer.getRingSteps());
    }
    return RingReplay(steps, sample.extent).run();
  }
};
} // namespace

LogicalResult replayLaunch(LaunchOp launch) {
  LaunchReplay replay{launch};
  WalkResult once = launch.walk([&](WarpGroupsOp groups) {
    if (replay.groups) {
      groups.emitError("a launch has one set of roles");
      return WalkResult::interrupt();
    }
    replay.groups = groups;
    return WalkResult::advance();
  });
  if (once.wasInterrupted())
    return failure();
  for (int64_t extent : interestingExtents(launch))
    for (int64_t block : {0, 1}) {
      bool sawUnknown = false;
      TraceSample sample;
      sample.extent = extent;
      sample.block = block;
      if (failed(replay.run(sample, sawUnknown)))
        return failure();
      sample.unknownBranch = false;
      sample.unknownTrips = 0;
      if (sawUnknown && failed(replay.run(sample, sawUnknown)))
        return failure();
      if (replay.tooLong)
        return success(); // larger extents only make it longer
    }
  return success();
}
} // namespace tilec::tile
