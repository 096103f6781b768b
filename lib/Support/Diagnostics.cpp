//===- Diagnostics.cpp - table look-up, filters and counts ------------------------------===//

#include "tilec/Support/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr diag::Info theTable[] = {
#define DIAG(code, severity, group, text) {#code, Severity::severity, diag::Group::group, text},
#include "tilec/Support/Diagnostics.def"
};

static constexpr diag::GroupInfo theGroups[] = {
#define DIAG_GROUP(id, name, onByDefault, promotedByWerror, help) {name, onByDefault, promotedByWerror, help},
#include "tilec/Support/Diagnostics.def"
};

namespace {
struct Page {
  StringRef code;
  StringRef text;
};
} // namespace

static const Page thePages[] = {
#include "DiagnosticPages.inc"
    {"", ""},
};

const diag::Info &diag::info(ID id) { return theTable[id]; }
const diag::GroupInfo &diag::info(Group group) { return theGroups[size_t(group)]; }
ArrayRef<diag::GroupInfo> diag::allGroups() { return theGroups; }

std::optional<diag::ID> diag::fromCode(StringRef code) {
  for (size_t i = 0; i != std::size(theTable); ++i)
    if (theTable[i].code == code)
      return ID(i);
  return std::nullopt;
}

StringRef diag::page(ID id) {
  const Page *page = llvm::find_if(thePages, [&](const Page &p) { return p.code == info(id).code; });
  return page == std::end(thePages) ? StringRef() : page->text;
}

std::string diag::expand(StringRef format, ArrayRef<std::string> args) {
  std::string result;
  while (!format.empty()) {
    unsigned index;
    size_t close = format.find('}');
    if (format[0] == '{' && close != StringRef::npos && !format.slice(1, close).getAsInteger(10, index) &&
        index < args.size()) {
      result += args[index];
      format = format.drop_front(close + 1);
      continue;
    }
    result += format[0];
    format = format.drop_front();
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Building a message
//===----------------------------------------------------------------------===//

DiagnosticBuilder::DiagnosticBuilder(DiagnosticEngine &engine, diag::ID id, SourceRange range,
                                     std::string message)
    : engine(&engine), diagnostic{id, diag::info(id).severity, range, std::move(message), {}, {}, {}} {}

DiagnosticBuilder::~DiagnosticBuilder() {
  if (engine)
    engine->emit(std::move(diagnostic));
}

DiagnosticBuilder &DiagnosticBuilder::secondary(SourceRange range) {
  diagnostic.secondary.push_back(range);
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::fixit(SourceRange range, const Twine &replacement) {
  diagnostic.fixits.push_back({range, replacement.str()});
  return *this;
}

//===----------------------------------------------------------------------===//
// Engine
//===----------------------------------------------------------------------===//

DiagnosticEngine::DiagnosticEngine(const llvm::SourceMgr &sources, DiagnosticConsumer &consumer)
    : lineMap(sources), consumer(consumer) {
  for (const diag::GroupInfo &group : theGroups)
    groups.push_back({group.onByDefault, std::nullopt});
}

DiagnosticBuilder DiagnosticEngine::reportText(diag::ID id, SourceRange range, const Twine &message) {
  return DiagnosticBuilder(*this, id, range, message.str());
}

std::optional<Severity> DiagnosticEngine::effectiveSeverity(diag::ID id) const {
  const diag::Info &entry = diag::info(id);
  if (entry.severity == Severity::Error)
    return Severity::Error;
  const GroupState &state = groups[size_t(entry.group)];
  if (silent || !state.on)
    return std::nullopt;
  bool promoted =
      allAsErrors && entry.severity == Severity::Warning && diag::info(entry.group).promotedByWerror;
  return state.asError.value_or(promoted) ? Severity::Error : entry.severity;
}

void DiagnosticEngine::emit(Diagnostic &&diagnostic) {
  std::lock_guard<std::mutex> lock(mutex);
  std::optional<Severity> severity = effectiveSeverity(diagnostic.id);
  if (!severity)
    return;
  diagnostic.severity = *severity;
  // The same fault met on two ways (two instances of a kernel, two targets) is told once.
  std::string key =
      (Twine(unsigned(diagnostic.id)) + ":" + Twine(diagnostic.range.buffer) + ":" +
       Twine(diagnostic.range.begin) + ":" + Twine(diagnostic.range.end) + ":" + diagnostic.message)
          .str();
  if (!seen.insert(key).second)
    return;
  if (*severity == Severity::Error) {
    ++errors;
    commandLineErrors += diag::info(diagnostic.id).code.starts_with("E06");
  }
  if (*severity == Severity::Warning)
    ++warnings;
  if (limited)
    return;
  if (errorLimit && errors > errorLimit) {
    limited = true;
    Diagnostic last{
        diag::E0600, Severity::Error, {}, diag::format(diag::info(diag::E0600).text, errorLimit), {}, {}, {}};
    consumer.handle(last, lineMap);
    return;
  }
  diagnostic.notes.insert(diagnostic.notes.end(), context.rbegin(), context.rend());
  consumer.handle(diagnostic, lineMap);
}

void DiagnosticEngine::setWarningOption(StringRef option) {
  StringRef name = option;
  bool negated = name.consume_front("no-");
  if (name == "error") {
    allAsErrors = !negated;
    return;
  }
  bool asError = name.consume_front("error=");
  auto set = [&](GroupState &state) {
    if (asError)
      state.asError = !negated;
    if (!(asError && negated))
      state.on = !negated;
  };
  if (name == "all" && !asError) {
    llvm::for_each(groups, set);
    return;
  }
  StringRef nearest;
  unsigned distance = 4;
  for (auto [group, state] : llvm::zip(theGroups, groups)) {
    if (!group.name.empty() && group.name == name) {
      set(state);
      return;
    }
    unsigned d = name.edit_distance(group.name, /*AllowReplacements=*/true, distance);
    if (!group.name.empty() && d < distance) {
      distance = d;
      nearest = group.name;
    }
  }
  std::string hint;
  if (!nearest.empty())
    hint = ("; did you mean `-W" + option.drop_back(name.size()) + nearest + "`?").str();
  report(diag::W0001, {}, option, hint);
}
