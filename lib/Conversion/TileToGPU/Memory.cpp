//===- Memory.cpp - fragments <-> views and buffers --------------------------===//
#include "Emitter.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

tilec::simt::Region Emitter::regionOf(Value memory, ValueRange offsets,
                                      std::optional<ArrayRef<int64_t>> extents, ArrayRef<int64_t> tileShape,
                                      std::optional<ArrayRef<bool>> inbounds) {
  Region r;
  r.memory = memory;
  r.offsets = offsets;
  ArrayRef<int64_t> shape = getShapeOf(memory.getType());
  if (extents)
    r.extents.assign(extents->begin(), extents->end());
  else if (shape.size() == tileShape.size())
    r.extents.assign(tileShape.begin(), tileShape.end());
  else
    r.extents.assign(shape.begin(), shape.end());
  r.inbounds.assign(r.extents.size(), false);
  if (inbounds)
    r.inbounds.assign(inbounds->begin(), inbounds->end());
  unsigned at = 0;
  if (r.extents.size() == tileShape.size() && ArrayRef<int64_t>(r.extents) == tileShape) {
    for (unsigned i = 0; i < tileShape.size(); ++i)
      r.axes.push_back(i);
    return r;
  }
  for (int64_t extent : tileShape) {
    while (at < r.extents.size() && r.extents[at] == 1 && extent != 1)
      ++at;
    bool match = at < r.extents.size() && r.extents[at] == extent;
    r.axes.push_back(match ? int(at++) : -1);
  }
  return r;
}

Value Emitter::loadFragment(const Layout &l, ArrayRef<int64_t> shape, Type element, const Region &region,
                            int64_t from, int64_t to) {
  if (isa<ViewType>(region.memory.getType()))
    return loadView(l, shape, element, region, from, to);
  return loadShared(l, shape, element, region, from, to);
}

void Emitter::storeFragment(Value value, const Layout &l, ArrayRef<int64_t> shape, Type element,
                            const Region &region, int64_t from, int64_t to) {
  if (isa<ViewType>(region.memory.getType()))
    return storeView(value, l, shape, element, region, from, to);
  storeShared(value, l, shape, element, region, from, to);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Value Emitter::bufferOffset(Value base, BufferType type, ArrayRef<Value> coords) {
  const Layout &s = type.getLayout().getLayout();
  SmallVector<LayoutInput> inputs;
  for (auto [axis, c] : llvm::enumerate(coords))
    if (c)
      inputs.push_back({coord(axis), c, INT64_MAX});
  auto [low, high] = evaluate(s, DimId::Offset, inputs);
  Value sum = code.add(low, high);
  if (!sum)
    return base;
  return code.add(base, code.mul(sum, memoryBytes(type.getElementType())));
}

/// Axes of the region's memory under the tile's axes.
static Layout onMemoryAxes(const Layout &l, const tilec::simt::Region &region) {
  SmallVector<std::pair<DimId, DimId>> names;
  for (auto [axis, to] : llvm::enumerate(region.axes))
    if (to >= 0 && unsigned(to) != axis)
      names.push_back({coord(axis), coord(to)});
  Layout out = l;
  for (unsigned axis = region.axes.size(); axis-- > 0;)
    if (region.axes[axis] < 0 && out.hasOut(coord(axis)))
      out = out.slice(coord(axis));
  return names.empty() ? out : out.rename(names);
}

static bool wholeBuffer(const tilec::simt::Region &region) {
  return llvm::all_of(region.offsets, [](Value v) {
    IntegerAttr attr;
    return matchPattern(v, m_Constant(&attr)) && attr.getInt() == 0;
  });
}

/// For --resource-usage: an estimate, which knows nothing of masks.
void Emitter::countBanks(const Layout &f, const Layout &s, int64_t bytes, int64_t vec, bool write) {
  FailureOr<Waves> waves = accessWaves(f, s, bytes, vec, bankModelOf(target, write));
  if (failed(waves))
    return;
  bankWaves.waves += waves->waves;
  bankWaves.ideal += waves->ideal;
}

Value Emitter::loadShared(const Layout &l, ArrayRef<int64_t> shape, Type element, const Region &region,
                          int64_t from, int64_t to) {
  auto type = cast<BufferType>(region.memory.getType());
  const Layout &s = type.getLayout().getLayout();
  int64_t bytes = memoryBytes(element);
  Layout f = onMemoryAxes(l, region);
  Value base = get(region.memory);
  Coords coords = coordsOf(l, shape.size());
  SmallVector<Value> result;
  Type reg = registerType(element), mem = memoryType(element);
  bool masked = false;
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    masked |= l.cover(coord(axis)) > shape[axis];
  FailureOr<Layout> address = wholeBuffer(region) ? f.then(s) : FailureOr<Layout>(failure());
  if (succeeded(address)) {
    int64_t vec = std::min<int64_t>(registerVector(f, s, bytes), 16 / bytes);
    while (vec > 1 && ((to - from) % vec || from % vec))
      vec /= 2;
    for (unsigned axis = 0; masked && axis < shape.size(); ++axis)
      while (vec > 1 && l.cover(coord(axis)) > shape[axis] &&
             (vectorAlong(l, axis, vec) < vec || shape[axis] % vec))
        vec /= 2;
    if (from == 0)
      countBanks(f, s, bytes, vec, /*write=*/false);
    auto thread = evaluate(*address, DimId::Offset, threadInputs(*address));
    auto regs = address->contributions(DimId::Reg, DimId::Offset);
    if (regs.empty())
      regs.push_back({0, 0});
    llvm::DenseMap<int64_t, Value> bases; // one address register per distinct xor
    for (int64_t r = from; r < to; r += vec) {
      Value &start = bases[regs[r].first];
      if (!start)
        start = sharedPtr(byteOffset(base, thread, regs[r].first, bytes));
      auto read = [&]() -> SmallVector<Value> {
        Value ptr =
            regs[r].second ? code.offset(start, code.b.getI8Type(), code.i32(regs[r].second * bytes)) : start;
        Value v = code.load(ptr, vec > 1 ? Type(code.vec(mem, vec)) : mem, vec * bytes);
        return {code.fromMemory(v, element)};
      };
      Value valid = masked ? validAt(l, coords, shape, r) : Value();
      Type t = vec > 1 ? Type(code.vec(reg, vec)) : reg;
      Value v = code.choose(valid, {t}, read, [&] { return SmallVector<Value>{code.zero(t)}; }).front();
      if (vec == 1)
        result.push_back(v);
      else
        llvm::append_range(result, code.elements(v));
    }
    return code.fromElements(result);
  }
  for (int64_t r = from; r < to; ++r) {
    SmallVector<Value> at(type.getRank());
    for (unsigned i = 0; i < region.offsets.size(); ++i)
      at[i] = code.toI32(flatten(region.offsets[i]).front());
    for (auto [axis, to] : llvm::enumerate(region.axes))
      if (to >= 0)
        at[to] = code.add(at[to], coordAt(coords, axis, r));
    auto read = [&]() -> SmallVector<Value> {
      return {code.fromMemory(code.load(sharedPtr(bufferOffset(base, type, at)), mem, bytes), element)};
    };
    Value valid = masked ? validAt(l, coords, shape, r) : Value();
    result.push_back(
        code.choose(valid, {reg}, read, [&] { return SmallVector<Value>{code.zero(reg)}; }).front());
  }
  return code.fromElements(result);
}

void Emitter::storeShared(Value value, const Layout &l, ArrayRef<int64_t> shape, Type element,
                          const Region &region, int64_t from, int64_t to) {
  auto type = cast<BufferType>(region.memory.getType());
  const Layout &s = type.getLayout().getLayout();
  int64_t bytes = memoryBytes(element);
  Layout f = onMemoryAxes(l, region);
  Value base = get(region.memory);
  Coords coords = coordsOf(l, shape.size());
  bool masked = false;
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    masked |= l.cover(coord(axis)) > shape[axis];
  Value owner = isOwner(l);
  FailureOr<Layout> address = wholeBuffer(region) ? f.then(s) : FailureOr<Layout>(failure());
  code.when(owner, [&] {
    int64_t vec = 1;
    std::pair<Value, Value> thread;
    std::vector<std::pair<int64_t, int64_t>> regs;
    if (succeeded(address)) {
      vec = std::min<int64_t>(registerVector(f, s, bytes), 16 / bytes);
      for (unsigned axis = 0; masked && axis < shape.size(); ++axis)
        while (vec > 1 && l.cover(coord(axis)) > shape[axis] &&
               (vectorAlong(l, axis, vec) < vec || shape[axis] % vec))
          vec /= 2;
      while (vec > 1 && ((to - from) % vec || from % vec))
        vec /= 2;
      if (from == 0)
        countBanks(f, s, bytes, vec, /*write=*/true);
      thread = evaluate(*address, DimId::Offset, threadInputs(*address));
      regs = address->contributions(DimId::Reg, DimId::Offset);
      if (regs.empty())
        regs.push_back({0, 0});
    }
    llvm::DenseMap<int64_t, Value> bases;
    for (int64_t r = from; r < to; r += vec) {
      if (isReplicaRegister(l, r))
        continue;
      Value ptr;
      if (succeeded(address)) {
        Value &start = bases[regs[r].first];
        if (!start)
          start = sharedPtr(byteOffset(base, thread, regs[r].first, bytes));
        ptr =
            regs[r].second ? code.offset(start, code.b.getI8Type(), code.i32(regs[r].second * bytes)) : start;
      }
      Value valid = masked ? validAt(l, coords, shape, r) : Value();
      code.when(valid, [&] {
        Value at = ptr;
        if (!at) {
          SmallVector<Value> where(type.getRank());
          for (unsigned i = 0; i < region.offsets.size(); ++i)
            where[i] = code.toI32(flatten(region.offsets[i]).front());
          for (auto [axis, m] : llvm::enumerate(region.axes))
            if (m >= 0)
              where[m] = code.add(where[m], coordAt(coords, axis, r));
          at = sharedPtr(bufferOffset(base, type, where));
        }
        Value v = vec == 1 ? code.element(value, r - from) : code.slice(value, r - from, vec);
        code.store(code.toMemory(v, element), at, vec * bytes);
      });
    }
  });
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

Emitter::ViewAccess Emitter::viewAccess(const Layout &l, ArrayRef<int64_t> shape, Type element,
                                        const Region &region) {
  ViewAccess a;
  a.l = &l;
  a.region = &region;
  a.shape.assign(shape.begin(), shape.end());
  a.element = element;
  a.coords = coordsOf(l, shape.size());
  Value memory = region.memory;
  ViewType type = cast<ViewType>(memory.getType());
  unsigned rank = type.getRank();
  a.tileAxis.assign(rank, -1);
  for (auto [axis, m] : llvm::enumerate(region.axes))
    if (m >= 0)
      a.tileAxis[m] = axis;
  int64_t bytes = memoryBytes(element);
  Value start; // in elements
  for (unsigned m = 0; m < rank; ++m) {
    Value offset = region.offsets.empty() ? code.index(0) : flatten(region.offsets[m]).front();
    a.offsets.push_back(offset);
    a.strides.push_back(strideOf(memory, m));
    Value at = offset;
    if (int t = a.tileAxis[m]; t >= 0 && !a.coords.low[t] && a.coords.high[t])
      at = code.add(at, code.toIndex(a.coords.high[t]));
    start = code.add(start, code.mul(at, a.strides[m]));
  }
  a.ptr = code.offset(view(memory).ptr, memoryType(element), start);
  for (unsigned m = 0; m < rank; ++m)
    a.bounds.push_back(region.inbounds[m] ? std::pair<Value, Value>() : viewBounds(a, m));
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    a.masked |= l.cover(coord(axis)) > shape[axis];
  // Vectors along the axis whose elements are neighbours in memory.
  for (unsigned m = 0; m < rank; ++m) {
    int t = a.tileAxis[m];
    if (t < 0 || Code::known(a.strides[m]) != 1)
      continue;
    int64_t vec = vectorAlong(l, t, 16 / bytes);
    int64_t align = region.offsets.empty() ? divisibility.ofAddress(memory)
                                           : divisibility.ofElement(memory, region.offsets);
    for (unsigned other = 0; other < rank; ++other)
      if (other != m && a.tileAxis[other] >= 0)
        align = std::min(align, std::max<int64_t>(1, divisibility.ofStride(memory, other)) * bytes);
    while (vec > 1 && align % (vec * bytes))
      vec /= 2;
    while (vec > 1 && l.cover(coord(t)) > shape[t] && shape[t] % vec)
      vec /= 2;
    if (vec > a.vec) {
      a.vec = vec;
      a.axis = t;
      int64_t offset = region.offsets.empty() ? vec : divisibility.of(region.offsets[m]);
      a.partial = !region.inbounds[m] && (divisibility.ofExtent(memory, m) % vec || offset % vec);
    }
  }
  return a;
}

Value Emitter::viewAddress(const ViewAccess &a, int64_t reg) {
  Value more;
  for (auto [m, t] : llvm::enumerate(a.tileAxis)) {
    if (t < 0)
      continue;
    auto [low, high] = a.coords.regs[t][reg];
    if (a.coords.low[t]) { // the thread's part is not in the start address
      more = code.add(more, code.mul(code.toIndex(coordAt(a.coords, t, reg)), a.strides[m]));
    } else if (low + high) {
      more = code.add(more, code.mul(code.index(low + high), a.strides[m]));
    }
  }
  return code.offset(a.ptr, memoryType(a.element), more);
}

/// Index values that are not below zero whatever the program is given.
static bool isNonNegative(Value value) {
  if (std::optional<int64_t> known = Code::known(value))
    return *known >= 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (loop && argument == loop.getInductionVar())
      return isNonNegative(loop.getLowerBound());
    return isa<LaunchOp>(parent);
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::IndexCastUIOp>(op))
    return op->getOperand(0).getType().getIntOrFloatBitWidth() <= 32;
  if (isa<DimOp>(op))
    return true;
  if (isa<arith::MaxSIOp>(op))
    return isNonNegative(op->getOperand(0)) || isNonNegative(op->getOperand(1));
  // Sums and products of ids, extents and loop variables stay far from 2^63.
  return isa<arith::AddIOp, arith::MulIOp, arith::MinSIOp, arith::DivUIOp, arith::DivSIOp, arith::RemUIOp,
             arith::RemSIOp>(op) &&
         llvm::all_of(op->getOperands(), isNonNegative);
}

/// A position p = thread + register of the tile's axis is inside when 0 <= offset + p < size, that is when
/// -offset - thread <= register < size - offset - thread. Beyond the tile one bound is as good as another, so
/// 32 bits hold them, and each register takes a comparison with an immediate operand.
std::pair<Value, Value> Emitter::viewBounds(const ViewAccess &a, unsigned axis) {
  int t = a.tileAxis[axis];
  int64_t extent = t < 0 ? 1 : a.l->cover(coord(t));
  Value offset = a.offsets[axis], size = sizeOf(a.region->memory, axis);
  auto narrow = [&](Value v) {
    v = code.toI32(code.clamp(v, 0, extent));
    bool linear = t >= 0 && !a.coords.low[t] && a.coords.high[t];
    return linear ? code.sub(v, a.coords.high[t]) : v;
  };
  Value end = narrow(code.sub(size, offset));
  if (a.region->offsets.empty() || isNonNegative(a.region->offsets[axis]))
    return {Value(), end};
  return {narrow(code.sub(code.index(0), offset)), end};
}

/// Are registers reg .. last (neighbours) inside the view and the tile? Null: always.
Value Emitter::viewInside(const ViewAccess &a, int64_t reg, int64_t last) {
  using P = arith::CmpIPredicate;
  Value inside = a.masked ? validAt(*a.l, a.coords, a.shape, reg) : Value();
  for (unsigned m = 0; m < a.tileAxis.size(); ++m) {
    int t = a.tileAxis[m];
    if (a.region->inbounds[m])
      continue;
    auto test = [&](int64_t r) {
      Value at = code.i32(0);
      if (t >= 0) {
        auto [low, high] = a.coords.regs[t][r];
        at = a.coords.low[t] ? coordAt(a.coords, t, r) : code.i32(low + high);
      }
      auto [first, end] = a.bounds[m];
      if (first)
        inside = code.both(inside, code.cmp(P::sge, at, first));
      inside = code.both(inside, code.cmp(P::slt, at, end));
    };
    test(reg);
    if (t == a.axis && last != reg && a.partial)
      test(last);
  }
  return inside;
}

/// The same for all threads: does the view hold the whole region? Null: it always does.
Value Emitter::wholeInside(const ViewAccess &a) {
  Value inside;
  for (unsigned m = 0; m < a.tileAxis.size(); ++m) {
    if (a.region->inbounds[m])
      continue;
    Value size = sizeOf(a.region->memory, m);
    Value from = code.cmp(arith::CmpIPredicate::sge, a.offsets[m], code.index(0));
    // Not offset + extent <= size, whose left side wraps for an offset near the end of 64 bits.
    Value to =
        code.cmp(arith::CmpIPredicate::sle, a.offsets[m], code.sub(size, code.index(a.region->extents[m])));
    inside = code.both(inside, code.both(from, to));
  }
  return inside;
}

Value Emitter::loadView(const Layout &l, ArrayRef<int64_t> shape, Type element, const Region &region,
                        int64_t from, int64_t to) {
  ViewAccess a = viewAccess(l, shape, element, region);
  int64_t bytes = memoryBytes(element);
  Type mem = memoryType(element), reg = registerType(element);
  while (a.vec > 1 && ((to - from) % a.vec || from % a.vec))
    a.vec /= 2;
  Value safe = safeValue(cast<ViewType>(region.memory.getType()));
  Type vecType = a.vec > 1 ? Type(code.vec(reg, a.vec)) : reg;
  auto read = [&](int64_t r, int64_t n) -> SmallVector<Value> {
    Value v = code.load(viewAddress(a, r), n > 1 ? Type(code.vec(mem, n)) : mem, n * bytes);
    return {code.fromMemory(v, element)};
  };
  auto safeVector = [&]() -> SmallVector<Value> { return {a.vec > 1 ? code.broadcast(safe, a.vec) : safe}; };
  auto single = [&](int64_t r) -> Value {
    return code
        .choose(
            viewInside(a, r, r), {reg}, [&] { return read(r, 1); }, [&] { return SmallVector<Value>{safe}; })
        .front();
  };
  auto gather = [&](bool whole) -> SmallVector<Value> {
    SmallVector<Value> all;
    for (int64_t r = from; r < to; r += a.vec) {
      Value inside =
          whole ? (a.masked ? validAt(l, a.coords, a.shape, r) : Value()) : viewInside(a, r, r + a.vec - 1);
      auto otherwise = [&]() -> SmallVector<Value> {
        if (whole || !a.partial || a.vec == 1)
          return safeVector();
        SmallVector<Value> parts;
        for (int64_t i = 0; i < a.vec; ++i)
          parts.push_back(single(r + i));
        return {code.fromElements(parts)};
      };
      Value v = code.choose(inside, {vecType}, [&] { return read(r, a.vec); }, otherwise).front();
      if (a.vec == 1)
        all.push_back(v);
      else
        llvm::append_range(all, code.elements(v));
    }
    return {code.fromElements(all)};
  };
  if (!splitsLoads() && !a.partial)
    return gather(false).front();
  return code
      .choose(
          wholeInside(a), {code.vec(reg, to - from)}, [&] { return gather(true); },
          [&] { return gather(false); })
      .front();
}

void Emitter::storeView(Value value, const Layout &l, ArrayRef<int64_t> shape, Type element,
                        const Region &region, int64_t from, int64_t to) {
  ViewAccess a = viewAccess(l, shape, element, region);
  int64_t bytes = memoryBytes(element);
  while (a.vec > 1 && ((to - from) % a.vec || from % a.vec))
    a.vec /= 2;
  auto write = [&](int64_t r, int64_t n) {
    Value v = n == 1 ? code.element(value, r - from) : code.slice(value, r - from, n);
    code.store(code.toMemory(v, element), viewAddress(a, r), n * bytes);
  };
  auto scatter = [&](bool whole) {
    for (int64_t r = from; r < to; r += a.vec) {
      if (isReplicaRegister(l, r))
        continue;
      Value inside =
          whole ? (a.masked ? validAt(l, a.coords, a.shape, r) : Value()) : viewInside(a, r, r + a.vec - 1);
      auto parts = [&] {
        for (int64_t i = 0; i < a.vec; ++i)
          code.when(viewInside(a, r + i, r + i), [&] { write(r + i, 1); });
      };
      bool split = !whole && a.partial && a.vec > 1;
      if (split)
        code.when(inside, [&] { write(r, a.vec); }, parts);
      else
        code.when(inside, [&] { write(r, a.vec); });
    }
  };
  code.when(isOwner(l), [&] {
    Value whole = wholeInside(a);
    if (!whole)
      scatter(true);
    else
      code.when(whole, [&] { scatter(true); }, [&] { scatter(false); });
  });
}
