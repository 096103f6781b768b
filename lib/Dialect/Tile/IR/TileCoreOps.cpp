//===- TileCoreOps.cpp - kernels, launches, host level ---------------------===//
#include "Verify.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "tilec/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

#define GET_OP_CLASSES
#include "tilec/Dialect/Tile/IR/TileCoreOps.cpp.inc"

void TileDialect::addCoreOps() {
  addOperations<
#define GET_OP_LIST
#include "tilec/Dialect/Tile/IR/TileCoreOps.cpp.inc"
      >();
}

/// What may pass from the host to a launch: everything the runtime can put into an argument slot.
static bool isLaunchArgument(Type type) {
  return isa<IndexType, IntegerType, FloatType, ViewType, PtrType>(type);
}

//===- Kernel --------------------------------------------------------------===//
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

/// A device kernel is one launch over the extents that its first arguments give.
static LogicalResult verifyDeviceKernel(KernelOp kernel) {
  auto launches = kernel.getBody().getOps<LaunchOp>();
  auto count = std::distance(launches.begin(), launches.end());
  if (count != 1)
    return kernel.emitOpError() << "a device kernel has exactly one launch, got " << count;
  size_t axes = (*launches.begin()).getGrid().size();
  for (size_t i = 0; i < axes; ++i)
    if (i >= kernel.getArgumentTypes().size() || !kernel.getArgumentTypes()[i].isIndex())
      return kernel.emitOpError() << "expected the first " << axes
                                  << " arguments of a device kernel to be its grid";
  return success();
}

LogicalResult KernelOp::verify() {
  if (getFunctionType().getNumResults())
    return emitOpError() << "has no results, got " << getFunctionType().getResults();
  for (auto [i, type] : llvm::enumerate(getArgumentTypes()))
    if (!isLaunchArgument(type))
      return emitOpError() << "argument " << i << " must be a view, pointer or scalar, got " << type;
  return isDevice() ? verifyDeviceKernel(*this) : success();
}

LaunchOp KernelOp::getDeviceLaunch() {
  auto launches = getBody().getOps<LaunchOp>();
  return launches.empty() ? LaunchOp() : *launches.begin();
}

std::string KernelOp::getArgName(unsigned i) {
  if (auto name = getArgAttrOfType<StringAttr>(i, TileDialect::kNameAttrName))
    return name.str();
  return "arg" + std::to_string(i);
}

std::optional<DType> KernelOp::getArgDType(unsigned i) {
  auto name = getArgAttrOfType<StringAttr>(i, TileDialect::kDTypeAttrName);
  return name ? parseDType(name.getValue()) : std::nullopt;
}

std::optional<KernelOp::NamedSize> KernelOp::findSize(StringRef name) {
  std::optional<NamedSize> scalar;
  for (auto [i, type] : llvm::enumerate(getArgumentTypes())) {
    if (auto names = getArgAttrOfType<ArrayAttr>(i, TileDialect::kDimsAttrName))
      for (auto [axis, text] : llvm::enumerate(names.getAsRange<StringAttr>()))
        if (text.getValue() == name)
          return NamedSize{unsigned(i), unsigned(axis)};
    if (auto own = getArgAttrOfType<StringAttr>(i, TileDialect::kNameAttrName);
        own && own.getValue() == name && type.isIntOrFloat())
      scalar = NamedSize{unsigned(i), std::nullopt};
  }
  return scalar;
}

//===- Launch --------------------------------------------------------------===//
ParseResult LaunchOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> ids;
  SmallVector<OpAsmParser::UnresolvedOperand> grid;
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseArgumentList(ids, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("in") ||
      parser.parseOperandList(grid, OpAsmParser::Delimiter::Paren) ||
      parser.resolveOperands(grid, index, result.operands))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("schedule"))) {
    ScheduleAttr schedule;
    if (parser.parseAttribute(schedule))
      return failure();
    result.addAttribute(getScheduleAttrName(result.name), schedule);
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (OpAsmParser::Argument &id : ids)
    id.type = index;
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, ids))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void LaunchOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(getBody().getArguments(), printer, [&](BlockArgument id) { printer << id; });
  printer << ") in (" << getGrid() << ")";
  if (getScheduleAttr())
    printer << " schedule " << getScheduleAttr();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getScheduleAttrName()});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
}

/// Besides those of the body: the host calls a device kernel, so its launch may become empty but never goes.
void LaunchOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  auto kernel = dyn_cast_or_null<KernelOp>((*this)->getParentOp());
  if (kernel && kernel.isDevice())
    effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult LaunchOp::verify() {
  size_t axes = getGrid().size();
  if (axes < 1 || axes > 3)
    return emitOpError() << "has 1 to 3 grid axes, got " << axes;
  if (getBody().getNumArguments() != axes)
    return emitOpError() << "expected one block id per grid axis, got " << getBody().getNumArguments()
                         << " for " << axes;
  for (BlockArgument id : getBody().getArguments())
    if (!id.getType().isIndex())
      return emitOpError() << "block ids are index, got " << id.getType();
  return success();
}

LogicalResult LaunchOp::verifyRegions() {
  Region &body = getBody();
  WalkResult result = body.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!body.isAncestor(operand.getParentRegion()) && !isLaunchArgument(operand.getType())) {
        op->emitOpError() << "captures " << operand.getType() << " from the host level";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===- Launch call ---------------------------------------------------------===//
static LogicalResult verifyCallee(LaunchCallOp call, SymbolTableCollection &symbols, FlatSymbolRefAttr name,
                                  ValueRange grid) {
  auto callee = symbols.lookupNearestSymbolFrom<KernelOp>(call, name);
  if (!callee || !callee.isDevice())
    return call.emitOpError() << "'" << name.getValue() << "' is not a device kernel";
  SmallVector<Type> types(grid.getTypes());
  llvm::append_range(types, call.getArgs().getTypes());
  if (types.size() != callee.getArgumentTypes().size())
    return call.emitOpError() << "expected " << callee.getArgumentTypes().size()
                              << " grid extents and arguments for '" << name.getValue() << "', got "
                              << types.size();
  for (auto [i, pair] : llvm::enumerate(llvm::zip(types, callee.getArgumentTypes())))
    if (std::get<0>(pair) != std::get<1>(pair))
      return call.emitOpError() << "argument " << i << " of '" << name.getValue() << "' is "
                                << std::get<1>(pair) << ", got " << std::get<0>(pair);
  LaunchOp launch = callee.getDeviceLaunch();
  if (launch && launch.getGrid().size() != grid.size() && !launch.getScheduleAttr())
    return call.emitOpError() << "expected " << launch.getGrid().size() << " grid extents, got "
                              << grid.size();
  return success();
}

LogicalResult LaunchCallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyCallee(*this, symbols, getCalleeAttr(), getGrid())))
    return failure();
  size_t points = getPoints() ? getPoints()->size() : 0, rank = getGrid().size();
  if (getPointGrids().size() != points * rank || getTrips().size() != (points ? points + 1 : 0))
    return emitOpError() << "expected " << points * rank << " grid extents of points and "
                         << (points ? points + 1 : 0) << " numbers of trips, got " << getPointGrids().size()
                         << " and " << getTrips().size();
  size_t measured = getMeasuredFor() ? getMeasuredFor()->size() : 0;
  if (getMeasured().size() != measured || (measured && !points))
    return emitOpError() << "expected points and a number for each target in `measured`, got "
                         << getMeasured().size() << " for " << measured;
  for (size_t i = 0; i < points; ++i)
    if (failed(verifyCallee(*this, symbols, cast<FlatSymbolRefAttr>((*getPoints())[i]),
                            getPointGrids().slice(i * rank, rank))))
      return failure();
  return success();
}

//===- Require equal -------------------------------------------------------===//
LogicalResult RequireEqualOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel || kernel.isDevice() || (*this)->getParentOfType<LaunchOp>())
    return emitOpError() << "belongs on the host level of a kernel";
  uint64_t arg = getArg();
  auto view = arg < kernel.getArgumentTypes().size() ? dyn_cast<ViewType>(kernel.getArgumentTypes()[arg])
                                                     : ViewType();
  if (!view)
    return emitOpError() << "argument " << arg << " is not a view";
  if (getAxis() >= static_cast<uint64_t>(view.getRank()))
    return emitOpError() << "axis " << getAxis() << " is out of range for " << view;
  return success();
}

//===- Views ---------------------------------------------------------------===//
template <typename T> static LogicalResult verifyAxis(T op) {
  int64_t axis = op.getAxis(), rank = op.getView().getType().getRank();
  if (axis >= 0 && axis < rank)
    return success();
  return op.emitOpError() << "axis " << axis << " is out of range for " << op.getView().getType();
}

LogicalResult DimOp::verify() { return verifyAxis(*this); }
LogicalResult StrideOp::verify() { return verifyAxis(*this); }

static unsigned countDynamic(ArrayRef<int64_t> shape) { return llvm::count(shape, ShapedType::kDynamic); }

/// The operand that gives the size of `axis`: dynamic extents take operands in order.
static Value sizeOperand(ViewType type, OperandRange sizes, unsigned axis) {
  if (!type.isDynamicExtent(axis))
    return {};
  unsigned i = countDynamic(type.getShape().take_front(axis));
  return i < sizes.size() ? sizes[i] : Value();
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  ViewType type = getView().getType();
  int64_t axis = getAxis();
  if (!type.isDynamicExtent(axis))
    return IntegerAttr::get(IndexType::get(getContext()), type.getShape()[axis]);
  if (auto make = getView().getDefiningOp<MakeViewOp>())
    return sizeOperand(type, make.getSizes(), axis);
  if (auto workspace = getView().getDefiningOp<WorkspaceOp>())
    return sizeOperand(type, workspace.getSizes(), axis);
  auto recast = getView().getDefiningOp<RecastViewOp>();
  if (!recast)
    return {};
  if (!recast.getSizes().empty())
    return sizeOperand(type, recast.getSizes(), axis);
  if (recast.getSource().getType().getRank() != type.getRank())
    return {};
  getViewMutable().assign(recast.getSource());
  return getResult();
}

OpFoldResult StrideOp::fold(FoldAdaptor) {
  int64_t stride = getView().getType().getStaticStride(getAxis());
  if (ShapedType::isDynamic(stride))
    return {};
  return IntegerAttr::get(IndexType::get(getContext()), stride);
}

template <typename T> static LogicalResult verifySizes(T op, ViewType type) {
  if (op.getSizes().size() == countDynamic(type.getShape()))
    return success();
  return op.emitOpError() << "expected " << countDynamic(type.getShape()) << " sizes for " << type << ", got "
                          << op.getSizes().size();
}

LogicalResult MakeViewOp::verify() {
  ViewType view = getView().getType();
  if (getBase().getType().getElementType() != view.getElementType())
    return emitOpError() << "element types differ: " << getBase().getType() << " and " << view;
  if (getStrides().size() != countDynamic(view.getStrides()))
    return emitOpError() << "expected " << countDynamic(view.getStrides()) << " strides for " << view
                         << ", got " << getStrides().size();
  return verifySizes(*this, view);
}

LogicalResult WorkspaceOp::verify() {
  if (!getView().getType().isContiguous())
    return emitOpError() << "a workspace is contiguous, got " << getView().getType();
  return verifySizes(*this, getView().getType());
}

/// Without operands every axis keeps its size; with operands (or another rank) it is a reshape.
LogicalResult RecastViewOp::verify() {
  ViewType from = getSource().getType(), to = getView().getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError() << "element types differ: " << from << " and " << to;
  bool sameExtents = from.getRank() == to.getRank();
  for (int64_t axis = 0; sameExtents && axis < from.getRank(); ++axis)
    sameExtents = from.isDynamicExtent(axis) || from.getShape()[axis] == to.getShape()[axis] ||
                  to.isDynamicExtent(axis);
  if (sameExtents && getSizes().empty())
    return success();
  if (!from.isContiguous() || !to.isContiguous())
    return emitOpError() << "only a contiguous view can be reshaped, got " << from << " to " << to;
  return verifySizes(*this, to);
}

OpFoldResult RecastViewOp::fold(FoldAdaptor) {
  if (getSizes().empty() && getSource().getType() == getView().getType())
    return getSource();
  // The outer recast says everything about the result; an inner one that only sharpened a type drops out.
  auto inner = getSource().getDefiningOp<RecastViewOp>();
  if (!inner || !inner.getSizes().empty() ||
      inner.getSource().getType().getRank() != getSource().getType().getRank())
    return {};
  if (!getSizes().empty() && !inner.getSource().getType().isContiguous())
    return {};
  if (getSizes().empty() && getView().getType().getRank() != getSource().getType().getRank())
    return {};
  getSourceMutable().assign(inner.getSource());
  return getResult();
}

LogicalResult RasterOp::verify() {
  if (getIds().size() == getGrid().size() && !getGrid().empty() && getGrid().size() <= 3)
    return success();
  return emitOpError() << "expected one id for each of 1 to 3 grid axes, got " << getIds().size() << " for "
                       << getGrid().size();
}

LogicalResult PrintOp::verify() {
  for (Type type : getArgs().getTypes())
    if (!isa<IndexType, IntegerType, FloatType, TileType, BufferType>(type))
      return emitOpError() << "prints scalars, tiles and buffers, got " << type;
  return success();
}
