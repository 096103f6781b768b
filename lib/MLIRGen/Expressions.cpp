//===- Expressions.cpp - typed expressions -> scalars ------------------------===//
#include "KernelGen.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::mlirgen;
using namespace tilec::tile;

Type KernelGen::varType(const hir::Object *var) {
  bool isIndex = var->dtype == DType::I64 && (var->kind != hir::Object::Var || indexVars.contains(var));
  return isIndex ? b.getIndexType() : s.valueType(var->dtype);
}

std::optional<int64_t> KernelGen::constantOf(const hir::Expr *e) const {
  switch (e->kind) {
  case hir::Expr::IntConst:
    return static_cast<const hir::IntConst *>(e)->value.trySExtValue();
  case hir::Expr::SymRef:
    return static_cast<const hir::SymRef *>(e)->symbol->fixed;
  case hir::Expr::DimRef: {
    auto *ref = static_cast<const hir::DimRef *>(e);
    if (ref->stride && !ref->tensor->strided)
      return std::nullopt;
    const hir::DimExpr &dim = (ref->stride ? ref->tensor->strides : ref->tensor->dims)[ref->axis];
    return dim.constant ? dim.constant : dim.symbol ? dim.symbol->fixed : std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

Value KernelGen::expr(const hir::Expr *e) {
  At at(*this, e->loc);
  switch (e->kind) {
  case hir::Expr::IntConst:
    return literal(static_cast<const hir::IntConst *>(e));
  case hir::Expr::FloatConst:
    return s.real(s.memoryType(e->type), static_cast<const hir::FloatConst *>(e)->value);
  case hir::Expr::BoolConst:
    return s.boolean(static_cast<const hir::BoolConst *>(e)->value);
  case hir::Expr::ObjRef:
    return objectValue(static_cast<const hir::ObjRef *>(e));
  case hir::Expr::DimRef: {
    auto *ref = static_cast<const hir::DimRef *>(e);
    return dimension(ref->tensor, ref->axis, ref->stride);
  }
  case hir::Expr::SymRef:
    return symbol(static_cast<const hir::SymRef *>(e)->symbol);
  case hir::Expr::Unary: {
    auto *unary = static_cast<const hir::Unary *>(e);
    return s.unary(unary->op, e->type, expr(unary->operand));
  }
  case hir::Expr::Binary: {
    auto *binary = static_cast<const hir::Binary *>(e);
    Value lhs = expr(binary->lhs), rhs = expr(binary->rhs);
    return s.binary(binary->op, e->type, lhs, rhs);
  }
  case hir::Expr::Compare: {
    auto *compare = static_cast<const hir::Compare *>(e);
    Value lhs = expr(compare->lhs), rhs = expr(compare->rhs);
    return s.compare(compare->op, compare->lhs->type, lhs, rhs);
  }
  case hir::Expr::Logical:
    return logical(static_cast<const hir::Logical *>(e));
  case hir::Expr::Select:
    return conditional(static_cast<const hir::Select *>(e));
  case hir::Expr::Cast: {
    auto *cast = static_cast<const hir::Cast *>(e);
    return s.convert(expr(cast->operand), cast->operand->type, e->type, cast->saturate);
  }
  case hir::Expr::Math: {
    auto *math = static_cast<const hir::Math *>(e);
    SmallVector<Value> args;
    for (const hir::Expr *arg : math->args)
      args.push_back(expr(arg));
    return s.math(math->fn, math->args.front()->type, args);
  }
  case hir::Expr::Element:
    return element(static_cast<const hir::Element *>(e));
  }
  return {};
}

Value KernelGen::indexExpr(const hir::Expr *e) {
  Value v = expr(e);
  if (e->type == DType::I64 || v.getType().isIndex())
    return s.toIndex(v);
  At at(*this, e->loc);
  if (!isSigned(e->type)) {
    Value wide = arith::IndexCastUIOp::create(b, s.loc, b.getIndexType(), v);
    s.setNonNegative(wide);
    return wide;
  }
  return arith::IndexCastOp::create(b, s.loc, b.getIndexType(), v);
}

SmallVector<Value> KernelGen::indices(ArrayRef<const hir::Expr *> exprs) {
  SmallVector<Value> values;
  for (const hir::Expr *e : exprs)
    values.push_back(indexExpr(e));
  return values;
}

Value KernelGen::literal(const hir::IntConst *e) {
  if (e->type == DType::I64)
    return s.index(e->value.getSExtValue());
  return arith::ConstantOp::create(b, s.loc, b.getIntegerAttr(s.memoryType(e->type), e->value));
}

Value KernelGen::objectValue(const hir::ObjRef *e) {
  if (Value memory = memories.lookup(e->object))
    return memory;
  if (Value value = env.lookup(keyOf(e->object)))
    return value;
  // Sema has shown that an assignment reaches every use; what cannot run may still be looked at.
  return s.zero(varType(e->object));
}

//===- Extents ------------------------------------------------------------------===//
Value KernelGen::symbol(const hir::Symbol *symbol) {
  if (symbol->fixed)
    return s.index(*symbol->fixed);
  return symbols.lookup(symbol);
}

Value KernelGen::dimension(const hir::TensorObj *tensor, unsigned axis, bool stride) {
  if (!stride || tensor->strided) {
    const hir::DimExpr &dim = (stride ? tensor->strides : tensor->dims)[axis];
    if (dim.constant)
      return s.index(*dim.constant);
    if (dim.symbol)
      return symbol(dim.symbol);
  }
  Value view = memory(tensor);
  if (stride)
    return StrideOp::create(b, s.loc, b.getIndexType(), view, axis);
  Value result = DimOp::create(b, s.loc, view, axis);
  s.setNonNegative(result);
  return result;
}

//===- What is evaluated only when it is needed ---------------------------------===//
/// Everything but a read of a tile or tensor is defined for all values, so it may be computed in any case.
bool KernelGen::mustGuard(const hir::Expr *e) const {
  bool found = false;
  forEachExpr(e, [&](const hir::Expr *part) {
    if (part->kind != hir::Expr::Element)
      return;
    auto *element = static_cast<const hir::Element *>(part);
    bool isOwn = element->object->kind == hir::Object::Local; // or the element that the iteration writes
    if (nest && !isOwn) {
      auto out = nest->outs.find(element->object);
      isOwn = out != nest->outs.end() && linearMap(element->indices, *nest) == out->second;
    }
    found |= !isOwn;
  });
  return found;
}

Value KernelGen::ifValue(Value cond, const hir::Expr *onTrue, const hir::Expr *onFalse, Type type) {
  auto op = scf::IfOp::create(b, s.loc, TypeRange{type}, cond, /*addThenBlock=*/true, /*addElseBlock=*/true);
  auto side = [&](mlir::Block *block, const hir::Expr *e, bool otherwise) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    Value value = e ? s.fit(expr(e), type) : s.boolean(otherwise);
    scf::YieldOp::create(b, s.loc, value);
  };
  side(op.thenBlock(), onTrue, true);
  side(op.elseBlock(), onFalse, false);
  return op.getResult(0);
}

Value KernelGen::logical(const hir::Logical *e) {
  Value lhs = expr(e->lhs);
  if (mustGuard(e->rhs))
    return e->isAnd ? ifValue(lhs, e->rhs, nullptr, b.getI1Type())
                    : ifValue(lhs, nullptr, e->rhs, b.getI1Type());
  Value rhs = expr(e->rhs);
  if (e->isAnd)
    return arith::AndIOp::create(b, s.loc, lhs, rhs);
  return arith::OrIOp::create(b, s.loc, lhs, rhs);
}

Value KernelGen::conditional(const hir::Select *e) {
  Value cond = expr(e->cond);
  if (e->lazy && (mustGuard(e->onTrue) || mustGuard(e->onFalse)))
    return ifValue(cond, e->onTrue, e->onFalse,
                   isIndexArithmetic(e) ? b.getIndexType() : s.valueType(e->type));
  Value onTrue = expr(e->onTrue), onFalse = expr(e->onFalse);
  return s.select(cond, onTrue, onFalse);
}

//===- Elements -----------------------------------------------------------------===//
bool KernelGen::hasRunTimeSafeValue(const hir::Object *object) const {
  if (object->kind != hir::Object::Tensor && object->kind != hir::Object::Workspace &&
      object->kind != hir::Object::MadeTensor)
    return false;
  const hir::Expr *safe = static_cast<const hir::TensorObj *>(object)->safeValue;
  return safe && !s.constantAttr(safe);
}

/// One element of a view in memory form, with the view's safe value outside.
Value KernelGen::viewElement(const hir::TensorObj *tensor, Value view, ValueRange indices) {
  Value value = ElemLoadOp::create(b, s.loc, view, indices, DenseBoolArrayAttr());
  if (!hasRunTimeSafeValue(tensor))
    return value;
  SmallVector<Value> inside;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    Value extent = DimOp::create(b, s.loc, view, axis);
    inside.push_back(arith::CmpIOp::create(b, s.loc, arith::CmpIPredicate::ult, index, extent));
  }
  Value safe = s.toMemory(expr(tensor->safeValue), tensor->dtype);
  return arith::SelectOp::create(b, s.loc, s.andAll(inside), value, safe);
}

Value KernelGen::element(const hir::Element *e) {
  const hir::Object *object = e->object;
  if (object->kind == hir::Object::Local)
    return localElement(e);
  if (object->kind == hir::Object::Fragment) {
    auto *fragment = static_cast<const hir::TileObj *>(object);
    Value value;
    if (nest) {
      Value handled;
      value = nestElement(fragment, e->indices, handled);
      if (handled)
        return handled;
    } else {
      value = ExtractOp::create(b, s.loc, env.lookup(keyOf(object)), indices(e->indices));
    }
    return s.fromMemory(value, object->dtype);
  }
  SmallVector<Value> at = indices(e->indices);
  if (object->kind == hir::Object::Shared)
    return s.fromMemory(ElemLoadOp::create(b, s.loc, memory(object), at, DenseBoolArrayAttr()),
                        object->dtype);
  return s.fromMemory(viewElement(static_cast<const hir::TensorObj *>(object), memory(object), at),
                      object->dtype);
}

/// A local array is one scalar per element; a run-time index is a choice among them.
Value KernelGen::localElement(const hir::Element *e) {
  auto *local = static_cast<const hir::TileObj *>(e->object);
  int64_t fixed = 0;
  bool isFixed = true;
  for (auto [index, extent] : llvm::zip(e->indices, local->shape)) {
    std::optional<int64_t> constant = constantOf(index);
    isFixed &= constant.has_value();
    fixed = fixed * extent + constant.value_or(0);
  }
  int64_t count = numSlots(local);
  auto slot = [&](int64_t i) {
    Value value = env.lookup(keyOf(local, i));
    return value ? value : s.zero(s.valueType(local->dtype));
  };
  if (isFixed)
    return slot(std::clamp<int64_t>(fixed, 0, count - 1));
  Value position = s.index(0);
  for (auto [index, extent] : llvm::zip(e->indices, local->shape))
    position = s.add(s.mul(position, s.index(extent)), indexExpr(index));
  Value result = slot(0);
  for (int64_t i = 1; i < count; ++i) {
    Value here = arith::CmpIOp::create(b, s.loc, arith::CmpIPredicate::eq, position, s.index(i));
    result = s.select(here, slot(i), result);
  }
  return result;
}
