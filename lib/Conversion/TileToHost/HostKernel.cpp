//===- HostKernel.cpp - one host kernel becomes one function ------------------------===//
// The shape of the function is written down in runtime/tile_rt_gen.h.
#include "HostKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

// Numbers of runtime/tile_rt.h.
enum { ErrShape = 104, ErrStride = 105, ErrPrecondition = 111 };
// Parameters of the function.
enum { ParamMode, ParamKernel, ParamLaunch, ParamBytes, ParamFirst };

//===----------------------------------------------------------------------===//
// Shared declarations
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kLibrarySymbol = "tilec.library";

HostRuntime::HostRuntime(ModuleOp module) : module(module) {
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  Type opaque = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  LLVM::GlobalOp::create(b, module.getLoc(), opaque, /*isConstant=*/true, LLVM::Linkage::External,
                         kLibrarySymbol, Attribute());
}

Value HostRuntime::text(OpBuilder &builder, Location loc, StringRef text) {
  std::string bytes = text.str();
  std::replace(bytes.begin(), bytes.end(), '\0', ' ');
  bytes.push_back('\0');
  LLVM::GlobalOp &global = texts[bytes];
  if (!global) {
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    Type type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Private,
                                    ("tilec.text." + Twine(texts.size() - 1)).str(), b.getStringAttr(bytes),
                                    /*alignment=*/1);
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

Value HostRuntime::library(OpBuilder &builder, Location loc) {
  return LLVM::AddressOfOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                                   kLibrarySymbol);
}

Value HostRuntime::call(OpBuilder &builder, Location loc, StringRef name, ValueRange operands) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    SmallVector<Type> types(operands.getTypes());
    function = LLVM::LLVMFuncOp::create(b, module.getLoc(), name,
                                        LLVM::LLVMFunctionType::get(b.getI32Type(), types));
  }
  return LLVM::CallOp::create(builder, loc, function, operands).getResult();
}

//===----------------------------------------------------------------------===//
// Small things
//===----------------------------------------------------------------------===//

Value HostKernelLowering::i32(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
}
Value HostKernelLowering::i64(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), value);
}
Value HostKernelLowering::null() {
  return LLVM::ZeroOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()));
}

Value HostKernelLowering::toI64(Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}

/// The bits of a scalar in the low bytes of a launch value; integers are extended by their sign.
Value HostKernelLowering::slotBits(Value scalar) {
  Type type = scalar.getType(), word = builder.getI64Type();
  if (type.isIndex())
    return toI64(scalar);
  bool isSigned = !unsignedScalars.contains(scalar) && !type.isInteger(1);
  if (isa<FloatType>(type)) {
    type = builder.getIntegerType(type.getIntOrFloatBitWidth());
    // Looked through here: at -O0 a value of type bfloat would survive and become a library call.
    auto cast = scalar.getDefiningOp<arith::BitcastOp>();
    scalar = cast && cast.getIn().getType() == type
                 ? cast.getIn()
                 : arith::BitcastOp::create(builder, loc, type, scalar).getResult();
    isSigned = false;
  }
  if (type == word)
    return scalar;
  if (isSigned)
    return arith::ExtSIOp::create(builder, loc, word, scalar);
  return arith::ExtUIOp::create(builder, loc, word, scalar);
}

/// Uninitialised words on the stack. They belong to the entry block: a launch may stand in a loop.
Value HostKernelLowering::scratch(int64_t words, int64_t align) {
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  Value count = LLVM::ConstantOp::create(b, loc, b.getI64Type(), std::max<int64_t>(words, 1));
  return LLVM::AllocaOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), b.getI64Type(), count,
                                align);
}

static Value wordAddress(OpBuilder &b, Location loc, Value base, int64_t word) {
  return LLVM::GEPOp::create(b, loc, base.getType(), b.getI64Type(), base,
                             ArrayRef<LLVM::GEPArg>{int32_t(word)});
}

void HostKernelLowering::store(Value value, Value base, int64_t word) {
  LLVM::StoreOp::create(builder, loc, value, wordAddress(builder, loc, base, word));
}

Value HostKernelLowering::load(Value base, int64_t word) {
  return LLVM::LoadOp::create(builder, loc, builder.getI64Type(), wordAddress(builder, loc, base, word));
}

Value HostKernelLowering::product(ArrayRef<Value> values) {
  Value result = i64(1);
  for (Value v : values)
    result = arith::MulIOp::create(builder, loc, result, v);
  return result;
}

SmallVector<Value> HostKernelLowering::sizesOf(ViewType type, ValueRange dynamic) {
  SmallVector<Value> sizes;
  size_t next = 0;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    sizes.push_back(type.isDynamicExtent(axis) ? toI64(dynamic[next++]) : i64(type.getShape()[axis]));
  return sizes;
}

SmallVector<Value> HostKernelLowering::rowMajor(ArrayRef<Value> sizes) {
  SmallVector<Value> strides(sizes.size());
  Value stride = i64(1);
  for (size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = stride;
    if (axis)
      stride = arith::MulIOp::create(builder, loc, stride, sizes[axis]);
  }
  return strides;
}

void HostKernelLowering::returnOnFailure(Value status) {
  Value bad = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, status, i32(0));
  Block *here = builder.getInsertionBlock();
  Block *rest = here->splitBlock(builder.getInsertionPoint());
  builder.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(builder, loc, bad, exit, ValueRange{status}, rest, ValueRange{});
  builder.setInsertionPointToStart(rest);
}

void HostKernelLowering::failWhen(Value bad, int status, int argument, int dim, Value expected, Value actual,
                                  StringRef text) {
  Block *here = builder.getInsertionBlock();
  Block *rest = here->splitBlock(builder.getInsertionPoint());
  Block *report = new Block;
  rest->getParent()->getBlocks().insert(rest->getIterator(), report);
  builder.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(builder, loc, bad, report, rest);
  builder.setInsertionPointToEnd(report);
  Value result = runtime.call(
      builder, loc, "tile_rt_fail",
      {call, i32(status), i32(argument), i32(dim), expected, actual, runtime.text(builder, loc, text)});
  // TILE_OK: the caller asked for no checks.
  Value failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, result, i32(0));
  LLVM::CondBrOp::create(builder, loc, failed, exit, ValueRange{result}, rest, ValueRange{});
  builder.setInsertionPointToStart(rest);
}

//===----------------------------------------------------------------------===//
// Function and arguments
//===----------------------------------------------------------------------===//

/// How C passes an argument of that type: tensors and pointers by address, floats below 32 bits as their
/// bits.
static Type parameterType(Type type) {
  Builder b(type.getContext());
  if (isa<ViewType, PtrType>(type))
    return LLVM::LLVMPointerType::get(type.getContext());
  if (type.isInteger(1))
    return b.getI8Type();
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    return b.getIntegerType(type.getIntOrFloatBitWidth());
  return type.isIndex() ? b.getI64Type() : type;
}

void HostKernelLowering::createFunction() {
  Type ptr = LLVM::LLVMPointerType::get(builder.getContext()), word32 = builder.getI32Type();
  SmallVector<Type> types = {word32, word32, ptr, ptr};
  for (Type type : kernel.getArgumentTypes())
    types.push_back(parameterType(type));
  builder.setInsertionPoint(kernel);
  func = LLVM::LLVMFuncOp::create(builder, loc, (kernel.getSymName() + "__host").str(),
                                  LLVM::LLVMFunctionType::get(word32, types), LLVM::Linkage::Internal);
}

Value HostKernelLowering::scalarArgument(Type type, Value value) {
  if (type.isInteger(1)) {
    Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI8Type(), 0);
    return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, value, zero);
  }
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  if (type != value.getType())
    return arith::BitcastOp::create(builder, loc, type, value);
  return value;
}

HostKernelLowering::View HostKernelLowering::argumentView(ViewType type, Value array, int64_t &slot) {
  View view;
  view.address = load(array, slot++);
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    view.sizes.push_back(load(array, slot++));
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    view.strides.push_back(load(array, slot++));
  return view;
}

void HostKernelLowering::lowerArguments(Block *body) {
  Block *entry = builder.getInsertionBlock();
  SmallVector<Value> tensors;
  int64_t words = 0, most = 0;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (auto view = dyn_cast<ViewType>(type)) {
      tensors.push_back(entry->getArgument(ParamFirst + i));
      words += 1 + 2 * view.getRank();
      most += 2 * view.getRank();
    }
  call = scratch(32, 16);
  Value tensorArray = scratch(tensors.size()), viewArray = scratch(words);
  // There is no more than one symbol per extent or stride. Scalar parameters bind none: they are equations.
  Value symbols = scratch(most);
  for (auto [i, tensor] : llvm::enumerate(tensors))
    store(tensor, tensorArray, i);
  returnOnFailure(runtime.call(builder, loc, "tile_rt_begin",
                               {call, runtime.library(builder, loc), entry->getArgument(ParamKernel),
                                entry->getArgument(ParamMode), entry->getArgument(ParamLaunch),
                                entry->getArgument(ParamBytes), tensorArray, symbols, viewArray}));
  int64_t slot = 0;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    BlockArgument old = body->getArgument(i);
    Value passed = entry->getArgument(ParamFirst + i);
    if (auto viewType = dyn_cast<ViewType>(type)) {
      views[old] = argumentView(viewType, viewArray, slot);
      views[old].argument = i;
    } else if (isa<PtrType>(type)) {
      pointers[old] = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), passed);
    } else {
      Value scalar = scalarArgument(type, passed);
      std::optional<DType> dtype = kernel.getArgDType(i);
      if (dtype && dtypeClass(*dtype) == DTypeClass::Unsigned)
        unsignedScalars.insert(scalar);
      old.replaceAllUsesWith(scalar);
    }
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void HostKernelLowering::lowerAssume(AssumeOp op) {
  Value bad = arith::XOrIOp::create(builder, loc, op.getCond(),
                                    arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
  failWhen(bad, ErrPrecondition, -1, -1, i64(0), i64(0), op.getText());
}

void HostKernelLowering::lowerRequireEqual(RequireEqualOp op) {
  Value actual = toI64(op.getActual()), expected = toI64(op.getExpected());
  Value bad = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, actual, expected);
  failWhen(bad, op.getStride() ? ErrStride : ErrShape, op.getArg(), op.getAxis(), expected, actual,
           op.getText());
}

void HostKernelLowering::lowerMakeView(MakeViewOp op) {
  ViewType type = op.getView().getType();
  View view;
  view.address = pointers.lookup(op.getBase());
  view.sizes = sizesOf(type, op.getSizes());
  view.strides = rowMajor(view.sizes);
  size_t next = 0;
  for (auto [axis, stride] : llvm::enumerate(type.getStrides()))
    view.strides[axis] = ShapedType::isDynamic(stride) ? toI64(op.getStrides()[next++]) : i64(stride);
  views[op.getView()] = std::move(view);
}

LogicalResult HostKernelLowering::lowerRecast(RecastViewOp op) {
  ViewType type = op.getView().getType();
  const View &source = views[op.getSource()];
  bool sameRank = op.getSource().getType().getRank() == type.getRank();
  View view;
  view.address = source.address;
  view.argument = source.argument;
  if (sameRank && op.getSizes().empty()) {
    view.sizes = source.sizes;
    view.strides = source.strides;
  } else {
    // A reshape: as many elements as before, or the launch fails.
    view.sizes = sizesOf(type, op.getSizes());
    view.strides = rowMajor(view.sizes);
    Value actual = product(source.sizes), expected = product(view.sizes);
    Value bad = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, actual, expected);
    failWhen(bad, ErrShape, view.argument, -1, expected, actual, "reshape");
  }
  views[op.getView()] = std::move(view);
  return success();
}

void HostKernelLowering::lowerWorkspace(WorkspaceOp op) {
  ViewType type = op.getView().getType();
  View view;
  view.sizes = sizesOf(type, op.getSizes());
  view.strides = rowMajor(view.sizes);
  // A negative extent or an overflow asks for -1 bytes, which the runtime refuses.
  Value bytes = i64(llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8));
  Value bad = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
  auto pair =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), {builder.getI64Type(), builder.getI1Type()});
  for (Value size : view.sizes) {
    Value negative = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, size, i64(0));
    Value both = LLVM::SMulWithOverflowOp::create(builder, loc, pair, bytes, size);
    bytes = LLVM::ExtractValueOp::create(builder, loc, both, 0);
    Value overflow = LLVM::ExtractValueOp::create(builder, loc, both, 1);
    bad = LLVM::OrOp::create(builder, loc, bad, LLVM::OrOp::create(builder, loc, negative, overflow));
  }
  bytes = LLVM::SelectOp::create(builder, loc, bad, i64(-1), bytes);
  Value slot = scratch(1);
  returnOnFailure(runtime.call(builder, loc, "tile_rt_workspace", {call, bytes, slot}));
  view.address = load(slot, 0);
  views[op.getView()] = std::move(view);
}

LogicalResult HostKernelLowering::lowerLaunch(LaunchCallOp op) {
  SmallVector<Value> values;
  for (Value extent : op.getGrid())
    values.push_back(toI64(extent));
  for (Value arg : op.getArgs()) {
    if (isa<ViewType>(arg.getType())) {
      const View &view = views[arg];
      values.push_back(view.address);
      llvm::append_range(values, view.sizes);
      llvm::append_range(values, view.strides);
    } else if (isa<PtrType>(arg.getType())) {
      values.push_back(pointers.lookup(arg));
    } else {
      values.push_back(slotBits(arg));
    }
  }
  for (Value trips : op.getTrips())
    values.push_back(toI64(trips));
  for (Value extent : op.getPointGrids())
    values.push_back(toI64(extent));
  for (Value point : op.getMeasured())
    values.push_back(toI64(point));
  Value array = scratch(values.size());
  for (auto [i, value] : llvm::enumerate(values))
    store(value, array, i);
  Value number = i32(launches.lookup(op.getCallee()));
  returnOnFailure(runtime.call(builder, loc, "tile_rt_launch", {call, number, array}));
  return success();
}

void HostKernelLowering::lowerEnd(YieldOp op) {
  Value status = runtime.call(builder, loc, "tile_rt_end", {call});
  LLVM::BrOp::create(builder, loc, ValueRange{status}, exit);
}

LogicalResult HostKernelLowering::lower(Operation *op) {
  loc = op->getLoc();
  builder.setInsertionPoint(op);
  if (auto dim = dyn_cast<DimOp>(op)) {
    Value size = views[dim.getView()].sizes[dim.getAxis()];
    dim.replaceAllUsesWith(
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), size).getResult());
  } else if (auto stride = dyn_cast<StrideOp>(op)) {
    Value value = views[stride.getView()].strides[stride.getAxis()];
    stride.replaceAllUsesWith(
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value).getResult());
  } else if (auto assume = dyn_cast<AssumeOp>(op)) {
    lowerAssume(assume);
  } else if (auto equal = dyn_cast<RequireEqualOp>(op)) {
    lowerRequireEqual(equal);
  } else if (auto make = dyn_cast<MakeViewOp>(op)) {
    lowerMakeView(make);
  } else if (auto recast = dyn_cast<RecastViewOp>(op)) {
    return lowerRecast(recast);
  } else if (auto workspace = dyn_cast<WorkspaceOp>(op)) {
    lowerWorkspace(workspace);
  } else if (auto launch = dyn_cast<LaunchCallOp>(op)) {
    return lowerLaunch(launch);
  } else if (auto yield = dyn_cast<YieldOp>(op)) {
    lowerEnd(yield);
  } else {
    return op->emitOpError() << "cannot stand on the host level";
  }
  return success();
}

/// Views and pointers come from one place only; a choice between two cannot be described to a launch.
static LogicalResult checkBlockArguments(Region &region) {
  for (Block &block : llvm::drop_begin(region))
    for (BlockArgument arg : block.getArguments())
      if (isa<ViewType, PtrType>(arg.getType()))
        return emitError(arg.getLoc()) << "a tensor cannot be chosen at run time on the host level";
  return success();
}

FailureOr<LLVM::LLVMFuncOp> HostKernelLowering::run() {
  loc = kernel.getLoc();
  if (failed(checkBlockArguments(kernel.getBody())))
    return failure();
  createFunction();
  Block *body = &kernel.getBody().front();
  func.getBody().takeBody(kernel.getBody());
  Block *entry = new Block;
  func.getBody().push_front(entry);
  for (Type type : func.getFunctionType().getParams())
    entry->addArgument(type, loc);
  exit = new Block;
  func.getBody().push_back(exit);
  exit->addArgument(builder.getI32Type(), loc);
  builder.setInsertionPointToEnd(exit);
  LLVM::ReturnOp::create(builder, loc, exit->getArgument(0));

  builder.setInsertionPointToEnd(entry);
  lowerArguments(body);
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isa_and_nonnull<TileDialect>(op->getDialect()))
      ops.push_back(op);
  });
  // Joined before the ops are rewritten, since that splits blocks.
  LLVM::BrOp::create(builder, loc, ValueRange{}, body);
  for (Operation *op : ops)
    if (failed(lower(op)))
      return failure();
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  body->eraseArguments(0, body->getNumArguments());
  kernel.erase();
  return func;
}
