//===- LineMap.cpp - lines and columns of source buffers ------------------------------===//

#include "tilec/Support/LineMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace tilec;
using llvm::StringRef;

StringRef LineMap::name(uint32_t buffer) const {
  return buffer ? sources.getMemoryBuffer(buffer)->getBufferIdentifier() : StringRef();
}

StringRef LineMap::text(uint32_t buffer) const {
  return buffer ? sources.getMemoryBuffer(buffer)->getBuffer() : StringRef();
}

StringRef LineMap::text(SourceRange range) const { return text(range.buffer).slice(range.begin, range.end); }

const LineMap::Table &LineMap::table(uint32_t buffer) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Table> &table = tables[buffer];
  if (table)
    return *table;
  table = std::make_unique<Table>();
  StringRef bytes = text(buffer);
  table->isAscii = llvm::isASCII(bytes);
  for (size_t i = 0, e = bytes.size(); i != e; ++i) {
    bool crlf = bytes[i] == '\r' && i + 1 != e && bytes[i + 1] == '\n';
    if (bytes[i] == '\n' || (bytes[i] == '\r' && !crlf))
      table->starts.push_back(uint32_t(i + 1));
  }
  return *table;
}

unsigned LineMap::lineOf(uint32_t buffer, uint32_t offset) const {
  const std::vector<uint32_t> &starts = table(buffer).starts;
  return unsigned(std::upper_bound(starts.begin(), starts.end(), offset) - starts.begin());
}

uint32_t LineMap::lineBegin(uint32_t buffer, unsigned line) const {
  const std::vector<uint32_t> &starts = table(buffer).starts;
  return starts[std::min<size_t>(line ? line - 1 : 0, starts.size() - 1)];
}

StringRef LineMap::lineText(uint32_t buffer, unsigned line) const {
  StringRef rest = text(buffer).substr(lineBegin(buffer, line));
  return rest.substr(0, rest.find_first_of("\r\n"));
}

SourcePosition LineMap::position(uint32_t buffer, uint32_t offset) const {
  if (!buffer)
    return {};
  StringRef bytes = text(buffer);
  offset = std::min<uint32_t>(offset, bytes.size());
  SourcePosition result;
  result.line = lineOf(buffer, offset);
  uint32_t begin = lineBegin(buffer, result.line);
  if (table(buffer).isAscii) {
    result.column = 1 + offset - begin;
    return result;
  }
  // A byte-order mark is no column.
  if (begin == 0 && offset >= 3 && bytes.starts_with("\xEF\xBB\xBF"))
    begin = 3;
  auto startsCodePoint = [](char c) { return (uint8_t(c) & 0xC0) != 0x80; };
  StringRef before = bytes.slice(begin, offset);
  result.column = 1 + unsigned(std::count_if(before.begin(), before.end(), startsCodePoint));
  return result;
}

SourcePosition LineMap::position(SourceRange range) const { return position(range.buffer, range.begin); }
