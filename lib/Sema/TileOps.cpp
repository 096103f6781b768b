//===- TileOps.cpp - copy, transpose, fill, clear, reductions, annotations ------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

static hir::Shape kept(const hir::Region &r, bool ones) {
  hir::Shape shape;
  for (unsigned i = 0; i < r.extents.size(); ++i)
    if (!r.dropped[i] && (ones || r.extents[i] != 1))
      shape.push_back(r.extents[i]);
  return shape;
}

Value Elaborator::callTile(const BuiltinInfo &info, const ast::CallExpr *e) {
  if (info.kind == BuiltinKind::SafeValue) {
    safeValueCall(e);
    return Value::none();
  }
  size_t before = ctx.sink.size();
  BoundArgs args = bindArgs(info, e);
  if (args.ok)
    tileCall(info, e, args);
  if (ctx.sink.size() != before)
    wouldWrite(info, args);
  return args.ok ? Value::none() : Value::poison();
}

/// A refused call has its message; that nothing else writes its destination would be a second one for it.
void Elaborator::wouldWrite(const BuiltinInfo &info, const BoundArgs &args) {
  bool first = info.kind == BuiltinKind::Fill || info.kind == BuiltinKind::Clear;
  size_t at = first ? 0 : info.kind == BuiltinKind::Gemm ? 2 : 1;
  if (info.kind == BuiltinKind::UseSwizzle || at >= args.named.size() || !args.named[at])
    return;
  const ast::Expr *e = args.named[at]->value;
  if (auto *sub = llvm::dyn_cast<ast::SubscriptExpr>(e))
    e = sub->base;
  auto *name = llvm::dyn_cast<ast::NameExpr>(e);
  Slot *slot = name ? findSlot(name->name, true) : nullptr;
  if (!slot)
    return;
  const Value &v = flow.get(slot->index).value;
  if (v.kind == Value::Object && isTileKind(v.object->kind))
    noteWrite(v.object, e->getRange());
}

void Elaborator::tileCall(const BuiltinInfo &info, const ast::CallExpr *e, const BoundArgs &args) {
  switch (info.kind) {
  case BuiltinKind::Copy:
    copyCall(e, args);
    break;
  case BuiltinKind::Transpose:
    transposeCall(e, args);
    break;
  case BuiltinKind::Fill:
  case BuiltinKind::Clear:
    fillCall(e, args, info.kind == BuiltinKind::Clear);
    break;
  case BuiltinKind::Gemm:
    gemmCall(e, args);
    break;
  case BuiltinKind::Reduce:
    reduceCall(info, e, args);
    break;
  default:
    swizzleCall(args);
    break;
  }
}

//===----------------------------------------------------------------------===//
// copy and transpose
//===----------------------------------------------------------------------===//

/// Both sides are elements: a load and a store.
void Elaborator::copyScalar(const ast::CallExpr *e, Operand &src, Operand &dst) {
  Value v = src.scalar;
  SourceRange from = src.ast->getRange();
  if (src.kind == Operand::Head) {
    noteRead(src.region.object, from);
    checkElementBounds(src.region.object, src.region.offsets, from);
    v = Value::ofExpr(make<hir::Element>(src.region.object, src.region.offsets, src.region.loc));
  }
  storeElement(dst.region.object, dst.region.offsets, v, ctx.range(dst.region.loc), from);
}

bool Elaborator::copyMatches(const ast::CallExpr *e, Operand &src, Operand &dst) {
  if (src.kind == Operand::Head && !headExtents(src, dst))
    return false;
  if (dst.kind == Operand::Head && !headExtents(dst, src))
    return false;
  if (kept(src.region, false) == kept(dst.region, false))
    return true;
  Report r = report(diag::E0234, callName(e), "copy", text(src.ast), regionShape(src), text(dst.ast),
                    regionShape(dst));
  for (const Operand *op : {&src, &dst}) {
    r.secondary(op->ast->getRange());
    r.note(declared.lookup(op->region.object), "`{0}` of shape {1} is declared here", op->region.object->name,
           objectShape(op->region.object));
  }
  return false;
}

void Elaborator::checkOverlap(const ast::CallExpr *e, const Operand &src, const Operand &dst) {
  if (src.region.object != dst.region.object)
    return;
  for (unsigned axis = 0; axis < src.region.offsets.size(); ++axis) {
    auto apart = constantDifference(src.region.offsets[axis], dst.region.offsets[axis]);
    if (!apart || *apart >= src.region.extents[axis] || -*apart >= dst.region.extents[axis])
      return;
  }
  report(diag::E0239, callName(e), text(src.ast), text(dst.ast));
}

void Elaborator::copyCall(const ast::CallExpr *e, const BoundArgs &args) {
  Operand src = operand(args.named[0]->value), dst = operand(args.named[1]->value);
  if (src.kind == Operand::Bad || dst.kind == Operand::Bad)
    return;
  bool elements = (src.kind == Operand::Head || src.kind == Operand::Scalar) && dst.kind == Operand::Head;
  if (dst.kind == Operand::Scalar) {
    report(diag::E0204, dst.ast->getRange(), "a tensor or tile as destination of `copy`",
           describe(dst.scalar));
    return;
  }
  if (elements && (inParallel() || src.kind == Operand::Scalar)) {
    if (src.kind != Operand::Scalar || needNumber(src.scalar, src.ast, "`copy`"))
      copyScalar(e, src, dst);
    return;
  }
  if (inParallel()) {
    report(diag::E0120, callName(e), "`copy` of a tile", "in a `Parallel` loop");
    return;
  }
  if (src.kind == Operand::Scalar) {
    report(diag::E0237, src.ast->getRange(), describe(src.scalar), text(dst.ast));
    return;
  }
  if (elements) {
    report(diag::E0238, callName(e), text(src.ast), text(dst.ast));
    return;
  }
  if (!copyMatches(e, src, dst))
    return;
  checkOverlap(e, src, dst);
  noteRead(src.region.object, src.ast->getRange());
  noteWrite(dst.region.object, dst.ast->getRange());
  checkRegionBounds(src.region);
  checkRegionBounds(dst.region);
  emit(make<hir::Copy>(src.region, dst.region, loc(callName(e))));
}

void Elaborator::transposeCall(const ast::CallExpr *e, const BoundArgs &args) {
  Operand src = operand(args.named[0]->value), dst = operand(args.named[1]->value);
  if (src.kind == Operand::Bad || dst.kind == Operand::Bad)
    return;
  if (src.kind == Operand::Head || src.kind == Operand::Scalar) {
    needRegion(src, "transpose");
    return;
  }
  hir::Shape want = kept(src.region, true);
  while (want.size() > 2 && want.front() == 1)
    want.erase(want.begin());
  if (want.size() < 2) {
    report(diag::E0216, src.ast->getRange(), text(src.ast), 2, want.size());
    return;
  }
  std::swap(want[want.size() - 1], want[want.size() - 2]);
  if (dst.kind == Operand::Head) {
    Operand turned = src;
    turned.region.extents = want;
    turned.region.dropped.assign(want.size(), false);
    if (!headExtents(dst, turned))
      return;
  } else if (!needRegion(dst, "transpose")) {
    return;
  }
  hir::Shape have = kept(dst.region, true);
  while (have.size() > want.size() && have.front() == 1)
    have.erase(have.begin());
  if (have != want) {
    report(diag::E0234, callName(e), "transpose", text(src.ast), regionShape(src), text(dst.ast),
           regionShape(dst));
    return;
  }
  if (src.region.object == dst.region.object) {
    report(diag::E0239, callName(e), text(src.ast), text(dst.ast));
    return;
  }
  noteRead(src.region.object, src.ast->getRange());
  noteWrite(dst.region.object, dst.ast->getRange());
  checkRegionBounds(src.region);
  checkRegionBounds(dst.region);
  auto *copy = make<hir::Copy>(src.region, dst.region, loc(callName(e)));
  copy->transpose = true;
  emit(copy);
}

//===----------------------------------------------------------------------===//
// fill, clear
//===----------------------------------------------------------------------===//

void Elaborator::fillCall(const ast::CallExpr *e, const BoundArgs &args, bool clear) {
  Operand dst = operand(args.named[0]->value);
  Value v = clear ? Value::ofInt(0) : eval(args.named[1]->value);
  SourceRange where = clear ? callName(e) : args.named[1]->value->getRange();
  if (!needRegion(dst, clear ? "clear" : "fill"))
    return;
  if (!clear && !needNumber(v, args.named[1]->value, "`fill`"))
    return;
  const hir::Expr *x = convert(v, dst.region.object->dtype, where);
  noteWrite(dst.region.object, dst.ast->getRange());
  checkRegionBounds(dst.region);
  if (x)
    emit(make<hir::Fill>(dst.region, x, loc(callName(e))));
}

//===----------------------------------------------------------------------===//
// Reductions (rule 46)
//===----------------------------------------------------------------------===//

void Elaborator::reduceCall(const BuiltinInfo &info, const ast::CallExpr *e, const BoundArgs &args) {
  Operand src = operand(args.named[0]->value), dst = operand(args.named[1]->value);
  bool hasNan = info.sub == 1 || info.sub == 2 || info.sub == 4;
  auto clear = boolArgument(args, 3, "clear", true);
  auto nan = hasNan ? boolArgument(args, 4, "nan_propagate", true) : std::optional<bool>(true);
  if (!needRegion(src, info.name) || !needRegion(dst, info.name) || !clear || !nan)
    return;
  if (!isTileKind(src.region.object->kind) || !isTileKind(dst.region.object->kind)) {
    const Operand &wrong = isTileKind(src.region.object->kind) ? dst : src;
    report(diag::E0204, wrong.ast->getRange(), "a tile for `" + info.name.str() + "`",
           describe(Value::ofObject(wrong.region.object)))
        .note({}, "copy the tensor to a tile first");
    return;
  }
  if (!dst.region.whole) {
    report(diag::E0530, dst.ast->getRange(), "a slice as the result of `" + info.name.str() + "`",
           "reduce to a tile of its own and copy it");
    return;
  }
  hir::Shape from = kept(src.region, true);
  int64_t rank = from.size();
  int64_t axis = rank - 1;
  if (args.named[2]) {
    auto n = intArgument(args.named[2], "dim", -rank, rank - 1);
    if (!n)
      return;
    axis = *n < 0 ? *n + rank : *n;
  }
  auto *to = static_cast<const hir::TileObj *>(dst.region.object);
  hir::Shape without = from, withOne = from;
  without.erase(without.begin() + axis);
  withOne[axis] = 1;
  bool fits = to->shape == withOne || (rank > 1 && to->shape == without);
  if (!fits) {
    report(diag::E0241, callName(e), info.name, text(src.ast), shapeText(from), axis, to->name,
           shapeText(to->shape), shapeText(rank > 1 ? without : withOne))
        .note(declared.lookup(to), "`{0}` is allocated here", to->name);
    return;
  }
  DType s = src.region.object->dtype, d = to->dtype;
  bool bits = info.sub >= 5;
  bool typeOk = bits ? (isInteger(s) || s == DType::Bool) && (isInteger(d) || d == DType::Bool)
                     : s != DType::Bool && d != DType::Bool && !isNarrowFloat(d);
  if (!typeOk) {
    report(diag::E0242, callName(e), info.name, dtypeName(s), dtypeName(d),
           bits ? "integers and bools" : "numbers, with a result other than fp8");
    return;
  }
  if (src.region.object == to) {
    report(diag::E0239, callName(e), text(src.ast), text(dst.ast));
    return;
  }
  noteRead(src.region.object, src.ast->getRange());
  if (!*clear)
    noteRead(to, dst.ast->getRange());
  noteWrite(to, dst.ast->getRange());
  checkRegionBounds(src.region);
  auto *node =
      make<hir::Reduce>(static_cast<hir::ReduceOp>(info.sub), src.region, to, axis, loc(callName(e)));
  node->clear = *clear;
  node->nanPropagate = *nan;
  emit(node);
}

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

void Elaborator::safeValueCall(const ast::CallExpr *e) {
  auto *dict = e->args.size() == 1 ? llvm::dyn_cast<ast::DictExpr>(e->args[0].value) : nullptr;
  if (!dict) {
    report(diag::E0215, callName(e), "annotate_safe_value", "`{X: value}`", "something else");
    return;
  }
  safeValueAt = callName(e);
  for (const ast::DictExpr::Entry &entry : dict->entries) {
    Value key = eval(entry.key), v = eval(entry.value);
    if (key.isPoison() || !needNumber(v, entry.value, "a safe value"))
      continue;
    hir::TensorObj *t = key.kind == Value::Object ? mutableTensors.lookup(key.object) : nullptr;
    if (!t) {
      report(diag::E0204, entry.key->getRange(), "a tensor parameter", describe(key));
      continue;
    }
    if (usedTensors.contains(t) || conditional || runtimeDepth) {
      report(diag::E0250, entry.key->getRange(), t->name);
      continue;
    }
    t->safeValue = convert(v, t->dtype, entry.value->getRange());
  }
}

/// The order of the blocks: `panel_size` rows or columns of them together.
void Elaborator::swizzleCall(const BoundArgs &args) {
  std::optional<int64_t> panel = intArgument(args.named[0], "panel_size", 1, 1024);
  bool columns = false;
  if (args.named[1]) {
    Value v = eval(args.named[1]->value);
    if (v.kind != Value::String || (*v.text != "row" && *v.text != "column"))
      if (!v.isPoison())
        report(diag::E0218, args.named[1]->value->getRange(), "order", "\"row\" or \"column\"", repr(v));
    columns = v.kind == Value::String && *v.text == "column";
  }
  bool enable = boolArgument(args, 2, "enable", true).value_or(true);
  if (!launch)
    return;
  launch->panel = enable ? panel : std::optional<int64_t>(1);
  launch->panelColumns = enable && columns;
}
