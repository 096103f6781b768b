//===- Mutator.h - makes new .tile files out of old ones --------------------------------===//

#ifndef TILEC_TEST_FUZZ_MUTATOR_H
#define TILEC_TEST_FUZZ_MUTATOR_H

#include "tilec/AST/AST.h"
#include <random>
#include <string>
#include <vector>

namespace tilec::fuzz {

/// A file that parses, and where its pieces are.
struct Seed {
  std::string text;
  /// Byte ranges.
  std::vector<SourceRange> exprs;
  std::vector<SourceRange> names;
  std::vector<SourceRange> numbers;
  std::vector<SourceRange> operators;
  /// Statements that stand alone on their line.
  std::vector<SourceRange> lines;
  std::vector<SourceRange> tokens;

  Seed(std::string text, const ast::Module &module);
};

/// Deterministic: the same seeds and number give the same text.
class Mutator {
public:
  explicit Mutator(const std::vector<Seed> &seeds) : seeds(seeds) {}

  std::string make(uint64_t number);

private:
  using Rng = std::mt19937_64;
  struct Edit {
    SourceRange range;
    std::string text;
  };

  Edit treeEdit(const Seed &seed, Rng &rng);
  Edit lineEdit(const Seed &seed, Rng &rng);
  Edit tokenEdit(const Seed &seed, Rng &rng);
  const Seed &any(Rng &rng) { return seeds[rng() % seeds.size()]; }

  const std::vector<Seed> &seeds;
};

} // namespace tilec::fuzz

#endif // TILEC_TEST_FUZZ_MUTATOR_H
