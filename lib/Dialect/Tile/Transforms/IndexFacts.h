//===- IndexFacts.h - linear facts about index values ------------------------===//
//
// Index values as sums of atoms (extents, block ids, loop variables, quotients, ..) with integer
// coefficients, and what is known of them as inequalities. A goal is proved by adding up inequalities until
// the atoms are gone.
//
// Index arithmetic is that of the integers: the launcher has checked that sizes stay far below 2^63. Values
// without such a bound (int64 data and parameters) are atoms, and sums and products of them are atoms again,
// because they may wrap.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_INDEXFACTS_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_INDEXFACTS_H
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

namespace tilec::tile {

/// An atom: a value (part 0), or the quotient of one by a divisor that is known to be exact (part = divisor).
using Atom = std::pair<mlir::Value, int64_t>;
struct AtomLess {
  bool operator()(const Atom &lhs, const Atom &rhs) const {
    return std::make_pair(lhs.first.getAsOpaquePointer(), lhs.second) <
           std::make_pair(rhs.first.getAsOpaquePointer(), rhs.second);
  }
};

/// sum of coefficient * atom, plus a constant. `overflow` once a number did not fit: then it says nothing.
struct Sum {
  std::map<Atom, int64_t, AtomLess> terms;
  int64_t constant = 0;
  bool overflow = false;

  static Sum of(int64_t value);
  static Sum of(Atom atom, int64_t coefficient = 1);
  Sum &add(const Sum &other, int64_t factor = 1);
  bool isConstant() const { return terms.empty() && !overflow; }
  bool isDivisibleBy(int64_t divisor) const;
  Sum dividedBy(int64_t divisor) const; ///< exactly
  void reduce(); ///< divides by the common factor of the coefficients, as fact `sum <= 0`
};

class IndexFacts {
public:
  /// Collects what the kernel requires and assumes.
  explicit IndexFacts(KernelOp kernel);

  /// Is `sum` <= 0 wherever `at` is executed?
  bool proves(const Sum &sum, mlir::Operation *at);
  Sum sumOf(mlir::Value value);
  /// Extent of a view along an axis; nothing when the kernel never mentions it.
  std::optional<Sum> extentOf(mlir::Value view, unsigned axis);

  /// Does arithmetic on it stay that of the integers?
  bool isBounded(mlir::Value value);

private:
  Sum compute(mlir::Value value);
  Sum quotient(mlir::Operation *op, bool ceil);
  Sum atom(mlir::Value value);
  Sum loopVariable(mlir::scf::ForOp loop);
  void assume(mlir::Value condition, bool holds, llvm::SmallVectorImpl<Sum> &into);
  void compare(mlir::arith::CmpIOp cmp, bool holds, llvm::SmallVectorImpl<Sum> &into);
  void collectDivisors(mlir::Value condition);
  void collectGuards(mlir::Operation *at, llvm::SmallVectorImpl<Sum> &into);
  bool isNonNegative(const Sum &sum, mlir::Operation *at);
  bool search(Sum goal, llvm::ArrayRef<Sum> usable, unsigned depth, unsigned &budget);
  void atMostZero(Sum sum, llvm::SmallVectorImpl<Sum> &into);

  KernelOp kernel;
  llvm::DenseMap<mlir::Value, int64_t> divisors;                        ///< from assume(x % d == 0)
  llvm::DenseMap<mlir::Value, mlir::Value> equal;                       ///< from require_equal
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> extents; ///< views to tile.dim results
  llvm::DenseMap<mlir::Value, Sum> known;
  llvm::SmallVector<Sum> facts; ///< each is <= 0
};

} // namespace tilec::tile
#endif
