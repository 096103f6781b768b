//===- Scan.cpp - what statements assign, use and leave ----------------------===//
#include "Scan.h"
#include "llvm/ADT/DenseSet.h"

using namespace tilec;
using namespace tilec::hir;
using namespace tilec::mlirgen;
using llvm::ArrayRef;

int64_t mlirgen::numSlots(const Object *object) {
  if (object->kind != Object::Local)
    return 1;
  int64_t n = 1;
  for (int64_t extent : static_cast<const TileObj *>(object)->shape)
    n *= extent;
  return n;
}

static void addObject(const Object *object, Keys &keys) {
  if (object->kind != Object::Fragment && object->kind != Object::Local && object->kind != Object::Var)
    return;
  for (int64_t i = 0, n = numSlots(object); i < n; ++i)
    keys.insert(keyOf(object, i));
}

static void collectNest(const Parallel *nest, Keys &keys) {
  // Scalars and local arrays of an iteration are gone after it; fragments stay.
  forEachStmt(nest->body, [&](const Stmt *stmt) {
    if (stmt->kind != Stmt::StoreElement)
      return;
    const Object *object = static_cast<const StoreElement *>(stmt)->object;
    if (object->kind == Object::Fragment)
      keys.insert(keyOf(object));
  });
}

static void collectLoop(const For *loop, const llvm::DenseSet<const Object *> &escaping, Keys &keys) {
  Keys inner;
  collectAssigned(loop->body, loop, escaping, inner);
  for (Key key : inner)
    if (key.first != loop)
      keys.insert(key);
  if (escaping.contains(loop->var))
    keys.insert(keyOf(loop->var));
}

void mlirgen::collectAssigned(ArrayRef<const Stmt *> stmts, const Stmt *loop,
                              const llvm::DenseSet<const Object *> &escaping, Keys &keys) {
  for (const Stmt *stmt : stmts) {
    switch (stmt->kind) {
    case Stmt::Alloc:
      addObject(static_cast<const Alloc *>(stmt)->object, keys);
      break;
    case Stmt::Assign:
      addObject(static_cast<const Assign *>(stmt)->var, keys);
      break;
    case Stmt::StoreElement:
      addObject(static_cast<const StoreElement *>(stmt)->object, keys);
      break;
    case Stmt::Copy:
      addObject(static_cast<const Copy *>(stmt)->dst.object, keys);
      break;
    case Stmt::Fill:
      addObject(static_cast<const Fill *>(stmt)->dst.object, keys);
      break;
    case Stmt::Gemm:
      addObject(static_cast<const Gemm *>(stmt)->c.object, keys);
      break;
    case Stmt::Reduce:
      addObject(static_cast<const Reduce *>(stmt)->dst, keys);
      break;
    case Stmt::For:
      collectLoop(static_cast<const For *>(stmt), escaping, keys);
      break;
    case Stmt::Parallel:
      collectNest(static_cast<const Parallel *>(stmt), keys);
      break;
    case Stmt::If:
      collectAssigned(static_cast<const If *>(stmt)->thenBody, loop, escaping, keys);
      collectAssigned(static_cast<const If *>(stmt)->elseBody, loop, escaping, keys);
      break;
    case Stmt::Break:
      keys.insert({loop, kGo});
      [[fallthrough]];
    case Stmt::Continue:
      keys.insert({loop, kAlive});
      break;
    case Stmt::Assume:
    case Stmt::Launch:
      break;
    }
  }
}

Jumps mlirgen::findJumps(ArrayRef<const Stmt *> stmts) {
  Jumps jumps;
  for (const Stmt *stmt : stmts) {
    if (stmt->kind == Stmt::Break)
      jumps.any = jumps.breaks = true;
    else if (stmt->kind == Stmt::Continue)
      jumps.any = true;
    if (stmt->kind != Stmt::If)
      continue;
    for (const Block *block :
         {&static_cast<const If *>(stmt)->thenBody, &static_cast<const If *>(stmt)->elseBody}) {
      Jumps inner = findJumps(*block);
      jumps.any |= inner.any;
      jumps.breaks |= inner.breaks;
    }
  }
  return jumps;
}

//===- Visits ---------------------------------------------------------------===//
void mlirgen::forEachStmt(ArrayRef<const Stmt *> stmts, llvm::function_ref<void(const Stmt *)> fn) {
  for (const Stmt *stmt : stmts) {
    fn(stmt);
    switch (stmt->kind) {
    case Stmt::For:
      forEachStmt(static_cast<const For *>(stmt)->body, fn);
      break;
    case Stmt::Parallel:
      forEachStmt(static_cast<const Parallel *>(stmt)->body, fn);
      break;
    case Stmt::Launch:
      forEachStmt(static_cast<const Launch *>(stmt)->body, fn);
      break;
    case Stmt::If:
      forEachStmt(static_cast<const If *>(stmt)->thenBody, fn);
      forEachStmt(static_cast<const If *>(stmt)->elseBody, fn);
      break;
    default:
      break;
    }
  }
}

void mlirgen::forEachOperand(const Stmt *stmt, llvm::function_ref<void(const Expr *)> fn) {
  auto region = [&](const Region &r) { llvm::for_each(r.offsets, fn); };
  switch (stmt->kind) {
  case Stmt::Assign:
    return fn(static_cast<const Assign *>(stmt)->value);
  case Stmt::StoreElement: {
    auto *store = static_cast<const StoreElement *>(stmt);
    llvm::for_each(store->indices, fn);
    return fn(store->value);
  }
  case Stmt::Copy:
    region(static_cast<const Copy *>(stmt)->src);
    return region(static_cast<const Copy *>(stmt)->dst);
  case Stmt::Fill:
    region(static_cast<const Fill *>(stmt)->dst);
    return fn(static_cast<const Fill *>(stmt)->value);
  case Stmt::Gemm: {
    auto *gemm = static_cast<const Gemm *>(stmt);
    for (const Region *r : {&gemm->a, &gemm->b, &gemm->c})
      region(*r);
    if (gemm->clearAccum)
      fn(gemm->clearAccum);
    return;
  }
  case Stmt::Reduce:
    return region(static_cast<const Reduce *>(stmt)->src);
  case Stmt::For:
    fn(static_cast<const For *>(stmt)->start);
    fn(static_cast<const For *>(stmt)->stop);
    return fn(static_cast<const For *>(stmt)->step);
  case Stmt::Parallel:
    llvm::for_each(static_cast<const Parallel *>(stmt)->extents, fn);
    return;
  case Stmt::If:
    return fn(static_cast<const If *>(stmt)->cond);
  case Stmt::Assume:
    return fn(static_cast<const Assume *>(stmt)->cond);
  case Stmt::Launch:
    llvm::for_each(static_cast<const Launch *>(stmt)->grid, fn);
    return;
  case Stmt::Alloc:
  case Stmt::Break:
  case Stmt::Continue:
    return;
  }
}

void mlirgen::forEachExpr(const Expr *expr, llvm::function_ref<void(const Expr *)> fn) {
  fn(expr);
  auto visit = [&](const Expr *child) { forEachExpr(child, fn); };
  switch (expr->kind) {
  case Expr::Unary:
    return visit(static_cast<const Unary *>(expr)->operand);
  case Expr::Binary:
    visit(static_cast<const Binary *>(expr)->lhs);
    return visit(static_cast<const Binary *>(expr)->rhs);
  case Expr::Compare:
    visit(static_cast<const Compare *>(expr)->lhs);
    return visit(static_cast<const Compare *>(expr)->rhs);
  case Expr::Logical:
    visit(static_cast<const Logical *>(expr)->lhs);
    return visit(static_cast<const Logical *>(expr)->rhs);
  case Expr::Select:
    visit(static_cast<const Select *>(expr)->cond);
    visit(static_cast<const Select *>(expr)->onTrue);
    return visit(static_cast<const Select *>(expr)->onFalse);
  case Expr::Cast:
    return visit(static_cast<const Cast *>(expr)->operand);
  case Expr::Math:
    llvm::for_each(static_cast<const Math *>(expr)->args, visit);
    return;
  case Expr::Element:
    llvm::for_each(static_cast<const Element *>(expr)->indices, visit);
    return;
  case Expr::IntConst:
  case Expr::FloatConst:
  case Expr::BoolConst:
  case Expr::ObjRef:
  case Expr::DimRef:
  case Expr::SymRef:
    return;
  }
}

static void countTargets(const Stmt *stmt, UseCounts &counts) {
  switch (stmt->kind) {
  case Stmt::Alloc:
    ++counts[static_cast<const Alloc *>(stmt)->object];
    return;
  case Stmt::Assign:
    ++counts[static_cast<const Assign *>(stmt)->var];
    return;
  case Stmt::StoreElement:
    ++counts[static_cast<const StoreElement *>(stmt)->object];
    return;
  case Stmt::Copy:
    ++counts[static_cast<const Copy *>(stmt)->src.object];
    ++counts[static_cast<const Copy *>(stmt)->dst.object];
    return;
  case Stmt::Fill:
    ++counts[static_cast<const Fill *>(stmt)->dst.object];
    return;
  case Stmt::Gemm: {
    auto *gemm = static_cast<const Gemm *>(stmt);
    for (const Region *r : {&gemm->a, &gemm->b, &gemm->c})
      ++counts[r->object];
    return;
  }
  case Stmt::Reduce:
    ++counts[static_cast<const Reduce *>(stmt)->src.object];
    ++counts[static_cast<const Reduce *>(stmt)->dst];
    return;
  default:
    return;
  }
}

void mlirgen::countUses(ArrayRef<const Stmt *> stmts, UseCounts &counts) {
  forEachStmt(stmts, [&](const Stmt *stmt) {
    countTargets(stmt, counts);
    forEachOperand(stmt, [&](const Expr *operand) {
      forEachExpr(operand, [&](const Expr *expr) {
        if (expr->kind == Expr::ObjRef)
          ++counts[static_cast<const ObjRef *>(expr)->object];
        else if (expr->kind == Expr::Element)
          ++counts[static_cast<const Element *>(expr)->object];
      });
    });
  });
}
