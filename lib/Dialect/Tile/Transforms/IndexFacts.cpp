//===- IndexFacts.cpp - linear facts about index values ----------------------===//
#include "IndexFacts.h"
#include "LaunchFeatures.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace tilec::tile;

//===- Sums ------------------------------------------------------------------===//
Sum Sum::of(int64_t value) {
  Sum sum;
  sum.constant = value;
  return sum;
}

Sum Sum::of(Atom atom, int64_t coefficient) {
  Sum sum;
  sum.terms[atom] = coefficient;
  return sum;
}

Sum &Sum::add(const Sum &other, int64_t factor) {
  overflow |= other.overflow;
  auto accumulate = [&](int64_t &into, int64_t value) {
    int64_t product;
    overflow |= llvm::MulOverflow(value, factor, product) || llvm::AddOverflow(into, product, into);
  };
  for (auto &[atom, coefficient] : other.terms) {
    int64_t &into = terms[atom];
    accumulate(into, coefficient);
    if (into == 0)
      terms.erase(atom);
  }
  accumulate(constant, other.constant);
  return *this;
}

bool Sum::isDivisibleBy(int64_t divisor) const {
  return !overflow && constant % divisor == 0 &&
         llvm::all_of(terms, [&](auto &term) { return term.second % divisor == 0; });
}

Sum Sum::dividedBy(int64_t divisor) const {
  Sum result = *this;
  result.constant /= divisor;
  for (auto &[atom, coefficient] : result.terms)
    coefficient /= divisor;
  return result;
}

void Sum::reduce() {
  int64_t common = 0;
  for (auto &[atom, coefficient] : terms)
    common = std::gcd(common, coefficient);
  if (overflow || common < 2)
    return;
  // c * y + k <= 0 is y + ceil(k / c) <= 0 for integers.
  int64_t rounded = llvm::divideCeilSigned(constant, common);
  for (auto &[atom, coefficient] : terms)
    coefficient /= common;
  constant = rounded;
}

//===- What the kernel says --------------------------------------------------===//
static std::optional<int64_t> constantOf(Value v) {
  APInt value;
  if (!matchPattern(v, m_ConstantInt(&value)))
    return std::nullopt;
  return value.trySExtValue();
}

IndexFacts::IndexFacts(KernelOp kernel) : kernel(kernel) {
  SmallVector<AssumeOp> assumes;
  kernel.walk([&](Operation *op) {
    if (auto dim = dyn_cast<DimOp>(op))
      extents.try_emplace({rootView(dim.getView()), dim.getAxis()}, dim.getResult());
    else if (auto require = dyn_cast<RequireEqualOp>(op))
      equal[require.getActual()] = require.getExpected();
    else if (auto assume = dyn_cast<AssumeOp>(op); assume && assume->getBlock() == &kernel.getBody().front())
      assumes.push_back(assume); // checked before any launch
  });
  // Extents of arguments that must agree are one atom.
  kernel.walk([&](DimOp dim) {
    Value first = extents.lookup({rootView(dim.getView()), dim.getAxis()});
    if (first != dim.getResult())
      equal.try_emplace(dim.getResult(), first);
  });
  for (AssumeOp op : assumes)
    collectDivisors(op.getCond());
  for (AssumeOp op : assumes)
    assume(op.getCond(), true, facts);
}

void IndexFacts::collectDivisors(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    collectDivisors(both.getLhs());
    collectDivisors(both.getRhs());
    return;
  }
  auto cmp = condition.getDefiningOp<arith::CmpIOp>();
  if (!cmp || cmp.getPredicate() != arith::CmpIPredicate::eq || constantOf(cmp.getRhs()) != 0)
    return;
  Operation *rem = cmp.getLhs().getDefiningOp();
  if (!rem || !isa<arith::RemUIOp, arith::RemSIOp>(rem))
    return;
  std::optional<int64_t> divisor = constantOf(rem->getOperand(1));
  if (!divisor || *divisor <= 1 || *divisor > (int64_t(1) << 30))
    return;
  int64_t &all = divisors.try_emplace(rem->getOperand(0), 1).first->second;
  int64_t both = std::lcm(all, *divisor);
  if (both <= (int64_t(1) << 30))
    all = both;
}

void IndexFacts::atMostZero(Sum sum, SmallVectorImpl<Sum> &into) {
  sum.reduce();
  if (!sum.overflow && !sum.terms.empty())
    into.push_back(std::move(sum));
}

void IndexFacts::assume(Value condition, bool holds, SmallVectorImpl<Sum> &into) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>(); both && holds) {
    assume(both.getLhs(), true, into);
    assume(both.getRhs(), true, into);
  } else if (auto either = condition.getDefiningOp<arith::OrIOp>(); either && !holds) {
    assume(either.getLhs(), false, into);
    assume(either.getRhs(), false, into);
  } else if (auto cmp = condition.getDefiningOp<arith::CmpIOp>(); cmp && cmp.getLhs().getType().isIndex()) {
    compare(cmp, holds, into);
  }
}

void IndexFacts::compare(arith::CmpIOp cmp, bool holds, SmallVectorImpl<Sum> &into) {
  using P = arith::CmpIPredicate;
  P predicate = holds ? cmp.getPredicate() : arith::invertPredicate(cmp.getPredicate());
  Sum lhs = sumOf(cmp.getLhs()), rhs = sumOf(cmp.getRhs());
  // less(x, y, k): x - y + k <= 0
  auto less = [&](const Sum &x, const Sum &y, int64_t k) {
    Sum sum = Sum::of(k);
    sum.add(x).add(y, -1);
    atMostZero(sum, into);
  };
  auto unsignedLess = [&](const Sum &x, const Sum &y, int64_t k) {
    // Holds as integers when the larger side is known not to be negative; then the smaller is not either.
    if (!isNonNegative(y, cmp))
      return;
    less(x, y, k);
    less(Sum::of(0), x, 0);
  };
  switch (predicate) {
  case P::eq:
    less(lhs, rhs, 0);
    return less(rhs, lhs, 0);
  case P::slt:
    return less(lhs, rhs, 1);
  case P::sle:
    return less(lhs, rhs, 0);
  case P::sgt:
    return less(rhs, lhs, 1);
  case P::sge:
    return less(rhs, lhs, 0);
  case P::ult:
    return unsignedLess(lhs, rhs, 1);
  case P::ule:
    return unsignedLess(lhs, rhs, 0);
  case P::ugt:
    return unsignedLess(rhs, lhs, 1);
  case P::uge:
    return unsignedLess(rhs, lhs, 0);
  case P::ne:
    return;
  }
}

//===- Values as sums ---------------------------------------------------------===//
/// May arithmetic on it wrap? Extents, ids and loop variables are far from 2^63, and so is what 32 bits hold.
bool IndexFacts::isBounded(Value value) {
  if (constantOf(value))
    return true;
  if (isa<BlockArgument>(value)) {
    Operation *parent = value.getParentBlock()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return value == loop.getInductionVar();
    return isa<LaunchOp, GenericOp>(parent) ||
           parent == kernel.getOperation(); // a device kernel's grid extents
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return op->getOperand(0).getType().getIntOrFloatBitWidth() <= 32;
  if (isa<DimOp>(op))
    return true;
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
          arith::MaxUIOp, arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivUIOp,
          arith::CeilDivSIOp, arith::RemUIOp, arith::RemSIOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value v) { return isBounded(v); });
  return false;
}

Sum IndexFacts::sumOf(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  known[value] = Sum::of(Atom(value, 0)); // until it is known, for values that reach themselves
  Sum sum = compute(value);
  known[value] = sum;
  return sum;
}

std::optional<Sum> IndexFacts::extentOf(Value view, unsigned axis) {
  view = rootView(view);
  auto type = cast<ViewType>(view.getType());
  if (!type.isDynamicExtent(axis))
    return Sum::of(type.getShape()[axis]);
  unsigned position = llvm::count(type.getShape().take_front(axis), ShapedType::kDynamic);
  if (auto make = view.getDefiningOp<MakeViewOp>())
    return sumOf(make.getSizes()[position]);
  if (auto workspace = view.getDefiningOp<WorkspaceOp>())
    return sumOf(workspace.getSizes()[position]);
  Value dim = extents.lookup({view, axis});
  return dim ? std::optional<Sum>(sumOf(dim)) : std::nullopt;
}

Sum IndexFacts::atom(Value value) {
  auto divisor = divisors.find(value);
  if (divisor == divisors.end())
    return Sum::of(Atom(value, 0));
  return Sum::of(Atom(value, divisor->second), divisor->second); // d * (value / d)
}

Sum IndexFacts::compute(Value value) {
  if (Value same = equal.lookup(value))
    if (same != value)
      return sumOf(same);
  if (std::optional<int64_t> constant = constantOf(value))
    return Sum::of(*constant);
  auto notNegative = [&](const Sum &sum) {
    Sum negated = Sum::of(0);
    atMostZero(negated.add(sum, -1), facts);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    Sum self = atom(value);
    auto below = [&](Sum extent) {
      notNegative(self);
      Sum fact = Sum::of(1);
      atMostZero(fact.add(self).add(extent, -1), facts);
    };
    if (auto loop = dyn_cast<scf::ForOp>(parent); loop && argument == loop.getInductionVar())
      return loopVariable(loop);
    if (auto launch = dyn_cast<LaunchOp>(parent); launch && argument.getArgNumber() < launch.getGrid().size())
      below(sumOf(launch.getGrid()[argument.getArgNumber()]));
    if (auto generic = dyn_cast<GenericOp>(parent);
        generic && argument.getArgNumber() < generic.getDomain().size()) {
      unsigned axis = argument.getArgNumber();
      int64_t extent = generic.getDomain()[axis];
      if (ShapedType::isDynamic(extent))
        below(sumOf(
            generic.getExtents()[llvm::count(generic.getDomain().take_front(axis), ShapedType::kDynamic)]));
      else
        below(Sum::of(extent));
    }
    return self;
  }
  Operation *op = value.getDefiningOp();
  if (isa<DimOp>(op)) {
    Sum self = atom(value);
    notNegative(self);
    return self;
  }
  if (auto cast = dyn_cast<arith::IndexCastUIOp>(op)) {
    Sum self = atom(value);
    notNegative(self);
    return self;
  }
  if (!llvm::all_of(op->getOperands(), [&](Value v) { return v.getType().isIndex() && isBounded(v); }))
    return atom(value);
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return sumOf(op->getOperand(0)).add(sumOf(op->getOperand(1)), isa<arith::AddIOp>(op) ? 1 : -1);
  if (isa<arith::MulIOp>(op)) {
    Sum lhs = sumOf(op->getOperand(0)), rhs = sumOf(op->getOperand(1));
    if (lhs.isConstant())
      std::swap(lhs, rhs);
    if (rhs.isConstant())
      return Sum::of(0).add(lhs, rhs.constant);
    return atom(value);
  }
  if (isa<arith::CeilDivUIOp, arith::CeilDivSIOp>(op))
    return quotient(op, /*ceil=*/true);
  if (isa<arith::DivUIOp, arith::FloorDivSIOp>(op))
    return quotient(op, /*ceil=*/false);
  Sum self = atom(value);
  auto order = [&](const Sum &small, const Sum &large) {
    Sum fact = small;
    atMostZero(fact.add(large, -1), facts);
  };
  if (isa<arith::MinSIOp, arith::MinUIOp>(op)) {
    for (Value operand : op->getOperands())
      order(self, sumOf(operand));
    if (llvm::all_of(op->getOperands(), [&](Value operand) { return isNonNegative(sumOf(operand), op); }))
      notNegative(self);
  } else if (isa<arith::MaxSIOp>(op)) {
    for (Value operand : op->getOperands())
      order(sumOf(operand), self);
  } else if (isa<arith::RemUIOp>(op)) {
    if (std::optional<int64_t> divisor = constantOf(op->getOperand(1)); divisor && *divisor > 0) {
      notNegative(self);
      order(self, Sum::of(*divisor - 1));
    }
  }
  return self;
}

/// x / c: exact when x is known to be a multiple, else an atom between its bounds.
Sum IndexFacts::quotient(Operation *op, bool ceil) {
  Sum x = sumOf(op->getOperand(0));
  std::optional<int64_t> divisor = constantOf(op->getOperand(1));
  if (!divisor || *divisor <= 0 || x.overflow)
    return atom(op->getResult(0));
  bool isUnsigned = isa<arith::DivUIOp, arith::CeilDivUIOp>(op);
  if (isUnsigned && !isNonNegative(x, op))
    return atom(op->getResult(0));
  if (x.isDivisibleBy(*divisor))
    return x.dividedBy(*divisor);
  Sum self = atom(op->getResult(0));
  // floor: c*q <= x <= c*q + c-1; ceil: x <= c*q <= x + c-1
  Sum low = Sum::of(ceil ? 0 : -(*divisor - 1)), high = Sum::of(ceil ? -(*divisor - 1) : 0);
  atMostZero(low.add(x).add(self, -*divisor), facts);
  atMostZero(high.add(self, *divisor).add(x, -1), facts);
  return self;
}

Sum IndexFacts::loopVariable(scf::ForOp loop) {
  Sum self = atom(loop.getInductionVar());
  std::optional<int64_t> step = constantOf(loop.getStep());
  if (!step || *step <= 0 || !loop.getInductionVar().getType().isIndex())
    return self;
  Sum lower = sumOf(loop.getLowerBound()), upper = sumOf(loop.getUpperBound());
  Sum fromBelow = lower;
  atMostZero(fromBelow.add(self, -1), facts);
  // The last value is a whole number of steps before the end when the distance is a multiple of the step.
  Sum distance = upper;
  distance.add(lower, -1);
  Sum fromAbove = Sum::of(distance.isDivisibleBy(*step) ? *step : 1);
  atMostZero(fromAbove.add(self).add(upper, -1), facts);
  return self;
}

//===- Proofs -----------------------------------------------------------------===//
/// Conditions of the branches that `at` stands in, and promises made before it in the launch.
void IndexFacts::collectGuards(Operation *at, SmallVectorImpl<Sum> &into) {
  for (Operation *child = at, *parent = at->getParentOp(); parent && parent != kernel;
       child = parent, parent = parent->getParentOp()) {
    if (auto choice = dyn_cast<scf::IfOp>(parent))
      assume(choice.getCondition(), child->getParentRegion() == &choice.getThenRegion(), into);
    if (isa<LaunchOp>(parent))
      for (Operation &op : *child->getBlock()) {
        if (&op == child)
          break;
        if (auto promise = dyn_cast<AssumeOp>(op))
          assume(promise.getCond(), true, into);
      }
  }
}

/// Is everything that the fact mentions in scope at `at`? What holds for the trips of a loop says nothing
/// outside of it.
static bool isVisible(const Sum &fact, Operation *at) {
  return llvm::all_of(fact.terms, [&](auto &term) {
    Value value = term.first.first;
    Region *region = value.getParentRegion();
    return region->isAncestor(at->getParentRegion());
  });
}

bool IndexFacts::proves(const Sum &sum, Operation *at) {
  SmallVector<Sum> usable;
  collectGuards(at, usable);
  llvm::copy_if(facts, std::back_inserter(usable), [&](const Sum &fact) { return isVisible(fact, at); });
  unsigned budget = 2000;
  return search(sum, usable, 10, budget);
}

bool IndexFacts::isNonNegative(const Sum &sum, Operation *at) {
  SmallVector<Sum> usable;
  llvm::copy_if(facts, std::back_inserter(usable), [&](const Sum &fact) { return isVisible(fact, at); });
  Sum negated = Sum::of(0);
  negated.add(sum, -1);
  unsigned budget = 200;
  return search(negated, usable, 6, budget);
}

/// goal <= 0 follows if some fact k <= 0 has an atom with the same sign and |b| goal - |a| k <= 0 follows.
bool IndexFacts::search(Sum goal, ArrayRef<Sum> usable, unsigned depth, unsigned &budget) {
  goal.reduce();
  if (goal.overflow)
    return false;
  if (goal.terms.empty())
    return goal.constant <= 0;
  if (depth == 0 || budget == 0)
    return false;
  --budget;
  for (const Sum &fact : usable)
    for (auto &[atom, a] : goal.terms) {
      auto it = fact.terms.find(atom);
      if (it == fact.terms.end() || (it->second > 0) != (a > 0))
        continue;
      Sum next;
      next.add(goal, std::abs(it->second)).add(fact, -std::abs(a));
      if (!next.overflow && search(next, usable, depth - 1, budget))
        return true;
    }
  return false;
}
