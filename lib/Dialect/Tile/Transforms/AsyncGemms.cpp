//===- AsyncGemms.cpp - products that only begin where they stand ------------===//
// A product whose accumulator is carried around a loop and touched by nothing else stays in flight over the
// trips: the slot of trip n is released when the product of trip n + 1 has begun, one group of products
// always running (PTX ISA, "wgmma.wait_group"). Any other asynchronous product is awaited behind itself.
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

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

/// Begins and awaits in one place; what it read is free behind it.
static void awaitInPlace(GemmOp gemm) {
  OpBuilder b(gemm);
  Location loc = gemm.getLoc();
  AwaitOp before = chainedTo(gemm);
  Value future = before ? before.getFuture()
                        : InFlightOp::create(b, loc, FutureType::get(b.getContext(), gemm.getAcc().getType()),
                                             gemm.getAcc())
                              .getFuture();
  auto async = begin(b, gemm, future);
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
  Value again =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, loop.getInductionVar(), loop.getLowerBound());
  auto branch = scf::IfOp::create(b, loc, again, /*withElseRegion=*/false);
  OpBuilder then = branch.getThenBodyBuilder();
  WaitOp::create(then, loc, ValueRange{previous}, then.getI64IntegerAttr(1), UnitAttr());
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

namespace {
struct AsyncGemms : tilec::tile::impl::TileAsyncGemmsBase<AsyncGemms> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.isDevice())
      return;
    SmallVector<GemmOp> gemms;
    kernel.walk([&](GemmOp gemm) {
      if (isAsync(gemm))
        gemms.push_back(gemm);
    });
    for (GemmOp gemm : gemms)
      if (staysInFlight(gemm))
        keepInFlight(gemm);
      else
        awaitInPlace(gemm);
  }
};
} // namespace
