//===- AMDGPUBackend.cpp - LLVM dialect to hsaco ------------------------------------===//
#include "tilec/Target/AMDGPUBackend.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/AMDGPUMetadataVerifier.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>

using namespace llvm;
using namespace tilec;
using namespace tilec::target;

static void initializeAMDGPU() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  });
}

/// "gfx90a:xnack+:sramecc-" -> chip "gfx90a", features "+xnack,-sramecc".
static std::pair<std::string, std::string> splitTargetId(StringRef id) {
  auto [chip, rest] = id.split(':');
  std::string features;
  while (!rest.empty()) {
    auto [feature, more] = rest.split(':');
    if (!features.empty())
      features += ',';
    features += feature.take_back(1);
    features += feature.drop_back(1);
    rest = more;
  }
  return {chip.str(), features};
}

static Expected<std::unique_ptr<TargetMachine>> makeMachine(const TargetDesc &target, unsigned optLevel) {
  initializeAMDGPU();
  Triple triple("amdgcn-amd-amdhsa");
  std::string why;
  const llvm::Target *t = TargetRegistry::lookupTarget(triple, why);
  if (!t)
    return toolError(ToolError::Internal, "LLVM has no AMDGPU back end: " + why);
  auto [chip, features] = splitTargetId(target.name);
  CodeGenOptLevel level = optLevel == 0   ? CodeGenOptLevel::None
                          : optLevel == 1 ? CodeGenOptLevel::Less
                                          : CodeGenOptLevel::Aggressive;
  std::unique_ptr<TargetMachine> machine(
      t->createTargetMachine(triple, chip, features, TargetOptions(), Reloc::PIC_, std::nullopt, level));
  if (!machine)
    return toolError(ToolError::Internal, "LLVM cannot generate code for " + target.name);
  return std::move(machine);
}

/// Code object version 5 loads on ROCm 5.7 and later; LLVM's default needs ROCm 6.3.
static void setCodeObjectVersion(Module &module) {
  if (!module.getModuleFlag("amdhsa_code_object_version"))
    module.addModuleFlag(Module::Error, "amdhsa_code_object_version", 500);
}

static Error linkCodeObject(DeviceImage &image, StringRef object, const TargetDesc &target,
                            const BackendOptions &options) {
  Expected<Tool> lld = findLld(options.tools);
  if (!lld)
    return lld.takeError();
  Expected<TempFile> in = TempFile::create(options.tools, "o", object);
  if (!in)
    return in.takeError();
  Expected<TempFile> out = TempFile::create(options.tools, "hsaco");
  if (!out)
    return out.takeError();
  std::vector<std::string> args = {"-shared", "--no-undefined", "--build-id=none"};
  append_range(args, options.tools.lldArgs);
  args.insert(args.end(), {in->path().str(), "-o", out->path().str()});
  Expected<RunResult> result = runTool(options.tools, *lld, args);
  if (!result)
    return result.takeError();
  if (result->exitCode != 0)
    return toolError(ToolError::Rejected,
                     "ld.lld rejected the code generated for " + target.name + ": " +
                         StringRef(result->output).split('\n').first,
                     result->output);
  Expected<std::string> bytes = out->read();
  if (!bytes)
    return bytes.takeError();
  image.bytes = std::move(*bytes);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

static Expected<StringRef> findMetadataNote(const object::ELF64LEFile &file) {
  auto headers = file.program_headers();
  if (!headers)
    return headers.takeError();
  for (const auto &header : *headers) {
    if (header.p_type != ELF::PT_NOTE)
      continue;
    Error error = Error::success();
    for (const auto &note : file.notes(header, error))
      if (note.getName() == "AMDGPU" && note.getType() == ELF::NT_AMDGPU_METADATA)
        return note.getDescAsStringRef(4);
    if (error)
      return std::move(error);
  }
  return toolError(ToolError::Internal, "the code object has no metadata");
}

static int64_t number(msgpack::MapDocNode &map, StringRef key) {
  auto it = map.find(key);
  if (it == map.end())
    return 0;
  msgpack::DocNode &node = it->second;
  return node.getKind() == msgpack::Type::UInt  ? int64_t(node.getUInt())
         : node.getKind() == msgpack::Type::Int ? node.getInt()
                                                : 0;
}

Expected<std::vector<KernelReport>> target::readCodeObject(StringRef hsaco) {
  Expected<object::ELF64LEFile> file = object::ELF64LEFile::create(hsaco);
  if (!file)
    return file.takeError();
  Expected<StringRef> note = findMetadataNote(*file);
  if (!note)
    return note.takeError();
  msgpack::Document document;
  if (!document.readFromBlob(*note, /*Multi=*/false))
    return toolError(ToolError::Internal, "the code object's metadata is not MessagePack");
  AMDGPU::HSAMD::V3::MetadataVerifier verifier(/*Strict=*/true);
  if (!verifier.verify(document.getRoot()))
    return toolError(ToolError::Internal, "the code object's metadata is not what amdhsa asks for");
  std::vector<KernelReport> reports;
  for (msgpack::DocNode &node : document.getRoot().getMap(true)["amdhsa.kernels"].getArray(true)) {
    msgpack::MapDocNode &kernel = node.getMap();
    KernelReport report;
    report.symbol = kernel[".name"].getString().str();
    report.resources.registers = number(kernel, ".vgpr_count") + number(kernel, ".agpr_count");
    report.resources.spillStores = report.resources.spillLoads =
        number(kernel, ".vgpr_spill_count") + number(kernel, ".sgpr_spill_count");
    report.resources.stackBytes = number(kernel, ".private_segment_fixed_size");
    report.resources.staticShared = number(kernel, ".group_segment_fixed_size");
    reports.push_back(std::move(report));
  }
  return reports;
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

static mlir::TimingScope timer(const BackendOptions &options, StringRef name) {
  return options.timing ? options.timing->nest(name) : mlir::TimingScope();
}

static Error prepare(Module &module, TargetMachine &machine, const TargetDesc &target,
                     const BackendOptions &options) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  setCodeObjectVersion(module);
  mlir::TimingScope optimizing = timer(options, "optimise LLVM IR");
  internalizeModule(module, [](const GlobalValue &value) {
    auto *f = dyn_cast<Function>(&value);
    return f ? f->getCallingConv() == CallingConv::AMDGPU_KERNEL : value.isDeclaration();
  });
  if (Error error = optimizeModule(module, machine, options.optLevel))
    return error;
  return checkNoUndefined(module, {}, target.name);
}

Expected<TranslatedModule> target::translateAMDGPU(mlir::ModuleOp module, const BackendOptions &options) {
  return translateAlone(module, options.lineInfo ? LineTables::Full : LineTables::None, options);
}

Expected<DeviceImage> target::compileAMDGPU(mlir::ModuleOp module, const TargetDesc &target,
                                            const BackendOptions &options) {
  Expected<TranslatedModule> translated = translateAMDGPU(module, options);
  return translated ? compileAMDGPU(std::move(*translated), target, options) : translated.takeError();
}

Expected<DeviceImage> target::compileAMDGPU(TranslatedModule translated, const TargetDesc &target,
                                            const BackendOptions &options) {
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
  image.kind = Image::HSACO;
  image.arch = target.name;
  if (options.keepLLVM || options.stopAfter == StopAfter::LLVM)
    image.llvm = printModule(module);
  if (options.stopAfter == StopAfter::LLVM)
    return std::move(image);

  mlir::TimingScope generating = timer(inner, "generate code");
  if (options.keepISA || options.stopAfter == StopAfter::ISA) {
    // Code generation changes the module, so the text comes from a copy.
    Expected<std::string> text = emitModule(*CloneModule(module), **machine, /*assembly=*/true);
    if (!text)
      return text.takeError();
    image.isa = std::move(*text);
  }
  if (options.stopAfter == StopAfter::ISA) {
    if (Error error = diagnostics.take())
      return std::move(error);
    return std::move(image);
  }
  Expected<std::string> object = emitModule(module, **machine, /*assembly=*/false);
  if (!object)
    return object.takeError();
  if (Error error = diagnostics.take())
    return std::move(error);
  generating.stop();

  mlir::TimingScope linking = timer(inner, "ld.lld");
  if (Error error = linkCodeObject(image, *object, target, options))
    return std::move(error);
  Expected<std::vector<KernelReport>> reports = readCodeObject(image.bytes);
  if (!reports)
    return reports.takeError();
  image.kernels = std::move(*reports);
  return std::move(image);
}
