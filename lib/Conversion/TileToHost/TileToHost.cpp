//===- TileToHost.cpp - host kernels to the LLVM dialect ----------------------------===//
#include "HostKernel.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/RegionUtils.h"
#include "tilec/Conversion/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_CONVERTTILEHOSTTOLLVM
#include "tilec/Conversion/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

static bool hasLaunch(Operation &op) {
  return op.walk([](LaunchCallOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Moves checks and workspace in front of the first launch: a call that fails must not have run half of its
/// launches, and the runtime has to know the whole workspace by then.
static void hoistChecks(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  auto first = llvm::find_if(body, hasLaunch);
  if (first == body.end())
    return;
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(std::next(first), body.end()))) {
    if (op.hasTrait<OpTrait::IsTerminator>() || hasLaunch(op))
      continue;
    llvm::SetVector<Value> used(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), used);
    bool ready = llvm::all_of(used, [&](Value value) {
      Operation *def = value.getDefiningOp();
      return !def || def->getBlock() != &body || def->isBeforeInBlock(&*first);
    });
    if (ready)
      op.moveBefore(&*first);
  }
}

/// Launch numbers in textual order: the order of KernelDesc::launches.
static llvm::StringMap<int> numberLaunches(KernelOp kernel) {
  llvm::StringMap<int> numbers;
  kernel.walk<WalkOrder::PreOrder>(
      [&](LaunchCallOp op) { numbers.try_emplace(op.getCallee(), numbers.size()); });
  return numbers;
}

static LogicalResult lowerControlFlow(KernelOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*kernel.getContext());
  target.addIllegalOp<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(kernel, target, std::move(patterns));
}

static LogicalResult lowerScalars(LLVM::LLVMFuncOp func) {
  MLIRContext *context = func.getContext();
  LLVMTypeConverter types(context);
  RewritePatternSet patterns(context);
  arith::populateArithExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  LLVMConversionTarget target(*context);
  return applyFullConversion(func, target, std::move(patterns));
}

namespace {
struct ConvertTileHostToLLVM : tilec::impl::ConvertTileHostToLLVMBase<ConvertTileHostToLLVM> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<KernelOp> hosts, devices;
    for (KernelOp kernel : module.getOps<KernelOp>())
      (kernel.isDevice() ? devices : hosts).push_back(kernel);
    HostRuntime runtime(module);
    for (KernelOp kernel : hosts)
      if (failed(lower(kernel, runtime)))
        return signalPassFailure();
    for (KernelOp kernel : devices)
      kernel.erase();
  }

  static LogicalResult lower(KernelOp kernel, HostRuntime &runtime) {
    hoistChecks(kernel);
    llvm::StringMap<int> launches = numberLaunches(kernel);
    if (failed(lowerControlFlow(kernel)))
      return failure();
    FailureOr<LLVM::LLVMFuncOp> func = HostKernelLowering(kernel, runtime, launches).run();
    if (failed(func))
      return failure();
    return lowerScalars(*func);
  }
};
} // namespace
