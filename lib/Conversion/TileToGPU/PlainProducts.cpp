//===- PlainProducts.cpp - products on the plain arithmetic units ------------===//
//
// Outer products: at each step of k a thread reads a line of each operand (its rows of A, its columns of B)
// and multiplies all pairs. The lines of the next step are read before the products of this one, also around
// the loop over k, so that no product waits for shared memory.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

/// The two axes of a matrix: axes of one element count only where no others are left out.
static SmallVector<int64_t> matrixShape(ArrayRef<int64_t> shape) {
  return shape.size() == 2 ? SmallVector<int64_t>(shape) : dropOnes(shape);
}

static Layout matrixLayout(const Layout &l, ArrayRef<int64_t> shape) {
  return shape.size() == 2 ? l : squeezeOnes(l, shape);
}

/// One operand: what a thread reads of it at one step of k.
struct Emitter::PlainSide {
  Layout line;   ///< distinct registers -> d0, the axis that the accumulator shares with the operand
  Layout memory; ///< d0, d1 = k -> offset
  BufferType type;
  Value base;
  SmallVector<int64_t> place; ///< in the line, of each accumulator register
  int64_t extent, depth;      ///< along d0 and k
  bool isUnsigned;            ///< 8-bit integers that are widened with zeros
  /// Lines of several steps of k, one after the other in registers, to their offsets; none where line and
  /// memory have no common layout.
  FailureOr<Layout> address = failure();
  int64_t vec = 1;                 ///< elements of one access
  Value low;                       ///< the thread's part in the zone of the address
  std::map<int64_t, Value> starts; ///< addresses of the thread by what registers xor into the zone
  int64_t length() const { return line.inSize(DimId::Reg); }
};

/// The line, and below it a register digit for `steps` of k.
static Layout linesOf(const Layout &line, int64_t extent, int64_t depth, int64_t steps) {
  LayoutBuilder b;
  b.out(DimId::D0, extent, line.zone(DimId::D0)).out(DimId::D1, depth);
  bool seen = false;
  auto registers = [&] { b.digit(DimId::Reg, steps, {{DimId::D1, 1}}); };
  for (const Layout::In &in : line.ins()) {
    for (const Layout::Digit &digit : in.digits)
      b.digit(in.id, digit.n, {{DimId::D0, digit.v.empty() ? 0 : digit.v[0]}});
    if (in.id == DimId::Reg) {
      registers();
      seen = true;
    }
  }
  if (!seen)
    registers();
  return b.known();
}

Emitter::PlainSide Emitter::plainSide(GemmOp op, unsigned which, int64_t steps) {
  TileType accType = op.getResult().getType();
  Layout acc = matrixLayout(accType.getLayout().getLayout(), accType.getShape());
  Value buffer = which == 0 ? op.getA() : op.getB();
  bool kFirst = which == 0 ? op.getTransA() : !op.getTransB();
  PlainSide s;
  s.isUnsigned = op->hasAttr(which == 0 ? TileDialect::kAUnsignedAttrName : TileDialect::kBUnsignedAttrName);
  s.type = cast<BufferType>(buffer.getType());
  s.base = get(buffer);
  s.line = acc.sliceAxis(1 - which).squeeze(DimId::Reg);
  Layout memory = matrixLayout(s.type.getLayout().getLayout(), s.type.getShape());
  s.memory = kFirst ? memory.transpose() : memory;
  s.extent = matrixShape(accType.getShape())[which];
  s.depth = matrixShape(s.type.getShape())[kFirst ? 0 : 1];
  s.place = matchRegisters(
      acc, AffineMap::get(2, 0, {getAffineDimExpr(which, op.getContext())}, op.getContext()), s.line);
  if (s.line.cover(DimId::D0) > s.extent || s.line.rank() != 1)
    return s;
  Layout lines = linesOf(s.line, s.extent, s.depth, steps);
  int64_t bytes = memoryBytes(s.type.getElementType());
  s.address = lines.then(s.memory);
  if (failed(s.address))
    return s;
  s.vec = std::min<int64_t>(registerVector(lines, s.memory, bytes), 16 / bytes);
  while (s.length() % s.vec)
    s.vec /= 2;
  countBanks(lines, s.memory, bytes, s.vec, /*write=*/false);
  // What the thread adds does not change over the steps: one address for each register part of the zone.
  auto [low, high] = evaluate(*s.address, DimId::Offset, threadInputs(*s.address));
  s.low = low;
  for (auto [inZone, above] : s.address->contributions(DimId::Reg, DimId::Offset)) {
    Value &start = s.starts[inZone];
    if (start)
      continue;
    Value x = inZone ? (low ? code.exor(low, inZone) : code.i32(inZone)) : low;
    Value sum = code.add(x, high);
    start = sum ? code.add(s.base, code.mul(sum, bytes)) : s.base;
  }
  return s;
}

/// Line `step` of those that begin at `k`, a multiple of as many as the side was made for.
SmallVector<Value> Emitter::readLine(PlainSide &s, Value k, int64_t step, int64_t steps) {
  Type element = s.type.getElementType(), mem = memoryType(element);
  int64_t bytes = memoryBytes(element);
  SmallVector<Value> line;
  std::pair<Value, Value> moved;
  if (succeeded(s.address))
    moved = evaluate(s.memory, DimId::Offset, {{DimId::D1, k, s.depth, steps}});
  if (succeeded(s.address) && !moved.first) {
    auto registers = s.address->contributions(DimId::Reg, DimId::Offset);
    for (int64_t r = step * s.length(); r < (step + 1) * s.length(); r += s.vec) {
      Value at = s.starts[registers[r].first];
      if (moved.second)
        at = code.add(at, code.mul(moved.second, bytes));
      Value ptr = sharedPtr(at);
      if (int64_t more = registers[r].second * bytes)
        ptr = code.offset(ptr, code.b.getI8Type(), code.i32(more));
      Value v = code.fromMemory(code.load(ptr, s.vec > 1 ? Type(code.vec(mem, s.vec)) : mem, s.vec * bytes),
                                element);
      if (s.vec == 1)
        line.push_back(v);
      else
        llvm::append_range(line, code.elements(v));
    }
    return line;
  }
  Coords coords = coordsOf(s.line, 1);
  auto type = BufferType::get(s.type.getContext(), {s.extent, s.depth}, element,
                              LayoutAttr::get(s.type.getContext(), s.memory));
  Type reg = registerType(element);
  for (int64_t r = 0; r < s.length(); ++r)
    line.push_back(code.choose(
                           validAt(s.line, coords, {s.extent}, r), {reg},
                           [&]() -> SmallVector<Value> {
                             Value ptr = sharedPtr(
                                 bufferOffset(s.base, type, {coordAt(coords, 0, r), code.add(k, step)}));
                             return {code.fromMemory(code.load(ptr, mem, bytes), element)};
                           },
                           [&] { return SmallVector<Value>{code.zero(reg)}; })
                       .front());
  return line;
}

/// Accumulator registers row by row, every second row backwards: neighbours in the program then share an
/// operand also where the row changes, which the register file delivers once.
static SmallVector<int64_t> serpentine(ArrayRef<int64_t> rows, ArrayRef<int64_t> columns) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rows.size()));
  llvm::sort(order, [&](int64_t x, int64_t y) {
    if (rows[x] != rows[y])
      return rows[x] < rows[y];
    if (columns[x] != columns[y])
      return (columns[x] < columns[y]) != (rows[x] % 2 == 1);
    return x < y;
  });
  return order;
}

/// Steps of k in the body of the loop: as many as keep it well inside the instruction cache.
static int64_t stepsAtOnce(int64_t depth, int64_t products) {
  constexpr int64_t most = 1100;
  for (int64_t steps : {8, 4})
    if (depth % steps == 0 && (steps == 4 || steps * products <= most))
      return steps;
  return 1;
}

LogicalResult Emitter::emitFma(GemmOp op) {
  TileType accType = op.getResult().getType();
  Type acc = accType.getElementType();
  auto aType = dyn_cast<BufferType>(op.getA().getType()), bType = dyn_cast<BufferType>(op.getB().getType());
  if (!aType || !bType)
    return unsupported(*op, "a register operand of a product on the plain units");
  if (matrixShape(accType.getShape()).size() != 2 || matrixShape(aType.getShape()).size() != 2 ||
      matrixShape(bType.getShape()).size() != 2)
    return unsupported(*op, "a product of slices with an extent of one on the plain units");
  Value start = get(op.getAcc());
  if (op.getClear())
    start = code.select(flatten(op.getClear()).front(), code.zero(start.getType()), start);
  SmallVector<Value> sums = code.elements(start);
  int64_t depth = matrixShape(aType.getShape())[op.getTransA() ? 0 : 1];
  int64_t steps = stepsAtOnce(depth, sums.size());
  PlainSide sides[2] = {plainSide(op, 0, steps), plainSide(op, 1, steps)};
  for (PlainSide &s : sides)
    if (llvm::is_contained(s.place, -1))
      return unsupported(*op, "an accumulator of this layout");
  SmallVector<int64_t> order = serpentine(sides[0].place, sides[1].place);
  bool convertible = true;
  /// Both lines, converted, one behind the other.
  auto read = [&](Value k, int64_t step) {
    SmallVector<Value> lines;
    for (PlainSide &s : sides)
      for (Value v : readLine(s, k, step, steps)) {
        lines.push_back(s.isUnsigned ? arith::ExtUIOp::create(code.b, code.loc, acc, v).getResult()
                                     : convertFloat(v, s.type.getElementType(), acc));
        convertible &= lines.back() != nullptr;
      }
    return lines;
  };
  auto multiply = [&](ArrayRef<Value> lines) {
    for (int64_t r : order) {
      Value x = lines[sides[0].place[r]], y = lines[sides[0].length() + sides[1].place[r]];
      sums[r] = isa<FloatType>(acc) ? math::FmaOp::create(code.b, code.loc, x, y, sums[r]).getResult()
                                    : code.add(code.mul(x, y), sums[r]);
    }
  };
  SmallVector<Value> lines = read(code.i32(0), 0);
  if (!convertible)
    return unsupported(*op, "a product of these types on the plain units");
  auto body = [&](Value k, Value next) { // next: of the following turn; null: there is none
    for (int64_t step = 0; step < steps; ++step) {
      SmallVector<Value> ahead;
      if (step + 1 < steps)
        ahead = read(k, step + 1);
      else if (next)
        ahead = read(next, 0);
      multiply(lines);
      lines = ahead;
    }
  };
  if (depth == steps) {
    body(code.i32(0), Value());
  } else {
    int64_t count = sums.size();
    for (Value v : lines) // a carry of loads would become a load of a carried address in front of its use
      sums.push_back(opaque(v));
    auto loop = scf::ForOp::create(code.b, code.loc, code.i32(0), code.i32(depth), code.i32(steps), sums);
    {
      OpBuilder::InsertionGuard guard(code.b);
      code.b.setInsertionPointToStart(loop.getBody());
      auto carried = loop.getRegionIterArgs();
      sums.assign(carried.begin(), carried.begin() + count);
      lines.assign(carried.begin() + count, carried.end());
      // The last turn reads the first lines once more, which costs less than a second copy of the turn.
      Value next = code.add(loop.getInductionVar(), steps);
      next = code.select(code.eq(next, depth), code.i32(0), next);
      body(loop.getInductionVar(), next);
      sums.append(lines);
      scf::YieldOp::create(code.b, code.loc, sums);
    }
    sums.assign(loop.getResults().begin(), loop.getResults().begin() + count);
  }
  set(op.getResult(), code.fromElements(sums));
  return success();
}
