//===- Literals.h - the insides of numbers and strings --------------------------------------===//

#ifndef TILEC_LIB_PARSE_LITERALS_H
#define TILEC_LIB_PARSE_LITERALS_H

#include "tilec/Support/Diagnostics.h"
#include "llvm/ADT/APInt.h"
#include <optional>
#include <string>

namespace tilec {

struct NumberValue {
  bool isFloat = false;
  llvm::APInt integer{64, 0};
  double real = 0;
  /// Without underscores.
  std::string text;
};

/// `text` is a NUMBER token at `range`; none after reporting what is wrong with it.
std::optional<NumberValue> decodeNumber(llvm::StringRef text, SourceRange range, DiagnosticEngine &diags);

/// `text` is a whole STRING token (prefix, quotes) at `range`; none after reporting what is wrong with it.
std::optional<std::string> decodeString(llvm::StringRef text, SourceRange range, DiagnosticEngine &diags);

} // namespace tilec

#endif // TILEC_LIB_PARSE_LITERALS_H
