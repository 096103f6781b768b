//===- SourceText.cpp - checking and decoding of source bytes ------------------------------===//

#include "SourceText.h"
#include "tilec/Parse/Parser.h"
#include "tilec/Support/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tilec;

namespace {
struct CodePointRange {
  char32_t first;
  char32_t last;
};
} // namespace

#include "XidRanges.inc"

static bool contains(llvm::ArrayRef<CodePointRange> ranges, char32_t c) {
  const auto *after =
      llvm::upper_bound(ranges, c, [](char32_t value, const CodePointRange &r) { return value < r.first; });
  return after != ranges.begin() && c <= std::prev(after)->last;
}

static char lexerClass(char32_t c) {
  enum : char { startsName = 1, continuesName = 2, other = 3 };
  if (c >= 0x80)
    return contains(xidStart, c) ? startsName : contains(xidContinueOnly, c) ? continuesName : other;
  return c < '\t' ? char(other) : char(c);
}

bool SourceText::decode(DiagnosticEngine &diags) {
  if (bytes.size() > maxFileSize) {
    diags.report(diag::E0003, {buffer, 0, 0}, bytes.size(), maxFileSize);
    return false;
  }
  bool good = true;
  auto fault = [&](const char *at, diag::ID id) {
    uint32_t offset = uint32_t(at - bytes.data());
    diags.report(id, {buffer, offset, offset + 1}, llvm::formatv("0x{0:X-2}", uint8_t(*at)).str());
    good = false;
  };
  if (bytes.starts_with("\xEF\xBB\xBF"))
    skipped = 3;
  codePoints.reserve(bytes.size());
  lexerClasses.reserve(bytes.size());
  const char *at = bytes.begin() + skipped;
  bool ascii = std::none_of(at, bytes.end(), [](char c) { return uint8_t(c) >= 0x80; });
  while (at != bytes.end() && !diags.limitReached()) {
    const auto *next = reinterpret_cast<const llvm::UTF8 *>(at);
    llvm::UTF32 codePoint = uint8_t(*at);
    if (!ascii && llvm::convertUTF8Sequence(&next, reinterpret_cast<const llvm::UTF8 *>(bytes.end()),
                                            &codePoint, llvm::strictConversion) != llvm::conversionOK) {
      fault(at, diag::E0001);
      ++at;
      continue;
    }
    if (codePoint == 0)
      fault(at, diag::E0002);
    if (!ascii)
      offsets.push_back(uint32_t(at - bytes.data()));
    codePoints.push_back(char32_t(codePoint));
    lexerClasses.push_back(lexerClass(char32_t(codePoint)));
    at = ascii ? at + 1 : reinterpret_cast<const char *>(next);
  }
  if (!ascii)
    offsets.push_back(uint32_t(bytes.size()));
  return good;
}

size_t SourceStream::LA(ssize_t i) {
  if (i == 0)
    return 0;
  ssize_t at = ssize_t(position) + (i > 0 ? i - 1 : i);
  return at < 0 || at >= ssize_t(text.size()) ? size_t(antlr4::IntStream::EOF) : size_t(text[size_t(at)]);
}
