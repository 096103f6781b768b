//===- ObjectTables.h - the constants of runtime/tile_rt_gen.h as LLVM IR -------------===//
#ifndef TILEC_LIB_TARGET_OBJECTTABLES_H
#define TILEC_LIB_TARGET_OBJECTTABLES_H
#include "tilec/Target/Kernel.h"
#include "llvm/IR/Module.h"

namespace tilec::target {

/// Name of the library constant that host code passes to the runtime.
constexpr const char *kLibrarySymbol = "tilec.library";

/// Adds the library constant and everything it points to; defines kLibrarySymbol.
void buildTables(llvm::Module &module, const Library &library);

/// A NUL-terminated constant of the module, private to it.
llvm::Constant *makeString(llvm::Module &module, llvm::StringRef text);

} // namespace tilec::target
#endif
