//===- Names.cpp - scopes, look-up, unknown and unassigned names ----------------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

//===----------------------------------------------------------------------===//
// Which names a body assigns
//===----------------------------------------------------------------------===//

static void collectTarget(const ast::Expr *e, llvm::StringSet<> &names) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(e)) {
    names.insert(name->name);
  } else if (auto *star = llvm::dyn_cast<ast::StarredExpr>(e)) {
    collectTarget(star->value, names);
  } else if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(e)) {
    for (const ast::Expr *item : tuple->elements)
      collectTarget(item, names);
  } else if (auto *list = llvm::dyn_cast<ast::ListExpr>(e)) {
    for (const ast::Expr *item : list->elements)
      collectTarget(item, names);
  }
}

/// `launches`: also what `with` bodies assign. The host level does not own their names.
static void collect(ast::Block block, llvm::StringSet<> &names, bool insideWith) {
  for (const ast::Stmt *s : block) {
    if (auto *a = llvm::dyn_cast<ast::AssignStmt>(s)) {
      for (const ast::Expr *t : a->targets)
        collectTarget(t, names);
    } else if (auto *a = llvm::dyn_cast<ast::AugAssignStmt>(s)) {
      collectTarget(a->target, names);
    } else if (auto *a = llvm::dyn_cast<ast::AnnAssignStmt>(s)) {
      collectTarget(a->target, names);
    } else if (auto *f = llvm::dyn_cast<ast::ForStmt>(s)) {
      collectTarget(f->target, names);
      collect(f->body, names, insideWith);
    } else if (auto *w = llvm::dyn_cast<ast::WhileStmt>(s)) {
      collect(w->body, names, insideWith);
    } else if (auto *i = llvm::dyn_cast<ast::IfStmt>(s)) {
      collect(i->thenBody, names, insideWith);
      collect(i->elseBody, names, insideWith);
    } else if (auto *w = llvm::dyn_cast<ast::WithStmt>(s)) {
      if (insideWith) {
        for (const ast::WithStmt::Item &item : w->items)
          if (item.target)
            collectTarget(item.target, names);
        collect(w->body, names, insideWith);
      }
    }
  }
}

void tilec::sema::collectAssigned(ast::Block block, llvm::StringSet<> &names) {
  collect(block, names, false);
}

//===----------------------------------------------------------------------===//
// Scopes and slots
//===----------------------------------------------------------------------===//

Scope *Elaborator::pushScope(Scope::Kind kind, const void *node, SourceRange where, Scope *parent) {
  scopes.emplace_back();
  Scope *s = &scopes.back();
  s->kind = kind;
  s->parent = parent;
  s->path = settled.path(path, node, 0);
  s->runtimeDepth = runtimeDepth;
  s->where = where;
  scope = s;
  return s;
}

Slot *Elaborator::slot(Scope *s, llvm::StringRef name) {
  Slot *&entry = s->slots[name];
  if (!entry) {
    slots.push_back({flow.newSlot(), s, &settled.variable(s->path, name)});
    entry = &slots.back();
  }
  return entry;
}

void Elaborator::bind(Scope *s, llvm::StringRef name, Binding::Kind kind, Value v, SourceRange where,
                      const ast::Node *node) {
  Binding b;
  b.kind = kind;
  b.value = std::move(v);
  b.where = where;
  b.node = node;
  flow.set(slot(s, name)->index, std::move(b));
}

Slot *Elaborator::findSlot(llvm::StringRef name, bool boundOnly) {
  for (Scope *s = scope; s; s = s->parent)
    if (Slot *found = s->slots.lookup(name))
      if (!boundOnly || flow.get(found->index).kind != Binding::Unbound)
        return found;
  return nullptr;
}

Scope *Elaborator::functionScope() const {
  Scope *s = scope;
  while (s && (s->kind == Scope::Parallel || s->kind == Scope::Comprehension))
    s = s->parent;
  return s;
}

//===----------------------------------------------------------------------===//
// Look-up
//===----------------------------------------------------------------------===//

Value Elaborator::lookup(llvm::StringRef name, SourceRange where) {
  if (level == Level::Dims)
    return dimName(name, where);
  for (Scope *s = scope; s; s = s->parent) {
    if (Slot *found = s->slots.lookup(name))
      if (flow.get(found->index).kind != Binding::Unbound)
        return readSlot(found, name, where);
    bool function = s->kind == Scope::Host || s->kind == Scope::Launch || s->kind == Scope::Macro;
    if (function && s->assigned.contains(name))
      return unassigned(s, name, where);
  }
  return lookupGlobal(name, where);
}

Value Elaborator::lookupGlobal(llvm::StringRef name, SourceRange where) {
  if (auto it = module->names.find(name); it != module->names.end())
    return it->second.value;
  if (const BuiltinInfo *info = findBuiltin(name)) {
    if (info->kind == BuiltinKind::PolicyClass)
      return Value::of(Value::PolicyClass);
    return Value::ofBuiltin(info);
  }
  if (auto t = bareDType(name))
    return Value::ofDType(*t);
  return unknown(name, where);
}

Value Elaborator::readSlot(Slot *s, llvm::StringRef name, SourceRange where) {
  const Binding &b = flow.get(s->index);
  if (b.kind == Binding::Conflict) {
    report(diag::E0113, where, name)
        .note(b.where, "one is bound here")
        .note(b.missing, "another one is bound here");
    return Value::poison();
  }
  if (b.maybe) {
    Report r = report(diag::E0111, where, name);
    r.note(b.missing, b.missingLoop ? "it is not assigned when this loop runs zero times"
                                    : "it is not assigned on every path through this `if`");
    r.note(b.where, "`{0}` is assigned here", name);
    return Value::poison();
  }
  if (b.kind == Binding::Ended) { // the next walk keeps a copy of it
    s->info->loopVarEscapes = s->info->runtime = settled.changed = true;
    return Value::poison();
  }
  if (b.kind != Binding::Variable)
    return b.value;
  const VarInfo &info = *s->info;
  hir::VarObj *var = variableOf(s, name, b.where);
  return Value::ofExpr(objRef(var, where), info.fixed ? Weak::No : info.weak);
}

Value Elaborator::unassigned(Scope *s, llvm::StringRef name, SourceRange where) {
  Report r = report(diag::E0111, where, name);
  if (auto it = s->inParallel.find(name); it != s->inParallel.end())
    r.note(it->second, "`{0}` is first assigned in this `Parallel` loop and private to its iterations", name);
  else
    r.note(s->where, "no assignment of `{0}` in this body comes before the use", name);
  return Value::poison();
}

template <typename Range>
static void closest(llvm::StringRef name, const Range &names, std::string &best, unsigned &limit) {
  for (llvm::StringRef candidate : names) {
    bool unfinished = name.size() >= 4 && candidate.starts_with(name); // as near as one wrong letter
    unsigned distance = unfinished ? 1 : name.edit_distance(candidate, true, limit);
    if (distance < limit && candidate != name) {
      limit = distance;
      best = candidate.str();
    }
  }
}

/// Among built-ins and element types.
static void closestOfLanguage(llvm::StringRef name, std::string &best, unsigned &limit) {
  llvm::SmallVector<llvm::StringRef, 128> builtins;
  for (const BuiltinInfo &info : allBuiltins())
    if (info.kind != BuiltinKind::Unsupported)
      builtins.push_back(info.name);
  closest(name, builtins, best, limit);
  llvm::SmallVector<llvm::StringRef, 16> dtypes;
#define X(e, spelled, ...) dtypes.push_back(spelled);
  TILEC_DTYPES(X)
#undef X
  closest(name, dtypes, best, limit);
}

Value Elaborator::unknown(llvm::StringRef name, SourceRange where) {
  std::string best;
  unsigned limit = name.size() <= 2 ? 1 : name.size() <= 5 ? 2 : name.size() / 3 + 1; // exclusive
  for (Scope *s = scope; s; s = s->parent)
    closest(name, s->slots.keys(), best, limit);
  closest(name, module->names.keys(), best, limit);
  auto type = likelyDType(name);
  if (best.empty() && type) // of another language
    best = dtypeName(*type).str();
  else
    closestOfLanguage(name, best, limit);
  Report r = report(diag::E0101, where, name, best.empty() ? "" : "; did you mean `" + best + "`?");
  if (!best.empty())
    r.fixit(where, best);
  return Value::poison();
}

//===----------------------------------------------------------------------===//
// Code that is not elaborated still has its names checked
//===----------------------------------------------------------------------===//

bool Elaborator::isKnown(llvm::StringRef name) {
  if (level == Level::Dims)
    return true; // a dimension, if it is nothing else
  for (Scope *s = scope; s; s = s->parent)
    if (s->slots.count(name) || s->assigned.contains(name))
      return true;
  return module->names.count(name) || findBuiltin(name) || bareDType(name);
}

void Elaborator::checkNames(const ast::Node *node) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(node)) {
    if (!isKnown(name->name))
      unknown(name->name, name->getRange());
    return;
  }
  if (llvm::isa<ast::FunctionDef>(node))
    return;
  if (auto *comp = llvm::dyn_cast<ast::ListCompExpr>(node)) {
    Scope *before = scope;
    Scope *inner = pushScope(Scope::Comprehension, node, node->getRange(), scope);
    for (const ast::ListCompExpr::Clause &clause : comp->clauses)
      collectTarget(clause.target, inner->assigned);
    ast::forEachChild(node, [&](const ast::Node *child) { checkNames(child); });
    popScope(before);
    return;
  }
  if (auto *with = llvm::dyn_cast<ast::WithStmt>(node)) { // its names belong to its body
    Scope *before = scope;
    Scope *inner = pushScope(Scope::Comprehension, node, node->getRange(), scope);
    const ast::Stmt *self = with;
    collect(ast::Block(self), inner->assigned, true);
    ast::forEachChild(node, [&](const ast::Node *child) { checkNames(child); });
    popScope(before);
    return;
  }
  ast::forEachChild(node, [&](const ast::Node *child) { checkNames(child); });
}

void Elaborator::checkNames(ast::Block block) {
  for (const ast::Stmt *s : block)
    checkNames(s);
}

/// A launch or the host level starts with copies of the outer scalars that it assigns itself.
void Elaborator::importOuterValues(Scope *s) {
  llvm::SmallVector<llvm::StringRef, 8> names;
  for (const auto &entry : s->assigned)
    names.push_back(entry.getKey());
  llvm::sort(names);
  for (llvm::StringRef name : names) {
    Slot *outer = nullptr;
    for (Scope *p = s->parent; p && !outer; p = p->parent)
      outer = p->slots.lookup(name);
    if (!outer || s->slots.count(name))
      continue;
    const Binding &b = flow.get(outer->index);
    if (b.kind == Binding::Unbound || b.kind == Binding::Conflict || b.maybe)
      continue;
    Value v = readSlot(outer, name, b.where);
    if (v.isNumber())
      assignScalar(slot(s, name), name, b.where, v, nullptr, b.where);
    else if (v.kind != Value::Object)
      bind(s, name, Binding::Constant, v, b.where);
  }
}
