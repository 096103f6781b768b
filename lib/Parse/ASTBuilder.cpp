//===- ASTBuilder.cpp - statements of the parse tree -------------------------------------------===//

#include "ASTBuilder.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tilec;
using namespace tilec::ast;
using antlr4::tree::TerminalNode;
using llvm::dyn_cast;
using llvm::isa;
using llvm::SmallVector;

Identifier ASTBuilder::identifier(TerminalNode *name) {
  SourceRange place = range(name);
  return {arena.save(source.slice(place)), place};
}

const StringLiteral *ASTBuilder::takeDocstring(Block &body) {
  if (body.empty())
    return nullptr;
  const auto *first = llvm::dyn_cast<ExprStmt>(body.front());
  const auto *text = first ? llvm::dyn_cast<StringLiteral>(first->value) : nullptr;
  if (text)
    body = body.drop_front();
  return text;
}

void ASTBuilder::outside(SourceRange place, StringRef word, StringRef what) {
  diags.report(diag::E0028, place, word, what);
}

//===----------------------------------------------------------------------===//
// Simple statements
//===----------------------------------------------------------------------===//

void ASTBuilder::statement(TileParser::StatementContext *context, Stmts &out) {
  if (auto *line = context->simpleLine())
    return simpleLine(line, out);
  out.push_back(compound(context->compound()));
}

void ASTBuilder::simpleLine(TileParser::SimpleLineContext *context, Stmts &out) {
  for (TileParser::SimpleStatementContext *statement : context->simpleStatement())
    out.push_back(simple(statement));
}

const Stmt *ASTBuilder::simple(TileParser::SimpleStatementContext *context) {
  SourceRange place = range(context);
  if (auto *expression = context->expressionStatement())
    return expressionStatement(expression);
  if (auto *import = context->importStatement())
    return importStatement(import);
  if (auto *import = context->importFromStatement())
    return importFrom(import);
  if (auto *ret = context->returnStatement()) {
    if (!functions)
      outside(range(ret->RETURN()), "return", "a function");
    return arena.create<ReturnStmt>(place, ret->testList() ? testList(ret->testList()) : nullptr);
  }
  if (auto *assertion = context->assertStatement())
    return arena.create<AssertStmt>(place, test(assertion->test(0)),
                                    assertion->test().size() > 1 ? test(assertion->test(1)) : nullptr);
  if (context->passStatement())
    return arena.create<PassStmt>(place);
  bool isBreak = context->breakStatement() != nullptr;
  if (!loops)
    outside(place, isBreak ? "break" : "continue", "a loop");
  if (isBreak)
    return arena.create<BreakStmt>(place);
  return arena.create<ContinueStmt>(place);
}

static BinaryOp augmentedOp(StringRef text) {
  return llvm::StringSwitch<BinaryOp>(text)
      .Case("+=", BinaryOp::Add)
      .Case("-=", BinaryOp::Sub)
      .Case("*=", BinaryOp::Mul)
      .Case("/=", BinaryOp::Div)
      .Case("//=", BinaryOp::FloorDiv)
      .Case("%=", BinaryOp::Mod)
      .Case("@=", BinaryOp::MatMul)
      .Case("**=", BinaryOp::Pow)
      .Case("<<=", BinaryOp::Shl)
      .Case(">>=", BinaryOp::Shr)
      .Case("&=", BinaryOp::And)
      .Case("|=", BinaryOp::Or)
      .Default(BinaryOp::Xor);
}

const Stmt *ASTBuilder::expressionStatement(TileParser::ExpressionStatementContext *context) {
  SourceRange place = range(context);
  std::vector<TileParser::TestListContext *> lists = context->testList();
  const Expr *first = testList(lists[0]);
  if (context->COLON()) {
    if (isa<TupleExpr, ListExpr>(first))
      diags.report(diag::E0031, first->getRange());
    else
      checkTarget(first, /*single=*/true);
    const Expr *annotation = test(context->test());
    return arena.create<AnnAssignStmt>(place, first, annotation,
                                       lists.size() > 1 ? testList(lists.back()) : nullptr);
  }
  if (auto *op = context->augmented()) {
    checkTarget(first, /*single=*/true);
    SourceRange opRange = range(op);
    return arena.create<AugAssignStmt>(place, first, augmentedOp(source.slice(opRange)), opRange,
                                       testList(lists[1]));
  }
  if (lists.size() == 1) {
    if (isa<StarredExpr>(first))
      diags.report(diag::E0030, first->getRange());
    return arena.create<ExprStmt>(place, first);
  }
  Exprs targets{first};
  for (auto *list : llvm::ArrayRef(lists).drop_front().drop_back())
    targets.push_back(testList(list));
  for (const Expr *target : targets)
    checkTarget(target, /*single=*/false);
  return arena.create<AssignStmt>(place, save(targets), testList(lists.back()));
}

/// What an expression that cannot be assigned to is called.
static std::string describe(const Expr *expr) {
  switch (expr->getKind()) {
  case NodeKind::Call:
    return "the result of a call";
  case NodeKind::IntLiteral:
  case NodeKind::FloatLiteral:
    return "a number";
  case NodeKind::StringLiteral:
    return "a string";
  case NodeKind::BoolLiteral:
    return llvm::cast<BoolLiteral>(expr)->value ? "`True`" : "`False`";
  case NodeKind::NoneLiteral:
    return "`None`";
  case NodeKind::EllipsisLiteral:
    return "`...`";
  case NodeKind::Compare:
    return "a comparison";
  case NodeKind::Conditional:
    return "a conditional expression";
  case NodeKind::ListComp:
    return "a list comprehension";
  case NodeKind::Set:
  case NodeKind::Dict:
    return "what stands in braces";
  case NodeKind::Tuple:
    return "a tuple";
  case NodeKind::List:
    return "a list";
  default:
    return "an expression";
  }
}

void ASTBuilder::checkTarget(const Expr *target, bool single) {
  if (isa<NameExpr, AttributeExpr, SubscriptExpr>(target))
    return;
  if (const auto *star = dyn_cast<StarredExpr>(target)) {
    diags.report(diag::E0030, star->getRange());
    return;
  }
  bool isTuple = isa<TupleExpr, ListExpr>(target);
  ArrayRef<const Expr *> elements;
  if (const auto *tuple = dyn_cast<TupleExpr>(target))
    elements = tuple->elements;
  else if (const auto *list = dyn_cast<ListExpr>(target))
    elements = list->elements;
  if (!isTuple || single) {
    diags.report(diag::E0022, target->getRange(), describe(target));
    return;
  }
  for (const Expr *element : elements)
    checkTarget(element, /*single=*/false);
}

ModuleName ASTBuilder::dottedName(TileParser::DottedNameContext *context) {
  std::string text = llvm::join(
      llvm::map_range(context->NAME(), [&](TerminalNode *name) { return source.slice(range(name)); }), ".");
  return {arena.save(text), range(context)};
}

const Stmt *ASTBuilder::importStatement(TileParser::ImportStatementContext *context) {
  if (blocks)
    outside(range(context->IMPORT()), "import", "the module level");
  SmallVector<ImportStmt::Item> items;
  for (TileParser::ImportItemContext *item : context->importItem())
    items.push_back({dottedName(item->dottedName()), item->NAME() ? identifier(item->NAME()) : Identifier()});
  return arena.create<ImportStmt>(range(context), arena.copy(ArrayRef<ImportStmt::Item>(items)));
}

const Stmt *ASTBuilder::importFrom(TileParser::ImportFromStatementContext *context) {
  if (blocks)
    outside(range(context->FROM()), "import", "the module level");
  TileParser::ImportSourceContext *from = context->importSource();
  unsigned level = unsigned(from->DOT().size() + 3 * from->ELLIPSIS().size());
  ModuleName module = from->dottedName() ? dottedName(from->dottedName()) : ModuleName();
  TileParser::ImportNamesContext *names = context->importNames();
  SmallVector<ImportFromStmt::Item> items;
  for (TileParser::ImportNameContext *name : names->importName())
    items.push_back(
        {identifier(name->NAME(0)), name->NAME().size() > 1 ? identifier(name->NAME(1)) : Identifier()});
  return arena.create<ImportFromStmt>(range(context), level, module,
                                      arena.copy(ArrayRef<ImportFromStmt::Item>(items)),
                                      names->STAR() ? range(names->STAR()) : SourceRange());
}

//===----------------------------------------------------------------------===//
// Compound statements
//===----------------------------------------------------------------------===//

const Stmt *ASTBuilder::compound(TileParser::CompoundContext *context) {
  if (auto *branch = context->ifStatement())
    return ifStatement(branch);
  if (auto *loop = context->forStatement())
    return forStatement(loop);
  if (auto *with = context->withStatement())
    return withStatement(with);
  if (auto *def = context->functionDefinition())
    return function(def);
  TileParser::WhileStatementContext *loop = context->whileStatement();
  const Expr *condition = test(loop->whileHead()->test());
  Block body = loopBody(loop->block());
  SourceRange head = range(loop->whileHead());
  return arena.create<WhileStmt>(join(head, body.back()->getRange()), head, condition, body);
}

Block ASTBuilder::block(TileParser::BlockContext *context) {
  ++blocks;
  Stmts stmts;
  if (auto *line = context->simpleLine())
    simpleLine(line, stmts);
  for (TileParser::StatementContext *inner : context->statement())
    statement(inner, stmts);
  --blocks;
  return save(stmts);
}

Block ASTBuilder::loopBody(TileParser::BlockContext *context) {
  ++loops;
  Block body = block(context);
  --loops;
  return body;
}

const Stmt *ASTBuilder::ifStatement(TileParser::IfStatementContext *context) {
  struct Part {
    SourceRange head;
    const Expr *condition;
    Block body;
  };
  TileParser::IfHeadContext *first = context->ifHead();
  std::vector<TileParser::ElifPartContext *> elifs = context->elifPart();
  // Each elif is one level of the tree.
  if (elifs.size() >= maxBranches) {
    diags.report(diag::E0033, range(elifs[maxBranches - 1]->elifHead()->ELIF()), "`if`", maxBranches,
                 "branches");
    elifs.resize(maxBranches - 1);
  }
  SmallVector<Part> parts;
  parts.push_back({range(first), test(first->test()), block(context->block())});
  for (TileParser::ElifPartContext *part : elifs) {
    const Expr *condition = test(part->elifHead()->test());
    parts.push_back({range(part->elifHead()), condition, block(part->block())});
  }
  // From the inside out: an elif is the only statement of the else before it.
  Block rest = context->elsePart() ? block(context->elsePart()->block()) : Block();
  SourceRange end = rest.empty() ? parts.back().body.back()->getRange() : rest.back()->getRange();
  const Stmt *result = nullptr;
  for (size_t i = parts.size(); i-- > 0;) {
    const Part &part = parts[i];
    result = arena.create<IfStmt>(join(part.head, end), part.head, part.condition, part.body, rest, i != 0);
    rest = arena.copy(Block(result));
  }
  return result;
}

const Stmt *ASTBuilder::forStatement(TileParser::ForStatementContext *context) {
  TileParser::ForHeadContext *head = context->forHead();
  const Expr *target = targetList(head->targetList());
  checkTarget(target, /*single=*/false);
  const Expr *iterable = testList(head->testList());
  if (isa<StarredExpr>(iterable))
    diags.report(diag::E0030, iterable->getRange());
  Block body = loopBody(context->block());
  return arena.create<ForStmt>(join(range(head), body.back()->getRange()), range(head), target, iterable,
                               body);
}

const Stmt *ASTBuilder::withStatement(TileParser::WithStatementContext *context) {
  SmallVector<WithStmt::Item> items;
  for (TileParser::WithItemContext *item : context->withHead()->withItem()) {
    const Expr *value = test(item->test());
    const Expr *bound = item->target() ? target(item->target()) : nullptr;
    if (bound)
      checkTarget(bound, /*single=*/false);
    items.push_back({value, bound});
  }
  Block body = block(context->block());
  SourceRange head = range(context->withHead());
  return arena.create<WithStmt>(join(head, body.back()->getRange()), head,
                                arena.copy(ArrayRef<WithStmt::Item>(items)), body);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

const Stmt *ASTBuilder::function(TileParser::FunctionDefinitionContext *context) {
  TileParser::FunctionHeadContext *head = context->functionHead();
  Identifier name = identifier(head->NAME());
  if (blocks)
    diags.report(diag::E0514, name.range, functions ? "functions" : "blocks");
  Exprs decorators;
  for (TileParser::DecoratorContext *decorator : context->decorator())
    decorators.push_back(test(decorator->test()));
  ArrayRef<Param> params;
  if (head->parameterList())
    params = parameters(head->parameterList());
  const Expr *returns = head->test() ? test(head->test()) : nullptr;
  // A loop around the function is none inside of it.
  unsigned outerLoops = std::exchange(loops, 0);
  ++functions;
  Block body = block(context->block());
  --functions;
  loops = outerLoops;
  SourceRange place = join(range(head), body.back()->getRange());
  const StringLiteral *docstring = takeDocstring(body);
  return arena.create<FunctionDef>(place, name, save(decorators), params, returns, docstring, body);
}

ArrayRef<Param> ASTBuilder::parameters(TileParser::ParameterListContext *context) {
  SmallVector<Param> params;
  Param::Kind kind = Param::Kind::Normal;
  std::vector<TileParser::ParameterContext *> contexts = context->parameter();
  for (auto [index, p] : llvm::enumerate(contexts)) {
    if (!p->NAME() && p->SLASH()) {
      if (params.empty() || kind != Param::Kind::Normal || params[0].kind == Param::Kind::PositionalOnly)
        diags.report(diag::E0032, range(p), "`/` must follow a positional parameter, once");
      for (Param &param : params)
        param.kind = Param::Kind::PositionalOnly;
      continue;
    }
    if (!p->NAME()) {
      if (kind != Param::Kind::Normal || index + 1 == contexts.size())
        diags.report(diag::E0032, range(p), "`*` must stand once, with a parameter behind it");
      kind = Param::Kind::KeywordOnly;
      continue;
    }
    Identifier name = identifier(p->NAME());
    if (p->STAR() || p->POWER())
      diags.report(diag::E0516, range(p), p->STAR() ? "*" : "**", name.text);
    std::vector<TileParser::TestContext *> tests = p->test();
    const Expr *annotation = p->COLON() ? test(tests[0]) : nullptr;
    const Expr *value = p->ASSIGN() ? test(tests.back()) : nullptr;
    Param::Kind own = p->STAR() ? Param::Kind::VarArgs : p->POWER() ? Param::Kind::KwArgs : kind;
    params.push_back({own, name, annotation, value, range(p)});
  }
  checkParameters(params);
  return arena.copy(ArrayRef<Param>(params));
}

void ASTBuilder::checkParameters(ArrayRef<Param> params) {
  llvm::StringMap<SourceRange> seen;
  const Param *withDefault = nullptr;
  for (const Param &param : params) {
    auto [first, isNew] = seen.try_emplace(param.name.text, param.name.range);
    if (!isNew)
      diags.report(diag::E0025, param.name.range, param.name.text)
          .note(first->second, "`{0}` is here already", param.name.text);
    bool positional = param.kind == Param::Kind::Normal || param.kind == Param::Kind::PositionalOnly;
    if (!positional)
      continue;
    if (!param.defaultValue && withDefault)
      diags.report(diag::E0026, param.name.range, param.name.text)
          .note(withDefault->name.range, "`{0}` has a default; parameters without one go before it",
                withDefault->name.text);
    if (param.defaultValue)
      withDefault = &param;
  }
}
