//===- TileMemoryOps.cpp - buffers, loads, stores, copies ------------------===//
#include "Verify.h"
#include "tilec/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tilec::tile;

#define GET_OP_CLASSES
#include "tilec/Dialect/Tile/IR/TileMemoryOps.cpp.inc"

void TileDialect::addMemoryOps() {
  addOperations<
#define GET_OP_LIST
#include "tilec/Dialect/Tile/IR/TileMemoryOps.cpp.inc"
      >();
}

//===- Buffers -------------------------------------------------------------===//
LogicalResult AllocOp::verify() {
  if (getOffset() && static_cast<int64_t>(*getOffset()) < 0)
    return emitOpError() << "offset is at least 0, got " << static_cast<int64_t>(*getOffset());
  return success();
}

LogicalResult SubbufferOp::verify() {
  if (getOffsets().empty())
    return emitOpError() << "needs offsets, one for each axis of " << getSource().getType();
  if (failed(verifySameElement(*this, getSource().getType(), getResult().getType())))
    return failure();
  return verifyRegion(*this, "source", getSource().getType(), getOffsets(), getExtents(),
                      getResult().getType().getShape());
}

OpFoldResult SubbufferOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() != getResult().getType())
    return {};
  bool atOrigin = llvm::all_of(adaptor.getOffsets(), [](Attribute offset) {
    auto constant = dyn_cast_if_present<IntegerAttr>(offset);
    return constant && constant.getValue().isZero();
  });
  return atOrigin ? OpFoldResult(getSource()) : OpFoldResult();
}

LogicalResult RecastBufferOp::verify() {
  auto bits = [](BufferType type) {
    return type.getNumElements() * type.getElementType().getIntOrFloatBitWidth();
  };
  int64_t from = bits(getSource().getType()), to = bits(getResult().getType());
  if (from == to)
    return success();
  return emitOpError() << "changes the number of bits: " << from << " in " << getSource().getType() << ", "
                       << to << " in " << getResult().getType();
}

OpFoldResult RecastBufferOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  auto inner = getSource().getDefiningOp<RecastBufferOp>();
  if (!inner)
    return {};
  getSourceMutable().assign(inner.getSource());
  return getResult();
}

//===- Whole regions -------------------------------------------------------===//
LogicalResult LoadOp::verify() {
  if (failed(verifySameElement(*this, getSource().getType(), getResult().getType())) ||
      failed(verifyInbounds(*this, getSource().getType(), getInbounds())))
    return failure();
  return verifyRegion(*this, "source", getSource().getType(), getOffsets(), getExtents(),
                      getResult().getType().getShape());
}

LogicalResult StoreOp::verify() {
  if (failed(verifySameElement(*this, getValue().getType(), getDest().getType())) ||
      failed(verifyInbounds(*this, getDest().getType(), getInbounds())))
    return failure();
  return verifyRegion(*this, "destination", getDest().getType(), getOffsets(), getExtents(),
                      getValue().getType().getShape());
}

LogicalResult CopyOp::verify() {
  if (getTranspose() && getIm2col())
    return emitOpError() << "im2col does not transpose";
  return verifyCopy(*this, {getSource().getType(), getDest().getType(), getSourceOffsets(), getDestOffsets(),
                            getExtents(), getTranspose(), getIm2colAttr(), getEngine()});
}

LogicalResult RealignOp::verify() {
  if (failed(verifyWords(*this, getWords().getType(), getView().getType(), getOffsets(), getExtents())) ||
      failed(verifySameElement(*this, getWords().getType(), getResult().getType())))
    return failure();
  SmallVector<int64_t> want(getExtents().take_back(2));
  if (getTranspose())
    std::swap(want[0], want[1]);
  if (getResult().getType().getShape() == ArrayRef<int64_t>(want))
    return success();
  return emitOpError() << "the region is a tile of " << shapeText(want) << ", got " << getResult().getType();
}

LogicalResult SplitCopyOp::verify() {
  if (!getElementTypeOf(getSource().getType()).isF32())
    return emitOpError() << "splits f32, got " << getSource().getType();
  if (getPlanes().empty())
    return emitOpError() << "has no plane to write";
  for (Value plane : getPlanes()) {
    if (plane.getType() != getPlanes().front().getType() || !getElementTypeOf(plane.getType()).isBF16())
      return emitOpError() << "planes are bf16 buffers of one type, got " << plane.getType();
    if (failed(verifyCopy(*this, {getSource().getType(),
                                  plane.getType(),
                                  getSourceOffsets(),
                                  {},
                                  getExtents(),
                                  /*transpose=*/false,
                                  Im2colAttr()})))
      return failure();
  }
  return success();
}

static LogicalResult verifyAtomicKind(Operation *op, Combine kind, Type element) {
  if (kind == Combine::none || kind == Combine::absadd || kind == Combine::absmax)
    return op->emitOpError() << "'" << stringifyCombine(kind) << "' is not an atomic operation";
  bool bitwise = kind == Combine::band || kind == Combine::bor || kind == Combine::bxor;
  if (bitwise && !element.isInteger())
    return op->emitOpError() << "'" << stringifyCombine(kind) << "' needs integers, got " << element;
  return success();
}

LogicalResult AtomicOp::verify() {
  if (getKind() == Combine::xchg || getKind() == Combine::cas)
    return emitOpError() << "'" << stringifyCombine(getKind())
                         << "' works on single elements, use elem_atomic";
  if (failed(verifySameElement(*this, getValue().getType(), getDest().getType())) ||
      failed(verifyAtomicKind(*this, getKind(), getValue().getType().getElementType())))
    return failure();
  return verifyRegion(*this, "destination", getDest().getType(), getOffsets(), getExtents(),
                      getValue().getType().getShape());
}

//===- Single elements -----------------------------------------------------===//
LogicalResult ElemLoadOp::verify() {
  if (failed(verifyInbounds(*this, getSource().getType(), getInbounds())))
    return failure();
  return verifyIndices(*this, getSource().getType(), getIndices().size());
}

LogicalResult ElemStoreOp::verify() {
  if (failed(verifyInbounds(*this, getDest().getType(), getInbounds())))
    return failure();
  return verifyIndices(*this, getDest().getType(), getIndices().size());
}

LogicalResult ElemAtomicOp::verify() {
  if (failed(verifyIndices(*this, getDest().getType(), getIndices().size())) ||
      failed(verifyAtomicKind(*this, getKind(), getElementTypeOf(getDest().getType()))))
    return failure();
  if ((getKind() == Combine::cas) != static_cast<bool>(getCompare()))
    return emitOpError() << "'compare' belongs to cas and to nothing else";
  if (getCompare() && getCompare().getType() != getValue().getType())
    return emitOpError() << "compares " << getCompare().getType() << " with elements of type "
                         << getValue().getType();
  return success();
}
