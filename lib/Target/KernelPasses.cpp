//===- KernelPasses.cpp - LLVM's passes for kernels of NVIDIA ------------------------===//
#include "KernelPasses.h"
#include "llvm/Transforms/IPO/SCCP.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/DivRemPairs.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/InferAlignment.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Scalar/SpeculativeExecution.h"

using namespace llvm;
using namespace tilec;

// The order is LLVM's; so are the options, which its pipeline sets itself.

static FunctionToLoopPassAdaptor hoist() {
  return createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true);
}

/// Equal values become one, loops are entered at their end.
static void simplify(FunctionPassManager &passes) {
  passes.addPass(SimplifyCFGPass());
  passes.addPass(EarlyCSEPass());
  passes.addPass(InstCombinePass());
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(SpeculativeExecutionPass(/*OnlyIfDivergentTarget=*/true));
  passes.addPass(CorrelatedValuePropagationPass());
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions().convertSwitchRangeToICmp(true)));
  passes.addPass(ReassociatePass());
  LICMOptions sparing;
  sparing.AllowSpeculation = false;
  LoopPassManager loops;
  loops.addPass(LICMPass(sparing));
  loops.addPass(LoopRotatePass());
  loops.addPass(LICMPass(LICMOptions()));
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions().convertSwitchRangeToICmp(true)));
  passes.addPass(InstCombinePass());
}

static void unroll(FunctionPassManager &passes) {
  LoopPassManager loops;
  loops.addPass(IndVarSimplifyPass());
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops)));
  passes.addPass(GVNPass());
  passes.addPass(CorrelatedValuePropagationPass());
  passes.addPass(hoist());
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()
                                     .forwardSwitchCondToPhi(true)
                                     .convertSwitchRangeToICmp(true)
                                     .needCanonicalLoops(false)
                                     .hoistCommonInsts(true)
                                     .sinkCommonInsts(true)));
  // Loops of few trips that are known. Those of products carry what they do in a first trip as conditions:
  // peeled they would be in the code twice.
  passes.addPass(LoopUnrollPass(
      LoopUnrollOptions(/*OptLevel=*/3).setPeeling(false).setPartial(false).setRuntime(false)));
}

/// What the unrolled loops have in common, and wider accesses by what is known of addresses.
static void finish(FunctionPassManager &passes) {
  passes.addPass(InferAlignmentPass());
  passes.addPass(InstCombinePass());
  passes.addPass(hoist());
  passes.addPass(DivRemPairsPass());
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()
                                     .convertSwitchRangeToICmp(true)
                                     .speculateUnpredictables(true)
                                     .hoistLoadsStoresWithCondFaulting(true)));
}

ModulePassManager target::kernelPasses(PassBuilder &builder) {
  ModulePassManager passes;
  // The target's own: ranges of the special registers.
  builder.invokePipelineStartEPCallbacks(passes, OptimizationLevel::O3);
  passes.addPass(IPSCCPPass());
  FunctionPassManager each;
  simplify(each);
  unroll(each);
  finish(each);
  passes.addPass(createModuleToFunctionPassAdaptor(std::move(each), /*EagerlyInvalidate=*/true));
  return passes;
}
