//===- DiagnosticsJson.cpp - messages as JSON lines ------------------------------------------===//

#include "DiagnosticsText.h"
#include "llvm/Support/JSON.h"

using namespace tilec;
using llvm::raw_ostream;
using llvm::StringRef;
namespace json = llvm::json;

static std::string utf8(StringRef text) { return json::isUTF8(text) ? text.str() : json::fixUTF8(text); }

/// Adds file, line, column, end_line, end_column and the byte offsets; nothing for an invalid range.
static void place(json::OStream &out, SourceRange range, const LineMap &lines) {
  if (!range.isValid())
    return;
  SourcePosition begin = lines.position(range), end = lines.position(range.buffer, range.end);
  out.attribute("file", utf8(lines.name(range.buffer)));
  out.attribute("line", begin.line);
  out.attribute("column", begin.column);
  out.attribute("end_line", end.line);
  out.attribute("end_column", end.column);
  out.attribute("begin", range.begin);
  out.attribute("end", range.end);
}

namespace {
class JsonConsumer : public DiagnosticConsumer {
public:
  explicit JsonConsumer(raw_ostream &os) : os(os) {}

  void handle(const Diagnostic &diagnostic, const LineMap &lines) override {
    {
      json::OStream out(os);
      out.object([&] { body(out, diagnostic, lines); });
    }
    os << '\n';
    os.flush();
  }

  void finish(unsigned errors, unsigned warnings, int exitCode) override {
    {
      json::OStream out(os);
      out.object([&] {
        out.attribute("$message_type", "summary");
        out.attribute("errors", errors);
        out.attribute("warnings", warnings);
        out.attribute("exit", exitCode);
      });
    }
    os << '\n';
    os.flush();
  }

private:
  static void body(json::OStream &out, const Diagnostic &diagnostic, const LineMap &lines) {
    out.attribute("$message_type", "diagnostic");
    out.attribute("code", diag::info(diagnostic.id).code);
    out.attribute("severity", severityName(diagnostic.severity));
    if (std::string flag = flagOf(diagnostic); !flag.empty())
      out.attribute("flag", flag);
    out.attribute("message", utf8(diagnostic.message));
    place(out, diagnostic.range, lines);
    out.attributeArray("secondary", [&] {
      for (SourceRange range : diagnostic.secondary)
        out.object([&] { place(out, range, lines); });
    });
    out.attributeArray("notes", [&] {
      for (const Note &note : diagnostic.notes)
        out.object([&] {
          out.attribute("message", utf8(note.message));
          place(out, note.range, lines);
        });
    });
    out.attributeArray("fixits", [&] {
      for (const FixIt &fixit : diagnostic.fixits)
        out.object([&] {
          out.attribute("replacement", utf8(fixit.replacement));
          place(out, fixit.range, lines);
        });
    });
    std::string rendered;
    llvm::raw_string_ostream text(rendered);
    renderText(diagnostic, lines, text, /*color=*/false);
    out.attribute("rendered", utf8(rendered));
  }

  raw_ostream &os;
};
} // namespace

std::unique_ptr<DiagnosticConsumer> tilec::createJsonConsumer(raw_ostream &os) {
  return std::make_unique<JsonConsumer>(os);
}
