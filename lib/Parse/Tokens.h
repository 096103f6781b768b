//===- Tokens.h - the tokens of a file, kept small --------------------------------------------===//
//
// The lexer runs once over the whole file into a vector of these; the parser is then given one statement of
// the module level at a time, so that ANTLR's own tokens and parse trees (kilobytes a line) never exist for
// more than one.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_PARSE_TOKENS_H
#define TILEC_LIB_PARSE_TOKENS_H

#include "SourceText.h"
#include "TileLexerBase.h"
#include "llvm/ADT/ArrayRef.h"

namespace tilec {

class DiagnosticEngine;

struct CompactToken {
  uint32_t type;
  /// Code points.
  uint32_t begin;
  uint32_t end;
};

using TokenRange = llvm::ArrayRef<CompactToken>;

/// All tokens up to EOF, which is left out; reports faults of the text, which `faulty` says of each token's
/// line.
/// What the lexer makes of a file.
struct TokenList {
  std::vector<CompactToken> tokens;
  std::vector<LexFault> faults;
};

/// Runs the lexer.
TokenList lex(const SourceText &source);
/// Reports the faults, and every malformed number and string among the tokens, in the order of the text.
void reportFaults(TokenRange tokens, llvm::ArrayRef<LexFault> faults, const SourceText &source,
                  DiagnosticEngine &diags);

/// Feeds part of a TokenList to the parser, with an EOF behind it.
class TokenFeed : public antlr4::TokenSource {
public:
  explicit TokenFeed(TokenRange tokens) : tokens(tokens) {}

  std::unique_ptr<antlr4::Token> nextToken() override;
  size_t getLine() const override { return 0; }
  size_t getCharPositionInLine() override { return 0; }
  antlr4::CharStream *getInputStream() override { return nullptr; }
  std::string getSourceName() override { return ""; }
  antlr4::TokenFactory<antlr4::CommonToken> *getTokenFactory() override {
    return antlr4::CommonTokenFactory::DEFAULT.get();
  }

private:
  TokenRange tokens;
  size_t next = 0;
};

} // namespace tilec

#endif // TILEC_LIB_PARSE_TOKENS_H
