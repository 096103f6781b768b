//===- PipelineLoops.cpp - multi-buffered copies without roles ---------------===//
// Token regime: every thread copies (cp.async) and computes. A prologue fetches the first stages - 1 trips;
// each trip waits for its own data, meets the block, fetches the trip stages - 1 ahead where there is one,
// and computes. The barrier covers both directions: the slot written in trip k was last read in trip k - 1.
// There is no second copy of the body, so trip counts of 0, 1 or less than the depth are the same code.
#include "AheadCopies.h"
#include "mlir/IR/IRMapping.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEPIPELINELOOPS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

namespace {

class LoopPipeliner {
public:
  LoopPipeliner(scf::ForOp loop, ArrayRef<CopyOp> copies, ArrayRef<Operation *> slice, int64_t depth)
      : loop(loop), copies(copies), slice(slice), depth(depth) {}
  void run();

private:
  /// Copies of the trip with loop variable `iv` into the slot at `cursor`, if there is such a trip. One
  /// token.
  Value fetch(OpBuilder &b, Value iv, Value cursor);

  scf::ForOp loop;
  ArrayRef<CopyOp> copies;
  ArrayRef<Operation *> slice;
  int64_t depth;
  Value ring;
};

} // namespace

Value LoopPipeliner::fetch(OpBuilder &b, Value iv, Value cursor) {
  Location loc = loop.getLoc();
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iv);
  for (Operation *op : slice)
    b.clone(*op, mapping);
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, iv, loop.getUpperBound());
  SmallVector<Type> buffers(cast<RingType>(ring.getType()).getBuffers());
  auto slot = SlotAtOp::create(b, loc, buffers, ring, cursor);
  SmallVector<Value> tokens;
  for (auto [i, copy] : llvm::enumerate(copies)) {
    CopyOp c = copy;
    SmallVector<Value> offsets;
    for (Value o : c.getSourceOffsets())
      offsets.push_back(mapping.lookupOrDefault(o));
    tokens.push_back(AsyncCopyOp::create(b, c.getLoc(), TokenType::get(b.getContext()),
                                         mapping.lookupOrDefault(c.getSource()), offsets,
                                         slot.getBuffers()[i], ValueRange{}, c.getExtentsAttr(), Im2colAttr(),
                                         c.getEngineAttr(), exists)
                         .getToken());
  }
  return JoinOp::create(b, loc, TokenType::get(b.getContext()), tokens);
}

void LoopPipeliner::run() {
  IRRewriter b(loop);
  Location loc = loop.getLoc();
  MLIRContext *c = b.getContext();
  SmallVector<Type> buffers;
  for (CopyOp copy : copies)
    buffers.push_back(copy.getDest().getType());
  auto launch = loop->getParentOfType<LaunchOp>();
  {
    OpBuilder front = OpBuilder::atBlockBegin(&launch.getBody().front());
    ring = RingOp::create(front, loc, RingType::get(c, depth, buffers), IntegerAttr(), IntegerAttr(),
                          DenseI64ArrayAttr(), IntegerAttr());
  }
  Value cursor = CursorOp::create(b, loc, CursorType::get(c, depth)), write = cursor;
  // A loop inside a loop starts over: nobody may still read the slots of the last round.
  if (isa<LoopLikeOpInterface>(loop->getParentOp()))
    BarrierOp::create(b, loc, ScopeAttr::get(c, Scope::block), IntegerAttr());
  SmallVector<Value> inits = {cursor};
  SmallVector<Value> tokens;
  Value iv = loop.getLowerBound();
  for (int64_t s = 0; s + 1 < depth; ++s) {
    tokens.push_back(fetch(b, iv, write));
    write = AdvanceOp::create(b, loc, write).getNext();
    iv = arith::AddIOp::create(b, loc, iv, loop.getStep());
  }
  inits.push_back(write);
  inits.append(tokens);
  Value ahead =
      arith::MulIOp::create(b, loc, loop.getStep(), arith::ConstantIndexOp::create(b, loc, depth - 1));
  auto yields = [&](OpBuilder &, Location, ArrayRef<BlockArgument> args) -> SmallVector<Value> {
    OpBuilder at = OpBuilder::atBlockBegin(args.front().getOwner());
    WaitOp::create(at, loc, ValueRange{args[2]}, at.getI64IntegerAttr(depth - 2), UnitAttr());
    BarrierOp::create(at, loc, ScopeAttr::get(c, Scope::block), IntegerAttr());
    Value next = arith::AddIOp::create(at, loc, args.front().getOwner()->getArgument(0), ahead);
    Value token = fetch(at, next, args[1]);
    auto slot = SlotAtOp::create(at, loc, buffers, ring, args[0]);
    for (unsigned i = 0; i < copies.size(); ++i) {
      CopyOp copy = copies[i];
      copy.getDest().replaceUsesWithIf(slot.getBuffers()[i],
                                       [&](OpOperand &use) { return use.getOwner() != copy; });
    }
    SmallVector<Value> out = {AdvanceOp::create(at, loc, args[0]).getNext(),
                              AdvanceOp::create(at, loc, args[1]).getNext()};
    for (unsigned i = 3; i < args.size(); ++i)
      out.push_back(args[i]);
    out.push_back(token);
    return out;
  };
  auto next = cast<scf::ForOp>(
      *loop.replaceWithAdditionalYields(b, inits, /*replaceInitOperandUsesInLoop=*/false, yields));
  // Groups that fetched nothing are still counted: all are closed before the slots serve anything else.
  OpBuilder after(next);
  after.setInsertionPointAfter(next);
  WaitOp::create(after, loc, ValueRange{next.getResults().back()}, after.getI64IntegerAttr(0), UnitAttr());
  for (CopyOp copy : copies) {
    Operation *alloc = copy.getDest().getDefiningOp();
    copy.erase();
    if (alloc->use_empty())
      alloc->erase();
  }
}

static void pipelineLoop(scf::ForOp loop) {
  auto pipeline = loop->getAttrOfType<PipelineAttr>(TileDialect::kPipelineAttrName);
  if (!pipeline || pipeline.getStages() < 2)
    return;
  AheadCopies ahead = collectAheadCopies(loop, Engine::cp_async);
  if (!ahead.copies.empty())
    LoopPipeliner(loop, ahead.copies, ahead.slice.getArrayRef(), pipeline.getStages()).run();
}

namespace {
struct PipelineLoops : tilec::tile::impl::TilePipelineLoopsBase<PipelineLoops> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.isDevice())
      return;
    LaunchOp launch = kernel.getDeviceLaunch();
    if (!launch.getScheduleAttr() || !launch.getScheduleAttr().getRoles().empty())
      return;
    SmallVector<scf::ForOp> loops;
    launch.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      pipelineLoop(loop);
    dropEngine(launch, Engine::cp_async);
  }
};
} // namespace
