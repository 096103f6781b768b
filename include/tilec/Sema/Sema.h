//===- Sema.h - meaning: from the syntax tree to elaborated kernels ------------------===//
//
// analyze() resolves names, evaluates constants, checks types, shapes and the rules about loops, tiles and
// initialisation, and gives back one hir::Kernel per instance. It knows no target and no MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_SEMA_SEMA_H
#define TILEC_SEMA_SEMA_H

#include "tilec/AST/AST.h"
#include "tilec/Sema/HIR.h"
#include "tilec/Support/Diagnostics.h"
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tilec {

/// How Sema gets at other text: it sees no parser. Whoever implements it keeps the modules alive.
class ModuleLoader {
public:
  virtual ~ModuleLoader() = default;
  /// Parses the file at `path`, at most once; null after it has reported errors.
  virtual const ast::Module *parseFile(llvm::StringRef path) = 0;
  /// Parses the value of a -D as a module of one expression statement; null (and no message) when it is none.
  virtual const ast::Module *parseText(llvm::StringRef text) = 0;
};

struct SemaOptions {
  /// -D NAME=value, in order; NAME may be `kernel.NAME` or `module.NAME`.
  std::vector<std::pair<std::string, std::string>> defines;
  /// --kernel: names of kernels or instances to keep; empty keeps all of the main file.
  std::vector<std::string> kernels;
  /// -I folders.
  std::vector<std::string> importDirs;
  /// Elaborate kernels at every point of their tuning spaces, not at the defaults alone.
  bool points = false;
  /// Without one, imports of user modules are errors and -D takes only plain numbers, names and strings.
  ModuleLoader *loader = nullptr;
};

/// Null after errors (all reported to `diags`). Warnings alone give a program.
std::unique_ptr<hir::Program> analyze(const ast::Module &module, const SemaOptions &options,
                                      DiagnosticEngine &diags);

} // namespace tilec

#endif // TILEC_SEMA_SEMA_H
