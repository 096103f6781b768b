//===- SyntaxMessages.cpp - syntax errors in the user's terms ----------------------------------===//

#include "SyntaxMessages.h"
#include "TileParser.h"

using namespace tilec;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Words for tokens
//===----------------------------------------------------------------------===//

std::string SyntaxMessages::describe(const CompactToken &head) const {
  if (head.type == TileParser::DEF)
    return "the head of a function";
  return ("`" + text(head) + "`").str();
}

std::string SyntaxMessages::found(const CompactToken &token) const {
  switch (token.type) {
  case TileParser::NEWLINE:
    return "the end of the line";
  case TileParser::STRING:
    return "a string";
  default:
    break;
  }
  StringRef shown = text(token);
  if (shown.size() > 40)
    return ("`" + shown.take_front(40) + "...`").str();
  return ("`" + shown + "`").str();
}

const CompactToken *SyntaxMessages::openBracket(TokenRange line, size_t at) const {
  std::vector<const CompactToken *> open;
  for (const CompactToken &token : line.take_front(at)) {
    if (token.type == TileParser::LPAR || token.type == TileParser::LSQB || token.type == TileParser::LBRACE)
      open.push_back(&token);
    else if ((token.type == TileParser::RPAR || token.type == TileParser::RSQB ||
              token.type == TileParser::RBRACE) &&
             !open.empty())
      open.pop_back();
  }
  return open.empty() ? nullptr : open.back();
}

bool SyntaxMessages::wantsColon(TokenRange line) const {
  switch (line.front().type) {
  case TileParser::DEF:
  case TileParser::ELIF:
  case TileParser::ELSE:
  case TileParser::FOR:
  case TileParser::IF:
  case TileParser::WHILE:
  case TileParser::WITH: {
    // Not when a colon outside of brackets is there already: "if x: y".
    for (size_t i = 0; i != line.size(); ++i)
      if (line[i].type == TileParser::COLON && !openBracket(line, i))
        return false;
    return true;
  }
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Statements that Python has and the language has not
//===----------------------------------------------------------------------===//

bool SyntaxMessages::unsupportedStart(TokenRange line) {
  const CompactToken &first = line.front();
  SourceRange place = range(first);
  auto word = text(first);
  bool colonAtEnd = line.size() > 2 && line[line.size() - 2].type == TileParser::COLON;
  bool nameNext = line.size() > 1 && line[1].type == TileParser::NAME;
  switch (first.type) {
  case TileParser::CLASS:
    diags.report(diag::E0503, place);
    return true;
  case TileParser::TRY:
  case TileParser::RAISE:
    diags.report(diag::E0505, place, word);
    return true;
  case TileParser::EXCEPT:
  case TileParser::FINALLY:
    return true; // told with its try
  case TileParser::DEL:
    diags.report(diag::E0506, place, word, "a name lives until its scope ends");
    return true;
  case TileParser::GLOBAL:
    diags.report(diag::E0506, place, word,
                 "module constants can be read everywhere and never change; hand values back with `return`");
    return true;
  case TileParser::NONLOCAL:
    diags.report(diag::E0506, place, word, "hand values back with `return`");
    return true;
  case TileParser::ASYNC:
  case TileParser::AWAIT:
    diags.report(diag::E0509, place, word);
    return true;
  case TileParser::YIELD:
    diags.report(diag::E0510, place, word);
    return true;
  case TileParser::NAME:
    // Soft keywords: only where they cannot be names.
    if (word == "match" && colonAtEnd && line[1].type != TileParser::ASSIGN &&
        line[1].type != TileParser::COLON) {
      diags.report(diag::E0504, place);
      return true;
    }
    if (word == "case" && colonAtEnd && line[1].type != TileParser::COLON)
      return true; // told with its match
    if (word == "type" && nameNext) {
      diags.report(diag::E0517, place, "type aliases");
      return true;
    }
    return false;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Known mistakes
//===----------------------------------------------------------------------===//

static bool touch(const CompactToken &left, const CompactToken &right) { return left.end == right.begin; }

/// && || ++ -- <> and "else if".
bool SyntaxMessages::reportOperator(TokenRange line, size_t at) {
  if (!at)
    return false;
  const CompactToken &token = line[at], &previous = line[at - 1];
  auto twice = [&](size_t type) {
    return token.type == type && previous.type == type && touch(previous, token);
  };
  SourceRange both = join(range(previous), range(token));
  if (twice(TileParser::AMP)) {
    diags.report(diag::E0029, both, "&&", "and").fixit(both, "and");
    return true;
  }
  if (twice(TileParser::BAR)) {
    diags.report(diag::E0029, both, "||", "or").fixit(both, "or");
    return true;
  }
  if (token.type == TileParser::GT && previous.type == TileParser::LT && touch(previous, token)) {
    diags.report(diag::E0029, both, "<>", "!=").fixit(both, "!=");
    return true;
  }
  if (token.type == TileParser::IF && previous.type == TileParser::ELSE) {
    diags.report(diag::E0029, both, "else if", "elif").fixit(both, "elif");
    return true;
  }
  if (token.type == TileParser::NEWLINE && at >= 3) {
    const CompactToken &before = line[at - 2];
    bool plus = previous.type == TileParser::PLUS && before.type == TileParser::PLUS;
    bool minus = previous.type == TileParser::MINUS && before.type == TileParser::MINUS;
    if ((plus || minus) && touch(before, previous)) {
      SourceRange pair = join(range(before), range(previous));
      diags.report(diag::E0029, pair, plus ? "++" : "--", plus ? "+= 1" : "-= 1")
          .fixit(pair, plus ? " += 1" : " -= 1");
      return true;
    }
  }
  return false;
}

/// A single "=" where only a comparison makes sense.
bool SyntaxMessages::reportAssignment(TokenRange line, size_t at) {
  if (line[at].type != TileParser::ASSIGN)
    return false;
  const CompactToken *open = openBracket(line, at);
  bool condition = line[0].type == TileParser::IF || line[0].type == TileParser::ELIF ||
                   line[0].type == TileParser::WHILE || line[0].type == TileParser::ASSERT ||
                   line[0].type == TileParser::RETURN;
  if (!open && !condition)
    return false;
  diags.report(diag::E0027, range(line[at])).fixit(range(line[at]), "==");
  return true;
}

bool SyntaxMessages::reportKnown(TokenRange line, size_t at) {
  const CompactToken &token = line[at];
  SourceRange place = range(token);
  const CompactToken *open = openBracket(line, at);
  switch (token.type) {
  case TileParser::WALRUS:
    diags.report(diag::E0501, place);
    return true;
  case TileParser::LAMBDA:
    diags.report(diag::E0502, place);
    return true;
  case TileParser::AWAIT:
  case TileParser::ASYNC:
    diags.report(diag::E0509, place, text(token));
    return true;
  case TileParser::YIELD:
    diags.report(diag::E0510, place, text(token));
    return true;
  case TileParser::FOR:
    if (!open || open->type == TileParser::LSQB)
      return false;
    diags.report(diag::E0512, place,
                 open->type == TileParser::LPAR ? "generator expressions" : "set and dict comprehensions");
    return true;
  case TileParser::POWER: {
    bool operand = at && (line[at - 1].type == TileParser::COMMA || &line[at - 1] == open);
    if (!open || !operand)
      return false;
    diags.report(diag::E0515, place, open->type == TileParser::LPAR ? "argument" : "entry");
    return true;
  }
  case TileParser::LSQB:
    if (at != 2 || line[0].type != TileParser::DEF)
      return false;
    diags.report(diag::E0517, place, "type parameters");
    return true;
  default:
    return reportOperator(line, at) || reportAssignment(line, at);
  }
}

//===----------------------------------------------------------------------===//
// Expected this, found that
//===----------------------------------------------------------------------===//

/// The one thing among all that could stand here which a user would miss. `afterElement`: an element of what
/// the bracket holds is complete, so that a comma could follow as well.
static std::string wordExpected(const antlr4::misc::IntervalSet &expected, bool inBrackets,
                                bool afterElement) {
  auto has = [&](size_t type) { return expected.contains(size_t(type)); };
  if (has(TileParser::NAME) && has(TileParser::NUMBER))
    return has(TileParser::PASS) ? "a statement" : "an expression";
  static constexpr std::pair<size_t, StringRef> closers[] = {
      {TileParser::RPAR, ")"}, {TileParser::RSQB, "]"}, {TileParser::RBRACE, "}"}};
  if (inBrackets)
    for (auto [type, text] : closers)
      if (has(type))
        return (afterElement ? "`,` or `" + text + "`" : "`" + text + "`").str();
  if (has(TileParser::IN) && !has(TileParser::NOT))
    return "`in`";
  if (has(TileParser::ELSE))
    return "`else`";
  if (has(TileParser::IMPORT))
    return "`import`";
  if (has(TileParser::NEWLINE))
    return "the end of the statement";
  if (has(TileParser::COLON))
    return "`:`";
  if (has(TileParser::NAME))
    return "a name";
  if (has(TileParser::DEF))
    return "a function after its decorator";
  if (has(TileParser::LPAR))
    return "`(`";
  if (has(TileParser::ASSIGN))
    return "`=`";
  for (auto [type, text] : closers)
    if (has(type))
      return ("`" + text + "`").str();
  return "something else";
}

void SyntaxMessages::reportExpected(TokenRange line, size_t at, const antlr4::misc::IntervalSet &expected) {
  const CompactToken &token = line[at];
  const CompactToken *open = openBracket(line, at);
  bool afterElement = open && &line[at - 1] != open && line[at - 1].type != TileParser::COMMA;
  std::string wanted = wordExpected(expected, open != nullptr, afterElement);
  SourceRange place = range(token);
  if (token.type == TileParser::NEWLINE && at)
    place = range(line[at - 1]).atEnd();
  auto builder = diags.report(diag::E0020, place, wanted, found(token));
  if (wanted == "`:`" && token.type == TileParser::NEWLINE)
    builder.fixit(place, ":");
  if (wanted == "the end of the statement" && at && text(line[at - 1]) == "print" &&
      token.type == TileParser::STRING)
    builder.note({}, "`print` is a function: its arguments stand in parentheses");
}

void SyntaxMessages::report(TokenRange line, const SyntaxFailure &failure) {
  size_t at = std::min(failure.token, line.size() - 1);
  if (!reportKnown(line, at))
    reportExpected(line, at, failure.expected);
}
