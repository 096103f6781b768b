//===- Expressions.cpp - what an expression means where it stands ---------------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

Value Elaborator::eval(const ast::Expr *e) {
  if (!enter(e->getRange()))
    return Value::poison();
  Value v = evalInner(e);
  leave();
  return v;
}

Value Elaborator::evalInner(const ast::Expr *e) {
  using K = ast::NodeKind;
  SourceRange where = e->getRange();
  switch (e->getKind()) {
  case K::Name:
    return lookup(llvm::cast<ast::NameExpr>(e)->name, where);
  case K::Attribute:
    return evalAttribute(llvm::cast<ast::AttributeExpr>(e));
  case K::Call:
    return evalCall(llvm::cast<ast::CallExpr>(e));
  case K::Subscript:
    return evalSubscript(llvm::cast<ast::SubscriptExpr>(e));
  case K::Tuple:
    return evalItems(Value::Tuple, llvm::cast<ast::TupleExpr>(e)->elements);
  case K::List:
    return evalItems(Value::List, llvm::cast<ast::ListExpr>(e)->elements);
  case K::ListComp:
    return evalComprehension(llvm::cast<ast::ListCompExpr>(e));
  case K::Unary: {
    auto *u = llvm::cast<ast::UnaryExpr>(e);
    return unary(u->op, eval(u->operand), u->operand, where);
  }
  case K::Binary: {
    auto *b = llvm::cast<ast::BinaryExpr>(e);
    Value l = eval(b->lhs), r = eval(b->rhs);
    return binaryOp(b->op, std::move(l), std::move(r), b->lhs, b->rhs, where);
  }
  case K::BoolOp:
    return evalBoolOp(llvm::cast<ast::BoolOpExpr>(e));
  case K::Compare:
    return evalCompare(llvm::cast<ast::CompareExpr>(e));
  case K::Conditional:
    return evalConditional(llvm::cast<ast::ConditionalExpr>(e));
  case K::IntLiteral:
    return Value::ofInt(llvm::cast<ast::IntLiteral>(e)->getValue());
  case K::FloatLiteral:
    return Value::ofFloat(llvm::cast<ast::FloatLiteral>(e)->value);
  case K::StringLiteral:
    return Value::ofString(llvm::cast<ast::StringLiteral>(e)->value.str());
  case K::BoolLiteral:
    return Value::ofBool(llvm::cast<ast::BoolLiteral>(e)->value);
  case K::NoneLiteral:
    return Value::none();
  default:
    report(diag::E0530, where, "`" + text(e) + "`", "write the value out");
    return Value::poison();
  }
}

Value Elaborator::evalItems(Value::Kind kind, llvm::ArrayRef<const ast::Expr *> items) {
  ValueList out;
  bool ok = true;
  for (const ast::Expr *item : items) {
    auto *star = llvm::dyn_cast<ast::StarredExpr>(item);
    Value v = eval(star ? star->value : item);
    ok &= !v.isPoison();
    if (!star) {
      out.push_back(std::move(v));
    } else if (v.isSequence()) {
      out.insert(out.end(), v.items->begin(), v.items->end());
    } else if (!v.isPoison()) {
      report(diag::E0204, item->getRange(), "a compile-time tuple or list behind `*`", describe(v));
      ok = false;
    }
    if (!constEval.step(item->getRange()))
      return Value::poison();
  }
  return ok ? Value::ofItems(kind, std::move(out)) : Value::poison();
}

//===----------------------------------------------------------------------===//
// and, or, comparisons, if-else
//===----------------------------------------------------------------------===//

/// Compile-time operands decide at once, with Python's values; from the first run-time one on it is bool
/// logic.
Value Elaborator::evalBoolOp(const ast::BoolOpExpr *e) {
  const hir::Expr *left = nullptr;
  Value last;
  bool ok = true;
  for (size_t i = 0; i < e->operands.size(); ++i) {
    const ast::Expr *operand = e->operands[i];
    lazyDepth += left != nullptr;
    Value v = eval(operand);
    lazyDepth -= left != nullptr;
    if (v.isPoison()) {
      ok = false;
      continue;
    }
    bool isConst = v.isConst();
    if (isConst && truth(v) != e->isAnd) { // decides: the rest is not evaluated
      for (const ast::Expr *rest : e->operands.drop_front(i + 1))
        checkNames(rest);
      if (!left)
        return v;
      last = Value::ofBool(!e->isAnd);
      break;
    }
    last = v;
    if (isConst)
      continue;
    const hir::Expr *c = toCondition(v, operand);
    if (!c) {
      ok = false;
      continue;
    }
    left = left ? make<hir::Logical>(e->isAnd, left, c, loc(e->getRange())) : c;
  }
  if (!ok)
    return Value::poison();
  if (!left)
    return last;
  if (last.kind == Value::Bool && last.boolean != e->isAnd) // run-time operands, then a deciding constant
    return last;
  return Value::ofExpr(left);
}

Value Elaborator::evalCompare(const ast::CompareExpr *e) {
  Value left = eval(e->operands[0]);
  const hir::Expr *all = nullptr;
  for (size_t i = 0; i < e->ops.size(); ++i) {
    lazyDepth += i > 0;
    Value right = eval(e->operands[i + 1]);
    lazyDepth -= i > 0;
    if (i + 1 < e->ops.size()) { // the middle of a chain is used twice
      lazyDepth += i > 0;
      right = shareable(right, e->operands[i + 1]->getRange());
      lazyDepth -= i > 0;
    }
    SourceRange where = join(e->operands[i]->getRange(), e->operands[i + 1]->getRange());
    std::string what = ("`" + ast::spelling(e->ops[i].op) + "`").str();
    if (left.isExpr() || right.isExpr()) {
      bool ok = needNumber(left, e->operands[i], what);
      ok &= needNumber(right, e->operands[i + 1], what);
      if (!ok)
        return Value::poison();
    }
    Value one = compareOp(e->ops[i].op, left, right, where);
    if (one.isPoison())
      return one;
    if (one.kind == Value::Bool && !one.boolean) { // false whatever the rest says
      for (const ast::Expr *rest : e->operands.drop_front(i + 2))
        checkNames(rest);
      return one;
    }
    if (one.isExpr())
      all = all ? make<hir::Logical>(true, all, one.expr, loc(e->getRange())) : one.expr;
    left = std::move(right);
  }
  return all ? Value::ofExpr(all) : Value::ofBool(true);
}

Value Elaborator::evalConditional(const ast::ConditionalExpr *e) {
  Value c = eval(e->condition);
  if (c.isPoison()) {
    checkNames(e->thenValue);
    checkNames(e->elseValue);
    return c;
  }
  if (c.isConst()) {
    bool taken = truth(c);
    checkNames(taken ? e->elseValue : e->thenValue);
    return eval(taken ? e->thenValue : e->elseValue);
  }
  const hir::Expr *condition = toCondition(c, e->condition);
  ++lazyDepth;
  Value a = eval(e->thenValue), b = eval(e->elseValue);
  --lazyDepth;
  if (!condition || !needNumber(a, e->thenValue, "a run-time `if else`") ||
      !needNumber(b, e->elseValue, "a run-time `if else`"))
    return Value::poison();
  return select(Value::ofExpr(condition), a, b, /*lazy=*/true, e->getRange());
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Value Elaborator::evalAttribute(const ast::AttributeExpr *e) {
  auto *baseName = llvm::dyn_cast<ast::NameExpr>(e->base);
  bool alias = level == Level::Dims && baseName && module->names.count(baseName->name);
  Value base = alias ? lookupGlobal(baseName->name, e->base->getRange()) : eval(e->base);
  llvm::StringRef attr = e->attr.text;
  if (base.isPoison())
    return base;
  if (base.kind == Value::ModuleAlias) {
    if (const BuiltinInfo *info = findBuiltin(attr))
      return info->kind == BuiltinKind::PolicyClass ? Value::of(Value::PolicyClass) : Value::ofBuiltin(info);
    if (auto t = parseDType(attr))
      return Value::ofDType(*t);
    if (attr == "language") // import tilelang; tilelang.language.copy
      return base;
    return unknown(attr, e->attr.range);
  }
  if (base.kind == Value::PolicyClass) {
    for (auto [name, policy] : {std::pair("Square", hir::GemmPolicy::Square),
                                {"FullRow", hir::GemmPolicy::FullRow},
                                {"FullCol", hir::GemmPolicy::FullCol}})
      if (attr == name) {
        Value v = Value::of(Value::Policy);
        v.policy = policy;
        return v;
      }
  }
  if (base.kind == Value::Object && attr == "dtype")
    return Value::ofDType(base.object->dtype);
  if (base.isExpr() && attr == "dtype")
    return Value::ofDType(base.expr->type);
  if (base.isTile() && attr == "shape") {
    ValueList dims;
    for (int64_t n : base.tile()->shape)
      dims.push_back(Value::ofInt(n));
    return Value::ofTuple(std::move(dims));
  }
  if (base.isTensor() && (attr == "shape" || attr == "strides")) {
    ValueList dims;
    for (unsigned i = 0; i < base.tensor()->rank(); ++i)
      dims.push_back(attr == "shape" ? dimension(base.tensor(), i, e->getRange())
                                     : strideOf(base.tensor(), i, e->getRange()));
    return Value::ofTuple(std::move(dims));
  }
  report(diag::E0103, e->attr.range, describe(base), attr);
  return Value::poison();
}

static Value dimValue(const hir::DimExpr &d) {
  return d.constant ? Value::ofInt(*d.constant) : Value::poison();
}

Value Elaborator::dimension(const hir::TensorObj *t, unsigned axis, SourceRange where) {
  const hir::DimExpr &d = t->dims[axis];
  if (d.constant)
    return dimValue(d);
  if (d.symbol)
    return Value::ofExpr(make<hir::SymRef>(d.symbol, loc(where)));
  return Value::ofExpr(make<hir::DimRef>(t, axis, false, loc(where)));
}

Value Elaborator::strideOf(const hir::TensorObj *t, unsigned axis, SourceRange where) {
  if (t->strided && t->strides[axis].constant)
    return dimValue(t->strides[axis]);
  if (t->strided && t->strides[axis].symbol)
    return Value::ofExpr(make<hir::SymRef>(t->strides[axis].symbol, loc(where)));
  if (!t->strided) {
    __int128 product = 1;
    bool constant = true;
    for (unsigned i = axis + 1; i < t->rank() && constant; ++i) {
      constant = t->dims[i].constant && product * *t->dims[i].constant <= INT64_MAX;
      product *= constant ? *t->dims[i].constant : 1;
    }
    if (constant)
      return Value::ofInt(static_cast<int64_t>(product));
  }
  return Value::ofExpr(make<hir::DimRef>(t, axis, true, loc(where)));
}

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

unsigned Elaborator::rankOf(const hir::Object *o) const {
  return isTileKind(o->kind) ? static_cast<const hir::TileObj *>(o)->shape.size()
                             : static_cast<const hir::TensorObj *>(o)->rank();
}

std::optional<int64_t> Elaborator::staticDim(const hir::Object *o, unsigned axis) const {
  if (isTileKind(o->kind))
    return static_cast<const hir::TileObj *>(o)->shape[axis];
  return static_cast<const hir::TensorObj *>(o)->dims[axis].constant;
}

/// With the names the user wrote: "(M, K)".
std::string Elaborator::objectShape(const hir::Object *o) const {
  if (isTileKind(o->kind))
    return shapeText(static_cast<const hir::TileObj *>(o)->shape);
  if (!isTensorKind(o->kind))
    return "()";
  auto *t = static_cast<const hir::TensorObj *>(o);
  std::string out = "(";
  for (unsigned i = 0; i < t->rank(); ++i)
    out += (i ? ", " : "") + t->dims[i].text;
  return out + (t->rank() == 1 ? ",)" : ")");
}

Value Elaborator::evalSubscript(const ast::SubscriptExpr *e) {
  Value base = eval(e->base);
  switch (base.kind) {
  case Value::Poison:
    for (const ast::Expr *i : e->indices)
      checkNames(i);
    return base;
  case Value::Tuple:
  case Value::List:
  case Value::String:
    return evalSequenceIndex(e, base);
  case Value::Object:
    if (base.object->kind != hir::Object::Pointer)
      return readElement(base.object, e);
    report(diag::E0204, e->base->getRange(), "a tensor, tile or sequence", describe(base))
        .note(declared.lookup(base.object), "declare it as Tensor(..) to index it");
    return Value::poison();
  default:
    report(diag::E0204, e->base->getRange(), "a tensor, tile or sequence before `[`", describe(base));
    return Value::poison();
  }
}

/// Rule 42: loops whose variables pick from a list unroll. False when that does not make the index constant.
bool Elaborator::unrollFor(const hir::Expr *index) {
  llvm::SmallVector<const hir::Expr *, 8> todo{index};
  llvm::SmallVector<unsigned, 4> paths;
  while (!todo.empty() && paths.size() < 16) {
    const hir::Expr *e = todo.pop_back_val();
    if (e->kind == hir::Expr::Binary) {
      todo.push_back(static_cast<const hir::Binary *>(e)->lhs);
      todo.push_back(static_cast<const hir::Binary *>(e)->rhs);
      continue;
    }
    if (e->kind == hir::Expr::IntConst)
      continue;
    if (e->kind != hir::Expr::ObjRef)
      return false;
    auto *object = static_cast<const hir::ObjRef *>(e)->object;
    auto it = llvm::find_if(loops, [&](Loop *loop) { return loop->var == object && loop->canUnroll; });
    if (it == loops.end())
      return false;
    paths.push_back((*it)->path);
  }
  for (unsigned p : paths)
    settled.changed |= settled.unrolledLoops.insert(p).second;
  return !paths.empty();
}

Value Elaborator::evalSequenceIndex(const ast::SubscriptExpr *e, const Value &base) {
  if (e->indices.size() != 1) {
    report(diag::E0216, e->getRange(), text(e->base), 1, e->indices.size());
    return Value::poison();
  }
  if (auto *s = llvm::dyn_cast<ast::SliceExpr>(e->indices[0])) {
    Value lower = s->lower ? eval(s->lower) : Value::none(),
          upper = s->upper ? eval(s->upper) : Value::none(), step = s->step ? eval(s->step) : Value::none();
    return constEval.slice(base, &lower, &upper, &step, e->getRange());
  }
  Value index = eval(e->indices[0]);
  if (!index.isExpr())
    return constEval.index(base, index, e->indices[0]->getRange());
  if (unrollFor(index.expr))
    return Value::poison(); // the next walk knows it
  report(diag::E0305, e->indices[0]->getRange(), describe(index), describe(base))
      .note({}, "a loop with constant bounds, or `unroll`, makes its variable a compile-time value");
  return Value::poison();
}

/// base[i, j] and base[(i, j)] are the same.
static llvm::ArrayRef<const ast::Expr *> flatIndices(const ast::SubscriptExpr *e) {
  if (e->indices.size() == 1)
    if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(e->indices[0]))
      return tuple->elements;
  return e->indices;
}

const hir::Expr *Elaborator::indexValue(const hir::Object *o, unsigned axis, const ast::Expr *e) {
  Value v = eval(e);
  SourceRange where = e->getRange();
  if (v.isInt() && v.integer.isNegative()) { // counts from the end
    if (auto n = staticDim(o, axis))
      return toIndex(constEval.binary(ast::BinaryOp::Add, v, Value::ofInt(*n), where), where, "an index");
    Value dim = dimension(static_cast<const hir::TensorObj *>(o), axis, where);
    return toIndex(arithmetic(ast::BinaryOp::Add, dim, v, where), where, "an index");
  }
  return toIndex(v, where, "an index");
}

bool Elaborator::elementIndices(const hir::Object *o, const ast::SubscriptExpr *e,
                                llvm::SmallVectorImpl<const hir::Expr *> &result) {
  llvm::ArrayRef<const ast::Expr *> indices = flatIndices(e);
  bool ok = true;
  for (const ast::Expr *i : indices)
    if (llvm::isa<ast::SliceExpr, ast::StarredExpr, ast::EllipsisLiteral>(i)) {
      report(diag::E0217, i->getRange(), text(e));
      ok = false;
    }
  if (ok && indices.size() != rankOf(o)) {
    report(diag::E0216, e->base->getRange(), o->name, rankOf(o), indices.size())
        .note(declared.lookup(o), "`{0}` of shape {1} is declared here", o->name, objectShape(o));
    ok = false;
  }
  if (!ok) {
    for (const ast::Expr *i : indices)
      checkNames(i);
    return false;
  }
  for (unsigned axis = 0; axis < indices.size(); ++axis) {
    const hir::Expr *x = indexValue(o, axis, indices[axis]);
    ok &= x != nullptr;
    result.push_back(x);
  }
  return ok;
}

Value Elaborator::readElement(const hir::Object *o, const ast::SubscriptExpr *e) {
  if (level != Level::Launch) {
    report(diag::E0120, e->base->getRange(), "an element of `" + o->name + "`", "on the host level");
    return Value::poison();
  }
  llvm::SmallVector<const hir::Expr *, 4> indices;
  if (!elementIndices(o, e, indices))
    return Value::poison();
  noteRead(o, e->base->getRange());
  checkElementBounds(o, indices, e->base->getRange());
  return Value::ofExpr(make<hir::Element>(o, indices, loc(e->base->getRange())));
}

//===----------------------------------------------------------------------===//
// Comprehensions
//===----------------------------------------------------------------------===//

bool Elaborator::bindTarget(Scope *s, const ast::Expr *target, const Value &v, const ast::Node *node) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(target)) {
    bind(s, name->name, Binding::Fixed, v, name->getRange(), node);
    return true;
  }
  llvm::ArrayRef<const ast::Expr *> targets;
  if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(target))
    targets = tuple->elements;
  else if (auto *list = llvm::dyn_cast<ast::ListExpr>(target))
    targets = list->elements;
  else {
    report(diag::E0114, target->getRange(), text(target), "a loop variable is a name");
    return false;
  }
  if (!v.isSequence() || v.items->size() != targets.size()) {
    if (!v.isPoison())
      report(diag::E0115, target->getRange(), targets.size(),
             v.isSequence() ? std::to_string(v.items->size()) + " values" : describe(v));
    return false;
  }
  bool ok = true;
  for (size_t i = 0; i < targets.size(); ++i)
    ok &= bindTarget(s, targets[i], (*v.items)[i], node);
  return ok;
}

Value Elaborator::evalComprehension(const ast::ListCompExpr *e) {
  Scope *before = scope;
  pushScope(Scope::Comprehension, e, e->getRange(), scope);
  ValueList items;
  bool ok = comprehend(e, 0, items);
  popScope(before);
  return ok ? Value::ofList(std::move(items)) : Value::poison();
}

bool Elaborator::comprehend(const ast::ListCompExpr *e, size_t clause, ValueList &items) {
  if (clause == e->clauses.size()) {
    Value v = eval(e->element);
    items.push_back(v);
    return !v.isPoison();
  }
  const ast::ListCompExpr::Clause &c = e->clauses[clause];
  Value source = eval(c.iterable);
  if (!source.isSequence()) {
    if (!source.isPoison())
      report(diag::E0204, c.iterable->getRange(), "a compile-time tuple, list or range", describe(source));
    return false;
  }
  unsigned outerPath = path;
  bool ok = true;
  for (size_t i = 0; i < source.items->size() && ok; ++i) {
    path = settled.path(outerPath, &c, i);
    ok = constEval.step(e->getRange()) && bindTarget(scope, c.target, (*source.items)[i], e);
    bool keep = true;
    for (const ast::Expr *condition : c.conditions) {
      if (!ok || !keep)
        break;
      Value v = eval(condition);
      if (!v.isConst()) {
        if (!v.isPoison())
          report(diag::E0302, condition->getRange(), "if", describe(v));
        ok = false;
      }
      keep = ok && truth(v);
    }
    if (ok && keep)
      ok = comprehend(e, clause + 1, items);
  }
  path = outerPath;
  return ok;
}
