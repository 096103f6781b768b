//===- CPUBackend.h - LLVM dialect -> optimised x86-64 code --------------===//
#ifndef TILEC_TARGET_CPUBACKEND_H
#define TILEC_TARGET_CPUBACKEND_H
#include "tilec/Target/Backend.h"

namespace tilec::target {

/// One launch, compiled. The object defines
///   int64_t <symbol>.count(const uint64_t *values);
///   void    <symbol>.work(const uint64_t *values, int64_t item, void *arena);
/// both with hidden visibility. Work items are independent of each other; `arena` is scratch of the calling
/// worker, 64-byte aligned, `arenaBytes` long, contents undefined before and after.
struct CPUKernel {
  std::string kernel; ///< the device kernel, "matmul.0"
  std::string symbol; ///< prefix and suffix included: what Variant::symbol holds
  int64_t arenaBytes = 0;
  std::string schedule; ///< one line for the manifest
};

struct CPUObject {
  /// LLVM bitcode, optimised, each function with its target-cpu: what Image::bytes holds. The object writer
  /// links all levels with the host code and generates the machine code.
  std::string bitcode;
  std::string llvm; ///< LLVM IR text, when BackendOptions::keepLLVM or StopAfter::LLVM
  std::string isa;  ///< assembly, when BackendOptions::keepISA or StopAfter::ISA
  std::vector<CPUKernel> kernels;
};

/// `module` is at stage LLVM (buildLLVMCPU), `target` an x86-64 level. One call per level.
llvm::Expected<CPUObject> emitCPUObject(mlir::ModuleOp module, const TargetDesc &target,
                                        const BackendOptions &options);

} // namespace tilec::target
#endif
