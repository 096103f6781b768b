//===- InsertBarriers.cpp - barriers and fences from dependences -------------===//
// Forward dataflow over structured control flow. For each shared buffer (and each view that the launch
// writes) the state remembers which accesses other threads may not have seen yet; a conflicting access gets a
// barrier in front of it, and a fence when ordinary stores meet the copy engine or wgmma. Rings synchronise
// themselves. Barriers stand in uniform control flow: scalars outside generics are the same in all threads.
#include "LaunchFeatures.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEINSERTBARRIERS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

namespace {

/// What has happened to one root since the last barrier.
struct Pending {
  bool read = false, written = false;
  bool unfenced = false; ///< stores that the async proxy has not been told of (survives barriers)
  bool operator==(const Pending &o) const {
    return read == o.read && written == o.written && unfenced == o.unfenced;
  }
};

using State = llvm::MapVector<Value, Pending>;

struct Access {
  Value root;
  bool write = false;
  bool async = false; ///< by wgmma or the copy engine
};

class BarrierInserter {
public:
  BarrierInserter(LaunchOp launch, Scope scope, int64_t warps)
      : launch(launch), scope(scope), oneGroup(warps <= 4) {}
  State visit(Block &block, State state);

private:
  State visitOp(Operation &op, State state);
  State visitLoop(Operation &op, State state);
  void synchronise(Operation &before, State &state, bool fence);
  void collect(Operation &op, SmallVectorImpl<Access> &accesses);
  void addMemory(Value memory, bool write, bool async, SmallVectorImpl<Access> &accesses);

  LaunchOp launch;
  Scope scope;
  bool oneGroup; ///< no more than one warp group runs: its barrier holds for all
};

} // namespace

static State join(const State &x, const State &y) {
  State out = x;
  for (auto &[root, p] : y) {
    Pending &q = out[root];
    q.read |= p.read;
    q.written |= p.written;
    q.unfenced |= p.unfenced;
  }
  return out;
}

static bool sameState(const State &x, const State &y) {
  auto contains = [](const State &all, const State &some) {
    return llvm::all_of(some, [&](const auto &entry) {
      auto it = all.find(entry.first);
      return (it == all.end() ? Pending() : it->second) == entry.second;
    });
  };
  return contains(x, y) && contains(y, x);
}

/// A view's root: the kernel argument (tensors do not overlap unless the launcher allows it) or what made it.
static Value tensorOf(Value view) {
  while (auto cast = view.getDefiningOp<RecastViewOp>())
    view = cast.getSource();
  return view;
}

void BarrierInserter::addMemory(Value memory, bool write, bool async, SmallVectorImpl<Access> &accesses) {
  if (isa<ViewType>(memory.getType())) {
    accesses.push_back({tensorOf(memory), write, async});
  } else if (isa<BufferType>(memory.getType())) {
    Value root = rootBuffer(memory);
    if (!root.getDefiningOp<AcquireOp>() && !root.getDefiningOp<ConsumeOp>() &&
        !root.getDefiningOp<SlotAtOp>())
      accesses.push_back({root, write, async});
  }
}

void BarrierInserter::collect(Operation &op, SmallVectorImpl<Access> &accesses) {
  auto read = [&](Value v, bool async = false) { addMemory(v, false, async, accesses); };
  auto write = [&](Value v, bool async = false) { addMemory(v, true, async, accesses); };
  if (auto o = dyn_cast<LoadOp>(op)) {
    read(o.getSource());
  } else if (auto o = dyn_cast<RealignOp>(op)) {
    read(o.getWords());
  } else if (auto o = dyn_cast<StoreOp>(op)) {
    write(o.getDest());
  } else if (auto o = dyn_cast<CopyOp>(op)) {
    read(o.getSource());
    write(o.getDest());
  } else if (auto o = dyn_cast<SplitCopyOp>(op)) {
    read(o.getSource());
    for (Value plane : o.getPlanes())
      write(plane);
  } else if (auto o = dyn_cast<AsyncCopyOp>(op)) {
    read(o.getSource(), true);
    write(o.getDest(), true);
  } else if (auto o = dyn_cast<ElemLoadOp>(op)) {
    read(o.getSource());
  } else if (auto o = dyn_cast<ElemStoreOp>(op)) {
    write(o.getDest());
  } else if (auto o = dyn_cast<AtomicOp>(op)) {
    write(o.getDest());
  } else if (auto o = dyn_cast<ElemAtomicOp>(op)) {
    write(o.getDest());
  } else if (auto o = dyn_cast<GemmOp>(op)) {
    bool async = o.getInstAttr() && o.getInstAttr().getKind() == InstKind::wgmma;
    read(o.getA(), async);
    read(o.getB(), async);
  } else if (auto o = dyn_cast<AsyncGemmOp>(op)) {
    read(o.getA(), true);
    read(o.getB(), true);
  } else if (auto o = dyn_cast<GenericOp>(op)) {
    for (Value in : o.getIns())
      read(in);
    o.getBody().walk([&](Operation *inner) { collect(*inner, accesses); });
  }
}

void BarrierInserter::synchronise(Operation &before, State &state, bool fence) {
  OpBuilder b(&before);
  Location loc = before.getLoc();
  if (fence) {
    FenceOp::create(b, loc, FenceAttr::get(b.getContext(), Fence::async_proxy));
    for (auto &entry : state)
      entry.second.unfenced = false;
  }
  BarrierOp::create(b, loc, ScopeAttr::get(b.getContext(), scope), IntegerAttr());
  for (auto &entry : state)
    entry.second.read = entry.second.written = false;
}

State BarrierInserter::visitLoop(Operation &op, State state) {
  // Until nothing new comes around the back edge; each round only adds barriers, and flags only grow.
  State entry = state, last;
  for (int round = 0; round < 4; ++round) {
    State out = entry;
    for (Region &region : op.getRegions())
      for (Block &block : region)
        out = visit(block, out);
    State next = join(state, out);
    last = out;
    if (sameState(next, entry))
      break;
    entry = next;
  }
  return join(state, last); // zero trips
}

/// Has each warp group a part of its own there? Then a barrier of the group is enough: staging buffers, and
/// the tensors that they leave for.
static bool groupsKeepApart(Value root) {
  return isa<ViewType>(root.getType()) || llvm::any_of(root.getUsers(), [&](Operation *user) {
           auto copy = dyn_cast<AsyncCopyOp>(user);
           return copy && copy.getSource() == root && isa<ViewType>(copy.getDest().getType());
         });
}

State BarrierInserter::visitOp(Operation &op, State state) {
  if (isa<LoopLikeOpInterface>(op))
    return visitLoop(op, std::move(state));
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    State then = visit(*branch.thenBlock(), state);
    State other = branch.elseBlock() ? visit(*branch.elseBlock(), state) : state;
    return join(then, other);
  }
  if (auto barrier = dyn_cast<BarrierOp>(op)) {
    bool wide = barrier.getScope() >= (oneGroup ? Scope::group : Scope::role);
    for (auto &entry : state)
      if (wide || groupsKeepApart(entry.first))
        entry.second.read = entry.second.written = false;
    return state;
  }
  if (auto fence = dyn_cast<FenceOp>(op)) {
    if (fence.getKind() == Fence::async_proxy)
      for (auto &entry : state)
        entry.second.unfenced = false;
    return state;
  }
  SmallVector<Access> accesses;
  collect(op, accesses);
  bool conflict = false, fence = false;
  for (const Access &a : accesses) {
    auto it = state.find(a.root);
    if (it == state.end())
      continue;
    const Pending &p = it->second;
    conflict |= p.written || (a.write && p.read);
    fence |= a.async && p.unfenced && isa<BufferType>(a.root.getType());
  }
  if (conflict || fence)
    synchronise(op, state, fence);
  for (const Access &a : accesses) {
    Pending &p = state[a.root];
    (a.write ? p.written : p.read) = true;
    if (a.write && !a.async)
      p.unfenced = true;
  }
  return state;
}

State BarrierInserter::visit(Block &block, State state) {
  for (Operation &op : llvm::make_early_inc_range(block))
    state = visitOp(op, std::move(state));
  return state;
}

/// Is every slot of the ring read by products on the plain units alone, or into registers? Each warp then
/// lets go of a slot when it is done; elsewhere warp groups do, whose products are joint work.
static bool readByWarps(RingOp ring) {
  bool any = false;
  for (Operation *user : ring->getUsers())
    if (auto consume = dyn_cast<ConsumeOp>(user))
      for (Value buffer : consume.getBuffers())
        for (Operation *reader : buffer.getUsers()) {
          auto gemm = dyn_cast<GemmOp>(reader);
          bool plain = gemm && gemm.getInstAttr() && gemm.getInstAttr().getKind() == InstKind::fma;
          if (!plain && !isa<RealignOp>(reader))
            return false;
          any = true;
        }
  return any;
}

/// Arrivals that fill a slot: one for the bytes of the copy engine, one for each thread that copies itself.
static int64_t fillers(RingOp ring, int64_t threads) {
  bool engine = false, own = false;
  for (Operation *user : ring->getUsers())
    if (auto acquire = dyn_cast<AcquireOp>(user)) {
      engine |= acquire.getTxBytes().has_value();
      for (Value buffer : acquire.getBuffers())
        for (Operation *filler : buffer.getUsers()) {
          auto copy = dyn_cast<AsyncCopyOp>(filler);
          own |= isa<SplitCopyOp, CopyOp>(filler) || (copy && copy.getEngine() != Engine::tma);
        }
    }
  return std::max<int64_t>(1, engine + (own ? threads : 0));
}

/// Barrier counts of rings.
static void countRings(LaunchOp launch) {
  int64_t groups = 0, warps = 0, loading = 0;
  for (RoleAttr role : launch.getScheduleAttr().getRoles())
    if (role.getKind() == RoleKind::compute) {
      groups += (role.getWarps() + 3) / 4;
      warps += role.getWarps();
    } else {
      loading += role.getWarps() * 32;
    }
  OpBuilder b(launch.getContext());
  launch.walk([&](RingOp ring) {
    ring.setFullAttr(b.getI64IntegerAttr(fillers(ring, loading)));
    ring.setEmptyAttr(b.getI64IntegerAttr(readByWarps(ring) ? warps : groups));
  });
}

/// All threads must see the initialised mbarriers before any role uses one.
static void announceRings(WarpGroupsOp groups) {
  OpBuilder b(groups);
  FenceOp::create(b, groups.getLoc(), FenceAttr::get(b.getContext(), Fence::barrier_init));
  BarrierOp::create(b, groups.getLoc(), ScopeAttr::get(b.getContext(), Scope::block), b.getI64IntegerAttr(0));
}

namespace {
struct InsertBarriers : tilec::tile::impl::TileInsertBarriersBase<InsertBarriers> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.isDevice())
      return;
    LaunchOp launch = kernel.getDeviceLaunch();
    WarpGroupsOp groups;
    launch.walk([&](WarpGroupsOp g) { groups = g; });
    if (!groups) {
      ScheduleAttr schedule = launch.getScheduleAttr();
      BarrierInserter(launch, Scope::block, schedule ? schedule.getThreads() / 32 : 8)
          .visit(launch.getBody().front(), {});
      return;
    }
    countRings(launch);
    announceRings(groups);
    for (auto [body, role] : llvm::zip(groups.getBodies(), groups.getRoles()))
      BarrierInserter(launch, Scope::role, cast<RoleAttr>(role).getWarps()).visit(body.front(), {});
  }
};
} // namespace
