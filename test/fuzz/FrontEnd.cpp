//===- FrontEnd.cpp - fuzzes parser and Sema ----------------------------------------------===//
//
// fuzz-frontend [--count=N] [--seed=N] [--keep=FOLDER] SEED.tile...
//
// Makes N files by mutation, parses and analyzes each, and checks: no crash, at most 10 s and 2 GB, errors
// exactly when there is no result, every error inside the file. Prints the shares of syntax errors, Sema's
// errors and accepted files; fails when most inputs die in the parser, because then Sema is not tested.
// --keep writes the accepted files. A crash leaves its input in fuzz-crash.tile.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;

enum class Outcome { SyntaxError, SemaError, Accepted };

static Outcome runOne(const std::string &text, std::string &problem) {
  fuzz::Input input(text);
  std::unique_ptr<ast::Module> module = input.parse();
  Outcome outcome = Outcome::SyntaxError;
  bool good = module != nullptr;
  if (module) {
    outcome = Outcome::SemaError;
    good = analyze(*module, SemaOptions(), input.diags) != nullptr;
    if (good)
      outcome = Outcome::Accepted;
  }
  problem = input.checker.problem;
  if (good == input.diags.hasErrors())
    problem = good ? "a result in spite of errors" : "no result and no error";
  return outcome;
}

int main(int argc, char **argv) {
  fuzz::Options options = fuzz::parseOptions(argc, argv, "fuzz-frontend");
  std::vector<fuzz::Seed> seeds = fuzz::readSeeds(options);
  fuzz::installLimits();
  fuzz::Mutator mutator(seeds);
  uint64_t outcomes[3] = {}, problems = 0;
  for (uint64_t i = 0; i != options.count; ++i) {
    std::string text = mutator.make(options.first + i), problem;
    fuzz::Watch watch(text);
    Outcome outcome = runOne(text, problem);
    ++outcomes[size_t(outcome)];
    if (outcome == Outcome::Accepted)
      fuzz::keep(options, std::to_string(options.first + i), text);
    if (!problem.empty() && ++problems <= 10)
      llvm::outs() << "input " << options.first + i << ": " << problem << '\n' << text << "\n--\n";
  }
  auto share = [&](size_t outcome) {
    return 100.0 * double(outcomes[outcome]) / double(std::max<uint64_t>(options.count, 1));
  };
  llvm::outs() << options.count << " inputs from " << seeds.size() << " seeds: "
               << llvm::format(
                      "%.1f%% syntax errors, %.1f%% rejected by Sema, %.1f%% accepted, %llu problems\n",
                      share(0), share(1), share(2), (unsigned long long)problems);
  bool starved = options.count >= 1000 && outcomes[0] * 2 > options.count;
  if (starved)
    llvm::outs() << "more than half of the inputs are syntax errors\n";
  return problems || starved;
}
