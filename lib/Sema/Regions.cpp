//===- Regions.cpp - allocations and the operands of tile operations ------------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

//===----------------------------------------------------------------------===//
// alloc_shared, alloc_fragment
//===----------------------------------------------------------------------===//

bool Elaborator::tileShape(const ast::Expr *e, hir::Shape &shape) {
  Value v = eval(e);
  if (v.isPoison())
    return false;
  ValueList items = v.isSequence() ? *v.items : ValueList{v};
  __int128 elements = 1;
  constexpr int64_t maxElements = int64_t(1) << 31;
  for (const Value &item : items) {
    auto n = item.asInt64();
    if (!n || *n < 1 || *n > maxElements) {
      if (item.isPoison())
        return false;
      Report r = report(diag::E0223, e->getRange(), item.isInt() ? repr(item) : describe(item));
      if (item.isExpr())
        r.note({}, "a `const` parameter, or -D for a symbolic dimension, gives a compile-time value");
      return false;
    }
    elements *= *n;
    shape.push_back(*n);
    if (elements > maxElements) {
      report(diag::E0223, e->getRange(), repr(v) + ", which has more than 2^31 elements");
      return false;
    }
  }
  if (shape.empty() || shape.size() > 8) {
    report(diag::E0221, e->getRange(), "a tile", shape.size());
    return false;
  }
  return true;
}

Value Elaborator::alloc(const BuiltinInfo &info, const ast::CallExpr *e, llvm::StringRef name,
                        SourceRange nameRange) {
  BoundArgs args = bindArgs(info, e);
  if (!args.ok)
    return Value::poison();
  if (lazyDepth) {
    report(diag::E0123, callName(e), info.name, "an assignment of its own");
    return Value::poison();
  }
  if (!allocName.empty())
    name = allocName;
  if (name.empty())
    name = "tile";
  SourceRange where = allocName.empty() ? callName(e) : allocRange;
  hir::Shape shape;
  bool ok = tileShape(args.named[0]->value, shape);
  auto t = evalDType(args.named[1]->value);
  if (!ok || !t || !charge(where))
    return Value::poison();
  if (++budget.tiles > Budget::maxTiles) {
    budget.exhausted = true;
    report(diag::E0306, where, "tiles and buffers in a kernel", Budget::maxTiles);
    return Value::poison();
  }
  auto kind = info.kind == BuiltinKind::AllocShared ? hir::Object::Shared : hir::Object::Fragment;
  auto *tile = makeObject<hir::TileObj>(name, where, *t, kind);
  tile->shape = shape;
  declared[tile] = where;
  allocDepth[tile] = loops.size();
  flow.setTile(tile->id, Written::No);
  emit(make<hir::Alloc>(tile, loc(callName(e))));
  return Value::ofObject(tile);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static std::string zeros(unsigned n) {
  std::string out = "[";
  for (unsigned i = 0; i < n; ++i)
    out += i ? ", 0" : "0";
  return out + "]";
}

bool Elaborator::wholeRegion(const Value &v, Operand &op) {
  const hir::Object *o = v.object;
  op.region.object = o;
  op.region.loc = loc(op.ast->getRange());
  for (unsigned axis = 0; axis < rankOf(o); ++axis) {
    auto n = staticDim(o, axis);
    if (!n) {
      SourceRange where = op.ast->getRange();
      report(diag::E0236, where, o->name, objectShape(o), zeros(rankOf(o)))
          .fixit(where.atEnd(), zeros(rankOf(o)));
      return false;
    }
    op.region.offsets.push_back(intConst(0, DType::I64, op.region.loc));
    op.region.extents.push_back(*n);
    op.region.dropped.push_back(false);
  }
  op.region.whole = isTileKind(o->kind);
  return true;
}

const hir::Expr *Elaborator::sliceBound(const hir::Object *o, unsigned axis, const ast::Expr *e,
                                        const hir::Expr *otherwise) {
  return e ? indexValue(o, axis, e) : otherwise;
}

bool Elaborator::sliceAxis(const hir::Object *o, unsigned axis, const ast::SliceExpr *s,
                           hir::Region &region) {
  SourceRange where = s->getRange();
  if (s->step) {
    Value step = eval(s->step);
    if (step.asInt64() != 1) {
      report(diag::E0231, s->step->getRange());
      return false;
    }
  }
  auto n = staticDim(o, axis);
  const hir::Expr *lower = sliceBound(o, axis, s->lower, intConst(0, DType::I64, loc(where)));
  const hir::Expr *end = n ? intConst(*n, DType::I64, loc(where)) : nullptr;
  if (!s->upper && !end) {
    report(diag::E0232, where, text(s),
           "its end, `" + static_cast<const hir::TensorObj *>(o)->dims[axis].text +
               "`, is only known at launch");
    return false;
  }
  const hir::Expr *upper = sliceBound(o, axis, s->upper, end);
  if (!lower || !upper)
    return false;
  auto extent = constantDifference(lower, upper);
  if (!extent) {
    report(diag::E0232, where, text(s), "the difference of its bounds is not a compile-time constant");
    return false;
  }
  if (*extent <= 0) {
    report(diag::E0233, where, text(s), *extent);
    return false;
  }
  region.offsets.push_back(lower);
  region.extents.push_back(*extent);
  region.dropped.push_back(false);
  return true;
}

bool Elaborator::slicedRegion(const hir::Object *o, const ast::SubscriptExpr *e, Operand &op) {
  op.region.object = o;
  op.region.loc = loc(e->base->getRange());
  if (e->indices.size() != rankOf(o)) {
    report(diag::E0216, e->base->getRange(), o->name, rankOf(o), e->indices.size())
        .note(declared.lookup(o), "`{0}` of shape {1} is declared here", o->name, objectShape(o));
    return false;
  }
  bool ok = true;
  for (unsigned axis = 0; axis < e->indices.size(); ++axis) {
    if (auto *s = llvm::dyn_cast<ast::SliceExpr>(e->indices[axis])) {
      ok &= sliceAxis(o, axis, s, op.region);
      continue;
    }
    const hir::Expr *x = indexValue(o, axis, e->indices[axis]);
    ok &= x != nullptr;
    op.region.offsets.push_back(x);
    op.region.extents.push_back(1);
    op.region.dropped.push_back(true);
  }
  if (!ok)
    return false;
  op.region.whole = isTileKind(o->kind);
  for (unsigned axis = 0; axis < rankOf(o); ++axis)
    op.region.whole &= constantOf(op.region.offsets[axis]) == 0 &&
                       op.region.extents[axis] == staticDim(o, axis) && !op.region.dropped[axis];
  return true;
}

Operand Elaborator::operand(const ast::Expr *e) {
  Operand op;
  while (auto *choice =
             llvm::dyn_cast<ast::ConditionalExpr>(e)) { // `A if trans else B`, decided while compiling
    Value c = eval(choice->condition);
    if (!c.isConst())
      break;
    checkNames(truth(c) ? choice->elseValue : choice->thenValue);
    e = truth(c) ? choice->thenValue : choice->elseValue;
  }
  op.ast = e;
  auto *sub = llvm::dyn_cast<ast::SubscriptExpr>(e);
  Value base = sub ? eval(sub->base) : Value::poison();
  bool ofObject = sub && base.kind == Value::Object && base.object->kind != hir::Object::Pointer;
  if (sub && base.isPoison())
    return op;
  if (!ofObject) {
    Value v = eval(e);
    if (v.isPoison())
      return op;
    if (v.kind == Value::Object && v.object->kind != hir::Object::Pointer) {
      op.kind = wholeRegion(v, op) ? Operand::Whole : Operand::Bad;
      return op;
    }
    op.scalar = v;
    op.kind = Operand::Scalar;
    return op;
  }
  bool slices = llvm::any_of(sub->indices, [](const ast::Expr *i) { return llvm::isa<ast::SliceExpr>(i); });
  if (slices) {
    op.kind = slicedRegion(base.object, sub, op) ? Operand::Sliced : Operand::Bad;
    return op;
  }
  op.region.object = base.object;
  op.region.loc = loc(sub->base->getRange());
  if (elementIndices(base.object, sub, op.region.offsets))
    op.kind = Operand::Head;
  return op;
}

static hir::Shape kept(const hir::Region &r) {
  hir::Shape shape;
  for (unsigned i = 0; i < r.extents.size(); ++i)
    if (!r.dropped[i])
      shape.push_back(r.extents[i]);
  return shape;
}

/// A head takes the other side's extents, aligned right; what is left over on the left must be 1.
bool Elaborator::headExtents(Operand &head, const Operand &other) {
  hir::Shape shape = kept(other.region);
  unsigned rank = head.region.offsets.size();
  size_t extra = shape.size() > rank ? shape.size() - rank : 0;
  for (size_t i = 0; i < extra; ++i)
    if (shape[i] != 1) {
      report(diag::E0234, head.ast->getRange(), "copy", text(head.ast), objectShape(head.region.object),
             text(other.ast), shapeText(shape));
      return false;
    }
  shape.erase(shape.begin(), shape.begin() + extra);
  head.region.extents.assign(rank - shape.size(), 1);
  head.region.extents.append(shape.begin(), shape.end());
  head.region.dropped.assign(rank, false);
  head.region.whole = isTileKind(head.region.object->kind);
  for (unsigned axis = 0; axis < rank; ++axis)
    head.region.whole &= constantOf(head.region.offsets[axis]) == 0 &&
                         head.region.extents[axis] == staticDim(head.region.object, axis);
  return true;
}

bool Elaborator::needRegion(Operand &op, llvm::StringRef call) {
  switch (op.kind) {
  case Operand::Bad:
    return false;
  case Operand::Head:
    report(diag::E0235, op.ast->getRange(), text(op.ast), call);
    return false;
  case Operand::Scalar:
    report(diag::E0204, op.ast->getRange(), "a tile for `" + call.str() + "`", describe(op.scalar));
    return false;
  default:
    return true;
  }
}

std::string Elaborator::regionShape(const Operand &op) const {
  return op.kind == Operand::Head ? "an element" : shapeText(kept(op.region));
}
