//===- ROCDLEmitter.h - the program of one thread on AMD GPUs ----------------===//
//
// A warp of the shared code is a wave of 64 lanes. There are no roles and no engines: tokens are done from
// the start, rings are slots of LDS that barriers of the block keep apart.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_CONVERSION_TILETOROCDL_ROCDLEMITTER_H
#define TILEC_LIB_CONVERSION_TILETOROCDL_ROCDLEMITTER_H
#include "../TileToGPU/Emitter.h"

namespace tilec::simt {

class ROCDLEmitter : public Emitter {
public:
  using Emitter::Emitter;

protected:
  Value threadId() override;
  Value blockId() override;
  Value gridSize() override;
  Value shuffleXor(Value word, int64_t mask) override;
  Value permuteBytes(Value x, Value y, Value selector) override;
  Value shuffleFrom(Value word, Value lane) override;
  void barrier(Value id, int64_t threads) override;
  void warpBarrier() override;
  void trap() override;
  bool splitsLoads() const override { return false; }
  LogicalResult pause(Operation &op, Value nanoseconds) override;
  void decorate(LLVM::LLVMFuncOp function) override;
  LogicalResult emitTargetOp(Operation &op) override;
  LogicalResult emitGemm(tile::GemmOp op) override;
  FailureOr<Value> emitMathCall(Operation &op, ValueRange operands) override;

private:
  /// llvm.<name>, with no memory effects told to MLIR's optimiser beyond what the intrinsic has.
  Value intrinsic(StringRef name, Type result, ValueRange operands);
  void effect(StringRef name, ValueRange operands);
  /// Every lane's word from another lane by a data-parallel-primitive control of its row.
  Value rowMove(Value word, int64_t control);
  void fence(StringRef scope, LLVM::AtomicOrdering ordering);
  LogicalResult emitMfma(tile::GemmOp op);
};

} // namespace tilec::simt
#endif
