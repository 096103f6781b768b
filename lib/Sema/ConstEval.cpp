//===- ConstEval.cpp - operators on compile-time values -------------------------------===//

#include "ConstEval.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>

using namespace tilec;
using namespace tilec::sema;
using llvm::APFloat;
using llvm::APInt;
using llvm::APSInt;

static constexpr unsigned maxBits = ast::IntLiteral::maxIntBits;
static constexpr uint64_t maxItems = 100000; // of one sequence

static APSInt signedInt(APInt v) { return APSInt(std::move(v), /*isUnsigned=*/false); }

/// Python's bool is an int.
static APSInt integerOf(const Value &v) {
  if (v.kind == Value::Bool)
    return signedInt(APInt(64, v.boolean));
  return v.integer;
}

static void widen(APSInt &a, APSInt &b, unsigned extra) {
  unsigned width = std::max(a.getSignificantBits(), b.getSignificantBits()) + extra;
  width = std::max(width, 64u);
  a = a.extOrTrunc(width);
  b = b.extOrTrunc(width);
}

bool ConstEval::step(SourceRange where, uint64_t n) {
  if (budget.exhausted)
    return false;
  budget.steps = static_cast<unsigned>(std::min<uint64_t>(budget.steps + n, UINT32_MAX));
  if (budget.steps <= Budget::maxSteps)
    return true;
  budget.exhausted = true;
  sink.report(diag::E0306, where, "steps of compile-time evaluation", Budget::maxSteps);
  return false;
}

Value ConstEval::checked(APSInt v, SourceRange where) {
  unsigned bits = v.getSignificantBits();
  if (bits > maxBits + 1) {
    sink.report(diag::E0303, where, bits, maxBits);
    return Value::poison();
  }
  return Value::ofInt(v.extOrTrunc(std::max(bits, 64u)));
}

static bool fitsDouble(const APSInt &v) { return v.getSignificantBits() <= 1024; }

std::optional<double> ConstEval::toDouble(const Value &v, SourceRange where) {
  if (v.kind == Value::Float)
    return v.number;
  APSInt i = integerOf(v);
  if (fitsDouble(i)) {
    APFloat f(APFloat::IEEEdouble());
    f.convertFromAPInt(i, /*IsSigned=*/true, APFloat::rmNearestTiesToEven);
    if (!f.isInfinity())
      return f.convertToDouble();
  }
  sink.report(diag::E0304, where, "the integer " + intText(i) + " is too large for a float");
  return std::nullopt;
}

Value ConstEval::unsupported(llvm::StringRef op, const Value &a, const Value &b, SourceRange where) {
  if (!a.isPoison() && !b.isPoison())
    sink.report(diag::E0301, where, op, describe(a), describe(b));
  return Value::poison();
}

//===----------------------------------------------------------------------===//
// Unary operators
//===----------------------------------------------------------------------===//

Value ConstEval::unary(ast::UnaryOp op, const Value &v, SourceRange where) {
  if (v.isPoison() || !step(where))
    return Value::poison();
  if (op == ast::UnaryOp::Not)
    return Value::ofBool(!truth(v));
  if (v.kind == Value::Float && op != ast::UnaryOp::Invert)
    return Value::ofFloat(op == ast::UnaryOp::Neg ? -v.number : v.number);
  if (v.kind == Value::Int || v.kind == Value::Bool) {
    APSInt i = integerOf(v);
    if (op == ast::UnaryOp::Pos)
      return Value::ofInt(i);
    i = i.extend(i.getBitWidth() + 1);
    return checked(signedInt(op == ast::UnaryOp::Neg ? -static_cast<APInt &>(i) : ~static_cast<APInt &>(i)),
                   where);
  }
  sink.report(diag::E0302, where, ast::spelling(op), describe(v));
  return Value::poison();
}

//===----------------------------------------------------------------------===//
// Binary operators
//===----------------------------------------------------------------------===//

static void floorDivide(APSInt a, APSInt b, APSInt &quotient, APSInt &remainder) {
  widen(a, b, 1);
  APInt q, r;
  APInt::sdivrem(a, b, q, r);
  if (!r.isZero() && r.isNegative() != b.isNegative()) {
    r += b;
    q -= 1;
  }
  quotient = signedInt(q);
  remainder = signedInt(r);
}

/// a / b rounded once: the quotient is taken with two bits more than a double holds, and a sticky bit.
static std::optional<double> trueDivide(const APSInt &a, const APSInt &b) {
  bool negative = a.isNegative() != b.isNegative() && !a.isZero();
  APInt x = a.extend(a.getBitWidth() + 1).abs(), y = b.extend(b.getBitWidth() + 1).abs();
  if (x.isZero())
    return 0.0;
  int shift = 66 - (static_cast<int>(x.getActiveBits()) - static_cast<int>(y.getActiveBits()));
  unsigned width = std::max(x.getActiveBits(), y.getActiveBits()) + std::abs(shift) + 72;
  x = x.zextOrTrunc(width);
  y = y.zextOrTrunc(width);
  if (shift > 0)
    x <<= shift;
  else
    y <<= -shift;
  APInt q, r;
  APInt::udivrem(x, y, q, r);
  if (!r.isZero())
    q |= 1; // 66 or 67 bits: the sticky bit lies below the rounding position
  // A wide format holds q exactly, so the only rounding is the last one, subnormals included.
  APFloat f(APFloat::IEEEquad());
  f.convertFromAPInt(q, false, APFloat::rmNearestTiesToEven);
  f = scalbn(f, -shift, APFloat::rmNearestTiesToEven);
  bool lost = false;
  f.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  if (f.isInfinity())
    return std::nullopt;
  return negative ? -f.convertToDouble() : f.convertToDouble();
}

Value ConstEval::intShift(bool left, const APSInt &a, const APSInt &b, SourceRange where) {
  if (b.isNegative()) {
    sink.report(diag::E0304, where, "negative shift count " + intText(b));
    return Value::poison();
  }
  if (a.isZero())
    return Value::ofInt(0);
  bool huge = b.getActiveBits() > 13;
  unsigned count = huge ? 8192 : static_cast<unsigned>(b.getZExtValue());
  if (!left) {
    unsigned amount = std::min(count, a.getBitWidth() - 1);
    return checked(signedInt(a.ashr(amount)), where);
  }
  unsigned width = a.getBitWidth() + count + 1;
  return checked(signedInt(a.sext(width).shl(count)), where);
}

Value ConstEval::intPower(const APSInt &a, const APSInt &b, SourceRange where) {
  if (b.isNegative()) {
    if (a.isZero()) {
      sink.report(diag::E0304, where, "0 to a negative power");
      return Value::poison();
    }
    auto x = toDouble(Value::ofInt(a), where), y = toDouble(Value::ofInt(b), where);
    return x && y ? Value::ofFloat(std::pow(*x, *y)) : Value::poison();
  }
  APInt magnitude = a.extend(a.getBitWidth() + 1).abs();
  if (magnitude.ule(1)) { // 0, 1, -1
    if (b.isZero() || magnitude.isOne())
      return Value::ofInt(a.isNegative() && b[0] ? -1 : 1);
    return Value::ofInt(0);
  }
  uint64_t exponent = b.getActiveBits() > 13 ? 8192 : b.getZExtValue();
  uint64_t bits = (magnitude.getActiveBits() - 1) * exponent;
  if (bits > maxBits) {
    sink.report(diag::E0303, where, bits, maxBits);
    return Value::poison();
  }
  unsigned width = magnitude.getActiveBits() * exponent + 2;
  APInt result(width, 1), base = a.sextOrTrunc(width);
  if (!step(where, 1 + exponent / 8))
    return Value::poison();
  for (uint64_t e = exponent; e; e >>= 1) {
    if (e & 1)
      result *= base;
    base *= base;
  }
  return checked(signedInt(result), where);
}

Value ConstEval::intBinary(ast::BinaryOp op, const APSInt &x, const APSInt &y, SourceRange where) {
  using Op = ast::BinaryOp;
  APSInt a = x, b = y;
  switch (op) {
  case Op::Div:
  case Op::FloorDiv:
  case Op::Mod: {
    if (b.isZero()) {
      sink.report(diag::E0304, where, "division by zero");
      return Value::poison();
    }
    if (op == Op::Div) {
      if (auto q = trueDivide(a, b))
        return Value::ofFloat(*q);
      sink.report(diag::E0304, where, "the quotient is too large for a float");
      return Value::poison();
    }
    APSInt q, r;
    floorDivide(a, b, q, r);
    return checked(op == Op::FloorDiv ? q : r, where);
  }
  case Op::Pow:
    return intPower(a, b, where);
  case Op::Shl:
  case Op::Shr:
    return intShift(op == Op::Shl, a, b, where);
  case Op::Mul: {
    unsigned width = a.getSignificantBits() + b.getSignificantBits();
    return checked(signedInt(a.sextOrTrunc(width) * b.sextOrTrunc(width)), where);
  }
  default:
    break;
  }
  widen(a, b, 1);
  const APInt &l = a, &r = b;
  switch (op) {
  case Op::Add:
    return checked(signedInt(l + r), where);
  case Op::Sub:
    return checked(signedInt(l - r), where);
  case Op::And:
    return checked(signedInt(l & r), where);
  case Op::Or:
    return checked(signedInt(l | r), where);
  case Op::Xor:
    return checked(signedInt(l ^ r), where);
  default:
    return unsupported(ast::spelling(op), Value::ofInt(x), Value::ofInt(y), where);
  }
}

/// CPython's float divmod.
static void floatDivmod(double a, double b, double &quotient, double &remainder) {
  double mod = std::fmod(a, b);
  double div = (a - mod) / b;
  if (mod != 0) {
    if ((b < 0) != (mod < 0)) {
      mod += b;
      div -= 1.0;
    }
  } else {
    mod = std::copysign(0.0, b);
  }
  double floored = std::floor(div);
  if (div != 0) {
    if (div - floored > 0.5)
      floored += 1.0;
  } else {
    floored = std::copysign(0.0, a / b);
  }
  quotient = floored;
  remainder = mod;
}

Value ConstEval::floatBinary(ast::BinaryOp op, double a, double b, SourceRange where) {
  using Op = ast::BinaryOp;
  double q, r;
  switch (op) {
  case Op::Add:
    return Value::ofFloat(a + b);
  case Op::Sub:
    return Value::ofFloat(a - b);
  case Op::Mul:
    return Value::ofFloat(a * b);
  case Op::Div:
  case Op::FloorDiv:
  case Op::Mod:
    if (b == 0) {
      sink.report(diag::E0304, where, "division by zero");
      return Value::poison();
    }
    if (op == Op::Div)
      return Value::ofFloat(a / b);
    floatDivmod(a, b, q, r);
    return Value::ofFloat(op == Op::Mod ? r : q);
  case Op::Pow:
    if (a == 0 && b < 0) {
      sink.report(diag::E0304, where, "0 to a negative power");
      return Value::poison();
    }
    if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) {
      sink.report(diag::E0304, where, "a negative number to a fractional power");
      return Value::poison();
    }
    r = std::pow(a, b);
    if (std::isinf(r) && std::isfinite(a) && std::isfinite(b)) {
      sink.report(diag::E0304, where, "the power is too large for a float");
      return Value::poison();
    }
    return Value::ofFloat(r);
  default:
    return unsupported(ast::spelling(op), Value::ofFloat(a), Value::ofFloat(b), where);
  }
}

Value ConstEval::repeat(const Value &sequence, const Value &times, SourceRange where) {
  APSInt n = integerOf(times);
  uint64_t count = n.isNegative() ? 0 : n.getActiveBits() > 32 ? UINT32_MAX : n.getZExtValue();
  uint64_t size = sequence.kind == Value::String ? sequence.text->size() : sequence.items->size();
  if (count * size > maxItems) {
    sink.report(diag::E0306, where, "items of a sequence", maxItems);
    return Value::poison();
  }
  if (!step(where, count * size))
    return Value::poison();
  if (sequence.kind == Value::String) {
    std::string text;
    for (uint64_t i = 0; i < (size ? count : 0); ++i)
      text += *sequence.text;
    return Value::ofString(std::move(text));
  }
  ValueList items;
  for (uint64_t i = 0; i < (size ? count : 0); ++i)
    items.insert(items.end(), sequence.items->begin(), sequence.items->end());
  return Value::ofItems(sequence.kind, std::move(items));
}

Value ConstEval::sequenceBinary(ast::BinaryOp op, const Value &a, const Value &b, SourceRange where) {
  bool aSeq = a.isSequence() || a.kind == Value::String, bSeq = b.isSequence() || b.kind == Value::String;
  bool aInt = a.kind == Value::Int || a.kind == Value::Bool,
       bInt = b.kind == Value::Int || b.kind == Value::Bool;
  if (op == ast::BinaryOp::Mul && aSeq && bInt)
    return repeat(a, b, where);
  if (op == ast::BinaryOp::Mul && aInt && bSeq)
    return repeat(b, a, where);
  if (op != ast::BinaryOp::Add || a.kind != b.kind)
    return unsupported(ast::spelling(op), a, b, where);
  if (a.kind == Value::String) {
    uint64_t length = a.text->size() + b.text->size();
    return step(where, length / 8) ? Value::ofString(*a.text + *b.text) : Value::poison();
  }
  uint64_t size = a.items->size() + b.items->size();
  if (size > maxItems) {
    sink.report(diag::E0306, where, "items of a sequence", maxItems);
    return Value::poison();
  }
  if (!step(where, size))
    return Value::poison();
  ValueList items(*a.items);
  items.insert(items.end(), b.items->begin(), b.items->end());
  return Value::ofItems(a.kind, std::move(items));
}

Value ConstEval::binary(ast::BinaryOp op, const Value &a, const Value &b, SourceRange where) {
  if (a.isPoison() || b.isPoison() || !step(where))
    return Value::poison();
  if (!a.isConstNumber() || !b.isConstNumber()) {
    bool sequence = a.isSequence() || a.kind == Value::String || b.isSequence() || b.kind == Value::String;
    return sequence ? sequenceBinary(op, a, b, where) : unsupported(ast::spelling(op), a, b, where);
  }
  if (a.kind == Value::Bool && b.kind == Value::Bool) {
    if (op == ast::BinaryOp::And)
      return Value::ofBool(a.boolean & b.boolean);
    if (op == ast::BinaryOp::Or)
      return Value::ofBool(a.boolean | b.boolean);
    if (op == ast::BinaryOp::Xor)
      return Value::ofBool(a.boolean ^ b.boolean);
  }
  if (a.kind != Value::Float && b.kind != Value::Float)
    return intBinary(op, integerOf(a), integerOf(b), where);
  auto x = toDouble(a, where), y = x ? toDouble(b, where) : std::nullopt;
  return x && y ? floatBinary(op, *x, *y, where) : Value::poison();
}

Value ConstEval::ceilDiv(const Value &a, const Value &b, SourceRange where) {
  Value negated = unary(ast::UnaryOp::Neg, a, where);
  return unary(ast::UnaryOp::Neg, binary(ast::BinaryOp::FloorDiv, negated, b, where), where);
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// Exact: an integer is never rounded to compare it with a float.
static std::optional<int> compareIntFloat(const APSInt &i, double f) {
  if (std::isnan(f))
    return std::nullopt;
  if (std::isinf(f))
    return f > 0 ? -1 : 1;
  APSInt whole(1200, /*isUnsigned=*/false);
  bool exact = false;
  double floored = std::floor(f);
  APFloat(floored).convertToInteger(whole, APFloat::rmTowardZero, &exact);
  int order = APSInt::compareValues(i, whole);
  return order == 0 && floored < f ? -1 : order;
}

std::optional<int> tilec::sema::compareNumbers(const Value &a, const Value &b) {
  bool aFloat = a.kind == Value::Float, bFloat = b.kind == Value::Float;
  if (aFloat && bFloat) {
    if (std::isnan(a.number) || std::isnan(b.number))
      return std::nullopt;
    return a.number < b.number ? -1 : a.number > b.number;
  }
  if (bFloat)
    return compareIntFloat(integerOf(a), b.number);
  if (aFloat) {
    auto order = compareIntFloat(integerOf(b), a.number);
    return order ? std::optional<int>(-*order) : std::nullopt;
  }
  return APSInt::compareValues(integerOf(a), integerOf(b));
}

static bool equalValues(const Value &a, const Value &b) {
  if (a.isConstNumber() && b.isConstNumber())
    return compareNumbers(a, b) == 0;
  if (a.isSequence() && a.kind == b.kind) {
    if (a.items->size() != b.items->size())
      return false;
    for (size_t i = 0; i < a.items->size(); ++i)
      if (!equalValues((*a.items)[i], (*b.items)[i]))
        return false;
    return true;
  }
  return identical(a, b);
}

static bool holds(ast::CompareOp op, int order) {
  switch (op) {
  case ast::CompareOp::Lt:
    return order < 0;
  case ast::CompareOp::Le:
    return order <= 0;
  case ast::CompareOp::Gt:
    return order > 0;
  case ast::CompareOp::Ge:
    return order >= 0;
  default:
    return false;
  }
}

Value ConstEval::contains(const Value &item, const Value &sequence, bool negate, SourceRange where) {
  if (sequence.kind == Value::String && item.kind == Value::String)
    return Value::ofBool((sequence.text->find(*item.text) != std::string::npos) != negate);
  if (!sequence.isSequence())
    return unsupported(negate ? "not in" : "in", item, sequence, where);
  if (!step(where, sequence.items->size()))
    return Value::poison();
  bool found = false;
  for (const Value &v : *sequence.items)
    found |= equalValues(item, v);
  return Value::ofBool(found != negate);
}

Value ConstEval::compare(ast::CompareOp op, const Value &a, const Value &b, SourceRange where) {
  using Op = ast::CompareOp;
  if (a.isPoison() || b.isPoison() || !step(where))
    return Value::poison();
  switch (op) {
  case Op::Eq:
    return Value::ofBool(equalValues(a, b));
  case Op::Ne:
    return Value::ofBool(!equalValues(a, b));
  case Op::In:
  case Op::NotIn:
    return contains(a, b, op == Op::NotIn, where);
  case Op::Is:
    return Value::ofBool(identical(a, b));
  case Op::IsNot:
    return Value::ofBool(!identical(a, b));
  default:
    break;
  }
  if (a.isConstNumber() && b.isConstNumber()) {
    auto order = compareNumbers(a, b);
    return Value::ofBool(order && holds(op, *order));
  }
  if (a.kind == Value::String && b.kind == Value::String)
    return Value::ofBool(holds(op, a.text->compare(*b.text)));
  if (a.isSequence() && a.kind == b.kind) {
    size_t n = std::min(a.items->size(), b.items->size());
    for (size_t i = 0; i < n; ++i)
      if (!equalValues((*a.items)[i], (*b.items)[i]))
        return compare(op, (*a.items)[i], (*b.items)[i], where);
    return Value::ofBool(
        holds(op, a.items->size() < b.items->size() ? -1 : a.items->size() > b.items->size()));
  }
  return unsupported(ast::spelling(op), a, b, where);
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

static uint64_t sizeOf(const Value &v) { return v.kind == Value::String ? v.text->size() : v.items->size(); }

Value ConstEval::index(const Value &base, const Value &index, SourceRange where) {
  if (base.isPoison() || index.isPoison() || !step(where))
    return Value::poison();
  if (index.kind != Value::Int && index.kind != Value::Bool) {
    sink.report(diag::E0305, where, describe(index), describe(base));
    return Value::poison();
  }
  int64_t size = sizeOf(base);
  APSInt i = integerOf(index);
  int64_t at = i.isSignedIntN(64) ? i.getSExtValue() : INT64_MAX;
  if (at < 0 && at >= -size)
    at += size;
  if (at < 0 || at >= size) {
    sink.report(diag::E0304, where,
                "index " + intText(i) + " is outside a sequence of " + std::to_string(size));
    return Value::poison();
  }
  if (base.kind == Value::String)
    return Value::ofString(std::string(1, (*base.text)[at]));
  return (*base.items)[at];
}

Value ConstEval::slice(const Value &base, const Value *lower, const Value *upper, const Value *stride,
                       SourceRange where) {
  if (base.isPoison())
    return base;
  int64_t size = sizeOf(base);
  auto bound = [&](const Value *v, int64_t otherwise) -> std::optional<int64_t> {
    if (!v || v->kind == Value::None)
      return otherwise;
    if (v->kind != Value::Int)
      return std::nullopt;
    int64_t at = v->integer.isSignedIntN(64) ? v->integer.getSExtValue()
                 : v->integer.isNegative()   ? INT64_MIN
                                             : INT64_MAX;
    return at;
  };
  auto by = bound(stride, 1);
  if (!by || *by == 0) {
    sink.report(diag::E0304, where, "a slice needs integer bounds and a step other than 0");
    return Value::poison();
  }
  auto clip = [&](int64_t at) {
    if (at < 0)
      at = at < -size ? -1 : at + size;
    int64_t low = *by < 0 ? -1 : 0, high = *by < 0 ? size - 1 : size;
    return std::clamp(at, low, high);
  };
  auto from = bound(lower, *by < 0 ? size - 1 : 0), to = bound(upper, size);
  if (!from || !to) {
    sink.report(diag::E0304, where, "a slice needs integer bounds and a step other than 0");
    return Value::poison();
  }
  int64_t begin = clip(*from), end = *by < 0 && (!upper || upper->kind == Value::None) ? -1 : clip(*to);
  if (!step(where, size))
    return Value::poison();
  std::string text;
  ValueList items;
  for (int64_t i = begin; *by > 0 ? i < end : i > end;) {
    if (base.kind == Value::String)
      text += (*base.text)[i];
    else
      items.push_back((*base.items)[i]);
    if (*by > size || *by < -size)
      break;
    i += *by;
  }
  return base.kind == Value::String ? Value::ofString(text) : Value::ofItems(base.kind, std::move(items));
}

Value ConstEval::range(const Value &start, const Value &stop, const Value &stride, SourceRange where) {
  auto a = start.asInt64(), b = stop.asInt64(), by = stride.asInt64();
  if (!a || !b || !by || *by == 0) {
    sink.report(diag::E0304, where, "`range` needs integers below 2^63 and a step other than 0");
    return Value::poison();
  }
  ValueList items;
  for (__int128 i = *a; *by > 0 ? i < *b : i > *b; i += *by) {
    if (items.size() >= maxItems) {
      sink.report(diag::E0306, where, "items of a sequence", maxItems);
      return Value::poison();
    }
    items.push_back(Value::ofInt(static_cast<int64_t>(i)));
  }
  if (!step(where, items.size()))
    return Value::poison();
  return Value::ofList(std::move(items));
}
