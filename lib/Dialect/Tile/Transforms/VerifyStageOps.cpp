//===- VerifyStageOps.cpp - what each op does to shared memory -------------===//
#include "VerifyStageTrace.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::tile {
static MemoryAccess reading(LayoutAttr layout = {}) {
  MemoryAccess access;
  access.layout = layout;
  return access;
}

static MemoryAccess writing(LayoutAttr layout = {}) {
  MemoryAccess access;
  access.write = true;
  access.layout = layout;
  return access;
}

/// Extents of a region per axis of the memory; empty when ones were dropped on the way and the axes cannot be
/// matched.
static SmallVector<int64_t> regionExtents(Type memory, std::optional<ArrayRef<int64_t>> extents,
                                          ArrayRef<int64_t> tile) {
  size_t rank = getShapeOf(memory).size();
  if (extents && extents->size() == rank)
    return SmallVector<int64_t>(*extents);
  if (tile.size() == rank)
    return SmallVector<int64_t>(tile);
  return {};
}

/// Elements touched at the iteration's own index stay with the thread that runs it.
static LayoutAttr layoutAtIndex(GenericOp generic, ValueRange indices) {
  if (!generic || indices.size() != generic.getIndexArgs().size())
    return {};
  for (auto [index, argument] : llvm::zip_equal(indices, generic.getIndexArgs()))
    if (index != argument)
      return {};
  return generic.getLayoutAttr();
}

LogicalResult Tracer::stepGeneric(GenericOp generic) {
  for (auto [i, operand] : llvm::enumerate(generic.getIns()))
    if (isa<BufferType>(operand.getType())) {
      LayoutAttr layout = generic.getInMap(i).isIdentity() ? generic.getLayoutAttr() : LayoutAttr();
      if (failed(touch(generic, operand, {}, {}, reading(layout))))
        return failure();
    }
  // All iterations at once: reads first, then writes. Order inside the op is the language's promise.
  LogicalResult result = success();
  auto visit = [&](Value memory, ValueRange indices, bool write) {
    if (succeeded(result) && isa<BufferType>(memory.getType()))
      result =
          touch(generic, memory, {}, {},
                write ? writing(layoutAtIndex(generic, indices)) : reading(layoutAtIndex(generic, indices)));
  };
  generic.getBody().walk([&](ElemLoadOp op) { visit(op.getSource(), op.getIndices(), false); });
  generic.getBody().walk([&](ElemStoreOp op) { visit(op.getDest(), op.getIndices(), true); });
  generic.getBody().walk([&](ElemAtomicOp op) { visit(op.getDest(), {}, true); });
  return result;
}

static int64_t bytesCopied(BufferType type, ArrayRef<int64_t> extents) {
  int64_t elements = extents.empty() ? type.getNumElements() : 1;
  for (int64_t extent : extents)
    elements *= extent;
  return llvm::divideCeil(elements * type.getElementType().getIntOrFloatBitWidth(), 8);
}

LogicalResult Tracer::stepAsyncCopy(AsyncCopyOp copy) {
  int64_t token = ++nextToken;
  env[copy.getToken()] = token;
  if (copy.getPred() && get(copy.getPred()) == 0)
    return success();
  bool loads = isa<BufferType>(copy.getDest().getType());
  MemoryAccess access = loads ? writing() : reading();
  access.token = token;
  // cp.async is done by the threads themselves; the others by an engine that sees memory through the async
  // proxy.
  bool engine = copy.getEngine() == Engine::tma || copy.getEngine() == Engine::bulk;
  access.engine = engine ? MemoryAccess::copyEngine : MemoryAccess::threads;
  Value buffer = loads ? copy.getDest() : copy.getSource();
  ValueRange offsets = loads ? copy.getDestOffsets() : copy.getSourceOffsets();
  SmallVector<int64_t> extents = regionExtents(buffer.getType(), copy.getExtents(), {});
  auto home = homes.find(buffer);
  for (auto &[ring, open] : acquired)
    if (engine && loads && home != homes.end() && std::get<0>(home->second.key) == ring.getAsOpaquePointer())
      open.second += bytesCopied(cast<BufferType>(buffer.getType()), extents);
  return touch(copy, buffer, offsets, extents, access);
}

LogicalResult Tracer::stepAsyncGemm(AsyncGemmOp gemm) {
  int64_t token = ++nextToken;
  env[gemm.getResult()] = token;
  env[gemm.getToken()] = token;
  productsInFlight.push_back(token);
  for (Value operand : {gemm.getA(), gemm.getB()}) {
    MemoryAccess access = reading();
    access.engine = MemoryAccess::matrixEngine;
    access.token = token;
    if (failed(touch(gemm, operand, {}, {}, access)))
      return failure();
  }
  return success();
}

/// Is buffer `i` of the ring read by an engine anywhere?
static bool isReadByEngine(Value ring, unsigned i) {
  for (Operation *user : ring.getUsers())
    if (auto consume = dyn_cast<ConsumeOp>(user))
      for (Operation *reader : consume.getBuffers()[i].getUsers())
        if (isa<AsyncGemmOp, AsyncCopyOp>(reader))
          return true;
  return false;
}

LogicalResult Tracer::stepCommit(CommitOp commit) {
  std::optional<int64_t> use = get(commit.getCursor());
  SmallVector<int64_t> covered;
  for (Value token : commit.getTokens())
    if (std::optional<int64_t> id = get(token)) {
      covered.push_back(*id);
      llvm::append_range(covered, groups.lookup(*id));
    }
  size_t buffers = commit.getRing().getType().getBuffers().size();
  for (unsigned i = 0; use && i < buffers; ++i) {
    Key key{commit.getRing().getAsOpaquePointer(), i, *use};
    for (const MemoryAccess &access : memory[key]) {
      if (access.token && access.write && !llvm::is_contained(covered, access.token))
        return hazard(commit, "slot committed without the token of a copy into it", access.op);
      if (access.write && access.engine == MemoryAccess::threads && !access.token && !access.fenced &&
          isReadByEngine(commit.getRing(), i))
        return hazard(commit, "no fence between the stores and the copy engine's read", access.op);
    }
    memory.erase(key);
  }
  auto open = acquired.find(commit.getRing());
  if (open != acquired.end()) {
    auto [acquire, bytes] = open->second;
    acquired.erase(open);
    if (acquire.getTxBytes() && bytes && static_cast<int64_t>(*acquire.getTxBytes()) != bytes)
      return acquire.emitError() << "expects " << *acquire.getTxBytes()
                                 << " bytes, the copies into the slot bring " << bytes;
  }
  return record(RingEvent::commit, commit, commit.getRing(), commit.getCursor());
}

LogicalResult Tracer::stepRelease(ReleaseOp release) {
  std::optional<int64_t> use = get(release.getCursor());
  size_t buffers = release.getRing().getType().getBuffers().size();
  for (unsigned i = 0; use && i < buffers; ++i) {
    Key key{release.getRing().getAsOpaquePointer(), i, *use};
    for (const MemoryAccess &access : memory[key])
      if (access.token)
        return hazard(release,
                      access.engine == MemoryAccess::matrixEngine
                          ? "slot released while a product still reads it"
                          : "slot released while a copy still works on it",
                      access.op);
    memory.erase(key);
  }
  return record(RingEvent::release, release, release.getRing(), release.getCursor());
}

LogicalResult Tracer::stepAsync(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<AsyncCopyOp>([&](auto copy) { return stepAsyncCopy(copy); })
      .Case<AsyncGemmOp>([&](auto gemm) { return stepAsyncGemm(gemm); })
      .Case<CommitOp>([&](auto commit) { return stepCommit(commit); })
      .Case<ReleaseOp>([&](auto release) { return stepRelease(release); })
      .Case<AcquireOp>([&](AcquireOp acquire) {
        if (std::optional<int64_t> use = get(acquire.getCursor()))
          placeSlot(acquire, acquire.getRing(), acquire.getBuffers(), *use);
        acquired[acquire.getRing()] = {acquire, 0};
        return record(RingEvent::acquire, acquire, acquire.getRing(), acquire.getCursor());
      })
      .Case<ConsumeOp>([&](ConsumeOp consume) {
        if (std::optional<int64_t> use = get(consume.getCursor()))
          placeSlot(consume, consume.getRing(), consume.getBuffers(), *use);
        return record(RingEvent::consume, consume, consume.getRing(), consume.getCursor());
      })
      .Case<SlotAtOp>([&](SlotAtOp slot) {
        if (std::optional<int64_t> use = get(slot.getCursor())) {
          int64_t depth = slot.getRing().getType().getDepth();
          placeSlot(slot, slot.getRing(), slot.getBuffers(), ((*use % depth) + depth) % depth);
        }
        return success();
      })
      .Case<InFlightOp>([&](InFlightOp start) {
        env[start.getFuture()] = 0;
        return success();
      })
      .Case<JoinOp>([&](JoinOp join) {
        int64_t token = ++nextToken;
        for (Value member : join.getTokens())
          if (std::optional<int64_t> id = get(member))
            groups[token].push_back(*id);
        env[join.getToken()] = token;
        return success();
      })
      .Case<WaitOp>([&](WaitOp wait) {
        for (Value token : wait.getTokens())
          if (std::optional<int64_t> id = get(token); id && *id)
            finish(*id);
        return success();
      })
      .Case<AwaitOp>([&](AwaitOp await) {
        if (std::optional<int64_t> id = get(await.getFuture()); id && *id)
          finish(*id);
        return success();
      })
      .Case<BarrierOp>([&](BarrierOp op) {
        barrier(op.getScope());
        return success();
      })
      .Case<FenceOp>([&](FenceOp op) {
        if (op.getKind() == Fence::async_proxy)
          fence();
        return success();
      })
      .Default([](Operation *) { return success(); });
}

LogicalResult Tracer::stepMemory(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<AllocOp>([&](AllocOp alloc) {
        placeSlot(alloc, alloc.getBuffer(), alloc.getBuffer(), 0);
        return success();
      })
      .Case<SubbufferOp>([&](SubbufferOp subbuffer) {
        placeSubbuffer(subbuffer);
        return success();
      })
      .Case<RecastBufferOp>([&](RecastBufferOp recast) {
        auto it = homes.find(recast.getSource());
        if (it != homes.end()) {
          Home home = it->second;
          home.whole = false;
          homes[recast.getResult()] = home;
        }
        return success();
      })
      .Case<LoadOp>([&](LoadOp load) {
        TileType tile = load.getResult().getType();
        return touch(load, load.getSource(), load.getOffsets(),
                     regionExtents(load.getSource().getType(), load.getExtents(), tile.getShape()),
                     reading(tile.getLayout()));
      })
      .Case<RealignOp>([&](RealignOp realign) { return touchWhole(realign, realign.getWords(), false); })
      .Case<StoreOp>([&](StoreOp store) {
        TileType tile = store.getValue().getType();
        return touch(store, store.getDest(), store.getOffsets(),
                     regionExtents(store.getDest().getType(), store.getExtents(), tile.getShape()),
                     writing(tile.getLayout()));
      })
      .Case<AtomicOp>([&](AtomicOp atomic) { return touchWhole(atomic, atomic.getDest(), true); })
      .Case<CopyOp>([&](CopyOp copy) {
        auto region = [&](Value memory) { return regionExtents(memory.getType(), copy.getExtents(), {}); };
        if (failed(
                touch(copy, copy.getSource(), copy.getSourceOffsets(), region(copy.getSource()), reading())))
          return failure();
        return touch(copy, copy.getDest(), copy.getDestOffsets(), region(copy.getDest()), writing());
      })
      .Case<SplitCopyOp>([&](SplitCopyOp split) {
        if (failed(touchWhole(split, split.getSource(), false)))
          return failure();
        for (Value plane : split.getPlanes())
          if (failed(touchWhole(split, plane, true)))
            return failure();
        return success();
      })
      .Case<GemmOp>([&](GemmOp gemm) {
        return failed(touchWhole(gemm, gemm.getA(), false)) ? failure()
                                                            : touchWhole(gemm, gemm.getB(), false);
      })
      .Case<GenericOp>([&](GenericOp generic) { return stepGeneric(generic); })
      .Case<ElemLoadOp>([&](ElemLoadOp load) { return touchWhole(load, load.getSource(), false); })
      .Case<ElemStoreOp>([&](ElemStoreOp store) { return touchWhole(store, store.getDest(), true); })
      .Case<ElemAtomicOp>([&](ElemAtomicOp atomic) { return touchWhole(atomic, atomic.getDest(), true); })
      .Default([&](Operation *other) { return stepAsync(other); });
}
} // namespace tilec::tile
