//===- Modules.cpp - what stands at module level --------------------------------------===//

#include "Modules.h"
#include "Elaborator.h"
#include "ModuleAnalyzer.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tilec::sema;

//===----------------------------------------------------------------------===//
// Context
//===----------------------------------------------------------------------===//

hir::Loc Context::loc(SourceRange range) const {
  hir::Loc l;
  if (!range)
    return l;
  SourcePosition at = engine.position(range);
  l.buffer = range.buffer;
  l.line = at.line;
  l.col = at.column;
  llvm::StringRef text = engine.lines().text(range.buffer);
  l.range = {llvm::SMLoc::getFromPointer(text.data() + range.begin),
             llvm::SMLoc::getFromPointer(text.data() + range.end)};
  return l;
}

SourceRange Context::range(const hir::Loc &l) const {
  if (!l.buffer)
    return {};
  const char *text = engine.lines().text(l.buffer).data();
  return {l.buffer, static_cast<uint32_t>(l.range.Start.getPointer() - text),
          static_cast<uint32_t>(l.range.End.getPointer() - text)};
}

Define *Context::define(llvm::StringRef scope, llvm::StringRef name, bool bare) {
  Define *found = nullptr;
  for (Define &d : defines) {
    if (d.name != name || !(d.scope == scope || (d.scope.empty() && bare)))
      continue;
    d.used = true;
    if (!found || !d.scope.empty() || found->scope.empty()) // the last one, kernel.NAME before NAME
      found = &d;
  }
  return found;
}

/// Without a parser: a number, True, False, a quoted string, or a word.
static Value plainValue(llvm::StringRef text) {
  if (text == "True" || text == "False")
    return Value::ofBool(text == "True");
  if (text == "None")
    return Value::none();
  int64_t i;
  if (!text.getAsInteger(0, i))
    return Value::ofInt(i);
  double f;
  if (!text.empty() && (llvm::isDigit(text.back()) || text.back() == '.') && !text.getAsDouble(f))
    return Value::ofFloat(f);
  if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0])
    return Value::ofString(text.drop_front().drop_back().str());
  if (auto t = parseDType(text))
    return Value::ofDType(*t);
  return Value::ofString(text.str());
}

Value Context::defineValue(const Define &d) {
  llvm::StringRef text = llvm::StringRef(d.text).trim();
  bool word = !text.empty() && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (word || !options.loader)
    return plainValue(text);
  const ast::Module *parsed = options.loader->parseText(text);
  auto *stmt = parsed && parsed->body.size() == 1 ? llvm::dyn_cast<ast::ExprStmt>(parsed->body[0]) : nullptr;
  if (parsed && parsed->docstring && parsed->body.empty())
    return Value::ofString(parsed->docstring->value.str());
  if (!stmt)
    return Value::ofString(text.str());
  Settled settled;
  Elaborator e(*this, *main, settled);
  return e.eval(stmt->value);
}

//===----------------------------------------------------------------------===//
// ModuleAnalyzer
//===----------------------------------------------------------------------===//

static bool isBuiltinName(llvm::StringRef name) { return findBuiltin(name) || bareDType(name); }

void ModuleAnalyzer::defineName(llvm::StringRef name, Value v, SourceRange where, bool warn) {
  auto it = module.names.find(name);
  if (it != module.names.end()) {
    ctx.sink.report(diag::E0104, where, name).note(it->second.where, "`{0}` is defined here already", name);
    return;
  }
  if (warn && isBuiltinName(name))
    ctx.sink.report(diag::W0101, where, "the definition of", name);
  module.names[name] = {std::move(v), where};
}

void ModuleAnalyzer::run() {
  for (const ast::Stmt *s : module.ast->body)
    statement(s);
}

void ModuleAnalyzer::statement(const ast::Stmt *s) {
  using K = ast::NodeKind;
  switch (s->getKind()) {
  case K::Import:
    return import(llvm::cast<ast::ImportStmt>(s));
  case K::ImportFrom:
    return importFrom(llvm::cast<ast::ImportFromStmt>(s));
  case K::Assign:
    return assign(llvm::cast<ast::AssignStmt>(s));
  case K::FunctionDef:
    return function(llvm::cast<ast::FunctionDef>(s));
  case K::Assert:
  case K::ExprStmt:
    return check(s);
  case K::Pass:
    return;
  default:
    ctx.sink.report(diag::E0105, s->getRange());
  }
}

/// assert and static_assert; a bare string is a comment.
void ModuleAnalyzer::check(const ast::Stmt *s) {
  const ast::Expr *cond = nullptr, *message = nullptr;
  if (auto *a = llvm::dyn_cast<ast::AssertStmt>(s)) {
    cond = a->condition;
    message = a->message;
  } else {
    auto *value = llvm::cast<ast::ExprStmt>(s)->value;
    if (llvm::isa<ast::StringLiteral>(value))
      return;
    auto *call = llvm::dyn_cast<ast::CallExpr>(value);
    Value callee = call ? elaborator.eval(call->callee) : Value::poison();
    if (call && callee.isPoison())
      return;
    if (!call || callee.kind != Value::Builtin || callee.builtin->kind != BuiltinKind::StaticAssert) {
      ctx.sink.report(diag::E0105, s->getRange());
      return;
    }
    elaborator.eval(value);
    return;
  }
  elaborator.moduleAssert(cond, message);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

void ModuleAnalyzer::assignTarget(const ast::Expr *target, const Value &v) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(target)) {
    Value value = v;
    if (Define *d = ctx.define(module.isMain ? "" : module.name, name->name, module.isMain)) {
      Value set = ctx.defineValue(*d);
      bool number = v.isConstNumber() && set.isConstNumber();
      if (!number && !v.isPoison() && v.kind != set.kind)
        ctx.sink.report(diag::E0611, SourceRange(), d->name + "=" + d->text,
                        "`" + name->name.str() + "` is " + describe(v));
      else
        value = set;
    }
    bool ok = value.isConst() || value.isPoison();
    if (!ok)
      ctx.sink.report(diag::E0204, target->getRange(), "a compile-time value for a module constant",
                      describe(value));
    return defineName(name->name, ok ? value : Value::poison(), name->getRange(), true);
  }
  llvm::ArrayRef<const ast::Expr *> targets;
  if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(target))
    targets = tuple->elements;
  else if (auto *list = llvm::dyn_cast<ast::ListExpr>(target))
    targets = list->elements;
  else {
    ctx.sink.report(diag::E0105, target->getRange());
    return;
  }
  bool fits = v.isSequence() && v.items->size() == targets.size();
  if (!fits && !v.isPoison())
    ctx.sink.report(diag::E0115, target->getRange(), targets.size(),
                    v.isSequence() ? std::to_string(v.items->size()) + " values" : describe(v));
  for (size_t i = 0; i < targets.size(); ++i)
    assignTarget(targets[i], fits ? (*v.items)[i] : Value::poison());
}

void ModuleAnalyzer::assign(const ast::AssignStmt *s) {
  Value v = elaborator.eval(s->value);
  for (const ast::Expr *target : s->targets)
    assignTarget(target, v);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void ModuleAnalyzer::function(const ast::FunctionDef *def) {
  ctx.functions.emplace_back();
  FunctionInfo &fn = ctx.functions.back();
  fn.def = def;
  fn.module = &module;
  bool isKernel = false, known = true;
  for (const ast::Expr *decorator : def->decorators) {
    auto *call = llvm::dyn_cast<ast::CallExpr>(decorator);
    Value v = elaborator.eval(call ? call->callee : decorator);
    BuiltinKind kind = v.kind == Value::Builtin ? v.builtin->kind : BuiltinKind::Len;
    if (kind == BuiltinKind::KernelDecorator) {
      isKernel = true;
      fn.kernelCall = call;
    } else if (kind == BuiltinKind::MacroDecorator) {
      fn.isMacro = true;
    } else if (kind == BuiltinKind::Instantiate && call) {
      fn.instantiate = call;
    } else {
      known = false;
      if (!v.isPoison())
        ctx.sink.report(diag::E0106, decorator->getRange());
    }
  }
  if (known && isKernel == fn.isMacro)
    ctx.sink.report(diag::E0131, def->name.range, def->name.text)
        .fixit(def->getRange().atBegin(), "@macro\n");
  if (fn.isMacro)
    macroParams(fn);
  // What is neither or both has its message: calls of it need none of their own.
  Value function = isKernel == fn.isMacro ? Value::poison() : Value::ofFunction(&fn);
  defineName(def->name.text, function, def->name.range, true);
  if (isKernel && known)
    module.kernels.push_back(&fn);
}

void ModuleAnalyzer::macroParams(FunctionInfo &fn) {
  for (const ast::Param &p : fn.def->params) {
    if (p.kind == ast::Param::Kind::VarArgs || p.kind == ast::Param::Kind::KwArgs)
      ctx.sink.report(diag::E0516, p.range, p.kind == ast::Param::Kind::VarArgs ? "*" : "**", p.name.text);
    fn.defaults.push_back(p.defaultValue ? elaborator.eval(p.defaultValue) : Value::poison());
  }
}
