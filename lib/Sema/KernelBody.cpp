//===- KernelBody.cpp - one walk over a kernel instance -------------------------------===//

#include "Elaborator.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tilec::sema;

static bool isIdentifier(llvm::StringRef s) {
  if (s.empty() || s.size() > 200 || (s[0] >= '0' && s[0] <= '9'))
    return false;
  return llvm::all_of(s, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

bool Elaborator::kernelOptions(const FunctionInfo &fn, hir::Kernel &k) {
  if (!fn.kernelCall)
    return true;
  BoundArgs args = bindArgs(*findBuiltin("kernel"), fn.kernelCall);
  if (!args.ok)
    return false;
  if (args.named[0]) {
    Value v = eval(args.named[0]->value);
    if (v.kind == Value::String && isIdentifier(*v.text))
      k.sourceName = *v.text;
    else if (!v.isPoison())
      report(diag::E0218, args.named[0]->value->getRange(), "name", "a string that is a C identifier",
             repr(v));
  }
  if (args.named[1]) {
    const ast::Expr *e = args.named[1]->value;
    if (llvm::isa<ast::SetExpr>(e))
      report(diag::E0530, e->getRange(), "a set for `fast_math`", "write `fast_math=True`, or leave it out");
    else
      k.fastMath = boolArgument(args, 1, "fast_math", false).value_or(false);
  }
  if (args.named[2]) {
    Value v = eval(args.named[2]->value);
    if (v.asInt64() == 32 || v.asInt64() == 64)
      k.indexBits = *v.asInt64();
    else if (!v.isPoison() && !(v.kind == Value::String && *v.text == "auto"))
      report(diag::E0218, args.named[2]->value->getRange(), "index_bits", "32, 64 or \"auto\"", repr(v));
  }
  k.inplace = boolArgument(args, 3, "inplace", false).value_or(false);
  return true;
}

/// In .tile syntax, on one line: for the header.
std::string Elaborator::signature(const FunctionInfo &fn) const {
  std::string out = fn.def->name.text.str() + "(";
  llvm::raw_string_ostream os(out);
  bool first = true;
  for (const ast::Param &p : fn.def->params) {
    if (!p.annotation)
      continue;
    os << (first ? "" : ", ") << p.name.text << ": ";
    first = false;
    ast::unparse(p.annotation, os);
    if (p.defaultValue) {
      os << " = ";
      ast::unparse(p.defaultValue, os);
    }
  }
  os << ")";
  return out;
}

std::unique_ptr<hir::Kernel> Elaborator::elaborate(const FunctionInfo &fn,
                                                   const llvm::StringMap<Value> &instance) {
  auto result = std::make_unique<hir::Kernel>();
  kernel = result.get();
  functionName = fn.def->name.text;
  kernel->sourceName = functionName.str();
  kernel->doc = fn.def->docstring ? fn.def->docstring->value.str() : "";
  kernel->loc = loc(fn.def->name.range);
  kernel->signature = signature(fn);
  for (unsigned char c : kernel->sourceName)
    if (c >= 128) {
      report(diag::E0107, fn.def->name.range, fn.def->name.text);
      break;
    }
  level = Level::Module;
  out = nullptr;
  kernelOptions(fn, *kernel);
  pushScope(Scope::Kernel, fn.def, fn.def->name.range, nullptr);
  constParams(fn, instance, *kernel);
  runtimeParams(fn, *kernel);
  out = &kernel->host;
  kernelBody(fn, *kernel);
  if (safeValueAt && launchesSeen > 1)
    report(diag::E0530, safeValueAt, "annotate_safe_value in a kernel with several launches",
           "split the kernel, or test the index in the loop");
  computeAccess(*kernel, tensors);
  kernel->name = kernel->sourceName;
  return result;
}

//===----------------------------------------------------------------------===//
// The body: launches on the host level, or one launch without `with`
//===----------------------------------------------------------------------===//

static bool containsWith(ast::Block block) {
  for (const ast::Stmt *s : block) {
    if (llvm::isa<ast::WithStmt>(s))
      return true;
    if (auto *i = llvm::dyn_cast<ast::IfStmt>(s))
      if (containsWith(i->thenBody) || containsWith(i->elseBody))
        return true;
    if (auto *f = llvm::dyn_cast<ast::ForStmt>(s))
      if (containsWith(f->body))
        return true;
  }
  return false;
}

const ast::Expr *Elaborator::launchAttribute(llvm::StringRef name, const FunctionInfo &fn) {
  const ast::Expr *value = nullptr;
  if (fn.kernelCall)
    for (const ast::Argument &a : fn.kernelCall->args)
      if (a.keyword.text == name)
        value = a.value;
  for (const ast::Param &p : fn.def->params)
    if (!p.annotation && p.name.text == name && p.defaultValue) {
      if (value)
        report(diag::E0151, p.name.range, name).note(value->getRange(), "the decorator gives it here");
      value = p.defaultValue;
    }
  return value;
}

void Elaborator::kernelBody(const FunctionInfo &fn, hir::Kernel &k) {
  static constexpr const char *attributes[] = {"shape", "block", "grid", "num_threads"};
  level = Level::Host;
  if (!containsWith(fn.def->body))
    return wholeBodyLaunch(fn, k);
  for (const char *name : attributes)
    if (const ast::Expr *value = launchAttribute(name, fn))
      report(diag::E0141, value->getRange(), name);
  Scope *host = pushScope(Scope::Host, fn.def, fn.def->name.range, scope);
  collectAssigned(fn.def->body, host->assigned);
  importOuterValues(host);
  elabBlock(fn.def->body);
  if (!launchesSeen && !stopped() && !ctx.sink.hasErrors())
    report(diag::E0142, fn.def->name.range, fn.def->name.text);
}

/// One axis: the product of ceildiv(shape[i], block[i]) over all of `shape`, but not the last of three or
/// more.
void Elaborator::defaultGrid(const Value &shape, const Value &block, SourceRange where, hir::Launch *node) {
  ValueList extents = shape.isSequence() ? *shape.items : ValueList{shape};
  ValueList blocks = block.isSequence() ? *block.items : ValueList{block};
  size_t n = extents.size() >= 3 ? extents.size() - 1 : extents.size();
  if (blocks.size() < n) {
    report(diag::E0115, where, n, std::to_string(blocks.size()) + " entries of `block`");
    n = blocks.size();
  }
  const hir::Expr *product = intConst(1, DType::I64, loc(where));
  for (size_t i = 0; i < n; ++i) {
    const hir::Expr *a = toIndex(extents[i], where, "`shape`"), *b = toIndex(blocks[i], where, "`block`");
    if (!a || !b || !checkDivisor(b, where))
      return;
    product =
        binary(hir::BinaryOp::Mul, product, binary(hir::BinaryOp::CeilDiv, a, b, loc(where)), loc(where));
  }
  node->grid.push_back(product);
}

void Elaborator::wholeBodyLaunch(const FunctionInfo &fn, hir::Kernel &k) {
  SourceRange where = fn.def->name.range;
  auto *node = make<hir::Launch>(loc(where));
  // In the order written, each may use the ones before it.
  Value shape = Value::none(), block = Value::none(), grid = Value::none();
  SourceRange gridAt = where;
  for (auto [name, value] :
       {std::pair<const char *, Value *>("shape", &shape), {"block", &block}, {"grid", &grid}}) {
    if (const ast::Expr *e = launchAttribute(name, fn)) {
      *value = eval(e);
      gridAt = e->getRange();
    }
    for (const ast::Param &p : fn.def->params)
      if (!p.annotation && p.name.text == name)
        bind(scope, name, Binding::Fixed, *value, p.name.range);
  }
  if (const ast::Expr *e = launchAttribute("num_threads", fn)) {
    Value v = eval(e);
    auto n = v.asInt64();
    if (n && *n >= 1 && *n <= 1024)
      node->threads = *n;
    else if (v.kind != Value::None && !v.isPoison())
      report(diag::E0218, e->getRange(), "num_threads", "a compile-time int from 1 to 1024", repr(v));
    for (const ast::Param &p : fn.def->params)
      if (!p.annotation && p.name.text == "num_threads")
        bind(scope, "num_threads", Binding::Fixed, v, p.name.range);
  }
  bool poison = shape.isPoison() || block.isPoison() || grid.isPoison();
  if (grid.kind != Value::None && !poison)
    gridValues(grid, gridAt, node->grid);
  else if (shape.kind != Value::None && block.kind != Value::None && !poison)
    defaultGrid(shape, block, gridAt, node);
  else if (!poison)
    report(diag::E0142, where, fn.def->name.text);
  if (node->grid.size() > 3)
    report(diag::E0215, gridAt, "grid", "one to three extents", std::to_string(node->grid.size()));
  if (node->grid.empty())
    node->grid.push_back(intConst(1, DType::I64, node->loc));
  node->grid.resize(std::min<size_t>(node->grid.size(), 3));
  ++launchesSeen;
  launchBody(node, fn.def->body, fn.def, where, nullptr);
}
