//===- Builtins.cpp - the names the language gives ------------------------------------===//

#include "Builtins.h"
#include "llvm/ADT/StringMap.h"

using namespace tilec::sema;

static constexpr BuiltinInfo table[] = {
#define BUILTIN(kind, sub, name, params, where) {BuiltinKind::kind, sub, name, params, BuiltinWhere::where},
#define UNSUPPORTED(name, hint) {BuiltinKind::Unsupported, 0, name, hint, BuiltinWhere::Anywhere},
#include "tilec/Sema/Builtins.def"
};

llvm::ArrayRef<BuiltinInfo> tilec::sema::allBuiltins() { return table; }

const BuiltinInfo *tilec::sema::findBuiltin(llvm::StringRef name) {
  static const llvm::StringMap<const BuiltinInfo *> byName = [] {
    llvm::StringMap<const BuiltinInfo *> map;
    for (const BuiltinInfo &info : table)
      map[info.name] = &info;
    return map;
  }();
  return byName.lookup(name);
}

std::optional<tilec::DType> tilec::sema::bareDType(llvm::StringRef name) {
  auto t = parseDType(name);
  bool bare = t && (name == dtypeName(*t) || name == "int" || name == "float" || name == "float8_e4m3fn");
  return bare ? t : std::nullopt;
}

llvm::SmallVector<BuiltinParam, 8> tilec::sema::parseParams(const BuiltinInfo &info) {
  llvm::SmallVector<BuiltinParam, 8> params;
  llvm::SmallVector<llvm::StringRef, 8> parts;
  if (info.kind != BuiltinKind::Unsupported)
    info.params.split(parts, ", ", -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    BuiltinParam p;
    p.variadic = part.consume_front("*");
    p.refused = part.consume_back("!");
    p.optional = part.consume_back("?") || p.refused || p.variadic;
    p.name = part;
    params.push_back(p);
  }
  return params;
}
