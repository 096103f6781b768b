//===- Copies.cpp - TMA and cp.async -----------------------------------------===//
#include "../../Dialect/Tile/Transforms/Variants.h"
#include "NVVMEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"
#include "tilec/Support/DType.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

static StringRef dtypeText(Type t) {
  if (t.isF16())
    return "float16";
  if (t.isBF16())
    return "bfloat16";
  if (t.isF32())
    return "float32";
  if (t.isF64())
    return "float64";
  if (isa<Float8E4M3FNType>(t))
    return "float8_e4m3";
  if (isa<Float8E5M2Type>(t))
    return "float8_e5m2";
  if (t.isInteger(8) || t.isInteger(1))
    return "uint8";
  if (t.isInteger(16))
    return "uint16";
  if (t.isInteger(32))
    return "int32";
  return "int64";
}

LogicalResult NVVMEmitter::emitAsyncCopy(AsyncCopyOp op) {
  env[op.getToken()] = {};
  if (op.getIm2col())
    return unsupported(*op, "an im2col copy");
  switch (op.getEngine()) {
  case Engine::tma:
    if (op.getPred())
      return unsupported(*op, "a conditional copy by the copy engine");
    return isa<ViewType>(op.getSource().getType()) ? emitBulkLoad(op) : emitBulkStore(op);
  case Engine::cp_async:
    return emitCpAsync(op);
  case Engine::words:
    return emitWords(op);
  default:
    return unsupported(*op, "this copy engine");
  }
}

/// One parameter per (tensor, box, swizzle). `tf32`: the engine rounds float32 to what the matrix units read.
FailureOr<Value> NVVMEmitter::tensorMap(Operation *op, Value source, ArrayRef<int64_t> box, unsigned swizzle,
                                        bool tf32) {
  ViewRef &ref = views[source];
  if (ref.slot < 0)
    return unsupported(*op, "the copy engine on a tensor that is no parameter of the kernel");
  std::string key;
  llvm::raw_string_ostream os(key);
  llvm::interleave(box, os, "x");
  os << "^" << swizzle << (tf32 ? " tf32" : "");
  Value &param = tensorMaps[{ref.slot, key}];
  if (param)
    return param;
  OpBuilder &b = code.b;
  MLIRContext *c = b.getContext();
  auto named = [&](StringRef name, Attribute value) { return b.getNamedAttr(name, value); };
  SmallVector<NamedAttribute> entry{named("view_slot", b.getI64IntegerAttr(ref.slot)),
                                    named("dtype", b.getStringAttr(dtypeText(ref.type.getElementType()))),
                                    named("rank", b.getI64IntegerAttr(ref.type.getRank())),
                                    named("box", b.getDenseI64ArrayAttr(box)),
                                    named("swizzle", b.getI64IntegerAttr(swizzle))};
  if (tf32)
    entry.push_back(named("tf32", b.getUnitAttr()));
  auto entryAttr = b.getDictionaryAttr(entry);
  auto attrs = b.getDictionaryAttr({named(LLVM::LLVMDialect::getByValAttrName(),
                                          TypeAttr::get(LLVM::LLVMArrayType::get(b.getI64Type(), 16))),
                                    named(LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64)),
                                    named(NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr())});
  param = addParameter(LLVM::LLVMPointerType::get(c), entryAttr, attrs);
  // The engine reads the map from memory: one thread of the second warp asks for it while the first prepares
  // the barriers.
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(cast<BlockArgument>(param).getOwner());
  code.assembly(Type(),
                "{\n\t.reg .pred p;\n\t.reg .b32 t;\n\tmov.u32 t, %tid.x;\n\tsetp.eq.u32 p, t, 32;\n\t"
                "@p prefetch.tensormap [$0];\n\t}",
                "l", {param});
  return param;
}

/// Coordinates of a box, innermost first as the engine wants them. `inside`: of the box in the region, one
/// per axis of the region that is not one.
SmallVector<Value> NVVMEmitter::boxCoords(Value source, ValueRange offsets, ArrayRef<int64_t> extents,
                                          ArrayRef<Value> inside) {
  SmallVector<Value> coords;
  unsigned next = 0;
  bool same = inside.size() == extents.size();
  for (unsigned axis = 0; axis < extents.size(); ++axis) {
    Value at = code.i32(0);
    if (!offsets.empty()) {
      // Cut, not wrapped: what lies outside stays there.
      Value offset = code.clamp(flatten(offsets[axis]).front(), -kLongestMappedAxis, kLongestMappedAxis);
      at = code.b.createOrFold<arith::IndexCastOp>(code.loc, code.b.getI32Type(), offset);
    }
    if ((same || extents[axis] != 1) && next < inside.size() && inside[next])
      at = code.add(at, inside[next]);
    next += same || extents[axis] != 1;
    coords.push_back(at);
  }
  std::reverse(coords.begin(), coords.end());
  return coords;
}

/// Boxes of the buffer's axes -> boxes of the tensor's axes: ones in between.
static SmallVector<int64_t> boxOfView(ArrayRef<int64_t> box, ArrayRef<int64_t> extents) {
  if (box.size() == extents.size())
    return SmallVector<int64_t>(box);
  SmallVector<int64_t> result;
  unsigned next = 0;
  for (int64_t e : extents)
    result.push_back(e == 1 || next >= box.size() ? 1 : box[next++]);
  return result;
}

static SmallVector<int64_t> extentsOf(AsyncCopyOp op, BufferType buffer, unsigned rank) {
  SmallVector<int64_t> e;
  if (op.getExtents())
    e.assign(op.getExtents()->begin(), op.getExtents()->end());
  else
    e.assign(buffer.getShape().begin(), buffer.getShape().end());
  while (e.size() < rank)
    e.insert(e.begin(), 1);
  return e;
}

/// Calls `each` with the start of every box.
static void forBoxes(ArrayRef<int64_t> shape, ArrayRef<int64_t> box,
                     llvm::function_ref<void(ArrayRef<int64_t>)> each) {
  SmallVector<int64_t> at(shape.size(), 0);
  while (true) {
    each(at);
    int axis = shape.size() - 1;
    for (; axis >= 0; --axis) {
      at[axis] += box[axis];
      if (at[axis] < shape[axis])
        break;
      at[axis] = 0;
    }
    if (axis < 0)
      return;
  }
}

static int64_t offsetAt(const Layout &s, ArrayRef<int64_t> at) {
  SmallVector<DimValue> dims;
  for (auto [axis, x] : llvm::enumerate(at))
    dims.push_back({coord(axis), x});
  return s.at(DimId::Offset, dims);
}

/// Are all readers of what this copy fills matrix units that see no more of a float32 than a tf32? Then the
/// engine rounds to nearest on the way; the units would cut.
static bool readAsTF32(AsyncCopyOp op, AcquireOp acquire) {
  if (!getElementTypeOf(op.getDest().getType()).isF32())
    return false;
  unsigned number = cast<OpResult>(op.getDest()).getResultNumber();
  auto feedsProducts = [&](Operation *reader) {
    auto load = dyn_cast<LoadOp>(reader);
    return load ? llvm::all_of(load->getUsers(), isWarpGroupProduct) : isWarpGroupProduct(reader);
  };
  bool any = false;
  for (Operation *user : acquire.getRing().getUsers())
    if (auto consume = dyn_cast<ConsumeOp>(user))
      for (Operation *reader : consume->getResult(number).getUsers()) {
        if (!feedsProducts(reader))
          return false;
        any = true;
      }
  return any;
}

LogicalResult NVVMEmitter::emitBulkLoad(AsyncCopyOp op) {
  auto buffer = cast<BufferType>(op.getDest().getType());
  unsigned rank = cast<ViewType>(op.getSource().getType()).getRank();
  SmallVector<int64_t> shape = dropOnes(buffer.getShape());
  Layout s = squeezeOnes(buffer.getLayout().getLayout(), buffer.getShape());
  int64_t bytes = memoryBytes(buffer.getElementType());
  std::string why;
  FailureOr<TmaBoxes> boxes = asTmaBoxes(s, bytes, {}, 16, &why);
  if (failed(boxes) || boxes->box.size() != shape.size())
    return unsupported(*op, "a copy by the copy engine (" + why + ")");
  SmallVector<int64_t> extents = extentsOf(op, buffer, rank);
  auto acquire = op.getDest().getDefiningOp<AcquireOp>();
  if (!acquire)
    return unsupported(*op, "a load by the copy engine outside a ring");
  FailureOr<Value> map =
      tensorMap(op, op.getSource(), boxOfView(boxes->box, extents), boxes->swizzle, readAsTF32(op, acquire));
  if (failed(map))
    return failure();
  Value full = address(ringBarrier(acquire.getRing(), flatten(acquire.getCursor())[0], /*empty=*/false));
  Value base = get(op.getDest()), policy = cachePolicy(op.getSourceOffsets());
  code.when(threads.oneLane ? Value() : isThreadZero(), [&] {
    forBoxes(shape, boxes->box, [&](ArrayRef<int64_t> at) {
      SmallVector<Value> inside;
      for (int64_t x : at)
        inside.push_back(x ? code.i32(x) : Value());
      SmallVector<Value> coords = boxCoords(op.getSource(), op.getSourceOffsets(), extents, inside);
      Value dest = address(sharedPtr(code.add(base, offsetAt(s, at) * bytes)));
      std::string text =
          "cp.async.bulk.tensor." + std::to_string(rank) +
          "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [$0], [$1, {";
      std::string constraints = "r,l";
      SmallVector<Value> operands{dest, *map};
      for (auto [i, c] : llvm::enumerate(coords)) {
        text += (i ? ", $" : "$") + std::to_string(2 + i);
        constraints += ",r";
        operands.push_back(c);
      }
      text += "}], [$" + std::to_string(2 + coords.size()) + "], $" + std::to_string(3 + coords.size()) + ";";
      operands.append({full, policy});
      code.assembly(Type(), text, constraints + ",r,l", operands);
    });
  });
  return success();
}

/// Each warp group stores what it wrote: the part of the buffer that its fragment covers.
LogicalResult NVVMEmitter::emitBulkStore(AsyncCopyOp op) {
  auto buffer = cast<BufferType>(op.getSource().getType());
  unsigned rank = cast<ViewType>(op.getDest().getType()).getRank();
  SmallVector<int64_t> shape = dropOnes(buffer.getShape());
  Layout s = squeezeOnes(buffer.getLayout().getLayout(), buffer.getShape());
  int64_t bytes = memoryBytes(buffer.getElementType());
  std::string why;
  FailureOr<TmaBoxes> boxes = asTmaBoxes(s, bytes, {}, 16, &why);
  if (failed(boxes) || boxes->box.size() != shape.size())
    return unsupported(*op, "a copy by the copy engine (" + why + ")");
  SmallVector<int64_t> part(shape), box(boxes->box.begin(), boxes->box.end());
  SmallVector<Value> start(shape.size()); // of this group's part
  if (threads.groups > 1) {
    StoreOp store;
    for (Operation *user : op.getSource().getUsers())
      if (auto o = dyn_cast<StoreOp>(user))
        store = o;
    if (!store)
      return unsupported(*op, "a staging buffer that no tile is stored to");
    TileType tile = store.getValue().getType();
    Layout f = squeezeOnes(tile.getLayout().getLayout(), tile.getShape());
    for (unsigned axis = 0; axis < shape.size(); ++axis) {
      int o = f.outIndex(coord(axis));
      auto runs = f.runs(DimId::Group);
      for (const Layout::Run &run : runs)
        if (o >= 0 && run.v[o])
          part[axis] = std::min(part[axis], run.v[o]);
      start[axis] = evaluate(f, coord(axis), threadInputs(f).back()).second;
    }
    int64_t parts = 1;
    for (unsigned axis = 0; axis < shape.size(); ++axis)
      parts *= shape[axis] / part[axis];
    if (!f.hasIn(DimId::Group) || parts != threads.groups)
      return unsupported(*op, "a staged store whose warp groups own no contiguous parts");
  }
  if (boxes->swizzle && part.back() % box.back())
    return unsupported(*op, "a staged store whose warp groups share the engine's boxes");
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    while (part[axis] % box[axis])
      --box[axis];
  SmallVector<int64_t> extents = extentsOf(op, buffer, rank);
  FailureOr<Value> map = tensorMap(op, op.getDest(), boxOfView(box, extents), boxes->swizzle);
  if (failed(map))
    return failure();
  Value base = bufferOffset(
      get(op.getSource()),
      [&] {
        return BufferType::get(op.getContext(), shape, buffer.getElementType(),
                               LayoutAttr::get(op.getContext(), s));
      }(),
      start);
  code.when(isGroupLeader(), [&] {
    forBoxes(part, box, [&](ArrayRef<int64_t> at) {
      SmallVector<Value> inside;
      for (auto [axis, x] : llvm::enumerate(at))
        inside.push_back(start[axis] ? code.add(start[axis], x) : x ? code.i32(x) : Value());
      SmallVector<Value> coords = boxCoords(op.getDest(), op.getDestOffsets(), extents, inside);
      Value source = address(sharedPtr(code.add(base, offsetAt(s, at) * bytes)));
      std::string text =
          "cp.async.bulk.tensor." + std::to_string(rank) + "d.global.shared::cta.tile.bulk_group [$0, {";
      std::string constraints = "l";
      SmallVector<Value> operands{*map};
      for (auto [i, c] : llvm::enumerate(coords)) {
        text += (i ? ", $" : "$") + std::to_string(1 + i);
        constraints += ",r";
        operands.push_back(c);
      }
      text += "}], [$" + std::to_string(1 + coords.size()) + "];";
      operands.push_back(source);
      code.assembly(Type(), text, constraints + ",r", operands);
    });
  });
  return success();
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

/// Copies of one thread that stand in its code one after the other; beyond them there is a loop.
static constexpr int64_t kCopiesAtOnce = 32;
static constexpr int64_t kPiecesWorthABranch = 8;

/// Every thread moves its part, 4, 8 or 16 bytes at a time; what lies outside is filled with zeros.
LogicalResult NVVMEmitter::emitCpAsync(AsyncCopyOp op) {
  auto buffer = cast<BufferType>(op.getDest().getType());
  Type element = buffer.getElementType();
  int64_t bytes = memoryBytes(element);
  SmallVector<int64_t> shape = dropOnes(buffer.getShape());
  if (shape.empty())
    shape.push_back(1);
  unsigned rank = cast<ViewType>(op.getSource().getType()).getRank();
  SmallVector<int64_t> extents = extentsOf(op, buffer, rank);
  Region from = regionOf(op.getSource(), op.getSourceOffsets(), ArrayRef<int64_t>(extents), shape);
  SmallVector<int64_t> bufferShape(buffer.getShape());
  Region to = regionOf(op.getDest(), op.getDestOffsets(), ArrayRef<int64_t>(bufferShape), shape);
  Layout l = copyLayout(shape, bytes, op.getSource(), op.getDest());
  SmallVector<DimValue> sizes;
  for (auto [axis, extent] : llvm::enumerate(shape))
    sizes.push_back({coord(axis), extent});
  l = l.pad(sizes);
  ViewAccess whole = viewAccess(l, shape, element, from);
  Layout s = squeezeOnes(buffer.getLayout().getLayout(), buffer.getShape());
  FailureOr<Layout> offset = l.then(s);
  int64_t vec = std::min(whole.vec, succeeded(offset) ? registerVector(l, s, bytes) : 1);
  bool async = vec * bytes >= 4 && succeeded(offset) && !whole.partial && op.getDestOffsets().empty() &&
               !cast<ViewType>(op.getSource().getType()).getSafe();
  if (async)
    countBanks(l, s, bytes, vec, /*write=*/true);
  code.when(op.getPred() ? flatten(op.getPred()).front() : Value(), [&] {
    if (async) {
      auto all = [&](bool inside) {
        forRegisters(l, kCopiesAtOnce * vec, [&](int64_t count) {
          emitCpAsync(op, viewAccess(l, shape, element, from), *offset, vec, count, inside);
        });
      };
      // Tests of each piece cost more than its copy: many pieces are worth a version without them.
      bool many = l.inSize(DimId::Reg) >= kPiecesWorthABranch * vec;
      code.when(isOwner(l), [&] {
        if (Value inside = many ? wholeInside(whole) : Value())
          code.when(inside, [&] { all(true); }, [&] { all(false); });
        else
          all(false);
      });
      return;
    }
    // Narrow or ragged: through registers, complete at once.
    forRegisters(l, copiedAtOnce(l, shape.size(), from, to), [&](int64_t count) {
      Value v = loadFragment(l, shape, element, from, 0, count);
      storeFragment(v, l, shape, element, to, 0, count);
    });
  });
  return success();
}

static std::string plus(int64_t bytes) { return bytes ? "+" + std::to_string(bytes) : ""; }

/// What a register adds to the coordinates on axes with a pitch, and to the one whose elements are
/// neighbours.
std::pair<SmallVector<int64_t>, int64_t> NVVMEmitter::lineOf(const ViewAccess &a, int64_t reg) {
  SmallVector<int64_t> key;
  int64_t along = 0;
  for (auto [m, t] : llvm::enumerate(a.tileAxis)) {
    if (t < 0)
      continue;
    auto [low, high] = a.coords.regs[t][reg];
    if (!a.coords.low[t] && Code::known(a.strides[m]) == 1)
      along = low + high;
    else
      key.append({low, high});
  }
  return {key, along};
}

/// The first \p count registers of this thread, \p vec at a time, to where \p offset puts them in the buffer;
/// \p whole: all of them lie inside the tensor.
void NVVMEmitter::emitCpAsync(AsyncCopyOp op, const ViewAccess &a, const Layout &offset, int64_t vec,
                              int64_t count, bool whole) {
  int64_t bytes = memoryBytes(a.element);
  auto thread = evaluate(offset, DimId::Offset, threadInputs(offset));
  auto places = offset.contributions(DimId::Reg, DimId::Offset);
  if (places.empty())
    places.push_back({0, 0});
  Value base = get(op.getDest());
  llvm::DenseMap<int64_t, Value> starts;       // in shared memory, by what registers xor into the zone
  std::map<SmallVector<int64_t>, Value> lines; // in the tensor, by the axes with a pitch
  for (int64_t r = 0; r < count; r += vec) {
    int64_t rl = places[r].first, rh = places[r].second;
    Value &dest = starts[rl];
    if (!dest)
      dest = address(sharedPtr(byteOffset(base, thread, rl, bytes)));
    Value inside = whole ? Value() : viewInside(a, r, r + vec - 1);
    Value valid = a.masked ? validAt(*a.l, a.coords, a.shape, r) : Value();
    Value size = inside ? code.select(inside, code.i32(vec * bytes), code.i32(0)) : Value();
    // An address outside is never read, but it should be one that exists.
    Value source;
    int64_t along = 0; // bytes behind the start of the line
    if (inside) {
      source = code.select(inside, viewAddress(a, r), view(op.getSource()).ptr);
    } else {
      auto [key, neighbours] = lineOf(a, r);
      Value &line = lines[key];
      if (!line)
        line = code.offset(viewAddress(a, r), code.b.getI8Type(), code.index(-neighbours * bytes));
      source = line;
      along = neighbours * bytes;
    }
    code.when(valid, [&] {
      std::string n = std::to_string(vec * bytes);
      std::string text = "cp.async." + std::string(vec * bytes == 16 ? "cg" : "ca") + ".shared.global [$0" +
                         plus(rh * bytes) + "], [$1" + plus(along) + "], " + n + (size ? ", $2;" : ";");
      SmallVector<Value> operands{dest, source};
      if (size)
        operands.push_back(size);
      code.assembly(Type(), text, size ? "r,l,r" : "r,l", operands);
    });
  }
}
