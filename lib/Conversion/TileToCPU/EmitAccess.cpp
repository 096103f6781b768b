//===- EmitAccess.cpp - addresses, bounds, single elements -------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::cpu;
using namespace tilec::tile;

//===- Addresses -------------------------------------------------------------===//
Access Emitter::placeAccess(Value ptr, Type element, ArrayRef<int64_t> strides) {
  Access access{ptr, element, {}};
  for (int64_t stride : strides)
    access.axes.push_back({Value(), {{0, code.index(stride)}}});
  return access;
}

Access Emitter::layoutAccess(Value ptr, Type element, Layout layout, unsigned rank) {
  Access access{ptr, element, {}};
  for (unsigned axis = 0; axis < rank; ++axis) {
    Access::Axis digits;
    auto runs = layout.runs(coord(axis));
    for (auto [i, run] : llvm::enumerate(runs))
      digits.digits.push_back({i + 1 == runs.size() ? 0 : run.n, code.index(run.v.empty() ? 0 : run.v[0])});
    if (digits.digits.empty())
      digits.digits.push_back({0, code.index(0)});
    access.axes.push_back(digits);
  }
  return access;
}

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

Access Emitter::accessOf(Value value) {
  Type element = getElementTypeOf(value.getType());
  if (isa<TileType>(value.getType()))
    return placeAccess(code.gep(arena, code.b.getI8Type(), plan->offset(value)), element,
                       plan->strides(value));
  if (auto sub = value.getDefiningOp<SubbufferOp>()) {
    Access source = accessOf(sub.getSource());
    Access result{source.ptr, element, {}};
    ArrayRef<int64_t> want = sub.getResult().getType().getShape();
    SmallVector<unsigned> kept;
    Value shift = code.index(0);
    for (auto [axis, extent] : llvm::enumerate(sub.getExtents())) {
      Access::Axis &from = source.axes[axis];
      Value start = get(sub.getOffsets()[axis]);
      if (from.start)
        start = code.add(from.start, start);
      if (from.digits.size() == 1) {
        shift = code.add(shift, code.mul(start, from.digits[0].stride));
        start = Value();
      }
      from.start = start;
      kept.push_back(axis);
    }
    // Axes of the result meet those of the region in order; ones may be missing on either side.
    size_t next = 0;
    for (int64_t extent : want) {
      while (next < kept.size() && extent != 1 && sub.getExtents()[kept[next]] == 1) {
        Access::Axis &dropped = source.axes[kept[next++]];
        if (dropped.start)
          shift = code.add(shift, offsetOf({source.ptr, element, {dropped}}, {code.index(0)}));
      }
      if (next < kept.size() && sub.getExtents()[kept[next]] == extent)
        result.axes.push_back(source.axes[kept[next++]]);
      else
        result.axes.push_back({Value(), {{0, code.index(0)}}});
    }
    for (; next < kept.size(); ++next)
      if (source.axes[kept[next]].start)
        shift = code.add(shift, offsetOf({source.ptr, element, {source.axes[kept[next]]}}, {code.index(0)}));
    result.ptr = code.gep(source.ptr, element, shift);
    return result;
  }
  if (auto recast = value.getDefiningOp<RecastBufferOp>()) {
    Access source = accessOf(recast.getSource());
    return placeAccess(source.ptr, element, rowMajor(recast.getResult().getType().getShape()));
  }
  auto type = cast<BufferType>(value.getType());
  Value ptr = code.gep(arena, code.b.getI8Type(), plan->offset(value));
  if (type.getLayout())
    return layoutAccess(ptr, element, type.getLayout().getLayout(), type.getShape().size());
  return placeAccess(ptr, element, rowMajor(type.getShape()));
}

Value Emitter::offsetOf(const Access &access, ArrayRef<Value> coords) {
  Value offset = code.index(0);
  for (auto [axis, coordinate] : llvm::zip(access.axes, coords)) {
    Value rest = axis.start ? code.add(axis.start, coordinate) : coordinate;
    for (const Access::Digit &digit : axis.digits) {
      if (!digit.radix) {
        offset = code.add(offset, code.mul(rest, digit.stride));
        break;
      }
      offset = code.add(offset, code.mul(code.rem(rest, digit.radix), digit.stride));
      rest = code.div(rest, digit.radix);
    }
  }
  return offset;
}

Value Emitter::addressOf(const Access &access, ArrayRef<Value> coords) {
  return code.gep(access.ptr, access.element, offsetOf(access, coords));
}

//===- Views -----------------------------------------------------------------===//
static void rowMajorStrides(Code &code, ViewDesc &view) {
  view.strides.assign(view.sizes.size(), Value());
  Value stride = code.index(1);
  for (size_t i = view.sizes.size(); i-- > 0;) {
    view.strides[i] = stride;
    stride = code.mul(stride, view.sizes[i]);
  }
}

/// Sizes and strides that the type knows replace those that arrive at run time.
static void sharpen(Code &code, ViewDesc &view, ViewType type) {
  for (auto [axis, extent] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(extent))
      view.sizes[axis] = code.index(extent);
    if (int64_t stride = type.getStaticStride(axis); !ShapedType::isDynamic(stride))
      view.strides[axis] = code.index(stride);
  }
}

LogicalResult Emitter::bindArguments(Value values) {
  Code &c = code;
  int64_t slot = 0;
  auto next = [&]() -> Value {
    Value address = c.gep(values, c.b.getI64Type(), slot++);
    return LLVM::LoadOp::create(c.b, c.loc, c.b.getI64Type(), address, 8, false, false, /*isInvariant=*/true);
  };
  auto index = [&] { return arith::IndexCastOp::create(c.b, c.loc, c.b.getIndexType(), next()).getResult(); };
  auto pointer = [&] { return LLVM::IntToPtrOp::create(c.b, c.loc, c.ptrType(), next()).getResult(); };
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    Type type = argument.getType();
    if (auto view = dyn_cast<ViewType>(type)) {
      ViewDesc desc{pointer(), view.getElementType(), {}, {}, view.getSafe()};
      for (size_t i = 0; i < view.getShape().size(); ++i)
        desc.sizes.push_back(index());
      for (size_t i = 0; i < view.getShape().size(); ++i)
        desc.strides.push_back(index());
      sharpen(c, desc, view);
      views[argument] = desc;
      continue;
    }
    if (isa<PtrType>(type)) {
      map.map(argument, pointer());
      continue;
    }
    if (type.isIndex()) {
      map.map(argument, index());
      continue;
    }
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 64)
      return kernel.emitError() << "[E0540] no launch value can hold an argument of type " << type;
    Value bits = next();
    Type integer = c.b.getIntegerType(registerType(type).getIntOrFloatBitWidth());
    if (type.isInteger(1))
      bits = c.cmp(arith::CmpIPredicate::ne, bits, c.integer(c.b.getI64Type(), 0));
    else if (integer.getIntOrFloatBitWidth() < 64)
      bits = arith::TruncIOp::create(c.b, c.loc, integer, bits);
    if (registerType(type) != bits.getType())
      bits = arith::BitcastOp::create(c.b, c.loc, type, bits);
    map.map(argument, bits);
  }
  return success();
}

LogicalResult Emitter::emitMakeView(MakeViewOp op) {
  auto type = op.getView().getType();
  ViewDesc desc{get(op.getBase()), type.getElementType(), {}, {}, type.getSafe()};
  unsigned next = 0;
  for (int64_t extent : type.getShape())
    desc.sizes.push_back(ShapedType::isDynamic(extent) && next < op.getSizes().size()
                             ? get(op.getSizes()[next++])
                             : code.index(extent));
  if (op.getSizes().size() == type.getShape().size())
    for (auto [axis, size] : llvm::enumerate(op.getSizes()))
      desc.sizes[axis] = get(size);
  rowMajorStrides(code, desc);
  next = 0;
  if (op.getStrides().size() == type.getShape().size()) {
    for (auto [axis, stride] : llvm::enumerate(op.getStrides()))
      desc.strides[axis] = get(stride);
  } else if (!op.getStrides().empty()) {
    for (auto [axis, stride] : llvm::enumerate(type.getStrides()))
      if (ShapedType::isDynamic(stride) && next < op.getStrides().size())
        desc.strides[axis] = get(op.getStrides()[next++]);
  }
  sharpen(code, desc, type);
  views[op.getView()] = desc;
  return success();
}

LogicalResult Emitter::emitRecastView(RecastViewOp op) {
  ViewType type = op.getView().getType(), from = op.getSource().getType();
  ViewDesc desc = viewOf(op.getSource());
  desc.safe = type.getSafe();
  if (desc.element != type.getElementType())
    return op.emitError() << "[E0540] a view keeps its element type on the CPU: " << from << " to " << type;
  bool reshaped = type.getShape().size() != from.getShape().size() || !op.getSizes().empty();
  if (reshaped) {
    desc.sizes.clear();
    unsigned next = 0;
    for (int64_t extent : type.getShape()) {
      bool given = op.getSizes().size() == type.getShape().size();
      if (!ShapedType::isDynamic(extent) || (!given && next >= op.getSizes().size()))
        desc.sizes.push_back(code.index(ShapedType::isDynamic(extent) ? 0 : extent));
      else
        desc.sizes.push_back(get(op.getSizes()[given ? desc.sizes.size() : next++]));
    }
    rowMajorStrides(code, desc);
  }
  sharpen(code, desc, type);
  views[op.getView()] = desc;
  return success();
}

Memory Emitter::memoryOf(Value value) {
  if (!isa<ViewType>(value.getType()))
    return {accessOf(value), false, {}, {}};
  const ViewDesc &view = viewOf(value);
  Memory memory{{view.ptr, view.element, {}}, true, view.sizes, view.safe};
  for (Value stride : view.strides)
    memory.access.axes.push_back({Value(), {{0, stride}}});
  return memory;
}

Value Emitter::safeValue(TypedAttr safe, Type element) {
  if (!safe)
    return code.zero(registerType(element));
  if (!isFloat8(element))
    return arith::ConstantOp::create(code.b, code.loc, safe);
  return code.integer(code.b.getI8Type(), cast<FloatAttr>(safe).getValue().bitcastToAPInt().getZExtValue());
}

//===- Element access --------------------------------------------------------===//
/// Where the lanes of one access are, and which of them exist.
struct Emitter::Reach {
  enum Kind { One, Run, Any } kind = One; ///< all lanes one element; side by side; anywhere
  Value offset;                           ///< of lane 0 (One, Run), of all lanes (Any)
  Value exists;                           ///< i1: all lanes, or all indices that the lanes share; null: yes
  Value laneExists;                       ///< vector of i1; null: all
  Value allExist;                         ///< i1: `exists` and every lane; null: yes
};

Emitter::Reach Emitter::reach(const Memory &memory, ArrayRef<Index> index, ArrayRef<bool> inbounds) {
  Reach result;
  auto atLeast = [&](Value &to, Value condition) { to = to ? code.both(to, condition) : condition; };
  bool known = true, varies = false;
  Value stride = code.index(0);
  for (auto [axis, at] : llvm::enumerate(index)) {
    bool moves = lanes > 1 && (!at.step || *at.step != 0);
    varies |= moves;
    if (!at.step)
      known = false;
    else if (*at.step && memory.access.axes[axis].digits.size() > 1)
      known = false;
    else if (*at.step)
      stride = code.add(stride, code.mul(memory.access.axes[axis].digits[0].stride, *at.step));
    if (!memory.isView || (!inbounds.empty() && inbounds[axis]))
      continue;
    Value size = memory.sizes[axis];
    auto below = arith::CmpIPredicate::ult; // unsigned: negative indices are out of bounds too
    if (!moves) {
      atLeast(result.exists, code.cmp(below, at.base, size));
      continue;
    }
    Value all =
        at.step ? code.add(code.broadcast(at.base, lanes), code.mul(code.iota(lanes), *at.step)) : at.lanes;
    atLeast(result.laneExists, code.cmp(below, all, size));
    if (!at.step)
      continue;
    Value last = code.add(at.base, (lanes - 1) * *at.step);
    atLeast(result.allExist, code.both(code.cmp(below, at.base, size), code.cmp(below, last, size)));
  }
  if (!known && result.laneExists)
    result.allExist = Value(); // not asked for
  else if (result.exists)
    atLeast(result.allExist, result.exists);
  SmallVector<Value> coords;
  for (const Index &at : index)
    coords.push_back(at.base ? at.base : at.lanes);
  if (!varies) {
    result.kind = Reach::One;
    result.offset = offsetOf(memory.access, coords);
  } else if (known && Code::isConstant(stride, 1)) {
    result.kind = Reach::Run;
    result.offset = offsetOf(memory.access, coords);
  } else if (known) {
    result.kind = Reach::Any;
    Value first = offsetOf(memory.access, coords);
    result.offset = code.add(code.broadcast(first, lanes), code.mul(code.iota(lanes), stride));
  } else {
    result.kind = Reach::Any;
    for (auto [i, at] : llvm::enumerate(index))
      coords[i] = !at.step   ? at.lanes
                  : *at.step ? code.add(code.broadcast(at.base, lanes), code.mul(code.iota(lanes), *at.step))
                             : at.base;
    result.offset = code.broadcast(offsetOf(memory.access, coords), lanes);
  }
  return result;
}

Value Emitter::loadElements(const Memory &memory, ArrayRef<Index> index, ArrayRef<bool> inbounds) {
  Type element = memory.access.element, type = registerType(element);
  Reach r = reach(memory, index, inbounds);
  Value safe = safeValue(memory.safe, element);
  Value active = mask ? code.any(mask) : Value();
  if (r.kind == Reach::One) {
    Value exists = code.bothOf(r.exists, active);
    return code.choose(
        exists, type,
        [&] {
          return SmallVector<Value>{code.load(code.gep(memory.access.ptr, element, r.offset), element)};
        },
        [&] { return SmallVector<Value>{safe}; })[0];
  }
  Type vector = code.vec(type, lanes);
  Value some = r.laneExists;
  if (mask)
    some = code.bothOf(some, mask);
  if (r.exists)
    some = code.bothOf(some, code.broadcast(r.exists, lanes));
  if (r.kind == Reach::Any)
    return code.gather(memory.access.ptr, element, r.offset, some, safe);
  Value ptr = code.gep(memory.access.ptr, element, r.offset);
  if (!some)
    return code.load(ptr, element, lanes);
  if (mask)
    return code.maskedLoad(ptr, element, some, safe);
  return code.choose(
      r.allExist, vector, [&] { return SmallVector<Value>{code.load(ptr, element, lanes)}; },
      [&] { return SmallVector<Value>{code.maskedLoad(ptr, element, some, safe)}; })[0];
}

void Emitter::storeElements(Value value, const Memory &memory, ArrayRef<Index> index,
                            ArrayRef<bool> inbounds) {
  Type element = memory.access.element;
  Reach r = reach(memory, index, inbounds);
  Value active = mask ? code.any(mask) : Value();
  if (r.kind == Reach::One) {
    code.when(code.bothOf(r.exists, active), [&] {
      Value one = value;
      if (Code::isVector(one)) // all lanes write one element: the last one does
        one = vector::ExtractOp::create(code.b, code.loc, one, lanes - 1);
      code.store(one, code.gep(memory.access.ptr, element, r.offset), element);
    });
    return;
  }
  value = code.broadcast(value, lanes);
  Value some = r.laneExists;
  if (mask)
    some = code.bothOf(some, mask);
  if (r.exists)
    some = code.bothOf(some, code.broadcast(r.exists, lanes));
  if (r.kind == Reach::Any) {
    code.scatter(value, memory.access.ptr, element, r.offset, some);
    return;
  }
  Value ptr = code.gep(memory.access.ptr, element, r.offset);
  if (!some)
    return code.store(value, ptr, element);
  if (mask)
    return code.maskedStore(value, ptr, element, some);
  code.when(
      r.allExist, [&] { code.store(value, ptr, element); },
      [&] { code.maskedStore(value, ptr, element, some); });
}
