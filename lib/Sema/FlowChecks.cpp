//===- FlowChecks.cpp - never-written tiles, indices that must be outside -------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

//===----------------------------------------------------------------------===//
// Written before read (rule 51)
//===----------------------------------------------------------------------===//

void Elaborator::noteWrite(const hir::Object *o, SourceRange where) {
  if (isTensorKind(o->kind)) {
    usedTensors.insert(o);
    return;
  }
  for (Loop *loop : loops)
    loop->written.insert(o);
  flow.setTile(o->id, Written::Yes);
}

void Elaborator::noteRead(const hir::Object *o, SourceRange where) {
  if (isTensorKind(o->kind)) {
    usedTensors.insert(o);
    return;
  }
  switch (flow.tile(o->id)) {
  case Written::Yes:
    return;
  case Written::Maybe:
    return uninitialized(o, where, false);
  case Written::No:
    break;
  }
  // A later trip of a loop around both the tile's uses may read what an earlier one has written.
  for (size_t i = allocDepth.lookup(o); i < loops.size(); ++i)
    if (loops[i]->kind == Loop::Runtime) {
      loops[i]->pending.push_back({o, where});
      return;
    }
  uninitialized(o, where, true);
}

void Elaborator::uninitialized(const hir::Object *o, SourceRange where, bool provable) {
  report(provable ? diag::E0222 : diag::W0202, where, o->name)
      .note(declared.lookup(o), "`{0}` is allocated here; `clear({0})` or `fill({0}, value)` sets all of it",
            o->name);
}

//===----------------------------------------------------------------------===//
// Outside a tile
//===----------------------------------------------------------------------===//

namespace {
struct Range {
  __int128 low, high;
};
using Ranges = llvm::DenseMap<const hir::VarObj *, std::pair<int64_t, int64_t>>;

/// The values an index takes while the constant loops around it run: exact, or nothing. Each loop variable
/// may occur once, so that low and high are both reached.
class RangeFinder {
public:
  explicit RangeFinder(const Ranges &ranges) : ranges(ranges) {}
  std::optional<Range> find(const hir::Expr *e);

private:
  const Ranges &ranges;
  llvm::SmallVector<const hir::VarObj *, 4> seen;
};
} // namespace

std::optional<Range> RangeFinder::find(const hir::Expr *e) {
  if (auto c = constantOf(e))
    return Range{*c, *c};
  if (e->type != DType::I64)
    return std::nullopt;
  if (e->kind == hir::Expr::ObjRef) {
    auto *o = static_cast<const hir::ObjRef *>(e)->object;
    if (o->kind != hir::Object::LoopVar)
      return std::nullopt;
    auto *var = static_cast<const hir::VarObj *>(o);
    auto it = ranges.find(var);
    if (it == ranges.end() || llvm::is_contained(seen, var))
      return std::nullopt;
    seen.push_back(var);
    return Range{it->second.first, it->second.second};
  }
  if (e->kind != hir::Expr::Binary)
    return std::nullopt;
  auto *b = static_cast<const hir::Binary *>(e);
  auto x = find(b->lhs), y = x ? find(b->rhs) : std::nullopt;
  constexpr __int128 limit = static_cast<__int128>(1) << 60;
  if (!y || x->high > limit || x->low < -limit || y->high > limit || y->low < -limit)
    return std::nullopt;
  switch (b->op) {
  case hir::BinaryOp::Add:
    return Range{x->low + y->low, x->high + y->high};
  case hir::BinaryOp::Sub:
    return Range{x->low - y->high, x->high - y->low};
  case hir::BinaryOp::Mul:
    if (x->low == x->high)
      std::swap(*x, *y);
    if (y->low != y->high)
      return std::nullopt;
    return y->low >= 0 ? Range{x->low * y->low, x->high * y->low} : Range{x->high * y->low, x->low * y->low};
  default:
    return std::nullopt;
  }
}

static std::string rangeText(Range r) {
  std::string low = std::to_string(static_cast<int64_t>(r.low));
  return r.low == r.high ? low : low + " to " + std::to_string(static_cast<int64_t>(r.high));
}

/// Only what is certain to execute can be wrong for certain.
static bool certain(unsigned conditional, unsigned lazyDepth, bool jumped) {
  return conditional == 0 && lazyDepth == 0 && !jumped;
}

void Elaborator::checkElementBounds(const hir::Object *o, llvm::ArrayRef<const hir::Expr *> indices,
                                    SourceRange where) {
  bool jumped = false;
  for (Loop *loop : loops)
    jumped |= !loop->breaks.empty() || !loop->continues.empty();
  if (!isTileKind(o->kind) || !certain(conditional, lazyDepth, jumped))
    return;
  llvm::ArrayRef<int64_t> shape = static_cast<const hir::TileObj *>(o)->shape;
  for (unsigned axis = 0; axis < indices.size(); ++axis) {
    auto r = RangeFinder(ranges).find(indices[axis]);
    if (!r || (r->low >= 0 && r->high < shape[axis]))
      continue;
    report(diag::E0230, where, rangeText(*r), axis, o->name, shapeText(shape))
        .note(declared.lookup(o), "`{0}` is allocated here", o->name);
    return;
  }
}

void Elaborator::checkRegionBounds(const hir::Region &r) {
  bool jumped = false;
  for (Loop *loop : loops)
    jumped |= !loop->breaks.empty() || !loop->continues.empty();
  if (!isTileKind(r.object->kind) || !certain(conditional, lazyDepth, jumped))
    return;
  llvm::ArrayRef<int64_t> shape = static_cast<const hir::TileObj *>(r.object)->shape;
  for (unsigned axis = 0; axis < r.offsets.size(); ++axis) {
    auto at = RangeFinder(ranges).find(r.offsets[axis]);
    if (!at || (at->low >= 0 && at->high + r.extents[axis] <= shape[axis]))
      continue;
    SourceRange where = ctx.range(r.loc);
    report(diag::E0230, where, rangeText({at->low, at->high + r.extents[axis] - 1}), axis, r.object->name,
           shapeText(shape))
        .note(declared.lookup(r.object), "`{0}` is allocated here", r.object->name);
    return;
  }
}
