//===- PromoteElements.cpp - regular element accesses -> operands ------------===//
//
// MLIRGen leaves every access of a Parallel body where it stands. Here the ones that walk along the nest's
// variables, at an offset that is the same for all iterations, become what layouts and vectors are made for:
// a read of a fragment an `ins`, an unconditional read of memory a load before the generic, an unconditional
// write a store after it.
//
//===----------------------------------------------------------------------===//
#include "HoistUniform.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

#include "llvm/ADT/SmallBitVector.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEPROMOTEELEMENTS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

namespace {
/// One index: a variable of the nest (or none), plus what is the same for all iterations.
struct Index {
  int axis = -1;
  int64_t constant = 0;
  SmallVector<Value> uniform;
};

class Promoter {
public:
  explicit Promoter(GenericOp op) : op(op), body(op.getBody().front()), rank(op.getDomain().size()) {
    auto kernel = op->getParentOfType<KernelOp>();
    viewsMayOverlap = kernel && kernel->hasAttr(TileDialect::kInplaceAttrName);
  }

  GenericOp run() {
    hoistUniform(op);
    for (ExtractOp extract : collect<ExtractOp>())
      promoteExtract(extract);
    for (ElemLoadOp load : collect<ElemLoadOp>())
      promoteLoad(load);
    promoteStores();
    return changed ? rebuild() : op;
  }

private:
  template <typename T> SmallVector<T> collect() {
    SmallVector<T> ops;
    body.walk([&](T access) { ops.push_back(access); });
    return ops;
  }

  bool isOutside(Value v) { return !op.getBody().isAncestor(v.getParentRegion()); }

  //===- Indices ---------------------------------------------------------------===//
  static bool is64Bits(Type type) { return type.isIndex() || type.isInteger(64); }

  bool addTerm(Value v, Index &index) {
    if (auto argument = dyn_cast<BlockArgument>(v); argument && argument.getOwner() == &body) {
      if (argument.getArgNumber() >= rank || index.axis >= 0)
        return false;
      index.axis = argument.getArgNumber();
      return true;
    }
    APInt constant;
    if (matchPattern(v, m_ConstantInt(&constant)))
      return !llvm::AddOverflow(index.constant, constant.getSExtValue(), index.constant);
    if (isOutside(v)) {
      index.uniform.push_back(v);
      return true;
    }
    if (auto add = v.getDefiningOp<arith::AddIOp>())
      return addTerm(add.getLhs(), index) && addTerm(add.getRhs(), index);
    if (auto cast = v.getDefiningOp<arith::IndexCastOp>(); cast && is64Bits(cast.getIn().getType()))
      return addTerm(cast.getIn(), index);
    if (auto sub = v.getDefiningOp<arith::SubIOp>())
      if (matchPattern(sub.getRhs(), m_ConstantInt(&constant)))
        return !llvm::SubOverflow(index.constant, constant.getSExtValue(), index.constant) &&
               addTerm(sub.getLhs(), index);
    return false;
  }

  /// One index per axis, no variable twice.
  std::optional<SmallVector<Index>> decompose(ValueRange indices) {
    SmallVector<Index> result;
    llvm::SmallBitVector seen(rank);
    for (Value v : indices) {
      Index index;
      if (!addTerm(v, index))
        return std::nullopt;
      if (index.axis >= 0) {
        if (seen.test(index.axis))
          return std::nullopt;
        seen.set(index.axis);
      }
      result.push_back(index);
    }
    return result;
  }

  /// Offset of the region along one axis, before the generic.
  Value offsetOf(OpBuilder &b, const Index &index) {
    Value sum;
    for (Value v : index.uniform) {
      v = v.getType().isIndex() ? v
                                : arith::IndexCastOp::create(b, op.getLoc(), b.getIndexType(), v).getResult();
      sum = sum ? arith::AddIOp::create(b, op.getLoc(), sum, v).getResult() : v;
    }
    if (sum && index.constant == 0)
      return sum;
    Value constant = arith::ConstantIndexOp::create(b, op.getLoc(), index.constant);
    return sum ? arith::AddIOp::create(b, op.getLoc(), sum, constant).getResult() : constant;
  }

  /// The region that the whole nest touches, its shape as a tile, and how the nest's variables index that
  /// tile.
  struct Box {
    SmallVector<Value> offsets;
    SmallVector<int64_t> extents, shape;
    AffineMap map;
  };
  Box boxOf(OpBuilder &b, ArrayRef<Index> indices) {
    Box box;
    SmallVector<AffineExpr> results;
    for (const Index &index : indices) {
      box.offsets.push_back(offsetOf(b, index));
      box.extents.push_back(index.axis < 0 ? 1 : op.getDomain()[index.axis]);
      if (index.axis < 0)
        continue;
      box.shape.push_back(op.getDomain()[index.axis]);
      results.push_back(b.getAffineDimExpr(index.axis));
    }
    box.map = AffineMap::get(rank, 0, results, b.getContext());
    return box;
  }

  /// A view may be touched outside of its extents, shared memory may not: a chunk that is never whole would
  /// reach too far.
  bool fits(Value memory, ArrayRef<Index> indices) {
    if (isa<ViewType>(memory.getType()))
      return true;
    return llvm::all_of(llvm::zip(indices, getShapeOf(memory.getType())), [&](auto pair) {
      auto &[index, extent] = pair;
      int64_t trips = index.axis < 0 ? 1 : op.getDomain()[index.axis];
      int64_t from = index.uniform.empty() ? index.constant : 0;
      return from >= 0 && from + trips <= extent;
    });
  }

  DenseI64ArrayAttr extentsAttr(OpBuilder &b, const Box &box) {
    return box.extents == box.shape ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(box.extents);
  }

  //===- Reads -----------------------------------------------------------------===//
  BlockArgument addIn(Value in, AffineMap map, Type element) {
    for (auto [known, knownMap, argument] : llvm::zip(newIns, newInMaps, newInArgs))
      if (known == in && knownMap == map)
        return argument;
    newIns.push_back(in);
    newInMaps.push_back(map);
    newInArgs.push_back(
        body.insertArgument(rank + op.getIns().size() + newInArgs.size(), element, op.getLoc()));
    changed = true;
    return newInArgs.back();
  }

  /// Reads of a fragment cost nothing, so even a conditional one becomes an operand when it is always inside.
  void promoteExtract(ExtractOp extract) {
    if (!isOutside(extract.getTile()))
      return;
    auto indices = decompose(extract.getIndices());
    if (!indices)
      return;
    SmallVector<AffineExpr> results;
    Builder b(op.getContext());
    for (auto [index, extent] : llvm::zip(*indices, extract.getTile().getType().getShape())) {
      int64_t trips = index.axis < 0 ? 1 : op.getDomain()[index.axis];
      if (!index.uniform.empty() || index.constant < 0 || index.constant + trips > extent)
        return;
      AffineExpr offset = b.getAffineConstantExpr(index.constant);
      results.push_back(index.axis < 0 ? offset : b.getAffineDimExpr(index.axis) + offset);
    }
    AffineMap map = AffineMap::get(rank, 0, results, op.getContext());
    BlockArgument argument = addIn(extract.getTile(), map, extract.getValue().getType());
    extract.getValue().replaceAllUsesWith(argument);
    extract.erase();
  }

  /// Two accesses may meet only if these are equal.
  Value rootOf(Value memory) {
    while (Operation *def = memory.getDefiningOp()) {
      if (!isa<SubbufferOp, RecastBufferOp, RecastViewOp, MakeViewOp>(def))
        break;
      memory = def->getOperand(0);
    }
    return memory;
  }

  bool mayMeet(Value lhs, Value rhs) {
    if (rootOf(lhs) == rootOf(rhs))
      return true;
    return viewsMayOverlap && isa<ViewType>(lhs.getType()) && isa<ViewType>(rhs.getType());
  }

  /// The op of the body's own block that `inner` stands in.
  Operation *topOf(Operation *inner) { return body.findAncestorOpInBlock(*inner); }

  /// Does a write to `memory` stand before `before` (null: anywhere)?
  bool isWritten(Value memory, Operation *before) {
    bool found = false;
    body.walk([&](Operation *inner) {
      Value dest;
      if (auto store = dyn_cast<ElemStoreOp>(inner))
        dest = store.getDest();
      else if (auto atomic = dyn_cast<ElemAtomicOp>(inner))
        dest = atomic.getDest();
      else
        return;
      Operation *top = topOf(inner);
      found |= mayMeet(dest, memory) && (!before || top == before || top->isBeforeInBlock(before));
    });
    return found;
  }

  /// A view may be read anywhere, so a condition around the read is no obstacle: what it guards against is
  /// mostly the end of the tensor, where reading costs nothing.
  bool mayReadAlways(ElemLoadOp load) {
    Operation *parent = load->getParentOp();
    if (isa<ViewType>(load.getSource().getType()))
      while (isa<scf::IfOp>(parent))
        parent = parent->getParentOp();
    return parent == op;
  }

  void promoteLoad(ElemLoadOp load) {
    if (!mayReadAlways(load) || !isOutside(load.getSource()) || isWritten(load.getSource(), topOf(load)))
      return;
    auto indices = decompose(load.getIndices());
    if (!indices || !fits(load.getSource(), *indices))
      return;
    OpBuilder b(op);
    Box box = boxOf(b, *indices);
    if (box.shape.empty()) { // one element for all iterations
      Value once = ElemLoadOp::create(b, load.getLoc(), load.getSource(), box.offsets, DenseBoolArrayAttr());
      load.getValue().replaceAllUsesWith(once);
      load.erase();
      return;
    }
    Type element = load.getValue().getType();
    auto key = std::make_pair(load.getSource(), *indices);
    Value tile = knownLoad(key.first, *indices, box.map);
    if (!tile) {
      auto type = TileType::get(op.getContext(), box.shape, element, LayoutAttr());
      tile = LoadOp::create(b, load.getLoc(), type, load.getSource(), box.offsets, extentsAttr(b, box),
                            DenseBoolArrayAttr());
      loads.push_back({load.getSource(), *indices, tile});
    }
    BlockArgument argument = addIn(tile, box.map, element);
    load.getValue().replaceAllUsesWith(argument);
    load.erase();
  }

  Value knownLoad(Value source, ArrayRef<Index> indices, AffineMap) {
    for (auto &[from, at, tile] : loads) {
      bool same = from == source && llvm::all_of(llvm::zip(at, indices), [](auto pair) {
                    auto &[lhs, rhs] = pair;
                    return lhs.axis == rhs.axis && lhs.constant == rhs.constant && lhs.uniform == rhs.uniform;
                  });
      if (same)
        return tile;
    }
    return {};
  }

  //===- Writes ----------------------------------------------------------------===//
  /// Every iteration writes an element of its own, in any case.
  bool isRegular(ElemStoreOp store, std::optional<SmallVector<Index>> &indices) {
    if (store->getBlock() != &body || !isOutside(store.getDest()))
      return false;
    indices = decompose(store.getIndices());
    if (!indices || !fits(store.getDest(), *indices))
      return false;
    llvm::SmallBitVector seen(rank);
    for (const Index &index : *indices)
      if (index.axis >= 0)
        seen.set(index.axis);
    for (unsigned axis = 0; axis < rank; ++axis)
      if (!seen.test(axis) && op.getDomain()[axis] != 1)
        return false;
    return true;
  }

  /// All writes to one memory become stores after the generic, or none: their order must stay. No read may
  /// come after one.
  void promoteStores() {
    struct Candidate {
      ElemStoreOp store;
      SmallVector<Index> indices;
    };
    SmallVector<Candidate> candidates;
    SmallVector<Value> refused;
    for (ElemStoreOp store : collect<ElemStoreOp>()) {
      std::optional<SmallVector<Index>> indices;
      if (isRegular(store, indices))
        candidates.push_back({store, *indices});
      else
        refused.push_back(store.getDest());
    }
    for (ElemAtomicOp atomic : collect<ElemAtomicOp>())
      refused.push_back(atomic.getDest());
    for (ElemLoadOp load : collect<ElemLoadOp>())
      if (isWritten(load.getSource(), topOf(load))) // read back what this or an earlier statement wrote
        refused.push_back(load.getSource());
    OpBuilder b(op);
    for (Candidate &candidate : candidates) {
      Value dest = candidate.store.getDest();
      if (llvm::any_of(refused, [&](Value other) { return mayMeet(dest, other); }))
        continue;
      Box box = boxOf(b, candidate.indices);
      if (box.shape.empty())
        continue; // a single iteration
      Type element = candidate.store.getValue().getType();
      Value out =
          UndefOp::create(b, op.getLoc(), TileType::get(op.getContext(), box.shape, element, LayoutAttr()));
      newOuts.push_back({out, box, candidate.store.getValue(), dest});
      candidate.store.erase();
      changed = true;
    }
  }

  struct NewOut {
    Value init;
    Box box;
    Value value, dest;
  };

  GenericOp rebuild() {
    OpBuilder b(op);
    SmallVector<Value> ins(op.getIns()), outs(op.getOuts());
    SmallVector<AffineMap> maps = op.getIndexingMaps();
    maps.insert(maps.begin() + ins.size(), newInMaps.begin(), newInMaps.end());
    llvm::append_range(ins, newIns);
    auto yield = cast<YieldOp>(body.getTerminator());
    SmallVector<Attribute> combines;
    if (op.getCombine())
      llvm::append_range(combines, *op.getCombine());
    for (NewOut &out : newOuts) {
      outs.push_back(out.init);
      maps.push_back(out.box.map);
      body.addArgument(getElementTypeOf(out.init.getType()), op.getLoc());
      yield.getValuesMutable().append(out.value);
      if (op.getCombine())
        combines.push_back(CombineAttr::get(op.getContext(), Combine::none));
    }
    auto fresh =
        GenericOp::create(b, op.getLoc(), TypeRange(ValueRange(outs)), op.getDomain(), op.getExtents(), ins,
                          outs, b.getAffineMapArrayAttr(maps),
                          op.getCombine() ? b.getArrayAttr(combines) : ArrayAttr(), op.getLayoutAttr());
    fresh->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    fresh.getBody().takeBody(op.getBody());
    size_t kept = op->getNumResults();
    op->replaceAllUsesWith(fresh->getResults().take_front(kept));
    for (auto [out, result] : llvm::zip(newOuts, fresh->getResults().drop_front(kept)))
      StoreOp::create(b, op.getLoc(), result, out.dest, out.box.offsets, extentsAttr(b, out.box),
                      DenseBoolArrayAttr());
    op.erase();
    return fresh;
  }

  GenericOp op;
  Block &body;
  unsigned rank;
  bool viewsMayOverlap = false, changed = false;
  SmallVector<Value> newIns;
  SmallVector<AffineMap> newInMaps;
  SmallVector<BlockArgument> newInArgs;
  SmallVector<NewOut> newOuts;
  struct KnownLoad {
    Value source;
    SmallVector<Index> indices;
    Value tile;
  };
  SmallVector<KnownLoad> loads;
};

/// Is every element of the out written, whatever it was before?
bool overwrites(GenericOp op, unsigned out) {
  if (op.getCombineOf(out) != Combine::none || !op.getOutArgs()[out].use_empty())
    return false;
  AffineMap map = op.getOutMap(out);
  ArrayRef<int64_t> shape = getShapeOf(op.getOuts()[out].getType());
  if (!map.isProjectedPermutation())
    return false;
  return llvm::all_of(llvm::enumerate(shape), [&](auto axis) {
    return op.getDomain()[map.getDimPosition(axis.index())] == axis.value();
  });
}

/// The old value of an out that is written anew is not needed: a loop need not carry it.
void dropDeadInits(GenericOp op) {
  OpBuilder b(op);
  for (unsigned out = 0; out < op.getOuts().size(); ++out) {
    OpOperand &init = op.getOutsMutable()[out];
    if (!init.get().getDefiningOp<UndefOp>() && overwrites(op, out))
      init.set(UndefOp::create(b, op.getLoc(), init.get().getType()));
  }
}

/// A choice between values that are cheap to compute becomes a select: bodies run as vectors.
void convertBranches(GenericOp op) {
  constexpr unsigned mostOps = 16;
  SmallVector<scf::IfOp> choices; // inner ones first
  op.getBody().walk([&](scf::IfOp choice) { choices.push_back(choice); });
  for (scf::IfOp choice : choices) {
    if (choice.getNumResults() == 0 || choice.getElseRegion().empty())
      continue;
    unsigned count = 0;
    bool simple = true;
    for (Region *region : {&choice.getThenRegion(), &choice.getElseRegion()})
      for (Operation &inner : region->front().without_terminator()) {
        ++count;
        simple &= inner.getNumRegions() == 0 && isPure(&inner) && !isa<ExtractOp>(inner);
      }
    if (!simple || count > mostOps)
      continue;
    OpBuilder b(choice);
    SmallVector<Value> sides[2];
    Region *regions[] = {&choice.getThenRegion(), &choice.getElseRegion()};
    for (auto [i, region] : llvm::enumerate(regions)) {
      Block &block = region->front();
      llvm::append_range(sides[i], block.getTerminator()->getOperands());
      for (Operation &inner : llvm::make_early_inc_range(block.without_terminator()))
        inner.moveBefore(choice);
    }
    for (auto [result, yes, no] : llvm::zip(choice.getResults(), sides[0], sides[1]))
      result.replaceAllUsesWith(
          arith::SelectOp::create(b, choice.getLoc(), choice.getCondition(), yes, no).getResult());
    choice.erase();
  }
}

struct PromoteElements : tilec::tile::impl::TilePromoteElementsBase<PromoteElements> {
  void runOnOperation() override {
    SmallVector<GenericOp> generics;
    getOperation().walk([&](GenericOp op) {
      if (llvm::none_of(op.getDomain(), ShapedType::isDynamic))
        generics.push_back(op);
    });
    for (GenericOp op : generics) {
      GenericOp promoted = Promoter(op).run();
      convertBranches(promoted);
      dropDeadInits(promoted);
    }
  }
};
} // namespace
