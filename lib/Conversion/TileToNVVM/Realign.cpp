//===- Realign.cpp - rows that start anywhere ---------------------------------===//
// Where pitch or address of a tensor suits no tensor map, cp.async still brings the whole aligned words of 16
// bytes that a row lies in, one more than the row has. They wait in shared memory as they came; whoever makes
// fragments of them adds to its addresses what the row starts behind its first word. Rows whose distance is
// a multiple of as many rows as a word has elements start alike: a thread computes few such starts. The first
// cache serves the second half of a sector that two words lie in.
#include "NVVMEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;
using P = arith::CmpIPredicate;

static constexpr int64_t kWord = 16; // bytes

/// Rows of words in shared memory, and where they come from. Addresses are i64.
struct NVVMEmitter::Words {
  int64_t rows, perRow, bytes; ///< words of a row; bytes of an element
  Value start, pitch;          ///< of the first element of the region; from row to row, in bytes
  Value low, high;             ///< where the tensor begins and ends
  Value base;                  ///< in shared memory, bytes
};

static Value toI64(Code &c, Value index) {
  return c.b.createOrFold<arith::IndexCastOp>(c.loc, c.b.getI64Type(), index);
}

NVVMEmitter::Words NVVMEmitter::wordsOf(AsyncCopyOp op) {
  Value source = op.getSource();
  ArrayRef<int64_t> extents = *op.getExtents();
  unsigned rank = extents.size();
  Words w;
  w.bytes = memoryBytes(getElementTypeOf(source.getType()));
  w.rows = extents[rank - 2];
  w.perRow = extents[rank - 1] * w.bytes / kWord + 1;
  w.base = get(op.getDest());
  w.start = LLVM::PtrToIntOp::create(code.b, code.loc, code.b.getI64Type(), view(source).ptr);
  w.low = w.start;
  w.high = code.add(w.start, w.bytes);
  for (unsigned m = 0; m < rank; ++m) {
    Value stride = code.mul(toI64(code, strideOf(source, m)), w.bytes);
    Value size = toI64(code, sizeOf(source, m));
    Value span = code.mul(code.sub(size, code.i64(1)), stride);
    w.low = code.add(w.low, code.fold<arith::MinSIOp>(span, code.i64(0)));
    w.high = code.add(w.high, code.fold<arith::MaxSIOp>(span, code.i64(0)));
    w.start = code.add(w.start, code.mul(toI64(code, flatten(op.getSourceOffsets()[m]).front()), stride));
    if (m + 2 == rank)
      w.pitch = stride;
  }
  return w;
}

/// Where the aligned word lies in the tensor's memory.
Value NVVMEmitter::wordAddress(const Words &w, Value row, Value word) {
  auto wide = [&](Value i32) { return arith::ExtUIOp::create(code.b, code.loc, code.b.getI64Type(), i32); };
  Value at = code.add(code.mul(wide(row), w.pitch), code.mul(wide(word), kWord));
  return code.fold<arith::AndIOp>(code.add(w.start, at), code.i64(-kWord));
}

/// The same for all threads: are all words of the region the tensor's, and all its rows?
Value NVVMEmitter::wordsInside(const Words &w, AsyncCopyOp op) {
  Value inside;
  ArrayRef<int64_t> extents = *op.getExtents();
  for (unsigned m = 0; m + 1 < extents.size(); ++m) {
    Value at = flatten(op.getSourceOffsets()[m]).front();
    Value last = code.sub(sizeOf(op.getSource(), m), code.index(extents[m]));
    inside = code.both(inside, code.both(code.cmp(P::sge, at, code.index(0)), code.cmp(P::sle, at, last)));
  }
  Value first = wordAddress(w, code.i32(0), code.i32(0));
  Value last = wordAddress(w, code.i32(w.rows - 1), code.i32(w.perRow - 1));
  Value least = code.fold<arith::MinSIOp>(first, last), most = code.fold<arith::MaxSIOp>(first, last);
  inside = code.both(inside, code.cmp(P::sge, least, w.low));
  return code.both(inside, code.cmp(P::sle, code.add(most, kWord), w.high));
}

/// One word, of which the engine reads what the tensor has behind its begin: zeros for the rest, and for rows
/// outside. A word that begins before the tensor does comes by elements.
void NVVMEmitter::copyRaggedWord(const Words &w, AsyncCopyOp op, Value i) {
  Value row = code.div(i, w.perRow), at = wordAddress(w, row, code.rem(i, w.perRow));
  Value inside;
  ArrayRef<int64_t> extents = *op.getExtents();
  for (unsigned m = 0; m + 1 < extents.size(); ++m) {
    Value position = flatten(op.getSourceOffsets()[m]).front();
    if (m + 2 == extents.size())
      position = code.add(position, code.toIndex(row));
    inside = code.both(inside, code.both(code.cmp(P::sge, position, code.index(0)),
                                         code.cmp(P::slt, position, sizeOf(op.getSource(), m))));
  }
  Value dest = sharedPtr(code.add(w.base, code.mul(i, kWord)));
  auto pointer = [&](Value address) {
    return LLVM::IntToPtrOp::create(code.b, code.loc, view(op.getSource()).ptr.getType(), address);
  };
  auto byElements = [&] {
    Type element = memoryType(getElementTypeOf(op.getSource().getType()));
    for (int64_t offset = 0; offset < kWord; offset += w.bytes) {
      Value one = code.add(at, offset);
      Value has = code.both(code.cmp(P::sge, one, w.low), code.cmp(P::slt, one, w.high));
      auto read = [&] { return SmallVector<Value>{code.load(pointer(one), element, w.bytes)}; };
      auto none = [&] { return SmallVector<Value>{code.zero(element)}; };
      Value value = code.choose(has, {element}, read, none).front();
      code.store(value, code.offset(dest, code.b.getI8Type(), code.i32(offset)), w.bytes);
    }
    // Ordinary stores, which the arrival that follows copies of the engine does not order.
    NVVM::MembarOp::create(code.b, code.loc, NVVM::MemScopeKind::CTA);
  };
  auto byEngine = [&] {
    Value left = code.fold<arith::MinSIOp>(code.sub(w.high, at), code.i64(kWord));
    left = code.select(inside, code.fold<arith::MaxSIOp>(left, code.i64(0)), code.i64(0));
    Value size = arith::TruncIOp::create(code.b, code.loc, code.b.getI32Type(), left);
    Value from = code.select(code.eq(size, 0), code.fold<arith::AndIOp>(w.low, code.i64(-kWord)), at);
    code.assembly(Type(), "cp.async.ca.shared.global [$0], [$1], 16, $2;", "r,l,r",
                  {address(dest), pointer(from), size});
  };
  code.when(code.both(inside, code.cmp(P::slt, at, w.low)), byElements, byEngine);
}

/// One word that lies in the tensor as a whole.
void NVVMEmitter::copyWord(const Words &w, AsyncCopyOp op, Value i) {
  Value at = wordAddress(w, code.div(i, w.perRow), code.rem(i, w.perRow));
  Value from = LLVM::IntToPtrOp::create(code.b, code.loc, view(op.getSource()).ptr.getType(), at);
  Value dest = sharedPtr(code.add(w.base, code.mul(i, kWord)));
  code.assembly(Type(), "cp.async.ca.shared.global [$0], [$1], 16;", "r,l", {address(dest), from});
}

LogicalResult NVVMEmitter::emitWords(AsyncCopyOp op) {
  if (op.getPred() || threads.oneLane)
    return unsupported(*op, "a copy of words here");
  // Where each word of a thread lies behind the region's start is the same in all trips: so many registers
  // has a load role for it.
  constexpr int64_t mostAtOnce = 9;
  Words w = wordsOf(op);
  int64_t all = w.rows * w.perRow, step = threads.allWarps() * target.warpSize;
  Value thread = threadInRole();
  auto inLoop = [&](llvm::function_ref<void(Value)> each) {
    auto loop = scf::ForOp::create(code.b, code.loc, thread, code.i32(all), code.i32(step));
    OpBuilder::InsertionGuard guard(code.b);
    code.b.setInsertionPointToStart(loop.getBody());
    each(loop.getInductionVar());
  };
  auto whole = [&] {
    if (all > mostAtOnce * step)
      return inLoop([&](Value i) { copyWord(w, op, i); });
    for (int64_t first = 0; first < all; first += step) {
      Value i = code.add(thread, first);
      code.when(first + step > all ? code.ult(i, all) : Value(), [&] { copyWord(w, op, i); });
    }
  };
  auto ragged = [&] { inLoop([&](Value i) { copyRaggedWord(w, op, i); }); };
  code.when(wordsInside(w, op), whole, ragged);
  return success();
}

/// Zeros for elements outside the view along the axis of its rows' neighbours. Neighbouring registers of 16
/// bits share a word, which one operation clears where both lie in the same column.
Value NVVMEmitter::clearOutside(const ViewAccess &a, Value value) {
  unsigned m = a.tileAxis.size() - 1;
  int t = a.tileAxis[m];
  Value first = a.bounds[m].first, end = a.bounds[m].second;
  llvm::DenseMap<int64_t, Value> masks; // i32, by column
  auto maskOf = [&](int64_t reg) {
    int64_t column = a.coords.regs[t][reg].first + a.coords.regs[t][reg].second;
    Value &mask = masks[column];
    if (mask)
      return mask;
    Value inside = code.cmp(P::slt, code.i32(column), end);
    if (first)
      inside = code.both(inside, code.cmp(P::sge, code.i32(column), first));
    mask = code.select(inside, code.i32(-1), code.i32(0));
    return mask;
  };
  Type element = cast<VectorType>(value.getType()).getElementType();
  int64_t perWord = 32 / element.getIntOrFloatBitWidth();
  SmallVector<Value> words = code.elements(code.bitcast(value, code.b.getI32Type()));
  for (auto [i, word] : llvm::enumerate(words)) {
    Value mask = maskOf(i * perWord);
    if (perWord == 2 && maskOf(2 * i + 1) != mask)
      mask = code.fold<arith::OrIOp>(code.fold<arith::AndIOp>(mask, code.i32(0xFFFF)),
                                     code.fold<arith::AndIOp>(maskOf(2 * i + 1), code.i32(-0x10000)));
    word = code.fold<arith::AndIOp>(word, mask);
  }
  return code.bitcast(code.fromElements(words), element);
}

LogicalResult NVVMEmitter::emitRealign(RealignOp op) {
  TileType tile = op.getResult().getType();
  const Layout &l = tile.getLayout().getLayout();
  ArrayRef<int64_t> extents = op.getExtents(), shape = tile.getShape();
  int rank = extents.size();
  tilec::simt::Region region;
  region.memory = op.getView();
  region.offsets = op.getOffsets();
  region.extents.assign(extents.begin(), extents.end());
  region.inbounds.assign(rank, false);
  region.axes = {rank - 2, rank - 1};
  if (op.getTranspose())
    std::swap(region.axes[0], region.axes[1]);
  Type element = tile.getElementType();
  ViewAccess a = viewAccess(l, shape, element, region);
  int row = a.tileAxis[rank - 2], column = a.tileAxis[rank - 1];
  int64_t bytes = memoryBytes(element), regs = l.inSize(DimId::Reg);
  if (a.coords.low[row] || a.coords.low[column] || a.masked || (bytes != 2 && bytes != 4) || regs * bytes % 4)
    return unsupported(*op, "rows of words as such a fragment");
  auto orZero = [&](Value v) { return v ? v : code.i32(0); };
  Value threadRow = orZero(a.coords.high[row]);
  Value threadColumn = code.mul(orZero(a.coords.high[column]), bytes);
  auto narrow = [&](Value i64) {
    return arith::TruncIOp::create(code.b, code.loc, code.b.getI32Type(), i64).getResult();
  };
  Value pitch = code.mul(narrow(toI64(code, a.strides[rank - 2])), bytes);
  Value start = LLVM::PtrToIntOp::create(code.b, code.loc, code.b.getI64Type(), a.ptr);
  start = code.sub(narrow(start), threadColumn);
  int64_t alike = kWord / bytes, rowBytes = extents[rank - 1] * bytes + kWord;
  llvm::DenseMap<int64_t, Value> starts; // in shared memory, by the register's row modulo `alike`
  SmallVector<Value> elements;
  for (int64_t r = 0; r < regs; ++r) {
    int64_t line = a.coords.regs[row][r].second, at = a.coords.regs[column][r].second;
    Value &from = starts[line % alike];
    if (!from) {
      Value skipped = code.add(start, code.mul(pitch, line % alike));
      skipped = code.fold<arith::AndIOp>(skipped, code.i32(kWord - 1));
      Value place = code.mul(code.add(threadRow, line % alike), rowBytes);
      from = sharedPtr(code.add(get(op.getWords()), code.add(code.add(place, threadColumn), skipped)));
    }
    Value ptr =
        code.offset(from, code.b.getI8Type(), code.i32((line - line % alike) * rowBytes + at * bytes));
    elements.push_back(code.fromMemory(code.load(ptr, memoryType(element), bytes), element));
  }
  set(op.getResult(), clearOutside(a, code.fromElements(elements)));
  return success();
}
