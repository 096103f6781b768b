//===- SplitGuards.cpp - conditions that hold for all of a nest ---------------===//
// `if row + i < stop: C[row + i, col + j] = acc[i, j]` holds for every element of most tiles. There the nest
// does not need it, and what it writes is one store of a tile, by whatever moves whole tiles best. Which of
// the two it is can be asked once, before the nest.
#include "HoistUniform.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILESPLITGUARDS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;
using P = arith::CmpIPredicate;

namespace {

/// A position in a nest: one of its variables, plus numbers that are the same for all iterations.
struct Position {
  int64_t last = -1; ///< of the variable; -1: there is none yet
  SmallVector<Value> uniform;
};

class GuardSplitter {
public:
  explicit GuardSplitter(GenericOp nest) : nest(nest), body(nest.getBody().front()) {}
  void run();

private:
  bool isUniform(Value v) { return !nest.getBody().isAncestor(v.getParentRegion()); }
  bool addTerm(Value v, Position &position);
  Value holdsEverywhere(OpBuilder &b, Value condition);
  Value holdsEverywhere(OpBuilder &b, arith::CmpIOp cmp);
  SmallVector<scf::IfOp> guards();
  bool isWorthTwice();

  GenericOp nest;
  Block &body;
};

} // namespace

static bool is64Bits(Type type) { return type.isIndex() || type.isInteger(64); }

bool GuardSplitter::addTerm(Value v, Position &position) {
  if (!is64Bits(v.getType()))
    return false;
  auto argument = dyn_cast<BlockArgument>(v);
  if (argument && argument.getOwner() == &body) {
    unsigned axis = argument.getArgNumber();
    if (axis >= nest.getDomain().size() || position.last >= 0)
      return false;
    position.last = nest.getDomain()[axis] - 1;
    return true;
  }
  if (isUniform(v)) {
    position.uniform.push_back(v);
    return true;
  }
  if (auto add = v.getDefiningOp<arith::AddIOp>())
    return addTerm(add.getLhs(), position) && addTerm(add.getRhs(), position);
  if (auto cast = v.getDefiningOp<arith::IndexCastOp>())
    return addTerm(cast.getIn(), position);
  return false;
}

/// first + i < limit for i = 0 .. last: where the largest position does not wrap, it decides.
Value GuardSplitter::holdsEverywhere(OpBuilder &b, arith::CmpIOp cmp) {
  P predicate = cmp.getPredicate();
  Value left = cmp.getLhs(), limit = cmp.getRhs();
  if (predicate == P::sgt || predicate == P::sge) {
    std::swap(left, limit);
    predicate = predicate == P::sgt ? P::slt : P::sle;
  }
  Position position;
  if ((predicate != P::slt && predicate != P::sle) || !isUniform(limit) || !addTerm(left, position) ||
      position.last < 0)
    return {};
  Location loc = cmp.getLoc();
  Type i64 = b.getI64Type();
  auto in64 = [&](Value v) {
    return v.getType().isIndex() ? b.createOrFold<arith::IndexCastOp>(loc, i64, v) : v;
  };
  Value first = arith::ConstantIntOp::create(b, loc, i64, 0);
  for (Value v : position.uniform)
    first = b.createOrFold<arith::AddIOp>(loc, first, in64(v));
  Value last = arith::AddIOp::create(b, loc, first, arith::ConstantIntOp::create(b, loc, i64, position.last));
  Value below = arith::CmpIOp::create(b, loc, predicate, last, in64(limit));
  Value wrapsNot = arith::CmpIOp::create(b, loc, P::sge, last, first);
  return arith::AndIOp::create(b, loc, below, wrapsNot);
}

/// Null: that is not known before the nest.
Value GuardSplitter::holdsEverywhere(OpBuilder &b, Value condition) {
  if (isUniform(condition))
    return condition;
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    Value left = holdsEverywhere(b, both.getLhs());
    Value right = left ? holdsEverywhere(b, both.getRhs()) : Value();
    return right ? arith::AndIOp::create(b, both.getLoc(), left, right).getResult() : Value();
  }
  auto cmp = condition.getDefiningOp<arith::CmpIOp>();
  return cmp ? holdsEverywhere(b, cmp) : Value();
}

/// Branches of the body around writes to tensors.
SmallVector<scf::IfOp> GuardSplitter::guards() {
  SmallVector<scf::IfOp> found;
  for (auto branch : body.getOps<scf::IfOp>()) {
    bool writes = llvm::any_of(branch.thenBlock()->getOps<ElemStoreOp>(),
                               [](ElemStoreOp store) { return isa<ViewType>(store.getDest().getType()); });
    if (writes && branch.getNumResults() == 0 && !branch.elseBlock())
      found.push_back(branch);
  }
  return found;
}

static void unwrap(scf::IfOp branch) {
  for (Operation &op : llvm::make_early_inc_range(branch.thenBlock()->without_terminator()))
    op.moveBefore(branch);
  branch.erase();
}

/// What leaves here is a tile, and all of the kernel's results: nests that also read tensors, or one of many
/// such nests, would hold twice the addresses, and the code of a thread has its limits.
bool GuardSplitter::isWorthTwice() {
  bool readsTiles = false, readsTensors = false;
  body.walk([&](Operation *op) {
    if (auto extract = dyn_cast<ExtractOp>(op))
      readsTiles |= isUniform(extract.getTile());
    if (auto load = dyn_cast<ElemLoadOp>(op))
      readsTensors |= isa<ViewType>(load.getSource().getType());
  });
  bool alone = true;
  nest->getParentOfType<KernelOp>().walk([&](Operation *op) {
    Value dest;
    if (auto store = dyn_cast<ElemStoreOp>(op))
      dest = store.getDest();
    else if (auto store = dyn_cast<StoreOp>(op))
      dest = store.getDest();
    else if (auto copy = dyn_cast<CopyOp>(op))
      dest = copy.getDest();
    alone &= !dest || !isa<ViewType>(dest.getType()) || nest->isAncestor(op);
  });
  return readsTiles && !readsTensors && alone;
}

void GuardSplitter::run() {
  SmallVector<scf::IfOp> branches = guards();
  if (branches.empty() || nest->getNumResults() || !isWorthTwice())
    return;
  hoistUniform(nest);
  OpBuilder b(nest);
  Value all;
  for (scf::IfOp branch : branches) {
    Value holds = holdsEverywhere(b, branch.getCondition());
    if (!holds)
      return;
    all = all ? arith::AndIOp::create(b, nest.getLoc(), all, holds).getResult() : holds;
  }
  auto choice = scf::IfOp::create(b, nest.getLoc(), all, /*withElseRegion=*/true);
  choice.getElseBodyBuilder().clone(*nest);
  auto whole = cast<GenericOp>(choice.getThenBodyBuilder().clone(*nest));
  for (scf::IfOp branch : GuardSplitter(whole).guards())
    unwrap(branch);
  nest.erase();
}

namespace {
struct SplitGuards : tilec::tile::impl::TileSplitGuardsBase<SplitGuards> {
  void runOnOperation() override {
    SmallVector<GenericOp> nests;
    getOperation().walk([&](GenericOp nest) {
      if (llvm::none_of(nest.getDomain(), ShapedType::isDynamic))
        nests.push_back(nest);
    });
    for (GenericOp nest : nests)
      GuardSplitter(nest).run();
  }
};
} // namespace
