//===- PrefetchRegisters.cpp - copies that run a trip ahead through registers -===//
// For chips without an engine that copies in the background. A trip starts by loading the next trip's tiles
// into registers, computes from one slot of shared memory, and ends by storing the registers into the other.
// One barrier at the start of a trip covers both directions: the slot that is read now was filled before it,
// the slot that this trip will fill was last read before it. Where shared memory has room for one slot only,
// a second barrier stands in front of the stores. The last trip loads its own tiles once more, which costs
// less than a branch around every load.
#include "AheadCopies.h"
#include "ThreadLayouts.h"
#include "mlir/IR/IRMapping.h"
#include "tilec/Dialect/Tile/IR/KernelTarget.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"
#include "tilec/Support/LayoutDecisions.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEPREFETCHREGISTERS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {

/// A copy on its way: as it comes from global memory, and as it goes to shared memory.
struct Passage {
  TileType load, store;
};

class Prefetcher {
public:
  Prefetcher(scf::ForOp loop, const AheadCopies &ahead, const ThreadLayouts &layouts, int64_t depth)
      : loop(loop), ahead(ahead), layouts(layouts), depth(depth) {}
  void run();

private:
  Passage passageOf(CopyOp copy) const;
  /// The tiles of the trip with loop variable `iv`.
  SmallVector<Value> load(OpBuilder &b, Value iv);
  void store(OpBuilder &b, ValueRange tiles, Value cursor);
  SmallVector<Value> loadFirst(OpBuilder &b);

  scf::ForOp loop;
  const AheadCopies &ahead;
  const ThreadLayouts &layouts;
  int64_t depth; ///< slots: 1 or 2
  Value ring;
  SmallVector<Type> buffers;
  SmallVector<Passage> passages;
};

} // namespace

Passage Prefetcher::passageOf(CopyOp copy) const {
  auto buffer = cast<BufferType>(copy.getDest().getType());
  ArrayRef<int64_t> shape = buffer.getShape();
  Type element = buffer.getElementType();
  unsigned bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  auto tile = [&](const Layout &l) {
    return TileType::get(copy.getContext(), shape, element, LayoutAttr::get(copy.getContext(), l));
  };
  const Layout &memory = buffer.getLayout().getLayout();
  if (shape.size() == 2 && contiguity(memory, DimId::D0) > contiguity(memory, DimId::D1))
    if (auto store = layouts.forTransposition(shape, bytes, /*store=*/true))
      return {tile(*layouts.forTransposition(shape, bytes, /*store=*/false)), tile(*store)};
  return {tile(layouts.forAccess(shape, bytes)), tile(layouts.forAccess(shape, bytes))};
}

SmallVector<Value> Prefetcher::load(OpBuilder &b, Value iv) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iv);
  for (Operation *op : ahead.slice)
    b.clone(*op, mapping);
  SmallVector<Value> tiles;
  for (auto [copy, passage] : llvm::zip(ahead.copies, passages)) {
    CopyOp c = copy;
    SmallVector<Value> offsets;
    for (Value o : c.getSourceOffsets())
      offsets.push_back(mapping.lookupOrDefault(o));
    tiles.push_back(LoadOp::create(b, c.getLoc(), passage.load, mapping.lookupOrDefault(c.getSource()),
                                   offsets, c.getExtentsAttr(), DenseBoolArrayAttr()));
  }
  return tiles;
}

void Prefetcher::store(OpBuilder &b, ValueRange tiles, Value cursor) {
  Location loc = loop.getLoc();
  auto slot = SlotAtOp::create(b, loc, buffers, ring, cursor);
  for (auto [tile, buffer, passage] : llvm::zip(tiles, slot.getBuffers(), passages)) {
    Value out = tile;
    if (passage.load != passage.store)
      out = ConvertLayoutOp::create(b, loc, passage.store, tile);
    StoreOp::create(b, loc, out, buffer, ValueRange{}, DenseI64ArrayAttr(), DenseBoolArrayAttr());
  }
}

/// A loop without trips reads nothing.
SmallVector<Value> Prefetcher::loadFirst(OpBuilder &b) {
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound();
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lower, loop.getUpperBound());
  SmallVector<Type> types;
  for (const Passage &p : passages)
    types.push_back(p.load);
  auto branch = scf::IfOp::create(b, loc, types, exists, /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder then = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
  scf::YieldOp::create(then, loc, load(then, lower));
  SmallVector<Value> nothing;
  for (Type type : types)
    nothing.push_back(UndefOp::create(otherwise, loc, type));
  scf::YieldOp::create(otherwise, loc, nothing);
  return SmallVector<Value>(branch.getResults());
}

void Prefetcher::run() {
  IRRewriter b(loop);
  Location loc = loop.getLoc();
  MLIRContext *c = b.getContext();
  for (CopyOp copy : ahead.copies) {
    buffers.push_back(copy.getDest().getType());
    passages.push_back(passageOf(copy));
  }
  auto launch = loop->getParentOfType<LaunchOp>();
  {
    OpBuilder front = OpBuilder::atBlockBegin(&launch.getBody().front());
    ring = RingOp::create(front, loc, RingType::get(c, depth, buffers), IntegerAttr(), IntegerAttr(),
                          DenseI64ArrayAttr(), IntegerAttr());
  }
  auto meet = [&](OpBuilder &at) {
    BarrierOp::create(at, loc, ScopeAttr::get(c, Scope::block), IntegerAttr());
  };
  // A loop inside a loop starts over: nobody may still read the slots of the last round.
  if (isa<LoopLikeOpInterface>(loop->getParentOp()))
    meet(b);
  Value cursor = CursorOp::create(b, loc, CursorType::get(c, depth));
  store(b, loadFirst(b), cursor);
  auto yields = [&](OpBuilder &end, Location, ArrayRef<BlockArgument> args) -> SmallVector<Value> {
    Block *body = args.front().getOwner();
    OpBuilder start = OpBuilder::atBlockBegin(body);
    meet(start);
    Value iv = body->getArgument(0);
    Value next = arith::AddIOp::create(start, loc, iv, loop.getStep());
    Value more = arith::CmpIOp::create(start, loc, arith::CmpIPredicate::slt, next, loop.getUpperBound());
    SmallVector<Value> tiles = load(start, arith::SelectOp::create(start, loc, more, next, iv));
    auto slot = SlotAtOp::create(start, loc, buffers, ring, args[0]);
    for (auto [i, copy] : llvm::enumerate(ahead.copies)) {
      CopyOp old = copy;
      old.getDest().replaceUsesWithIf(slot.getBuffers()[i],
                                      [&](OpOperand &use) { return use.getOwner() != old; });
    }
    // Whatever touches the loaded registers waits for them: not before the products are under way.
    FenceOp::create(end, loc, FenceAttr::get(c, Fence::issue));
    if (depth == 1)
      meet(end);
    Value other = AdvanceOp::create(end, loc, args[0]).getNext();
    store(end, tiles, other);
    return {other};
  };
  (void)*loop.replaceWithAdditionalYields(b, cursor, /*replaceInitOperandUsesInLoop=*/false, yields);
  for (CopyOp copy : ahead.copies) {
    Operation *alloc = copy.getDest().getDefiningOp();
    copy.erase();
    if (alloc->use_empty())
      alloc->erase();
  }
}

namespace {
struct PrefetchRegisters : tilec::tile::impl::TilePrefetchRegistersBase<PrefetchRegisters> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const TargetDesc *target = targetOf(kernel);
    if (!target || !kernel.isDevice())
      return;
    LaunchOp launch = kernel.getDeviceLaunch();
    if (!launch.getScheduleAttr())
      return;
    ThreadLayouts layouts(launch, *target);
    SmallVector<scf::ForOp> loops;
    launch.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      auto pipeline = loop->getAttrOfType<PipelineAttr>(TileDialect::kPipelineAttrName);
      if (!pipeline)
        continue;
      AheadCopies ahead = collectAheadCopies(loop, Engine::registers);
      if (!ahead.copies.empty())
        Prefetcher(loop, ahead, layouts, std::clamp<int64_t>(pipeline.getStages(), 1, 2)).run();
    }
    dropEngine(launch, Engine::registers);
  }
};
} // namespace
