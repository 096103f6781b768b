//===- target-check.cpp - single parts of TilecTarget, for tests -------------------===//
//   target-check header LIBRARY FILE.h             the C header of a sample library
//   target-check manifest LIBRARY                  its manifest
//   target-check object LIBRARY HOST.mlir OUT.o [ARCH=FILE=SYMBOL]..   FILE: bitcode, or .mlir for a GPU
//   target-check image ARCH FILE.mlir STOP         STOP: llvm, isa, report, or a file for the image
//   target-check images FILE.mlir ARCH..           all at once; sizes
//   target-check depfile [-MT T] [-MQ T] [-MP] INPUT..
//   target-check pin FILE.ptx | ptxas-report FILE
// Options before them: -O0, -g0, -v, --cuda-path=, --ptxas-path=, --lld-path=.
#include "SampleLibraries.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tilec/Conversion/Passes.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Target/AMDGPUBackend.h"
#include "tilec/Target/Depfile.h"
#include "tilec/Target/Header.h"
#include "tilec/Target/Manifest.h"
#include "tilec/Target/NVPTXBackend.h"
#include "tilec/Target/ObjectWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::target;

static BackendOptions options;

static int fail(Error error) {
  int code = 1;
  handleAllErrors(
      std::move(error),
      [&](const ToolError &e) {
        code = e.exitCode();
        errs() << "error: " << e.getMessage() << "\n";
      },
      [](const ErrorInfoBase &e) { errs() << "error: " << e.message() << "\n"; });
  return code;
}

static bool writeFile(StringRef path, StringRef bytes) {
  std::error_code ec;
  raw_fd_ostream os(path, ec);
  os << bytes;
  return !ec;
}

static mlir::OwningOpRef<mlir::ModuleOp> parse(mlir::MLIRContext &context, StringRef file) {
  mlir::DialectRegistry registry;
  registerBackendDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<tile::TileDialect, mlir::cf::ControlFlowDialect, mlir::math::MathDialect,
                      mlir::ub::UBDialect>();
  context.loadAllAvailableDialects();
  return mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
}

static int header(ArrayRef<StringRef> args) {
  std::optional<Library> library = sampleLibrary(args[0]);
  if (!library)
    return 2;
  for (const NameCollision &c : checkApiNames(*library))
    errs() << c.name << ": " << c.why << "\n";
  outs() << emitHeader(*library, {args[1].str()});
  return 0;
}

/// The launch values become the kernel's parameters one by one, as wide as its LLVM types.
static std::vector<Param> parametersOf(mlir::LLVM::LLVMFuncOp function) {
  std::vector<Param> params;
  for (auto [slot, type] : enumerate(function.getArgumentTypes())) {
    Param param;
    param.kind = Param::Slot;
    param.slot = slot;
    param.bytes = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() / 8 : 8;
    params.push_back(param);
  }
  return params;
}

static Error addGPUImage(Library &library, const TargetDesc &target, StringRef file, StringRef symbol) {
  mlir::MLIRContext context;
  auto module = parse(context, file);
  auto function = module ? module->lookupSymbol<mlir::LLVM::LLVMFuncOp>(symbol) : nullptr;
  if (!function)
    return createStringError("no such kernel");
  Variant variant;
  variant.symbol = symbol.str();
  variant.threads = 256;
  variant.params = parametersOf(function);
  Image image{Image::Cubin, target.name, "", {{{variant}}}};
  ImageQueue queue(options);
  queue.add(*module, target);
  Expected<DeviceImage> compiled = std::move(queue.finish().front());
  if (!compiled)
    return compiled.takeError();
  applyReport(image, std::move(*compiled));
  library.images.push_back(std::move(image));
  return Error::success();
}

/// "x86-64-v3=work.bc=axpy.0.v3": code for the first launch of the first kernel.
static Error addImage(Library &library, StringRef text) {
  auto [arch, rest] = text.split('=');
  auto [file, symbol] = rest.split('=');
  const TargetDesc *target = lookupTarget(arch);
  if (!target)
    return createStringError("no such target");
  if (target->family != Family::CPU)
    return addGPUImage(library, *target, file, symbol);
  Expected<std::string> bytes = readFile(file);
  if (!bytes)
    return bytes.takeError();
  Variant variant;
  variant.symbol = symbol.str();
  variant.arenaBytes = 64;
  library.images.push_back({Image::CPU, arch.str(), *bytes, {{{variant}}}});
  return Error::success();
}

static int object(ArrayRef<StringRef> args) {
  std::optional<Library> library = sampleLibrary(args[0]);
  if (!library)
    return 2;
  for (StringRef image : args.drop_front(3))
    if (Error error = addImage(*library, image))
      return fail(std::move(error));
  mlir::MLIRContext context;
  auto module = parse(context, args[1]);
  if (!module)
    return 1;
  mlir::PassManager passes(&context);
  passes.addPass(createConvertTileHostToLLVM());
  if (failed(passes.run(*module)))
    return 1;
  ObjectOptions objectOptions;
  objectOptions.backend = options;
  objectOptions.manifest = {"0.1.0", {}};
  bool llvm = args[2] == "-";
  Expected<std::string> bytes =
      llvm ? emitHostLLVM(*module, *library, objectOptions) : emitObject(*module, *library, objectOptions);
  if (!bytes)
    return fail(bytes.takeError());
  if (llvm)
    outs() << *bytes;
  else if (!writeFile(args[2], *bytes))
    return 2;
  return 0;
}

static void printReports(ArrayRef<KernelReport> reports) {
  for (const KernelReport &r : reports) {
    outs() << r.symbol << ": registers " << r.resources.registers << ", spills " << r.resources.spillStores
           << "/" << r.resources.spillLoads << ", stack " << r.resources.stackBytes << ", shared "
           << r.resources.staticShared << "\n";
    for (const std::string &line : r.resources.advisories)
      outs() << "  " << line << "\n";
  }
}

static int image(ArrayRef<StringRef> args) {
  const TargetDesc *target = lookupTarget(args[0]);
  mlir::MLIRContext context;
  auto module = target ? parse(context, args[1]) : nullptr;
  if (!module)
    return 2;
  StringRef stop = args[2];
  options.stopAfter = stop == "llvm" ? StopAfter::LLVM : stop == "isa" ? StopAfter::ISA : StopAfter::Image;
  Expected<DeviceImage> result = target->family == Family::NVIDIA ? compileNVPTX(*module, *target, options)
                                                                  : compileAMDGPU(*module, *target, options);
  if (!result)
    return fail(result.takeError());
  if (stop == "llvm")
    outs() << result->llvm;
  else if (stop == "isa")
    outs() << result->isa;
  else if (stop == "report")
    printReports(result->kernels);
  else if (!writeFile(stop, result->bytes))
    return 2;
  return 0;
}

static int images(ArrayRef<StringRef> args) {
  mlir::MLIRContext context;
  auto module = parse(context, args[0]);
  if (!module)
    return 2;
  ImageQueue queue(options);
  for (StringRef arch : args.drop_front()) {
    mlir::OwningOpRef<mlir::ModuleOp> clone(module->clone());
    queue.add(*clone, *lookupTarget(arch));
  }
  int code = 0;
  for (Expected<DeviceImage> &result : queue.finish()) {
    if (!result)
      code = fail(result.takeError());
    else
      outs() << result->arch << " " << (result->bytes.empty() ? "nothing" : "image") << "\n";
  }
  return code;
}

static int depfile(ArrayRef<StringRef> args) {
  DepfileOptions dep;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "-MT" && i + 1 < args.size())
      dep.literalTargets.push_back(args[++i].str());
    else if (args[i] == "-MQ" && i + 1 < args.size())
      dep.targets.push_back(args[++i].str());
    else if (args[i] == "-MP")
      dep.phony = true;
    else
      dep.inputs.push_back(args[i].str());
  }
  outs() << emitDepfile(dep);
  return 0;
}

static int text(StringRef which, StringRef file) {
  Expected<std::string> contents = readFile(file);
  if (!contents)
    return fail(contents.takeError());
  if (which == "pin")
    outs() << pinFileLines(*contents, options.sourceDate, [](StringRef name) { return name.size() * 100; });
  else
    printReports(parsePtxasReport(*contents));
  return 0;
}

static int run(StringRef command, ArrayRef<StringRef> args) {
  if (command == "header" && args.size() == 2)
    return header(args);
  if (command == "manifest" && args.size() == 1) {
    std::optional<Library> library = sampleLibrary(args[0]);
    outs() << (library ? emitManifest(*library, {"0.1.0", {"--arch=cpu"}}) : "");
    return library ? 0 : 2;
  }
  if (command == "object" && args.size() >= 3)
    return object(args);
  if (command == "image" && args.size() == 3)
    return image(args);
  if (command == "images" && args.size() >= 2)
    return images(args);
  if (command == "depfile")
    return depfile(args);
  if ((command == "pin" || command == "ptxas-report") && args.size() == 1)
    return text(command, args[0]);
  errs() << "usage: see the top of target-check.cpp\n";
  return 2;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  SmallVector<StringRef> args(argv + 1, argv + argc);
  options.tools.executableDir = "/nonexistent";
  while (!args.empty() && args[0].starts_with("-")) {
    StringRef arg = args[0];
    args.erase(args.begin());
    if (arg == "-O0")
      options.optLevel = 0;
    else if (arg == "-g0")
      options.lineInfo = false;
    else if (arg == "-v")
      options.tools.verbose = true;
    else if (arg.consume_front("--cuda-path="))
      options.tools.cudaPath = arg.str();
    else if (arg.consume_front("--ptxas-path="))
      options.tools.ptxasPath = arg.str();
    else if (arg.consume_front("--lld-path="))
      options.tools.lldPath = arg.str();
  }
  if (args.empty())
    return run("", {});
  return run(args[0], ArrayRef<StringRef>(args).drop_front());
}
