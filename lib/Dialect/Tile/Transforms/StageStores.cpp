//===- StageStores.cpp - results leave by the copy engine --------------------===//
// A copy from a staging buffer to a view becomes asynchronous and drains under whatever comes next: the next
// tile of a persistent block. Each warp group stores and copies its own part of the buffer, so groups never
// wait for each other; a part is overwritten only when the engine has read it.
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILESTAGESTORES
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

/// Carries a token from `value` (behind which it is new) around all loops up to the role or launch. Returns
/// the token that is valid in front of `at`; `end` receives the one behind the outermost loop.
static Value carryToken(Operation *at, Value value, Value &end, Operation *&outermost) {
  IRRewriter rewriter(at->getContext());
  Location loc = at->getLoc();
  Value inner = value; // what the loop at hand yields
  Value seen;          // the carry of the innermost loop
  Operation *op = at;
  outermost = nullptr;
  SmallVector<scf::ForOp> loops;
  for (Operation *p = op->getParentOp(); isa<scf::ForOp>(p); p = p->getParentOp())
    loops.push_back(cast<scf::ForOp>(p));
  if (loops.empty()) {
    end = value;
    return {};
  }
  // Outermost first, so that each inner loop starts from the carry of the one around it.
  Operation *front = loops.back();
  rewriter.setInsertionPoint(front);
  Value init = ReadyOp::create(rewriter, loc, TokenType::get(at->getContext()));
  SmallVector<scf::ForOp> made;
  for (scf::ForOp loop : llvm::reverse(loops)) {
    auto keep = [&](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
      return SmallVector<Value>{args[0]};
    };
    auto next = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, {init}, false, keep));
    made.push_back(next);
    init = next.getRegionIterArgs().back();
    rewriter.setInsertionPointToStart(next.getBody());
  }
  seen = init;
  for (scf::ForOp loop : llvm::reverse(made)) {
    unsigned last = loop.getNumRegionIterArgs() - 1;
    (*loop.getYieldedValuesMutable())[last].set(inner);
    inner = loop.getResult(last);
  }
  end = inner;
  outermost = made.front();
  return seen;
}

static Value makeAsync(CopyOp copy) {
  OpBuilder b(copy);
  Type token = TokenType::get(b.getContext());
  auto async = AsyncCopyOp::create(b, copy.getLoc(), token, copy.getSource(), ValueRange{}, copy.getDest(),
                                   copy.getDestOffsets(), copy.getExtentsAttr(), Im2colAttr(),
                                   copy.getEngineAttr(), Value());
  Value done = JoinOp::create(b, copy.getLoc(), token, ValueRange{async.getToken()});
  copy.erase();
  return done;
}

/// All that goes through one buffer: each of `copies` takes what the store in front of it in the same block
/// left there.
static void stage(ArrayRef<CopyOp> copies, int64_t barrier) {
  Value buffer = CopyOp(copies.front()).getSource();
  SmallVector<StoreOp> stores;
  for (Operation &op : *CopyOp(copies.front())->getBlock())
    if (auto store = dyn_cast<StoreOp>(op); store && store.getDest() == buffer)
      stores.push_back(store);
  Location loc = CopyOp(copies.front()).getLoc();
  MLIRContext *c = loc.getContext();
  SmallVector<Value> done = llvm::map_to_vector(copies, makeAsync);
  Value end;
  Operation *outermost = nullptr;
  Value before = carryToken(stores.front(), done.back(), end, outermost);
  OpBuilder b(c);
  ScopeAttr group = ScopeAttr::get(c, Scope::group);
  auto meet = [&] { BarrierOp::create(b, loc, group, b.getI64IntegerAttr(barrier)); };
  for (auto [store, token] : llvm::zip(stores, done)) {
    b.setInsertionPoint(store);
    if (before) {
      WaitOp::create(b, loc, ValueRange{before}, b.getI64IntegerAttr(0), b.getUnitAttr());
      meet();
    }
    b.setInsertionPointAfter(store);
    FenceOp::create(b, loc, FenceAttr::get(c, Fence::async_proxy));
    meet();
    before = token;
  }
  if (outermost)
    b.setInsertionPointAfter(outermost);
  else
    b.setInsertionPoint(stores.back()->getBlock()->getTerminator());
  WaitOp::create(b, loc, ValueRange{end}, b.getI64IntegerAttr(0), b.getUnitAttr());
}

namespace {
struct StageStores : tilec::tile::impl::TileStageStoresBase<StageStores> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.isDevice())
      return;
    llvm::MapVector<Value, SmallVector<CopyOp, 1>> copies; // by buffer
    kernel.walk([&](CopyOp copy) {
      if (copy.getEngine() == Engine::tma && isa<BufferType>(copy.getSource().getType()) &&
          isa<ViewType>(copy.getDest().getType()))
        copies[copy.getSource()].push_back(copy);
    });
    for (auto &[buffer, list] : copies)
      stage(list, /*barrier=*/1);
  }
};
} // namespace
