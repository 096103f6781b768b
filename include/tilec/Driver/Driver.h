//===- Driver.h - the tilec command ------------------------------------------===//
#ifndef TILEC_DRIVER_DRIVER_H
#define TILEC_DRIVER_DRIVER_H

namespace tilec {

/// What a process that runs tilec sees. docs/CommandLine.md says when each is used.
enum ExitCode : int {
  ExitSuccess = 0,
  ExitSource = 1,      ///< errors in the source (or warnings under -Werror)
  ExitUsage = 2,       ///< unknown flag, contradictory request, unknown name in -D or --kernel
  ExitEnvironment = 3, ///< unreadable input, unwritable output, missing or too old tool
  ExitTool = 4,        ///< ptxas or lld rejected generated code: a bug of tilec
  ExitMeasured = 5,    ///< of the runner in a bundle: a point was wrong, or failed
  ExitInternal = 70,   ///< a bug of tilec
  ExitInterrupted = 130
};

/// Runs the whole command: parses the arguments, compiles, writes the outputs, prints diagnostics on stderr.
int runDriver(int argc, char **argv);

} // namespace tilec
#endif
