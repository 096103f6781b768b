//===- NVPTXBackend.cpp - LLVM dialect to PTX and cubin -----------------------------===//
#include "tilec/Target/NVPTXBackend.h"
#include "KernelPasses.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/InitializePasses.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <mutex>

using namespace llvm;
using namespace tilec;
using namespace tilec::target;

//===----------------------------------------------------------------------===//
// LLVM IR -> PTX
//===----------------------------------------------------------------------===//

static void initializeNVPTX() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    initializeScalarOpts(*PassRegistry::getPassRegistry()); // names of passes
    // Pointers to shared memory in 32 bits save registers and address arithmetic. LLVM has no other way to
    // ask for it than this option, and it must be set before a TargetMachine is made.
    auto &options = cl::getRegisteredOptions();
    if (auto it = options.find("nvptx-short-ptr"); it != options.end())
      static_cast<cl::opt<bool> *>(it->second)->setValue(true);
  });
}

static CodeGenOptLevel codeGenLevel(unsigned optLevel) {
  // Aggressive would number values anew where the optimiser did it just before.
  return optLevel == 0   ? CodeGenOptLevel::None
         : optLevel == 1 ? CodeGenOptLevel::Less
                         : CodeGenOptLevel::Default;
}

/// "sm_90a" of "sm_90a", "sm_80" of "compute_80".
static std::string chipOf(const TargetDesc &target) {
  StringRef name = target.name;
  return name.consume_front("compute_") ? ("sm_" + name).str() : name.str();
}

static Expected<std::unique_ptr<TargetMachine>> makeMachine(const TargetDesc &target, unsigned optLevel) {
  initializeNVPTX();
  Triple triple("nvptx64-nvidia-cuda");
  std::string why;
  const llvm::Target *t = TargetRegistry::lookupTarget(triple, why);
  if (!t)
    return toolError(ToolError::Internal, "LLVM has no NVPTX back end: " + why);
  std::string features = "+ptx" + utostr(target.ptxVersion);
  // The language lets a sum take a product unrounded.
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Fast;
  std::unique_ptr<TargetMachine> machine(t->createTargetMachine(
      triple, chipOf(target), features, options, std::nullopt, std::nullopt, codeGenLevel(optLevel)));
  if (!machine)
    return toolError(ToolError::Internal, "LLVM cannot generate code for " + target.name);
  return std::move(machine);
}

/// Links the functions of libdevice that are called, and only those; nothing when none is.
static Error linkLibdevice(Module &module, const BackendOptions &options) {
  bool needed =
      any_of(module, [](const Function &f) { return f.isDeclaration() && f.getName().starts_with("__nv_"); });
  if (!needed)
    return Error::success();
  Expected<std::string> path = findLibdevice(options.tools);
  if (!path)
    return path.takeError();
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> library = getLazyIRFileModule(*path, diagnostic, module.getContext());
  if (!library)
    return toolError(ToolError::Failed, "cannot read " + *path + ": " + diagnostic.getMessage());
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  bool failed = Linker::linkModules(module, std::move(library), Linker::LinkOnlyNeeded,
                                    [](Module &m, const StringSet<> &names) {
                                      internalizeModule(m, [&](const GlobalValue &value) {
                                        return !value.hasName() || !names.contains(value.getName());
                                      });
                                    });
  if (failed)
    return toolError(ToolError::Internal, "cannot link " + *path);
  return Error::success();
}

/// Everything but the kernels and the dynamic shared memory becomes private to the module.
static void keepKernelsOnly(Module &module) {
  internalizeModule(module, [](const GlobalValue &value) {
    auto *f = dyn_cast<Function>(&value);
    return f ? f->getCallingConv() == CallingConv::PTX_Kernel : value.isDeclaration();
  });
}

/// PTX names are letters, digits, `_` and `$`; LLVM mends those of private symbols only.
static std::vector<KernelReport> nameKernels(Module &module) {
  std::vector<KernelReport> kernels;
  for (Function &f : module) {
    if (f.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    KernelReport report;
    report.symbol = f.getName().str();
    std::string name = report.symbol;
    for (char &c : name)
      if (!isAlnum(c) && c != '_' && c != '$')
        c = '_';
    if (name != report.symbol) {
      while (module.getNamedValue(name))
        name += '_';
      f.setName(name);
      report.entry = name;
    }
    kernels.push_back(std::move(report));
  }
  return kernels;
}

//===----------------------------------------------------------------------===//
// Line tables
//===----------------------------------------------------------------------===//

/// LLVM escapes quotes, backslashes and bytes beyond ASCII in a name (the last as three octal digits); ptxas
/// knows no escapes and reads on behind the quote.
static std::string plainFileName(StringRef escaped) {
  std::string name;
  while (!escaped.empty()) {
    if (!escaped.consume_front("\\")) {
      name += escaped.front();
      escaped = escaped.drop_front();
      continue;
    }
    size_t digits = std::min<size_t>(3, escaped.find_if_not(isDigit));
    escaped = escaped.drop_front(std::min(escaped.size(), std::max<size_t>(1, digits)));
    name += '_';
  }
  return name;
}

std::string target::pinFileLines(StringRef ptx, int64_t date,
                                 const std::function<uint64_t(StringRef)> &sourceSize) {
  // ptxas looks at every file named in `.file N "name"` and writes date and size into .debug_line, so that
  // touching the source would change the cubin. Numbers after the name stop it; zeros do not.
  std::string result;
  result.reserve(ptx.size() + 256);
  while (!ptx.empty()) {
    auto [line, rest] = ptx.split('\n');
    bool ended = line.size() < ptx.size();
    ptx = rest;
    StringRef text = line.trim();
    if (text.starts_with(".file") && text.ends_with("\"") && text.count('"') >= 2) {
      auto [start, quoted] = text.split('"');
      std::string name = plainFileName(quoted.drop_back());
      uint64_t size = sourceSize ? sourceSize(name) : 0;
      result += "\t" + start.str() + '"' + name + "\", " + itostr(std::max<int64_t>(date, 1)) + ", " +
                utostr(std::max<uint64_t>(size, 1));
    } else {
      result += line;
    }
    if (ended)
      result += '\n';
  }
  return result;
}

//===----------------------------------------------------------------------===//
// PTX -> cubin
//===----------------------------------------------------------------------===//

static int numberBefore(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos)
    return -1;
  StringRef before = line.take_front(at).rtrim();
  StringRef digits = before.take_back(before.size() - (before.find_last_not_of("0123456789") + 1));
  int number = -1;
  return digits.getAsInteger(10, number) ? -1 : number;
}

static void parsePropertiesLine(StringRef line, Resources &r) {
  if (line.contains("stack frame")) {
    r.stackBytes = numberBefore(line, " bytes stack frame");
    r.spillStores = numberBefore(line, " bytes spill stores");
    r.spillLoads = numberBefore(line, " bytes spill loads");
    return;
  }
  if (int registers = numberBefore(line, " registers"); registers >= 0)
    r.registers = registers;
  if (int shared = numberBefore(line, " bytes smem"); shared >= 0)
    r.staticShared = shared;
}

std::vector<KernelReport> target::parsePtxasReport(StringRef output) {
  // ptxas info    : Compiling entry function 'k' for 'sm_90a'
  // ptxas info    : Function properties for k
  //     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
  // ptxas info    : Used 168 registers, used 9 barriers, 1024 bytes smem
  // ptxas info    : (C7510) Potential Performance Loss: ... in function 'k'
  std::vector<KernelReport> reports;
  auto reportOf = [&](StringRef name) -> Resources & {
    auto it = find_if(reports, [&](const KernelReport &r) { return r.symbol == name; });
    if (it != reports.end())
      return it->resources;
    reports.push_back({name.str(), "", {}});
    return reports.back().resources;
  };
  std::string current;
  for (StringRef line : split(output, '\n')) {
    if (size_t at = line.find("Compiling entry function '"); at != StringRef::npos) {
      current = line.drop_front(at).split('\'').second.split('\'').first.str();
      reportOf(current);
    } else if (size_t at = line.find("(C7"); at != StringRef::npos) {
      StringRef function = line.rsplit("function '").second.split('\'').first;
      reportOf(line.contains("function '") ? function : StringRef(current))
          .advisories.push_back(line.drop_front(at).trim().str());
    } else if (!current.empty()) {
      parsePropertiesLine(line, reportOf(current));
    }
  }
  return reports;
}

/// Puts what ptxas says into the reports of the module's kernels; ptxas has an order of its own.
static void takeResources(std::vector<KernelReport> &kernels, std::vector<KernelReport> reports) {
  for (KernelReport &kernel : kernels)
    for (KernelReport &report : reports)
      if (report.symbol == (kernel.entry.empty() ? kernel.symbol : kernel.entry))
        kernel.resources = std::move(report.resources);
}

static Error assemble(DeviceImage &image, const TargetDesc &target, const BackendOptions &options) {
  Expected<Tool> ptxas = findPtxas(options.tools);
  if (!ptxas)
    return ptxas.takeError();
  if (Error error = checkPtxasVersion(*ptxas, target, target.ptxVersion))
    return error;
  Expected<TempFile> in = TempFile::create(options.tools, "ptx", image.isa);
  if (!in)
    return in.takeError();
  Expected<TempFile> out = TempFile::create(options.tools, "cubin");
  if (!out)
    return out.takeError();
  std::vector<std::string> args = {"-arch=" + chipOf(target), "-O" + utostr(options.optLevel == 0 ? 0 : 3),
                                   "-v"};
  if (options.lineInfo)
    args.push_back("-lineinfo");
  append_range(args, options.tools.ptxasArgs);
  args.insert(args.end(), {in->path().str(), "-o", out->path().str()});
  Expected<RunResult> result = runTool(options.tools, *ptxas, args);
  if (!result)
    return result.takeError();
  if (result->exitCode != 0)
    return toolError(ToolError::Rejected,
                     "ptxas rejected the code generated for " + target.name + ": " +
                         StringRef(result->output).split('\n').first,
                     result->output);
  takeResources(image.kernels, parsePtxasReport(result->output));
  Expected<std::string> bytes = out->read();
  if (!bytes)
    return bytes.takeError();
  image.bytes = std::move(*bytes);
  image.ptxasVersion = ptxas->version;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

static mlir::TimingScope timer(const BackendOptions &options, StringRef name) {
  return options.timing ? options.timing->nest(name) : mlir::TimingScope();
}

/// Links libdevice and optimises.
static Error prepare(Module &module, TargetMachine &machine, const TargetDesc &target,
                     const BackendOptions &options) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  mlir::TimingScope linking = timer(options, "link libdevice");
  if (Error error = linkLibdevice(module, options))
    return error;
  linking.stop();

  mlir::TimingScope optimizing = timer(options, "optimise LLVM IR");
  keepKernelsOnly(module);
  // What libdevice brought has to be inlined, and its stack slots and loops to go.
  bool calls = any_of(module, [](const Function &f) {
    return !f.isDeclaration() && f.getCallingConv() != CallingConv::PTX_Kernel;
  });
  Error failed = options.optLevel < 2 || calls ? optimizeModule(module, machine, options.optLevel)
                                               : optimizeModule(module, machine, kernelPasses);
  if (failed)
    return failed;
  return checkNoUndefined(module, {"vprintf", "__assertfail", "malloc", "free"}, target.name);
}

/// Products of fp8 on warps came with PTX 8.4, those of signed with unsigned bytes on warp groups as well.
static unsigned ptxVersionFor(mlir::ModuleOp module) {
  unsigned version = 0;
  module.walk([&](mlir::LLVM::InlineAsmOp code) {
    StringRef text = code.getAsmString();
    bool fp8OfWarp = text.starts_with("mma.sync") && (text.contains(".e4m3.") || text.contains(".e5m2."));
    bool mixed = text.contains("wgmma") && (text.contains(".s32.u8.s8") || text.contains(".s32.s8.u8"));
    if (fp8OfWarp || mixed)
      version = 84;
  });
  return version;
}

Expected<TranslatedModule> target::translateNVPTX(mlir::ModuleOp module, const BackendOptions &options) {
  Expected<TranslatedModule> result =
      translateAlone(module, options.lineInfo ? LineTables::DirectivesOnly : LineTables::None, options);
  if (result)
    result->ptxVersion = ptxVersionFor(module);
  return result;
}

Expected<DeviceImage> target::compileNVPTX(mlir::ModuleOp module, const TargetDesc &target,
                                           const BackendOptions &options) {
  Expected<TranslatedModule> translated = translateNVPTX(module, options);
  return translated ? compileNVPTX(std::move(*translated), target, options) : translated.takeError();
}

Expected<DeviceImage> target::compileNVPTX(TranslatedModule translated, const TargetDesc &chip,
                                           const BackendOptions &options) {
  TargetDesc target = chip; // as this module needs it
  target.ptxVersion = std::max(target.ptxVersion, translated.ptxVersion);
  mlir::TimingScope all = timer(options, target.name);
  BackendOptions inner = options;
  inner.timing = options.timing ? &all : nullptr;
  Expected<std::unique_ptr<TargetMachine>> machine = makeMachine(target, options.optLevel);
  if (!machine)
    return machine.takeError();
  Module &module = *translated.module;
  DiagnosticCollector &diagnostics = *translated.diagnostics;
  if (Error error = prepare(module, **machine, target, inner))
    return joinErrors(diagnostics.take(), std::move(error));

  DeviceImage image;
  image.kind = target.emitsPTX ? Image::PTX : Image::Cubin;
  image.arch = target.name;
  image.kernels = nameKernels(module);
  if (options.keepLLVM || options.stopAfter == StopAfter::LLVM)
    image.llvm = printModule(module);
  if (options.stopAfter == StopAfter::LLVM)
    return std::move(image);

  mlir::TimingScope generating = timer(inner, "generate PTX");
  // It finds nothing. Straight-line strength reduction takes a tenth of all time, but kernels that store many
  // rows from registers spill without it.
  Expected<std::string> ptx = emitModule(module, **machine, /*assembly=*/true, {"nary-reassociate"});
  if (!ptx)
    return ptx.takeError();
  if (Error error = diagnostics.take())
    return std::move(error);
  image.isa = pinFileLines(*ptx, options.sourceDate, options.sourceSize);
  generating.stop();
  if (options.stopAfter == StopAfter::ISA)
    return std::move(image);

  if (target.emitsPTX) {
    image.bytes = image.isa + '\0';
    return std::move(image);
  }
  mlir::TimingScope assembling = timer(inner, "ptxas");
  if (Error error = assemble(image, target, options))
    return std::move(error);
  return std::move(image);
}
