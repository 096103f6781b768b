//===- SemaCheck.cpp - parse and analyze one file, print the elaborated kernels -------===//
//
// sema-check [-D NAME=value].. [-I folder].. [--kernel=NAME].. [-W..].. FILE
// Messages go to stderr as tilec prints them; exit 1 after errors.
//
//===----------------------------------------------------------------------===//

#include "tilec/Parse/Parser.h"
#include "tilec/Sema/Sema.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace tilec;

namespace {
class Loader : public ModuleLoader {
public:
  Loader(llvm::SourceMgr &sources, DiagnosticEngine &diags) : sources(sources), diags(diags) {}
  const ast::Module *parseFile(llvm::StringRef path) override {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? keep(tilec::parseFile(sources, sources.AddNewSourceBuffer(std::move(*buffer), {}), diags))
                  : nullptr;
  }
  const ast::Module *parseText(llvm::StringRef text) override {
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(text, "<-D>");
    return keep(parseExpression(sources, sources.AddNewSourceBuffer(std::move(buffer), {}), diags));
  }

private:
  const ast::Module *keep(std::unique_ptr<ast::Module> module) {
    modules.push_back(std::move(module));
    return modules.back().get();
  }
  llvm::SourceMgr &sources;
  DiagnosticEngine &diags;
  std::vector<std::unique_ptr<ast::Module>> modules;
};
} // namespace

int main(int argc, char **argv) {
  llvm::SourceMgr sources;
  auto consumer = createTextConsumer(llvm::errs(), false);
  DiagnosticEngine diags(sources, *consumer);
  Loader loader(sources, diags);
  SemaOptions options;
  options.loader = &loader;
  std::string file;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef arg = argv[i];
    if (arg.consume_front("-D")) {
      if (arg.empty() && i + 1 < argc)
        arg = argv[++i];
      auto [name, value] = arg.split('=');
      options.defines.push_back({name.str(), value.str()});
    } else if (arg.consume_front("-I")) {
      options.importDirs.push_back(arg.empty() && i + 1 < argc ? argv[++i] : arg.str());
    } else if (arg.consume_front("-ferror-limit=")) {
      unsigned limit = 20;
      arg.getAsInteger(10, limit);
      diags.setErrorLimit(limit);
    } else if (arg == "-fsyntax-only") {
      continue;
    } else if (arg.consume_front("--kernel=")) {
      options.kernels.push_back(arg.str());
    } else if (arg.consume_front("-W")) {
      diags.setWarningOption(arg);
    } else {
      file = arg.str();
    }
  }
  const ast::Module *module = loader.parseFile(file);
  if (!module) {
    if (!diags.hasErrors())
      llvm::errs() << "cannot read " << file << "\n";
    return 1;
  }
  std::unique_ptr<hir::Program> program = analyze(*module, options, diags);
  if (!program)
    return 1;
  print(*program, llvm::outs());
  return 0;
}
