//===- Gemm.cpp - the matrix product (rule 47) ----------------------------------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

/// 2-D after dropping ones: leading ones first, then any.
static std::optional<std::pair<int64_t, int64_t>> matrix(const hir::Region &r) {
  hir::Shape shape;
  for (unsigned i = 0; i < r.extents.size(); ++i)
    if (!r.dropped[i])
      shape.push_back(r.extents[i]);
  for (unsigned i = 0; i < shape.size() && shape.size() > 2;) {
    if (shape[i] == 1)
      shape.erase(shape.begin() + i);
    else
      ++i;
  }
  if (shape.size() != 2)
    return std::nullopt;
  return std::pair(shape[0], shape[1]);
}

bool Elaborator::gemmShapes(const ast::CallExpr *e, hir::Gemm *g, const Operand &a, const Operand &b,
                            const Operand &c) {
  std::pair<int64_t, int64_t> dims[3];
  const Operand *ops[] = {&a, &b, &c};
  for (int i = 0; i < 3; ++i) {
    auto m = matrix(ops[i]->region);
    if (!m) {
      report(diag::E0243, ops[i]->ast->getRange(), text(ops[i]->ast), regionShape(*ops[i]));
      return false;
    }
    dims[i] = *m;
  }
  auto [m, k] = g->transA ? std::pair(dims[0].second, dims[0].first) : dims[0];
  auto [k2, n] = g->transB ? std::pair(dims[1].second, dims[1].first) : dims[1];
  g->m = m;
  g->n = n;
  g->k = k;
  if (k == k2 && dims[2] == std::pair(m, n))
    return true;
  auto side = [&](const Operand &op, bool transposed) {
    return "`" + text(op.ast) + "` " + regionShape(op) + (transposed ? " transposed" : "");
  };
  Report r = report(diag::E0244, callName(e), side(a, g->transA), side(b, g->transB), side(c, false),
                    k != k2 ? "the inner extents are " + std::to_string(k) + " and " + std::to_string(k2)
                            : "the product has the shape " + shapeText({m, n}));
  for (const Operand *op : ops) {
    r.secondary(op->ast->getRange());
    r.note(declared.lookup(op->region.object), "`{0}` of shape {1} is allocated here",
           op->region.object->name, objectShape(op->region.object));
  }
  if (k != k2 && k == (g->transB ? k2 : n) && !g->transB)
    r.note({}, "`transpose_B=True` would make the inner extents equal");
  return false;
}

/// The accumulator types of an operand type; empty when gemm does not take it.
static llvm::SmallVector<DType, 2> accumulators(DType t) {
  switch (t) {
  case DType::F16:
    return {DType::F32, DType::F16};
  case DType::BF16:
  case DType::F32:
  case DType::E4M3:
  case DType::E5M2:
    return {DType::F32};
  case DType::F64:
    return {DType::F64};
  case DType::I8:
  case DType::U8:
    return {DType::I32};
  default:
    return {};
  }
}

bool Elaborator::gemmTypes(const ast::CallExpr *e, const Operand &a, const Operand &b, const Operand &c) {
  DType x = a.region.object->dtype, y = b.region.object->dtype, z = c.region.object->dtype;
  bool bytes = (x == DType::I8 || x == DType::U8) && (y == DType::I8 || y == DType::U8);
  bool pair = x == y || bytes || (isNarrowFloat(x) && isNarrowFloat(y));
  llvm::SmallVector<DType, 2> results = accumulators(x);
  if (pair && llvm::is_contained(results, z))
    return true;
  std::string way;
  if (results.empty())
    way = "operands are float16, bfloat16, float32, float64, fp8, int8 or uint8";
  else if (!pair)
    way = "both operands have one type";
  else
    for (DType t : results)
      way +=
          (way.empty() ? "the accumulator of " + dtypeName(x).str() + " is " : " or ") + dtypeName(t).str();
  Report r = report(diag::E0245, callName(e), dtypeName(x), dtypeName(y), dtypeName(z), way);
  for (const Operand *op : {&a, &b, &c})
    r.note(declared.lookup(op->region.object), "`{0}` is {1}", op->region.object->name,
           dtypeName(op->region.object->dtype));
  return false;
}

bool Elaborator::gemmOptions(const ast::CallExpr *e, const BoundArgs &args, hir::Gemm *g) {
  auto ta = boolArgument(args, 3, "transpose_A", false), tb = boolArgument(args, 4, "transpose_B", false);
  bool ok = ta && tb;
  g->transA = ta.value_or(false);
  g->transB = tb.value_or(false);
  if (const ast::Argument *a = args.named[5]) {
    Value v = eval(a->value);
    if (v.kind == Value::Policy) {
      g->policy = v.policy;
    } else {
      if (!v.isPoison())
        report(diag::E0218, a->value->getRange(), "policy",
               "GemmWarpPolicy.Square, GemmWarpPolicy.FullRow or GemmWarpPolicy.FullCol", describe(v));
      ok = false;
    }
  }
  if (const ast::Argument *a = args.named[6]) {
    Value v = eval(a->value);
    const hir::Expr *c = toCondition(v, a->value);
    ok &= c != nullptr;
    bool never = v.isConst() && !truth(v);
    g->clearAccum = never ? nullptr : c;
  }
  if (const ast::Argument *a = args.named[7]) {
    Value v = eval(a->value);
    static const std::pair<const char *, hir::Precision> names[] = {{"ieee", hir::Precision::Ieee},
                                                                    {"tf32", hir::Precision::TF32},
                                                                    {"tf32x3", hir::Precision::TF32x3},
                                                                    {"bf16x6", hir::Precision::BF16x6}};
    bool found = false;
    for (auto [name, precision] : names)
      if (v.kind == Value::String && *v.text == name) {
        g->precision = precision;
        found = true;
      }
    if (!found && !v.isPoison())
      report(diag::E0218, a->value->getRange(), "precision", "\"ieee\", \"tf32\", \"tf32x3\" or \"bf16x6\"",
             repr(v));
    ok &= found;
  }
  return ok;
}

void Elaborator::gemmCall(const ast::CallExpr *e, const BoundArgs &args) {
  Operand ops[3];
  bool ok = true;
  for (int i = 0; i < 3; ++i) {
    ops[i] = operand(args.named[i]->value);
    ok &= needRegion(ops[i], "gemm");
  }
  auto *g = make<hir::Gemm>(loc(callName(e)));
  ok &= gemmOptions(e, args, g);
  if (!ok)
    return;
  for (const Operand &op : ops) {
    const hir::Object *o = op.region.object;
    if (!isTileKind(o->kind)) {
      report(diag::E0204, op.ast->getRange(), "a shared tile or fragment for `gemm`",
             describe(Value::ofObject(o)))
          .note({}, "copy the tensor to a shared tile first");
      return;
    }
    if (o->kind == hir::Object::Fragment && !op.region.whole) {
      report(diag::E0530, op.ast->getRange(), "a slice of a fragment in `gemm`", "use a fragment of its own");
      return;
    }
  }
  if (!gemmShapes(e, g, ops[0], ops[1], ops[2]) || !gemmTypes(e, ops[0], ops[1], ops[2]))
    return;
  if (g->precision != hir::Precision::Default && ops[0].region.object->dtype != DType::F32) {
    report(diag::E0246, args.named[7]->range, dtypeName(ops[0].region.object->dtype));
    return;
  }
  for (int i = 0; i < 2; ++i)
    if (ops[i].region.object == ops[2].region.object) {
      report(diag::E0239, callName(e), text(ops[i].ast), text(ops[2].ast));
      return;
    }
  for (int i = 0; i < 3; ++i)
    checkRegionBounds(ops[i].region);
  noteRead(ops[0].region.object, ops[0].ast->getRange());
  noteRead(ops[1].region.object, ops[1].ast->getRange());
  bool clears = g->clearAccum && g->clearAccum->kind == hir::Expr::BoolConst;
  bool runtimeClear = g->clearAccum && !clears; // may clear in the first trip: nobody can tell
  if (!clears && !runtimeClear)
    noteRead(ops[2].region.object, ops[2].ast->getRange());
  noteWrite(ops[2].region.object, ops[2].ast->getRange());
  g->a = ops[0].region;
  g->b = ops[1].region;
  g->c = ops[2].region;
  emit(g);
}
