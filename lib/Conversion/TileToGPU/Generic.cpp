//===- Generic.cpp - Parallel nests over fragments ---------------------------===//
#include "Emitter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

Value Emitter::affine(AffineExpr expr, ArrayRef<Value> dims) {
  if (auto d = dyn_cast<AffineDimExpr>(expr))
    return dims[d.getPosition()];
  if (auto c = dyn_cast<AffineConstantExpr>(expr))
    return code.index(c.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return code.index(0);
  Value x = affine(binary.getLHS(), dims), y = affine(binary.getRHS(), dims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return code.add(x, y);
  case AffineExprKind::Mul:
    return code.mul(x, y);
  case AffineExprKind::Mod: {
    Value r = code.fold<arith::RemSIOp>(x, y);
    Value negative = code.cmp(arith::CmpIPredicate::slt, r, code.index(0));
    return code.select(negative, code.add(r, y), r);
  }
  case AffineExprKind::FloorDiv:
    return code.fold<arith::FloorDivSIOp>(x, y);
  default:
    return code.fold<arith::CeilDivSIOp>(x, y);
  }
}

/// Pure, without regions, without addresses: emitted once for all registers.
bool Emitter::isVectorBody(GenericOp op) {
  for (Value in : op.getIns())
    if (!isa<TileType>(in.getType()))
      return false;
  for (Operation &o : op.getBody().front().without_terminator())
    if (o.getNumRegions() || !isa<arith::ArithDialect, math::MathDialect>(o.getDialect()))
      return false;
  return true;
}

/// For each register of the iteration, the register of an operand that holds the element at `map`, `offsets`
/// further on (none: at 0); -1 where another thread holds it.
SmallVector<int64_t> Emitter::matchRegisters(const Layout &iteration, AffineMap map, const Layout &operand,
                                             ArrayRef<int64_t> offsets) {
  using Place = SmallVector<int64_t, 8>;
  int64_t n = iteration.inSize(DimId::Reg), m = operand.inSize(DimId::Reg);
  auto contributions = [](const Layout &l, DimId out, int64_t count) {
    if (l.outIndex(out) < 0 || !l.hasIn(DimId::Reg))
      return std::vector<std::pair<int64_t, int64_t>>(count, {0, 0});
    return l.contributions(DimId::Reg, out);
  };
  std::vector<Place> want(n), have(m);
  for (auto [axis, e] : llvm::enumerate(map.getResults())) {
    std::vector<std::pair<int64_t, int64_t>> from(n, {0, 0});
    if (auto d = dyn_cast<AffineDimExpr>(e))
      from = contributions(iteration, coord(d.getPosition()), n);
    auto to = contributions(operand, coord(axis), m);
    int64_t offset = offsets.empty() ? 0 : offsets[axis];
    for (int64_t r = 0; r < n; ++r)
      want[r].append({from[r].first, from[r].second + offset});
    for (int64_t r = 0; r < m; ++r)
      have[r].append({to[r].first, to[r].second});
  }
  std::map<std::vector<int64_t>, int64_t> where;
  for (int64_t r = m; r-- > 0;)
    where[std::vector<int64_t>(have[r].begin(), have[r].end())] = r;
  SmallVector<int64_t> result;
  for (int64_t r = 0; r < n; ++r) {
    auto it = where.find(std::vector<int64_t>(want[r].begin(), want[r].end()));
    result.push_back(it == where.end() ? -1 : it->second);
  }
  return result;
}

/// Iterations of one thread that stand in its code one after the other, where a loop can take the rest.
static constexpr int64_t kIterationsAtOnce = 32;

/// The body once for each of the first \p count registers. \p places: the register of each operand that is a
/// tile; \p yields: per result, a value for each register.
LogicalResult Emitter::emitIterations(GenericOp op, int64_t count, ArrayRef<SmallVector<int64_t>> places,
                                      MutableArrayRef<SmallVector<Value>> yields,
                                      const PackedValues &packed) {
  const Layout &l = op.getLayoutAttr().getLayout();
  ArrayRef<int64_t> domain = op.getDomain();
  Coords coords = coordsOf(l, domain.size());
  Block &block = op.getBody().front();
  unsigned numIns = op.getIns().size();
  Value owner = isOwner(l);
  SmallVector<Value> loaded;
  for (auto [i, in] : llvm::enumerate(op.getIns())) {
    loaded.push_back(Value());
    AffineMap map = op.getIndexingMaps()[i];
    // A memory operand read along the iteration's axes: wide accesses.
    if (isa<TileType>(in.getType()) || !map.isIdentity() || op.getInArgs()[i].use_empty())
      continue;
    Region region = regionOf(in, {}, domain, domain);
    loaded.back() = loadFragment(l, domain, getElementTypeOf(in.getType()), region, 0, count);
  }
  for (int64_t r = 0; r < count; ++r) {
    Body body;
    body.nest = op;
    body.coords = &coords;
    body.reg = r;
    body.packed = &packed;
    body.owner = owner;
    if (isReplicaRegister(l, r))
      body.owner = code.boolean(false);
    body.guard = validAt(l, coords, domain, r);
    SmallVector<Value> indices;
    for (unsigned axis = 0; axis < domain.size(); ++axis) {
      indices.push_back(code.toIndex(coordAt(coords, axis, r)));
      body.map[op.getIndexArgs()[axis]] = indices.back();
    }
    for (auto [i, in] : llvm::enumerate(op.getIns())) {
      BlockArgument arg = op.getInArgs()[i];
      if (arg.use_empty())
        continue;
      if (isa<TileType>(in.getType())) {
        body.map[arg] = code.element(get(in), places[i][r]);
        continue;
      }
      if (loaded[i]) {
        body.map[arg] = code.element(loaded[i], r);
        continue;
      }
      SmallVector<Value> at;
      for (AffineExpr e : op.getIndexingMaps()[i].getResults())
        at.push_back(affine(e, indices));
      body.map[arg] = loadElement(in, at, {}, body.guard);
    }
    for (auto [i, out] : llvm::enumerate(op.getOuts()))
      if (!op.getOutArgs()[i].use_empty())
        body.map[op.getOutArgs()[i]] = code.element(get(out), places[numIns + i][r]);
    if (failed(emitBodyBlock(block, body)) || failed(budget.check(*op)))
      return failure();
    for (unsigned i = 0; i < yields.size(); ++i)
      yields[i].push_back(lookup(body, block.getTerminator()->getOperand(i)));
  }
  return success();
}

/// For each operand that is a tile, the register of it that each register of the iteration meets.
SmallVector<SmallVector<int64_t>> Emitter::registersOf(GenericOp op) {
  SmallVector<SmallVector<int64_t>> places;
  for (auto [i, operand] :
       llvm::enumerate(llvm::concat<Value>(llvm::to_vector(op.getIns()), llvm::to_vector(op.getOuts())))) {
    auto type = dyn_cast<TileType>(operand.getType());
    places.push_back(type ? matchRegisters(op.getLayoutAttr().getLayout(), op.getIndexingMaps()[i],
                                           type.getLayout().getLayout())
                          : SmallVector<int64_t>());
  }
  return places;
}

LogicalResult Emitter::emitGeneric(GenericOp op) {
  if (threads.oneLane)
    return unsupported(*op, "element-wise code in the load role");
  if (!op.getLayoutAttr())
    return unsupported(*op, "a generic without a layout");
  if (!op.getExtents().empty())
    return unsupported(*op, "a dynamic extent of a Parallel nest");
  const Layout &l = op.getLayoutAttr().getLayout();
  ArrayRef<int64_t> domain = op.getDomain();
  int64_t regs = l.inSize(DimId::Reg);
  Coords coords = coordsOf(l, domain.size());
  Block &block = op.getBody().front();
  SmallVector<SmallVector<int64_t>> places = registersOf(op);
  for (auto [i, place] : llvm::enumerate(places))
    if (llvm::is_contained(place, -1)) {
      Value operand = i < op.getIns().size() ? op.getIns()[i] : op.getOuts()[i - op.getIns().size()];
      return op.emitError() << "[E0505] operand " << i << " of this nest lies in other threads ("
                            << cast<TileType>(operand.getType()).getLayout().getLayout().str() << " against "
                            << l.str() << ")";
    }
  unsigned numIns = op.getIns().size();
  SmallVector<Value> results(op.getOuts().size());
  auto yieldOf = [&](unsigned i) { return block.getTerminator()->getOperand(i); };

  PackedValues packed;
  if (failed(emitBitFields(op, packed)))
    return failure();
  if (packed.values.empty() && isVectorBody(op)) {
    Body body;
    body.lanes = regs;
    body.nest = op;
    body.coords = &coords;
    for (auto [axis, arg] : llvm::enumerate(op.getIndexArgs())) {
      if (arg.use_empty())
        continue;
      if (coords.low[axis]) {
        SmallVector<Value> all;
        for (int64_t r = 0; r < regs; ++r)
          all.push_back(code.toIndex(coordAt(coords, axis, r)));
        body.map[arg] = code.fromElements(all);
        continue;
      }
      SmallVector<int64_t> parts;
      for (auto [low, high] : coords.regs[axis])
        parts.push_back(low + high);
      auto type = code.vec(code.b.getIndexType(), regs);
      SmallVector<Attribute> attrs;
      for (int64_t p : parts)
        attrs.push_back(code.b.getIndexAttr(p));
      Value constants = arith::ConstantOp::create(code.b, code.loc,
                                                  DenseElementsAttr::get(type, ArrayRef<Attribute>(attrs)));
      Value base = coords.high[axis] ? code.toIndex(coords.high[axis]) : Value();
      body.map[arg] = base ? code.add(code.broadcast(base, regs), constants) : constants;
    }
    for (auto [i, arg] : llvm::enumerate(op.getInArgs()))
      if (!arg.use_empty())
        body.map[arg] = code.permute(get(op.getIns()[i]), places[i]);
    for (auto [i, arg] : llvm::enumerate(op.getOutArgs()))
      if (!arg.use_empty())
        body.map[arg] = code.permute(get(op.getOuts()[i]), places[numIns + i]);
    if (failed(emitBodyBlock(block, body)))
      return failure();
    for (unsigned i = 0; i < results.size(); ++i)
      results[i] = code.broadcast(lookup(body, yieldOf(i)), regs);
  } else {
    SmallVector<SmallVector<Value>> yields(results.size());
    // Without a fragment among the operands nothing names registers: many become a loop.
    bool loops = results.empty() && packed.values.empty() &&
                 llvm::none_of(op.getIns().getTypes(), llvm::IsaPred<TileType>);
    LogicalResult done = success();
    forRegisters(l, loops ? kIterationsAtOnce : regs,
                 [&](int64_t count) { done = emitIterations(op, count, places, yields, packed); });
    if (failed(done))
      return failure();
    for (unsigned i = 0; i < results.size(); ++i)
      results[i] = code.fromElements(yields[i]);
  }
  // Iteration order -> register order of the result.
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    auto type = cast<TileType>(result.getType());
    int64_t count = type.getLayout().getNumRegs();
    SmallVector<int64_t> order(count, -1);
    for (int64_t r = regs; r-- > 0;)
      order[places[numIns + i][r]] = r;
    if (llvm::is_contained(order, -1)) {
      // Elements that no iteration writes keep their value.
      Value old = get(op.getOuts()[i]);
      SmallVector<Value> all;
      for (int64_t r = 0; r < count; ++r)
        all.push_back(order[r] < 0 ? code.element(old, r) : code.element(results[i], order[r]));
      set(result, code.fromElements(all));
      continue;
    }
    set(result, code.permute(results[i], order));
  }
  return success();
}
