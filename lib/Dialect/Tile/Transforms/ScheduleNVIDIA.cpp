//===- ScheduleNVIDIA.cpp - schedules of NVIDIA chips ------------------------===//
// The tile extents are the source's; this file picks the matrix instruction, the split over warps, roles,
// stages and engines. Numbers and their reasons: docs/Schedules.md.
#include "ScheduleNVIDIA.h"
#include "BufferLayouts.h"
#include "Divisibility.h"
#include "LaunchCost.h"
#include "PlanWGMMA.h"
#include "RealignOperands.h"
#include "ScheduleGPU.h"
#include "ScheduleHints.h"
#include "SourceNames.h"
#include "StagedLoads.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {

/// The split of one launch, before it is written down.
struct Plan {
  std::optional<WGMMAPlan> wgmma;    ///< every product is a wgmma
  bool mma = false;                  ///< mma.sync products
  int64_t warps = 4;                 ///< that compute
  SmallVector<int64_t, 2> partition; ///< warp groups (wgmma) or warps along the tile's axes
  bool roles = false;
  /// The load role also copies what the engine cannot: operands that turn on their way to the plain units.
  bool turns = false;
};

/// What a variant may do 16 bytes at a time and through tensor maps.
enum class Width { everything, loads, nothing };

class Scheduler {
public:
  Scheduler(KernelOp kernel, const TargetDesc &target)
      : kernel(kernel), target(target), launch(kernel.getDeviceLaunch()), features(collectFeatures(launch)),
        hints(readHints(launch)), b(kernel.getContext()) {}

  LogicalResult run();

private:
  bool mmaLegal(const GemmFeature &g) const;
  void planMMA();
  void planSIMT();
  void chooseRoles();
  bool feedsPlainUnits() const;
  /// Does a loop stream planes of float32 numbers into products? The load role splits the numbers.
  bool splits() const {
    return llvm::any_of(features.splits, [](SplitCopyOp split) {
      auto loop = split->getParentOfType<scf::ForOp>();
      return loop && loop->hasAttr(TileDialect::kPipelineAttrName);
    });
  }
  /// Arguments whose rows may start anywhere.
  using Arguments = llvm::SmallDenseSet<unsigned, 4>;
  void planProducts();
  Arguments findRealignable() const;
  Arguments pitchedLikeResults(KernelOp k, ArrayRef<ViewDemand> reads) const;
  Arguments addLoadsVariant(SmallVector<ViewDemand> reads, KernelOp &loads, KernelOp &any);
  bool realign(const Arguments &arguments);
  bool hasRoomToRealign() const;
  bool canRealign(KernelOp loads, const Arguments &arguments) const;
  bool takesAnyPitch(KernelOp k, bool isPoint) const;
  LogicalResult write(KernelOp k, Width width);
  void writeEngines(LaunchOp l, bool wide);
  void writeCost(KernelOp k, Width width);
  void instFor(GemmOp gemm, int64_t threads);
  bool hasRoles(Width width) const { return plan.roles && (width != Width::nothing || splits()); }
  /// Warp groups of a load role that splits numbers.
  int64_t splitGroups() const { return splits() ? std::min<int64_t>(features.splits.size(), 2) : 0; }
  int64_t threadsOf(Width width) const;
  BlockNeeds needsOf(LaunchOp l, Width width) const;
  int64_t stagingBytes(LaunchOp l, Width width) const;
  Staging stagingOf(LaunchOp l, Width width) const;
  Staging stagingWanted(LaunchOp l, Width width, int64_t room, int64_t stored) const;

  KernelOp kernel;
  const TargetDesc &target;
  LaunchOp launch;
  LaunchFeatures features;
  LaunchHints hints;
  OpBuilder b;
  Plan plan;
  Arguments anywhere; ///< start their rows anywhere in this variant
};

} // namespace

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

bool Scheduler::mmaLegal(const GemmFeature &g) const {
  bool float8 = isFloat8(g.a);
  return hasMatrixTypes(g) && (!float8 || target.smVersion >= 89) && g.m % 16 == 0 && g.n % 8 == 0 &&
         g.k % matrixDepth(g) == 0;
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
                  : m * n >= 128 * 128 || accumulatorRegisters(features, 1) > 128 ? 8
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

/// One float32 product on the plain units, whose sums leave room for the lines of two steps of k.
bool Scheduler::feedsPlainUnits() const {
  if (plan.wgmma || plan.mma || features.gemms.size() != 1 || plan.warps % 4 || plan.warps > 8)
    return false;
  const GemmFeature &g = features.gemms.front();
  constexpr int64_t mostOfLane = 128;
  return g.a.isF32() && g.b.isF32() && g.acc.isF32() && !g.aInRegisters && !g.bInRegisters &&
         g.m * g.n / (32 * plan.warps) <= mostOfLane;
}

/// A producer warp pays when a loop streams tiles into products of wgmma or of float32: an issue slot that
/// the plain units spend on anything but a product is lost.
void Scheduler::chooseRoles() {
  if (!target.roles || !target.engines.tma || !(plan.wgmma || feedsPlainUnits()))
    return;
  plan.turns = !plan.wgmma;
  plan.roles = llvm::any_of(features.copies, [](const CopyFeature &c) {
    return c.loop && c.loop->hasAttr(TileDialect::kPipelineAttrName) && c.feedsGemm;
  });
  plan.roles |= splits();
}

/// `threads`: of the block, which say how many registers there are for the sums of one instruction.
void Scheduler::instFor(GemmOp gemm, int64_t threads) {
  const GemmFeature g = describeGemm(gemm);
  if (plan.wgmma) {
    int64_t sums = llvm::alignDown(target.registersPerBlock / threads, 8) - kBesideSums;
    int64_t widest = std::min<int64_t>(256, sums * 2 * 32 / g.acc.getIntOrFloatBitWidth());
    gemm.setInstAttr(InstAttr::get(b.getContext(), InstKind::wgmma,
                                   {64, plan.wgmma->width(g.m, g.n, widest), matrixDepth(g)},
                                   plan.wgmma->swapped, firstInRegisters(g, plan.wgmma->swapped), 1));
    return;
  }
  if (plan.mma && mmaLegal(g)) {
    if (target.mbarriers)
      gemm.emitRemark() << "[R0407] this " << g.m << " x " << g.n << " x " << g.k << " product of "
                        << dtypeOf(g.a) << " and " << dtypeOf(g.b)
                        << " runs on mma.sync instead of wgmma: " << whyNoWGMMA(g);
    gemm.setInstAttr(
        InstAttr::get(b.getContext(), InstKind::mma_sync, {16, 8, matrixDepth(g)}, false, true, 1));
    return;
  }
  usePlainUnits(g, target);
}

//===----------------------------------------------------------------------===//
// Views, engines, stages
//===----------------------------------------------------------------------===//

/// May TMA move this? Same type on both sides, zero fill, at most five axes, into a whole buffer: a part of
/// one may be no box.
static bool tmaShape(CopyOp copy) {
  auto view = cast<ViewType>(copy.getSource().getType());
  auto buffer = cast<BufferType>(copy.getDest().getType());
  if (copy.getTranspose() || copy.getIm2col() || view.getElementType() != buffer.getElementType() ||
      view.getSafe() || !isMappable(view) || view.getElementType().isInteger(1))
    return false;
  // The fastest axis of the box must be the fastest of the buffer.
  ArrayRef<int64_t> extents = copy.getExtents() ? *copy.getExtents() : buffer.getShape();
  int64_t bytes = view.getElementType().getIntOrFloatBitWidth() / 8;
  return !extents.empty() && extents.back() * bytes % 16 == 0 && argumentOf(copy.getSource()) &&
         copy.getDestOffsets().empty() && copy.getDest().getDefiningOp<AllocOp>();
}

/// Does memory turn this buffer for the plain units (BufferLayouts.cpp)?
static bool turnsInMemory(Value buffer) {
  OperandAxes axes = plainOperandAxes(buffer);
  return axes.kFast && !axes.kSlow;
}

/// Tensors that the products can read whatever their pitches and addresses are, or that the load role copies
/// by elements: all their copies are such. Products of planes and of the plain units have load roles of their
/// own kind.
Scheduler::Arguments Scheduler::findRealignable() const {
  Arguments able, unable;
  if (!plan.roles || plan.turns || splits())
    return able;
  for (const CopyFeature &c : features.copies)
    if (auto argument = argumentOf(CopyOp(c.op).getSource()))
      (mayRealign(c.op, launch) || mayCopyElements(c.op, launch) ? able : unable).insert(*argument);
  for (unsigned argument : unable)
    able.erase(argument);
  return able;
}

void Scheduler::writeEngines(LaunchOp l, bool wide) {
  Divisibility known(l->getParentOfType<KernelOp>());
  l.walk([&](CopyOp copy) {
    if (copy.getEngine() == Engine::words)
      return;
    Engine engine = Engine::simt;
    bool load = isa<ViewType>(copy.getSource().getType()) && isa<BufferType>(copy.getDest().getType());
    auto loop = copy->getParentOfType<scf::ForOp>();
    auto arg = load ? argumentOf(copy.getSource()) : std::nullopt;
    if (load && wide && copy->hasAttr(TileDialect::kLoadRoleAttrName)) {
      // its threads are plain ones
    } else if (load && wide) {
      bool readOnly = arg && !launchWrites(l, *arg);
      bool same = getElementTypeOf(copy.getSource().getType()) == getElementTypeOf(copy.getDest().getType());
      auto view = cast<ViewType>(copy.getSource().getType());
      bool turned = turnsInMemory(copy.getDest());
      int64_t piece = turned ? 4 : 16; // bytes: neighbours in the tensor are none in a buffer that turns
      if (readOnly && plan.roles && !turned && tmaShape(copy) &&
          known.startsBox(copy.getSource(), copy.getSourceOffsets()))
        engine = Engine::tma;
      else if (readOnly && same && !copy.getTranspose() && !copy.getIm2col() && !view.getSafe() &&
               (!plan.roles || plan.turns) && target.engines.cpAsync && loop &&
               loop->hasAttr(TileDialect::kPipelineAttrName) &&
               known.ofElement(copy.getSource(), copy.getSourceOffsets()) >= piece &&
               view.getStaticStride(view.getRank() - 1) == 1)
        engine = Engine::cp_async;
    }
    copy.setEngineAttr(EngineAttr::get(b.getContext(), engine));
  });
}

/// All threads of a block, those of the load role too.
int64_t Scheduler::threadsOf(Width width) const {
  return 32 * plan.warps + (hasRoles(width) ? 128 * std::max<int64_t>(splitGroups(), 1) : 0);
}

/// Of operands that are realigned, in each of so many threads.
static int64_t realignedRegisters(LaunchOp l, int64_t threads) {
  int64_t registers = 0;
  l.walk([&](RealignOp op) { registers += dataBytes(op.getResult().getType()) / (4 * threads); });
  return registers;
}

/// What a block cannot do without: sums, and operands that are realigned, in registers.
BlockNeeds Scheduler::needsOf(LaunchOp l, Width width) const {
  BlockNeeds needs{threadsOf(width), /*registers=*/1, bytesOfBuffers(l) + kReservedShared};
  if (!plan.wgmma && !plan.mma)
    return needs;
  int64_t registers = 0;
  for (const GemmFeature &g : features.gemms) {
    int64_t sums = sumRegisters(g, 32 * plan.warps);
    // Products of planes share their sums, which are added to others.
    registers = splits() ? std::max(registers, 2 * sums) : registers + sums;
  }
  registers += realignedRegisters(l, 32 * plan.warps);
  needs.registers = llvm::alignTo(registers + kBesideSums, 8);
  return needs;
}

/// Stores go through shared memory and the copy engine where the tile comes out of a wgmma accumulator: the
/// bytes that they want, each a buffer of its own.
int64_t Scheduler::stagingBytes(LaunchOp l, Width width) const {
  // A result that meets its sums in registers once more leaves from there, and so do sums of the plain units,
  // whose time it takes is small: their rings need the room.
  if (!plan.roles || !plan.wgmma || splits() || width != Width::everything)
    return 0;
  int64_t staging = 0;
  l.walk([&](StoreOp store) {
    if (auto view = dyn_cast<ViewType>(store.getDest().getType()); view && isMappable(view))
      staging += stagedBytes(store);
  });
  return staging;
}

/// What goes through shared memory beside the ring, as far as it fits beside one version of each buffer.
Staging Scheduler::stagingOf(LaunchOp l, Width width) const {
  int64_t blocks = residentBlocks(target, hints.minBlocks.value_or(1), needsOf(l, width));
  int64_t room = sharedShare(target, blocks) - kReservedShared - bytesOfBuffers(l);
  Staging staging = stagingWanted(l, width, room, stagingBytes(l, width));
  bool fits = staging.loaded + staging.stored <= room;
  return fits ? staging : stagingWanted(l, width, room, /*stored=*/0);
}

/// For one product in a loop ring and staging compete. Other launches stage their results whole. `room`:
/// bytes beside one version of each buffer; `stored`: what the results want.
Staging Scheduler::stagingWanted(LaunchOp l, Width width, int64_t room, int64_t stored) const {
  Staging staging;
  staging.stored = stored;
  SmallVector<scf::ForOp, 2> loops = mainLoops(l);
  if (!plan.wgmma || features.gemms.size() != 1 || features.viewStores.size() > 1 || loops.empty())
    return staging;
  LaunchFeatures own = collectFeatures(l);
  int64_t stage = bytesPerTrip(own, loops.back());
  staging =
      planStaging(*plan.wgmma, l, own, stored, stage, room + stage, plan.roles && width != Width::nothing);
  Divisibility known(l->getParentOfType<KernelOp>());
  llvm::erase_if(staging.loads, [&](LoadOp load) {
    return !known.startsBox(load.getSource(), load.getOffsets()) ||
           anywhere.contains(*argumentOf(load.getSource()));
  });
  staging.loaded = bytesOf(staging.loads);
  return staging;
}

//===----------------------------------------------------------------------===//
// Writing it down
//===----------------------------------------------------------------------===//

/// 65536 registers over the block: what setmaxnreg leaves to the load role goes to the computing ones. A load
/// role that splits numbers of `splits` operands is as many warp groups and needs registers for them; one
/// that brings an epilogue's operands in between has more loops, and their addresses, to hold; `addresses`:
/// one that copies more than two tensors, or words, has more of these.
static std::pair<int64_t, int64_t> roleRegisters(int64_t groups, int64_t splits, bool epilogue,
                                                 bool addresses) {
  if (splits && groups > 2)
    return {96, 96};
  if (splits)
    return groups == 1 ? std::pair<int64_t, int64_t>(96, kRegistersAlone)
                       : std::pair<int64_t, int64_t>(96, splits == 1 ? 200 : 160);
  int64_t load = addresses ? 56 : 40;
  switch (groups) {
  case 1:
    return {epilogue ? 72 : load, kRegistersAlone};
  case 2:
    return epilogue ? std::pair<int64_t, int64_t>(72, 216)
                    : std::pair<int64_t, int64_t>(load, addresses ? 224 : 232);
  default:
    return {epilogue ? 56 : load, 152};
  }
}

/// Remark R0408, for results that could leave through shared memory.
static void tellUnstaged(LaunchOp l, const Staging &staging, int64_t wanted) {
  if (!wanted || staging.stored)
    return;
  StoreOp first;
  l.walk([&](StoreOp store) {
    if (!first && stagedBytes(store))
      first = store;
  });
  first.emitRemark() << "[R0408] this result leaves from registers, without the copy engine: the buffers of "
                        "this launch take "
                     << bytesOfBuffers(l) << " bytes of shared memory, and neither the " << wanted
                     << " bytes of the result nor a part of them fits beside these";
}

LogicalResult Scheduler::write(KernelOp k, Width width) {
  LaunchOp l = k.getDeviceLaunch();
  MLIRContext *c = b.getContext();
  bool roles = hasRoles(width);
  SmallVector<RoleAttr> roleList;
  int64_t threads = threadsOf(width);
  l.walk([&](GemmOp gemm) { instFor(gemm, threads); });
  int64_t blocks = fitBlocks(l, target, hints.minBlocks.value_or(1), needsOf(l, width));
  Staging beside = stagingOf(l, width);
  if (roles) {
    auto [loadRegs, computeRegs] = roleRegisters(plan.warps / 4, splitGroups(), !beside.loads.empty(),
                                                 features.copies.size() > 2 || !anywhere.empty());
    // Where more than one block is to run at once, each thread has its share and no more.
    if (blocks > 1)
      loadRegs = computeRegs = 0;
    roleList = {RoleAttr::get(c, RoleKind::load, threads / 32 - plan.warps, loadRegs),
                RoleAttr::get(c, RoleKind::compute, plan.warps, computeRegs)};
  }
  bool chained = hasChainedProducts(features) && !splits();
  bool persistent = hints.persistent.value_or(roles);
  RasterAttr raster;
  if (persistent)
    raster = rasterOf(c, hints, chained);
  l.setScheduleAttr(ScheduleAttr::get(c, threads, plan.partition, roleList, persistent, raster, {}, blocks,
                                      /*skew=*/roles && chained, /*staging=*/beside.stored > 0, beside.passes,
                                      /*index_bits=*/64));
  writeEngines(l, width != Width::nothing);
  for (LoadOp load : beside.loads)
    load->setAttr(TileDialect::kStagedAttrName, b.getUnitAttr());
  auto most = [&](scf::ForOp loop) {
    auto asked = loop->getAttrOfType<PipelineAttr>(TileDialect::kPipelineAttrName);
    constexpr int64_t usual = 3, mostSlots = 8;
    if (!asked.getInferred())
      return std::max<int64_t>(1, asked.getStages());
    return roles ? mostSlots : usual;
  };
  if (failed(fitStages(l, target, beside.stored + beside.loaded, kReservedShared, most)))
    return failure();
  tellUnstaged(l, beside, stagingBytes(l, width));
  return success();
}

void Scheduler::writeCost(KernelOp k, Width width) {
  std::optional<LaunchCost> cost = launchCost(launch, target);
  if (!cost)
    return;
  int64_t realigned = 0;
  for (const CopyFeature &c : features.copies)
    if (CopyOp copy = c.op; copy.getEngine() == Engine::words)
      realigned += dataBytes(cast<BufferType>(copy.getDest().getType()));
  if (width != Width::everything && !(cost = costAtAnyPitch(*cost, realigned)))
    return;
  constexpr int64_t withoutEngine = 4; // operands that the threads copy: about so many times the trip
  if (width == Width::nothing)
    cost->trip *= withoutEngine;
  k->setAttr(TileDialect::kCostAttrName,
             b.getDenseI64ArrayAttr({cost->trip, cost->block, cost->launch, cost->resident}));
}

static int64_t elementsOf16Bytes(Type type) {
  return std::max<int64_t>(1, 128 / type.getIntOrFloatBitWidth());
}

/// Results whose rows may start anywhere.
static SmallVector<Value> oddResults(KernelOp kernel, const Divisibility &known) {
  SmallVector<Value> odd;
  for (StoreOp store : collectFeatures(kernel.getDeviceLaunch()).viewStores) {
    Value view = store.getDest();
    auto type = cast<ViewType>(view.getType());
    if (type.getRank() > 1 &&
        known.ofStride(view, type.getRank() - 2) % elementsOf16Bytes(type.getElementType()))
      odd.push_back(view);
  }
  return odd;
}

/// What is read at the pitch of a result, by a symbol that both have: where the one is odd, the other is.
Scheduler::Arguments Scheduler::pitchedLikeResults(KernelOp k, ArrayRef<ViewDemand> reads) const {
  Arguments like, realignable = findRealignable();
  SmallVector<Value> odd = oddResults(k, Divisibility(k));
  for (const ViewDemand &read : reads) {
    BlockArgument argument = k.getBody().getArgument(read.argument);
    auto type = cast<ViewType>(argument.getType());
    bool copied = llvm::any_of(features.copies, [&](const CopyFeature &c) {
      return argumentOf(CopyOp(c.op).getSource()) == read.argument;
    });
    if (!type.isContiguous() || type.getRank() < 2 || (copied && !realignable.contains(read.argument)))
      continue;
    Divisibility supposed(k,
                          {argument, unsigned(type.getRank() - 1), elementsOf16Bytes(type.getElementType())});
    if (llvm::any_of(odd, [&](Value view) {
          auto type = cast<ViewType>(view.getType());
          return supposed.ofStride(view, type.getRank() - 2) % elementsOf16Bytes(type.getElementType()) == 0;
        }))
      like.insert(read.argument);
  }
  return like;
}

/// Between the two variants: operands through the copy engine but for those with the pitch of a result,
/// results of any pitch from the threads. Takes the place of `any`, which is made anew. Not where it demands
/// what the results want.
Scheduler::Arguments Scheduler::addLoadsVariant(SmallVector<ViewDemand> reads, KernelOp &loads,
                                                KernelOp &any) {
  std::string name = kernel.getSymName().str();
  loads = any;
  Arguments like = pitchedLikeResults(loads, reads);
  llvm::erase_if(reads, [&](const ViewDemand &read) { return like.contains(read.argument); });
  demandAlignment(loads, reads, any);
  bool gains = !oddResults(loads, Divisibility(loads)).empty() && canRealign(loads, like);
  if (gains) {
    loads.setSymName(name + ".loads");
  } else {
    if (any)
      loads.erase();
    else
      any = loads;
    loads = {};
  }
  if (any)
    any.setSymName(name + ".any");
  return gains ? like : Arguments();
}

/// Is there room for the words, longer than the rows, and for the operand beside the sums of each thread?
bool Scheduler::hasRoomToRealign() const {
  int64_t registers = accumulatorRegisters(features, plan.wgmma->groups());
  if (registers > kMostSumsBesideRealigned)
    return false;
  registers += realignedRegisters(launch, 128 * plan.wgmma->groups());
  return bytesOfBuffers(launch) <= int64_t(target.sharedBytes) - kReservedShared &&
         registers <= kRegistersAlone;
}

/// Takes the operands of these tensors out of registers. False: no wgmma does so, or not with these sizes.
bool Scheduler::realign(const Arguments &arguments) {
  anywhere = arguments;
  for (const CopyFeature &c : features.copies)
    if (auto argument = argumentOf(CopyOp(c.op).getSource()); argument && anywhere.contains(*argument)) {
      if (mayRealign(c.op, launch))
        realignOperand(c.op);
      else
        CopyOp(c.op)->setAttr(TileDialect::kLoadRoleAttrName, b.getUnitAttr());
    }
  features = collectFeatures(launch);
  planProducts();
  return plan.roles && plan.wgmma && hasRoomToRealign();
}

bool Scheduler::canRealign(KernelOp loads, const Arguments &arguments) const {
  if (arguments.empty())
    return true;
  auto trial = cast<KernelOp>(loads->clone());
  bool can = Scheduler(trial, target).realign(arguments);
  trial->erase();
  return can;
}

/// Of the points of a tuning space a few have a variant for rows that start anywhere.
bool Scheduler::takesAnyPitch(KernelOp k, bool isPoint) const {
  auto targets = k->getAttrOfType<ArrayAttr>(kAnyPitchAttrName);
  return targets ? llvm::is_contained(targets, Attribute(StringAttr::get(k.getContext(), target.name)))
                 : !isPoint;
}

void Scheduler::planProducts() {
  plan = {};
  plan.wgmma = planWGMMA(features, hints, target);
  if (plan.wgmma) {
    plan.partition = {plan.wgmma->rows, plan.wgmma->columns};
    plan.warps = 4 * plan.wgmma->groups();
  } else if (!features.gemms.empty() &&
             llvm::all_of(features.gemms, [&](const GemmFeature &g) { return mmaLegal(g); })) {
    planMMA();
  } else {
    planSIMT();
  }
  chooseRoles();
}

LogicalResult Scheduler::run() {
  planProducts();
  if (hints.threads && *hints.threads != plan.warps * 32)
    launch.emitRemark() << "[R0404] " << plan.warps * 32 << " threads compute instead of the "
                        << *hints.threads << " asked for: the products of this launch need whole "
                        << (plan.wgmma ? "warp groups of 128" : "warps of 32");
  KernelOp any, loads;
  Arguments like;
  Staging beside = stagingOf(launch, Width::everything);
  auto needsMap = [&](Operation *op) {
    auto copy = dyn_cast<CopyOp>(op);
    if (auto load = dyn_cast<LoadOp>(op))
      return llvm::is_contained(beside.loads, load);
    return plan.roles && (!copy || (copy->getParentOfType<scf::ForOp>() && tmaShape(copy)));
  };
  SmallVector<ViewDemand> reads = wideDemands(launch, features, needsMap, /*stores=*/false);
  demandAlignment(kernel, wideDemands(launch, features, needsMap), any);
  bool isPoint = kernel->hasAttr(TileDialect::kPointAttrName);
  if (any && plan.roles && takesAnyPitch(kernel, isPoint))
    like = addLoadsVariant(reads, loads, any);
  if (any && isPoint) {
    any.erase(); // what no other way can run, the defaults can
    any = {};
  }
  writeCost(kernel, Width::everything);
  if (failed(write(kernel, Width::everything)))
    return failure();
  if (loads) {
    Scheduler variant(loads, target);
    variant.realign(like);
    variant.writeCost(loads, Width::loads);
    if (failed(variant.write(loads, Width::loads)))
      return failure();
  }
  if (!any)
    return success();
  writeCost(any, Width::nothing);
  return write(any, Width::nothing);
}

LogicalResult tilec::tile::scheduleNVIDIA(KernelOp kernel, const TargetDesc &target) {
  return Scheduler(kernel, target).run();
}
