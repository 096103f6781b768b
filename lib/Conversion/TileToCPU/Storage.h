//===- Storage.h - where tiles and buffers live in the arena -----------------===//
//
// A tile value is a place in the worker's arena. Values that can share one place without a copy do (an
// accumulator and its product, what a loop carries and what it yields); the rest of the arena is packed by
// lifetime.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_CONVERSION_TILETOCPU_STORAGE_H
#define TILEC_LIB_CONVERSION_TILETOCPU_STORAGE_H
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Support/Target.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <map>
#include <vector>

namespace tilec::cpu {
using namespace mlir;

/// Register block of a product: MR rows by NR columns of vectors with VL lanes, computed in `type`.
struct GemmPlan {
  int64_t m = 0, n = 0, k = 0;
  int64_t mr = 1, nr = 1, lanes = 1;
  Type type;
  bool packA = false, packB = false; ///< operand is copied (converted, transposed) into scratch first
  int64_t pitchA() const { return k + 16; }
  int64_t panels() const { return (n + nr - 1) / nr; }
  int64_t scratchA() const;
  int64_t scratchB() const;
};
GemmPlan planGemm(tile::GemmOp op, const TargetDesc &target);

/// The buffer behind subbuffer and recast_buffer.
Value bufferRoot(Value buffer);

/// A tile that is one number everywhere needs no memory where it is read element by element.
bool isUniformTile(Value tile);

class StoragePlan {
public:
  LogicalResult build(tile::LaunchOp launch, const TargetDesc &target);

  /// Offset in bytes of the place of a tile or of a root buffer.
  int64_t offset(Value value) const;
  bool hasPlace(Value value) const { return classOf.count(value); }
  bool samePlace(Value x, Value y) const { return hasPlace(x) && hasPlace(y) && find(x) == find(y); }
  /// Strides in elements of a tile's place: row-major, rows padded where a product writes whole register
  /// blocks.
  SmallVector<int64_t> strides(Value tile) const;
  /// Scratch number `i` of an operation.
  int64_t scratch(Operation *op, unsigned i) const { return scratchOffset.at({op, i}); }
  bool hasScratch(Operation *op, unsigned i) const { return scratchOffset.count({op, i}); }
  int64_t arenaBytes() const { return total; }

private:
  struct Range {
    int64_t from, to; // [from, to)
  };
  struct Live {
    Value value;
    SmallVector<Range, 2> ranges;
  };
  struct Place {
    SmallVector<unsigned> members; // indices into values
    int64_t bytes = 0, offset = 0;
    int64_t padRow = 1, padRows = 1; // multiples for the last and the second last axis
    SmallVector<Range> scratch;      // of a scratch area: no members
  };

  int64_t number(Block &block, int64_t at);
  void addValue(Value value);
  void addRange(Value value, int64_t from, int64_t to);
  void addUses(Value value, int64_t from, Value of);
  int64_t useEnd(Value value, Operation *user) const;
  void collect(Block &block);
  void collectOp(Operation &op);
  void collectLoop(scf::ForOp loop);
  void collectWhile(scf::WhileOp loop);
  void collectIf(scf::IfOp op);
  void inPlace(Operation &op);
  void inPlaceGeneric(tile::GenericOp op);
  void allow(Value from, Value to);
  bool isFree(unsigned a, unsigned b) const;
  void join(Value x, Value y, bool force);
  unsigned find(Value value) const;
  void planCopies(Operation *op, ValueRange from, ArrayRef<Value> to);
  int64_t bytesOf(const Place &place) const;
  void pack();

  const TargetDesc *target = nullptr;
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> position;
  std::vector<Live> values;
  llvm::DenseMap<Value, unsigned> valueIndex;
  llvm::DenseMap<Value, unsigned> classOf;
  mutable std::vector<unsigned> parent;
  std::vector<Place> places;
  llvm::DenseSet<std::pair<unsigned, unsigned>> allowed;
  SmallVector<std::pair<Value, Value>> wishes, demands;
  std::map<std::pair<Operation *, unsigned>, int64_t> scratchOffset;
  struct Scratch {
    Operation *op;
    unsigned i;
    int64_t bytes;
  };
  SmallVector<Scratch> scratches;
  struct Copies {
    Operation *op;
    SmallVector<Value> from, to;
  };
  SmallVector<Copies> copies;
  int64_t total = 0, slack = 4096;
};

} // namespace tilec::cpu
#endif
