//===- MLIRDiagnostics.h - messages of passes become user diagnostics --------===//
#ifndef TILEC_DRIVER_MLIRDIAGNOSTICS_H
#define TILEC_DRIVER_MLIRDIAGNOSTICS_H
#include "mlir/IR/Diagnostics.h"
#include "tilec/Support/Diagnostics.h"
#include "llvm/ADT/StringMap.h"

namespace tilec {

/// While it lives, diagnostics of the MLIR context go to the engine. A pass speaks to users by starting its
/// message with a code of the table, "[E0402] ..."; anything else is a defect of tilec (E0690). `modules`
/// maps the file names in MLIR locations to source buffers. Messages that differ only by target are shown
/// once.
class MLIRDiagnostics {
public:
  MLIRDiagnostics(mlir::MLIRContext &context, DiagnosticEngine &engine, llvm::StringMap<uint32_t> modules);

  /// True when a pass failed in a way that is no user's fault.
  bool sawDefect() const { return defect; }

private:
  mlir::LogicalResult handle(mlir::Diagnostic &diagnostic);
  SourceRange rangeOf(mlir::Location location) const;

  DiagnosticEngine &engine;
  llvm::StringMap<uint32_t> modules;
  bool defect = false;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tilec
#endif
