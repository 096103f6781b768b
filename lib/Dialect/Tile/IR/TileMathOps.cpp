//===- TileMathOps.cpp - values --------------------------------------------===//
#include "Verify.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "tilec/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tilec::tile;

#define GET_OP_CLASSES
#include "tilec/Dialect/Tile/IR/TileMathOps.cpp.inc"

void TileDialect::addMathOps() {
  addOperations<
#define GET_OP_LIST
#include "tilec/Dialect/Tile/IR/TileMathOps.cpp.inc"
      >();
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===- Elements ------------------------------------------------------------===//
LogicalResult ExtractOp::verify() { return verifyIndices(*this, getTile().getType(), getIndices().size()); }
LogicalResult InsertOp::verify() { return verifyIndices(*this, getTile().getType(), getIndices().size()); }

OpFoldResult ExtractOp::fold(FoldAdaptor) {
  if (auto splat = getTile().getDefiningOp<SplatOp>())
    return splat.getValue();
  return {};
}

//===- Layout and shape ----------------------------------------------------===//
LogicalResult ConvertLayoutOp::verify() {
  TileType from = getSource().getType(), to = getResult().getType();
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError() << "changes only the layout, got " << from << " and " << to;
  if (!from.getLayout() || !to.getLayout())
    return emitOpError() << "needs both layouts, got " << from << " and " << to;
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  auto inner = getSource().getDefiningOp<ConvertLayoutOp>();
  if (!inner)
    return {};
  getSourceMutable().assign(inner.getSource());
  return getResult();
}

namespace {
/// A fill is as good in any layout.
struct ConvertFill : OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertLayoutOp op, PatternRewriter &rewriter) const override {
    if (auto splat = op.getSource().getDefiningOp<SplatOp>()) {
      rewriter.replaceOpWithNewOp<SplatOp>(op, op.getResult().getType(), splat.getValue());
      return success();
    }
    return failure();
  }
};

/// MLIR makes an arith.select out of an scf.if whose branches only pick tiles. No target selects whole tiles:
/// the choice is made element by element, like any other.
struct SelectElements : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<TileType>(op.getType());
    if (!type || op.getTrueValue().getType() != type || op.getFalseValue().getType() != type)
      return failure();
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    auto generic = GenericOp::create(rewriter, op.getLoc(), TypeRange{type}, type.getShape(), ValueRange{},
                                     ValueRange{op.getTrueValue()}, ValueRange{op.getFalseValue()},
                                     rewriter.getAffineMapArrayAttr({identity, identity}), ArrayAttr(),
                                     type.getLayout());
    SmallVector<Type> types(type.getRank(), rewriter.getIndexType());
    types.append(2, type.getElementType());
    {
      OpBuilder::InsertionGuard guard(rewriter);
      Block *body = rewriter.createBlock(&generic.getBody(), {}, types,
                                         SmallVector<Location>(types.size(), op.getLoc()));
      Value picked =
          arith::SelectOp::create(rewriter, op.getLoc(), op.getCondition(), body->getArgument(type.getRank()),
                                  body->getArgument(type.getRank() + 1));
      YieldOp::create(rewriter, op.getLoc(), ValueRange{picked});
    }
    rewriter.replaceOp(op, generic.getResults());
    return success();
  }
};
} // namespace

/// The canonicalizer uses every pattern on every operation, so the one for selects of tiles may stand here.
void ConvertLayoutOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ConvertFill, SelectElements>(context);
}

LogicalResult SliceOp::verify() {
  TileType from = getSource().getType(), to = getResult().getType();
  if (from.getElementType() != to.getElementType() || from.getRank() != to.getRank() ||
      bool(from.getLayout()) != bool(to.getLayout()))
    return emitOpError() << "changes only extents, got " << from << " and " << to;
  if (int64_t(getOffsets().size()) != from.getRank())
    return emitOpError() << "expected " << from.getRank() << " offsets, got " << getOffsets().size();
  for (auto [offset, part, whole] : llvm::zip(getOffsets(), to.getShape(), from.getShape()))
    if (offset < 0 || offset + part > whole)
      return emitOpError() << "takes " << part << " elements from " << offset << " on, out of " << whole;
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  return getSource().getType() == getResult().getType() ? getSource() : Value();
}

LogicalResult ReshapeOp::verify() {
  TileType from = getSource().getType(), to = getResult().getType();
  if (from.getElementType().isIndex() != to.getElementType().isIndex())
    return emitOpError() << "index elements have no bits to cast, got " << from << " and " << to;
  auto bits = [](TileType type) {
    Type element = type.getElementType();
    return type.getNumElements() *
           (element.isIndex() ? 64 : static_cast<int64_t>(element.getIntOrFloatBitWidth()));
  };
  if (bits(from) != bits(to))
    return emitOpError() << "changes the number of bits: " << bits(from) << " in " << from << ", " << bits(to)
                         << " in " << to;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  return {};
}

//===- Gemm ----------------------------------------------------------------===//
LogicalResult GemmOp::verify() {
  return verifyGemm(*this,
                    {getA().getType(), getB().getType(), getAcc().getType(), getTransA(), getTransB()});
}

void GemmOp::getEffects(Effects &effects) {
  for (OpOperand *operand : {&getAMutable(), &getBMutable()})
    if (isa<BufferType>(operand->get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), operand);
}

//===- Generic -------------------------------------------------------------===//
void GenericOp::getEffects(Effects &effects) {
  for (OpOperand &operand : getInsMutable())
    if (!isa<TileType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
}

SmallVector<AffineMap> GenericOp::getIndexingMaps() {
  return llvm::map_to_vector(getMaps(), [](Attribute map) { return cast<AffineMapAttr>(map).getValue(); });
}

Combine GenericOp::getCombineOf(unsigned out) {
  return getCombine() ? cast<CombineAttr>((*getCombine())[out]).getValue() : Combine::none;
}

/// Number of operands, maps, block arguments and yielded values.
static LogicalResult verifyCounts(GenericOp op) {
  size_t rank = op.getDomain().size(), ins = op.getIns().size(), outs = op.getOuts().size();
  if (op.getMaps().size() != ins + outs)
    return op.emitOpError() << "expected " << ins + outs << " maps, got " << op.getMaps().size();
  if (op.getCombine() && op.getCombine()->size() != outs)
    return op.emitOpError() << "expected one combine per out, got " << op.getCombine()->size() << " for "
                            << outs;
  size_t dynamic = llvm::count(op.getDomain(), ShapedType::kDynamic);
  if (dynamic != op.getExtents().size())
    return op.emitOpError() << "expected " << dynamic << " dynamic extents, got " << op.getExtents().size();
  for (int64_t extent : op.getDomain())
    if (!ShapedType::isDynamic(extent) && extent < 1)
      return op.emitOpError() << "extents of the domain are at least 1, got " << extent;
  Block &body = op.getBody().front();
  if (body.getNumArguments() != rank + ins + outs)
    return op.emitOpError() << "expected " << rank + ins + outs << " block arguments, got "
                            << body.getNumArguments();
  for (size_t i = 0; i < rank; ++i)
    if (!body.getArgument(i).getType().isIndex())
      return op.emitOpError() << "the first " << rank << " block arguments are indices, got "
                              << body.getArgument(i).getType();
  if (op.getResultTypes() != op.getOuts().getTypes())
    return op.emitOpError() << "results have the types of outs, got " << op.getResultTypes() << " and "
                            << op.getOuts().getTypes();
  return success();
}

/// Highest and lowest value of an affine expression over the domain; nothing when it is not linear or an
/// extent is unknown.
static std::optional<std::pair<int64_t, int64_t>> rangeOf(AffineExpr expr, ArrayRef<int64_t> domain) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::make_pair(constant.getValue(), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    int64_t extent = domain[dim.getPosition()];
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    return std::make_pair<int64_t, int64_t>(0, extent - 1);
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  auto lhs = rangeOf(binary.getLHS(), domain), rhs = rangeOf(binary.getRHS(), domain);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return std::make_pair(lhs->first + rhs->first, lhs->second + rhs->second);
  if (expr.getKind() == AffineExprKind::Mul) {
    auto corners = {lhs->first * rhs->first, lhs->first * rhs->second, lhs->second * rhs->first,
                    lhs->second * rhs->second};
    return std::make_pair(std::min(corners), std::max(corners));
  }
  return std::nullopt;
}

/// Tiles and buffers have no safe value, so every index must be inside; views may be read outside.
static LogicalResult verifyMapRange(GenericOp op, unsigned operand, Type type, AffineMap map) {
  if (isa<ViewType>(type))
    return success();
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    auto range = rangeOf(expr, op.getDomain());
    int64_t extent = getShapeOf(type)[axis];
    if (range && (range->first < 0 || range->second >= extent))
      return op.emitOpError() << "map " << operand << " reaches " << range->first << ".." << range->second
                              << " along axis " << axis << " of " << type;
  }
  return success();
}

/// An out whose map ignores an axis is written by many iterations: the values must be combined.
static LogicalResult verifyOutMap(GenericOp op, unsigned out, AffineMap map) {
  if (op.getCombineOf(out) != Combine::none)
    return success();
  for (unsigned axis = 0; axis < op.getDomain().size(); ++axis)
    if (op.getDomain()[axis] != 1 && !map.isFunctionOfDim(axis))
      return op.emitOpError() << "two iterations along axis " << axis << " write one element of out " << out
                              << " without combine";
  return success();
}

static LogicalResult verifyOperand(GenericOp op, unsigned i, Value operand) {
  unsigned rank = op.getDomain().size(), ins = op.getIns().size();
  Type type = operand.getType();
  AffineMap map = cast<AffineMapAttr>(op.getMaps()[i]).getValue();
  if (map.getNumDims() != rank || map.getNumSymbols())
    return op.emitOpError() << "map " << i << " must have " << rank << " dims and no symbols, got "
                            << AffineMapAttr::get(map);
  if (map.getNumResults() != getShapeOf(type).size())
    return op.emitOpError() << "map " << i << " has " << map.getNumResults() << " results for " << type;
  Type argument = op.getBody().front().getArgument(rank + i).getType();
  if (argument != getElementTypeOf(type))
    return op.emitOpError() << "block argument " << rank + i << " must be " << getElementTypeOf(type)
                            << ", got " << argument;
  if (failed(verifyMapRange(op, i, type, map)) || (i >= ins && failed(verifyOutMap(op, i - ins, map))))
    return failure();
  if (auto tile = dyn_cast<TileType>(type); tile && tile.getLayout() && op.getLayoutAttr() &&
                                            map.isIdentity() && tile.getLayout() != op.getLayoutAttr())
    return op.emitOpError() << "operand " << i << " is in " << tile.getLayout() << ", the iteration in "
                            << op.getLayoutAttr();
  return success();
}

LogicalResult GenericOp::verify() {
  if (failed(verifyCounts(*this)))
    return failure();
  if (getLayout() && llvm::none_of(getDomain(), ShapedType::isDynamic) &&
      failed(getLayoutAttr().covers(getDomain(), [&] { return emitOpError() << "iteration "; })))
    return failure();
  SmallVector<Value> operands(getIns());
  llvm::append_range(operands, getOuts());
  for (auto [i, operand] : llvm::enumerate(operands))
    if (failed(verifyOperand(*this, i, operand)))
      return failure();
  return success();
}

LogicalResult GenericOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getValues().size() != getOuts().size())
    return emitOpError() << "must yield " << getOuts().size() << " values";
  for (auto [i, value] : llvm::enumerate(yield.getValues()))
    if (value.getType() != getElementTypeOf(getOuts()[i].getType()))
      return emitOpError() << "yields " << value.getType() << " for out " << i << " of type "
                           << getOuts()[i].getType();
  // The body is the program of one iteration: scalars only, plus element access.
  WalkResult result = getBody().walk([&](Operation *op) {
    if (!isa<TileDialect>(op->getDialect()) ||
        isa<YieldOp, ElemLoadOp, ElemStoreOp, ElemAtomicOp, ExtractOp, DimOp, StrideOp, RecastViewOp, PrintOp,
            DeviceAssertOp, AssumeOp>(op))
      return WalkResult::advance();
    op->emitOpError("may not stand in a generic");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===- Along an axis -------------------------------------------------------===//
static LogicalResult verifyCombineKind(Operation *op, Combine kind, Type element) {
  bool bitwise = kind == Combine::band || kind == Combine::bor || kind == Combine::bxor;
  if (kind == Combine::none || kind == Combine::xchg || kind == Combine::cas)
    return op->emitOpError() << "'" << stringifyCombine(kind) << "' does not combine along an axis";
  if (bitwise && !element.isInteger())
    return op->emitOpError() << "'" << stringifyCombine(kind) << "' needs integers, got " << element;
  return success();
}

LogicalResult ReduceOp::verify() {
  TileType from = getSource().getType(), to = getResult().getType();
  int64_t axis = getAxis();
  if (axis < 0 || axis >= from.getRank())
    return emitOpError() << "axis " << axis << " is out of range for " << from;
  if (failed(verifyCombineKind(*this, getKind(), from.getElementType())))
    return failure();
  SmallVector<int64_t> want(from.getShape());
  want.erase(want.begin() + axis);
  if (want.empty())
    want.push_back(1);
  if (ArrayRef<int64_t>(want) != to.getShape())
    return emitOpError() << "expected a result of " << shapeText(want) << " (" << from << " without axis "
                         << axis << "), got " << to;
  if (from.getElementType() != to.getElementType() &&
      !(isa<FloatType>(from.getElementType()) && isa<FloatType>(to.getElementType())) &&
      !(isa<IntegerType>(from.getElementType()) && isa<IntegerType>(to.getElementType())))
    return emitOpError() << "element types differ in kind: " << from << " and " << to;
  if (from.getLayout() && to.getLayout() != from.getLayout().dropAxis(axis))
    return emitOpError() << "result layout must be " << from.getLayout().dropAxis(axis) << ", got "
                         << to.getLayout();
  return success();
}

LogicalResult ScanOp::verify() {
  int64_t axis = getAxis();
  if (axis < 0 || axis >= getSource().getType().getRank())
    return emitOpError() << "axis " << axis << " is out of range for " << getSource().getType();
  return verifyCombineKind(*this, getKind(), getSource().getType().getElementType());
}
