//===- CommandLine.cpp - arguments to options --------------------------------===//
#include "CommandLine.h"
#include "tile_rt.h"
#include "tilec/Support/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"
#include <CLI/CLI.hpp>

using namespace tilec;

namespace {
enum class AliasKind { Exact, Joined, Separate };
struct Alias {
  llvm::StringLiteral from;
  AliasKind kind;
  llvm::StringLiteral to;
};
} // namespace

static constexpr Alias aliases[] = {
#define ALIAS(from, kind, to) {from, AliasKind::kind, to},
#include "tilec/Driver/Options.def"
};

static constexpr llvm::StringLiteral emitKinds[] = {
#define EMIT(kind, ...) kind,
#include "tilec/Driver/Options.def"
};

/// clang's spellings to ours. What is no alias passes through; CLI11 complains about the rest.
static std::vector<std::string> rewriteAliases(int argc, char **argv) {
  std::vector<std::string> out;
  for (int i = 0; i < argc; ++i) {
    llvm::StringRef arg = argv[i];
    if (arg == "--") {
      out.insert(out.end(), argv + i, argv + argc);
      break;
    }
    const Alias *best = nullptr;
    for (const Alias &a : aliases) {
      bool matches = a.kind == AliasKind::Joined ? arg.starts_with(a.from) : arg == a.from;
      if (matches && (!best || a.from.size() > best->from.size()))
        best = &a;
    }
    if (!best) {
      out.push_back(arg.str());
    } else if (best->kind == AliasKind::Joined) {
      out.push_back((best->to + "=" + arg.drop_front(best->from.size())).str());
    } else if (best->kind == AliasKind::Separate && i + 1 < argc) {
      out.push_back((best->to + "=" + argv[++i]).str());
    } else {
      out.push_back(best->to.str());
    }
  }
  return out;
}

/// Every spelling a user may write, for "did you mean".
static std::vector<std::string> allSpellings() {
  std::vector<std::string> all = {"--help"};
  auto add = [&](llvm::StringRef names) {
    llvm::SmallVector<llvm::StringRef> parts;
    names.split(parts, ',');
    for (llvm::StringRef p : parts)
      all.push_back(p.str());
  };
#define FLAG(field, names, ...) add(names);
#define VALUE(field, names, ...) add(names);
#define LIST(field, names, ...) add(names);
#define EMIT(kind, ...) all.push_back(std::string("--emit-") + kind);
#define ALIAS(from, ...) all.push_back(from);
#include "tilec/Driver/Options.def"
  return all;
}

static CommandLineResult unknownFlag(llvm::StringRef flag) {
  flag = flag.split('=').first;
  std::string best;
  unsigned bestDistance = std::max<unsigned>(3, flag.size() / 3) + 1;
  for (const std::string &s : allSpellings())
    if (unsigned d = flag.edit_distance(s, true, bestDistance); d < bestDistance) {
      bestDistance = d;
      best = s;
    }
  std::string hint = best.empty() ? "" : "; did you mean `" + best + "`?";
  return {true, diag::format(diag::info(diag::E0601).text, flag, hint), diag::E0601};
}

static CommandLineResult usage(const llvm::Twine &message) { return {true, message.str(), diag::E0602}; }

/// Comma-separated, repeatable --arch to a list of known targets.
static CommandLineResult resolveTargets(DriverOptions &o) {
  for (const std::string &list : o.archs) {
    llvm::SmallVector<llvm::StringRef> names;
    llvm::StringRef(list).split(names, ',');
    for (llvm::StringRef name : names) {
      name = name.trim();
      if (!llvm::is_contained(targetNames(), name))
        return {true, diag::format(diag::info(diag::E0603).text, name, nearestTarget(name)), diag::E0603};
      for (llvm::StringRef t : expandTarget(name))
        if (!llvm::is_contained(o.targets, t.str()))
          o.targets.push_back(t.str());
    }
  }
  if (o.archs.empty())
    for (llvm::StringRef t : expandTarget("cpu"))
      o.targets.push_back(t.str());
  return {};
}

static CommandLineResult parseNumber(llvm::StringRef flag, llvm::StringRef text, unsigned max, unsigned &out,
                                     unsigned min = 0) {
  if (text.empty())
    return {};
  unsigned value;
  if (text.getAsInteger(10, value) || value < min || value > max)
    return usage(flag + " takes a number from " + llvm::Twine(min) + " to " + llvm::Twine(max) + ", not `" +
                 text + "`");
  out = value;
  return {};
}

/// --sanitize and --load-ir.
static CommandLineResult checkDevelopment(DriverOptions &o) {
  for (const std::string &list : o.sanitizers) {
    llvm::SmallVector<llvm::StringRef> names;
    llvm::StringRef(list).split(names, ',');
    for (llvm::StringRef name : names)
      if (name.trim() != "schedule")
        return usage("--sanitize knows schedule, not `" + name + "`");
    o.sanitizeSchedule = true;
  }
  if (o.loadIR.empty())
    return {};
  llvm::StringRef stage, file;
  std::tie(stage, file) = llvm::StringRef(o.loadIR).split('=');
  if (!llvm::is_contained({"scheduled", "laid-out", "async", "threads", "llvm"}, stage) || file.empty())
    return usage(
        "--load-ir takes STAGE=FILE with a stage scheduled, laid-out, async, threads or llvm, not `" +
        llvm::Twine(o.loadIR) + "`");
  if (o.targets.size() != 1 || o.inputs.size() != 1)
    return usage("--load-ir needs one input and one target in --arch");
  return {};
}

/// The prefix begins the names of C functions, so it must be one itself.
static CommandLineResult checkPrefix(llvm::StringRef prefix) {
  for (size_t i = 0; i < prefix.size(); ++i) {
    if (llvm::isAlpha(prefix[i]) || prefix[i] == '_' || (i > 0 && llvm::isDigit(prefix[i])))
      continue;
    size_t end = i + 1; // the whole character, not its first byte
    while (end < prefix.size() && (static_cast<unsigned char>(prefix[end]) & 0xC0) == 0x80)
      ++end;
    return usage("--symbol-prefix takes a C identifier, not `" + prefix + "`: `" + prefix.slice(i, end) +
                 "` cannot " + (llvm::isDigit(prefix[i]) ? "begin" : "stand in") + " one");
  }
  return {};
}

/// --shape: "M=1536,N=1536,K=1536", names once each.
static CommandLineResult checkShape(llvm::StringRef shape) {
  llvm::SmallVector<llvm::StringRef> parts, names;
  shape.split(parts, ',');
  for (llvm::StringRef part : parts) {
    auto [name, value] = part.split('=');
    double number;
    if (name.empty() || value.empty() || value.getAsDouble(number) || llvm::is_contained(names, name))
      return usage("--shape takes NAME=NUMBER,.. with different names, not `" + shape + "`");
    names.push_back(name);
  }
  return {};
}

/// What tune and bench can pack: one source, measured at some shapes on devices that their runner knows.
static CommandLineResult checkBundle(DriverOptions &o) {
  if (o.command == Command::Compile)
    return o.shapes.empty() ? CommandLineResult()
                            : usage("--shape belongs to `tilec tune` and `tilec bench`");
  llvm::StringRef name = o.command == Command::Tune ? "tune" : "bench";
  if (o.inputs.size() > 1)
    return usage("tilec " + name + " takes one source");
  if (!o.emits.empty() || o.depfile || o.syntaxOnly || o.listKernels || !o.loadIR.empty())
    return usage("tilec " + name + " writes a bundle and nothing else");
  if (o.shapes.empty())
    return usage("tilec " + name + " needs the sizes to measure: --shape=NAME=N,..");
  for (const std::string &shape : o.shapes)
    if (CommandLineResult r = checkShape(shape); r.exit)
      return r;
  auto family = [](const std::string &t) { return lookupTarget(t)->family; };
  for (const std::string &t : o.targets)
    if (family(t) == Family::AMD)
      return usage("tilec " + name + " measures on NVIDIA GPUs and CPUs, not on " + t);
  if (o.command == Command::Bench)
    return {};
  if (o.tilePolicy == "fixed" ||
      llvm::none_of(o.targets, [&](const std::string &t) { return family(t) == Family::NVIDIA; }))
    return usage("tilec tune needs a GPU whose points it measures (--arch=sm_90a) and --tile-policy=auto");
  // The CPU's result is what the GPU's is checked against.
  if (llvm::none_of(o.targets, [&](const std::string &t) { return family(t) == Family::CPU; }))
    o.targets.push_back("x86-64-v3");
  if (!o.mostPoints)
    o.mostPoints = 60;
  return {};
}

static CommandLineResult checkChoices(DriverOptions &o) {
  auto oneOf = [](llvm::StringRef flag, llvm::StringRef value,
                  llvm::ArrayRef<llvm::StringRef> legal) -> CommandLineResult {
    if (value.empty() || llvm::is_contained(legal, value))
      return {};
    return usage(flag + " is one of " + llvm::join(legal, ", ") + ", not `" + value + "`");
  };
  for (CommandLineResult r :
       {parseNumber("-ferror-limit", o.errorLimit, 1000000, o.maxErrors),
        parseNumber("-j", o.jobs, 1024, o.maxJobs), parseNumber("-O", o.optLevel, 2, o.optimize),
        oneOf("-O", o.optLevel, {"0", "2"}),
        parseNumber("--tile-points", o.tilePoints, 1024, o.mostPoints, 1),
        oneOf("--tile-policy", o.tilePolicy, {"auto", "fixed"}),
        oneOf("-fdiagnostics-format", o.diagnosticsFormat, {"text", "json"}),
        oneOf("-fdiagnostics-color", o.diagnosticsColor, {"auto", "always", "never"}), checkDevelopment(o),
        checkPrefix(o.symbolPrefix), checkBundle(o)})
    if (r.exit)
      return r;
  if (!o.tuningFiles.empty() && o.tilePolicy == "fixed")
    return usage("--tuning chooses among points, of which --tile-policy=fixed compiles none");
  if (o.inputs.size() > 1 && !o.output.empty())
    return usage("-o names one file, but there are " + llvm::Twine(o.inputs.size()) + " inputs");
  if (o.inputs.size() > 1)
    for (auto &[kind, file] : o.emits)
      return usage("--emit-" + kind + " names one file, but there are " + llvm::Twine(o.inputs.size()) +
                   " inputs");
  if (!o.depfilePath.empty() || !o.depTargets.empty())
    if (!o.depfile)
      return usage("-MF and -MT need -MD");
  return {};
}

/// Tool, language and runtime interface: what manifest and header carry too.
static std::string versionText() {
  return "tilec " TILEC_VERSION " (language tile 0.1, runtime interface " + llvm::utostr(TILE_RT_ABI) +
         ", LLVM " LLVM_VERSION_STRING ")\n";
}

CommandLineResult tilec::parseCommandLine(int argc, char **argv, DriverOptions &o) {
  CLI::App app(
      "Compiles .tile kernels to objects for CPUs and NVIDIA and AMD GPUs.\n"
      "tilec tune FILE --shape=..   packs a folder that measures all points of tune parameters and writes a "
      "tuning file\n"
      "tilec bench FILE --shape=..  packs a folder that measures the library as it would be built",
      "tilec");
  app.footer("Exit codes: 0 success, 1 errors in the source, 2 usage, 3 environment, 4 a tool rejected "
             "generated code, "
             "70 a bug of tilec.");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("file", o.inputs, "Source files (.tile)")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto list = [&](std::vector<std::string> &field, const char *names, const char *meta, const char *help,
                  const char *group) {
    app.add_option(names, field, help)
        ->type_name(meta)
        ->group(group)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
#define FLAG(field, names, group_, help) app.add_flag(names, o.field, help)->group(group_);
#define VALUE(field, names, meta, group_, help)                                                              \
  app.add_option(names, o.field, help)->type_name(meta)->group(group_);
#define LIST(field, names, meta, group_, help) list(o.field, names, meta, help, group_);
#define EMIT(kind, meta, help)                                                                               \
  app.add_option(std::string("--emit-") + kind, o.emits[kind], std::string("Write the ") + help)             \
      ->type_name(meta)                                                                                      \
      ->group("Output");
#include "tilec/Driver/Options.def"

  if (argc > 1 && llvm::StringRef(argv[1]) == "tune")
    o.command = Command::Tune;
  else if (argc > 1 && llvm::StringRef(argv[1]) == "bench")
    o.command = Command::Bench;
  int taken = o.command == Command::Compile ? 1 : 2;
  std::vector<std::string> args = rewriteAliases(argc - taken, argv + taken);
  std::reverse(args.begin(), args.end()); // CLI11 takes them last first
  try {
    app.parse(args);
  } catch (const CLI::CallForHelp &) {
    return {true, app.help(), std::nullopt};
  } catch (const CLI::ExtrasError &) {
    for (const std::string &extra : app.remaining(true))
      if (llvm::StringRef(extra).starts_with("-"))
        return unknownFlag(extra);
    return usage("unexpected argument `" + app.remaining(true).front() + "`");
  } catch (const CLI::ParseError &e) {
    return usage(e.what());
  }
  for (llvm::StringRef kind : emitKinds)
    if (o.emits[kind.str()].empty())
      o.emits.erase(kind.str());
  if (o.version)
    return {true, versionText(), std::nullopt};
  if (CommandLineResult r = resolveTargets(o); r.exit)
    return r;
  if (CommandLineResult r = checkChoices(o); r.exit)
    return r;
  return {};
}
