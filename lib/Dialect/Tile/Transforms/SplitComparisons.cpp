//===- SplitComparisons.cpp - positions in a nest against one bound ----------===//
#include "IndexFacts.h"
#include "mlir/IR/Dominance.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILESPLITCOMPARISONS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

namespace {
/// lhs - rhs of a comparison = what the position in the nest contributes + what is the same at each position.
struct Difference {
  SmallVector<std::pair<Value, int64_t>> position, rest;
  int64_t constant = 0;
};

using Numbers = llvm::DenseMap<Value, unsigned>;

/// All values of a kernel in the order of its text.
Numbers numberValues(KernelOp kernel) {
  Numbers numbers;
  auto add = [&](ValueRange values) {
    for (Value v : values)
      numbers.try_emplace(v, numbers.size());
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    add(op->getResults());
    for (mlir::Region &region : op->getRegions())
      for (Block &block : region)
        add(block.getArguments());
  });
  return numbers;
}

/// Nothing when a part depends on the position in another way, or has no value outside the nest.
std::optional<Difference> splitDifference(const Sum &sum, GenericOp nest, DominanceInfo &dominance,
                                          const Numbers &numbers) {
  Difference result;
  result.constant = sum.constant;
  for (auto &[atom, coefficient] : sum.terms) {
    auto [value, divisor] = atom;
    int64_t factor = coefficient;
    if (divisor) { // coefficient * (value / divisor), exact
      if (coefficient % divisor)
        return std::nullopt;
      factor = coefficient / divisor;
    }
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && llvm::is_contained(nest.getIndexArgs(), argument))
      result.position.push_back({value, factor});
    else if (dominance.properlyDominates(value, nest.getOperation()))
      result.rest.push_back({value, factor});
    else
      return std::nullopt;
  }
  // The terms of a sum stand in the order of addresses, which the program must not depend on.
  auto earlier = [&](auto &a, auto &b) { return numbers.lookup(a.first) < numbers.lookup(b.first); };
  llvm::sort(result.position, earlier);
  llvm::sort(result.rest, earlier);
  return result;
}

Value sumOfTerms(OpBuilder &b, Location loc, ArrayRef<std::pair<Value, int64_t>> terms, int64_t constant) {
  Value sum;
  auto accumulate = [&](Value v) { sum = sum ? arith::AddIOp::create(b, loc, sum, v).getResult() : v; };
  for (auto [value, factor] : terms)
    accumulate(factor == 1
                   ? value
                   : arith::MulIOp::create(b, loc, value, arith::ConstantIndexOp::create(b, loc, factor))
                         .getResult());
  if (constant || !sum)
    accumulate(arith::ConstantIndexOp::create(b, loc, constant));
  return sum;
}

bool isOrder(arith::CmpIPredicate p) {
  using P = arith::CmpIPredicate;
  return p == P::slt || p == P::sle || p == P::sgt || p == P::sge || p == P::eq || p == P::ne;
}

struct SplitComparisons : tilec::tile::impl::TileSplitComparisonsBase<SplitComparisons> {
  void runOnOperation() override {
    IndexFacts facts(getOperation());
    DominanceInfo dominance(getOperation());
    Numbers numbers = numberValues(getOperation());
    SmallVector<std::pair<GenericOp, arith::CmpIOp>> comparisons;
    getOperation().walk([&](GenericOp nest) {
      for (auto cmp : nest.getBody().front().getOps<arith::CmpIOp>())
        if (cmp.getLhs().getType().isIndex() && isOrder(cmp.getPredicate()))
          comparisons.push_back({nest, cmp});
    });
    for (auto [nest, cmp] : comparisons)
      split(nest, cmp, facts, dominance, numbers);
  }

  /// `position + rest <predicate> 0` -> `position <predicate> -rest`, the right side once before the nest.
  static void split(GenericOp nest, arith::CmpIOp cmp, IndexFacts &facts, DominanceInfo &dominance,
                    const Numbers &numbers) {
    if (!facts.isBounded(cmp.getLhs()) || !facts.isBounded(cmp.getRhs()))
      return; // moved to the other side, it might wrap
    Sum sum = facts.sumOf(cmp.getLhs());
    sum.add(facts.sumOf(cmp.getRhs()), -1);
    if (sum.overflow)
      return;
    std::optional<Difference> difference = splitDifference(sum, nest, dominance, numbers);
    if (!difference || difference->position.empty() || difference->rest.empty())
      return;
    for (auto &[value, factor] : difference->rest)
      factor = -factor;
    OpBuilder outside(nest), inside(cmp);
    Value bound = sumOfTerms(outside, cmp.getLoc(), difference->rest, -difference->constant);
    Value position = sumOfTerms(inside, cmp.getLoc(), difference->position, 0);
    cmp.getLhsMutable().assign(position);
    cmp.getRhsMutable().assign(bound);
  }
};
} // namespace
