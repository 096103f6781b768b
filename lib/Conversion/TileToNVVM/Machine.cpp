//===- Machine.cpp - thread ids, exchanges, barriers, 8-bit floats -----------===//
#include "NVVMEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

Value NVVMEmitter::threadId() { return NVVM::ThreadIdXOp::create(code.b, code.loc, code.b.getI32Type()); }
Value NVVMEmitter::blockId() { return NVVM::BlockIdXOp::create(code.b, code.loc, code.b.getI32Type()); }
Value NVVMEmitter::gridSize() { return NVVM::GridDimXOp::create(code.b, code.loc, code.b.getI32Type()); }

Value NVVMEmitter::permuteBytes(Value x, Value y, Value selector) {
  return LLVM::CallIntrinsicOp::create(code.b, code.loc, code.b.getI32Type(),
                                       code.b.getStringAttr("llvm.nvvm.prmt"), ValueRange{x, y, selector})
      .getResult(0);
}

/// ptxas makes two instructions of an and and an or with numbers; given one lop3 it keeps a number in a
/// register.
Value NVVMEmitter::andOr(Value x, int64_t mask, int64_t bits) {
  auto op = LLVM::InlineAsmOp::create(
      code.b, code.loc, TypeRange(code.b.getI32Type()),
      ValueRange{x, code.i32(int32_t(mask)), code.i32(int32_t(bits))},
      code.b.getStringAttr("lop3.b32 $0, $1, $2, $3, 0xEA;"), code.b.getStringAttr("=r,r,n,n"),
      /*has_side_effects=*/UnitAttr(), UnitAttr(),
      LLVM::TailCallKindAttr::get(code.b.getContext(), LLVM::TailCallKind::None),
      LLVM::AsmDialectAttr::get(code.b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  return op.getResult(0);
}

Value NVVMEmitter::shuffleXor(Value word, int64_t mask) {
  return NVVM::ShflOp::create(code.b, code.loc, word.getType(), code.i32(-1), word, code.i32(mask),
                              code.i32(31), NVVM::ShflKind::bfly, UnitAttr());
}

Value NVVMEmitter::shuffleFrom(Value word, Value lane) {
  return NVVM::ShflOp::create(code.b, code.loc, word.getType(), code.i32(-1), word, lane, code.i32(31),
                              NVVM::ShflKind::idx, UnitAttr());
}

/// ptxas sees a copy and drops it.
Value NVVMEmitter::opaque(Value value) {
  if (!value.getType().isF32() && !value.getType().isInteger(32))
    return value;
  return code.assembly(value.getType(), "mov.b32 $0, $1;", value.getType().isF32() ? "=f,f" : "=r,r", {value},
                       /*memory=*/false);
}

/// ptxas looks through copies, but not through an exclusive or with a number it does not know: the second
/// coordinate of the block, which is 0 in grids of one dimension.
Value NVVMEmitter::ownRegisters(Value vector) {
  Type word = code.b.getI32Type();
  Value zero = NVVM::BlockIdYOp::create(code.b, code.loc, word);
  Value bits = code.bitcast(vector, word);
  bits = code.exor(bits, code.broadcast(zero, cast<VectorType>(bits.getType()).getNumElements()));
  return code.bitcast(bits, cast<VectorType>(vector.getType()).getElementType());
}

void NVVMEmitter::barrier(Value id, int64_t count) {
  if (count <= int64_t(target.warpSize))
    return warpBarrier();
  NVVM::BarrierOp::create(code.b, code.loc, Type(), id, code.i32(count), NVVM::BarrierReductionAttr(),
                          Value());
}

void NVVMEmitter::warpBarrier() { NVVM::SyncWarpOp::create(code.b, code.loc, code.i32(-1)); }

void NVVMEmitter::trap() { LLVM::Trap::create(code.b, code.loc); }

LogicalResult NVVMEmitter::pause(Operation &, Value nanoseconds) {
  code.assembly(Type(), "nanosleep.u32 $0;", "r", {nanoseconds});
  return success();
}

void NVVMEmitter::decorate(LLVM::LLVMFuncOp f) {
  OpBuilder &b = code.b;
  auto threadsAttr = f->getAttrOfType<IntegerAttr>("tile.threads");
  auto blocks = f->getAttrOfType<IntegerAttr>("tile.min_blocks");
  f->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  SmallVector<int32_t> shape{int32_t(threadsAttr.getInt()), 1, 1};
  // setmaxnreg needs a register count that is known at entry.
  f->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), b.getDenseI32ArrayAttr(shape));
  f->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
             b.getI32IntegerAttr(std::max<int64_t>(1, blocks.getInt())));
}

LogicalResult NVVMEmitter::emitTargetOp(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](RingOp o) { return emitRing(o); })
      .Case([&](AcquireOp o) { return emitAcquire(o); })
      .Case([&](ConsumeOp o) {
        SmallVector<Value> cursor = flatten(o.getCursor());
        waitPhase(ringBarrier(o.getRing(), cursor[0], /*empty=*/false), cursor[1]);
        bindSlot(o.getRing(), cursor[0], o.getBuffers());
        return success();
      })
      .Case([&](CommitOp o) { return emitCommit(o); })
      .Case([&](ReleaseOp o) { return emitRelease(o); })
      .Case([&](WarpGroupsOp o) { return emitWarpGroups(o); })
      .Case([&](tile::BarrierOp o) { return emitBarrier(o); })
      .Case([&](FenceOp o) { return emitFence(o); })
      .Case([&](WaitOp o) { return emitWait(o); })
      .Case([&](RealignOp o) { return emitRealign(o); })
      .Case([&](JoinOp o) { return emitJoin(o); })
      .Case([&](ReadyOp o) {
        env[o.getToken()] = {};
        return success();
      })
      .Case([&](AsyncCopyOp o) { return emitAsyncCopy(o); })
      .Case([&](InFlightOp o) {
        setSums(o.getFuture(), beginSums(o.getFuture(), code.elements(get(o.getTile()))));
        return success();
      })
      .Case([&](AsyncGemmOp o) { return emitAsyncGemm(o); })
      .Case([&](AwaitOp o) { return emitAwait(o); })
      .Default([&](Operation *) { return unsupported(op, "'" + op.getName().getStringRef() + "'"); });
}

//===----------------------------------------------------------------------===//
// 8-bit floats
//===----------------------------------------------------------------------===//

/// cvt.rn.satfinite.{e4m3,e5m2}x2.f32: two at a time; `low` lands in the low byte.
static Value narrowPair(Code &c, Value low, Value high, bool e5m2) {
  StringRef text =
      e5m2 ? "cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;" : "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;";
  return c.assembly(c.b.getI16Type(), text, "=h,f,f", {high, low}, /*memory=*/false);
}

/// Exact through f16.
Value NVVMEmitter::widenFloat8(Value value, bool e5m2) {
  if (target.smVersion < 90)
    return Emitter::widenFloat8(value, e5m2);
  OpBuilder &b = code.b;
  Location loc = code.loc;
  bool isVector = Code::isVector(value);
  SmallVector<Value> in = isVector ? code.elements(value) : SmallVector<Value>{value}, out;
  StringRef text = e5m2 ? "cvt.rn.f16x2.e5m2x2 $0, $1;" : "cvt.rn.f16x2.e4m3x2 $0, $1;";
  for (size_t i = 0; i < in.size(); i += 2) {
    Value low = arith::ExtUIOp::create(b, loc, b.getI16Type(), in[i]);
    if (i + 1 < in.size()) {
      Value high = arith::ExtUIOp::create(b, loc, b.getI16Type(), in[i + 1]);
      low = arith::OrIOp::create(b, loc, low,
                                 arith::ShLIOp::create(b, loc, high, code.constant(b.getI16Type(), 8)));
    }
    Value pair = code.assembly(b.getI32Type(), text, "=r,h", {low}, false);
    Value halves = LLVM::BitcastOp::create(b, loc, code.vec(b.getF16Type(), 2), pair);
    out.push_back(code.element(halves, 0));
    if (i + 1 < in.size())
      out.push_back(code.element(halves, 1));
  }
  return isVector ? code.fromElements(out) : out.front();
}

Value NVVMEmitter::narrowFloat8(Value value, bool e5m2) {
  if (target.smVersion < 90)
    return Emitter::narrowFloat8(value, e5m2);
  bool isVector = Code::isVector(value);
  SmallVector<Value> in = isVector ? code.elements(value) : SmallVector<Value>{value}, out;
  for (size_t i = 0; i < in.size(); i += 2) {
    Value pair = narrowPair(code, in[i], i + 1 < in.size() ? in[i + 1] : in[i], e5m2);
    Value bytes = LLVM::BitcastOp::create(code.b, code.loc, code.vec(code.b.getI8Type(), 2), pair);
    out.push_back(code.element(bytes, 0));
    if (i + 1 < in.size())
      out.push_back(code.element(bytes, 1));
  }
  return isVector ? code.fromElements(out) : out.front();
}
