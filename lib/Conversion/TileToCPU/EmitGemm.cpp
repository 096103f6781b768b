//===- EmitGemm.cpp - products ------------------------------------------------===//
//
// A register block of MR rows by NR columns of C stays in vector registers over the whole K of the operands;
// B lies in panels of NR columns, A in rows, each A element is broadcast. Copies that only feed products do
// not fill what lies outside the tensors: the product stops where both operands end, and computes only what a
// later store can use.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::cpu;
using namespace tilec::tile;

struct Emitter::Product {
  GemmPlan plan;
  Access a, b, c;               ///< (m, k), (k, n), (m, n)
  Value mLimit, nLimit, kLimit; ///< only below these
  Value starts;                 ///< i1: C begins as `start` instead of what is in memory; null: never
  Value start;
};

//===- What is needed --------------------------------------------------------===//
static bool isPureElementwise(GenericOp op) {
  for (AffineMap map : op.getIndexingMaps())
    if (!map.isIdentity())
      return false;
  WalkResult result = op.getBody().walk([](Operation *inner) {
    bool fine = isa<arith::ArithDialect>(inner->getDialect()) ||
                inner->getDialect()->getNamespace() == "math" || isa<YieldOp>(inner);
    return fine ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted() && !op.getCombine();
}

namespace {
/// Everything that an accumulator flows into, when all of it ends in stores to views.
struct Flow {
  SmallVector<StoreOp> stores;
  llvm::SmallPtrSet<Operation *, 4> loops;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> work;

  void push(Value v) {
    if (seen.insert(v).second)
      work.push_back(v);
  }
  bool visit(OpOperand &use) {
    Operation *user = use.getOwner();
    unsigned i = use.getOperandNumber();
    if (auto store = dyn_cast<StoreOp>(user)) {
      stores.push_back(store);
      return isa<ViewType>(store.getDest().getType());
    }
    if (auto gemm = dyn_cast<GemmOp>(user)) {
      push(gemm.getResult());
      return use.get() == gemm.getAcc() && gemm.getA() != use.get() && gemm.getB() != use.get();
    }
    if (isa<ConvertLayoutOp>(user)) {
      push(user->getResult(0));
      return true;
    }
    if (auto generic = dyn_cast<GenericOp>(user)) {
      for (Value result : generic.getResults())
        push(result);
      return isPureElementwise(generic);
    }
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      unsigned first = loop.getNumControlOperands();
      if (i < first)
        return false;
      loops.insert(loop);
      push(loop.getRegionIterArg(i - first));
      push(loop.getResult(i - first));
      return true;
    }
    if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp()); loop && isa<scf::YieldOp>(user)) {
      loops.insert(loop);
      push(loop.getRegionIterArg(i));
      push(loop.getResult(i));
      return true;
    }
    return false;
  }
  bool run(Value tile) {
    push(tile);
    while (!work.empty())
      for (OpOperand &use : work.pop_back_val().getUses())
        if (!visit(use))
          return false;
    return !stores.empty();
  }
};
} // namespace

/// Rows and columns below which every element lies that a store to a view will write. The rest of the tile is
/// dead.
Emitter::Demand Emitter::demandOf(Value tile) {
  Code &c = code;
  Flow flow;
  ArrayRef<int64_t> shape = getShapeOf(tile.getType());
  if (shape.size() != 2 || shape[0] == 1 || shape[1] == 1 || !flow.run(tile))
    return {};
  Demand demand;
  for (StoreOp store : flow.stores) {
    // A store inside a loop that carries the accumulator writes other elements on other trips.
    for (Operation *loop : flow.loops)
      if (loop->isProperAncestor(store))
        return {};
    ArrayRef<int64_t> sizes = getShapeOf(store.getDest().getType());
    if (!views.count(store.getDest()) || sizes.size() < 2)
      return {};
    SmallVector<int64_t> extents(sizes.size(), 1);
    if (store.getExtents())
      extents.assign(store.getExtents()->begin(), store.getExtents()->end());
    else
      std::copy(shape.begin(), shape.end(), extents.end() - 2);
    SmallVector<Value> needed;
    for (auto [axis, extent] : llvm::enumerate(extents)) {
      if (extent == 1)
        continue;
      Value offset = materialize(store.getOffsets()[axis]);
      if (!offset)
        return {};
      Value from = c.max(offset, c.index(-extent));
      Value size = viewOf(store.getDest()).sizes[axis];
      needed.push_back(c.max(c.min(c.index(extent), c.sub(size, from)), c.index(0)));
    }
    if (needed.size() != 2)
      return {};
    demand.m = demand.m ? c.max(demand.m, needed[0]) : needed[0];
    demand.n = demand.n ? c.max(demand.n, needed[1]) : needed[1];
  }
  return demand;
}

//===- Copies that only feed products ----------------------------------------===//
bool Emitter::isLazy(Value buffer, CopyOp &copy) {
  auto alloc = buffer.getDefiningOp<AllocOp>();
  ArrayRef<int64_t> shape = getShapeOf(buffer.getType());
  if (!alloc || shape.size() != 2 || shape[0] == 1 || shape[1] == 1)
    return false;
  for (Operation *user : buffer.getUsers())
    if (auto from = dyn_cast<CopyOp>(user)) {
      if (copy || from.getSource() == buffer || !from.getDestOffsets().empty() || from.getIm2col())
        return false;
      copy = from;
    }
  auto view = copy ? dyn_cast<ViewType>(copy.getSource().getType()) : ViewType();
  if (!view || view.getSafe())
    return false;
  for (Operation *user : buffer.getUsers()) {
    if (user == copy)
      continue;
    auto gemm = dyn_cast<GemmOp>(user);
    if (!gemm || gemm.getA() == gemm.getB() || gemm->getBlock() != copy->getBlock() ||
        !copy->isBeforeInBlock(gemm))
      return false;
    GemmPlan gp = planGemm(gemm, target);
    if (gemm.getA() == buffer ? gp.packA : gp.packB)
      return false;
  }
  return true;
}

namespace {
/// Axes of an operand's buffer: the one that is summed over, and the one that is C's row or column.
struct OperandAxes {
  unsigned summed, kept;
};
} // namespace

static OperandAxes axesOf(GemmOp gemm, bool isA) {
  bool first = isA ? gemm.getTransA() : !gemm.getTransB(); // is the summed axis the first one?
  return first ? OperandAxes{0, 1} : OperandAxes{1, 0};
}

LogicalResult Emitter::emitLazyCopy(CopyOp op) {
  Code &c = code;
  Value buffer = op.getDest();
  SmallVector<GemmOp> users;
  for (Operation *user : buffer.getUsers())
    if (auto gemm = dyn_cast<GemmOp>(user); gemm && !llvm::is_contained(users, gemm))
      users.push_back(gemm);
  SmallVector<int64_t> shape(getShapeOf(buffer.getType()));
  SmallVector<int64_t> sourceWant = shape;
  if (op.getTranspose())
    std::swap(sourceWant[0], sourceWant[1]);
  Rect source = regionOf(op.getSource(), op.getSourceOffsets(), sourceWant, op.getTranspose(), std::nullopt);
  Rect dest = regionOf(buffer, {}, shape, false, std::nullopt);
  SmallVector<Value> lo, hi;
  boxOf(source, lo, hi);
  bool isA = users.empty() || users.front().getA() == buffer;
  bool alike = llvm::all_of(users, [&](GemmOp g) {
    return (g.getA() == buffer) == isA && axesOf(g, isA).summed == axesOf(users.front(), isA).summed;
  });
  OperandAxes axes = users.empty() || !alike ? OperandAxes{1, 0} : axesOf(users.front(), isA);
  int64_t multiple = 1;
  Value top = c.index(shape[axes.kept]); // rows (or columns) that the products will touch
  for (GemmOp gemm : users) {
    GemmPlan gp = planGemm(gemm, target);
    multiple = std::max(multiple, isA ? gp.mr : gp.nr);
  }
  if (users.size() == 1) {
    Demand demand = demandOf(users.front().getResult());
    if (Value limit = isA ? demand.m : demand.n)
      top = limit;
  }
  if (!alike)
    top = c.index(shape[axes.kept]);
  bool isPanel = dest.access.axes[axes.kept].digits.size() > 1;
  top = isPanel ? c.roundUp(top, multiple) : c.min(c.roundUp(top, multiple), c.index(shape[axes.kept]));
  SmallVector<Value> to = hi, zero(2, c.index(0)), touched(2);
  to[axes.kept] = c.max(c.min(hi[axes.kept], top), lo[axes.kept]);
  touched[axes.kept] = top;
  touched[axes.summed] = alike ? hi[axes.summed] : c.index(shape[axes.summed]);
  Value zeroElement = c.zero(registerType(dest.access.element));
  // Offsets below zero, and copies for products that disagree about the axes, are rare: zero everything
  // first. Otherwise rows begin at 0, on which panels depend.
  Value early = alike ? c.lt(c.index(0), c.add(lo[0], lo[1])) : c.boolean(true);
  MoveOptions options;
  options.prefetch = isA ? 8 : 4;
  bool padded =
      isPanel && unitStride(source.access, axes.kept, 2) && unitStride(dest.access, axes.kept, multiple);
  if (padded)
    options.padTo = multiple;
  c.when(
      early,
      [&] {
        fillBox(dest.access, zero, touched, zeroElement);
        moveBox(source.access, dest.access, lo, to);
      },
      [&] { moveBox(source.access, dest.access, zero, to, options); });
  SmallVector<Value> restLo(2, c.index(0));
  restLo[axes.kept] = padded ? c.roundUp(to[axes.kept], multiple) : to[axes.kept];
  c.when(c.lt(restLo[axes.kept], top), [&] { fillBox(dest.access, restLo, touched, zeroElement); });
  LazyBox box;
  box.hi.resize(2);
  box.hi[axes.summed] = touched[axes.summed];
  lazy[buffer] = box;
  return success();
}

//===- Operands --------------------------------------------------------------===//
static Access panels(Code &c, Value ptr, Type element, int64_t k, int64_t nr) {
  Access access{ptr, element, {}};
  access.axes.push_back({Value(), {{0, c.index(nr)}}});
  access.axes.push_back({Value(), {{nr, c.index(1)}, {0, c.index(k * nr)}}});
  return access;
}

/// The operand as (m, k) or (k, n) in the product's type, packed into scratch when it is not fit to be read
/// in place.
Access Emitter::packOperand(GemmOp op, const GemmPlan &gp, bool isA, Value mLimit, Value nLimit) {
  Code &c = code;
  Value operand = isA ? op.getA() : op.getB();
  Value scalar = uniform.lookup(operand);
  bool pack = isA ? gp.packA : gp.packB;
  Access source;
  if (!scalar || !pack) {
    source = accessOf(operand);
    while (source.axes.size() > 2)
      source.axes.erase(source.axes.begin());
    if (isA ? op.getTransA() : op.getTransB())
      std::swap(source.axes[0], source.axes[1]);
  }
  if (!pack)
    return source;
  Value ptr = c.gep(arena, c.b.getI8Type(), plan->scratch(op, isA ? 0 : 1));
  Access dest = isA ? placeAccess(ptr, gp.type, {gp.pitchA(), 1}) : panels(c, ptr, gp.type, gp.k, gp.nr);
  SmallVector<Value> lo(2, c.index(0)), hi;
  if (isA)
    hi = {mLimit, c.index(gp.k)};
  else
    hi = {c.index(gp.k), nLimit};
  MoveOptions options;
  options.isUnsigned = op->hasAttr(isA ? TileDialect::kAUnsignedAttrName : TileDialect::kBUnsignedAttrName);
  if (scalar)
    fillBox(dest, lo, hi, convert(scalar, getElementTypeOf(operand.getType()), gp.type, options.isUnsigned));
  else
    moveBox(source, dest, lo, hi, options);
  return dest;
}

//===- The register block ----------------------------------------------------===//
static Value multiplyAdd(Code &c, Value a, Value b, Value sum) {
  if (isa<FloatType>(getElementTypeOrSelf(a.getType())))
    return LLVM::FMulAddOp::create(c.b, c.loc, a, b, sum);
  return c.add(c.mul(a, b), sum);
}

/// Register block (q, p): rows q*MR.., columns p*NR...
void Emitter::emitBlock(Product &product, Value p, Value q) {
  Code &c = code;
  const GemmPlan &gp = product.plan;
  int64_t vectors = gp.nr / gp.lanes, mr = gp.mr;
  Type element = gp.type;
  VectorType vector = c.vec(element, gp.lanes);
  Value row0 = c.mul(q, mr), column0 = c.mul(p, gp.nr), zero = c.index(0);
  auto cAddress = [&](int64_t i, int64_t v) {
    return addressOf(product.c, {c.add(row0, i), c.add(column0, v * gp.lanes)});
  };
  SmallVector<Type> types(mr * vectors, vector);
  auto load = [&] {
    SmallVector<Value> values;
    for (int64_t i = 0; i < mr; ++i)
      for (int64_t v = 0; v < vectors; ++v)
        values.push_back(
            convert(c.load(cAddress(i, v), product.c.element, gp.lanes), product.c.element, element));
    return values;
  };
  SmallVector<Value> sums;
  if (product.starts) {
    sums = c.choose(
        product.starts, types,
        [&] { return SmallVector<Value>(mr * vectors, c.broadcast(product.start, gp.lanes)); }, load);
  } else {
    sums = load();
  }
  const Access &a = product.a, &b = product.b;
  Value aBase = addressOf(a, {row0, zero}), bBase = addressOf(b, {zero, column0});
  // Rows of A at constant distances need one pointer.
  bool regular = a.axes[0].digits.size() == 1 && Code::constant(a.axes[0].digits[0].stride).has_value();
  SmallVector<Value> rows;
  for (int64_t i = 0; i < mr && !regular; ++i)
    rows.push_back(addressOf(a, {c.add(row0, i), zero}));
  auto along = [&](const Access::Axis &axis, Value k) {
    Access one{Value(), element, {axis}};
    Value at = offsetOf(one, {k});
    return axis.start ? c.sub(at, offsetOf(one, {zero})) : at;
  };
  sums = c.loop(zero, product.kLimit, 1, sums, [&](Value k, ValueRange args) {
    SmallVector<Value> next(args);
    Value bAt = c.gep(bBase, element, along(b.axes[0], k)), aOffset = along(a.axes[1], k);
    SmallVector<Value> columns;
    for (int64_t v = 0; v < vectors; ++v)
      columns.push_back(c.load(c.gep(bAt, element, v * gp.lanes), element, gp.lanes));
    Value aAt = regular ? c.gep(aBase, element, aOffset) : Value();
    for (int64_t i = 0; i < mr; ++i) {
      Value ptr = regular ? c.gep(aAt, element, c.mul(a.axes[0].digits[0].stride, i))
                          : c.gep(rows[i], element, aOffset);
      Value wide = c.broadcast(c.load(ptr, element), gp.lanes);
      for (int64_t v = 0; v < vectors; ++v)
        next[i * vectors + v] = multiplyAdd(c, wide, columns[v], args[i * vectors + v]);
    }
    return next;
  });
  for (int64_t i = 0; i < mr; ++i)
    for (int64_t v = 0; v < vectors; ++v)
      c.store(convert(sums[i * vectors + v], element, product.c.element), cAddress(i, v), product.c.element);
}

/// B's panel stays in the first cache level while A's rows stream past.
void Emitter::emitBlocks(Product &product) {
  Code &c = code;
  c.loop(c.index(0), c.ceilDiv(product.nLimit, product.plan.nr), 1, [&](Value p) {
    c.loop(c.index(0), c.ceilDiv(product.mLimit, product.plan.mr), 1,
           [&](Value q) { emitBlock(product, p, q); });
  });
}

LogicalResult Emitter::emitGemm(GemmOp op) {
  Code &c = code;
  if (!plan->hasPlace(op.getResult()) || op.getResult().use_empty())
    return success();
  GemmPlan gp = planGemm(op, target);
  if (gp.nr % gp.lanes != 0)
    return op.emitError() << "[E0402] register block " << gp.mr << "x" << gp.nr << " is no multiple of "
                          << gp.lanes << " lanes";
  Product product;
  product.plan = gp;
  Demand demand = demandOf(op.getResult());
  product.mLimit = demand.m ? demand.m : c.index(gp.m);
  product.nLimit = demand.n ? demand.n : c.index(gp.n);
  Value end[2], whole = c.index(gp.k);
  for (bool isA : {true, false}) {
    auto it = lazy.find(isA ? op.getA() : op.getB());
    end[!isA] = it == lazy.end() ? whole : it->second.hi[axesOf(op, isA).summed];
  }
  product.kLimit = c.max(end[0], end[1]);
  product.a = packOperand(op, gp, true, product.mLimit, product.nLimit);
  product.b = packOperand(op, gp, false, product.mLimit, product.nLimit);
  product.c = accessOf(op.getResult());
  // Operands that end at different k: rare, zeros are written then.
  c.when(c.lt(end[0], product.kLimit), [&] {
    Value rows = c.min(c.roundUp(product.mLimit, gp.mr), c.index(gp.m));
    fillBox(product.a, {c.index(0), end[0]}, {rows, product.kLimit}, c.zero(gp.type));
  });
  c.when(c.lt(end[1], product.kLimit), [&] {
    fillBox(product.b, {end[1], c.index(0)}, {product.kLimit, c.roundUp(product.nLimit, gp.nr)},
            c.zero(gp.type));
  });
  Type accElement = op.getAcc().getType().getElementType();
  Value scalar = uniform.lookup(op.getAcc());
  if (scalar && !plan->samePlace(op.getAcc(), op.getResult())) {
    product.starts = c.boolean(true);
    product.start = convert(scalar, accElement, gp.type);
  } else if (Value first = startsUniform.lookup(op.getAcc())) {
    product.starts = first;
    product.start = convert(uniformStart[op.getAcc()], accElement, gp.type);
  } else {
    copyTile(op.getAcc(), op.getResult());
  }
  if (op.getClear()) {
    Value clear = get(op.getClear());
    Value zero = c.zero(gp.type);
    product.start = product.starts ? c.select(clear, zero, product.start) : zero;
    product.starts = product.starts ? c.either(product.starts, clear) : clear;
  }
  emitBlocks(product);
  return success();
}
