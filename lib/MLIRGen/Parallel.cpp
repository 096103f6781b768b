//===- Parallel.cpp - a Parallel nest -> tile.generic ------------------------===//
//
// One generic per nest: fragments written at an injective map are its outs, everything else is an element
// access in the body (tile-promote-elements turns the regular ones into operands). Two maps into one fragment
// split the body in source order; a write that no map describes runs on a copy in shared memory.
//
//===----------------------------------------------------------------------===//
#include "KernelGen.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::mlirgen;
using namespace tilec::tile;

//===- Linear forms ---------------------------------------------------------------===//
std::optional<int> Linear::unitVariable() const {
  int found = -1;
  for (auto [k, coeff] : llvm::enumerate(coeffs)) {
    if (coeff == 0)
      continue;
    if (coeff != 1 || found >= 0)
      return std::nullopt;
    found = k;
  }
  return found;
}

static std::optional<Linear> scaled(Linear form, int64_t factor) {
  for (int64_t &coeff : form.coeffs)
    if (llvm::MulOverflow(coeff, factor, coeff))
      return std::nullopt;
  if (llvm::MulOverflow(form.constant, factor, form.constant))
    return std::nullopt;
  return form;
}

static std::optional<Linear> sum(Linear lhs, const Linear &rhs) {
  for (auto [left, right] : llvm::zip(lhs.coeffs, rhs.coeffs))
    if (llvm::AddOverflow(left, right, left))
      return std::nullopt;
  if (llvm::AddOverflow(lhs.constant, rhs.constant, lhs.constant))
    return std::nullopt;
  return lhs;
}

static bool isConstant(const Linear &form) {
  return llvm::all_of(form.coeffs, [](int64_t coeff) { return coeff == 0; });
}

/// `e` as a sum of the nest's variables with compile-time coefficients.
std::optional<Linear> KernelGen::linear(const hir::Expr *e, const Nest &nest) const {
  Linear form;
  form.coeffs.assign(nest.vars.size(), 0);
  if (std::optional<int64_t> constant = constantOf(e)) {
    form.constant = *constant;
    return form;
  }
  if (e->kind == hir::Expr::ObjRef) {
    auto *object = static_cast<const hir::ObjRef *>(e)->object;
    auto var = llvm::find(nest.vars, object);
    if (var != nest.vars.end()) {
      form.coeffs[var - nest.vars.begin()] = 1;
      return form;
    }
    auto scalar = nest.scalarForms.find(object);
    if (scalar == nest.scalarForms.end())
      return std::nullopt;
    return scalar->second.front();
  }
  if (e->kind == hir::Expr::Cast && static_cast<const hir::Cast *>(e)->operand->type == DType::I32 &&
      e->type == DType::I64)
    return linear(static_cast<const hir::Cast *>(e)->operand, nest);
  if (e->kind != hir::Expr::Binary)
    return std::nullopt;
  auto *binary = static_cast<const hir::Binary *>(e);
  auto lhs = linear(binary->lhs, nest), rhs = linear(binary->rhs, nest);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (binary->op) {
  case hir::BinaryOp::Add:
    return sum(*lhs, *rhs);
  case hir::BinaryOp::Sub: {
    auto negated = scaled(*rhs, -1);
    return negated ? sum(*lhs, *negated) : std::nullopt;
  }
  case hir::BinaryOp::Mul:
    if (isConstant(*rhs))
      return scaled(*lhs, rhs->constant);
    return isConstant(*lhs) ? scaled(*rhs, lhs->constant) : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<LinearMap> KernelGen::linearMap(ArrayRef<const hir::Expr *> indices, const Nest &nest) const {
  LinearMap map;
  for (const hir::Expr *index : indices) {
    std::optional<Linear> form = linear(index, nest);
    if (!form)
      return std::nullopt;
    map.push_back(*form);
  }
  return map;
}

AffineMap KernelGen::affineMap(const LinearMap &map, unsigned dims) {
  SmallVector<AffineExpr> results;
  for (const Linear &form : map) {
    AffineExpr result = b.getAffineConstantExpr(form.constant);
    for (auto [k, coeff] : llvm::enumerate(form.coeffs))
      if (coeff)
        result = b.getAffineDimExpr(k) * coeff + result;
    results.push_back(result);
  }
  return AffineMap::get(dims, 0, results, b.getContext());
}

/// May a generic write a fragment at this map: every iteration another element, all of them inside?
bool KernelGen::isOutMap(const LinearMap &map, const hir::TileObj *fragment, const Nest &nest) const {
  llvm::SmallBitVector seen(nest.vars.size());
  for (auto [form, extent] : llvm::zip(map, fragment->shape)) {
    std::optional<int> var = form.unitVariable();
    if (!var)
      return false;
    if (*var < 0) {
      if (form.constant < 0 || form.constant >= extent)
        return false;
      continue;
    }
    if (seen.test(*var))
      return false;
    seen.set(*var);
    int64_t trips = nest.domain[*var];
    // A run-time extent cannot exceed what the fragment holds.
    if (form.constant < 0 || (!ShapedType::isDynamic(trips) && form.constant + trips > extent))
      return false;
  }
  for (unsigned k = 0; k < nest.vars.size(); ++k)
    if (!seen.test(k) && nest.domain[k] != 1)
      return false;
  return true;
}

//===- Analysis -------------------------------------------------------------------===//
/// Nests inside nests with only scalars between them are one nest; their extents must not depend on the outer
/// variables.
void KernelGen::flatten(const hir::Parallel *stmt, Nest &nest) {
  nest.stmt = stmt;
  nest.vars = stmt->vars;
  nest.extentExprs = stmt->extents;
  nest.body = stmt->body;
  while (!nest.body.empty() && nest.body.back()->kind == hir::Stmt::Parallel) {
    auto *inner = static_cast<const hir::Parallel *>(nest.body.back());
    auto before = ArrayRef(nest.body).drop_back();
    if (!llvm::all_of(before, [](const hir::Stmt *s) { return s->kind == hir::Stmt::Assign; }))
      return;
    bool depends = false;
    for (const hir::Expr *extent : inner->extents)
      depends |= !constantOf(extent); // a run-time extent might use a variable or scalar of the nest
    if (depends)
      return;
    nest.body.pop_back();
    llvm::append_range(nest.vars, inner->vars);
    llvm::append_range(nest.extentExprs, inner->extents);
    llvm::append_range(nest.body, inner->body);
  }
}

/// False when no iteration runs.
bool KernelGen::evaluateDomain(Nest &nest) {
  for (const hir::Expr *extent : nest.extentExprs) {
    if (std::optional<int64_t> constant = constantOf(extent)) {
      if (*constant <= 0)
        return false;
      nest.domain.push_back(*constant);
      continue;
    }
    nest.domain.push_back(ShapedType::kDynamic);
    nest.extents.push_back(s.atLeastZero(indexExpr(extent)));
  }
  return true;
}

/// Private scalars with one assignment, at the top of the body: their linear forms, and which of them read
/// nothing.
void KernelGen::analyzeScalars(Nest &nest) {
  llvm::DenseMap<const hir::Object *, unsigned> assignments;
  forEachStmt(nest.body, [&](const hir::Stmt *stmt) {
    if (stmt->kind == hir::Stmt::Assign)
      ++assignments[static_cast<const hir::Assign *>(stmt)->var];
  });
  for (const hir::Stmt *stmt : nest.body) {
    if (stmt->kind != hir::Stmt::Assign)
      continue;
    auto *assign = static_cast<const hir::Assign *>(stmt);
    if (assignments.lookup(assign->var) != 1)
      continue;
    if (isInteger(assign->var->dtype))
      if (std::optional<Linear> form = linear(assign->value, nest))
        nest.scalarForms[assign->var] = {*form};
    bool reads = false;
    forEachExpr(assign->value, [&](const hir::Expr *part) {
      reads |= part->kind == hir::Expr::Element;
      if (part->kind != hir::Expr::ObjRef)
        return;
      const hir::Object *object = static_cast<const hir::ObjRef *>(part)->object;
      reads |= assignments.contains(object) && !nest.recomputable.contains(object);
    });
    if (!reads)
      nest.recomputable.insert(assign->var);
  }
}

/// The maps at which `stmts` write each fragment; an empty map where none describes the write.
llvm::MapVector<const hir::Object *, SmallVector<LinearMap>> KernelGen::writesOf(Stmts stmts,
                                                                                 const Nest &nest) const {
  llvm::MapVector<const hir::Object *, SmallVector<LinearMap>> writes;
  forEachStmt(stmts, [&](const hir::Stmt *stmt) {
    if (stmt->kind != hir::Stmt::StoreElement)
      return;
    auto *store = static_cast<const hir::StoreElement *>(stmt);
    if (store->object->kind != hir::Object::Fragment)
      return;
    std::optional<LinearMap> map = linearMap(store->indices, nest);
    if (!map || !isOutMap(*map, static_cast<const hir::TileObj *>(store->object), nest))
      map = LinearMap();
    SmallVector<LinearMap> &known = writes[store->object];
    if (!llvm::is_contained(known, *map))
      known.push_back(*map);
  });
  return writes;
}

/// Which fragments cannot be outs: no map, two maps in one statement, or a second map where the body cannot
/// be split.
void KernelGen::chooseSharedCopies(Nest &nest) {
  bool splittable = !nest.isDynamic() && !findJumps(nest.body).any;
  for (const hir::Stmt *stmt : nest.body) {
    for (auto &[fragment, maps] : writesOf(stmt, nest))
      if (maps.size() > 1 || maps.front().empty())
        nest.viaShared.insert(fragment);
  }
  forEachStmt(nest.body, [&](const hir::Stmt *stmt) {
    if (stmt->kind == hir::Stmt::Alloc)
      splittable &= static_cast<const hir::Alloc *>(stmt)->object->kind != hir::Object::Local;
  });
  if (splittable)
    return;
  for (auto &[fragment, maps] : writesOf(nest.body, nest))
    if (maps.size() > 1)
      nest.viaShared.insert(fragment);
}

/// Statements in order, cut where a fragment would be written at a second map.
std::vector<KernelGen::Group> KernelGen::groupsOf(Nest &nest) {
  std::vector<Group> groups(1);
  for (const hir::Stmt *stmt : nest.body) {
    auto writes = writesOf(stmt, nest);
    bool conflicts = llvm::any_of(writes, [&](auto &write) {
      auto known = groups.back().outs.find(write.first);
      return !nest.viaShared.contains(write.first) && known != groups.back().outs.end() &&
             known->second != write.second.front();
    });
    if (conflicts)
      groups.emplace_back();
    groups.back().stmts.push_back(stmt);
    for (auto &[fragment, maps] : writes)
      if (!nest.viaShared.contains(fragment))
        groups.back().outs.insert({fragment, maps.front()});
  }
  if (groups.size() > 1)
    planSpills(groups, nest);
  return groups;
}

/// What later groups read of the scalars of earlier ones: computed again if that reads nothing, else kept in
/// a tile.
void KernelGen::planSpills(std::vector<Group> &groups, const Nest &nest) {
  SmallVector<const hir::Stmt *> again;
  for (size_t i = 0; i < groups.size(); ++i) {
    SmallVector<const hir::Stmt *> own = groups[i].stmts;
    groups[i].stmts.insert(groups[i].stmts.begin(), again.begin(), again.end());
    UseCounts later;
    for (size_t j = i + 1; j < groups.size(); ++j)
      countUses(groups[j].stmts, later);
    llvm::SetVector<const hir::VarObj *> assigned;
    forEachStmt(own, [&](const hir::Stmt *stmt) {
      if (stmt->kind == hir::Stmt::Assign)
        assigned.insert(static_cast<const hir::Assign *>(stmt)->var);
    });
    for (const hir::VarObj *var : assigned)
      if (later.lookup(var) && !nest.recomputable.contains(var))
        groups[i].spills.push_back(var);
    for (const hir::Stmt *stmt : own)
      if (stmt->kind == hir::Stmt::Assign &&
          nest.recomputable.contains(static_cast<const hir::Assign *>(stmt)->var))
        again.push_back(stmt);
  }
}

//===- Translation ------------------------------------------------------------------===//
void KernelGen::parallel(const hir::Parallel *stmt) {
  if (nest) // not directly nested: the iterations of the inner loop run one after another
    return serialNest(stmt, 0);
  Nest current;
  flatten(stmt, current);
  if (!evaluateDomain(current))
    return;
  analyzeScalars(current);
  chooseSharedCopies(current);
  std::vector<Group> groups = groupsOf(current);
  auto savedEnv = env;
  SmallVector<const hir::Object *> copies(current.viaShared.begin(), current.viaShared.end());
  llvm::sort(copies, [](auto *lhs, auto *rhs) { return lhs->id < rhs->id; });
  for (const hir::Object *fragment : copies)
    current.sharedCopies[fragment] =
        sharedCopyOf(static_cast<const hir::TileObj *>(fragment), stmt->loc,
                     "the loop writes it at indices that are not its variables plus constants");
  llvm::MapVector<const hir::Object *, Value> spilled;
  for (const Group &group : groups)
    emitGroup(current, group, spilled);
  for (const hir::Object *object : copies) {
    auto *fragment = static_cast<const hir::TileObj *>(object);
    env[keyOf(object)] =
        LoadOp::create(b, s.loc, tileType(fragment->shape, fragment->dtype), current.sharedCopies[object],
                       ValueRange{}, DenseI64ArrayAttr(), DenseBoolArrayAttr());
  }
  // Only fragments live on; scalars were private.
  for (auto &[key, value] : savedEnv)
    if (!isa<TileType>(value.getType()))
      env[key] = value;
  llvm::SmallVector<Key> gone;
  for (auto &[key, value] : env)
    if (!savedEnv.contains(key))
      gone.push_back(key);
  for (Key key : gone)
    env.erase(key);
}

/// A nest inside the body of a nest, from variable `axis` on.
void KernelGen::serialNest(const hir::Parallel *stmt, unsigned axis) {
  const hir::Stmt *self = stmt;
  Carried carried = carriedBy({Stmts(self)}, nullptr);
  auto op =
      scf::ForOp::create(b, s.loc, s.index(0), indexExpr(stmt->extents[axis]), s.index(1), carried.inits);
  if (!op.getBody()->empty())
    op.getBody()->back().erase();
  auto saved = env;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(op.getBody());
    bind(carried, op.getRegionIterArgs());
    Value iv = op.getInductionVar();
    s.setNonNegative(iv);
    const hir::VarObj *var = stmt->vars[axis];
    env[keyOf(var)] = var->dtype == DType::I64 ? iv : s.convert(iv, DType::I64, var->dtype);
    if (axis + 1 < stmt->vars.size()) {
      serialNest(stmt, axis + 1);
    } else {
      env[{stmt, kAlive}] = s.boolean(true);
      block(stmt->body, stmt);
    }
    scf::YieldOp::create(b, s.loc, current(carried));
  }
  env = std::move(saved);
  bind(carried, op.getResults());
}

/// One generic: the statements of a group over the whole domain.
void KernelGen::emitGroup(Nest &current, const Group &group,
                          llvm::MapVector<const hir::Object *, Value> &spilled) {
  unsigned rank = current.vars.size();
  SmallVector<Value> outs;
  SmallVector<AffineMap> maps;
  for (auto &[object, map] : group.outs) {
    outs.push_back(env.lookup(keyOf(object)));
    maps.push_back(affineMap(map, rank));
  }
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  for (const hir::VarObj *var : group.spills) {
    outs.push_back(undef(current.domain, var->dtype));
    maps.push_back(identity);
  }
  auto op = GenericOp::create(b, s.loc, TypeRange(ValueRange(outs)), current.domain, current.extents,
                              ValueRange{}, outs, b.getAffineMapArrayAttr(maps), ArrayAttr(), LayoutAttr());
  SmallVector<Type> types(rank, b.getIndexType());
  for (Value out : outs)
    types.push_back(getElementTypeOf(out.getType()));
  auto outer = env;
  {
    OpBuilder::InsertionGuard guard(b);
    mlir::Block *body = b.createBlock(&op.getBody(), {}, types, SmallVector<Location>(types.size(), s.loc));
    auto saved = llvm::SaveAndRestore(nest, &current);
    current.outs = group.outs;
    current.tiles.clear();
    SmallVector<Key> tileKeys;
    for (auto &[key, value] : env)
      if (isa<TileType>(value.getType())) {
        current.tiles[static_cast<const hir::Object *>(key.first)] = value;
        tileKeys.push_back(key);
      }
    for (Key key : tileKeys)
      env.erase(key);
    for (auto [var, index] : llvm::zip(current.vars, body->getArguments())) {
      s.setNonNegative(index);
      env[keyOf(var)] = var->dtype == DType::I64 ? Value(index) : s.convert(index, DType::I64, var->dtype);
    }
    for (auto [out, argument] : llvm::zip(group.outs, body->getArguments().drop_front(rank)))
      env[keyOf(out.first)] = s.fromMemory(argument, out.first->dtype);
    SmallVector<Value> at(body->getArguments().take_front(rank));
    for (auto &[object, tile] : spilled) {
      Value kept = ExtractOp::create(b, s.loc, tile, at);
      env[keyOf(object)] = s.fit(s.fromMemory(kept, object->dtype), varType(object));
    }
    if (findJumps(group.stmts).any)
      env[{current.stmt, kAlive}] = s.boolean(true);
    block(group.stmts, current.stmt);
    SmallVector<Value> results;
    for (auto &[object, map] : group.outs)
      results.push_back(s.toMemory(env.lookup(keyOf(object)), object->dtype));
    for (const hir::VarObj *var : group.spills) {
      Value value = env.lookup(keyOf(var));
      results.push_back(s.toMemory(value ? value : s.zero(varType(var)), var->dtype));
    }
    YieldOp::create(b, s.loc, results);
  }
  env = std::move(outer);
  for (auto [out, result] : llvm::zip(group.outs, op.getResults()))
    env[keyOf(out.first)] = result;
  for (auto [var, result] : llvm::zip(group.spills, op.getResults().drop_front(group.outs.size())))
    spilled[var] = result;
}

/// An element of a fragment inside a nest. `handled` is set, in value form, when the element is the
/// iteration's own.
Value KernelGen::nestElement(const hir::TileObj *fragment, ArrayRef<const hir::Expr *> exprs,
                             Value &handled) {
  auto out = nest->outs.find(fragment);
  if (out != nest->outs.end()) {
    std::optional<LinearMap> map = linearMap(exprs, *nest);
    if (map && *map == out->second) {
      handled = env.lookup(keyOf(fragment));
      return handled;
    }
  }
  SmallVector<Value> at = indices(exprs);
  if (Value buffer = nest->sharedCopies.lookup(fragment))
    return ElemLoadOp::create(b, s.loc, buffer, at, DenseBoolArrayAttr());
  return ExtractOp::create(b, s.loc, nest->tiles.lookup(fragment), at);
}
