//===- Linear.cpp - sums of multiples: differences of index expressions ---------------===//
//
// `A[i0 : i0 + BM]` has the extent BM for whatever i0 is. Index arithmetic is exact in the language, so int64
// expressions may be treated as sums of integer multiples of what cannot be taken apart. So may narrower
// ints: a slice whose bounds would wrap is its start and that constant extent.
//
//===----------------------------------------------------------------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

static bool same(const hir::Expr *a, const hir::Expr *b, unsigned &budget);

static bool sameList(llvm::ArrayRef<const hir::Expr *> a, llvm::ArrayRef<const hir::Expr *> b,
                     unsigned &budget) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i], budget))
      return false;
  return true;
}

template <typename T> static const T *as(const hir::Expr *e) { return static_cast<const T *>(e); }

static bool same(const hir::Expr *a, const hir::Expr *b, unsigned &budget) {
  if (a == b)
    return true;
  if (a->kind != b->kind || a->type != b->type || budget == 0)
    return false;
  --budget;
  switch (a->kind) {
  case hir::Expr::IntConst:
    return as<hir::IntConst>(a)->value == as<hir::IntConst>(b)->value;
  case hir::Expr::FloatConst:
    return as<hir::FloatConst>(a)->value == as<hir::FloatConst>(b)->value;
  case hir::Expr::BoolConst:
    return as<hir::BoolConst>(a)->value == as<hir::BoolConst>(b)->value;
  case hir::Expr::ObjRef:
    return as<hir::ObjRef>(a)->object == as<hir::ObjRef>(b)->object;
  case hir::Expr::SymRef:
    return as<hir::SymRef>(a)->symbol == as<hir::SymRef>(b)->symbol;
  case hir::Expr::DimRef: {
    auto *x = as<hir::DimRef>(a), *y = as<hir::DimRef>(b);
    return x->tensor == y->tensor && x->axis == y->axis && x->stride == y->stride;
  }
  case hir::Expr::Unary:
    return as<hir::Unary>(a)->op == as<hir::Unary>(b)->op &&
           same(as<hir::Unary>(a)->operand, as<hir::Unary>(b)->operand, budget);
  case hir::Expr::Binary: {
    auto *x = as<hir::Binary>(a), *y = as<hir::Binary>(b);
    return x->op == y->op && same(x->lhs, y->lhs, budget) && same(x->rhs, y->rhs, budget);
  }
  case hir::Expr::Cast:
    return as<hir::Cast>(a)->saturate == as<hir::Cast>(b)->saturate &&
           same(as<hir::Cast>(a)->operand, as<hir::Cast>(b)->operand, budget);
  case hir::Expr::Element: {
    auto *x = as<hir::Element>(a), *y = as<hir::Element>(b);
    return x->object == y->object && sameList(x->indices, y->indices, budget);
  }
  default:
    return false;
  }
}

bool tilec::sema::sameExpr(const hir::Expr *a, const hir::Expr *b) {
  unsigned budget = 512;
  return same(a, b, budget);
}

static void countNodes(const hir::Expr *e, unsigned &left) {
  if (left == 0)
    return;
  --left;
  auto all = [&](llvm::ArrayRef<const hir::Expr *> operands) {
    for (const hir::Expr *x : operands)
      countNodes(x, left);
  };
  switch (e->kind) {
  case hir::Expr::Unary:
    return all(as<hir::Unary>(e)->operand);
  case hir::Expr::Cast:
    return all(as<hir::Cast>(e)->operand);
  case hir::Expr::Binary:
    return all({as<hir::Binary>(e)->lhs, as<hir::Binary>(e)->rhs});
  case hir::Expr::Compare:
    return all({as<hir::Compare>(e)->lhs, as<hir::Compare>(e)->rhs});
  case hir::Expr::Logical:
    return all({as<hir::Logical>(e)->lhs, as<hir::Logical>(e)->rhs});
  case hir::Expr::Select:
    return all({as<hir::Select>(e)->cond, as<hir::Select>(e)->onTrue, as<hir::Select>(e)->onFalse});
  case hir::Expr::Math:
    return all(as<hir::Math>(e)->args);
  case hir::Expr::Element:
    return all(as<hir::Element>(e)->indices);
  default:
    return;
  }
}

bool tilec::sema::largerThan(const hir::Expr *e, unsigned limit) {
  unsigned left = limit + 1;
  countNodes(e, left);
  return left == 0;
}

std::optional<int64_t> tilec::sema::constantOf(const hir::Expr *e) {
  if (e->kind != hir::Expr::IntConst)
    return std::nullopt;
  const llvm::APInt &v = as<hir::IntConst>(e)->value;
  if (isSigned(e->type))
    return v.getSExtValue();
  return v.isSignBitSet() && v.getBitWidth() == 64 ? std::nullopt : std::optional<int64_t>(v.getZExtValue());
}

namespace {
struct Linear {
  llvm::SmallVector<std::pair<const hir::Expr *, __int128>, 8> terms;
  __int128 constant = 0;
  unsigned budget = 256;
  bool ok = true;

  void add(const hir::Expr *e, __int128 factor);

private:
  void addTerm(const hir::Expr *e, __int128 factor);
};
} // namespace

void Linear::addTerm(const hir::Expr *e, __int128 factor) {
  for (auto &term : terms)
    if (sameExpr(term.first, e)) {
      term.second += factor;
      return;
    }
  terms.push_back({e, factor});
}

/// What a conversion to an int type that holds all values of its operand converts.
static const hir::Expr *unwidened(const hir::Expr *e) {
  while (e->kind == hir::Expr::Cast) {
    const hir::Expr *x = as<hir::Cast>(e)->operand;
    bool widens = isInteger(x->type) && isInteger(e->type) && dtypeBits(x->type) < dtypeBits(e->type) &&
                  (isSigned(e->type) || !isSigned(x->type));
    if (!widens)
      break;
    e = x;
  }
  return e;
}

void Linear::add(const hir::Expr *e, __int128 factor) {
  e = unwidened(e);
  bool exact = isInteger(e->type) && e->type != DType::U64;
  constexpr __int128 limit = static_cast<__int128>(1) << 100;
  if (budget == 0 || factor > limit || factor < -limit) {
    ok = false;
    return;
  }
  --budget;
  if (auto c = constantOf(e); c && exact) {
    constant += factor * *c;
    return;
  }
  if (exact && e->kind == hir::Expr::Unary && as<hir::Unary>(e)->op == hir::UnaryOp::Neg)
    return add(as<hir::Unary>(e)->operand, -factor);
  if (exact && e->kind == hir::Expr::Binary) {
    auto *b = as<hir::Binary>(e);
    auto l = constantOf(b->lhs), r = constantOf(b->rhs);
    switch (b->op) {
    case hir::BinaryOp::Add:
      add(b->lhs, factor);
      return add(b->rhs, factor);
    case hir::BinaryOp::Sub:
      add(b->lhs, factor);
      return add(b->rhs, -factor);
    case hir::BinaryOp::Mul:
      if (r)
        return add(b->lhs, factor * *r);
      if (l)
        return add(b->rhs, factor * *l);
      break;
    default:
      break;
    }
  }
  addTerm(e, factor);
}

std::optional<int64_t> tilec::sema::constantDifference(const hir::Expr *a, const hir::Expr *b) {
  Linear sum;
  sum.add(b, 1);
  sum.add(a, -1);
  if (!sum.ok || sum.constant > INT64_MAX || sum.constant < INT64_MIN)
    return std::nullopt;
  for (auto &term : sum.terms)
    if (term.second != 0)
      return std::nullopt;
  return static_cast<int64_t>(sum.constant);
}
