//===- ASTBuilderExpr.cpp - expressions of the parse tree ----------------------------------------===//

#include "ASTBuilder.h"
#include "Literals.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using namespace tilec::ast;
using antlr4::tree::TerminalNode;
using llvm::dyn_cast;
using llvm::isa;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

//===----------------------------------------------------------------------===//
// Lists and conditionals
//===----------------------------------------------------------------------===//

const Expr *ASTBuilder::testList(TileParser::TestListContext *context) {
  Exprs elements;
  for (TileParser::TestOrStarContext *element : context->testOrStar())
    elements.push_back(testOrStar(element));
  if (elements.size() == 1 && context->COMMA().empty())
    return elements[0];
  return arena.create<TupleExpr>(range(context), save(elements));
}

const Expr *ASTBuilder::testOrStar(TileParser::TestOrStarContext *context) {
  return context->starred() ? starred(context->starred()) : test(context->test());
}

const Expr *ASTBuilder::starred(TileParser::StarredContext *context) {
  rejectNot(context->expr());
  return arena.create<StarredExpr>(range(context), expr(context->expr()));
}

const Expr *ASTBuilder::test(TileParser::TestContext *context) {
  if (++depth > maxDepth)
    throw ExpressionTooDeep{range(context->getStart())};
  const Expr *value = expr(context->expr(0));
  if (context->test()) {
    const Expr *condition = expr(context->expr(1));
    value = arena.create<ConditionalExpr>(range(context), value, condition, test(context->test()));
  }
  --depth;
  return value;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

const Expr *ASTBuilder::expr(TileParser::ExprContext *context) {
  if (auto *inner = dynamic_cast<TileParser::PrimaryExprContext *>(context))
    return primary(inner->primary());
  if (++depth > maxDepth)
    throw ExpressionTooDeep{range(context->getStart())};
  const Expr *result = operation(context);
  --depth;
  return result;
}

const Expr *ASTBuilder::operation(TileParser::ExprContext *context) {
  if (auto *op = dynamic_cast<TileParser::BinaryExprContext *>(context))
    return binary(op, op->expr(0), op->expr(1));
  if (auto *op = dynamic_cast<TileParser::PowerExprContext *>(context))
    return binary(op, op->expr(0), op->expr(1));
  if (auto *op = dynamic_cast<TileParser::CompareExprContext *>(context))
    return compare(op);
  if (auto *op = dynamic_cast<TileParser::UnaryExprContext *>(context)) {
    rejectNot(op->expr());
    UnaryOp kind = op->MINUS() ? UnaryOp::Neg : op->PLUS() ? UnaryOp::Pos : UnaryOp::Invert;
    return arena.create<UnaryExpr>(range(op), kind, range(op->getStart()), expr(op->expr()));
  }
  if (auto *op = dynamic_cast<TileParser::NotExprContext *>(context))
    return arena.create<UnaryExpr>(range(op), UnaryOp::Not, range(op->getStart()), expr(op->expr()));
  return boolOp(context, dynamic_cast<TileParser::AndExprContext *>(context) != nullptr);
}

void ASTBuilder::rejectNot(TileParser::ExprContext *operand) {
  auto *inner = dynamic_cast<TileParser::NotExprContext *>(operand);
  if (!inner)
    return;
  SourceRange place = range(inner);
  diags.report(diag::E0021, place, "`not` without parentheses")
      .fixit(place.atBegin(), "(")
      .fixit(place.atEnd(), ")");
}

static BinaryOp binaryOp(size_t type) {
  switch (type) {
  case TileParser::POWER:
    return BinaryOp::Pow;
  case TileParser::STAR:
    return BinaryOp::Mul;
  case TileParser::SLASH:
    return BinaryOp::Div;
  case TileParser::FLOORDIV:
    return BinaryOp::FloorDiv;
  case TileParser::PERCENT:
    return BinaryOp::Mod;
  case TileParser::AT:
    return BinaryOp::MatMul;
  case TileParser::PLUS:
    return BinaryOp::Add;
  case TileParser::MINUS:
    return BinaryOp::Sub;
  case TileParser::SHL:
    return BinaryOp::Shl;
  case TileParser::SHR:
    return BinaryOp::Shr;
  case TileParser::AMP:
    return BinaryOp::And;
  case TileParser::CARET:
    return BinaryOp::Xor;
  default:
    return BinaryOp::Or;
  }
}

/// The operator is the second child of a node of an infix operator.
static const antlr4::Token *operatorOf(antlr4::ParserRuleContext *context) {
  return static_cast<TerminalNode *>(context->children[1])->getSymbol();
}

const Expr *ASTBuilder::binary(TileParser::ExprContext *context, TileParser::ExprContext *lhs,
                               TileParser::ExprContext *rhs) {
  rejectNot(lhs);
  rejectNot(rhs);
  const antlr4::Token *op = operatorOf(context);
  const Expr *left = expr(lhs);
  return arena.create<BinaryExpr>(range(context), binaryOp(op->getType()), range(op), left, expr(rhs));
}

const Expr *ASTBuilder::boolOp(TileParser::ExprContext *context, bool isAnd) {
  // "a and b and c" is a chain that leans to the left; it becomes one node.
  SmallVector<TileParser::ExprContext *> parts;
  TileParser::ExprContext *at = context;
  while (true) {
    auto *both = dynamic_cast<TileParser::AndExprContext *>(at);
    auto *either = dynamic_cast<TileParser::OrExprContext *>(at);
    if (isAnd ? !both : !either)
      break;
    parts.push_back(isAnd ? both->expr(1) : either->expr(1));
    at = isAnd ? both->expr(0) : either->expr(0);
  }
  parts.push_back(at);
  Exprs operands;
  for (TileParser::ExprContext *part : llvm::reverse(parts))
    operands.push_back(expr(part));
  return arena.create<BoolOpExpr>(range(context), isAnd, save(operands));
}

/// `a < b & c < d` is a chain whose middle is `b & c`, hardly what was meant. `context`: of the middle.
void ASTBuilder::checkMiddle(TileParser::ExprContext *context, const Expr *middle) {
  auto *bits = dyn_cast<BinaryExpr>(middle);
  bool bare = dynamic_cast<TileParser::BinaryExprContext *>(context); // not in parentheses
  if (!bits || !bare || (bits->op != BinaryOp::And && bits->op != BinaryOp::Or))
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  unparse(middle, os);
  StringRef logical = bits->op == BinaryOp::And ? "and" : "or";
  auto report = diags.report(diag::W0003, bits->opRange, spelling(bits->op), text, logical);
  if (!isa<BinaryExpr>(bits->lhs) && !isa<BinaryExpr>(bits->rhs))
    report.fixit(bits->opRange, logical);
}

const Expr *ASTBuilder::compare(TileParser::CompareExprContext *context) {
  SmallVector<TileParser::CompareExprContext *> chain;
  TileParser::ExprContext *at = context;
  while (auto *link = dynamic_cast<TileParser::CompareExprContext *>(at)) {
    chain.push_back(link);
    at = link->expr(0);
  }
  rejectNot(at);
  Exprs operands{expr(at)};
  SmallVector<CompareExpr::Op> ops;
  for (TileParser::CompareExprContext *link : llvm::reverse(chain)) {
    rejectNot(link->expr(1));
    ops.push_back(comparison(link->comparison()));
    operands.push_back(expr(link->expr(1)));
    if (link != chain.front())
      checkMiddle(link->expr(1), operands.back());
  }
  return arena.create<CompareExpr>(range(context), save(operands),
                                   arena.copy(ArrayRef<CompareExpr::Op>(ops)));
}

CompareExpr::Op ASTBuilder::comparison(TileParser::ComparisonContext *context) {
  SourceRange place = range(context);
  switch (context->getStart()->getType()) {
  case TileParser::LT:
    return {CompareOp::Lt, place};
  case TileParser::GT:
    return {CompareOp::Gt, place};
  case TileParser::LE:
    return {CompareOp::Le, place};
  case TileParser::GE:
    return {CompareOp::Ge, place};
  case TileParser::EQ:
    return {CompareOp::Eq, place};
  case TileParser::NE:
    return {CompareOp::Ne, place};
  case TileParser::IN:
    return {CompareOp::In, place};
  case TileParser::NOT:
    return {CompareOp::NotIn, place};
  default:
    return {context->NOT() ? CompareOp::IsNot : CompareOp::Is, place};
  }
}

//===----------------------------------------------------------------------===//
// Attributes, calls, subscripts
//===----------------------------------------------------------------------===//

const Expr *ASTBuilder::primary(TileParser::PrimaryContext *context) {
  return trailers(atom(context->atom()), range(context->getStart()), context->trailer());
}

const Expr *ASTBuilder::trailers(const Expr *base, SourceRange start,
                                 const std::vector<TileParser::TrailerContext *> &contexts) {
  if (depth + contexts.size() > maxDepth)
    throw ExpressionTooDeep{start};
  for (TileParser::TrailerContext *trailer : contexts) {
    SourceRange whole = join(start, range(trailer));
    if (auto *attribute = dynamic_cast<TileParser::AttributeTrailerContext *>(trailer))
      base = arena.create<AttributeExpr>(whole, base, identifier(attribute->NAME()));
    else if (auto *call = dynamic_cast<TileParser::CallTrailerContext *>(trailer))
      base = this->call(base, whole, call);
    else
      base = subscripts(base, whole, static_cast<TileParser::SubscriptTrailerContext *>(trailer));
  }
  return base;
}

const Expr *ASTBuilder::call(const Expr *callee, SourceRange whole, TileParser::CallTrailerContext *context) {
  SmallVector<Argument> args;
  llvm::StringMap<SourceRange> keywords;
  if (auto *list = context->argumentList()) {
    for (TileParser::ArgumentContext *item : list->argument()) {
      if (!argument(item, args))
        continue;
      const Argument &arg = args.back();
      if (arg.keyword.empty() && !keywords.empty())
        diags.report(diag::E0023, arg.range);
      if (arg.keyword.empty())
        continue;
      auto [first, isNew] = keywords.try_emplace(arg.keyword.text, arg.keyword.range);
      if (!isNew)
        diags.report(diag::E0024, arg.keyword.range, arg.keyword.text)
            .note(first->second, "`{0}` is given here", arg.keyword.text);
    }
  }
  return arena.create<CallExpr>(whole, callee, arena.copy(ArrayRef<Argument>(args)), range(context));
}

bool ASTBuilder::argument(TileParser::ArgumentContext *context, SmallVectorImpl<Argument> &args) {
  SourceRange place = range(context);
  std::vector<TileParser::TestContext *> tests = context->test();
  if (context->STAR()) {
    const Expr *value = test(tests[0]);
    args.push_back({Identifier(), arena.create<StarredExpr>(place, value), place});
    return true;
  }
  if (!context->ASSIGN()) {
    args.push_back({Identifier(), test(tests[0]), place});
    return true;
  }
  antlr4::Token *name = tests[0]->getStart();
  if (name != tests[0]->getStop() || name->getType() != TileParser::NAME) {
    diags.report(diag::E0020, range(tests[0]), "the name of a parameter before `=`", "an expression");
    return false;
  }
  Identifier keyword{arena.save(source.slice(range(name))), range(name)};
  args.push_back({keyword, test(tests[1]), place});
  return true;
}

const Expr *ASTBuilder::subscripts(const Expr *base, SourceRange whole,
                                   TileParser::SubscriptTrailerContext *context) {
  Exprs indices;
  TileParser::SubscriptListContext *list = context->subscriptList();
  for (TileParser::SubscriptContext *item : list->subscript())
    indices.push_back(subscript(item));
  bool single = indices.size() == 1 && list->COMMA().empty();
  // T[()] is the element of a tensor of rank 0.
  if (const auto *tuple = single ? dyn_cast<TupleExpr>(indices[0]) : nullptr;
      tuple && tuple->elements.empty())
    indices.clear();
  return arena.create<SubscriptExpr>(whole, base, save(indices), range(context));
}

const Expr *ASTBuilder::subscript(TileParser::SubscriptContext *context) {
  if (context->starred())
    return starred(context->starred());
  const Expr *lower = context->test() ? test(context->test()) : nullptr;
  TileParser::SliceRestContext *rest = context->sliceRest();
  if (!rest)
    return lower;
  // ":" test? (":" test?)?: which bound a test is follows from the colons before it.
  const Expr *bounds[2] = {};
  size_t colons = 0;
  for (antlr4::tree::ParseTree *child : rest->children) {
    if (auto *bound = dynamic_cast<TileParser::TestContext *>(child))
      bounds[colons - 1] = test(bound);
    else
      ++colons;
  }
  return arena.create<SliceExpr>(range(context), lower, bounds[0], bounds[1]);
}

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

const Expr *ASTBuilder::atom(TileParser::AtomContext *context) {
  SourceRange place = range(context);
  if (dynamic_cast<TileParser::NameAtomContext *>(context))
    return arena.create<NameExpr>(place, arena.save(source.slice(place)));
  if (auto *a = dynamic_cast<TileParser::NumberAtomContext *>(context))
    return number(a);
  if (auto *a = dynamic_cast<TileParser::ParenAtomContext *>(context))
    return paren(a);
  if (auto *a = dynamic_cast<TileParser::ListAtomContext *>(context))
    return list(a);
  if (auto *a = dynamic_cast<TileParser::StringAtomContext *>(context))
    return string(a);
  if (auto *a = dynamic_cast<TileParser::BraceAtomContext *>(context))
    return brace(a);
  switch (context->getStart()->getType()) {
  case TileParser::TRUE:
    return arena.create<BoolLiteral>(place, true);
  case TileParser::FALSE:
    return arena.create<BoolLiteral>(place, false);
  case TileParser::NONE:
    return arena.create<NoneLiteral>(place);
  default:
    return arena.create<EllipsisLiteral>(place);
  }
}

const Expr *ASTBuilder::number(TileParser::NumberAtomContext *context) {
  SourceRange place = range(context);
  std::optional<NumberValue> value = decodeNumber(source.slice(place), place, diags);
  // What is malformed was told when the tokens were looked at.
  if (!value)
    return arena.create<IntLiteral>(place, ArrayRef<uint64_t>());
  if (value->isFloat)
    return arena.create<FloatLiteral>(place, value->real, arena.save(value->text));
  ArrayRef<uint64_t> words(value->integer.getRawData(), value->integer.getNumWords());
  while (!words.empty() && words.back() == 0)
    words = words.drop_back();
  return arena.create<IntLiteral>(place, arena.copy(words));
}

const Expr *ASTBuilder::string(TileParser::StringAtomContext *context) {
  std::string text;
  for (TerminalNode *part : context->STRING())
    text += decodeString(source.slice(range(part)), range(part), diags).value_or("");
  return arena.create<StringLiteral>(range(context), arena.save(text));
}

const Expr *ASTBuilder::paren(TileParser::ParenAtomContext *context) {
  TileParser::TestListContext *inner = context->testList();
  if (!inner)
    return arena.create<TupleExpr>(range(context), ArrayRef<const Expr *>());
  const Expr *value = testList(inner);
  if (isa<StarredExpr>(value))
    diags.report(diag::E0030, value->getRange());
  // The parentheses belong to a tuple, and to nothing else.
  bool isList = inner->testOrStar().size() > 1 || !inner->COMMA().empty();
  if (!isList)
    return value;
  return arena.create<TupleExpr>(range(context), llvm::cast<TupleExpr>(value)->elements);
}

const Expr *ASTBuilder::list(TileParser::ListAtomContext *context) {
  Exprs elements;
  for (TileParser::TestOrStarContext *element : context->testOrStar())
    elements.push_back(testOrStar(element));
  std::vector<TileParser::ClauseContext *> contexts = context->clause();
  if (contexts.empty())
    return arena.create<ListExpr>(range(context), save(elements));
  if (isa<StarredExpr>(elements[0]))
    diags.report(diag::E0030, elements[0]->getRange());
  SmallVector<ListCompExpr::Clause> clauses;
  for (TileParser::ClauseContext *clause : contexts) {
    std::vector<TileParser::ExprContext *> exprs = clause->expr();
    const Expr *bound = targetList(clause->targetList());
    checkTarget(bound, /*single=*/false);
    const Expr *iterable = expr(exprs[0]);
    Exprs conditions;
    for (TileParser::ExprContext *condition : ArrayRef(exprs).drop_front())
      conditions.push_back(expr(condition));
    clauses.push_back({bound, iterable, save(conditions)});
  }
  return arena.create<ListCompExpr>(range(context), elements[0],
                                    arena.copy(ArrayRef<ListCompExpr::Clause>(clauses)));
}

const Expr *ASTBuilder::brace(TileParser::BraceAtomContext *context) {
  std::vector<TileParser::TestContext *> tests = context->test();
  if (!context->COLON() && !tests.empty()) {
    Exprs elements;
    for (TileParser::TestContext *element : tests)
      elements.push_back(test(element));
    return arena.create<SetExpr>(range(context), save(elements));
  }
  SmallVector<DictExpr::Entry> entries;
  auto add = [&](TileParser::TestContext *key, TileParser::TestContext *value) {
    const Expr *first = test(key);
    entries.push_back({first, test(value)});
  };
  if (!tests.empty())
    add(tests[0], tests[1]);
  for (TileParser::EntryContext *entry : context->entry())
    add(entry->test(0), entry->test(1));
  return arena.create<DictExpr>(range(context), arena.copy(ArrayRef<DictExpr::Entry>(entries)));
}

//===----------------------------------------------------------------------===//
// Targets of for and with
//===----------------------------------------------------------------------===//

const Expr *ASTBuilder::targetList(TileParser::TargetListContext *context) {
  Exprs elements;
  for (TileParser::TargetContext *element : context->target())
    elements.push_back(target(element));
  if (elements.size() == 1 && context->COMMA().empty())
    return elements[0];
  return arena.create<TupleExpr>(range(context), save(elements));
}

const Expr *ASTBuilder::target(TileParser::TargetContext *context) {
  SourceRange start = range(context->targetAtom());
  const Expr *value = trailers(targetAtom(context->targetAtom()), range(context->targetAtom()->getStart()),
                               context->trailer());
  if (context->STAR())
    return arena.create<StarredExpr>(join(range(context->STAR()), start), value);
  return value;
}

const Expr *ASTBuilder::targetAtom(TileParser::TargetAtomContext *context) {
  SourceRange place = range(context);
  if (context->NAME())
    return arena.create<NameExpr>(place, arena.save(source.slice(place)));
  if (++depth > maxDepth)
    throw ExpressionTooDeep{place};
  TileParser::TargetListContext *inner = context->targetList();
  const Expr *value = inner ? targetList(inner) : nullptr;
  --depth;
  if (context->LSQB()) {
    if (inner && (inner->target().size() > 1 || !inner->COMMA().empty()))
      return arena.create<ListExpr>(place, llvm::cast<TupleExpr>(value)->elements);
    return arena.create<ListExpr>(place, value ? save({value}) : ArrayRef<const Expr *>());
  }
  if (!value)
    return arena.create<TupleExpr>(place, ArrayRef<const Expr *>());
  if (inner->target().size() > 1 || !inner->COMMA().empty())
    return arena.create<TupleExpr>(place, llvm::cast<TupleExpr>(value)->elements);
  return value;
}
