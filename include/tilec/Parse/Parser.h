//===- Parser.h - from source text to the syntax tree -----------------------------------===//

#ifndef TILEC_PARSE_PARSER_H
#define TILEC_PARSE_PARSER_H

#include "tilec/AST/AST.h"
#include "tilec/Support/Diagnostics.h"
#include <memory>

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace tilec {

/// Bytes; a larger file is an error.
inline constexpr size_t maxFileSize = 4u << 20;

/// Parses buffer `buffer` of `sources`, which is any bytes whatsoever. Reports every error it finds and
/// returns null when there was one. Runs on a stack of its own, so the caller's may be small; several threads
/// may parse at once.
std::unique_ptr<ast::Module> parseFile(const llvm::SourceMgr &sources, unsigned buffer,
                                       DiagnosticEngine &diags);

/// Parses `text` as a single expression, for `-D NAME=value`. `buffer` must hold nothing but it. Null after
/// an error. The expression lives in the module returned, as the value of its only statement, an
/// ast::ExprStmt.
std::unique_ptr<ast::Module> parseExpression(const llvm::SourceMgr &sources, unsigned buffer,
                                             DiagnosticEngine &diags);

} // namespace tilec

#endif // TILEC_PARSE_PARSER_H
