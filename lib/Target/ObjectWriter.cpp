//===- ObjectWriter.cpp - the relocatable object of a library ---------------------------===//
#include "tilec/Target/ObjectWriter.h"
#include "ObjectTables.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"
#include "tilec/Target/Header.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <mutex>

using namespace llvm;
using namespace tilec;
using namespace tilec::target;

/// Host code of every object runs on this level or later: the lowest that tilec has CPU kernels for.
static constexpr const char *kHostCPU = "x86-64-v2";

// Modes and parameters of the host functions, see tile_rt_gen.h.
enum { ModeRun = 0, ModeCheck = 1, ModeWorkspace = 2 };
enum { HostMode, HostKernel, HostLaunch, HostBytes, HostFirstArgument };

static Expected<std::unique_ptr<TargetMachine>> makeHostMachine() {
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
    return toolError(ToolError::Internal, "LLVM has no X86 back end: " + why);
  std::unique_ptr<TargetMachine> machine(
      t->createTargetMachine(triple, kHostCPU, "", TargetOptions(), Reloc::PIC_));
  if (!machine)
    return toolError(ToolError::Internal, "LLVM cannot generate code for x86-64");
  return std::move(machine);
}

//===----------------------------------------------------------------------===//
// The API functions
//===----------------------------------------------------------------------===//

namespace {

/// Writes K, K_check, K_workspace, K_load and K_manifest of one kernel.
class ApiWriter {
public:
  ApiWriter(Module &module, const Library &library, unsigned index, Function *host)
      : module(module), context(module.getContext()), index(index), host(host),
        name(apiName(library, library.kernels[index])), ptr(PointerType::getUnqual(context)),
        status(Type::getInt32Ty(context)) {}

  void write(StringRef manifest) {
    call(name, ModeRun, /*launch=*/true, /*bytes=*/false);
    call(name + "_check", ModeCheck, false, false);
    call(name + "_workspace", ModeWorkspace, false, true);
    load();
    manifestFunction(manifest);
  }

private:
  /// A visible function with an entry block.
  Function *define(const std::string &symbol, FunctionType *type) {
    Function *f = Function::Create(type, GlobalValue::ExternalLinkage, symbol, module);
    f->setDoesNotThrow();
    BasicBlock::Create(context, "entry", f);
    return f;
  }

  void call(const std::string &symbol, int mode, bool launch, bool bytes) {
    ArrayRef<Type *> kernelTypes = host->getFunctionType()->params().drop_front(HostFirstArgument);
    SmallVector<Type *> types(kernelTypes);
    if (launch)
      types.insert(types.begin(), ptr);
    if (bytes)
      types.push_back(ptr);
    Function *f = define(symbol, FunctionType::get(status, types, false));
    IRBuilder<> b(&f->getEntryBlock());
    SmallVector<Value *> own;
    for (Argument &arg : f->args())
      own.push_back(&arg);
    Value *null = ConstantPointerNull::get(ptr);
    SmallVector<Value *> operands = {b.getInt32(mode), b.getInt32(index), launch ? own.front() : null,
                                     bytes ? own.back() : null};
    append_range(operands, ArrayRef<Value *>(own).slice(launch, kernelTypes.size()));
    b.CreateRet(b.CreateCall(host, operands));
  }

  void load() {
    // tile_device is two int32_t: one integer register.
    Type *device = Type::getInt64Ty(context);
    Function *f = define(name + "_load", FunctionType::get(status, {device}, false));
    FunctionCallee runtime =
        module.getOrInsertFunction("tile_rt_load", FunctionType::get(status, {ptr, device}, false));
    IRBuilder<> b(&f->getEntryBlock());
    b.CreateRet(b.CreateCall(runtime, {module.getNamedGlobal(kLibrarySymbol), f->getArg(0)}));
  }

  void manifestFunction(StringRef text) {
    Function *f = define(name + "_manifest", FunctionType::get(ptr, {}, false));
    IRBuilder<> b(&f->getEntryBlock());
    b.CreateRet(makeString(module, text));
  }

public:
  /// The function of tile_gen_bundle: the arguments are what an array points to.
  Function *invoker(const KernelDesc &kernel) {
    Type *word = Type::getInt32Ty(context);
    Function *f = Function::Create(FunctionType::get(status, {word, ptr, ptr, ptr}, false),
                                   GlobalValue::InternalLinkage, name + ".invoke", module);
    IRBuilder<> b(BasicBlock::Create(context, "entry", f));
    SmallVector<Value *> operands = {f->getArg(0), b.getInt32(index), f->getArg(1), f->getArg(2)};
    for (auto [i, arg] : enumerate(kernel.args)) {
      Type *type = host->getFunctionType()->getParamType(HostFirstArgument + i);
      Value *address = b.CreateLoad(ptr, b.CreateConstInBoundsGEP1_64(ptr, f->getArg(3), i));
      operands.push_back(arg.kind == Arg::Tensor ? address : b.CreateLoad(type, address));
    }
    b.CreateRet(b.CreateCall(host, operands));
    return f;
  }

private:
  Module &module;
  LLVMContext &context;
  unsigned index;
  Function *host;
  std::string name;
  PointerType *ptr;
  Type *status;
};

} // namespace

static constexpr const char *kBundleSymbol = "tile_bundle";

static void writeBundle(Module &module, const Library &library, ArrayRef<Constant *> invokers) {
  LLVMContext &context = module.getContext();
  Type *ptr = PointerType::getUnqual(context), *word = Type::getInt32Ty(context);
  auto constant = [&](Constant *value, const Twine &name, GlobalValue::LinkageTypes linkage) {
    return new GlobalVariable(module, value->getType(), /*isConstant=*/true, linkage, value, name);
  };
  Constant *list = constant(ConstantArray::get(ArrayType::get(ptr, invokers.size()), invokers),
                            "tile.invokers", GlobalValue::InternalLinkage);
  Constant *fields[] = {module.getNamedGlobal(kLibrarySymbol), list, ConstantInt::get(word, invokers.size()),
                        ConstantInt::get(word, 0)};
  constant(ConstantStruct::getAnon(context, fields), kBundleSymbol, GlobalValue::ExternalLinkage);
}

static Error writeApi(Module &module, const Library &library, const ObjectOptions &options) {
  SmallVector<Constant *> invokers;
  for (unsigned i = 0; i < library.kernels.size(); ++i) {
    Function *host = module.getFunction(library.kernels[i].name + "__host");
    if (!host || host->isDeclaration() ||
        host->arg_size() != HostFirstArgument + library.kernels[i].args.size())
      return toolError(ToolError::Internal, "no host code for kernel `" + library.kernels[i].name + "`");
    host->setLinkage(GlobalValue::InternalLinkage);
    host->addFnAttr(Attribute::NoInline); // one copy for the three modes
    ApiWriter writer(module, library, i, host);
    writer.write(emitKernelManifest(library, i, options.manifest));
    if (options.bundle)
      invokers.push_back(writer.invoker(library.kernels[i]));
  }
  if (options.bundle)
    writeBundle(module, library, invokers);
  return Error::success();
}

static StringSet<> apiNames(const Library &library) {
  StringSet<> names;
  names.insert(kBundleSymbol);
  for (const KernelDesc &kernel : library.kernels)
    for (StringRef suffix : {"", "_check", "_workspace", "_load", "_manifest"})
      names.insert(apiName(library, kernel) + suffix.str());
  return names;
}

//===----------------------------------------------------------------------===//
// Host module
//===----------------------------------------------------------------------===//

static void setHostAttributes(Module &module) {
  for (Function &f : module)
    if (!f.isDeclaration()) {
      f.addFnAttr("target-cpu", kHostCPU);
      f.setDoesNotThrow();
    }
  for (Function &f : module)
    if (f.isDeclaration() && f.getName().starts_with("tile_rt_"))
      f.setDoesNotThrow();
  module.setPICLevel(PICLevel::BigPIC);
}

/// Translated, completed and optimised host code; CPU kernels are still declarations.
static Expected<std::unique_ptr<Module>> makeHostModule(mlir::ModuleOp hostModule, LLVMContext &context,
                                                        TargetMachine &machine, const Library &library,
                                                        const ObjectOptions &options) {
  Expected<std::unique_ptr<Module>> translated = translateModule(hostModule, context, LineTables::None);
  if (!translated)
    return translated.takeError();
  std::unique_ptr<Module> module = std::move(*translated);
  module->setModuleIdentifier(library.module);
  module->setSourceFileName(library.module);
  module->setTargetTriple(machine.getTargetTriple());
  module->setDataLayout(machine.createDataLayout());
  buildTables(*module, library);
  if (Error error = writeApi(*module, library, options))
    return std::move(error);
  setHostAttributes(*module);
  StringSet<> visible = apiNames(library);
  internalizeModule(*module, [&](const GlobalValue &value) {
    return value.isDeclaration() || visible.contains(value.getName());
  });
  if (Error error = optimizeModule(*module, machine, options.backend.optLevel))
    return std::move(error);
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// CPU levels
//===----------------------------------------------------------------------===//

/// Links the code of all levels. It is optimised already, for its own processor.
static Error linkCPUImages(Module &module, const Library &library) {
  for (const Image &image : library.images) {
    if (image.kind != Image::CPU)
      continue;
    Expected<std::unique_ptr<Module>> part =
        parseBitcodeFile(MemoryBufferRef(image.bytes, image.arch), module.getContext());
    if (!part)
      return toolError(ToolError::Internal,
                       "code for " + image.arch + ": " + llvm::toString(part.takeError()));
    (*part)->setTargetTriple(module.getTargetTriple());
    (*part)->setDataLayout(module.getDataLayout());
    if (Linker::linkModules(module, std::move(*part)))
      return toolError(ToolError::Internal, "code for " + image.arch + " cannot be linked");
  }
  // Names the compiler that made the bitcode; every version would give another object.
  for (StringRef name : {"llvm.ident", "llvm.commandline"})
    if (NamedMDNode *node = module.getNamedMetadata(name))
      node->eraseFromParent();
  StringSet<> visible = apiNames(library);
  internalizeModule(module, [&](const GlobalValue &value) {
    return value.isDeclaration() || visible.contains(value.getName());
  });
  return Error::success();
}

/// What the object may leave to others, and nothing else.
static bool mayBeUndefined(StringRef name) {
  return name.starts_with("tile_rt_") || name == "memcpy" || name == "memset" ||
         name == "_GLOBAL_OFFSET_TABLE_";
}

static Error checkObject(StringRef bytes) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createELFObjectFile(MemoryBufferRef(bytes, "object"));
  if (!file)
    return file.takeError();
  for (const object::ELFSymbolRef symbol : cast<object::ELFObjectFileBase>(**file).symbols()) {
    Expected<StringRef> name = symbol.getName();
    Expected<uint32_t> flags = symbol.getFlags();
    if (!name || !flags)
      return joinErrors(name.takeError(), flags.takeError());
    if ((*flags & object::SymbolRef::SF_Undefined) && !name->empty() && !mayBeUndefined(*name))
      return toolError(ToolError::Internal,
                       "code for the CPU calls `" + *name + "`, which nothing defines there");
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

static mlir::TimingScope timer(const BackendOptions &options, StringRef name) {
  return options.timing ? options.timing->nest(name) : mlir::TimingScope();
}

/// Calls `use(module, machine)` on the finished module.
template <typename Use>
static Expected<std::string> withModule(mlir::ModuleOp hostModule, const Library &library,
                                        const ObjectOptions &options, Use use) {
  Expected<std::unique_ptr<TargetMachine>> machine = makeHostMachine();
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  DiagnosticCollector diagnostics(context);
  Expected<std::unique_ptr<Module>> module = makeHostModule(hostModule, context, **machine, library, options);
  if (!module)
    return joinErrors(diagnostics.take(), module.takeError());
  if (Error error = linkCPUImages(**module, library))
    return joinErrors(diagnostics.take(), std::move(error));
  Expected<std::string> result = use(**module, **machine);
  if (Error error = diagnostics.take())
    return result ? std::move(error) : joinErrors(std::move(error), result.takeError());
  return result;
}

Expected<std::string> target::emitObject(mlir::ModuleOp hostModule, const Library &library,
                                         const ObjectOptions &options) {
  mlir::TimingScope timing = timer(options.backend, "object");
  Expected<std::string> bytes =
      withModule(hostModule, library, options, [&](Module &module, TargetMachine &machine) {
        return emitModule(module, machine, options.assembly);
      });
  if (bytes && !options.assembly)
    if (Error error = checkObject(*bytes))
      return std::move(error);
  return bytes;
}

Expected<std::string> target::emitHostLLVM(mlir::ModuleOp hostModule, const Library &library,
                                           const ObjectOptions &options) {
  return withModule(
      hostModule, library, options,
      [](Module &module, TargetMachine &) -> Expected<std::string> { return printModule(module); });
}
