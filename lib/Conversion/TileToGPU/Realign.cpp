//===- Realign.cpp - copies from rows that start anywhere --------------------===//
// Where pitch or address of a tensor suits neither the copy engine nor wide loads, threads still read whole
// aligned words of 16 bytes: the one or two that a run of 16 bytes of the tensor lies in. The run is shifted
// out of them in registers and stored as it is wanted. No word without a byte of the copy is read, and none
// that is not wholly inside the tensor: the few copies at its very ends go element by element.
//
// One warp of these is alone on its part of the multiprocessor, between those that multiply: instructions
// count. What does not change along a row is computed once for it.
#include "Emitter.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;
using P = arith::CmpIPredicate;

static constexpr int64_t kWord = 16;  // bytes
static constexpr int64_t kPieces = 4; // of a word, in registers

/// What a realigning copy reads and writes, and how its threads share it: registers hold the elements of a
/// run, then runs of a row that are `lanes` runs apart, then rows.
struct Emitter::Realigned {
  SmallVector<int64_t> shape, extents;
  Region from, to;
  Layout l;
  Type element;
  int64_t bytes = 1, run = 1;    ///< of an element; elements of a run
  int64_t lanes = 1, perRow = 1; ///< along a row; runs of a row in each
  bool wide = false;             ///< whole runs on both sides
};

/// Those of the threads at hand that fill a slot together.
Threads Emitter::crew() {
  Threads some = threads;
  some.warps = std::min(threads.warps, kRealignWarps);
  if (some.warps < threads.warps)
    some.warp = code.rem(threads.warp, some.warps);
  return some;
}

Emitter::Realigned Emitter::realigned(CopyOp op) {
  Realigned c;
  auto buffer = cast<BufferType>(op.getDest().getType());
  c.element = buffer.getElementType();
  c.bytes = memoryBytes(c.element);
  c.run = kWord / c.bytes;
  c.shape = dropOnes(buffer.getShape());
  if (c.shape.empty())
    c.shape.push_back(1);
  c.extents.assign(op.getExtents() ? *op.getExtents() : buffer.getShape());
  size_t rank = getShapeOf(op.getSource().getType()).size();
  while (c.extents.size() < rank)
    c.extents.insert(c.extents.begin(), 1);
  SmallVector<int64_t> all(buffer.getShape());
  c.from = regionOf(op.getSource(), op.getSourceOffsets(), ArrayRef<int64_t>(c.extents), c.shape);
  c.to = regionOf(op.getDest(), op.getDestOffsets(), ArrayRef<int64_t>(all), c.shape);
  Layout memory = squeezeOnes(buffer.getLayout().getLayout(), buffer.getShape());
  if (c.shape.size() == 2 && c.shape[1] % c.run == 0 && c.from.axes[1] == int(rank) - 1) {
    int64_t runs = c.shape[1] / c.run;
    c.lanes = std::min<int64_t>(runs & -runs, 8); // a line of memory
    c.perRow = runs / c.lanes;
    int64_t rows = target.warpSize / c.lanes, together = rows * threads.allWarps();
    if (c.shape[0] % together == 0) {
      LayoutBuilder b;
      b.out(coord(0), c.shape[0]).out(coord(1), c.shape[1]);
      b.digit(DimId::Reg, c.run, {{coord(1), 1}}).digit(DimId::Reg, c.perRow, {{coord(1), c.run * c.lanes}});
      b.digit(DimId::Reg, c.shape[0] / together, {{coord(0), together}});
      b.digit(DimId::Lane, c.lanes, {{coord(1), c.run}}).digit(DimId::Lane, rows, {{coord(0), 1}});
      b.digit(DimId::Warp, threads.allWarps(), {{coord(0), rows}});
      c.l = b.known();
      c.wide = succeeded(c.l.then(memory)) && registerVector(c.l, memory, c.bytes) >= c.run;
    }
  }
  if (!c.wide) {
    SmallVector<DimValue> sizes;
    for (auto [axis, extent] : llvm::enumerate(c.shape))
      sizes.push_back({coord(axis), extent});
    c.l = copyLayout(c.shape, c.bytes, op.getSource(), op.getDest()).pad(sizes);
  }
  return c;
}

/// Registers of the layout whose words a thread holds at once, beside their addresses.
int64_t Emitter::realignedAtOnce(const Realigned &c) const {
  constexpr int64_t others = 40, least = 8, usual = 64;
  int64_t room = threads.registers ? std::max(least, threads.registers - others) : usual;
  return room / (2 * kPieces) * c.run;
}

/// The same for all threads: does a word with a byte of the region reach out of the tensor? None does where
/// the tensor begins and ends with words.
Value Emitter::reachesOut(const Realigned &c, const ViewAccess &a) {
  auto least = [&](Value x, Value y) { return code.fold<arith::MinSIOp>(x, y); };
  auto most = [&](Value x, Value y) { return code.fold<arith::MaxSIOp>(x, y); };
  auto down = [&](Value address) { return code.fold<arith::AndIOp>(address, code.index(-kWord)); };
  auto up = [&](Value address) { return down(code.add(address, kWord - 1)); };
  // Addresses of what the tensor and the region begin and end with, in bytes.
  Value base = LLVM::PtrToIntOp::create(code.b, code.loc, code.b.getI64Type(), view(c.from.memory).ptr);
  base = code.b.createOrFold<arith::IndexCastOp>(code.loc, code.b.getIndexType(), base);
  Value low = base, high = code.add(base, c.bytes);
  for (unsigned m = 0; m < a.offsets.size(); ++m) {
    Value size = sizeOf(c.from.memory, m), stride = code.mul(a.strides[m], c.bytes);
    Value end = code.mul(code.sub(size, code.index(1)), stride);
    low = code.add(low, least(end, code.index(0)));
    high = code.add(high, most(end, code.index(0)));
  }
  Value ragged = code.fold<arith::OrIOp>(code.cmp(P::ne, down(low), low), code.cmp(P::ne, down(high), high));
  auto test = [&]() -> SmallVector<Value> {
    Value first = base, last = code.add(base, c.bytes);
    for (unsigned m = 0; m < a.offsets.size(); ++m) {
      Value size = sizeOf(c.from.memory, m), stride = code.mul(a.strides[m], c.bytes);
      Value from = code.mul(most(a.offsets[m], code.index(0)), stride);
      Value upto = least(a.offsets[m], code.sub(size, code.index(c.extents[m])));
      upto = code.mul(code.add(upto, c.extents[m] - 1), stride);
      first = code.add(first, least(from, upto));
      last = code.add(last, most(from, upto));
    }
    return {code.fold<arith::OrIOp>(code.cmp(P::slt, down(first), low), code.cmp(P::sgt, up(last), high))};
  };
  auto never = [&] { return SmallVector<Value>{code.boolean(false)}; };
  return code.choose(ragged, {code.b.getI1Type()}, test, never).front();
}

/// Where each row starts that the first `count` registers hold: the pointer to this lane's first word, and
/// the place of its first element in it in bytes (i32). Rows are equally far apart.
SmallVector<std::pair<Value, Value>> Emitter::startsOfRows(const Realigned &c, const ViewAccess &a,
                                                           int64_t count) {
  int64_t row = std::min(c.perRow * c.run, count);
  Value ptr = viewAddress(a, 0), step;
  if (count > row) {
    auto [low, high] = a.coords.regs[0][row];
    step = code.mul(a.strides[c.from.axes[0]], (low + high) * c.bytes);
  }
  SmallVector<std::pair<Value, Value>> starts;
  for (int64_t r = 0; r < count; r += row) {
    if (r)
      ptr = code.offset(ptr, code.b.getI8Type(), step);
    Value low = LLVM::PtrToIntOp::create(code.b, code.loc, code.b.getI32Type(), ptr);
    Value word = LLVM::PtrMaskOp::create(code.b, code.loc, ptr.getType(), ptr, code.i64(-kWord));
    starts.push_back({word, code.fold<arith::AndIOp>(low, code.i32(kWord - 1))});
  }
  return starts;
}

/// Bytes [first, end) of the run at register `reg` that the tensor has, i32, not cut to the run; first may be
/// null: all before `end`.
std::pair<Value, Value> Emitter::insideRun(const Realigned &c, const ViewAccess &a, int64_t reg) {
  Value row, first, end;
  for (unsigned m = 0; m < a.tileAxis.size(); ++m) {
    int t = a.tileAxis[m];
    Value at = code.i32(0);
    if (t >= 0) {
      auto [low, high] = a.coords.regs[t][reg];
      at = a.coords.low[t] ? coordAt(a.coords, t, reg) : code.i32(low + high);
    }
    auto [from, upto] = a.bounds[m];
    if (m + 1 == a.tileAxis.size()) {
      first = from ? code.mul(code.sub(from, at), c.bytes) : Value();
      end = code.mul(code.sub(upto, at), c.bytes);
      continue;
    }
    if (from)
      row = code.both(row, code.cmp(P::sge, at, from));
    row = code.both(row, code.cmp(P::slt, at, upto));
  }
  return {first, code.select(row, end, code.i32(-kWord))};
}

/// Both words of each run of the first `count` registers, as i32. Where the region is `partly` inside, only
/// words with a byte of the tensor, and zeros else.
Value Emitter::readWords(const Realigned &c, const ViewAccess &a, int64_t count, bool partly) {
  VectorType type = code.vec(code.b.getI32Type(), kPieces);
  int64_t row = std::min(c.perRow * c.run, count);
  auto starts = startsOfRows(c, a, count);
  auto none = [&] { return SmallVector<Value>{code.zero(type)}; };
  SmallVector<Value> words;
  for (int64_t r = 0; r < count; r += c.run) {
    auto [ptr, shift] = starts[r / row];
    // A run that is a word needs no other: the same one again.
    Value next = code.select(code.eq(shift, 0), code.index(0), code.index(kWord));
    for (Value behind : {code.index(0), next}) {
      Value needed;
      if (partly) {
        auto [first, end] = insideRun(c, a, r);
        Value from = code.sub(code.toI32(behind), shift);
        needed = code.cmp(P::slt, from, end);
        if (first)
          needed = code.both(needed, code.cmp(P::sgt, code.add(from, kWord), first));
      }
      Value at = code.offset(ptr, code.b.getI8Type(), behind);
      at = code.offset(at, code.b.getI8Type(), code.index(r % row * c.lanes * c.bytes));
      auto read = [&] { return SmallVector<Value>{code.load(at, type, kWord)}; };
      llvm::append_range(words, code.elements(code.choose(needed, {type}, read, none).front()));
    }
  }
  return code.fromElements(words);
}

/// The four i32 that start `shift` bytes behind the first of eight.
SmallVector<Value> Emitter::shiftedWords(SmallVector<Value> words, Value shift, int64_t bytes) {
  for (int64_t step : {2, 1}) { // whole i32 first
    Value far = code.cmp(P::ne, code.fold<arith::AndIOp>(shift, code.i32(4 * step)), code.i32(0));
    for (size_t i = 0; i + step < words.size(); ++i)
      words[i] = code.select(far, words[i + step], words[i]);
    words.truncate(words.size() - step);
  }
  Value bits = code.mul(code.fold<arith::AndIOp>(shift, code.i32(3)), 8);
  for (int64_t i = 0; bytes < 4 && i < kPieces; ++i)
    words[i] = LLVM::FshrOp::create(code.b, code.loc, words[i + 1], words[i], bits);
  words.truncate(kPieces);
  return words;
}

/// The first `count` registers of the copy out of their words; zeros outside the tensor where it is `partly`
/// inside.
Value Emitter::elementsOf(const Realigned &c, const ViewAccess &a, Value words, int64_t count, bool partly) {
  SmallVector<Value> all = code.elements(words), result;
  int64_t row = std::min(c.perRow * c.run, count);
  auto starts = startsOfRows(c, a, count);
  auto bitsBelow = [&](Value bytes, int64_t piece) { // a mask
    bytes = code.sub(bytes, code.i32(4 * piece));
    bytes = code.fold<arith::MinSIOp>(code.fold<arith::MaxSIOp>(bytes, code.i32(0)), code.i32(4));
    Value ones = code.sub(code.fold<arith::ShLIOp>(code.i32(1), code.mul(bytes, 8)), code.i32(1));
    return code.select(code.eq(bytes, 4), code.i32(-1), ones);
  };
  for (int64_t r = 0; r < count; r += c.run) {
    ArrayRef<Value> both = ArrayRef(all).slice(r / c.run * 2 * kPieces, 2 * kPieces);
    SmallVector<Value> run = shiftedWords(SmallVector<Value>(both), starts[r / row].second, c.bytes);
    if (partly) {
      auto [first, end] = insideRun(c, a, r);
      for (int64_t piece = 0; piece < kPieces; ++piece) {
        Value mask = bitsBelow(end, piece);
        if (first)
          mask = code.fold<arith::AndIOp>(mask, code.exor(bitsBelow(first, piece), -1));
        run[piece] = code.fold<arith::AndIOp>(run[piece], mask);
      }
    }
    llvm::append_range(result, run);
  }
  return code.bitcast(code.fromElements(result), registerType(c.element));
}

void Emitter::realignAhead(ArrayRef<CopyOp> copies) {
  llvm::SaveAndRestore<Threads> all(threads, crew());
  if (copies.size() != 1)
    return;
  CopyOp op = copies.front();
  Realigned c = realigned(op);
  int64_t count = c.l.inSize(DimId::Reg);
  if (!c.wide || count > realignedAtOnce(c))
    return;
  ViewAccess a = viewAccess(c.l, c.shape, c.element, c.from);
  VectorType type = code.vec(code.b.getI32Type(), count / c.run * 2 * kPieces);
  auto none = [&] { return SmallVector<Value>{code.zero(type)}; };
  auto read = [&](bool partly) {
    return [&, partly] { return SmallVector<Value>{readWords(c, a, count, partly)}; };
  };
  auto words = [&] { return code.choose(wholeInside(a), {type}, read(false), read(true)); };
  auto ifInside = [&] { return code.choose(reachesOut(c, a), {type}, none, words); };
  ahead[op] = code.choose(turnToCopy, {type}, ifInside, none).front();
}

LogicalResult Emitter::emitRealignedCopy(CopyOp op) {
  llvm::SaveAndRestore<Threads> all(threads, crew());
  Realigned c = realigned(op);
  auto elementwise = [&] {
    int64_t atOnce = c.wide ? c.run : copiedAtOnce(c.l, c.shape.size(), c.from, c.to);
    forRegisters(c.l, atOnce, [&](int64_t count) {
      Value v = loadFragment(c.l, c.shape, c.element, c.from, 0, count);
      storeFragment(v, c.l, c.shape, c.element, c.to, 0, count);
    });
  };
  auto wide = [&] {
    Value loaded = ahead.lookup(op);
    forRegisters(c.l, loaded ? c.l.inSize(DimId::Reg) : realignedAtOnce(c), [&](int64_t count) {
      ViewAccess a = viewAccess(c.l, c.shape, c.element, c.from);
      auto elements = [&](bool partly) {
        Value words = loaded ? loaded : readWords(c, a, count, partly);
        return SmallVector<Value>{elementsOf(c, a, words, count, partly)};
      };
      Type type = code.vec(registerType(c.element), count);
      Value v =
          code.choose(
                  wholeInside(a), {type}, [&] { return elements(false); }, [&] { return elements(true); })
              .front();
      storeFragment(v, c.l, c.shape, c.element, c.to, 0, count);
    });
  };
  code.when(turnToCopy, [&] {
    if (c.wide)
      code.when(reachesOut(c, viewAccess(c.l, c.shape, c.element, c.from)), elementwise, wide);
    else
      elementwise();
  });
  return success();
}
