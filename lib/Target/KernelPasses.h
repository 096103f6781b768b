//===- KernelPasses.h - LLVM's passes for kernels of NVIDIA --------------------------===//
#ifndef TILEC_LIB_TARGET_KERNELPASSES_H
#define TILEC_LIB_TARGET_KERNELPASSES_H

#include "llvm/Passes/PassBuilder.h"

namespace tilec::target {

/// What of LLVM's -O3 changes kernels that call nothing: no inliner, nothing for stack slots, memory that is
/// written twice, switches or idioms, which tilec does not emit. Half the time of -O3, and the same PTX.
llvm::ModulePassManager kernelPasses(llvm::PassBuilder &builder);

/// Verifies the module and runs those passes.
llvm::Error optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                           llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> passes);

} // namespace tilec::target
#endif
