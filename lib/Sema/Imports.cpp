//===- Imports.cpp - the language's own module, and other .tile files -----------------===//

#include "ModuleAnalyzer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tilec;
using namespace tilec::sema;
namespace path = llvm::sys::path;

static bool isLanguageModule(llvm::StringRef name) {
  return name == "tile" || name == "tilelang" || name == "tilelang.language" || name == "tile.language";
}

void ModuleAnalyzer::import(const ast::ImportStmt *s) {
  for (const ast::ImportStmt::Item &item : s->items) {
    if (!isLanguageModule(item.module.text)) {
      ctx.sink.report(diag::E0102, item.module.range, item.module.text);
      continue;
    }
    llvm::StringRef name = item.alias.empty() ? item.module.text.split('.').first : item.alias.text;
    auto it = module.names.find(name);
    if (it != module.names.end() && it->second.value.kind == Value::ModuleAlias)
      continue; // import tilelang; import tilelang.language
    defineName(name, Value::of(Value::ModuleAlias), item.alias.empty() ? item.module.range : item.alias.range,
               true);
  }
}

void ModuleAnalyzer::importFrom(const ast::ImportFromStmt *s) {
  if (s->level == 0 && isLanguageModule(s->module.text))
    return importBuiltins(s);
  importUser(s);
}

void ModuleAnalyzer::importBuiltins(const ast::ImportFromStmt *s) {
  for (const ast::ImportFromStmt::Item &item : s->items) {
    llvm::StringRef name = item.name.text;
    Value v;
    if (name == "language")
      v = Value::of(Value::ModuleAlias);
    else if (const BuiltinInfo *info = findBuiltin(name))
      v = info->kind == BuiltinKind::PolicyClass ? Value::of(Value::PolicyClass) : Value::ofBuiltin(info);
    else if (auto t = parseDType(name))
      v = Value::ofDType(*t);
    else {
      ctx.sink.report(diag::E0109, item.name.range, s->module.text, name);
      continue;
    }
    // Under its own name it is visible anyway.
    if (item.alias.empty() && name != "language")
      continue;
    defineName(item.alias.empty() ? name : item.alias.text, v,
               item.alias.empty() ? item.name.range : item.alias.range, true);
  }
}

//===----------------------------------------------------------------------===//
// User modules
//===----------------------------------------------------------------------===//

/// Next to the importing file, then the -I folders, then next to the main file.
std::string ModuleAnalyzer::find(const ast::ImportFromStmt *s, std::string &tried) const {
  llvm::SmallString<128> relative;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  s->module.text.split(parts, '.', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts)
    path::append(relative, part);
  relative += ".tile";
  llvm::SmallVector<std::string, 4> folders;
  llvm::SmallString<128> here(path::parent_path(module.path));
  for (unsigned i = 1; i < s->level; ++i)
    path::append(here, "..");
  folders.push_back(std::string(here));
  if (s->level == 0) {
    for (const std::string &dir : ctx.options.importDirs)
      folders.push_back(dir);
    folders.push_back(path::parent_path(ctx.main->path).str());
  }
  for (const std::string &folder : folders) {
    llvm::SmallString<128> candidate(folder);
    path::append(candidate, relative);
    if (llvm::sys::fs::is_regular_file(candidate))
      return std::string(candidate);
    if (tried.find("`" + std::string(candidate) + "`") == std::string::npos)
      tried += (tried.empty() ? "`" : ", `") + std::string(candidate) + "`";
  }
  return "";
}

ModuleScope *ModuleAnalyzer::load(const ast::ImportFromStmt *s) {
  SourceRange where = s->module.empty() ? s->getRange() : s->module.range;
  llvm::StringRef root = s->module.text.split('.').first;
  static const llvm::StringRef hostModules[] = {"torch",  "numpy", "math",   "os",  "sys",
                                                "typing", "jax",   "triton", "cupy"};
  std::string tried, file;
  if (!s->module.empty() && ctx.options.loader)
    file = find(s, tried);
  if (file.empty()) {
    if (llvm::is_contained(hostModules, root) || tried.empty())
      ctx.sink.report(diag::E0102, where, s->module.text);
    else
      ctx.sink.report(diag::E0108, where, s->module.text).note({}, "looked for {0}", tried);
    return nullptr;
  }
  llvm::SmallString<128> real;
  if (llvm::sys::fs::real_path(file, real))
    real = file;
  std::unique_ptr<ModuleScope> &entry = ctx.modules[std::string(real)];
  if (entry) {
    if (entry->loading) {
      ctx.sink.report(diag::E0110, where, s->module.text);
      return nullptr;
    }
    return entry.get();
  }
  const ast::Module *parsed = ctx.options.loader->parseFile(file);
  if (!parsed)
    return nullptr;
  entry = std::make_unique<ModuleScope>();
  ModuleScope *loaded = entry.get();
  loaded->ast = parsed;
  loaded->path = file;
  loaded->name = path::stem(file).str();
  ctx.analyzeModule(*loaded);
  return loaded;
}

void ModuleAnalyzer::importUser(const ast::ImportFromStmt *s) {
  if (s->star) {
    ctx.sink.report(diag::E0132, s->star, s->module.text);
    return;
  }
  ModuleScope *from = load(s);
  for (const ast::ImportFromStmt::Item &item : s->items) {
    SourceRange where = item.alias.empty() ? item.name.range : item.alias.range;
    llvm::StringRef name = item.alias.empty() ? item.name.text : item.alias.text;
    Value v = Value::poison();
    if (from) {
      auto it = from->names.find(item.name.text);
      if (it == from->names.end() || it->second.value.kind == Value::ModuleAlias)
        ctx.sink.report(diag::E0109, item.name.range, s->module.text, item.name.text);
      else
        v = it->second.value;
    }
    defineName(name, v, where, true);
  }
}
