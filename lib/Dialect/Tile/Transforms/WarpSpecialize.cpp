//===- WarpSpecialize.cpp - a load role and a compute role -------------------===//
// Copies that the copy engine takes and whose addresses need scalars only move into a role of their own,
// which runs ahead of the products by as many slots as the rings have. Both roles keep the loops; cursors are
// carried through them, so slot and phase of the two can never differ. What cannot move stays a synchronous
// copy of the compute role, with a remark.
#include "LaunchFeatures.h"
#include "RoleBuilder.h"
#include "ScalarSlice.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEWARPSPECIALIZE
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

//===----------------------------------------------------------------------===//
// Which copies move
//===----------------------------------------------------------------------===//

/// The reason why the load role cannot fill this buffer, or null: every reader stands in the same trip,
/// behind the copy; nothing else writes.
static const char *whyNotSlot(const Fill &fill, Value buffer) {
  Block *block = fill.op->getBlock();
  for (Operation *user : bufferUsers(buffer)) {
    if (user == fill.op)
      continue;
    Operation *top = block->findAncestorOpInBlock(*user);
    if (!top)
      return "its buffer is used outside the loop of the copy";
    if (!fill.op->isBeforeInBlock(top))
      return "its buffer is read before it is filled again (a value of the trip before)";
    auto gemm = dyn_cast<GemmOp>(user);
    bool reads = isa<LoadOp, RealignOp, GemmOp, GenericOp, ElemLoadOp, SubbufferOp, RecastBufferOp>(user);
    if (auto other = dyn_cast<CopyOp>(user))
      reads = other.getSource() == buffer;
    if (!reads || (gemm && gemm.getAcc() == buffer))
      return "its buffer is written elsewhere too";
  }
  return nullptr;
}

/// The reason why this copy must stay with the compute role, or null.
static const char *whyNotMovable(const Fill &fill, LaunchOp launch, ScalarSlice &slice) {
  if (llvm::any_of(fill.buffers, [](Value buffer) { return !buffer.getDefiningOp<AllocOp>(); }))
    return "it fills only part of its buffer";
  if (auto copy = dyn_cast<CopyOp>(fill.op)) {
    if (!copy.getDestOffsets().empty())
      return "it fills only part of its buffer";
    if (copy.getEngine() == Engine::simt && !copy->hasAttr(TileDialect::kLoadRoleAttrName))
      return "the copy engine cannot take it";
  } else {
    std::optional<unsigned> argument = argumentOf(fill.source);
    if (!argument || launchWrites(launch, *argument))
      return "the launch may write the tensor that it reads";
  }
  if (!slice.addSurroundings(fill.op))
    return "it stands under a condition or in a loop that depends on computed data";
  for (Value offset : fill.offsets)
    if (!slice.add(offset))
      return "its address depends on computed data";
  if (!slice.add(fill.source))
    return "its tensor is chosen at run time";
  for (Value buffer : fill.buffers)
    if (const char *why = whyNotSlot(fill, buffer))
      return why;
  return nullptr;
}

/// Slots of a ring: as many as the loop's pipeline has; a copy outside pipelined loops gets one.
static int64_t depthOf(Operation *copy) {
  auto loop = copy->getParentOfType<scf::ForOp>();
  auto pipeline = loop ? loop->getAttrOfType<PipelineAttr>(TileDialect::kPipelineAttrName) : PipelineAttr();
  return pipeline ? std::max<int64_t>(1, pipeline.getStages()) : 1;
}

/// Loops aside, what comes in one after the other: one barrier round trip for all of it. Nothing may come in
/// between that the compute role must first make room for.
static bool followsOnce(const RingPlan &plan, const Fill &fill) {
  auto loop = fill.op->getParentOfType<scf::ForOp>();
  bool once = !loop || !loop->hasAttr(TileDialect::kPipelineAttrName);
  if (!isa<CopyOp>(fill.op) || !isa<CopyOp>(plan.fills.front().op))
    return false;
  return plan.fills.front().op->getBlock() == fill.op->getBlock() && once;
}

/// Does the engine bring both in one after the other, into rings of many slots? Then it does not matter that
/// a slot is held until the last of its buffers has been read, and one barrier round trip is cheaper than
/// two.
static bool arriveTogether(const RingPlan &plan, const Fill &fill) {
  constexpr int64_t manySlots = 4;
  if (plan.depth < manySlots || plan.depth != depthOf(fill.op))
    return false;
  auto isTMA = [](Operation *op) {
    auto copy = dyn_cast<CopyOp>(op);
    return copy && copy.getEngine() == Engine::tma;
  };
  Operation *before = plan.fills.back().op;
  if (before->getBlock() != fill.op->getBlock() || !isTMA(before) || !isTMA(fill.op))
    return false;
  return llvm::all_of(llvm::make_range(before->getIterator(), fill.op->getIterator()),
                      [&](Operation &op) { return isTMA(&op) || isPure(&op); });
}

/// Puts the copy into the ring of those whose buffers have the same first and last reader: one barrier round
/// trip for all. `latest`: the ring of the copy before.
static void addToRing(const Fill &fill, SmallVectorImpl<RingPlan> &plans, size_t &latest) {
  Block *block = fill.op->getBlock();
  Operation *first = nullptr, *last = nullptr;
  for (Value buffer : fill.buffers)
    for (Operation *user : bufferUsers(buffer)) {
      Operation *top = block->findAncestorOpInBlock(*user);
      if (top == fill.op)
        continue;
      if (!first || top->isBeforeInBlock(first))
        first = top;
      if (!last || last->isBeforeInBlock(top))
        last = top;
    }
  if (!first) // nobody reads it: nothing to do
    first = last = fill.op;
  auto it = llvm::find_if(plans, [&](RingPlan &p) {
    return p.first == first && p.last == last && p.fills.front().op->getBlock() == block && first != fill.op;
  });
  bool joins = !plans.empty() && first != fill.op &&
               (followsOnce(plans[latest], fill) || arriveTogether(plans[latest], fill));
  if (it == plans.end() && joins) {
    it = plans.begin() + latest;
    it->first = first->isBeforeInBlock(it->first) ? first : it->first;
    it->last = it->last->isBeforeInBlock(last) ? last : it->last;
  }
  if (it == plans.end()) {
    plans.push_back({});
    it = plans.end() - 1;
    it->first = first;
    it->last = last;
    it->depth = depthOf(fill.op);
  }
  latest = it - plans.begin();
  it->fills.push_back(fill);
  if (auto copy = dyn_cast<CopyOp>(fill.op); copy && copy.getEngine() == Engine::tma)
    it->bytes += dataBytes(cast<BufferType>(copy.getDest().getType()));
}

static SmallVector<RingPlan> planRings(LaunchOp launch) {
  ScalarSlice slice(launch);
  SmallVector<RingPlan> plans;
  size_t latest = 0;
  auto consider = [&](const Fill &fill) {
    const char *why = whyNotMovable(fill, launch, slice);
    if (!why)
      return addToRing(fill, plans, latest);
    if (auto copy = dyn_cast<CopyOp>(fill.op))
      copy.setEngineAttr(EngineAttr::get(copy.getContext(), Engine::simt));
    fill.op->emitRemark() << "[R0405] this copy is not overlapped with computation: " << why;
  };
  launch.walk([&](Operation *op) {
    if (auto copy = dyn_cast<CopyOp>(op);
        copy && isa<ViewType>(copy.getSource().getType()) && isa<BufferType>(copy.getDest().getType()))
      consider(Fill(copy));
    if (auto split = dyn_cast<SplitCopyOp>(op); split && isa<ViewType>(split.getSource().getType()))
      consider(Fill(split));
  });
  return plans;
}

namespace {
struct WarpSpecialize : tilec::tile::impl::TileWarpSpecializeBase<WarpSpecialize> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.isDevice())
      return;
    LaunchOp launch = kernel.getDeviceLaunch();
    ScheduleAttr schedule = launch.getScheduleAttr();
    if (!schedule || schedule.getRoles().empty())
      return;
    SmallVector<RingPlan> plans = planRings(launch);
    if (plans.empty()) {
      dropRoles(launch);
      return;
    }
    splitRoles(launch, plans);
  }

  /// Nothing to load ahead: all threads compute.
  void dropRoles(LaunchOp launch) {
    ScheduleAttr s = launch.getScheduleAttr();
    int64_t threads = 0;
    for (RoleAttr role : s.getRoles())
      if (role.getKind() == RoleKind::compute)
        threads += role.getWarps() * 32;
    launch.setScheduleAttr(ScheduleAttr::get(s.getContext(), threads, s.getPartition(), {}, s.getPersistent(),
                                             s.getRaster(), s.getCluster(), s.getMinBlocks(), false,
                                             s.getStaging(), s.getPasses(), s.getIndexBits()));
  }
};
} // namespace
