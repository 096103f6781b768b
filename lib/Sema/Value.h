//===- Value.h - what an expression means while a kernel is elaborated ----------------===//
//
// A Value is a compile-time value, a typed run-time expression, an object (tensor, tile, pointer) or a
// name of the language. Poison stands for an error that has been reported and silences what depends on it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_SEMA_VALUE_H
#define TILEC_LIB_SEMA_VALUE_H

#include "tilec/AST/AST.h"
#include "tilec/Sema/HIR.h"
#include "tilec/Support/DType.h"
#include "llvm/ADT/APSInt.h"
#include <memory>
#include <string>
#include <vector>

namespace tilec::sema {

struct BuiltinInfo;
struct FunctionInfo;
struct Value;
using ValueList = std::vector<Value>;

/// Numbers without a type of their own take that of the other operand.
enum class Weak : uint8_t { No, Int, Float };

struct Value {
  enum Kind : uint8_t {
    Poison,
    None,
    Int,    // compile time, exact, weak
    Float,  // compile time, weak
    Bool,   // compile time
    String, // compile time
    DTypeName,
    Tuple,
    List,
    Policy, // GemmWarpPolicy.X
    Expr,   // run time
    Object, // tensor, tile or pointer
    Builtin,
    ModuleAlias,
    PolicyClass, // GemmWarpPolicy
    Function,    // macro or kernel
  };
  Kind kind = Poison;
  Weak weak = Weak::No; ///< Expr only, while types are not settled yet
  bool boolean = false;
  bool fromTuple = false;
  DType dtype = DType::I64;
  hir::GemmPolicy policy = hir::GemmPolicy::Default;
  double number = 0;
  llvm::APSInt integer;
  std::shared_ptr<const std::string> text;
  std::shared_ptr<const ValueList> items;
  const hir::Expr *expr = nullptr;
  const hir::Object *object = nullptr;
  const BuiltinInfo *builtin = nullptr;
  const FunctionInfo *function = nullptr;

  static Value poison() { return Value(); }
  static Value none() { return of(None); }
  static Value ofInt(llvm::APSInt v);
  static Value ofInt(int64_t v) { return ofInt(llvm::APSInt(llvm::APInt(64, v, true), false)); }
  static Value ofFloat(double v);
  static Value ofBool(bool v);
  static Value ofString(std::string v);
  static Value ofDType(DType t);
  static Value ofTuple(ValueList v) { return ofItems(Tuple, std::move(v)); }
  static Value ofList(ValueList v) { return ofItems(List, std::move(v)); }
  static Value ofItems(Kind kind, ValueList v);
  static Value ofExpr(const hir::Expr *e, Weak weak = Weak::No);
  static Value ofObject(const hir::Object *o);
  static Value ofBuiltin(const BuiltinInfo *b);
  static Value ofFunction(const FunctionInfo *f);
  static Value of(Kind kind) {
    Value v;
    v.kind = kind;
    return v;
  }

  bool isPoison() const { return kind == Poison; }
  bool isInt() const { return kind == Int; }
  bool isExpr() const { return kind == Expr; }
  bool isSequence() const { return kind == Tuple || kind == List; }
  /// A compile-time int, float or bool.
  bool isConstNumber() const { return kind == Int || kind == Float || kind == Bool; }
  /// Can be the operand of an arithmetic operator.
  bool isNumber() const { return isConstNumber() || kind == Expr; }
  /// Fully known while compiling; sequences when all their items are.
  bool isConst() const;
  bool isTile() const;
  bool isTensor() const;
  const hir::TensorObj *tensor() const { return static_cast<const hir::TensorObj *>(object); }
  const hir::TileObj *tile() const { return static_cast<const hir::TileObj *>(object); }
  /// The value as int64, when it is an Int that fits.
  std::optional<int64_t> asInt64() const;
};

/// Same compile-time value or same object; run-time expressions are equal only to themselves.
bool identical(const Value &a, const Value &b);
/// As Python's repr: for messages and instance values.
std::string repr(const Value &v);
/// "an int", "a tile", "a run-time float32": for messages.
std::string describe(const Value &v);
bool truth(const Value &v);
std::string shapeText(llvm::ArrayRef<int64_t> shape);
/// Shortest decimal that reads back as the same double, as Python prints it.
std::string floatText(double v);
std::string intText(const llvm::APSInt &v);

inline bool isTileKind(hir::Object::Kind k) {
  return k == hir::Object::Shared || k == hir::Object::Fragment || k == hir::Object::Local;
}
inline bool isTensorKind(hir::Object::Kind k) {
  return k == hir::Object::Tensor || k == hir::Object::Workspace || k == hir::Object::MadeTensor;
}

} // namespace tilec::sema

#endif // TILEC_LIB_SEMA_VALUE_H
