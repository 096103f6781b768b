//===- TileLexerBase.h - indentation, brackets and line joining --------------------------===//
//
// Base class of the generated TileLexer. It adds INDENT, DEDENT and the NEWLINE at the end of each logical
// line, drops what lies between, and collects what is wrong with the text as faults, which Parser.cpp turns
// into messages. All positions are code point indices, as ANTLR counts.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_PARSE_TILELEXERBASE_H
#define TILEC_LIB_PARSE_TILELEXERBASE_H

#include "antlr4-runtime.h"
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace tilec {

/// Something wrong with the text; code points [begin, end).
struct LexFault {
  enum Kind {
    TabIndent,
    BadDedent,
    BlocksTooDeep,
    BracketsTooDeep,
    NeverClosed, // begin: the opening bracket
    Mismatched,  // begin: the closing bracket, other: the opening one
    ClosesNothing,
    UnclosedString,
    StrayBackslash,
    UnknownCharacter,
  };
  Kind kind;
  size_t begin;
  size_t end;
  size_t other = 0;
};

class TileLexerBase : public antlr4::Lexer {
public:
  static constexpr size_t maxBrackets = 200;
  static constexpr size_t maxIndents = 100;

  explicit TileLexerBase(antlr4::CharStream *input) : antlr4::Lexer(input) {}

  /// The text that the input stream runs over; must be set before the first token.
  void setSource(const std::u32string &text) { source = &text; }

  std::unique_ptr<antlr4::Token> nextToken() override;

  const std::vector<LexFault> &getFaults() const { return faults; }

private:
  using TokenPtr = std::unique_ptr<antlr4::Token>;

  /// Handles one raw token: queues what it gives.
  void advance();
  void endOfFile(size_t at);
  void endOfLine(TokenPtr newline);
  /// Measures the blanks in front of the first token of a logical line and queues INDENTs and DEDENTs.
  void startLine(const antlr4::Token &first);
  void openBracket(const antlr4::Token &token);
  void closeBracket(const antlr4::Token &token);
  /// True when a token at the start of a physical line shows that the brackets before it were never closed.
  bool startsStatement(const antlr4::Token &token) const;
  void reportNeverClosed();
  void fault(LexFault::Kind kind, size_t begin, size_t end, size_t other = 0);
  void push(size_t type, size_t begin, size_t end);
  char32_t at(size_t index) const { return (*source)[index]; }

  struct Bracket {
    size_t type;
    size_t position;
  };

  const std::u32string *source = nullptr;
  std::deque<TokenPtr> queue;
  std::vector<size_t> indents{0};
  std::vector<Bracket> brackets;
  std::vector<LexFault> faults;
  /// Where the blanks in front of the line at hand begin.
  size_t lineStart = 0;
  bool atLineStart = true;
  bool afterLineBreak = false;
  /// Set when going on makes no sense; the rest of the file is not looked at.
  bool stopped = false;
};

} // namespace tilec

using tilec::TileLexerBase;

#endif // TILEC_LIB_PARSE_TILELEXERBASE_H
