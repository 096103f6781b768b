//===- TileToROCDL.cpp - the pass, and the pipelines around it ----------------===//
#include "../TileToGPU/Lowering.h"
#include "ROCDLEmitter.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tilec/Conversion/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_CONVERTTILETOROCDL
#include "tilec/Conversion/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {
struct ConvertTileToROCDL : tilec::impl::ConvertTileToROCDLBase<ConvertTileToROCDL> {
  using ConvertTileToROCDLBase::ConvertTileToROCDLBase;

  void runOnOperation() override {
    if (failed(simt::convertDeviceKernels<simt::ROCDLEmitter>(getOperation(), Family::AMD, prefix)))
      signalPassFailure();
  }
};
} // namespace

void tilec::buildThreadsROCDL(OpPassManager &pm, StringRef symbolPrefix) {
  ConvertTileToROCDLOptions options;
  options.prefix = symbolPrefix.str();
  pm.addPass(createConvertTileToROCDL(options));
  simt::addCleanUp(pm);
}

void tilec::buildLLVMROCDL(OpPassManager &pm) { simt::addLLVMConversions(pm); }
