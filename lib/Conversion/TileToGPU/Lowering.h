//===- Lowering.h - what the conversions to NVVM and ROCDL share -------------===//
#ifndef TILEC_LIB_CONVERSION_TILETOGPU_LOWERING_H
#define TILEC_LIB_CONVERSION_TILETOGPU_LOWERING_H
#include "Emitter.h"
#include "mlir/Pass/PassManager.h"
#include "tilec/Dialect/Tile/IR/KernelTarget.h"

namespace tilec::simt {

/// Replaces each device kernel of a chip of `family` by the function that `EmitterType` makes of it.
template <typename EmitterType>
LogicalResult convertDeviceKernels(ModuleOp module, Family family, StringRef prefix) {
  for (tile::KernelOp kernel : llvm::make_early_inc_range(module.getOps<tile::KernelOp>())) {
    const TargetDesc *target = tile::targetOf(kernel);
    if (!kernel.isDevice() || !target || target->family != family)
      continue;
    OpBuilder builder(kernel);
    EmitterType emitter(builder, kernel, *target);
    if (failed(emitter.run(prefix.str() + deviceSymbol(kernel))))
      return failure();
    kernel.erase();
  }
  return success();
}

/// Folds what the emitter left open.
void addCleanUp(OpPassManager &pm);

/// What such functions hold -> the LLVM dialect; `own`: conversion of the target's dialect, or null.
void addLLVMConversions(OpPassManager &pm, std::unique_ptr<Pass> own = nullptr);

} // namespace tilec::simt
#endif
