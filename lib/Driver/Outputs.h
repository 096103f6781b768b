//===- Outputs.h - files that appear all together or not at all --------------===//
#ifndef TILEC_DRIVER_OUTPUTS_H
#define TILEC_DRIVER_OUTPUTS_H
#include "tilec/Support/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tilec {

/// A device such as /dev/null or a pipe is written in place: there is nothing to rename.
bool isSpecialFile(llvm::StringRef path);

/// The outputs of one run. Contents are kept in memory until commit(); then each goes to a temporary beside
/// its destination (opened O_EXCL) and is renamed into place. After a failure, or an
/// interrupt while this object lives, none of the declared files exists: a stale object of an earlier run
/// must not be linked by accident.
class Outputs {
public:
  Outputs() = default;
  Outputs(const Outputs &) = delete;
  ~Outputs();

  /// Says that the run writes `path` ("-": standard output).
  void declare(llvm::StringRef path);
  /// The finished contents of a declared file. `onlyIfChanged`: leave an equal file alone (headers: their
  /// users need not be recompiled).
  void set(llvm::StringRef path, std::string contents, bool onlyIfChanged = false);
  /// The same for a program that may be started.
  void setExecutable(llvm::StringRef path, std::string contents);

  /// Writes everything. False after E0605; then nothing is left.
  bool commit(DiagnosticEngine &diags);
  /// The run failed: removes what was declared.
  void discard();
  /// What was declared is not written after all, and what stands there stays.
  void forget();

private:
  struct File {
    std::string path, contents;
    bool ready = false, onlyIfChanged = false, executable = false;
  };
  bool write(const File &file, DiagnosticEngine &diags);
  std::vector<File> files;
};

} // namespace tilec
#endif
