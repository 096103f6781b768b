//===- EpilogueParts.cpp - what a result in parts is made of comes in parts --===//
// A result that leaves in parts needs no more registers than one part of what it is made of: element-wise
// nests and loads whose results only slices read are done anew for each slice, where the slice stands. Loads
// that the schedule stages come through shared memory, which the copy engine fills while the main loop runs.
#include "BufferLayouts.h"
#include "LaunchFeatures.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

static bool onlySlicesRead(Operation *op) { return llvm::all_of(op->getUsers(), llvm::IsaPred<SliceOp>); }

static AffineMap mapAt(GenericOp generic, unsigned i) {
  return cast<AffineMapAttr>(generic.getMaps()[i]).getValue();
}

/// Reads tiles only, each element from the iteration's own place or along some of its axes; writes nothing.
static bool isElementwise(GenericOp generic) {
  if (!generic.getExtents().empty() || generic.getCombineAttr() || !generic.getLayoutAttr())
    return false;
  for (auto [i, operand] : llvm::enumerate(generic->getOperandTypes()))
    if (!isa<TileType>(operand) || !mapAt(generic, i).isProjectedPermutation())
      return false;
  for (unsigned i = generic.getIns().size(); i < generic->getNumOperands(); ++i)
    if (!mapAt(generic, i).isIdentity())
      return false;
  return !generic.getBody()
              .walk([](Operation *op) {
                return isPure(op) || isa<YieldOp>(op) ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// The part of an operand that a part of the iterations reads; null where it lies in other threads.
static Value partOfOperand(OpBuilder &b, Value operand, AffineMap map, const Layout &whole,
                           const Layout &part, ArrayRef<int64_t> at, ArrayRef<int64_t> shape) {
  auto type = cast<TileType>(operand.getType());
  std::optional<Layout> wholeLayout = operandLayout(whole, map), partLayout = operandLayout(part, map);
  if (!wholeLayout || !partLayout || type.getLayout().getLayout() != *wholeLayout)
    return {};
  SmallVector<int64_t> offsets, extents;
  for (AffineExpr e : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(e).getPosition();
    offsets.push_back(at[dim]);
    extents.push_back(shape[dim]);
  }
  if (ArrayRef<int64_t>(extents) == type.getShape())
    return *wholeLayout == *partLayout ? operand : Value();
  auto partType = TileType::get(b.getContext(), extents, type.getElementType(),
                                LayoutAttr::get(b.getContext(), *partLayout));
  return SliceOp::create(b, operand.getLoc(), partType, operand, offsets);
}

/// The nest over the slice's part of its iterations.
static Value sinkInto(SliceOp slice, GenericOp generic) {
  auto result = cast<OpResult>(slice.getSource());
  TileType type = slice.getResult().getType();
  const Layout &whole = generic.getLayoutAttr().getLayout();
  if (!isElementwise(generic) || slice.getSource().getType().getLayout().getLayout() != whole)
    return {};
  OpBuilder b(slice);
  ArrayRef<int64_t> at = slice.getOffsets();
  unsigned numIns = generic.getIns().size();
  SmallVector<Value> operands;
  for (auto [i, operand] : llvm::enumerate(generic->getOperands())) {
    operands.push_back(partOfOperand(b, operand, mapAt(generic, i), whole, type.getLayout().getLayout(), at,
                                     type.getShape()));
    if (!operands.back()) {
      for (Value made : ArrayRef<Value>(operands).drop_back())
        if (auto op = made.getDefiningOp<SliceOp>(); op && op->use_empty() && op != slice)
          op.erase();
      return {};
    }
  }
  ArrayRef<Value> ins = ArrayRef<Value>(operands).take_front(numIns),
                  outs = ArrayRef<Value>(operands).drop_front(numIns);
  SmallVector<Type> types;
  for (Value out : outs)
    types.push_back(out.getType());
  auto part =
      GenericOp::create(b, generic.getLoc(), types, b.getDenseI64ArrayAttr(type.getShape()), ValueRange{},
                        ins, outs, generic.getMapsAttr(), ArrayAttr(), type.getLayout());
  IRMapping mapping;
  generic.getBody().cloneInto(&part.getBody(), mapping);
  OpBuilder inside = OpBuilder::atBlockBegin(&part.getBody().front());
  for (auto [axis, arg] : llvm::enumerate(part.getIndexArgs())) {
    Value index = arg;
    if (at[axis] && !index.use_empty()) {
      Value start = arith::ConstantIndexOp::create(inside, generic.getLoc(), at[axis]);
      auto moved = arith::AddIOp::create(inside, generic.getLoc(), index, start);
      index.replaceAllUsesExcept(moved, moved);
    }
  }
  return part.getResults()[result.getResultNumber()];
}

/// May the load stand behind stores of the launch?
static bool mayMove(LoadOp load) {
  auto kernel = load->getParentOfType<KernelOp>();
  auto arg = argumentOf(load.getSource());
  return arg && !kernel->hasAttr(TileDialect::kInplaceAttrName) &&
         !launchWrites(load->getParentOfType<LaunchOp>(), *arg);
}

static Value sinkInto(SliceOp slice, LoadOp load) {
  if (!isa<ViewType>(load.getSource().getType()) || !mayMove(load))
    return {};
  OpBuilder b(slice);
  TileType type = slice.getResult().getType(), whole = load.getResult().getType();
  SmallVector<int64_t> extents = viewExtents(load.getExtents(), whole, load.getOffsets().size());
  SmallVector<Value> offsets(load.getOffsets());
  // Axes of one element may be missing on either side; the others are the same.
  unsigned axis = 0; // of the tile
  for (auto [i, extent] : llvm::enumerate(extents)) {
    if (extent == 1)
      continue;
    while (whole.getShape()[axis] == 1)
      ++axis;
    if (int64_t at = slice.getOffsets()[axis])
      offsets[i] = arith::AddIOp::create(b, load.getLoc(), offsets[i],
                                         arith::ConstantIndexOp::create(b, load.getLoc(), at));
    extent = type.getShape()[axis++];
  }
  auto part = LoadOp::create(b, load.getLoc(), type, load.getSource(), offsets,
                             b.getDenseI64ArrayAttr(extents), load.getInboundsAttr());
  part->setDiscardableAttrs(load->getDiscardableAttrDictionary());
  return part.getResult();
}

void tilec::tile::sinkSlices(LaunchOp launch) {
  SmallVector<SliceOp> work;
  launch.walk([&](SliceOp slice) { work.push_back(slice); });
  // All slices of one value before those of what it is made of, which then nothing else reads.
  for (size_t next = 0; next < work.size(); ++next) {
    SliceOp slice = work[next];
    Operation *source = slice.getSource().getDefiningOp();
    // Not into a loop: what stands outside is done once.
    if (!source || source->getBlock() != slice->getBlock() || !onlySlicesRead(source))
      continue;
    Value part;
    if (auto generic = dyn_cast<GenericOp>(source))
      part = sinkInto(slice, generic);
    else if (auto load = dyn_cast<LoadOp>(source))
      part = sinkInto(slice, load);
    else if (isa<UndefOp, SplatOp>(source)) {
      OpBuilder b(slice);
      Operation *clone = b.clone(*source);
      clone->getResult(0).setType(slice.getResult().getType());
      part = clone->getResult(0);
    }
    if (!part)
      continue;
    if (auto generic = part.getDefiningOp<GenericOp>())
      for (Value operand : generic->getOperands())
        if (auto deeper = operand.getDefiningOp<SliceOp>())
          work.push_back(deeper);
    slice.getResult().replaceAllUsesWith(part);
    slice.erase();
    if (source->use_empty())
      source->erase();
  }
}

void tilec::tile::stageLoads(LaunchOp launch) {
  SmallVector<LoadOp> loads;
  launch.walk([&](LoadOp load) {
    if (load->hasAttr(TileDialect::kStagedAttrName))
      loads.push_back(load);
  });
  for (LoadOp load : loads) {
    OpBuilder b(load);
    Location loc = load.getLoc();
    TileType tile = load.getResult().getType();
    auto type = BufferType::get(b.getContext(), tile.getShape(), tile.getElementType(), LayoutAttr());
    Value stage = AllocOp::create(b, loc, type, IntegerAttr());
    CopyOp::create(b, loc, load.getSource(), load.getOffsets(), stage, ValueRange{}, load.getExtentsAttr(),
                   UnitAttr(), Im2colAttr(), EngineAttr::get(b.getContext(), Engine::tma));
    Value value =
        LoadOp::create(b, loc, tile, stage, ValueRange{}, DenseI64ArrayAttr(), DenseBoolArrayAttr());
    load.getResult().replaceAllUsesWith(value);
    load.erase();
  }
}
