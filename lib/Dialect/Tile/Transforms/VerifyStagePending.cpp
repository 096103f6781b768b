//===- VerifyStagePending.cpp - how many groups may stay behind a wait -----===//
//
// `pending n` lets the n youngest groups run on. It is right only if on every path at least n groups are
// closed between the issue of what is awaited and the wait. Products and copies stand in different queues.
//
//===----------------------------------------------------------------------===//
#include "VerifyStage.h"
#include <queue>

using namespace mlir;

namespace tilec::tile {
namespace {
constexpr int64_t unbounded = std::numeric_limits<int32_t>::max();

/// Walks back from a wait through loops and branches to where what is awaited may have been issued; the path
/// with the fewest groups counts (Dijkstra), so a token may travel through as many values as a loop has
/// slots.
class PendingCounter {
public:
  explicit PendingCounter(bool products) : products(products) {}

  /// The least number of groups closed from the issue of `value` to `use`; 0 when unknown.
  int64_t count(Value value, Operation *use) {
    from(value, use, 0);
    llvm::DenseSet<std::pair<Value, Operation *>> seen;
    while (!open.empty()) {
      Place at = open.top();
      open.pop();
      if (!at.value)
        return at.closed;
      if (seen.insert({at.value, at.use}).second)
        expand(at);
    }
    return unbounded;
  }

private:
  /// A value as it stands before `use`, with the groups closed from there to the wait; no value: where it was
  /// issued.
  struct Place {
    Value value;
    Operation *use;
    int64_t closed;
    bool operator<(const Place &other) const { return closed > other.closed; }
  };

  void from(Value value, Operation *use, int64_t closed) { open.push({value, use, closed}); }
  void fromYield(Block *block, unsigned i, int64_t closed) {
    from(block->getTerminator()->getOperand(i), block->getTerminator(), closed);
  }

  void expand(const Place &at) {
    if (auto argument = dyn_cast<BlockArgument>(at.value))
      return expandArgument(argument, at);
    Operation *def = at.value.getDefiningOp();
    if (isa<ReadyOp, InFlightOp>(def))
      return; // nothing to wait for
    Operation *top = def->getBlock()->findAncestorOpInBlock(*at.use);
    if (!top)
      return from({}, nullptr, 0);
    int64_t closed = at.closed + closedIn(std::next(def->getIterator()), top->getIterator());
    unsigned i = cast<OpResult>(at.value).getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(def)) {
      from(loop.getInitArgs()[i], loop, closed);
      fromYield(loop.getBody(), i, closed);
    } else if (auto branch = dyn_cast<scf::IfOp>(def)) {
      fromYield(branch.thenBlock(), i, closed);
      fromYield(branch.elseBlock(), i, closed);
    } else { // anything else than these two: a copy that no join has closed, or a loop of another form
      from({}, nullptr, isa<JoinOp, AsyncGemmOp>(def) ? closed : 0);
    }
  }

  void expandArgument(BlockArgument argument, const Place &at) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    Operation *top = loop ? loop.getBody()->findAncestorOpInBlock(*at.use) : nullptr;
    if (!top || argument.getArgNumber() == 0)
      return from({}, nullptr, 0);
    unsigned i = argument.getArgNumber() - 1;
    int64_t closed = at.closed + closedIn(loop.getBody()->begin(), top->getIterator());
    fromYield(loop.getBody(), i, closed);
    from(loop.getInitArgs()[i], loop, closed);
  }

  /// Groups surely closed between two places of a block; what is nested may not run.
  int64_t closedIn(Block::iterator from, Block::iterator to) {
    return llvm::count_if(llvm::make_range(from, to),
                          [&](Operation &op) { return products ? isa<AsyncGemmOp>(op) : isa<JoinOp>(op); });
  }

  bool products;
  std::priority_queue<Place> open;
};

/// Was the value issued by a product? (A loop-carried one: what any trip puts there.)
bool isProduct(Value value) {
  llvm::SetVector<Value> open;
  open.insert(value);
  auto yielded = [&](Block *block, unsigned i) { open.insert(block->getTerminator()->getOperand(i)); };
  for (unsigned next = 0; next < open.size(); ++next) {
    Value at = open[next];
    if (isa<FutureType>(at.getType()))
      return true;
    if (auto argument = dyn_cast<BlockArgument>(at)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && argument.getArgNumber())
        yielded(loop.getBody(), argument.getArgNumber() - 1);
      continue;
    }
    unsigned i = cast<OpResult>(at).getResultNumber();
    if (auto loop = at.getDefiningOp<scf::ForOp>()) {
      yielded(loop.getBody(), i);
    } else if (auto branch = at.getDefiningOp<scf::IfOp>()) {
      yielded(branch.thenBlock(), i);
      yielded(branch.elseBlock(), i);
    } else if (isa<AsyncGemmOp>(at.getDefiningOp())) {
      return true;
    }
  }
  return false;
}

LogicalResult verifyPending(Operation *op, ValueRange awaited, int64_t pending) {
  for (Value value : awaited) {
    int64_t most = PendingCounter(isProduct(value)).count(value, op);
    if (pending > most)
      return op->emitError() << "pending " << pending << " leaves the awaited group running, at most "
                             << most;
  }
  return success();
}
} // namespace

LogicalResult verifyPendingCounts(KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) {
    LogicalResult checked = success();
    if (auto wait = dyn_cast<WaitOp>(op))
      checked = verifyPending(op, wait.getTokens(), wait.getPending().value_or(0));
    if (auto await = dyn_cast<AwaitOp>(op))
      checked = verifyPending(op, await.getFuture(), await.getPending().value_or(0));
    return failed(checked) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
} // namespace tilec::tile
