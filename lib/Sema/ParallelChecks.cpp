//===- ParallelChecks.cpp - two iterations that meet in one element (rule 38) ---------===//
//
// Each index is split into a part that is the same in all iterations and a part made of loop variables and
// constants. When the first parts of two accesses are equal, running the loop on paper tells whether two
// iterations meet. What cannot be split this way proves nothing and gives no message.
//
//===----------------------------------------------------------------------===//

#include "Elaborator.h"
#include <map>

using namespace tilec;
using namespace tilec::sema;

namespace {

using Point = llvm::SmallVector<int64_t, 4>;

struct Index {
  llvm::SmallVector<std::pair<const hir::Expr *, bool>, 2>
      fixed; ///< the same in all iterations; true: subtracted
  llvm::SmallVector<std::pair<const hir::Expr *, bool>, 4> varying;
};

struct Access {
  const hir::Object *object;
  llvm::SmallVector<Index, 4> indices;
  bool write;
  hir::Loc loc;
};

class RaceChecker {
public:
  RaceChecker(const hir::Parallel &loop, Context &ctx) : loop(loop), ctx(ctx) {}
  void run();

private:
  void collect(const hir::Block &block);
  void collect(const hir::Stmt *s);
  void collect(const hir::Expr *e);
  void add(const hir::Object *o, llvm::ArrayRef<const hir::Expr *> indices, bool write, hir::Loc loc);
  bool split(const hir::Expr *e, bool negative, Index &out);
  bool usesVars(const hir::Expr *e);
  bool invariant(const hir::Expr *e);
  std::optional<int64_t> evaluate(const hir::Expr *e, const Point &at);
  bool element(const Access &a, const Point &at, Point &out);
  void compare(const Access &write, const Access &other);
  void reportRace(const Access &write, const Access &other, const Point &first, const Point &second);
  bool oneElementEach(const Access &a) const;
  std::vector<Point> points();

  const hir::Parallel &loop;
  Context &ctx;
  std::vector<Access> accesses;
  llvm::DenseSet<const hir::Object *> assigned; ///< scalars of the body
  unsigned conditions = 0;
  bool reported = false;
};

} // namespace

template <typename T> static const T *as(const hir::Expr *e) { return static_cast<const T *>(e); }

//===----------------------------------------------------------------------===//
// Splitting indices
//===----------------------------------------------------------------------===//

bool RaceChecker::usesVars(const hir::Expr *e) {
  switch (e->kind) {
  case hir::Expr::ObjRef:
    return llvm::is_contained(loop.vars, as<hir::ObjRef>(e)->object);
  case hir::Expr::Unary:
    return usesVars(as<hir::Unary>(e)->operand);
  case hir::Expr::Cast:
    return usesVars(as<hir::Cast>(e)->operand);
  case hir::Expr::Binary:
    return usesVars(as<hir::Binary>(e)->lhs) || usesVars(as<hir::Binary>(e)->rhs);
  default:
    return false;
  }
}

/// The same in all iterations: no loop variable, no scalar of the body, no memory.
bool RaceChecker::invariant(const hir::Expr *e) {
  switch (e->kind) {
  case hir::Expr::IntConst:
  case hir::Expr::SymRef:
  case hir::Expr::DimRef:
    return true;
  case hir::Expr::ObjRef: {
    const hir::Object *o = as<hir::ObjRef>(e)->object;
    return !assigned.contains(o) && !llvm::is_contained(loop.vars, o);
  }
  case hir::Expr::Unary:
    return invariant(as<hir::Unary>(e)->operand);
  case hir::Expr::Cast:
    return invariant(as<hir::Cast>(e)->operand);
  case hir::Expr::Binary:
    return invariant(as<hir::Binary>(e)->lhs) && invariant(as<hir::Binary>(e)->rhs);
  default:
    return false;
  }
}

/// Made of loop variables and constants only.
static bool concrete(const hir::Expr *e, const hir::Parallel &loop) {
  switch (e->kind) {
  case hir::Expr::IntConst:
    return e->type == DType::I64;
  case hir::Expr::ObjRef:
    return llvm::is_contained(loop.vars, as<hir::ObjRef>(e)->object);
  case hir::Expr::Binary:
    return e->type == DType::I64 && concrete(as<hir::Binary>(e)->lhs, loop) &&
           concrete(as<hir::Binary>(e)->rhs, loop);
  default:
    return false;
  }
}

bool RaceChecker::split(const hir::Expr *e, bool negative, Index &out) {
  if (invariant(e) && e->kind != hir::Expr::IntConst) {
    out.fixed.push_back({e, negative});
    return true;
  }
  if (concrete(e, loop)) {
    out.varying.push_back({e, negative});
    return true;
  }
  if (e->kind != hir::Expr::Binary || e->type != DType::I64)
    return false;
  auto *b = as<hir::Binary>(e);
  if (b->op != hir::BinaryOp::Add && b->op != hir::BinaryOp::Sub)
    return false;
  return split(b->lhs, negative, out) && split(b->rhs, negative != (b->op == hir::BinaryOp::Sub), out);
}

std::optional<int64_t> RaceChecker::evaluate(const hir::Expr *e, const Point &at) {
  if (auto c = constantOf(e))
    return c;
  if (e->kind == hir::Expr::ObjRef)
    return at[llvm::find(loop.vars, as<hir::ObjRef>(e)->object) - loop.vars.begin()];
  auto *b = as<hir::Binary>(e);
  auto x = evaluate(b->lhs, at), y = x ? evaluate(b->rhs, at) : std::nullopt;
  constexpr int64_t limit = int64_t(1) << 30; // products stay exact
  if (!y || *x > limit || *x < -limit || *y > limit || *y < -limit)
    return std::nullopt;
  int64_t q = 0;
  switch (b->op) {
  case hir::BinaryOp::Add:
    return *x + *y;
  case hir::BinaryOp::Sub:
    return *x - *y;
  case hir::BinaryOp::Mul:
    return *x * *y;
  case hir::BinaryOp::FloorDiv:
  case hir::BinaryOp::Mod:
    if (*y == 0)
      return std::nullopt;
    q = *x / *y - ((*x % *y != 0) && ((*x < 0) != (*y < 0)));
    return b->op == hir::BinaryOp::FloorDiv ? q : *x - q * *y;
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

void RaceChecker::add(const hir::Object *o, llvm::ArrayRef<const hir::Expr *> indices, bool write,
                      hir::Loc loc) {
  if (conditions)
    return;
  Access a{o, {}, write, loc};
  for (const hir::Expr *e : indices) {
    a.indices.emplace_back();
    if (!split(e, false, a.indices.back()))
      return;
  }
  accesses.push_back(std::move(a));
}

void RaceChecker::collect(const hir::Expr *e) {
  switch (e->kind) {
  case hir::Expr::Unary:
    return collect(as<hir::Unary>(e)->operand);
  case hir::Expr::Cast:
    return collect(as<hir::Cast>(e)->operand);
  case hir::Expr::Binary:
    collect(as<hir::Binary>(e)->lhs);
    return collect(as<hir::Binary>(e)->rhs);
  case hir::Expr::Compare:
    collect(as<hir::Compare>(e)->lhs);
    return collect(as<hir::Compare>(e)->rhs);
  case hir::Expr::Logical:
    return collect(as<hir::Logical>(e)->lhs); // the right side may not be evaluated
  case hir::Expr::Select: {
    auto *s = as<hir::Select>(e);
    collect(s->cond);
    if (s->lazy)
      return;
    collect(s->onTrue);
    return collect(s->onFalse);
  }
  case hir::Expr::Math:
    for (const hir::Expr *a : as<hir::Math>(e)->args)
      collect(a);
    return;
  case hir::Expr::Element: {
    auto *x = as<hir::Element>(e);
    for (const hir::Expr *i : x->indices)
      collect(i);
    return add(x->object, x->indices, false, e->loc);
  }
  default:
    return;
  }
}

void RaceChecker::collect(const hir::Stmt *s) {
  switch (s->kind) {
  case hir::Stmt::Assign:
    return collect(static_cast<const hir::Assign *>(s)->value);
  case hir::Stmt::StoreElement: {
    auto *store = static_cast<const hir::StoreElement *>(s);
    for (const hir::Expr *i : store->indices)
      collect(i);
    collect(store->value);
    return add(store->object, store->indices, true, s->loc);
  }
  case hir::Stmt::If: {
    auto *i = static_cast<const hir::If *>(s);
    collect(i->cond);
    ++conditions;
    collect(i->thenBody);
    collect(i->elseBody);
    --conditions;
    return;
  }
  case hir::Stmt::For: // may run zero times, and its variable is no loop variable of the nest
    ++conditions;
    collect(static_cast<const hir::For *>(s)->body);
    --conditions;
    return;
  case hir::Stmt::Continue:
    ++conditions; // what follows runs in some iterations only; never undone
    return;
  default:
    return;
  }
}

void RaceChecker::collect(const hir::Block &block) {
  for (const hir::Stmt *s : block)
    collect(s);
}

static void collectScalars(const hir::Block &block, llvm::DenseSet<const hir::Object *> &out) {
  for (const hir::Stmt *s : block) {
    if (s->kind == hir::Stmt::Assign)
      out.insert(static_cast<const hir::Assign *>(s)->var);
    if (s->kind == hir::Stmt::If) {
      collectScalars(static_cast<const hir::If *>(s)->thenBody, out);
      collectScalars(static_cast<const hir::If *>(s)->elseBody, out);
    }
    if (s->kind == hir::Stmt::For) {
      out.insert(static_cast<const hir::For *>(s)->var);
      collectScalars(static_cast<const hir::For *>(s)->body, out);
    }
  }
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static bool sameFixed(const Access &a, const Access &b) {
  for (unsigned i = 0; i < a.indices.size(); ++i) {
    auto &x = a.indices[i].fixed, &y = b.indices[i].fixed;
    if (x.size() != y.size())
      return false;
    for (unsigned j = 0; j < x.size(); ++j)
      if (x[j].second != y[j].second || !sameExpr(x[j].first, y[j].first))
        return false;
  }
  return true;
}

bool RaceChecker::element(const Access &a, const Point &at, Point &out) {
  for (const Index &index : a.indices) {
    int64_t sum = 0;
    for (auto [e, negative] : index.varying) {
      auto v = evaluate(e, at);
      if (!v)
        return false;
      sum += negative ? -*v : *v;
    }
    out.push_back(sum);
  }
  return true;
}

/// Iterations to look at: all of them when they are few, else a corner.
std::vector<Point> RaceChecker::points() {
  constexpr int64_t most = 4096;
  Point extents;
  for (const hir::Expr *e : loop.extents) {
    auto n = constantOf(e);
    if (!n || *n < 1)
      return {};
    extents.push_back(*n);
  }
  // Shrink the largest extent until the corner is small enough.
  auto volume = [&] {
    __int128 v = 1;
    for (int64_t n : extents)
      v *= n;
    return v;
  };
  while (volume() > most) {
    auto largest = std::max_element(extents.begin(), extents.end());
    *largest = (*largest + 1) / 2;
  }
  std::vector<Point> result;
  Point at(extents.size(), 0);
  while (true) {
    result.push_back(at);
    unsigned axis = at.size();
    while (axis > 0 && ++at[axis - 1] == extents[axis - 1])
      at[--axis] = 0;
    if (axis == 0)
      return result;
  }
}

static std::string pointText(const Point &p, llvm::ArrayRef<const hir::VarObj *> vars) {
  std::string out;
  for (unsigned i = 0; i < p.size(); ++i)
    out += (i ? ", " : "") + vars[i]->name + " = " + std::to_string(p[i]);
  return out;
}

void RaceChecker::reportRace(const Access &write, const Access &other, const Point &first,
                             const Point &second) {
  reported = true;
  ctx.sink
      .report(other.write ? diag::E0247 : diag::E0248, ctx.range(write.loc), write.object->name,
              pointText(first, loop.vars), pointText(second, loop.vars))
      .note(ctx.range(other.loc), other.write ? "written again here" : "read here");
}

/// Each loop variable is an index of its own, as in `t[i, j]`: every iteration has its own element.
bool RaceChecker::oneElementEach(const Access &a) const {
  llvm::DenseSet<const hir::Object *> seen;
  for (const Index &index : a.indices)
    if (index.varying.size() == 1 && index.varying[0].first->kind == hir::Expr::ObjRef)
      seen.insert(as<hir::ObjRef>(index.varying[0].first)->object);
  return llvm::all_of(loop.vars, [&](const hir::VarObj *v) { return seen.contains(v); });
}

static bool sameElement(const Access &a, const Access &b) {
  for (unsigned i = 0; i < a.indices.size(); ++i) {
    auto &x = a.indices[i].varying, &y = b.indices[i].varying;
    if (x.size() != y.size())
      return false;
    for (unsigned j = 0; j < x.size(); ++j)
      if (x[j].second != y[j].second || !sameExpr(x[j].first, y[j].first))
        return false;
  }
  return true;
}

void RaceChecker::compare(const Access &write, const Access &other) {
  if (reported || write.object != other.object || !sameFixed(write, other))
    return;
  bool self = &write == &other;
  // In one iteration both are one element: then the write's own check says all there is to say.
  if (self ? oneElementEach(write) : sameElement(write, other))
    return;
  std::vector<Point> all = points();
  if (ctx.raceWork + 2 * all.size() > Context::maxRaceWork)
    return;
  ctx.raceWork += 2 * all.size();
  std::map<Point, Point> writers;
  for (const Point &at : all) {
    Point where;
    if (!element(write, at, where))
      return;
    auto [it, fresh] = writers.try_emplace(where, at);
    if (!fresh && self)
      return reportRace(write, other, it->second, at);
  }
  if (self)
    return;
  for (const Point &at : all) {
    Point where;
    if (!element(other, at, where))
      return;
    auto it = writers.find(where);
    if (it != writers.end() && it->second != at)
      return reportRace(write, other, it->second, at);
  }
}

void RaceChecker::run() {
  collectScalars(loop.body, assigned);
  collect(loop.body);
  constexpr size_t most = 24; // accesses of one loop that are compared with each other
  size_t n = std::min(accesses.size(), most);
  for (size_t i = 0; i < n; ++i)
    if (accesses[i].write)
      for (size_t j = 0; j < n; ++j)
        if (!accesses[j].write || j >= i)
          compare(accesses[i], accesses[j]);
}

void tilec::sema::checkRaces(const hir::Parallel &loop, Context &ctx) { RaceChecker(loop, ctx).run(); }
