//===- NVPTXBackend.h - LLVM dialect to PTX and cubin -----------------------------===//
#ifndef TILEC_TARGET_NVPTXBACKEND_H
#define TILEC_TARGET_NVPTXBACKEND_H
#include "tilec/Target/Backend.h"

namespace tilec::target {

/// LLVM IR -> libdevice (only when some __nv_* is called) -> optimise -> PTX -> ptxas. An image of a
/// "compute_XY" target is the PTX itself, with a final NUL as the driver wants it.
llvm::Expected<DeviceImage> compileNVPTX(mlir::ModuleOp module, const TargetDesc &target,
                                         const BackendOptions &options);
/// In two steps: what needs the MLIR context, and the rest, for any thread.
llvm::Expected<TranslatedModule> translateNVPTX(mlir::ModuleOp module, const BackendOptions &options);
llvm::Expected<DeviceImage> compileNVPTX(TranslatedModule translated, const TargetDesc &target,
                                         const BackendOptions &options);

/// `.file N "name"` with a fixed date and the source's size, so that ptxas does not look at the file system.
std::string pinFileLines(llvm::StringRef ptx, int64_t date,
                         const std::function<uint64_t(llvm::StringRef)> &sourceSize);
/// Registers, spills, stack, shared memory and advisories (C75xx) of each kernel in ptxas -v's output.
std::vector<KernelReport> parsePtxasReport(llvm::StringRef output);

} // namespace tilec::target
#endif
