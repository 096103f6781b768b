//===- Code.cpp - short names for scalar and vector code of one thread -------===//
#include "Code.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec::simt;

Type tilec::simt::memoryType(Type element) {
  if (element.isInteger(1) || isFloat8(element))
    return IntegerType::get(element.getContext(), 8);
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  return element;
}

Type tilec::simt::registerType(Type element) {
  return isFloat8(element) ? IntegerType::get(element.getContext(), 8) : element;
}

Value Code::constant(Type type, int64_t value) {
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(vector, b.getIntegerAttr(vector.getElementType(), value)));
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

Value Code::zero(Type type) { return arith::ConstantOp::create(b, loc, b.getZeroAttr(type)); }

std::optional<int64_t> Code::known(Value value) {
  IntegerAttr attr;
  if (value && matchPattern(value, m_Constant(&attr)))
    return attr.getInt();
  return std::nullopt;
}

Value Code::div(Value x, int64_t y) {
  if (y == 1)
    return x;
  if (llvm::isPowerOf2_64(y))
    return fold<arith::ShRUIOp>(x, constant(x.getType(), llvm::Log2_64(y)));
  return fold<arith::DivUIOp>(x, constant(x.getType(), y));
}

Value Code::rem(Value x, int64_t y) {
  if (llvm::isPowerOf2_64(y))
    return fold<arith::AndIOp>(x, constant(x.getType(), y - 1));
  return fold<arith::RemUIOp>(x, constant(x.getType(), y));
}

Value Code::cmp(arith::CmpIPredicate p, Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, p, x, y);
}

Value Code::select(Value condition, Value x, Value y) {
  if (!condition || known(condition) == 1 || known(condition) == -1)
    return x;
  return b.createOrFold<arith::SelectOp>(loc, condition, x, y);
}

Value Code::toIndex(Value x) {
  return x.getType().isIndex() ? x : b.createOrFold<arith::IndexCastUIOp>(loc, b.getIndexType(), x);
}

Value Code::toI32(Value x) {
  return x.getType().isInteger(32) ? x : b.createOrFold<arith::IndexCastUIOp>(loc, b.getI32Type(), x);
}

Value Code::cast(Value x, Type type) {
  return x.getType() == type ? x : b.createOrFold<LLVM::BitcastOp>(loc, type, x);
}

Value Code::broadcast(Value scalar, int64_t n) {
  return isVector(scalar) ? scalar
                          : vector::BroadcastOp::create(b, loc, vec(scalar.getType(), n), scalar).getResult();
}

Value Code::element(Value vector, int64_t i) {
  return b.createOrFold<vector::ExtractOp>(loc, vector, ArrayRef<int64_t>{i});
}

Value Code::fromElements(ArrayRef<Value> elements) {
  return b.createOrFold<vector::FromElementsOp>(loc, vec(elements[0].getType(), elements.size()), elements);
}

SmallVector<Value> Code::elements(Value vector) {
  int64_t n = cast_or_null<VectorType>(vector.getType()).getNumElements();
  SmallVector<Value> result;
  for (int64_t i = 0; i < n; ++i)
    result.push_back(element(vector, i));
  return result;
}

Value Code::slice(Value vector, int64_t from, int64_t n) {
  int64_t all = ::llvm::cast<VectorType>(vector.getType()).getNumElements();
  if (from == 0 && n == all)
    return vector;
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < n; ++i)
    order.push_back(from + i);
  return permute(vector, order);
}

Value Code::permute(Value vector, ArrayRef<int64_t> order) {
  int64_t all = ::llvm::cast<VectorType>(vector.getType()).getNumElements();
  bool same = int64_t(order.size()) == all;
  for (auto [i, from] : llvm::enumerate(order))
    same &= int64_t(i) == from;
  if (same)
    return vector;
  return vector::ShuffleOp::create(b, loc, vector, vector, order);
}

Value Code::bitcast(Value vector, Type element) {
  auto type = ::llvm::cast<VectorType>(vector.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  Type to = vec(element, bits / element.getIntOrFloatBitWidth());
  return to == type ? vector : b.createOrFold<vector::BitCastOp>(loc, ::llvm::cast<VectorType>(to), vector);
}

Value Code::offset(Value ptr, Type element, Value at) {
  if (!at)
    return ptr;
  if (at.getType().isIndex())
    at = b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), at);
  return LLVM::GEPOp::create(b, loc, ptr.getType(), element, ptr, ArrayRef<LLVM::GEPArg>{at});
}

Value Code::load(Value ptr, Type type, int64_t align) {
  return LLVM::LoadOp::create(b, loc, type, ptr, unsigned(align));
}

void Code::store(Value value, Value ptr, int64_t align) {
  LLVM::StoreOp::create(b, loc, value, ptr, unsigned(align));
}

static Type withElement(Type like, Type element) {
  auto vector = ::llvm::dyn_cast<VectorType>(like);
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}

Value Code::toMemory(Value value, Type element) {
  Type type = withElement(value.getType(), memoryType(element));
  if (element.isInteger(1))
    return b.createOrFold<arith::ExtUIOp>(loc, type, value);
  if (element.isIndex())
    return b.createOrFold<arith::IndexCastOp>(loc, type, value);
  return value;
}

Value Code::fromMemory(Value value, Type element) {
  if (element.isInteger(1))
    return cmp(arith::CmpIPredicate::ne, value, zero(value.getType()));
  if (element.isIndex())
    return b.createOrFold<arith::IndexCastOp>(loc, withElement(value.getType(), element), value);
  return value;
}

void Code::when(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
  if (!condition || known(condition) == 1 || known(condition) == -1)
    return then();
  auto op = scf::IfOp::create(b, loc, TypeRange(), condition, bool(otherwise));
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
  if (!condition || known(condition) == 1 || known(condition) == -1)
    return then();
  if (known(condition) == 0)
    return otherwise();
  auto op = scf::IfOp::create(b, loc, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(b, loc, then());
  b.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(b, loc, otherwise());
  return SmallVector<Value>(op.getResults());
}

Value Code::assembly(Type result, StringRef text, StringRef constraints, ValueRange operands, bool memory) {
  std::string all = constraints.str();
  if (memory)
    all += all.empty() ? "~{memory}" : ",~{memory}";
  auto op = LLVM::InlineAsmOp::create(
      b, loc, result ? TypeRange(result) : TypeRange(), operands, b.getStringAttr(text), b.getStringAttr(all),
      b.getUnitAttr(), UnitAttr(), LLVM::TailCallKindAttr::get(b.getContext(), LLVM::TailCallKind::None),
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  return result ? op.getResult(0) : Value();
}

SmallVector<Value> Code::assemblies(ArrayRef<Type> results, StringRef text, StringRef constraints,
                                    ValueRange operands, bool memory) {
  if (results.size() == 1)
    return {assembly(results[0], text, constraints, operands, memory)};
  Value all = assembly(LLVM::LLVMStructType::getLiteral(b.getContext(), results), text, constraints, operands,
                       memory);
  SmallVector<Value> values;
  for (int64_t i = 0; i < int64_t(results.size()); ++i)
    values.push_back(LLVM::ExtractValueOp::create(b, loc, all, ArrayRef<int64_t>{i}));
  return values;
}
