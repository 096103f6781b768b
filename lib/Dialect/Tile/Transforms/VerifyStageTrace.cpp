//===- VerifyStageTrace.cpp - control flow of the tracer -------------------===//
#include "VerifyStageTrace.h"

using namespace mlir;

namespace tilec::tile {
static RunningThreads shapeOf(LaunchOp launch, std::optional<unsigned> role, WarpGroupsOp roles) {
  constexpr int64_t warpsPerGroup = 4;
  RunningThreads shape;
  ScheduleAttr schedule = launch.getScheduleAttr();
  // Without a schedule nothing is known about the threads: many of them, in one group.
  shape.warps =
      schedule ? std::max<int64_t>(schedule.getThreads() / 32, schedule.getThreads() > 1 ? 1 : 0) : 8;
  if (role) {
    shape.role = *role;
    shape.warps = cast<RoleAttr>(roles.getRoles()[*role]).getWarps();
  }
  shape.groups = std::max<int64_t>(shape.warps / warpsPerGroup, 1);
  return shape;
}

Tracer::Tracer(LaunchOp launch, TraceSample sample, std::optional<unsigned> role, ReachCache &reaches,
               int64_t &stepsLeft)
    : launch(launch), sample(sample), role(role), reaches(reaches), stepsLeft(stepsLeft),
      threads(shapeOf(launch, std::nullopt, {})) {}

LogicalResult Tracer::run() {
  findWritten();
  seedArguments();
  if (failed(runHost()))
    return failure();
  for (BlockArgument id : launch.getBody().getArguments())
    env[id] = sample.block;
  if (failed(runBlock(launch.getBody().front())))
    return failure();
  return truncated ? success() : checkNothingInFlight();
}

/// Everything that stands before the launch on the host level, wherever the launch is nested.
LogicalResult Tracer::runHost() {
  SmallVector<Operation *> path;
  for (Operation *op = launch; !isa<KernelOp>(op); op = op->getParentOp())
    path.push_back(op);
  for (Operation *inner : llvm::reverse(path))
    for (Operation &op : *inner->getBlock()) {
      if (&op == inner)
        break;
      if (!isa<LaunchOp>(op) && failed(step(&op)))
        return failure();
    }
  return success();
}

LogicalResult Tracer::runBlock(Block &block) {
  for (Operation &op : block)
    if (truncated || failed(step(&op)))
      return success(truncated);
  return success();
}

LogicalResult Tracer::step(Operation *op) {
  if (--stepsLeft < 0) {
    truncated = true;
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return runWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return runIf(branch);
  if (auto roles = dyn_cast<WarpGroupsOp>(op))
    return runRoles(roles);
  if (auto body = dyn_cast<ThreadsOp>(op))
    return runBlock(body.getBody().front());
  if (isa<TileDialect>(op->getDialect()) && threads.warps > 0 && failed(stepMemory(op)))
    return failure();
  evaluate(op);
  return success();
}

static bool usesRings(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<AcquireOp, CommitOp, ConsumeOp, ReleaseOp>(inner) ? WalkResult::interrupt()
                                                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Tiles that a persistent block is followed through: every ring goes round more than twice even where a tile
/// is one step of it. A grid may have millions.
static constexpr int64_t kMostTiles = 40;

LogicalResult Tracer::runFor(scf::ForOp loop) {
  std::optional<int64_t> from = get(loop.getLowerBound()), to = get(loop.getUpperBound()),
                         by = get(loop.getStep());
  bool known = from && to && by && *by > 0;
  if (!known) {
    if (usesRings(loop))
      return loop.emitError("trip count depends on data: the ring operations in this loop cannot be checked");
    unknownSeen = true;
  }
  int64_t first = from.value_or(0), stride = by && *by > 0 ? *by : 1;
  constexpr int64_t all = std::numeric_limits<int64_t>::max();
  int64_t end = known ? *to : all, trips = known ? all : sample.unknownTrips;
  if (loop->hasAttr(TileDialect::kTileLoopAttrName))
    trips = std::min(trips, kMostTiles);
  SmallVector<std::optional<int64_t>> carried = values(loop.getInitArgs());
  for (int64_t i = first; i < end && trips-- > 0 && !truncated;) {
    set(loop.getInductionVar(), known || from ? std::optional<int64_t>(i) : std::nullopt);
    bind(loop.getRegionIterArgs(), carried);
    if (failed(runBlock(*loop.getBody())))
      return failure();
    carried = values(loop.getBody()->getTerminator()->getOperands());
    if (llvm::AddOverflow(i, stride, i))
      break; // the bounds of a loop may be anything
  }
  bind(loop.getResults(), carried);
  return success();
}

LogicalResult Tracer::runWhile(scf::WhileOp loop) {
  SmallVector<std::optional<int64_t>> carried = values(loop.getInits());
  int64_t unknownLeft = sample.unknownTrips;
  while (!truncated) {
    bind(loop.getBeforeArguments(), carried);
    if (failed(runBlock(*loop.getBeforeBody())))
      return failure();
    scf::ConditionOp condition = loop.getConditionOp();
    std::optional<int64_t> go = get(condition.getCondition());
    if (!go) {
      if (usesRings(loop))
        return loop.emitError(
            "trip count depends on data: the ring operations in this loop cannot be checked");
      unknownSeen = true;
      go = unknownLeft-- > 0;
    }
    carried = values(condition.getArgs());
    if (!*go)
      break;
    bind(loop.getAfterArguments(), carried);
    if (failed(runBlock(*loop.getAfterBody())))
      return failure();
    carried = values(loop.getYieldOp().getOperands());
  }
  bind(loop.getResults(), carried);
  return success();
}

LogicalResult Tracer::runIf(scf::IfOp branch) {
  std::optional<int64_t> condition = get(branch.getCondition());
  if (!condition) {
    if (usesRings(branch))
      return branch.emitError("condition depends on data: the ring operations under it cannot be checked");
    unknownSeen = true;
    condition = sample.unknownBranch;
  }
  Region &taken = *condition ? branch.getThenRegion() : branch.getElseRegion();
  if (taken.empty())
    return success();
  if (failed(runBlock(taken.front())))
    return failure();
  bind(branch.getResults(), values(taken.front().getTerminator()->getOperands()));
  return success();
}

LogicalResult Tracer::runRoles(WarpGroupsOp roles) {
  if (!role || *role >= roles.getBodies().size())
    return success();
  RunningThreads outside = threads;
  threads = shapeOf(launch, role, roles);
  LogicalResult result = runBlock(roles.getBodies()[*role].front());
  threads = outside;
  return result;
}
} // namespace tilec::tile
