//===- NVVMEmitter.h - the program of one thread on NVIDIA GPUs --------------===//
#ifndef TILEC_LIB_CONVERSION_TILETONVVM_NVVMEMITTER_H
#define TILEC_LIB_CONVERSION_TILETONVVM_NVVMEMITTER_H
#include "../TileToGPU/Emitter.h"
#include "Sums.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace tilec::simt {

/// Who completes a token.
enum class TokenSource : uint8_t { None, Matrix, BulkStore, CpAsync, BulkLoad };

/// Begun or whole, a product that all warps of a group make together.
bool isWarpGroupProduct(Operation *op);

class NVVMEmitter : public Emitter {
public:
  using Emitter::Emitter;

protected:
  Value threadId() override;
  Value blockId() override;
  Value gridSize() override;
  Value shuffleXor(Value word, int64_t mask) override;
  Value permuteBytes(Value x, Value y, Value selector) override;
  Value andOr(Value x, int64_t mask, int64_t bits) override;
  Value shuffleFrom(Value word, Value lane) override;
  Value opaque(Value value) override;
  Value ownRegisters(Value vector) override;
  void barrier(Value id, int64_t threads) override;
  void warpBarrier() override;
  void trap() override;
  LogicalResult pause(Operation &op, Value nanoseconds) override;
  LogicalResult prepare() override; ///< Sums.cpp
  void decorate(LLVM::LLVMFuncOp function) override;
  LogicalResult emitTargetOp(Operation &op) override;
  LogicalResult emitGemm(tile::GemmOp op) override;
  FailureOr<Value> emitMathCall(Operation &op, ValueRange operands) override;
  Value widenFloat8(Value value, bool e5m2) override;
  Value narrowFloat8(Value value, bool e5m2) override;
  Value loadMatrices(const Layout &fragment, Type element, Value memory) override;
  bool storeMatrices(Value value, const Layout &fragment, Type element, Value memory) override;

private:
  //===- Rings and roles (Async.cpp) ---------------------------------------------===//
  LogicalResult emitRing(tile::RingOp op);
  Value ringBarrier(Value ring, Value slot, bool empty); ///< address
  Value waitPhase(Value address, Value phase);
  LogicalResult emitAcquire(tile::AcquireOp op);
  LogicalResult emitCommit(tile::CommitOp op);
  LogicalResult emitRelease(tile::ReleaseOp op);
  LogicalResult emitWarpGroups(tile::WarpGroupsOp op);
  void meetBeforeRole(bool isLoad, int64_t warps);
  LogicalResult emitBarrier(tile::BarrierOp op);
  LogicalResult emitFence(tile::FenceOp op);
  LogicalResult emitWait(tile::WaitOp op);
  LogicalResult emitJoin(tile::JoinOp op);
  TokenSource sourceOf(Value token);
  bool leftOneByOne(Value ring);
  Value isGroupLeader(); ///< first thread of its warp group
  Value groupBarrierId(int64_t first);
  int64_t groupThreads() { return threads.warps * target.warpSize; }

  //===- Copies (Copies.cpp) -------------------------------------------------------===//
  LogicalResult emitAsyncCopy(tile::AsyncCopyOp op);
  LogicalResult emitBulkLoad(tile::AsyncCopyOp op);
  LogicalResult emitBulkStore(tile::AsyncCopyOp op);
  LogicalResult emitCpAsync(tile::AsyncCopyOp op);
  void emitCpAsync(tile::AsyncCopyOp op, const ViewAccess &a, const Layout &offset, int64_t vec,
                   int64_t count, bool whole);
  static std::pair<SmallVector<int64_t>, int64_t> lineOf(const ViewAccess &a, int64_t reg);
  FailureOr<Value> tensorMap(Operation *op, Value view, ArrayRef<int64_t> box, unsigned swizzle,
                             bool tf32 = false);
  /// What the second-level cache does with tiles loaded at these offsets, i64.
  Value cachePolicy(ValueRange offsets);
  SmallVector<Value> boxCoords(Value view, ValueRange offsets, ArrayRef<int64_t> extents,
                               ArrayRef<Value> inside);
  Value address(Value ptr); ///< of a pointer into shared memory, as i32

  //===- Rows that start anywhere (Realign.cpp) --------------------------------------===//
  struct Words;
  Words wordsOf(tile::AsyncCopyOp op);
  Value wordAddress(const Words &w, Value row, Value word);
  Value wordsInside(const Words &w, tile::AsyncCopyOp op);
  void copyWord(const Words &w, tile::AsyncCopyOp op, Value i);
  void copyRaggedWord(const Words &w, tile::AsyncCopyOp op, Value i);
  LogicalResult emitWords(tile::AsyncCopyOp op);
  Value clearOutside(const ViewAccess &a, Value value);
  LogicalResult emitRealign(tile::RealignOp op);

  //===- Products (Wgmma.cpp, Mma.cpp) -----------------------------------------------===//
  struct Product;
  class MatrixReader;
  class WarpProduct;
  LogicalResult readProduct(Operation *op, Product &p);
  LogicalResult issueWgmma(Product &p, Sums &sums);
  LogicalResult emitAsyncGemm(tile::AsyncGemmOp op);
  LogicalResult emitAwait(tile::AwaitOp op);
  LogicalResult emitMmaSync(tile::GemmOp op);

  //===- Sums of products under way (Sums.cpp) -----------------------------------------===//
  /// Begins with `values`; in registers with names that begin with `name` if `isNamed`, or where they are
  /// zeros.
  Sums beginSums(std::string name, ArrayRef<Value> values, bool isNamed = false);
  Sums beginSums(Value future, ArrayRef<Value> values);
  Sums sumsOf(Value future);
  void setSums(Value future, const Sums &sums);
  /// Waits until at most `pending` younger groups run. The engine reads `read`, words of an operand, until
  /// then; to LLVM their registers would be free for other values once the product has begun.
  SmallVector<Value> endSums(Sums sums, tile::TileType tile, int64_t pending, ArrayRef<Value> read = {});

  std::map<std::pair<int64_t, std::string>, Value> tensorMaps;
  SumRegisters sumRegisters;
  llvm::StringSet<> declaredSums;
  llvm::DenseMap<Value, Sums> tiedSums; ///< of futures
};

} // namespace tilec::simt
#endif
