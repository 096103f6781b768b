//===- Unparse.cpp - expressions back to source text -------------------------------------===//

#include "tilec/AST/AST.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec::ast;
using llvm::cast;

namespace {
/// Binding strength, weakest first; an operand is put in parentheses when it binds weaker than its place
/// asks.
enum Strength : unsigned {
  sTest = 0, // conditional
  sOr,
  sAnd,
  sNot,
  sCompare,
  sBitOr,
  sBitXor,
  sBitAnd,
  sShift,
  sAdd,
  sMul,
  sUnary,
  sPower,
  sPostfix,
};

class Unparser {
public:
  explicit Unparser(llvm::raw_ostream &os) : os(os) {}
  void expr(const Expr *e, unsigned atLeast = sTest);

private:
  void body(const Expr *e);
  void list(ArrayRef<const Expr *> elements);
  void binary(const BinaryExpr *e);
  void call(const CallExpr *e);
  void comprehension(const ListCompExpr *e);
  void string(StringRef value);

  llvm::raw_ostream &os;
};
} // namespace

static unsigned strength(BinaryOp op) {
  switch (op) {
  case BinaryOp::Or:
    return sBitOr;
  case BinaryOp::Xor:
    return sBitXor;
  case BinaryOp::And:
    return sBitAnd;
  case BinaryOp::Shl:
  case BinaryOp::Shr:
    return sShift;
  case BinaryOp::Add:
  case BinaryOp::Sub:
    return sAdd;
  case BinaryOp::Mul:
  case BinaryOp::Div:
  case BinaryOp::FloorDiv:
  case BinaryOp::Mod:
  case BinaryOp::MatMul:
    return sMul;
  case BinaryOp::Pow:
    return sPower;
  }
  return sPostfix;
}

static unsigned strength(const Expr *e) {
  switch (e->getKind()) {
  case NodeKind::Conditional:
    return sTest;
  case NodeKind::BoolOp:
    return cast<BoolOpExpr>(e)->isAnd ? sAnd : sOr;
  case NodeKind::Unary:
    return cast<UnaryExpr>(e)->op == UnaryOp::Not ? sNot : sUnary;
  case NodeKind::Compare:
    return sCompare;
  case NodeKind::Binary:
    return strength(cast<BinaryExpr>(e)->op);
  default:
    return sPostfix;
  }
}

void Unparser::expr(const Expr *e, unsigned atLeast) {
  bool parens = strength(e) < atLeast;
  if (parens)
    os << '(';
  body(e);
  if (parens)
    os << ')';
}

void Unparser::list(ArrayRef<const Expr *> elements) {
  llvm::interleaveComma(elements, os, [&](const Expr *e) { expr(e); });
}

void Unparser::binary(const BinaryExpr *e) {
  unsigned level = strength(e->op);
  // ** binds to the right and tighter than a unary operator on its left only.
  bool power = e->op == BinaryOp::Pow;
  expr(e->lhs, power ? level + 1 : level);
  os << ' ' << spelling(e->op) << ' ';
  expr(e->rhs, power ? sUnary : level + 1);
}

void Unparser::call(const CallExpr *e) {
  expr(e->callee, sPostfix);
  os << '(';
  llvm::interleaveComma(e->args, os, [&](const Argument &arg) {
    if (!arg.keyword.empty())
      os << arg.keyword.text << '=';
    expr(arg.value);
  });
  os << ')';
}

void Unparser::comprehension(const ListCompExpr *e) {
  os << '[';
  expr(e->element);
  for (const ListCompExpr::Clause &clause : e->clauses) {
    os << " for ";
    expr(clause.target);
    os << " in ";
    expr(clause.iterable, sOr);
    for (const Expr *condition : clause.conditions) {
      os << " if ";
      expr(condition, sOr);
    }
  }
  os << ']';
}

void Unparser::string(StringRef value) {
  os << '"';
  for (char c : value) {
    if (c == '"' || c == '\\')
      os << '\\' << c;
    else if (c == '\n')
      os << "\\n";
    else if (uint8_t(c) < 0x20 || c == 0x7F)
      os << "\\x" << llvm::hexdigit(uint8_t(c) >> 4, true) << llvm::hexdigit(c & 15, true);
    else
      os << c;
  }
  os << '"';
}

void Unparser::body(const Expr *e) {
  switch (e->getKind()) {
  case NodeKind::Name:
    os << cast<NameExpr>(e)->name;
    return;
  case NodeKind::Attribute: {
    const auto *attribute = cast<AttributeExpr>(e);
    // "1.real" would be a malformed number.
    expr(attribute->base, llvm::isa<IntLiteral>(attribute->base) ? sPostfix + 1u : unsigned(sPostfix));
    os << '.' << attribute->attr.text;
    return;
  }
  case NodeKind::Call:
    return call(cast<CallExpr>(e));
  case NodeKind::Subscript: {
    const auto *subscript = cast<SubscriptExpr>(e);
    expr(subscript->base, sPostfix);
    os << '[';
    list(subscript->indices);
    os << (subscript->indices.empty() ? "()]" : "]");
    return;
  }
  case NodeKind::Slice: {
    const auto *slice = cast<SliceExpr>(e);
    if (slice->lower)
      expr(slice->lower);
    os << ':';
    if (slice->upper)
      expr(slice->upper);
    if (slice->step) {
      os << ':';
      expr(slice->step);
    }
    return;
  }
  case NodeKind::Starred:
    os << '*';
    return expr(cast<StarredExpr>(e)->value, sBitOr);
  case NodeKind::Tuple: {
    ArrayRef<const Expr *> elements = cast<TupleExpr>(e)->elements;
    os << '(';
    list(elements);
    os << (elements.size() == 1 ? ",)" : ")");
    return;
  }
  case NodeKind::List:
    os << '[';
    list(cast<ListExpr>(e)->elements);
    os << ']';
    return;
  case NodeKind::Set:
    os << '{';
    list(cast<SetExpr>(e)->elements);
    os << '}';
    return;
  case NodeKind::Dict:
    os << '{';
    llvm::interleaveComma(cast<DictExpr>(e)->entries, os, [&](const DictExpr::Entry &entry) {
      expr(entry.key);
      os << ": ";
      expr(entry.value);
    });
    os << '}';
    return;
  case NodeKind::ListComp:
    return comprehension(cast<ListCompExpr>(e));
  case NodeKind::Unary: {
    const auto *unary = cast<UnaryExpr>(e);
    os << spelling(unary->op) << (unary->op == UnaryOp::Not ? " " : "");
    return expr(unary->operand, strength(e));
  }
  case NodeKind::Binary:
    return binary(cast<BinaryExpr>(e));
  case NodeKind::BoolOp: {
    const auto *op = cast<BoolOpExpr>(e);
    llvm::interleave(
        op->operands, os, [&](const Expr *operand) { expr(operand, strength(e) + 1); },
        op->isAnd ? " and " : " or ");
    return;
  }
  case NodeKind::Compare: {
    const auto *compare = cast<CompareExpr>(e);
    expr(compare->operands[0], sBitOr);
    for (auto [op, operand] : llvm::zip(compare->ops, compare->operands.drop_front())) {
      os << ' ' << spelling(op.op) << ' ';
      expr(operand, sBitOr);
    }
    return;
  }
  case NodeKind::Conditional: {
    const auto *conditional = cast<ConditionalExpr>(e);
    expr(conditional->thenValue, sOr);
    os << " if ";
    expr(conditional->condition, sOr);
    os << " else ";
    return expr(conditional->elseValue);
  }
  case NodeKind::IntLiteral: {
    llvm::SmallString<32> digits;
    cast<IntLiteral>(e)->getValue().toString(digits, 10);
    os << digits;
    return;
  }
  case NodeKind::FloatLiteral:
    os << cast<FloatLiteral>(e)->text;
    return;
  case NodeKind::StringLiteral:
    return string(cast<StringLiteral>(e)->value);
  case NodeKind::BoolLiteral:
    os << (cast<BoolLiteral>(e)->value ? "True" : "False");
    return;
  case NodeKind::NoneLiteral:
    os << "None";
    return;
  case NodeKind::EllipsisLiteral:
    os << "...";
    return;
  default:
    return; // statements are no expressions
  }
}

void tilec::ast::unparse(const Expr *expr, llvm::raw_ostream &os) { Unparser(os).expr(expr); }
