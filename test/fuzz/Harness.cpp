//===- Harness.cpp - what the fuzzers share ----------------------------------------------===//

#include "Harness.h"
#include "tilec/Parse/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

using namespace tilec;
using namespace tilec::fuzz;

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TILEC_FUZZ_SANITIZED 1
// LLVM's allocators poison memory that its own uninstrumented code then uses, and its threads have a signal stack
// that AddressSanitizer would unmap as if it were its own.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:use_sigaltstack=0:hard_rss_limit_mb=3072:detect_leaks=0";
}
extern "C" const char *__ubsan_default_options() { return "halt_on_error=1:print_stacktrace=1"; }
extern "C" void __sanitizer_set_death_callback(void (*)(void));
#endif
#endif

static const std::string *current = nullptr;

static void saveCurrent() {
  if (!current)
    return;
  int file = open("fuzz-crash.tile", O_CREAT | O_WRONLY | O_TRUNC, 0666);
  if (file >= 0 && write(file, current->data(), current->size()) >= 0)
    close(file);
  static constexpr char text[] = "the input is in fuzz-crash.tile\n";
  if (write(2, text, sizeof(text) - 1) < 0)
    return;
}

static void onSignal(int signal) {
  saveCurrent();
  if (signal == SIGPROF) {
    static constexpr char text[] = "more than 10 s\n";
    _exit(write(2, text, sizeof(text) - 1) < 0 ? 125 : 124);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void fuzz::installLimits() {
  for (int signal : {SIGPROF, SIGABRT, SIGFPE, SIGILL})
    std::signal(signal, onSignal);
#ifdef TILEC_FUZZ_SANITIZED
  __sanitizer_set_death_callback(saveCurrent);
#else
  std::signal(SIGSEGV, onSignal);
  rlimit memory = {2ull << 30, 2ull << 30}; // a sanitizer reserves terabytes of address space
  setrlimit(RLIMIT_AS, &memory);
#endif
}

static void setClock(long seconds) {
  itimerval timer = {{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

Watch::Watch(const std::string &text) {
  current = &text;
  setClock(10);
}

Watch::~Watch() {
  setClock(0);
  current = nullptr;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Checker::Checker(size_t size) : size(size), renderer(createTextConsumer(llvm::nulls(), false)) {}

void Checker::check(SourceRange range, bool mayBeNone, const Diagnostic &diagnostic) {
  if (range.isValid() ? range.begin > range.end || range.end > size : !mayBeNone)
    problem = diag::info(diagnostic.id).code.str() + " outside of the file: " + diagnostic.message;
}

void Checker::handle(const Diagnostic &diagnostic, const LineMap &lines) {
  check(diagnostic.range, diag::info(diagnostic.id).code.starts_with("E06"), diagnostic);
  for (SourceRange range : diagnostic.secondary)
    check(range, true, diagnostic);
  for (const Note &note : diagnostic.notes)
    check(note.range, true, diagnostic);
  for (const FixIt &fixit : diagnostic.fixits)
    check(fixit.range, false, diagnostic);
  if (diagnostic.message.empty() || llvm::StringRef(diagnostic.message).contains("{0}"))
    problem = "a message without its arguments: " + diagnostic.message;
  if (diagnostic.id == diag::E0690)
    problem = "a defect of tilec: " + diagnostic.message;
  renderer->handle(diagnostic, lines);
}

Input::Input(const std::string &text)
    : buffer(sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "fuzz.tile"), {})),
      checker(text.size()), diags(sources, checker) {}

std::unique_ptr<ast::Module> Input::parse() { return parseFile(sources, buffer, diags); }

//===----------------------------------------------------------------------===//
// Seeds and options
//===----------------------------------------------------------------------===//

Options fuzz::parseOptions(int argc, char **argv, const char *tool) {
  Options options;
  bool wrong = false;
  for (llvm::StringRef arg : llvm::ArrayRef(argv + 1, size_t(argc - 1))) {
    if (arg.consume_front("--count="))
      wrong |= arg.getAsInteger(10, options.count);
    else if (arg.consume_front("--seed="))
      wrong |= arg.getAsInteger(10, options.first);
    else if (arg.consume_front("--keep="))
      options.keep = arg.str();
    else if (arg.starts_with("-"))
      wrong = true;
    else
      options.paths.push_back(arg.str());
  }
  if (!options.keep.empty())
    wrong |= bool(llvm::sys::fs::create_directories(options.keep));
  if (wrong || options.paths.empty()) {
    llvm::errs() << tool << " [--count=N] [--seed=N] [--keep=FOLDER] SEED.tile...\n";
    exit(2);
  }
  return options;
}

static bool isKernel(const ast::Stmt *stmt) {
  auto *function = llvm::dyn_cast<ast::FunctionDef>(stmt);
  return function && llvm::any_of(function->decorators, [](const ast::Expr *e) {
           auto *call = llvm::dyn_cast<ast::CallExpr>(e);
           auto *name = llvm::dyn_cast<ast::NameExpr>(call ? call->callee : e);
           return name && name->name == "kernel";
         });
}

/// The file without its kernels, except for `kept`.
static std::string withOneKernel(const std::string &text, const ast::Module &module, const ast::Stmt *kept) {
  std::string result;
  uint32_t done = 0;
  for (const ast::Stmt *stmt : module.body) {
    if (stmt == kept || !isKernel(stmt))
      continue;
    uint32_t begin = stmt->getRange().begin;
    for (const ast::Expr *decorator : llvm::cast<ast::FunctionDef>(stmt)->decorators)
      begin = std::min(begin, decorator->getRange().begin);
    size_t line = text.rfind('\n', begin);
    begin = line == std::string::npos ? 0 : line + 1;
    result += text.substr(done, std::max(begin, done) - done);
    done = std::max(done, stmt->getRange().end);
  }
  return result + text.substr(done);
}

static void addSeed(std::string text, bool onlyGood, std::vector<Seed> &seeds) {
  Input input(text);
  auto module = input.parse();
  if (module && (!onlyGood || analyze(*module, SemaOptions(), input.diags)))
    seeds.emplace_back(std::move(text), *module);
}

std::vector<Seed> fuzz::readSeeds(const Options &options, bool onlyGood) {
  std::vector<Seed> seeds;
  for (const std::string &path : options.paths) {
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file) {
      llvm::errs() << "cannot read " << path << '\n';
      exit(3);
    }
    std::string text = (*file)->getBuffer().str();
    Input whole(text);
    auto module = whole.parse();
    if (!module)
      continue; // tests that hold syntax errors are no seeds
    if (!onlyGood)
      addSeed(text, false, seeds);
    for (const ast::Stmt *stmt : module->body)
      if (isKernel(stmt))
        addSeed(withOneKernel(text, *module, stmt), onlyGood, seeds);
  }
  if (seeds.empty()) {
    llvm::errs() << "none of the files is a seed\n";
    exit(2);
  }
  return seeds;
}

void fuzz::keep(const Options &options, const std::string &name, const std::string &text) {
  if (options.keep.empty())
    return;
  std::error_code error;
  llvm::raw_fd_ostream out(options.keep + "/" + name + ".tile", error);
  if (!error)
    out << text;
}
