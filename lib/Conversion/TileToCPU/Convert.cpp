//===- Convert.cpp - element types into each other ---------------------------===//
//
// The rules of the language: integers keep low bits, float to integer saturates (NaN is 0), everything else
// rounds to nearest even, 8-bit floats saturate. 8-bit floats exist only as bytes here.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::cpu;
using namespace tilec::tile;

static Type like(Value value, Type element) {
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    return VectorType::get(vector.getShape(), element);
  return element;
}

namespace {
/// float8 <-> float32, bit by bit. e4m3 has no infinity and one NaN, e5m2 is the high byte of an f16.
struct Float8 {
  Code &c;
  bool e4m3;
  Value i32(Value v, int64_t n) { return c.integer(like(v, c.b.getI32Type()), n); }
  Value f32(Value v, double n) { return c.number(like(v, c.b.getF32Type()), n); }
  Value bitsToFloat(Value v) { return arith::BitcastOp::create(c.b, c.loc, like(v, c.b.getF32Type()), v); }
  Value floatToBits(Value v) { return arith::BitcastOp::create(c.b, c.loc, like(v, c.b.getI32Type()), v); }

  Value widen(Value byte) {
    Value bits = arith::ExtUIOp::create(c.b, c.loc, like(byte, c.b.getI32Type()), byte);
    Value sign = c.fold<arith::ShLIOp>(c.both(bits, i32(bits, 0x80)), i32(bits, 24));
    Value magnitude = c.both(bits, i32(bits, 0x7f));
    // As an f32 the bits mean the same number with a far too small exponent; the product is exact, denormals
    // too.
    Value small = bitsToFloat(c.fold<arith::ShLIOp>(magnitude, i32(bits, e4m3 ? 20 : 21)));
    Value scaled = floatToBits(c.fold<arith::MulFOp>(small, f32(small, e4m3 ? 0x1p120 : 0x1p112)));
    Value special = c.cmp(arith::CmpIPredicate::uge, magnitude, i32(bits, e4m3 ? 0x7f : 0x7c));
    Value mantissa =
        c.fold<arith::ShLIOp>(c.both(magnitude, i32(bits, e4m3 ? 1 : 3)), i32(bits, e4m3 ? 22 : 21));
    Value notFinite = c.either(mantissa, i32(bits, 0x7f800000));
    return bitsToFloat(c.either(c.select(special, notFinite, scaled), sign));
  }

  Value narrow(Value value) {
    Value bits = floatToBits(value);
    Value sign = c.fold<arith::ShRUIOp>(c.both(bits, i32(bits, INT32_MIN)), i32(bits, 24));
    Value magnitude = c.both(bits, i32(bits, 0x7fffffff));
    Value isNan = c.cmp(arith::CmpIPredicate::ugt, magnitude, i32(bits, 0x7f800000));
    // 448 and 57344; infinities saturate as well.
    Value clamped = c.fold<arith::MinUIOp>(magnitude, i32(bits, e4m3 ? 0x43e00000 : 0x47600000));
    int64_t shift = e4m3 ? 20 : 21, bias = e4m3 ? 120 << 3 : 112 << 2;
    Value odd = c.both(c.fold<arith::ShRUIOp>(clamped, i32(bits, shift)), i32(bits, 1));
    Value rounded =
        c.fold<arith::AddIOp>(c.fold<arith::AddIOp>(clamped, odd), i32(bits, (1 << (shift - 1)) - 1));
    Value normal = c.fold<arith::SubIOp>(c.fold<arith::ShRUIOp>(rounded, i32(bits, shift)), i32(bits, bias));
    // Below the smallest normal number the result is a multiple of the smallest denormal one: adding 2^23
    // rounds.
    Value steps = c.fold<arith::MulFOp>(bitsToFloat(clamped), f32(value, e4m3 ? 0x1p9 : 0x1p16));
    Value pushed = floatToBits(c.fold<arith::AddFOp>(steps, f32(value, 0x1p23)));
    Value denormal = c.both(pushed, i32(bits, 0x7f));
    Value isSmall = c.cmp(arith::CmpIPredicate::ult, clamped, i32(bits, e4m3 ? 0x3c800000 : 0x38800000));
    Value finite = c.select(isSmall, denormal, normal);
    Value result = c.either(c.select(isNan, i32(bits, 0x7f), finite), sign);
    return arith::TruncIOp::create(c.b, c.loc, like(value, c.b.getI8Type()), result);
  }
};
} // namespace

static Value floatToFloat(Code &c, Value value, Type from, Type to) {
  unsigned have = from.getIntOrFloatBitWidth(), want = to.getIntOrFloatBitWidth();
  if (have < want)
    return arith::ExtFOp::create(c.b, c.loc, like(value, to), value);
  if (have > want)
    return arith::TruncFOp::create(c.b, c.loc, like(value, to), value);
  // f16 <-> bf16
  Value wide = arith::ExtFOp::create(c.b, c.loc, like(value, c.b.getF32Type()), value);
  return arith::TruncFOp::create(c.b, c.loc, like(value, to), wide);
}

static Value integerToFloat(Code &c, Value value, Type from, Type to, bool isUnsigned) {
  // The narrow floats are reached from a type that holds every 32-bit integer, so that there is one rounding.
  Type via = to.getIntOrFloatBitWidth() < 32 ? Type(c.b.getF64Type()) : to;
  Value result = from.isInteger(1) || isUnsigned
                     ? arith::UIToFPOp::create(c.b, c.loc, like(value, via), value).getResult()
                     : arith::SIToFPOp::create(c.b, c.loc, like(value, via), value).getResult();
  return via == to ? result : floatToFloat(c, result, via, to);
}

static Value integerToInteger(Code &c, Value value, Type from, Type to, bool isUnsigned) {
  if (to.isInteger(1))
    return c.cmp(arith::CmpIPredicate::ne, value, c.zero(value.getType()));
  if (from.isIndex() || to.isIndex())
    return arith::IndexCastOp::create(c.b, c.loc, like(value, to), value);
  unsigned have = from.getIntOrFloatBitWidth(), want = to.getIntOrFloatBitWidth();
  if (have > want)
    return arith::TruncIOp::create(c.b, c.loc, like(value, to), value);
  if (have < want && (from.isInteger(1) || isUnsigned))
    return arith::ExtUIOp::create(c.b, c.loc, like(value, to), value);
  if (have < want)
    return arith::ExtSIOp::create(c.b, c.loc, like(value, to), value);
  return value;
}

Value Emitter::convert(Value value, Type from, Type to, bool isUnsigned) {
  Code &c = code;
  if (from == to)
    return value;
  if (isFloat8(from)) {
    Value wide = Float8{c, isa<Float8E4M3FNType>(from)}.widen(value);
    return convert(wide, c.b.getF32Type(), to);
  }
  if (isFloat8(to)) {
    Value wide = convert(value, from, c.b.getF32Type());
    return Float8{c, isa<Float8E4M3FNType>(to)}.narrow(wide);
  }
  if (isa<FloatType>(from)) {
    if (isa<FloatType>(to))
      return floatToFloat(c, value, from, to);
    if (to.isInteger(1))
      return arith::CmpFOp::create(c.b, c.loc, arith::CmpFPredicate::UNE, value, c.zero(value.getType()));
    if (from.getIntOrFloatBitWidth() < 32)
      value = floatToFloat(c, value, from, c.b.getF32Type());
    if (to.isIndex())
      return convert(convert(value, getElementTypeOrSelf(value.getType()), c.b.getI64Type()),
                     c.b.getI64Type(), to);
    return arith::FPToSIOp::create(c.b, c.loc, like(value, to), value); // saturates: tile-expand-math
  }
  if (isa<FloatType>(to)) {
    if (from.isIndex())
      return convert(convert(value, from, c.b.getI64Type()), c.b.getI64Type(), to);
    return integerToFloat(c, value, from, to, isUnsigned);
  }
  return integerToInteger(c, value, from, to, isUnsigned);
}
