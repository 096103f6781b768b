//===- EmitGeneric.cpp - Parallel nests --------------------------------------===//
//
// The axis on which most operands are contiguous becomes the vector axis and runs innermost, in whole vectors
// and one masked rest. Bodies that need one lane at a time (while loops, private arrays, bounds that differ
// between lanes) run as scalar loops.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::cpu;
using namespace tilec::tile;

struct Emitter::GenericState {
  GenericOp op;
  SmallVector<AffineMap> maps;
  SmallVector<Value> extents;
  SmallVector<Memory> ins;     ///< ptr null: a uniform tile
  SmallVector<Value> inScalar; ///< of a uniform tile
  SmallVector<Memory> outs;    ///< where results are written; ptr null: nobody reads the result
  SmallVector<Memory> olds;    ///< where old elements are read; ptr null: a uniform tile
  SmallVector<Value> oldScalar;
};

//===- Choice of the vector axis ---------------------------------------------===//
namespace {
/// How an index of the source IR moves along one axis of the nest: a constant step, or nothing known.
struct Steps {
  BlockArgument axis;
  DenseMap<Value, std::optional<int64_t>> known;

  std::optional<int64_t> of(Value v) {
    if (v == axis)
      return 1;
    if (auto it = known.find(v); it != known.end())
      return it->second;
    std::optional<int64_t> step = compute(v);
    known[v] = step;
    return step;
  }
  std::optional<int64_t> compute(Value v) {
    Operation *def = v.getDefiningOp();
    if (!def || !axis.getOwner()->getParent()->isAncestor(def->getParentRegion())) {
      // Arguments of the body's loops and elements of operands: unknown; everything outside: the same for all
      // lanes.
      return isInside(v) ? std::nullopt : std::optional<int64_t>(0);
    }
    SmallVector<std::optional<int64_t>> steps;
    for (Value operand : def->getOperands())
      steps.push_back(of(operand));
    bool same = llvm::all_of(steps, [](auto s) { return s && *s == 0; });
    if (same && def->getNumRegions() == 0 && !isa<ElemAtomicOp>(def))
      return 0;
    if (!llvm::all_of(steps, [](auto s) { return s.has_value(); }))
      return std::nullopt;
    if (isa<arith::AddIOp>(def))
      return *steps[0] + *steps[1];
    if (isa<arith::SubIOp>(def))
      return *steps[0] - *steps[1];
    if (isa<arith::IndexCastOp>(def) && !v.getType().isInteger(32))
      return *steps[0];
    if (isa<arith::MulIOp>(def))
      for (unsigned i : {0u, 1u})
        if (auto factor = Code::constant(def->getOperand(i)); factor && !*steps[i])
          return *factor * *steps[1 - i];
    return std::nullopt;
  }
  bool isInside(Value v) {
    auto argument = dyn_cast<BlockArgument>(v);
    if (!argument)
      return false;
    mlir::Region *body = axis.getOwner()->getParent();
    if (argument.getOwner() == axis.getOwner())
      return argument.getArgNumber() >= rank; // elements; other axes are the same for all lanes
    return body->isAncestor(argument.getOwner()->getParent());
  }
  unsigned rank = 0;
};
} // namespace

static std::optional<int64_t> affineStep(AffineExpr expr, unsigned axis) {
  if (!expr.isFunctionOfDim(axis))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  auto x = affineStep(binary.getLHS(), axis), y = affineStep(binary.getRHS(), axis);
  if (!x || !y)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *x + *y;
  if (expr.getKind() == AffineExprKind::Mul) {
    if (auto c = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      return *x * c.getValue();
    if (auto c = dyn_cast<AffineConstantExpr>(binary.getLHS()))
      return *y * c.getValue();
  }
  return std::nullopt;
}

/// Ops that have no form with several lanes.
static bool needsOneLane(GenericOp op, Steps &steps) {
  WalkResult result = op.getBody().walk([&](Operation *inner) {
    if (isa<scf::WhileOp, ElemAtomicOp>(inner) || isa<memref::MemRefDialect>(inner->getDialect()))
      return WalkResult::interrupt();
    if (auto loop = dyn_cast<scf::ForOp>(inner))
      for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
        if (steps.of(bound) != 0)
          return WalkResult::interrupt();
    if (isa<MakeViewOp, RecastViewOp>(inner))
      for (Value operand : inner->getOperands())
        if (operand.getType().isIntOrIndex() && steps.of(operand) != 0)
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Unit steps are good, broadcasts are free, everything else costs a gather.
static int scoreOf(std::optional<int64_t> last, ArrayRef<std::optional<int64_t>> others) {
  for (auto step : others)
    if (!step || *step != 0)
      return -4;
  if (!last)
    return -4;
  return *last == 1 ? 4 : *last == 0 ? 1 : -4;
}

static int scoreAxis(GenericOp op, ArrayRef<AffineMap> maps, Steps &steps, unsigned axis) {
  int score = 0;
  auto vote = [&](ArrayRef<std::optional<int64_t>> all) {
    if (!all.empty())
      score += scoreOf(all.back(), all.drop_back());
  };
  SmallVector<Value> operands(op.getIns());
  llvm::append_range(operands, op.getOuts());
  for (auto [map, operand] : llvm::zip(maps, operands)) {
    if (isUniformTile(operand))
      continue;
    SmallVector<std::optional<int64_t>> all;
    for (AffineExpr expr : map.getResults())
      all.push_back(affineStep(expr, axis));
    vote(all);
  }
  op.getBody().walk([&](Operation *inner) {
    ValueRange indices;
    if (auto load = dyn_cast<ElemLoadOp>(inner))
      indices = load.getIndices();
    else if (auto store = dyn_cast<ElemStoreOp>(inner))
      indices = store.getIndices();
    else if (auto extract = dyn_cast<ExtractOp>(inner))
      indices = extract.getIndices();
    vote(llvm::map_to_vector(indices, [&](Value v) { return steps.of(v); }));
  });
  return score;
}

/// The vector axis and its width; -1: scalar loops.
int Emitter::chooseAxis(GenericOp op, int64_t &width) {
  Block &body = op.getBody().front();
  SmallVector<AffineMap> maps = op.getIndexingMaps();
  unsigned rank = op.getDomain().size(), ins = op.getIns().size();
  int best = -1, bestScore = -1000;
  for (unsigned axis = 0; axis < rank; ++axis) {
    int64_t extent = op.getDomain()[axis];
    if (!ShapedType::isDynamic(extent) && extent < 2)
      continue;
    Steps steps;
    steps.axis = body.getArgument(axis);
    steps.rank = rank;
    if (needsOneLane(op, steps))
      continue;
    bool combined = true; // a combined out is either constant or contiguous along the axis
    for (unsigned i = 0; i < op.getOuts().size(); ++i)
      if (op.getCombineOf(i) != Combine::none) {
        for (AffineExpr expr : maps[ins + i].getResults()) {
          auto step = affineStep(expr, axis);
          combined &= step && (*step == 0 || *step == 1);
        }
        combined &= body.getArgument(rank + ins + i).use_empty();
      }
    if (!combined)
      continue;
    int score = scoreAxis(op, maps, steps, axis) * 8;
    if (!ShapedType::isDynamic(extent))
      score += extent >= static_cast<int64_t>(target.vectorLanes32) ? 6 : -6;
    if (score >= bestScore) {
      bestScore = score;
      best = axis;
    }
  }
  if (best < 0)
    return -1;
  bool wide = false;
  auto look = [&](Type type) { wide |= getElementTypeOrSelf(type).isF64(); };
  for (Type type : body.getArgumentTypes())
    look(type);
  op.getBody().walk([&](Operation *inner) {
    for (Type type : inner->getResultTypes())
      look(type);
  });
  width = wide ? target.vectorLanes32 / 2 : target.vectorLanes32;
  if (int64_t extent = op.getDomain()[best]; !ShapedType::isDynamic(extent))
    while (width > 2 && width > extent)
      width /= 2;
  return best;
}

//===- Affine maps -----------------------------------------------------------===//
Value Emitter::affineValue(AffineExpr expr, ArrayRef<Value> iv) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return code.index(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return iv[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value x = affineValue(binary.getLHS(), iv), y = affineValue(binary.getRHS(), iv);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return code.add(x, y);
  case AffineExprKind::Mul:
    return code.mul(x, y);
  case AffineExprKind::FloorDiv:
    return code.fold<arith::FloorDivSIOp>(x, y);
  case AffineExprKind::CeilDiv:
    return code.fold<arith::CeilDivSIOp>(x, y);
  default: { // x - floor(x / y) * y
    return code.sub(x, code.mul(code.fold<arith::FloorDivSIOp>(x, y), y));
  }
  }
}

Index Emitter::affineIndex(AffineExpr expr, ArrayRef<Value> iv, int axis) {
  if (lanes == 1)
    return {affineValue(expr, iv), 0, Value()};
  std::optional<int64_t> step = affineStep(expr, axis);
  if (step)
    return {affineValue(expr, iv), step, Value()};
  SmallVector<Value> all(iv);
  all[axis] = code.add(code.broadcast(iv[axis], lanes), code.iota(lanes));
  return {Value(), std::nullopt, code.broadcast(affineValue(expr, all), lanes)};
}

//===- Emission --------------------------------------------------------------===//
LogicalResult Emitter::emitIteration(GenericState &state, ArrayRef<Value> iv, int axis) {
  GenericOp op = state.op;
  Block &body = op.getBody().front();
  unsigned rank = op.getDomain().size(), ins = op.getIns().size();
  auto indices = [&](AffineMap map) {
    return llvm::map_to_vector(map.getResults(), [&](AffineExpr e) { return affineIndex(e, iv, axis); });
  };
  for (unsigned i = 0; i < rank; ++i) {
    bool moves = lanes > 1 && static_cast<int>(i) == axis;
    map.map(body.getArgument(i), moves ? code.add(code.broadcast(iv[i], lanes), code.iota(lanes)) : iv[i]);
    if (moves)
      tracked[body.getArgument(i)] = {iv[i], 1, Value()};
  }
  for (unsigned i = 0; i < ins; ++i) {
    BlockArgument element = body.getArgument(rank + i);
    if (element.use_empty())
      continue;
    if (state.inScalar[i])
      map.map(element, state.inScalar[i]);
    else
      map.map(element, loadElements(state.ins[i], indices(state.maps[i]), {}));
  }
  for (unsigned i = 0; i < op.getOuts().size(); ++i) {
    BlockArgument element = body.getArgument(rank + ins + i);
    if (element.use_empty())
      continue;
    if (state.oldScalar[i])
      map.map(element, state.oldScalar[i]);
    else
      map.map(element, loadElements(state.olds[i], indices(state.maps[ins + i]), {}));
  }
  if (failed(emitBody(body)))
    return failure();
  code.loc = op.getLoc();
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    if (!state.outs[i].access.ptr)
      continue;
    SmallVector<Index> at = indices(state.maps[ins + i]);
    Value made = get(value);
    Combine kind = op.getCombineOf(i);
    bool replaces = kind == Combine::none || !body.getArgument(rank + ins + i).use_empty();
    if (!replaces) {
      Type element = state.outs[i].access.element;
      bool one = llvm::all_of(at, [](const Index &x) { return x.step && *x.step == 0; });
      made = prepare(kind, asLanes(made));
      if (mask && one)
        made = code.select(mask, made, code.broadcast(identity(kind, registerType(element)), lanes));
      if (one && lanes > 1)
        made = reduceLanes(kind, made);
      Value saved = mask;
      if (one)
        mask = Value();
      made = combine(kind, loadElements(state.outs[i], at, {}), made);
      storeElements(made, state.outs[i], at, {});
      mask = saved;
      continue;
    }
    storeElements(made, state.outs[i], at, {});
  }
  return success();
}

LogicalResult Emitter::emitIterations(GenericState &state, int axis, int64_t width) {
  Code &c = code;
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < state.extents.size(); ++i)
    if (static_cast<int>(i) != axis)
      order.push_back(i);
  SmallVector<Value> lo(state.extents.size(), c.index(0));
  bool ok = true;
  nest(lo, state.extents, order, [&](SmallVector<Value> &iv) {
    if (axis < 0) {
      ok &= succeeded(emitIteration(state, iv, axis));
      return;
    }
    Value extent = state.extents[axis], main = c.roundDown(extent, width);
    lanes = width;
    c.loop(c.index(0), main, width, [&](Value at) {
      iv[axis] = at;
      ok &= succeeded(emitIteration(state, iv, axis));
    });
    c.when(c.lt(main, extent), [&] {
      iv[axis] = main;
      mask = c.maskBelow(c.sub(extent, main), width);
      ok &= succeeded(emitIteration(state, iv, axis));
      mask = Value();
    });
    lanes = 1;
    tracked.clear();
  });
  return success(ok);
}

LogicalResult Emitter::emitGeneric(GenericOp op) {
  GenericState state;
  state.op = op;
  state.maps = op.getIndexingMaps();
  unsigned ins = op.getIns().size(), next = 0;
  for (int64_t extent : op.getDomain())
    state.extents.push_back(ShapedType::isDynamic(extent)
                                ? code.max(get(op.getExtents()[next++]), code.index(0))
                                : code.index(extent));
  for (Value operand : op.getIns()) {
    Value scalar = uniform.lookup(operand);
    state.inScalar.push_back(scalar);
    state.ins.push_back(scalar ? Memory() : memoryOf(operand));
  }
  for (auto [i, operand] : llvm::enumerate(op.getOuts())) {
    Value result = op.getResult(i), scalar = uniform.lookup(operand);
    auto type = cast<TileType>(result.getType());
    AffineMap outMap = state.maps[ins + i];
    bool covers = outMap.isPermutation() && op.getCombineOf(i) == Combine::none;
    for (unsigned axis = 0; covers && axis < outMap.getNumResults(); ++axis)
      covers =
          op.getDomain()[cast<AffineDimExpr>(outMap.getResult(axis)).getPosition()] == type.getShape()[axis];
    bool used = plan->hasPlace(result) && !result.use_empty();
    state.outs.push_back(used ? memoryOf(result) : Memory());
    state.oldScalar.push_back(scalar);
    if (used && !covers) {
      copyTile(operand, result); // elements that no iteration writes keep their value
      state.oldScalar.back() = Value();
      state.olds.push_back(memoryOf(result));
    } else {
      state.olds.push_back(scalar ? Memory() : memoryOf(operand));
    }
  }
  int64_t width = 1;
  int axis = chooseAxis(op, width);
  return emitIterations(state, axis, width);
}
