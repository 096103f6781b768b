//===- Convert.cpp - conversions between element types -----------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;

Value Emitter::widenFloat8(Value value, bool e5m2) { return code.widenFloat8(value, e5m2); }
Value Emitter::narrowFloat8(Value value, bool e5m2) { return code.narrowFloat8(value, e5m2); }

Value Emitter::convertFloat(Value value, Type from, Type to) {
  from = getElementTypeOrSelf(from);
  to = getElementTypeOrSelf(to);
  if (from == to)
    return value;
  OpBuilder &b = code.b;
  Location loc = code.loc;
  auto like = [&](Type element) {
    auto v = dyn_cast<VectorType>(value.getType());
    return v ? Type(VectorType::get(v.getShape(), element)) : element;
  };
  Type f32 = b.getF32Type();
  for (Type type : {from, to})
    if (isFloat8(type) && !isa<Float8E5M2Type, Float8E4M3FNType>(type))
      return {};
  if (isFloat8(from)) {
    Value wide = widenFloat8(value, isa<Float8E5M2Type>(from));
    return convertFloat(wide, wide.getType(), to);
  }
  if (isFloat8(to)) {
    Value wide = convertFloat(value, from, f32);
    return wide ? narrowFloat8(wide, isa<Float8E5M2Type>(to)) : Value();
  }
  Type type = like(to);
  bool ff = isa<FloatType>(from), tf = isa<FloatType>(to);
  unsigned fw = from.isIndex() ? 64 : from.getIntOrFloatBitWidth();
  unsigned tw = to.isIndex() ? 64 : to.getIntOrFloatBitWidth();
  if (ff && tf) {
    if (fw == tw) // f16 <-> bf16
      return convertFloat(convertFloat(value, from, f32), f32, to);
    if (fw < tw)
      return arith::ExtFOp::create(b, loc, type, value);
    return arith::TruncFOp::create(b, loc, type, value);
  }
  if (ff)
    return arith::FPToSIOp::create(b, loc, type, value);
  if (tf)
    return from.isInteger(1) ? arith::UIToFPOp::create(b, loc, type, value).getResult()
                             : arith::SIToFPOp::create(b, loc, type, value).getResult();
  if (to.isInteger(1))
    return code.cmp(arith::CmpIPredicate::ne, value, code.zero(value.getType()));
  if (from.isIndex() || to.isIndex())
    return arith::IndexCastOp::create(b, loc, type, value);
  if (tw < fw)
    return arith::TruncIOp::create(b, loc, type, value);
  return from.isInteger(1) ? arith::ExtUIOp::create(b, loc, type, value).getResult()
                           : arith::ExtSIOp::create(b, loc, type, value).getResult();
}
