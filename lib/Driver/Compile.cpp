//===- Compile.cpp - one source file through all stages ----------------------===//
#include "Compile.h"
#include "Bundle.h"
#include "CollectLibrary.h"
#include "MLIRDiagnostics.h"
#include "OutputNames.h"
#include "Sources.h"
#include "Tuning.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Driver/Driver.h"
#include "tilec/MLIRGen/MLIRGen.h"
#include "tilec/Parse/Parser.h"
#include "tilec/Pipelines/Pipelines.h"
#include "tilec/Sema/Sema.h"
#include "tilec/Support/Occupancy.h"
#include "tilec/Target/AMDGPUBackend.h"
#include "tilec/Target/CPUBackend.h"
#include "tilec/Target/Depfile.h"
#include "tilec/Target/Header.h"
#include "tilec/Target/Manifest.h"
#include "tilec/Target/NVPTXBackend.h"
#include "tilec/Target/ObjectWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"

using namespace tilec;

namespace {

/// Device kernels of one target on their way down: all of them, or a part that becomes an image of its own.
struct Lowering {
  const TargetDesc *target;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

class Compilation {
public:
  Compilation(const DriverOptions &options, llvm::SourceMgr &sources, uint32_t buffer,
              DiagnosticEngine &diags, Outputs &outputs, mlir::TimingScope &timing)
      : options(options), sources(sources), buffer(buffer), diags(diags), outputs(outputs), timing(timing),
        loader(sources, diags), names(options, sources.getMemoryBuffer(buffer)->getBufferIdentifier()) {}

  int run();

private:
  bool wants(llvm::StringRef kind) const { return options.emits.count(kind.str()) != 0; }
  bool wantsObject() const {
    return !names.object.empty() || !names.header.empty() || !names.bundle.empty() || wants("manifest");
  }
  bool wantsParts() const;
  Stage lastStage() const;
  bool declareOutputs();
  bool readsOutputs();

  int frontEnd();
  int listKernels();
  int middle();
  bool runStage(mlir::ModuleOp module, llvm::StringRef what,
                llvm::function_ref<void(mlir::OpPassManager &)> build);
  void dump(llvm::StringRef kind, const TargetDesc *target, mlir::ModuleOp module);
  bool checkNames();
  int lower(Lowering &lowering, Stage last);
  int loadIR(Lowering &lowering, llvm::StringRef path);
  int compileCPU(Lowering &lowering);
  int compileDevices(std::vector<Lowering> &lowerings);
  int collectImages(llvm::ArrayRef<Lowering *> lowerings, target::ImageQueue &queue);
  int writeLibrary();
  int writeBundle(const std::string &object);
  int findBundleTools();
  void writeTexts(const TargetDesc &target, const std::string &llvmText, const std::string &isa);
  int failed(llvm::Error error, const TargetDesc *target);
  target::BackendOptions backendOptions();
  void reportResources() const;

  const DriverOptions &options;
  llvm::SourceMgr &sources;
  uint32_t buffer;
  DiagnosticEngine &diags;
  Outputs &outputs;
  mlir::TimingScope &timing;
  Sources loader;
  OutputNames names;
  std::unique_ptr<ast::Module> tree;
  std::unique_ptr<hir::Program> program;
  std::unique_ptr<mlir::MLIRContext> context;
  llvm::StringMap<std::unique_ptr<mlir::PassManager>>
      stages; ///< by name; parts of a target go through the same
  mlir::OwningOpRef<mlir::ModuleOp> module, host;
  target::Library library;
  BundlePlan plan;
  std::string bundleRunner; ///< the program that measures it
};

} // namespace

//===----------------------------------------------------------------------===//
// What is written where
//===----------------------------------------------------------------------===//

bool Compilation::declareOutputs() {
  for (const std::string &file : {names.depfile, names.object, names.header})
    if (!file.empty())
      outputs.declare(file);
  if (!names.bundle.empty())
    for (const auto &[what, file] : names.all)
      outputs.declare(file);
  if (wants("manifest"))
    outputs.declare(options.emits.at("manifest"));
  for (llvm::StringRef kind : perTargetKinds) {
    auto asked = options.emits.find(kind.str());
    if (asked == options.emits.end())
      continue;
    unsigned fits = 0;
    for (const std::string &name : options.targets)
      fits += kindFits(kind, *lookupTarget(name));
    bool pattern = asked->second.find("%a") != std::string::npos;
    if (fits == 0 || (fits > 1 && !pattern)) {
      diags.report(diag::E0609, {}, kind,
                   fits == 0 ? "a target that has it in --arch"
                             : "one target in --arch, or %a in the file name");
      return false;
    }
    for (const std::string &name : options.targets)
      if (kindFits(kind, *lookupTarget(name)))
        outputs.declare(fileFor(options, kind, *lookupTarget(name)));
  }
  return true;
}

/// Imports are files that no output may replace, nor a failure remove.
bool Compilation::readsOutputs() {
  std::string clash = inputClash(names, loader.paths(buffer));
  if (clash.empty())
    return false;
  outputs.forget();
  diags.report(diag::E0602, {}, clash);
  return true;
}

Stage Compilation::lastStage() const {
  if (wantsObject() || wants("ptx") || wants("cubin") || wants("hsaco") || wants("asm") || wants("llvm"))
    return Stage::LLVM;
  Stage last = Stage::Tile;
  for (Stage s : {Stage::Scheduled, Stage::LaidOut, Stage::Async, Stage::Threads, Stage::LLVM})
    if (wants(("ir-" + stageName(s)).str()))
      last = s;
  return last;
}

//===----------------------------------------------------------------------===//
// Front end
//===----------------------------------------------------------------------===//

int Compilation::frontEnd() {
  {
    mlir::TimingScope scope = timing.nest("Parse");
    tree = parseFile(sources, buffer, diags);
  }
  if (!tree)
    return ExitSource;
  if (wants("ast")) {
    std::string text;
    llvm::raw_string_ostream os(text);
    ast::print(*tree, sources.getMemoryBuffer(buffer)->getBuffer(), os);
    outputs.set(options.emits.at("ast"), text);
    if (options.emits.size() == 1 && options.output.empty())
      return ExitSuccess;
  }
  mlir::TimingScope scope = timing.nest("Sema");
  SemaOptions sema;
  for (const std::string &define : options.defines) {
    auto [name, value] = llvm::StringRef(define).split('=');
    if (!llvm::StringRef(define).contains('=')) {
      diags.report(diag::E0602, {}, "-D takes NAME=VALUE, not `" + define + "`");
      return ExitUsage;
    }
    sema.defines.push_back({name.str(), value.str()});
  }
  for (const std::string &list : options.kernelNames) {
    llvm::SmallVector<llvm::StringRef> names;
    llvm::StringRef(list).split(names, ',', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef n : names)
      sema.kernels.push_back(n.trim().str());
  }
  // A model compares them, or they are measured.
  bool measures = options.command == Command::Tune || !options.tuningFiles.empty();
  sema.points = options.tilePolicy != "fixed" && llvm::any_of(options.targets, [&](const std::string &name) {
                  const TargetDesc &target = *lookupTarget(name);
                  return hasCostModel(target) || (measures && target.family == Family::NVIDIA);
                });
  sema.importDirs = options.importDirs;
  sema.loader = &loader;
  program = analyze(*tree, sema, diags);
  tree.reset();
  if (!program)
    return diags.numCommandLineErrors() == diags.numErrors() ? ExitUsage : ExitSource;
  return ExitSuccess;
}

int Compilation::listKernels() {
  std::string text;
  for (const auto &k : program->kernels) {
    text += k->name;
    for (const hir::ConstBinding &c : k->constants)
      text += " " + c.name + "=" + c.value;
    text += "\n";
  }
  outputs.set("-", text);
  return ExitSuccess;
}

//===----------------------------------------------------------------------===//
// Middle
//===----------------------------------------------------------------------===//

bool Compilation::runStage(mlir::ModuleOp m, llvm::StringRef what,
                           llvm::function_ref<void(mlir::OpPassManager &)> build) {
  mlir::TimingScope scope = timing.nest(what);
  std::unique_ptr<mlir::PassManager> &pm = stages[what];
  if (!pm) {
    pm = std::make_unique<mlir::PassManager>(context.get(), mlir::ModuleOp::getOperationName());
    pm->enableVerifier(false); // once for each stage, not after each pass; tile-opt does that
    build(*pm);
  }
  unsigned before = diags.numErrors();
  if (mlir::succeeded(pm->run(m)) && mlir::succeeded(mlir::verify(m)))
    return true;
  if (diags.numErrors() == before)
    diags.report(diag::E0690, {}, "stage " + what + " failed without a message");
  return false;
}

void Compilation::dump(llvm::StringRef kind, const TargetDesc *t, mlir::ModuleOp m) {
  if (!wants(kind))
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  m.print(os, mlir::OpPrintingFlags());
  outputs.set(t ? fileFor(options, kind, *t) : options.emits.at(kind.str()), text + "\n");
}

/// How many of the points that are left go into the next part: many while much is left, since the assembler
/// takes kernels together in less time than one by one, and few at the end, where all threads should be done
/// at once. Numbers alone decide, never the threads of this machine: the same image is made everywhere.
static unsigned pointsOfPart(unsigned left, unsigned partsBefore) {
  constexpr unsigned shares = 8, most = 8, alone = 2; // the first parts make work for the threads soon
  return partsBefore < alone ? 1 : std::clamp(left / shares, 1u, most);
}

/// The device kernels that `target` compiles; in parts: the points of a tuning space apart from the rest, so
/// that the assembler works on several parts at once.
static void addLowerings(mlir::ModuleOp module, const TargetDesc &target, bool parts,
                         std::vector<Lowering> &lowerings) {
  auto isFor = [&](mlir::Attribute name) {
    return llvm::cast<mlir::StringAttr>(name).getValue() == target.name;
  };
  auto newPart = [&] {
    lowerings.push_back({&target, mlir::ModuleOp::create(module.getLoc())});
    (*lowerings.back().module)->setDiscardableAttrs(module->getDiscardableAttrDictionary());
    return *lowerings.back().module;
  };
  mlir::ModuleOp rest = newPart();
  llvm::SmallVector<tile::KernelOp> points;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    auto targets = kernel->getAttrOfType<mlir::ArrayAttr>(tile::TileDialect::kTargetsAttrName);
    if (!kernel.isDevice() || (targets && llvm::none_of(targets, isFor)))
      continue;
    if (parts && kernel->hasAttr(tile::TileDialect::kPointAttrName))
      points.push_back(kernel);
    else
      rest.push_back(kernel.clone());
  }
  unsigned made = 0;
  for (llvm::ArrayRef<tile::KernelOp> left = points; !left.empty(); ++made) {
    unsigned size = pointsOfPart(left.size(), made);
    mlir::ModuleOp part = newPart();
    for (tile::KernelOp kernel : left.take_front(size))
      part.push_back(kernel.clone());
    left = left.drop_front(size);
  }
}

/// Texts of a target, and the files that show how they came about, hold all of its kernels.
bool Compilation::wantsParts() const {
  return options.loadIR.empty() && options.saveTemps.empty() &&
         llvm::none_of(perTargetKinds, [&](llvm::StringRef kind) { return wants(kind); });
}

int Compilation::middle() {
  mlir::DialectRegistry registry;
  registerPipelineDialects(registry);
  target::registerBackendDialects(registry);
  context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false); // users never see IR
  llvm::StringMap<uint32_t> modules;
  modules[program->moduleName] = buffer;
  MLIRDiagnostics handler(*context, diags, std::move(modules));
  {
    mlir::TimingScope scope = timing.nest("MLIRGen");
    module = mlirgen::generate(*context, *program);
  }
  if (!module)
    return ExitInternal;
  bool missing = false;
  if (!readTuning(*module, options, sources, diags, missing))
    return missing ? ExitEnvironment : ExitSource;
  std::vector<std::string> shapes;
  if (options.command != Command::Compile)
    if (!plan.start(options, *program, *module, diags, shapes))
      return ExitUsage;
  auto tileStage = [&](mlir::OpPassManager &pm) {
    buildTileStage(pm, options.targets, options.mostPoints, shapes);
  };
  if (!runStage(*module, "Stage tile", tileStage))
    return handler.sawDefect() ? ExitInternal : ExitSource;
  dump("ir-tile", nullptr, *module);
  Stage last = lastStage();
  if (last == Stage::Tile)
    return ExitSuccess;
  library.prefix = options.symbolPrefix;
  library.module = program->moduleName;
  llvm::SHA256 hash;
  for (uint32_t b : loader.buffers(buffer))
    hash.update(sources.getMemoryBuffer(b)->getBuffer());
  library.sourceHash = llvm::toHex(hash.final(), /*LowerCase=*/true);
  library.kernels = describeKernels(*program, *module);
  if (!checkNames())
    return ExitSource;
  host = mlir::OwningOpRef<mlir::ModuleOp>(module->clone());

  auto isCPU = [](const std::string &name) { return lookupTarget(name)->family == Family::CPU; };
  if (options.sanitizeSchedule && llvm::any_of(options.targets, isCPU))
    diags.report(diag::W0601, {}, "schedule", "cpu",
                 "the threads of a launch never wait for each other there");
  std::vector<Lowering> lowerings;
  for (const std::string &name : options.targets)
    addLowerings(*module, *lookupTarget(name), wantsParts(), lowerings);
  if (last == Stage::LLVM && !(options.emits.size() == 1 && wants("ir-llvm"))) {
    if (int code = compileDevices(lowerings))
      return handler.sawDefect() ? ExitInternal : code;
    if (options.resourceUsage)
      reportResources();
    return wantsObject() ? writeLibrary() : ExitSuccess;
  }
  for (Lowering &l : lowerings)
    if (int code = lower(l, last))
      return handler.sawDefect() ? ExitInternal : code;
  return ExitSuccess;
}

/// "; BK=64 BM=128 BN=64": another point of the tuning space.
static std::string pointOf(const target::Variant &v) {
  std::string text;
  for (const auto &[name, value] : v.constants)
    text += (text.empty() ? "; " : " ") + name + "=" + value;
  return text;
}

/// "1 block on a multiprocessor (12 of 64 warps) for want of shared memory"
static std::string occupancyText(const target::Image &image, const target::Variant &v) {
  const TargetDesc *target = lookupTarget(image.arch);
  const target::Resources &r = v.resources;
  if (!target || r.registers < 0) // PTX: only the driver's assembler knows
    return {};
  Occupancy o = occupancyOf(*target, {v.threads, r.registers, r.staticShared + v.dynamicShared});
  std::string text;
  llvm::raw_string_ostream(text) << ", " << o.blocks << (o.blocks == 1 ? " block" : " blocks")
                                 << " on a multiprocessor (" << o.warps << " of " << o.mostWarps
                                 << " warps), limited by " << o.limiter;
  return text;
}

/// --resource-usage: one line for each kernel of each GPU image.
void Compilation::reportResources() const {
  for (const target::Image &image : library.images)
    for (const auto &kernel : image.variants)
      for (const auto &launch : kernel)
        for (const target::Variant &v : launch) {
          llvm::errs() << image.arch << " " << v.symbol << ": ";
          if (image.kind == target::Image::CPU) {
            llvm::errs() << v.arenaBytes << " bytes of scratch for each thread\n";
            continue;
          }
          llvm::errs() << v.threads << " threads, " << v.resources.registers << " registers, "
                       << v.resources.spillStores << " bytes spilled, " << v.dynamicShared
                       << " bytes of shared memory" << occupancyText(image, v);
          if (v.resources.idealWaves)
            llvm::errs() << ", bank conflicts "
                         << llvm::format("%.2f",
                                         double(v.resources.bankWaves) / double(v.resources.idealWaves))
                         << " (estimate; 1.00 is none)";
          llvm::errs() << pointOf(v) << "\n";
        }
}

/// Every kernel becomes C functions: their names must be free in C and C++.
bool Compilation::checkNames() {
  auto collisions = target::checkApiNames(library);
  for (const target::NameCollision &c : collisions) {
    uint32_t line = library.kernels[c.kernel].line, begin = diags.lines().lineBegin(buffer, line);
    uint32_t size = diags.lines().lineText(buffer, line).size();
    diags.report(diag::E0154, {buffer, begin, begin + size}, c.name, c.why);
  }
  return collisions.empty();
}

/// --load-ir: whoever writes a stage by hand may break its promises, so nothing is checked but the syntax.
int Compilation::loadIR(Lowering &lowering, llvm::StringRef path) {
  auto text = llvm::MemoryBuffer::getFile(path);
  if (!text) {
    diags.report(diag::E0604, {}, path, text.getError().message());
    return ExitEnvironment;
  }
  std::string problem;
  mlir::ScopedDiagnosticHandler handler(context.get(), [&](mlir::Diagnostic &d) {
    llvm::raw_string_ostream os(problem);
    if (auto at = llvm::dyn_cast<mlir::FileLineColLoc>(d.getLocation()); at && problem.empty())
      os << at.getLine() << ":" << at.getColumn() << ": " << d;
    return mlir::success();
  });
  lowering.module = mlir::parseSourceString<mlir::ModuleOp>((*text)->getBuffer(), context.get(),
                                                            llvm::sys::path::filename(path));
  if (lowering.module)
    return ExitSuccess;
  diags.report(diag::E0613, {}, path, problem);
  return ExitSource;
}

int Compilation::lower(Lowering &lowering, Stage last) {
  const TargetDesc &t = *lowering.target;
  auto attr = tile::TargetAttr::get(context.get(), t.name);
  for (auto kernel : lowering.module->getOps<tile::KernelOp>())
    kernel->setAttr(tile::TileDialect::kTargetAttrName, attr);
  PipelineOptions pipeline;
  pipeline.symbolPrefix = options.symbolPrefix.empty() ? "" : options.symbolPrefix + "_";
  pipeline.delays = options.sanitizeSchedule;
  auto [loadAfter, file] = llvm::StringRef(options.loadIR).split('=');
  for (Stage s : {Stage::Scheduled, Stage::LaidOut, Stage::Async, Stage::Threads, Stage::LLVM}) {
    std::string what = ("Stage " + stageName(s) + " (" + t.name + ")").str();
    if (!runStage(*lowering.module, what,
                  [&](mlir::OpPassManager &pm) { buildDeviceStage(pm, s, t, pipeline); }))
      return ExitSource;
    if (stageName(s) == loadAfter)
      if (int code = loadIR(lowering, file))
        return code;
    dump(("ir-" + stageName(s)).str(), &t, *lowering.module);
    if (s == last)
      break;
  }
  return ExitSuccess;
}

//===----------------------------------------------------------------------===//
// Back ends
//===----------------------------------------------------------------------===//

int Compilation::failed(llvm::Error error, const TargetDesc *t) {
  int code = ExitInternal;
  llvm::handleAllErrors(
      std::move(error),
      [&](const target::ToolError &e) {
        code = e.exitCode();
        if (e.getKind() == target::ToolError::Rejected)
          diags.report(diag::E0608, {}, "a tool", t ? t->name : "the host", e.getMessage());
        else if (e.getKind() == target::ToolError::Internal)
          diags.report(diag::E0690, {}, e.getMessage());
        else
          diags.report(diag::E0607, {}, e.getMessage());
      },
      [&](const llvm::ErrorInfoBase &e) { diags.report(diag::E0690, {}, e.message()); });
  return code;
}

target::BackendOptions Compilation::backendOptions() {
  target::BackendOptions b;
  b.tools.cudaPath = options.cudaPath;
  b.tools.ptxasPath = options.ptxasPath;
  b.tools.lldPath = options.lldPath;
  b.tools.executableDir = llvm::sys::path::parent_path(llvm::sys::fs::getMainExecutable(
                                                           nullptr, reinterpret_cast<void *>(&compileFile)))
                              .str();
  b.optLevel = options.optimize;
  b.lineInfo = !options.noLineInfo;
  b.keepLLVM = wants("llvm");
  b.keepISA = wants("asm") || wants("ptx") || !options.saveTemps.empty();
  b.jobs = options.maxJobs;
  // Line tables hold a date of the source; reproducible builds choose it.
  if (auto date = llvm::sys::Process::GetEnv("SOURCE_DATE_EPOCH"))
    if (int64_t seconds; !llvm::StringRef(*date).getAsInteger(10, seconds) && seconds > 0)
      b.sourceDate = seconds;
  b.timing = &timing;
  bool image = wantsObject() || wants("cubin") || wants("hsaco");
  b.stopAfter = image       ? target::StopAfter::Image
                : b.keepISA ? target::StopAfter::ISA
                            : target::StopAfter::LLVM;
  b.sourceSize = [this](llvm::StringRef name) -> uint64_t {
    return name == program->moduleName ? sources.getMemoryBuffer(buffer)->getBufferSize() : 0;
  };
  return b;
}

void Compilation::writeTexts(const TargetDesc &t, const std::string &llvmText, const std::string &isa) {
  if (wants("llvm"))
    outputs.set(fileFor(options, "llvm", t), llvmText);
  for (llvm::StringRef kind : {"asm", "ptx"})
    if (wants(kind) && kindFits(kind, t))
      outputs.set(fileFor(options, kind, t), isa);
  if (!options.saveTemps.empty() && !isa.empty()) {
    llvm::SmallString<128> path(options.saveTemps);
    llvm::sys::path::append(path, llvm::sys::path::stem(program->moduleName) + "." + t.name +
                                      (t.family == Family::NVIDIA ? ".ptx" : ".s"));
    outputs.set(path, isa);
  }
}

int Compilation::compileCPU(Lowering &lowering) {
  mlir::TimingScope scope = timing.nest("Code (" + lowering.target->name + ")");
  auto object = target::emitCPUObject(*lowering.module, *lowering.target, backendOptions());
  if (!object)
    return failed(object.takeError(), lowering.target);
  writeTexts(*lowering.target, object->llvm, object->isa);
  target::Image image = makeImage(library, *lowering.target);
  collectVariants(*object, library, image);
  image.bytes = std::move(object->bitcode);
  library.images.push_back(std::move(image));
  return ExitSuccess;
}

/// Lowers one module after the other; while the next is lowered, threads make code of those before it.
int Compilation::compileDevices(std::vector<Lowering> &lowerings) {
  target::ImageQueue queue(backendOptions());
  std::vector<Lowering *> gpus, cpus;
  for (Lowering &l : lowerings) {
    if (int code = lower(l, Stage::LLVM))
      return code;
    bool cpu = l.target->family == Family::CPU;
    (cpu ? cpus : gpus).push_back(&l);
    if (!cpu)
      queue.add(*l.module, *l.target);
  }
  for (Lowering *l : cpus)
    if (int code = compileCPU(*l))
      return code;
  return collectImages(gpus, queue);
}

int Compilation::collectImages(llvm::ArrayRef<Lowering *> lowerings, target::ImageQueue &queue) {
  auto results = queue.finish();
  int code = ExitSuccess;
  for (auto [l, result] : llvm::zip(lowerings, results)) {
    if (!result) {
      code = std::max(code, failed(result.takeError(), l->target));
      continue;
    }
    writeTexts(*l->target, result->llvm, result->isa);
    for (llvm::StringRef kind : {"cubin", "hsaco"})
      if (wants(kind) && kindFits(kind, *l->target))
        outputs.set(fileFor(options, kind, *l->target), result->bytes);
    target::Image image = makeImage(library, *l->target);
    collectVariants(*l->module, library, image);
    target::applyReport(image, std::move(*result));
    library.images.push_back(std::move(image));
  }
  return code;
}

//===----------------------------------------------------------------------===//
// Library
//===----------------------------------------------------------------------===//

int Compilation::writeLibrary() {
  mlir::TimingScope scope = timing.nest("Object");
  target::ManifestOptions manifest;
  manifest.tilecVersion = TILEC_VERSION;
  for (const std::string &define : options.defines)
    manifest.flags.push_back("-D" + define);
  if (options.sanitizeSchedule)
    manifest.flags.push_back("--sanitize=schedule");
  if (wants("manifest"))
    outputs.set(options.emits.at("manifest"), target::emitManifest(library, manifest));
  if (!names.header.empty())
    outputs.set(names.header, target::emitHeader(library, {llvm::sys::path::filename(names.header).str()}),
                /*onlyIfChanged=*/true);
  if (!names.object.empty() || !names.bundle.empty()) {
    if (!runStage(*host, "Host code", buildHostPipeline))
      return ExitInternal;
    target::ObjectOptions o;
    o.backend = backendOptions();
    o.manifest = manifest;
    o.bundle = !names.bundle.empty();
    auto object = target::emitObject(*host, library, o);
    if (!object)
      return failed(object.takeError(), nullptr);
    if (!names.bundle.empty())
      return writeBundle(*object);
    outputs.set(names.object, std::move(*object));
  }
  return ExitSuccess;
}

int Compilation::writeBundle(const std::string &object) {
  target::BackendOptions backend = backendOptions();
  auto shared = linkBundle(object, backend.tools);
  if (!shared)
    return failed(shared.takeError(), nullptr);
  if (std::error_code ec = llvm::sys::fs::create_directories(names.bundle)) {
    diags.report(diag::E0605, {}, names.bundle, ec.message());
    return ExitEnvironment;
  }
  outputs.setExecutable(names.bundle + "/run", std::move(bundleRunner));
  outputs.set(names.bundle + "/kernels.so", std::move(*shared));
  outputs.set(names.bundle + "/plan", plan.text(library));
  return ExitSuccess;
}

/// What a bundle is made of beside the kernels, asked for before minutes of compilation.
int Compilation::findBundleTools() {
  target::BackendOptions backend = backendOptions();
  auto runner = readRunner(backend.tools);
  if (!runner)
    return failed(runner.takeError(), nullptr);
  bundleRunner = std::move(*runner);
  if (auto lld = target::findLld(backend.tools); !lld)
    return failed(lld.takeError(), nullptr);
  return ExitSuccess;
}

int Compilation::run() {
  if (!declareOutputs())
    return ExitUsage;
  if (!names.bundle.empty())
    if (int code = findBundleTools())
      return code;
  int code = frontEnd();
  if (readsOutputs())
    return ExitUsage;
  if (code)
    return code;
  if (!program)
    return ExitSuccess; // only the syntax tree was asked for
  if (options.listKernels)
    return listKernels();
  if (!options.syntaxOnly)
    if (int code = middle())
      return code;
  if (!names.depfile.empty()) {
    target::DepfileOptions d;
    d.literalTargets = options.depTargets;
    if (d.literalTargets.empty())
      d.targets = {names.object.empty() ? names.depfile : names.object};
    d.inputs = loader.paths(buffer);
    llvm::append_range(d.inputs, options.tuningFiles);
    outputs.set(names.depfile, target::emitDepfile(d));
  }
  return ExitSuccess;
}

int tilec::compileFile(const DriverOptions &options, llvm::SourceMgr &sources, uint32_t buffer,
                       DiagnosticEngine &diags, Outputs &outputs, mlir::TimingScope &timing) {
  return Compilation(options, sources, buffer, diags, outputs, timing).run();
}
