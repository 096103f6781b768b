//===- DType.h - element types of the language -------------------------------===//
// The one list of element types: name in .tile, short name (instance names), bits in memory, class, DLPack
// code.
#ifndef TILEC_SUPPORT_DTYPE_H
#define TILEC_SUPPORT_DTYPE_H
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace tilec {

// X(enumerator, language name, short name, bits in memory, class, DLPack type code)
#define TILEC_DTYPES(X)                                                                                      \
  X(Bool, "bool", "bool", 8, Bool, 6)                                                                        \
  X(I8, "int8", "i8", 8, Signed, 0)                                                                          \
  X(I16, "int16", "i16", 16, Signed, 0)                                                                      \
  X(I32, "int32", "i32", 32, Signed, 0)                                                                      \
  X(I64, "int64", "i64", 64, Signed, 0)                                                                      \
  X(U8, "uint8", "u8", 8, Unsigned, 1)                                                                       \
  X(U16, "uint16", "u16", 16, Unsigned, 1)                                                                   \
  X(U32, "uint32", "u32", 32, Unsigned, 1)                                                                   \
  X(U64, "uint64", "u64", 64, Unsigned, 1)                                                                   \
  X(F16, "float16", "f16", 16, Float, 2)                                                                     \
  X(BF16, "bfloat16", "bf16", 16, Float, 4)                                                                  \
  X(F32, "float32", "f32", 32, Float, 2)                                                                     \
  X(F64, "float64", "f64", 64, Float, 2)                                                                     \
  X(E4M3, "float8_e4m3", "e4m3", 8, Float, 10)                                                               \
  X(E5M2, "float8_e5m2", "e5m2", 8, Float, 12)

enum class DType : uint8_t {
#define X(e, ...) e,
  TILEC_DTYPES(X)
#undef X
};

enum class DTypeClass : uint8_t { Bool, Signed, Unsigned, Float };

llvm::StringRef dtypeName(DType t);      // "float16"
llvm::StringRef dtypeShortName(DType t); // "f16"
unsigned dtypeBits(DType t);             // bits in memory: bool is one byte
inline unsigned dtypeBytes(DType t) { return dtypeBits(t) / 8; }
DTypeClass dtypeClass(DType t);
uint8_t dtypeDLPackCode(DType t);
/// By language name, and by the common aliases ("half", "float", "int", "fp16", "e4m3", "float8_e4m3fn",
/// ...).
std::optional<DType> parseDType(llvm::StringRef name);
/// The type that somebody probably means who writes such a name, for "did you mean".
std::optional<DType> likelyDType(llvm::StringRef name);
inline bool isFloat(DType t) { return dtypeClass(t) == DTypeClass::Float; }
inline bool isInteger(DType t) {
  return dtypeClass(t) == DTypeClass::Signed || dtypeClass(t) == DTypeClass::Unsigned;
}
inline bool isSigned(DType t) { return dtypeClass(t) == DTypeClass::Signed; }
/// fp8: takes part only in copy, cast, gemm, comparisons, min/max/abs.
inline bool isNarrowFloat(DType t) { return t == DType::E4M3 || t == DType::E5M2; }

} // namespace tilec
#endif
