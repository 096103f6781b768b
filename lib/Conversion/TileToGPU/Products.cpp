//===- Products.cpp - operands in registers ----------------------------------===//
#include "../../Dialect/Tile/Transforms/ThreadLayouts.h"
#include "Emitter.h"

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
