//===- FrontEnd.cpp - fuzzes parser and Sema ----------------------------------------------===//
//
// fuzz-frontend [--count=N] [--seed=N] [--keep=FOLDER] SEED.tile...
//
// Makes N files by mutation, parses and analyzes each, and checks: no crash, no more than 10 s, errors
// exactly when there is no result, every error inside the file. Prints the shares of syntax errors, Sema's
// errors and accepted files; fails when most inputs die in the parser, because then Sema is not tested.
// --keep writes the accepted files, for the rest of the pipeline. A crash leaves its input in
// fuzz-crash.tile.
//
//===----------------------------------------------------------------------===//

#include "Mutator.h"
#include "tilec/Parse/Parser.h"
#include "tilec/Sema/Sema.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

using namespace tilec;

//===----------------------------------------------------------------------===//
// Crashes and hangs
//===----------------------------------------------------------------------===//

static const std::string *current = nullptr;

static void saveCurrent() {
  if (!current)
    return;
  int file = open("fuzz-crash.tile", O_CREAT | O_WRONLY | O_TRUNC, 0666);
  if (file >= 0 && write(file, current->data(), current->size()) >= 0)
    close(file);
  static constexpr char text[] = "fuzz-frontend: the input is in fuzz-crash.tile\n";
  if (write(2, text, sizeof(text) - 1) < 0)
    return;
}

static void onSignal(int signal) {
  saveCurrent();
  if (signal == SIGALRM)
    _exit(124);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

extern "C" void __sanitizer_set_death_callback(void (*)(void)) __attribute__((weak));

static void watch() {
  for (int signal : {SIGALRM, SIGABRT, SIGFPE, SIGILL})
    std::signal(signal, onSignal);
  if (__sanitizer_set_death_callback)
    __sanitizer_set_death_callback(saveCurrent);
  else
    std::signal(SIGSEGV, onSignal);
}

//===----------------------------------------------------------------------===//
// One input
//===----------------------------------------------------------------------===//

namespace {
enum class Outcome { SyntaxError, SemaError, Accepted };

/// Checks each message instead of printing it.
class Checker : public DiagnosticConsumer {
public:
  explicit Checker(size_t size) : size(size) {}

  void handle(const Diagnostic &diagnostic, const LineMap &lines) override {
    bool placeless = diagnostic.id == diag::E0600;
    check(diagnostic.range, placeless, diagnostic);
    for (SourceRange range : diagnostic.secondary)
      check(range, true, diagnostic);
    for (const Note &note : diagnostic.notes)
      check(note.range, true, diagnostic);
    for (const FixIt &fixit : diagnostic.fixits)
      check(fixit.range, false, diagnostic);
    if (diagnostic.message.empty() || llvm::StringRef(diagnostic.message).contains("{0}"))
      problem = "a message without its arguments: " + diagnostic.message;
    renderer->handle(diagnostic, lines);
  }

  std::string problem;

private:
  void check(SourceRange range, bool mayBeNone, const Diagnostic &diagnostic) {
    if (range.isValid() ? range.begin > range.end || range.end > size : !mayBeNone)
      problem = diag::info(diagnostic.id).code.str() + " outside of the file: " + diagnostic.message;
  }

  size_t size;
  // Rendering is tested along the way.
  std::unique_ptr<DiagnosticConsumer> renderer = createTextConsumer(llvm::nulls(), false);
};
} // namespace

static Outcome runOne(const std::string &text, std::string &problem) {
  llvm::SourceMgr sources;
  unsigned buffer = sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "fuzz.tile"), {});
  Checker checker(text.size());
  DiagnosticEngine diags(sources, checker);
  std::unique_ptr<ast::Module> module = parseFile(sources, buffer, diags);
  Outcome outcome = Outcome::SyntaxError;
  bool good = module != nullptr;
  if (module) {
    outcome = Outcome::SemaError;
    good = analyze(*module, SemaOptions(), diags) != nullptr;
    if (good)
      outcome = Outcome::Accepted;
  }
  if (good == diags.hasErrors())
    checker.problem = good ? "a result in spite of errors" : "no result and no error";
  problem = checker.problem;
  return outcome;
}

//===----------------------------------------------------------------------===//
// Driver
//===----------------------------------------------------------------------===//

static std::vector<fuzz::Seed> readSeeds(llvm::ArrayRef<std::string> paths) {
  std::vector<fuzz::Seed> seeds;
  for (const std::string &path : paths) {
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file) {
      llvm::errs() << "cannot read " << path << '\n';
      exit(3);
    }
    std::string text = (*file)->getBuffer().str();
    llvm::SourceMgr sources;
    unsigned buffer = sources.AddNewSourceBuffer(std::move(*file), {});
    Checker checker(text.size());
    DiagnosticEngine diags(sources, checker);
    // Tests that hold syntax errors are no seeds.
    if (auto module = parseFile(sources, buffer, diags))
      seeds.emplace_back(std::move(text), *module);
  }
  return seeds;
}

static void keep(const std::string &folder, uint64_t number, const std::string &text) {
  std::error_code error;
  llvm::raw_fd_ostream out(folder + "/" + std::to_string(number) + ".tile", error);
  if (!error)
    out << text;
}

int main(int argc, char **argv) {
  uint64_t count = 1000, first = 0;
  std::string folder;
  std::vector<std::string> paths;
  for (llvm::StringRef arg : llvm::ArrayRef(argv + 1, size_t(argc - 1))) {
    if (arg.consume_front("--count="))
      arg.getAsInteger(10, count);
    else if (arg.consume_front("--seed="))
      arg.getAsInteger(10, first);
    else if (arg.consume_front("--keep="))
      folder = arg.str();
    else
      paths.push_back(arg.str());
  }
  std::vector<fuzz::Seed> seeds = readSeeds(paths);
  if (seeds.empty() || (!folder.empty() && llvm::sys::fs::create_directories(folder))) {
    llvm::errs() << "fuzz-frontend [--count=N] [--seed=N] [--keep=FOLDER] SEED.tile...\n";
    return 2;
  }
  watch();
  fuzz::Mutator mutator(seeds);
  uint64_t outcomes[3] = {}, problems = 0;
  for (uint64_t i = 0; i != count; ++i) {
    std::string text = mutator.make(first + i), problem;
    current = &text;
    alarm(10);
    Outcome outcome = runOne(text, problem);
    alarm(0);
    current = nullptr;
    ++outcomes[size_t(outcome)];
    if (outcome == Outcome::Accepted && !folder.empty())
      keep(folder, first + i, text);
    if (!problem.empty() && ++problems <= 10)
      llvm::outs() << "input " << first + i << ": " << problem << '\n' << text << "\n--\n";
  }
  auto share = [&](size_t outcome) {
    return 100.0 * double(outcomes[outcome]) / double(std::max<uint64_t>(count, 1));
  };
  llvm::outs() << count << " inputs from " << seeds.size() << " seeds: "
               << llvm::format(
                      "%.1f%% syntax errors, %.1f%% rejected by Sema, %.1f%% accepted, %llu problems\n",
                      share(0), share(1), share(2), (unsigned long long)problems);
  bool starved = count >= 1000 && outcomes[0] * 2 > count;
  if (starved)
    llvm::outs() << "more than half of the inputs are syntax errors\n";
  return problems || starved;
}
