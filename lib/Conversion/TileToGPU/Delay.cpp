//===- Delay.cpp - pauses of pseudo-random length ----------------------------===//
//
// A hash of the seed, the block and the warp, then of the site and the loop counters: no state, no clock, so
// a seed means one schedule of pauses. Each warp has a pace besides, or slow and fast warps would average
// out.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

/// Pauses are shorter than this many nanoseconds, a power of two.
static constexpr int64_t kLongestPause = 2048;

/// One round of a 32-bit mixing function.
static Value mix(Code &code, Value hash, Value word) {
  Value x = code.mul(code.exor(hash, word), int32_t(0x9E3779B1));
  Value high = code.fold<arith::ShRUIOp>(x, code.i32(15));
  return code.mul(code.exor(x, high), int32_t(0x85EBCA77));
}

LogicalResult Emitter::pause(Operation &op, Value) { return unsupported(op, "--sanitize=schedule"); }

/// Of this warp for the whole launch. Made where all threads of the block still run the same code.
Value Emitter::delayHash() {
  if (warpHash)
    return warpHash;
  OpBuilder &b = code.b;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entryEnd);
  auto entryAttr = b.getDictionaryAttr({b.getNamedAttr("schedule_seed", b.getUnitAttr())});
  Value seed = addParameter(b.getI32Type(), entryAttr);
  Value warp = uniform(code.div(threadId(), target.warpSize));
  warpHash = mix(code, mix(code, mix(code, seed, code.i32(1)), blockId()), warp);
  return warpHash;
}

LogicalResult Emitter::emitDelay(DelayOp op) {
  Value hash = mix(code, delayHash(), code.i32(op.getSite()));
  for (Value counter : op.getCounters())
    hash = mix(code, hash, code.toI32(flatten(counter).front()));
  hash = mix(code, hash, code.i32(2));
  Value length = code.fold<arith::AndIOp>(hash, code.i32(kLongestPause - 1));
  // The pace of the warp: whole, half, a quarter or an eighth.
  Value pace = code.fold<arith::ShRUIOp>(delayHash(), code.i32(30));
  return pause(*op, code.fold<arith::ShRUIOp>(length, pace));
}
