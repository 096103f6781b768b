//===- Bundle.h - the folder that `tilec tune` and `tilec bench` write --------===//
#ifndef TILEC_DRIVER_BUNDLE_H
#define TILEC_DRIVER_BUNDLE_H
#include "CommandLine.h"
#include "mlir/IR/BuiltinOps.h"
#include "tilec/Sema/HIR.h"
#include "tilec/Target/Kernel.h"
#include "tilec/Target/Tools.h"

namespace tilec {

/// What the runner in the bundle measures: docs/Tuning.md has the format.
class BundlePlan {
public:
  /// Finds which kernels can be measured at which of the sizes asked for, before points are chosen. `shapes`:
  /// the same for tile-select-points. False after an error.
  bool start(const DriverOptions &options, const hir::Program &program, mlir::ModuleOp module,
             DiagnosticEngine &diags, std::vector<std::string> &shapes);
  /// The plan of the finished library.
  std::string text(const target::Library &library) const;

private:
  struct Kernel {
    std::string name, hash;
    std::vector<std::string> tuned;  ///< names of the tune parameters
    std::vector<std::string> shapes; ///< "M=1536 N=1536 K=1536"
    /// "ceildiv(K, 128) : ceildiv(K, GROUP)": extents that name constants, as the runner can compute them.
    std::vector<std::string> formulas;
  };
  Command command = Command::Compile;
  std::vector<Kernel> kernels;
};

/// A shared object that finds the runtime in the program that loads it.
llvm::Expected<std::string> linkBundle(llvm::StringRef object, const target::ToolPaths &tools);
/// The program beside tilec that becomes the bundle's `run`.
llvm::Expected<std::string> readRunner(const target::ToolPaths &tools);

} // namespace tilec
#endif
