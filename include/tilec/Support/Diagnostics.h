//===- Diagnostics.h - the one way to tell users something ----------------------------===//
//
// Codes, severities, groups and texts stand in Diagnostics.def; each code has a page
// docs/diagnostics/<code>.md, which `tilec --explain` prints. Use:
//
//   diags.report(diag::E0203, range, shapeText, nameText)
//       .secondary(otherRange)
//       .note(declRange, "`{0}` is declared here", name)
//       .fixit(range, "max_value");
//
// The message goes out when the full expression ends. Texts: lower case, no final stop, user names in
// backticks.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_SUPPORT_DIAGNOSTICS_H
#define TILEC_SUPPORT_DIAGNOSTICS_H

#include "tilec/Support/LineMap.h"
#include "tilec/Support/SourceRange.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tilec {

enum class Severity : uint8_t { Remark, Warning, Error };

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace diag {

/// diag::E0203, diag::W0101, ...
enum ID : uint16_t {
#define DIAG(code, severity, group, text) code,
#include "tilec/Support/Diagnostics.def"
  numDiagnostics
};

/// What -W, -Wno- and -Werror= name.
enum class Group : uint8_t {
#define DIAG_GROUP(id, name, onByDefault, promotedByWerror, help) id,
#include "tilec/Support/Diagnostics.def"
};

struct Info {
  llvm::StringLiteral code;
  Severity severity;
  Group group;
  llvm::StringLiteral text;
};

struct GroupInfo {
  llvm::StringLiteral name; // "" for errors
  bool onByDefault;
  bool promotedByWerror; // by plain -Werror
  llvm::StringLiteral help;
};

const Info &info(ID id);
const GroupInfo &info(Group group);
llvm::ArrayRef<GroupInfo> allGroups();
/// From "E0203"; none for an unknown code.
std::optional<ID> fromCode(llvm::StringRef code);
/// The page that --explain prints: Markdown, embedded in the binary. "" when the code has none (a test
/// forbids it).
llvm::StringRef page(ID id);

} // namespace diag

//===----------------------------------------------------------------------===//
// One message
//===----------------------------------------------------------------------===//

/// Replace `range` by `replacement`; an empty range inserts.
struct FixIt {
  SourceRange range;
  std::string replacement;
};

struct Note {
  SourceRange range;
  std::string message;
};

struct Diagnostic {
  diag::ID id;
  /// After -W and -Werror had their say.
  Severity severity;
  SourceRange range;
  std::string message;
  std::vector<SourceRange> secondary;
  std::vector<FixIt> fixits;
  std::vector<Note> notes;
};

/// Where messages go. handle() is called under the engine's lock, in the order of issue.
class DiagnosticConsumer {
public:
  virtual ~DiagnosticConsumer() = default;
  virtual void handle(const Diagnostic &diagnostic, const LineMap &lines) = 0;
  /// At the end of the run.
  virtual void finish(unsigned errors, unsigned warnings, int exitCode) {}
};

/// clang's shape: file:line:col: error[E0203]: message, source line, caret and ranges, fix-its, notes.
std::unique_ptr<DiagnosticConsumer> createTextConsumer(llvm::raw_ostream &os, bool color);
/// One JSON object a line; `rendered` holds the text form; ends with a summary object.
std::unique_ptr<DiagnosticConsumer> createJsonConsumer(llvm::raw_ostream &os);

//===----------------------------------------------------------------------===//
// Engine
//===----------------------------------------------------------------------===//

class DiagnosticEngine;

/// A message under construction; goes out when it dies.
class DiagnosticBuilder {
public:
  DiagnosticBuilder(DiagnosticBuilder &&other)
      : engine(other.engine), diagnostic(std::move(other.diagnostic)) {
    other.engine = nullptr;
  }
  DiagnosticBuilder(const DiagnosticBuilder &) = delete;
  DiagnosticBuilder &operator=(const DiagnosticBuilder &) = delete;
  ~DiagnosticBuilder();

  /// Underlined as well when it is on the line of the main range.
  DiagnosticBuilder &secondary(SourceRange range);
  DiagnosticBuilder &fixit(SourceRange range, const llvm::Twine &replacement);
  /// A note at another place (or at none: pass {}); {0}.. in `format` are replaced by the arguments.
  template <typename... Args>
  DiagnosticBuilder &note(SourceRange range, llvm::StringRef format, const Args &...args);

private:
  friend class DiagnosticEngine;
  DiagnosticBuilder(DiagnosticEngine &engine, diag::ID id, SourceRange range, std::string message);

  DiagnosticEngine *engine;
  Diagnostic diagnostic;
};

/// Checks, counts, filters and hands on messages. Threads may report at once.
class DiagnosticEngine {
public:
  /// The consumer and the sources must outlive the engine.
  DiagnosticEngine(const llvm::SourceMgr &sources, DiagnosticConsumer &consumer);

  /// `range` may be {} for messages without a place (E06xx). Arguments: anything a raw_ostream prints; bool
  /// prints as True/False.
  template <typename... Args> DiagnosticBuilder report(diag::ID id, SourceRange range, const Args &...args);
  /// With the message already made, as passes do with "[E0402] message".
  DiagnosticBuilder reportText(diag::ID id, SourceRange range, const llvm::Twine &message);

  unsigned numErrors() const { return errors; }
  unsigned numWarnings() const { return warnings; }
  bool hasErrors() const { return errors != 0; }
  /// Errors about the command line and the environment (E06xx), which have an exit code of their own.
  unsigned numCommandLineErrors() const { return commandLineErrors; }
  /// True once the error limit is passed: nothing more will be shown, so give up early.
  bool limitReached() const { return limited; }

  /// 0: no limit. 20 unless set.
  void setErrorLimit(unsigned limit) { errorLimit = limit; }
  /// -w.
  void ignoreWarnings() { silent = true; }
  /// What stands behind -W: "all", "shadow", "no-shadow", "error", "error=perf", "no-error=perf", "no-error".
  /// Reports an unknown group as W0001. The last setting of a group wins.
  void setWarningOption(llvm::StringRef option);

  const LineMap &lines() const { return lineMap; }
  SourcePosition position(SourceRange range) const { return lineMap.position(range); }

  /// Tells the consumer that the run is over.
  void finish(int exitCode) { consumer.finish(errors, warnings, exitCode); }

private:
  friend class DiagnosticBuilder;
  friend class DiagnosticContext;
  struct GroupState {
    bool on = true;
    std::optional<bool> asError; // -Werror=g, -Wno-error=g
  };

  void emit(Diagnostic &&diagnostic);
  std::optional<Severity> effectiveSeverity(diag::ID id) const;

  const LineMap lineMap;
  DiagnosticConsumer &consumer;
  std::mutex mutex;
  llvm::StringSet<> seen;
  std::vector<GroupState> groups;
  std::vector<Note> context;
  bool allAsErrors = false;
  bool silent = false;
  bool limited = false;
  unsigned errorLimit = 20;
  unsigned errors = 0;
  unsigned commandLineErrors = 0;
  unsigned warnings = 0;
};

/// While it lives, every message of the engine ends with this note: "in macro `f` called here". Innermost
/// first.
class DiagnosticContext {
public:
  template <typename... Args>
  DiagnosticContext(DiagnosticEngine &engine, SourceRange range, llvm::StringRef format, const Args &...args);
  DiagnosticContext(const DiagnosticContext &) = delete;
  DiagnosticContext &operator=(const DiagnosticContext &) = delete;
  ~DiagnosticContext() { engine.context.pop_back(); }

private:
  DiagnosticEngine &engine;
};

//===----------------------------------------------------------------------===//
// Formatting
//===----------------------------------------------------------------------===//

namespace diag {

/// `format` with {0}, {1}, ... replaced; other braces stand for themselves.
std::string expand(llvm::StringRef format, llvm::ArrayRef<std::string> args);

template <typename T> std::string argument(const T &value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "True" : "False";
  } else if constexpr (std::is_convertible_v<const T &, llvm::Twine>) {
    return llvm::Twine(value).str();
  } else {
    std::string text;
    llvm::raw_string_ostream(text) << value;
    return text;
  }
}

template <typename... Args> std::string format(llvm::StringRef format, const Args &...args) {
  std::array<std::string, sizeof...(Args)> texts{argument(args)...};
  return expand(format, texts);
}

} // namespace diag

template <typename... Args>
DiagnosticBuilder &DiagnosticBuilder::note(SourceRange range, llvm::StringRef format, const Args &...args) {
  diagnostic.notes.push_back({range, diag::format(format, args...)});
  return *this;
}

template <typename... Args>
DiagnosticBuilder DiagnosticEngine::report(diag::ID id, SourceRange range, const Args &...args) {
  return DiagnosticBuilder(*this, id, range, diag::format(diag::info(id).text, args...));
}

template <typename... Args>
DiagnosticContext::DiagnosticContext(DiagnosticEngine &engine, SourceRange range, llvm::StringRef format,
                                     const Args &...args)
    : engine(engine) {
  engine.context.push_back({range, diag::format(format, args...)});
}

} // namespace tilec

#endif // TILEC_SUPPORT_DIAGNOSTICS_H
