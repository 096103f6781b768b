//===- Emitter.cpp - function, parameters, threads, views --------------------===//
#include "Emitter.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

std::string tilec::simt::deviceSymbol(KernelOp kernel) {
  std::string symbol = kernel.getSymName().str();
  std::replace(symbol.begin(), symbol.end(), '.', '$');
  return symbol;
}

LogicalResult Emitter::unsupported(Operation &op, const llvm::Twine &what) {
  return op.emitError() << "[E0530] " << what.str() << " is not supported on " << target.name
                        << " yet; compile this kernel for another target or write it differently";
}

//===----------------------------------------------------------------------===//
// Function and parameters
//===----------------------------------------------------------------------===//

Value Emitter::addParameter(Type type, Attribute entryAttr, DictionaryAttr attrs) {
  Value arg = entry->addArgument(type, kernel.getLoc());
  if (attrs)
    paramAttrs.push_back({unsigned(params.size()), attrs});
  params.push_back(entryAttr);
  return arg;
}

Value Emitter::slot(int64_t index, Type type) {
  auto it = slots.find(index);
  if (it != slots.end())
    return it->second;
  OpBuilder &b = code.b;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entryEnd);
  Type passed = memoryType(type);
  int64_t bytes = isa<LLVM::LLVMPointerType>(type) ? 8 : passed.getIntOrFloatBitWidth() / 8;
  auto entryAttr = b.getDictionaryAttr({b.getNamedAttr("slot", b.getI64IntegerAttr(index)),
                                        b.getNamedAttr("bytes", b.getI64IntegerAttr(bytes))});
  Value value = addParameter(passed, entryAttr);
  if (!isa<LLVM::LLVMPointerType>(type))
    value = code.fromMemory(value, type);
  slots[index] = value;
  return value;
}

void Emitter::bindArguments() {
  int64_t next = 0;
  for (BlockArgument arg : kernel.getBody().getArguments()) {
    slotOf[arg] = next;
    if (auto type = dyn_cast<ViewType>(arg.getType())) {
      ViewRef ref;
      ref.slot = next;
      ref.type = type;
      ref.sizes.resize(type.getRank());
      ref.strides.resize(type.getRank());
      views[arg] = ref;
      next += 1 + 2 * type.getRank();
    } else {
      ++next;
    }
  }
}

FailureOr<LLVM::LLVMFuncOp> Emitter::run(StringRef symbol) {
  launch = kernel.getDeviceLaunch();
  if (!launch || !launch.getScheduleAttr())
    return kernel.emitError() << "[E0505] a device kernel holds one scheduled launch";
  if (failed(prepare()))
    return failure();
  OpBuilder &b = code.b;
  b.setInsertionPoint(kernel);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {});
  function = LLVM::LLVMFuncOp::create(b, kernel.getLoc(), symbol, type);
  entry = b.createBlock(&function.getBody());
  b.setInsertionPointToStart(entry);
  auto end = LLVM::ReturnOp::create(b, kernel.getLoc(), ValueRange());
  b.setInsertionPoint(end);
  // Parameters are made when they are first used; what they need stands in front of this marker.
  entryEnd = arith::ConstantOp::create(b, kernel.getLoc(), b.getI32IntegerAttr(0));
  bindArguments();
  ScheduleAttr schedule = launch.getScheduleAttr();
  int64_t warps = std::max<int64_t>(1, schedule.getThreads() / int64_t(target.warpSize));
  startThreads(0, warps);
  for (Operation &op : kernel.getBody().front())
    if (!isa<LaunchOp, YieldOp, AssumeOp>(op) && failed(emitOp(op)))
      return failure();
  bindBlockIds(launch);
  if (failed(emitBlock(launch.getBody().front())))
    return failure();
  SmallVector<Type> types(entry->getArgumentTypes());
  function.setFunctionType(LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types));
  for (auto &[i, attrs] : paramAttrs)
    function.setArgAttrs(i, attrs);
  auto i64 = [&](int64_t v) { return b.getI64IntegerAttr(v); };
  function->setAttr("tile.params", b.getArrayAttr(params));
  function->setAttr("tile.threads", i64(warps * target.warpSize));
  auto shared = launch->getAttrOfType<IntegerAttr>(TileDialect::kSharedBytesAttrName);
  function->setAttr("tile.shared_bytes", i64(shared ? shared.getInt() : 0));
  if (bankWaves.ideal)
    function->setAttr("tile.bank_waves", b.getDenseI64ArrayAttr({bankWaves.waves, bankWaves.ideal}));
  if (schedule.getPersistent())
    function->setAttr("tile.persistent", b.getUnitAttr());
  function->setAttr("tile.min_blocks", i64(schedule.getMinBlocks()));
  std::string text;
  llvm::raw_string_ostream(text) << schedule;
  function->setAttr("tile.schedule", b.getStringAttr(text));
  for (StringRef name :
       {StringRef(TileDialect::kConditionsAttrName), StringRef(TileDialect::kLaunchNameAttrName),
        StringRef(TileDialect::kPointAttrName), StringRef(TileDialect::kCostAttrName)})
    if (Attribute attr = kernel->getAttr(name))
      function->setAttr(name, attr);
  if (!function->hasAttr(TileDialect::kConditionsAttrName))
    function->setAttr(TileDialect::kConditionsAttrName, b.getArrayAttr({}));
  function->setAttr("tile.kernel", kernel.getSymNameAttr());
  if (Attribute constants = kernel->getAttr(TileDialect::kInstanceAttrName))
    function->setAttr("tile.constants", constants);
  decorate(function);
  return function;
}

//===----------------------------------------------------------------------===//
// Threads and blocks
//===----------------------------------------------------------------------===//

void Emitter::startThreads(int64_t firstWarp, int64_t warps) {
  Value tid = threadId();
  Threads t;
  t.lane = code.rem(tid, target.warpSize);
  t.warps = warps;
  int64_t perGroup = target.warpsPerGroup;
  if (perGroup > 1 && warps > perGroup && warps % perGroup == 0) {
    t.groups = warps / perGroup;
    t.warps = perGroup;
  }
  Value warp = uniform(code.div(tid, target.warpSize));
  if (firstWarp)
    warp = code.sub(warp, code.i32(firstWarp));
  t.warp = t.groups > 1 ? code.rem(warp, t.warps) : warp;
  t.group = t.groups > 1 ? code.div(warp, t.warps) : code.i32(0);
  threads = t;
}

Value Emitter::uniform(Value value) { return shuffleFrom(value, code.i32(0)); }

Value Emitter::threadInRole() {
  Value warp = code.add(code.mul(threads.group, threads.warps), threads.warp);
  return code.add(code.mul(warp, target.warpSize), threads.lane);
}

Value Emitter::isThreadZero() { return threads.oneLane ? Value() : code.eq(threadInRole(), 0); }

void Emitter::bindBlockIds(LaunchOp launch) {
  Block &body = launch.getBody().front();
  Value id = blockId(); // below 2^31, as is every extent of a grid that is not empty
  if (body.getNumArguments() == 1) {
    set(body.getArgument(0), code.toIndex(id));
    return;
  }
  for (auto [i, arg] : llvm::enumerate(body.getArguments())) {
    if (i + 1 == body.getNumArguments()) {
      set(arg, code.toIndex(id));
      break;
    }
    Value extent = code.toI32(flatten(launch.getGrid()[i]).front());
    set(arg, code.toIndex(code.fold<arith::RemUIOp>(id, extent)));
    id = code.fold<arith::DivUIOp>(id, extent);
  }
}

//===----------------------------------------------------------------------===//
// Values of the tile dialect
//===----------------------------------------------------------------------===//

SmallVector<Type> Emitter::flatTypes(Type type) {
  MLIRContext *c = type.getContext();
  if (auto tile = dyn_cast<TileType>(type))
    return {VectorType::get({tile.getLayout().getNumRegs()}, registerType(tile.getElementType()))};
  if (isa<TokenType>(type))
    return {};
  Type i32 = IntegerType::get(c, 32);
  if (isa<FutureType>(type))
    return {i32}; // does anything stand in the registers of the sums?
  if (isa<CursorType>(type))
    return {i32, i32};
  if (isa<BufferType>(type))
    return {i32};
  if (isa<PtrType>(type))
    return {LLVM::LLVMPointerType::get(c, globalSpace())};
  if (auto view = dyn_cast<ViewType>(type)) {
    SmallVector<Type> types(1 + 2 * view.getRank(), IndexType::get(c));
    types[0] = LLVM::LLVMPointerType::get(c, globalSpace());
    return types;
  }
  return {registerType(type)};
}

SmallVector<Value> Emitter::flatten(Value value) {
  if (auto type = dyn_cast<ViewType>(value.getType())) {
    SmallVector<Value> flat{view(value).ptr};
    for (int64_t i = 0; i < type.getRank(); ++i)
      flat.push_back(sizeOf(value, i));
    for (int64_t i = 0; i < type.getRank(); ++i)
      flat.push_back(strideOf(value, i));
    return flat;
  }
  if (isa<PtrType>(value.getType()) && slotOf.count(value))
    return {slot(slotOf[value], flatTypes(value.getType())[0])};
  if (auto it = slotOf.find(value); it != slotOf.end())
    return {slot(it->second, value.getType())};
  return env[value];
}

SmallVector<Value> Emitter::flattenAll(ValueRange values) {
  SmallVector<Value> flat;
  for (Value v : values)
    llvm::append_range(flat, flatten(v));
  return flat;
}

void Emitter::bind(Value value, ValueRange flat) {
  if (auto type = dyn_cast<ViewType>(value.getType())) {
    ViewRef ref;
    ref.type = type;
    ref.ptr = flat[0];
    ref.sizes.assign(flat.begin() + 1, flat.begin() + 1 + type.getRank());
    ref.strides.assign(flat.begin() + 1 + type.getRank(), flat.end());
    views[value] = ref;
    return;
  }
  env[value].assign(flat.begin(), flat.end());
}

void Emitter::bindAll(ValueRange values, ValueRange flat) {
  unsigned at = 0;
  for (Value v : values) {
    unsigned n = flatTypes(v.getType()).size();
    bind(v, flat.slice(at, n));
    at += n;
  }
}

//===----------------------------------------------------------------------===//
// Views and buffers
//===----------------------------------------------------------------------===//

ViewRef &Emitter::view(Value value) {
  ViewRef &ref = views[value];
  if (!ref.ptr)
    ref.ptr = slot(ref.slot, LLVM::LLVMPointerType::get(code.b.getContext(), globalSpace()));
  return ref;
}

Value Emitter::sizeOf(Value value, unsigned axis) {
  ViewRef &ref = views[value];
  if (!ref.type.isDynamicExtent(axis))
    return code.index(ref.type.getShape()[axis]);
  if (!ref.sizes[axis]) {
    Value size = slot(ref.slot + 1 + axis, code.b.getIndexType());
    views[value].sizes[axis] = size;
    return size;
  }
  return ref.sizes[axis];
}

Value Emitter::strideOf(Value value, unsigned axis) {
  ViewRef &ref = views[value];
  int64_t known = ref.type.getStaticStride(axis);
  if (!ShapedType::isDynamic(known))
    return code.index(known);
  if (!ref.strides[axis]) {
    Value stride = slot(ref.slot + 1 + ref.type.getRank() + axis, code.b.getIndexType());
    views[value].strides[axis] = stride;
    return stride;
  }
  return ref.strides[axis];
}

/// As it lies in registers.
Value Emitter::safeValue(ViewType type) {
  Type element = type.getElementType(), reg = registerType(element);
  TypedAttr safe = type.getSafe();
  if (!safe)
    return code.zero(reg);
  if (auto f = dyn_cast<FloatAttr>(safe); f && isFloat8(element))
    return code.constant(reg, f.getValue().bitcastToAPInt().getSExtValue());
  return arith::ConstantOp::create(code.b, code.loc, safe);
}

LogicalResult Emitter::emitMakeView(MakeViewOp op) {
  ViewType type = op.getView().getType();
  ViewRef ref;
  ref.type = type;
  ref.ptr = flatten(op.getBase()).front();
  unsigned size = 0, stride = 0;
  for (int64_t i = 0; i < type.getRank(); ++i)
    ref.sizes.push_back(type.isDynamicExtent(i) ? flatten(op.getSizes()[size++]).front()
                                                : code.index(type.getShape()[i]));
  ref.strides.resize(type.getRank());
  Value dense = code.index(1);
  for (int64_t i = type.getRank(); i-- > 0;) {
    ref.strides[i] = dense;
    dense = code.mul(dense, ref.sizes[i]);
  }
  if (!type.getStrides().empty())
    for (int64_t i = 0; i < type.getRank(); ++i)
      ref.strides[i] = ShapedType::isDynamic(type.getStrides()[i])
                           ? flatten(op.getStrides()[stride++]).front()
                           : code.index(type.getStrides()[i]);
  views[op.getView()] = ref;
  return success();
}

LogicalResult Emitter::emitRecastView(RecastViewOp op) {
  ViewType type = op.getView().getType();
  ViewRef ref = views[op.getSource()];
  if (op.getSizes().empty() && ref.type.getRank() == type.getRank()) {
    // The strides of the source, also where the new type does not tell them.
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (int64_t s = ref.type.getStaticStride(i); !ShapedType::isDynamic(s))
        ref.strides[i] = code.index(s);
      if (!ref.type.isDynamicExtent(i))
        ref.sizes[i] = code.index(ref.type.getShape()[i]);
    }
    ref.type = type;
    views[op.getView()] = ref;
    return success();
  }
  ref = view(op.getSource());
  ref.slot = -1;
  ref.type = type;
  ref.sizes.clear();
  unsigned next = 0;
  for (int64_t i = 0; i < type.getRank(); ++i)
    ref.sizes.push_back(type.isDynamicExtent(i) ? flatten(op.getSizes()[next++]).front()
                                                : code.index(type.getShape()[i]));
  ref.strides.assign(type.getRank(), Value());
  Value dense = code.index(1);
  for (int64_t i = type.getRank(); i-- > 0;) {
    ref.strides[i] = dense;
    dense = code.mul(dense, ref.sizes[i]);
  }
  views[op.getView()] = ref;
  return success();
}

Value Emitter::sharedPtr(Value byteOffset) {
  OpBuilder &b = code.b;
  MLIRContext *c = b.getContext();
  auto module = function->getParentOfType<ModuleOp>();
  StringRef name = "tile_shared";
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    LLVM::GlobalOp::create(b, module.getLoc(), type, /*isConstant=*/false, LLVM::Linkage::External, name,
                           Attribute(), /*alignment=*/1024, sharedSpace());
  }
  Value base = LLVM::AddressOfOp::create(b, code.loc, LLVM::LLVMPointerType::get(c, sharedSpace()), name);
  return code.offset(base, b.getI8Type(), byteOffset);
}

LogicalResult Emitter::emitSubbuffer(SubbufferOp op) {
  BufferType from = op.getSource().getType(), to = op.getResult().getType();
  SmallVector<Value> coords;
  for (Value offset : op.getOffsets())
    coords.push_back(code.toI32(flatten(offset).front()));
  Value at = bufferOffset(get(op.getSource()), from, coords);
  set(op.getResult(), at);
  (void)to;
  return success();
}
