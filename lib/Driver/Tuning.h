//===- Tuning.h - measurements of points, from files that tuning wrote --------===//
#ifndef TILEC_DRIVER_TUNING_H
#define TILEC_DRIVER_TUNING_H
#include "CommandLine.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/SourceMgr.h"

namespace tilec {

/// Of what a kernel does at all points of its tuning space, as MLIRGen made it: the same wherever the source
/// lies, another when any point changes. 32 hex digits.
std::string tuningHash(mlir::ModuleOp module, llvm::StringRef kernel);

/// Reads --tuning files and writes `tile.measured` on the kernels whose points they name. What was measured
/// for another version of a kernel, or for nothing that is compiled, is ignored with a warning. False after
/// an error; `missing` then says that a file could not be read.
bool readTuning(mlir::ModuleOp module, const DriverOptions &options, llvm::SourceMgr &sources,
                DiagnosticEngine &diags, bool &missing);

} // namespace tilec
#endif
