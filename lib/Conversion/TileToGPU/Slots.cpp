//===- Slots.cpp - cursors, and the slots of rings in shared memory ----------===//
#include "Emitter.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

void Emitter::bindSlot(Value ring, Value slot, ValueRange buffers) {
  auto op = ring.getDefiningOp<RingOp>();
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    int64_t stride = slotBytes(cast<BufferType>(buffer.getType()));
    set(buffer, code.add(code.mul(slot, stride), code.i32((*op.getOffsets())[i])));
  }
}

LogicalResult Emitter::emitAdvance(AdvanceOp op) {
  SmallVector<Value> cursor = flatten(op.getCursor());
  Value slot = cursor[0], phase = cursor[1];
  int64_t depth = op.getCursor().getType().getDepth();
  for (int64_t by = op.getBy(); by != 0; by += by > 0 ? -1 : 1) {
    bool forward = by > 0;
    Value wraps = code.eq(slot, forward ? depth - 1 : 0);
    Value next = forward ? code.add(slot, 1) : code.add(slot, -1);
    slot = code.select(wraps, code.i32(forward ? 0 : depth - 1), next);
    phase = code.select(wraps, code.exor(phase, 1), phase);
  }
  env[op.getNext()] = {slot, phase};
  return success();
}
