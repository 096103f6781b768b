//===- AST.cpp - names and walking ---------------------------------------------------===//

#include "tilec/AST/AST.h"

using namespace tilec::ast;

StringRef tilec::ast::kindName(NodeKind kind) {
  static constexpr llvm::StringLiteral names[] = {"Name",
                                                  "Attribute",
                                                  "Call",
                                                  "Subscript",
                                                  "Slice",
                                                  "Starred",
                                                  "Tuple",
                                                  "List",
                                                  "Set",
                                                  "Dict",
                                                  "ListComp",
                                                  "Unary",
                                                  "Binary",
                                                  "BoolOp",
                                                  "Compare",
                                                  "Conditional",
                                                  "IntLiteral",
                                                  "FloatLiteral",
                                                  "StringLiteral",
                                                  "BoolLiteral",
                                                  "NoneLiteral",
                                                  "EllipsisLiteral",
                                                  "Import",
                                                  "ImportFrom",
                                                  "FunctionDef",
                                                  "With",
                                                  "For",
                                                  "While",
                                                  "If",
                                                  "Assign",
                                                  "AugAssign",
                                                  "AnnAssign",
                                                  "Return",
                                                  "Pass",
                                                  "Break",
                                                  "Continue",
                                                  "Assert",
                                                  "ExprStmt"};
  static_assert(std::size(names) == size_t(NodeKind::lastStmt) + 1);
  return names[size_t(kind)];
}

StringRef tilec::ast::spelling(UnaryOp op) {
  static constexpr llvm::StringLiteral names[] = {"-", "+", "~", "not"};
  return names[size_t(op)];
}

StringRef tilec::ast::spelling(BinaryOp op) {
  static constexpr llvm::StringLiteral names[] = {"+", "-",  "*",  "/", "//", "%", "**",
                                                  "@", "<<", ">>", "&", "|",  "^"};
  return names[size_t(op)];
}

StringRef tilec::ast::spelling(CompareOp op) {
  static constexpr llvm::StringLiteral names[] = {
      "<", "<=", ">", ">=", "==", "!=", "in", "not in", "is", "is not"};
  return names[size_t(op)];
}

llvm::APSInt IntLiteral::getValue() const {
  unsigned bits = unsigned(std::max<size_t>(words.size(), 1)) * 64;
  llvm::APInt value = words.empty() ? llvm::APInt(64, 0) : llvm::APInt(bits, words);
  // One bit for the sign; a multiple of 64 keeps the common case a single word.
  unsigned needed = std::max(64u, value.getActiveBits() + 1);
  return llvm::APSInt(value.zextOrTrunc(needed), /*isUnsigned=*/false);
}

namespace {
/// One overload for each shape that children come in.
struct ChildVisitor {
  llvm::function_ref<void(const Node *)> visit;

  void operator()(const Node *node) const {
    if (node)
      visit(node);
  }
  template <typename T> void operator()(ArrayRef<const T *> nodes) const {
    for (const T *node : nodes)
      (*this)(node);
  }

  void children(const AttributeExpr *e) const { (*this)(e->base); }
  void children(const CallExpr *e) const {
    (*this)(e->callee);
    for (const Argument &arg : e->args)
      (*this)(arg.value);
  }
  void children(const SubscriptExpr *e) const {
    (*this)(e->base);
    (*this)(e->indices);
  }
  void children(const SliceExpr *e) const {
    (*this)(e->lower);
    (*this)(e->upper);
    (*this)(e->step);
  }
  void children(const StarredExpr *e) const { (*this)(e->value); }
  void children(const TupleExpr *e) const { (*this)(e->elements); }
  void children(const ListExpr *e) const { (*this)(e->elements); }
  void children(const SetExpr *e) const { (*this)(e->elements); }
  void children(const DictExpr *e) const {
    for (const DictExpr::Entry &entry : e->entries) {
      (*this)(entry.key);
      (*this)(entry.value);
    }
  }
  void children(const ListCompExpr *e) const {
    (*this)(e->element);
    for (const ListCompExpr::Clause &clause : e->clauses) {
      (*this)(clause.target);
      (*this)(clause.iterable);
      (*this)(clause.conditions);
    }
  }
  void children(const UnaryExpr *e) const { (*this)(e->operand); }
  void children(const BinaryExpr *e) const {
    (*this)(e->lhs);
    (*this)(e->rhs);
  }
  void children(const BoolOpExpr *e) const { (*this)(e->operands); }
  void children(const CompareExpr *e) const { (*this)(e->operands); }
  void children(const ConditionalExpr *e) const {
    (*this)(e->thenValue);
    (*this)(e->condition);
    (*this)(e->elseValue);
  }
  void children(const FunctionDef *s) const {
    (*this)(s->decorators);
    for (const Param &param : s->params) {
      (*this)(param.annotation);
      (*this)(param.defaultValue);
    }
    (*this)(s->returns);
    (*this)(s->docstring);
    (*this)(s->body);
  }
  void children(const WithStmt *s) const {
    for (const WithStmt::Item &item : s->items) {
      (*this)(item.context);
      (*this)(item.target);
    }
    (*this)(s->body);
  }
  void children(const ForStmt *s) const {
    (*this)(s->target);
    (*this)(s->iterable);
    (*this)(s->body);
  }
  void children(const WhileStmt *s) const {
    (*this)(s->condition);
    (*this)(s->body);
  }
  void children(const IfStmt *s) const {
    (*this)(s->condition);
    (*this)(s->thenBody);
    (*this)(s->elseBody);
  }
  void children(const AssignStmt *s) const {
    (*this)(s->targets);
    (*this)(s->value);
  }
  void children(const AugAssignStmt *s) const {
    (*this)(s->target);
    (*this)(s->value);
  }
  void children(const AnnAssignStmt *s) const {
    (*this)(s->target);
    (*this)(s->annotation);
    (*this)(s->value);
  }
  void children(const ReturnStmt *s) const { (*this)(s->value); }
  void children(const AssertStmt *s) const {
    (*this)(s->condition);
    (*this)(s->message);
  }
  void children(const ExprStmt *s) const { (*this)(s->value); }
};
} // namespace

void tilec::ast::forEachChild(const Node *node, llvm::function_ref<void(const Node *)> visit) {
  ChildVisitor visitor{visit};
  switch (node->getKind()) {
#define INNER(Kind, Class)                                                                                   \
  case NodeKind::Kind:                                                                                       \
    return visitor.children(llvm::cast<Class>(node));
    INNER(Attribute, AttributeExpr)
    INNER(Call, CallExpr)
    INNER(Subscript, SubscriptExpr)
    INNER(Slice, SliceExpr)
    INNER(Starred, StarredExpr)
    INNER(Tuple, TupleExpr)
    INNER(List, ListExpr)
    INNER(Set, SetExpr)
    INNER(Dict, DictExpr)
    INNER(ListComp, ListCompExpr)
    INNER(Unary, UnaryExpr)
    INNER(Binary, BinaryExpr)
    INNER(BoolOp, BoolOpExpr)
    INNER(Compare, CompareExpr)
    INNER(Conditional, ConditionalExpr)
    INNER(FunctionDef, FunctionDef)
    INNER(With, WithStmt)
    INNER(For, ForStmt)
    INNER(While, WhileStmt)
    INNER(If, IfStmt)
    INNER(Assign, AssignStmt)
    INNER(AugAssign, AugAssignStmt)
    INNER(AnnAssign, AnnAssignStmt)
    INNER(Return, ReturnStmt)
    INNER(Assert, AssertStmt)
    INNER(ExprStmt, ExprStmt)
#undef INNER
  case NodeKind::Name:
  case NodeKind::IntLiteral:
  case NodeKind::FloatLiteral:
  case NodeKind::StringLiteral:
  case NodeKind::BoolLiteral:
  case NodeKind::NoneLiteral:
  case NodeKind::EllipsisLiteral:
  case NodeKind::Import:
  case NodeKind::ImportFrom:
  case NodeKind::Pass:
  case NodeKind::Break:
  case NodeKind::Continue:
    return;
  }
}
