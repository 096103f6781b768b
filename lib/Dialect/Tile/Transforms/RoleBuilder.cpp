//===- RoleBuilder.cpp - clones of a launch body, one per role ---------------===//
#include "RoleBuilder.h"
#include "ScalarSlice.h"
#include "mlir/IR/IRMapping.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"

using namespace mlir;
using namespace tilec::tile;

namespace {

/// Clones blocks into one role. Loops that contain uses of rings carry the rings' cursors. The load role gets
/// the copies and what they need, and nothing else.
class RoleCloner {
public:
  RoleCloner(OpBuilder &b, ArrayRef<RingPlan> plans, ArrayRef<Value> rings, const ScalarSlice *needed)
      : b(b), plans(plans), rings(rings), load(needed), needed(needed), cursors(plans.size()) {}

  void run(Block &body, IRMapping mapping);

private:
  void cloneBlock(Block &from, IRMapping &mapping);
  void cloneOp(Operation &op, IRMapping &mapping);
  void cloneFor(scf::ForOp loop, IRMapping &mapping);
  void cloneTrips(scf::ForOp loop, Value lower, Value upper, ArrayRef<Value> inits, IRMapping &mapping);
  struct Early {
    SmallVector<unsigned> rings;
    SmallVector<Operation *> scalars; ///< what their copies need
  };
  Early readyBefore(Operation &op);
  void cloneAround(scf::ForOp loop, const Early &early, IRMapping &mapping);
  void cloneIf(scf::IfOp branch, IRMapping &mapping);
  struct Slot {
    unsigned ring;
    ValueRange free; ///< buffers that nothing fills yet
    SmallVector<Value> tokens;
    bool stores;
  };
  Slot begin(unsigned ring);
  void fill(Slot &slot, const Fill &fill, IRMapping &mapping);
  void end(const Slot &slot);
  void produce(unsigned ring, IRMapping &mapping);
  void consume(unsigned ring, IRMapping &mapping);
  void release(unsigned ring, Location loc);
  SmallVector<unsigned> ringsIn(Operation *op);
  bool isWanted(Operation &op);

  OpBuilder &b;
  ArrayRef<RingPlan> plans;
  ArrayRef<Value> rings;
  bool load;
  const ScalarSlice *needed;           ///< of the load role
  SmallVector<Value> cursors;          ///< current position in each ring
  llvm::SmallDenseSet<unsigned> ahead; ///< rings that the load role has filled before their place
};

} // namespace

SmallVector<unsigned> RoleCloner::ringsIn(Operation *op) {
  SmallVector<unsigned> found;
  for (auto [i, plan] : llvm::enumerate(plans))
    if (op->isProperAncestor(plan.fills.front().op))
      found.push_back(i);
  return found;
}

/// Has the op a place in this role?
bool RoleCloner::isWanted(Operation &op) {
  return !load || !ringsIn(&op).empty() ||
         llvm::any_of(op.getResults(), [&](Value v) { return needed->contains(v); });
}

RoleCloner::Slot RoleCloner::begin(unsigned ring) {
  const RingPlan &plan = plans[ring];
  SmallVector<Type> buffers(cast<RingType>(rings[ring].getType()).getBuffers());
  auto slot = AcquireOp::create(b, plan.fills.front().op->getLoc(), buffers, rings[ring], cursors[ring],
                                plan.bytes ? b.getI64IntegerAttr(plan.bytes) : IntegerAttr());
  return {ring, slot.getBuffers(), {}, false};
}

/// The next fill of the slot.
void RoleCloner::fill(Slot &slot, const Fill &fill, IRMapping &mapping) {
  ValueRange into = slot.free.take_front(fill.buffers.size());
  slot.free = slot.free.drop_front(fill.buffers.size());
  SmallVector<Value> offsets;
  for (Value o : fill.offsets)
    offsets.push_back(mapping.lookupOrDefault(o));
  Value source = mapping.lookupOrDefault(fill.source);
  if (auto split = dyn_cast<SplitCopyOp>(fill.op)) {
    SplitCopyOp::create(b, split.getLoc(), source, offsets, into, split.getExtentsAttr());
    slot.stores = true;
    return;
  }
  auto copy = cast<CopyOp>(fill.op);
  if (copy.getEngine() == Engine::simt) {
    CopyOp::create(b, copy.getLoc(), source, offsets, into.front(), ValueRange{}, copy.getExtentsAttr(),
                   UnitAttr(), Im2colAttr(), copy.getEngineAttr());
    slot.stores = true;
    return;
  }
  auto async = AsyncCopyOp::create(b, copy.getLoc(), TokenType::get(b.getContext()), source, offsets,
                                   into.front(), ValueRange{}, copy.getExtentsAttr(), copy.getIm2colAttr(),
                                   copy.getEngineAttr(), Value());
  slot.tokens.push_back(async.getToken());
}

void RoleCloner::end(const Slot &slot) {
  Location loc = plans[slot.ring].fills.front().op->getLoc();
  Value &cursor = cursors[slot.ring];
  if (slot.stores) // of threads, which the matrix engine will read
    FenceOp::create(b, loc, FenceAttr::get(b.getContext(), Fence::async_proxy));
  CommitOp::create(b, loc, rings[slot.ring], cursor, slot.tokens);
  cursor = AdvanceOp::create(b, loc, cursor).getNext();
}

void RoleCloner::produce(unsigned ring, IRMapping &mapping) {
  Slot slot = begin(ring);
  for (const Fill &next : plans[ring].fills)
    fill(slot, next, mapping);
  end(slot);
}

void RoleCloner::consume(unsigned ring, IRMapping &mapping) {
  const RingPlan &plan = plans[ring];
  auto type = cast<RingType>(rings[ring].getType());
  SmallVector<Type> buffers(type.getBuffers());
  auto slot = ConsumeOp::create(b, plan.first->getLoc(), buffers, rings[ring], cursors[ring]);
  for (auto [buffer, inSlot] : llvm::zip_equal(plan.buffers(), slot.getBuffers()))
    mapping.map(buffer, inSlot);
}

void RoleCloner::release(unsigned ring, Location loc) {
  ReleaseOp::create(b, loc, rings[ring], cursors[ring], ValueRange{});
  cursors[ring] = AdvanceOp::create(b, loc, cursors[ring]).getNext();
}

void RoleCloner::cloneFor(scf::ForOp loop, IRMapping &mapping) {
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(mapping.lookupOrDefault(init));
  cloneTrips(loop, mapping.lookupOrDefault(loop.getLowerBound()),
             mapping.lookupOrDefault(loop.getUpperBound()), inits, mapping);
}

/// The loop's trips from `lower` to `upper`; `inits` has a value for each of its iter_args.
void RoleCloner::cloneTrips(scf::ForOp loop, Value lower, Value upper, ArrayRef<Value> inits,
                            IRMapping &mapping) {
  SmallVector<unsigned> carried = ringsIn(loop);
  SmallVector<unsigned> kept; // iter_args of the source loop
  for (unsigned i = 0; i < loop.getInitArgs().size(); ++i)
    if (!load || needed->contains(loop.getRegionIterArgs()[i]))
      kept.push_back(i);
  SmallVector<Value> start;
  for (unsigned i : kept)
    start.push_back(inits[i]);
  unsigned scalars = start.size();
  for (unsigned ring : carried)
    start.push_back(cursors[ring]);
  auto next =
      scf::ForOp::create(b, loop.getLoc(), lower, upper, mapping.lookupOrDefault(loop.getStep()), start);
  for (NamedAttribute attr : loop->getDiscardableAttrs())
    next->setDiscardableAttr(attr.getName(), attr.getValue());
  mapping.map(loop.getInductionVar(), next.getInductionVar());
  for (auto [n, i] : llvm::enumerate(kept))
    mapping.map(loop.getRegionIterArgs()[i], next.getRegionIterArgs()[n]);
  for (auto [n, ring] : llvm::enumerate(carried))
    cursors[ring] = next.getRegionIterArgs()[scalars + n];
  OpBuilder::InsertionGuard guard(b);
  if (!next.getBody()->empty()) // a loop that carries nothing is made with its end
    next.getBody()->getTerminator()->erase();
  b.setInsertionPointToStart(next.getBody());
  cloneBlock(*loop.getBody(), mapping);
  SmallVector<Value> yields;
  for (unsigned i : kept)
    yields.push_back(mapping.lookupOrDefault(loop.getYieldedValues()[i]));
  for (unsigned ring : carried)
    yields.push_back(cursors[ring]);
  scf::YieldOp::create(b, loop.getLoc(), yields);
  for (auto [n, i] : llvm::enumerate(kept))
    mapping.map(loop.getResult(i), next.getResult(n));
  for (auto [n, ring] : llvm::enumerate(carried))
    cursors[ring] = next.getResult(scalars + n);
}

/// What is filled once behind the pipelined loop `op` and needs nothing that it computes.
RoleCloner::Early RoleCloner::readyBefore(Operation &op) {
  Early early;
  if (!load || !isa<scf::ForOp>(op) || !op.hasAttr(TileDialect::kPipelineAttrName) || ringsIn(&op).empty())
    return early;
  llvm::SmallPtrSet<Operation *, 8> late{&op};
  for (Operation *next = op.getNextNode(); next; next = next->getNextNode()) {
    bool hasRings = !ringsIn(next).empty();
    if (hasRings && next->hasAttr(TileDialect::kPipelineAttrName))
      break; // what stands behind another loop belongs to that one
    if (hasRings ||
        llvm::any_of(next->getOperands(), [&](Value v) { return late.contains(v.getDefiningOp()); })) {
      late.insert(next);
      continue;
    }
    for (auto [ring, plan] : llvm::enumerate(plans))
      if (plan.fills.back().op == next &&
          llvm::none_of(plan.fills, [&](const Fill &fill) { return late.contains(fill.op); }))
        early.rings.push_back(ring);
    if (isWanted(*next))
      early.scalars.push_back(next);
  }
  return early;
}

/// The loop, and behind as many trips as its rings have slots what comes in `early` behind it, a piece at a
/// time. By then the compute role is in this loop, so it has read what was brought for the iteration before;
/// and memory has time: with all multiprocessors asking at once for what is needed last, they all wait, and
/// when it is asked for in one piece, the operands wait.
void RoleCloner::cloneAround(scf::ForOp loop, const Early &early, IRMapping &mapping) {
  constexpr int64_t piece = 8192, tripsBetween = 2;
  Location loc = loop.getLoc();
  int64_t depth = 1;
  for (unsigned ring : ringsIn(loop))
    depth = std::max(depth, plans[ring].depth);
  Value at = mapping.lookupOrDefault(loop.getLowerBound()), step = mapping.lookupOrDefault(loop.getStep()),
        upper = mapping.lookupOrDefault(loop.getUpperBound());
  SmallVector<Value> carried;
  for (Value init : loop.getInitArgs())
    carried.push_back(mapping.lookupOrDefault(init));
  auto trips = [&](int64_t count) { // all that are left for 0
    Value to = upper;
    if (count) {
      Value more = arith::ConstantOp::create(b, loc, b.getIntegerAttr(step.getType(), count));
      to = arith::AddIOp::create(b, loc, at, arith::MulIOp::create(b, loc, step, more));
      to = arith::MinSIOp::create(b, loc, to, upper);
    }
    cloneTrips(loop, at, to, carried, mapping);
    for (auto [value, result] : llvm::zip_equal(carried, loop.getResults()))
      value = mapping.lookupOrDefault(result);
    at = to;
  };
  trips(depth);
  for (Operation *op : early.scalars)
    b.clone(*op, mapping);
  int64_t bytes = 0; // of the piece
  for (unsigned ring : early.rings) {
    Slot slot = begin(ring);
    for (const Fill &next : plans[ring].fills) {
      if (bytes >= piece) {
        trips(tripsBetween);
        bytes = 0;
      }
      fill(slot, next, mapping);
      for (Value buffer : next.buffers)
        bytes += bufferBytes(cast<BufferType>(buffer.getType()));
    }
    end(slot);
    ahead.insert(ring);
  }
  trips(0);
}

/// Both sides yield the cursors, the one that has no use of a ring as they were.
void RoleCloner::cloneIf(scf::IfOp branch, IRMapping &mapping) {
  SmallVector<unsigned> carried = ringsIn(branch);
  SmallVector<Type> types;
  if (!load)
    llvm::append_range(types, branch.getResultTypes());
  unsigned kept = types.size();
  for (unsigned ring : carried)
    types.push_back(cursors[ring].getType());
  auto next = scf::IfOp::create(b, branch.getLoc(), types, mapping.lookupOrDefault(branch.getCondition()),
                                /*withElseRegion=*/true);
  SmallVector<Value> before = cursors;
  for (auto [from, to] : llvm::zip(branch->getRegions(), next->getRegions())) {
    OpBuilder::InsertionGuard guard(b);
    Block &block = to.front();
    if (!block.empty()) // a branch that yields nothing is made with its end
      block.getTerminator()->erase();
    b.setInsertionPointToEnd(&block);
    cursors = before;
    SmallVector<Value> yields;
    if (!from.empty()) {
      cloneBlock(from.front(), mapping);
      if (!load)
        for (Value v : from.front().getTerminator()->getOperands())
          yields.push_back(mapping.lookupOrDefault(v));
    }
    for (unsigned ring : carried)
      yields.push_back(cursors[ring]);
    scf::YieldOp::create(b, branch.getLoc(), yields);
  }
  for (unsigned i = 0; i < kept; ++i)
    mapping.map(branch.getResult(i), next.getResult(i));
  for (auto [n, ring] : llvm::enumerate(carried))
    cursors[ring] = next.getResult(kept + n);
}

void RoleCloner::cloneOp(Operation &op, IRMapping &mapping) {
  if (isa<AllocOp>(op))
    return; // shared by the roles, outside
  for (auto [ring, plan] : llvm::enumerate(plans))
    if (llvm::any_of(plan.fills, [&](const Fill &fill) { return fill.op == &op; })) {
      if (load && plan.fills.back().op == &op && !ahead.contains(ring))
        produce(ring, mapping);
      return;
    }
  if (!isWanted(op))
    return;
  if (Early early = readyBefore(op); !early.rings.empty())
    cloneAround(cast<scf::ForOp>(op), early, mapping);
  else if (auto loop = dyn_cast<scf::ForOp>(op))
    cloneFor(loop, mapping);
  else if (auto branch = dyn_cast<scf::IfOp>(op); branch && !ringsIn(branch).empty())
    cloneIf(branch, mapping);
  else
    b.clone(op, mapping);
}

void RoleCloner::cloneBlock(Block &from, IRMapping &mapping) {
  for (Operation &op : from.without_terminator()) {
    if (!load)
      for (unsigned ring = 0; ring < plans.size(); ++ring)
        if (plans[ring].first == &op)
          consume(ring, mapping);
    // A buffer that nobody reads is consumed and released where it is filled.
    cloneOp(op, mapping);
    if (!load)
      for (unsigned ring = 0; ring < plans.size(); ++ring)
        if (plans[ring].last == &op)
          release(ring, op.getLoc());
  }
}

void RoleCloner::run(Block &body, IRMapping mapping) {
  for (auto [i, ring] : llvm::enumerate(rings))
    cursors[i] = CursorOp::create(b, ring.getLoc(),
                                  CursorType::get(b.getContext(), cast<RingType>(ring.getType()).getDepth()));
  cloneBlock(body, mapping);
}

/// Addresses of the copies, bounds of the loops and conditions of the branches around them.
static ScalarSlice neededByCopies(LaunchOp launch, ArrayRef<RingPlan> plans) {
  ScalarSlice needed(launch);
  auto add = [&](Value v) {
    bool computable = needed.add(v);
    assert(computable && "the plans hold copies that the load role can do alone");
    (void)computable;
  };
  for (const RingPlan &plan : plans)
    for (const Fill &fill : plan.fills) {
      add(fill.source);
      llvm::for_each(fill.offsets, add);
      for (Operation *around = fill.op->getParentOp(); around != launch; around = around->getParentOp())
        if (auto branch = dyn_cast<scf::IfOp>(around))
          add(branch.getCondition());
        else if (auto loop = dyn_cast<scf::ForOp>(around))
          llvm::for_each(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}, add);
    }
  return needed;
}

void tilec::tile::splitRoles(LaunchOp launch, ArrayRef<RingPlan> plans) {
  OpBuilder b(launch.getContext());
  Location loc = launch.getLoc();
  Block &body = launch.getBody().front();
  Block *old = body.splitBlock(body.begin());
  b.setInsertionPointToStart(&body);
  IRMapping mapping;
  llvm::SmallPtrSet<Operation *, 8> ringAllocs;
  for (const RingPlan &plan : plans)
    for (Value buffer : plan.buffers())
      ringAllocs.insert(buffer.getDefiningOp());
  old->walk([&](AllocOp alloc) { // buffers that stay
    if (!ringAllocs.contains(alloc))
      b.clone(*alloc, mapping);
  });
  for (BlockArgument arg : body.getArguments())
    mapping.map(arg, arg);
  SmallVector<Value> rings;
  for (const RingPlan &plan : plans) {
    SmallVector<Type> buffers;
    for (Value buffer : plan.buffers())
      buffers.push_back(buffer.getType());
    auto type = RingType::get(b.getContext(), plan.depth, buffers);
    rings.push_back(RingOp::create(b, plan.fills.front().op->getLoc(), type, IntegerAttr(), IntegerAttr(),
                                   DenseI64ArrayAttr(), IntegerAttr()));
  }
  SmallVector<Attribute> roles;
  for (RoleAttr role : launch.getScheduleAttr().getRoles())
    roles.push_back(role);
  auto groups = WarpGroupsOp::create(b, loc, b.getArrayAttr(roles), roles.size());
  YieldOp::create(b, loc);
  ScalarSlice needed = neededByCopies(launch, plans);
  for (auto [i, role] : llvm::enumerate(launch.getScheduleAttr().getRoles())) {
    Block &into = groups.getBodies()[i].emplaceBlock();
    b.setInsertionPointToStart(&into);
    RoleCloner(b, plans, rings, role.getKind() == RoleKind::load ? &needed : nullptr).run(*old, mapping);
    b.setInsertionPointToEnd(&into);
    YieldOp::create(b, loc);
  }
  old->dropAllReferences();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*old)))
    op.dropAllUses(), op.erase();
  old->erase();
}
