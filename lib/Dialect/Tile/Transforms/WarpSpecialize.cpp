//===- WarpSpecialize.cpp - a load role and a compute role -------------------===//
// Copies that the copy engine takes and whose addresses need scalars only move into a role of their own,
// which runs ahead of the products by as many slots as the rings have. Both roles keep the loops; cursors are
// carried through them, so slot and phase of the two can never differ. What cannot move stays a synchronous
// copy of the compute role, with a remark.
#include "LaunchFeatures.h"
#include "RoleBuilder.h"
#include "ScalarSlice.h"
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

/// Loops and branches from the launch down to `op`, outermost first; null when something else is in between.
static bool onlyLoopsAround(Operation *op, ScalarSlice &slice) {
  for (Operation *p = op->getParentOp(); !isa<LaunchOp>(p); p = p->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(p);
    if (!loop || !slice.add(loop.getLowerBound()) || !slice.add(loop.getUpperBound()) ||
        !slice.add(loop.getStep()))
      return false;
  }
  return true;
}

/// The reason why this copy must stay with the compute role, or null.
static const char *whyNotMovable(CopyOp copy, ScalarSlice &slice) {
  if (copy.getEngine() != Engine::tma)
    return "the copy engine cannot take it";
  if (!copy.getDestOffsets().empty() || !copy.getDest().getDefiningOp<AllocOp>())
    return "it fills only part of its buffer";
  if (!onlyLoopsAround(copy, slice))
    return "it stands under a condition, or in a loop whose bounds depend on computed data";
  for (Value offset : copy.getSourceOffsets())
    if (!slice.add(offset))
      return "its address depends on computed data";
  if (!slice.add(copy.getSource()))
    return "its tensor is chosen at run time";
  // Every reader stands in the same trip, behind the copy; nothing else writes.
  SmallVector<Operation *> users = bufferUsers(copy.getDest());
  Block *block = copy->getBlock();
  for (Operation *user : users) {
    if (user == copy)
      continue;
    Operation *top = block->findAncestorOpInBlock(*user);
    if (!top)
      return "its buffer is used outside the loop of the copy";
    if (!copy->isBeforeInBlock(top))
      return "its buffer is read before it is filled again (a value of the trip before)";
    auto gemm = dyn_cast<GemmOp>(user);
    bool reads = isa<LoadOp, GemmOp, GenericOp, ElemLoadOp, SubbufferOp, RecastBufferOp>(user);
    if (auto other = dyn_cast<CopyOp>(user))
      reads = other.getSource() == copy.getDest();
    if (!reads || (gemm && gemm.getAcc() == copy.getDest()))
      return "its buffer is written elsewhere too";
  }
  return nullptr;
}

static int64_t bytesOf(BufferType type) {
  return type.getNumElements() * std::max<int64_t>(8, type.getElementType().getIntOrFloatBitWidth()) / 8;
}

/// Slots of a ring: as many as the loop's pipeline has; a copy outside pipelined loops gets one.
static int64_t depthOf(CopyOp copy) {
  auto loop = dyn_cast<scf::ForOp>(copy->getParentOp());
  auto pipeline = loop ? loop->getAttrOfType<PipelineAttr>(TileDialect::kPipelineAttrName) : PipelineAttr();
  return pipeline ? std::max<int64_t>(1, pipeline.getStages()) : 1;
}

/// Copies of one block whose buffers have the same first and last reader share a ring: one barrier round trip
/// for both.
static SmallVector<RingPlan> planRings(LaunchOp launch) {
  ScalarSlice slice(launch);
  SmallVector<RingPlan> plans;
  launch.walk([&](CopyOp copy) {
    if (!isa<ViewType>(copy.getSource().getType()) || !isa<BufferType>(copy.getDest().getType()))
      return;
    if (const char *why = whyNotMovable(copy, slice)) {
      copy.setEngineAttr(EngineAttr::get(copy.getContext(), Engine::simt));
      copy.emitRemark() << "[R0405] this copy is not overlapped with computation: " << why;
      return;
    }
    SmallVector<Operation *> users = bufferUsers(copy.getDest());
    Block *block = copy->getBlock();
    Operation *first = nullptr, *last = nullptr;
    for (Operation *user : users) {
      Operation *top = block->findAncestorOpInBlock(*user);
      if (top == copy)
        continue;
      if (!first || top->isBeforeInBlock(first))
        first = top;
      if (!last || last->isBeforeInBlock(top))
        last = top;
    }
    if (!first) // nobody reads it: nothing to do
      first = last = copy;
    auto it = llvm::find_if(plans, [&](RingPlan &p) {
      return p.first == first && p.last == last && p.copies.front()->getBlock() == block && first != copy;
    });
    if (it == plans.end()) {
      plans.push_back({});
      it = plans.end() - 1;
      it->first = first;
      it->last = last;
      it->depth = depthOf(copy);
    }
    it->copies.push_back(copy);
    it->bytes += bytesOf(cast<BufferType>(copy.getDest().getType()));
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
