//===- EmitAtomic.cpp - atomic updates ---------------------------------------===//
//
// Blocks run on several threads, so updates of global memory are atomic (relaxed); buffers belong to one
// thread. What the processor has no instruction for goes through compare and exchange.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::cpu;
using namespace tilec::tile;

static std::optional<LLVM::AtomicBinOp> instruction(Combine kind, Type element) {
  using Op = LLVM::AtomicBinOp;
  if (kind == Combine::xchg)
    return Op::xchg;
  if (isa<FloatType>(element))
    return std::nullopt;
  switch (kind) {
  case Combine::add:
    return Op::add;
  case Combine::max:
  case Combine::maxnum:
    return Op::max;
  case Combine::min:
  case Combine::minnum:
    return Op::min;
  case Combine::band:
    return Op::_and;
  case Combine::bor:
    return Op::_or;
  case Combine::bxor:
    return Op::_xor;
  default:
    return std::nullopt;
  }
}

/// Updates *ptr and returns what was there. `shared`: other threads may do the same.
Value Emitter::atomicUpdate(Combine kind, Value value, Value compare, Value ptr, Type element, bool shared) {
  Code &c = code;
  auto apply = [&](Value old) -> Value {
    if (kind == Combine::xchg)
      return value;
    if (kind == Combine::cas) {
      Value equal =
          isa<FloatType>(old.getType())
              ? arith::CmpFOp::create(c.b, c.loc, arith::CmpFPredicate::OEQ, old, compare).getResult()
              : c.eq(old, compare);
      return c.select(equal, value, old);
    }
    return combine(kind, old, prepare(kind, value));
  };
  if (!shared) {
    Value old = c.load(ptr, element);
    c.store(apply(old), ptr, element);
    return old;
  }
  auto relaxed = LLVM::AtomicOrdering::monotonic;
  Type bits = c.b.getIntegerType(elementBytes(element) * 8);
  auto toBits = [&](Value v) {
    v = c.toMemory(v, element);
    return v.getType() == bits ? v : arith::BitcastOp::create(c.b, c.loc, bits, v).getResult();
  };
  auto fromBits = [&](Value v) {
    if (memoryType(element) != bits)
      v = arith::BitcastOp::create(c.b, c.loc, memoryType(element), v);
    return c.fromMemory(v, element);
  };
  if (auto single = instruction(kind, element); single && !element.isInteger(1))
    return fromBits(LLVM::AtomicRMWOp::create(c.b, c.loc, *single, ptr, toBits(value), relaxed));
  Value first =
      LLVM::LoadOp::create(c.b, c.loc, bits, ptr, elementBytes(element), false, false, false, false, relaxed);
  auto loop = scf::WhileOp::create(c.b, c.loc, TypeRange{bits}, ValueRange{first});
  OpBuilder::InsertionGuard guard(c.b);
  Block *before = c.b.createBlock(&loop.getBefore(), {}, bits, c.loc);
  Value seen = before->getArgument(0);
  Value made = toBits(apply(fromBits(seen)));
  Value pair = LLVM::AtomicCmpXchgOp::create(c.b, c.loc, ptr, seen, made, relaxed, relaxed);
  Value now = LLVM::ExtractValueOp::create(c.b, c.loc, pair, 0),
        done = LLVM::ExtractValueOp::create(c.b, c.loc, pair, 1);
  scf::ConditionOp::create(c.b, c.loc, c.invert(done), now);
  Block *after = c.b.createBlock(&loop.getAfter(), {}, bits, c.loc);
  scf::YieldOp::create(c.b, c.loc, after->getArguments());
  c.b.setInsertionPointAfter(loop);
  return fromBits(loop.getResult(0));
}

LogicalResult Emitter::emitElemAtomic(ElemAtomicOp op) {
  Code &c = code;
  Memory memory = memoryOf(op.getDest());
  Type element = memory.access.element;
  if (isFloat8(element))
    return op.emitError() << "[E0540] atomics on " << element
                          << " are not supported on the CPU; use a wider type";
  SmallVector<Value> at;
  Value exists;
  for (auto [axis, index] : llvm::enumerate(op.getIndices())) {
    at.push_back(get(index));
    if (memory.isView)
      exists = c.bothOf(exists, c.cmp(arith::CmpIPredicate::ult, at.back(), memory.sizes[axis]));
  }
  Value compare = op.getCompare() ? get(op.getCompare()) : Value();
  Value old = c.choose(
      exists, registerType(element),
      [&] {
        return SmallVector<Value>{atomicUpdate(op.getKind(), get(op.getValue()), compare,
                                               addressOf(memory.access, at), element, memory.isView)};
      },
      [&] { return SmallVector<Value>{safeValue(memory.safe, element)}; })[0];
  map.map(op.getPrevious(), old);
  return success();
}

LogicalResult Emitter::emitAtomicTile(AtomicOp op) {
  ArrayRef<int64_t> extents = op.getExtents() ? *op.getExtents() : op.getValue().getType().getShape();
  Rect dest = regionOf(op.getDest(), op.getOffsets(), extents, false, std::nullopt);
  Type element = dest.access.element;
  if (isFloat8(element))
    return op.emitError() << "[E0540] atomics on " << element
                          << " are not supported on the CPU; use a wider type";
  Value scalar = uniform.lookup(op.getValue());
  Rect source;
  if (!scalar || plan->hasPlace(op.getValue()))
    source = wholeTile(op.getValue());
  bool shared = isa<ViewType>(op.getDest().getType());
  SmallVector<Value> lo, hi;
  SmallVector<unsigned> order;
  boxOf(dest, lo, hi);
  for (unsigned i = 0; i < lo.size(); ++i)
    order.push_back(i);
  nest(lo, hi, order, [&](SmallVector<Value> &at) {
    Value v = source.access.ptr ? code.load(addressOf(source.access, at), element) : scalar;
    atomicUpdate(op.getKind(), v, Value(), addressOf(dest.access, at), element, shared);
  });
  return success();
}
