//===- AMDGPUBackend.h - LLVM dialect to hsaco ------------------------------------===//
#ifndef TILEC_TARGET_AMDGPUBACKEND_H
#define TILEC_TARGET_AMDGPUBACKEND_H
#include "tilec/Target/Backend.h"

namespace tilec::target {

/// LLVM IR -> optimise -> object -> ld.lld -shared. Needs no ROCm.
llvm::Expected<DeviceImage> compileAMDGPU(mlir::ModuleOp module, const TargetDesc &target,
                                          const BackendOptions &options);
/// In two steps: what needs the MLIR context, and the rest, for any thread.
llvm::Expected<TranslatedModule> translateAMDGPU(mlir::ModuleOp module, const BackendOptions &options);
llvm::Expected<DeviceImage> compileAMDGPU(TranslatedModule translated, const TargetDesc &target,
                                          const BackendOptions &options);

/// Checks a code object's metadata note and returns each kernel's resources.
llvm::Expected<std::vector<KernelReport>> readCodeObject(llvm::StringRef hsaco);

} // namespace tilec::target
#endif
