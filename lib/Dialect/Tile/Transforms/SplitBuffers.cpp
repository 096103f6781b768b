//===- SplitBuffers.cpp - one buffer per live range --------------------------===//
//
// A buffer that is written anew from some point on, while what it held before is never read again, is two
// buffers. A loop that fills one then does not depend on what the buffer is used for before and after it, so
// its copies can run ahead. Each part takes shared memory of its own: a buffer that no loop fills stays
// whole.
//
//===----------------------------------------------------------------------===//
#include "tilec/Dialect/Tile/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILESPLITBUFFERS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

namespace {
/// What an op does to the contents a buffer had before it.
struct Use {
  bool reads = false; ///< may read them
  bool kills = false; ///< replaces all of them, in any case
};

/// Uses of a buffer and of everything that aliases it.
class BufferUses {
public:
  explicit BufferUses(Value buffer) { collect(buffer); }

  bool touches(Operation *op) const { return touched.contains(op); }

  /// One op that touches the buffer itself.
  Use leaf(Operation *op) const {
    bool whole = false, reads = false;
    if (auto copy = dyn_cast<CopyOp>(op)) {
      reads = aliases.contains(copy.getSource());
      whole = copy.getDest() == root() && copy.getDestOffsets().empty() && !copy.getExtents();
      // `extents` with a whole destination describe the other side: the destination is written entirely all
      // the same.
      whole |= copy.getDest() == root() && copy.getDestOffsets().empty() &&
               !isa<BufferType>(copy.getSource().getType());
      return {reads, whole && !reads};
    }
    if (auto store = dyn_cast<StoreOp>(op)) {
      whole = store.getDest() == root() && store.getOffsets().empty();
      return {false, whole};
    }
    if (isa<ElemStoreOp, SubbufferOp, RecastBufferOp>(op))
      return {false, false}; // the rest of the buffer stays
    return {true, false};
  }

  /// A block from `first` on: reads before any certain kill?
  Use sequence(Block &block) const {
    for (Operation &op : block) {
      Use use = of(&op);
      if (use.reads)
        return {true, false};
      if (use.kills)
        return {false, true};
    }
    return {};
  }

  Use of(Operation *op) const {
    if (touched.contains(op))
      return leaf(op);
    if (!enclosing.contains(op))
      return {};
    if (auto choice = dyn_cast<scf::IfOp>(op)) {
      Use yes = sequence(choice.getThenRegion().front());
      Use no = choice.getElseRegion().empty() ? Use() : sequence(choice.getElseRegion().front());
      return {yes.reads || no.reads, yes.kills && no.kills};
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) // may run no trip at all
      return {sequence(*loop.getBody()).reads, false};
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      Use before = sequence(loop.getBefore().front()), after = sequence(loop.getAfter().front());
      return {before.reads || (!before.kills && after.reads), before.kills};
    }
    return {true, false}; // a generic's body, or something unknown
  }

private:
  Value root() const { return aliases.front(); }

  void collect(Value value) {
    aliases.insert(value);
    for (Operation *user : value.getUsers()) {
      touched.insert(user);
      for (Operation *parent = user->getParentOp(); parent; parent = parent->getParentOp())
        enclosing.insert(parent);
      if (isa<SubbufferOp, RecastBufferOp>(user))
        collect(user->getResult(0));
    }
  }

  llvm::SetVector<Value> aliases;
  llvm::DenseSet<Operation *> touched, enclosing;
};

/// All values that alias `buffer` and are defined by ops inside of `within`.
bool aliasesStayInside(Value buffer, const llvm::DenseSet<Operation *> &within, Block *block) {
  for (Operation *user : buffer.getUsers()) {
    if (!isa<SubbufferOp, RecastBufferOp>(user))
      continue;
    Operation *top = block->findAncestorOpInBlock(*user);
    bool inside = within.contains(top);
    for (Operation *aliasUser : user->getResult(0).getUsers())
      if (within.contains(block->findAncestorOpInBlock(*aliasUser)) != inside)
        return false;
    if (!aliasesStayInside(user->getResult(0), within, block))
      return false;
  }
  return true;
}

/// Does a loop at or below `top` fill the buffer from a tensor? Such copies can run ahead of the loop's other
/// work.
bool isFilledByLoop(Operation *top, const BufferUses &uses) {
  return isa<scf::ForOp>(top) && top->walk([&](CopyOp copy) {
                                      bool fills =
                                          uses.touches(copy) && isa<ViewType>(copy.getSource().getType());
                                      return fills ? WalkResult::interrupt() : WalkResult::advance();
                                    })
                                     .wasInterrupted();
}

/// Cuts `alloc` at the first place where its old contents are dead; returns the new buffer for the rest.
AllocOp splitOnce(AllocOp alloc) {
  BufferUses uses(alloc.getBuffer());
  Block *block = alloc->getBlock();
  SmallVector<Operation *> tops;
  for (Operation *op = alloc->getNextNode(); op; op = op->getNextNode()) {
    bool relevant = uses.touches(op);
    op->walk([&](Operation *inner) { relevant |= uses.touches(inner); });
    if (relevant)
      tops.push_back(op);
  }
  if (llvm::none_of(tops, [&](Operation *top) { return isFilledByLoop(top, uses); }))
    return {};
  // Backward: are the contents before tops[i] needed by it or by a later one?
  SmallVector<bool> needed(tops.size() + 1, false);
  for (size_t i = tops.size(); i-- > 0;) {
    Use use = uses.of(tops[i]);
    needed[i] = use.reads || (!use.kills && needed[i + 1]);
  }
  for (size_t i = 1; i < tops.size(); ++i) {
    if (needed[i])
      continue;
    llvm::DenseSet<Operation *> rest(tops.begin() + i, tops.end());
    if (!aliasesStayInside(alloc.getBuffer(), rest, block))
      continue;
    OpBuilder b(tops[i]);
    auto fresh = cast<AllocOp>(b.clone(*alloc));
    alloc.getBuffer().replaceUsesWithIf(fresh.getBuffer(), [&](OpOperand &use) {
      return rest.contains(block->findAncestorOpInBlock(*use.getOwner()));
    });
    return fresh;
  }
  return {};
}

struct SplitBuffers : tilec::tile::impl::TileSplitBuffersBase<SplitBuffers> {
  void runOnOperation() override {
    SmallVector<AllocOp> allocs;
    getOperation().walk([&](AllocOp alloc) { allocs.push_back(alloc); });
    for (AllocOp alloc : allocs)
      while (alloc)
        alloc = splitOnce(alloc);
  }
};
} // namespace
