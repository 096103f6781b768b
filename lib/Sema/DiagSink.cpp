//===- DiagSink.cpp - handing gathered messages to the engine -------------------------===//

#include "DiagSink.h"

using namespace tilec;
using namespace tilec::sema;

void DiagSink::flush(DiagnosticEngine &engine) {
  constexpr size_t maxChain = 6; // of 256 nested expansions the inner ones and the outermost say enough
  for (Item &item : items) {
    DiagnosticBuilder builder =
        engine.reportText(item.diagnostic.id, item.diagnostic.range, item.diagnostic.message);
    for (const Note &note : item.diagnostic.notes)
      builder.note(note.range, "{0}", note.message);
    for (const FixIt &fix : item.diagnostic.fixits)
      builder.fixit(fix.range, fix.replacement);
    for (SourceRange range : item.diagnostic.secondary)
      builder.secondary(range);
    size_t n = item.context.size();
    for (size_t i = 0; i < n; ++i) {
      if (n > maxChain && i == maxChain - 1) {
        builder.note({}, "({0} more calls)", n - maxChain);
        i = n - 1;
      }
      const Note &note = item.context[n - 1 - i];
      builder.note(note.range, "{0}", note.message);
    }
  }
  clear();
}
