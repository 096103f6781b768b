//===- ScalarSlice.cpp - what a role can compute by itself -------------------===//
#include "ScalarSlice.h"
#include "LaunchFeatures.h"

using namespace mlir;
using namespace tilec::tile;

/// What an iteration argument follows from: the trip count has a part in it, too.
static void addCarry(scf::ForOp loop, unsigned carry, SmallVectorImpl<Value> &sources) {
  sources.append({loop.getInitArgs()[carry], loop.getYieldedValues()[carry], loop.getLowerBound(),
                  loop.getUpperBound(), loop.getStep()});
}

/// An element that is the same whoever reads it and whenever: of a tensor that the launch only reads.
static bool isSettled(Operation *op) {
  auto load = dyn_cast<ElemLoadOp>(op);
  std::optional<unsigned> argument =
      load && isa<ViewType>(load.getSource().getType()) ? argumentOf(load.getSource()) : std::nullopt;
  return argument && !launchWrites(load->getParentOfType<LaunchOp>(), *argument);
}

/// Appends what `v`, a value of the launch body, is computed from. False when no role can do that alone.
static bool addSources(Value v, SmallVectorImpl<Value> &sources) {
  bool view = isa<ViewType>(v.getType());
  if (!view && !v.getType().isIntOrIndexOrFloat())
    return false;
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    Operation *parent = arg.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (loop && arg == loop.getInductionVar())
      sources.append({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    else if (loop && !view)
      addCarry(loop, arg.getArgNumber() - 1, sources);
    else
      return isa<LaunchOp>(parent);
    return true;
  }
  Operation *op = v.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned carry = cast<OpResult>(v).getResultNumber();
    sources.push_back(loop.getRegionIterArgs()[carry]);
    return !view;
  }
  llvm::append_range(sources, op->getOperands());
  return (isPure(op) || isSettled(op)) && op->getNumRegions() == 0;
}

bool ScalarSlice::add(Value v) {
  llvm::DenseSet<Value> fresh;
  SmallVector<Value> open = {v};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!launch.getBody().isAncestor(next.getParentRegion()) || values.contains(next) ||
        !fresh.insert(next).second)
      continue;
    if (!addSources(next, open))
      return false;
  }
  values.insert(fresh.begin(), fresh.end());
  return true;
}

bool ScalarSlice::addSurroundings(Operation *op) {
  for (Operation *p = op->getParentOp(); !isa<LaunchOp>(p); p = p->getParentOp()) {
    if (auto branch = dyn_cast<scf::IfOp>(p)) {
      if (!add(branch.getCondition()))
        return false;
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(p);
    if (!loop || !add(loop.getLowerBound()) || !add(loop.getUpperBound()) || !add(loop.getStep()))
      return false;
  }
  return true;
}
