//===- Builtins.h - the names the language gives --------------------------------------===//

#ifndef TILEC_LIB_SEMA_BUILTINS_H
#define TILEC_LIB_SEMA_BUILTINS_H

#include "tilec/Support/DType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace tilec::sema {

enum class BuiltinKind : uint8_t {
  KernelDecorator,
  MacroDecorator,
  Instantiate,
  Tensor,
  StridedTensor,
  Ptr,
  Const,
  DTypeKind,
  Tune,
  Kernel,
  ProgramId,
  AllocShared,
  AllocFragment,
  AllocVar,
  Copy,
  Transpose,
  Fill,
  Clear,
  Gemm,
  Reduce,
  Assume,
  StaticAssert,
  SafeValue,
  UseSwizzle,
  PolicyClass,
  Range,
  Serial,
  Unroll,
  Parallel,
  Pipelined,
  Cast,
  Select,
  MinMax,
  Clamp,
  Infinity,
  Limit,
  CeilDiv,
  Operator,
  BitNot,
  Len,
  Abs,
  IsFinite,
  Math,
  Unsupported,
};

enum class BuiltinWhere : uint8_t { Anywhere, Launch, Tiles, Host, Special };

struct BuiltinInfo {
  BuiltinKind kind;
  unsigned sub;
  llvm::StringLiteral name;
  llvm::StringLiteral params; ///< the hint of an Unsupported one
  BuiltinWhere where;
};

/// One parameter of BuiltinInfo::params.
struct BuiltinParam {
  llvm::StringRef name;
  bool optional = false, variadic = false, refused = false;
};

llvm::ArrayRef<BuiltinInfo> allBuiltins();
/// Null for a name that is none.
const BuiltinInfo *findBuiltin(llvm::StringRef name);
/// The dtype that a bare name means. The other spellings (`f16`, `half`) are for strings and behind an import
/// alias: as bare names they would hide variables.
std::optional<DType> bareDType(llvm::StringRef name);
llvm::SmallVector<BuiltinParam, 8> parseParams(const BuiltinInfo &info);

} // namespace tilec::sema

#endif // TILEC_LIB_SEMA_BUILTINS_H
