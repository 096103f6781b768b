//===- Tokens.cpp - running the lexer and reporting its faults --------------------------------===//

#include "Tokens.h"
#include "Literals.h"
#include "TileLexer.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tilec;
using antlr4::Token;
using llvm::StringRef;

TokenList tilec::lex(const SourceText &source) {
  TokenList list;
  SourceStream stream(source.classes());
  TileLexer lexer(&stream);
  lexer.removeErrorListeners();
  lexer.setSource(source.text());
  while (true) {
    std::unique_ptr<Token> token = lexer.nextToken();
    if (token->getType() == Token::EOF)
      break;
    list.tokens.push_back(
        {uint32_t(token->getType()), uint32_t(token->getStartIndex()), uint32_t(token->getStopIndex() + 1)});
  }
  list.faults = lexer.getFaults();
  return list;
}

static std::string quoted(StringRef text) { return ("`" + text + "`").str(); }

static void reportUnknown(SourceRange range, const SourceText &source, const LexFault &fault,
                          DiagnosticEngine &diags) {
  char32_t c = source.text()[fault.begin];
  StringRef shown = source.slice(range);
  if (c == '!') {
    diags.report(diag::E0029, range, "!", "not").fixit(range, "not ");
    return;
  }
  if (c < 0x80) {
    diags.report(diag::E0015, range,
                 c < 0x20 || c == 0x7F ? "" + llvm::formatv("U+{0:X-4}", uint32_t(c)).str() : quoted(shown));
    return;
  }
  auto builder =
      diags.report(diag::E0015, range, llvm::formatv("`{0}` (U+{1:X-4})", shown, uint32_t(c)).str());
  static constexpr std::pair<char32_t, StringRef> lookalikes[] = {
      {0x2018, "'"}, {0x2019, "'"}, {0x201C, "\""}, {0x201D, "\""}, {0x2013, "-"},
      {0x2212, "-"}, {0x00D7, "*"}, {0x2264, "<="}, {0x2265, ">="}, {0x2260, "!="},
      {0x00A0, " "}, {0xFF0C, ","}, {0xFF08, "("},  {0xFF09, ")"},  {0xFF1A, ":"}};
  for (auto [character, ascii] : lookalikes)
    if (c == character)
      builder.fixit(range, ascii);
}

static void reportFault(const LexFault &fault, const SourceText &source, DiagnosticEngine &diags) {
  SourceRange range = source.range(fault.begin, fault.end);
  StringRef shown = source.slice(range);
  switch (fault.kind) {
  case LexFault::TabIndent:
    diags.report(diag::E0004, range);
    return;
  case LexFault::BadDedent:
    diags.report(diag::E0005, range);
    return;
  case LexFault::BlocksTooDeep:
    diags.report(diag::E0009, range, TileLexerBase::maxIndents);
    return;
  case LexFault::BracketsTooDeep:
    diags.report(diag::E0008, range, TileLexerBase::maxBrackets);
    return;
  case LexFault::NeverClosed:
    diags.report(diag::E0016, range, shown);
    return;
  case LexFault::Mismatched: {
    SourceRange opening = source.range(fault.other, fault.other + 1);
    diags.report(diag::E0017, range, shown, source.slice(opening))
        .note(opening, "the bracket that is open here");
    return;
  }
  case LexFault::ClosesNothing:
    diags.report(diag::E0018, range, shown);
    return;
  case LexFault::UnclosedString: {
    StringRef quote = shown.ltrim("rRuUbBfFtT");
    bool isLong = quote.starts_with("\"\"\"") || quote.starts_with("'''");
    // A long one reaches to the end of the file: point at where it begins.
    uint32_t opening = uint32_t(shown.size() - quote.size()) + (isLong ? 3 : 1);
    SourceRange place = isLong ? SourceRange{range.buffer, range.begin, range.begin + opening} : range;
    diags.report(diag::E0011, place, quoted(quote.take_front(isLong ? 3 : 1)));
    return;
  }
  case LexFault::StrayBackslash:
    diags.report(diag::E0019, range);
    return;
  case LexFault::UnknownCharacter:
    reportUnknown(range, source, fault, diags);
    return;
  }
}

void tilec::reportFaults(TokenRange tokens, llvm::ArrayRef<LexFault> faults, const SourceText &source,
                         DiagnosticEngine &diags) {
  auto faultsBefore = [&](size_t position) {
    for (; !faults.empty() && faults.front().begin <= position; faults = faults.drop_front())
      reportFault(faults.front(), source, diags);
  };
  for (const CompactToken &token : tokens) {
    if (token.type != TileLexer::NUMBER && token.type != TileLexer::STRING)
      continue;
    faultsBefore(token.begin);
    SourceRange range = source.range(token.begin, token.end);
    if (token.type == TileLexer::NUMBER)
      decodeNumber(source.slice(range), range, diags);
    else
      decodeString(source.slice(range), range, diags);
    if (diags.limitReached())
      return;
  }
  faultsBefore(SIZE_MAX);
}

std::unique_ptr<Token> TokenFeed::nextToken() {
  CompactToken token{uint32_t(Token::EOF), 0, 0};
  if (next < tokens.size())
    token = tokens[next++];
  else if (!tokens.empty())
    token.begin = token.end = tokens.back().end;
  return std::make_unique<antlr4::CommonToken>(
      std::pair<antlr4::TokenSource *, antlr4::CharStream *>(this, nullptr),
      token.type == uint32_t(Token::EOF) ? Token::EOF : token.type, Token::DEFAULT_CHANNEL, token.begin,
      size_t(token.end) - 1);
}
