//===- SelectPoints.cpp - which points of a tuning space are compiled --------===//
// MLIRGen makes a kernel for every point. A model of each target prices them over a grid of sizes, and the
// few that together come closest to the best everywhere are kept; where all sizes are known, one is.
#include "LaunchCost.h"
#include "LaunchFeatures.h"
#include "ScheduleGPU.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

namespace tilec::tile {
#define GEN_PASS_DEF_TILESELECTPOINTS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {

/// Extents by the names that the source gives them ("M"), for one shape of the grid.
using Extents = llvm::StringMap<int64_t>;

/// Evaluates host arithmetic for given extents.
class Evaluator {
public:
  explicit Evaluator(const Extents &extents) : extents(extents) {}
  /// None for what does not follow from extents and constants.
  std::optional<int64_t> operator()(Value value);
  /// What stands for a value that is not computed: a block id.
  void set(Value value, int64_t number) { known[value] = number; }

private:
  std::optional<int64_t> compute(Value value);
  const Extents &extents;
  llvm::DenseMap<Value, std::optional<int64_t>> known;
};

/// A kernel at one point, as far as its cost goes.
struct Point {
  KernelOp kernel;
  LaunchOp launch;
  SmallVector<scf::ForOp, 2> loops;
};

} // namespace

/// The name of a dynamic extent as the source has it; empty for a formula of others.
static StringRef extentName(DimOp dim) {
  auto argument = dyn_cast<BlockArgument>(dim.getView());
  auto kernel = dim->getParentOfType<KernelOp>();
  if (!argument || argument.getOwner() != &kernel.getBody().front())
    return "";
  auto names = kernel.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), TileDialect::kDimsAttrName);
  return names && dim.getAxis() < names.size() ? cast<StringAttr>(names[dim.getAxis()]).getValue() : "";
}

static std::optional<int64_t> applied(Operation *op, int64_t x, int64_t y) {
  bool divides = isa<arith::CeilDivUIOp, arith::CeilDivSIOp, arith::FloorDivSIOp, arith::DivUIOp,
                     arith::DivSIOp, arith::RemUIOp, arith::RemSIOp>(op);
  if (divides && (y <= 0 || x < 0)) // extents and tiles: nothing else is worth a model
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<arith::AddIOp>([&](auto) { return x + y; })
      .Case<arith::SubIOp>([&](auto) { return x - y; })
      .Case<arith::MulIOp>([&](auto) { return x * y; })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return std::max(x, y); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return std::min(x, y); })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>([&](auto) { return llvm::divideCeil(x, y); })
      .Case<arith::FloorDivSIOp, arith::DivUIOp, arith::DivSIOp>([&](auto) { return x / y; })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) { return x % y; })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<int64_t> Evaluator::operator()(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  std::optional<int64_t> result = compute(value);
  known[value] = result;
  return result;
}

std::optional<int64_t> Evaluator::compute(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (auto dim = dyn_cast_or_null<DimOp>(op)) {
    int64_t extent = dim.getView().getType().getShape()[dim.getAxis()];
    if (!ShapedType::isDynamic(extent))
      return extent;
    auto it = extents.find(extentName(dim));
    return it == extents.end() ? std::nullopt : std::optional<int64_t>(it->second);
  }
  if (!op || op->getNumOperands() != 2 || op->getNumResults() != 1)
    return std::nullopt;
  std::optional<int64_t> x = (*this)(op->getOperand(0)), y = (*this)(op->getOperand(1));
  return x && y ? applied(op, *x, *y) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

/// Blocks and trips of the main loop for given extents; none when they follow from something else.
static std::optional<std::pair<int64_t, int64_t>> workOf(const Point &point, const Extents &extents) {
  Evaluator evaluate(extents);
  int64_t blocks = 1, trips = 1;
  for (auto [extent, id] :
       llvm::zip(LaunchOp(point.launch).getGrid(), LaunchOp(point.launch).getBody().front().getArguments())) {
    std::optional<int64_t> n = evaluate(extent);
    if (!n || *n < 0)
      return std::nullopt;
    blocks *= *n;
    evaluate.set(id, *n / 2);
  }
  for (scf::ForOp loop : point.loops) {
    std::optional<int64_t> from = evaluate(loop.getLowerBound()), to = evaluate(loop.getUpperBound()),
                           step = evaluate(loop.getStep());
    if (!from || !to || !step || *step <= 0)
      return std::nullopt;
    trips *= *to > *from ? int64_t(llvm::divideCeil(*to - *from, *step)) : 0;
    evaluate.set(loop.getInductionVar(), *from);
  }
  return std::pair(blocks, trips);
}

/// All combinations of usual extents; one without names where nothing is open.
static std::vector<Extents> gridOfShapes(const Point &point) {
  llvm::SetVector<StringRef> names;
  KernelOp(point.kernel).walk([&](DimOp dim) {
    if (dim.getView().getType().isDynamicExtent(dim.getAxis()))
      if (StringRef name = extentName(dim); !name.empty())
        names.insert(name);
  });
  constexpr int64_t middle[] = {1024};
  constexpr int64_t usual[] = {16,   32,   64,   128,  256,  512,  768,  1024, 1280,
                               1536, 2048, 2560, 3072, 4096, 5120, 6144, 8192, 14336};
  constexpr size_t mostShapes = 6000, enough = 500;
  std::vector<Extents> shapes(1);
  for (StringRef name : names) {
    std::vector<Extents> next;
    bool few = shapes.size() * std::size(usual) <= mostShapes;
    for (const Extents &shape : shapes)
      for (int64_t extent : few ? ArrayRef(usual) : ArrayRef(middle)) {
        next.push_back(shape);
        next.back()[name] = extent;
      }
    shapes = std::move(next);
  }
  // What is over at once does not matter.
  auto isTiny = [](const Extents &shape) {
    double work = 1;
    for (const auto &extent : shape)
      work *= double(extent.second);
    return work < 1 << 26;
  };
  if (!llvm::all_of(shapes, isTiny))
    llvm::erase_if(shapes, isTiny);
  // An even sample says as much: neighbours differ little.
  std::vector<Extents> sample;
  for (size_t i = 0, step = std::max<size_t>(1, shapes.size() / enough) | 1; i < shapes.size(); i += step)
    sample.push_back(shapes[i]);
  return sample;
}

/// The name of the last extent of a tensor; empty where it has none.
static StringRef rowName(KernelOp kernel, Value view) {
  std::optional<unsigned> argument = argumentOf(view);
  auto names = argument ? kernel.getArgAttrOfType<ArrayAttr>(*argument, TileDialect::kDimsAttrName) : nullptr;
  return names && names.size() > 1 ? cast<StringAttr>(names[names.size() - 1]).getValue() : "";
}

/// Bytes of operands a trip whose rows are as long as those of a result.
static int64_t bytesPitchedLikeResults(const Point &point) {
  LaunchFeatures features = collectFeatures(point.launch);
  llvm::SmallDenseSet<StringRef, 4> results;
  for (StoreOp store : features.viewStores)
    results.insert(rowName(point.kernel, store.getDest()));
  int64_t bytes = 0;
  for (const CopyFeature &c : features.copies) {
    CopyOp copy = c.op;
    StringRef name = rowName(point.kernel, copy.getSource());
    auto buffer = cast<BufferType>(copy.getDest().getType());
    if (c.loop && !name.empty() && results.contains(name))
      bytes += buffer.getNumElements() * buffer.getElementType().getIntOrFloatBitWidth() / 8;
  }
  return bytes;
}

/// Rows: points; columns: shapes. Infinite where a point cannot run or the model knows nothing.
static std::vector<std::vector<double>> prices(ArrayRef<Point> points, ArrayRef<Extents> shapes,
                                               const TargetDesc &target, bool anyPitch = false) {
  std::vector<std::vector<double>> table;
  for (const Point &point : points) {
    std::optional<LaunchCost> cost = launchCost(point.launch, target);
    if (cost && anyPitch)
      cost = costAtAnyPitch(*cost, bytesPitchedLikeResults(point)); // none: no such variant
    auto &row = table.emplace_back(shapes.size(), HUGE_VAL);
    for (auto [i, shape] : llvm::enumerate(shapes))
      if (auto work = cost ? workOf(point, shape) : std::nullopt)
        row[i] = double(cyclesOf(*cost, work->first, work->second, target.multiprocessors));
  }
  return table;
}

/// Greedy: each next point is the one that brings the whole grid closest to its best. Ties go to the first.
static SmallVector<size_t> choose(const std::vector<std::vector<double>> &table, size_t most) {
  size_t shapes = table.front().size();
  std::vector<double> best(shapes, HUGE_VAL), now(shapes, HUGE_VAL);
  for (const std::vector<double> &row : table)
    for (size_t i = 0; i < shapes; ++i)
      best[i] = std::min(best[i], row[i]);
  auto loss = [&](const std::vector<double> &row) {
    double sum = 0;
    for (size_t i = 0; i < shapes; ++i)
      if (std::isfinite(best[i]))
        sum += std::min(std::log(std::min(now[i], row[i]) / best[i]), 10.0);
    return sum / double(shapes);
  };
  SmallVector<size_t> chosen;
  double left = HUGE_VAL;
  while (chosen.size() < most) {
    size_t next = 0;
    double least = HUGE_VAL;
    for (size_t p = 0; p < table.size(); ++p)
      if (double l = loss(table[p]); l < least) {
        least = l;
        next = p;
      }
    constexpr double worthwhile = 0.00005; // of the mean time over the grid
    if (!std::isfinite(least) || left - least < worthwhile)
      break;
    left = least;
    chosen.push_back(next);
    for (size_t i = 0; i < shapes; ++i)
      now[i] = std::min(now[i], table[next][i]);
  }
  return chosen;
}

/// For tuning: the points that the model puts first for each shape, taking turns, until there are `most`.
/// Every point stands in the table once for each shape; ties go to the first.
static SmallVector<size_t> chooseForShapes(const std::vector<std::vector<double>> &table, size_t most) {
  size_t shapes = table.front().size();
  std::vector<SmallVector<size_t>> orders(shapes);
  for (size_t i = 0; i < shapes; ++i) {
    for (size_t p = 0; p < table.size(); ++p)
      if (std::isfinite(table[p][i]))
        orders[i].push_back(p);
    llvm::sort(orders[i],
               [&](size_t x, size_t y) { return std::tie(table[x][i], x) < std::tie(table[y][i], y); });
  }
  llvm::SetVector<size_t> chosen;
  for (size_t rank = 0; rank < table.size(); ++rank)
    for (size_t i = 0; i < shapes && chosen.size() < most; ++i)
      if (rank < orders[i].size())
        chosen.insert(orders[i][rank]);
  return chosen.takeVector();
}

/// May its buffers fit? Where no copy engine swizzles them, rows are padded by up to an eighth.
static bool mayFit(const Point &point, const TargetDesc &target) {
  int64_t bytes = bytesOfBuffers(point.launch), padding = target.roles ? 0 : bytes / 8;
  return bytes + padding + kReservedShared <= int64_t(target.sharedBytes);
}

/// For tuning what the model does not know: all points whose buffers fit, or `most` of them at even
/// distances.
static SmallVector<size_t> spread(ArrayRef<Point> points, const TargetDesc &target, size_t most) {
  SmallVector<size_t> fitting, chosen;
  for (auto [p, point] : llvm::enumerate(points))
    if (mayFit(point, target))
      fitting.push_back(p);
  for (size_t i = 0, taken = std::min(fitting.size(), most); i < taken; ++i)
    chosen.push_back(fitting[i * fitting.size() / taken]);
  return chosen;
}

static bool knowsAny(const std::vector<std::vector<double>> &table) {
  return llvm::any_of(
      table, [](const auto &row) { return llvm::any_of(row, [](double x) { return std::isfinite(x); }); });
}

//===----------------------------------------------------------------------===//
// Measured points
//===----------------------------------------------------------------------===//

static Extents extentsOf(DictionaryAttr sizes) {
  Extents extents;
  for (NamedAttribute size : sizes)
    extents[size.getName()] = cast<IntegerAttr>(size.getValue()).getInt();
  return extents;
}

/// What a tuning file found at some sizes holds for others while the launch makes as many waves: writes how
/// many blocks those are, where the model knows. Returns the targets.
static SmallVector<StringRef> boundMeasurements(const Point &point) {
  SmallVector<StringRef> names;
  auto list = KernelOp(point.kernel)->getAttrOfType<ArrayAttr>(TileDialect::kMeasuredAttrName);
  if (!list)
    return names;
  Builder b(list.getContext());
  SmallVector<Attribute> bounded;
  for (auto entry : list.getAsRange<DictionaryAttr>()) {
    NamedAttrList fields(entry);
    StringRef name = entry.getAs<StringAttr>("target").getValue();
    const TargetDesc *target = lookupTarget(name);
    std::optional<LaunchCost> cost = target ? launchCost(point.launch, *target) : std::nullopt;
    auto work = cost ? workOf(point, extentsOf(entry.getAs<DictionaryAttr>("sizes"))) : std::nullopt;
    if (work && work->first > 0) {
      int64_t slots = target->multiprocessors * cost->resident;
      int64_t waves = llvm::divideCeil(work->first, slots);
      fields.set("blocks_over", b.getI64IntegerAttr((waves - 1) * slots));
      fields.set("blocks_upto", b.getI64IntegerAttr(waves * slots));
    }
    bounded.push_back(fields.getDictionary(b.getContext()));
    names.push_back(name);
  }
  KernelOp(point.kernel)->setAttr(TileDialect::kMeasuredAttrName, b.getArrayAttr(bounded));
  return names;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Its only launch, which no loop repeats; null otherwise.
static LaunchOp onlyLaunch(KernelOp kernel) {
  LaunchOp found = onlyOp<LaunchOp>(kernel);
  bool scratch = kernel.walk([](WorkspaceOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return found && !scratch && found->getParentOp() == kernel ? found : LaunchOp();
}

static Point makePoint(KernelOp kernel) {
  LaunchOp launch = onlyLaunch(kernel);
  return {kernel, launch, launch ? mainLoops(launch) : SmallVector<scf::ForOp, 2>()};
}

namespace {
struct SelectPoints : tilec::tile::impl::TileSelectPointsBase<SelectPoints> {
  using TileSelectPointsBase::TileSelectPointsBase;

  void runOnOperation() override {
    llvm::MapVector<StringRef, SmallVector<KernelOp>> spaces;
    SymbolTable symbols(getOperation());
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (auto of = kernel->getAttrOfType<StringAttr>(TileDialect::kPointOfAttrName))
        spaces[of.getValue()].push_back(kernel);
    for (auto &[name, others] : spaces)
      if (auto base = symbols.lookup<KernelOp>(name))
        select(base, others);
  }

  /// `shapes`: "M=1536:N=1536:K=1536".
  std::vector<Extents> givenShapes() {
    std::vector<Extents> given;
    for (StringRef text : shapes) {
      Extents &extents = given.emplace_back();
      for (StringRef part : llvm::split(text, ':')) {
        auto [name, value] = part.split('=');
        int64_t extent = 0;
        if (!value.getAsInteger(10, extent))
          extents[name] = extent;
      }
    }
    return given;
  }

  /// What `target` wants of points that a model can compare, without sizes given.
  SmallVector<size_t> chooseByModel(ArrayRef<Point> points, ArrayRef<Extents> grid, const TargetDesc &target,
                                    SmallVectorImpl<size_t> &anyPitch) {
    constexpr unsigned mostAnyPitch = 4; // odd pitches are rare, and each is one more kernel
    SmallVector<size_t> chosen = choose(prices(points, grid, target), most);
    if (grid.size() > 1) { // rows of any length
      anyPitch =
          choose(prices(points, grid, target, /*anyPitch=*/true), std::min<size_t>(most, mostAnyPitch));
      chosen.append(anyPitch);
    }
    return chosen;
  }

  /// What tuning measures on `target`; a CPU only says what is right.
  SmallVector<size_t> chooseForTuning(ArrayRef<Point> points, ArrayRef<Extents> given,
                                      const TargetDesc &target) {
    auto table = prices(points, given, target);
    return knowsAny(table) || target.family == Family::CPU ? chooseForShapes(table, most)
                                                           : spread(points, target, most);
  }

  /// Erases the points that no target wants; the others say who does.
  void select(KernelOp base, ArrayRef<KernelOp> others) {
    SmallVector<Point> points{makePoint(base)};
    llvm::append_range(points, llvm::map_range(others, makePoint));
    std::vector<SmallVector<Attribute>> wanted(points.size()), anyPitch(points.size());
    OpBuilder b(&getContext());
    auto want = [&](size_t p, StringRef name) {
      if (Attribute target = b.getStringAttr(name); !llvm::is_contained(wanted[p], target))
        wanted[p].push_back(target);
    };
    bool launchOnce = llvm::all_of(points, [](const Point &p) { return bool(p.launch); });
    bool comparable = llvm::all_of(points, [](const Point &p) { return !p.loops.empty(); });
    std::vector<Extents> given = givenShapes(), grid;
    if (comparable && given.empty())
      grid = gridOfShapes(points.front());
    for (const std::string &name : targets)
      if (const TargetDesc *target = lookupTarget(name); target && launchOnce) {
        SmallVector<size_t> atAnyPitch, chosen;
        if (!given.empty())
          chosen = chooseForTuning(points, given, *target);
        else if (comparable)
          chosen = chooseByModel(points, grid, *target, atAnyPitch);
        for (size_t p : chosen)
          want(p, name);
        for (size_t p : atAnyPitch)
          anyPitch[p].push_back(b.getStringAttr(name));
      }
    for (auto [p, point] : llvm::enumerate(points)) {
      if (grid.size() > 1)
        KernelOp(point.kernel)->setAttr(kAnyPitchAttrName, b.getArrayAttr(anyPitch[p]));
      if (launchOnce)
        for (StringRef name : boundMeasurements(point))
          want(p, name);
    }
    bool measured = llvm::any_of(
        points, [](const Point &p) { return KernelOp(p.kernel)->hasAttr(TileDialect::kMeasuredAttrName); });
    if (!launchOnce || (!comparable && given.empty() && !measured))
      base.emitRemark()
          << "[R0406] `" << base.getSymName()
          << "` is compiled with the defaults of its tune parameters alone: points are compared "
             "where one launch multiplies tiles in a loop";
    for (auto [point, list] : llvm::drop_begin(llvm::zip(points, wanted)))
      if (list.empty())
        KernelOp(point.kernel).erase();
      else
        KernelOp(point.kernel)->setAttr(TileDialect::kTargetsAttrName, b.getArrayAttr(list));
  }
};
} // namespace
