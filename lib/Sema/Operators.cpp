//===- Operators.cpp - operators and math on run-time values --------------------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;
using hir::BinaryOp;

/// A tile where a number is needed (rule 39): the loop variables of the Parallel loop are the likely indices.
bool Elaborator::needNumber(const Value &v, const ast::Expr *e, llvm::StringRef what) {
  if (v.isPoison())
    return false;
  if (v.isNumber())
    return true;
  SourceRange where = e->getRange();
  if (v.kind == Value::Object && v.object->kind != hir::Object::Pointer) {
    Report r = report(diag::E0209, where, v.object->name, objectShape(v.object));
    if (parallel && parallel->vars.size() == rankOf(v.object)) {
      std::string indices;
      for (const hir::VarObj *var : parallel->vars)
        indices += (indices.empty() ? "[" : ", ") + var->name;
      r.fixit(where.atEnd(), indices + "]");
    }
    return false;
  }
  report(diag::E0204, where, "a number for " + what.str(), describe(v));
  return false;
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

Value Elaborator::unary(ast::UnaryOp op, const Value &v, const ast::Expr *operand, SourceRange where) {
  if (v.isPoison())
    return v;
  if (!v.isExpr() && v.kind != Value::Object)
    return constEval.unary(op, v, where);
  if (!needNumber(v, operand, ("`" + ast::spelling(op) + "`").str()))
    return Value::poison();
  DType t = v.expr->type;
  hir::Loc l = loc(where);
  if (op == ast::UnaryOp::Not) {
    const hir::Expr *c = toCondition(v, operand);
    return c ? Value::ofExpr(make<hir::Unary>(hir::UnaryOp::Not, c, DType::Bool, l)) : Value::poison();
  }
  if (op == ast::UnaryOp::Invert) {
    if (isFloat(t)) {
      report(diag::E0203, where, "~", dtypeName(t), "it takes integers and bools");
      return Value::poison();
    }
    hir::UnaryOp invert = t == DType::Bool ? hir::UnaryOp::Not : hir::UnaryOp::BitNot;
    return Value::ofExpr(make<hir::Unary>(invert, v.expr, t, l), v.weak);
  }
  if (t == DType::Bool || isNarrowFloat(t)) {
    report(diag::E0203, where, ast::spelling(op), dtypeName(t),
           t == DType::Bool ? "a bool is no number" : "cast it to float32 first");
    return Value::poison();
  }
  return op == ast::UnaryOp::Pos ? v : Value::ofExpr(negate(v.expr, l), v.weak);
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

static bool isBitwise(BinaryOp op) {
  return op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor;
}

static bool isIntegerOnly(BinaryOp op) {
  return isBitwise(op) || op == BinaryOp::Shl || op == BinaryOp::Shr || op == BinaryOp::CeilDiv ||
         op == BinaryOp::TruncDiv || op == BinaryOp::TruncMod;
}

static bool isDivision(BinaryOp op) {
  return op == BinaryOp::FloorDiv || op == BinaryOp::Mod || op == BinaryOp::CeilDiv ||
         op == BinaryOp::TruncDiv || op == BinaryOp::TruncMod;
}

bool Elaborator::checkDivisor(const hir::Expr *b, SourceRange where) {
  if (!isInteger(b->type) || constantOf(b) != 0)
    return true;
  report(diag::E0206, where, "the divisor is zero");
  return false;
}

/// Why `op` does not take operands of type t; "" when it does.
static const char *refusal(BinaryOp op, DType t) {
  if (t == DType::Bool)
    return isBitwise(op) ? "" : "a bool is no number; write `1 if c else 0`";
  if (isNarrowFloat(t))
    return op == BinaryOp::Min || op == BinaryOp::Max || op == BinaryOp::MinNum || op == BinaryOp::MaxNum
               ? ""
               : "cast first: fp8 values are only copied, cast, compared and multiplied by gemm";
  if (isFloat(t) && isIntegerOnly(op))
    return "it takes integers";
  return "";
}

Value Elaborator::typedBinary(BinaryOp op, const Value &a, const Value &b, SourceRange where,
                              llvm::StringRef spelled) {
  Weak weak = Weak::No;
  auto t = common(a, b, where, spelled, weak);
  if (!t)
    return Value::poison();
  if (const char *why = refusal(op, *t); *why) {
    report(diag::E0203, where, spelled, dtypeName(*t), why);
    return Value::poison();
  }
  const hir::Expr *x = convert(a, *t, where), *y = x ? convert(b, *t, where) : nullptr;
  if (!y || (isDivision(op) && !checkDivisor(y, where)))
    return Value::poison();
  if (op == BinaryOp::Shl || op == BinaryOp::Shr) {
    auto count = constantOf(y);
    if (count && (*count < 0 || *count >= dtypeBits(*t))) {
      report(diag::E0206, where,
             "the shift count " + std::to_string(*count) + " is outside 0 to " +
                 std::to_string(dtypeBits(*t) - 1));
      return Value::poison();
    }
  }
  return Value::ofExpr(binary(op, x, y, loc(where)), weak);
}

/// `/` is a division of floats: float32 for two integers.
Value Elaborator::divide(const Value &a, const Value &b, SourceRange where) {
  Weak weak = Weak::No;
  auto t = common(a, b, where, "/", weak);
  if (!t)
    return Value::poison();
  if (isInteger(*t)) {
    t = DType::F32;
    weak = weak == Weak::No ? Weak::No : Weak::Float;
  }
  if (const char *why = refusal(BinaryOp::Div, *t); *why) {
    report(diag::E0203, where, "/", dtypeName(*t), why);
    return Value::poison();
  }
  if (b.isInt() && b.integer.isZero() && !(a.isExpr() && isFloat(a.expr->type))) {
    report(diag::E0206, where, "the divisor is zero");
    return Value::poison();
  }
  const hir::Expr *x = convert(a, *t, where), *y = x ? convert(b, *t, where) : nullptr;
  return y ? Value::ofExpr(binary(BinaryOp::Div, x, y, loc(where)), weak) : Value::poison();
}

static const hir::Expr *multiplied(hir::Program &program, const hir::Expr *base, uint64_t n, hir::Loc l) {
  const hir::Expr *result = nullptr;
  for (; n; n >>= 1) {
    if (n & 1)
      result = result ? program.make<hir::Binary>(BinaryOp::Mul, result, base, base->type, l) : base;
    if (n > 1)
      base = program.make<hir::Binary>(BinaryOp::Mul, base, base, base->type, l);
  }
  return result;
}

/// A compile-time integer exponent multiplies; half precision computes in float32 and rounds once.
Value Elaborator::power(const Value &a, const Value &b, SourceRange where) {
  constexpr int64_t maxMultiplied = 64;
  Weak weak = Weak::No;
  auto t = common(a, b.isInt() ? Value::ofInt(1) : b, where, "**", weak);
  if (!t)
    return Value::poison();
  auto refuse = [&](const char *why) {
    report(diag::E0203, where, "**", dtypeName(*t), why);
    return Value::poison();
  };
  if (const char *why = refusal(BinaryOp::Pow, *t); *why)
    return refuse(why);
  auto n = b.asInt64();
  bool multiplies = n && *n >= -maxMultiplied && *n <= maxMultiplied;
  DType compute = *t == DType::F16 || *t == DType::BF16 ? DType::F32 : *t;
  if (isInteger(*t)) {
    if (!multiplies)
      return refuse("an integer takes a compile-time exponent from -64 to 64; use a shift or exp2");
    if (*n < 0)
      compute = *t = DType::F32;
  }
  hir::Loc l = loc(where);
  const hir::Expr *base = convert(multiplies ? shareable(a, where) : a, compute, where);
  if (!base)
    return Value::poison();
  const hir::Expr *result;
  if (multiplies) {
    const hir::Expr *one = convert(Value::ofInt(1), compute, where);
    result = *n == 0 ? one : multiplied(*ctx.program, base, *n < 0 ? -*n : *n, l);
    if (*n < 0)
      result = binary(BinaryOp::Div, one, result, l);
  } else {
    const hir::Expr *exponent = convert(b, compute, where);
    if (!exponent)
      return Value::poison();
    result = binary(BinaryOp::Pow, base, exponent, l);
  }
  return Value::ofExpr(cast(result, *t, true, l), weak);
}

static BinaryOp hirOp(ast::BinaryOp op) {
  switch (op) {
  case ast::BinaryOp::Sub:
    return BinaryOp::Sub;
  case ast::BinaryOp::Mul:
    return BinaryOp::Mul;
  case ast::BinaryOp::FloorDiv:
    return BinaryOp::FloorDiv;
  case ast::BinaryOp::Mod:
    return BinaryOp::Mod;
  case ast::BinaryOp::Shl:
    return BinaryOp::Shl;
  case ast::BinaryOp::Shr:
    return BinaryOp::Shr;
  case ast::BinaryOp::And:
    return BinaryOp::BitAnd;
  case ast::BinaryOp::Or:
    return BinaryOp::BitOr;
  case ast::BinaryOp::Xor:
    return BinaryOp::BitXor;
  default:
    return BinaryOp::Add;
  }
}

Value Elaborator::arithmetic(ast::BinaryOp op, const Value &a, const Value &b, SourceRange where) {
  switch (op) {
  case ast::BinaryOp::Div:
    return divide(a, b, where);
  case ast::BinaryOp::Pow:
    return power(a, b, where);
  default:
    return typedBinary(hirOp(op), a, b, where, ast::spelling(op));
  }
}

Value Elaborator::binaryOp(ast::BinaryOp op, Value a, Value b, const ast::Expr *l, const ast::Expr *r,
                           SourceRange where) {
  if (a.isPoison() || b.isPoison())
    return Value::poison();
  if (op == ast::BinaryOp::MatMul) {
    report(diag::E0530, where, "`@`", "use gemm(a, b, c)");
    return Value::poison();
  }
  bool runtime = a.isExpr() || b.isExpr() || a.kind == Value::Object || b.kind == Value::Object;
  if (!runtime || a.isSequence() || b.isSequence())
    return constEval.binary(op, a, b, where);
  std::string what = ("`" + ast::spelling(op) + "`").str();
  bool ok = needNumber(a, l, what);
  ok &= needNumber(b, r, what);
  return ok ? arithmetic(op, a, b, where) : Value::poison();
}

//===----------------------------------------------------------------------===//
// Comparisons and choices
//===----------------------------------------------------------------------===//

static std::optional<hir::CompareOp> hirCompare(ast::CompareOp op) {
  switch (op) {
  case ast::CompareOp::Lt:
    return hir::CompareOp::Lt;
  case ast::CompareOp::Le:
    return hir::CompareOp::Le;
  case ast::CompareOp::Gt:
    return hir::CompareOp::Gt;
  case ast::CompareOp::Ge:
    return hir::CompareOp::Ge;
  case ast::CompareOp::Eq:
    return hir::CompareOp::Eq;
  case ast::CompareOp::Ne:
    return hir::CompareOp::Ne;
  default:
    return std::nullopt;
  }
}

Value Elaborator::compareOp(ast::CompareOp op, const Value &a, const Value &b, SourceRange where) {
  if (a.isPoison() || b.isPoison())
    return Value::poison();
  if (!a.isExpr() && !b.isExpr())
    return constEval.compare(op, a, b, where);
  auto hirOp = hirCompare(op);
  if (!hirOp || !a.isNumber() || !b.isNumber()) {
    report(diag::E0301, where, ast::spelling(op), describe(a), describe(b));
    return Value::poison();
  }
  Weak weak = Weak::No;
  auto t = common(a, b, where, ast::spelling(op), weak);
  if (!t)
    return Value::poison();
  if (*t == DType::Bool && op != ast::CompareOp::Eq && op != ast::CompareOp::Ne) {
    report(diag::E0203, where, ast::spelling(op), "bool", "bools have no order");
    return Value::poison();
  }
  const hir::Expr *x = convert(a, *t, where), *y = x ? convert(b, *t, where) : nullptr;
  return y ? Value::ofExpr(make<hir::Compare>(*hirOp, x, y, loc(where))) : Value::poison();
}

Value Elaborator::select(const Value &c, const Value &a, const Value &b, bool lazy, SourceRange where) {
  if (c.isPoison() || a.isPoison() || b.isPoison())
    return Value::poison();
  if (!a.isNumber() || !b.isNumber()) {
    report(diag::E0204, where, "numbers on both sides of a run-time choice", describe(a.isNumber() ? b : a));
    return Value::poison();
  }
  Weak weak = Weak::No;
  auto t = common(a, b, where, lazy ? "if else" : "Select", weak);
  if (!t)
    return Value::poison();
  const hir::Expr *x = convert(a, *t, where), *y = x ? convert(b, *t, where) : nullptr;
  if (!y)
    return Value::poison();
  // A choice between literals has a type of its own; one that involves an unsettled local waits for it.
  bool unsettled = weak != Weak::No && (a.isExpr() || b.isExpr());
  return Value::ofExpr(make<hir::Select>(c.expr, x, y, lazy, loc(where)), unsettled ? weak : Weak::No);
}

Value Elaborator::minMax(bool isMax, llvm::ArrayRef<Value> values, bool nan, SourceRange where) {
  bool allConst = true;
  for (const Value &v : values)
    allConst &= v.isConstNumber();
  Value result = values[0];
  for (const Value &v : values.drop_front()) {
    if (allConst) {
      auto order = compareNumbers(v, result);
      if (order && (isMax ? *order > 0 : *order < 0))
        result = v;
      continue;
    }
    BinaryOp op = isMax ? (nan ? BinaryOp::Max : BinaryOp::MaxNum) : (nan ? BinaryOp::Min : BinaryOp::MinNum);
    bool integers = (result.isInt() || (result.isExpr() && isInteger(result.expr->type))) &&
                    (v.isInt() || (v.isExpr() && isInteger(v.expr->type)));
    if (integers)
      op = isMax ? BinaryOp::Max : BinaryOp::Min;
    result = typedBinary(op, result, v, where, isMax ? "max" : "min");
    if (result.isPoison())
      return result;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Math functions
//===----------------------------------------------------------------------===//

Value Elaborator::math(hir::MathFn fn, llvm::ArrayRef<Value> args, SourceRange where) {
  Value first = args[0];
  DType t = DType::F32;
  Weak weak = Weak::No;
  for (const Value &v : args) {
    auto met = common(first, v, where, "fma", weak);
    if (!met)
      return Value::poison();
    t = *met;
    first = v.isExpr() && v.expr->type == t ? v : first;
  }
  if (t == DType::Bool || (isNarrowFloat(t) && fn != hir::MathFn::IsNan && fn != hir::MathFn::IsInf)) {
    report(diag::E0203, where, "a math function", dtypeName(t),
           t == DType::Bool ? "a bool is no number" : "cast it to float32 first");
    return Value::poison();
  }
  if (isInteger(t))
    t = DType::F32;
  DType compute = t == DType::F64 ? t : DType::F32;
  hir::Loc l = loc(where);
  llvm::SmallVector<const hir::Expr *, 3> operands;
  for (const Value &v : args) {
    const hir::Expr *x = convert(v, t, where);
    if (!x)
      return Value::poison();
    operands.push_back(cast(x, compute, true, l));
  }
  bool test = fn == hir::MathFn::IsNan || fn == hir::MathFn::IsInf;
  if (test)
    return Value::ofExpr(make<hir::Math>(fn, operands, DType::Bool, l));
  return Value::ofExpr(cast(make<hir::Math>(fn, operands, compute, l), t, true, l));
}
