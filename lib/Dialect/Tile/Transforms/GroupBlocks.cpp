//===- GroupBlocks.cpp - neighbouring blocks of a product become one ---------===//
//
// Packing A and B is what a block of a product loses against the register kernel: a block of BM rows packs
// all of B's columns again. Where every tile grows with the block along one axis of the grid - offsets are
// block id times extent, all else is element by element - G blocks are one block with G times the rows, up to
// 256. The last one covers rows that the program's grid would not have had; they lie outside every tensor, so
// nothing is stored for them.
//
//===----------------------------------------------------------------------===//
#include "ScheduleCPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEGROUPBLOCKS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

static constexpr int64_t kGroupedExtent = 256;

namespace {
/// Finds out which axis of which tile grows when blocks along one grid axis are joined.
class Widening {
public:
  Widening(KernelOp kernel, unsigned gridAxis)
      : kernel(kernel), launch(kernel.getDeviceLaunch()), gridAxis(gridAxis) {}

  bool analyze() { return findOffsets() && seed() && propagate() && checkEffects() && checkGrid(); }
  void apply(int64_t factor);
  int64_t getExtent() const { return extent; }

private:
  bool findOffsets();
  bool seed();
  bool propagate();
  bool visit(Operation *op);
  bool visitGemm(GemmOp gemm);
  bool visitGeneric(GenericOp generic);
  bool checkEffects();
  bool checkGrid();
  bool equate(Value x, Value y);
  bool grow(Value value, unsigned axis);
  std::optional<unsigned> axisOf(Value value) const {
    auto it = axes.find(value);
    return it == axes.end() ? std::nullopt : std::optional<unsigned>(it->second);
  }

  KernelOp kernel;
  LaunchOp launch;
  unsigned gridAxis;
  int64_t extent = 0; ///< of a block along the axis
  SmallVector<arith::MulIOp> offsets;
  llvm::DenseMap<Value, unsigned> axes;
  SmallVector<std::pair<StoreOp, unsigned>> stores; ///< and the axis of the view
  bool changed = false;
};
} // namespace

/// All uses of the block id are products with one constant.
bool Widening::findOffsets() {
  for (Operation *user : launch.getBody().getArgument(gridAxis).getUsers()) {
    auto mul = dyn_cast<arith::MulIOp>(user);
    APInt number;
    if (!mul || !(matchPattern(mul.getRhs(), m_ConstantInt(&number)) ||
                  matchPattern(mul.getLhs(), m_ConstantInt(&number))))
      return false;
    if (extent && number.getSExtValue() != extent)
      return false;
    extent = number.getSExtValue();
    offsets.push_back(mul);
  }
  return extent > 1 && extent < kGroupedExtent;
}

bool Widening::grow(Value value, unsigned axis) {
  auto [it, isNew] = axes.try_emplace(value, axis);
  changed |= isNew;
  return it->second == axis && axis < getShapeOf(value.getType()).size() &&
         getShapeOf(value.getType())[axis] == extent && !getLayoutOf(value.getType());
}

/// Offsets stand only in copies, loads and stores, on an axis as long as the block.
bool Widening::seed() {
  for (arith::MulIOp offset : offsets)
    for (OpOperand &use : offset->getUses()) {
      Operation *user = use.getOwner();
      if (auto copy = dyn_cast<CopyOp>(user)) {
        auto it = llvm::find(copy.getSourceOffsets(), offset.getResult());
        unsigned rank = getShapeOf(copy.getSource().getType()).size();
        if (it == copy.getSourceOffsets().end() ||
            llvm::is_contained(copy.getDestOffsets(), offset.getResult()) || !copy.getDestOffsets().empty() ||
            copy.getExtents() || copy.getIm2col() || getShapeOf(copy.getDest().getType()).size() != 2 ||
            rank < 2)
          return false;
        unsigned fromLast = rank - 1 - (it - copy.getSourceOffsets().begin());
        if (fromLast > 1 || !grow(copy.getDest(), copy.getTranspose() ? fromLast : 1 - fromLast))
          return false;
        continue;
      }
      auto store = dyn_cast<StoreOp>(user);
      auto load = dyn_cast<LoadOp>(user);
      if (!store && !load)
        return false;
      Value tile = store ? store.getValue() : Value(load.getResult());
      ValueRange all = store ? ValueRange(store.getOffsets()) : ValueRange(load.getOffsets());
      auto it = llvm::find(all, offset.getResult());
      unsigned tileRank = getShapeOf(tile.getType()).size(), position = it - all.begin();
      if ((store ? store.getExtents() : load.getExtents()) || it == all.end() || all.size() < tileRank ||
          position < all.size() - tileRank || !grow(tile, position - (all.size() - tileRank)))
        return false;
      if (store)
        stores.push_back({store, position});
    }
  return !stores.empty();
}

bool Widening::equate(Value x, Value y) {
  if (auto axis = axisOf(x))
    return grow(y, *axis);
  if (auto axis = axisOf(y))
    return grow(x, *axis);
  return true;
}

bool Widening::visitGemm(GemmOp gemm) {
  if (!equate(gemm.getAcc(), gemm.getResult()))
    return false;
  unsigned rows = gemm.getTransA() ? 1 : 0, columns = gemm.getTransB() ? 0 : 1;
  auto acc = axisOf(gemm.getAcc()), a = axisOf(gemm.getA()), b = axisOf(gemm.getB());
  if ((a && *a != rows) || (b && *b != columns) || (a && b))
    return false;
  if (a && !grow(gemm.getAcc(), 0))
    return false;
  if (b && !grow(gemm.getAcc(), 1))
    return false;
  if (acc && !(*acc == 0 ? grow(gemm.getA(), rows) : grow(gemm.getB(), columns)))
    return false;
  return true;
}

bool Widening::visitGeneric(GenericOp generic) {
  SmallVector<Value> operands(generic.getIns());
  llvm::append_range(operands, generic.getOuts());
  for (auto [out, result] : llvm::zip(generic.getOuts(), generic.getResults()))
    if (!equate(out, result))
      return false;
  SmallVector<AffineMap> maps = generic.getIndexingMaps();
  // The axis of the nest that grows, from any operand.
  std::optional<unsigned> axis;
  for (auto [map, operand] : llvm::zip(maps, operands))
    if (auto at = axisOf(operand)) {
      auto dim = dyn_cast<AffineDimExpr>(map.getResult(*at));
      if (!dim || (axis && *axis != dim.getPosition()))
        return false;
      axis = dim.getPosition();
    }
  if (!axis)
    return true;
  if (generic.getDomain()[*axis] != extent || !generic.getBody().getArgument(*axis).use_empty() ||
      generic.getCombine())
    return false;
  for (auto [map, operand] : llvm::zip(maps, operands)) {
    if (!map.isFunctionOfDim(*axis))
      continue;
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      if (!expr.isFunctionOfDim(*axis))
        continue;
      if (!isa<AffineDimExpr>(expr) || !isa<TileType>(operand.getType()) || !grow(operand, i))
        return false;
    }
  }
  return true;
}

bool Widening::visit(Operation *op) {
  if (auto gemm = dyn_cast<GemmOp>(op))
    return visitGemm(gemm);
  if (auto generic = dyn_cast<GenericOp>(op))
    return visitGeneric(generic);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, arg, yielded, result] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                   loop.getBody()->getTerminator()->getOperands(), loop.getResults()))
      if (!equate(init, arg) || !equate(arg, yielded) || !equate(yielded, result) || !equate(arg, init))
        return false;
    return true;
  }
  bool touches = llvm::any_of(op->getOperands(), [&](Value v) { return axes.count(v); }) ||
                 llvm::any_of(op->getResults(), [&](Value v) { return axes.count(v); });
  return !touches || isa<SplatOp, UndefOp, AllocOp, StoreOp, LoadOp, CopyOp, scf::YieldOp>(op);
}

bool Widening::propagate() {
  do {
    changed = false;
    WalkResult result = launch.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!visit(op))
        return WalkResult::interrupt();
      return isa<GenericOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return false;
  } while (changed);
  return true;
}

/// Everything with an effect belongs to the rows of the block: a copy or store that does not would run once
/// instead of G times, or for other rows.
bool Widening::checkEffects() {
  auto hasOffset = [&](ValueRange all) {
    return llvm::any_of(
        all, [&](Value v) { return llvm::is_contained(offsets, v.getDefiningOp<arith::MulIOp>()); });
  };
  WalkResult result = launch.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool fine = true;
    if (auto store = dyn_cast<StoreOp>(op))
      fine = axes.count(store.getValue()) && hasOffset(store.getOffsets());
    else if (auto load = dyn_cast<LoadOp>(op))
      fine = axes.count(load.getResult()) == hasOffset(load.getOffsets());
    else if (auto copy = dyn_cast<CopyOp>(op))
      fine = isa<BufferType>(copy.getDest().getType()) &&
             axes.count(copy.getDest()) == hasOffset(copy.getSourceOffsets()) &&
             !axes.count(copy.getSource());
    else if (auto generic = dyn_cast<GenericOp>(op)) {
      generic.getBody().walk([&](Operation *inner) { fine &= isa<YieldOp>(inner) || isPure(inner); });
      return fine ? WalkResult::skip() : WalkResult::interrupt();
    } else if (!isa<AllocOp, YieldOp, scf::ForOp, scf::YieldOp, GemmOp>(op))
      fine = isPure(op);
    return fine ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// The program's grid ends with the tensors that it stores to: "grid extent" is assumed to be ceildiv(size,
/// extent).
bool Widening::checkGrid() {
  Value grid = launch.getGrid()[gridAxis];
  auto sizeOf = [&](Value formula) -> DimOp {
    Operation *def = formula.getDefiningOp();
    APInt number;
    if (!def || !isa<arith::CeilDivUIOp, arith::CeilDivSIOp>(def) ||
        !matchPattern(def->getOperand(1), m_ConstantInt(&number)) || number.getSExtValue() != extent)
      return {};
    return def->getOperand(0).getDefiningOp<DimOp>();
  };
  DimOp size;
  for (Operation &op : kernel.getBody().front())
    if (auto assume = dyn_cast<AssumeOp>(op))
      if (auto equal = assume.getCond().getDefiningOp<arith::CmpIOp>();
          equal && equal.getPredicate() == arith::CmpIPredicate::eq) {
        if (equal.getLhs() == grid && !size)
          size = sizeOf(equal.getRhs());
        else if (equal.getRhs() == grid && !size)
          size = sizeOf(equal.getLhs());
      }
  if (!size)
    return false;
  return llvm::all_of(stores, [&](auto &store) {
    return isa<ViewType>(store.first.getDest().getType()) &&
           sameViewExtent(store.first.getDest(), store.second, size);
  });
}

void Widening::apply(int64_t factor) {
  OpBuilder b(launch);
  Location loc = launch.getLoc();
  Value count = arith::ConstantIndexOp::create(b, loc, factor);
  launch.getGridMutable()[gridAxis].assign(
      arith::CeilDivSIOp::create(b, loc, launch.getGrid()[gridAxis], count));
  for (arith::MulIOp offset : offsets) {
    b.setInsertionPoint(offset);
    Value wider = arith::ConstantIndexOp::create(b, loc, extent * factor);
    offset->setOperands({launch.getBody().getArgument(gridAxis), wider});
  }
  for (auto [value, axis] : axes) {
    SmallVector<int64_t> shape(getShapeOf(value.getType()));
    shape[axis] *= factor;
    Type element = getElementTypeOf(value.getType());
    if (isa<TileType>(value.getType()))
      Value(value).setType(TileType::get(b.getContext(), shape, element, LayoutAttr()));
    else
      Value(value).setType(BufferType::get(b.getContext(), shape, element, LayoutAttr()));
  }
  launch.getBody().walk([&](GenericOp generic) {
    SmallVector<Value> operands(generic.getIns());
    llvm::append_range(operands, generic.getOuts());
    SmallVector<int64_t> domain(generic.getDomain());
    for (auto [map, operand] : llvm::zip(generic.getIndexingMaps(), operands))
      if (auto axis = axisOf(operand))
        domain[cast<AffineDimExpr>(map.getResult(*axis)).getPosition()] = extent * factor;
    generic.setDomain(domain);
  });
}

namespace {
struct GroupBlocks : tile::impl::TileGroupBlocksBase<GroupBlocks> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!cpuTargetOf(kernel))
      return;
    bool hasProduct = false;
    kernel.walk([&](GemmOp) { hasProduct = true; });
    if (!hasProduct)
      return;
    for (unsigned axis = 0; axis < kernel.getDeviceLaunch().getGrid().size(); ++axis) {
      Widening widening(kernel, axis);
      if (widening.analyze())
        widening.apply(kGroupedExtent / widening.getExtent());
    }
  }
};
} // namespace
