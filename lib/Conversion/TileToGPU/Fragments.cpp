//===- Fragments.cpp - layouts as code ---------------------------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

std::pair<Value, Value> Emitter::evaluate(const Layout &l, DimId out, ArrayRef<LayoutInput> inputs) {
  Value low, high;
  int o = l.outIndex(out);
  if (o < 0)
    return {low, high};
  int64_t mask = (int64_t(1) << l.zone(out)) - 1;
  for (const LayoutInput &in : inputs) {
    for (const Layout::Run &run : l.runs(in.dim)) {
      int64_t v = run.v[o];
      if (v == 0 || run.place >= in.range || in.step % (run.place * run.n) == 0)
        continue;
      Value digit = code.div(in.value, run.place);
      if (run.place * run.n < in.range)
        digit = code.rem(digit, run.n);
      if (v & mask)
        low = code.exor(low, code.mul(digit, v & mask));
      if (v & ~mask)
        high = code.add(high, code.mul(digit, v & ~mask));
    }
  }
  return {low, high};
}

SmallVector<LayoutInput> Emitter::threadInputs(const Layout &l) {
  SmallVector<LayoutInput> inputs{{DimId::Lane, threads.lane, int64_t(target.warpSize)}};
  if (turn.value)
    inputs.push_back(turn);
  if (threads.groups > 1 && !l.hasIn(DimId::Group) && l.inSize(DimId::Warp) > threads.warps) {
    Value warp = code.add(code.mul(threads.group, threads.warps), threads.warp);
    inputs.push_back({DimId::Warp, warp, threads.allWarps()});
    return inputs;
  }
  if (threads.warps > 1)
    inputs.push_back({DimId::Warp, threads.warp, threads.warps});
  if (threads.groups > 1)
    inputs.push_back({DimId::Group, threads.group, threads.groups});
  return inputs;
}

Coords Emitter::coordsOf(const Layout &l, unsigned rank) {
  Coords c;
  SmallVector<LayoutInput> inputs = threadInputs(l);
  for (unsigned axis = 0; axis < rank; ++axis) {
    auto [low, high] = evaluate(l, coord(axis), inputs);
    c.low.push_back(low);
    c.high.push_back(high);
    if (l.outIndex(coord(axis)) < 0)
      c.regs.emplace_back(l.inSize(DimId::Reg), std::pair<int64_t, int64_t>{0, 0});
    else
      c.regs.push_back(l.contributions(DimId::Reg, coord(axis)));
    if (c.regs.back().empty())
      c.regs.back().push_back({0, 0});
  }
  return c;
}

Value Emitter::join(std::pair<Value, Value> thread, int64_t l) {
  auto [low, high] = thread;
  if (l)
    low = low ? code.exor(low, l) : code.i32(l);
  return code.add(low, high);
}

Value Emitter::byteOffset(Value base, std::pair<Value, Value> thread, int64_t l, int64_t bytes) {
  Value sum = join(thread, l);
  return sum ? code.add(base, code.mul(sum, bytes)) : base;
}

Value Emitter::coordAt(const Coords &c, unsigned axis, int64_t reg) {
  auto [l, h] = c.regs[axis][reg];
  Value sum = join({c.low[axis], c.high[axis]}, l);
  return sum ? code.add(sum, h) : code.i32(h);
}

Value Emitter::validAt(const Layout &l, const Coords &c, ArrayRef<int64_t> shape, int64_t reg) {
  Value valid;
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    if (l.cover(coord(axis)) <= shape[axis])
      continue;
    Value inside = code.ult(coordAt(c, axis, reg), shape[axis]);
    valid = code.both(valid, inside);
  }
  return valid;
}

Value Emitter::isOwner(const Layout &l) {
  Value owner;
  for (const LayoutInput &in : threadInputs(l)) {
    int64_t size = l.inSize(in.dim);
    if (size < in.range)
      owner = code.both(owner, code.ult(in.value, size));
    for (const Layout::Run &run : l.replication()) {
      if (run.dim != in.dim || in.step % (run.place * run.n) == 0)
        continue;
      Value digit = code.div(in.value, run.place);
      if (run.place * run.n < in.range)
        digit = code.rem(digit, run.n);
      owner = code.both(owner, code.eq(digit, 0));
    }
  }
  // A role with more warps than one group, held by layouts that know neither.
  return owner;
}

bool Emitter::isReplicaRegister(const Layout &l, int64_t reg) {
  for (const Layout::Run &run : l.replication())
    if (run.dim == DimId::Reg && reg / run.place % run.n)
      return true;
  return false;
}

void Emitter::forRegisters(const Layout &l, int64_t most, llvm::function_ref<void(int64_t count)> each) {
  int64_t regs = l.inSize(DimId::Reg), step = 1;
  // Turns start at whole digits: there the thread's, the turn's and the register's contributions add up.
  for (const Layout::Digit &d : l.digits(DimId::Reg))
    if (step == 1 || step * d.n <= most)
      step *= d.n;
    else
      break;
  if (step >= regs)
    return each(regs);
  OpBuilder &b = code.b;
  auto loop = scf::ForOp::create(b, code.loc, code.i32(0), code.i32(regs), code.i32(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  turn = {DimId::Reg, loop.getInductionVar(), regs, step};
  each(step);
  turn.value = Value();
}

int64_t Emitter::vectorAlong(const Layout &l, unsigned axis, int64_t most) {
  int o = l.outIndex(coord(axis));
  if (o < 0)
    return 1;
  int64_t vec = 1;
  ArrayRef<Layout::Digit> digits = l.digits(DimId::Reg);
  size_t used = 0;
  for (const Layout::Digit &d : digits) {
    bool alone = d.n == 2 && d.v[o] == vec;
    for (size_t x = 0; x < d.v.size(); ++x)
      alone &= int(x) == o || d.v[x] == 0;
    if (!alone || vec * 2 > most)
      break;
    vec *= 2;
    ++used;
  }
  // Everything else moves in whole vectors, or the vector would not start at a multiple of its length.
  for (const Layout::In &in : l.ins())
    for (auto [i, d] : llvm::enumerate(in.digits))
      if (in.id != DimId::Reg || i >= used)
        while (vec > 1 && d.v[o] % vec)
          vec /= 2;
  return vec;
}

Layout tilec::simt::squeezeOnes(const Layout &l, ArrayRef<int64_t> shape) {
  bool memory = l.hasOut(DimId::Offset);
  Layout out = l;
  SmallVector<std::pair<DimId, DimId>> names;
  unsigned next = 0;
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1 && !(axis + 1 == shape.size() && next == 0)) {
      out = memory ? out.without(coord(axis)) : out.slice(coord(axis));
      continue;
    }
    if (next != axis)
      names.push_back({coord(axis), coord(next)});
    ++next;
  }
  return names.empty() ? out : out.rename(names);
}
