//===- ScheduleNVIDIA.cpp - schedules of NVIDIA chips ------------------------===//
// The tile extents are the source's; this file picks the matrix instruction, the split over warps, roles,
// stages and engines. Numbers and their reasons: docs/Schedules.md.
#include "ScheduleNVIDIA.h"
#include "Divisibility.h"
#include "ScheduleGPU.h"
#include "ScheduleHints.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {

/// The split of one launch, before it is written down.
struct Plan {
  bool wgmma = false;                ///< every product in a loop is a wgmma
  bool mma = false;                  ///< mma.sync products
  int64_t warps = 4;                 ///< that compute
  SmallVector<int64_t, 2> partition; ///< warp groups (wgmma) or warps along the tile's axes
  bool roles = false;
};

class Scheduler {
public:
  Scheduler(KernelOp kernel, const TargetDesc &target)
      : kernel(kernel), target(target), launch(kernel.getDeviceLaunch()), features(collectFeatures(launch)),
        hints(readHints(launch)), b(kernel.getContext()) {}

  LogicalResult run();

private:
  bool wgmmaLegal(const GemmFeature &g) const;
  bool mmaLegal(const GemmFeature &g) const;
  void planWGMMA();
  void planMMA();
  void planSIMT();
  void chooseRoles();
  void write(KernelOp k, bool wide);
  void writeEngines(LaunchOp l, bool wide);
  LogicalResult writeStages(LaunchOp l, bool roles);
  int64_t accumulatorRegisters(int64_t groups) const;
  void instFor(GemmOp gemm);
  bool staged(LaunchOp l, bool wide) const;
  int64_t stagingBytes(LaunchOp l, bool roles) const;

  KernelOp kernel;
  const TargetDesc &target;
  LaunchOp launch;
  LaunchFeatures features;
  LaunchHints hints;
  OpBuilder b;
  Plan plan;
};

} // namespace

static bool is16BitFloat(Type t) { return t.isF16() || t.isBF16(); }

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

/// A buffer with parts, or seen in two shapes, lies row by row (BufferLayouts.cpp); no wgmma reads that.
static bool liesInRows(Value operand) {
  return isa<BufferType>(operand.getType()) &&
         llvm::any_of(bufferUsers(rootBuffer(operand)), llvm::IsaPred<SubbufferOp, RecastBufferOp>);
}

/// m64nNk16 with f16 or bf16 operands: a from shared memory (either major) or from registers, b from shared
/// memory.
bool Scheduler::wgmmaLegal(const GemmFeature &g) const {
  if (!target.mbarriers || g.a != g.b || !is16BitFloat(g.a))
    return false;
  if (!(g.acc.isF32() || (g.acc.isF16() && g.a.isF16())))
    return false;
  if (g.bInRegisters || (g.aInRegisters && const_cast<GemmOp &>(g.op).getTransA()))
    return false;
  if (liesInRows(const_cast<GemmOp &>(g.op).getA()) || liesInRows(const_cast<GemmOp &>(g.op).getB()))
    return false;
  return g.m % 64 == 0 && g.n % 8 == 0 && g.k % 16 == 0 && g.k > 0;
}

bool Scheduler::mmaLegal(const GemmFeature &g) const {
  if (g.a != g.b || g.m % 16 || g.n % 8 || g.k % 16)
    return false;
  return is16BitFloat(g.a) && (g.acc.isF32() || (g.acc.isF16() && g.a.isF16()));
}

/// 32-bit registers per thread that the accumulators of all products need together.
int64_t Scheduler::accumulatorRegisters(int64_t groups) const {
  int64_t total = 0;
  for (const GemmFeature &g : features.gemms)
    total += g.m * g.n / (128 * groups) * g.acc.getIntOrFloatBitWidth() / 32;
  return total;
}

/// Warp groups split the rows; a product of 64 rows and many columns splits these instead. Chained products
/// (a register operand) must own whole rows.
void Scheduler::planWGMMA() {
  int64_t m = features.gemms.front().m, n = features.gemms.front().n;
  bool chained = llvm::any_of(features.gemms, [](const GemmFeature &g) { return g.aInRegisters; }) ||
                 features.gemms.size() > 1;
  for (const GemmFeature &g : features.gemms)
    m = std::min(m, g.m);
  int64_t most = hints.threads ? std::max<int64_t>(1, (*hints.threads + 127) / 128) : 2;
  int64_t rows = 1;
  for (int64_t groups = std::min<int64_t>(most, 3); groups > 1; --groups)
    if (m % (64 * groups) == 0) {
      rows = groups;
      break;
    }
  // Three groups leave 160 registers a thread: take them only when two do not divide the rows evenly.
  if (!hints.threads && rows == 1 && m == 192 && accumulatorRegisters(3) <= 96)
    rows = 3;
  int64_t columns = 1;
  if (rows == 1 && !chained && most >= 2 && n % 32 == 0 && accumulatorRegisters(1) > 64)
    columns = 2;
  plan.wgmma = true;
  plan.partition = {rows, columns};
  plan.warps = 4 * rows * columns;
}

/// Warps over rows and columns: near-square warp tiles read the fewest operand bytes per product.
void Scheduler::planMMA() {
  const GemmFeature *largest = &features.gemms.front();
  bool chained = false;
  int64_t m = largest->m, n = largest->n;
  for (const GemmFeature &g : features.gemms) {
    chained |= g.aInRegisters;
    m = std::min(m, g.m);
    n = std::min(n, g.n);
  }
  // Twice the warps where four would hold more than 128 accumulators a thread: operands, addresses and
  // whatever is computed from a result need the other half.
  int64_t warps = hints.threads ? std::max<int64_t>(1, (*hints.threads + 31) / 32)
                  : m * n >= 128 * 128 || accumulatorRegisters(1) > 128 ? 8
                                                                        : 4;
  int64_t bestRows = 1, bestColumns = 1;
  double bestCost = 1e30;
  for (int64_t r = 1; r <= warps; r *= 2)
    for (int64_t c = 1; r * c <= warps; c *= 2) {
      if (m % (16 * r) || n % (8 * c) || (chained && c > 1))
        continue;
      double perimeter = double(m) / r + double(n) / c, idle = double(warps) / (r * c);
      if (double cost = perimeter * idle; cost < bestCost) {
        bestCost = cost;
        bestRows = r;
        bestColumns = c;
      }
    }
  plan.mma = true;
  plan.partition = {bestRows, bestColumns};
  plan.warps = bestRows * bestColumns;
}

/// No matrix instruction: enough threads for four 16-byte vectors each; rows to warps, unless a reduced row
/// is long.
void Scheduler::planSIMT() {
  int64_t perThread = features.gemms.empty() ? 32 : 64;
  int64_t warps = 1;
  while (warps < 8 && warps * 32 * perThread < features.largestTile)
    warps *= 2;
  if (hints.threads)
    warps = std::max<int64_t>(1, (*hints.threads + 31) / 32);
  plan.warps = warps;
  plan.partition = {warps, 1};
}

/// A producer warp pays when a loop streams tiles by TMA into wgmma products.
void Scheduler::chooseRoles() {
  if (!plan.wgmma || !target.roles || !target.engines.tma)
    return;
  plan.roles = llvm::any_of(features.copies, [](const CopyFeature &c) {
    return c.loop && c.loop->hasAttr(TileDialect::kPipelineAttrName) && c.feedsGemm;
  });
}

void Scheduler::instFor(GemmOp gemm) {
  const GemmFeature g = describeGemm(gemm);
  if (plan.wgmma && wgmmaLegal(g)) {
    int64_t perGroup = g.n / plan.partition[1], width = std::min<int64_t>(perGroup, 256);
    while (perGroup % width || width % 8)
      --width;
    gemm.setInstAttr(
        InstAttr::get(b.getContext(), InstKind::wgmma, {64, width, 16}, false, g.aInRegisters, 1));
    return;
  }
  if (plan.mma && mmaLegal(g)) {
    gemm.setInstAttr(InstAttr::get(b.getContext(), InstKind::mma_sync, {16, 8, 16}, false, true, 1));
    return;
  }
  usePlainUnits(g, target);
}

//===----------------------------------------------------------------------===//
// Views, engines, stages
//===----------------------------------------------------------------------===//

static bool mappable(ViewType view) {
  return view.getRank() >= 1 && view.getRank() <= 5 && llvm::all_of(view.getShape(), [](int64_t extent) {
           return ShapedType::isDynamic(extent) || (extent > 0 && extent <= kLongestMappedAxis);
         });
}

/// May TMA move this? Same type on both sides, zero fill, at most five axes.
static bool tmaShape(CopyOp copy) {
  auto view = cast<ViewType>(copy.getSource().getType());
  auto buffer = cast<BufferType>(copy.getDest().getType());
  if (copy.getTranspose() || copy.getIm2col() || view.getElementType() != buffer.getElementType() ||
      view.getSafe() || !mappable(view) || view.getElementType().isInteger(1))
    return false;
  // The fastest axis of the box must be the fastest of the buffer.
  ArrayRef<int64_t> extents = copy.getExtents() ? *copy.getExtents() : buffer.getShape();
  int64_t bytes = view.getElementType().getIntOrFloatBitWidth() / 8;
  return !extents.empty() && extents.back() * bytes % 16 == 0 && argumentOf(copy.getSource()) &&
         copy.getDestOffsets().empty();
}

void Scheduler::writeEngines(LaunchOp l, bool wide) {
  Divisibility known(l->getParentOfType<KernelOp>());
  l.walk([&](CopyOp copy) {
    Engine engine = Engine::simt;
    bool load = isa<ViewType>(copy.getSource().getType()) && isa<BufferType>(copy.getDest().getType());
    auto loop = copy->getParentOfType<scf::ForOp>();
    if (load && wide) {
      auto arg = argumentOf(copy.getSource());
      bool readOnly = arg && !launchWrites(l, *arg);
      bool same = getElementTypeOf(copy.getSource().getType()) == getElementTypeOf(copy.getDest().getType());
      auto view = cast<ViewType>(copy.getSource().getType());
      if (readOnly && plan.roles && tmaShape(copy) &&
          known.startsBox(copy.getSource(), copy.getSourceOffsets()))
        engine = Engine::tma;
      else if (readOnly && same && !copy.getTranspose() && !copy.getIm2col() && !view.getSafe() &&
               !plan.roles && target.engines.cpAsync && loop &&
               loop->hasAttr(TileDialect::kPipelineAttrName) &&
               known.ofElement(copy.getSource(), copy.getSourceOffsets()) >= 16 &&
               view.getStaticStride(view.getRank() - 1) == 1)
        engine = Engine::cp_async;
    }
    copy.setEngineAttr(EngineAttr::get(b.getContext(), engine));
  });
}

/// Stores go through shared memory and the copy engine where the tile comes out of a wgmma accumulator.
bool Scheduler::staged(LaunchOp l, bool wide) const {
  if (!plan.roles || !wide)
    return false;
  bool any = false;
  l.walk([&](StoreOp store) {
    auto view = dyn_cast<ViewType>(store.getDest().getType());
    if (view && view.getElementType().getIntOrFloatBitWidth() == 16 && mappable(view))
      any = true;
  });
  return any;
}

/// Bytes that staging of results takes.
int64_t Scheduler::stagingBytes(LaunchOp l, bool roles) const {
  int64_t staging = 0;
  if (staged(l, roles))
    l.walk([&](StoreOp store) {
      if (isa<ViewType>(store.getDest().getType()))
        staging = std::max(staging, store.getValue().getType().getNumElements() * 2);
    });
  return staging;
}

LogicalResult Scheduler::writeStages(LaunchOp l, bool roles) {
  return fitStages(l, target, stagingBytes(l, roles), /*reserved=*/1024, [](scf::ForOp loop) {
    auto asked = loop->getAttrOfType<PipelineAttr>(TileDialect::kPipelineAttrName);
    return asked.getInferred() ? int64_t(3) : std::max<int64_t>(1, asked.getStages());
  });
}

//===----------------------------------------------------------------------===//
// Writing it down
//===----------------------------------------------------------------------===//

/// 65536 registers over the block: what setmaxnreg leaves to the load role goes to the computing ones.
static std::pair<int64_t, int64_t> roleRegisters(int64_t groups) {
  switch (groups) {
  case 1:
    return {40, 240};
  case 2:
    return {40, 232};
  default:
    return {32, 160};
  }
}

void Scheduler::write(KernelOp k, bool wide) {
  LaunchOp l = k.getDeviceLaunch();
  MLIRContext *c = b.getContext();
  bool roles = plan.roles && wide;
  SmallVector<RoleAttr> roleList;
  int64_t threads = plan.warps * 32;
  if (roles) {
    auto [loadRegs, computeRegs] = roleRegisters(plan.warps / 4);
    roleList = {RoleAttr::get(c, RoleKind::load, 4, loadRegs),
                RoleAttr::get(c, RoleKind::compute, plan.warps, computeRegs)};
    threads += 128;
  }
  bool chained = features.gemms.size() > 1;
  bool persistent = hints.persistent.value_or(roles);
  RasterAttr raster;
  if (persistent)
    raster = RasterAttr::get(c, chained ? RasterKind::row : RasterKind::grouped, chained ? 1 : 8);
  l.setScheduleAttr(ScheduleAttr::get(c, threads, plan.partition, roleList, persistent, raster, {},
                                      hints.minBlocks.value_or(1), /*skew=*/roles && chained, staged(l, wide),
                                      /*index_bits=*/64));
  l.walk([&](GemmOp gemm) { instFor(gemm); });
  writeEngines(l, wide);
}

LogicalResult Scheduler::run() {
  bool allWGMMA = !features.gemms.empty(), allMMA = !features.gemms.empty();
  for (const GemmFeature &g : features.gemms) {
    allWGMMA &= wgmmaLegal(g);
    allMMA &= mmaLegal(g);
  }
  if (allWGMMA)
    planWGMMA();
  else if (allMMA)
    planMMA();
  else
    planSIMT();
  chooseRoles();
  if (hints.threads && *hints.threads != plan.warps * 32)
    launch.emitRemark() << "[R0404] " << plan.warps * 32 << " threads compute instead of the "
                        << *hints.threads << " asked for: the products of this launch need whole "
                        << (plan.wgmma ? "warp groups of 128" : "warps of 32");
  KernelOp any;
  auto needsMap = [&](Operation *op) {
    auto copy = dyn_cast<CopyOp>(op);
    return plan.roles && (!copy || (copy->getParentOfType<scf::ForOp>() && tmaShape(copy)));
  };
  demandAlignment(kernel, wideDemands(launch, features, needsMap), any);
  write(kernel, /*wide=*/true);
  if (failed(writeStages(kernel.getDeviceLaunch(), plan.roles)))
    return failure();
  if (any) {
    write(any, /*wide=*/false);
    return writeStages(any.getDeviceLaunch(), false);
  }
  return success();
}

LogicalResult tilec::tile::scheduleNVIDIA(KernelOp kernel, const TargetDesc &target) {
  return Scheduler(kernel, target).run();
}
