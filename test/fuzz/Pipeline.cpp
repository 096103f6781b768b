//===- Pipeline.cpp - fuzzes the whole compiler -------------------------------------------===//
//
// fuzz-pipeline [--count=N] [--seed=N] [--keep=FOLDER] SEED.tile...
//
// Makes files by mutation until N of them pass Sema, and compiles each as tilec does: to a CPU object with
// its header, and to the PTX or assembly of one GPU (levels and GPUs take turns). Checks: no crash, at most
// 10 s and 2 GB, success exactly when there are no errors, every error inside the file, none a defect of
// tilec.
// --keep writes the inputs with problems. Each seed file gives one seed for each of its kernels.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Harness.h"
#include "tilec/Driver/Driver.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;

static bool passesSema(const std::string &text) {
  fuzz::Input input(text);
  std::unique_ptr<ast::Module> module = input.parse();
  return module && analyze(*module, SemaOptions(), input.diags);
}

namespace {
struct Result {
  bool compiled = false;
  std::string problem;
};
} // namespace

/// As the driver does it for one input; the outputs stay in memory.
static Result compile(const std::string &text, const DriverOptions &options) {
  Result result;
  fuzz::Input input(text);
  int code = ExitInternal;
  llvm::CrashRecoveryContext guard;
  bool whole = guard.RunSafelyOnThread(
      [&] {
        Outputs outputs;
        mlir::TimingScope timing;
        code = compileFile(options, input.sources, input.buffer, input.diags, outputs, timing);
      },
      256u << 20);
  result.compiled = code == ExitSuccess;
  result.problem = input.checker.problem;
  if (!whole)
    result.problem = "crash";
  else if (result.compiled == input.diags.hasErrors())
    result.problem = result.compiled ? "success in spite of errors" : "failure without an error";
  else if (code != ExitSuccess && code != ExitSource && result.problem.empty())
    result.problem = "exit code " + std::to_string(code);
  if (!result.problem.empty())
    result.problem = options.targets.front() + ": " + result.problem;
  return result;
}

static std::vector<DriverOptions> jobsFor(uint64_t number) {
  static constexpr const char *levels[] = {"x86-64-v3", "x86-64-v4", "x86-64-v2"};
  static constexpr const char *gpus[] = {"sm_90a", "compute_80", "gfx942"};
  DriverOptions cpu, gpu;
  cpu.targets = {levels[number % 3]};
  cpu.output = "fuzz.o";
  cpu.emits["header"] = "fuzz.h";
  gpu.targets = {gpus[number / 3 % 3]};
  gpu.emits["asm"] = "fuzz.s";
  gpu.mostPoints = 1; // one more way to run a launch takes all the paths that many take
  return {cpu, gpu};
}

int main(int argc, char **argv) {
  fuzz::Options options = fuzz::parseOptions(argc, argv, "fuzz-pipeline");
  std::vector<fuzz::Seed> seeds = fuzz::readSeeds(options, /*onlyGood=*/true);
  fuzz::installLimits();
  llvm::CrashRecoveryContext::Enable();
  fuzz::Mutator mutator(seeds);
  uint64_t made = 0, inputs = 0, compilations = 0, compiled = 0, problems = 0;
  for (; inputs != options.count && made != 1000 * options.count; ++made) {
    uint64_t number = options.first + made;
    std::string text = mutator.make(number);
    fuzz::Watch watch(text);
    if (!passesSema(text))
      continue;
    ++inputs;
    for (const DriverOptions &job : jobsFor(inputs)) {
      Result result = compile(text, job);
      ++compilations;
      compiled += result.compiled;
      if (result.problem.empty())
        continue;
      ++problems;
      fuzz::keep(options, std::to_string(number), text);
      llvm::outs() << "input " << number << ": " << result.problem << '\n';
      if (problems <= 10 && options.keep.empty())
        llvm::outs() << text << "\n--\n";
      llvm::outs().flush();
    }
  }
  llvm::outs() << inputs << " inputs of " << made << " pass Sema, " << seeds.size() << " seeds: "
               << llvm::format("%.1f%% of the compilations succeed, %llu problems\n",
                               100.0 * double(compiled) / double(std::max<uint64_t>(compilations, 1)),
                               (unsigned long long)problems);
  return problems || inputs != options.count;
}
