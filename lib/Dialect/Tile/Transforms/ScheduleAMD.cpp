//===- ScheduleAMD.cpp - schedules of AMD chips ------------------------------===//
// The tile extents are the source's; this file picks the MFMA, the split over waves and the loops whose
// copies run a trip ahead. Numbers and their reasons: docs/Schedules.md.
#include "ScheduleAMD.h"
#include "ScheduleGPU.h"
#include "ScheduleHints.h"
#include "Variants.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {

/// The split of one launch, before it is written down.
struct Plan {
  int64_t edge = 0;                           ///< rows and columns of the MFMA; 0: plain units
  int64_t waves = 4;                          ///< of 64 lanes
  SmallVector<int64_t, 2> partition = {1, 1}; ///< waves along the tile's axes
};

class Scheduler {
public:
  Scheduler(KernelOp kernel, const TargetDesc &target)
      : kernel(kernel), target(target), launch(kernel.getDeviceLaunch()), features(collectFeatures(launch)),
        hints(readHints(launch)), b(kernel.getContext()) {}

  LogicalResult run();

private:
  const MatrixInst *instOf(const GemmFeature &g, int64_t edge) const;
  bool planMFMA();
  bool planGrid(int64_t edge, int64_t waves, double &bestCost);
  void planPlain();
  void writeInst(GemmOp gemm);
  void writeEngines(LaunchOp l);
  LogicalResult write(KernelOp k);

  KernelOp kernel;
  const TargetDesc &target;
  LaunchOp launch;
  LaunchFeatures features;
  LaunchHints hints;
  OpBuilder b;
  Plan plan;
};

} // namespace

static bool isType(Type type, DType dtype) {
  switch (dtype) {
  case DType::F16:
    return type.isF16();
  case DType::BF16:
    return type.isBF16();
  case DType::F32:
    return type.isF32();
  default:
    return false;
  }
}

/// The chip's instruction of that edge for a product, or null. Operands come from registers in any case.
const MatrixInst *Scheduler::instOf(const GemmFeature &g, int64_t edge) const {
  for (const MatrixInst &i : target.matrix)
    if (i.kind == MatrixKind::MFMA && i.m == edge && isType(g.a, i.a) && isType(g.b, i.b) &&
        isType(g.acc, i.acc) && g.m % edge == 0 && g.n % edge == 0 && g.k % i.k == 0 && g.k > 0)
      return &i;
  return nullptr;
}

/// Waves over rows and columns: near-square tiles of a wave read the fewest operand bytes per product. A
/// chained product owns whole rows, so that the first one's result is the second one's operand as it lies.
bool Scheduler::planGrid(int64_t edge, int64_t waves, double &bestCost) {
  int64_t m = features.gemms.front().m, n = features.gemms.front().n;
  bool chained = hasChainedProducts(features), better = false;
  for (const GemmFeature &g : features.gemms) {
    if (!instOf(g, edge))
      return false;
    chained |= g.aInRegisters;
    m = std::min(m, g.m);
    n = std::min(n, g.n);
  }
  for (int64_t rows = 1; rows <= waves; rows *= 2)
    for (int64_t columns = 1; rows * columns <= waves; columns *= 2) {
      if (m % (edge * rows) || n % (edge * columns) || (chained && columns > 1))
        continue;
      double perimeter = double(m) / rows + double(n) / columns, idle = double(waves) / (rows * columns);
      // The larger instruction reads half the operand bytes; the smaller one splits more finely.
      double cost = perimeter * idle * (edge == 16 ? 1.1 : 1.0);
      if (cost >= bestCost)
        continue;
      bestCost = cost;
      plan.edge = edge;
      plan.partition = {rows, columns};
      plan.waves = rows * columns;
      better = true;
    }
  return better;
}

bool Scheduler::planMFMA() {
  if (features.gemms.empty())
    return false;
  int64_t elements = features.gemms.front().m * features.gemms.front().n;
  int64_t waves = hints.threads ? std::max<int64_t>(1, (*hints.threads + 63) / 64) : elements > 16384 ? 8 : 4;
  double bestCost = 1e30;
  bool found = false;
  for (int64_t edge : {32, 16})
    found |= planGrid(edge, waves, bestCost);
  return found;
}

/// Enough lanes for four 16-byte vectors each.
void Scheduler::planPlain() {
  int64_t perLane = features.gemms.empty() ? 32 : 64, waves = 1;
  while (waves < 4 && waves * 64 * perLane < features.largestTile)
    waves *= 2;
  if (hints.threads)
    waves = std::max<int64_t>(1, (*hints.threads + 63) / 64);
  plan.waves = waves;
  plan.partition = {waves, 1};
}

/// Swapped: the instruction computes the transposed tile, so that a lane holds neighbours of a row (wide
/// stores), and a result is the operand of a chained product without an exchange.
void Scheduler::writeInst(GemmOp gemm) {
  GemmFeature g = describeGemm(gemm);
  const MatrixInst *inst = plan.edge ? instOf(g, plan.edge) : nullptr;
  if (!inst)
    return usePlainUnits(g, target);
  gemm.setInstAttr(InstAttr::get(b.getContext(), InstKind::mfma, {inst->m, inst->n, inst->k},
                                 /*swapped=*/true,
                                 /*a_reg=*/true, 1));
}

/// Does the source want copies of this loop to run ahead?
static bool runsAhead(scf::ForOp loop) {
  auto asked = loop ? loop->getAttrOfType<PipelineAttr>(TileDialect::kPipelineAttrName) : PipelineAttr();
  return asked && (asked.getInferred() || asked.getStages() > 1);
}

/// A tensor that the launch only reads can be fetched a trip ahead into registers.
void Scheduler::writeEngines(LaunchOp l) {
  l.walk([&](CopyOp copy) {
    Engine engine = Engine::simt;
    auto view = dyn_cast<ViewType>(copy.getSource().getType());
    if (view && isa<BufferType>(copy.getDest().getType()) && runsAhead(copy->getParentOfType<scf::ForOp>()) &&
        !copy.getTranspose() && !copy.getIm2col() &&
        view.getElementType() == getElementTypeOf(copy.getDest().getType()))
      if (auto arg = argumentOf(copy.getSource()); arg && !launchWrites(l, *arg))
        engine = Engine::registers;
    copy.setEngineAttr(EngineAttr::get(b.getContext(), engine));
  });
}

LogicalResult Scheduler::write(KernelOp k) {
  LaunchOp l = k.getDeviceLaunch();
  MLIRContext *c = b.getContext();
  bool persistent = hints.persistent.value_or(false);
  RasterAttr raster;
  if (persistent)
    raster = rasterOf(c, hints, /*chained=*/features.gemms.size() != 1);
  l.setScheduleAttr(ScheduleAttr::get(c, plan.waves * target.warpSize, plan.partition, {}, persistent, raster,
                                      {}, hints.minBlocks.value_or(1), /*skew=*/false, /*staging=*/false,
                                      /*passes=*/1, /*index_bits=*/64));
  l.walk([&](GemmOp gemm) { writeInst(gemm); });
  writeEngines(l);
  // Registers hold one trip, so two slots are all that is of use; with one, a trip has a second barrier.
  return fitStages(l, target, /*staging=*/0, features.reduces.empty() ? 0 : 1024,
                   [&](scf::ForOp loop) -> int64_t {
                     auto asked = loop->getAttrOfType<PipelineAttr>(TileDialect::kPipelineAttrName);
                     if (!asked.getInferred() && asked.getStages() > 2)
                       loop.emitRemark() << "[R0401] 2 stages instead of " << asked.getStages() << ": on "
                                         << target.name << " copies run one trip ahead, through registers";
                     return 2;
                   });
}

LogicalResult Scheduler::run() {
  if (!planMFMA())
    planPlain();
  int64_t threads = plan.waves * target.warpSize;
  if (hints.threads && *hints.threads != threads)
    launch.emitRemark() << "[R0404] " << threads << " threads compute instead of the " << *hints.threads
                        << " asked for: this launch needs whole waves of " << target.warpSize
                        << " that divide its tiles evenly";
  KernelOp any;
  demandAlignment(kernel, wideDemands(launch, features, [](Operation *) { return false; }), any);
  if (failed(write(kernel)))
    return failure();
  return any ? write(any) : success();
}

LogicalResult tilec::tile::scheduleAMD(KernelOp kernel, const TargetDesc &target) {
  return Scheduler(kernel, target).run();
}
