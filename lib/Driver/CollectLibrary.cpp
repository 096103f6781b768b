//===- CollectLibrary.cpp - what the outputs say about kernels and images ----===//
#include "CollectLibrary.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tilec;
using namespace tilec::tile;
using target::Arg;
using target::Condition;
using target::Image;
using target::Library;
using target::Param;
using target::Variant;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static target::Dim describeDim(const hir::DimExpr &d) {
  target::Dim dim;
  dim.constant = d.constant;
  dim.symbol = d.symbol ? static_cast<int>(d.symbol->index) : -1;
  dim.text = d.text;
  return dim;
}

static Arg describeArg(const hir::Object &object) {
  Arg arg;
  arg.name = object.name;
  arg.dtype = object.dtype;
  if (object.kind == hir::Object::Tensor) {
    const auto &tensor = static_cast<const hir::TensorObj &>(object);
    arg.kind = Arg::Tensor;
    arg.strided = tensor.strided;
    arg.align = tensor.assumedAlign;
    arg.access = static_cast<decltype(arg.access)>(tensor.access);
    for (const hir::DimExpr &d : tensor.dims)
      arg.dims.push_back(describeDim(d));
    for (const hir::DimExpr &d : tensor.strides)
      arg.strides.push_back(describeDim(d));
  } else {
    const auto &param = static_cast<const hir::ParamObj &>(object);
    arg.kind = object.kind == hir::Object::Pointer ? Arg::Pointer : Arg::Scalar;
    arg.align = param.assumedAlign;
  }
  return arg;
}

static unsigned slotsOf(mlir::Type type) {
  auto view = llvm::dyn_cast<ViewType>(type);
  return view ? 1 + 2 * view.getRank() : 1;
}

static void describeLaunches(KernelOp host, mlir::ModuleOp module, target::KernelDesc &kernel) {
  llvm::StringSet<> seen;
  host.walk<mlir::WalkOrder::PreOrder>([&](LaunchCallOp call) {
    auto device = module.lookupSymbol<KernelOp>(call.getCallee());
    if (!device || !seen.insert(call.getCallee()).second)
      return;
    target::LaunchDesc launch;
    launch.name = call.getCallee().str();
    launch.gridRank = call.getGrid().size();
    launch.points = call.getPoints() ? call.getPoints()->size() : 0;
    if (auto targets = call.getMeasuredFor())
      for (auto name : targets->getAsRange<mlir::StringAttr>())
        launch.measuredFor.push_back(name.getValue().str());
    for (mlir::Type t : device.getArgumentTypes())
      launch.slots += slotsOf(t);
    kernel.launches.push_back(std::move(launch));
  });
  host.walk([&](WorkspaceOp) { kernel.needsWorkspace = true; });
  host.walk([&](AssumeOp assume) {
    if (!assume.getText().empty())
      kernel.preconditions.push_back(assume.getText().str());
  });
}

std::vector<target::KernelDesc> tilec::describeKernels(const hir::Program &program, mlir::ModuleOp module) {
  std::vector<target::KernelDesc> kernels;
  for (const auto &k : program.kernels) {
    target::KernelDesc kernel;
    kernel.name = k->name;
    kernel.signature = k->signature;
    kernel.doc = k->doc;
    kernel.file = program.moduleName;
    kernel.line = k->loc.line;
    kernel.inplace = k->inplace;
    kernel.indexBits = k->indexBits;
    for (const hir::Object *p : k->params)
      kernel.args.push_back(describeArg(*p));
    for (const hir::Symbol *s : k->symbols)
      kernel.symbols.push_back(s->name);
    for (const hir::ConstBinding &c : k->constants)
      kernel.constants.push_back({c.name, c.value});
    if (auto host = module.lookupSymbol<KernelOp>(k->name))
      describeLaunches(host, module, kernel);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

Image tilec::makeImage(const Library &library, const TargetDesc &target) {
  Image image;
  image.kind = target.family == Family::CPU   ? Image::CPU
               : target.family == Family::AMD ? Image::HSACO
               : target.emitsPTX              ? Image::PTX
                                              : Image::Cubin;
  image.arch = target.name;
  for (const target::KernelDesc &kernel : library.kernels)
    image.variants.emplace_back(kernel.launches.size());
  return image;
}

/// Adds a variant to launch `name`, which some kernel should have.
static void addVariant(const Library &library, llvm::StringRef name, Image &image, Variant variant) {
  for (auto [k, kernel] : llvm::enumerate(library.kernels))
    for (auto [l, launch] : llvm::enumerate(kernel.launches))
      if (launch.name == name) {
        auto measured = llvm::find(launch.measuredFor, image.arch);
        variant.measured =
            measured == launch.measuredFor.end() ? 0 : measured - launch.measuredFor.begin() + 1;
        image.variants[k][l].push_back(std::move(variant));
        return;
      }
}

static int64_t number(mlir::DictionaryAttr dict, llvm::StringRef name, int64_t otherwise = 0) {
  auto attr = dict.getAs<mlir::IntegerAttr>(name);
  return attr ? attr.getInt() : otherwise;
}

static std::string text(mlir::DictionaryAttr dict, llvm::StringRef name) {
  auto attr = dict.getAs<mlir::StringAttr>(name);
  return attr ? attr.getValue().str() : std::string();
}

static Condition readCondition(mlir::DictionaryAttr dict) {
  Condition c;
  std::string kind = text(dict, "kind");
  c.kind = llvm::StringSwitch<Condition::Kind>(kind)
               .Case("multiple_of", Condition::MultipleOf)
               .Case("at_least", Condition::AtLeast)
               .Case("at_most", Condition::AtMost)
               .Default(Condition::Equal);
  c.slot = number(dict, "slot");
  c.value = number(dict, "value");
  c.text = text(dict, "text");
  return c;
}

static Param readParam(mlir::DictionaryAttr dict) {
  Param p;
  if (dict.contains("schedule_seed")) {
    p.kind = Param::Seed;
    return p;
  }
  if (!dict.contains("view_slot")) {
    p.kind = Param::Slot;
    p.slot = number(dict, "slot");
    p.bytes = number(dict, "bytes", 8);
    return p;
  }
  p.kind = Param::Map;
  p.map.viewSlot = number(dict, "view_slot");
  p.map.tf32 = dict.contains("tf32");
  p.map.elementType = parseDType(text(dict, "dtype")).value_or(DType::U8);
  p.map.rank = number(dict, "rank");
  p.map.swizzleBytes = number(dict, "swizzle");
  if (auto box = dict.getAs<mlir::DenseI64ArrayAttr>("box"))
    p.map.box.assign(box.asArrayRef().begin(), box.asArrayRef().end());
  return p;
}

static Variant readVariant(mlir::Operation *function) {
  auto integer = [&](llvm::StringRef name) {
    auto attr = function->getAttrOfType<mlir::IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  };
  Variant v;
  v.symbol = mlir::SymbolTable::getSymbolName(function).str();
  v.threads = integer("tile.threads");
  v.dynamicShared = integer(TileDialect::kSharedBytesAttrName);
  v.persistent = function->hasAttr("tile.persistent");
  v.minBlocks = std::max<int64_t>(1, integer("tile.min_blocks"));
  v.point = integer(TileDialect::kPointAttrName);
  if (auto values = function->getAttrOfType<mlir::DictionaryAttr>("tile.constants"); values && v.point)
    for (mlir::NamedAttribute value : values)
      v.constants.push_back({value.getName().str(), text(values, value.getName())});
  if (auto waves = function->getAttrOfType<mlir::DenseI64ArrayAttr>("tile.bank_waves"))
    if (llvm::ArrayRef<int64_t> w = waves; w.size() == 2)
      std::tie(v.resources.bankWaves, v.resources.idealWaves) = std::pair(w[0], w[1]);
  if (auto cost = function->getAttrOfType<mlir::DenseI64ArrayAttr>(TileDialect::kCostAttrName))
    if (llvm::ArrayRef<int64_t> c = cost; c.size() == 4)
      v.cost = {c[0], c[1], c[2], c[3]};
  if (auto schedule = function->getAttrOfType<mlir::StringAttr>("tile.schedule"))
    v.schedule = schedule.getValue().str();
  if (auto list = function->getAttrOfType<mlir::ArrayAttr>(TileDialect::kConditionsAttrName))
    for (auto dict : list.getAsRange<mlir::DictionaryAttr>())
      v.conditions.push_back(readCondition(dict));
  if (auto list = function->getAttrOfType<mlir::ArrayAttr>("tile.params"))
    for (auto dict : list.getAsRange<mlir::DictionaryAttr>())
      v.params.push_back(readParam(dict));
  // A tensor that the copy engine cannot describe (an odd row length of a stored one, say) goes to the next
  // variant.
  if (llvm::any_of(v.params, [](const Param &p) { return p.kind == Param::Map; }))
    v.conditions.push_back({Condition::Maps, 0, 0, "every tensor can be described to the copy engine"});
  return v;
}

void tilec::collectVariants(mlir::ModuleOp module, const Library &library, Image &image) {
  module.walk([&](mlir::FunctionOpInterface function) {
    if (!function->hasAttr("tile.params"))
      return;
    auto launch = function->getAttrOfType<mlir::StringAttr>(TileDialect::kLaunchNameAttrName);
    if (!launch) // a kernel without variants goes by its own name
      launch = function->getAttrOfType<mlir::StringAttr>("tile.kernel");
    if (launch)
      addVariant(library, launch.getValue(), image, readVariant(function));
  });
}

void tilec::collectVariants(const target::CPUObject &object, const Library &library, Image &image) {
  for (const target::CPUKernel &kernel : object.kernels) {
    Variant v;
    v.symbol = kernel.symbol;
    v.arenaBytes = kernel.arenaBytes;
    v.schedule = kernel.schedule;
    addVariant(library, kernel.kernel, image, std::move(v));
  }
}
