//===- DiagSink.h - messages that wait until they are known to stand ------------------===//
//
// A kernel is elaborated until the types of its locals settle; only the messages of the last pass are real.
// So messages gather here and go to the engine at the end.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_SEMA_DIAGSINK_H
#define TILEC_LIB_SEMA_DIAGSINK_H

#include "tilec/Support/Diagnostics.h"
#include <deque>

namespace tilec::sema {

/// Adds to a message that has been made; valid until the sink is cleared.
class Report {
public:
  explicit Report(Diagnostic &d) : d(d) {}
  template <typename... Args> Report &note(SourceRange range, llvm::StringRef format, const Args &...args) {
    d.notes.push_back({range, diag::format(format, args...)});
    return *this;
  }
  Report &fixit(SourceRange range, const llvm::Twine &replacement) {
    d.fixits.push_back({range, replacement.str()});
    return *this;
  }
  Report &secondary(SourceRange range) {
    if (range)
      d.secondary.push_back(range);
    return *this;
  }

private:
  Diagnostic &d;
};

class DiagSink {
public:
  template <typename... Args> Report report(diag::ID id, SourceRange range, const Args &...args) {
    const diag::Info &info = diag::info(id);
    Diagnostic d;
    d.id = id;
    d.severity = info.severity;
    d.range = range;
    d.message = diag::format(info.text, args...);
    errors += info.severity == Severity::Error;
    items.push_back({std::move(d), context});
    return Report(items.back().diagnostic);
  }

  bool hasErrors() const { return errors != 0; }
  size_t size() const { return items.size(); }
  void clear() {
    items.clear();
    errors = 0;
  }
  void flush(DiagnosticEngine &engine);

  /// "in macro `f`, called here" under every message while it stands, innermost first.
  void pushContext(SourceRange range, std::string text) { context.push_back({range, std::move(text)}); }
  void popContext() { context.pop_back(); }

private:
  struct Item {
    Diagnostic diagnostic;
    std::vector<Note> context;
  };
  std::deque<Item> items;
  std::vector<Note> context;
  unsigned errors = 0;
};

} // namespace tilec::sema

#endif // TILEC_LIB_SEMA_DIAGSINK_H
