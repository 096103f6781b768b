//===- TileToROCDL.cpp - the pass, and the pipelines around it ----------------===//
#include "ROCDLEmitter.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/Passes.h"
#include "tilec/Conversion/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_CONVERTTILETOROCDL
#include "tilec/Conversion/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {
struct ConvertTileToROCDL : tilec::impl::ConvertTileToROCDLBase<ConvertTileToROCDL> {
  using ConvertTileToROCDLBase::ConvertTileToROCDLBase;

  void runOnOperation() override {
    for (KernelOp kernel : llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      auto attr = kernel->getAttrOfType<TargetAttr>(TileDialect::kTargetAttrName);
      const TargetDesc *target = attr ? lookupTarget(attr.getChip()) : nullptr;
      if (!kernel.isDevice() || !target || target->family != Family::AMD)
        continue;
      OpBuilder builder(kernel);
      simt::ROCDLEmitter emitter(builder, kernel, *target);
      if (failed(emitter.run(prefix + simt::deviceSymbol(kernel))))
        return signalPassFailure();
      kernel.erase();
    }
  }
};
} // namespace

void tilec::buildThreadsROCDL(OpPassManager &pm, StringRef symbolPrefix) {
  ConvertTileToROCDLOptions options;
  options.prefix = symbolPrefix.str();
  pm.addPass(createConvertTileToROCDL(options));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void tilec::buildLLVMROCDL(OpPassManager &pm) {
  pm.addPass(arith::createArithExpandOpsPass());
  // Before control flow: its greedy driver would merge blocks of equal code for ever where many loads are
  // guarded.
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCSEPass());
}
