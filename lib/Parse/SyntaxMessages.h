//===- SyntaxMessages.h - syntax errors in the user's terms ------------------------------------===//

#ifndef TILEC_LIB_PARSE_SYNTAXMESSAGES_H
#define TILEC_LIB_PARSE_SYNTAXMESSAGES_H

#include "SyntaxErrors.h"
#include "tilec/Support/Diagnostics.h"

namespace tilec {

/// Words what the parser found wrong with one logical line.
class SyntaxMessages {
public:
  SyntaxMessages(const SourceText &source, DiagnosticEngine &diags) : source(source), diags(diags) {}

  void report(TokenRange line, const SyntaxFailure &failure);

  /// Reports a statement of Python's that the language does not have, told by how it starts.
  bool unsupportedStart(TokenRange line);
  /// True for a line that starts as the head of a block does.
  bool wantsColon(TokenRange line) const;

  /// "`if`", "`for`", "the function `f`": what a block belongs to.
  std::string describe(const CompactToken &head) const;
  /// "`foo`", "a string", "the end of the line": a token as something found.
  std::string found(const CompactToken &token) const;

private:
  /// Forms that exist in Python but not here, and slips of the pen that deserve their own words. True when it
  /// was one.
  bool reportKnown(TokenRange line, size_t at);
  bool reportOperator(TokenRange line, size_t at);
  bool reportAssignment(TokenRange line, size_t at);
  void reportExpected(TokenRange line, size_t at, const antlr4::misc::IntervalSet &expected);

  SourceRange range(const CompactToken &token) const { return source.range(token.begin, token.end); }
  llvm::StringRef text(const CompactToken &token) const { return source.slice(range(token)); }
  /// The bracket that is open in front of line[at], if any.
  const CompactToken *openBracket(TokenRange line, size_t at) const;

  const SourceText &source;
  DiagnosticEngine &diags;
};

} // namespace tilec

#endif // TILEC_LIB_PARSE_SYNTAXMESSAGES_H
