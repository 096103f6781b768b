//===- Elaborator.cpp - small helpers, and what outlives a walk -----------------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

unsigned Settled::path(unsigned parent, const void *node, uint64_t n) {
  return paths.try_emplace({parent, node, n}, paths.size() + 1).first->second;
}

bool Settled::resolveWeak() {
  bool any = false;
  for (auto &entry : variables) {
    VarInfo &info = entry.second;
    if (!info.runtime || !info.hasType || info.weak == Weak::No)
      continue;
    info.type = info.weak == Weak::Int ? DType::I64 : DType::F32;
    info.weak = Weak::No;
    any = true;
  }
  return any;
}

Elaborator::Elaborator(Context &ctx, ModuleScope &module, Settled &settled)
    : ctx(ctx), module(&module), settled(settled), constEval(ctx.sink, budget) {}

std::string Elaborator::text(const ast::Expr *e) const {
  std::string out;
  llvm::raw_string_ostream os(out);
  ast::unparse(e, os);
  return out.size() > 80 ? out.substr(0, 77) + "..." : out;
}

void Elaborator::emit(const hir::Stmt *s) {
  if (out)
    out->push_back(s);
}

bool Elaborator::charge(SourceRange where) {
  constexpr size_t enoughErrors = 500; // one in each of 100,000 unrolled statements helps nobody
  budget.exhausted |= ctx.sink.hasErrors() && ctx.sink.size() > enoughErrors;
  if (budget.exhausted)
    return false;
  bool kernel = ++budget.statements <= Budget::maxStatements;
  if (kernel && ctx.statements + budget.statements <= Budget::maxFileStatements)
    return true;
  budget.exhausted = true;
  if (kernel)
    report(diag::E0306, where, "statements in all kernels of a file after unrolling and macro expansion",
           Budget::maxFileStatements);
  else
    report(diag::E0306, where, "statements after unrolling and macro expansion", Budget::maxStatements);
  return false;
}

bool Elaborator::enter(SourceRange where) {
  if (budget.exhausted)
    return false;
  if (budget.depth >= Budget::maxDepth) {
    budget.exhausted = true;
    report(diag::E0306, where, "nested blocks, calls and expressions", Budget::maxDepth);
    return false;
  }
  ++budget.depth;
  return true;
}

const hir::Expr *Elaborator::intConst(int64_t v, DType t, hir::Loc l) {
  return make<hir::IntConst>(llvm::APInt(dtypeBits(t), v, true), t, l);
}
