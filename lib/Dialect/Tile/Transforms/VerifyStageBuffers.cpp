//===- VerifyStageBuffers.cpp - no read of memory that nothing wrote -------===//
#include "VerifyStage.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::tile {
namespace {
enum class Access { none, read, write, both };

Access accessOf(Operation *op, Value buffer) {
  auto by = [&](Value read, Value write) {
    return read == buffer    ? (write == buffer ? Access::both : Access::read)
           : write == buffer ? Access::write
                             : Access::none;
  };
  return TypeSwitch<Operation *, Access>(op)
      .Case<LoadOp, ElemLoadOp>([&](auto load) { return by(load.getSource(), {}); })
      .Case<StoreOp, ElemStoreOp>([&](auto store) { return by({}, store.getDest()); })
      .Case<CopyOp, AsyncCopyOp>([&](auto copy) { return by(copy.getSource(), copy.getDest()); })
      .Case<AtomicOp, ElemAtomicOp>([&](auto atomic) { return by(atomic.getDest(), atomic.getDest()); })
      .Case<SplitCopyOp>(
          [&](SplitCopyOp split) { return split.getSource() == buffer ? Access::read : Access::write; })
      .Case<SubbufferOp, RecastBufferOp>([&](auto) { return Access::none; })
      .Default([&](Operation *) { return Access::read; });
}

/// Uses of a buffer through its aliases.
SmallVector<std::pair<Operation *, Access>> accessesOf(Value root) {
  SmallVector<std::pair<Operation *, Access>> accesses;
  SmallVector<Value> aliases = {root};
  while (!aliases.empty()) {
    Value alias = aliases.pop_back_val();
    for (Operation *user : alias.getUsers()) {
      if (isa<SubbufferOp, RecastBufferOp>(user))
        aliases.push_back(user->getResult(0));
      if (Access access = accessOf(user, alias); access != Access::none)
        accesses.push_back({user, access});
    }
  }
  return accesses;
}

bool isLoop(Operation *op) {
  return isa<scf::ForOp, scf::WhileOp, scf::ForallOp, scf::ParallelOp, GenericOp>(op);
}

/// May `write` run before `read`? It stands before it, or a loop around both brings it round.
bool reaches(Operation *write, Operation *read) {
  for (Operation *parent = read->getParentOp(); parent; parent = parent->getParentOp()) {
    if (!parent->isProperAncestor(write))
      continue;
    if (isLoop(parent))
      return true;
    // The innermost op around both decides, unless a loop further out brings the write round.
    for (Region &region : parent->getRegions())
      for (Block &block : region) {
        Operation *first = block.findAncestorOpInBlock(*write), *second = block.findAncestorOpInBlock(*read);
        if (first && second && (first == second || first->isBeforeInBlock(second)))
          return true;
      }
    if (isa<LaunchOp, KernelOp>(parent))
      return false;
  }
  return false;
}
} // namespace

/// A program may do that, as when the loop that fills a buffer has no trips: the values are unspecified.
void warnOfUnwrittenBuffers(KernelOp kernel) {
  kernel.walk([&](AllocOp alloc) {
    auto accesses = accessesOf(alloc.getBuffer());
    for (auto [reader, access] : accesses) {
      if (access == Access::write)
        continue;
      bool written = llvm::any_of(accesses, [&, reader = reader](const auto &other) {
        return other.second != Access::read &&
               (other.first == reader ? other.second == Access::both : reaches(other.first, reader));
      });
      if (written)
        continue;
      auto diagnostic = reader->emitWarning("[W0202] this reads shared memory that nothing has written yet");
      diagnostic.attachNote(alloc.getLoc()) << "allocated here";
      return; // once for each buffer
    }
  });
}
} // namespace tilec::tile
