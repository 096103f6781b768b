//===- RoleBuilder.cpp - clones of a launch body, one per role ---------------===//
#include "RoleBuilder.h"
#include "ScalarSlice.h"
#include "mlir/IR/IRMapping.h"

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
  void cloneIf(scf::IfOp branch, IRMapping &mapping);
  void produce(unsigned ring, IRMapping &mapping);
  void consume(unsigned ring, IRMapping &mapping);
  void release(unsigned ring, Location loc);
  SmallVector<unsigned> ringsIn(Operation *op);
  bool isWanted(Operation &op);

  OpBuilder &b;
  ArrayRef<RingPlan> plans;
  ArrayRef<Value> rings;
  bool load;
  const ScalarSlice *needed;  ///< of the load role
  SmallVector<Value> cursors; ///< current position in each ring
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

void RoleCloner::produce(unsigned ring, IRMapping &mapping) {
  const RingPlan &plan = plans[ring];
  Location loc = plan.fills.front().op->getLoc();
  auto type = cast<RingType>(rings[ring].getType());
  SmallVector<Type> buffers(type.getBuffers());
  auto slot = AcquireOp::create(b, loc, buffers, rings[ring], cursors[ring],
                                plan.bytes ? b.getI64IntegerAttr(plan.bytes) : IntegerAttr());
  ValueRange free = slot.getBuffers();
  SmallVector<Value> tokens;
  bool stores = false;
  for (const Fill &fill : plan.fills) {
    ValueRange into = free.take_front(fill.buffers.size());
    free = free.drop_front(fill.buffers.size());
    SmallVector<Value> offsets;
    for (Value o : fill.offsets)
      offsets.push_back(mapping.lookupOrDefault(o));
    Value source = mapping.lookupOrDefault(fill.source);
    if (auto split = dyn_cast<SplitCopyOp>(fill.op)) {
      SplitCopyOp::create(b, split.getLoc(), source, offsets, into, split.getExtentsAttr());
      stores = true;
      continue;
    }
    auto copy = cast<CopyOp>(fill.op);
    auto async = AsyncCopyOp::create(b, copy.getLoc(), TokenType::get(b.getContext()), source, offsets,
                                     into.front(), ValueRange{}, copy.getExtentsAttr(), copy.getIm2colAttr(),
                                     copy.getEngineAttr(), Value());
    tokens.push_back(async.getToken());
  }
  if (stores) // of threads, which the matrix engine will read
    FenceOp::create(b, loc, FenceAttr::get(b.getContext(), Fence::async_proxy));
  CommitOp::create(b, loc, rings[ring], cursors[ring], tokens);
  cursors[ring] = AdvanceOp::create(b, loc, cursors[ring]).getNext();
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
  SmallVector<unsigned> carried = ringsIn(loop);
  SmallVector<unsigned> kept; // iter_args of the source loop
  for (unsigned i = 0; i < loop.getInitArgs().size(); ++i)
    if (!load || needed->contains(loop.getRegionIterArgs()[i]))
      kept.push_back(i);
  SmallVector<Value> inits;
  for (unsigned i : kept)
    inits.push_back(mapping.lookupOrDefault(loop.getInitArgs()[i]));
  unsigned scalars = inits.size();
  for (unsigned ring : carried)
    inits.push_back(cursors[ring]);
  auto next = scf::ForOp::create(b, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
                                 mapping.lookupOrDefault(loop.getUpperBound()),
                                 mapping.lookupOrDefault(loop.getStep()), inits);
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
      if (load && plan.fills.back().op == &op)
        produce(ring, mapping);
      return;
    }
  if (!isWanted(op))
    return;
  if (auto loop = dyn_cast<scf::ForOp>(op))
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
