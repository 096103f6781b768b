//===- SourceText.h - a source buffer as ANTLR wants it -----------------------------------===//
//
// ANTLR counts code points, everything else in tilec bytes. SourceText decodes a buffer once and translates;
// SourceStream lets the lexer read it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_PARSE_SOURCETEXT_H
#define TILEC_LIB_PARSE_SOURCETEXT_H

#include "antlr4-runtime.h"
#include "tilec/Support/SourceRange.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tilec {

class DiagnosticEngine;

class SourceText {
public:
  SourceText(uint32_t buffer, llvm::StringRef bytes) : buffer(buffer), bytes(bytes) {}

  /// False after reporting what makes the bytes unfit: too many, not UTF-8, NUL.
  bool decode(DiagnosticEngine &diags);

  const std::u32string &text() const { return codePoints; }
  /// One byte a code point: ASCII itself, and what TileLexer.g4 says for the rest.
  const std::string &classes() const { return lexerClasses; }
  uint32_t byteOf(size_t codePoint) const {
    return offsets.empty() ? uint32_t(codePoint) + skipped : offsets[codePoint];
  }
  SourceRange range(size_t begin, size_t end) const { return {buffer, byteOf(begin), byteOf(end)}; }
  llvm::StringRef slice(SourceRange range) const { return bytes.slice(range.begin, range.end); }

private:
  uint32_t buffer;
  llvm::StringRef bytes;
  std::u32string codePoints;
  std::string lexerClasses;
  /// The byte of each code point and of the end; empty when each is one byte.
  std::vector<uint32_t> offsets;
  /// The byte-order mark.
  uint32_t skipped = 0;
};

/// Shows the classes of a text that is decoded already. (ANTLRInputStream would decode it again and throws at
/// bad UTF-8.)
class SourceStream : public antlr4::CharStream {
public:
  explicit SourceStream(const std::string &text) : text(text) {}

  void consume() override { position += position < text.size(); }
  size_t LA(ssize_t i) override;
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  size_t index() override { return position; }
  void seek(size_t index) override { position = std::min(index, text.size()); }
  size_t size() override { return text.size(); }
  std::string getSourceName() const override { return ""; }
  std::string getText(const antlr4::misc::Interval &) override { return ""; }
  std::string toString() const override { return ""; }

private:
  const std::string &text;
  size_t position = 0;
};

} // namespace tilec

#endif // TILEC_LIB_PARSE_SOURCETEXT_H
