//===- ModuleAnalyzer.h - one file's module level -------------------------------------===//

#ifndef TILEC_LIB_SEMA_MODULEANALYZER_H
#define TILEC_LIB_SEMA_MODULEANALYZER_H

#include "Elaborator.h"
#include "Modules.h"

namespace tilec::sema {

class ModuleAnalyzer {
public:
  ModuleAnalyzer(Context &ctx, ModuleScope &module)
      : ctx(ctx), module(module), elaborator(ctx, module, settled) {}
  void run();

private:
  void statement(const ast::Stmt *s);
  void check(const ast::Stmt *s);
  void assign(const ast::AssignStmt *s);
  void assignTarget(const ast::Expr *target, const Value &v);
  void function(const ast::FunctionDef *def);
  void macroParams(FunctionInfo &fn);
  void import(const ast::ImportStmt *s);
  void importFrom(const ast::ImportFromStmt *s);
  void importBuiltins(const ast::ImportFromStmt *s);
  void importUser(const ast::ImportFromStmt *s);
  ModuleScope *load(const ast::ImportFromStmt *s);
  std::string find(const ast::ImportFromStmt *s, std::string &tried) const;
  void defineName(llvm::StringRef name, Value v, SourceRange where, bool warn);

  Context &ctx;
  ModuleScope &module;
  Settled settled;
  Elaborator elaborator;
};

} // namespace tilec::sema

#endif // TILEC_LIB_SEMA_MODULEANALYZER_H
