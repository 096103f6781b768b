//===- KernelPasses.h - LLVM's passes for kernels of NVIDIA --------------------------===//
#ifndef TILEC_LIB_TARGET_KERNELPASSES_H
#define TILEC_LIB_TARGET_KERNELPASSES_H

#include "llvm/Passes/PassBuilder.h"

namespace tilec::target {

/// What of LLVM's -O3 makes better code of kernels that call nothing: no inliner, nothing for stack slots,
/// for memory that is written twice, for switches or idioms, which tilec does not emit; and instructions are
/// combined four times instead of eight, which costs most where accumulators are hundreds of values.
llvm::ModulePassManager kernelPasses(llvm::PassBuilder &builder);

/// Verifies the module and runs those passes.
llvm::Error optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                           llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> passes);

} // namespace tilec::target
#endif
