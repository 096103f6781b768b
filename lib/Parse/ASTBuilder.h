//===- ASTBuilder.h - from parse tree to syntax tree -------------------------------------------===//
//
// Also checks what the grammar leaves open: assignment targets, the order of arguments and parameters, where
// `return` and `break` may stand, nesting limits.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_PARSE_ASTBUILDER_H
#define TILEC_LIB_PARSE_ASTBUILDER_H

#include "SourceText.h"
#include "TileParser.h"
#include "tilec/AST/AST.h"
#include "tilec/Support/Diagnostics.h"
#include "llvm/ADT/SmallVector.h"

namespace tilec {

/// Thrown when an expression nests deeper than the language allows.
struct ExpressionTooDeep {
  SourceRange range;
};

class ASTBuilder {
public:
  static constexpr unsigned maxDepth = 1000;
  static constexpr unsigned maxBranches = 1000;

  ASTBuilder(ast::Arena &arena, const SourceText &source, DiagnosticEngine &diags)
      : arena(arena), source(source), diags(diags) {}

  using Stmts = llvm::SmallVector<const ast::Stmt *, 16>;

  /// Appends what the statement gives: several for a line with semicolons.
  void statement(TileParser::StatementContext *context, Stmts &out);

  /// Takes the string that starts a body off it; null when there is none.
  static const ast::StringLiteral *takeDocstring(ast::Block &body);
  ast::Block save(const Stmts &stmts) { return arena.copy(ast::Block(stmts)); }

private:
  using Context = antlr4::ParserRuleContext;
  using Expr = ast::Expr;
  using Exprs = llvm::SmallVector<const Expr *, 8>;

  // Places and names.
  SourceRange range(const antlr4::Token *token) const {
    return source.range(token->getStartIndex(), token->getStopIndex() + 1);
  }
  SourceRange range(antlr4::tree::TerminalNode *node) const { return range(node->getSymbol()); }
  SourceRange range(const Context *context) const {
    return join(range(context->start), range(context->stop));
  }
  ast::Identifier identifier(antlr4::tree::TerminalNode *name);
  llvm::ArrayRef<const Expr *> save(const Exprs &exprs) {
    return arena.copy(llvm::ArrayRef<const Expr *>(exprs));
  }

  // Statements (ASTBuilder.cpp).
  void simpleLine(TileParser::SimpleLineContext *context, Stmts &out);
  const ast::Stmt *simple(TileParser::SimpleStatementContext *context);
  const ast::Stmt *expressionStatement(TileParser::ExpressionStatementContext *context);
  const ast::Stmt *importStatement(TileParser::ImportStatementContext *context);
  const ast::Stmt *importFrom(TileParser::ImportFromStatementContext *context);
  const ast::Stmt *compound(TileParser::CompoundContext *context);
  const ast::Stmt *ifStatement(TileParser::IfStatementContext *context);
  const ast::Stmt *forStatement(TileParser::ForStatementContext *context);
  const ast::Stmt *withStatement(TileParser::WithStatementContext *context);
  const ast::Stmt *function(TileParser::FunctionDefinitionContext *context);
  ast::Block block(TileParser::BlockContext *context);
  ast::Block loopBody(TileParser::BlockContext *context);
  llvm::ArrayRef<ast::Param> parameters(TileParser::ParameterListContext *context);
  void checkParameters(llvm::ArrayRef<ast::Param> params);
  ast::ModuleName dottedName(TileParser::DottedNameContext *context);
  void checkTarget(const Expr *target, bool single);
  void outside(SourceRange place, llvm::StringRef word, llvm::StringRef what);

  // Expressions (ASTBuilderExpr.cpp).
  const Expr *testList(TileParser::TestListContext *context);
  const Expr *testOrStar(TileParser::TestOrStarContext *context);
  const Expr *starred(TileParser::StarredContext *context);
  const Expr *test(TileParser::TestContext *context);
  const Expr *expr(TileParser::ExprContext *context);
  const Expr *operation(TileParser::ExprContext *context);
  const Expr *binary(TileParser::ExprContext *context, TileParser::ExprContext *lhs,
                     TileParser::ExprContext *rhs);
  const Expr *boolOp(TileParser::ExprContext *context, bool isAnd);
  const Expr *compare(TileParser::CompareExprContext *context);
  void checkMiddle(TileParser::ExprContext *context, const Expr *middle);
  ast::CompareExpr::Op comparison(TileParser::ComparisonContext *context);
  const Expr *primary(TileParser::PrimaryContext *context);
  const Expr *trailers(const Expr *base, SourceRange start,
                       const std::vector<TileParser::TrailerContext *> &contexts);
  const Expr *call(const Expr *callee, SourceRange whole, TileParser::CallTrailerContext *context);
  bool argument(TileParser::ArgumentContext *context, llvm::SmallVectorImpl<ast::Argument> &args);
  const Expr *subscripts(const Expr *base, SourceRange whole, TileParser::SubscriptTrailerContext *context);
  const Expr *subscript(TileParser::SubscriptContext *context);
  const Expr *atom(TileParser::AtomContext *context);
  const Expr *number(TileParser::NumberAtomContext *context);
  const Expr *string(TileParser::StringAtomContext *context);
  const Expr *paren(TileParser::ParenAtomContext *context);
  const Expr *list(TileParser::ListAtomContext *context);
  const Expr *brace(TileParser::BraceAtomContext *context);
  const Expr *targetList(TileParser::TargetListContext *context);
  const Expr *target(TileParser::TargetContext *context);
  const Expr *targetAtom(TileParser::TargetAtomContext *context);
  /// `not` binds weaker than what it stands in: Python wants parentheses.
  void rejectNot(TileParser::ExprContext *operand);

  ast::Arena &arena;
  const SourceText &source;
  DiagnosticEngine &diags;
  unsigned depth = 0;
  unsigned functions = 0;
  unsigned loops = 0;
  unsigned blocks = 0;
};

} // namespace tilec

#endif // TILEC_LIB_PARSE_ASTBUILDER_H
