//===- Loops.cpp - for in all its forms -----------------------------------------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

void Elaborator::elabFor(const ast::ForStmt *s) {
  const BuiltinInfo *info = builtinCallee(s->iterable);
  auto *call = info ? llvm::cast<ast::CallExpr>(s->iterable) : nullptr;
  BuiltinKind kind = info ? info->kind : BuiltinKind::Len;
  bool counts = kind == BuiltinKind::Range || kind == BuiltinKind::Serial;
  bool launchOnly = kind == BuiltinKind::Parallel || kind == BuiltinKind::Pipelined;
  if (launchOnly && level != Level::Launch) {
    report(diag::E0120, callName(call), "`" + info->name.str() + "`", "on the host level");
    checkNames(s);
    return;
  }
  if (kind == BuiltinKind::Parallel)
    return elabParallel(s, call);
  bool unrolls =
      kind == BuiltinKind::Unroll ||
      (counts && (level == Level::Host || settled.unrolledLoops.contains(settled.path(path, s, 0))));
  if ((counts || launchOnly) && !unrolls)
    return elabRuntimeLoop(s, call, *info);
  Value items;
  if (unrolls) {
    BoundArgs args = bindArgs(*info, call);
    items = args.ok ? callRange(call, args) : Value::poison();
  } else {
    items = eval(s->iterable);
  }
  if (items.isSequence())
    return elabUnrolled(s, *items.items);
  if (!items.isPoison())
    report(diag::E0127, s->iterable->getRange(), describe(items));
  // What the body assigns is known, though not what it is.
  llvm::StringSet<> assigned;
  collectAssigned(s->body, assigned);
  bindTarget(scope, s->target, Value::poison(), s);
  checkNames(s->body);
}

//===----------------------------------------------------------------------===//
// Compile-time loops
//===----------------------------------------------------------------------===//

void Elaborator::elabUnrolled(const ast::ForStmt *s, const ValueList &items) {
  Loop loop{};
  loop.kind = Loop::Unrolled;
  loop.runtimeDepth = runtimeDepth;
  loops.push_back(&loop);
  unsigned outerPath = path;
  for (size_t i = 0; i < items.size() && !stopped(); ++i) {
    path = settled.path(outerPath, s, i + 1);
    if (!charge(s->head) || !constEval.step(s->head) || !bindTarget(scope, s->target, items[i], s))
      break;
    elabBlock(s->body);
    if (jump == Jump::Break || jump == Jump::Return || !flow.reachable)
      break;
    jump = Jump::None;
  }
  if (jump == Jump::Break || jump == Jump::Continue)
    jump = Jump::None;
  path = outerPath;
  loops.pop_back();
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(s->target)) { // a plain variable from here on
    Slot *v = slot(scope, name->name);
    Binding b = flow.get(v->index);
    if (b.kind == Binding::Fixed) {
      b.kind = Binding::Constant;
      flow.set(v->index, std::move(b));
    }
  }
}

//===----------------------------------------------------------------------===//
// Run-time loops
//===----------------------------------------------------------------------===//

bool Elaborator::loopBounds(const ast::CallExpr *call, const BuiltinInfo &info,
                            llvm::SmallVectorImpl<Value> &bounds, BoundArgs &args) {
  args = bindArgs(info, call);
  if (!args.ok)
    return false;
  size_t most = info.kind == BuiltinKind::Pipelined ? 2 : 3;
  for (const ast::Argument *a : args.rest) {
    Value v = eval(a->value);
    const hir::Expr *x = toIndex(v, a->value->getRange(), "a loop bound");
    if (!x)
      return false;
    bounds.push_back(v.isInt() ? v : Value::ofExpr(x));
  }
  if (bounds.empty() || bounds.size() > most) {
    report(diag::E0215, callName(call), info.name, most == 2 ? "one or two bounds" : "one to three bounds",
           std::to_string(bounds.size()));
    return false;
  }
  return true;
}

/// Whether a const parameter takes part: then another value may fit where this one does not.
bool Elaborator::dependsOnParameter(const ast::Expr *e) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(e))
    return constParamNames.contains(name->name);
  bool found = false;
  ast::forEachChild(e, [&](const ast::Node *child) {
    if (auto *x = llvm::dyn_cast<ast::Expr>(child))
      found |= dependsOnParameter(x);
  });
  return found;
}

void Elaborator::pipelineArguments(const BoundArgs &args, hir::For *loop) {
  loop->pipelined = true;
  const ast::Argument *stages = args.named[1];
  if (!stages)
    return;
  loop->numStages = intArgument(stages, "num_stages", 0, 64);
  loop->stagesLiteral = !dependsOnParameter(stages->value);
}

/// Binds the loop's variable, and copies it when it is read after the loop.
bool Elaborator::bindLoopVar(Loop &loop, const ast::ForStmt *s, hir::VarObj *var) {
  auto *name = llvm::dyn_cast<ast::NameExpr>(s->target);
  if (!name) {
    report(diag::E0114, s->target->getRange(), text(s->target), "the variable of this loop is one name");
    return false;
  }
  Slot *mine = targetSlot(name->name, name->getRange());
  if (!mine)
    return false;
  var->name = name->name.str();
  var->loc = loc(name->getRange());
  loop.varSlot = mine;
  Value value = Value::ofExpr(objRef(var, name->getRange()));
  if (mine->info->loopVarEscapes) {
    joinType(mine, name->name, value, name->getRange());
    hir::VarObj *copy = variableOf(mine, name->name, name->getRange());
    emit(make<hir::Assign>(copy, cast(value.expr, copy->dtype, true, var->loc), var->loc));
  }
  bind(mine->scope, name->name, Binding::Fixed, value, name->getRange(), s);
  return true;
}

/// After the loop its variable is the copy, or a name that asks for one.
void Elaborator::endLoopVar(Loop &loop, FlowState::Delta &delta) {
  auto it = delta.bindings.find(loop.varSlot->index);
  if (it == delta.bindings.end())
    return;
  it->second.kind = loop.varSlot->info->loopVarEscapes ? Binding::Variable : Binding::Ended;
  it->second.value = Value::none();
}

void Elaborator::finishLoop(Loop &loop, SourceRange head, bool runs) {
  FlowState::Delta exit = flow.pop();
  if (loop.varSlot) {
    endLoopVar(loop, exit);
    for (FlowState::Delta &d : loop.breaks)
      endLoopVar(loop, d);
    for (FlowState::Delta &d : loop.continues)
      endLoopVar(loop, d);
  }
  for (FlowState::Delta &d : loop.continues)
    exit = flow.combine(exit, d, head, false);
  if (!runs)
    exit = flow.combine(exit, FlowState::Delta(), head, true);
  for (FlowState::Delta &d : loop.breaks)
    exit = flow.combine(exit, d, head, false);
  if (loop.varSlot && !loop.varSlot->info->loopVarEscapes) {
    const Binding &before = flow.get(loop.varSlot->index);
    auto it = exit.bindings.find(loop.varSlot->index);
    if (it != exit.bindings.end() && before.kind != Binding::Unbound) {
      it->second.kind = Binding::Ended; // one of two numbers: a variable, once it is read
      it->second.maybe = before.maybe;
    }
  }
  flow.apply(exit);
  for (const PendingRead &read : loop.pending)
    uninitialized(read.object, read.where, !loop.written.contains(read.object));
}

static bool runsAtLeastOnce(const Value &start, const Value &stop, int64_t step) {
  auto a = start.asInt64(), b = stop.asInt64();
  return a && b && (step > 0 ? *a < *b : *a > *b);
}

void Elaborator::elabRuntimeLoop(const ast::ForStmt *s, const ast::CallExpr *call, const BuiltinInfo &info) {
  if (info.kind == BuiltinKind::Pipelined && inParallel()) {
    report(diag::E0120, callName(call), "`Pipelined`", "in a `Parallel` loop");
    checkNames(s);
    return;
  }
  llvm::SmallVector<Value, 3> bounds;
  BoundArgs args;
  auto *node = make<hir::For>(loc(s->head));
  bool ok = loopBounds(call, info, bounds, args);
  if (ok && info.kind == BuiltinKind::Pipelined)
    pipelineArguments(args, node);
  std::optional<int64_t> step = 1;
  if (ok && bounds.size() == 3) {
    step = bounds[2].asInt64();
    SourceRange where = args.rest[2]->value->getRange();
    if (!bounds[2].isInt())
      report(diag::E0530, where, "a run-time step", "loop over the number of steps and multiply");
    else if (!step || *step == 0)
      report(diag::E0128, where);
    ok = step && *step != 0;
  }
  if (!ok) { // look for errors in the body all the same
    bounds = {Value::ofInt(0), Value::ofInt(1)};
    step = 1;
  }
  Value start = bounds.size() == 1 ? Value::ofInt(0) : bounds[0], stop = bounds[bounds.size() == 1 ? 0 : 1];
  node->start = toIndex(start, s->head, "a loop bound");
  node->stop = toIndex(stop, s->head, "a loop bound");
  if (!node->start || !node->stop)
    return;
  node->step = intConst(*step, DType::I64, loc(s->head));
  node->stepNegative = *step < 0;
  auto *var = makeObject<hir::VarObj>("", s->target->getRange(), DType::I64, hir::Object::LoopVar);
  node->var = var;
  bool runs = runsAtLeastOnce(start, stop, *step);
  if (runs) {
    // The distance may take 64 bits and a sign.
    int64_t a = *start.asInt64();
    __int128 trips =
        (static_cast<__int128>(*stop.asInt64()) - a + (*step > 0 ? *step - 1 : *step + 1)) / *step;
    int64_t last = static_cast<int64_t>(a + (trips - 1) * *step);
    ranges[var] = {std::min(a, last), std::max(a, last)};
  }
  Loop loop{};
  loop.kind = Loop::Runtime;
  loop.flowDepth = flow.depth();
  loop.runtimeDepth = runtimeDepth;
  loop.var = var;
  loop.path = settled.path(path, s, 0);
  loop.canUnroll = start.isInt() && stop.isInt() && info.kind != BuiltinKind::Pipelined;
  hir::Block *outer = out;
  out = &node->body;
  flow.push();
  ++runtimeDepth;
  conditional += !runs;
  loops.push_back(&loop);
  if (bindLoopVar(loop, s, var))
    elabBlock(s->body);
  loops.pop_back();
  conditional -= !runs;
  --runtimeDepth;
  out = outer;
  finishLoop(loop, s->head, runs);
  emit(node);
}

//===----------------------------------------------------------------------===//
// Parallel
//===----------------------------------------------------------------------===//

static void flattenTargets(const ast::Expr *e, llvm::SmallVectorImpl<const ast::Expr *> &targets) {
  llvm::ArrayRef<const ast::Expr *> items;
  if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(e))
    items = tuple->elements;
  else if (auto *list = llvm::dyn_cast<ast::ListExpr>(e))
    items = list->elements;
  else
    return targets.push_back(e);
  targets.append(items.begin(), items.end());
}

bool Elaborator::parallelHeader(const ast::ForStmt *s, const ast::CallExpr *call, hir::Parallel *loop,
                                llvm::SmallVectorImpl<const ast::Expr *> &targets) {
  BoundArgs args = bindArgs(*findBuiltin("Parallel"), call);
  if (!args.ok)
    return false;
  for (const ast::Argument *a : args.rest) {
    auto *star = llvm::dyn_cast<ast::StarredExpr>(a->value);
    Value v = eval(star ? star->value : a->value);
    SourceRange where = a->value->getRange();
    if (star && !v.isSequence()) {
      if (!v.isPoison())
        report(diag::E0204, where, "a compile-time tuple or list behind `*`", describe(v));
      return false;
    }
    ValueList extents = star ? *v.items : ValueList{v};
    for (const Value &extent : extents) {
      const hir::Expr *x = toIndex(extent, where, "an extent");
      if (!x)
        return false;
      loop->extents.push_back(x);
    }
  }
  flattenTargets(s->target, targets);
  if (targets.size() != loop->extents.size() || targets.empty()) {
    report(diag::E0240, s->target->getRange(), targets.size(), loop->extents.size());
    return false;
  }
  if (targets.size() > 8) {
    report(diag::E0221, s->target->getRange(), "a `Parallel` loop", targets.size());
    return false;
  }
  for (unsigned i = 0; i < targets.size(); ++i) {
    auto *name = llvm::dyn_cast<ast::NameExpr>(targets[i]);
    if (!name) {
      report(diag::E0114, targets[i]->getRange(), text(targets[i]), "a loop variable is a name");
      return false;
    }
    auto *var = makeObject<hir::VarObj>(name->name, name->getRange(), DType::I64, hir::Object::LoopVar);
    loop->vars.push_back(var);
    if (auto n = constantOf(loop->extents[i]); n && *n > 0)
      ranges[var] = {0, *n - 1};
  }
  return true;
}

static bool mentions(const hir::Expr *e, const hir::Parallel &loop) {
  switch (e->kind) {
  case hir::Expr::IntConst:
  case hir::Expr::SymRef:
  case hir::Expr::DimRef:
    return false;
  case hir::Expr::ObjRef: {
    const hir::Object *o = static_cast<const hir::ObjRef *>(e)->object;
    if (llvm::is_contained(loop.vars, o))
      return true;
    return o->kind == hir::Object::Var;
  }
  case hir::Expr::Binary:
    return mentions(static_cast<const hir::Binary *>(e)->lhs, loop) ||
           mentions(static_cast<const hir::Binary *>(e)->rhs, loop);
  case hir::Expr::Cast:
    return mentions(static_cast<const hir::Cast *>(e)->operand, loop);
  default:
    return true;
  }
}

/// Directly nested Parallel loops with only scalars between are one nest (rule 40).
bool Elaborator::mergeParallel(const ast::ForStmt *s, const hir::Parallel &inner) {
  bool direct = out == &parallel->body && lastInBlock && loops.back()->kind == Loop::Parallel;
  for (const hir::Stmt *before : parallel->body)
    direct &= before->kind == hir::Stmt::Assign;
  for (const hir::Expr *extent : inner.extents)
    direct &= !mentions(extent, *parallel);
  if (!direct || parallel->vars.size() + inner.vars.size() > 8) {
    report(diag::E0530, s->head,
           "a `Parallel` loop inside a `Parallel` loop with other statements, or of varying extent",
           "give one `Parallel` all extents, or use `range` inside");
    return false;
  }
  parallel->vars.append(inner.vars.begin(), inner.vars.end());
  parallel->extents.append(inner.extents.begin(), inner.extents.end());
  return true;
}

void Elaborator::elabParallel(const ast::ForStmt *s, const ast::CallExpr *call) {
  bool nestable = lastInBlock;
  auto *node = make<hir::Parallel>(loc(s->head));
  llvm::SmallVector<const ast::Expr *, 4> targets;
  if (!parallelHeader(s, call, node, targets)) {
    flattenTargets(s->target, targets);
    for (const ast::Expr *t : targets)
      if (auto *name = llvm::dyn_cast<ast::NameExpr>(t))
        slot(scope, name->name);
    checkNames(s->body);
    return;
  }
  lastInBlock = nestable;
  if (inParallel()) {
    if (!mergeParallel(s, *node))
      return checkNames(s->body);
    for (unsigned i = 0; i < targets.size(); ++i)
      bind(scope, node->vars[i]->name, Binding::Fixed,
           Value::ofExpr(objRef(node->vars[i], targets[i]->getRange())), targets[i]->getRange(), s);
    return elabBlock(s->body);
  }
  parallelBody(s, node, targets);
  emit(node);
  if (!stopped())
    checkRaces(*node, ctx);
}

void Elaborator::parallelBody(const ast::ForStmt *s, hir::Parallel *node,
                              llvm::ArrayRef<const ast::Expr *> targets) {
  bool runs = true;
  for (const hir::Expr *extent : node->extents)
    runs &= constantOf(extent).value_or(0) > 0;
  Loop loop{};
  loop.kind = Loop::Parallel;
  loop.flowDepth = flow.depth();
  loop.runtimeDepth = runtimeDepth;
  hir::Block *outer = out;
  Scope *before = scope;
  flow.push();
  ++runtimeDepth;
  conditional += !runs;
  Scope *inner = pushScope(Scope::Parallel, s, s->head, scope);
  collectAssigned(s->body, inner->assigned);
  for (unsigned i = 0; i < targets.size(); ++i)
    bind(inner, node->vars[i]->name, Binding::Fixed,
         Value::ofExpr(objRef(node->vars[i], targets[i]->getRange())), targets[i]->getRange(), s);
  loops.push_back(&loop);
  parallel = node;
  out = &node->body;
  elabBlock(s->body);
  parallel = nullptr;
  out = outer;
  loops.pop_back();
  popScope(before);
  conditional -= !runs;
  --runtimeDepth;
  finishLoop(loop, s->head, runs);
  Scope *function = functionScope();
  for (const auto &entry : inner->assigned)
    function->inParallel[entry.getKey()] = s->head;
  for (const hir::VarObj *var : node->vars)
    function->inParallel[var->name] = s->head;
}
