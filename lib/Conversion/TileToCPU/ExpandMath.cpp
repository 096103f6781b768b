//===- ExpandMath.cpp - elementary functions ---------------------------------===//
//
// Range reduction and polynomials; coefficients of the f32 functions are those of S. Moshier's Cephes
// library, the ones of sin and cos on f64 and of tanh on f64 as in FreeBSD's msun and Cephes. Arguments and
// results that are denormal are treated as what they are. Largest errors seen in 2 * 10^5 arguments
// (test/Conversion/TileToCPU/math.mlir holds the bounds), in ulp:
//
//            exp exp2 expm1 log log2 log10 log1p tanh erf rsqrt sin cos tan pow remainder
//   f32      1.0 1.1  1.7   0.8 1.1  1.6   2.3   1.2  2.3 1.5   0.5 0.5 0.5 0.5 0
//   f64      1.0 1.1  1.7   0.8 1.2  1.5   2.3   1.0  15  1.5   1   1   3   720 0
//
// sin, cos and tan of f64 are reduced for arguments up to 2^20; of f32 for all.
//
//===----------------------------------------------------------------------===//
#include "ExpandMath.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace tilec::cpu;
using P = arith::CmpFPredicate;

Value MathCode::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = num(x, coefficients.front());
  for (double next : coefficients.drop_front())
    sum = mad(sum, x, num(x, next));
  return sum;
}

/// Two factors, each a normal power of two: the first product is exact.
Value MathCode::scale(Value x, Value n) {
  bool wide = isDouble(x);
  int64_t bias = wide ? 1023 : 127, shift = wide ? 52 : 23;
  Value half = sar(n, 1), rest = sub(n, half);
  Value first = bitsAs(shl(iadd(half, bias), shift), element(x));
  Value second = bitsAs(shl(iadd(rest, bias), shift), element(x));
  return fmul(fmul(x, first), second);
}

/// Nearest integer of a small float, as float and as integer, by adding a number whose last bit is worth one.
static Value nearest(MathCode &c, Value x, Value &asInteger) {
  double magic = c.isDouble(x) ? 0x1.8p52 : 0x1.8p23;
  Value shifted = c.fadd(x, c.num(x, magic));
  asInteger = c.sub(c.bits(shifted), c.bits(c.num(x, magic)));
  return c.fsub(shifted, c.num(x, magic));
}

static Value clamp(MathCode &c, Value x, double low, double high) {
  // NaN passes both comparisons.
  x = c.select(c.fcmp(P::OGT, x, c.num(x, high)), c.num(x, high), x);
  return c.select(c.fcmp(P::OLT, x, c.num(x, low)), c.num(x, low), x);
}

/// 1/n!, from n = highest down to lowest.
static SmallVector<double> inverseFactorials(int highest, int lowest) {
  SmallVector<double> result;
  for (int n = highest; n >= lowest; --n)
    result.push_back(1.0 / std::tgamma(n + 1.0));
  return result;
}

//===- Exponentials ----------------------------------------------------------===//
Value MathCode::exp(Value x) {
  bool wide = isDouble(x);
  Value clamped = wide ? clamp(*this, x, -746.0, 710.0) : clamp(*this, x, -104.0, 88.8);
  Value n, whole = nearest(*this, fmul(clamped, num(x, 1.44269504088896340736)), n);
  // ln 2 in two parts; the product with the first is exact.
  Value r = mad(whole, num(x, wide ? -6.93145751953125E-1 : -0.693359375), clamped);
  r = mad(whole, num(x, wide ? -1.42860682030941723212E-6 : 2.12194440e-4), r);
  Value q;
  if (wide)
    q = polynomial(r, inverseFactorials(13, 2));
  else
    q = polynomial(r, {1.9875691500E-4, 1.3981999507E-3, 8.3334519073E-3, 4.1665795894E-2, 1.6666665459E-1,
                       5.0000001201E-1});
  Value y = fadd(mad(q, fmul(r, r), r), num(x, 1.0));
  return scale(y, n);
}

Value MathCode::exp2(Value x) {
  bool wide = isDouble(x);
  Value clamped = wide ? clamp(*this, x, -1080.0, 1025.0) : clamp(*this, x, -152.0, 129.0);
  Value n, whole = nearest(*this, clamped, n);
  Value r = fsub(clamped, whole);
  SmallVector<double> taylor;
  double power = 1.0;
  for (int k = 1; k <= (wide ? 13 : 7); ++k)
    taylor.insert(taylor.begin(), (power *= 0.693147180559945309417 / k));
  return scale(mad(polynomial(r, taylor), r, num(x, 1.0)), n);
}

Value MathCode::expm1(Value x) {
  bool wide = isDouble(x);
  Value inner = clamp(*this, x, -0.5, 0.5);
  Value q = polynomial(inner, inverseFactorials(wide ? 17 : 9, 2));
  Value near = mad(q, fmul(inner, inner), inner);
  Value far = fsub(exp(x), num(x, 1.0));
  Value isNear = fcmp(P::OLE, fabs(x), num(x, 0.5));
  return select(isNear, copySign(fabs(near), x), far);
}

//===- Logarithms ------------------------------------------------------------===//
/// x = 2^exponent * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); returns f.
Value MathCode::reduceLog(Value x, Value &exponent) {
  bool wide = isDouble(x);
  int64_t shift = wide ? 52 : 23, root = wide ? 0x3fe6a09e667f3bcdLL : 0x3f3504f3;
  double lift = wide ? 0x1p54 : 0x1p25;
  Value tiny = fcmp(P::OLT, x, num(x, wide ? 0x1p-1022 : 0x1p-126));
  Value lifted = select(tiny, fmul(x, num(x, lift)), x);
  Value offset = iadd(bits(lifted), -root);
  Value e = sar(offset, shift);
  Value mantissa = bitsAs(iadd(iand(offset, (int64_t(1) << shift) - 1), root), element(x));
  e = add(e, select(tiny, i(x, wide ? -54 : -25), i(x, 0)));
  Value narrow = e; // fits 32 bits
  exponent = arith::SIToFPOp::create(b, loc, x.getType(), narrow);
  return fsub(mantissa, num(x, 1.0));
}

Value MathCode::finishLog(Value x, Value result) {
  double inf = std::numeric_limits<double>::infinity();
  result = select(fcmp(P::OEQ, x, num(x, inf)), x, result);
  result = select(fcmp(P::OEQ, x, num(x, 0.0)), num(x, -inf), result);
  // Negative, or NaN.
  return select(fcmp(P::ULT, x, num(x, 0.0)), num(x, std::nan("")), result);
}

/// log(1 + f) - f + f^2 / 2.
static Value logTail(MathCode &c, Value f) {
  Value z = c.fmul(f, f);
  if (!c.isDouble(f)) {
    Value q = c.polynomial(f, {7.0376836292E-2, -1.1514610310E-1, 1.1676998740E-1, -1.2420140846E-1,
                               1.4249322787E-1, -1.6668057665E-1, 2.0000714765E-1, -2.4999993993E-1,
                               3.3333331174E-1});
    return c.fmul(c.fmul(q, f), z);
  }
  // s = f / (2 + f); log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)).
  Value s = c.fdiv(f, c.fadd(f, c.num(f, 2.0))), w = c.fmul(s, s);
  Value r = c.polynomial(w, {1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                             2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                             6.666666666666735130e-01});
  Value half = c.fmul(z, c.num(f, 0.5));
  return c.fmul(s, c.fadd(half, c.fmul(r, w)));
}

Value MathCode::log(Value x) {
  Value e, f = reduceLog(x, e), tail = logTail(*this, f);
  bool wide = isDouble(x);
  tail = mad(e, num(x, wide ? 1.90821492927058770002e-10 : -2.12194440e-4), tail);
  tail = mad(fmul(f, f), num(x, -0.5), tail);
  Value result = mad(e, num(x, wide ? 6.93147180369123816490e-01 : 0.693359375), fadd(f, tail));
  return finishLog(x, result);
}

Value MathCode::log2(Value x) {
  Value e, f = reduceLog(x, e);
  Value y = mad(fmul(f, f), num(x, -0.5), logTail(*this, f));
  double more = 0.44269504088896340735992; // log2(e) - 1
  Value z = fmul(y, num(x, more));
  z = mad(f, num(x, more), z);
  z = fadd(fadd(z, y), f);
  return finishLog(x, fadd(z, e));
}

Value MathCode::log10(Value x) {
  Value e, f = reduceLog(x, e);
  Value y = mad(fmul(f, f), num(x, -0.5), logTail(*this, f));
  Value z = fmul(fadd(f, y), num(x, 7.00731903251827651129E-4));
  z = mad(y, num(x, 4.3359375E-1), z);
  z = mad(f, num(x, 4.3359375E-1), z);
  z = mad(e, num(x, 2.48745663981195213739E-4), z);
  return finishLog(x, mad(e, num(x, 3.0078125E-1), z));
}

Value MathCode::log1p(Value x) {
  // What 1 + x loses is made up for by the quotient.
  Value u = fadd(x, num(x, 1.0)), d = fsub(u, num(x, 1.0));
  Value result = fmul(log(u), fdiv(x, d));
  result = select(fcmp(P::OEQ, d, num(x, 0.0)), x, result);
  return select(fcmp(P::OEQ, u, num(x, std::numeric_limits<double>::infinity())), u, result);
}

Value MathCode::rsqrt(Value x) { return fdiv(num(x, 1.0), math::SqrtOp::create(b, loc, x)); }

//===- tanh, erf -------------------------------------------------------------===//
Value MathCode::tanh(Value x) {
  Value a = fabs(x), z = fmul(x, x), near;
  if (isDouble(x)) {
    Value p =
        polynomial(z, {-9.64399179425052238628E-1, -9.92877231001918586564E1, -1.61468768441708447952E3});
    Value q =
        polynomial(z, {1.0, 1.12811678491632931402E2, 2.23548839060100448583E3, 4.84406305325125486048E3});
    near = mad(fmul(x, z), fdiv(p, q), x);
  } else {
    Value q = polynomial(
        z, {-5.70498872745E-3, 2.06390887954E-2, -5.37397155531E-2, 1.33314422036E-1, -3.33332819422E-1});
    near = mad(fmul(q, z), x, x);
  }
  Value far = fsub(num(x, 1.0), fdiv(num(x, 2.0), fadd(exp(fadd(a, a)), num(x, 1.0))));
  Value isNear = fcmp(P::OLT, a, num(x, 0.625));
  return select(isNear, copySign(fabs(near), x), select(fcmp(P::UNO, x, x), x, copySign(far, x)));
}

/// f64: 2/sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (2n+1)!!, whose terms are all of one sign.
static Value erfSeries(MathCode &c, Value x) {
  Value a = clamp(c, c.fabs(x), 0.0, 6.0), twice = c.fmul(c.fadd(a, a), a);
  SmallVector<Value> sums = c.loop(
      c.index(1), c.index(120), 1, ValueRange{a, a}, [&](Value n, ValueRange args) -> SmallVector<Value> {
        Value odd = c.add(c.mul(n, 2), 1);
        Value wide = arith::IndexCastOp::create(c.b, c.loc, c.b.getI64Type(), odd);
        Value number = arith::SIToFPOp::create(c.b, c.loc, c.b.getF64Type(), wide);
        if (auto vector = dyn_cast<VectorType>(x.getType()))
          number = c.broadcast(number, vector.getNumElements());
        Value term = c.fmul(args[0], c.fdiv(twice, number));
        return {term, c.fadd(args[1], term)};
      });
  // Series and exponential see the same rounded square, so that its error cancels.
  Value scale = c.fmul(c.exp(c.fsub(c.num(x, 0.0), c.fmul(a, a))), c.num(x, 1.12837916709551257390));
  Value result = c.fmul(sums[1], scale);
  result = c.select(c.fcmp(P::OGT, result, c.num(x, 1.0)), c.num(x, 1.0), result);
  result = c.select(c.fcmp(P::OGE, a, c.num(x, 6.0)), c.num(x, 1.0), result);
  return c.select(c.fcmp(P::UNO, x, x), x, c.copySign(result, x));
}

Value MathCode::erf(Value x) {
  if (isDouble(x))
    return erfSeries(*this, x);
  Value z = fmul(x, x);
  Value near = fmul(x, polynomial(z, {7.853861353153693E-5, -8.010193625184903E-4, 5.188327685732524E-3,
                                      -2.685381193529856E-2, 1.128358514861418E-1, -3.761262582423300E-1,
                                      1.128379165726710E+0}));
  Value a = clamp(*this, fabs(x), 1.0, 5.0), q = fdiv(num(x, 1.0), a), y = fmul(q, q);
  Value low = polynomial(y, {2.326819970068386E-2, -1.387039388740657E-1, 3.687424674597105E-1,
                             -5.824733027278666E-1, 6.210004621745983E-1, -4.944515323274145E-1,
                             3.404879937665872E-1, -2.741127028184656E-1, 5.638259427386472E-1});
  Value high = polynomial(y, {-1.047766399936249E+1, 1.297719955372516E+1, -7.495518717768503E+0,
                              2.921019019210786E+0, -1.015265279202700E+0, 4.218463358204948E-1,
                              -2.820767439740514E-1, 5.641895067754075E-1});
  Value p = select(fcmp(P::OLT, a, num(x, 2.0)), low, high);
  Value tail = fmul(fmul(exp(fsub(num(x, 0.0), fmul(a, a))), q), p);
  Value far = copySign(fsub(num(x, 1.0), tail), x);
  Value isNear = fcmp(P::OLT, fabs(x), num(x, 1.0));
  return select(isNear, near, select(fcmp(P::UNO, x, x), x, far));
}

//===- Circular functions ----------------------------------------------------===//
/// Quadrant number (as an integer) and the rest in [-pi/4, pi/4] (as f64) of arguments up to 2^28 (f32) or
/// 2^20 (f64).
Value MathCode::quadrant(Value x, Value &rest, Value &tail, bool exact) {
  Value n, whole = nearest(*this, fmul(x, num(x, 6.36619772367581382433e-01)), n);
  if (!exact) {
    // 25 bits of pi/2 times 28 bits are exact, with and without fused operations.
    rest =
        mad(whole, num(x, -1.58932547735281966916e-08), mad(whole, num(x, -1.57079631090164184570e+00), x));
    tail = num(x, 0.0);
    return n;
  }
  // pi/2 in parts that leave room for the product.
  Value r = mad(whole, num(x, -1.57079632673412561417e+00), x);
  Value w = fmul(whole, num(x, 6.07710050630396597660e-11));
  Value t = r;
  r = fsub(t, w);
  w = fsub(fmul(whole, num(x, 2.02226624879595063154e-21)), fsub(fsub(t, r), w));
  rest = fsub(r, w);
  tail = fsub(fsub(r, rest), w);
  return n;
}

/// The same for f32 arguments above 2^28, from 96 bits of 2/pi that start where the product matters (Payne
/// and Hanek).
Value MathCode::farQuadrant(Value x, Value &rest) {
  static const int64_t words[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0,
                                  0xDB629599, 0x3C439041, 0xFE5163AB};
  Type i64 = b.getI64Type();
  Value raw = arith::ExtUIOp::create(b, loc, as(x, i64), bits(x));
  auto n64 = [&](int64_t n) { return integer(raw.getType(), n); };
  Value exponent = iadd(iand(shr(raw, 23), 0xff), -150); // of the last bit
  Value mantissa = either(iand(raw, 0x7fffff), n64(0x800000));
  Value first = fold<arith::MaxSIOp>(fold<arith::MinSIOp>(iadd(exponent, -2), n64(102)), n64(0));
  Value word = shr(first, 5), shift = iand(first, 31);
  auto pick = [&](int at) {
    Value v = n64(words[at + 3]);
    for (int k = 2; k >= 0; --k)
      v = select(cmp(arith::CmpIPredicate::eq, word, n64(k)), n64(words[at + k]), v);
    return v;
  };
  auto window = [&](Value high, Value low) { // 32 bits of the pair, `shift` bits in
    return iand(fold<arith::ShRUIOp>(either(shl(high, 32), low), sub(n64(32), shift)), 0xffffffff);
  };
  Value w0 = pick(0), w1 = pick(1), w2 = pick(2), w3 = pick(3);
  Value high = either(shl(window(w0, w1), 32), window(w1, w2)), low = window(w2, w3);
  Value product = add(mul(mantissa, high), shr(mul(mantissa, low), 32)); // modulo 2^64: modulo four quadrants
  Value n = shr(add(product, n64(int64_t(1) << 61)), 62);
  Value fraction = sub(product, shl(n, 62));
  Value wide = arith::SIToFPOp::create(b, loc, as(x, b.getF64Type()), fraction);
  rest = fmul(wide, number(wide.getType(), 1.57079632679489661923 * 0x1p-62));
  Value negative = fcmp(P::OLT, x, num(x, 0.0));
  rest = select(negative, fsub(number(wide.getType(), 0.0), rest), rest);
  return select(negative, sub(n64(0), n), n);
}

static Value sine(MathCode &c, Value x, Value tail, bool exact) {
  Value z = c.fmul(x, x);
  if (!exact) {
    Value p = c.polynomial(z, {0.0000027183114939898219064, -0.000198393348360966317347,
                               0.0083333293858894631756, -0.166666666416265235595});
    return c.mad(c.fmul(p, z), x, x);
  }
  Value v = c.fmul(z, x);
  Value r =
      c.polynomial(z, {1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
                       -1.98412698298579493134e-04, 8.33333333332248946124e-03});
  // x - ((z (tail/2 - v r) - tail) - v S1)
  Value inner = c.fsub(c.fmul(tail, c.num(x, 0.5)), c.fmul(v, r));
  Value correction = c.fsub(c.fsub(c.fmul(z, inner), tail), c.fmul(v, c.num(x, -1.66666666666666324348e-01)));
  return c.fsub(x, correction);
}

static Value cosine(MathCode &c, Value x, Value tail, bool exact) {
  Value z = c.fmul(x, x);
  if (!exact)
    return c.polynomial(z, {0.0000243904487962774090654, -0.00138867637746099294692, 0.0416666233237390631894,
                            -0.499999997251031003120, 1.0});
  Value r =
      c.polynomial(z, {-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
                       2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02});
  Value half = c.fmul(z, c.num(x, 0.5)), w = c.fsub(c.num(x, 1.0), half);
  Value lost = c.fsub(c.fsub(c.num(x, 1.0), w), half);
  return c.fadd(w, c.fadd(lost, c.fsub(c.fmul(c.fmul(z, z), r), c.fmul(x, tail))));
}

Value MathCode::circular(Circular which, Value x) {
  bool wide = isDouble(x);
  Type f64 = b.getF64Type();
  Value arg = extend(x, f64), rest, tail;
  Value n = quadrant(arg, rest, tail, wide);
  if (!wide) {
    Value far = fcmp(P::OGE, fabs(x), num(x, 0x1p28));
    SmallVector<Value> both = choose(
        any(far), {n.getType(), rest.getType()},
        [&] {
          Value farRest, farN = farQuadrant(x, farRest);
          return SmallVector<Value>{select(far, farN, n), select(far, farRest, rest)};
        },
        [&] { return SmallVector<Value>{n, rest}; });
    n = both[0];
    rest = both[1];
  }
  Value s = sine(*this, rest, tail, wide), co = cosine(*this, rest, tail, wide);
  Value odd = cmp(arith::CmpIPredicate::ne, iand(n, 1), integer(n.getType(), 0));
  Value result;
  if (which == Tan) {
    result = fdiv(select(odd, co, s), select(odd, s, co));
    result = select(odd, fsub(num(result, 0.0), result), result);
  } else {
    Value turn = which == Sin ? n : iadd(n, 1);
    Value swap = which == Sin ? odd : invert(odd);
    result = select(swap, co, s);
    Value negative = cmp(arith::CmpIPredicate::ne, iand(turn, 2), integer(n.getType(), 0));
    result = select(negative, fsub(num(result, 0.0), result), result);
  }
  if (which != Cos && !wide) // keeps -0
    result = select(fcmp(P::OEQ, arg, num(arg, 0.0)), arg, result);
  Value infinite = fcmp(P::OEQ, fabs(arg), num(arg, std::numeric_limits<double>::infinity()));
  result = select(infinite, num(result, std::nan("")), result);
  return truncate(result, element(x));
}

//===- Powers, remainders ----------------------------------------------------===//
Value MathCode::pow(Value x, Value y) {
  Type f64 = b.getF64Type();
  Value base = extend(x, f64), power = extend(y, f64), a = fabs(base);
  Value result = exp2(fmul(power, log2(a)));
  double inf = std::numeric_limits<double>::infinity();
  Value whole = math::TruncOp::create(b, loc, power);
  Value isWhole = fcmp(P::OEQ, whole, power);
  Value halfPower = fmul(power, num(power, 0.5));
  Value isOdd = both(isWhole, fcmp(P::ONE, Value(math::TruncOp::create(b, loc, halfPower)), halfPower));
  Value one = num(base, 1.0), zero = num(base, 0.0);
  Value signBit = cmp(arith::CmpIPredicate::slt, bits(base), i(base, 0));
  result = select(both(signBit, isOdd), fsub(zero, result), result);
  Value noRoot = both(both(fcmp(P::OLT, base, zero), fcmp(P::ONE, base, num(base, -inf))), invert(isWhole));
  result = select(noRoot, num(base, std::nan("")), result);
  Value unit = both(fcmp(P::OEQ, a, one), fcmp(P::OEQ, fabs(power), num(base, inf)));
  result = select(either(unit, fcmp(P::OEQ, base, one)), one, result);
  result = select(fcmp(P::OEQ, power, zero), one, result);
  return truncate(result, element(x));
}

/// a mod d for finite a >= 0 and normal d > 0 (f64): subtracts the largest d * 2^k that fits until none does.
/// Every step is exact.
static Value reduceBy(MathCode &c, Value a, Value d) {
  Type type = a.getType(), f64 = c.b.getF64Type();
  auto loop = scf::WhileOp::create(c.b, c.loc, TypeRange{type}, ValueRange{a});
  OpBuilder::InsertionGuard guard(c.b);
  Block *before = c.b.createBlock(&loop.getBefore(), {}, type, c.loc);
  Value rest = before->getArgument(0);
  scf::ConditionOp::create(c.b, c.loc, c.any(c.fcmp(P::OGE, rest, d)), rest);
  Block *after = c.b.createBlock(&loop.getAfter(), {}, type, c.loc);
  rest = after->getArgument(0);
  // The multiple has the exponent of the rest, or one less; an infinite divisor is larger than any rest.
  int64_t exponentBits = int64_t(0x7ff) << 52;
  auto greater = arith::CmpIPredicate::sgt;
  Value gap = c.sub(c.iand(c.bits(rest), exponentBits), c.iand(c.bits(d), exponentBits));
  gap = c.select(c.cmp(greater, gap, c.i(d, 0)), gap, c.i(d, 0));
  Value multiple = c.bitsAs(c.add(c.bits(d), gap), f64), raw = c.bits(multiple);
  Value lower = c.select(c.cmp(greater, gap, c.i(d, 0)), c.iadd(raw, -(int64_t(1) << 52)), raw);
  Value fitting = c.select(c.fcmp(P::OGT, multiple, rest), c.bitsAs(lower, f64), multiple);
  Value next = c.select(c.fcmp(P::OGE, rest, d), c.fsub(rest, fitting), rest);
  scf::YieldOp::create(c.b, c.loc, next);
  return loop.getResult(0);
}

Value MathCode::remainder(Value x, Value y) {
  Type f64 = b.getF64Type();
  Value a = extend(fabs(x), f64), d = extend(fabs(y), f64),
        inf = num(a, std::numeric_limits<double>::infinity());
  Value valid = both(both(fcmp(P::OLT, a, inf), fcmp(P::OGT, d, num(d, 0.0))), fcmp(P::OLE, d, inf));
  a = select(valid, a, num(a, 0.0));
  d = select(valid, d, num(d, 1.0));
  // Denormal divisors: first by a multiple that is normal, then both scaled.
  Value tiny = fcmp(P::OLT, d, num(d, 0x1p-900));
  Value up = select(tiny, num(d, 0x1p200), num(d, 1.0)), down = select(tiny, num(d, 0x1p-200), num(d, 1.0));
  Value larger = fmul(d, up), result = reduceBy(*this, a, larger);
  if (isDouble(x))
    result = fmul(reduceBy(*this, fmul(result, up), larger), down);
  result = truncate(result, element(x));
  return select(valid, copySign(result, x), num(x, std::nan("")));
}
