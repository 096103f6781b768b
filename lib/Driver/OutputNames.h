//===- OutputNames.h - which files a run writes -------------------------------===//
#ifndef TILEC_DRIVER_OUTPUTNAMES_H
#define TILEC_DRIVER_OUTPUTNAMES_H
#include "CommandLine.h"
#include "tilec/Support/Target.h"
#include "llvm/ADT/ArrayRef.h"

namespace tilec {

/// Kinds that exist once for each device target.
inline constexpr llvm::StringLiteral perTargetKinds[] = {
    "ptx",          "cubin",       "hsaco",    "asm",        "llvm",
    "ir-scheduled", "ir-laid-out", "ir-async", "ir-threads", "ir-llvm"};

/// Whether a target has a kind: not all have PTX.
bool kindFits(llvm::StringRef kind, const TargetDesc &target);

/// What one input becomes; empty: not asked for. Default outputs stand in the working folder, named after the
/// source.
struct OutputNames {
  OutputNames(const DriverOptions &options, llvm::StringRef input);

  std::string object, header, depfile;
  std::string bundle; ///< the folder that `tilec tune` and `tilec bench` write
  /// Every file, with the flag or kind that asks for it.
  std::vector<std::pair<std::string, std::string>> all;
};

/// The file of a per-target kind for one target: %a is its name.
std::string fileFor(const DriverOptions &options, llvm::StringRef kind, const TargetDesc &target);

/// A message when one of `outputs` is the same file as one of `inputs`; else empty.
std::string inputClash(const OutputNames &outputs, llvm::ArrayRef<std::string> inputs);

/// A message when the run would write over what it reads or twice to one file; else empty. Imported files are
/// not known yet.
std::string findClash(const DriverOptions &options);

} // namespace tilec
#endif
