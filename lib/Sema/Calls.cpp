//===- Calls.cpp - arguments, dispatch to the built-ins, macros -----------------------===//

#include "Elaborator.h"
#include "llvm/ADT/ScopeExit.h"

using namespace tilec;
using namespace tilec::sema;

SourceRange Elaborator::callName(const ast::CallExpr *e) {
  if (auto *attr = llvm::dyn_cast<ast::AttributeExpr>(e->callee))
    return attr->attr.range;
  return e->callee->getRange();
}

/// The built-in that `e` calls, without any message when it calls something else.
const BuiltinInfo *Elaborator::builtinCallee(const ast::Expr *e) {
  auto *call = llvm::dyn_cast<ast::CallExpr>(e);
  if (!call)
    return nullptr;
  if (auto *attr = llvm::dyn_cast<ast::AttributeExpr>(call->callee)) {
    auto *base = llvm::dyn_cast<ast::NameExpr>(attr->base);
    if (!base || findSlot(base->name, true))
      return nullptr;
    auto it = module->names.find(base->name);
    bool alias = it != module->names.end() && it->second.value.kind == Value::ModuleAlias;
    return alias ? findBuiltin(attr->attr.text) : nullptr;
  }
  auto *name = llvm::dyn_cast<ast::NameExpr>(call->callee);
  if (!name || findSlot(name->name, true) || module->names.count(name->name))
    return nullptr;
  return findBuiltin(name->name);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

BoundArgs Elaborator::bindArgs(const BuiltinInfo &info, const ast::CallExpr *e) {
  llvm::SmallVector<BuiltinParam, 8> params = parseParams(info);
  BoundArgs bound;
  bound.named.resize(params.size(), nullptr);
  bool variadic = !params.empty() && params[0].variadic;
  size_t next = 0;
  auto fail = [&] { bound.ok = false; };
  for (const ast::Argument &a : e->args) {
    size_t at = params.size();
    if (a.keyword.empty()) {
      if (variadic) {
        bound.rest.push_back(&a);
        continue;
      }
      if (llvm::isa<ast::StarredExpr>(a.value)) {
        report(diag::E0530, a.range, "`*` in a call of `" + info.name.str() + "`", "write each argument");
        fail();
        continue;
      }
      at = next++;
      if (at >= params.size()) {
        report(diag::E0215, callName(e), info.name,
               info.params.empty() ? "no arguments" : "(" + info.params.str() + ")",
               std::to_string(e->args.size()) + " arguments");
        fail();
        break;
      }
    } else {
      for (at = variadic; at < params.size() && params[at].name != a.keyword.text;)
        ++at;
      if (at == params.size()) {
        report(diag::E0214, a.keyword.range, info.name, a.keyword.text);
        fail();
        continue;
      }
    }
    if (params[at].refused) {
      report(diag::E0531, a.range, params[at].name, info.name);
      fail();
    } else if (bound.named[at]) {
      report(diag::E0215, a.range, info.name, "`" + params[at].name.str() + "` once", "it twice");
      fail();
    }
    bound.named[at] = &a;
  }
  for (size_t i = 0; i < params.size() && bound.ok; ++i)
    if (!params[i].optional && !bound.named[i]) {
      report(diag::E0213, callName(e), info.name, params[i].name);
      fail();
    }
  if (!bound.ok)
    for (const ast::Argument &a : e->args)
      checkNames(a.value);
  return bound;
}

Value Elaborator::argument(const BoundArgs &args, unsigned i) {
  return args.named[i] ? eval(args.named[i]->value) : Value::none();
}

std::optional<bool> Elaborator::boolArgument(const BoundArgs &args, unsigned i, llvm::StringRef name,
                                             bool otherwise) {
  if (!args.named[i])
    return otherwise;
  Value v = eval(args.named[i]->value);
  if (v.kind == Value::Bool)
    return v.boolean;
  if (!v.isPoison())
    report(diag::E0218, args.named[i]->value->getRange(), name, "True or False", describe(v));
  return std::nullopt;
}

std::optional<int64_t> Elaborator::intArgument(const ast::Argument *arg, llvm::StringRef name, int64_t low,
                                               int64_t high) {
  Value v = eval(arg->value);
  auto n = v.asInt64();
  if (n && *n >= low && *n <= high)
    return n;
  if (!v.isPoison())
    report(diag::E0218, arg->value->getRange(), name,
           "a compile-time int from " + std::to_string(low) + " to " + std::to_string(high),
           v.isInt() ? repr(v) : describe(v));
  return std::nullopt;
}

std::optional<DType> Elaborator::dtypeOf(const Value &v, SourceRange where) {
  if (v.kind == Value::DTypeName)
    return v.dtype;
  if (v.kind == Value::String) {
    if (auto t = parseDType(*v.text))
      return t;
    report(diag::E0219, where, repr(v));
    return std::nullopt;
  }
  if (v.kind == Value::Builtin && v.builtin->kind == BuiltinKind::Unsupported)
    report(diag::E0532, where, v.builtin->name, v.builtin->params);
  else if (!v.isPoison())
    report(diag::E0219, where, describe(v));
  return std::nullopt;
}

std::optional<DType> Elaborator::evalDType(const ast::Expr *e) { return dtypeOf(eval(e), e->getRange()); }

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

bool Elaborator::allowedHere(const BuiltinInfo &info, SourceRange where) {
  llvm::StringRef wrong;
  switch (info.where) {
  case BuiltinWhere::Anywhere:
    return true;
  case BuiltinWhere::Special:
    wrong = info.kind == BuiltinKind::Kernel ? "outside a `with` statement" : "in an expression";
    break;
  case BuiltinWhere::Host:
    wrong = level == Level::Launch ? "in a launch body" : level == Level::Host ? "" : "outside a kernel";
    break;
  case BuiltinWhere::Launch:
  case BuiltinWhere::Tiles:
    wrong = level == Level::Host ? "on the host level" : level == Level::Launch ? "" : "outside a kernel";
    if (wrong.empty() && info.where == BuiltinWhere::Tiles && inParallel())
      wrong = "in a `Parallel` loop";
    break;
  }
  if (wrong.empty())
    return true;
  report(diag::E0120, where, "`" + info.name.str() + "`", wrong);
  return false;
}

Value Elaborator::evalCall(const ast::CallExpr *e) {
  if (auto *attr = llvm::dyn_cast<ast::AttributeExpr>(e->callee); attr && attr->attr.text == "astype") {
    Value base = eval(attr->base);
    if (base.kind != Value::ModuleAlias) {
      if (e->args.size() != 1 || !e->args[0].keyword.empty()) {
        report(diag::E0215, attr->attr.range, "astype", "one dtype",
               std::to_string(e->args.size()) + " arguments");
        return Value::poison();
      }
      auto t = evalDType(e->args[0].value);
      return t && !base.isPoison() ? castCall(e, *t, attr->base, true) : Value::poison();
    }
  }
  auto *calleeName = level == Level::Dims ? llvm::dyn_cast<ast::NameExpr>(e->callee) : nullptr;
  Value callee = calleeName ? lookupGlobal(calleeName->name, callName(e)) : eval(e->callee);
  switch (callee.kind) {
  case Value::Builtin:
    return callBuiltin(*callee.builtin, e);
  case Value::DTypeName:
    if (e->args.size() != 1 || !e->args[0].keyword.empty()) {
      report(diag::E0215, callName(e), dtypeName(callee.dtype), "one value",
             std::to_string(e->args.size()) + " arguments");
      return Value::poison();
    }
    return castCall(e, callee.dtype, e->args[0].value, true);
  case Value::Function:
    if (callee.function->isMacro)
      return callMacro(*callee.function, e);
    report(diag::E0121, callName(e), callee.function->def->name.text)
        .note(callee.function->def->name.range, "the kernel is defined here");
    break;
  case Value::Poison:
    break;
  default:
    report(diag::E0122, callName(e), text(e->callee), describe(callee));
    break;
  }
  for (const ast::Argument &a : e->args)
    checkNames(a.value);
  return Value::poison();
}

Value Elaborator::callBuiltin(const BuiltinInfo &info, const ast::CallExpr *e) {
  auto fail = [&] {
    for (const ast::Argument &a : e->args)
      checkNames(a.value);
    return Value::poison();
  };
  if (info.kind == BuiltinKind::Unsupported) {
    report(diag::E0532, callName(e), info.name, info.params);
    return fail();
  }
  if (!allowedHere(info, callName(e)))
    return fail();
  switch (info.kind) {
  case BuiltinKind::AllocShared:
  case BuiltinKind::AllocFragment:
    return alloc(info, e, "", callName(e));
  case BuiltinKind::AllocVar:
    report(diag::E0123, callName(e), "alloc_var", "`x = alloc_var(dtype, init)`");
    return fail();
  case BuiltinKind::Copy:
  case BuiltinKind::Transpose:
  case BuiltinKind::Fill:
  case BuiltinKind::Clear:
  case BuiltinKind::Gemm:
  case BuiltinKind::Reduce:
  case BuiltinKind::SafeValue:
  case BuiltinKind::UseSwizzle:
    if (lazyDepth) {
      report(diag::E0123, callName(e), info.name, "a statement of its own");
      return fail();
    }
    return callTile(info, e);
  case BuiltinKind::Assume:
  case BuiltinKind::StaticAssert: {
    BoundArgs args = bindArgs(info, e);
    if (!args.ok)
      return Value::poison();
    if (info.kind == BuiltinKind::Assume)
      elabAssume(args.named[0]->value);
    else
      elabAssert(args.named[0]->value, args.named[1] ? args.named[1]->value : nullptr, callName(e), true);
    return Value::none();
  }
  default:
    return callScalar(info, e);
  }
}

//===----------------------------------------------------------------------===//
// Macros
//===----------------------------------------------------------------------===//

/// A value that stays what it is now: expressions over variables go into a variable of their own.
Value Elaborator::capture(Value v, llvm::StringRef name, SourceRange where) {
  if (v.isSequence()) {
    ValueList items;
    for (const Value &item : *v.items)
      items.push_back(capture(item, name, where));
    return v.isConst() ? v : Value::ofItems(v.kind, std::move(items));
  }
  if (!v.isExpr() || !out)
    return v;
  switch (v.expr->kind) {
  case hir::Expr::IntConst:
  case hir::Expr::FloatConst:
  case hir::Expr::BoolConst:
  case hir::Expr::SymRef:
    return v;
  case hir::Expr::ObjRef:
    if (static_cast<const hir::ObjRef *>(v.expr)->object->kind != hir::Object::Var)
      return v;
    break;
  default:
    break;
  }
  auto *var = makeObject<hir::VarObj>(name, where, v.expr->type, hir::Object::Var);
  emit(make<hir::Assign>(var, v.expr, loc(where)));
  return Value::ofExpr(objRef(var, where), v.weak);
}

/// For an operand that the result uses more than once: nested, such uses would multiply.
Value Elaborator::shareable(const Value &v, SourceRange where) {
  constexpr unsigned small = 64;
  if (!v.isExpr() || !largerThan(v.expr, v.expr->kind == hir::Expr::Element && !lazyDepth ? 0 : small))
    return v;
  if (out && !lazyDepth)
    return capture(v, "value", where);
  report(diag::E0530, where, "an expression of this size here", "assign it to a variable before");
  return Value::poison();
}

bool Elaborator::bindMacroArgs(const FunctionInfo &fn, const ast::CallExpr *e, Scope *inner, Scope *outer) {
  llvm::ArrayRef<ast::Param> params = fn.def->params;
  llvm::SmallVector<const ast::Argument *, 8> given(params.size(), nullptr);
  size_t next = 0;
  llvm::StringRef name = fn.def->name.text;
  for (const ast::Argument &a : e->args) {
    size_t at = next;
    if (a.keyword.empty()) {
      ++next;
      if (llvm::isa<ast::StarredExpr>(a.value)) {
        report(diag::E0530, a.range, "`*` in a call of a macro", "write each argument");
        return false;
      }
    } else {
      for (at = 0; at < params.size() && params[at].name.text != a.keyword.text;)
        ++at;
      if (at == params.size()) {
        report(diag::E0214, a.keyword.range, name, a.keyword.text)
            .note(fn.def->name.range, "the macro is defined here");
        return false;
      }
    }
    if (at >= params.size() || given[at]) {
      report(diag::E0215, callName(e), name, std::to_string(params.size()) + " arguments",
             at < params.size() ? "one twice" : std::to_string(e->args.size()))
          .note(fn.def->name.range, "the macro is defined here");
      return false;
    }
    given[at] = &a;
  }
  bool ok = true;
  for (size_t i = 0; i < params.size(); ++i) {
    Value v = i < fn.defaults.size() ? fn.defaults[i] : Value::poison();
    SourceRange where = params[i].range;
    if (given[i]) {
      scope = outer;
      where = given[i]->value->getRange();
      v = eval(given[i]->value);
      scope = inner;
    } else if (!params[i].defaultValue) {
      report(diag::E0213, callName(e), name, params[i].name.text)
          .note(fn.def->name.range, "the macro is defined here");
    }
    if (v.isPoison()) {
      ok = false;
      continue;
    }
    auto *annotation = llvm::dyn_cast_or_null<ast::NameExpr>(params[i].annotation);
    bool isDType = annotation && annotation->name == "dtype",
         isConst = annotation && annotation->name == "const";
    if (isDType) {
      if (auto t = dtypeOf(v, where))
        v = Value::ofDType(*t);
      else
        ok = false;
    } else if (isConst && !v.isConst()) {
      report(diag::E0218, where, params[i].name.text, "a compile-time value", describe(v));
      ok = false;
    }
    if (v.isNumber() && inner->assigned.contains(params[i].name.text))
      assignScalar(slot(inner, params[i].name.text), params[i].name.text, where, v, nullptr, where);
    else
      bind(inner, params[i].name.text, Binding::Constant, capture(v, params[i].name.text, where), where, e);
  }
  return ok;
}

Value Elaborator::callMacro(const FunctionInfo &fn, const ast::CallExpr *e) {
  SourceRange where = callName(e);
  if (level == Level::Module || level == Level::Dims) {
    report(diag::E0120, where, "a macro", "outside a kernel");
    return Value::poison();
  }
  if (lazyDepth) {
    report(diag::E0530, where, "a macro call in the right side of `and`/`or` or in a branch of `if else`",
           "call it before, or write an `if` statement");
    return Value::poison();
  }
  if (!charge(where) || !constEval.step(where) || !enter(where))
    return Value::poison();
  llvm::scope_exit depth([&] { leave(); });
  if (++budget.expansions > Budget::maxExpansions) {
    budget.exhausted = true;
    report(diag::E0306, where, "nested macro expansions", Budget::maxExpansions);
    return Value::poison();
  }
  Scope *outer = scope;
  ModuleScope *outerModule = module;
  MacroFrame *outerMacro = macro;
  unsigned outerPath = path;
  path = settled.path(outerPath, e, 0);
  Scope *inner = pushScope(Scope::Macro, e, fn.def->name.range, nullptr);
  collectAssigned(fn.def->body, inner->assigned);
  // Arguments belong to the caller: its names, its module.
  bool ok = bindMacroArgs(fn, e, inner, outer);
  MacroFrame frame{runtimeDepth, loops.size()};
  if (ok) {
    module = fn.module;
    macro = &frame;
    ctx.sink.pushContext(where, "in macro `" + fn.def->name.text.str() + "`, called here");
    elabBlock(fn.def->body);
    ctx.sink.popContext();
    if (jump == Jump::Return)
      jump = Jump::None;
  }
  macro = outerMacro;
  module = outerModule;
  path = outerPath;
  scope = outer;
  --budget.expansions;
  return ok ? frame.result : Value::poison();
}
