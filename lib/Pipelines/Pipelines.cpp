//===- Pipelines.cpp - the stages, in order ----------------------------------===//
#include "tilec/Pipelines/Pipelines.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"
#include "tilec/Conversion/Passes.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Dialect/Tile/Transforms/CPU.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

using namespace mlir;
using namespace tilec;

llvm::StringRef tilec::stageName(Stage stage) {
  switch (stage) {
  case Stage::Tile:
    return "tile";
  case Stage::Scheduled:
    return "scheduled";
  case Stage::LaidOut:
    return "laid-out";
  case Stage::Async:
    return "async";
  case Stage::Threads:
    return "threads";
  case Stage::LLVM:
    return "llvm";
  }
  return "";
}

static void verify(OpPassManager &pm, tile::VerifiedStage stage) {
  tile::TileVerifyStageOptions options;
  options.stage = stage;
  pm.addPass(tile::createTileVerifyStage(options));
}

static void cleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

bool tilec::hasCostModel(const TargetDesc &target) { return target.roles; }

void tilec::buildTileStage(OpPassManager &pm, llvm::ArrayRef<std::string> targets, unsigned mostPoints,
                           llvm::ArrayRef<std::string> shapes) {
  tile::TileSelectPointsOptions points;
  points.targets.assign(targets.begin(), targets.end());
  if (mostPoints)
    points.most = mostPoints;
  points.shapes.assign(shapes.begin(), shapes.end());
  OpPassManager &each = pm.nest<tile::KernelOp>();
  cleanUp(each);
  each.addPass(tile::createTileSplitBuffers());
  each.addPass(tile::createTileStaticDomains()); // sees which nests touch memory alone, so it comes first
  each.addPass(tile::createTileSplitGuards());
  each.addPass(tile::createTilePromoteElements());
  pm.addPass(tile::createTileSelectPoints(points)); // prices what the schedule will see
  OpPassManager &kernel = pm.nest<tile::KernelOp>();
  kernel.addPass(tile::createTileNormalizeLoops());
  cleanUp(kernel);
  kernel.addPass(tile::createTileProveBounds()); // while the launcher's equations are in sight
  kernel.addPass(tile::createTileSplitComparisons());
  verify(pm, tile::VerifiedStage::Tile);
  pm.addPass(tile::createTileOutlineLaunches());
  pm.addPass(tile::createTileMergePoints());
  OpPassManager &outlined = pm.nest<tile::KernelOp>();
  cleanUp(outlined);
}

static void buildStageCPU(OpPassManager &pm, Stage stage, const TargetDesc &target,
                          const PipelineOptions &options) {
  switch (stage) {
  case Stage::Tile:
  case Stage::Async:
    return;
  case Stage::Scheduled:
    return tile::buildScheduleCPU(pm);
  case Stage::LaidOut:
    return tile::buildLayoutsCPU(pm);
  case Stage::Threads:
    return buildThreadsCPU(pm, target, {options.symbolPrefix, ".v" + std::to_string(target.cpuLevel)});
  case Stage::LLVM:
    return buildLLVMCPU(pm, target);
  }
}

static void buildAsyncGPU(OpPassManager &pm, const PipelineOptions &options) {
  OpPassManager &kernel = pm.nest<tile::KernelOp>();
  kernel.addPass(tile::createTilePipelineLoops());
  kernel.addPass(tile::createTilePrefetchRegisters());
  kernel.addPass(tile::createTileMakePersistent());
  kernel.addPass(tile::createTileWarpSpecialize());
  kernel.addPass(tile::createTileAsyncGemms());
  kernel.addPass(tile::createTileStageStores());
  cleanUp(kernel);
  kernel.addPass(tile::createTileAllocateShared());
  kernel.addPass(tile::createTileInsertBarriers());
  if (options.delays)
    kernel.addPass(tile::createTileInsertDelays());
  verify(pm, tile::VerifiedStage::Async);
}

static void buildStageGPU(OpPassManager &pm, Stage stage, const TargetDesc &target,
                          const PipelineOptions &options) {
  switch (stage) {
  case Stage::Tile:
    return;
  case Stage::Scheduled:
    pm.nest<tile::KernelOp>().addPass(tile::createTileExpandPrecision());
    pm.addPass(tile::createTileSelectSchedule());
    return verify(pm, tile::VerifiedStage::Scheduled);
  case Stage::LaidOut:
    pm.nest<tile::KernelOp>().addPass(tile::createTileAssignLayouts());
    cleanUp(pm.nest<tile::KernelOp>());
    return verify(pm, tile::VerifiedStage::LaidOut);
  case Stage::Async:
    return buildAsyncGPU(pm, options);
  case Stage::Threads:
    if (target.family == Family::NVIDIA)
      buildThreadsNVVM(pm, options.symbolPrefix);
    else
      buildThreadsROCDL(pm, options.symbolPrefix);
    return;
  case Stage::LLVM:
    if (target.family == Family::NVIDIA)
      return buildLLVMNVVM(pm);
    {
      ExpandMathOptions functions;
      functions.level = 0;
      pm.addPass(createExpandMath(functions));
    }
    return buildLLVMROCDL(pm);
  }
}

void tilec::buildDeviceStage(OpPassManager &pm, Stage stage, const TargetDesc &target,
                             const PipelineOptions &options) {
  if (target.family == Family::CPU)
    buildStageCPU(pm, stage, target, options);
  else
    buildStageGPU(pm, stage, target, options);
}

void tilec::buildHostPipeline(OpPassManager &pm) {
  // Host scalars know no library functions either, and a division by zero is a value, not a trap.
  ExpandMathOptions expand;
  expand.level = 2;
  pm.addPass(createExpandMath(expand));
  pm.addPass(createConvertTileHostToLLVM());
}

void tilec::registerPipelineDialects(DialectRegistry &registry) {
  registry.insert<tile::TileDialect, affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, NVVM::NVVMDialect, ROCDL::ROCDLDialect, scf::SCFDialect,
                  ub::UBDialect, vector::VectorDialect>();
  // What convert-to-llvm asks each dialect for.
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  registerConvertNVVMToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
}
