//===- Code.h - short names for scalar, vector and loop code -----------------===//
//
// All index arithmetic is on `index` (64 bits) and folds while it is built, so that constant strides and
// offsets leave no code. Values may be scalars or vectors; a scalar meets a vector by broadcasting.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_CONVERSION_TILETOCPU_CODE_H
#define TILEC_LIB_CONVERSION_TILETOCPU_CODE_H
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include <optional>

namespace tilec::cpu {
using namespace mlir;

/// Bytes of one element in memory.
int64_t elementBytes(Type element);
/// What LLVM loads and stores for it: i1 and 8-bit floats are i8, 16-bit floats i16, index is i64.
Type memoryType(Type element);
/// What a value of it is in registers: 8-bit floats are i8.
Type registerType(Type type);
using tile::isFloat8;

class Code {
public:
  Code(OpBuilder &b, Location loc) : b(b), loc(loc) {}
  OpBuilder &b;
  Location loc;

  //===- Constants and types -------------------------------------------------===//
  Value index(int64_t value);
  Value integer(Type type, int64_t value);
  Value boolean(bool value);
  /// Zero, or `value`, of any scalar or vector type in registers.
  Value zero(Type type);
  Value number(Type type, double value);
  static std::optional<int64_t> constant(Value value);
  static bool isConstant(Value value, int64_t what) { return constant(value) == what; }
  static bool isVector(Value value) { return isa<VectorType>(value.getType()); }
  Type ptrType() { return LLVM::LLVMPointerType::get(b.getContext()); }

  //===- Arithmetic ----------------------------------------------------------===//
  template <typename Op> Value fold(Value x, Value y) {
    unify(x, y);
    return b.createOrFold<Op>(loc, x, y);
  }
  Value add(Value x, Value y) { return fold<arith::AddIOp>(x, y); }
  Value sub(Value x, Value y) { return fold<arith::SubIOp>(x, y); }
  Value mul(Value x, Value y) { return fold<arith::MulIOp>(x, y); }
  Value add(Value x, int64_t y) { return add(x, index(y)); }
  Value sub(Value x, int64_t y) { return sub(x, index(y)); }
  Value mul(Value x, int64_t y) { return mul(x, index(y)); }
  Value min(Value x, Value y) { return fold<arith::MinSIOp>(x, y); }
  Value max(Value x, Value y) { return fold<arith::MaxSIOp>(x, y); }
  /// Of non-negative numbers.
  Value div(Value x, int64_t y) { return y == 1 ? x : fold<arith::DivUIOp>(x, index(y)); }
  Value rem(Value x, int64_t y) { return fold<arith::RemUIOp>(x, index(y)); }
  Value ceilDiv(Value x, int64_t y) { return div(add(x, y - 1), y); }
  Value roundUp(Value x, int64_t y) { return y == 1 ? x : mul(ceilDiv(x, y), y); }
  Value roundDown(Value x, int64_t y) { return y == 1 ? x : mul(div(x, y), y); }
  Value cmp(arith::CmpIPredicate predicate, Value x, Value y);
  Value lt(Value x, Value y) { return cmp(arith::CmpIPredicate::slt, x, y); }
  Value le(Value x, Value y) { return cmp(arith::CmpIPredicate::sle, x, y); }
  Value eq(Value x, Value y) { return cmp(arith::CmpIPredicate::eq, x, y); }
  Value both(Value x, Value y) { return fold<arith::AndIOp>(x, y); }
  Value either(Value x, Value y) { return fold<arith::OrIOp>(x, y); }
  Value invert(Value x);
  /// Null stands for true.
  Value bothOf(Value x, Value y) { return !x ? y : !y ? x : both(x, y); }
  Value select(Value condition, Value x, Value y);

  //===- Vectors -------------------------------------------------------------===//
  VectorType vec(Type element, int64_t lanes) { return VectorType::get({lanes}, element); }
  Value broadcast(Value scalar, int64_t lanes);
  /// 0, 1, .., lanes - 1 as index.
  Value iota(int64_t lanes);
  /// Lanes below `count`.
  Value maskBelow(Value count, int64_t lanes);
  Value any(Value mask);
  void unify(Value &x, Value &y);

  //===- Memory --------------------------------------------------------------===//
  Value gep(Value ptr, Type element, Value offset);
  Value gep(Value ptr, Type element, int64_t offset) { return gep(ptr, element, index(offset)); }
  /// One element, or `lanes` of them side by side (lanes > 1).
  Value load(Value ptr, Type element, int64_t lanes = 1, int64_t align = 0);
  void store(Value value, Value ptr, Type element, int64_t align = 0);
  Value maskedLoad(Value ptr, Type element, Value mask, Value otherwise);
  void maskedStore(Value value, Value ptr, Type element, Value mask);
  Value gather(Value ptr, Type element, Value offsets, Value mask, Value otherwise);
  void scatter(Value value, Value ptr, Type element, Value offsets, Value mask);
  void prefetch(Value ptr);
  /// Values in registers <-> as they lie in memory.
  Value toMemory(Value value, Type element);
  Value fromMemory(Value value, Type element);

  //===- Control -------------------------------------------------------------===//
  using Body = llvm::function_ref<void(Value)>;
  using CarryBody = llvm::function_ref<SmallVector<Value>(Value, ValueRange)>;
  void loop(Value from, Value to, Value step, Body body);
  void loop(Value from, Value to, int64_t step, Body body) { loop(from, to, index(step), body); }
  SmallVector<Value> loop(Value from, Value to, int64_t step, ValueRange carried, CarryBody body);
  void when(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr);
  SmallVector<Value> choose(Value condition, TypeRange types, llvm::function_ref<SmallVector<Value>()> then,
                            llvm::function_ref<SmallVector<Value>()> otherwise);
};

} // namespace tilec::cpu
#endif
