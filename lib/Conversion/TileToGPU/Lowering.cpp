//===- Lowering.cpp - what the conversions to NVVM and ROCDL share -----------===//
#include "Lowering.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace {
/// Division that rounds up or down. What else arith's own pass expands, minima and maxima of floats, GPUs
/// have as instructions, which order zeros by their sign.
struct ExpandDivisions : PassWrapper<ExpandDivisions, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandDivisions)
  StringRef getName() const override { return "ExpandDivisions"; }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    ConversionTarget target(getContext());
    target.addLegalDialect<arith::ArithDialect>();
    target.addIllegalOp<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

/// Loops and branches become blocks: outer ones before inner ones, in one block the last first. A guarded
/// access for each element makes thousands in one block, and a dialect conversion would record the move of
/// all that stands behind each of them.
struct LowerControlFlow : PassWrapper<LowerControlFlow, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerControlFlow)
  StringRef getName() const override { return "LowerControlFlow"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<cf::ControlFlowDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateSCFToControlFlowConversionPatterns(patterns);
    FrozenRewritePatternSet frozen(std::move(patterns));
    PatternApplicator applicator(frozen);
    applicator.applyDefaultCostModel();
    SmallVector<Operation *> structured;
    getOperation()->walk([&](Operation *op) {
      if (isa<scf::SCFDialect>(op->getDialect()) && op->getNumRegions())
        structured.push_back(op);
    });
    PatternRewriter rewriter(&getContext());
    for (Operation *op : llvm::reverse(structured)) {
      rewriter.setInsertionPoint(op);
      if (failed(applicator.matchAndRewrite(op, rewriter))) {
        op->emitOpError() << "cannot become blocks";
        return signalPassFailure();
      }
    }
  }
};

/// Scalars and blocks become LLVM's in one conversion: each looks at every operation.
struct LowerScalars : PassWrapper<LowerScalars, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerScalars)
  StringRef getName() const override { return "LowerScalars"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    LLVMTypeConverter types(&getContext());
    RewritePatternSet patterns(&getContext());
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    populateMathToLLVMConversionPatterns(types, patterns);
    ub::populateUBToLLVMConversionPatterns(types, patterns);
    LLVMConversionTarget target(getContext());
    ConversionConfig config;
    config.allowPatternRollback = false;
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace

void tilec::simt::addCleanUp(OpPassManager &pm) {
  GreedyRewriteConfig config;
  // Once: what changes brings its neighbours along, and a second look at everything finds nothing. Blocks and
  // their arguments are LLVM's to simplify.
  config.setMaxIterations(1).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  pm.addPass(createCanonicalizerPass(config));
  pm.addPass(createCSEPass());
}

void tilec::simt::addLLVMConversions(OpPassManager &pm, std::unique_ptr<Pass> own) {
  pm.addPass(std::make_unique<ExpandDivisions>());
  // Before control flow: its greedy driver would merge blocks of equal code for ever where many loads are
  // guarded.
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(std::make_unique<LowerControlFlow>());
  pm.addPass(std::make_unique<LowerScalars>());
  if (own)
    pm.addPass(std::move(own));
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCSEPass());
}
