//===- TestRemoveWait.cpp - breaks the synchronisation of a program ----------===//
//
// For the tests of --sanitize=schedule: of the program of one thread (stage Threads) one wait, barrier or
// fence goes, all else stays as it is. What is left must compute wrong results as soon as warps drift apart.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {
struct TestRemoveWait : PassWrapper<TestRemoveWait, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestRemoveWait)
  TestRemoveWait() = default;
  TestRemoveWait(const TestRemoveWait &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-tile-remove-wait"; }
  StringRef getDescription() const override { return "Remove one op that waits, from stage threads"; }

  /// Assembly text or name of an op that orders something; empty for all others.
  static StringRef instructionOf(Operation *op) {
    if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op))
      return assembly.getAsmString();
    if (isa<NVVM::NVVMDialect>(op->getDialect()) && op->getNumResults() == 0)
      return op->getName().getStringRef();
    return {};
  }

  void runOnOperation() override {
    if (match.empty()) {
      getOperation().emitError("test-tile-remove-wait: which one? (match)");
      return signalPassFailure();
    }
    int64_t seen = 0;
    Operation *victim = nullptr;
    getOperation().walk([&](Operation *op) {
      if (instructionOf(op).contains(match) && seen++ == index)
        victim = op;
    });
    if (!victim) {
      getOperation().emitError() << "test-tile-remove-wait: there are " << seen << " ops with '" << match
                                 << "', none has number " << int64_t(index);
      return signalPassFailure();
    }
    victim->emitRemark("removed");
    // Assembly may hand values through (accumulators that a wait is tied to): only its text goes.
    if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(victim))
      assembly.setAsmString("");
    else
      victim->erase();
  }

  Option<std::string> match{*this, "match", llvm::cl::desc("part of the assembly text or of the op's name")};
  Option<int64_t> index{*this, "index", llvm::cl::init(0),
                        llvm::cl::desc("which of those that match, from 0")};
};
} // namespace

namespace tilec {
void registerTestRemoveWait() { PassRegistration<TestRemoveWait>(); }
} // namespace tilec
