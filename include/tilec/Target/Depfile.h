//===- Depfile.h - Make rules for build systems --------------------------------------===//
#ifndef TILEC_TARGET_DEPFILE_H
#define TILEC_TARGET_DEPFILE_H
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tilec::target {

struct DepfileOptions {
  std::vector<std::string> targets;        ///< to be quoted (-MQ, the default)
  std::vector<std::string> literalTargets; ///< as they are (-MT)
  std::vector<std::string> inputs;         ///< the source first
  bool phony = false;                      ///< -MP: an empty rule for each input but the first
};

/// Lines are folded as clang folds them; spaces, `#`, `$` and backslashes before them are escaped.
std::string emitDepfile(const DepfileOptions &options);
std::string escapeMake(llvm::StringRef path);

} // namespace tilec::target
#endif
