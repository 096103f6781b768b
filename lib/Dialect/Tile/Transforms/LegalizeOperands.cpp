//===- LegalizeOperands.cpp - accesses that must pass through shared memory --===//
#include "LegalizeOperands.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilec::tile;

static BufferType bufferFor(TileType tile) {
  return BufferType::get(tile.getContext(), tile.getShape(), tile.getElementType(), LayoutAttr());
}

/// A shared copy of a tile, made at the builder's place.
static Value spill(OpBuilder &b, Location loc, Value tile) {
  Value buffer = AllocOp::create(b, loc, bufferFor(cast<TileType>(tile.getType())), IntegerAttr());
  StoreOp::create(b, loc, tile, buffer, ValueRange{}, DenseI64ArrayAttr(), DenseBoolArrayAttr());
  return buffer;
}

static Value reload(OpBuilder &b, Location loc, Value buffer, TileType type) {
  return LoadOp::create(b, loc, type, buffer, ValueRange{}, DenseI64ArrayAttr(), DenseBoolArrayAttr());
}

/// An operand that wgmma takes out of registers.
static void readFirstOperand(GemmOp gemm) {
  InstAttr inst = gemm.getInstAttr();
  OpOperand &first = inst.getSwapped() ? gemm.getBMutable() : gemm.getAMutable();
  auto buffer = dyn_cast<BufferType>(first.get().getType());
  if (!inst.getAReg() || !buffer)
    return;
  OpBuilder b(gemm);
  auto tile = TileType::get(b.getContext(), buffer.getShape(), buffer.getElementType(), LayoutAttr());
  first.set(reload(b, gemm.getLoc(), first.get(), tile));
}

static void legalizeGemm(GemmOp gemm) {
  if (!gemm.getInstAttr())
    return;
  if (gemm.getInstAttr().getKind() == InstKind::wgmma)
    return readFirstOperand(gemm);
  if (gemm.getInstAttr().getKind() != InstKind::fma)
    return;
  OpBuilder b(gemm);
  for (OpOperand *o : {&gemm.getAMutable(), &gemm.getBMutable()})
    if (isa<TileType>(o->get().getType()))
      o->set(spill(b, gemm.getLoc(), o->get()));
}

/// The outermost generic around `op`: spills cannot stand inside its body.
static Operation *statementOf(Operation *op) {
  while (auto generic = op->getParentOfType<GenericOp>())
    op = generic;
  return op;
}

static void legalizeExtract(ExtractOp extract) {
  OpBuilder b(statementOf(extract));
  Value buffer = spill(b, extract.getLoc(), extract.getTile());
  b.setInsertionPoint(extract);
  Value element = ElemLoadOp::create(b, extract.getLoc(), extract.getValue().getType(), buffer,
                                     extract.getIndices(), DenseBoolArrayAttr());
  extract.getValue().replaceAllUsesWith(element);
  extract.erase();
}

static void legalizeReshape(ReshapeOp reshape) {
  OpBuilder b(reshape);
  TileType type = reshape.getResult().getType();
  Value buffer = spill(b, reshape.getLoc(), reshape.getSource());
  Value view = RecastBufferOp::create(b, reshape.getLoc(), bufferFor(type), buffer);
  reshape.getResult().replaceAllUsesWith(reload(b, reshape.getLoc(), view, type));
  reshape.erase();
}

static AffineMap mapAt(GenericOp generic, unsigned i) {
  return cast<AffineMapAttr>(generic.getMaps()[i]).getValue();
}

/// Do the iterations reach all of the tile, each axis along one dimension of theirs? Then its layout can be
/// theirs.
static bool coversTile(GenericOp generic, TileType tile, AffineMap map) {
  if (!map.isProjectedPermutation())
    return false;
  return llvm::all_of(llvm::enumerate(map.getResults()), [&](auto axis) {
    unsigned dim = cast<AffineDimExpr>(axis.value()).getPosition();
    return generic.getDomain()[dim] == tile.getShape()[axis.index()];
  });
}

static void legalizeIns(GenericOp generic) {
  OpBuilder b(generic);
  for (auto [i, operand] : llvm::enumerate(generic.getInsMutable()))
    if (auto tile = dyn_cast<TileType>(operand.get().getType());
        tile && !coversTile(generic, tile, mapAt(generic, i)))
      operand.set(spill(b, generic.getLoc(), operand.get()));
}

/// Outs that are not written whole and in the order of the iterations: the elements go one by one into a
/// shared copy of the old tile.
static void legalizeOuts(GenericOp generic) {
  unsigned numIns = generic.getIns().size();
  SmallVector<unsigned> moved;
  for (auto [i, out] : llvm::enumerate(generic.getOuts())) {
    AffineMap map = mapAt(generic, numIns + i);
    if (!map.isIdentity() || !coversTile(generic, cast<TileType>(out.getType()), map))
      moved.push_back(i);
  }
  if (moved.empty())
    return;
  OpBuilder b(generic);
  Location loc = generic.getLoc();
  Block &body = generic.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  unsigned numDims = generic.getDomain().size();
  SmallVector<Value> ins(generic.getIns()), outs, yields;
  SmallVector<Attribute> inMaps, outMaps;
  for (unsigned i = 0; i < numIns; ++i)
    inMaps.push_back(generic.getMaps()[i]);
  SmallVector<Value> buffers(generic.getOuts().size());
  SmallVector<unsigned> erase;
  for (unsigned i = 0; i < generic.getOuts().size(); ++i) {
    BlockArgument old = body.getArgument(numDims + numIns + i);
    if (!llvm::is_contained(moved, i)) {
      outs.push_back(generic.getOuts()[i]);
      outMaps.push_back(generic.getMaps()[numIns + i]);
      yields.push_back(yield.getOperand(i));
      continue;
    }
    buffers[i] = spill(b, loc, generic.getOuts()[i]);
    AffineMap map = mapAt(generic, numIns + i);
    OpBuilder start = OpBuilder::atBlockBegin(&body);
    auto indices = [&](OpBuilder &at) {
      SmallVector<Value> result;
      for (unsigned r = 0; r < map.getNumResults(); ++r)
        result.push_back(affine::AffineApplyOp::create(at, loc, map.getSubMap({r}),
                                                       body.getArguments().take_front(numDims)));
      return result;
    };
    if (!old.use_empty())
      old.replaceAllUsesWith(
          ElemLoadOp::create(start, loc, old.getType(), buffers[i], indices(start), DenseBoolArrayAttr())
              .getValue());
    OpBuilder end(yield);
    ElemStoreOp::create(end, loc, yield.getOperand(i), buffers[i], indices(end), DenseBoolArrayAttr());
    erase.push_back(numDims + numIns + i);
  }
  for (unsigned arg : llvm::reverse(erase))
    body.eraseArgument(arg);
  yield->setOperands(yields);
  SmallVector<Type> types;
  for (Value v : outs)
    types.push_back(v.getType());
  inMaps.append(outMaps);
  auto next = GenericOp::create(b, loc, types, generic.getDomainAttr(), generic.getExtents(), ins, outs,
                                b.getArrayAttr(inMaps), generic.getCombineAttr(), generic.getLayoutAttr());
  next.getBody().takeBody(generic.getBody());
  unsigned kept = 0;
  for (unsigned i = 0; i < generic.getResults().size(); ++i) {
    OpResult result = cast<OpResult>(generic.getResults()[i]);
    Value value =
        buffers[i] ? reload(b, loc, buffers[i], cast<TileType>(result.getType())) : next.getResults()[kept++];
    result.replaceAllUsesWith(value);
  }
  generic.erase();
}

void tilec::tile::legalizeOperands(LaunchOp launch) {
  SmallVector<Operation *> work;
  launch.walk([&](Operation *op) {
    if (isa<GemmOp, ExtractOp, ReshapeOp, GenericOp>(op))
      work.push_back(op);
  });
  // Elements inside a generic first: its body moves when its outs do.
  for (Operation *op : work)
    if (auto extract = dyn_cast<ExtractOp>(op))
      legalizeExtract(extract);
    else if (auto gemm = dyn_cast<GemmOp>(op))
      legalizeGemm(gemm);
    else if (auto reshape = dyn_cast<ReshapeOp>(op))
      legalizeReshape(reshape);
    else if (auto generic = dyn_cast<GenericOp>(op)) {
      legalizeIns(generic);
      legalizeOuts(generic);
    }
}
