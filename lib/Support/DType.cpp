//===- DType.cpp - element types of the language -----------------------------===//
#include "tilec/Support/DType.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tilec;

namespace {
struct Row {
  llvm::StringLiteral name, shortName;
  uint8_t bits;
  DTypeClass cls;
  uint8_t dlpack;
};
} // namespace

static constexpr Row rows[] = {
#define X(e, name, shortName, bits, cls, dl) {name, shortName, bits, DTypeClass::cls, dl},
    TILEC_DTYPES(X)
#undef X
};

static const Row &row(DType t) { return rows[static_cast<unsigned>(t)]; }

llvm::StringRef tilec::dtypeName(DType t) { return row(t).name; }
llvm::StringRef tilec::dtypeShortName(DType t) { return row(t).shortName; }
unsigned tilec::dtypeBits(DType t) { return row(t).bits; }
DTypeClass tilec::dtypeClass(DType t) { return row(t).cls; }
uint8_t tilec::dtypeDLPackCode(DType t) { return row(t).dlpack; }

std::optional<DType> tilec::likelyDType(llvm::StringRef name) {
  if (std::optional<DType> known = parseDType(name))
    return known;
  return llvm::StringSwitch<std::optional<DType>>(name)
      .Cases({"fp8", "f8", "float8", "float8e4m3"}, DType::E4M3)
      .Case("float8e5m2", DType::E5M2)
      .Case("bfloat", DType::BF16)
      .Cases({"boolean", "bool_", "i1"}, DType::Bool)
      .Cases({"char", "schar"}, DType::I8)
      .Cases({"byte", "uchar"}, DType::U8)
      .Case("short", DType::I16)
      .Case("long", DType::I64)
      .Default(std::nullopt);
}

std::optional<DType> tilec::parseDType(llvm::StringRef name) {
  for (unsigned i = 0; i < std::size(rows); ++i)
    if (name == rows[i].name || name == rows[i].shortName)
      return static_cast<DType>(i);
  return llvm::StringSwitch<std::optional<DType>>(name)
      .Cases({"half", "fp16"}, DType::F16)
      .Case("bf16", DType::BF16)
      .Cases({"float", "fp32"}, DType::F32)
      .Cases({"double", "fp64"}, DType::F64)
      .Case("int", DType::I32)
      .Case("uint", DType::U32)
      .Cases({"float8_e4m3fn", "fp8_e4m3"}, DType::E4M3)
      .Case("fp8_e5m2", DType::E5M2)
      .Default(std::nullopt);
}
