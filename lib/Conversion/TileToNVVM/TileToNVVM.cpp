//===- TileToNVVM.cpp - the pass, and the pipelines around it ----------------===//
#include "NVVMEmitter.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/Passes.h"
#include "tilec/Conversion/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_CONVERTTILETONVVM
#include "tilec/Conversion/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {
struct ConvertTileToNVVM : tilec::impl::ConvertTileToNVVMBase<ConvertTileToNVVM> {
  using ConvertTileToNVVMBase::ConvertTileToNVVMBase;

  void runOnOperation() override {
    for (KernelOp kernel : llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      auto attr = kernel->getAttrOfType<TargetAttr>(TileDialect::kTargetAttrName);
      const TargetDesc *target = attr ? lookupTarget(attr.getChip()) : nullptr;
      if (!kernel.isDevice() || !target || target->family != Family::NVIDIA)
        continue;
      OpBuilder builder(kernel);
      simt::NVVMEmitter emitter(builder, kernel, *target);
      if (failed(emitter.run(prefix + simt::deviceSymbol(kernel))))
        return signalPassFailure();
      kernel.erase();
    }
  }
};
} // namespace

void tilec::buildThreadsNVVM(OpPassManager &pm, StringRef symbolPrefix) {
  ConvertTileToNVVMOptions options;
  options.prefix = symbolPrefix.str();
  pm.addPass(createConvertTileToNVVM(options));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void tilec::buildLLVMNVVM(OpPassManager &pm) {
  pm.addPass(arith::createArithExpandOpsPass());
  // Before control flow: its greedy driver would merge blocks of equal code for ever where many loads are
  // guarded.
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertNVVMToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCSEPass());
}
