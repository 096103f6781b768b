//===- Access.cpp - loads, stores, copies, single elements -------------------===//
#include "Emitter.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

LogicalResult Emitter::emitLoad(LoadOp op) {
  TileType type = op.getResult().getType();
  const Layout &l = type.getLayout().getLayout();
  Type element = type.getElementType();
  if (isa<BufferType>(op.getSource().getType()) && op.getOffsets().empty())
    if (Value v = loadMatrices(l, element, op.getSource())) {
      set(op.getResult(), v);
      return success();
    }
  Region r = regionOf(op.getSource(), op.getOffsets(), op.getExtents(), type.getShape(), op.getInbounds());
  set(op.getResult(), loadFragment(l, type.getShape(), element, r, 0, l.inSize(DimId::Reg)));
  return success();
}

/// Is it the sum of products on the plain units, perhaps of a loop of them?
static bool isPlainSum(Value value) {
  while (auto loop = value.getDefiningOp<scf::ForOp>())
    value = loop.getYieldedValues()[cast<OpResult>(value).getResultNumber()];
  auto gemm = value.getDefiningOp<GemmOp>();
  return gemm && gemm.getInstAttr() && gemm.getInstAttr().getKind() == InstKind::fma;
}

/// Is the value made by rounding float32 to 16 bits?
static bool isRounded(Value value) {
  auto nest = value.getDefiningOp<GenericOp>();
  if (!nest)
    return false;
  auto yield = cast<YieldOp>(nest.getBody().front().getTerminator());
  auto round = yield.getOperand(cast<OpResult>(value).getResultNumber()).getDefiningOp<arith::TruncFOp>();
  return round && round.getIn().getType().isF32() && round.getType().getIntOrFloatBitWidth() == 16;
}

/// The same value, its neighbours rounded by one instruction though they are stored by two. Half the work;
/// and where sums of wgmma are rounded one by one, ptxas (13.0) waits for each product where it begins
/// (C7514).
Value Emitter::roundedInPairs(Value value) {
  auto type = cast<VectorType>(value.getType());
  if (type.getNumElements() % 2)
    return value;
  SmallVector<Value> words = code.elements(code.bitcast(value, code.b.getI32Type()));
  for (Value &word : words)
    word = opaque(word);
  return code.bitcast(code.fromElements(words), type.getElementType());
}

LogicalResult Emitter::emitStore(StoreOp op) {
  TileType type = op.getValue().getType();
  const Layout &l = type.getLayout().getLayout();
  Type element = type.getElementType();
  if (isa<BufferType>(op.getDest().getType()) && op.getOffsets().empty() &&
      storeMatrices(get(op.getValue()), l, element, op.getDest()))
    return success();
  Region r = regionOf(op.getDest(), op.getOffsets(), op.getExtents(), type.getShape(), op.getInbounds());
  Value value = get(op.getValue());
  // A store of four neighbours wants four registers in a row. Sums that live there through a whole loop share
  // a bank of the register file with the operands, and every second product waits for it.
  if (element.isF32() && isPlainSum(op.getValue()))
    value = ownRegisters(value);
  bool single = isa<ViewType>(op.getDest().getType()) && isRounded(op.getValue()) &&
                viewAccess(l, type.getShape(), element, r).vec == 1;
  storeFragment(single ? roundedInPairs(value) : value, l, type.getShape(), element, r, 0,
                l.inSize(DimId::Reg));
  return success();
}

/// How the threads at hand share a copy of that shape.
Layout Emitter::copyLayout(ArrayRef<int64_t> shape, int64_t bytes, Value source, Value dest) {
  ThreadShape t;
  t.lanes = target.warpSize;
  t.warps = threads.warps;
  t.groups = threads.groups;
  Layout l;
  Value buffer = isa<BufferType>(dest.getType()) ? dest : source;
  auto type = dyn_cast<BufferType>(buffer.getType());
  bool plain = type && shape.size() == 2 && type.getRank() == 2 && type.getShape() == shape &&
               isa<ViewType>(source.getType());
  if (plain)
    l = planCopy(shape[0], shape[1], bytes, type.getLayout().getLayout(), t).map;
  else
    l = defaultTile(shape, bytes, t);
  if (threads.groups > 1 && !l.hasIn(DimId::Group) && l.inSize(DimId::Warp) > threads.warps)
    if (auto cut = l.part(DimId::Warp, threads.warps, DimId::Warp, DimId::Group); succeeded(cut))
      return *cut;
  return l;
}

static Layout padTo(Layout l, ArrayRef<int64_t> shape) {
  SmallVector<DimValue> sizes;
  for (auto [axis, extent] : llvm::enumerate(shape))
    sizes.push_back({coord(axis), extent});
  return l.pad(sizes);
}

LogicalResult Emitter::emitCopy(CopyOp op) {
  if (op.getIm2col())
    return unsupported(*op, "an im2col copy");
  if (threads.oneLane)
    return unsupported(*op, "a copy by threads in the load role");
  if (op.getEngine() == Engine::words)
    return unsupported(*op, "a copy of words outside a load role");
  Value source = op.getSource(), dest = op.getDest();
  SmallVector<int64_t> extents;
  if (op.getExtents())
    extents.assign(op.getExtents()->begin(), op.getExtents()->end());
  else
    extents.assign(getShapeOf(isa<BufferType>(dest.getType()) ? dest.getType() : source.getType()));
  bool fromDest = !op.getExtents() && isa<BufferType>(dest.getType());
  SmallVector<int64_t> shape = dropOnes(extents);
  if (shape.empty())
    shape.push_back(1);
  // The shape of the source; a transposing copy whose extents are the destination's has them swapped.
  bool transpose = op.getTranspose() && shape.size() == 2;
  if (transpose && fromDest)
    std::swap(shape[0], shape[1]);
  SmallVector<int64_t> destShape(shape);
  if (transpose)
    std::swap(destShape[0], destShape[1]);
  auto sideExtents = [&](Value memory, ArrayRef<int64_t> side) {
    // Ones where the memory has more axes than the region.
    SmallVector<int64_t> e(side);
    unsigned rank = getShapeOf(memory.getType()).size();
    if (extents.size() == rank && !transpose)
      return SmallVector<int64_t>(extents);
    while (e.size() < rank)
      e.insert(e.begin(), 1);
    while (e.size() > rank && e.front() == 1)
      e.erase(e.begin());
    return e;
  };
  SmallVector<int64_t> se = sideExtents(source, shape), de = sideExtents(dest, destShape);
  Region from = regionOf(source, op.getSourceOffsets(), ArrayRef<int64_t>(se), shape);
  Region to = regionOf(dest, op.getDestOffsets(), ArrayRef<int64_t>(de), destShape);
  if (isa<BufferType>(source.getType()) && op.getSourceOffsets().empty())
    from.inbounds.assign(from.inbounds.size(), true);
  Type st = getElementTypeOf(source.getType()), dt = getElementTypeOf(dest.getType());
  Layout l = padTo(copyLayout(shape, memoryBytes(st), source, dest), shape);
  Layout out = transpose ? l.transpose() : l;
  bool convertible = true;
  forRegisters(l, copiedAtOnce(l, shape.size(), from, to), [&](int64_t count) {
    Value v = loadFragment(l, shape, st, from, 0, count);
    if (st != dt)
      v = convertFloat(v, st, dt);
    convertible = v != nullptr;
    if (convertible)
      storeFragment(v, out, destShape, dt, to, 0, count);
  });
  return convertible ? success() : unsupported(*op, "a copy between these element types");
}

/// The leading bits of f32 numbers as bf16, and what is left of the numbers: no rounding anywhere.
static std::pair<Value, Value> splitLeading(Code &c, Value numbers) {
  int64_t n = cast<VectorType>(numbers.getType()).getNumElements();
  auto repeat = [&](Type type, int64_t v) { return c.broadcast(c.constant(type, v), n); };
  Type i32 = c.b.getI32Type(), i16 = c.b.getIntegerType(16);
  Value bits = c.bitcast(numbers, i32);
  Value high = c.fold<arith::ShRUIOp>(bits, repeat(i32, 16));
  Value plane = c.bitcast(arith::TruncIOp::create(c.b, c.loc, c.vec(i16, n), high), c.b.getBF16Type());
  Value leading = c.bitcast(c.fold<arith::AndIOp>(bits, repeat(i32, int64_t(-65536))), c.b.getF32Type());
  return {plane, arith::SubFOp::create(c.b, c.loc, numbers, leading)};
}

/// What a split copy reads, and how its threads share it.
struct Emitter::SplitSource {
  SmallVector<int64_t> shape, extents;
  Layout l;
  Region region;
};

Emitter::SplitSource Emitter::splitSource(SplitCopyOp op) {
  SplitSource s;
  auto type = cast<BufferType>(op.getPlanes().front().getType());
  s.shape = dropOnes(type.getShape());
  if (s.shape.empty())
    s.shape.push_back(1);
  s.extents.assign(op.getExtents() ? *op.getExtents() : type.getShape());
  size_t rank = getShapeOf(op.getSource().getType()).size();
  while (s.extents.size() < rank)
    s.extents.insert(s.extents.begin(), 1);
  s.region = regionOf(op.getSource(), op.getSourceOffsets(), ArrayRef<int64_t>(s.extents), s.shape);
  int64_t bytes = memoryBytes(code.b.getF32Type());
  s.l = padTo(copyLayout(s.shape, bytes, op.getSource(), op.getPlanes().front()), s.shape);
  return s;
}

/// What split copies read, as far as registers hold all of it until they come.
void Emitter::loadAhead(ArrayRef<SplitCopyOp> splits) {
  constexpr int64_t most = 48;
  int64_t registers = 0;
  for (SplitCopyOp split : splits)
    registers += splitSource(split).l.inSize(DimId::Reg);
  if (registers > most)
    return;
  for (SplitCopyOp split : splits) {
    SplitSource s = splitSource(split);
    ahead[split] = loadFragment(s.l, s.shape, code.b.getF32Type(), s.region, 0, s.l.inSize(DimId::Reg));
  }
}

LogicalResult Emitter::emitSplitCopy(SplitCopyOp op) {
  SplitSource s = splitSource(op);
  auto type = cast<BufferType>(op.getPlanes().front().getType());
  auto store = [&](Value numbers, int64_t count) {
    for (Value buffer : op.getPlanes()) {
      Region to = regionOf(buffer, {}, type.getShape(), s.shape);
      auto [plane, rest] = splitLeading(code, numbers);
      storeFragment(plane, s.l, s.shape, type.getElementType(), to, 0, count);
      numbers = rest;
    }
  };
  if (Value loaded = ahead.lookup(op)) {
    store(loaded, s.l.inSize(DimId::Reg));
    return success();
  }
  constexpr int64_t atOnce = 64;
  forRegisters(s.l, atOnce, [&](int64_t count) {
    store(loadFragment(s.l, s.shape, code.b.getF32Type(), s.region, 0, count), count);
  });
  return success();
}

/// Elements of a copy by \p l that each thread loads before it stores them. Many hide latency; where each
/// needs an address and a test of its own they also cost registers (ptxas spills on chips before sm_90).
int64_t Emitter::copiedAtOnce(const Layout &l, unsigned rank, const Region &from, const Region &to) {
  int64_t bytes = memoryBytes(getElementTypeOf(from.memory.getType()));
  int64_t together = vectorAlong(l, rank - 1, 16) * bytes;
  for (const Region *side : {&from, &to})
    if (isa<ViewType>(side->memory.getType()))
      together = std::min(together, divisibility.ofElement(side->memory, side->offsets));
  if (together >= 8)
    return std::max<int64_t>(8, 256 / bytes);
  return target.family == Family::NVIDIA && target.smVersion < 90 ? 16 : 64;
}

//===----------------------------------------------------------------------===//
// Single elements
//===----------------------------------------------------------------------===//

std::pair<Value, Value> Emitter::elementAddress(Value memory, ArrayRef<Value> indices,
                                                ArrayRef<bool> inbounds) {
  if (auto type = dyn_cast<BufferType>(memory.getType())) {
    SmallVector<Value> coords;
    for (Value i : indices)
      coords.push_back(code.toI32(i));
    return {sharedPtr(bufferOffset(get(memory), type, coords)), Value()};
  }
  auto type = cast<ViewType>(memory.getType());
  Value inside, at;
  for (auto [axis, i] : llvm::enumerate(indices)) {
    if (inbounds.empty() || !inbounds[axis])
      inside = code.both(inside, code.ult(i, sizeOf(memory, axis)));
    at = code.add(at, code.mul(i, strideOf(memory, axis)));
  }
  return {code.offset(view(memory).ptr, memoryType(type.getElementType()), at), inside};
}

Value Emitter::loadElement(Value memory, ArrayRef<Value> indices, ArrayRef<bool> inbounds, Value guard) {
  auto [ptr, inside] = elementAddress(memory, indices, inbounds);
  Type element = getElementTypeOf(memory.getType());
  auto type = dyn_cast<ViewType>(memory.getType());
  Value safe = type ? safeValue(type) : code.zero(registerType(element));
  Value where = ptr;
  return code
      .choose(
          code.both(guard, inside), {registerType(element)},
          [&]() -> SmallVector<Value> {
            return {code.fromMemory(code.load(where, memoryType(element), memoryBytes(element)), element)};
          },
          [&] { return SmallVector<Value>{safe}; })
      .front();
}

void Emitter::storeElement(Value value, Value memory, ArrayRef<Value> indices, ArrayRef<bool> inbounds,
                           Value guard) {
  auto [ptr, inside] = elementAddress(memory, indices, inbounds);
  Type element = getElementTypeOf(memory.getType());
  Value where = ptr;
  code.when(code.both(guard, inside),
            [&] { code.store(code.toMemory(value, element), where, memoryBytes(element)); });
}

Value Emitter::atomicUpdate(Combine kind, Value ptr, Value value, Value compare, Type element) {
  using LLVM::AtomicBinOp;
  bool isFloat = isa<FloatType>(element);
  std::optional<AtomicBinOp> op;
  switch (kind) {
  case Combine::add:
    op = isFloat ? AtomicBinOp::fadd : AtomicBinOp::add;
    break;
  case Combine::max:
  case Combine::maxnum:
    op = isFloat ? (kind == Combine::max ? AtomicBinOp::fmaximum : AtomicBinOp::fmax) : AtomicBinOp::max;
    break;
  case Combine::min:
  case Combine::minnum:
    op = isFloat ? (kind == Combine::min ? AtomicBinOp::fminimum : AtomicBinOp::fmin) : AtomicBinOp::min;
    break;
  case Combine::band:
    op = AtomicBinOp::_and;
    break;
  case Combine::bor:
    op = AtomicBinOp::_or;
    break;
  case Combine::bxor:
    op = AtomicBinOp::_xor;
    break;
  case Combine::xchg:
    op = AtomicBinOp::xchg;
    break;
  case Combine::cas: {
    Type bits = code.b.getIntegerType(element.getIntOrFloatBitWidth());
    Value x = code.cast(compare, bits), y = code.cast(value, bits);
    Value pair = LLVM::AtomicCmpXchgOp::create(code.b, code.loc, ptr, x, y, LLVM::AtomicOrdering::monotonic,
                                               LLVM::AtomicOrdering::monotonic, "device");
    return code.cast(LLVM::ExtractValueOp::create(code.b, code.loc, pair, ArrayRef<int64_t>{0}), element);
  }
  default:
    return {};
  }
  return LLVM::AtomicRMWOp::create(code.b, code.loc, *op, ptr, value, LLVM::AtomicOrdering::monotonic,
                                   "device");
}

Value Emitter::atomicElement(ElemAtomicOp op, Value value, Value compare, ArrayRef<Value> indices,
                             Value guard) {
  auto [ptr, inside] = elementAddress(op.getDest(), indices, {});
  Type element = getElementTypeOf(op.getDest().getType());
  if (isFloat8(element) || element.isInteger(1) || element.isInteger(8))
    return {};
  auto view = dyn_cast<ViewType>(op.getDest().getType());
  Value safe = view ? safeValue(view) : code.zero(registerType(element));
  Value where = ptr;
  bool ok = true;
  Value v = code.choose(
                    code.both(guard, inside), {element},
                    [&]() -> SmallVector<Value> {
                      Value in = code.toMemory(value, element);
                      Value r = atomicUpdate(op.getKind(), where, in, compare, memoryType(element));
                      ok = r != nullptr;
                      return {ok ? code.fromMemory(r, element) : safe};
                    },
                    [&] { return SmallVector<Value>{safe}; })
                .front();
  return ok ? v : Value();
}

LogicalResult Emitter::emitAtomic(AtomicOp op) {
  TileType type = op.getValue().getType();
  const Layout &l = type.getLayout().getLayout();
  Type element = type.getElementType();
  if (memoryBytes(element) < 2)
    return unsupported(*op, "an atomic update of one-byte elements");
  Region region = regionOf(op.getDest(), op.getOffsets(), op.getExtents(), type.getShape());
  Coords coords = coordsOf(l, type.getRank());
  Value fragment = get(op.getValue());
  bool ok = true;
  code.when(isOwner(l), [&] {
    for (int64_t r = 0; r < l.inSize(DimId::Reg); ++r) {
      if (isReplicaRegister(l, r))
        continue;
      SmallVector<Value> at;
      for (unsigned m = 0; m < region.extents.size(); ++m)
        at.push_back(region.offsets.empty() ? code.index(0) : flatten(region.offsets[m]).front());
      for (auto [axis, m] : llvm::enumerate(region.axes))
        if (m >= 0)
          at[m] = code.add(at[m], code.toIndex(coordAt(coords, axis, r)));
      Value valid = validAt(l, coords, type.getShape(), r);
      auto [ptr, inside] = elementAddress(op.getDest(), at, {});
      Value where = ptr;
      code.when(code.both(valid, inside), [&] {
        Value v = code.toMemory(code.element(fragment, r), element);
        ok &= atomicUpdate(op.getKind(), where, v, Value(), memoryType(element)) != nullptr;
      });
    }
  });
  return ok ? success() : unsupported(*op, "this kind of atomic update");
}
