//===- CommandLine.h - arguments to options ----------------------------------===//
#ifndef TILEC_DRIVER_COMMANDLINE_H
#define TILEC_DRIVER_COMMANDLINE_H
#include "tilec/Support/Diagnostics.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// The first word of the command line. Tune and Bench pack a bundle that measures.
enum class Command { Compile, Tune, Bench };

/// The flags as given; field names are those of Options.def.
struct DriverOptions {
#define FLAG(field, ...) bool field = false;
#define VALUE(field, ...) std::string field;
#define LIST(field, ...) std::vector<std::string> field;
#include "tilec/Driver/Options.def"
  std::vector<std::string> inputs;
  std::map<std::string, std::string> emits; ///< kind -> FILE ("-": stdout), only those given
  // Derived by parseCommandLine:
  Command command = Command::Compile;
  std::vector<std::string> targets; ///< names of Support/Target, without repeats
  unsigned maxErrors = 20;
  unsigned optimize = 2;
  unsigned maxJobs = 0;    ///< 0: as many as there are cores
  unsigned mostPoints = 0; ///< 0: what tile-select-points takes by itself
  bool sanitizeSchedule = false;

  bool anyOutputNamed() const { return !emits.empty() || !output.empty() || syntaxOnly; }
};

struct CommandLineResult {
  bool exit = false; ///< done (help, version: print `text`) or wrong (report `error`)
  std::string text;
  std::optional<diag::ID> error;
};

/// Splits and checks the arguments. Reads no file. An unknown flag is a usage error that names the nearest
/// one.
CommandLineResult parseCommandLine(int argc, char **argv, DriverOptions &options);

} // namespace tilec
#endif
