//===- ScalarCalls.cpp - built-ins that give a value ----------------------------------===//

#include "Elaborator.h"
#include <cmath>
#include <limits>

using namespace tilec;
using namespace tilec::sema;

static constexpr hir::MathFn mathFunctions[] = {
#define X(e, n, a) hir::MathFn::e,
    TILEC_MATH_FUNCTIONS(X)
#undef X
};

Value Elaborator::castCall(const ast::CallExpr *e, DType t, const ast::Expr *operand, bool saturate) {
  Value v = eval(operand);
  if (!needNumber(v, operand, "a cast"))
    return Value::poison();
  const hir::Expr *x = convert(v, t, operand->getRange(), saturate);
  return x ? Value::ofExpr(x) : Value::poison();
}

/// infinity, min_value, max_value.
Value Elaborator::callLimit(const BuiltinInfo &info, DType t, SourceRange where) {
  hir::Loc l = loc(where);
  bool infinite = info.kind == BuiltinKind::Infinity, high = infinite || info.sub == 1;
  if (infinite && (!isFloat(t) || t == DType::E4M3)) {
    report(diag::E0220, where, dtypeName(t)).fixit(where, "max_value");
    return Value::poison();
  }
  if (infinite)
    return Value::ofExpr(make<hir::FloatConst>(std::numeric_limits<double>::infinity(), t, l));
  if (t == DType::Bool)
    return Value::ofExpr(make<hir::BoolConst>(high, l));
  unsigned bits = dtypeBits(t);
  if (isInteger(t)) {
    bool isUnsigned = !isSigned(t);
    llvm::APSInt v =
        high ? llvm::APSInt::getMaxValue(bits, isUnsigned) : llvm::APSInt::getMinValue(bits, isUnsigned);
    return Value::ofExpr(make<hir::IntConst>(v, t, l));
  }
  double largest = 0;
  switch (t) {
  case DType::F16:
    largest = 65504;
    break;
  case DType::BF16:
    largest = 0x1.FEp127;
    break;
  case DType::F64:
    largest = std::numeric_limits<double>::max();
    break;
  case DType::E4M3:
    largest = 448;
    break;
  case DType::E5M2:
    largest = 57344;
    break;
  default:
    largest = std::numeric_limits<float>::max();
    break;
  }
  return Value::ofExpr(make<hir::FloatConst>(high ? largest : -largest, t, l));
}

Value Elaborator::callRange(const ast::CallExpr *e, const BoundArgs &args) {
  llvm::SmallVector<Value, 3> bounds;
  for (const ast::Argument *a : args.rest) {
    Value v = eval(a->value);
    if (v.isPoison())
      return v;
    if (!v.isInt()) {
      report(diag::E0218, a->value->getRange(), "range", "compile-time ints here", describe(v));
      return Value::poison();
    }
    bounds.push_back(v);
  }
  if (bounds.empty() || bounds.size() > 3) {
    report(diag::E0215, callName(e), "range", "one to three bounds", std::to_string(bounds.size()));
    return Value::poison();
  }
  Value zero = Value::ofInt(0), one = Value::ofInt(1);
  if (bounds.size() == 1)
    return constEval.range(zero, bounds[0], one, callName(e));
  return constEval.range(bounds[0], bounds[1], bounds.size() == 3 ? bounds[2] : one, callName(e));
}

/// The launch variable of an axis; 0 past the grid's rank.
Value Elaborator::programId(const ast::CallExpr *e, const BoundArgs &args) {
  int64_t axis = 0;
  if (args.named[0]) {
    auto n = intArgument(args.named[0], "axis", 0, 2);
    if (!n)
      return Value::poison();
    axis = *n;
  }
  if (static_cast<size_t>(axis) < launch->blockIds.size())
    return Value::ofExpr(objRef(launch->blockIds[axis], callName(e)));
  return Value::ofExpr(intConst(0, DType::I64, loc(callName(e))));
}

Value Elaborator::callMath(const BuiltinInfo &info, const ast::CallExpr *e, const BoundArgs &args) {
  llvm::SmallVector<Value, 3> values;
  for (const ast::Argument *a : args.named) {
    if (!a)
      continue;
    Value v = eval(a->value);
    if (!needNumber(v, a->value, ("`" + info.name + "`").str()))
      return Value::poison();
    values.push_back(v);
  }
  return math(mathFunctions[info.sub], values, callName(e));
}

static constexpr ast::BinaryOp operatorNames[] = {
    ast::BinaryOp::FloorDiv, ast::BinaryOp::Mod, ast::BinaryOp::FloorDiv, ast::BinaryOp::Mod,
    ast::BinaryOp::And,      ast::BinaryOp::Or,  ast::BinaryOp::Xor,      ast::BinaryOp::Shl,
    ast::BinaryOp::Shr,      ast::BinaryOp::Pow};

Value Elaborator::callScalar(const BuiltinInfo &info, const ast::CallExpr *e) {
  SourceRange where = callName(e);
  BoundArgs args = bindArgs(info, e);
  if (!args.ok)
    return Value::poison();
  auto number = [&](unsigned i) {
    Value v = argument(args, i);
    return needNumber(v, args.named[i]->value, ("`" + info.name + "`").str()) ? v : Value::poison();
  };
  switch (info.kind) {
  case BuiltinKind::ProgramId:
    return programId(e, args);
  case BuiltinKind::Range:
    return callRange(e, args);
  case BuiltinKind::Math:
    return callMath(info, e, args);
  case BuiltinKind::Cast: {
    auto t = evalDType(args.named[1]->value);
    auto sat = boolArgument(args, 2, "sat", true);
    return t && sat ? castCall(e, *t, args.named[0]->value, *sat) : Value::poison();
  }
  case BuiltinKind::Infinity:
  case BuiltinKind::Limit: {
    auto t = evalDType(args.named[0]->value);
    return t ? callLimit(info, *t, where) : Value::poison();
  }
  case BuiltinKind::Select: {
    Value c = argument(args, 0), a = number(1), b = number(2);
    const hir::Expr *condition = toCondition(c, args.named[0]->value);
    return condition ? select(Value::ofExpr(condition), a, b, info.name == "if_then_else", where)
                     : Value::poison();
  }
  case BuiltinKind::MinMax: {
    llvm::SmallVector<Value, 4> values;
    bool sequence = false;
    for (const ast::Argument *a : args.rest) {
      Value v = eval(a->value);
      if (args.rest.size() == 1 && v.isSequence()) {
        sequence = true;
        values.append(v.items->begin(), v.items->end());
      } else if (needNumber(v, a->value, ("`" + info.name + "`").str())) {
        values.push_back(v);
      } else {
        return Value::poison();
      }
    }
    auto nan = boolArgument(args, 1, "nan_propagate", true);
    if (!nan)
      return Value::poison();
    for (const Value &v : values)
      if (!v.isNumber()) {
        report(diag::E0204, where, "numbers for `" + info.name.str() + "`", describe(v));
        return Value::poison();
      }
    if (values.size() < (sequence ? 1 : 2)) {
      report(diag::E0215, where, info.name, "two or more values", std::to_string(values.size()));
      return Value::poison();
    }
    return minMax(info.sub == 1, values, *nan, where);
  }
  case BuiltinKind::Clamp: {
    Value x = number(0), lo = number(1), hi = number(2);
    if (x.isPoison() || lo.isPoison() || hi.isPoison())
      return Value::poison();
    Value atLeast = minMax(true, {x, lo}, true, where);
    return atLeast.isPoison() ? atLeast : minMax(false, {atLeast, hi}, true, where);
  }
  case BuiltinKind::CeilDiv: {
    Value a = number(0), b = number(1);
    if (a.isPoison() || b.isPoison())
      return Value::poison();
    if (a.isConstNumber() && b.isConstNumber())
      return constEval.ceilDiv(a, b, where);
    return typedBinary(hir::BinaryOp::CeilDiv, a, b, where, info.name);
  }
  case BuiltinKind::Operator: {
    Value a = number(0), b = number(1);
    bool truncates = info.sub == 2 || info.sub == 3;
    if (!truncates)
      return binaryOp(operatorNames[info.sub], a, b, args.named[0]->value, args.named[1]->value, where);
    if (a.isPoison() || b.isPoison())
      return Value::poison();
    if (a.isConstNumber() && b.isConstNumber()) { // C's: from the magnitudes' floor division
      a = Value::ofExpr(strong(a, where));
      if (!a.expr)
        return Value::poison();
    }
    return typedBinary(info.sub == 2 ? hir::BinaryOp::TruncDiv : hir::BinaryOp::TruncMod, a, b, where,
                       info.name);
  }
  case BuiltinKind::BitNot:
    return unary(ast::UnaryOp::Invert, number(0), args.named[0]->value, where);
  case BuiltinKind::Len: {
    Value v = argument(args, 0);
    if (v.isSequence())
      return Value::ofInt(static_cast<int64_t>(v.items->size()));
    if (v.kind == Value::String)
      return Value::ofInt(static_cast<int64_t>(v.text->size()));
    if (v.kind == Value::Object && v.object->kind != hir::Object::Pointer && rankOf(v.object) > 0) {
      if (auto n = staticDim(v.object, 0))
        return Value::ofInt(*n);
      return dimension(v.tensor(), 0, where);
    }
    if (!v.isPoison())
      report(diag::E0204, where, "a sequence for `len`", describe(v));
    return Value::poison();
  }
  case BuiltinKind::Abs: {
    Value v = shareable(number(0), where);
    if (v.isConstNumber()) {
      bool negative = v.kind == Value::Float ? std::signbit(v.number) : v.isInt() && v.integer.isNegative();
      return negative ? constEval.unary(ast::UnaryOp::Neg, v, where)
                      : constEval.unary(ast::UnaryOp::Pos, v, where);
    }
    if (v.isExpr() && isInteger(v.expr->type)) {
      if (!isSigned(v.expr->type))
        return v;
      return Value::ofExpr(binary(hir::BinaryOp::Max, v.expr, negate(v.expr, loc(where)), loc(where)),
                           v.weak);
    }
    return v.isPoison() ? v : math(hir::MathFn::Abs, v, where);
  }
  case BuiltinKind::IsFinite: {
    Value v = shareable(number(0), where);
    if (v.isPoison())
      return v;
    Value nan = math(hir::MathFn::IsNan, v, where), inf = math(hir::MathFn::IsInf, v, where);
    if (nan.isPoison() || inf.isPoison())
      return Value::poison();
    auto *either = make<hir::Logical>(false, nan.expr, inf.expr, loc(where));
    return Value::ofExpr(make<hir::Unary>(hir::UnaryOp::Not, either, DType::Bool, loc(where)));
  }
  default:
    report(diag::E0120, where, "`" + info.name.str() + "`", "in an expression");
    return Value::poison();
  }
}
