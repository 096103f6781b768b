//===- MergePoints.cpp - the points of a tuning space behind one launch ------===//
// Every point was outlined on its own. Its device kernel becomes another way to run the launch of the kernel
// that has the defaults, and its grid and the trips of its main loop are computed there too: the launcher
// prices all ways from them.
#include "LaunchCost.h"
#include "LaunchFeatures.h"
#include "mlir/IR/IRMapping.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEMERGEPOINTS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {
/// Computes values of another kernel again, in front of a launch call.
class Cloner {
public:
  Cloner(OpBuilder &b) : b(b) {}
  void map(Value from, Value to) { mapping.map(from, to); }
  /// Null for what does not follow from what is mapped by integer arithmetic.
  Value clone(Value value);

private:
  OpBuilder &b;
  IRMapping mapping;
};
} // namespace

Value Cloner::clone(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() || op->getNumResults() != 1 || !isPure(op) ||
      !value.getType().isIntOrIndex())
    return {};
  for (Value operand : op->getOperands())
    if (!clone(operand))
      return {};
  return b.clone(*op, mapping)->getResult(0);
}

/// Trips of the main loop of `device` when it is launched with `grid` and `args`; a block in the middle of
/// the grid stands for all. One where nobody can tell.
static Value tripsOf(OpBuilder &b, KernelOp device, ValueRange grid, ValueRange args) {
  Location loc = device.getLoc();
  Cloner cloner(b);
  SmallVector<Value> values(grid);
  llvm::append_range(values, args);
  for (auto [argument, value] : llvm::zip(device.getBody().front().getArguments(), values))
    cloner.map(argument, value);
  LaunchOp launch = device.getDeviceLaunch();
  Value two = arith::ConstantIndexOp::create(b, loc, 2), one = arith::ConstantIndexOp::create(b, loc, 1);
  for (auto [id, extent] : llvm::zip(launch.getBody().front().getArguments(), grid))
    cloner.map(id, arith::DivUIOp::create(b, loc, extent, two));
  Value trips = one;
  for (scf::ForOp loop : mainLoops(launch)) {
    Value from = cloner.clone(loop.getLowerBound()), to = cloner.clone(loop.getUpperBound()),
          step = cloner.clone(loop.getStep());
    if (!from || !to || !step)
      return one;
    cloner.map(loop.getInductionVar(), from);
    Value span = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, to, from),
                                        arith::ConstantIndexOp::create(b, loc, 0));
    trips = arith::MulIOp::create(b, loc, trips, arith::CeilDivSIOp::create(b, loc, span, step));
  }
  return trips;
}

//===----------------------------------------------------------------------===//
// Measured points
//===----------------------------------------------------------------------===//

namespace {
/// One line of a tuning file: at these sizes this point was the fastest.
struct Measurement {
  DictionaryAttr entry;
  int64_t point;
  SmallVector<Value> grid; ///< of that point
  int64_t order() const { return entry.getAs<IntegerAttr>("order").getInt(); }
};
/// Of one kernel, by target.
using Measurements = llvm::MapVector<Attribute, SmallVector<Measurement>>;
} // namespace

static void collectMeasurements(KernelOp kernel, int64_t point, ValueRange grid, Measurements &all) {
  if (auto list = kernel->getAttrOfType<ArrayAttr>(TileDialect::kMeasuredAttrName))
    for (auto entry : list.getAsRange<DictionaryAttr>())
      all[entry.get("target")].push_back({entry, point, SmallVector<Value>(grid)});
}

/// The extent or integer scalar that the source calls `name`; null where no argument has it.
static Value sizeNamed(OpBuilder &b, KernelOp host, StringRef name) {
  std::optional<KernelOp::NamedSize> size = host.findSize(name);
  if (!size)
    return {};
  Value argument = host.getBody().getArgument(size->argument);
  if (size->axis)
    return DimOp::create(b, host.getLoc(), argument, *size->axis);
  if (!argument.getType().isInteger())
    return {};
  std::optional<DType> dtype = host.getArgDType(size->argument);
  if (dtype && isSigned(*dtype))
    return arith::IndexCastOp::create(b, host.getLoc(), b.getIndexType(), argument);
  return arith::IndexCastUIOp::create(b, host.getLoc(), b.getIndexType(), argument);
}

/// Does the measurement hold for the sizes of the call: the very ones (`exact`), or sizes that all lie within
/// a sixteenth of them and make as many waves?
static Value holdsFor(OpBuilder &b, KernelOp host, const Measurement &measured, bool exact) {
  Location loc = host.getLoc();
  auto constant = [&](int64_t n) -> Value { return arith::ConstantIndexOp::create(b, loc, n); };
  auto compare = [&](arith::CmpIPredicate how, Value x, int64_t y) -> Value {
    return arith::CmpIOp::create(b, loc, how, x, constant(y));
  };
  Value all = arith::ConstantIntOp::create(b, loc, 1, 1);
  auto demand = [&](Value condition) { all = arith::AndIOp::create(b, loc, all, condition); };
  for (NamedAttribute size : measured.entry.getAs<DictionaryAttr>("sizes")) {
    Value extent = sizeNamed(b, host, size.getName());
    if (!extent)
      return {};
    int64_t n = cast<IntegerAttr>(size.getValue()).getInt(), slack = exact ? 0 : std::abs(n / 16);
    demand(compare(arith::CmpIPredicate::sge, extent, n - slack));
    demand(compare(arith::CmpIPredicate::sle, extent, n + slack));
  }
  if (exact)
    return all;
  auto over = measured.entry.getAs<IntegerAttr>("blocks_over"),
       upto = measured.entry.getAs<IntegerAttr>("blocks_upto");
  if (!over || !upto)
    return {};
  Value blocks = constant(1);
  for (Value extent : measured.grid)
    blocks = arith::MulIOp::create(b, loc, blocks, extent);
  demand(compare(arith::CmpIPredicate::sgt, blocks, over.getInt()));
  demand(compare(arith::CmpIPredicate::sle, blocks, upto.getInt()));
  return all;
}

/// 1 + the point that measurements put first for the sizes of the call, 0 where none holds.
static Value measuredPoint(OpBuilder &b, KernelOp host, ArrayRef<Measurement> list) {
  Value best = arith::ConstantIndexOp::create(b, host.getLoc(), 0);
  for (bool exact : {false, true})
    for (const Measurement &measured : llvm::reverse(list))
      if (Value holds = holdsFor(b, host, measured, exact))
        best = arith::SelectOp::create(
            b, host.getLoc(), holds,
            arith::ConstantIndexOp::create(b, host.getLoc(), measured.point + 1).getResult(), best);
  return best;
}

namespace {
struct MergePoints : tilec::tile::impl::TileMergePointsBase<MergePoints> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::MapVector<KernelOp, SmallVector<KernelOp>> spaces;
    for (KernelOp host : getOperation().getOps<KernelOp>())
      if (auto of = host->getAttrOfType<StringAttr>(TileDialect::kPointOfAttrName); of && !host.isDevice())
        if (auto base = symbols.lookup<KernelOp>(of.getValue()))
          spaces[base].push_back(host);
    for (auto &[base, hosts] : spaces)
      merge(base, hosts, symbols);
  }

  void merge(KernelOp base, ArrayRef<KernelOp> hosts, SymbolTable &symbols) {
    LaunchCallOp call = onlyOp<LaunchCallOp>(base);
    SmallVector<Attribute> points;
    SmallVector<Value> grids, trips;
    Measurements measurements;
    OpBuilder b(base.getContext());
    if (call) {
      b.setInsertionPoint(call);
      collectMeasurements(base, 0, call.getGrid(), measurements);
      trips.push_back(tripsOf(b, symbols.lookup<KernelOp>(call.getCallee()), call.getGrid(), call.getArgs()));
    }
    for (KernelOp host : hosts) {
      LaunchCallOp other = onlyOp<LaunchCallOp>(host);
      auto device = other ? symbols.lookup<KernelOp>(other.getCallee()) : KernelOp();
      SmallVector<Value> grid;
      if (call && device && sameArguments(base, call, host, other, b, grid)) {
        points.push_back(FlatSymbolRefAttr::get(device.getSymNameAttr()));
        trips.push_back(tripsOf(b, device, grid, call.getArgs()));
        grids.append(grid);
        collectMeasurements(host, points.size(), grid, measurements);
        device->setAttr(TileDialect::kLaunchNameAttrName, b.getStringAttr(call.getCallee()));
        device->setAttr(TileDialect::kPointAttrName, b.getI64IntegerAttr(points.size()));
        device->setAttr(TileDialect::kHostAttrName, base.getSymNameAttr());
        device->removeAttr(TileDialect::kPointOfAttrName);
      } else if (device) {
        symbols.erase(device);
      }
      symbols.erase(host);
    }
    if (points.empty())
      return;
    call.setPointsAttr(b.getArrayAttr(points));
    call.getPointGridsMutable().assign(grids);
    call.getTripsMutable().assign(trips);
    SmallVector<Attribute> targets;
    SmallVector<Value> measured;
    for (auto &[target, list] : measurements) {
      llvm::sort(list, [](const Measurement &x, const Measurement &y) { return x.order() < y.order(); });
      targets.push_back(target);
      measured.push_back(measuredPoint(b, base, list));
    }
    if (targets.empty())
      return;
    call.setMeasuredForAttr(b.getArrayAttr(targets));
    call.getMeasuredMutable().assign(measured);
  }

  /// Do both calls hand on the same arguments? Then the grid of `other` is computed in front of `call`.
  static bool sameArguments(KernelOp base, LaunchCallOp call, KernelOp host, LaunchCallOp other, OpBuilder &b,
                            SmallVectorImpl<Value> &grid) {
    if (call.getArgs().size() != other.getArgs().size() || call.getGrid().size() != other.getGrid().size() ||
        base.getArgumentTypes() != host.getArgumentTypes())
      return false;
    Cloner cloner(b);
    for (auto [from, to] :
         llvm::zip(host.getBody().front().getArguments(), base.getBody().front().getArguments()))
      cloner.map(from, to);
    for (auto [x, y] : llvm::zip(call.getArgs(), other.getArgs()))
      if (cloner.clone(y) != x) // an argument of the kernel, the same one
        return false;
    for (Value extent : other.getGrid()) {
      Value here = cloner.clone(extent);
      if (!here)
        return false;
      grid.push_back(here);
    }
    return true;
  }
};
} // namespace
