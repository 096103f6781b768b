//===- Backend.h - what all code generators share -------------------------------===//
//
// A back end takes a module of the LLVM dialect (stage LLVM: nothing but llvm, nvvm or rocdl ops, in a
// builtin.module or in one gpu.module inside it) and returns the bytes of one image.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_TARGET_BACKEND_H
#define TILEC_TARGET_BACKEND_H
#include "tilec/Support/Target.h"
#include "tilec/Target/Kernel.h"
#include "tilec/Target/Tools.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm
namespace mlir {
class DialectRegistry;
class ModuleOp;
class Operation;
class TimingScope;
} // namespace mlir

namespace tilec::target {

/// How far a back end goes.
enum class StopAfter : uint8_t {
  LLVM, ///< optimised LLVM IR text
  ISA,  ///< PTX or assembly text; needs no external tool but libdevice
  Image
};

struct BackendOptions {
  ToolPaths tools;
  unsigned optLevel = 2; ///< 0..3
  bool lineInfo = true;  ///< -gline-tables-only: the module's locations become line tables
  StopAfter stopAfter = StopAfter::Image;
  bool keepLLVM = false; ///< fill DeviceImage::llvm
  bool keepISA = false;  ///< fill DeviceImage::isa (PTX is always there)
  unsigned jobs = 0;     ///< threads of compileImages; 0: one per core
  /// Size in bytes of a source file as line tables name it: ptxas writes it into .debug_line. Null: 0 is
  /// never written, so 1 stands in for an unknown file.
  std::function<uint64_t(llvm::StringRef)> sourceSize;
  int64_t sourceDate = 1;              ///< SOURCE_DATE_EPOCH
  mlir::TimingScope *timing = nullptr; ///< parent of the timers of each step (thread-safe)
};

struct KernelReport {
  std::string symbol; ///< of the function in the module
  std::string entry;  ///< its name in the image, where that differs (PTX has no `.` in names); else empty
  Resources resources;
};

/// One compiled module.
struct DeviceImage {
  Image::Kind kind = Image::Cubin;
  std::string arch;
  std::string bytes;                 ///< empty unless StopAfter::Image
  std::string ptxasVersion;          ///< that made the bytes
  std::string llvm;                  ///< LLVM IR text, when asked for
  std::string isa;                   ///< PTX or assembly, when asked for
  std::vector<KernelReport> kernels; ///< in the order of the module
};

/// The dialects and translations to LLVM IR that a back end needs. Call once per context.
void registerBackendDialects(mlir::DialectRegistry &registry);

/// Compiles modules for NVIDIA and AMD targets, several at once, while their owner goes on: code generation
/// and the tools run on `jobs` threads, in contexts of their own.
class ImageQueue {
public:
  explicit ImageQueue(const BackendOptions &options);
  ~ImageQueue(); ///< waits for what was added
  /// Translates the module, here and now, and leaves the rest to the threads.
  void add(mlir::ModuleOp module, const TargetDesc &target);
  /// Waits; results in the order of add().
  std::vector<llvm::Expected<DeviceImage>> finish();

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Copies bytes into the image, and the assembler's numbers and the final names into its variants, by symbol.
void applyReport(Image &image, DeviceImage compiled);

//===----------------------------------------------------------------------===//
// For back ends
//===----------------------------------------------------------------------===//

/// What becomes of the locations.
enum class LineTables : uint8_t {
  None,
  Full,          ///< DWARF line tables
  DirectivesOnly ///< .file and .loc alone: ptxas refuses to optimise code with any other debug information
};
/// Translates `module` (or the only gpu.module in it); diagnostics go through the MLIR context.
llvm::Expected<std::unique_ptr<llvm::Module>> translateModule(mlir::ModuleOp module,
                                                              llvm::LLVMContext &context, LineTables lines);
/// LLVM's standard pipeline of that level, for that machine.
llvm::Error optimizeModule(llvm::Module &module, llvm::TargetMachine &machine, unsigned optLevel);
/// Machine code, or assembly text; `without` names passes of LLVM's code generator to leave out.
llvm::Expected<std::string> emitModule(llvm::Module &module, llvm::TargetMachine &machine, bool assembly,
                                       llvm::ArrayRef<llvm::StringRef> without = {});
/// An error when a function is called that nobody defines, but for those in `known`.
llvm::Error checkNoUndefined(const llvm::Module &module, llvm::ArrayRef<llvm::StringRef> known,
                             llvm::StringRef arch);
std::string printModule(const llvm::Module &module);

/// Collects LLVM's own diagnostics (unsupported code, inline assembly) while it lives.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(llvm::LLVMContext &context);
  ~DiagnosticCollector();
  /// The errors seen so far, as one error of kind Internal.
  llvm::Error take();

private:
  struct State;
  std::shared_ptr<State> state;
  llvm::LLVMContext &context;
};

/// LLVM IR in a context of its own, which any thread may go on with.
struct TranslatedModule {
  TranslatedModule();
  TranslatedModule(TranslatedModule &&);
  TranslatedModule &operator=(TranslatedModule &&);
  ~TranslatedModule();
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<DiagnosticCollector> diagnostics;
  std::unique_ptr<llvm::Module> module;
  unsigned ptxVersion = 0; ///< that the code needs beyond its target's, NVIDIA
};
llvm::Expected<TranslatedModule> translateAlone(mlir::ModuleOp module, LineTables lines,
                                                const BackendOptions &options);

} // namespace tilec::target
#endif
