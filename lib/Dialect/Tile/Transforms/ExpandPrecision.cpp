//===- ExpandPrecision.cpp - float32 products on matrix units ----------------===//
// A float32 number is the sum of three bfloat16 numbers of 8 bits each. Of the nine products of such planes
// the six largest give a product that is as accurate as single precision; each is exact in the matrix units,
// whose sums are truncated to 24 bits, though: the smallest come first, and the sum of one step of the loop
// is added to the accumulator by an ordinary addition, which rounds to nearest.
#include "LaunchFeatures.h"
#include "tilec/Dialect/Tile/IR/KernelTarget.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEEXPANDPRECISION
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

static constexpr unsigned kPlanes = 3;

/// Planes of A and B in each product, the least first.
static constexpr std::pair<unsigned, unsigned> kProducts[] = {{1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};

/// Do the planes suit wgmma, and does the source allow them?
static bool isExpandable(GemmOp gemm, const tilec::TargetDesc &target) {
  std::optional<Precision> precision = gemm.getPrecision();
  if (!target.mbarriers || !precision || (*precision != Precision::bf16x6 && *precision != Precision::tf32x3))
    return false;
  const GemmFeature g = describeGemm(gemm);
  return g.a.isF32() && g.b.isF32() && g.acc.isF32() && g.m % 64 == 0 && g.n % 8 == 0 && g.k % 16 == 0 &&
         g.k > 0;
}

/// The copy that alone fills the buffer, for this product alone; null where there is more to it.
static CopyOp onlyFiller(Value buffer, GemmOp gemm) {
  CopyOp filler;
  for (Operation *user : bufferUsers(buffer)) {
    if (user == gemm)
      continue;
    auto copy = dyn_cast<CopyOp>(user);
    if (!copy || filler || copy.getDest() != buffer)
      return {};
    filler = copy;
  }
  bool plain = filler && filler->getBlock() == gemm->getBlock() && filler->isBeforeInBlock(gemm) &&
               buffer.getDefiningOp<AllocOp>() && filler.getDestOffsets().empty() && !filler.getTranspose() &&
               !filler.getIm2col() && isa<ViewType>(filler.getSource().getType()) &&
               getElementTypeOf(filler.getSource().getType()).isF32();
  return plain ? filler : CopyOp();
}

/// Three buffers with the planes of an operand, filled where the operand is.
static SmallVector<Value> planesOf(GemmOp gemm, Value operand) {
  OpBuilder b(gemm);
  Location loc = gemm.getLoc();
  SmallVector<int64_t> shape(getShapeOf(operand.getType()));
  if (isa<TileType>(operand.getType())) {
    Value buffer = AllocOp::create(
        b, loc, BufferType::get(b.getContext(), shape, b.getF32Type(), LayoutAttr()), IntegerAttr());
    StoreOp::create(b, loc, operand, buffer, ValueRange{}, DenseI64ArrayAttr(), DenseBoolArrayAttr());
    operand = buffer;
  }
  CopyOp copy = onlyFiller(operand, gemm);
  if (copy) {
    b.setInsertionPoint(copy);
    loc = copy.getLoc();
  }
  SmallVector<Value> planes;
  auto type = BufferType::get(b.getContext(), shape, b.getBF16Type(), LayoutAttr());
  for (unsigned i = 0; i < kPlanes; ++i)
    planes.push_back(AllocOp::create(b, loc, type, IntegerAttr()));
  if (copy)
    SplitCopyOp::create(b, loc, copy.getSource(), copy.getSourceOffsets(), planes, copy.getExtentsAttr());
  else
    SplitCopyOp::create(b, loc, operand, ValueRange{}, planes, DenseI64ArrayAttr());
  return planes;
}

/// The planes of A as fragments, which spares shared memory most of what it does for A; k runs along its
/// rows. The numbers stay what they are in shared memory, and the threads that multiply split them.
static SmallVector<Value> fragmentsOf(GemmOp gemm) {
  OpBuilder b(gemm);
  Location loc = gemm.getLoc();
  ArrayRef<int64_t> shape = getShapeOf(gemm.getA().getType());
  Value numbers = gemm.getA();
  if (isa<BufferType>(numbers.getType()))
    numbers = LoadOp::create(b, loc, TileType::get(b.getContext(), shape, b.getF32Type(), LayoutAttr()),
                             numbers, ValueRange{}, DenseI64ArrayAttr(), DenseBoolArrayAttr());
  auto type = TileType::get(b.getContext(), shape, b.getBF16Type(), LayoutAttr());
  SmallVector<Value> outs(kPlanes, UndefOp::create(b, loc, type));
  Attribute same = AffineMapAttr::get(b.getMultiDimIdentityMap(shape.size()));
  auto split = GenericOp::create(
      b, loc, SmallVector<Type>(kPlanes, type), shape, ValueRange{}, ValueRange{numbers}, outs,
      b.getArrayAttr(SmallVector<Attribute>(1 + kPlanes, same)), ArrayAttr(), LayoutAttr());
  Block &body = split.getBody().emplaceBlock();
  for (size_t axis = 0; axis < shape.size(); ++axis)
    body.addArgument(b.getIndexType(), loc);
  Value rest = body.addArgument(b.getF32Type(), loc);
  for (unsigned i = 0; i < kPlanes; ++i)
    body.addArgument(b.getBF16Type(), loc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&body);
  Type i32 = b.getI32Type(), i16 = b.getIntegerType(16);
  Value mask = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(0xffff0000)));
  Value sixteen = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(16));
  SmallVector<Value> planes;
  for (unsigned i = 0; i < kPlanes; ++i) { // the leading bits, and what is left: nothing is rounded
    Value bits = arith::BitcastOp::create(b, loc, i32, rest);
    Value high = arith::TruncIOp::create(b, loc, i16, arith::ShRUIOp::create(b, loc, bits, sixteen));
    planes.push_back(arith::BitcastOp::create(b, loc, b.getBF16Type(), high));
    Value leading =
        arith::BitcastOp::create(b, loc, b.getF32Type(), arith::AndIOp::create(b, loc, bits, mask));
    rest = arith::SubFOp::create(b, loc, rest, leading);
  }
  YieldOp::create(b, loc, planes);
  return SmallVector<Value>(split.getResults());
}

/// The accumulator (nothing, where `clear` says so) plus the sum of one step.
static Value accumulate(OpBuilder &b, GemmOp gemm, Value sum) {
  Location loc = gemm.getLoc();
  auto type = cast<TileType>(sum.getType());
  Attribute same = AffineMapAttr::get(b.getMultiDimIdentityMap(type.getRank()));
  auto add =
      GenericOp::create(b, loc, TypeRange{type}, type.getShape(), ValueRange{}, ValueRange{sum},
                        ValueRange{gemm.getAcc()}, b.getArrayAttr({same, same}), ArrayAttr(), LayoutAttr());
  Block &body = add.getBody().emplaceBlock();
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    body.addArgument(b.getIndexType(), loc);
  Value x = body.addArgument(b.getF32Type(), loc), acc = body.addArgument(b.getF32Type(), loc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&body);
  if (gemm.getClear())
    acc = arith::SelectOp::create(b, loc, gemm.getClear(),
                                  arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0)), acc);
  YieldOp::create(b, loc, ValueRange{arith::AddFOp::create(b, loc, acc, x)});
  return add.getResult(0);
}

static void expand(GemmOp gemm) {
  Value operands[] = {gemm.getA(), gemm.getB()};
  SmallVector<Value> b = planesOf(gemm, operands[1]);
  SmallVector<Value> a = operands[0] == operands[1] ? b
                         : gemm.getTransA()         ? planesOf(gemm, operands[0])
                                                    : fragmentsOf(gemm);
  OpBuilder at(gemm);
  Location loc = gemm.getLoc();
  Value sum = UndefOp::create(at, loc, gemm.getAcc().getType());
  Value first = arith::ConstantOp::create(at, loc, at.getBoolAttr(true));
  for (auto [i, j] : kProducts) {
    sum = GemmOp::create(at, loc, gemm.getAcc().getType(), a[i], b[j], sum, first, gemm.getTransAAttr(),
                         gemm.getTransBAttr(), PrecisionAttr(), InstAttr());
    first = {};
  }
  gemm.getResult().replaceAllUsesWith(accumulate(at, gemm, sum));
  gemm.erase();
  for (Value operand : operands) {
    if (!isa<BufferType>(operand.getType()))
      continue;
    // What filled the operand is of no use any more.
    auto alloc = operand.getDefiningOp<AllocOp>();
    if (!alloc || !operand.hasOneUse())
      continue;
    if (auto copy = dyn_cast<CopyOp>(*operand.getUsers().begin()); copy && copy.getDest() == operand) {
      copy.erase();
      alloc.erase();
    }
  }
}

namespace {
struct ExpandPrecision : tilec::tile::impl::TileExpandPrecisionBase<ExpandPrecision> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const tilec::TargetDesc *target = targetOf(kernel);
    if (!target || !kernel.isDevice())
      return;
    SmallVector<GemmOp> gemms;
    kernel.walk([&](GemmOp gemm) {
      if (isExpandable(gemm, *target))
        gemms.push_back(gemm);
    });
    llvm::for_each(gemms, expand);
  }
};
} // namespace
