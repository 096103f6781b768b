//===- Passes.h - out of the tile dialect -----------------------------------===//
#ifndef TILEC_CONVERSION_PASSES_H
#define TILEC_CONVERSION_PASSES_H
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "tilec/Support/Target.h"
#include <string>

namespace mlir {
class ModuleOp;
}

namespace tilec {
#define GEN_PASS_DECL
#include "tilec/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tilec/Conversion/Passes.h.inc"

//===- TileToCPU ------------------------------------------------------------===//
// A module for one x86-64 level holds the device kernels (tile.kernel {tile.device}, tile.target set to that
// level). Stage by stage, each on a pass manager anchored on builtin.module:
//   Scheduled, LaidOut  passes of the tile dialect: tile::buildScheduleCPU, tile::buildLayoutsCPU
//                       (Dialect/Tile/Transforms/CPU.h)
//   Async               nothing
//   Threads             buildThreadsCPU
//   LLVM                buildLLVMCPU
// then target::emitCPUObject (Target/CPUBackend.h) makes the relocatable object.

struct CPUOptions {
  std::string symbolPrefix; ///< of the library, with its underscore: keeps two objects of one program apart
  std::string symbolSuffix; ///< one per level, as in ".v3": the levels of one object are linked together
};

/// Device kernels -> func.func @<prefix><kernel><suffix>.count / .work.
void buildThreadsCPU(mlir::OpPassManager &pm, const TargetDesc &target, const CPUOptions &options);
/// -> LLVM dialect only.
void buildLLVMCPU(mlir::OpPassManager &pm, const TargetDesc &target);

//===- TileToNVVM -----------------------------------------------------------===//
// A module for one NVIDIA target holds its device kernels at stage Async; then target::compileNVPTX.

/// Device kernels -> llvm.func of one thread.
void buildThreadsNVVM(mlir::OpPassManager &pm, llvm::StringRef symbolPrefix = "");
/// -> LLVM and NVVM dialects only.
void buildLLVMNVVM(mlir::OpPassManager &pm);

//===- TileToROCDL ----------------------------------------------------------===//
// The same for one AMD target; then target::compileAMDGPU. Elementary functions are expanded between the two
// (ExpandMath with level 0).

/// Device kernels -> llvm.func of one thread.
void buildThreadsROCDL(mlir::OpPassManager &pm, llvm::StringRef symbolPrefix = "");
/// -> LLVM and ROCDL dialects only.
void buildLLVMROCDL(mlir::OpPassManager &pm);

} // namespace tilec
#endif
