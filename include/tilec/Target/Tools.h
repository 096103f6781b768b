//===- Tools.h - external tools: where they are, how they run -------------------===//
//
// ptxas and ld.lld run as sub-processes (execve with an argument vector, never a shell); files between us and
// them are temporaries made with O_EXCL and removed when their owner dies. No MLIR here.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_TARGET_TOOLS_H
#define TILEC_TARGET_TOOLS_H
#include "tilec/Support/Target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tilec::target {

/// What the command line said about tools; empty: search.
struct ToolPaths {
  std::string cudaPath;      ///< --cuda-path: the folder that holds bin/ptxas and nvvm/libdevice
  std::string ptxasPath;     ///< --ptxas-path
  std::string lldPath;       ///< --lld-path
  std::string executableDir; ///< the folder of tilec itself: tools beside it are preferred to those of PATH
  std::vector<std::string> ptxasArgs; ///< -Xptxas
  std::vector<std::string> lldArgs;   ///< -Xlld
  std::string tempDir;                ///< for temporaries; empty: the system's
  bool verbose = false;               ///< -v: write each command to stderr before it runs
};

/// Everything that goes wrong behind the middle. The kind decides the exit code.
class ToolError : public llvm::ErrorInfo<ToolError> {
public:
  enum Kind {
    Missing,  ///< a tool or library was not found (exit 3)
    TooOld,   ///< found, but too old for the target (exit 3)
    Failed,   ///< could not be run, or a file could not be read or written (exit 3)
    Rejected, ///< the tool rejected generated code: a bug of tilec (exit 4)
    Internal  ///< code generation failed: a bug of tilec (exit 70)
  };
  static char ID;
  ToolError(Kind kind, std::string message, std::string log = {})
      : kind(kind), message(std::move(message)), toolLog(std::move(log)) {}

  Kind getKind() const { return kind; }
  llvm::StringRef getMessage() const { return message; }
  /// What the tool printed; shown with -v and in reproducers.
  llvm::StringRef getLog() const { return toolLog; }
  int exitCode() const { return kind == Rejected ? 4 : kind == Internal ? 70 : 3; }
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  Kind kind;
  std::string message, toolLog;
};

llvm::Error toolError(ToolError::Kind kind, const llvm::Twine &message, llvm::StringRef log = {});

/// A tool that was found.
struct Tool {
  std::string path;
  std::string version; ///< "13.0" for ptxas, empty when nobody asked
};

/// --ptxas-path; --cuda-path, then CUDA_HOME, CUDA_PATH, CUDA_ROOT; beside tilec; PATH; /usr/local/cuda.
llvm::Expected<Tool> findPtxas(const ToolPaths &paths);
/// --lld-path; beside tilec; the LLVM that tilec was built with; PATH.
llvm::Expected<Tool> findLld(const ToolPaths &paths);
/// libdevice.10.bc of the toolkit.
llvm::Expected<std::string> findLibdevice(const ToolPaths &paths);
/// Is this ptxas new enough for the target's PTX version? `ptxVersion` as in TargetDesc (80 = PTX 8.0).
llvm::Error checkPtxasVersion(const Tool &ptxas, const TargetDesc &target, unsigned ptxVersion);

/// A temporary file, removed with its owner and on signals.
class TempFile {
public:
  TempFile() = default;
  TempFile(TempFile &&other) : path_(std::move(other.path_)) { other.path_.clear(); }
  TempFile &operator=(TempFile &&other) {
    std::swap(path_, other.path_);
    return *this;
  }
  TempFile(const TempFile &) = delete;
  ~TempFile();
  /// A new empty file of that suffix ("ptx"), opened O_EXCL; then filled with `contents`.
  static llvm::Expected<TempFile> create(const ToolPaths &paths, llvm::StringRef suffix,
                                         llvm::StringRef contents = {});
  llvm::StringRef path() const { return path_; }
  llvm::Expected<std::string> read() const;

private:
  std::string path_;
};

struct RunResult {
  int exitCode;
  std::string output; ///< stdout and stderr together
};

/// Runs a tool and waits. Fails when it cannot be started or dies by a signal.
llvm::Expected<RunResult> runTool(const ToolPaths &paths, const Tool &tool, llvm::ArrayRef<std::string> args);

/// Reads a whole file.
llvm::Expected<std::string> readFile(llvm::StringRef path);

} // namespace tilec::target
#endif
