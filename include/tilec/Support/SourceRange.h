//===- SourceRange.h - a stretch of a source buffer -------------------------------===//
//
// Every node, value and message names the text it comes from by buffer and byte offsets; lines and columns
// are worked out only when something is shown (LineTable, Diagnostics.h).
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_SUPPORT_SOURCERANGE_H
#define TILEC_SUPPORT_SOURCERANGE_H

#include <algorithm>
#include <cstdint>

namespace tilec {

/// Bytes [begin, end) of buffer `buffer` of the llvm::SourceMgr in use. Buffer 0 is "no place".
struct SourceRange {
  uint32_t buffer = 0;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool isValid() const { return buffer != 0; }
  explicit operator bool() const { return isValid(); }

  /// The empty range in front of / behind this one: where a fix-it inserts.
  SourceRange atBegin() const { return {buffer, begin, begin}; }
  SourceRange atEnd() const { return {buffer, end, end}; }

  bool operator==(const SourceRange &other) const {
    return buffer == other.buffer && begin == other.begin && end == other.end;
  }
  bool operator!=(const SourceRange &other) const { return !(*this == other); }
};

/// The smallest range that covers both; an invalid side is left out, and so is one in another buffer.
inline SourceRange join(SourceRange a, SourceRange b) {
  if (!a.isValid())
    return b;
  if (!b.isValid() || a.buffer != b.buffer)
    return a;
  return {a.buffer, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

} // namespace tilec

#endif // TILEC_SUPPORT_SOURCERANGE_H
