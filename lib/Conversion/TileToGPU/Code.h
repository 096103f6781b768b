//===- Code.h - short names for scalar and vector code of one thread ---------===//
//
// Coordinates and shared addresses are i32, global offsets and user scalars `index` (64 bits). Operations
// fold while they are built, so that constant strides leave no code.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_CONVERSION_TILETOGPU_CODE_H
#define TILEC_LIB_CONVERSION_TILETOGPU_CODE_H
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include <optional>

namespace tilec::simt {
using namespace mlir;

/// What LLVM loads and stores for an element: i1 and 8-bit floats are i8, index is i64.
Type memoryType(Type element);
/// What an element is in registers: 8-bit floats are i8, everything else is itself.
Type registerType(Type element);
using tile::isFloat8;
inline int64_t memoryBytes(Type element) {
  Type type = memoryType(element);
  return type.getIntOrFloatBitWidth() / 8;
}

class Code {
public:
  Code(OpBuilder &b, Location loc) : b(b), loc(loc) {}
  OpBuilder &b;
  Location loc;

  //===- Constants -------------------------------------------------------------===//
  Value constant(Type type, int64_t value);
  Value i32(int64_t value) { return constant(b.getI32Type(), value); }
  Value i64(int64_t value) { return constant(b.getI64Type(), value); }
  Value index(int64_t value) { return constant(b.getIndexType(), value); }
  Value boolean(bool value) { return constant(b.getI1Type(), value); }
  Value zero(Type type);
  Value number(Type type, double value); ///< of a float or a vector of floats
  static std::optional<int64_t> known(Value value);
  VectorType vec(Type element, int64_t n) { return VectorType::get({n}, element); }
  static bool isVector(Value value) { return isa<VectorType>(value.getType()); }

  //===- Arithmetic: a null value is zero (true for conditions) ------------------===//
  template <typename Op> Value fold(Value x, Value y) { return b.createOrFold<Op>(loc, x, y); }
  Value add(Value x, Value y) { return !x ? y : !y ? x : fold<arith::AddIOp>(x, y); }
  Value exor(Value x, Value y) { return !x ? y : !y ? x : fold<arith::XOrIOp>(x, y); }
  Value sub(Value x, Value y) { return fold<arith::SubIOp>(x, y); }
  Value mul(Value x, Value y) { return fold<arith::MulIOp>(x, y); }
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, constant(x.getType(), y)); }
  Value mul(Value x, int64_t y) { return y == 1 ? x : mul(x, constant(x.getType(), y)); }
  Value exor(Value x, int64_t y) { return y == 0 ? x : exor(x, constant(x.getType(), y)); }
  /// Of non-negative numbers.
  Value div(Value x, int64_t y);
  Value rem(Value x, int64_t y);
  Value cmp(arith::CmpIPredicate p, Value x, Value y);
  Value eq(Value x, int64_t y) { return cmp(arith::CmpIPredicate::eq, x, constant(x.getType(), y)); }
  Value ult(Value x, int64_t y) { return cmp(arith::CmpIPredicate::ult, x, constant(x.getType(), y)); }
  Value ult(Value x, Value y) { return cmp(arith::CmpIPredicate::ult, x, y); }
  Value both(Value x, Value y) { return !x ? y : !y ? x : fold<arith::AndIOp>(x, y); }
  Value select(Value condition, Value x, Value y);
  /// An index, cut to least .. most: what compares the same with every number in between, in fewer bits.
  Value clamp(Value x, int64_t least, int64_t most) {
    return fold<arith::MinSIOp>(fold<arith::MaxSIOp>(x, index(least)), index(most));
  }
  /// i32 (non-negative) or index to index, and back.
  Value toIndex(Value x);
  Value toI32(Value x);
  Value cast(Value x, Type type); ///< bits of the same width

  //===- Vectors -----------------------------------------------------------------===//
  Value broadcast(Value scalar, int64_t n);
  Value element(Value vector, int64_t i);
  Value fromElements(ArrayRef<Value> elements);
  SmallVector<Value> elements(Value vector);
  Value slice(Value vector, int64_t from, int64_t n);
  /// Elements of `vector` in another order.
  Value permute(Value vector, ArrayRef<int64_t> order);
  Value bitcast(Value vector, Type element);

  //===- 8-bit floats without instructions for them (Float8.cpp) ------------------===//
  Value widenFloat8(Value bits, bool e5m2);   ///< i8 to f32
  Value narrowFloat8(Value value, bool e5m2); ///< f32 to i8

  //===- Memory --------------------------------------------------------------------===//
  Value offset(Value ptr, Type element, Value index);
  Value load(Value ptr, Type type, int64_t align);
  void store(Value value, Value ptr, int64_t align);
  /// Values in registers <-> as they lie in memory.
  Value toMemory(Value value, Type element);
  Value fromMemory(Value value, Type element);

  //===- Control -----------------------------------------------------------------===//
  void when(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr);
  SmallVector<Value> choose(Value condition, TypeRange types, llvm::function_ref<SmallVector<Value>()> then,
                            llvm::function_ref<SmallVector<Value>()> otherwise);

  //===- Assembly ----------------------------------------------------------------===//
  /// Volatile; `result` null: none. Results of several registers are a struct.
  Value assembly(Type result, StringRef text, StringRef constraints, ValueRange operands, bool memory = true);
  /// With any number of results.
  SmallVector<Value> assemblies(ArrayRef<Type> results, StringRef text, StringRef constraints,
                                ValueRange operands, bool memory = true);
};

} // namespace tilec::simt
#endif
