//===- VerifyStagePending.cpp - how many groups may stay behind a wait -----===//
//
// `pending n` lets the n youngest groups run on. It is right only if on every path at least n groups are
// closed between the issue of what is awaited and the wait. Products and copies stand in different queues.
//
//===----------------------------------------------------------------------===//
#include "VerifyStage.h"

using namespace mlir;

namespace tilec::tile {
namespace {
constexpr int64_t unbounded = std::numeric_limits<int32_t>::max();

/// A value in flight seen from one place: walks back through loops and branches to where it may have been
/// issued.
class PendingCounter {
public:
  explicit PendingCounter(bool products) : products(products) {}

  /// The least number of groups closed from the issue of `value` to `use`; 0 when unknown.
  int64_t count(Value value, Operation *use, int fuel = 8) {
    if (fuel == 0)
      return 0;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return countArgument(argument, use, fuel);
    Operation *def = value.getDefiningOp();
    if (isa<ReadyOp, InFlightOp>(def))
      return unbounded; // nothing to wait for
    Operation *top = def->getBlock()->findAncestorOpInBlock(*use);
    if (!top)
      return 0;
    int64_t after = closed(std::next(def->getIterator()), top->getIterator());
    unsigned i = cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(def))
      return std::min(count(loop.getInitArgs()[i], loop, fuel - 1), atYield(loop.getBody(), i, fuel)) + after;
    if (auto branch = dyn_cast<scf::IfOp>(def))
      return std::min(atYield(branch.thenBlock(), i, fuel), atYield(branch.elseBlock(), i, fuel)) + after;
    if (isa<JoinOp, AsyncGemmOp>(def))
      return after;
    return 0; // a copy that no join has closed, or a loop of another form
  }

private:
  int64_t atYield(Block *block, unsigned i, int fuel) {
    Operation *yield = block->getTerminator();
    return count(yield->getOperand(i), yield, fuel - 1);
  }

  int64_t countArgument(BlockArgument argument, Operation *use, int fuel) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    Operation *top = loop ? loop.getBody()->findAncestorOpInBlock(*use) : nullptr;
    if (!top || argument.getArgNumber() == 0)
      return 0;
    unsigned i = argument.getArgNumber() - 1;
    int64_t head = closed(loop.getBody()->begin(), top->getIterator());
    return head + std::min(atYield(loop.getBody(), i, fuel), count(loop.getInitArgs()[i], loop, fuel - 1));
  }

  /// Groups surely closed between two places of a block; what is nested may not run.
  int64_t closed(Block::iterator from, Block::iterator to) {
    return llvm::count_if(llvm::make_range(from, to),
                          [&](Operation &op) { return products ? isa<AsyncGemmOp>(op) : isa<JoinOp>(op); });
  }

  bool products;
};

/// Was the value issued by a product? (A loop-carried one: what any trip puts there.)
bool isProduct(Value value, int fuel = 8) {
  if (isa<FutureType>(value.getType()))
    return true;
  if (fuel == 0)
    return false;
  auto yielded = [&](Block *block, unsigned i) {
    return isProduct(block->getTerminator()->getOperand(i), fuel - 1);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument.getArgNumber() && yielded(loop.getBody(), argument.getArgNumber() - 1);
  }
  unsigned i = cast<OpResult>(value).getResultNumber();
  if (auto loop = value.getDefiningOp<scf::ForOp>())
    return yielded(loop.getBody(), i);
  if (auto branch = value.getDefiningOp<scf::IfOp>())
    return yielded(branch.thenBlock(), i) || yielded(branch.elseBlock(), i);
  return isa<AsyncGemmOp>(value.getDefiningOp());
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
