//===- Sums.h - registers of the sums of products under way ------------------===//
#ifndef TILEC_LIB_CONVERSION_TILETONVVM_SUMS_H
#define TILEC_LIB_CONVERSION_TILETONVVM_SUMS_H
#include "../TileToGPU/Code.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace tilec::simt {

/// Where the sums of a product stand. Either in registers that have names of their own in PTX: `sums0_0`,
/// `sums0_1`, .. The assembly that begins products and ends them goes by these names, so that LLVM has
/// neither up to 128 values for each product nor the loops that carry them: they took a sixth of the time of
/// tilec. Or in values tied to the assembly that begins products and waits for them, where a tile goes in and
/// a tile comes out each time: ptxas then finds one place for both. Either way no use can move into the time
/// when the engine writes them, and ptxas sees every dependence.
struct Sums {
  std::string name;               ///< what the names begin with; empty: tied
  llvm::SmallVector<Value> words; ///< tied values
  Value holds; ///< i32: 1 where sums stand in the registers of that name, 0 where they count as zeros
  std::string word(int64_t i) const; ///< in the text of assembly whose first operands are `words`
};

/// Registers of the instruction for so many sums: f16 in pairs.
inline int64_t wordsOfSums(mlir::Type element, int64_t sums) { return element.isF16() ? sums / 2 : sums; }

/// Assembly whose first operands are `words`, read and written; `more` follow. Returns what was written.
llvm::SmallVector<Value> tied(Code &c, StringRef text, ArrayRef<Value> words, StringRef constraints,
                              ArrayRef<Value> more);

/// Futures that follow one another, as those of the products of a loop do, stand in the same registers.
class SumRegisters {
public:
  /// Of the futures of `launch`, where each `in_flight` then has one use. Fails with a message where two
  /// futures would need the same registers at once, which no pass makes.
  static mlir::FailureOr<SumRegisters> assign(tile::LaunchOp launch);

  std::string nameOf(Value future) const;
  /// Does a loop or a branch hand it on?
  bool isCarried(Value future) const { return carried.contains(chains.getLeaderValue(future)); }

private:
  void follow(Operation *op);
  void join(mlir::ValueRange a, mlir::ValueRange b);
  bool apart(mlir::ValueRange values) const;
  mlir::LogicalResult verify(tile::LaunchOp launch) const;
  void number(Operation *op);

  llvm::EquivalenceClasses<Value> chains;
  llvm::DenseMap<Value, unsigned> numbers; ///< of the leader of each chain
  llvm::DenseSet<Value> carried;           ///< leaders
};

} // namespace tilec::simt
#endif
