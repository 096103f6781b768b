//===- LaunchCost.cpp - how long a launch takes, before there is code --------===//
// The numbers were measured on an H200; docs/Schedules.md says what each stands for.
#include "LaunchCost.h"
#include "BufferLayouts.h"
#include "PlanWGMMA.h"
#include "ScheduleGPU.h"
#include "StagedLoads.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tilec/Support/Occupancy.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

int64_t tilec::tile::cyclesOf(const LaunchCost &cost, int64_t blocks, int64_t trips,
                              int64_t multiprocessors) {
  int64_t waves = llvm::divideCeil(std::max<int64_t>(blocks, 0), multiprocessors * cost.resident);
  return waves * (trips * cost.trip + cost.block) + cost.launch;
}

std::optional<LaunchCost> tilec::tile::costAtAnyPitch(LaunchCost cost, int64_t realigned) {
  // Beside the sums there are the registers of an operand, and its addresses.
  if (realigned && cost.sums > kMostSumsBesideRealigned)
    return std::nullopt;
  // Results leave as single elements: of a turned product eight neighbours of a row at a time, of another
  // two.
  constexpr double turned = 5.7, straight = 19, besideRealigned = 8.5, start = 1000;
  if (!cost.turned && !realigned) {
    cost.block = int64_t(straight * double(cost.block));
    return cost;
  }
  cost.block = int64_t(start + (realigned ? besideRealigned : turned) * double(cost.block));
  if (!realigned)
    return cost;
  constexpr double perStep = 85, perKiB = 44.5, perLine = 2.4, severalSteps = 1.25;
  double lines = double(cost.lines) - double(realigned) / 128;
  double trip = perStep * double(cost.steps) + double(realigned) / 1024 * perKiB + perLine * lines;
  cost.trip = std::max(cost.trip, int64_t(trip * (cost.steps > 1 ? severalSteps : 1)));
  return cost;
}

SmallVector<scf::ForOp, 2> tilec::tile::mainLoops(LaunchOp launch) {
  GemmOp largest;
  int64_t most = 0;
  launch.walk([&](GemmOp gemm) {
    auto [m, n, k] = gemmExtents(gemm);
    if (m * n * k > most && gemm->getParentOfType<scf::ForOp>()) {
      most = m * n * k;
      largest = gemm;
    }
  });
  SmallVector<scf::ForOp, 2> loops;
  for (Operation *op = largest; op && op != launch; op = op->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(op))
      loops.insert(loops.begin(), loop);
  return loops;
}

Staging tilec::tile::planStaging(const WGMMAPlan &plan, LaunchOp launch, const LaunchFeatures &features,
                                 int64_t bytes, int64_t stage, int64_t room, bool ahead) {
  Staging s;
  const GemmFeature &product = features.gemms.front();
  constexpr int64_t mostPasses = 4, fewestStages = 3;
  if (ahead)
    s.loads = stagedLoads(launch, features, room - bytes / mostPasses - fewestStages * stage);
  s.loaded = bytesOf(s.loads);
  // What an epilogue reads takes registers beside the sums: a part's worth of them.
  int64_t sums = product.m * product.n / (128 * plan.groups());
  constexpr int64_t mostBeside = 32;
  auto few = [&](int64_t passes) { return features.viewLoads.empty() || sums / passes <= mostBeside; };
  auto cut = [&](llvm::function_ref<bool(int64_t)> enough) {
    if (s.passes == 1 && !enough(1))
      s.passes = plan.parts(product.m, product.n, enough);
  };
  // A stage up to the fourth is worth a result in parts, a fifth is not.
  for (int64_t stages : {4, 3, 2, 1})
    if (bytes)
      cut([&](int64_t passes) { return few(passes) && room - s.loaded - bytes / passes >= stages * stage; });
  for (int64_t most = mostPasses; most > 1 && !few(s.passes); --most)
    cut([&](int64_t passes) { return passes >= most; });
  s.stored = bytes / s.passes;
  return s;
}

/// What a block computes beside its loops: 128 operations a cycle, functions as slow as eight; and what it
/// reads there, with the threads waiting unless the copy engine brought it.
static int64_t epilogueCycles(LaunchOp launch, const LaunchFeatures &features, const Staging &beside) {
  int64_t work = 0, read = 0;
  for (auto generic : launch.getBody().getOps<GenericOp>()) {
    int64_t operations = 0, iterations = 1;
    for (int64_t extent : generic.getDomain())
      iterations *= std::max<int64_t>(extent, 1);
    for (Operation &op : generic.getBody().front().without_terminator())
      operations += isa<math::MathDialect>(op.getDialect())       ? 8
                    : isa<arith::TruncFOp, arith::ConstantOp>(op) ? 0
                                                                  : 1;
    work += operations * iterations;
  }
  for (LoadOp load : features.viewLoads)
    if (load->getParentOp() == launch)
      read += bytesOf(load);
  return work / 128 + beside.loaded / 64 + (read - beside.loaded) / 14;
}

/// One product on warp groups, fed by the copy engine through a ring: the kernels of samples/gemm.
static std::optional<LaunchCost> costOfWGMMA(LaunchOp launch, scf::ForOp loop, const TargetDesc &target) {
  LaunchFeatures features = collectFeatures(launch);
  LaunchHints hints = readHints(launch);
  std::optional<WGMMAPlan> plan = planWGMMA(features, hints, target);
  if (!plan || features.gemms.size() != 1 || !features.gemms.front().inLoop)
    return std::nullopt;
  const GemmFeature &g = features.gemms.front();
  int64_t stage = bytesPerTrip(features, loop), staging = 0, result = 0;
  for (StoreOp store : features.viewStores) {
    staging = std::max(staging, stagedBytes(store));
    TileType tile = store.getValue().getType();
    result = std::max(result, tile.getNumElements() * tile.getElementType().getIntOrFloatBitWidth() / 8);
  }
  int64_t room =
      sharedShare(target, hints.minBlocks.value_or(1)) - kReservedShared - (bytesOfBuffers(launch) - stage);
  Staging beside = planStaging(*plan, launch, features, staging, stage, room, /*ahead=*/true);
  int64_t stages = stage ? (room - beside.loaded - beside.stored) / stage : 0;
  if (stages < 2)
    return std::nullopt;
  // The registers that setmaxnreg leaves a computing thread hold no more sums than this, with what the
  // epilogue reads beside them.
  constexpr int64_t mostPriced[] = {0, 208, 192, 96};
  if (plan->groups() > 3)
    return std::nullopt;
  int64_t sums = accumulatorRegisters(features, plan->groups());
  int64_t others = features.viewLoads.empty() ? 0 : 16 + sums / beside.passes;
  if (sums + others > mostPriced[plan->groups()])
    return std::nullopt;
  double bytes = double(g.k) * g.a.getIntOrFloatBitWidth() / 8;
  double steps = bytes / 128;               // along k
  double lines = double(g.m + g.n) * steps; // rows of 128 bytes that the copy engine asks for
  // The slowest of: the matrix units; shared memory, read by them and written by the copy engine; the
  // engine's requests; a trip around the ring; the latency of memory with so many stages under way.
  double instructions = bytes / 32;
  double alone = plan->groups() == 1 ? 1.2 : 1; // nobody computes while the only group waits
  double matrix = alone * plan->matrixCycles(g.m, g.n) * instructions + 20 * steps;
  double shared = 1.35 * plan->sharedCycles(g.m, g.n) * instructions + 0.17 * lines;
  double trip = std::max({matrix, shared, 1.6 * lines, 190.0, 1950.0 / double(stages - 1)});
  // Each part of a result after the first waits at two barriers and for the engine to have read the one
  // before.
  int64_t block = 100 + result / 58 + 200 * (beside.passes - 1) + epilogueCycles(launch, features, beside);
  return LaunchCost{int64_t(trip + 0.5), block, 8000, 1, sums, int64_t(lines), int64_t(steps), plan->swapped};
}

/// One product of float32 on the plain units, fed by a load role: eight warps with 32 to 128 sums a thread,
/// in blocks of 4 x 4 for each lane.
static std::optional<LaunchCost> costOfPlainUnits(LaunchOp launch, scf::ForOp loop,
                                                  const TargetDesc &target) {
  LaunchFeatures features = collectFeatures(launch);
  if (features.gemms.size() != 1 || !features.gemms.front().inLoop)
    return std::nullopt;
  const GemmFeature &g = features.gemms.front();
  if (!g.a.isF32() || !g.b.isF32() || !g.acc.isF32() || g.aInRegisters || g.bInRegisters ||
      GemmOp(g.op).getPrecision() != Precision::ieee)
    return std::nullopt;
  // Other tiles leave lanes without their share of rows, or too few products to a value read.
  int64_t sums = g.m * g.n / 256;
  if (!llvm::isPowerOf2_64(g.m) || g.m < 64 || g.n % 64 || sums < 32 || sums > 128)
    return std::nullopt;
  int64_t stage = bytesPerTrip(features, loop);
  if (!stage || (int64_t(target.sharedBytes) - kReservedShared) / stage < 2)
    return std::nullopt;
  double reads = g.n < 128 ? 20 : 14; // a step of k, of lines that fewer columns share
  double trip = double(g.k) * (1.06 * double(g.m * g.n) / 128 + reads) + 256;
  return LaunchCost{int64_t(trip + 0.5), g.m * g.n / 8 + epilogueCycles(launch, features, Staging()), 8000};
}

std::optional<LaunchCost> tilec::tile::launchCost(LaunchOp launch, const TargetDesc &target) {
  SmallVector<scf::ForOp, 2> loops = mainLoops(launch);
  if (!target.roles || loops.empty())
    return std::nullopt;
  if (std::optional<LaunchCost> cost = costOfWGMMA(launch, loops.back(), target))
    return cost;
  return costOfPlainUnits(launch, loops.back(), target);
}
