//===- ExprBuild.cpp - typed expressions, folded where it is free ---------------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;
using hir::BinaryOp;
using llvm::APInt;

static const hir::IntConst *asInt(const hir::Expr *e) {
  return e->kind == hir::Expr::IntConst ? static_cast<const hir::IntConst *>(e) : nullptr;
}

static APInt floorDiv(const APInt &a, const APInt &b, bool isSigned) {
  if (!isSigned)
    return a.udiv(b);
  APInt q = a.sdiv(b), r = a.srem(b);
  return !r.isZero() && r.isNegative() != b.isNegative() ? q - 1 : q;
}

/// The value of `a op b` in their width, wrapping; none where the language leaves it open.
static std::optional<APInt> foldInt(BinaryOp op, const APInt &a, const APInt &b, bool isSigned) {
  switch (op) {
  case BinaryOp::Add:
    return a + b;
  case BinaryOp::Sub:
    return a - b;
  case BinaryOp::Mul:
    return a * b;
  case BinaryOp::BitAnd:
    return a & b;
  case BinaryOp::BitOr:
    return a | b;
  case BinaryOp::BitXor:
    return a ^ b;
  case BinaryOp::Min:
    return (isSigned ? a.slt(b) : a.ult(b)) ? a : b;
  case BinaryOp::Max:
    return (isSigned ? a.sgt(b) : a.ugt(b)) ? a : b;
  case BinaryOp::Shl:
  case BinaryOp::Shr:
    if (b.uge(a.getBitWidth()))
      return std::nullopt;
    if (op == BinaryOp::Shl)
      return a.shl(b.getZExtValue());
    return isSigned ? a.ashr(b.getZExtValue()) : a.lshr(b.getZExtValue());
  default:
    break;
  }
  if (b.isZero() || (isSigned && a.isMinSignedValue() && b.isAllOnes()))
    return std::nullopt;
  APInt q = floorDiv(a, b, isSigned), r = a - q * b;
  switch (op) {
  case BinaryOp::FloorDiv:
    return q;
  case BinaryOp::Mod:
    return r;
  case BinaryOp::CeilDiv:
    return r.isZero() ? q : q + 1;
  case BinaryOp::TruncDiv:
    return isSigned ? a.sdiv(b) : a.udiv(b);
  case BinaryOp::TruncMod:
    return isSigned ? a.srem(b) : a.urem(b);
  default:
    return std::nullopt;
  }
}

const hir::Expr *Elaborator::binary(BinaryOp op, const hir::Expr *a, const hir::Expr *b, hir::Loc l) {
  DType t = a->type;
  const hir::IntConst *x = asInt(a), *y = asInt(b);
  if (x && y && isInteger(t))
    if (auto v = foldInt(op, x->value, y->value, isSigned(t)))
      return make<hir::IntConst>(*v, t, l);
  if (isInteger(t)) {
    if ((op == BinaryOp::Add && y && y->value.isZero()) || (op == BinaryOp::Sub && y && y->value.isZero()))
      return a;
    if (op == BinaryOp::Add && x && x->value.isZero())
      return b;
    if ((op == BinaryOp::Mul || op == BinaryOp::FloorDiv || op == BinaryOp::CeilDiv) && y && y->value.isOne())
      return a;
    if (op == BinaryOp::Mul && x && x->value.isOne())
      return b;
  }
  return make<hir::Binary>(op, a, b, t, l);
}

const hir::Expr *Elaborator::negate(const hir::Expr *e, hir::Loc l) {
  if (const hir::IntConst *c = asInt(e))
    return make<hir::IntConst>(-c->value, e->type, l);
  if (e->kind == hir::Expr::FloatConst)
    return make<hir::FloatConst>(-static_cast<const hir::FloatConst *>(e)->value, e->type, l);
  return make<hir::Unary>(hir::UnaryOp::Neg, e, e->type, l);
}

const hir::Expr *Elaborator::cast(const hir::Expr *e, DType t, bool saturate, hir::Loc l) {
  if (e->type == t)
    return e;
  if (const hir::IntConst *c = asInt(e); c && isInteger(t)) {
    APInt v = isSigned(e->type) ? c->value.sextOrTrunc(dtypeBits(t)) : c->value.zextOrTrunc(dtypeBits(t));
    return make<hir::IntConst>(v, t, l);
  }
  return make<hir::Cast>(e, t, saturate, l);
}
