//===- Backend.cpp - what all code generators share -------------------------------===//
#include "tilec/Target/Backend.h"
#include "KernelPasses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "tilec/Target/AMDGPUBackend.h"
#include "tilec/Target/NVPTXBackend.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/PassRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <deque>

using namespace llvm;
using namespace tilec;
using namespace tilec::target;

void target::registerBackendDialects(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerGPUDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
  mlir::registerROCDLDialectTranslation(registry);
}

//===----------------------------------------------------------------------===//
// Diagnostics of LLVM
//===----------------------------------------------------------------------===//

struct DiagnosticCollector::State {
  std::string errors;
};

namespace {
struct CollectingHandler : DiagnosticHandler {
  CollectingHandler(std::shared_ptr<std::string> errors) : errors(std::move(errors)) {}
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() != DS_Error)
      return true; // remarks and warnings of LLVM say nothing to the user of a .tile file
    raw_string_ostream os(*errors);
    if (!errors->empty())
      os << "; ";
    DiagnosticPrinterRawOStream printer(os);
    info.print(printer);
    return true;
  }
  std::shared_ptr<std::string> errors;
};
} // namespace

DiagnosticCollector::DiagnosticCollector(LLVMContext &context)
    : state(std::make_shared<State>()), context(context) {
  context.setDiagnosticHandler(
      std::make_unique<CollectingHandler>(std::shared_ptr<std::string>(state, &state->errors)));
}

DiagnosticCollector::~DiagnosticCollector() {
  context.setDiagnosticHandler(std::make_unique<DiagnosticHandler>());
}

Error DiagnosticCollector::take() {
  if (state->errors.empty())
    return Error::success();
  return toolError(ToolError::Internal, "LLVM cannot generate code: " + state->errors);
}

//===----------------------------------------------------------------------===//
// MLIR -> LLVM IR -> machine code
//===----------------------------------------------------------------------===//

/// Gives every function without one a scope for its locations.
static bool addDebugScopes(mlir::ModuleOp module, LineTables lines) {
  mlir::LLVM::DIScopeForLLVMFuncOpPassOptions options;
  options.emissionKind = lines == LineTables::Full ? mlir::LLVM::DIEmissionKind::LineTablesOnly
                                                   : mlir::LLVM::DIEmissionKind::DebugDirectivesOnly;
  mlir::PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass(options));
  return succeeded(passes.run(module));
}

Expected<std::unique_ptr<Module>> target::translateModule(mlir::ModuleOp module, LLVMContext &context,
                                                          LineTables lines) {
  mlir::Operation *root = module;
  auto nested = module.getOps<mlir::gpu::GPUModuleOp>();
  if (!nested.empty()) {
    if (++nested.begin() != nested.end())
      return toolError(ToolError::Internal, "more than one gpu.module for one image");
    root = *nested.begin();
  }
  if (lines != LineTables::None && !addDebugScopes(module, lines))
    return toolError(ToolError::Internal, "locations cannot be turned into line tables");
  std::unique_ptr<Module> result = mlir::translateModuleToLLVMIR(root, context, "tile");
  if (!result)
    return toolError(ToolError::Internal, "the LLVM dialect cannot be translated to LLVM IR");
  if (lines == LineTables::None)
    StripDebugInfo(*result);
  return std::move(result);
}

static OptimizationLevel passLevel(unsigned level) {
  switch (level) {
  case 0:
    return OptimizationLevel::O0;
  case 1:
    return OptimizationLevel::O1;
  default:
    // -O2 and -O3 differ in how hard tilec itself searches; kernels always want LLVM's best.
    return OptimizationLevel::O3;
  }
}

Error target::optimizeModule(Module &module, TargetMachine &machine,
                             function_ref<ModulePassManager(PassBuilder &)> passes) {
  std::string why;
  raw_string_ostream os(why);
  if (verifyModule(module, &os))
    return toolError(ToolError::Internal, "invalid LLVM IR: " + why);
  LoopAnalysisManager lam;
  FunctionAnalysisManager fam;
  CGSCCAnalysisManager cgam;
  ModuleAnalysisManager mam;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  passes(builder).run(module, mam);
  return Error::success();
}

Error target::optimizeModule(Module &module, TargetMachine &machine, unsigned optLevel) {
  return optimizeModule(module, machine, [&](PassBuilder &builder) {
    OptimizationLevel level = passLevel(optLevel);
    return level == OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(level)
                                          : builder.buildPerModuleDefaultPipeline(level);
  });
}

namespace {
/// A list of passes that refuses some.
struct PassesWithout : legacy::PassManager {
  explicit PassesWithout(ArrayRef<StringRef> names) {
    for (StringRef name : names)
      if (const PassInfo *info = PassRegistry::getPassRegistry()->getPassInfo(name))
        ids.push_back(info->getTypeInfo());
  }
  void add(Pass *pass) override {
    if (is_contained(ids, pass->getPassID()))
      delete pass;
    else
      legacy::PassManager::add(pass);
  }
  SmallVector<AnalysisID> ids;
};
} // namespace

Expected<std::string> target::emitModule(Module &module, TargetMachine &machine, bool assembly,
                                         ArrayRef<StringRef> without) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream os(bytes);
  PassesWithout passes(without);
  auto kind = assembly ? CodeGenFileType::AssemblyFile : CodeGenFileType::ObjectFile;
  // optimizeModule has verified what goes in; between its own passes LLVM is trusted.
  if (machine.addPassesToEmitFile(passes, os, nullptr, kind, /*DisableVerify=*/true))
    return toolError(ToolError::Internal, "no code generator for " + module.getTargetTriple().str());
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

Error target::checkNoUndefined(const Module &module, ArrayRef<StringRef> known, StringRef arch) {
  for (const Function &f : module)
    if (f.isDeclaration() && !f.isIntrinsic() && !f.use_empty() && !is_contained(known, f.getName()))
      return toolError(ToolError::Internal,
                       "code for " + arch + " calls `" + f.getName() + "`, which nothing defines there");
  return Error::success();
}

std::string target::printModule(const Module &module) {
  std::string text;
  raw_string_ostream os(text);
  module.print(os, nullptr);
  return text;
}

//===----------------------------------------------------------------------===//
// Several images
//===----------------------------------------------------------------------===//

TranslatedModule::TranslatedModule() = default;
TranslatedModule::TranslatedModule(TranslatedModule &&) = default;
TranslatedModule &TranslatedModule::operator=(TranslatedModule &&other) {
  // The module goes before its context, and the collector before both.
  diagnostics = std::move(other.diagnostics);
  module = std::move(other.module);
  context = std::move(other.context);
  ptxVersion = other.ptxVersion;
  return *this;
}
TranslatedModule::~TranslatedModule() = default;

Expected<TranslatedModule> target::translateAlone(mlir::ModuleOp module, LineTables lines,
                                                  const BackendOptions &options) {
  mlir::TimingScope timing =
      options.timing ? options.timing->nest("translate to LLVM IR") : mlir::TimingScope();
  TranslatedModule result;
  result.context = std::make_unique<LLVMContext>();
  result.diagnostics = std::make_unique<DiagnosticCollector>(*result.context);
  Expected<std::unique_ptr<Module>> translated = translateModule(module, *result.context, lines);
  if (!translated)
    return joinErrors(result.diagnostics->take(), translated.takeError());
  result.module = std::move(*translated);
  return std::move(result);
}

struct ImageQueue::State {
  struct Job {
    TranslatedModule module;
    const TargetDesc *target;
    std::optional<Expected<DeviceImage>> result;
  };
  explicit State(const BackendOptions &options) : options(options) {
    unsigned threads = options.jobs ? options.jobs : hardware_concurrency().compute_thread_count();
    if (threads > 1)
      pool.emplace(hardware_concurrency(threads));
  }

  void run(Job &job) {
    // The driver guards the thread that calls; a crash on another one would end the process.
    CrashRecoveryContext guard;
    bool whole = guard.RunSafely([&] {
      bool nvidia = job.target->family == Family::NVIDIA;
      job.result.emplace(nvidia ? compileNVPTX(std::move(job.module), *job.target, options)
                                : compileAMDGPU(std::move(job.module), *job.target, options));
    });
    if (!whole)
      job.result.emplace(toolError(ToolError::Internal, "it crashed on the code for " + job.target->name));
  }

  const BackendOptions options;
  std::deque<Job> jobs; ///< their addresses stay
  std::optional<DefaultThreadPool> pool;
};

ImageQueue::ImageQueue(const BackendOptions &options) : state(std::make_unique<State>(options)) {}

ImageQueue::~ImageQueue() {
  for (Expected<DeviceImage> &result : finish())
    if (!result)
      consumeError(result.takeError());
}

void ImageQueue::add(mlir::ModuleOp module, const TargetDesc &target) {
  State::Job &job = state->jobs.emplace_back();
  job.target = &target;
  if (target.family == Family::CPU) {
    job.result.emplace(toolError(ToolError::Internal, target.name + " is not a GPU"));
    return;
  }
  Expected<TranslatedModule> translated = target.family == Family::NVIDIA
                                              ? translateNVPTX(module, state->options)
                                              : translateAMDGPU(module, state->options);
  if (!translated) {
    job.result.emplace(translated.takeError());
    return;
  }
  job.module = std::move(*translated);
  if (state->pool)
    state->pool->async([state = state.get(), &job] { state->run(job); });
  else
    state->run(job);
}

std::vector<Expected<DeviceImage>> ImageQueue::finish() {
  if (state->pool)
    state->pool->wait();
  std::vector<Expected<DeviceImage>> results;
  for (State::Job &job : state->jobs)
    results.push_back(std::move(*job.result));
  state->jobs.clear();
  return results;
}

static void applyReport(Variant &variant, ArrayRef<KernelReport> reports) {
  auto it = find_if(reports, [&](const KernelReport &r) { return r.symbol == variant.symbol; });
  if (it == reports.end())
    return;
  std::pair waves(variant.resources.bankWaves, variant.resources.idealWaves); // no assembler knows them
  variant.resources = it->resources;
  variant.resources.dynamicShared = variant.dynamicShared;
  std::tie(variant.resources.bankWaves, variant.resources.idealWaves) = waves;
  if (!it->entry.empty())
    variant.symbol = it->entry;
}

void target::applyReport(Image &image, DeviceImage compiled) {
  image.kind = compiled.kind;
  image.bytes = std::move(compiled.bytes);
  image.ptxasVersion = std::move(compiled.ptxasVersion);
  for (auto &launches : image.variants)
    for (auto &variants : launches)
      for (Variant &variant : variants)
        ::applyReport(variant, compiled.kernels);
}
