//===- CPUBackend.cpp - LLVM dialect to optimised x86-64 code ---------------------===//
#include "tilec/Target/CPUBackend.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"
#include <mutex>

using namespace llvm;
using namespace tilec;
using namespace tilec::target;

static Expected<std::unique_ptr<TargetMachine>> makeMachine(const TargetDesc &target, unsigned optLevel) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
  Triple triple("x86_64-unknown-linux-gnu");
  std::string why;
  const llvm::Target *t = TargetRegistry::lookupTarget(triple, why);
  if (!t)
    return toolError(ToolError::Internal, "LLVM has no x86-64 back end: " + why);
  CodeGenOptLevel level = optLevel == 0   ? CodeGenOptLevel::None
                          : optLevel == 1 ? CodeGenOptLevel::Less
                                          : CodeGenOptLevel::Aggressive;
  std::unique_ptr<TargetMachine> machine(
      t->createTargetMachine(triple, target.name, "", TargetOptions(), Reloc::PIC_, std::nullopt, level));
  if (!machine)
    return toolError(ToolError::Internal, "LLVM cannot generate code for " + target.name);
  return std::move(machine);
}

/// Symbols and arena sizes, from the attributes that convert-tile-to-cpu left on the functions.
static std::vector<CPUKernel> collectKernels(mlir::ModuleOp module) {
  std::vector<CPUKernel> kernels;
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>()) {
    auto arena = function->getAttrOfType<mlir::IntegerAttr>("tile.arena_bytes");
    auto name = function->getAttrOfType<mlir::StringAttr>("tile.kernel");
    StringRef symbol = function.getSymName();
    if (!arena || !name || !symbol.consume_back(".work"))
      continue;
    CPUKernel kernel;
    kernel.kernel = name.str();
    kernel.symbol = symbol.str();
    kernel.arenaBytes = arena.getInt();
    if (auto schedule = function->getAttrOfType<mlir::StringAttr>("tile.schedule"))
      kernel.schedule = schedule.str();
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

/// LLVM turns a copy between places that may overlap into memmove, which objects do not call: a loop instead.
/// Short ones of constant length become loads and stores anyway.
static void expandMoves(Module &module, TargetMachine &machine) {
  constexpr uint64_t shortMove = 64;
  for (Function &f : module) {
    SmallVector<MemMoveInst *> moves;
    for (Instruction &i : instructions(f))
      if (auto *move = dyn_cast<MemMoveInst>(&i)) {
        auto *length = dyn_cast<ConstantInt>(move->getLength());
        if (!length || length->getZExtValue() > shortMove)
          moves.push_back(move);
      }
    for (MemMoveInst *move : moves)
      if (expandMemMoveAsLoop(move, machine.getTargetTransformInfo(f)))
        move->eraseFromParent();
  }
}

static Expected<std::unique_ptr<Module>> prepare(mlir::ModuleOp mlirModule, LLVMContext &context,
                                                 TargetMachine &machine, const TargetDesc &target,
                                                 const BackendOptions &options) {
  LineTables lines = options.lineInfo ? LineTables::Full : LineTables::None;
  Expected<std::unique_ptr<Module>> module = translateModule(mlirModule, context, lines);
  if (!module)
    return module.takeError();
  (*module)->setTargetTriple(machine.getTargetTriple());
  (*module)->setDataLayout(machine.createDataLayout());
  (*module)->setPICLevel(PICLevel::BigPIC);
  for (Function &f : **module)
    if (!f.isDeclaration()) {
      f.addFnAttr("target-cpu", target.name);
      f.setDoesNotThrow();
      f.setVisibility(GlobalValue::HiddenVisibility);
      // Loops are vectorised already where they should be; what is left are tails and searches.
      f.addFnAttr("prefer-vector-width", std::to_string(target.vectorBytes * 8));
    }
  if (Error error = optimizeModule(**module, machine, options.optLevel))
    return std::move(error);
  expandMoves(**module, machine);
  if (Error error = checkNoUndefined(**module, {"memcpy", "memset"}, target.name))
    return std::move(error);
  return std::move(*module);
}

Expected<CPUObject> target::emitCPUObject(mlir::ModuleOp mlirModule, const TargetDesc &target,
                                          const BackendOptions &options) {
  Expected<std::unique_ptr<TargetMachine>> machine = makeMachine(target, options.optLevel);
  if (!machine)
    return machine.takeError();
  CPUObject object;
  object.kernels = collectKernels(mlirModule);
  LLVMContext context;
  DiagnosticCollector diagnostics(context);
  Expected<std::unique_ptr<Module>> module = prepare(mlirModule, context, **machine, target, options);
  if (!module)
    return joinErrors(diagnostics.take(), module.takeError());
  if (options.keepLLVM || options.stopAfter == StopAfter::LLVM)
    object.llvm = printModule(**module);
  raw_string_ostream os(object.bitcode);
  WriteBitcodeToFile(**module, os);
  if (options.keepISA || options.stopAfter == StopAfter::ISA) {
    Expected<std::string> text = emitModule(**module, **machine, /*assembly=*/true);
    if (!text)
      return text.takeError();
    object.isa = std::move(*text);
  }
  if (Error error = diagnostics.take())
    return std::move(error);
  return std::move(object);
}
