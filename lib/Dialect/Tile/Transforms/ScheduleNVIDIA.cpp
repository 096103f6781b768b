//===- ScheduleNVIDIA.cpp - schedules of NVIDIA chips ------------------------===//
// The tile extents are the source's; this file picks the matrix instruction, the split over warps, roles,
// stages and engines. Numbers and their reasons: docs/Schedules.md.
#include "ScheduleNVIDIA.h"
#include "Divisibility.h"
#include "ScheduleHints.h"
#include "Variants.h"

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
  SmallVector<ViewDemand> demands();
  void write(KernelOp k, bool wide);
  void writeEngines(LaunchOp l, bool wide);
  LogicalResult writeStages(LaunchOp l, bool roles);
  int64_t accumulatorRegisters(int64_t groups) const;
  void instFor(GemmOp gemm, bool roles);
  int64_t bytesOf(Type type) const;
  bool staged(LaunchOp l, bool wide) const;

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

int64_t Scheduler::bytesOf(Type type) const {
  auto buffer = dyn_cast<BufferType>(type);
  if (!buffer)
    return 0;
  return buffer.getNumElements() * std::max<int64_t>(8, buffer.getElementType().getIntOrFloatBitWidth()) / 8;
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

/// m64nNk16 with f16 or bf16 operands: a from shared memory (either major) or from registers, b from shared
/// memory.
bool Scheduler::wgmmaLegal(const GemmFeature &g) const {
  if (!target.mbarriers || g.a != g.b || !is16BitFloat(g.a))
    return false;
  if (!(g.acc.isF32() || (g.acc.isF16() && g.a.isF16())))
    return false;
  if (g.bInRegisters || (g.aInRegisters && const_cast<GemmOp &>(g.op).getTransA()))
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
  int64_t warps =
      hints.threads ? std::max<int64_t>(1, (*hints.threads + 31) / 32) : (m * n >= 128 * 128 ? 8 : 4);
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

void Scheduler::instFor(GemmOp gemm, bool roles) {
  auto [m, n, k] = gemmExtents(gemm);
  bool aReg = isa<TileType>(gemm.getA().getType());
  const GemmFeature g{gemm,
                      m,
                      n,
                      k,
                      aReg,
                      isa<TileType>(gemm.getB().getType()),
                      getElementTypeOf(gemm.getA().getType()),
                      getElementTypeOf(gemm.getB().getType()),
                      gemm.getAcc().getType().getElementType(),
                      true};
  if (plan.wgmma && wgmmaLegal(g)) {
    int64_t perGroup = n / plan.partition[1], width = std::min<int64_t>(perGroup, 256);
    while (perGroup % width || width % 8)
      --width;
    gemm.setInstAttr(InstAttr::get(b.getContext(), InstKind::wgmma, {64, width, 16}, false, aReg, 1));
    return;
  }
  if (plan.mma && mmaLegal(g)) {
    gemm.setInstAttr(InstAttr::get(b.getContext(), InstKind::mma_sync, {16, 8, 16}, false, true, 1));
    return;
  }
  gemm.setInstAttr(InstAttr::get(b.getContext(), InstKind::fma, {1, 1, 1}, false, aReg, 1));
  gemm.emitRemark() << "[R0402] this " << m << " x " << n << " x " << k << " product of " << g.a << " and "
                    << g.b << " runs on the plain arithmetic units of " << target.name;
}

//===----------------------------------------------------------------------===//
// Views, engines, stages
//===----------------------------------------------------------------------===//

/// A tensor argument that the launch never writes may be read by asynchronous engines.
static std::optional<unsigned> argumentOf(Value view) {
  while (auto cast = view.getDefiningOp<RecastViewOp>()) {
    if (!cast.getSizes().empty())
      return std::nullopt;
    view = cast.getSource();
  }
  auto arg = dyn_cast<BlockArgument>(view);
  if (!arg || !isa<KernelOp>(arg.getOwner()->getParentOp()))
    return std::nullopt;
  return arg.getArgNumber();
}

/// May TMA move this? Same type on both sides, zero fill, at most five axes.
static bool tmaShape(CopyOp copy) {
  auto view = cast<ViewType>(copy.getSource().getType());
  auto buffer = cast<BufferType>(copy.getDest().getType());
  if (copy.getTranspose() || copy.getIm2col() || view.getElementType() != buffer.getElementType() ||
      view.getSafe() || view.getRank() > 5 || view.getRank() < 1 || view.getElementType().isInteger(1))
    return false;
  // The fastest axis of the box must be the fastest of the buffer.
  ArrayRef<int64_t> extents = copy.getExtents() ? *copy.getExtents() : buffer.getShape();
  int64_t bytes = view.getElementType().getIntOrFloatBitWidth() / 8;
  return !extents.empty() && extents.back() * bytes % 16 == 0 && argumentOf(copy.getSource()) &&
         copy.getDestOffsets().empty();
}

static bool launchWrites(LaunchOp launch, unsigned argument) {
  bool writes = false;
  launch.walk([&](Operation *op) {
    Value dest;
    if (auto s = dyn_cast<StoreOp>(op))
      dest = s.getDest();
    else if (auto c = dyn_cast<CopyOp>(op))
      dest = c.getDest();
    else if (auto e = dyn_cast<ElemStoreOp>(op))
      dest = e.getDest();
    else if (auto a = dyn_cast<AtomicOp>(op))
      dest = a.getDest();
    else if (auto ea = dyn_cast<ElemAtomicOp>(op))
      dest = ea.getDest();
    if (dest && isa<ViewType>(dest.getType())) {
      auto to = argumentOf(dest);
      writes |= !to || *to == argument;
    }
  });
  return writes;
}

/// The views whose wide access is worth a condition at launch.
SmallVector<ViewDemand> Scheduler::demands() {
  SmallVector<ViewDemand> list;
  auto add = [&](Value view, bool map) {
    auto arg = argumentOf(view);
    if (!arg || cast<ViewType>(view.getType()).getRank() == 0)
      return;
    for (ViewDemand &d : list)
      if (d.argument == *arg) {
        d.tensorMap |= map;
        return;
      }
    list.push_back({*arg, map});
  };
  for (const CopyFeature &c : features.copies) {
    CopyOp copy = c.op;
    add(copy.getSource(), plan.roles && c.loop && tmaShape(copy));
  }
  for (LoadOp load : features.viewLoads)
    add(load.getSource(), false);
  for (StoreOp store : features.viewStores)
    add(store.getDest(), plan.roles);
  launch.walk([&](GenericOp generic) {
    for (Value in : generic.getIns())
      if (isa<ViewType>(in.getType()))
        add(in, false);
  });
  return list;
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
      if (readOnly && plan.roles && tmaShape(copy))
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
    if (view && view.getElementType().getIntOrFloatBitWidth() == 16 && view.getRank() <= 5)
      any = true;
  });
  return any;
}

LogicalResult Scheduler::writeStages(LaunchOp l, bool roles) {
  int64_t perLoopFixed = 0, staging = 0;
  SmallVector<std::pair<scf::ForOp, int64_t>> loops;
  l.walk([&](AllocOp alloc) { perLoopFixed += bytesOf(alloc.getBuffer().getType()); });
  // Register operands of products on the plain units will pass through shared memory.
  l.walk([&](GemmOp gemm) {
    for (Value operand : {gemm.getA(), gemm.getB()})
      if (auto t = dyn_cast<TileType>(operand.getType()); t && gemm.getInstAttr().getKind() == InstKind::fma)
        perLoopFixed +=
            t.getNumElements() * std::max<int64_t>(8, t.getElementType().getIntOrFloatBitWidth()) / 8;
  });
  if (staged(l, roles))
    l.walk([&](StoreOp store) {
      if (isa<ViewType>(store.getDest().getType()))
        staging = std::max(staging, store.getValue().getType().getNumElements() * 2);
    });
  l.walk([&](scf::ForOp loop) {
    if (!loop->hasAttr(TileDialect::kPipelineAttrName))
      return;
    int64_t bytes = 0;
    llvm::SmallPtrSet<Value, 4> seen;
    loop.walk([&](CopyOp copy) {
      if (copy->getParentOfType<scf::ForOp>() == loop && isa<ViewType>(copy.getSource().getType()) &&
          isa<BufferType>(copy.getDest().getType()) && seen.insert(rootBuffer(copy.getDest())).second)
        bytes += bytesOf(rootBuffer(copy.getDest()).getType());
    });
    loops.push_back({loop, bytes});
  });
  int64_t limit = target.sharedBytes - 1024 - staging, used = perLoopFixed;
  if (perLoopFixed > int64_t(target.sharedBytes) - 1024) {
    InFlightDiagnostic error = l.emitError() << "[E0402] the buffers of this launch need " << perLoopFixed
                                             << " bytes of shared memory; " << target.name << " allows "
                                             << target.sharedBytes - 1024;
    l.walk([&](AllocOp alloc) {
      error.attachNote(alloc.getLoc())
          << "this buffer of " << alloc.getBuffer().getType().getNumElements() << " elements takes "
          << bytesOf(alloc.getBuffer().getType()) << " bytes";
    });
    return error;
  }
  for (auto [loop, bytes] : loops) {
    auto asked = loop->getAttrOfType<PipelineAttr>(TileDialect::kPipelineAttrName);
    // Only an engine fetches ahead; plain copies need one version of the buffer.
    bool ahead = false;
    scf::ForOp(loop).walk(
        [&](CopyOp copy) { ahead |= copy.getEngine() && *copy.getEngine() != Engine::simt; });
    int64_t want = !ahead                ? 1
                   : asked.getInferred() ? 3
                                         : std::max<int64_t>(1, asked.getStages()),
            have = want;
    while (have > 1 && used + (have - 1) * bytes > limit)
      --have;
    used += (have - 1) * bytes;
    if (have < want && !asked.getInferred())
      loop.emitRemark() << "[R0401] " << have << " stages instead of " << want << ": each takes " << bytes
                        << " bytes of the " << target.sharedBytes << " bytes of shared memory of "
                        << target.name
                        << (staging ? ", and staging of the result " + std::to_string(staging)
                                    : std::string());
    loop->setAttr(TileDialect::kPipelineAttrName,
                  PipelineAttr::get(b.getContext(), have, asked.getInferred()));
  }
  return success();
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
  l.walk([&](GemmOp gemm) { instFor(gemm, roles); });
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
  demandAlignment(kernel, demands(), any);
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
