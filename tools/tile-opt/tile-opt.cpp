//===- tile-opt.cpp - run passes of tilec on MLIR text ---------------------===//
#include "tilec/Conversion/Passes.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

#include "tilec/Pipelines/Pipelines.h"
#include "tilec/Support/Target.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

namespace tilec {
void registerTestRemoveWait(); // TestRemoveWait.cpp
}

namespace {
struct CPUPipeline : mlir::PassPipelineOptions<CPUPipeline> {
  Option<unsigned> level{*this, "level", llvm::cl::desc("x86-64 level: 2, 3 or 4"), llvm::cl::init(3)};
};
} // namespace

int main(int argc, char **argv) {
  using namespace mlir;
  DialectRegistry registry;
  tilec::registerPipelineDialects(registry);
  registerTransformsPasses();
  tilec::tile::registerTileTransformsPasses();
  tilec::registerConvertTileHostToLLVM();
  tilec::registerConvertTileToCPU();
  tilec::registerExpandMath();
  tilec::registerConvertTileToNVVM();
  tilec::registerConvertTileToROCDL();
  tilec::registerTestRemoveWait();
  PassPipelineRegistration<CPUPipeline>(
      "tile-cpu-to-llvm", "What follows convert-tile-to-cpu: LLVM dialect only",
      [](OpPassManager &pm, const CPUPipeline &options) {
        if (const tilec::TargetDesc *target = tilec::lookupTarget("x86-64-v" + std::to_string(options.level)))
          tilec::buildLLVMCPU(pm, *target);
      });
  PassPipelineRegistration<>("tile-nvvm-to-llvm",
                             "What follows convert-tile-to-nvvm: LLVM and NVVM dialects only",
                             [](OpPassManager &pm) { tilec::buildLLVMNVVM(pm); });
  PassPipelineRegistration<>("tile-rocdl-to-llvm",
                             "What follows convert-tile-to-rocdl: LLVM and ROCDL dialects only",
                             [](OpPassManager &pm) { tilec::buildLLVMROCDL(pm); });
  return failed(MlirOptMain(argc, argv, "tilec's optimizer driver\n", registry));
}
