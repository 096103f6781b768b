//===- Products.cpp - operands in registers, and the plain units -------------===//
#include "../../Dialect/Tile/Transforms/ThreadLayouts.h"
#include "Emitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

/// Operand in registers: a tile, or a buffer loaded in the instruction's order.
Value Emitter::operandFragment(GemmOp op, unsigned which, Layout &layout) {
  Value operand = which == 0 ? op.getA() : op.getB();
  ArrayRef<int64_t> shape = getShapeOf(operand.getType());
  bool trans = which == 0 ? op.getTransA() : op.getTransB();
  Value value;
  if (auto type = dyn_cast<TileType>(operand.getType())) {
    layout = type.getLayout().getLayout();
    value = get(operand);
  } else {
    layout = ThreadLayouts(launch, target).operand(op, which);
    Type element = getElementTypeOf(operand.getType());
    value = loadMatrices(layout, element, operand);
    if (!value) {
      Region region = regionOf(operand, {}, std::nullopt, shape);
      value = loadFragment(layout, shape, element, region, 0, layout.inSize(DimId::Reg));
    }
  }
  layout = squeezeOnes(layout, shape);
  if (trans)
    layout = layout.transpose();
  return value;
}

/// Starts of an atom's registers by the coordinates of its first element.
std::map<std::pair<int64_t, int64_t>, int64_t> tilec::simt::atomStarts(const Layout &l, int64_t per) {
  std::map<std::pair<int64_t, int64_t>, int64_t> starts;
  auto x = l.contributions(DimId::Reg, DimId::D0), y = l.contributions(DimId::Reg, DimId::D1);
  for (int64_t r = 0; r < l.inSize(DimId::Reg); r += per)
    starts.insert({{x[r].first + x[r].second, y[r].first + y[r].second}, r});
  return starts;
}

//===----------------------------------------------------------------------===//
// Plain units
//===----------------------------------------------------------------------===//

/// The two axes of a matrix: axes of one element count only where no others are left out.
static SmallVector<int64_t> matrixShape(ArrayRef<int64_t> shape) {
  return shape.size() == 2 ? SmallVector<int64_t>(shape) : dropOnes(shape);
}

static Layout matrixLayout(const Layout &l, ArrayRef<int64_t> shape) {
  return shape.size() == 2 ? l : squeezeOnes(l, shape);
}

/// Outer products: per step of k each thread reads its rows of A and its columns of B.
LogicalResult Emitter::emitFma(GemmOp op) {
  TileType accType = op.getResult().getType();
  Layout lc = matrixLayout(accType.getLayout().getLayout(), accType.getShape());
  Type acc = accType.getElementType();
  auto aType = dyn_cast<BufferType>(op.getA().getType()), bType = dyn_cast<BufferType>(op.getB().getType());
  if (!aType || !bType)
    return unsupported(*op, "a register operand of a product on the plain units");
  SmallVector<int64_t> shape = matrixShape(accType.getShape()), aShape = matrixShape(aType.getShape());
  if (shape.size() != 2 || aShape.size() != 2 || matrixShape(bType.getShape()).size() != 2)
    return unsupported(*op, "a product of slices with an extent of one on the plain units");
  int64_t depth = aShape[op.getTransA() ? 0 : 1];
  int64_t regs = lc.inSize(DimId::Reg);
  // One side: coordinates along `axis` of the accumulator at one k.
  struct Side {
    Layout line;   ///< registers (distinct ones) -> d0
    Layout memory; ///< d0 = m or n, d1 = k -> offset
    BufferType type;
    Value base;
    SmallVector<int64_t> place; ///< of each accumulator register
    int64_t extent;
    bool isUnsigned;
  };
  auto makeSide = [&](Value buffer, BufferType type, unsigned axis, bool kFirst) {
    Side s;
    s.isUnsigned = op->hasAttr(axis == 0 ? TileDialect::kAUnsignedAttrName : TileDialect::kBUnsignedAttrName);
    s.type = type;
    s.base = get(buffer);
    Layout full = lc.sliceAxis(1 - axis);
    s.line = full.squeeze(DimId::Reg);
    Layout m = matrixLayout(type.getLayout().getLayout(), type.getShape());
    s.memory = kFirst ? m.transpose() : m;
    s.extent = shape[axis];
    s.place = matchRegisters(
        lc, AffineMap::get(2, 0, {getAffineDimExpr(axis, op.getContext())}, op.getContext()), s.line);
    return s;
  };
  Side a = makeSide(op.getA(), aType, 0, op.getTransA());
  Side b = makeSide(op.getB(), bType, 1, !op.getTransB());
  if (llvm::is_contained(a.place, -1) || llvm::is_contained(b.place, -1))
    return unsupported(*op, "an accumulator of this layout");
  auto read = [&](Side &s, Value k) -> Value {
    Type element = s.type.getElementType();
    int64_t bytes = memoryBytes(element);
    SmallVector<int64_t> line{s.extent};
    Value v;
    if (s.memory.zone(DimId::Offset) == 0) {
      // The step only moves the start, so that the line is read in vectors.
      auto [low, high] = evaluate(s.memory, DimId::Offset, {{DimId::D1, k, INT64_MAX}});
      Value at = code.add(low, high);
      Layout memory = s.memory.without(DimId::D1);
      auto type = BufferType::get(op.getContext(), line, element, LayoutAttr::get(op.getContext(), memory));
      OpBuilder before(op);
      Value buffer = AllocOp::create(before, op.getLoc(), type, before.getI64IntegerAttr(0));
      set(buffer, at ? code.add(s.base, code.mul(at, bytes)) : s.base);
      v = loadShared(s.line, line, element, regionOf(buffer, {}, std::nullopt, line), 0,
                     s.line.inSize(DimId::Reg));
    } else {
      Coords coords = coordsOf(s.line, 1);
      auto type = BufferType::get(op.getContext(), {s.extent, depth}, element,
                                  LayoutAttr::get(op.getContext(), s.memory));
      SmallVector<Value> all;
      for (int64_t r = 0; r < s.line.inSize(DimId::Reg); ++r) {
        Value valid = validAt(s.line, coords, line, r);
        Type reg = registerType(element);
        all.push_back(code.choose(
                              valid, {reg},
                              [&]() -> SmallVector<Value> {
                                Value ptr = sharedPtr(bufferOffset(s.base, type, {coordAt(coords, 0, r), k}));
                                return {code.fromMemory(code.load(ptr, memoryType(element), bytes), element)};
                              },
                              [&] { return SmallVector<Value>{code.zero(reg)}; })
                          .front());
      }
      v = code.fromElements(all);
    }
    if (s.isUnsigned)
      return arith::ExtUIOp::create(code.b, code.loc, cast<VectorType>(v.getType()).clone(acc), v);
    return convertFloat(v, element, acc);
  };
  Value start = get(op.getAcc());
  if (op.getClear())
    start = code.select(flatten(op.getClear()).front(), code.zero(start.getType()), start);
  int64_t unroll = depth % 4 == 0 ? 4 : 1;
  auto loop =
      scf::ForOp::create(code.b, code.loc, code.i32(0), code.i32(depth), code.i32(unroll), ValueRange{start});
  {
    OpBuilder::InsertionGuard guard(code.b);
    code.b.setInsertionPointToStart(loop.getBody());
    Value sum = loop.getRegionIterArg(0);
    for (int64_t u = 0; u < unroll; ++u) {
      Value k = code.add(loop.getInductionVar(), u);
      Value x = read(a, k), y = read(b, k);
      if (!x || !y)
        return unsupported(*op, "a product of these types on the plain units");
      x = code.permute(x, a.place);
      y = code.permute(y, b.place);
      sum = isa<FloatType>(acc) ? math::FmaOp::create(code.b, code.loc, x, y, sum).getResult()
                                : code.add(code.mul(x, y), sum);
    }
    scf::YieldOp::create(code.b, code.loc, sum);
  }
  (void)regs;
  set(op.getResult(), loop.getResult(0));
  return success();
}
