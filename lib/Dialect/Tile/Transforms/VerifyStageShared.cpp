//===- VerifyStageShared.cpp - offsets, ring counts, barrier ids -----------===//
#include "VerifyStage.h"

#include "tilec/Dialect/Tile/IR/SharedMemory.h"

#include "llvm/ADT/SmallSet.h"
#include <map>

using namespace mlir;

namespace tilec::tile {
namespace {
/// Bytes [from, to) of shared memory, and who uses them.
struct Interval {
  Value root;
  int64_t from, to;
  Operation *op;
};

/// All uses of a buffer or ring, through aliases, slots and loop-carried names.
SmallVector<Operation *> transitiveUsers(Value root) {
  SmallVector<Operation *> users;
  SmallVector<Value> work = {root};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (Operation *user : value.getUsers()) {
      users.push_back(user);
      for (Value result : user->getResults())
        if (isa<BufferType>(result.getType()))
          work.push_back(result);
    }
  }
  return users;
}

/// Index of the role that holds `op`, with the op that holds the roles.
std::pair<WarpGroupsOp, int64_t> roleOf(Operation *op) {
  Region *region = op->getParentRegion();
  for (; region; region = region->getParentRegion())
    if (auto groups = dyn_cast<WarpGroupsOp>(region->getParentOp()))
      return {groups, region->getRegionNumber()};
  return {WarpGroupsOp(), -1};
}

class SharedMemory {
public:
  explicit SharedMemory(LaunchOp launch) : launch(launch) {}

  LogicalResult verify() {
    if (failed(collect()))
      return failure();
    int64_t total = 0;
    for (const Interval &interval : intervals)
      total = std::max(total, interval.to);
    if (auto bytes = launch->getAttrOfType<IntegerAttr>(TileDialect::kSharedBytesAttrName))
      if (bytes.getInt() < total)
        return launch.emitError() << "tile.shared_bytes is " << bytes.getInt() << ", the buffers reach "
                                  << total;
    for (size_t i = 0; i < intervals.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (failed(verifyOverlap(intervals[j], intervals[i])))
          return failure();
    return success();
  }

private:
  LogicalResult collect() {
    WalkResult result = launch.walk([&](Operation *op) {
      if (auto alloc = dyn_cast<AllocOp>(op))
        return failed(addAlloc(alloc)) ? WalkResult::interrupt() : WalkResult::advance();
      if (auto ring = dyn_cast<RingOp>(op))
        return failed(addRing(ring)) ? WalkResult::interrupt() : WalkResult::advance();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult addAlloc(AllocOp alloc) {
    if (!alloc.getOffset())
      return alloc.emitError("shared memory without an offset");
    int64_t from = *alloc.getOffset();
    intervals.push_back({alloc.getBuffer(), from, from + bufferBytes(alloc.getBuffer().getType()), alloc});
    return success();
  }

  LogicalResult addRing(RingOp ring) {
    constexpr int64_t barrierBytes = 16; // one full and one empty barrier
    RingType type = ring.getRing().getType();
    if (!ring.getOffsets())
      return ring.emitError("shared memory without an offset");
    for (auto [slot, from] : llvm::zip_equal(type.getBuffers(), *ring.getOffsets())) {
      auto buffer = cast<BufferType>(slot);
      int64_t bytes = (type.getDepth() - 1) * slotBytes(buffer) + bufferBytes(buffer);
      intervals.push_back({ring.getRing(), from, from + bytes, ring});
    }
    bool synchronises =
        llvm::any_of(ring->getUsers(), llvm::IsaPred<AcquireOp, CommitOp, ConsumeOp, ReleaseOp>);
    if (!synchronises)
      return success();
    if (!ring.getBarriers() || !ring.getFull() || !ring.getEmpty())
      return ring.emitError(
          "a ring with producers and consumers needs its counts and the place of its barriers");
    int64_t from = *ring.getBarriers();
    intervals.push_back({Value(), from, from + type.getDepth() * barrierBytes, ring});
    return failed(verifyAnnounced(ring)) ? failure() : verifyCounts(ring);
  }

  /// The roles use barriers that one thread has initialised: all must have seen that.
  LogicalResult verifyAnnounced(RingOp ring) {
    bool fenced = false, announced = false;
    for (Operation &op : llvm::make_range(std::next(ring->getIterator()), ring->getBlock()->end())) {
      if (auto fence = dyn_cast<FenceOp>(op))
        fenced |= fence.getKind() == Fence::barrier_init;
      if (auto barrier = dyn_cast<BarrierOp>(op))
        announced |= fenced && barrier.getScope() == Scope::block;
      bool uses = op.walk([](WarpGroupsOp) { return WalkResult::interrupt(); }).wasInterrupted();
      if (uses && !announced)
        return op.emitError() << (fenced ? "no barrier of the block" : "no fence barrier_init")
                              << " between the ring and the roles that use it";
      if (uses)
        break;
    }
    return success();
  }

  /// Each consumer role arrives once per warp group or once per warp.
  LogicalResult verifyCounts(RingOp ring) {
    llvm::SmallSet<std::pair<Operation *, int64_t>, 4> roles;
    int64_t warps = 0, groups = 0;
    for (Operation *user : ring->getUsers()) {
      auto [holder, role] = roleOf(user);
      if (!isa<ReleaseOp>(user) || !holder || !roles.insert({holder, role}).second)
        continue;
      int64_t count = cast<RoleAttr>(holder.getRoles()[role]).getWarps();
      warps += count;
      groups += llvm::divideCeil(count, 4);
    }
    int64_t empty = *ring.getEmpty();
    if (roles.empty() || empty == warps || empty == groups)
      return success();
    return ring.emitError() << "empty " << empty << ", but " << groups << " warp groups (" << warps
                            << " warps) release the slots";
  }

  /// Overlapping memory must not be live at once. Within one program the replay's order of accesses would
  /// have to show that; what two roles touch lives as long as the roles do.
  LogicalResult verifyOverlap(const Interval &a, const Interval &b) {
    if (a.to <= b.from || b.to <= a.from)
      return success();
    bool live = a.root == b.root || !a.root || !b.root || sharedByRoles(a.root, b.root) || interleaved(a, b);
    if (!live)
      return success();
    auto diagnostic = b.op->emitError() << "bytes " << b.from << " to " << b.to << " overlap bytes " << a.from
                                        << " to " << a.to << ", which are live at the same time";
    if (a.op != b.op)
      diagnostic.attachNote(a.op->getLoc()) << "the other memory";
    return diagnostic;
  }

  bool sharedByRoles(Value a, Value b) {
    std::map<Operation *, llvm::SmallSet<int64_t, 4>> roles[2];
    Value roots[2] = {a, b};
    for (auto [i, root] : llvm::enumerate(roots))
      for (Operation *user : transitiveUsers(root))
        if (auto [holder, role] = roleOf(user); holder)
          roles[i][holder].insert(role);
    for (auto &[holder, first] : roles[0]) {
      auto second = roles[1].find(holder);
      if (second != roles[1].end() &&
          (first.size() > 1 || second->second.size() > 1 || *first.begin() != *second->second.begin()))
        return true;
    }
    return false;
  }

  /// Position of first and last access in the innermost block that holds all uses of both.
  bool interleaved(const Interval &a, const Interval &b) {
    SmallVector<Operation *> first = transitiveUsers(a.root), second = transitiveUsers(b.root);
    if (first.empty() || second.empty())
      return false;
    Block *block = commonBlock(first, second);
    auto range = [&](ArrayRef<Operation *> users) {
      std::pair<Operation *, Operation *> range = {nullptr, nullptr};
      for (Operation *user : users) {
        Operation *top = block->findAncestorOpInBlock(*user);
        if (!range.first || top->isBeforeInBlock(range.first))
          range.first = top;
        if (!range.second || range.second->isBeforeInBlock(top))
          range.second = top;
      }
      return range;
    };
    auto [aFirst, aLast] = range(first);
    auto [bFirst, bLast] = range(second);
    return !aLast->isBeforeInBlock(bFirst) && !bLast->isBeforeInBlock(aFirst);
  }

  Block *commonBlock(ArrayRef<Operation *> first, ArrayRef<Operation *> second) {
    auto holds = [](Block *block, ArrayRef<Operation *> users) {
      return llvm::all_of(users, [&](Operation *user) { return block->findAncestorOpInBlock(*user); });
    };
    Block *block = first.front()->getBlock();
    while (!holds(block, first) || !holds(block, second))
      block = block->getParentOp()->getBlock();
    return block;
  }

  LaunchOp launch;
  SmallVector<Interval> intervals;
};

//===- Barriers ------------------------------------------------------------===//
/// Barrier ids that an op takes: a group barrier takes one for each group of its role.
std::pair<int64_t, int64_t> idsOf(BarrierOp barrier) {
  int64_t from = barrier.getId().value_or(0), count = 1;
  if (barrier.getScope() == Scope::group) {
    auto [holder, role] = roleOf(barrier);
    int64_t warps = 4;
    if (holder)
      warps = cast<RoleAttr>(holder.getRoles()[role]).getWarps();
    else if (auto launch = barrier->getParentOfType<LaunchOp>(); launch && launch.getScheduleAttr())
      warps = launch.getScheduleAttr().getThreads() / 32;
    count = std::max<int64_t>(warps / 4, 1);
  }
  return {from, from + count};
}

LogicalResult verifyBarrier(BarrierOp barrier, std::map<int64_t, BarrierOp> &owner) {
  auto [holder, role] = roleOf(barrier);
  if (holder && (barrier.getScope() == Scope::block || barrier.getScope() == Scope::cluster))
    return barrier.emitError(
        "a barrier of the whole block inside a role waits for ever: other roles do not come here");
  if (barrier.getScope() == Scope::warp)
    return success();
  if (barrier->getParentOfType<ThreadsOp>() && barrier.getScope() != Scope::block)
    return success();
  if (!barrier.getIdAttr())
    return success(); // the conversion gives it one of its own
  auto [from, to] = idsOf(barrier);
  if (to > 16)
    return barrier.emitError() << "barrier ids " << from << " to " << to - 1 << " exceed 15";
  for (int64_t id = from; id < to; ++id) {
    auto [it, fresh] = owner.try_emplace(id, barrier);
    BarrierOp other = it->second;
    if (fresh || (roleOf(other) == roleOf(barrier) && other.getScope() == barrier.getScope()))
      continue;
    auto diagnostic = barrier.emitError() << "barrier id " << id << " is also that of other threads";
    diagnostic.attachNote(other.getLoc()) << "used here";
    return diagnostic;
  }
  return success();
}
} // namespace

LogicalResult verifySharedMemory(LaunchOp launch) {
  if (failed(SharedMemory(launch).verify()))
    return failure();
  std::map<int64_t, BarrierOp> owner;
  WalkResult result = launch.walk([&](BarrierOp barrier) {
    return failed(verifyBarrier(barrier, owner)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
} // namespace tilec::tile
