//===- Divisibility.cpp - what index values are known to be multiples of -----===//
#include "Divisibility.h"
#include "LaunchFeatures.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace tilec::tile;

static std::optional<int64_t> constantOf(Value v) {
  APInt c;
  if (matchPattern(v, m_ConstantInt(&c)) && c.getSignificantBits() <= 62)
    return c.getSExtValue();
  return std::nullopt;
}

/// Numbers up to kMost are kept as they are. Of larger ones only their power of two is: to cut a number off
/// would make it a multiple of another.
static constexpr int64_t kMost = int64_t(1) << 30;

static int64_t powerOf2In(int64_t x) { return x & -x; }

static int64_t kept(int64_t x) { return x <= kMost ? x : std::min(kMost, powerOf2In(x)); }

static int64_t product(int64_t a, int64_t b) {
  return a <= kMost / b ? a * b : std::min(kMost, powerOf2In(a) * powerOf2In(b));
}

static int64_t commonMultiple(int64_t a, int64_t b) { return kept(std::lcm(a, b)); }

/// x in `x % c == 0`, signed or not, with floor or truncation: all agree on zero.
static std::optional<std::pair<Value, int64_t>> multipleFact(Value condition) {
  auto cmp = condition.getDefiningOp<arith::CmpIOp>();
  if (!cmp || cmp.getPredicate() != arith::CmpIPredicate::eq || constantOf(cmp.getRhs()) != 0)
    return std::nullopt;
  Operation *rem = cmp.getLhs().getDefiningOp();
  if (!isa_and_nonnull<arith::RemSIOp, arith::RemUIOp>(rem))
    return std::nullopt;
  auto c = constantOf(rem->getOperand(1));
  if (!c || *c <= 0)
    return std::nullopt;
  return std::make_pair(rem->getOperand(0), *c);
}

/// The axes of two views that one symbol names: `dim a == dim b`.
static std::optional<std::pair<DimOp, DimOp>> equalExtents(Value condition) {
  auto cmp = condition.getDefiningOp<arith::CmpIOp>();
  if (!cmp || cmp.getPredicate() != arith::CmpIPredicate::eq)
    return std::nullopt;
  auto x = cmp.getLhs().getDefiningOp<DimOp>(), y = cmp.getRhs().getDefiningOp<DimOp>();
  return x && y ? std::optional(std::pair(x, y)) : std::nullopt;
}

Divisibility::Divisibility(KernelOp kernel, Supposed supposed) {
  SmallVector<std::pair<DimOp, DimOp>> equal;
  auto learn = [&](Value x, int64_t c) {
    auto raise = [&](int64_t &known) { known = commonMultiple(std::max<int64_t>(known, 1), kept(c)); };
    if (auto dim = x.getDefiningOp<DimOp>())
      raise(extents[{rootView(dim.getView()), static_cast<unsigned>(dim.getAxis())}]);
    else if (auto stride = x.getDefiningOp<StrideOp>())
      raise(strides[{rootView(stride.getView()), static_cast<unsigned>(stride.getAxis())}]);
    else
      raise(facts[x]);
  };
  kernel.walk([&](AssumeOp assume) {
    llvm::SmallVector<Value> conditions = {assume.getCond()};
    while (!conditions.empty()) {
      Value c = conditions.pop_back_val();
      if (auto both = c.getDefiningOp<arith::AndIOp>())
        conditions.append({both.getLhs(), both.getRhs()});
      else if (auto fact = multipleFact(c))
        learn(fact->first, fact->second);
      else if (auto pair = equalExtents(c))
        equal.push_back(*pair);
    }
  });
  if (supposed.view)
    extents[{rootView(supposed.view), supposed.axis}] =
        commonMultiple(ofExtent(supposed.view, supposed.axis), supposed.factor);
  // Every round carries a fact at least one equality further.
  bool changed = true;
  for (size_t round = 0; round < equal.size() && std::exchange(changed, false); ++round)
    for (auto [x, y] : equal) {
      int64_t a = ofExtent(x.getView(), x.getAxis()), b = ofExtent(y.getView(), y.getAxis());
      if (a == b)
        continue;
      int64_t both = commonMultiple(a, b);
      learn(x, both);
      learn(y, both);
      changed |= ofExtent(x.getView(), x.getAxis()) != a || ofExtent(y.getView(), y.getAxis()) != b;
    }
}

int64_t Divisibility::of(Value value) const { return compute(value, 0); }

int64_t Divisibility::compute(Value value, unsigned depth) const {
  int64_t known = 1;
  if (auto it = facts.find(value); it != facts.end())
    known = it->second;
  auto best = [&](int64_t other) { return std::max(known, other); };
  if (auto c = constantOf(value))
    return *c == 0 ? kMost : best(kept(std::abs(*c)));
  if (depth > 16)
    return known;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(arg.getOwner()->getParentOp());
    if (loop && arg == loop.getInductionVar())
      return best(std::gcd(compute(loop.getLowerBound(), depth + 1), compute(loop.getStep(), depth + 1)));
    return known;
  }
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) { return compute(op->getOperand(i), depth + 1); };
  if (isa<arith::MulIOp>(op))
    return best(product(operand(0), operand(1)));
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp,
          arith::RemSIOp, arith::RemUIOp>(op))
    return best(std::gcd(operand(0), operand(1)));
  if (isa<arith::SelectOp>(op))
    return best(std::gcd(operand(1), operand(2)));
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return best(operand(0));
  if (auto shift = dyn_cast<arith::ShLIOp>(op))
    if (auto c = constantOf(shift.getRhs()); c && *c >= 0 && *c < 30)
      return best(product(operand(0), int64_t(1) << *c));
  if (auto dim = dyn_cast<DimOp>(op))
    return best(ofExtent(dim.getView(), dim.getAxis()));
  if (auto stride = dyn_cast<StrideOp>(op))
    return best(ofStride(stride.getView(), stride.getAxis()));
  return known;
}

int64_t Divisibility::ofExtent(Value view, unsigned axis) const {
  view = rootView(view);
  int64_t size = cast<ViewType>(view.getType()).getShape()[axis];
  if (!ShapedType::isDynamic(size))
    return size == 0 ? kMost : kept(size);
  auto it = extents.find({view, axis});
  return it == extents.end() ? 1 : it->second;
}

int64_t Divisibility::ofStride(Value view, unsigned axis) const {
  view = rootView(view);
  auto type = cast<ViewType>(view.getType());
  int64_t known = 1;
  if (auto it = strides.find({view, axis}); it != strides.end())
    known = it->second;
  if (int64_t s = type.getStaticStride(axis); !ShapedType::isDynamic(s))
    return s == 0 ? kMost : std::max(known, kept(std::abs(s)));
  if (!type.getStrides().empty())
    return known;
  int64_t all = 1; // row-major: the product of the later extents
  for (unsigned a = axis + 1; a < type.getRank(); ++a)
    all = product(all, ofExtent(view, a));
  return std::max(known, all);
}

int64_t Divisibility::ofAddress(Value view) const {
  int64_t align = getElementTypeOf(view.getType()).getIntOrFloatBitWidth() / 8;
  while (true) {
    align = std::max<int64_t>(align, cast<ViewType>(view.getType()).getAlign());
    auto cast = view.getDefiningOp<RecastViewOp>();
    if (!cast)
      return std::max<int64_t>(align, 1);
    view = cast.getSource();
  }
}

int64_t Divisibility::ofElement(Value view, ValueRange offsets) const {
  int64_t bytes = std::max<int64_t>(1, getElementTypeOf(view.getType()).getIntOrFloatBitWidth() / 8);
  int64_t align = ofAddress(view);
  for (auto [axis, offset] : llvm::enumerate(offsets))
    align = std::gcd(align, product(product(of(offset), ofStride(view, axis)), bytes));
  return align;
}

int64_t Divisibility::ofRows(Value view, ValueRange offsets, ArrayRef<int64_t> extents) const {
  int64_t bytes = std::max<int64_t>(1, getElementTypeOf(view.getType()).getIntOrFloatBitWidth() / 8);
  int64_t align = ofElement(view, offsets);
  for (auto [axis, extent] : llvm::enumerate(extents.drop_back()))
    if (extent > 1)
      align = std::gcd(align, product(ofStride(view, axis), bytes));
  return align;
}

bool Divisibility::startsBox(Value view, ValueRange offsets) const {
  int64_t bytes = std::max<int64_t>(1, getElementTypeOf(view.getType()).getIntOrFloatBitWidth() / 8);
  return offsets.empty() || of(offsets.back()) % (16 / std::gcd<int64_t>(16, bytes)) == 0;
}
