//===- EmitTransfer.cpp - loads, stores, copies, fills -----------------------===//
//
// A region is a rectangle with, per axis, the part [lo, hi) that exists (the view rule). What does not exist
// in the source becomes the safe value, what does not exist in the destination is dropped. Rows are moved
// with full vectors and one masked tail; where source and destination are contiguous along different axes,
// square blocks are transposed in registers.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::cpu;
using namespace tilec::tile;

//===- Regions ---------------------------------------------------------------===//
/// `extents` aligned with the axes of a memory of that rank: ones in front, or ones dropped.
static SmallVector<int64_t> alignExtents(ArrayRef<int64_t> extents, size_t rank) {
  SmallVector<int64_t> result(extents);
  for (size_t i = 0; result.size() > rank && i < result.size();) {
    if (result[i] == 1)
      result.erase(result.begin() + i);
    else
      ++i;
  }
  while (result.size() < rank)
    result.insert(result.begin(), 1);
  return result;
}

Rect Emitter::regionOf(Value value, ValueRange offsets, ArrayRef<int64_t> want, bool transpose,
                       std::optional<ArrayRef<bool>> inbounds) {
  Code &c = code;
  Memory memory = memoryOf(value);
  size_t rank = memory.access.axes.size();
  SmallVector<int64_t> extents = alignExtents(want, rank);
  Rect region{{memory.access.ptr, memory.access.element, {}}, {}, {}, {}, memory.safe};
  Value shift = c.index(0), alive; // alive: offsets on dropped axes exist
  for (size_t axis = 0; axis < rank; ++axis) {
    Access::Axis digits = memory.access.axes[axis];
    Value offset = offsets.empty() ? c.index(0) : get(offsets[axis]);
    bool checked = memory.isView && !(inbounds && (*inbounds)[axis]);
    int64_t extent = extents[axis];
    if (digits.digits.size() == 1) {
      Value start = digits.start ? c.add(digits.start, offset) : offset;
      shift = c.add(shift, c.mul(start, digits.digits[0].stride));
      digits.start = Value();
    } else if (!Code::isConstant(offset, 0)) {
      digits.start = digits.start ? c.add(digits.start, offset) : offset;
    }
    if (extent == 1) {
      if (digits.start)
        shift = c.add(shift, offsetOf({memory.access.ptr, memory.access.element, {digits}}, {c.index(0)}));
      if (checked) {
        Value exists = c.cmp(arith::CmpIPredicate::ult, offset, memory.sizes[axis]);
        alive = c.bothOf(alive, exists);
      }
      continue;
    }
    region.access.axes.push_back(digits);
    region.extents.push_back(extent);
    if (!checked) {
      region.lo.push_back(Value());
      region.hi.push_back(Value());
      continue;
    }
    // An offset below -extent leaves nothing, so it is clamped there: then no subtraction overflows.
    Value from = c.max(offset, c.index(-extent));
    Value lo = c.max(c.index(0), c.sub(c.index(0), from));
    Value hi = c.max(c.min(c.index(extent), c.sub(memory.sizes[axis], from)), lo);
    bool never = Code::constant(lo) == 0;
    region.lo.push_back(never ? Value() : lo);
    region.hi.push_back(hi);
  }
  region.access.ptr = c.gep(region.access.ptr, region.access.element, shift);
  if (region.extents.empty()) {
    region.access.axes.push_back({Value(), {{0, c.index(0)}}});
    region.extents.push_back(1);
    region.lo.push_back(Value());
    region.hi.push_back(Value());
  }
  if (alive) {
    Value hi = region.hi[0] ? region.hi[0] : c.index(region.extents[0]);
    Value lo = region.lo[0] ? region.lo[0] : c.index(0);
    region.hi[0] = c.select(alive, hi, lo);
  }
  if (transpose && region.extents.size() == 2) {
    std::swap(region.access.axes[0], region.access.axes[1]);
    std::swap(region.extents[0], region.extents[1]);
    std::swap(region.lo[0], region.lo[1]);
    std::swap(region.hi[0], region.hi[1]);
  }
  return region;
}

Rect Emitter::wholeTile(Value tile) {
  return regionOf(tile, {}, getShapeOf(tile.getType()), false, std::nullopt);
}

void Emitter::boxOf(const Rect &region, SmallVector<Value> &lo, SmallVector<Value> &hi) {
  for (auto [axis, extent] : llvm::enumerate(region.extents)) {
    lo.push_back(region.lo[axis] ? region.lo[axis] : code.index(0));
    hi.push_back(region.hi[axis] ? region.hi[axis] : code.index(extent));
  }
}

void Emitter::nest(ArrayRef<Value> lo, ArrayRef<Value> hi, ArrayRef<unsigned> order,
                   llvm::function_ref<void(SmallVector<Value> &)> body) {
  SmallVector<Value> at(lo.size(), code.index(0));
  auto level = [&](auto &self, size_t depth) -> void {
    if (depth == order.size())
      return body(at);
    unsigned axis = order[depth];
    code.loop(lo[axis], hi[axis], 1, [&](Value iv) {
      at[axis] = iv;
      self(self, depth + 1);
    });
  };
  level(level, 0);
}

static SmallVector<unsigned> allBut(size_t rank, ArrayRef<unsigned> without) {
  SmallVector<unsigned> order;
  for (unsigned axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(without, axis))
      order.push_back(axis);
  return order;
}

/// Are `width` elements side by side along `axis`, from every multiple of `width` on?
bool Emitter::unitStride(const Access &access, unsigned axis, int64_t width) {
  const Access::Axis &a = access.axes[axis];
  if (!Code::isConstant(a.digits[0].stride, 1))
    return false;
  return a.digits.size() == 1 || (a.digits[0].radix % width == 0 && !a.start);
}

bool Emitter::dynamicStride(const Access &access, unsigned axis) {
  const Access::Axis &a = access.axes[axis];
  return a.digits.size() == 1 && !Code::constant(a.digits[0].stride);
}

//===- Moving ----------------------------------------------------------------===//
void Emitter::moveScalars(const Access &source, const Access &dest, ArrayRef<Value> lo, ArrayRef<Value> hi,
                          bool isUnsigned) {
  nest(lo, hi, allBut(lo.size(), {}), [&](SmallVector<Value> &at) {
    Value v = code.load(addressOf(source, at), source.element);
    code.store(convert(v, source.element, dest.element, isUnsigned), addressOf(dest, at), dest.element);
  });
}

void Emitter::moveRows(const Access &source, const Access &dest, ArrayRef<Value> lo, ArrayRef<Value> hi,
                       unsigned axis, int64_t width, MoveOptions options) {
  Code &c = code;
  Value count = c.sub(hi[axis], lo[axis]);
  Value main = c.add(lo[axis], c.roundDown(count, width));
  Value end = options.padTo > 1 ? c.max(c.roundUp(hi[axis], options.padTo), main) : hi[axis];
  SmallVector<unsigned> outer = allBut(lo.size(), {axis});
  nest(lo, hi, outer, [&](SmallVector<Value> &at) {
    c.loop(lo[axis], main, width, [&](Value iv) {
      at[axis] = iv;
      Value from = addressOf(source, at);
      Value v = c.load(from, source.element, width);
      if (options.prefetch && !outer.empty())
        c.prefetch(
            c.gep(from, source.element, c.mul(source.axes[outer.back()].digits[0].stride, options.prefetch)));
      c.store(convert(v, source.element, dest.element, options.isUnsigned), addressOf(dest, at),
              dest.element);
    });
    c.loop(main, end, width, [&](Value iv) {
      at[axis] = iv;
      Value mask = c.maskBelow(c.sub(hi[axis], iv), width);
      Value v =
          c.maskedLoad(addressOf(source, at), source.element, mask, c.zero(registerType(source.element)));
      v = convert(v, source.element, dest.element, options.isUnsigned);
      if (options.padTo > 1)
        c.store(v, addressOf(dest, at), dest.element);
      else
        c.maskedStore(v, addressOf(dest, at), dest.element, mask);
    });
  });
}

/// rows[i][j] -> rows[j][i], in log2(n) steps that swap off-diagonal blocks.
static void transposeRows(Code &c, SmallVector<Value> &rows) {
  int64_t n = rows.size();
  for (int64_t step = n / 2; step >= 1; step /= 2) {
    SmallVector<int64_t> low(n), high(n);
    for (int64_t l = 0; l < n; ++l) {
      low[l] = l & step ? n + l - step : l;
      high[l] = l & step ? n + l : l + step;
    }
    for (int64_t i = 0; i < n; ++i) {
      if (i & step)
        continue;
      Value a = rows[i], b = rows[i + step];
      rows[i] = vector::ShuffleOp::create(c.b, c.loc, a, b, low);
      rows[i + step] = vector::ShuffleOp::create(c.b, c.loc, a, b, high);
    }
  }
}

/// Source contiguous along `from`, destination along `to`: whole blocks in registers, the rest one by one.
void Emitter::moveTransposed(const Access &source, const Access &dest, ArrayRef<Value> lo, ArrayRef<Value> hi,
                             unsigned from, unsigned to, int64_t width, bool isUnsigned) {
  Code &c = code;
  SmallVector<Value> mainFrom(lo), mainTo(hi);
  Value endFrom = c.add(lo[from], c.roundDown(c.sub(hi[from], lo[from]), width));
  Value endTo = c.add(lo[to], c.roundDown(c.sub(hi[to], lo[to]), width));
  nest(lo, hi, allBut(lo.size(), {from, to}), [&](SmallVector<Value> &at) {
    c.loop(lo[to], endTo, width, [&](Value row) {
      c.loop(lo[from], endFrom, width, [&](Value column) {
        SmallVector<Value> rows;
        at[from] = column;
        for (int64_t i = 0; i < width; ++i) {
          at[to] = c.add(row, i);
          Value v = c.load(addressOf(source, at), source.element, width);
          rows.push_back(convert(v, source.element, dest.element, isUnsigned));
        }
        transposeRows(c, rows);
        at[to] = row;
        for (int64_t i = 0; i < width; ++i) {
          at[from] = c.add(column, i);
          c.store(rows[i], addressOf(dest, at), dest.element);
        }
      });
    });
  });
  SmallVector<Value> restLo(lo), restHi(hi);
  restLo[from] = endFrom; // the columns behind the last block, all rows
  moveScalars(source, dest, restLo, restHi, isUnsigned);
  restLo[from] = lo[from];
  restHi[from] = endFrom;
  restLo[to] = endTo;
  moveScalars(source, dest, restLo, restHi, isUnsigned);
}

void Emitter::moveBox(const Access &source, const Access &dest, ArrayRef<Value> lo, ArrayRef<Value> hi,
                      MoveOptions options) {
  Code &c = code;
  int64_t bytes = std::max(elementBytes(source.element), elementBytes(dest.element));
  int64_t width = std::max<int64_t>(target.vectorBytes / bytes, 2);
  int rank = lo.size();
  // Short rows take shorter vectors.
  for (int axis = rank - 1; axis >= 0; --axis) {
    int64_t w = width;
    if (auto from = Code::constant(lo[axis]), to = Code::constant(hi[axis]); from && to)
      while (w > 2 && w > *to - *from)
        w /= 2;
    if (unitStride(source, axis, w) && unitStride(dest, axis, w) &&
        (Code::isConstant(lo[axis], 0) ||
         (source.axes[axis].digits.size() == 1 && dest.axes[axis].digits.size() == 1)))
      return moveRows(source, dest, lo, hi, axis, w, options);
  }
  int64_t block = std::min<int64_t>(width, target.vectorLanes32);
  auto startsWhole = [&](const Access &side, int axis) {
    return Code::isConstant(lo[axis], 0) || side.axes[axis].digits.size() == 1;
  };
  for (int from = rank - 1; from >= 0; --from)
    for (int to = rank - 1; to >= 0; --to)
      if (from != to && unitStride(source, from, block) && unitStride(dest, to, block) &&
          startsWhole(source, from) && startsWhole(dest, to))
        return moveTransposed(source, dest, lo, hi, from, to, block, options.isUnsigned);
  // Strides known only at launch are usually 1 on the last axis.
  for (const Access *side : {&source, &dest})
    for (int axis = rank - 1; axis >= 0; --axis) {
      if (!dynamicStride(*side, axis))
        continue;
      Value isOne = c.eq(side->axes[axis].digits[0].stride, c.index(1));
      Access sharper = *side, other = side == &source ? dest : source;
      sharper.axes[axis].digits[0].stride = c.index(1);
      bool useful = false;
      for (int peer = 0; peer < rank; ++peer)
        useful |= unitStride(other, peer, width) || dynamicStride(other, peer);
      if (!useful)
        break;
      c.when(
          isOne,
          [&] {
            if (side == &source)
              moveBox(sharper, dest, lo, hi, options);
            else
              moveBox(source, sharper, lo, hi, options);
          },
          [&] { moveScalars(source, dest, lo, hi, options.isUnsigned); });
      return;
    }
  moveScalars(source, dest, lo, hi, options.isUnsigned);
}

void Emitter::fillBox(const Access &dest, ArrayRef<Value> lo, ArrayRef<Value> hi, Value value) {
  Code &c = code;
  int64_t width = std::max<int64_t>(target.vectorBytes / elementBytes(dest.element), 2);
  for (int axis = lo.size() - 1; axis >= 0; --axis) {
    if (!unitStride(dest, axis, width) ||
        (!Code::isConstant(lo[axis], 0) && dest.axes[axis].digits.size() > 1))
      continue;
    Value main = c.add(lo[axis], c.roundDown(c.sub(hi[axis], lo[axis]), width));
    Value splat = c.broadcast(value, width);
    nest(lo, hi, allBut(lo.size(), {static_cast<unsigned>(axis)}), [&](SmallVector<Value> &at) {
      c.loop(lo[axis], main, width, [&](Value iv) {
        at[axis] = iv;
        c.store(splat, addressOf(dest, at), dest.element);
      });
      c.loop(main, hi[axis], 1, [&](Value iv) {
        at[axis] = iv;
        c.store(value, addressOf(dest, at), dest.element);
      });
    });
    return;
  }
  nest(lo, hi, allBut(lo.size(), {}),
       [&](SmallVector<Value> &at) { c.store(value, addressOf(dest, at), dest.element); });
}

void Emitter::transfer(const Rect &source, const Rect &dest) {
  Code &c = code;
  SmallVector<Value> lo, hi, sourceLo, sourceHi;
  boxOf(dest, lo, hi);
  boxOf(source, sourceLo, sourceHi);
  if (!source.whole()) {
    // Where only the destination exists it gets the safe value.
    Value covered;
    for (auto [axis, extent] : llvm::enumerate(source.extents)) {
      covered = c.bothOf(covered, c.le(sourceLo[axis], lo[axis]));
      covered = c.bothOf(covered, c.le(hi[axis], sourceHi[axis]));
    }
    Value safe =
        convert(safeValue(source.safe, source.access.element), source.access.element, dest.access.element);
    c.when(c.invert(covered), [&] { fillBox(dest.access, lo, hi, safe); });
    for (size_t axis = 0; axis < lo.size(); ++axis) {
      lo[axis] = c.max(lo[axis], sourceLo[axis]);
      hi[axis] = c.max(c.min(hi[axis], sourceHi[axis]), lo[axis]);
    }
  }
  moveBox(source.access, dest.access, lo, hi);
}

//===- Ops -------------------------------------------------------------------===//
static std::optional<ArrayRef<bool>> flags(std::optional<ArrayRef<bool>> inbounds) { return inbounds; }

LogicalResult Emitter::emitLoad(LoadOp op) {
  if (!plan->hasPlace(op.getResult()))
    return success();
  ArrayRef<int64_t> extents = op.getExtents() ? *op.getExtents() : op.getResult().getType().getShape();
  Rect source = regionOf(op.getSource(), op.getOffsets(), extents, false, flags(op.getInbounds()));
  transfer(source, wholeTile(op.getResult()));
  return success();
}

LogicalResult Emitter::emitStore(StoreOp op) {
  ArrayRef<int64_t> extents = op.getExtents() ? *op.getExtents() : op.getValue().getType().getShape();
  Rect dest = regionOf(op.getDest(), op.getOffsets(), extents, false, flags(op.getInbounds()));
  if (Value scalar = uniform.lookup(op.getValue())) {
    SmallVector<Value> lo, hi;
    boxOf(dest, lo, hi);
    fillBox(dest.access, lo, hi, scalar);
    return success();
  }
  transfer(wholeTile(op.getValue()), dest);
  return success();
}

LogicalResult Emitter::emitCopy(CopyOp op) {
  if (op.getIm2col())
    return emitIm2col(op);
  Value buffer = op.getDest();
  CopyOp only;
  if (isLazy(buffer, only) && only == op)
    return emitLazyCopy(op);
  SmallVector<int64_t> want;
  if (op.getExtents())
    want.assign(op.getExtents()->begin(), op.getExtents()->end());
  else if (op.getDestOffsets().empty() && isa<BufferType>(op.getDest().getType()))
    want.assign(getShapeOf(op.getDest().getType()).begin(), getShapeOf(op.getDest().getType()).end());
  else {
    want.assign(getShapeOf(op.getSource().getType()).begin(), getShapeOf(op.getSource().getType()).end());
    if (op.getTranspose() && want.size() > 1)
      std::swap(want[want.size() - 1], want[want.size() - 2]);
  }
  SmallVector<int64_t> sourceWant = want;
  if (op.getTranspose()) {
    sourceWant = dropOnes(want);
    if (sourceWant.size() == 2)
      std::swap(sourceWant[0], sourceWant[1]);
  }
  Rect source = regionOf(op.getSource(), op.getSourceOffsets(), sourceWant, op.getTranspose(), std::nullopt);
  Rect dest = regionOf(op.getDest(), op.getDestOffsets(), want, false, std::nullopt);
  transfer(source, dest);
  return success();
}

/// col[i, j] = image[n, oh*stride + kh*dilation - pad, ow*stride + kw*dilation - pad, c].
LogicalResult Emitter::emitIm2col(CopyOp op) {
  Code &c = code;
  Im2colAttr conv = op.getIm2colAttr();
  Memory image = memoryOf(op.getSource());
  SmallVector<int64_t> want(op.getExtents() ? *op.getExtents() : getShapeOf(op.getDest().getType()));
  Rect dest = regionOf(op.getDest(), op.getDestOffsets(), want, false, std::nullopt);
  if (dest.extents.size() != 2)
    return op.emitError() << "[E0540] im2col on the CPU fills a tile with two axes longer than one";
  int64_t reach = conv.getDilation() * (conv.getKernel() - 1) + 1;
  auto outputs = [&](Value size) {
    Value room = c.sub(c.add(size, 2 * conv.getPad()), reach);
    return c.max(c.add(c.div(c.max(room, c.index(0)), conv.getStride()), 1), c.index(1));
  };
  Value oh = outputs(image.sizes[1]), ow = outputs(image.sizes[2]),
        channels = c.max(image.sizes[3], c.index(1));
  Value row0 = get(op.getSourceOffsets()[0]), column0 = get(op.getSourceOffsets()[1]);
  Type element = image.access.element;
  Value safe = safeValue(image.safe, element);
  SmallVector<Value> lo, hi;
  boxOf(dest, lo, hi);
  nest(lo, hi, ArrayRef<unsigned>{0, 1}, [&](SmallVector<Value> &at) {
    Value row = c.add(row0, at[0]), column = c.add(column0, at[1]);
    Value x = c.fold<arith::RemUIOp>(row, ow), rest = c.fold<arith::DivUIOp>(row, ow);
    Value y = c.fold<arith::RemUIOp>(rest, oh), n = c.fold<arith::DivUIOp>(rest, oh);
    Value channel = c.fold<arith::RemUIOp>(column, channels), tap = c.fold<arith::DivUIOp>(column, channels);
    Value kw = c.rem(tap, conv.getKernel()), kh = c.div(tap, conv.getKernel());
    auto place = [&](Value o, Value k) {
      return c.sub(c.add(c.mul(o, conv.getStride()), c.mul(k, conv.getDilation())), conv.getPad());
    };
    Index zero{c.index(0), 0, Value()};
    SmallVector<Index> index(4, zero);
    index[0].base = n;
    index[1].base = place(y, kh);
    index[2].base = place(x, kw);
    index[3].base = channel;
    // Taps behind the kernel do not exist.
    Value inKernel = c.lt(kh, c.index(conv.getKernel()));
    Value v = c.choose(
        inKernel, registerType(element), [&] { return SmallVector<Value>{loadElements(image, index, {})}; },
        [&] { return SmallVector<Value>{safe}; })[0];
    c.store(convert(v, element, dest.access.element), addressOf(dest.access, at), dest.access.element);
  });
  return success();
}
