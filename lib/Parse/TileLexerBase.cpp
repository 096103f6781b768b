//===- TileLexerBase.cpp - indentation, brackets and line joining -------------------------===//

#include "TileLexerBase.h"
#include "TileLexer.h"

using namespace tilec;
using antlr4::Token;

/// Faults kept; more of them tell nobody anything.
static constexpr size_t maxFaults = 1000;

std::unique_ptr<Token> TileLexerBase::nextToken() {
  while (queue.empty())
    advance();
  TokenPtr token = std::move(queue.front());
  queue.pop_front();
  return token;
}

void TileLexerBase::advance() {
  TokenPtr token = antlr4::Lexer::nextToken();
  if (token->getType() == Token::EOF || stopped)
    return endOfFile(token->getStartIndex());
  if (token->getType() == TileLexer::NEWLINE)
    return endOfLine(std::move(token));

  size_t begin = token->getStartIndex(), end = token->getStopIndex() + 1;
  if (token->getType() == TileLexer::UNKNOWN) {
    fault(at(begin) == '\\' ? LexFault::StrayBackslash : LexFault::UnknownCharacter, begin, end);
    return;
  }
  if (!brackets.empty() && afterLineBreak && startsStatement(*token)) {
    reportNeverClosed();
    push(TileLexer::NEWLINE, begin, begin);
    atLineStart = true;
  }
  afterLineBreak = false;
  if (atLineStart)
    startLine(*token);
  switch (token->getType()) {
  case TileLexer::LPAR:
  case TileLexer::LSQB:
  case TileLexer::LBRACE:
    openBracket(*token);
    break;
  case TileLexer::RPAR:
  case TileLexer::RSQB:
  case TileLexer::RBRACE:
    closeBracket(*token);
    break;
  case TileLexer::UNCLOSED_STRING:
  case TileLexer::UNCLOSED_LONG:
    fault(LexFault::UnclosedString, begin, end);
    break;
  default:
    break;
  }
  queue.push_back(std::move(token));
}

void TileLexerBase::endOfFile(size_t at) {
  if (!brackets.empty() && !stopped)
    reportNeverClosed();
  if (!atLineStart)
    push(TileLexer::NEWLINE, at, at);
  for (; indents.size() > 1; indents.pop_back())
    push(TileLexer::DEDENT, at, at);
  atLineStart = true;
  push(Token::EOF, at, at);
}

void TileLexerBase::endOfLine(TokenPtr newline) {
  size_t next = newline->getStopIndex() + 1;
  if (!brackets.empty()) {
    afterLineBreak = true;
    lineStart = next;
    return;
  }
  lineStart = next;
  if (atLineStart)
    return; // blank or a comment alone
  atLineStart = true;
  queue.push_back(std::move(newline));
}

void TileLexerBase::startLine(const Token &first) {
  atLineStart = false;
  size_t begin = first.getStartIndex(), column = 0;
  bool tabSeen = false;
  for (size_t i = lineStart; i < begin; ++i) {
    char32_t c = at(i);
    if (c == '\t') {
      if (!tabSeen)
        fault(LexFault::TabIndent, i, i + 1);
      tabSeen = true;
      column = (column / 8 + 1) * 8;
    } else if (c == ' ' || c == '\f') {
      ++column;
    } else {
      break; // a backslash that joins this line to the next
    }
  }
  if (column > indents.back()) {
    if (indents.size() > maxIndents) {
      fault(LexFault::BlocksTooDeep, begin, first.getStopIndex() + 1);
      stopped = true;
      return;
    }
    indents.push_back(column);
    push(TileLexer::INDENT, begin, begin);
    return;
  }
  while (column < indents.back()) {
    indents.pop_back();
    push(TileLexer::DEDENT, begin, begin);
  }
  if (column != indents.back() && !tabSeen)
    fault(LexFault::BadDedent, begin, first.getStopIndex() + 1);
}

void TileLexerBase::openBracket(const Token &token) {
  if (brackets.size() == maxBrackets) {
    fault(LexFault::BracketsTooDeep, token.getStartIndex(), token.getStopIndex() + 1);
    stopped = true;
    return;
  }
  brackets.push_back({token.getType(), token.getStartIndex()});
}

void TileLexerBase::closeBracket(const Token &token) {
  size_t begin = token.getStartIndex(), end = token.getStopIndex() + 1;
  if (brackets.empty())
    return fault(LexFault::ClosesNothing, begin, end);
  // In the vocabulary each closing bracket follows its opening one.
  if (brackets.back().type + 1 != token.getType())
    fault(LexFault::Mismatched, begin, end, brackets.back().position);
  brackets.pop_back();
}

bool TileLexerBase::startsStatement(const Token &token) const {
  switch (token.getType()) {
  case TileLexer::ASSERT:
  case TileLexer::BREAK:
  case TileLexer::CLASS:
  case TileLexer::CONTINUE:
  case TileLexer::DEF:
  case TileLexer::DEL:
  case TileLexer::ELIF:
  case TileLexer::EXCEPT:
  case TileLexer::FINALLY:
  case TileLexer::GLOBAL:
  case TileLexer::IMPORT:
  case TileLexer::NONLOCAL:
  case TileLexer::PASS:
  case TileLexer::RAISE:
  case TileLexer::RETURN:
  case TileLexer::TRY:
  case TileLexer::WHILE:
  case TileLexer::WITH:
    return true;
  default:
    return false;
  }
}

void TileLexerBase::reportNeverClosed() {
  size_t position = brackets.back().position;
  fault(LexFault::NeverClosed, position, position + 1);
  brackets.clear();
}

void TileLexerBase::fault(LexFault::Kind kind, size_t begin, size_t end, size_t other) {
  faults.push_back({kind, begin, end, other});
  if (faults.size() == maxFaults)
    stopped = true;
}

void TileLexerBase::push(size_t type, size_t begin, size_t end) {
  auto token = std::make_unique<antlr4::CommonToken>(
      std::pair<antlr4::TokenSource *, antlr4::CharStream *>(this, _input), type, Token::DEFAULT_CHANNEL,
      begin, end - 1);
  queue.push_back(std::move(token));
}
