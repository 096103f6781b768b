//===- DiagnosticsText.cpp - messages in clang's shape --------------------------------------===//

#include "DiagnosticsText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Unicode.h"

using namespace tilec;
using llvm::raw_ostream;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Showing any bytes
//===----------------------------------------------------------------------===//

/// Takes one code point off `text` and appends how it is shown; tabs go to the next multiple of eight
/// columns. Returns the number of columns.
static unsigned showNext(StringRef &text, unsigned column, std::string &out) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  const auto *end = reinterpret_cast<const llvm::UTF8 *>(text.end());
  auto append = [&](const std::string &shown, size_t bytes) {
    out += shown;
    text = text.drop_front(bytes);
    return unsigned(shown.size());
  };
  if (*begin == '\t')
    return append(std::string(8 - column % 8, ' '), 1);
  const llvm::UTF8 *next = begin;
  llvm::UTF32 codePoint;
  if (llvm::convertUTF8Sequence(&next, end, &codePoint, llvm::strictConversion) != llvm::conversionOK)
    return append(llvm::formatv("<{0:X-2}>", uint8_t(*begin)).str(), 1);
  size_t size = size_t(next - begin);
  if (!llvm::sys::unicode::isPrintable(int(codePoint)))
    return append(llvm::formatv("<U+{0:X-4}>", uint32_t(codePoint)).str(), size);
  StringRef shown = text.take_front(size);
  out += shown;
  text = text.drop_front(size);
  return unsigned(std::max(0, llvm::sys::unicode::columnWidthUTF8(shown)));
}

std::string tilec::printable(StringRef text) {
  std::string result;
  while (!text.empty())
    showNext(text, 0, result);
  return result;
}

//===----------------------------------------------------------------------===//
// Source lines
//===----------------------------------------------------------------------===//

namespace {
/// One source line made ready for a terminal, with the way from byte offsets to columns.
class ShownLine {
public:
  /// `focus` is the offset that must be seen when the line is too long.
  ShownLine(const LineMap &lines, uint32_t buffer, unsigned line, uint32_t focus)
      : begin(lines.lineBegin(buffer, line)) {
    StringRef bytes = lines.lineText(buffer, line);
    if (begin == 0 && bytes.starts_with("\xEF\xBB\xBF"))
      skip(bytes, 3);
    crop(bytes, focus);
    while (!bytes.empty()) {
      size_t before = bytes.size();
      unsigned width = showNext(bytes, columnCount, shown);
      columns.insert(columns.end(), before - bytes.size(), columnCount);
      columnCount += width;
    }
    columns.push_back(columnCount);
    if (cut)
      shown += " ...";
  }

  StringRef text() const { return shown; }
  /// Offsets outside of what is shown go to its nearer end.
  unsigned column(uint32_t offset) const {
    if (offset < begin)
      return 0;
    return columns[std::min<size_t>(offset - begin, columns.size() - 1)];
  }
  bool holds(uint32_t offset) const { return offset >= begin && offset < begin + columns.size(); }

private:
  void skip(StringRef &bytes, size_t count) {
    bytes = bytes.drop_front(count);
    begin += uint32_t(count);
  }

  void crop(StringRef &bytes, uint32_t focus) {
    constexpr size_t longest = 240, lead = 60;
    if (bytes.size() <= longest)
      return;
    auto inside = [&](size_t i) { return i < bytes.size() && (uint8_t(bytes[i]) & 0xC0) == 0x80; };
    size_t at = focus > begin ? std::min<size_t>(focus - begin, bytes.size()) : 0;
    if (at > longest - lead) {
      size_t first = at - lead;
      while (inside(first))
        ++first;
      skip(bytes, first);
      shown = "... ";
      columnCount = 4;
    }
    if (bytes.size() <= longest)
      return;
    size_t last = longest;
    while (inside(last))
      --last;
    bytes = bytes.take_front(last);
    cut = true;
  }

  uint32_t begin;
  std::string shown;
  std::vector<unsigned> columns;
  unsigned columnCount = 0;
  bool cut = false;
};
} // namespace

/// Underlines the part of `range` on this line with '~'.
static void underline(std::string &marks, const ShownLine &line, SourceRange range) {
  unsigned from = line.column(range.begin), to = line.column(range.end);
  if (marks.size() < to)
    marks.resize(to, ' ');
  std::fill(marks.begin() + from, marks.begin() + std::max(from, to), '~');
}

/// A replacement that is a line of its own shows without the line's end.
static std::string shownReplacement(const FixIt &fixit) {
  return printable(StringRef(fixit.replacement).rtrim('\n'));
}

/// The replacements of fix-its on this line, each under the place it goes to.
static std::vector<std::string> fixitRows(const Diagnostic &diagnostic, const ShownLine &line,
                                          uint32_t buffer) {
  std::vector<std::string> rows;
  for (const FixIt &fixit : diagnostic.fixits) {
    if (fixit.range.buffer != buffer || !line.holds(fixit.range.begin) || fixit.replacement.empty())
      continue;
    unsigned column = line.column(fixit.range.begin);
    auto row = llvm::find_if(rows, [&](const std::string &r) { return r.size() <= column; });
    if (row == rows.end())
      row = rows.insert(rows.end(), std::string());
    row->resize(column, ' ');
    *row += shownReplacement(fixit);
  }
  return rows;
}

static void paint(raw_ostream &os, bool color, raw_ostream::Colors which, bool bold = true) {
  if (color)
    os.changeColor(which, bold);
}

static void unpaint(raw_ostream &os, bool color) {
  if (color)
    os.resetColor();
}

static void renderSnippet(SourceRange range, const Diagnostic *withMarks, const LineMap &lines,
                          raw_ostream &os, bool color) {
  unsigned number = lines.position(range).line;
  ShownLine line(lines, range.buffer, number, range.begin);
  std::string marks;
  if (withMarks)
    for (SourceRange secondary : withMarks->secondary)
      if (secondary.buffer == range.buffer && lines.position(secondary).line == number)
        underline(marks, line, secondary);
  underline(marks, line, range);
  unsigned caret = line.column(range.begin);
  if (marks.size() <= caret)
    marks.resize(caret + 1, ' ');
  marks[caret] = '^';
  os << llvm::format_decimal(number, 5) << " | " << line.text() << "\n      | ";
  paint(os, color, raw_ostream::GREEN);
  os << marks;
  unpaint(os, color);
  os << '\n';
  if (!withMarks)
    return;
  for (const std::string &row : fixitRows(*withMarks, line, range.buffer)) {
    os << "      | ";
    paint(os, color, raw_ostream::GREEN, false);
    os << row;
    unpaint(os, color);
    os << '\n';
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

StringRef tilec::severityName(Severity severity) {
  switch (severity) {
  case Severity::Remark:
    return "remark";
  case Severity::Warning:
    return "warning";
  case Severity::Error:
    return "error";
  }
  return "error";
}

std::string tilec::flagOf(const Diagnostic &diagnostic) {
  const diag::Info &entry = diag::info(diagnostic.id);
  if (entry.severity == Severity::Error)
    return "";
  StringRef group = diag::info(entry.group).name;
  return ((diagnostic.severity == Severity::Error ? "-Werror=" : "-W") + group).str();
}

static void renderHead(SourceRange range, const LineMap &lines, raw_ostream &os, bool color) {
  if (color)
    os.changeColor(raw_ostream::SAVEDCOLOR, true);
  if (range.isValid()) {
    SourcePosition at = lines.position(range);
    os << printable(lines.name(range.buffer)) << ':' << at.line << ':' << at.column << ": ";
  } else {
    os << "tilec: ";
  }
  unpaint(os, color);
}

static void renderNote(SourceRange range, StringRef message, const LineMap &lines, raw_ostream &os,
                       bool color) {
  renderHead(range, lines, os, color);
  paint(os, color, raw_ostream::BLACK);
  os << "note: ";
  unpaint(os, color);
  os << printable(message) << '\n';
  if (range.isValid())
    renderSnippet(range, nullptr, lines, os, color);
}

/// Fix-its on other lines than the message's own cannot be shown under its caret.
static void renderOtherFixits(const Diagnostic &diagnostic, const LineMap &lines, raw_ostream &os,
                              bool color) {
  unsigned line = lines.position(diagnostic.range).line;
  for (const FixIt &fixit : diagnostic.fixits) {
    if (fixit.range.buffer == diagnostic.range.buffer && lines.position(fixit.range).line == line)
      continue;
    if (fixit.replacement.empty())
      renderNote(fixit.range, "delete this", lines, os, color);
    else
      renderNote(fixit.range, "write `" + shownReplacement(fixit) + "` here", lines, os, color);
  }
}

void tilec::renderText(const Diagnostic &diagnostic, const LineMap &lines, raw_ostream &os, bool color) {
  renderHead(diagnostic.range, lines, os, color);
  static constexpr raw_ostream::Colors colors[] = {raw_ostream::BLUE, raw_ostream::MAGENTA, raw_ostream::RED};
  paint(os, color, colors[size_t(diagnostic.severity)]);
  os << severityName(diagnostic.severity) << '[' << diag::info(diagnostic.id).code << "]: ";
  unpaint(os, color);
  if (color)
    os.changeColor(raw_ostream::SAVEDCOLOR, true);
  os << printable(diagnostic.message);
  unpaint(os, color);
  std::string flag = flagOf(diagnostic);
  if (!flag.empty())
    os << " [" << flag << ']';
  os << '\n';
  if (diagnostic.range.isValid())
    renderSnippet(diagnostic.range, &diagnostic, lines, os, color);
  renderOtherFixits(diagnostic, lines, os, color);
  for (const Note &note : diagnostic.notes)
    renderNote(note.range, note.message, lines, os, color);
}

namespace {
class TextConsumer : public DiagnosticConsumer {
public:
  TextConsumer(raw_ostream &os, bool color) : os(os), color(color) {}

  void handle(const Diagnostic &diagnostic, const LineMap &lines) override {
    renderText(diagnostic, lines, os, color);
    os.flush();
  }

private:
  raw_ostream &os;
  const bool color;
};
} // namespace

std::unique_ptr<DiagnosticConsumer> tilec::createTextConsumer(raw_ostream &os, bool color) {
  if (color)
    os.enable_colors(true);
  return std::make_unique<TextConsumer>(os, color);
}
