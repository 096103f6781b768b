//===- TileToCPU.cpp - the pass, and the pipelines around it -----------------===//
#include "Emitter.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"
#include "tilec/Conversion/Passes.h"
#include "tilec/Dialect/Tile/IR/KernelTarget.h"

namespace tilec {
#define GEN_PASS_DEF_CONVERTTILETOCPU
#include "tilec/Conversion/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::cpu;
using namespace tilec::tile;

namespace {
/// Makes the two functions of one device kernel.
class KernelLowering {
public:
  KernelLowering(KernelOp kernel, const TargetDesc &target, std::string symbol)
      : kernel(kernel), target(target), symbol(std::move(symbol)), builder(kernel) {}

  LogicalResult run() {
    launch = kernel.getDeviceLaunch();
    if (!launch)
      return kernel.emitError() << "[E0540] a device kernel holds one launch";
    if (failed(plan.build(launch, target)) || failed(makeCount()) || failed(makeWork()))
      return failure();
    kernel.erase();
    return success();
  }

private:
  func::FuncOp makeFunction(StringRef suffix, ArrayRef<Type> inputs, ArrayRef<Type> results) {
    builder.setInsertionPoint(kernel);
    auto type = builder.getFunctionType(inputs, results);
    auto function = func::FuncOp::create(builder, kernel.getLoc(), symbol + suffix.str(), type);
    auto text = [&](StringRef s) { return builder.getStringAttr(s); };
    function->setAttr("passthrough",
                      builder.getArrayAttr(
                          {builder.getArrayAttr({text("target-cpu"), text(target.name)}), text("nounwind")}));
    function->setAttr("tile.kernel", kernel.getSymNameAttr());
    builder.setInsertionPointToStart(function.addEntryBlock());
    return function;
  }

  LogicalResult makeCount() {
    Type ptr = LLVM::LLVMPointerType::get(kernel.getContext());
    func::FuncOp function = makeFunction(".count", {ptr}, {builder.getI64Type()});
    Emitter emitter(builder, target, kernel);
    if (failed(emitter.bindArguments(function.getArgument(0))) || failed(emitter.emitPrologue(launch)))
      return failure();
    Code &c = emitter.code;
    Value count = c.index(1);
    for (unsigned axis = 0; axis < launch.getGrid().size(); ++axis)
      count = c.mul(count, emitter.gridExtent(launch, axis));
    Value wide = arith::IndexCastOp::create(builder, kernel.getLoc(), builder.getI64Type(), count);
    func::ReturnOp::create(builder, kernel.getLoc(), wide);
    return success();
  }

  LogicalResult makeWork() {
    Type ptr = LLVM::LLVMPointerType::get(kernel.getContext());
    func::FuncOp function = makeFunction(".work", {ptr, builder.getI64Type(), ptr}, {});
    for (unsigned i : {0u, 2u})
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    function.setArgAttr(0, LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
    function.setArgAttr(2, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(64));
    function->setAttr("tile.arena_bytes", builder.getI64IntegerAttr(plan.arenaBytes()));
    if (launch.getSchedule()) {
      std::string text;
      llvm::raw_string_ostream os(text);
      launch.walk([&](GemmOp gemm) {
        if (gemm.getInst() && text.empty())
          os << "cpu_fma " << gemm.getInst()->getShape()[0] << "x" << gemm.getInst()->getShape()[1];
      });
      function->setAttr("tile.schedule", builder.getStringAttr(text));
    }
    Emitter emitter(builder, target, kernel);
    Value item =
        arith::IndexCastOp::create(builder, kernel.getLoc(), builder.getIndexType(), function.getArgument(1));
    if (failed(emitter.bindArguments(function.getArgument(0))) || failed(emitter.emitPrologue(launch)) ||
        failed(emitter.emitLaunch(launch, plan, item, function.getArgument(2))))
      return failure();
    func::ReturnOp::create(builder, kernel.getLoc());
    return success();
  }

  KernelOp kernel;
  const TargetDesc &target;
  std::string symbol;
  OpBuilder builder;
  LaunchOp launch;
  StoragePlan plan;
};

struct ConvertTileToCPU : tilec::impl::ConvertTileToCPUBase<ConvertTileToCPU> {
  using ConvertTileToCPUBase::ConvertTileToCPUBase;

  void runOnOperation() override {
    for (KernelOp kernel : llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      const TargetDesc *target = targetOf(kernel);
      if (!kernel.isDevice() || !target || target->family != Family::CPU)
        continue;
      std::string symbol = prefix + kernel.getSymName().str() + suffix;
      if (failed(KernelLowering(kernel, *target, symbol).run()))
        return signalPassFailure();
    }
  }
};
} // namespace

void tilec::buildThreadsCPU(OpPassManager &pm, const TargetDesc &, const CPUOptions &options) {
  ConvertTileToCPUOptions passOptions;
  passOptions.prefix = options.symbolPrefix;
  passOptions.suffix = options.symbolSuffix;
  pm.addPass(createConvertTileToCPU(passOptions));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void tilec::buildLLVMCPU(OpPassManager &pm, const TargetDesc &target) {
  ExpandMathOptions math;
  math.level = target.cpuLevel;
  pm.addPass(createExpandMath(math));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}
