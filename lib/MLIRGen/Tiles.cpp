//===- Tiles.cpp - copy, fill, gemm, reduce: operations on whole regions -----===//
#include "KernelGen.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::mlirgen;
using namespace tilec::tile;

/// The shape that both sides of an operation agree on: without ones, but never of rank 0.
static SmallVector<int64_t> compact(ArrayRef<int64_t> extents) {
  SmallVector<int64_t> shape = dropOnes(extents);
  if (shape.empty())
    shape.push_back(1);
  return shape;
}

static bool isTensor(const hir::Object *object) {
  return object->kind == hir::Object::Tensor || object->kind == hir::Object::Workspace ||
         object->kind == hir::Object::MadeTensor;
}

static ArrayRef<int64_t> shapeOf(const hir::Object *object) {
  return static_cast<const hir::TileObj *>(object)->shape;
}

//===- Making tiles ---------------------------------------------------------------===//
TileType KernelGen::tileType(Extents shape, DType t) {
  return TileType::get(b.getContext(), shape, s.memoryType(t), LayoutAttr());
}

Value KernelGen::undef(Extents shape, DType t) { return UndefOp::create(b, s.loc, tileType(shape, t)); }

Value KernelGen::splat(Extents shape, DType t, Value value) {
  return SplatOp::create(b, s.loc, tileType(shape, t), s.toMemory(value, t));
}

Value KernelGen::reshaped(Value tile, Extents shape) {
  auto type = cast<TileType>(tile.getType());
  if (type.getShape() == shape)
    return tile;
  return ReshapeOp::create(b, s.loc,
                           TileType::get(b.getContext(), shape, type.getElementType(), LayoutAttr()), tile);
}

Value KernelGen::generic(Extents domain, ValueRange ins, ArrayRef<AffineMap> inMaps, Value out,
                         AffineMap outMap, Body body) {
  SmallVector<AffineMap> maps(inMaps);
  maps.push_back(outMap);
  auto op = GenericOp::create(b, s.loc, TypeRange{out.getType()}, domain, ValueRange{}, ins, ValueRange{out},
                              b.getAffineMapArrayAttr(maps), ArrayAttr(), LayoutAttr());
  SmallVector<Type> types(domain.size(), b.getIndexType());
  for (Value in : ins)
    types.push_back(getElementTypeOf(in.getType()));
  types.push_back(getElementTypeOf(out.getType()));
  OpBuilder::InsertionGuard guard(b);
  mlir::Block *block = b.createBlock(&op.getBody(), {}, types, SmallVector<Location>(types.size(), s.loc));
  for (BlockArgument index : block->getArguments().take_front(domain.size()))
    s.setNonNegative(index);
  Value value = body(block->getArguments().take_front(domain.size()),
                     block->getArguments().slice(domain.size(), ins.size()));
  YieldOp::create(b, s.loc, ValueRange{value});
  return op.getResult(0);
}

/// Tiles of one shape -> a tile of that shape; the body works on memory forms.
Value KernelGen::elementwise(ValueRange ins, DType result, Body body) {
  auto shape = llvm::to_vector(cast<TileType>(ins.front().getType()).getShape());
  AffineMap identity = b.getMultiDimIdentityMap(shape.size());
  return generic(shape, ins, SmallVector<AffineMap>(ins.size(), identity), undef(shape, result), identity,
                 body);
}

Value KernelGen::convert(Value tile, DType from, DType to) {
  if (from == to)
    return tile;
  return elementwise(tile, to, [&](ValueRange, ValueRange elements) {
    Value value = s.fromMemory(elements[0], from);
    return s.toMemory(s.convert(value, from, to), to);
  });
}

/// Last two axes swapped.
Value KernelGen::transposed(Value tile) {
  auto type = cast<TileType>(tile.getType());
  auto shape = llvm::to_vector(type.getShape());
  unsigned rank = shape.size();
  if (rank < 2)
    return tile;
  std::swap(shape[rank - 1], shape[rank - 2]);
  SmallVector<AffineExpr> dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(b.getAffineDimExpr(i));
  std::swap(dims[rank - 1], dims[rank - 2]);
  Value out =
      UndefOp::create(b, s.loc, TileType::get(b.getContext(), shape, type.getElementType(), LayoutAttr()));
  AffineMap source = AffineMap::get(rank, 0, dims, b.getContext());
  return generic(shape, tile, source, out, b.getMultiDimIdentityMap(rank),
                 [](ValueRange, ValueRange elements) { return elements[0]; });
}

//===- Regions --------------------------------------------------------------------===//
/// Which axis of `domain` walks along each axis of a region (-1: extent 1, only the offset counts).
static SmallVector<int> axesOf(ArrayRef<int64_t> extents, ArrayRef<int64_t> domain) {
  SmallVector<int> axes;
  unsigned next = 0;
  for (int64_t extent : extents) {
    if (extent == 1) {
      axes.push_back(-1);
      continue;
    }
    while (next < domain.size() && domain[next] == 1)
      ++next;
    axes.push_back(next++);
  }
  return axes;
}

/// domain -> coordinates of the region's object; nothing when an offset is a run-time value.
std::optional<AffineMap> KernelGen::sliceMap(const hir::Region &region, Extents domain) {
  SmallVector<AffineExpr> results;
  for (auto [axis, offset] : llvm::zip(axesOf(region.extents, domain), region.offsets)) {
    std::optional<int64_t> constant = region.whole ? 0 : constantOf(offset);
    if (!constant)
      return std::nullopt;
    AffineExpr at = b.getAffineConstantExpr(*constant);
    results.push_back(axis < 0 ? at : b.getAffineDimExpr(axis) + at);
  }
  return AffineMap::get(domain.size(), 0, results, b.getContext());
}

Value KernelGen::readView(const hir::TensorObj *tensor, Value view, ValueRange offsets, Extents extents,
                          Extents shape) {
  if (!hasRunTimeSafeValue(tensor)) {
    DenseI64ArrayAttr given = extents == shape ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(extents);
    return LoadOp::create(b, s.loc, tileType(shape, tensor->dtype), view, offsets, given,
                          DenseBoolArrayAttr());
  }
  AffineMap identity = b.getMultiDimIdentityMap(shape.size());
  SmallVector<int> axes = axesOf(extents, shape);
  return generic(shape, {}, {}, undef(shape, tensor->dtype), identity, [&](ValueRange indices, ValueRange) {
    SmallVector<Value> at;
    for (auto [axis, offset] : llvm::zip(axes, offsets))
      at.push_back(axis < 0 ? offset : s.add(offset, indices[axis]));
    return viewElement(tensor, view, at);
  });
}

/// The region as a tile of `shape`, which equals the extents but for ones.
Value KernelGen::readRegion(const hir::Region &region, Extents shape) {
  const hir::Object *object = region.object;
  if (object->kind == hir::Object::Fragment) {
    Value tile = env.lookup(keyOf(object));
    return region.whole ? reshaped(tile, shape) : readSlice(tile, region, shape);
  }
  Value source = memory(object);
  if (isTensor(object)) {
    SmallVector<Value> offsets = indices(region.offsets);
    return readView(static_cast<const hir::TensorObj *>(object), source, offsets, region.extents, shape);
  }
  SmallVector<Value> offsets;
  DenseI64ArrayAttr extents;
  if (!region.whole) {
    offsets = indices(region.offsets);
    extents = b.getDenseI64ArrayAttr(region.extents);
  }
  return LoadOp::create(b, s.loc, tileType(shape, object->dtype), source, offsets, extents,
                        DenseBoolArrayAttr());
}

/// Part of a fragment. A run-time offset gathers.
Value KernelGen::readSlice(Value tile, const hir::Region &region, Extents shape) {
  DType t = region.object->dtype;
  AffineMap identity = b.getMultiDimIdentityMap(shape.size());
  if (std::optional<AffineMap> map = sliceMap(region, shape))
    return generic(shape, tile, *map, undef(shape, t), identity,
                   [](ValueRange, ValueRange elements) { return elements[0]; });
  SmallVector<Value> offsets = indices(region.offsets);
  SmallVector<int> axes = axesOf(region.extents, shape);
  return generic(shape, {}, {}, undef(shape, t), identity, [&](ValueRange indices, ValueRange) -> Value {
    SmallVector<Value> at;
    for (auto [axis, offset] : llvm::zip(axes, offsets))
      at.push_back(axis < 0 ? offset : s.add(offset, indices[axis]));
    return ExtractOp::create(b, s.loc, tile, at);
  });
}

void KernelGen::writeRegion(const hir::Region &region, Value tile) {
  const hir::Object *object = region.object;
  if (object->kind == hir::Object::Fragment) {
    if (region.whole)
      env[keyOf(object)] = reshaped(tile, shapeOf(object));
    else
      writeSlice(region, tile);
    return;
  }
  SmallVector<Value> offsets;
  DenseI64ArrayAttr extents;
  if (isTensor(object) || !region.whole) {
    offsets = indices(region.offsets);
    if (getShapeOf(tile.getType()) != ArrayRef<int64_t>(region.extents))
      extents = b.getDenseI64ArrayAttr(region.extents);
  }
  StoreOp::create(b, s.loc, tile, memory(object), offsets, extents, DenseBoolArrayAttr());
}

/// Part of a fragment becomes `tile`, the rest stays.
void KernelGen::writeSlice(const hir::Region &region, Value tile) {
  auto *fragment = static_cast<const hir::TileObj *>(region.object);
  auto domain = llvm::to_vector(getShapeOf(tile.getType()));
  if (std::optional<AffineMap> map = sliceMap(region, domain)) {
    AffineMap identity = b.getMultiDimIdentityMap(domain.size());
    env[keyOf(fragment)] = generic(domain, tile, identity, env.lookup(keyOf(fragment)), *map,
                                   [](ValueRange, ValueRange elements) { return elements[0]; });
    return;
  }
  Value buffer = sharedCopyOf(fragment, region.loc, "part of it is written at a run-time offset");
  SmallVector<Value> offsets = indices(region.offsets);
  StoreOp::create(b, s.loc, tile, buffer, offsets, b.getDenseI64ArrayAttr(region.extents),
                  DenseBoolArrayAttr());
  env[keyOf(fragment)] = LoadOp::create(b, s.loc, tileType(fragment->shape, fragment->dtype), buffer,
                                        ValueRange{}, DenseI64ArrayAttr(), DenseBoolArrayAttr());
}

/// A region of shared memory as a buffer of its own, of `shape`.
Value KernelGen::bufferOperand(const hir::Region &region, Extents shape) {
  Value buffer = memory(region.object);
  auto type = BufferType::get(b.getContext(), shape, s.memoryType(region.object->dtype), LayoutAttr());
  if (buffer.getType() == type)
    return buffer;
  if (region.whole)
    return RecastBufferOp::create(b, s.loc, type, buffer);
  return SubbufferOp::create(b, s.loc, type, buffer, indices(region.offsets),
                             ArrayRef<int64_t>(region.extents));
}

//===- copy and fill --------------------------------------------------------------===//
/// Memory to memory without a detour through registers, where the op can say all of it: at most one side is a
/// view, and the conversion needs no signs.
bool KernelGen::copyMemory(const hir::Copy *stmt) {
  const hir::Region &src = stmt->src, &dst = stmt->dst;
  DType from = src.object->dtype, to = dst.object->dtype;
  bool fromTensor = isTensor(src.object), toTensor = isTensor(dst.object);
  auto inMemory = [](const hir::Region &r) { return r.object->kind != hir::Object::Fragment; };
  if (!inMemory(src) || !inMemory(dst) || (fromTensor && toTensor) || hasRunTimeSafeValue(src.object))
    return false;
  if (from != to && !Scalars::isPlainFloatCast(from, to))
    return false;
  SmallVector<int64_t> shape = compact(dst.extents), srcShape = compact(src.extents);
  DenseI64ArrayAttr extents;
  if (fromTensor && ArrayRef<int64_t>(srcShape) != ArrayRef<int64_t>(src.extents))
    extents = b.getDenseI64ArrayAttr(src.extents);
  if (toTensor && ArrayRef<int64_t>(shape) != ArrayRef<int64_t>(dst.extents))
    extents = b.getDenseI64ArrayAttr(dst.extents);
  // `extents` is the region of both sides, so it cannot describe a transposed view.
  if (stmt->transpose && (extents || shape.size() != 2))
    return false;
  auto keepRank = [](const hir::Region &r, SmallVector<int64_t> &compacted) {
    if (r.whole)
      compacted.assign(r.extents.begin(), r.extents.end());
  };
  if (!stmt->transpose) {
    keepRank(src, srcShape);
    keepRank(dst, shape);
  }
  Value source = fromTensor ? memory(src.object) : bufferOperand(src, srcShape);
  Value dest = toTensor ? memory(dst.object) : bufferOperand(dst, shape);
  SmallVector<Value> sourceOffsets, destOffsets;
  if (fromTensor)
    sourceOffsets = indices(src.offsets);
  if (toTensor)
    destOffsets = indices(dst.offsets);
  CopyOp::create(b, s.loc, source, sourceOffsets, dest, destOffsets, extents, stmt->transpose, Im2colAttr(),
                 EngineAttr());
  return true;
}

void KernelGen::copy(const hir::Copy *stmt) {
  if (copyMemory(stmt))
    return;
  const hir::Region &src = stmt->src, &dst = stmt->dst;
  DType from = src.object->dtype, to = dst.object->dtype;
  bool intoFragment = dst.object->kind == hir::Object::Fragment && dst.whole;
  if (stmt->transpose) {
    Value tile = transposed(readRegion(src, compact(src.extents)));
    return writeRegion(dst, convert(tile, from, to));
  }
  SmallVector<int64_t> shape = intoFragment ? llvm::to_vector(shapeOf(dst.object)) : compact(src.extents);
  if (!intoFragment && src.object->kind == hir::Object::Fragment && src.whole)
    shape = llvm::to_vector(shapeOf(src.object));
  writeRegion(dst, convert(readRegion(src, shape), from, to));
}

void KernelGen::fill(const hir::Fill *stmt) {
  const hir::Region &dst = stmt->dst;
  bool whole = dst.object->kind == hir::Object::Fragment && dst.whole;
  SmallVector<int64_t> shape = whole ? llvm::to_vector(shapeOf(dst.object)) : compact(dst.extents);
  Value value = expr(stmt->value);
  writeRegion(dst, splat(shape, dst.object->dtype, value));
}

//===- gemm -----------------------------------------------------------------------===//
Value KernelGen::gemmOperand(const hir::Region &region, int64_t rows, int64_t cols) {
  if (region.object->kind == hir::Object::Shared)
    return bufferOperand(region, {rows, cols});
  return readRegion(region, {rows, cols});
}

static StringRef policyName(hir::GemmPolicy policy) {
  switch (policy) {
  case hir::GemmPolicy::Default:
    return "";
  case hir::GemmPolicy::Square:
    return "square";
  case hir::GemmPolicy::FullRow:
    return "full_row";
  case hir::GemmPolicy::FullCol:
    return "full_col";
  }
  return "";
}

static std::optional<Precision> precisionOf(const hir::Gemm *stmt) {
  switch (stmt->precision) {
  case hir::Precision::Default:
    break;
  case hir::Precision::Ieee:
    return Precision::ieee;
  case hir::Precision::TF32:
    return Precision::tf32;
  case hir::Precision::TF32x3:
    return Precision::tf32x3;
  case hir::Precision::BF16x6:
    return Precision::bf16x6;
  }
  if (stmt->a.object->dtype == DType::F32)
    return Precision::ieee;
  return std::nullopt;
}

void KernelGen::gemm(const hir::Gemm *stmt) {
  int64_t m = stmt->m, n = stmt->n, k = stmt->k;
  Value a = gemmOperand(stmt->a, stmt->transA ? k : m, stmt->transA ? m : k);
  Value bb = gemmOperand(stmt->b, stmt->transB ? n : k, stmt->transB ? k : n);
  DType accType = stmt->c.object->dtype;
  Value clear, acc;
  if (stmt->clearAccum && stmt->clearAccum->kind == hir::Expr::BoolConst) {
    if (static_cast<const hir::BoolConst *>(stmt->clearAccum)->value)
      acc = splat({m, n}, accType, s.zero(s.memoryType(accType)));
  } else if (stmt->clearAccum) {
    clear = expr(stmt->clearAccum);
  }
  if (!acc)
    acc = readRegion(stmt->c, {m, n});
  std::optional<Precision> precision = precisionOf(stmt);
  auto op = GemmOp::create(b, s.loc, a, bb, acc, clear, stmt->transA, stmt->transB,
                           precision ? PrecisionAttr::get(b.getContext(), *precision) : PrecisionAttr(),
                           InstAttr());
  if (StringRef policy = policyName(stmt->policy); !policy.empty())
    op->setAttr(TileDialect::kPolicyAttrName, b.getStringAttr(policy));
  for (auto [region, name] : {std::pair(&stmt->a, TileDialect::kAUnsignedAttrName),
                              std::pair(&stmt->b, TileDialect::kBUnsignedAttrName)})
    if (dtypeClass(region->object->dtype) == DTypeClass::Unsigned)
      op->setAttr(name, b.getUnitAttr());
  writeRegion(stmt->c, op.getResult());
}

//===- reduce ---------------------------------------------------------------------===//
namespace {
struct Reduction {
  Combine kind;
  hir::BinaryOp combine;
  bool takesAbs = false;
};
} // namespace

static Reduction reductionOf(const hir::Reduce *stmt) {
  bool nan = stmt->nanPropagate || !isFloat(stmt->dst->dtype);
  Reduction max{nan ? Combine::max : Combine::maxnum, nan ? hir::BinaryOp::Max : hir::BinaryOp::MaxNum};
  switch (stmt->op) {
  case hir::ReduceOp::Sum:
    return {Combine::add, hir::BinaryOp::Add};
  case hir::ReduceOp::AbsSum:
    return {Combine::add, hir::BinaryOp::Add, true};
  case hir::ReduceOp::Max:
    return max;
  case hir::ReduceOp::AbsMax:
    max.takesAbs = true;
    return max;
  case hir::ReduceOp::Min:
    return {nan ? Combine::min : Combine::minnum, nan ? hir::BinaryOp::Min : hir::BinaryOp::MinNum};
  case hir::ReduceOp::BitAnd:
    return {Combine::band, hir::BinaryOp::BitAnd};
  case hir::ReduceOp::BitOr:
    return {Combine::bor, hir::BinaryOp::BitOr};
  case hir::ReduceOp::BitXor:
    return {Combine::bxor, hir::BinaryOp::BitXor};
  }
  return max;
}

/// Elements are converted first, combined in the destination's type (float32 for the narrower floats), and
/// rounded once. `reduce` knows no signs: unsigned max and min run on values whose top bit is flipped.
void KernelGen::reduce(const hir::Reduce *stmt) {
  const hir::TileObj *dst = stmt->dst;
  Reduction how = reductionOf(stmt);
  DType from = stmt->src.object->dtype, to = dst->dtype;
  DType acc = isFloat(to) && dtypeBits(to) < 32 ? DType::F32 : to;
  SmallVector<int64_t> shape;
  for (auto [axis, extent] : llvm::enumerate(stmt->src.extents))
    if (axis >= stmt->src.dropped.size() || !stmt->src.dropped[axis])
      shape.push_back(extent);
  Value tile = readRegion(stmt->src, shape);
  bool compares = how.combine == hir::BinaryOp::Max || how.combine == hir::BinaryOp::Min;
  bool flips = compares && dtypeClass(acc) == DTypeClass::Unsigned;
  Type accType = s.memoryType(acc);
  auto flip = [&](Value v) -> Value {
    llvm::APInt top = llvm::APInt::getSignMask(dtypeBits(acc));
    return arith::XOrIOp::create(b, s.loc, v, s.integer(accType, top.getSExtValue()));
  };
  if (from != acc || how.takesAbs || flips || acc == DType::Bool) // any non-zero byte is True
    tile = elementwise(tile, acc, [&](ValueRange, ValueRange elements) {
      Value v = s.toMemory(s.convert(s.fromMemory(elements[0], from), from, acc), acc);
      if (how.takesAbs)
        v = s.math(hir::MathFn::Abs, acc, {v});
      return flips ? flip(v) : v;
    });
  SmallVector<int64_t> resultShape = shape;
  resultShape.erase(resultShape.begin() + stmt->axis);
  if (resultShape.empty())
    resultShape.push_back(1);
  Value result = ReduceOp::create(b, s.loc, tileType(resultShape, acc), how.kind, tile, stmt->axis);

  hir::Region whole;
  whole.object = dst;
  whole.extents = dst->shape;
  whole.whole = true;
  whole.loc = stmt->loc;
  SmallVector<Value> ins{result};
  if (!stmt->clear)
    ins.push_back(readRegion(whole, resultShape));
  if (flips || !stmt->clear || acc != to)
    result = elementwise(ins, to, [&](ValueRange, ValueRange elements) {
      Value v = flips ? flip(elements[0]) : elements[0];
      if (!stmt->clear) {
        Value old = s.convert(s.fromMemory(elements[1], to), to, acc);
        v = s.binary(how.combine, acc, s.fit(old, accType), s.fromMemory(v, acc));
      }
      return s.toMemory(s.convert(v, acc, to), to);
    });
  writeRegion(whole, result);
}
