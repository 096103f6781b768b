//===- DiagnosticsText.h - the text form of a message ------------------------------------===//

#ifndef TILEC_LIB_SUPPORT_DIAGNOSTICSTEXT_H
#define TILEC_LIB_SUPPORT_DIAGNOSTICSTEXT_H

#include "tilec/Support/Diagnostics.h"

namespace tilec {

/// Head line, snippet, fix-its and notes, each line with its end.
void renderText(const Diagnostic &diagnostic, const LineMap &lines, llvm::raw_ostream &os, bool color);

/// `text` with control characters and bytes that are not UTF-8 written as <U+0007> and <FF>.
std::string printable(llvm::StringRef text);

/// "error", "warning", "remark".
llvm::StringRef severityName(Severity severity);

/// "-Wshadow", "-Werror=shadow"; "" for plain errors.
std::string flagOf(const Diagnostic &diagnostic);

} // namespace tilec

#endif // TILEC_LIB_SUPPORT_DIAGNOSTICSTEXT_H
