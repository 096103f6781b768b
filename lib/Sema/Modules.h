//===- Modules.h - module scopes and what all of an analysis shares -------------------===//

#ifndef TILEC_LIB_SEMA_MODULES_H
#define TILEC_LIB_SEMA_MODULES_H

#include "DiagSink.h"
#include "Value.h"
#include "tilec/Sema/Sema.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <map>
#include <memory>

namespace tilec::sema {

struct ModuleScope;

/// A @macro or @kernel function.
struct FunctionInfo {
  const ast::FunctionDef *def = nullptr;
  ModuleScope *module = nullptr;
  bool isMacro = false;
  const ast::CallExpr *kernelCall = nullptr; ///< @kernel(...), null for a bare @kernel
  const ast::CallExpr *instantiate = nullptr;
  std::vector<Value> defaults; ///< of a macro's parameters; Poison where there is none
};

struct Global {
  Value value;
  SourceRange where;
};

struct ModuleScope {
  const ast::Module *ast = nullptr;
  std::string path; ///< as opened
  std::string name; ///< stem: "gemm"
  llvm::StringMap<Global> names;
  std::vector<const FunctionInfo *> kernels;
  bool loading = false;
  bool isMain = false;
};

/// One -D.
struct Define {
  std::string scope, name, text; ///< scope: kernel or module; "" for the main file
  bool used = false;
};

/// A tune parameter that nothing has set, with its candidates.
struct FreeTune {
  std::string name;
  std::vector<Value> candidates;
};

struct Context {
  Context(const SemaOptions &options, DiagnosticEngine &engine) : options(options), engine(engine) {}
  const SemaOptions &options;
  DiagnosticEngine &engine;
  DiagSink sink;
  std::unique_ptr<hir::Program> program = std::make_unique<hir::Program>();
  std::deque<Define> defines;
  std::deque<FunctionInfo> functions;
  std::map<std::string, std::unique_ptr<ModuleScope>> modules; ///< by real path
  ModuleScope *main = nullptr;
  static constexpr uint64_t maxRaceWork = 2000000;
  uint64_t raceWork = 0;       ///< iterations run on paper in this walk
  unsigned statements = 0;     ///< of the kernels elaborated so far
  std::vector<FreeTune> space; ///< of the kernel elaborated last, in the order of its parameters

  hir::Loc loc(SourceRange range) const;
  SourceRange range(const hir::Loc &loc) const;
  /// The value that -D gives `name`, in the order kernel.NAME, NAME; null when there is none.
  Define *define(llvm::StringRef scope, llvm::StringRef name, bool bare);
  /// Parses and evaluates a -D value; a bare word is a dtype or a string.
  Value defineValue(const Define &d);
  /// Everything a file defines.
  void analyzeModule(ModuleScope &m);
  /// Elaborates all kernels asked for.
  void analyzeKernels();
};

} // namespace tilec::sema

#endif // TILEC_LIB_SEMA_MODULES_H
