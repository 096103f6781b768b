//===- LineMap.h - lines and columns of source buffers ------------------------------===//
//
// Turns byte offsets into lines and columns as the language counts them: lines end in LF, CRLF or CR, columns
// count code points, both from 1. (llvm::SourceMgr knows LF only and counts bytes.)
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_SUPPORT_LINEMAP_H
#define TILEC_SUPPORT_LINEMAP_H

#include "tilec/Support/SourceRange.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <mutex>
#include <vector>

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace tilec {

struct SourcePosition {
  unsigned line = 0;
  unsigned column = 0;
};

/// All buffers of one SourceMgr; builds a buffer's table at its first use. Safe to share between threads.
class LineMap {
public:
  explicit LineMap(const llvm::SourceMgr &sources) : sources(sources) {}

  /// The buffer's name as it was opened; "" for buffer 0.
  llvm::StringRef name(uint32_t buffer) const;
  /// The whole text of the buffer.
  llvm::StringRef text(uint32_t buffer) const;
  /// The text that the range covers, clipped to the buffer.
  llvm::StringRef text(SourceRange range) const;

  SourcePosition position(uint32_t buffer, uint32_t offset) const;
  /// Where the range begins; {0, 0} for an invalid range.
  SourcePosition position(SourceRange range) const;

  unsigned lineOf(uint32_t buffer, uint32_t offset) const;
  /// Offset of the line's first byte.
  uint32_t lineBegin(uint32_t buffer, unsigned line) const;
  /// The line without its end-of-line characters.
  llvm::StringRef lineText(uint32_t buffer, unsigned line) const;

private:
  struct Table {
    /// Offset of the first byte of each line.
    std::vector<uint32_t> starts{0};
    bool isAscii = true;
  };
  const Table &table(uint32_t buffer) const;

  const llvm::SourceMgr &sources;
  mutable std::mutex mutex;
  mutable llvm::DenseMap<uint32_t, std::unique_ptr<Table>> tables;
};

} // namespace tilec

#endif // TILEC_SUPPORT_LINEMAP_H
