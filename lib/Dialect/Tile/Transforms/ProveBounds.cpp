//===- ProveBounds.cpp - which accesses of views are always inside -----------===//
#include "IndexFacts.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEPROVEBOUNDS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

namespace {
/// One access: where it starts and how far it reaches along each axis of a view.
struct Access {
  Operation *op;
  Value view;
  SmallVector<Value> offsets;
  SmallVector<int64_t> extents;
};

template <typename T> std::optional<Access> regionAccess(T op, Value memory, Type tile) {
  if (!isa<ViewType>(memory.getType()))
    return std::nullopt;
  Access access{op, memory, SmallVector<Value>(op.getOffsets()), {}};
  if (op.getExtents())
    access.extents.assign(op.getExtents()->begin(), op.getExtents()->end());
  else
    access.extents.assign(getShapeOf(tile).begin(), getShapeOf(tile).end());
  if (access.extents.size() != access.offsets.size())
    return std::nullopt; // which axes were dropped is not said
  return access;
}

template <typename T> std::optional<Access> elementAccess(T op, Value memory) {
  if (!isa<ViewType>(memory.getType()))
    return std::nullopt;
  SmallVector<Value> indices(op.getIndices());
  SmallVector<int64_t> ones(indices.size(), 1);
  return Access{op, memory, indices, ones};
}

std::optional<Access> describe(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return regionAccess(load, load.getSource(), load.getResult().getType());
  if (auto store = dyn_cast<StoreOp>(op))
    return regionAccess(store, store.getDest(), store.getValue().getType());
  if (auto load = dyn_cast<ElemLoadOp>(op))
    return elementAccess(load, load.getSource());
  if (auto store = dyn_cast<ElemStoreOp>(op))
    return elementAccess(store, store.getDest());
  return std::nullopt;
}

struct ProveBounds : tilec::tile::impl::TileProveBoundsBase<ProveBounds> {
  void runOnOperation() override {
    IndexFacts facts(getOperation());
    getOperation().walk([&](Operation *op) {
      if (std::optional<Access> access = describe(op))
        prove(*access, facts);
    });
  }

  static bool isInside(const Access &access, unsigned axis, IndexFacts &facts) {
    std::optional<Sum> extent = facts.extentOf(access.view, axis);
    if (!extent)
      return false;
    Sum offset = facts.sumOf(access.offsets[axis]);
    Sum below = Sum::of(0), above = Sum::of(access.extents[axis]);
    below.add(offset, -1);
    above.add(offset).add(*extent, -1);
    return facts.proves(below, access.op) && facts.proves(above, access.op);
  }

  static void prove(const Access &access, IndexFacts &facts) {
    SmallVector<bool> inside;
    for (unsigned axis = 0; axis < access.offsets.size(); ++axis)
      inside.push_back(isInside(access, axis, facts));
    if (llvm::is_contained(inside, true))
      access.op->setAttr("inbounds", DenseBoolArrayAttr::get(access.op->getContext(), inside));
  }
};
} // namespace
