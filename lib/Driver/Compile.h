//===- Compile.h - one source file through all stages ------------------------===//
#ifndef TILEC_DRIVER_COMPILE_H
#define TILEC_DRIVER_COMPILE_H
#include "CommandLine.h"
#include "Outputs.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/SourceMgr.h"

namespace tilec {

/// Compiles one buffer; fills `outputs` with everything that was asked for. Messages go to `diags`. Returns
/// the exit code; on success the caller commits the outputs.
int compileFile(const DriverOptions &options, llvm::SourceMgr &sources, uint32_t buffer,
                DiagnosticEngine &diags, Outputs &outputs, mlir::TimingScope &timing);

} // namespace tilec
#endif
