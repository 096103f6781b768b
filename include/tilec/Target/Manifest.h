//===- Manifest.h - the JSON that describes a library --------------------------------===//
#ifndef TILEC_TARGET_MANIFEST_H
#define TILEC_TARGET_MANIFEST_H
#include "tilec/Target/Kernel.h"
#include <string>
#include <vector>

namespace tilec::target {

struct ManifestOptions {
  std::string tilecVersion; ///< "0.1.0"
  std::vector<std::string> flags;
};

/// Schema version of the manifest, see docs/Manifest.md.
constexpr int kManifestVersion = 1;

/// All kernels, one JSON document, two spaces a level. This is --emit-manifest.
std::string emitManifest(const Library &library, const ManifestOptions &options);
/// One kernel, one line: what K_manifest() returns.
std::string emitKernelManifest(const Library &library, unsigned kernel, const ManifestOptions &options);

} // namespace tilec::target
#endif
