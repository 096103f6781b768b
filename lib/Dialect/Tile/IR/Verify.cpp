//===- Verify.cpp - checks that several groups of ops share ----------------===//
#include "Verify.h"

using namespace mlir;

namespace tilec::tile {
std::string shapeText(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      shape, os,
      [&](int64_t extent) {
        if (ShapedType::isDynamic(extent))
          os << "?";
        else
          os << extent;
      },
      "x");
  return text;
}

LogicalResult verifySameElement(Operation *op, Type lhs, Type rhs) {
  if (getElementTypeOf(lhs) == getElementTypeOf(rhs))
    return success();
  return op->emitOpError() << "element types differ: " << getElementTypeOf(lhs) << " in " << lhs << " and "
                           << getElementTypeOf(rhs) << " in " << rhs;
}

LogicalResult verifyRegion(Operation *op, StringRef side, Type memory, ValueRange offsets,
                           std::optional<ArrayRef<int64_t>> extents, ArrayRef<int64_t> want) {
  ArrayRef<int64_t> shape = getShapeOf(memory);
  if (offsets.empty() && isa<ViewType>(memory) && !shape.empty())
    return op->emitOpError() << side << " is a view and needs offsets, one for each of its " << shape.size()
                             << " axes";
  if (!offsets.empty() && offsets.size() != shape.size())
    return op->emitOpError() << "expected " << shape.size() << " offsets for " << side << " " << memory
                             << ", got " << offsets.size();
  if (extents && extents->size() != shape.size())
    return op->emitOpError() << "expected " << shape.size() << " extents for " << side << " " << memory
                             << ", got " << extents->size();
  ArrayRef<int64_t> got = extents ? *extents : offsets.empty() ? shape : want;
  if (dropOnes(got) != dropOnes(want))
    return op->emitOpError() << side << " region is " << shapeText(got) << ", the other side has "
                             << shapeText(want);
  if (dropOnes(got).size() > shape.size())
    return op->emitOpError() << "a region of " << shapeText(want) << " does not fit into " << side << " "
                             << memory;
  if (extents)
    for (auto [extent, size] : llvm::zip(*extents, shape))
      if (extent < 1 || (isa<BufferType>(memory) && extent > size))
        return op->emitOpError() << "extents " << shapeText(*extents) << " do not fit into " << side << " "
                                 << memory;
  return success();
}

LogicalResult verifyIndices(Operation *op, Type container, size_t count) {
  size_t rank = getShapeOf(container).size();
  if (rank == count)
    return success();
  return op->emitOpError() << "expected " << rank << " indices into " << container << ", got " << count;
}

LogicalResult verifyInbounds(Operation *op, Type memory, std::optional<ArrayRef<bool>> flags) {
  size_t rank = getShapeOf(memory).size();
  if (!flags || flags->size() == rank)
    return success();
  return op->emitOpError() << "expected " << rank << " inbounds flags for " << memory << ", got "
                           << flags->size();
}

/// The region copied: `extents`, else the whole buffer on one side.
static FailureOr<SmallVector<int64_t>> copiedExtents(Operation *op, const CopyShape &copy) {
  if (copy.extents)
    return SmallVector<int64_t>(*copy.extents);
  if (copy.destOffsets.empty() && isa<BufferType>(copy.dest))
    return SmallVector<int64_t>(getShapeOf(copy.dest));
  if (copy.sourceOffsets.empty() && isa<BufferType>(copy.source)) {
    SmallVector<int64_t> extents(getShapeOf(copy.source));
    if (copy.transpose && extents.size() > 1)
      std::swap(extents[extents.size() - 1], extents[extents.size() - 2]);
    return extents;
  }
  return op->emitOpError() << "needs extents: neither " << copy.source << " nor " << copy.dest
                           << " is a whole buffer";
}

LogicalResult verifyCopy(Operation *op, const CopyShape &copy) {
  if (copy.engine == Engine::words) {
    if (copy.transpose || copy.im2col || !copy.destOffsets.empty())
      return op->emitOpError() << "words fill a whole buffer as they are";
    return verifyWords(op, copy.dest, copy.source, copy.sourceOffsets, copy.extents);
  }
  FailureOr<SmallVector<int64_t>> want = copiedExtents(op, copy);
  if (failed(want))
    return failure();
  if (copy.im2col) {
    auto view = dyn_cast<ViewType>(copy.source);
    if (!view || view.getRank() != 4 || copy.sourceOffsets.size() != 2)
      return op->emitOpError() << "im2col reads an NHWC view at two offsets, got " << copy.source << " at "
                               << copy.sourceOffsets.size();
    return verifyRegion(op, "destination", copy.dest, copy.destOffsets, std::nullopt, *want);
  }
  SmallVector<int64_t> sourceWant = *want;
  if (copy.transpose) {
    if (dropOnes(*want).size() != 2)
      return op->emitOpError() << "transpose needs two axes, the region is " << shapeText(*want);
    sourceWant = dropOnes(*want);
    std::swap(sourceWant[0], sourceWant[1]);
  }
  if (failed(verifyRegion(op, "source", copy.source, copy.sourceOffsets, std::nullopt, sourceWant)))
    return failure();
  return verifyRegion(op, "destination", copy.dest, copy.destOffsets, std::nullopt, *want);
}

LogicalResult verifyWords(Operation *op, Type words, Type view, ValueRange offsets,
                          std::optional<ArrayRef<int64_t>> extents) {
  auto buffer = dyn_cast<BufferType>(words);
  auto tensor = dyn_cast<ViewType>(view);
  if (!buffer || !tensor)
    return op->emitOpError() << "words go from a view to a buffer, got " << view << " and " << words;
  if (failed(verifySameElement(op, words, view)))
    return failure();
  Type element = buffer.getElementType();
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return op->emitOpError() << "words of 16 bytes hold elements of 8, 16, 32 or 64 bits, got " << element;
  int64_t rank = tensor.getRank(), perWord = 128 / bits;
  if (rank < 2 || tensor.getStaticStride(rank - 1) != 1)
    return op->emitOpError() << "words are taken from rows of neighbours, got " << view;
  if (!extents || int64_t(extents->size()) != rank || int64_t(offsets.size()) != rank ||
      llvm::any_of(extents->drop_back(2), [](int64_t extent) { return extent != 1; }))
    return op->emitOpError() << "needs an offset and an extent for each of the " << rank << " axes of "
                             << view << ", ones but for the last two extents";
  SmallVector<int64_t> want(extents->take_back(2));
  bool whole = want[0] >= 1 && want[1] >= 1 && want[1] % perWord == 0;
  want[1] += perWord;
  if (whole && buffer.getShape() == ArrayRef<int64_t>(want))
    return success();
  return op->emitOpError() << "the words around " << shapeText(extents->take_back(2)) << " elements of "
                           << element << " take a buffer of " << shapeText(want) << ", a multiple of "
                           << perWord << " columns, got " << words;
}

/// Products of these types exist: floats of one width class, or integers, accumulated in the same kind.
static LogicalResult verifyGemmElements(Operation *op, const GemmShape &gemm) {
  Type a = getElementTypeOf(gemm.a), b = getElementTypeOf(gemm.b), acc = gemm.acc.getElementType();
  bool floats = isa<FloatType>(a) && isa<FloatType>(b) && isa<FloatType>(acc);
  bool integers = isa<IntegerType>(a) && isa<IntegerType>(b) && isa<IntegerType>(acc);
  bool sameWidth =
      a.isIntOrFloat() && b.isIntOrFloat() && a.getIntOrFloatBitWidth() == b.getIntOrFloatBitWidth();
  if ((floats || integers) && sameWidth && acc.getIntOrFloatBitWidth() >= a.getIntOrFloatBitWidth())
    return success();
  return op->emitOpError() << "no product of " << a << " by " << b << " accumulates in " << acc;
}

LogicalResult verifyGemm(Operation *op, const GemmShape &gemm) {
  SmallVector<int64_t> a(getShapeOf(gemm.a)), b(getShapeOf(gemm.b));
  ArrayRef<int64_t> acc = gemm.acc.getShape();
  // Leading axes of extent one are allowed: a slot of a batched buffer.
  for (SmallVector<int64_t> *shape : {&a, &b})
    while (shape->size() > 2 && shape->front() == 1)
      shape->erase(shape->begin());
  if (a.size() != 2 || b.size() != 2 || acc.size() != 2)
    return op->emitOpError() << "operands are 2-D, got " << shapeText(a) << ", " << shapeText(b) << " and "
                             << shapeText(acc);
  if (gemm.transA)
    std::swap(a[0], a[1]);
  if (gemm.transB)
    std::swap(b[0], b[1]);
  if (a[1] != b[0] || a[0] != acc[0] || b[1] != acc[1])
    return op->emitOpError() << "expected (M, K) x (K, N) -> (M, N), got (" << a[0] << ", " << a[1] << ") x ("
                             << b[0] << ", " << b[1] << ") -> (" << acc[0] << ", " << acc[1] << ")";
  return verifyGemmElements(op, gemm);
}
} // namespace tilec::tile
