//===- ScheduleGPU.cpp - what the schedulers of GPUs share -------------------===//
#include "ScheduleGPU.h"
#include "SourceNames.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

/// Bytes of shared memory that an operand in registers passes through on its way to the plain units.
static int64_t passThroughBytes(GemmOp gemm, Value operand) {
  auto t = dyn_cast<TileType>(operand.getType());
  if (!t || !gemm.getInstAttr() || gemm.getInstAttr().getKind() != InstKind::fma)
    return 0;
  return dataBytes(t);
}

int64_t tilec::tile::bytesOfBuffers(LaunchOp l) {
  int64_t bytes = 0;
  l.walk([&](AllocOp alloc) { bytes += dataBytes(alloc.getBuffer().getType()); });
  // Register operands of products on the plain units will pass through shared memory.
  l.walk([&](GemmOp gemm) {
    for (Value operand : {gemm.getA(), gemm.getB()})
      bytes += passThroughBytes(gemm, operand);
  });
  return bytes;
}

/// E0402 with everything that takes part in the sum.
static LogicalResult refuseBuffers(LaunchOp l, const TargetDesc &target, int64_t bytes, int64_t reserved) {
  InFlightDiagnostic error = l.emitError() << "[E0402] the buffers of this launch need " << bytes
                                           << " bytes of shared memory; " << target.name << " allows "
                                           << target.sharedBytes;
  if (reserved)
    error << ", " << reserved << " of them for barriers and exchanges between warps";
  l.walk([&](AllocOp alloc) {
    BufferType type = alloc.getBuffer().getType();
    error.attachNote(alloc.getLoc()) << describe(alloc.getLoc(), type.getShape(), type.getElementType())
                                     << ", takes " << dataBytes(type) << " bytes";
  });
  l.walk([&](GemmOp gemm) {
    for (Value operand : {gemm.getA(), gemm.getB()})
      if (int64_t through = passThroughBytes(gemm, operand)) {
        auto t = cast<TileType>(operand.getType());
        error.attachNote(gemm.getLoc())
            << "an operand of this product in registers, " << shapeAndDtype(t.getShape(), t.getElementType())
            << ", passes through " << through << " bytes on its way to the plain arithmetic units";
      }
  });
  error.attachNote(l.getLoc()) << "smaller tiles or narrower types make it fit";
  return error;
}

int64_t tilec::tile::bytesPerTrip(const LaunchFeatures &features, scf::ForOp loop) {
  int64_t bytes = 0;
  llvm::SmallPtrSet<Value, 4> seen;
  for (const CopyFeature &c : features.copies)
    if (c.loop == loop)
      if (Value buffer = rootBuffer(CopyOp(c.op).getDest()); seen.insert(buffer).second)
        bytes += dataBytes(cast<BufferType>(buffer.getType()));
  return bytes;
}

int64_t tilec::tile::residentBlocks(const TargetDesc &target, int64_t asked, const BlockNeeds &needs) {
  if (asked == 1)
    return 1;
  return std::min(asked, std::max<int64_t>(1, occupancyOf(target, needs).blocks));
}

int64_t tilec::tile::fitBlocks(LaunchOp l, const TargetDesc &target, int64_t asked, const BlockNeeds &needs) {
  int64_t blocks = residentBlocks(target, asked, needs);
  if (blocks == asked)
    return blocks;
  StringRef limiter = occupancyOf(target, needs).limiter;
  InFlightDiagnostic remark = l.emitRemark();
  remark << "[R0409] " << blocks << (blocks == 1 ? " block" : " blocks") << " on a multiprocessor of "
         << target.name << " instead of " << asked << ", for want of " << limiter << ": a block takes ";
  if (limiter == "registers")
    remark << needs.registers << " registers in each of its " << needs.threads << " threads, each of "
           << asked << " blocks can have " << target.registersPerBlock / (asked * needs.threads);
  else if (limiter == "shared memory")
    remark << needs.shared << " bytes with one stage of each loop, each of " << asked << " blocks can have "
           << sharedShare(target, asked);
  else
    remark << needs.threads << " threads";
  return blocks;
}

/// The bytes that a block of the launch can have beside `reserved` ones, which may mean fewer blocks on a
/// multiprocessor.
static int64_t shareOfBlock(LaunchOp l, const TargetDesc &target, int64_t reserved) {
  ScheduleAttr s = l.getScheduleAttr();
  int64_t blocks =
      fitBlocks(l, target, s.getMinBlocks(), {s.getThreads(), /*registers=*/1, bytesOfBuffers(l) + reserved});
  if (blocks < s.getMinBlocks())
    l.setScheduleAttr(ScheduleAttr::get(s.getContext(), s.getThreads(), s.getPartition(), s.getRoles(),
                                        s.getPersistent(), s.getRaster(), s.getCluster(), blocks, s.getSkew(),
                                        s.getStaging(), s.getPasses(), s.getIndexBits()));
  return sharedShare(target, blocks) - reserved;
}

/// Remark R0401.
static void tellFewerStages(scf::ForOp loop, const TargetDesc &target, int64_t have, int64_t want,
                            int64_t bytes, int64_t blocks, int64_t staging) {
  InFlightDiagnostic remark = loop.emitRemark();
  remark << "[R0401] " << have << (have == 1 ? " stage" : " stages") << " instead of " << want
         << ": each takes " << bytes << " bytes of the " << sharedShare(target, blocks)
         << " bytes of shared memory of " << target.name;
  if (blocks > 1)
    remark << " that each of " << blocks << " blocks on a multiprocessor can have";
  if (staging)
    remark << ", and staging of the result " << staging;
}

LogicalResult tilec::tile::fitStages(LaunchOp l, const TargetDesc &target, int64_t staging, int64_t reserved,
                                     llvm::function_ref<int64_t(scf::ForOp)> most) {
  int64_t fixed = bytesOfBuffers(l);
  SmallVector<std::pair<scf::ForOp, int64_t>> loops;
  l.walk([&](scf::ForOp loop) {
    if (!loop->hasAttr(TileDialect::kPipelineAttrName))
      return;
    int64_t bytes = 0;
    llvm::SmallPtrSet<Value, 4> seen;
    loop.walk([&](SplitCopyOp split) {
      if (split->getParentOfType<scf::ForOp>() == loop)
        for (Value plane : split.getPlanes())
          if (seen.insert(plane).second)
            bytes += dataBytes(cast<BufferType>(plane.getType()));
    });
    loop.walk([&](CopyOp copy) {
      if (copy->getParentOfType<scf::ForOp>() == loop && isa<ViewType>(copy.getSource().getType()) &&
          isa<BufferType>(copy.getDest().getType()) && seen.insert(rootBuffer(copy.getDest())).second)
        bytes += dataBytes(cast<BufferType>(rootBuffer(copy.getDest()).getType()));
    });
    loops.push_back({loop, bytes});
  });
  if (fixed > int64_t(target.sharedBytes) - reserved)
    return refuseBuffers(l, target, fixed, reserved);
  int64_t limit = shareOfBlock(l, target, reserved) - staging, used = fixed;
  int64_t blocks = l.getScheduleAttr().getMinBlocks();
  for (auto [loop, bytes] : loops) {
    auto asked = loop->getAttrOfType<PipelineAttr>(TileDialect::kPipelineAttrName);
    // Only an engine fetches ahead; plain copies need one version of the buffer.
    bool ahead = false;
    scf::ForOp(loop).walk(
        [&](CopyOp copy) { ahead |= copy.getEngine() && *copy.getEngine() != Engine::simt; });
    scf::ForOp(loop).walk([&](SplitCopyOp) { ahead = true; });
    int64_t want = ahead ? most(loop) : 1, have = want;
    while (have > 1 && used + (have - 1) * bytes > limit)
      --have;
    used += (have - 1) * bytes;
    if (have < want && !asked.getInferred())
      tellFewerStages(loop, target, have, want, bytes, blocks, staging);
    loop->setAttr(TileDialect::kPipelineAttrName,
                  PipelineAttr::get(l.getContext(), have, asked.getInferred()));
  }
  return success();
}

SmallVector<ViewDemand> tilec::tile::wideDemands(LaunchOp launch, const LaunchFeatures &features,
                                                 llvm::function_ref<bool(Operation *)> needsMap,
                                                 bool stores) {
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
  for (const CopyFeature &c : features.copies)
    add(CopyOp(c.op).getSource(), needsMap(c.op));
  for (SplitCopyOp split : features.splits)
    add(split.getSource(), false);
  for (LoadOp load : features.viewLoads)
    add(load.getSource(), needsMap(load));
  if (stores)
    for (StoreOp store : features.viewStores)
      add(store.getDest(), needsMap(store));
  launch.walk([&](GenericOp generic) {
    for (Value in : generic.getIns())
      if (isa<ViewType>(in.getType()))
        add(in, false);
  });
  return list;
}

void tilec::tile::usePlainUnits(const GemmFeature &g, const TargetDesc &target) {
  GemmOp gemm = g.op;
  gemm.setInstAttr(
      InstAttr::get(gemm.getContext(), InstKind::fma, {1, 1, 1}, /*swapped=*/false, g.aInRegisters, 1));
  gemm.emitRemark() << "[R0402] this " << g.m << " x " << g.n << " x " << g.k << " product of "
                    << dtypeOf(g.a) << " and " << dtypeOf(g.b) << " runs on the plain arithmetic units of "
                    << target.name;
}
