//===- Convert.cpp - types of operands and conversions between them -------------------===//

#include "Elaborator.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>

using namespace tilec;
using namespace tilec::sema;
using llvm::APFloat;

static const llvm::fltSemantics &semanticsOf(DType t) {
  switch (t) {
  case DType::F16:
    return APFloat::IEEEhalf();
  case DType::BF16:
    return APFloat::BFloat();
  case DType::F64:
    return APFloat::IEEEdouble();
  case DType::E4M3:
    return APFloat::Float8E4M3FN();
  case DType::E5M2:
    return APFloat::Float8E5M2();
  default:
    return APFloat::IEEEsingle();
  }
}

/// Whether a finite v stays finite in t, rounded to nearest even.
static bool staysFinite(double v, DType t) {
  APFloat f(v);
  bool lost = false;
  APFloat::opStatus status = f.convert(semanticsOf(t), APFloat::rmNearestTiesToEven, &lost);
  return f.isFinite() && !(status & APFloat::opOverflow);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static std::string dtypeRange(DType t) {
  unsigned bits = dtypeBits(t);
  llvm::APSInt low = llvm::APSInt::getMinValue(bits, !isSigned(t)),
               high = llvm::APSInt::getMaxValue(bits, !isSigned(t));
  return intText(low) + " to " + intText(high);
}

static bool fitsInt(const llvm::APSInt &v, DType t) {
  if (isSigned(t))
    return v.isSignedIntN(dtypeBits(t));
  return !v.isNegative() && v.getActiveBits() <= dtypeBits(t);
}

const hir::Expr *Elaborator::convertConst(const Value &v, DType t, SourceRange where, bool saturate) {
  hir::Loc l = loc(where);
  if (t == DType::Bool)
    return make<hir::BoolConst>(truth(v), l);
  if (v.kind == Value::Bool && isInteger(t))
    return intConst(v.boolean, t, l);
  if (isFloat(t)) {
    auto number = v.kind == Value::Bool ? std::optional<double>(v.boolean) : constEval.toDouble(v, where);
    if (!number)
      return nullptr;
    if (std::isfinite(*number) && !staysFinite(*number, t)) {
      if (v.kind == Value::Int || isNarrowFloat(t)) {
        report(diag::E0205, where, repr(v), dtypeName(t), "it has no finite value that large");
        return nullptr;
      }
      report(diag::W0201, where, repr(v), dtypeName(t));
    }
    return make<hir::FloatConst>(*number, t, l);
  }
  llvm::APSInt integer = v.integer;
  if (v.kind == Value::Float) {
    if (!std::isfinite(v.number) || std::fabs(v.number) >= 0x1p65) {
      report(diag::E0205, where, repr(v), dtypeName(t), "it holds " + dtypeRange(t));
      return nullptr;
    }
    integer = llvm::APSInt(128, /*isUnsigned=*/false);
    bool exact = false;
    APFloat(v.number).convertToInteger(integer, APFloat::rmTowardZero, &exact);
  }
  if (!fitsInt(integer, t)) {
    report(diag::E0205, where, repr(v), dtypeName(t), "it holds " + dtypeRange(t));
    return nullptr;
  }
  return make<hir::IntConst>(integer.extOrTrunc(dtypeBits(t)), t, l);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

const hir::Expr *Elaborator::convert(const Value &v, DType t, SourceRange where, bool saturate) {
  if (v.isPoison())
    return nullptr;
  if (v.isConstNumber())
    return convertConst(v, t, where, saturate);
  if (v.isExpr())
    return cast(v.expr, t, saturate, loc(where));
  if (v.kind == Value::Object && v.object->kind != hir::Object::Pointer)
    report(diag::E0209, where, v.object->name, objectShape(v.object));
  else
    report(diag::E0204, where, "a number", describe(v));
  return nullptr;
}

const hir::Expr *Elaborator::strong(const Value &v, SourceRange where) {
  if (v.isExpr())
    return v.expr;
  DType t = v.kind == Value::Float ? DType::F32 : v.kind == Value::Bool ? DType::Bool : DType::I64;
  return convert(v, t, where);
}

const hir::Expr *Elaborator::toIndex(const Value &v, SourceRange where, llvm::StringRef what) {
  if (v.isPoison())
    return nullptr;
  if (v.isInt() || (v.isExpr() && isInteger(v.expr->type)))
    return convert(v, DType::I64, where);
  if (v.kind == Value::Object && v.object->kind != hir::Object::Pointer)
    report(diag::E0209, where, v.object->name, objectShape(v.object));
  else
    report(diag::E0204, where, "an integer for " + what.str(), describe(v));
  return nullptr;
}

const hir::Expr *Elaborator::toCondition(const Value &v, const ast::Expr *e) {
  SourceRange where = e->getRange();
  if (v.isPoison())
    return nullptr;
  if (v.isConst())
    return make<hir::BoolConst>(truth(v), loc(where));
  if (v.isExpr() && v.expr->type == DType::Bool)
    return v.expr;
  if (v.kind == Value::Object) {
    convert(v, DType::Bool, where);
    return nullptr;
  }
  if (v.isExpr()) {
    bool simple = llvm::isa<ast::NameExpr, ast::SubscriptExpr, ast::CallExpr, ast::AttributeExpr>(e);
    Report r = report(diag::E0207, where, dtypeName(v.expr->type));
    if (simple)
      r.fixit(where.atEnd(), " != 0");
    return nullptr;
  }
  report(diag::E0204, where, "a condition", describe(v));
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Promotion: the type in which two operands meet
//===----------------------------------------------------------------------===//

namespace {
/// A type that a compile-time number takes part with: weak, or the strong type of an expression.
struct Side {
  DType type;
  Weak weak;
};
} // namespace

static Side sideOf(const Value &v) {
  switch (v.kind) {
  case Value::Int:
    return {DType::I64, Weak::Int};
  case Value::Float:
    return {DType::F32, Weak::Float};
  case Value::Bool:
    return {DType::Bool, Weak::No};
  default:
    return {v.expr->type, v.weak};
  }
}

/// Rule 17: a number without a type takes the other's; a float literal makes an integer operand float32.
static std::optional<Side> meetWeak(Side a, Side b) {
  if (a.weak != Weak::No && b.weak != Weak::No)
    return a.weak == Weak::Float || b.weak == Weak::Float ? Side{DType::F32, Weak::Float}
                                                          : Side{DType::I64, Weak::Int};
  Side weak = a.weak != Weak::No ? a : b, strong = a.weak != Weak::No ? b : a;
  if (strong.type == DType::Bool)
    return std::nullopt;
  if (weak.weak == Weak::Float && isInteger(strong.type))
    return Side{DType::F32, Weak::No};
  return strong;
}

/// Rule 18.
static std::optional<Side> meet(Side a, Side b) {
  if (a.weak != Weak::No || b.weak != Weak::No)
    return meetWeak(a, b);
  if (a.type == b.type)
    return a;
  if (a.type == DType::Bool || b.type == DType::Bool)
    return std::nullopt;
  if (isFloat(a.type) != isFloat(b.type))
    return isFloat(a.type) ? a : b;
  unsigned aBits = dtypeBits(a.type), bBits = dtypeBits(b.type);
  if (isFloat(a.type)) {
    if (aBits == bBits) // float16 with bfloat16; the two fp8 kinds
      return Side{isNarrowFloat(a.type) ? DType::F16 : DType::F32, Weak::No};
    return aBits > bBits ? a : b;
  }
  if (isSigned(a.type) == isSigned(b.type))
    return aBits > bBits ? a : b;
  Side s = isSigned(a.type) ? a : b, u = isSigned(a.type) ? b : a;
  if (dtypeBits(s.type) > dtypeBits(u.type))
    return s;
  return std::nullopt;
}

static std::string sideText(const Value &v) {
  if (v.kind == Value::Expr)
    return "`" + dtypeName(v.expr->type).str() + "`";
  return describe(v);
}

std::optional<DType> Elaborator::common(const Value &a, const Value &b, SourceRange where, llvm::StringRef op,
                                        Weak &weak) {
  Side x = sideOf(a), y = sideOf(b);
  if (auto side = meet(x, y)) {
    weak = side->weak;
    return side->type;
  }
  bool isBool = x.type == DType::Bool || y.type == DType::Bool;
  const char *why =
      isBool && (op == "&" || op == "|")
          ? "a bool is no number, and comparisons beside this bind weaker: put them in parentheses"
      : isBool ? "a bool is no number; write `1 if c else 0`"
               : "neither holds all values of the other; cast one of them";
  report(diag::E0202, where, op, sideText(a), sideText(b), why);
  return std::nullopt;
}

/// The type of a local from the values assigned so far.
void Elaborator::joinType(Slot *s, llvm::StringRef name, const Value &v, SourceRange where) {
  VarInfo &info = *s->info;
  if (info.fixed)
    return;
  Side side = sideOf(v);
  if (!info.hasType) {
    info.hasType = true;
    info.type = side.type;
    info.weak = side.weak;
    info.typeFrom = where;
    settled.changed = true;
    return;
  }
  auto joined = meet({info.type, info.weak}, side);
  if (!joined) {
    report(diag::E0208, where, name, sideText(v), dtypeName(info.type))
        .note(info.typeFrom, "`{0}` is {1} here", name, dtypeName(info.type));
    return;
  }
  // A resolved local does not become weak again.
  if (joined->type == info.type && joined->weak == info.weak)
    return;
  info.type = joined->type;
  info.weak = joined->weak;
  info.typeFrom = where;
  settled.changed = true;
}

DType Elaborator::typeOf(const VarInfo &info) const { return info.fixed ? *info.fixed : info.type; }
