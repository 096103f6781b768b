//===- Float8.cpp - 8-bit floats by integer arithmetic -----------------------===//
//
// For chips without conversion instructions. Rounds to nearest even, saturates to the largest finite number,
// keeps denormals and NaN. Works on scalars and vectors alike.
//
//===----------------------------------------------------------------------===//
#include "Code.h"

using namespace mlir;
using namespace tilec::simt;

static Type like(Value value, Type element) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}

Value Code::number(Type type, double value) {
  auto vector = ::llvm::dyn_cast<VectorType>(type);
  FloatAttr attr = b.getFloatAttr(vector ? vector.getElementType() : type, value);
  if (!vector)
    return arith::ConstantOp::create(b, loc, attr);
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vector, attr.getValue()));
}

Value Code::widenFloat8(Value bits, bool e5m2) {
  Type i32 = like(bits, b.getI32Type()), f32 = like(bits, b.getF32Type());
  auto number32 = [&](int64_t v) { return constant(i32, v); };
  Value x = b.createOrFold<arith::ExtUIOp>(loc, i32, bits);
  Value sign = fold<arith::ShLIOp>(fold<arith::AndIOp>(x, number32(0x80)), number32(24));
  Value low = fold<arith::AndIOp>(x, number32(0x7f));
  unsigned mantissa = e5m2 ? 2 : 3;
  Value moved = fold<arith::ShLIOp>(low, number32(23 - mantissa));
  // As a float32 the value is too small by the difference of the biases; the product is exact.
  Value small = arith::BitcastOp::create(b, loc, f32, moved);
  Value value = fold<arith::MulFOp>(small, number(f32, e5m2 ? 0x1p112 : 0x1p120));
  Value word = arith::BitcastOp::create(b, loc, i32, value);
  Value infinite = fold<arith::OrIOp>(moved, number32(0x7f800000)); // infinity, or NaN with its payload
  Value special = e5m2 ? cmp(arith::CmpIPredicate::uge, low, number32(0x7c))
                       : cmp(arith::CmpIPredicate::eq, low, number32(0x7f));
  word = select(special, infinite, word);
  return arith::BitcastOp::create(b, loc, f32, fold<arith::OrIOp>(word, sign));
}

Value Code::narrowFloat8(Value value, bool e5m2) {
  Type i32 = like(value, b.getI32Type()), f32 = value.getType();
  auto number32 = [&](int64_t v) { return constant(i32, v); };
  unsigned mantissa = e5m2 ? 2 : 3, drop = 23 - mantissa, bias = e5m2 ? 15 : 7;
  Value word = arith::BitcastOp::create(b, loc, i32, value);
  Value sign = fold<arith::AndIOp>(fold<arith::ShRUIOp>(word, number32(24)), number32(0x80));
  Value magnitude = fold<arith::AndIOp>(word, number32(0x7fffffff));
  // Normal numbers: add half of the last place (less one when it is even), and rebias.
  Value odd = fold<arith::AndIOp>(fold<arith::ShRUIOp>(magnitude, number32(drop)), number32(1));
  Value rounded = fold<arith::AddIOp>(fold<arith::AddIOp>(magnitude, number32((1 << (drop - 1)) - 1)), odd);
  Value normal = fold<arith::SubIOp>(fold<arith::ShRUIOp>(rounded, number32(drop)),
                                     number32(int64_t(127 - bias) << mantissa));
  // Denormals: the adder rounds, next to 2^23 the last place is one.
  Value absolute = arith::BitcastOp::create(b, loc, f32, magnitude);
  Value scaled = fold<arith::MulFOp>(absolute, number(f32, e5m2 ? 0x1p16 : 0x1p9));
  Value integer = arith::BitcastOp::create(b, loc, i32, fold<arith::AddFOp>(scaled, number(f32, 0x1p23)));
  Value denormal = fold<arith::AndIOp>(integer, number32(0xf));
  Value isNormal = cmp(arith::CmpIPredicate::uge, magnitude, number32(int64_t(127 - bias + 1) << 23));
  Value result = select(isNormal, normal, denormal);
  int64_t largest = e5m2 ? 0x7b : 0x7e;
  Value over = cmp(arith::CmpIPredicate::ugt, result, number32(largest));
  result = select(over, number32(largest), result);
  Value isNan = cmp(arith::CmpIPredicate::ugt, magnitude, number32(0x7f800000));
  result = select(isNan, number32(0x7f), result);
  return b.createOrFold<arith::TruncIOp>(loc, like(value, b.getI8Type()), fold<arith::OrIOp>(result, sign));
}
