//===- AsyncGemms.cpp - products that only begin where they stand ------------===//
// A product whose accumulator is carried around a loop and touched by nothing else stays in flight over the
// trips: the slot of trip n is released when the product of trip n + 1 has begun, one group of products
// always running (PTX ISA, "wgmma.wait_group"). One that nothing needs before the next product of its block
// has begun is awaited there: what makes the operands of the next overlaps with it. Any other is awaited
// behind itself. Numbers that only the code behind a loop of products needs are computed there.
#include "LaunchFeatures.h"
#include "mlir/Transforms/RegionUtils.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEASYNCGEMMS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

static bool isAsync(GemmOp gemm) {
  return gemm.getInstAttr() && gemm.getInstAttr().getKind() == InstKind::wgmma;
}

/// The ring slot that a buffer comes from, or null.
static ConsumeOp slotOf(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto consume = dyn_cast<ConsumeOp>(op))
      return consume;
    if (!isa<SubbufferOp, RecastBufferOp>(op))
      break;
    buffer = op->getOperand(0);
  }
  return {};
}

/// Releases in `block` behind `gemm` of slots that it reads.
static SmallVector<ReleaseOp> releasesOf(GemmOp gemm) {
  SmallVector<ReleaseOp> found;
  for (Value operand : {gemm.getA(), gemm.getB()})
    if (ConsumeOp slot = isa<BufferType>(operand.getType()) ? slotOf(operand) : ConsumeOp())
      for (Operation *user : slot.getRing().getUsers())
        if (auto release = dyn_cast<ReleaseOp>(user))
          if (release->getBlock() == gemm->getBlock() && gemm->isBeforeInBlock(release) &&
              release.getCursor() == slot.getCursor() && !llvm::is_contained(found, release))
            found.push_back(release);
  return found;
}

static AsyncGemmOp begin(OpBuilder &b, GemmOp gemm, Value future) {
  Type type = FutureType::get(b.getContext(), gemm.getAcc().getType());
  auto async = AsyncGemmOp::create(b, gemm.getLoc(), type, TokenType::get(b.getContext()), gemm.getA(),
                                   gemm.getB(), future, gemm.getClear(), gemm.getTransAAttr(),
                                   gemm.getTransBAttr(), gemm.getInstAttr());
  for (StringRef name : {TileDialect::kAUnsignedAttrName, TileDialect::kBUnsignedAttrName})
    if (Attribute isUnsigned = gemm->getAttr(name))
      async->setAttr(name, isUnsigned);
  return async;
}

/// The wait for the product whose result this one adds to, where nothing but this one needs it: products of
/// a chain end in order.
static AwaitOp chainedTo(GemmOp gemm) {
  auto await = gemm.getAcc().getDefiningOp<AwaitOp>();
  if (!await || !await->hasOneUse() || await->getBlock() != gemm->getBlock())
    return {};
  if (!await.getFuture().getDefiningOp<AsyncGemmOp>())
    return {};
  for (Operation &op : llvm::make_range(std::next(await->getIterator()), gemm->getIterator()))
    if (!isPure(&op))
      return {};
  return await;
}

/// What has to stand behind the wait for a product that is still running when the next begins.
struct Overlap {
  GemmOp next; ///< null: it ends before anything else
  SmallVector<Operation *> users;
};

/// Does the op write what the product reads, other than by refilling a slot?
static bool overwritesOperand(Operation *op, GemmOp gemm) {
  auto result = op->walk([&](Operation *inner) {
    Value dest = llvm::TypeSwitch<Operation *, Value>(inner)
                     .Case<StoreOp, CopyOp, ElemStoreOp, AtomicOp, ElemAtomicOp>(
                         [](auto o) -> Value { return o.getDest(); })
                     .Default([](Operation *) { return Value(); });
    bool hits = dest && isa<BufferType>(dest.getType()) &&
                llvm::any_of(ArrayRef<Value>{gemm.getA(), gemm.getB()}, [&](Value operand) {
                  return isa<BufferType>(operand.getType()) && rootBuffer(operand) == rootBuffer(dest);
                });
    return hits ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// The next product of the block, if what the threads compute from this one can wait until that has begun.
static Overlap overlapOf(GemmOp gemm) {
  Overlap overlap;
  llvm::SmallPtrSet<Value, 4> late = {gemm.getResult()};
  auto needs = [&](Operation *op) {
    bool any = false;
    op->walk([&](Operation *inner) {
      any |= llvm::any_of(inner->getOperands(), [&](Value v) { return late.contains(v); });
    });
    return any;
  };
  for (Operation *op = gemm->getNextNode(); op && !op->hasTrait<OpTrait::IsTerminator>();
       op = op->getNextNode()) {
    if (auto next = dyn_cast<GemmOp>(op); next && isAsync(next)) {
      if (!needs(next))
        overlap.next = next;
      return overlap;
    }
    bool holdsProducts = op->getNumRegions() && !isa<GenericOp>(op);
    if (holdsProducts || overwritesOperand(op, gemm))
      return overlap;
    if (!needs(op))
      continue;
    if (!isa<GenericOp, SliceOp>(op) || !isPure(op))
      return overlap;
    overlap.users.push_back(op);
    late.insert(op->result_begin(), op->result_end());
  }
  return overlap;
}

/// Begins it; the wait and what needs it, releases included, follow the beginning of the next product. The
/// last op of these.
static Operation *awaitBehindNext(GemmOp gemm, const Overlap &overlap) {
  OpBuilder b(gemm);
  Location loc = gemm.getLoc();
  Type future = FutureType::get(b.getContext(), gemm.getAcc().getType());
  auto async = begin(b, gemm, InFlightOp::create(b, loc, future, gemm.getAcc()));
  b.setInsertionPointAfter(overlap.next);
  auto await = AwaitOp::create(b, loc, gemm.getResult().getType(), async.getResult(), b.getI64IntegerAttr(1));
  Operation *last = await;
  for (Operation *user : overlap.users) {
    user->moveAfter(last);
    last = user;
  }
  for (ReleaseOp release : releasesOf(gemm)) {
    release.getTokensMutable().append(async.getToken());
    if (release->isBeforeInBlock(await))
      release->moveAfter(await);
  }
  gemm.getResult().replaceAllUsesWith(await.getTile());
  gemm.erase();
  return last;
}

/// Begins and awaits in one place, but for what stands behind it for the sake of the product before, up to
/// `after`; what it read is free behind it.
static void awaitInPlace(GemmOp gemm, Operation *after) {
  OpBuilder b(gemm);
  Location loc = gemm.getLoc();
  AwaitOp before = chainedTo(gemm);
  Value future = before ? before.getFuture()
                        : InFlightOp::create(b, loc, FutureType::get(b.getContext(), gemm.getAcc().getType()),
                                             gemm.getAcc())
                              .getFuture();
  auto async = begin(b, gemm, future);
  if (after)
    b.setInsertionPointAfter(after);
  Value tile = AwaitOp::create(b, loc, gemm.getResult().getType(), async.getResult(), b.getI64IntegerAttr(0));
  for (ReleaseOp release : releasesOf(gemm))
    release.getTokensMutable().append(async.getToken());
  gemm.getResult().replaceAllUsesWith(tile);
  gemm.erase();
  if (before)
    before.erase();
}

/// May the product stay in flight over the trips of its loop? Its accumulator is a carry that only it
/// touches, and all it reads lies in ring slots of depth two or more that nothing reads behind it.
static bool staysInFlight(GemmOp gemm) {
  auto loop = dyn_cast<scf::ForOp>(gemm->getParentOp());
  auto acc = dyn_cast<BlockArgument>(gemm.getAcc());
  if (!loop || !acc || acc.getOwner() != loop.getBody() || !acc.hasOneUse() || !gemm.getResult().hasOneUse())
    return false;
  unsigned carry = acc.getArgNumber() - 1;
  if (loop.getYieldedValues()[carry] != gemm.getResult())
    return false;
  for (Value operand : {gemm.getA(), gemm.getB()}) {
    if (!isa<BufferType>(operand.getType()))
      return false;
    ConsumeOp slot = slotOf(operand);
    if (!slot)
      return false;
    bool outside = slot->getBlock() != gemm->getBlock(); // filled once per tile: released behind the loop
    if (!outside && cast<RingType>(slot.getRing().getType()).getDepth() < 2)
      return false;
    if (!outside && releasesOf(gemm).empty())
      return false;
  }
  // Another asynchronous product in the trip would be part of the count of pending groups.
  unsigned products = 0;
  loop.walk([&](GemmOp other) { products += isAsync(other); });
  loop.walk([&](AsyncGemmOp) { ++products; });
  return products == 1;
}

/// The release of trip n moves into trip n + 1, that of the last trip behind the loop.
static void delayRelease(ReleaseOp release, scf::ForOp loop, Value previous, Value last, OpBuilder &after) {
  OpBuilder b(release);
  Location loc = release.getLoc();
  auto slotBefore = [&](OpBuilder &at, Value cursor) -> Value {
    return AdvanceOp::create(at, loc, cursor.getType(), cursor, at.getI64IntegerAttr(-1));
  };
  // In the first trip no product stands before, and nothing is waited for.
  WaitOp::create(b, loc, ValueRange{previous}, b.getI64IntegerAttr(1), UnitAttr());
  Value again =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, loop.getInductionVar(), loop.getLowerBound());
  auto branch = scf::IfOp::create(b, loc, again, /*withElseRegion=*/false);
  OpBuilder then = branch.getThenBodyBuilder();
  ReleaseOp::create(then, loc, release.getRing(), slotBefore(then, release.getCursor()),
                    ValueRange{previous});

  // The cursor is a carry: its result behind the loop is one past the last slot.
  auto carry = cast<BlockArgument>(release.getCursor());
  Value end = loop.getResult(carry.getArgNumber() - 1);
  Value any = arith::CmpIOp::create(after, loc, arith::CmpIPredicate::sgt, loop.getUpperBound(),
                                    loop.getLowerBound());
  auto lastBranch = scf::IfOp::create(after, loc, any, /*withElseRegion=*/false);
  OpBuilder lastThen = lastBranch.getThenBodyBuilder();
  ReleaseOp::create(lastThen, loc, release.getRing(), slotBefore(lastThen, end), ValueRange{last});
  release.erase();
}

static void keepInFlight(GemmOp gemm) {
  auto loop = cast<scf::ForOp>(gemm->getParentOp());
  unsigned carry = cast<BlockArgument>(gemm.getAcc()).getArgNumber() - 1;
  IRRewriter rewriter(gemm.getContext());
  rewriter.setInsertionPoint(loop);
  Location loc = gemm.getLoc();
  Value acc0 = loop.getInitArgs()[carry];
  Value future0 =
      InFlightOp::create(rewriter, loc, FutureType::get(gemm.getContext(), gemm.getAcc().getType()), acc0);
  Value token0 = ReadyOp::create(rewriter, loc, TokenType::get(gemm.getContext()));
  SmallVector<ReleaseOp> releases = releasesOf(gemm);
  AsyncGemmOp async;
  Value previous;
  auto yields = [&](OpBuilder &, Location, ArrayRef<BlockArgument> args) -> SmallVector<Value> {
    OpBuilder b(gemm);
    async = begin(b, gemm, args[0]);
    previous = args[1];
    return {async.getResult(), async.getToken()};
  };
  auto next = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, {future0, token0}, /*replaceInitOperandUsesInLoop=*/false, yields));
  unsigned count = next.getNumResults();
  OpBuilder after(next);
  after.setInsertionPointAfter(next);
  Value tile = AwaitOp::create(after, loc, cast<TileType>(acc0.getType()), next.getResult(count - 2),
                               after.getI64IntegerAttr(0));
  next.getResult(carry).replaceAllUsesWith(tile);
  // The tile carry is dead now; canonicalisation drops it.
  (*next.getYieldedValuesMutable())[carry].set(next.getRegionIterArgs()[carry]);
  gemm.getResult().replaceAllUsesWith(next.getRegionIterArgs()[carry]);
  gemm.erase();
  for (ReleaseOp release : releases)
    delayRelease(release, next, previous, next.getResult(count - 1), after);
}

/// Numbers that nothing needs before the end of `loop`, such as where a tile is stored, are computed behind
/// it, while its last products run. In front of it they would delay the first ones.
static void computeBehind(scf::ForOp loop) {
  Block *block = loop->getBlock();
  Operation *first = loop->getNextNode(); // of what has moved, and of what is behind
  auto isLate = [&](Operation *user) {
    Operation *here = block->findAncestorOpInBlock(*user);
    return here == first || first->isBeforeInBlock(here);
  };
  auto before = llvm::make_range(block->begin(), loop->getIterator());
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(before))) {
    bool isNumber = llvm::all_of(op.getResultTypes(), [](Type t) { return t.isIntOrIndex(); });
    if (isNumber && isMemoryEffectFree(&op) && op.getNumRegions() == 0 && !op.use_empty() &&
        llvm::all_of(op.getUsers(), isLate)) {
      op.moveBefore(first);
      first = &op;
    }
  }
}

namespace {
struct AsyncGemms : tilec::tile::impl::TileAsyncGemmsBase<AsyncGemms> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.isDevice())
      return;
    // What the load role has taken over leaves numbers in loops that nothing needs there any more.
    IRRewriter rewriter(kernel.getContext());
    (void)runRegionDCE(rewriter, kernel->getRegions());
    SmallVector<GemmOp> gemms;
    kernel.walk([&](GemmOp gemm) {
      if (isAsync(gemm))
        gemms.push_back(gemm);
    });
    Operation *last = nullptr; // of what waits for the product before and stands behind this one
    for (GemmOp gemm : gemms) {
      Operation *behind = std::exchange(last, nullptr);
      if (staysInFlight(gemm))
        keepInFlight(gemm);
      else if (Overlap overlap = overlapOf(gemm); overlap.next)
        last = awaitBehindNext(gemm, overlap);
      else
        awaitInPlace(gemm, behind);
    }
    kernel.walk([](scf::ForOp loop) {
      if (llvm::any_of(*loop.getBody(), llvm::IsaPred<GemmOp, AsyncGemmOp>))
        computeBehind(loop);
    });
  }
};
} // namespace
