//===- TileDialect.cpp - registration, aliases, discardable attributes -----===//
#include "tilec/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tilec::tile;

#include "tilec/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "tilec/Dialect/Tile/IR/TileEnums.cpp.inc"

namespace {
/// Layouts and schedules are long and repeated: they get a name at the top of the file.
struct TileAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (auto layout = dyn_cast<LayoutAttr>(attr))
      os << (layout.isMemory() ? "shared" : "layout");
    else if (isa<ScheduleAttr>(attr))
      os << "schedule";
    else
      return AliasResult::NoAlias;
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void TileDialect::initialize() {
  registerAttributes();
  registerTypes();
  addCoreOps();
  addMemoryOps();
  addMathOps();
  addAsyncOps();
  addInterfaces<TileAsmInterface>();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

static LogicalResult verifyPipeline(Operation *op, Attribute attr) {
  auto pipeline = dyn_cast<PipelineAttr>(attr);
  if (!pipeline)
    return op->emitOpError("expects 'tile.pipeline' to be a #tile.pipeline, got ") << attr;
  if (!isa<scf::ForOp, scf::WhileOp>(op))
    return op->emitOpError("'tile.pipeline' belongs on scf.for or scf.while");
  return success();
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName();
  Attribute value = attr.getValue();
  if (name == kPipelineAttrName)
    return verifyPipeline(op, value);
  if (name == kSharedBytesAttrName) {
    // The lowered kernel, a function of another dialect, keeps it for the launcher.
    bool lowered = isa<FunctionOpInterface>(op) && !isa<KernelOp>(op);
    if ((!lowered && !isa<LaunchOp>(op)) || !isa<IntegerAttr>(value))
      return op->emitOpError("'tile.shared_bytes' is an integer on a tile.launch");
    return success();
  }
  bool isString =
      name == kHostAttrName || name == kDocAttrName || name == kCNameAttrName || name == kSignatureAttrName;
  bool isOther = name == kTargetAttrName || name == kDeviceAttrName || name == kInstanceAttrName;
  if (!isString && !isOther)
    return success(); // others may hang notes of their own on any op
  if (!isa<KernelOp>(op))
    return op->emitOpError() << "'" << name << "' belongs on tile.kernel";
  if (isString && !isa<StringAttr>(value))
    return op->emitOpError() << "expects '" << name << "' to be a string, got " << value;
  if (name == kTargetAttrName && !isa<TargetAttr>(value))
    return op->emitOpError() << "expects 'tile.target' to be a #tile.target, got " << value;
  if (name == kDeviceAttrName && !isa<UnitAttr>(value))
    return op->emitOpError() << "expects 'tile.device' to be a unit attribute, got " << value;
  if (name == kInstanceAttrName && !isa<DictionaryAttr>(value))
    return op->emitOpError() << "expects 'tile.instance' to be a dictionary, got " << value;
  return success();
}

/// One string per axis of a view argument.
static LogicalResult verifyAxisTexts(Operation *op, unsigned arg, Type type, NamedAttribute attr) {
  auto texts = dyn_cast<ArrayAttr>(attr.getValue());
  if (!texts || !llvm::all_of(texts, llvm::IsaPred<StringAttr>))
    return op->emitOpError() << "expects '" << attr.getName().getValue() << "' of argument " << arg
                             << " to be an array of strings";
  auto view = dyn_cast<ViewType>(type);
  if (!view)
    return op->emitOpError() << "'" << attr.getName().getValue() << "' belongs on a view, argument " << arg
                             << " is " << type;
  if (texts.size() != view.getShape().size())
    return op->emitOpError() << "'" << attr.getName().getValue() << "' of argument " << arg << " has "
                             << texts.size() << " entries for " << view.getShape().size() << " axes";
  return success();
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned arg,
                                                    NamedAttribute attr) {
  StringRef name = attr.getName();
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel || arg >= kernel.getArgumentTypes().size())
    return op->emitOpError() << "'" << name << "' belongs on an argument of tile.kernel";
  if (name == kDimsAttrName || name == kStridesAttrName)
    return verifyAxisTexts(op, arg, kernel.getArgumentTypes()[arg], attr);
  if (name != kNameAttrName && name != kAccessAttrName && name != kDTypeAttrName)
    return success();
  auto text = dyn_cast<StringAttr>(attr.getValue());
  if (!text)
    return op->emitOpError() << "expects '" << name << "' of argument " << arg << " to be a string";
  if (name == kAccessAttrName && text != "in" && text != "out" && text != "inout")
    return op->emitOpError() << "expects 'tile.access' of argument " << arg
                             << " to be \"in\", \"out\" or \"inout\", got " << text;
  return success();
}
