//===- Scalars.h - the language's scalar semantics in arith and math ---------===//
//
// Every operator and conversion of the language, on SSA values. A value of type bool is an i1; one of type
// int64 is an i64 or, where it is index arithmetic (extents, block ids, loop variables), an `index`;
// everything else has the type of its memory form.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_MLIRGEN_SCALARS_H
#define TILEC_LIB_MLIRGEN_SCALARS_H
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "tilec/Sema/HIR.h"
#include "llvm/ADT/DenseSet.h"

namespace tilec::mlirgen {

class Scalars {
public:
  explicit Scalars(mlir::OpBuilder &builder) : b(builder), loc(builder.getUnknownLoc()) {}

  mlir::OpBuilder &b;
  mlir::Location loc; ///< of the ops made next

  //===- Types ----------------------------------------------------------------===//
  mlir::Type memoryType(DType t) const; ///< bool is i8
  mlir::Type valueType(DType t) const;  ///< bool is i1
  mlir::Value fromMemory(mlir::Value v, DType t);
  mlir::Value toMemory(mlir::Value v, DType t);

  //===- Constants ------------------------------------------------------------===//
  mlir::Value index(int64_t v);
  mlir::Value boolean(bool v);
  mlir::Value integer(mlir::Type type, int64_t v); ///< of an integer type or index
  mlir::Value real(mlir::Type type, double v);     ///< rounded to nearest; saturates in fp8
  mlir::Value zero(mlir::Type type);
  /// Value of `expr` in memory form, when it is a constant.
  mlir::TypedAttr constantAttr(const hir::Expr *expr) const;

  //===- index and i64 ---------------------------------------------------------===//
  mlir::Value toIndex(mlir::Value v);
  mlir::Value toI64(mlir::Value v);
  /// `v` (of type int64) as `type`, one of index and i64; other types are left alone.
  mlir::Value fit(mlir::Value v, mlir::Type type);
  bool isNonNegative(mlir::Value v) const;
  void setNonNegative(mlir::Value v) { nonNegative.insert(v); }

  //===- Operators -------------------------------------------------------------===//
  mlir::Value unary(hir::UnaryOp op, DType t, mlir::Value v);
  mlir::Value binary(hir::BinaryOp op, DType t, mlir::Value lhs, mlir::Value rhs);
  mlir::Value compare(hir::CompareOp op, DType t, mlir::Value lhs, mlir::Value rhs);
  mlir::Value math(hir::MathFn fn, DType t, llvm::ArrayRef<mlir::Value> args);
  mlir::Value select(mlir::Value cond, mlir::Value onTrue, mlir::Value onFalse);

  /// Conversion by the rule for stores, copies and casts. `saturate` matters only for fp8.
  mlir::Value convert(mlir::Value v, DType from, DType to, bool saturate = true);
  /// Is the conversion a single extf or truncf, so that a memory-to-memory copy can do it without knowing
  /// signs?
  static bool isPlainFloatCast(DType from, DType to);

  //===- Index arithmetic ------------------------------------------------------===//
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value atLeastZero(mlir::Value v); ///< max(v, 0), nothing for what is never negative
  mlir::Value andAll(llvm::ArrayRef<mlir::Value> conditions);

private:
  mlir::Value integerBinary(hir::BinaryOp op, DType t, mlir::Value lhs, mlir::Value rhs);
  mlir::Value signedDivision(hir::BinaryOp op, mlir::Value lhs, mlir::Value rhs);
  mlir::Value unsignedDivision(hir::BinaryOp op, mlir::Value lhs, mlir::Value rhs);
  mlir::Value shift(hir::BinaryOp op, DType t, mlir::Value lhs, mlir::Value rhs);
  mlir::Value integerPower(mlir::Value base, mlir::Value exponent);
  mlir::Value floatBinary(hir::BinaryOp op, mlir::Value lhs, mlir::Value rhs);
  mlir::Value floatDivision(hir::BinaryOp op, mlir::Value lhs, mlir::Value rhs);
  mlir::Value exp10(mlir::Value x);
  mlir::Value floatToInt(mlir::Value v, DType to);
  mlir::Value toFloat(mlir::Value v, DType from, DType to, bool saturate);
  mlir::Value floatToFloat(mlir::Value v, DType from, DType to, bool saturate);
  mlir::Value roundToOdd(mlir::Value f64);
  mlir::Value widen(mlir::Value v); ///< fp8, f16 and bf16 as f32; others unchanged

  llvm::DenseSet<mlir::Value> nonNegative;
};

} // namespace tilec::mlirgen
#endif
