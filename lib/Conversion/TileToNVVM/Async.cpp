//===- Async.cpp - rings, roles, barriers, waits -----------------------------===//
//
// A ring has, per slot, a full barrier at `barriers` + 16 * slot and an empty barrier 8 bytes behind it.
//
//===----------------------------------------------------------------------===//
#include "NVVMEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

/// Named barriers: 0 is the block's, groups count from 1, roles from here.
static constexpr int64_t kRoleBarrier = 9, kGroupBarrier = 1;

Value NVVMEmitter::address(Value ptr) {
  return LLVM::PtrToIntOp::create(code.b, code.loc, code.b.getI32Type(), ptr);
}

LogicalResult NVVMEmitter::emitRing(RingOp op) {
  RingType type = op.getRing().getType();
  if (!op.getOffsets())
    return op.emitError() << "[E0505] shared memory without a place: run tile-allocate-shared first";
  env[op.getRing()] = {};
  if (!op.getBarriers())
    return success();
  code.when(isThreadZero(), [&] {
    for (int64_t slot = 0; slot < type.getDepth(); ++slot)
      for (auto [offset, count] : {std::pair(0, op.getFull()), {8, op.getEmpty()}}) {
        Value ptr = sharedPtr(code.i32(*op.getBarriers() + 16 * slot + offset));
        NVVM::MBarrierInitOp::create(code.b, code.loc, ptr, code.i32(count.value_or(1)), Value());
      }
  });
  return success();
}

Value NVVMEmitter::ringBarrier(Value ring, Value slot, bool empty) {
  auto op = ring.getDefiningOp<RingOp>();
  Value at = code.add(code.mul(slot, 16), code.i32(op.getBarriers().value_or(0) + (empty ? 8 : 0)));
  return sharedPtr(at);
}

Value NVVMEmitter::waitPhase(Value ptr, Value phase) {
  StringRef text = "{\n\t.reg .pred done;\n\tWAIT:\n\t"
                   "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1, 0x989680;\n\t"
                   "@done bra.uni DONE;\n\tbra.uni WAIT;\n\tDONE:\n\t}";
  return code.assembly(Type(), text, "r,r", {address(ptr), phase});
}

LogicalResult NVVMEmitter::emitAcquire(AcquireOp op) {
  // Loads of the threads' copies that fill the slot are under way before it is free.
  SmallVector<SplitCopyOp> splits;
  for (Operation *next = op->getNextNode(); next && !isa<CommitOp>(next); next = next->getNextNode())
    if (auto split = dyn_cast<SplitCopyOp>(next))
      splits.push_back(split);
  loadAhead(splits);
  SmallVector<Value> cursor = flatten(op.getCursor());
  waitPhase(ringBarrier(op.getRing(), cursor[0], /*empty=*/true), code.exor(cursor[1], 1));
  if (op.getTxBytes()) {
    Value full = ringBarrier(op.getRing(), cursor[0], /*empty=*/false);
    Value leader = threads.oneLane ? Value() : isThreadZero();
    code.when(leader, [&] {
      code.assembly(Type(), "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r",
                    {address(full), code.i32(*op.getTxBytes())});
    });
  }
  bindSlot(op.getRing(), cursor[0], op.getBuffers());
  return success();
}

Value NVVMEmitter::isGroupLeader() { return code.both(code.eq(threads.warp, 0), code.eq(threads.lane, 0)); }

Value NVVMEmitter::groupBarrierId(int64_t first) { return code.add(threads.group, first); }

/// Is the slot one that warps of a group may leave at different times? A product that every trip makes brings
/// them together. Without one the first warp would release slots that others have not waited for yet, and
/// their phases would pass those by.
bool NVVMEmitter::leftOneByOne(Value ring) {
  for (Operation *user : ring.getUsers()) {
    auto consume = dyn_cast<ConsumeOp>(user);
    if (!consume)
      continue;
    bool together = false;
    for (Value buffer : consume.getBuffers())
      for (Operation *reader : buffer.getUsers()) {
        if (!isWarpGroupProduct(reader) || reader->getBlock() != consume->getBlock())
          return true;
        together = true;
      }
    if (!together)
      return true;
  }
  return false;
}

/// The copy engine completes its part of a slot by itself. Threads that fill one arrive, each when all is
/// there that it has begun; their arrivals are in the count of the barrier.
LogicalResult NVVMEmitter::emitCommit(CommitOp op) {
  bool copies = false;
  for (Value token : op.getTokens()) {
    TokenSource source = sourceOf(token);
    copies |= source == TokenSource::CpAsync;
    if (source != TokenSource::BulkLoad && source != TokenSource::CpAsync)
      return unsupported(*op, "a slot that something else than copies fills");
  }
  bool stores = false;
  for (Operation *user : op.getRing().getUsers())
    if (auto acquire = dyn_cast<AcquireOp>(user))
      for (Value buffer : acquire.getBuffers())
        stores |= llvm::any_of(buffer.getUsers(), llvm::IsaPred<SplitCopyOp, CopyOp>);
  if (!copies && !stores)
    return op.getTokens().empty() ? unsupported(*op, "a slot that nothing fills") : success();
  Value full = address(ringBarrier(op.getRing(), flatten(op.getCursor())[0], /*empty=*/false));
  code.assembly(Type(),
                copies ? "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];"
                       : "mbarrier.arrive.shared::cta.b64 _, [$0];",
                "r", {full});
  return success();
}

LogicalResult NVVMEmitter::emitRelease(ReleaseOp op) {
  SmallVector<Value> cursor = flatten(op.getCursor());
  for (Value token : op.getTokens())
    if (sourceOf(token) == TokenSource::Matrix && op->getPrevNode() && !isa<WaitOp>(op->getPrevNode()))
      break; // awaited before, as the op demands
  auto ring = op.getRing().getDefiningOp<RingOp>();
  bool byWarps =
      int64_t(ring.getEmpty().value_or(1)) == threads.allWarps() && threads.allWarps() > threads.groups;
  if (byWarps)
    warpBarrier();
  else if (leftOneByOne(op.getRing()))
    barrier(groupBarrierId(kGroupBarrier), groupThreads());
  Value empty = ringBarrier(op.getRing(), cursor[0], /*empty=*/true);
  code.when(byWarps ? code.eq(threads.lane, 0) : isGroupLeader(), [&] {
    code.assembly(Type(), "mbarrier.arrive.shared::cta.b64 _, [$0];", "r", {address(empty)});
  });
  return success();
}

/// Only what one lane can do: scalars, loops, slots and copies by the engine.
static bool isOneLaneRole(mlir::Region &body) {
  bool one = true;
  body.walk([&](Operation *op) {
    if (auto copy = dyn_cast<AsyncCopyOp>(op))
      one &= copy.getEngine() == Engine::tma;
    else if (isa<TileDialect>(op->getDialect()))
      one &= isa<AcquireOp, CommitOp, AdvanceOp, CursorOp, RasterOp, YieldOp, DimOp, StrideOp, RecastViewOp,
                 MakeViewOp, NumBlocksOp, ReadyOp, AssumeOp, ElemLoadOp, DelayOp>(op);
  });
  return one;
}

static bool loadsByOneLane(WarpGroupsOp op) {
  return cast<RoleAttr>(op.getRoles()[0]).getKind() == RoleKind::load && isOneLaneRole(op.getBodies()[0]);
}

/// Does this barrier of the block only announce the barriers of rings to roles, one lane of which loads? Its
/// warp has initialised them, and it need not wait for the others. Code with pauses is otherwise the code
/// without.
static bool announcesRings(Operation *op) {
  auto barrier = dyn_cast_or_null<tile::BarrierOp>(op);
  if (!barrier || barrier.getScope() != Scope::block)
    return false;
  Operation *before = barrier->getPrevNode();
  while (isa_and_nonnull<DelayOp>(before))
    before = before->getPrevNode();
  auto fence = dyn_cast_or_null<FenceOp>(before);
  auto groups = dyn_cast_or_null<WarpGroupsOp>(barrier->getNextNode());
  return fence && fence.getKind() == Fence::barrier_init && groups && loadsByOneLane(groups);
}

/// What stands for the barrier of the block before the roles.
void NVVMEmitter::meetBeforeRole(bool isLoad, int64_t warps) {
  Value id = code.i32(0);
  if (isLoad)
    NVVM::BarrierArriveOp::create(code.b, code.loc, id, code.i32(warps * target.warpSize));
  else
    barrier(id, warps * target.warpSize);
}

LogicalResult NVVMEmitter::emitWarpGroups(WarpGroupsOp op) {
  Threads all = threads;
  bool byOneLane = loadsByOneLane(op), announces = announcesRings(op->getPrevNode());
  int64_t first = 0, total = 0;
  for (Attribute attr : op.getRoles())
    total += cast<RoleAttr>(attr).getWarps();
  int64_t entry = 65536 / (total * 32) / 8 * 8;
  Value warp = uniform(code.div(threadId(), 32));
  for (unsigned i = 0; i < op.getRoles().size(); ++i) {
    auto role = cast<RoleAttr>(op.getRoles()[i]);
    int64_t end = first + role.getWarps();
    Value mine = code.both(code.cmp(arith::CmpIPredicate::uge, warp, code.i32(first)),
                           end < total ? code.ult(warp, end) : Value());
    if (first == 0)
      mine = end < total ? code.ult(warp, end) : Value();
    LogicalResult result = success();
    code.when(mine, [&] {
      if (announces)
        meetBeforeRole(role.getKind() == RoleKind::load && first == 0, total);
      if (role.getRegs() && role.getRegs() != entry)
        NVVM::SetMaxRegisterOp::create(code.b, code.loc, uint32_t(role.getRegs()),
                                       role.getRegs() > entry ? NVVM::SetMaxRegisterAction::increase
                                                              : NVVM::SetMaxRegisterAction::decrease);
      startThreads(first, role.getWarps());
      threads.barrier = kRoleBarrier + i;
      threads.registers = role.getRegs();
      threads.loadedByOneLane = byOneLane;
      mlir::Region &body = op.getBodies()[i];
      if (role.getKind() == RoleKind::load && isOneLaneRole(body)) {
        code.when(code.eq(threads.warp, 0), [&] {
          if (announces)
            warpBarrier(); // another lane may have initialised the barriers
          Value elected = NVVM::ElectSyncOp::create(code.b, code.loc, code.b.getI1Type(), Value());
          code.when(elected, [&] {
            threads.oneLane = true;
            result = emitBlock(body.front());
          });
        });
      } else {
        result = emitBlock(body.front());
      }
      code.loc = op.getLoc();
    });
    if (failed(result))
      return failure();
    first = end;
  }
  threads = all;
  return success();
}

LogicalResult NVVMEmitter::emitBarrier(tile::BarrierOp op) {
  if (threads.oneLane)
    return success(); // its own stores and loads are in order
  switch (op.getScope()) {
  case Scope::warp:
    warpBarrier();
    return success();
  case Scope::group: {
    int64_t id = op.getId().value_or(kGroupBarrier);
    barrier(groupBarrierId(id), groupThreads());
    return success();
  }
  case Scope::role:
    roleBarrier();
    return success();
  case Scope::block:
    if (!announcesRings(op))
      NVVM::BarrierOp::create(code.b, code.loc);
    return success();
  case Scope::cluster:
    return unsupported(*op, "a cluster of blocks");
  }
  return success();
}

LogicalResult NVVMEmitter::emitFence(FenceOp op) {
  switch (op.getKind()) {
  case Fence::async_proxy:
    if (target.smVersion >= 90)
      code.assembly(Type(), "fence.proxy.async.shared::cta;", "", {});
    break;
  case Fence::barrier_init:
    code.assembly(Type(), "fence.mbarrier_init.release.cluster;", "", {});
    break;
  case Fence::device:
    NVVM::MembarOp::create(code.b, code.loc, NVVM::MemScopeKind::GPU);
    break;
  case Fence::issue: // ptxas orders as it likes
    break;
  }
  return success();
}

TokenSource NVVMEmitter::sourceOf(Value token) {
  SmallVector<Value> todo{token};
  llvm::SmallDenseSet<Value> seen;
  while (!todo.empty()) {
    Value t = todo.pop_back_val();
    if (!seen.insert(t).second)
      continue;
    if (auto arg = dyn_cast<BlockArgument>(t)) {
      Operation *parent = arg.getOwner()->getParentOp();
      if (auto loop = dyn_cast<scf::ForOp>(parent)) {
        todo.push_back(loop.getInitArgs()[arg.getArgNumber() - 1]);
        todo.push_back(loop.getYieldedValues()[arg.getArgNumber() - 1]);
      } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
        unsigned n = arg.getArgNumber();
        if (arg.getOwner() == loop.getBeforeBody()) {
          todo.push_back(loop.getInits()[n]);
          todo.push_back(loop.getYieldOp().getOperand(n));
        } else {
          todo.push_back(loop.getConditionOp().getArgs()[n]);
        }
      }
      continue;
    }
    Operation *op = t.getDefiningOp();
    unsigned n = cast<OpResult>(t).getResultNumber();
    if (isa<AsyncGemmOp>(op))
      return TokenSource::Matrix;
    if (auto copy = dyn_cast<AsyncCopyOp>(op)) {
      if (copy.getEngine() == Engine::cp_async || copy.getEngine() == Engine::words)
        return TokenSource::CpAsync;
      return isa<ViewType>(copy.getSource().getType()) ? TokenSource::BulkLoad : TokenSource::BulkStore;
    }
    if (auto join = dyn_cast<JoinOp>(op)) {
      llvm::append_range(todo, join.getTokens());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      todo.push_back(loop.getInitArgs()[n]);
      todo.push_back(loop.getYieldedValues()[n]);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      todo.push_back(loop.getConditionOp().getArgs()[n]);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      todo.push_back(branch.thenYield().getOperand(n));
      if (branch.elseBlock())
        todo.push_back(branch.elseYield().getOperand(n));
    }
  }
  return TokenSource::None;
}

LogicalResult NVVMEmitter::emitWait(WaitOp op) {
  int64_t pending = op.getPending().value_or(0);
  TokenSource source = TokenSource::None;
  for (Value token : op.getTokens())
    if (TokenSource s = sourceOf(token); s != TokenSource::None)
      source = s;
  switch (source) {
  case TokenSource::None: // done from the start
    return success();
  case TokenSource::Matrix:
    code.assembly(Type(), "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";", "", {});
    return success();
  case TokenSource::BulkStore:
    NVVM::CpAsyncBulkWaitGroupOp::create(code.b, code.loc, uint32_t(pending),
                                         op.getRead() ? code.b.getUnitAttr() : UnitAttr());
    return success();
  case TokenSource::CpAsync:
    NVVM::CpAsyncWaitGroupOp::create(code.b, code.loc, uint32_t(pending));
    return success();
  case TokenSource::BulkLoad:
    return unsupported(*op, "waiting for a load by the copy engine outside a ring");
  }
  return success();
}

LogicalResult NVVMEmitter::emitJoin(JoinOp op) {
  env[op.getToken()] = {};
  TokenSource source = TokenSource::None;
  for (Value token : op.getTokens())
    if (TokenSource s = sourceOf(token); s != TokenSource::None)
      source = s;
  if (source == TokenSource::BulkStore)
    code.when(isGroupLeader(), [&] { NVVM::CpAsyncBulkCommitGroupOp::create(code.b, code.loc); });
  else if (source == TokenSource::CpAsync)
    NVVM::CpAsyncCommitGroupOp::create(code.b, code.loc);
  return success();
}
