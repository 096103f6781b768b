//===- Storage.cpp - lifetimes, sharing, packing -----------------------------===//
//
// Positions number the operations in order. A value is live in ranges [from, to): an operand is read at p and
// its range ends at p + 1, a result is written at p and its range starts there; so they overlap, which keeps
// them apart unless the operation may work in place (the pair is then `allowed` to meet in that one
// position).
//
//===----------------------------------------------------------------------===//
#include "Storage.h"
#include "Code.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::cpu;
using namespace tilec::tile;

//===- Products --------------------------------------------------------------===//
int64_t GemmPlan::scratchA() const { return (m + mr) * pitchA() * elementBytes(type); }
int64_t GemmPlan::scratchB() const { return panels() * nr * k * elementBytes(type); }

Value tilec::cpu::bufferRoot(Value buffer) {
  while (Operation *def = buffer.getDefiningOp()) {
    if (auto sub = dyn_cast<SubbufferOp>(def))
      buffer = sub.getSource();
    else if (auto recast = dyn_cast<RecastBufferOp>(def))
      buffer = recast.getSource();
    else
      break;
  }
  return buffer;
}

/// Do runs of `nr` elements along axis `axis` lie side by side and start anywhere a multiple of nr does?
static bool hasRuns(Type type, unsigned axis, int64_t nr) {
  LayoutAttr layout = getLayoutOf(type);
  ArrayRef<int64_t> shape = getShapeOf(type);
  if (isa<BufferType>(type) && layout) {
    auto runs = layout.getLayout().runs(coord(axis));
    if (runs.empty())
      return false;
    const auto &first = runs.front();
    return first.place == 1 && first.v.size() == 1 && first.v[0] == 1 && first.n % nr == 0;
  }
  // Row-major, and the last register block must not run over the end of the row.
  return axis + 1 == shape.size() && shape[axis] % nr == 0;
}

GemmPlan tilec::cpu::planGemm(GemmOp op, const TargetDesc &target) {
  GemmPlan plan;
  SmallVector<int64_t> a(getShapeOf(op.getA().getType()));
  while (a.size() > 2)
    a.erase(a.begin());
  plan.m = op.getAcc().getType().getShape()[0];
  plan.n = op.getAcc().getType().getShape()[1];
  plan.k = op.getTransA() ? a[0] : a[1];
  Type acc = op.getAcc().getType().getElementType();
  Builder b(op.getContext());
  if (isa<FloatType>(acc))
    plan.type = acc.isF64() ? acc : Type(b.getF32Type());
  else
    plan.type = acc.getIntOrFloatBitWidth() > 32 ? acc : Type(b.getI32Type());
  plan.lanes = plan.type.getIntOrFloatBitWidth() == 64 ? target.vectorLanes32 / 2 : target.vectorLanes32;
  plan.mr = target.cpuLevel == 4 ? 8 : target.cpuLevel == 3 ? 6 : 4;
  plan.nr = 2 * plan.lanes;
  if (InstAttr inst = op.getInstAttr(); inst && inst.getShape().size() >= 2) {
    plan.mr = inst.getShape()[0];
    plan.nr = inst.getShape()[1];
  }
  auto kind = [](Type type) { return getElementTypeOf(type); };
  auto rank = [](Type type) { return getShapeOf(type).size(); };
  Type ta = op.getA().getType(), tb = op.getB().getType();
  unsigned nAxis = rank(tb) - (op.getTransB() ? 2 : 1);
  plan.packA = kind(ta) != plan.type || isUniformTile(op.getA());
  plan.packB = kind(tb) != plan.type || isUniformTile(op.getB()) || !hasRuns(tb, nAxis, plan.nr);
  return plan;
}

bool tilec::cpu::isUniformTile(Value tile) {
  return isa<TileType>(tile.getType()) && tile.getDefiningOp() && isa<SplatOp, UndefOp>(tile.getDefiningOp());
}

//===- Positions and ranges --------------------------------------------------===//
int64_t StoragePlan::number(Block &block, int64_t at) {
  for (Operation &op : block) {
    int64_t start = at++;
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          at = number(inner, at);
    position[&op] = {start, at++};
  }
  return at;
}

void StoragePlan::addValue(Value value) {
  if (valueIndex.count(value))
    return;
  unsigned index = values.size();
  valueIndex[value] = index;
  values.push_back({value, {}});
  classOf[value] = index;
  parent.push_back(index);
  places.emplace_back();
  places.back().members.push_back(index);
}

void StoragePlan::addRange(Value value, int64_t from, int64_t to) {
  values[valueIndex[value]].ranges.push_back({from, std::max(to, from + 1)});
}

/// Where the range of `value` must end because of this user: behind every loop between them.
int64_t StoragePlan::useEnd(Value value, Operation *user) const {
  while (!position.count(user))
    user = user->getParentOp(); // inside a generic
  int64_t end = position.lookup(user).first + 1;
  Region *home = value.getParentRegion();
  for (Operation *op = user; op->getParentRegion() != home;) {
    op = op->getParentOp();
    if (isa<scf::ForOp, scf::WhileOp>(op))
      end = std::max(end, position.lookup(op).second + 1);
  }
  return end;
}

/// The range of `value` from `from` to its last use; uses of `of` (an alias) count.
void StoragePlan::addUses(Value value, int64_t from, Value of) {
  int64_t to = from + 1;
  SmallVector<Value> aliases = {of};
  for (unsigned i = 0; i < aliases.size(); ++i)
    for (Operation *user : aliases[i].getUsers()) {
      to = std::max(to, useEnd(value, user));
      if (isa<SubbufferOp, RecastBufferOp>(user))
        aliases.push_back(user->getResult(0));
    }
  addRange(value, from, to);
}

void StoragePlan::allow(Value from, Value to) {
  if (!hasPlace(from) || !hasPlace(to))
    return;
  allowed.insert({valueIndex[from], valueIndex[to]});
  allowed.insert({valueIndex[to], valueIndex[from]});
  wishes.push_back({from, to});
}

//===- Values ----------------------------------------------------------------===//
/// Splat and undef are read as a scalar by these.
static bool readsAsScalar(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<GenericOp, StoreOp, scf::YieldOp, scf::ForOp, scf::WhileOp, scf::ConditionOp, ConvertLayoutOp,
          InsertOp>(user))
    return true;
  if (auto gemm = dyn_cast<GemmOp>(user))
    return true;
  return false;
}

void StoragePlan::collectOp(Operation &op) {
  int64_t at = position[&op].first;
  if (isa<AllocOp>(op)) {
    addValue(op.getResult(0));
    addUses(op.getResult(0), at, op.getResult(0));
    return;
  }
  for (Value result : op.getResults()) {
    if (!isa<TileType>(result.getType()))
      continue;
    if (isUniformTile(result) && llvm::all_of(result.getUses(), readsAsScalar))
      continue;
    addValue(result);
    addUses(result, at, result);
  }
  if (auto gemm = dyn_cast<GemmOp>(op)) {
    GemmPlan plan = planGemm(gemm, *target);
    if (plan.packA)
      scratches.push_back({gemm, 0, plan.scratchA()});
    if (plan.packB)
      scratches.push_back({gemm, 1, plan.scratchB()});
  }
  inPlace(op);
}

static bool isTile(Value value) { return isa<TileType>(value.getType()); }

void StoragePlan::collectLoop(scf::ForOp loop) {
  auto [start, end] = position[loop];
  SmallVector<Value> from, to;
  for (auto [init, arg, result] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults())) {
    if (!isTile(arg))
      continue;
    addValue(arg);
    addUses(arg, start, arg);
    addValue(result);
    addUses(result, end, result);
    demands.push_back({arg, result});
    allow(init, arg);
    from.push_back(init);
    to.push_back(arg);
  }
  planCopies(loop, from, to);
  collect(*loop.getBody());
  Operation *yield = loop.getBody()->getTerminator();
  from.clear();
  for (auto [arg, value] : llvm::zip(loop.getRegionIterArgs(), yield->getOperands())) {
    if (!isTile(arg))
      continue;
    addRange(arg, position[yield].first, end + 1);
    allow(value, arg);
    from.push_back(value);
  }
  planCopies(yield, from, to);
}

void StoragePlan::collectWhile(scf::WhileOp loop) {
  auto [start, end] = position[loop];
  SmallVector<Value> from, before, after;
  for (auto [init, arg] : llvm::zip(loop.getInits(), loop.getBeforeArguments())) {
    if (!isTile(arg))
      continue;
    addValue(arg);
    addUses(arg, start, arg);
    allow(init, arg);
    from.push_back(init);
    before.push_back(arg);
  }
  planCopies(loop, from, before);
  collect(*loop.getBeforeBody());
  scf::ConditionOp condition = loop.getConditionOp();
  int64_t decide = position[condition].first;
  from.clear();
  for (auto [value, arg, result] :
       llvm::zip(condition.getArgs(), loop.getAfterArguments(), loop.getResults())) {
    if (!isTile(arg))
      continue;
    addValue(arg);
    addUses(arg, decide, arg);
    addValue(result);
    // Written when the condition fails; the body behind it does not run then, but comes later in the order.
    addRange(result, decide, decide + 1);
    addUses(result, end, result);
    demands.push_back({arg, result});
    allow(value, arg);
    allow(value, result);
    from.push_back(value);
    after.push_back(arg);
  }
  planCopies(condition, from, after);
  collect(*loop.getAfterBody());
  Operation *yield = loop.getAfterBody()->getTerminator();
  from.clear();
  for (auto [arg, value] : llvm::zip(loop.getBeforeArguments(), yield->getOperands())) {
    if (!isTile(arg))
      continue;
    addRange(arg, position[yield].first, end + 1);
    allow(value, arg);
    from.push_back(value);
  }
  planCopies(yield, from, before);
}

void StoragePlan::collectIf(scf::IfOp op) {
  SmallVector<Value> to;
  for (Value result : op.getResults())
    if (isTile(result)) {
      addValue(result);
      addUses(result, position[op].second, result);
      to.push_back(result);
    }
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    collect(region.front());
    Operation *yield = region.front().getTerminator();
    SmallVector<Value> from;
    for (auto [result, value] : llvm::zip(op.getResults(), yield->getOperands())) {
      if (!isTile(result))
        continue;
      addRange(result, position[yield].first, position[yield].first + 1);
      allow(value, result);
      from.push_back(value);
    }
    planCopies(yield, from, to);
  }
}

void StoragePlan::collect(Block &block) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      collectLoop(loop);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      collectWhile(loop);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      collectIf(branch);
    else
      collectOp(op);
  }
}

//===- In place --------------------------------------------------------------===//
void StoragePlan::inPlaceGeneric(GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMaps();
  unsigned ins = op.getIns().size();
  llvm::DenseSet<Value> gathered;
  op.getBody().walk([&](ExtractOp extract) { gathered.insert(extract.getTile()); });
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    AffineMap map = maps[ins + i];
    // Another map of the same tile may read what this iteration overwrites.
    auto readElsewhere = [&](Value tile) {
      if (gathered.contains(tile))
        return true;
      for (auto [j, operand] : llvm::enumerate(op.getIns()))
        if (operand == tile && maps[j] != map)
          return true;
      for (auto [j, operand] : llvm::enumerate(op.getOuts()))
        if (operand == tile && maps[ins + j] != map)
          return true;
      return false;
    };
    Value old = op.getOuts()[i];
    if (!readElsewhere(old))
      allow(old, result);
    auto type = cast<TileType>(result.getType());
    bool covers = map.isIdentity() && op.getDomain() == type.getShape();
    if (!covers || op.getCombineOf(i) != Combine::none)
      continue;
    for (auto [j, operand] : llvm::enumerate(op.getIns()))
      if (operand.getType() == type && maps[j] == map && !readElsewhere(operand))
        allow(operand, result);
  }
}

void StoragePlan::inPlace(Operation &op) {
  if (auto generic = dyn_cast<GenericOp>(op))
    inPlaceGeneric(generic);
  else if (auto gemm = dyn_cast<GemmOp>(op))
    allow(gemm.getAcc(), gemm.getResult());
  else if (auto insert = dyn_cast<InsertOp>(op))
    allow(insert.getTile(), insert.getResult());
  else if (isa<ScanOp, ConvertLayoutOp>(op))
    allow(op.getOperand(0), op.getResult(0));
}

//===- Sharing ---------------------------------------------------------------===//
unsigned StoragePlan::find(Value value) const {
  unsigned at = classOf.lookup(value);
  while (parent[at] != at)
    at = parent[at] = parent[parent[at]];
  return at;
}

bool StoragePlan::isFree(unsigned a, unsigned b) const {
  for (unsigned u : places[a].members)
    for (unsigned v : places[b].members)
      for (const Range &x : values[u].ranges)
        for (const Range &y : values[v].ranges) {
          int64_t from = std::max(x.from, y.from), to = std::min(x.to, y.to);
          if (from >= to)
            continue;
          if (to - from > 1 || !allowed.contains({u, v}))
            return false;
        }
  return true;
}

void StoragePlan::join(Value x, Value y, bool force) {
  unsigned a = find(x), b = find(y);
  if (a == b || cast<TileType>(x.getType()).getShape() != cast<TileType>(y.getType()).getShape() ||
      getElementTypeOf(x.getType()) != getElementTypeOf(y.getType()) || (!force && !isFree(a, b)))
    return;
  parent[b] = a;
  places[a].members.append(places[b].members);
  places[b].members.clear();
}

/// Copies at a border happen at once: a source that another copy overwrites goes through scratch.
void StoragePlan::planCopies(Operation *op, ValueRange from, ArrayRef<Value> to) {
  copies.push_back({op, SmallVector<Value>(from), SmallVector<Value>(to)});
}

//===- Packing ---------------------------------------------------------------===//
SmallVector<int64_t> StoragePlan::strides(Value tile) const {
  auto type = cast<TileType>(tile.getType());
  const Place &place = places[find(tile)];
  SmallVector<int64_t> result(type.getShape().size());
  int64_t stride = 1;
  for (int64_t i = result.size() - 1; i >= 0; --i) {
    result[i] = stride;
    int64_t extent = type.getShape()[i];
    if (i + 1 == static_cast<int64_t>(result.size()))
      extent = (extent + place.padRow - 1) / place.padRow * place.padRow;
    stride *= extent;
  }
  return result;
}

int64_t StoragePlan::bytesOf(const Place &place) const {
  Value value = values[place.members.front()].value;
  Type type = value.getType();
  int64_t bytes = elementBytes(getElementTypeOf(type));
  if (auto buffer = dyn_cast<BufferType>(type)) {
    int64_t elements = 1;
    for (int64_t extent : buffer.getShape())
      elements *= extent;
    if (buffer.getLayout())
      elements = std::max(elements, buffer.getLayout().getFootprint());
    return elements * bytes;
  }
  ArrayRef<int64_t> shape = getShapeOf(type);
  int64_t rank = shape.size(), elements = strides(value)[0];
  elements *= rank == 2 ? (shape[0] + place.padRows - 1) / place.padRows * place.padRows : shape[0];
  if (rank == 1)
    elements = (shape[0] + place.padRow - 1) / place.padRow * place.padRow;
  return elements * bytes;
}

void StoragePlan::pack() {
  struct Item {
    unsigned place;
    int64_t bytes;
    SmallVector<Range> ranges;
  };
  std::vector<Item> items;
  for (auto [i, place] : llvm::enumerate(places)) {
    if (place.members.empty() && place.scratch.empty())
      continue;
    Item item{static_cast<unsigned>(i), place.bytes, place.scratch};
    for (unsigned member : place.members)
      item.ranges.append(values[member].ranges);
    items.push_back(item);
  }
  llvm::sort(items, [](const Item &x, const Item &y) {
    return std::make_pair(-x.bytes, x.place) < std::make_pair(-y.bytes, y.place);
  });
  auto meet = [](const Item &x, const Item &y) {
    for (const Range &r : x.ranges)
      for (const Range &s : y.ranges)
        if (std::max(r.from, s.from) < std::min(r.to, s.to))
          return true;
    return false;
  };
  for (size_t i = 0; i < items.size(); ++i) {
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (size_t j = 0; j < i; ++j)
      if (meet(items[i], items[j]))
        taken.push_back({places[items[j].place].offset, places[items[j].place].offset + items[j].bytes});
    llvm::sort(taken);
    int64_t at = 0;
    for (auto [from, to] : taken) {
      if (at + items[i].bytes <= from)
        break;
      at = std::max(at, (to + 63) / 64 * 64);
    }
    places[items[i].place].offset = at;
    total = std::max(total, at + items[i].bytes);
  }
  total = (total + slack + 63) / 64 * 64;
}

int64_t StoragePlan::offset(Value value) const { return places[find(value)].offset; }

LogicalResult StoragePlan::build(LaunchOp launch, const TargetDesc &desc) {
  target = &desc;
  Block &body = launch.getBody().front();
  number(body, 0);
  collect(body);
  for (auto [x, y] : demands)
    join(x, y, /*force=*/true);
  for (auto [x, y] : wishes)
    join(x, y, /*force=*/false);
  // A product writes whole register blocks.
  launch.getBody().walk([&](GemmOp gemm) {
    GemmPlan plan = planGemm(gemm, desc);
    for (Value tile : {Value(gemm.getResult())}) {
      Place &place = places[find(tile)];
      place.padRow = std::max(place.padRow, plan.nr);
      place.padRows = std::max(place.padRows, plan.mr);
    }
    // Rows of the last register block may be read past the end of the last place.
    slack = std::max(slack, plan.mr * (plan.k + plan.n + 64) * 8);
  });
  for (Place &place : places)
    if (!place.members.empty())
      place.bytes = bytesOf(place);
  auto addScratch = [&](Operation *op, unsigned i, int64_t bytes) {
    Place place;
    place.bytes = bytes;
    place.scratch.push_back({position[op].first, position[op].first + 1});
    places.push_back(place);
    scratchOffset[{op, i}] = places.size() - 1;
  };
  for (const Scratch &scratch : scratches)
    addScratch(scratch.op, scratch.i, scratch.bytes);
  for (const Copies &group : copies)
    for (auto [i, source] : llvm::enumerate(group.from))
      for (auto [j, dest] : llvm::enumerate(group.to))
        if (i != j && samePlace(source, dest) && !samePlace(source, group.to[i]) &&
            !scratchOffset.count({group.op, i}))
          addScratch(group.op, i, places[find(source)].bytes);
  pack();
  for (auto &entry : scratchOffset)
    entry.second = places[entry.second].offset;
  return success();
}
