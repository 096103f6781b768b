//===- Code.cpp - short names for scalar, vector and loop code ---------------===//
#include "Code.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec::cpu;

int64_t tilec::cpu::elementBytes(Type element) {
  if (element.isIndex())
    return 8;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits < 8 ? 1 : bits / 8;
}

Type tilec::cpu::memoryType(Type element) {
  Builder b(element.getContext());
  if (element.isIndex())
    return b.getI64Type();
  if (element.isInteger(1) || isFloat8(element))
    return b.getI8Type();
  // As bits: LLVM converts 16-bit floats when it takes a vector of them apart.
  if (element.isF16() || element.isBF16())
    return b.getI16Type();
  return element;
}

Type tilec::cpu::registerType(Type type) {
  if (isFloat8(type))
    return IntegerType::get(type.getContext(), 8);
  return type;
}

//===- Constants -------------------------------------------------------------===//
Value Code::index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

Value Code::integer(Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  auto attr = b.getIntegerAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vector, Attribute(attr)));
  return arith::ConstantOp::create(b, loc, attr);
}

Value Code::boolean(bool value) { return integer(b.getI1Type(), value); }

Value Code::number(Type type, double value) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  auto attr = b.getFloatAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vector, Attribute(attr)));
  return arith::ConstantOp::create(b, loc, attr);
}

Value Code::zero(Type type) {
  if (isa<FloatType>(getElementTypeOrSelf(type)))
    return number(type, 0.0);
  return integer(type, 0);
}

std::optional<int64_t> Code::constant(Value value) {
  APInt number;
  if (isa<VectorType>(value.getType()) || !matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

//===- Arithmetic ------------------------------------------------------------===//
void Code::unify(Value &x, Value &y) {
  auto vx = dyn_cast<VectorType>(x.getType()), vy = dyn_cast<VectorType>(y.getType());
  if (vx && !vy)
    y = broadcast(y, vx.getNumElements());
  if (vy && !vx)
    x = broadcast(x, vy.getNumElements());
}

Value Code::cmp(arith::CmpIPredicate predicate, Value x, Value y) {
  unify(x, y);
  return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
}

Value Code::invert(Value x) { return fold<arith::XOrIOp>(x, boolean(true)); }

Value Code::select(Value condition, Value x, Value y) {
  unify(x, y);
  if (isVector(condition)) {
    unify(condition, x);
    unify(condition, y);
  }
  return b.createOrFold<arith::SelectOp>(loc, condition, x, y);
}

//===- Vectors ---------------------------------------------------------------===//
Value Code::broadcast(Value scalar, int64_t lanes) {
  if (isVector(scalar))
    return scalar;
  return b.createOrFold<vector::BroadcastOp>(loc, vec(scalar.getType(), lanes), scalar);
}

Value Code::iota(int64_t lanes) {
  SmallVector<int64_t> values(lanes);
  for (int64_t i = 0; i < lanes; ++i)
    values[i] = i;
  return arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(vec(b.getIndexType(), lanes), values));
}

Value Code::maskBelow(Value count, int64_t lanes) {
  // 32-bit lanes compare in half the registers; the count is clamped, so nothing is lost.
  Value clamped = max(min(count, index(lanes)), index(0));
  Type i32 = b.getI32Type();
  Value narrow = arith::IndexCastOp::create(b, loc, i32, clamped);
  SmallVector<int32_t> values(lanes);
  for (int64_t i = 0; i < lanes; ++i)
    values[i] = i;
  Value numbers = arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(vec(i32, lanes), values));
  return cmp(arith::CmpIPredicate::slt, numbers, broadcast(narrow, lanes));
}

Value Code::any(Value mask) {
  if (!isVector(mask))
    return mask;
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, mask);
}

//===- Memory ----------------------------------------------------------------===//
Value Code::gep(Value ptr, Type element, Value offset) {
  if (isConstant(offset, 0))
    return ptr;
  Type memory = memoryType(element);
  if (auto vector = dyn_cast<VectorType>(offset.getType())) {
    Value wide = arith::IndexCastOp::create(b, loc, vec(b.getI64Type(), vector.getNumElements()), offset);
    return LLVM::GEPOp::create(b, loc, vec(ptrType(), vector.getNumElements()), memory, ptr,
                               ValueRange{wide});
  }
  if (auto number = constant(offset); number && llvm::isInt<LLVM::kGEPConstantBitWidth>(*number))
    return LLVM::GEPOp::create(b, loc, ptrType(), memory, ptr,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(*number)});
  Value wide = b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), offset);
  return LLVM::GEPOp::create(b, loc, ptrType(), memory, ptr, ValueRange{wide});
}

Value Code::fromMemory(Value value, Type element) {
  auto vector = dyn_cast<VectorType>(value.getType());
  auto like = [&](Type type) -> Type { return vector ? vec(type, vector.getNumElements()) : type; };
  if (element.isInteger(1)) // any non-zero byte reads true
    return cmp(arith::CmpIPredicate::ne, value, zero(value.getType()));
  if (element.isIndex())
    return b.createOrFold<arith::IndexCastOp>(loc, like(b.getIndexType()), value);
  if (element.isF16() || element.isBF16())
    return b.createOrFold<arith::BitcastOp>(loc, like(element), value);
  return value;
}

Value Code::toMemory(Value value, Type element) {
  auto vector = dyn_cast<VectorType>(value.getType());
  auto like = [&](Type type) -> Type { return vector ? vec(type, vector.getNumElements()) : type; };
  if (element.isInteger(1))
    return b.createOrFold<arith::ExtUIOp>(loc, like(b.getI8Type()), value);
  if (element.isIndex())
    return b.createOrFold<arith::IndexCastOp>(loc, like(b.getI64Type()), value);
  if (element.isF16() || element.isBF16())
    return b.createOrFold<arith::BitcastOp>(loc, like(b.getI16Type()), value);
  return value;
}

Value Code::load(Value ptr, Type element, int64_t lanes, int64_t align) {
  Type type = memoryType(element);
  if (lanes > 1)
    type = vec(type, lanes);
  Value raw = LLVM::LoadOp::create(b, loc, type, ptr, align ? align : elementBytes(element));
  return fromMemory(raw, element);
}

void Code::store(Value value, Value ptr, Type element, int64_t align) {
  LLVM::StoreOp::create(b, loc, toMemory(value, element), ptr, align ? align : elementBytes(element));
}

Value Code::maskedLoad(Value ptr, Type element, Value mask, Value otherwise) {
  int64_t lanes = cast<VectorType>(mask.getType()).getNumElements();
  Value pass = toMemory(broadcast(otherwise, lanes), element);
  Value raw = LLVM::MaskedLoadOp::create(b, loc, pass.getType(), ptr, mask, pass,
                                         b.getI32IntegerAttr(elementBytes(element)));
  return fromMemory(raw, element);
}

void Code::maskedStore(Value value, Value ptr, Type element, Value mask) {
  int64_t lanes = cast<VectorType>(mask.getType()).getNumElements();
  LLVM::MaskedStoreOp::create(b, loc, toMemory(broadcast(value, lanes), element), ptr, mask,
                              b.getI32IntegerAttr(elementBytes(element)));
}

Value Code::gather(Value ptr, Type element, Value offsets, Value mask, Value otherwise) {
  int64_t lanes = cast<VectorType>(offsets.getType()).getNumElements();
  if (!mask)
    mask = broadcast(boolean(true), lanes);
  Value pass = toMemory(broadcast(otherwise, lanes), element);
  Value raw =
      LLVM::masked_gather::create(b, loc, pass.getType(), gep(ptr, element, offsets), broadcast(mask, lanes),
                                  ValueRange{pass}, b.getI32IntegerAttr(elementBytes(element)));
  return fromMemory(raw, element);
}

void Code::scatter(Value value, Value ptr, Type element, Value offsets, Value mask) {
  int64_t lanes = cast<VectorType>(offsets.getType()).getNumElements();
  if (!mask)
    mask = broadcast(boolean(true), lanes);
  LLVM::masked_scatter::create(b, loc, toMemory(broadcast(value, lanes), element), gep(ptr, element, offsets),
                               broadcast(mask, lanes), b.getI32IntegerAttr(elementBytes(element)));
}

void Code::prefetch(Value ptr) {
  LLVM::Prefetch::create(b, loc, ptr, b.getI32IntegerAttr(0), b.getI32IntegerAttr(3), b.getI32IntegerAttr(1));
}

//===- Control ---------------------------------------------------------------===//
void Code::loop(Value from, Value to, Value step, Body body) {
  auto lo = constant(from), hi = constant(to), by = constant(step);
  if (lo && hi && by) {
    if (*lo >= *hi)
      return;
    if (*lo + *by >= *hi)
      return body(from);
  }
  auto op = scf::ForOp::create(b, loc, from, to, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

SmallVector<Value> Code::loop(Value from, Value to, int64_t step, ValueRange carried, CarryBody body) {
  auto op = scf::ForOp::create(b, loc, from, to, index(step), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(op.getResults());
}

void Code::when(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
  if (!condition || isConstant(condition, -1) || isConstant(condition, 1))
    return then();
  if (isConstant(condition, 0)) {
    if (otherwise)
      otherwise();
    return;
  }
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  then();
  if (otherwise) {
    b.setInsertionPointToStart(op.elseBlock());
    otherwise();
  }
}

SmallVector<Value> Code::choose(Value condition, TypeRange types,
                                llvm::function_ref<SmallVector<Value>()> then,
                                llvm::function_ref<SmallVector<Value>()> otherwise) {
  if (!condition || isConstant(condition, -1) || isConstant(condition, 1))
    return then();
  if (isConstant(condition, 0))
    return otherwise();
  auto op = scf::IfOp::create(b, loc, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(b, loc, then());
  b.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(b, loc, otherwise());
  return SmallVector<Value>(op.getResults());
}
