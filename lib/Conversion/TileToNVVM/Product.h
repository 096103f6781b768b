//===- Product.h - one product as the matrix engines see it ------------------===//
#ifndef TILEC_LIB_CONVERSION_TILETONVVM_PRODUCT_H
#define TILEC_LIB_CONVERSION_TILETONVVM_PRODUCT_H
#include "NVVMEmitter.h"

namespace tilec::simt {

struct NVVMEmitter::Product {
  struct Side {
    Value value; ///< in the tile dialect
    Type element;
    Layout layout; ///< d0 = m or n, d1 = k
    int64_t k = 0;
    bool inRegisters = false;
  };
  Operation *op = nullptr;
  Value aValue, bValue;
  bool transA = false, transB = false, aUnsigned = false, bUnsigned = false;
  tile::InstAttr inst;
  tile::TileType acc;
  Value clear; ///< i1 of this function; null: never
  Side a, b;   ///< of the instruction: the tile's, or swapped
  Layout accLayout;
};

/// "f16", "bf16", "tf32", "e4m3", "s8", ..; empty for types that no instruction takes.
StringRef operandTypeName(Type t, bool isUnsigned);

} // namespace tilec::simt
#endif
