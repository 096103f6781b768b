//===- SyntaxErrors.h - finding and telling what is wrong ------------------------------------===//

#ifndef TILEC_LIB_PARSE_SYNTAXERRORS_H
#define TILEC_LIB_PARSE_SYNTAXERRORS_H

#include "Tokens.h"
#include <optional>

namespace tilec {

/// Where the parser gave up.
struct SyntaxFailure {
  /// Index of the token that does not fit; tokens.size() for the end.
  size_t token = 0;
  /// What would have fitted.
  antlr4::misc::IntervalSet expected;
};

/// Thrown out of the parser by StopAtFirstError.
struct ParseFailed {};

/// Ends the parse at the first error and keeps it. Recovery is SyntaxErrorFinder's: line by line, which never
/// takes one error for two.
class StopAtFirstError : public antlr4::DefaultErrorStrategy {
public:
  antlr4::Token *recoverInline(antlr4::Parser *parser) override;
  void recover(antlr4::Parser *parser, std::exception_ptr error) override;
  void sync(antlr4::Parser *) override {}
  void reportError(antlr4::Parser *, const antlr4::RecognitionException &) override {}

  const SyntaxFailure &getFailure() const { return failure; }

private:
  SyntaxFailure failure;
};

/// Reports the syntax errors among `tokens`, one statement of the module level that did not parse: block
/// structure first, then one error for each logical line. Lines with a fault of the text are left alone,
/// since that is told already. Reports at least one error, unless there is such a fault.
void reportSyntaxErrors(TokenRange tokens, llvm::ArrayRef<LexFault> faults, const SourceText &source,
                        DiagnosticEngine &diags);

} // namespace tilec

#endif // TILEC_LIB_PARSE_SYNTAXERRORS_H
