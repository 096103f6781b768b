//===- Driver.cpp - the tilec command ----------------------------------------===//
#include "tilec/Driver/Driver.h"
#include "Compile.h"
#include "OutputNames.h"
#include "tilec/Support/Target.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include <csignal>

using namespace tilec;

static std::unique_ptr<DiagnosticConsumer> makeConsumer(const DriverOptions &o) {
  if (o.diagnosticsFormat == "json")
    return createJsonConsumer(llvm::errs());
  bool color = o.diagnosticsColor == "always" ||
               (o.diagnosticsColor != "never" && llvm::sys::Process::StandardErrHasColors() &&
                !llvm::sys::Process::GetEnv("NO_COLOR"));
  return createTextConsumer(llvm::errs(), color);
}

static void configure(DiagnosticEngine &diags, const DriverOptions &o) {
  diags.setErrorLimit(o.maxErrors);
  if (o.noWarnings)
    diags.ignoreWarnings();
  for (const std::string &w : o.warnings)
    diags.setWarningOption(w);
}

static int explain(llvm::StringRef code, DiagnosticEngine &diags) {
  if (auto id = diag::fromCode(code)) {
    llvm::outs() << diag::page(*id);
    return ExitSuccess;
  }
  diags.report(diag::E0610, {}, code, "; codes look like E0203");
  return ExitUsage;
}

static void listArchs() {
  for (llvm::StringRef name : targetNames())
    llvm::outs() << name << "\n";
}

/// One input with its own sources, engine and outputs: several inputs are as if tilec ran several times.
static int compileInput(const DriverOptions &o, const std::string &path, Outputs &outputs,
                        DiagnosticConsumer &consumer, mlir::TimingScope &timing) {
  llvm::SourceMgr sources;
  DiagnosticEngine diags(sources, consumer);
  configure(diags, o);
  auto read = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false, /*RequiresNullTerminator=*/true);
  if (read && path != "-" && llvm::sys::fs::is_directory(path))
    read = std::make_error_code(std::errc::is_a_directory);
  int code = ExitEnvironment;
  if (!read) {
    diags.report(diag::E0604, {}, path, read.getError().message());
  } else {
    uint32_t buffer = sources.AddNewSourceBuffer(std::move(*read), llvm::SMLoc());
    code = compileFile(o, sources, buffer, diags, outputs, timing);
    if (code == ExitSuccess && diags.hasErrors())
      code = ExitSource;
    if (code == ExitSuccess && !outputs.commit(diags))
      code = ExitEnvironment;
  }
  if (code != ExitSuccess)
    outputs.discard();
  diags.finish(code);
  return code;
}

/// Everything after the arguments are understood, under a guard: a crash of ours is exit code 70, not a
/// signal.
static int runGuarded(const DriverOptions &o, DiagnosticConsumer &consumer) {
  mlir::DefaultTimingManager manager;
  manager.setEnabled(o.timeReport);
  manager.setDisplayMode(mlir::DefaultTimingManager::DisplayMode::Tree);
  manager.setOutput(mlir::createOutputStrategy(mlir::DefaultTimingManager::OutputFormat::Text, llvm::errs()));
  mlir::TimingScope timing = manager.getRootScope();
  int code = ExitSuccess;
  // Deep sources need deep stacks in Sema and MLIRGen as well: the parser's own limit is far below this.
  constexpr unsigned stackBytes = 256u << 20;
  for (const std::string &input : o.inputs) {
    int one = ExitInternal;
    Outputs outputs; // out here: they are removed after a crash, too
    llvm::CrashRecoveryContext guard;
    bool whole =
        guard.RunSafelyOnThread([&] { one = compileInput(o, input, outputs, consumer, timing); }, stackBytes);
    if (!whole) {
      outputs.discard();
      llvm::SourceMgr none;
      DiagnosticEngine diags(none, consumer);
      diags.report(diag::E0690, {}, "it crashed on `" + input + "`; please report it with that file");
      one = ExitInternal;
    }
    code = std::max(code, one);
  }
  return code;
}

static void interrupted() { ::_exit(ExitInterrupted); }

int tilec::runDriver(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  llvm::sys::SetInterruptFunction(interrupted);
  DriverOptions o;
  CommandLineResult parsed = parseCommandLine(argc, argv, o);
  std::unique_ptr<DiagnosticConsumer> consumer = makeConsumer(o);
  llvm::SourceMgr none;
  DiagnosticEngine diags(none, *consumer);
  if (parsed.error) {
    diags.reportText(*parsed.error, {}, parsed.text);
    diags.finish(ExitUsage);
    return ExitUsage;
  }
  if (parsed.exit) {
    llvm::outs() << parsed.text;
    return ExitSuccess;
  }
  if (!o.explain.empty())
    return explain(o.explain, diags);
  if (o.listArchs) {
    listArchs();
    return ExitSuccess;
  }
  if (o.inputs.empty()) {
    diags.report(diag::E0606, {});
    diags.finish(ExitUsage);
    return ExitUsage;
  }
  if (std::string clash = findClash(o); !clash.empty()) {
    diags.report(diag::E0602, {}, clash);
    diags.finish(ExitUsage);
    return ExitUsage;
  }
  llvm::CrashRecoveryContext::Enable();
  return runGuarded(o, *consumer);
}
