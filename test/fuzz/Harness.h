//===- Harness.h - what the fuzzers share ------------------------------------------------===//

#ifndef TILEC_TEST_FUZZ_HARNESS_H
#define TILEC_TEST_FUZZ_HARNESS_H

#include "Mutator.h"
#include "tilec/Sema/Sema.h"
#include "tilec/Support/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"
#include <string>
#include <vector>

namespace tilec::fuzz {

struct Options {
  uint64_t count = 1000;
  uint64_t first = 0; ///< number of the first input; the same number and seeds make the same input
  std::string keep;   ///< folder for inputs worth keeping, made when needed
  std::vector<std::string> paths;
};

/// --count=N, --seed=N, --keep=FOLDER and files. Ends the process with exit code 2 after wrong arguments.
Options parseOptions(int argc, char **argv, const char *tool);

/// The files that parse, and each of their kernels alone: small files are quick. `onlyGood`: only kernels
/// that Sema accepts. Ends the process with exit code 3 when a file cannot be read, 2 when no seed is left.
std::vector<Seed> readSeeds(const Options &options, bool onlyGood = false);

/// Checks every message instead of printing it: arguments filled in, each place inside the file. Errors
/// without a place are right only for the command line and the environment (E06..).
class Checker : public DiagnosticConsumer {
public:
  explicit Checker(size_t size);
  void handle(const Diagnostic &diagnostic, const LineMap &lines) override;

  std::string problem; ///< of the last bad message, empty: none

private:
  void check(SourceRange range, bool mayBeNone, const Diagnostic &diagnostic);

  size_t size;
  std::unique_ptr<DiagnosticConsumer> renderer; // rendering is tested along the way
};

/// Writes an input to the folder --keep, if one is given.
void keep(const Options &options, const std::string &name, const std::string &text);

/// One input with its own sources and engine.
struct Input {
  explicit Input(const std::string &text);
  std::unique_ptr<ast::Module> parse();

  llvm::SourceMgr sources;
  uint32_t buffer;
  Checker checker;
  DiagnosticEngine diags;
};

/// Limits the memory of this process to 2 GB (a sanitizer's own included: 3 GB) and prepares Watch.
void installLimits();

/// While it lives an input is running: after 10 s of processor time, or in a crash, the input is written to
/// fuzz-crash.tile and the process ends.
class Watch {
public:
  explicit Watch(const std::string &text);
  ~Watch();
};

} // namespace tilec::fuzz

#endif // TILEC_TEST_FUZZ_HARNESS_H
