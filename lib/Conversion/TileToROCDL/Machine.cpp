//===- Machine.cpp - thread ids, exchanges, barriers ------------------------===//
// Sources: LLVM, "User Guide for AMDGPU Backend" (kernel arguments, memory model); AMD CDNA3 ISA, "Data
// Parallel Processing" and "DS_SWIZZLE_B32".
#include "ROCDLEmitter.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

Value ROCDLEmitter::intrinsic(StringRef name, Type result, ValueRange operands) {
  auto attr = code.b.getStringAttr("llvm." + name);
  return LLVM::CallIntrinsicOp::create(code.b, code.loc, result, attr, operands).getResult(0);
}

void ROCDLEmitter::effect(StringRef name, ValueRange operands) {
  LLVM::CallIntrinsicOp::create(code.b, code.loc, code.b.getStringAttr("llvm." + name), operands);
}

Value ROCDLEmitter::threadId() { return intrinsic("amdgcn.workitem.id.x", code.b.getI32Type(), {}); }
Value ROCDLEmitter::blockId() { return intrinsic("amdgcn.workgroup.id.x", code.b.getI32Type(), {}); }

/// hidden_block_count_x, the first of the implicit arguments since code object version 5.
Value ROCDLEmitter::gridSize() {
  constexpr unsigned constantSpace = 4;
  Type pointer = LLVM::LLVMPointerType::get(code.b.getContext(), constantSpace);
  Value implicit = intrinsic("amdgcn.implicitarg.ptr", pointer, {});
  return LLVM::LoadOp::create(code.b, code.loc, code.b.getI32Type(), implicit, /*alignment=*/4);
}

Value ROCDLEmitter::rowMove(Value word, int64_t control) {
  Value all = code.i32(0xf), bound = code.boolean(true);
  return intrinsic("amdgcn.update.dpp", code.b.getI32Type(),
                   {code.i32(0), word, code.i32(control), all, all, bound});
}

/// v_perm_b32 has a byte for each digit of the selector, and the words the other way round.
Value ROCDLEmitter::permuteBytes(Value x, Value y, Value selector) {
  Value spread;
  for (int64_t digit = 0; digit < 4; ++digit) {
    Value nibble = code.fold<arith::AndIOp>(selector, code.i32(int64_t(0xf) << 4 * digit));
    spread = code.add(spread, digit ? code.fold<arith::ShLIOp>(nibble, code.i32(4 * digit)) : nibble);
  }
  return intrinsic("amdgcn.perm", code.b.getI32Type(), {y, x, spread});
}

/// Within a row of 16 lanes by DPP, within 32 by ds_swizzle, across the halves by ds_bpermute.
Value ROCDLEmitter::shuffleXor(Value word, int64_t mask) {
  constexpr int64_t quadPerm1032 = 0xb1, quadPerm2301 = 0x4e, rowRotate8 = 0x128;
  switch (mask) {
  case 1:
    return rowMove(word, quadPerm1032);
  case 2:
    return rowMove(word, quadPerm2301);
  case 8:
    return rowMove(word, rowRotate8);
  default:
    break;
  }
  if (mask < 32) // bit-mask mode: and 31, or 0, xor mask
    return intrinsic("amdgcn.ds.swizzle", code.b.getI32Type(), {word, code.i32(mask << 10 | 0x1f)});
  return shuffleFrom(word, code.exor(threads.lane, mask));
}

Value ROCDLEmitter::shuffleFrom(Value word, Value lane) {
  if (Code::known(lane))
    return intrinsic("amdgcn.readlane", code.b.getI32Type(), {word, lane});
  return intrinsic("amdgcn.ds.bpermute", code.b.getI32Type(), {code.mul(lane, 4), word});
}

void ROCDLEmitter::fence(StringRef scope, LLVM::AtomicOrdering ordering) {
  LLVM::FenceOp::create(code.b, code.loc, ordering, scope);
}

/// There is one barrier, of all waves. The wait for LDS stands here because LLVM 22 drops the fence's own one
/// at the top of a loop when nothing is under way on the way into it (llvm/llvm-project#220356).
void ROCDLEmitter::barrier(Value, int64_t count) {
  if (count <= int64_t(target.warpSize) && launch.getScheduleAttr().getThreads() <= target.warpSize)
    return warpBarrier();
  constexpr int32_t lgkmcnt0 =
      0xc07f; // of s_waitcnt on gfx9: no LDS access under way, the other counters free
  fence("workgroup", LLVM::AtomicOrdering::release);
  effect("amdgcn.s.waitcnt", {code.i32(lgkmcnt0)});
  effect("amdgcn.s.barrier", {});
  fence("workgroup", LLVM::AtomicOrdering::acquire);
}

/// Lanes run in step and LDS serves a wave in order: only the compiler must not move accesses.
void ROCDLEmitter::warpBarrier() {
  fence("wavefront", LLVM::AtomicOrdering::release);
  effect("amdgcn.wave.barrier", {});
  fence("wavefront", LLVM::AtomicOrdering::acquire);
}

void ROCDLEmitter::trap() { LLVM::Trap::create(code.b, code.loc); }

/// s_sleep 1 is 64 clocks, about 32 ns.
LogicalResult ROCDLEmitter::pause(Operation &, Value nanoseconds) {
  auto loop = scf::ForOp::create(code.b, code.loc, code.i32(0), code.div(nanoseconds, 32), code.i32(1));
  OpBuilder::InsertionGuard guard(code.b);
  code.b.setInsertionPointToStart(loop.getBody());
  effect("amdgcn.s.sleep", {code.i32(1)});
  return success();
}

void ROCDLEmitter::decorate(LLVM::LLVMFuncOp f) {
  OpBuilder &b = code.b;
  int64_t count = f->getAttrOfType<IntegerAttr>("tile.threads").getInt();
  int64_t blocks = std::max<int64_t>(1, f->getAttrOfType<IntegerAttr>("tile.min_blocks").getInt());
  f->setAttr(ROCDL::ROCDLDialect::getKernelFuncAttrName(), b.getUnitAttr());
  f->setAttr("rocdl.reqd_work_group_size", b.getDenseI32ArrayAttr({int32_t(count), 1, 1}));
  std::string n = std::to_string(count);
  f->setAttr("rocdl.flat_work_group_size", b.getStringAttr(n + "," + n));
  // Four SIMDs share the waves of the blocks that shall run at once.
  int64_t waves = llvm::divideCeil(count / target.warpSize * blocks, 4);
  f->setAttr("rocdl.waves_per_eu", b.getI32IntegerAttr(waves));
}

LogicalResult ROCDLEmitter::emitTargetOp(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](RingOp o) -> LogicalResult {
        if (!o.getOffsets())
          return o.emitError() << "[E0505] shared memory without a place: run tile-allocate-shared first";
        env[o.getRing()] = {};
        return success();
      })
      .Case([&](tile::BarrierOp o) -> LogicalResult {
        if (o.getScope() == Scope::warp)
          warpBarrier();
        else if (o.getScope() == Scope::cluster)
          return unsupported(op, "a cluster of blocks");
        else
          barrier(code.i32(0), launch.getScheduleAttr().getThreads());
        return success();
      })
      .Case([&](tile::FenceOp o) {
        if (o.getKind() == Fence::device)
          fence("agent", LLVM::AtomicOrdering::seq_cst);
        else if (o.getKind() == Fence::issue)
          effect("amdgcn.sched.barrier", {code.i32(0)});
        return success(); // one view of memory: no engine has another
      })
      .Case<WaitOp, JoinOp, ReadyOp>([&](Operation *o) {
        for (Value token : o->getResults())
          env[token] = {};
        return success();
      })
      .Default([&](Operation *) { return unsupported(op, "'" + op.getName().getStringRef() + "'"); });
}
