//===- Bodies.cpp - allocation, assignment, stores of one element ------------===//
#include "KernelGen.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::mlirgen;
using namespace tilec::tile;

Value KernelGen::memory(const hir::Object *object) {
  if (Value known = memories.lookup(object))
    return known;
  // A make_tensor without a statement of its own: a view costs nothing, so each use makes it.
  return makeView(static_cast<const hir::TensorObj *>(object));
}

void KernelGen::allocate(const hir::Object *object) {
  switch (object->kind) {
  case hir::Object::Fragment: {
    auto *fragment = static_cast<const hir::TileObj *>(object);
    auto saved = llvm::SaveAndRestore(s.loc, namedLoc(object->name, object->loc));
    env[keyOf(object)] = undef(fragment->shape, fragment->dtype);
    return;
  }
  case hir::Object::Shared: {
    if (hoisted.contains(object))
      return;
    auto *buffer = static_cast<const hir::TileObj *>(object);
    auto type = BufferType::get(b.getContext(), buffer->shape, s.memoryType(buffer->dtype), LayoutAttr());
    memories[object] = AllocOp::create(b, namedLoc(object->name, object->loc), type, IntegerAttr());
    return;
  }
  case hir::Object::Local:
    for (int64_t i = 0, n = numSlots(object); i < n; ++i)
      env[keyOf(object, i)] = s.zero(s.valueType(object->dtype));
    return;
  case hir::Object::Workspace:
  case hir::Object::MadeTensor:
    memories[object] = makeView(static_cast<const hir::TensorObj *>(object));
    return;
  default:
    return; // parameters and scalars exist without it
  }
}

void KernelGen::assign(const hir::Assign *stmt) {
  env[keyOf(stmt->var)] = s.fit(expr(stmt->value), varType(stmt->var));
}

void KernelGen::storeElement(const hir::StoreElement *stmt) {
  const hir::Object *object = stmt->object;
  Value value = s.fit(expr(stmt->value), s.valueType(object->dtype)); // int64 data is i64
  if (object->kind == hir::Object::Local)
    return storeLocal(stmt, value);
  if (object->kind != hir::Object::Fragment) {
    SmallVector<Value> at = indices(stmt->indices);
    ElemStoreOp::create(b, s.loc, s.toMemory(value, object->dtype), memory(object), at, DenseBoolArrayAttr());
    return;
  }
  if (!nest) {
    SmallVector<Value> at = indices(stmt->indices);
    Value tile = env.lookup(keyOf(object));
    env[keyOf(object)] = InsertOp::create(b, s.loc, s.toMemory(value, object->dtype), tile, at);
    return;
  }
  if (Value buffer = nest->sharedCopies.lookup(object)) {
    SmallVector<Value> at = indices(stmt->indices);
    ElemStoreOp::create(b, s.loc, s.toMemory(value, object->dtype), buffer, at, DenseBoolArrayAttr());
    return;
  }
  env[keyOf(object)] = value; // the element of this iteration
}

void KernelGen::storeLocal(const hir::StoreElement *stmt, Value value) {
  auto *local = static_cast<const hir::TileObj *>(stmt->object);
  int64_t fixed = 0, count = numSlots(local);
  bool isFixed = true;
  for (auto [index, extent] : llvm::zip(stmt->indices, local->shape)) {
    std::optional<int64_t> constant = constantOf(index);
    isFixed &= constant.has_value();
    fixed = fixed * extent + constant.value_or(0);
  }
  if (isFixed) {
    if (fixed >= 0 && fixed < count)
      env[keyOf(local, fixed)] = value;
    return;
  }
  Value position = s.index(0);
  for (auto [index, extent] : llvm::zip(stmt->indices, local->shape))
    position = s.add(s.mul(position, s.index(extent)), indexExpr(index));
  for (int64_t i = 0; i < count; ++i) {
    Value old = env.lookup(keyOf(local, i));
    if (!old)
      old = s.zero(s.valueType(local->dtype));
    Value here = arith::CmpIOp::create(b, s.loc, arith::CmpIPredicate::eq, position, s.index(i));
    env[keyOf(local, i)] = s.select(here, value, old);
  }
}

/// A buffer that holds what `fragment` holds now. Each such detour is reported.
Value KernelGen::sharedCopyOf(const hir::TileObj *fragment, const hir::Loc &loc, StringRef why) {
  remark(loc) << "[R0403] `" << fragment->name << "` goes through shared memory here: " << why;
  auto type = BufferType::get(b.getContext(), fragment->shape, s.memoryType(fragment->dtype), LayoutAttr());
  Value buffer = AllocOp::create(b, s.loc, type, IntegerAttr());
  StoreOp::create(b, s.loc, env.lookup(keyOf(fragment)), buffer, ValueRange{}, DenseI64ArrayAttr(),
                  DenseBoolArrayAttr());
  return buffer;
}
