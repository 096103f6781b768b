//===- PipelineLoops.cpp - multi-buffered copies without roles ---------------===//
// Token regime: every thread copies (cp.async) and computes. A prologue fetches the first stages - 1 trips;
// each trip waits for its own data, meets the block, fetches the trip stages - 1 ahead where there is one,
// and computes. The barrier covers both directions: the slot written in trip k was last read in trip k - 1.
// There is no second copy of the body, so trip counts of 0, 1 or less than the depth are the same code.
#include "LaunchFeatures.h"
#include "mlir/IR/IRMapping.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEPIPELINELOOPS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

/// Pure scalar ops of the loop body that `value` needs, in program order; false if it needs anything else of
/// the body but the loop's variable.
static bool scalarSlice(Value value, scf::ForOp loop, llvm::SetVector<Operation *> &slice) {
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return true;
  if (value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || !isPure(op) || op->getNumRegions())
    return false;
  if (slice.contains(op))
    return true;
  for (Value operand : op->getOperands())
    if (!scalarSlice(operand, loop, slice))
      return false;
  slice.insert(op);
  return true;
}

/// The reason why this copy must stay in its place, or null.
static const char *whyNotAhead(CopyOp copy, scf::ForOp loop, llvm::SetVector<Operation *> &slice) {
  if (copy->getBlock() != loop.getBody())
    return "it stands under a condition";
  if (!copy.getDestOffsets().empty() || !copy.getDest().getDefiningOp<AllocOp>())
    return "it fills only part of its buffer";
  SmallVector<Value> needed(copy.getSourceOffsets());
  needed.push_back(copy.getSource());
  for (Value v : needed)
    if (!scalarSlice(v, loop, slice))
      return "its address depends on computed data";
  SmallVector<Operation *> users = bufferUsers(copy.getDest());
  for (Operation *user : users) {
    if (user == copy)
      continue;
    Operation *top = loop.getBody()->findAncestorOpInBlock(*user);
    if (!top)
      return "its buffer is used outside the loop";
    if (!copy->isBeforeInBlock(top))
      return "its buffer is read before it is filled again (a value of the trip before)";
    auto other = dyn_cast<CopyOp>(user);
    if (!isa<LoadOp, GemmOp, GenericOp, ElemLoadOp, SubbufferOp, RecastBufferOp>(user) &&
        !(other && other.getSource() == copy.getDest()))
      return "its buffer is written elsewhere too";
  }
  return nullptr;
}

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
  SmallVector<CopyOp> copies;
  llvm::SetVector<Operation *> slice;
  loop.walk([&](CopyOp copy) {
    if (copy->getParentOfType<scf::ForOp>() != loop || copy.getEngine() != Engine::cp_async)
      return;
    llvm::SetVector<Operation *> needed(slice.begin(), slice.end());
    if (const char *why = whyNotAhead(copy, loop, needed)) {
      copy.setEngineAttr(EngineAttr::get(copy.getContext(), Engine::simt));
      copy.emitRemark() << "[R0405] this copy is not overlapped with computation: " << why;
      return;
    }
    slice = std::move(needed);
    copies.push_back(copy);
  });
  if (!copies.empty())
    LoopPipeliner(loop, copies, slice.getArrayRef(), pipeline.getStages()).run();
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
    // What no loop took is an ordinary copy.
    launch.walk([&](CopyOp copy) {
      if (copy.getEngine() == Engine::cp_async)
        copy.setEngineAttr(EngineAttr::get(copy.getContext(), Engine::simt));
    });
  }
};
} // namespace
