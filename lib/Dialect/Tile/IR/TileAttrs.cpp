//===- TileAttrs.cpp - layouts and decisions -------------------------------===//
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::tile {
/// `[a, b, c]` of integers or attributes inside a struct(params) format.
template <typename T> static FailureOr<SmallVector<T>> parseList(AsmParser &parser) {
  SmallVector<T> list;
  auto parseOne = [&]() -> ParseResult {
    FailureOr<T> item = FieldParser<T>::parse(parser);
    if (failed(item))
      return failure();
    list.push_back(*item);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  return list;
}

static void printList(AsmPrinter &printer, ArrayRef<int64_t> list) {
  printer << "[";
  llvm::interleaveComma(list, printer.getStream());
  printer << "]";
}

static void printList(AsmPrinter &printer, ArrayRef<RoleAttr> list) {
  printer << "[";
  llvm::interleaveComma(list, printer.getStream(),
                        [&](RoleAttr role) { printer.printStrippedAttrOrType(role); });
  printer << "]";
}
} // namespace tilec::tile

#define GET_ATTRDEF_CLASSES
#include "tilec/Dialect/Tile/IR/TileAttrs.cpp.inc"

using namespace tilec;
using namespace tilec::tile;

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilec/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
}

using EmitError = function_ref<InFlightDiagnostic()>;

//===- Layout --------------------------------------------------------------===//
Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  std::string text, why;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseString(&text) || parser.parseGreater())
    return {};
  FailureOr<tilec::Layout> layout = tilec::Layout::parse(text, &why);
  if (failed(layout)) {
    parser.emitError(loc, "malformed layout: ") << why;
    return {};
  }
  return parser.getChecked<LayoutAttr>(loc, parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const { printer << "<\"" << getLayout().str() << "\">"; }

LogicalResult LayoutAttr::verify(EmitError emitError, tilec::Layout layout) {
  bool memory = layout.hasOut(DimId::Offset);
  for (const tilec::Layout::In &in : layout.ins()) {
    bool known = memory ? isCoord(in.id) || in.id == DimId::Slot : in.id <= DimId::Block;
    if (!known)
      return emitError() << "'" << dimName(in.id) << "' is no input of a " << (memory ? "memory" : "fragment")
                         << " layout";
  }
  if (memory)
    return layout.outs().size() == 1 ? success()
                                     : emitError() << "a memory layout has the offset as its only output";
  for (auto [axis, out] : llvm::enumerate(layout.outs()))
    if (out.id != coord(axis))
      return emitError() << "a fragment layout maps to d0, d1, .. without gaps, got '" << dimName(out.id)
                         << "'";
  for (const tilec::Layout::Digit &digit : layout.digits(DimId::Reg))
    if (!digit.moves())
      return emitError() << "a register may not repeat another of its thread";
  return success();
}

int64_t LayoutAttr::getRank() const {
  if (!isMemory())
    return getLayout().rank();
  ArrayRef<tilec::Layout::In> ins = getLayout().ins();
  return ins.empty() || !isCoord(ins.back().id) ? 0 : axisOf(ins.back().id) + 1;
}

int64_t LayoutAttr::getFootprint() const {
  return std::max(getLayout().outSize(DimId::Offset), getLayout().cover(DimId::Offset));
}

LayoutAttr LayoutAttr::dropAxis(int64_t axis) const {
  tilec::Layout dropped = getLayout().sliceAxis(axis).squeeze();
  return get(getContext(), dropped.rank() ? dropped : dropped.insertAxis(0));
}

static LogicalResult coversFragment(LayoutAttr attr, ArrayRef<int64_t> shape, EmitError emitError) {
  const tilec::Layout &layout = attr.getLayout();
  if (attr.getRank() != static_cast<int64_t>(shape.size()))
    return emitError() << "layout has rank " << attr.getRank() << ", tile has rank " << shape.size();
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (layout.outSize(coord(axis)) != extent)
      return emitError() << "layout covers " << layout.outSize(coord(axis)) << " along axis " << axis
                         << ", tile has " << extent;
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (layout.cover(coord(axis)) < extent)
      return emitError() << "layout covers " << layout.cover(coord(axis)) << " along axis " << axis
                         << ", tile has " << extent;
  return layout.isSurjective() ? success()
                               : emitError() << "layout leaves elements of the tile without a thread";
}

/// Two elements at one offset would be a silent race; the quick test may say no to a good layout, then it is
/// enumerated.
static bool isInjectiveOn(const tilec::Layout &layout, ArrayRef<int64_t> shape) {
  if (layout.isInjective())
    return true;
  constexpr int64_t enumerable = 1 << 20;
  SmallVector<DimId> order;
  int64_t count = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    order.push_back(coord(axis));
    if (layout.inSize(coord(axis)) > enumerable / count)
      return false;
    count *= layout.inSize(coord(axis));
  }
  std::vector<int64_t> offsets = layout.table(DimId::Offset, order);
  llvm::sort(offsets);
  return std::adjacent_find(offsets.begin(), offsets.end()) == offsets.end();
}

static LogicalResult coversMemory(LayoutAttr attr, ArrayRef<int64_t> shape, EmitError emitError) {
  const tilec::Layout &layout = attr.getLayout();
  if (attr.getRank() > static_cast<int64_t>(shape.size()))
    return emitError() << "layout has rank " << attr.getRank() << ", buffer has rank " << shape.size();
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (layout.inSize(coord(axis)) < extent)
      return emitError() << "layout has " << layout.inSize(coord(axis)) << " along axis " << axis
                         << ", buffer has " << extent;
  return isInjectiveOn(layout, shape) ? success() : emitError() << "layout puts two elements at one offset";
}

LogicalResult LayoutAttr::covers(ArrayRef<int64_t> shape, EmitError emitError) const {
  return isMemory() ? coversMemory(*this, shape, emitError) : coversFragment(*this, shape, emitError);
}

//===- Decisions -----------------------------------------------------------===//
LogicalResult InstAttr::verify(EmitError emitError, InstKind, ArrayRef<int64_t> shape, bool, bool,
                               int64_t kSlices) {
  if (shape.size() != 3)
    return emitError() << "instruction shape is [m, n, k], got " << shape.size() << " extents";
  for (int64_t extent : shape)
    if (extent < 1)
      return emitError() << "instruction extents are at least 1, got " << extent;
  if (kSlices < 1)
    return emitError() << "k_slices is at least 1, got " << kSlices;
  return success();
}

LogicalResult Im2colAttr::verify(EmitError emitError, int64_t kernel, int64_t stride, int64_t dilation,
                                 int64_t pad) {
  if (kernel < 1 || stride < 1 || dilation < 1 || pad < 0)
    return emitError() << "im2col needs kernel, stride, dilation >= 1 and pad >= 0, got " << kernel << ", "
                       << stride << ", " << dilation << ", " << pad;
  return success();
}

LogicalResult RoleAttr::verify(EmitError emitError, RoleKind, int64_t warps, int64_t regs) {
  if (warps < 1)
    return emitError() << "a role has at least one warp, got " << warps;
  if (regs && (regs < 24 || regs > 256 || regs % 8))
    return emitError() << "registers of a role are a multiple of 8 from 24 to 256, got " << regs;
  return success();
}

LogicalResult RasterAttr::verify(EmitError emitError, RasterKind, int64_t group) {
  return group >= 1 ? success() : emitError() << "raster group is at least 1, got " << group;
}

LogicalResult PipelineAttr::verify(EmitError emitError, int64_t stages, bool) {
  return stages >= 1 && stages <= 16 ? success() : emitError() << "expects 1 to 16 stages, got " << stages;
}

/// setmaxnreg above what the launch got never returns, so the sum over the roles is checked where it is
/// written.
static LogicalResult verifyRoles(EmitError emitError, int64_t threads, ArrayRef<RoleAttr> roles) {
  constexpr int64_t registersPerBlock = 65536, warpSize = 32;
  int64_t warps = 0, registers = 0;
  for (RoleAttr role : roles) {
    warps += role.getWarps();
    registers += role.getWarps() * warpSize * role.getRegs();
  }
  if (threads % warps)
    return emitError() << threads << " threads are not " << warps << " equal warps";
  int64_t granted = std::min<int64_t>(registersPerBlock / threads / 8 * 8, 255) * threads;
  if (registers > granted)
    return emitError() << "roles ask for " << registers << " registers, the launch gets " << granted;
  return success();
}

LogicalResult ScheduleAttr::verify(EmitError emitError, int64_t threads, ArrayRef<int64_t> partition,
                                   ArrayRef<RoleAttr> roles, bool, RasterAttr, ArrayRef<int64_t> cluster,
                                   int64_t minBlocks, bool, bool, int64_t passes, int64_t indexBits) {
  if (threads < 1 || threads > 1024)
    return emitError() << "a block has 1 to 1024 threads, got " << threads;
  for (int64_t parts : partition)
    if (parts < 1)
      return emitError() << "partition counts are at least 1, got " << parts;
  if (!roles.empty() && failed(verifyRoles(emitError, threads, roles)))
    return failure();
  if (!cluster.empty() && (cluster.size() > 3 || llvm::any_of(cluster, [](int64_t n) { return n < 1; })))
    return emitError() << "cluster has 1 to 3 extents of at least 1";
  if (minBlocks < 1)
    return emitError() << "min_blocks is at least 1, got " << minBlocks;
  if (passes < 1)
    return emitError() << "passes is at least 1, got " << passes;
  if (indexBits != 32 && indexBits != 64)
    return emitError() << "index_bits is 32 or 64, got " << indexBits;
  return success();
}
