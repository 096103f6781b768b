//===- RealignOperands.cpp - operands whose rows start anywhere ---------------===//
// No tensor map describes a tensor with a pitch of an odd number of elements. Aligned words of 16 bytes can
// be copied from anywhere, but then each row starts behind the begin of its first word. Threads that read
// single elements into the fragments of the instruction's register operand read them from there as well.
#include "RealignOperands.h"
#include "LaunchFeatures.h"
#include "ScalarSlice.h"

using namespace mlir;
using namespace tilec::tile;

/// Is `buffer` the operand of this product, and do its rows run across k? Which operand.
static std::optional<bool> isFirstOperand(GemmOp gemm, Value buffer) {
  if (gemm.getA() == buffer && gemm.getB() != buffer && gemm.getTransA())
    return true;
  if (gemm.getB() == buffer && gemm.getA() != buffer && !gemm.getTransB())
    return false;
  return std::nullopt;
}

/// Can a role by itself say what the copy brings, and when? Words come through the load role alone.
static bool fitsLoadRole(CopyOp copy, LaunchOp launch) {
  ScalarSlice slice(launch);
  return slice.addSurroundings(copy) && slice.add(copy.getSource()) &&
         llvm::all_of(copy.getSourceOffsets(), [&](Value offset) { return slice.add(offset); });
}

/// Elements of a tensor that the launch only reads, as they are, into a whole buffer of a pipelined loop.
static bool fillsPlainly(CopyOp copy, LaunchOp launch) {
  auto argument = argumentOf(copy.getSource());
  auto loop = copy->getParentOfType<scf::ForOp>();
  Type element = getElementTypeOf(copy.getSource().getType());
  return argument && !launchWrites(launch, *argument) && loop &&
         loop->hasAttr(TileDialect::kPipelineAttrName) && copy.getDest().getDefiningOp<AllocOp>() &&
         copy.getDestOffsets().empty() && !copy.getTranspose() && !copy.getIm2col() &&
         element == getElementTypeOf(copy.getDest().getType()) && element.isIntOrFloat() &&
         fitsLoadRole(copy, launch);
}

bool tilec::tile::mayCopyElements(CopyOp copy, LaunchOp launch) {
  constexpr int64_t threads = 128, mostOfThread = 16;
  auto buffer = cast<BufferType>(copy.getDest().getType());
  return fillsPlainly(copy, launch) && buffer.getNumElements() <= threads * mostOfThread;
}

bool tilec::tile::mayRealign(CopyOp copy, LaunchOp launch) {
  auto view = cast<ViewType>(copy.getSource().getType());
  auto buffer = cast<BufferType>(copy.getDest().getType());
  Type element = view.getElementType();
  if (!fillsPlainly(copy, launch) || view.getSafe())
    return false;
  unsigned bits = element.getIntOrFloatBitWidth();
  bool rows = view.getRank() >= 2 && view.getStaticStride(view.getRank() - 1) == 1 && buffer.getRank() == 2;
  if (!rows || (bits != 16 && bits != 32) || buffer.getShape()[1] * bits % 128)
    return false;
  if (copy.getExtents() && copy.getExtents()->take_back(2) != buffer.getShape())
    return false;
  return llvm::all_of(copy.getDest().getUsers(), [&](Operation *user) {
    auto gemm = dyn_cast<GemmOp>(user);
    return user == copy || (gemm && gemm->getBlock() == copy->getBlock() && copy->isBeforeInBlock(gemm) &&
                            isFirstOperand(gemm, copy.getDest()));
  });
}

void tilec::tile::realignOperand(CopyOp copy) {
  OpBuilder b(copy);
  Location loc = copy.getLoc();
  Value old = copy.getDest();
  auto type = cast<BufferType>(old.getType());
  Type element = type.getElementType();
  SmallVector<int64_t> shape(type.getShape()), extents(shape);
  extents.insert(extents.begin(), copy.getSourceOffsets().size() - 2, 1);
  int64_t rows = shape[0], columns = shape[1];
  shape[1] += 128 / element.getIntOrFloatBitWidth();
  auto alloc = old.getDefiningOp<AllocOp>();
  b.setInsertionPoint(alloc);
  Value words = AllocOp::create(b, alloc.getLoc(),
                                BufferType::get(b.getContext(), shape, element, LayoutAttr()), IntegerAttr());
  b.setInsertionPoint(copy);
  CopyOp::create(b, loc, copy.getSource(), copy.getSourceOffsets(), words, ValueRange{},
                 b.getDenseI64ArrayAttr(extents), UnitAttr(), Im2colAttr(),
                 EngineAttr::get(b.getContext(), Engine::words));
  auto tile = TileType::get(b.getContext(), {columns, rows}, element, LayoutAttr());
  for (Operation *user : llvm::make_early_inc_range(old.getUsers())) {
    auto gemm = dyn_cast<GemmOp>(user);
    if (!gemm)
      continue;
    b.setInsertionPoint(gemm);
    Value operand = RealignOp::create(b, loc, tile, words, copy.getSource(), copy.getSourceOffsets(),
                                      b.getDenseI64ArrayAttr(extents), b.getUnitAttr());
    bool isA = *isFirstOperand(gemm, old);
    (isA ? gemm.getAMutable() : gemm.getBMutable()).set(operand);
    if (isA)
      gemm.setTransA(false);
    else
      gemm.setTransB(true);
  }
  copy.erase();
  alloc.erase();
}
