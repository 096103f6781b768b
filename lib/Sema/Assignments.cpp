//===- Assignments.cpp - names, elements, and the types of locals ---------------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

static llvm::ArrayRef<const ast::Expr *> elementsOf(const ast::Expr *e) {
  if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(e))
    return tuple->elements;
  if (auto *list = llvm::dyn_cast<ast::ListExpr>(e))
    return list->elements;
  return {};
}

/// Whether what `e` reads may be changed by assigning to one of `targets`.
static bool readsTarget(const ast::Node *e, llvm::ArrayRef<const ast::Expr *> targets) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(e)) {
    for (const ast::Expr *t : targets) {
      auto *target = llvm::dyn_cast<ast::NameExpr>(t);
      if (!target || target->name == name->name)
        return true;
    }
    return false;
  }
  bool found = false;
  ast::forEachChild(e, [&](const ast::Node *child) { found |= readsTarget(child, targets); });
  return found;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Elaborator::elabAssign(const ast::AssignStmt *s) {
  const ast::Expr *first = s->targets[0];
  auto *name = llvm::dyn_cast<ast::NameExpr>(first);
  const BuiltinInfo *callee = builtinCallee(s->value);
  if (callee && callee->kind == BuiltinKind::AllocVar) {
    if (name && s->targets.size() == 1)
      allocVar(name->name, name->getRange(), llvm::cast<ast::CallExpr>(s->value), s);
    else
      report(diag::E0123, s->value->getRange(), "alloc_var", "`x = alloc_var(dtype, init)`");
    return;
  }
  // Tiles are named after the name they are bound to.
  llvm::ArrayRef<const ast::Expr *> targets = elementsOf(first), values = elementsOf(s->value);
  Value v;
  if (!targets.empty() && targets.size() == values.size()) {
    ValueList items;
    for (size_t i = 0; i < values.size(); ++i) {
      auto *target = llvm::dyn_cast<ast::NameExpr>(targets[i]);
      allocName = target ? target->name : "";
      allocRange = targets[i]->getRange();
      auto *star = llvm::dyn_cast<ast::StarredExpr>(values[i]);
      if (star)
        report(diag::E0530, star->getRange(), "`*` in an assignment", "write each value");
      items.push_back(star ? Value::poison() : eval(values[i]));
    }
    v = Value::ofTuple(std::move(items));
  } else {
    allocName = name ? name->name : "";
    allocRange = first->getRange();
    v = eval(s->value);
  }
  allocName = "";
  bool several =
      s->targets.size() > 1 || (!targets.empty() && (values.empty() || readsTarget(s->value, targets)));
  if (several) // all of the right side is evaluated before anything is written
    v = capture(v, "value", s->value->getRange());
  for (const ast::Expr *target : s->targets)
    assignTarget(target, v, s, s->value->getRange());
}

void Elaborator::elabAugAssign(const ast::AugAssignStmt *s) {
  SourceRange where = s->target->getRange();
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(s->target)) {
    Value old = lookup(name->name, where), v = eval(s->value);
    Value result = binaryOp(s->op, old, v, s->target, s->value, s->getRange());
    if (!old.isPoison())
      assignName(name->name, where, result, s, s->getRange());
    return;
  }
  auto *sub = llvm::dyn_cast<ast::SubscriptExpr>(s->target);
  Value base = sub ? eval(sub->base) : Value::poison();
  if (!sub || base.kind != Value::Object || base.object->kind == hir::Object::Pointer) {
    if (!sub || !base.isPoison())
      report(diag::E0114, where, text(s->target),
             "an assignment needs a name or an element of a tensor or tile");
    checkNames(s->value);
    return;
  }
  llvm::SmallVector<const hir::Expr *, 4> indices;
  bool ok = elementIndices(base.object, sub, indices);
  Value v = eval(s->value);
  if (!ok || v.isPoison())
    return;
  if (level != Level::Launch) {
    report(diag::E0120, sub->base->getRange(), "an element of `" + base.object->name + "`",
           "on the host level");
    return;
  }
  SourceRange at = sub->base->getRange();
  noteRead(base.object, at);
  Value old = Value::ofExpr(make<hir::Element>(base.object, indices, loc(at)));
  Value result = binaryOp(s->op, old, v, s->target, s->value, s->getRange());
  storeElement(base.object, indices, result, at, s->value->getRange());
}

void Elaborator::elabAnnAssign(const ast::AnnAssignStmt *s) {
  auto *name = llvm::dyn_cast<ast::NameExpr>(s->target);
  if (!name) {
    report(diag::E0114, s->target->getRange(), text(s->target), "only a name can have a type");
    return;
  }
  auto t = evalDType(s->annotation);
  if (!t) {
    if (s->value)
      checkNames(s->value);
    return;
  }
  Value v = s->value ? eval(s->value) : Value::none();
  Slot *target = targetSlot(name->name, name->getRange());
  if (!target)
    return;
  fixType(target, name->name, *t, name->getRange());
  if (s->value && needNumber(v, s->value, "`" + name->name.str() + "`"))
    assignScalar(target, name->name, name->getRange(), v, s, s->value->getRange());
}

void Elaborator::allocVar(llvm::StringRef name, SourceRange where, const ast::CallExpr *call,
                          const ast::Node *node) {
  BoundArgs args = bindArgs(*findBuiltin("alloc_var"), call);
  if (!args.ok)
    return;
  auto t = evalDType(args.named[0]->value);
  Value init = argument(args, 1);
  Slot *target = targetSlot(name, where);
  if (!t || !target)
    return;
  fixType(target, name, *t, where);
  if (args.named[1] && needNumber(init, args.named[1]->value, "the initial value"))
    assignScalar(target, name, where, init, node, args.named[1]->value->getRange());
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

void Elaborator::assignTarget(const ast::Expr *target, const Value &v, const ast::Node *node,
                              SourceRange valueRange) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(target))
    return assignName(name->name, name->getRange(), v, node, valueRange);
  if (auto *sub = llvm::dyn_cast<ast::SubscriptExpr>(target))
    return assignElement(sub, v, valueRange);
  if (!llvm::isa<ast::TupleExpr, ast::ListExpr>(target)) {
    report(diag::E0114, target->getRange(), text(target),
           "an assignment needs a name, an element of a tensor or tile, or a tuple of them");
    return;
  }
  llvm::ArrayRef<const ast::Expr *> targets = elementsOf(target);
  bool fits = v.isSequence() && v.items->size() == targets.size();
  if (!fits && !v.isPoison())
    report(diag::E0115, target->getRange(), targets.size(),
           v.isSequence() ? std::to_string(v.items->size()) + " values" : describe(v));
  for (size_t i = 0; i < targets.size(); ++i)
    assignTarget(targets[i], fits ? (*v.items)[i] : Value::poison(), node, valueRange);
}

void Elaborator::assignElement(const ast::SubscriptExpr *target, const Value &v, SourceRange valueRange) {
  Value base = eval(target->base);
  if (base.kind != Value::Object || base.object->kind == hir::Object::Pointer) {
    if (!base.isPoison())
      report(diag::E0114, target->getRange(), text(target), "its base is " + describe(base));
    return;
  }
  if (level != Level::Launch) {
    report(diag::E0120, target->base->getRange(), "an element of `" + base.object->name + "`",
           "on the host level");
    return;
  }
  llvm::SmallVector<const hir::Expr *, 4> indices;
  if (elementIndices(base.object, target, indices))
    storeElement(base.object, indices, v, target->base->getRange(), valueRange);
}

void Elaborator::storeElement(const hir::Object *o, llvm::ArrayRef<const hir::Expr *> indices, const Value &v,
                              SourceRange where, SourceRange valueRange) {
  const hir::Expr *x = convert(v, o->dtype, valueRange);
  checkElementBounds(o, indices, where);
  noteWrite(o, where);
  if (x)
    emit(make<hir::StoreElement>(o, indices, x, loc(where)));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Where an assignment to `name` goes; null (reported) when it cannot be assigned here.
Slot *Elaborator::targetSlot(llvm::StringRef name, SourceRange where) {
  for (Scope *s = scope; s; s = s->parent) {
    Slot *found = s->slots.lookup(name);
    if (found && flow.get(found->index).kind != Binding::Unbound) {
      const Binding &b = flow.get(found->index);
      if (b.kind == Binding::Fixed) {
        report(diag::E0112, where, name).note(b.where, "`{0}` is bound here", name);
        return nullptr;
      }
      if (s == scope || s->kind == Scope::Parallel)
        return found;
      if (b.kind != Binding::Ended) {
        report(diag::E0124, where, name)
            .note(b.where, "`{0}` is assigned here, outside", name)
            .note({}, "write the values to a fragment and reduce it after the loop");
        return nullptr;
      }
    }
    if (s->kind != Scope::Parallel)
      break;
  }
  return slot(scope, name);
}

void Elaborator::assignName(llvm::StringRef name, SourceRange where, const Value &v, const ast::Node *node,
                            SourceRange valueRange) {
  Slot *target = targetSlot(name, where);
  if (!target)
    return;
  if (v.isPoison()) {
    // Known, but to no avail: what uses it stays silent.
    if (flow.get(target->index).kind == Binding::Unbound)
      bind(target->scope, name, Binding::Constant, v, where, node);
    return;
  }
  if (v.isNumber())
    assignScalar(target, name, where, v, node, valueRange);
  else
    assignObject(target, name, where, v, node);
}

static bool boundOnce(const Value &v) {
  return v.kind == Value::Object || v.kind == Value::DTypeName || v.kind == Value::Function;
}

void Elaborator::assignObject(Slot *s, llvm::StringRef name, SourceRange where, const Value &v,
                              const ast::Node *node) {
  const Binding &b = flow.get(s->index);
  bool bound = b.kind == Binding::Constant && !b.value.isPoison();
  if (s->info->runtime || b.kind == Binding::Variable || (bound && b.value.isNumber())) {
    report(diag::E0116, where, name, describe(v))
        .note(s->info->runtime && s->info->typeFrom ? s->info->typeFrom : b.where, "`{0}` is a number here",
              name);
    return;
  }
  bool conflict = b.kind == Binding::Conflict || (bound && b.node != node);
  if (conflict && (boundOnce(v) || (bound && boundOnce(b.value)))) {
    report(diag::E0117, where, name, describe(v)).note(b.where, "`{0}` is bound here already", name);
    return;
  }
  if (bound && runtimeDepth > s->scope->runtimeDepth && b.node != node) {
    report(diag::E0118, where, name, describe(v)).note(b.where, "`{0}` is bound here", name);
    return;
  }
  Value kept = capture(v, name, where);
  bind(s->scope, name, Binding::Constant, kept, where, node);
}

void Elaborator::assignScalar(Slot *s, llvm::StringRef name, SourceRange where, const Value &v,
                              const ast::Node *node, SourceRange valueRange) {
  VarInfo &info = *s->info;
  const Binding &b = flow.get(s->index);
  if (b.kind == Binding::Constant && !b.value.isPoison() && !b.value.isNumber()) {
    report(diag::E0116, where, name, "a number").note(b.where, "`{0}` is {1} here", name, describe(b.value));
    return;
  }
  bool insideRuntime = runtimeDepth > s->scope->runtimeDepth;
  if (v.isConstNumber() && !insideRuntime && !info.runtime) {
    bind(s->scope, name, Binding::Constant, v, where, node);
    return;
  }
  if (!info.runtime) {
    info.runtime = true;
    settled.changed = true;
  }
  joinType(s, name, v, valueRange);
  hir::VarObj *var = variableOf(s, name, where);
  if (const hir::Expr *x = convert(v, var->dtype, valueRange))
    emit(make<hir::Assign>(var, x, loc(where)));
  bind(s->scope, name, Binding::Variable, Value::none(), where, node);
}

hir::VarObj *Elaborator::variableOf(Slot *s, llvm::StringRef name, SourceRange where) {
  if (!s->var)
    s->var = makeObject<hir::VarObj>(name, where, typeOf(*s->info), hir::Object::Var);
  s->var->dtype = typeOf(*s->info);
  return s->var;
}

void Elaborator::fixType(Slot *s, llvm::StringRef name, DType t, SourceRange where) {
  VarInfo &info = *s->info;
  if (info.fixed && *info.fixed != t) {
    report(diag::E0208, where, name, dtypeName(t), dtypeName(*info.fixed))
        .note(info.typeFrom, "`{0}` is {1} here", name, dtypeName(*info.fixed));
    return;
  }
  if (info.fixed && info.runtime)
    return;
  info.fixed = t;
  info.runtime = true;
  info.typeFrom = where;
  settled.changed = true;
}
