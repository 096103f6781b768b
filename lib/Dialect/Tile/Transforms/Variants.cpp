//===- Variants.cpp - clones of a device kernel that launch conditions pick --===//
#include "Variants.h"
#include "Divisibility.h"

using namespace mlir;
using namespace tilec::tile;

static int64_t slotsOf(Type type) {
  auto view = dyn_cast<ViewType>(type);
  return view ? 1 + 2 * view.getRank() : 1;
}

int64_t tilec::tile::slotOfArgument(KernelOp kernel, unsigned index) {
  int64_t slot = 0;
  for (unsigned i = 0; i < index; ++i)
    slot += slotsOf(kernel.getArgumentTypes()[i]);
  return slot;
}

namespace {
/// Gathers the conditions of one kernel and states them to later passes as assumptions at the start of its
/// body.
class ConditionWriter {
public:
  explicit ConditionWriter(KernelOp kernel) : kernel(kernel), known(kernel), b(kernel.getContext()) {
    b.setInsertionPointToStart(&kernel.getBody().front());
  }

  void demand(const ViewDemand &d);
  ArrayAttr conditions() { return b.getArrayAttr(list); }
  bool empty() const { return list.empty(); }

private:
  void add(StringRef kind, int64_t slot, int64_t value, const Twine &text);
  void assumeMultiple(Value value, int64_t factor);

  KernelOp kernel;
  Divisibility known;
  OpBuilder b;
  SmallVector<Attribute> list;
};
} // namespace

void ConditionWriter::add(StringRef kind, int64_t slot, int64_t value, const Twine &text) {
  list.push_back(b.getDictionaryAttr(
      {b.getNamedAttr("kind", b.getStringAttr(kind)), b.getNamedAttr("slot", b.getI64IntegerAttr(slot)),
       b.getNamedAttr("text", b.getStringAttr(text)), b.getNamedAttr("value", b.getI64IntegerAttr(value))}));
}

void ConditionWriter::assumeMultiple(Value value, int64_t factor) {
  Location loc = kernel.getLoc();
  Value c = arith::ConstantIndexOp::create(b, loc, factor);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value rem = arith::RemUIOp::create(b, loc, value, c);
  Value holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rem, zero);
  AssumeOp::create(b, loc, holds, b.getStringAttr(""));
}

void ConditionWriter::demand(const ViewDemand &d) {
  BlockArgument arg = kernel.getBody().getArgument(d.argument);
  auto type = cast<ViewType>(arg.getType());
  int64_t bytes = std::max<int64_t>(1, type.getElementType().getIntOrFloatBitWidth() / 8);
  int64_t quantum = std::max<int64_t>(1, 16 / bytes), slot = slotOfArgument(kernel, d.argument);
  unsigned rank = type.getRank();
  std::string name = kernel.getArgName(d.argument);
  if (known.ofAddress(arg) < 16)
    add("multiple_of", slot, 16, "address of `" + name + "` is a multiple of 16");
  bool contiguous = type.isContiguous();
  SmallVector<int64_t> strides;
  for (unsigned axis = 0; axis < rank; ++axis) {
    int64_t strideSlot = slot + 1 + rank + axis;
    bool last = axis + 1 == rank;
    strides.push_back(last ? 1 : type.getStaticStride(axis));
    if (last) {
      if (type.getStaticStride(axis) != 1) {
        add("at_least", strideSlot, 1, "last stride of `" + name + "` is 1");
        add("at_most", strideSlot, 1, "last stride of `" + name + "` is 1");
      }
    } else if (known.ofStride(arg, axis) % quantum != 0 && (!contiguous || axis + 2 == rank)) {
      // Row-major: the other pitches are multiples of this one.
      add("multiple_of", strideSlot, quantum,
          "stride " + Twine(axis) + " of `" + name + "` is a multiple of " + Twine(quantum));
      Value fact = contiguous
                       ? DimOp::create(b, kernel.getLoc(), arg, b.getI64IntegerAttr(rank - 1)).getResult()
                       : StrideOp::create(b, kernel.getLoc(), arg, b.getI64IntegerAttr(axis)).getResult();
      assumeMultiple(fact, quantum);
    }
    if (d.tensorMap && !contiguous && !last)
      add("at_least", strideSlot, 0, "stride " + Twine(axis) + " of `" + name + "` is not negative");
  }
  for (unsigned axis = 0; d.tensorMap && axis < rank; ++axis)
    if (type.isDynamicExtent(axis)) {
      add("at_least", slot + 1 + axis, 1, "dim " + Twine(axis) + " of `" + name + "` is not empty");
      add("at_most", slot + 1 + axis, kLongestMappedAxis,
          "dim " + Twine(axis) + " of `" + name + "` is at most " + Twine(kLongestMappedAxis));
    }
  if (type.getAlign() >= 16 && type.getStaticStride(rank - 1) == 1)
    return;
  auto aligned = ViewType::get(kernel.getContext(), type.getShape(), type.getElementType(),
                               contiguous ? ArrayRef<int64_t>() : ArrayRef<int64_t>(strides),
                               std::max<int64_t>(16, type.getAlign()), type.getSafe());
  auto cast = RecastViewOp::create(b, kernel.getLoc(), aligned, arg, ValueRange{});
  arg.replaceUsesWithIf(cast.getView(), [&](OpOperand &use) {
    return use.getOwner() != cast && !isa<DimOp, StrideOp>(use.getOwner());
  });
}

void tilec::tile::demandAlignment(KernelOp kernel, ArrayRef<ViewDemand> demands, KernelOp &any) {
  any = {};
  OpBuilder b(kernel);
  auto clone = cast<KernelOp>(kernel->clone());
  ConditionWriter writer(kernel);
  for (const ViewDemand &d : demands)
    writer.demand(d);
  if (writer.empty()) {
    clone->erase();
    return;
  }
  // A point of a tuning space is a way to run the launch of another kernel.
  auto name = kernel->getAttrOfType<StringAttr>(TileDialect::kLaunchNameAttrName);
  if (!name)
    name = b.getStringAttr(kernel.getSymName());
  kernel->setAttr(TileDialect::kConditionsAttrName, writer.conditions());
  kernel->setAttr(TileDialect::kLaunchNameAttrName, name);
  clone->setAttr(TileDialect::kLaunchNameAttrName, name);
  clone.setSymName((kernel.getSymName() + ".any").str());
  b.setInsertionPointAfter(kernel);
  b.insert(clone);
  any = clone;
}
