//===- Sources.cpp - files that imports name, and texts of -D ----------------===//
#include "Sources.h"
#include "tilec/Parse/Parser.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace tilec;

const ast::Module *Sources::parseFile(llvm::StringRef path) {
  auto [it, fresh] = files.try_emplace(path, nullptr);
  if (!fresh)
    return it->second;
  auto text = llvm::MemoryBuffer::getFile(path);
  if (!text) {
    diags.report(diag::E0604, {}, path, text.getError().message());
    return nullptr;
  }
  uint32_t buffer = sources.AddNewSourceBuffer(std::move(*text), llvm::SMLoc());
  read.push_back(buffer);
  std::unique_ptr<ast::Module> module = tilec::parseFile(sources, buffer, diags);
  modules.push_back(std::move(module));
  return files[path] = modules.back().get();
}

const ast::Module *Sources::parseText(llvm::StringRef text) {
  // A bare word that is no expression is a string to Sema: its syntax errors are nobody's business.
  struct Silent : DiagnosticConsumer {
    void handle(const Diagnostic &, const LineMap &) override {}
  } silent;
  DiagnosticEngine quiet(sources, silent);
  uint32_t buffer =
      sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "-D"), llvm::SMLoc());
  modules.push_back(tilec::parseExpression(sources, buffer, quiet));
  return modules.back().get();
}

std::vector<uint32_t> Sources::buffers(uint32_t main) const {
  std::vector<uint32_t> all = {main};
  all.insert(all.end(), read.begin(), read.end());
  return all;
}

std::vector<std::string> Sources::paths(uint32_t main) const {
  std::vector<std::string> all;
  for (uint32_t b : buffers(main))
    all.push_back(sources.getMemoryBuffer(b)->getBufferIdentifier().str());
  return all;
}
