//===- Sources.h - files that imports name, and texts of -D ------------------===//
#ifndef TILEC_DRIVER_SOURCES_H
#define TILEC_DRIVER_SOURCES_H
#include "tilec/Sema/Sema.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"

namespace tilec {

/// Parses what Sema asks for and remembers what was read, for the depfile and the hash of the sources.
class Sources : public ModuleLoader {
public:
  Sources(llvm::SourceMgr &sources, DiagnosticEngine &diags) : sources(sources), diags(diags) {}

  const ast::Module *parseFile(llvm::StringRef path) override;
  const ast::Module *parseText(llvm::StringRef text) override;

  /// The main buffer and those of imported files, in the order of reading.
  std::vector<uint32_t> buffers(uint32_t main) const;
  std::vector<std::string> paths(uint32_t main) const;

private:
  llvm::SourceMgr &sources;
  DiagnosticEngine &diags;
  llvm::StringMap<const ast::Module *> files;
  std::vector<std::unique_ptr<ast::Module>> modules;
  std::vector<uint32_t> read;
};

} // namespace tilec
#endif
