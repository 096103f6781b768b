//===- Launch.cpp - with Kernel(...) --------------------------------------------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

void Elaborator::elabWith(const ast::WithStmt *s) {
  const ast::WithStmt::Item &item = s->items[0];
  const BuiltinInfo *info = builtinCallee(item.context);
  auto refuse = [&] { checkNames(s); };
  if (info && info->kind == BuiltinKind::Unsupported) {
    report(diag::E0532, callName(llvm::cast<ast::CallExpr>(item.context)), info->name, info->params);
    return refuse();
  }
  if (s->items.size() != 1 || !info || info->kind != BuiltinKind::Kernel) {
    report(diag::E0130, s->head);
    return refuse();
  }
  auto *call = llvm::cast<ast::CallExpr>(item.context);
  if (level != Level::Host || macro) {
    report(diag::E0120, callName(call), "`with Kernel`", macro ? "in a macro" : "in a launch body");
    return refuse();
  }
  elabLaunch(s, call, item.target);
}

bool Elaborator::gridValues(const Value &v, SourceRange where,
                            llvm::SmallVectorImpl<const hir::Expr *> &grid) {
  if (v.isSequence()) {
    for (const Value &item : *v.items)
      if (!gridValues(item, where, grid))
        return false;
    return true;
  }
  const hir::Expr *x = toIndex(v, where, "a grid extent");
  if (x)
    grid.push_back(x);
  return x != nullptr;
}

void Elaborator::launchArguments(const BoundArgs &args, const BuiltinInfo &info, hir::Launch *node) {
  if (args.named[1])
    node->threads = intArgument(args.named[1], "threads", 1, 1024);
  if (args.named[2]) {
    Value v = eval(args.named[2]->value);
    SourceRange where = args.named[2]->value->getRange();
    ValueList items = v.isSequence() ? *v.items : ValueList{v};
    int64_t product = 1;
    bool ok = items.size() <= 3;
    for (const Value &item : items) {
      auto n = item.asInt64();
      ok &= n && *n >= 1 && *n <= 16;
      product *= ok ? *n : 1;
      node->cluster.push_back(ok ? *n : 1);
    }
    if ((!ok || product > 16) && !v.isPoison())
      report(diag::E0218, where, "cluster", "one to three compile-time ints with a product up to 16",
             repr(v));
    else if (product > 1)
      report(diag::E0530, where, "a cluster of several blocks", "leave `cluster` out");
  }
  if (args.named[3]) {
    auto b = boolArgument(args, 3, "persistent", false);
    node->persistent = b.value_or(false);
  }
  if (args.named[4])
    node->minBlocks = intArgument(args.named[4], "min_blocks", 1, 32);
}

void Elaborator::elabLaunch(const ast::WithStmt *s, const ast::CallExpr *call, const ast::Expr *target) {
  const BuiltinInfo &info = *findBuiltin("Kernel");
  auto *node = make<hir::Launch>(loc(callName(call)));
  BoundArgs args = bindArgs(info, call);
  bool ok = args.ok;
  for (const ast::Argument *a : args.rest) {
    auto *star = llvm::dyn_cast<ast::StarredExpr>(a->value);
    Value v = eval(star ? star->value : a->value);
    if (!star && v.isSequence()) {
      report(diag::E0204, a->value->getRange(), "an integer for a grid extent", describe(v))
          .fixit(a->value->getRange().atBegin(), "*");
      ok = false;
      continue;
    }
    ok &= gridValues(v, a->value->getRange(), node->grid);
  }
  if (ok && (node->grid.empty() || node->grid.size() > 3)) {
    report(diag::E0215, callName(call), "Kernel", "one to three grid extents",
           std::to_string(node->grid.size()));
    ok = false;
  }
  if (args.ok)
    launchArguments(args, info, node);
  if (!ok) { // look for errors in the body all the same, with as many axes as it has names for
    auto *names = llvm::dyn_cast_or_null<ast::TupleExpr>(target);
    size_t axes = names ? names->elements.size() : node->grid.size();
    node->grid.resize(std::max<size_t>(axes, 1), intConst(1, DType::I64, node->loc));
  }
  ++launchesSeen;
  launchBody(node, s->body, s, s->head, target);
}

void Elaborator::bindBlockIds(hir::Launch *node, const ast::Expr *target) {
  static constexpr const char *axisNames[] = {"bx", "by", "bz"};
  llvm::ArrayRef<const ast::Expr *> names;
  if (auto *tuple = llvm::dyn_cast_or_null<ast::TupleExpr>(target))
    names = tuple->elements;
  else if (target)
    names = target;
  bool several = target && llvm::isa<ast::TupleExpr>(target);
  bool matches = !target || names.size() == node->grid.size() || !several;
  if (!matches)
    report(diag::E0115, target->getRange(), names.size(),
           std::to_string(node->grid.size()) + (node->grid.size() == 1 ? " block index" : " block indices"));
  ValueList ids;
  for (unsigned axis = 0; axis < node->grid.size(); ++axis) {
    auto *name = axis < names.size() ? llvm::dyn_cast<ast::NameExpr>(names[axis]) : nullptr;
    bool own = name && (several || node->grid.size() == 1);
    // More than three axes have their error, their body is looked at all the same.
    llvm::StringRef axisName = axisNames[std::min<size_t>(axis, std::size(axisNames) - 1)];
    SourceRange where = name ? name->getRange() : ctx.range(node->loc);
    auto *id = makeObject<hir::VarObj>(own ? name->name : axisName, where, DType::I64, hir::Object::BlockId);
    id->axis = axis;
    node->blockIds.push_back(id);
    ids.push_back(Value::ofExpr(objRef(id, where)));
  }
  for (unsigned i = 0; i < names.size(); ++i) {
    auto *name = llvm::dyn_cast<ast::NameExpr>(names[i]);
    if (!name) {
      report(diag::E0114, names[i]->getRange(), text(names[i]), "a block index is a name");
      continue;
    }
    Value v = !several && ids.size() > 1 ? Value::ofTuple(ids) : i < ids.size() ? ids[i] : Value::poison();
    bind(scope, name->name, Binding::Fixed, v, name->getRange());
  }
}

void Elaborator::launchBody(hir::Launch *node, ast::Block body, const void *key, SourceRange where,
                            const ast::Expr *target) {
  Scope *before = scope;
  hir::Block *outer = out;
  std::vector<Loop *> outerLoops = std::move(loops);
  loops.clear();
  unsigned outerConditional = conditional;
  conditional = 0; // a launch that happens at all
  level = Level::Launch;
  launch = node;
  usedTensors.clear();
  out = &node->body;
  Scope *inner = pushScope(Scope::Launch, key, where, scope);
  collectAssigned(body, inner->assigned);
  bindBlockIds(node, target);
  importOuterValues(inner);
  elabBlock(body);
  flow.reachable = true;
  conditional = outerConditional;
  launch = nullptr;
  level = Level::Host;
  out = outer;
  loops = std::move(outerLoops);
  popScope(before);
  emit(node);
}
