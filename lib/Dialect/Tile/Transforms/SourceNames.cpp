//===- SourceNames.cpp - what messages call buffers and tiles ----------------===//
#include "SourceNames.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

std::string tilec::tile::dtypeOf(Type element) {
  if (element.isIndex())
    return "int64";
  if (element.isInteger(1))
    return "bool";
  if (isa<Float8E4M3FNType>(element))
    return "float8_e4m3";
  if (isa<Float8E5M2Type>(element))
    return "float8_e5m2";
  if (element.isBF16())
    return "bfloat16";
  return (isa<FloatType>(element) ? "float" : "int") + std::to_string(element.getIntOrFloatBitWidth());
}

std::string tilec::tile::shapeAndDtype(ArrayRef<int64_t> shape, Type element) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "(";
  llvm::interleaveComma(shape, os);
  os << (shape.size() == 1 ? ",) " : ") ") << dtypeOf(element);
  return text;
}

std::string tilec::tile::describe(Location loc, ArrayRef<int64_t> shape, Type element) {
  auto named = dyn_cast<NameLoc>(loc);
  return (named ? "`" + named.getName().str() + "`, " : std::string()) + shapeAndDtype(shape, element);
}
