//===- TileToNVVM.cpp - the pass, and the pipelines around it ----------------===//
#include "../TileToGPU/Lowering.h"
#include "NVVMEmitter.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tilec/Conversion/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_CONVERTTILETONVVM
#include "tilec/Conversion/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {
struct ConvertTileToNVVM : tilec::impl::ConvertTileToNVVMBase<ConvertTileToNVVM> {
  using ConvertTileToNVVMBase::ConvertTileToNVVMBase;

  void runOnOperation() override {
    if (failed(simt::convertDeviceKernels<simt::NVVMEmitter>(getOperation(), Family::NVIDIA, prefix)))
      signalPassFailure();
  }
};
} // namespace

void tilec::buildThreadsNVVM(OpPassManager &pm, StringRef symbolPrefix) {
  ConvertTileToNVVMOptions options;
  options.prefix = symbolPrefix.str();
  pm.addPass(createConvertTileToNVVM(options));
  simt::addCleanUp(pm);
}

void tilec::buildLLVMNVVM(OpPassManager &pm) { simt::addLLVMConversions(pm, createConvertNVVMToLLVMPass()); }
