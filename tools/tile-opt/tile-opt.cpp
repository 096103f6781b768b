//===- tile-opt.cpp - run passes of tilec on MLIR text ---------------------===//
#include "tilec/Conversion/Passes.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

namespace tilec {
void registerTestRemoveWait(); // TestRemoveWait.cpp
}

int main(int argc, char **argv) {
  using namespace mlir;
  DialectRegistry registry;
  registry.insert<tilec::tile::TileDialect, affine::AffineDialect, amdgpu::AMDGPUDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, DLTIDialect, func::FuncDialect, gpu::GPUDialect,
                  index::IndexDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  nvgpu::NVGPUDialect, NVVM::NVVMDialect, ROCDL::ROCDLDialect, scf::SCFDialect, ub::UBDialect,
                  vector::VectorDialect, x86vector::X86VectorDialect>();
  registerAllExtensions(registry); // among them what convert-to-llvm asks each dialect for
  registerTransformsPasses();
  registerConversionPasses();
  memref::registerMemRefPasses();
  tilec::tile::registerTileTransformsPasses();
  tilec::registerConvertTileHostToLLVM();
  tilec::registerConvertTileToCPU();
  tilec::registerExpandMath();
  tilec::registerConvertTileToNVVM();
  tilec::registerConvertTileToROCDL();
  tilec::registerTestRemoveWait();
  PassPipelineRegistration<>("tile-nvvm-to-llvm",
                             "What follows convert-tile-to-nvvm: LLVM and NVVM dialects only",
                             [](OpPassManager &pm) { tilec::buildLLVMNVVM(pm); });
  PassPipelineRegistration<>("tile-rocdl-to-llvm",
                             "What follows convert-tile-to-rocdl: LLVM and ROCDL dialects only",
                             [](OpPassManager &pm) { tilec::buildLLVMROCDL(pm); });
  return failed(MlirOptMain(argc, argv, "tilec's optimizer driver\n", registry));
}
