//===- ConstEval.h - operators on compile-time values ---------------------------------===//
//
// Python's meaning, exactly: unbounded integers (up to the language's 4096 bits), floor division, floats in
// double. Every function reports what goes wrong and returns Poison then.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_SEMA_CONSTEVAL_H
#define TILEC_LIB_SEMA_CONSTEVAL_H

#include "DiagSink.h"
#include "Value.h"

namespace tilec::sema {

/// The work a kernel may cause while it is compiled.
struct Budget {
  static constexpr unsigned maxSteps = 1000000;
  static constexpr unsigned maxStatements = 100000;
  static constexpr unsigned maxFileStatements = 500000; // of all kernels and instances of a file
  static constexpr unsigned maxTiles = 4096;
  static constexpr unsigned maxAssumptions = 1000; // each a test at launch
  static constexpr unsigned maxExpansions = 256;
  static constexpr unsigned maxDepth = 1600; // of the elaborator's own recursion
  unsigned steps = 0, statements = 0, tiles = 0, assumptions = 0, expansions = 0, depth = 0;
  bool exhausted = false;
};

class ConstEval {
public:
  ConstEval(DiagSink &sink, Budget &budget) : sink(sink), budget(budget) {}

  Value unary(ast::UnaryOp op, const Value &v, SourceRange where);
  Value binary(ast::BinaryOp op, const Value &a, const Value &b, SourceRange where);
  Value compare(ast::CompareOp op, const Value &a, const Value &b, SourceRange where);
  Value ceilDiv(const Value &a, const Value &b, SourceRange where);
  /// base[index] of a sequence or string.
  Value index(const Value &base, const Value &index, SourceRange where);
  Value slice(const Value &base, const Value *lower, const Value *upper, const Value *step,
              SourceRange where);
  /// range(...) as a list.
  Value range(const Value &start, const Value &stop, const Value &step, SourceRange where);
  /// Counts work; false (reported once) when the kernel's budget is used up.
  bool step(SourceRange where, uint64_t n = 1);
  /// The nearest double; reports when an integer is too large for one.
  std::optional<double> toDouble(const Value &v, SourceRange where);

private:
  Value intBinary(ast::BinaryOp op, const llvm::APSInt &a, const llvm::APSInt &b, SourceRange where);
  Value floatBinary(ast::BinaryOp op, double a, double b, SourceRange where);
  Value sequenceBinary(ast::BinaryOp op, const Value &a, const Value &b, SourceRange where);
  Value repeat(const Value &sequence, const Value &times, SourceRange where);
  Value intPower(const llvm::APSInt &a, const llvm::APSInt &b, SourceRange where);
  Value intShift(bool left, const llvm::APSInt &a, const llvm::APSInt &b, SourceRange where);
  Value checked(llvm::APSInt v, SourceRange where);
  Value contains(const Value &item, const Value &sequence, bool negate, SourceRange where);
  Value unsupported(llvm::StringRef op, const Value &a, const Value &b, SourceRange where);

  DiagSink &sink;
  Budget &budget;
};

/// Numeric order of two compile-time numbers; none when one is NaN.
std::optional<int> compareNumbers(const Value &a, const Value &b);

} // namespace tilec::sema

#endif // TILEC_LIB_SEMA_CONSTEVAL_H
