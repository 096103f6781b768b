//===- TileTypes.cpp - parse, print, verify types --------------------------===//
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec::tile;

#define GET_TYPEDEF_CLASSES
#include "tilec/Dialect/Tile/IR/TileTypes.cpp.inc"

using EmitError = function_ref<InFlightDiagnostic()>;

void TileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "tilec/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
}

ArrayRef<int64_t> tilec::tile::getShapeOf(Type type) {
  return TypeSwitch<Type, ArrayRef<int64_t>>(type)
      .Case<TileType, BufferType, ViewType>([](auto shaped) { return shaped.getShape(); })
      .Case<FutureType>([](FutureType future) { return future.getTile().getShape(); })
      .Default([](Type) { return ArrayRef<int64_t>(); });
}

Type tilec::tile::getElementTypeOf(Type type) {
  return TypeSwitch<Type, Type>(type)
      .Case<TileType, BufferType, ViewType>([](auto shaped) { return shaped.getElementType(); })
      .Case<FutureType>([](FutureType future) { return future.getTile().getElementType(); })
      .Default([](Type other) { return NoneType::get(other.getContext()); });
}

LayoutAttr tilec::tile::getLayoutOf(Type type) {
  return TypeSwitch<Type, LayoutAttr>(type)
      .Case<TileType, BufferType>([](auto shaped) { return shaped.getLayout(); })
      .Case<FutureType>([](FutureType future) { return future.getTile().getLayout(); })
      .Default([](Type) { return LayoutAttr(); });
}

SmallVector<int64_t> tilec::tile::dropOnes(ArrayRef<int64_t> shape) {
  return llvm::to_vector(llvm::make_filter_range(shape, [](int64_t extent) { return extent != 1; }));
}

//===- Tile and buffer -----------------------------------------------------===//
template <typename T> static Type parseShaped(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  LayoutAttr layout;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<T>(loc, parser.getContext(), shape, element, layout);
}

template <typename T> static void printShaped(AsmPrinter &printer, T type) {
  printer << "<";
  for (int64_t extent : type.getShape())
    printer << extent << "x";
  printer << type.getElementType();
  if (type.getLayout())
    printer << ", " << type.getLayout();
  printer << ">";
}

static LogicalResult verifyExtents(EmitError emitError, StringRef what, ArrayRef<int64_t> shape) {
  if (shape.empty() || shape.size() > 8)
    return emitError() << "a " << what << " has 1 to 8 axes, got " << shape.size();
  for (int64_t extent : shape)
    if (extent < 1)
      return emitError() << what << " extents are at least 1, got " << extent;
  return success();
}

Type TileType::parse(AsmParser &parser) { return parseShaped<TileType>(parser); }
void TileType::print(AsmPrinter &printer) const { printShaped(printer, *this); }

LogicalResult TileType::verify(EmitError emitError, ArrayRef<int64_t> shape, Type element,
                               LayoutAttr layout) {
  if (!element.isIntOrIndexOrFloat())
    return emitError() << "element type must be an integer, index or float, got " << element;
  if (failed(verifyExtents(emitError, "tile", shape)))
    return failure();
  if (!layout)
    return success();
  if (layout.isMemory())
    return emitError() << "the layout of a tile maps registers and lanes to coordinates, got " << layout;
  return layout.covers(shape, emitError);
}

Type BufferType::parse(AsmParser &parser) { return parseShaped<BufferType>(parser); }
void BufferType::print(AsmPrinter &printer) const { printShaped(printer, *this); }

LogicalResult BufferType::verify(EmitError emitError, ArrayRef<int64_t> shape, Type element,
                                 LayoutAttr layout) {
  if (!element.isIntOrFloat())
    return emitError() << "element type must be an integer or float, got " << element;
  if (failed(verifyExtents(emitError, "buffer", shape)))
    return failure();
  if (!layout)
    return success();
  if (!layout.isMemory())
    return emitError() << "the layout of a buffer maps coordinates to an offset, got " << layout;
  return layout.covers(shape, emitError);
}

//===- View ----------------------------------------------------------------===//
static ParseResult parseStrides(AsmParser &parser, SmallVectorImpl<int64_t> &strides) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      strides.push_back(ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(strides.emplace_back());
  });
}

Type ViewType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape, strides;
  Type element;
  int64_t align = 0;
  TypedAttr safe;
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(element))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("strides"))) {
      if (parser.parseEqual() || parseStrides(parser, strides))
        return {};
    } else if (succeeded(parser.parseOptionalKeyword("align"))) {
      if (parser.parseEqual() || parser.parseInteger(align))
        return {};
    } else if (parser.parseKeyword("safe") || parser.parseEqual() || parser.parseAttribute(safe)) {
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ViewType>(loc, parser.getContext(), shape, element, strides, align, safe);
}

static void printExtent(raw_ostream &os, int64_t extent) {
  if (ShapedType::isDynamic(extent))
    os << "?";
  else
    os << extent;
}

void ViewType::print(AsmPrinter &printer) const {
  raw_ostream &os = printer.getStream();
  printer << "<";
  for (int64_t extent : getShape()) {
    printExtent(os, extent);
    printer << "x";
  }
  printer << getElementType();
  if (!getStrides().empty()) {
    printer << ", strides = [";
    llvm::interleaveComma(getStrides(), os, [&](int64_t stride) { printExtent(os, stride); });
    printer << "]";
  }
  if (getAlign())
    printer << ", align = " << getAlign();
  if (getSafe())
    printer << ", safe = " << getSafe();
  printer << ">";
}

LogicalResult ViewType::verify(EmitError emitError, ArrayRef<int64_t> shape, Type element,
                               ArrayRef<int64_t> strides, int64_t align, TypedAttr safe) {
  if (!element.isIntOrFloat())
    return emitError() << "element type must be an integer or float, got " << element;
  if (shape.size() > 8)
    return emitError() << "a view has at most 8 axes, got " << shape.size();
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) && extent < 0)
      return emitError() << "view extents are at least 0, got " << extent;
  if (!strides.empty() && strides.size() != shape.size())
    return emitError() << "got " << strides.size() << " strides for " << shape.size() << " axes";
  if (safe && safe.getType() != element)
    return emitError() << "safe value is " << safe.getType() << ", elements are " << element;
  if (align && (align < 0 || !llvm::isPowerOf2_64(align)))
    return emitError() << "alignment is a power of two, got " << align;
  return success();
}

bool ViewType::isContiguous() const { return getStrides().empty(); }

int64_t ViewType::getStaticStride(unsigned axis) const {
  if (!getStrides().empty())
    return getStrides()[axis];
  int64_t stride = 1;
  for (int64_t extent : getShape().drop_front(axis + 1)) {
    if (ShapedType::isDynamic(extent))
      return ShapedType::kDynamic;
    stride *= extent;
  }
  return stride;
}

//===- Future, ring, cursor ------------------------------------------------===//
Type FutureType::parse(AsmParser &parser) {
  TileType tile;
  if (parser.parseLess() || parser.parseType(tile) || parser.parseGreater())
    return {};
  return get(parser.getContext(), tile);
}
void FutureType::print(AsmPrinter &printer) const { printer << "<" << getTile() << ">"; }

LogicalResult PtrType::verify(EmitError emitError, Type element) {
  return element.isIntOrFloat() ? success()
                                : emitError() << "element type must be an integer or float, got " << element;
}

static LogicalResult verifyDepth(EmitError emitError, int64_t depth) {
  return depth >= 1 && depth <= 16 ? success() : emitError() << "a ring has 1 to 16 slots, got " << depth;
}

LogicalResult RingType::verify(EmitError emitError, int64_t depth, ArrayRef<Type> buffers) {
  if (failed(verifyDepth(emitError, depth)))
    return failure();
  for (Type buffer : buffers)
    if (!isa<BufferType>(buffer))
      return emitError() << "a ring holds buffers, got " << buffer;
  return success();
}

LogicalResult CursorType::verify(EmitError emitError, int64_t depth) { return verifyDepth(emitError, depth); }
