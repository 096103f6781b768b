//===- BufferLayouts.cpp - where the elements of shared buffers lie ----------===//
#include "BufferLayouts.h"
#include "Divisibility.h"
#include "LaunchFeatures.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"
#include "tilec/Support/LayoutDecisions.h"
#include <numeric>

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

/// TMA stores whole 16-byte pieces of rows; its box has the shape of the tile.
int64_t tilec::tile::stagedBytes(StoreOp store) {
  auto view = dyn_cast<ViewType>(store.getDest().getType());
  if (!view || view.getRank() > 5 || view.getElementType() != store.getValue().getType().getElementType())
    return 0;
  ArrayRef<int64_t> shape = store.getValue().getType().getShape();
  SmallVector<int64_t> real = dropOnes(shape);
  int64_t bits = view.getElementType().getIntOrFloatBitWidth();
  bool fits = bits >= 8 && bits <= 32 && real.size() == 2 && real[1] * bits % 256 == 0 && real[0] % 8 == 0 &&
              shape.back() == real[1];
  return fits ? real[0] * real[1] * bits / 8 : 0;
}

/// Does each warp group hold a part of the tile of its own, in one piece? The engine takes what a group has
/// stored when that group is done.
static bool groupsOwnParts(const Layout &tile, int64_t groups) {
  int64_t parts = 1;
  for (unsigned axis = 0; axis < tile.rank(); ++axis) {
    int at = tile.outIndex(coord(axis));
    int64_t part = tile.outSize(coord(axis));
    for (const Layout::Run &run : tile.runs(DimId::Group))
      if (at >= 0 && run.v[at])
        part = std::min(part, run.v[at]);
    parts *= tile.outSize(coord(axis)) / part;
  }
  return groups == 1 || (tile.hasIn(DimId::Group) && parts == groups);
}

/// The layout of a part of a tile: as many elements along `axis`, in the threads that hold them in the whole.
/// None where the axis is not registers all the way down to such a part.
static std::optional<Layout> partLayout(const Layout &whole, unsigned axis, int64_t extent) {
  LayoutBuilder b;
  int at = whole.outIndex(coord(axis));
  for (const Layout::Out &out : whole.outs())
    b.out(out.id, out.id == coord(axis) ? extent : out.size, out.zone);
  for (const Layout::In &in : whole.ins())
    for (const Layout::Run &digit : whole.runs(in.id)) {
      int64_t stride = digit.v[at], count = digit.n;
      if (stride && stride * count > extent) {
        bool only = llvm::all_of(llvm::enumerate(digit.v),
                                 [&](auto v) { return !v.value() || int(v.index()) == at; });
        if (in.id != DimId::Reg || !only || extent % stride)
          return std::nullopt;
        count = extent / stride;
      }
      SmallVector<DimValue> moves;
      for (auto [out, step] : llvm::zip(whole.outs(), digit.v))
        if (step)
          moves.push_back({out.id, step});
      b.digit(in.id, std::max<int64_t>(count, 1), moves);
    }
  FailureOr<Layout> part = b.build();
  return succeeded(part) && part->isSurjective() ? std::optional<Layout>(*part) : std::nullopt;
}

/// The axis along which a tile can be stored in parts, and the layout of a part.
static std::optional<std::pair<unsigned, Layout>> partOf(TileType tile, int64_t passes) {
  for (unsigned axis : {1, 0})
    if (passes > 1 && tile.getRank() == 2 && tile.getShape()[axis] % passes == 0)
      if (auto part = partLayout(tile.getLayout().getLayout(), axis, tile.getShape()[axis] / passes))
        return std::pair(axis, *part);
  return std::nullopt;
}

SmallVector<int64_t> tilec::tile::viewExtents(std::optional<ArrayRef<int64_t>> extents, TileType tile,
                                              size_t rank) {
  SmallVector<int64_t> all(extents.value_or(tile.getShape()));
  all.insert(all.begin(), rank - all.size(), 1);
  return all;
}

/// The axis of a view on which an axis of a tile of two larger extents lies.
static unsigned viewAxis(ArrayRef<int64_t> extents, unsigned axis) {
  for (unsigned i = 0, seen = 0; i < extents.size(); ++i)
    if (extents[i] != 1 && seen++ == axis)
      return i;
  return extents.size() - 2 + axis;
}

/// In parts, one after the other: through one staging buffer, which the parts share, or straight to the view.
static void storeInParts(StoreOp store, int64_t passes, bool staged) {
  OpBuilder b(store);
  Location loc = store.getLoc();
  TileType tile = store.getValue().getType();
  SmallVector<int64_t> shape(tile.getShape()), at(shape.size(), 0);
  std::optional<std::pair<unsigned, Layout>> part = partOf(tile, passes);
  SmallVector<int64_t> extents = viewExtents(store.getExtents(), tile, store.getOffsets().size());
  unsigned axis = 0; // of the view, where the tile is cut
  if (part) {
    shape[part->first] /= passes;
    axis = viewAxis(extents, part->first);
    extents[axis] = shape[part->first];
  } else if (passes > 1 || !staged) {
    return; // no room for all of it at once: it leaves as it stands in registers
  }
  Value stage;
  if (staged)
    stage = AllocOp::create(
        b, loc, BufferType::get(b.getContext(), shape, tile.getElementType(), LayoutAttr()), IntegerAttr());
  for (int64_t pass = 0; pass < passes; ++pass) {
    Value value = store.getValue();
    SmallVector<Value> offsets(store.getOffsets());
    if (part) {
      at[part->first] = pass * shape[part->first];
      auto partType = TileType::get(b.getContext(), shape, tile.getElementType(),
                                    LayoutAttr::get(b.getContext(), part->second));
      value = SliceOp::create(b, loc, partType, value, at);
      Value &offset = offsets[axis];
      offset = arith::AddIOp::create(b, loc, offset, arith::ConstantIndexOp::create(b, loc, at[part->first]));
    }
    if (!staged) {
      StoreOp::create(b, loc, value, store.getDest(), offsets, b.getDenseI64ArrayAttr(extents),
                      store.getInboundsAttr());
      continue;
    }
    StoreOp::create(b, loc, value, stage, ValueRange{}, DenseI64ArrayAttr(), DenseBoolArrayAttr());
    CopyOp::create(b, loc, stage, ValueRange{}, store.getDest(), offsets, b.getDenseI64ArrayAttr(extents),
                   UnitAttr(), Im2colAttr(), EngineAttr::get(b.getContext(), Engine::tma));
  }
  store.erase();
}

void tilec::tile::stageStores(LaunchOp launch) {
  ScheduleAttr schedule = launch.getScheduleAttr();
  if (!schedule.getStaging() && schedule.getPasses() == 1)
    return;
  Divisibility known(launch->getParentOfType<KernelOp>());
  int64_t groups = 1;
  for (RoleAttr role : schedule.getRoles())
    if (role.getKind() == RoleKind::compute)
      groups = std::max<int64_t>(1, role.getWarps() / 4);
  SmallVector<StoreOp> stores;
  launch.walk([&](StoreOp store) {
    if (isa<ViewType>(store.getDest().getType()) && !store->getParentOfType<GenericOp>())
      stores.push_back(store);
  });
  for (StoreOp store : stores)
    if (!schedule.getStaging())
      storeInParts(store, schedule.getPasses(), /*staged=*/false);
    else if (stagedBytes(store) &&
             groupsOwnParts(store.getValue().getType().getLayout().getLayout(), groups) &&
             known.startsBox(store.getDest(), store.getOffsets()))
      storeInParts(store, schedule.getPasses(), /*staged=*/true);
}

namespace {

/// Everything that touches one buffer, through its aliases.
struct BufferUse {
  Value buffer; ///< the alloc's
  SmallVector<Operation *> users;
  bool reshaped = false;  ///< recast_buffer, subbuffer
  bool words = false;     ///< rows of whole words: as they come
  bool canonical = false; ///< TMA or wgmma: a Hopper layout is prescribed
  bool wgmma = false;     ///< rows as they are, which TMA can fill, will not do
  /// Fragments of mfma hold neighbours along k: where k is the slow axis of all products, memory turns.
  bool kSlow = false, kFast = false;
  bool turned() const { return kSlow && !kFast; }
  /// Products on the plain units read float32 along m and n: where k is the fast axis of all, memory turns.
  OperandAxes plain = {};
};

class BufferAssigner {
public:
  BufferAssigner(LaunchOp launch, const ThreadLayouts &layouts) : launch(launch), layouts(layouts) {}
  void run();

private:
  BufferUse collect(AllocOp alloc);
  void follow(Value buffer, BufferUse &use);
  Layout choose(const BufferUse &use);
  void addAccesses(const BufferUse &use, Operation *user, SmallVectorImpl<SharedAccess> &accesses);
  void retype(Value buffer, const Layout &l);

  LaunchOp launch;
  const ThreadLayouts &layouts;
};

} // namespace

void BufferAssigner::follow(Value buffer, BufferUse &use) {
  for (Operation *user : buffer.getUsers()) {
    use.users.push_back(user);
    // A part may begin anywhere: only in plain memory is its address a sum of offset and place.
    if (isa<SubbufferOp, RecastBufferOp>(user)) {
      use.reshaped = true;
      follow(user->getResult(0), use);
    }
    if (auto copy = dyn_cast<CopyOp>(user)) {
      use.canonical |= copy.getEngine() == Engine::tma;
      use.words |= copy.getEngine() == Engine::words;
    }
    if (auto gemm = dyn_cast<GemmOp>(user)) {
      InstKind kind = gemm.getInstAttr().getKind();
      use.wgmma |= kind == InstKind::wgmma;
      use.canonical |= use.wgmma;
      if (kind != InstKind::mfma)
        continue;
      if (gemm.getA() == buffer)
        (gemm.getTransA() ? use.kSlow : use.kFast) = true;
      if (gemm.getB() == buffer)
        (gemm.getTransB() ? use.kFast : use.kSlow) = true;
    }
  }
}

BufferUse BufferAssigner::collect(AllocOp alloc) {
  BufferUse use{alloc.getBuffer(), {}};
  follow(use.buffer, use);
  if (layouts.targetDesc().family == Family::NVIDIA)
    use.plain = plainOperandAxes(use.buffer);
  return use;
}

static Layout rowMajorOf(ArrayRef<int64_t> shape) {
  SmallVector<DimValue> dims;
  for (auto [axis, extent] : llvm::enumerate(shape))
    dims.push_back({coord(axis), extent});
  return Layout::rowMajor(dims);
}

/// Fragments of rank-2 buffers that the accesses move; ones are dropped.
void BufferAssigner::addAccesses(const BufferUse &use, Operation *user,
                                 SmallVectorImpl<SharedAccess> &accesses) {
  auto plain = [&](Type tileType) {
    auto tile = dyn_cast<TileType>(tileType);
    if (!tile || !tile.getLayout() || tile.getRank() != cast<BufferType>(use.buffer.getType()).getRank())
      return;
    accesses.push_back({tile.getLayout().getLayout(), SharedAccess::Plain});
  };
  if (auto load = dyn_cast<LoadOp>(user)) {
    plain(load.getResult().getType());
  } else if (auto store = dyn_cast<StoreOp>(user)) {
    plain(store.getValue().getType());
  } else if (auto gemm = dyn_cast<GemmOp>(user)) {
    InstKind kind = gemm.getInstAttr().getKind();
    if (kind != InstKind::mma_sync && kind != InstKind::mfma)
      return;
    for (unsigned which : {0u, 1u}) {
      Value operand = which == 0 ? gemm.getA() : gemm.getB();
      if (!isa<BufferType>(operand.getType()) || rootBuffer(operand) != use.buffer)
        continue;
      bool kFast = which == 0 ? !gemm.getTransA() : gemm.getTransB();
      // ldmatrix turns 16-bit elements only.
      bool turns = getElementTypeOf(operand.getType()).getIntOrFloatBitWidth() == 16;
      if (kind == InstKind::mfma || (!kFast && !turns)) {
        plain(TileType::get(gemm.getContext(), getShapeOf(operand.getType()),
                            getElementTypeOf(operand.getType()),
                            LayoutAttr::get(gemm.getContext(), layouts.operand(gemm, which))));
        continue;
      }
      // A's fragment lies along k, B's along k too: rows of memory when k is the fast axis, .trans otherwise.
      accesses.push_back(
          {layouts.operand(gemm, which), kFast ? SharedAccess::LdMatrix : SharedAccess::LdMatrixTrans});
    }
  }
}

/// Columns of a staging buffer that one warp group stores, and then hands to the copy engine: a box of the
/// engine may not reach into those of another group. All `columns` where groups do not share rows.
static int64_t columnsOfGroup(const BufferUse &use, int64_t columns) {
  for (Operation *user : use.users)
    if (auto store = dyn_cast<StoreOp>(user)) {
      TileType tile = store.getValue().getType();
      const Layout &f = tile.getLayout().getLayout();
      int last = f.outIndex(coord(tile.getRank() - 1));
      auto runs = f.runs(DimId::Group);
      for (const Layout::Run &run : runs)
        if (last >= 0 && run.v[last])
          columns = std::min(columns, run.v[last]);
    }
  return columns;
}

/// Columns of a wgmma operand whose rows run across k that one instruction reads: it may begin at any row of
/// boxes, but not inside of one. All `columns` for other buffers.
static int64_t columnsOfInstruction(const BufferUse &use, int64_t columns) {
  for (Operation *user : use.users)
    if (auto gemm = dyn_cast<GemmOp>(user); gemm && gemm.getInstAttr().getKind() == InstKind::wgmma)
      for (bool isA : {true, false}) {
        Value operand = isA ? gemm.getA() : gemm.getB();
        bool alongK = isA ? !gemm.getTransA() : gemm.getTransB();
        if (!isa<BufferType>(operand.getType()) || rootBuffer(operand) != use.buffer || alongK)
          continue;
        bool isFirst = isA != gemm.getInstAttr().getSwapped();
        columns = std::gcd(columns, gemm.getInstAttr().getShape()[isFirst ? 0 : 1]);
      }
  return columns;
}

/// k as the slow axis of a buffer whose fast axis it is. Blocks of four along d0 trade places within 32 by
/// the step of k modulo 8: neighbours along k then lie in different banks when a copy writes them, and a line
/// along d0 still consists of whole vectors.
static Layout kOutermost(int64_t extent, int64_t depth) {
  bool mixes = extent % 32 == 0 && depth % 8 == 0;
  LayoutBuilder b;
  b.out(DimId::Offset, extent * depth, mixes ? 5 : 0);
  for (int64_t bit = 1; mixes && bit < 32; bit *= 2)
    b.digit(DimId::D0, 2, {{DimId::Offset, bit}});
  b.digit(DimId::D0, mixes ? extent / 32 : extent, {{DimId::Offset, mixes ? 32 : 1}});
  for (int64_t bit = 1; mixes && bit < 8; bit *= 2)
    b.digit(DimId::D1, 2, {{DimId::Offset, bit * (extent + 4)}});
  b.digit(DimId::D1, mixes ? depth / 8 : depth, {{DimId::Offset, mixes ? 8 * extent : extent}});
  return b.known();
}

/// Boxes of the copy engine side by side, their rows as they are. Its swizzles repeat every 8 rows, by
/// address: slots of fewer rows would each have another.
static std::optional<Layout> plainBoxes(int64_t rows, int64_t columns, unsigned bytes) {
  for (int64_t width : {256, 128, 64, 32, 16, 8})
    if (columns % width == 0 && width * bytes % 16 == 0)
      return LayoutBuilder()
          .out(DimId::Offset, rows * columns)
          .digit(DimId::D0, rows, {{DimId::Offset, width}})
          .digit(DimId::D1, width, {{DimId::Offset, 1}})
          .digit(DimId::D1, columns / width, {{DimId::Offset, rows * width}})
          .known();
  return std::nullopt;
}

Layout BufferAssigner::choose(const BufferUse &use) {
  auto type = cast<BufferType>(use.buffer.getType());
  ArrayRef<int64_t> shape = type.getShape();
  SmallVector<int64_t> real = dropOnes(shape);
  unsigned bytes = storageBytes(type.getElementType());
  // Parts that matrix operands can be lie like the whole.
  int64_t parts = use.reshaped && use.wgmma ? columnsOfParts(use.buffer) : 0;
  if (use.words || (use.reshaped && !parts) || real.size() != 2)
    return rowMajorOf(shape);
  bool threadsRead = (use.plain.kSlow || use.plain.kFast) && !use.wgmma;
  if (threadsRead && !use.plain.kSlow && real.size() == shape.size())
    return kOutermost(real[0], real[1]);
  if (threadsRead && use.canonical)
    return rowMajorOf(shape);
  if (use.canonical) {
    int64_t columns = std::gcd(columnsOfGroup(use, real[1]), columnsOfInstruction(use, real[1]));
    unsigned swizzle = widestSwizzle(real[0], std::gcd(columns, parts), bytes);
    if (!use.wgmma && real[0] % 8)
      if (std::optional<Layout> boxes = plainBoxes(real[0], real[1], bytes))
        return restoreOnes(*boxes, shape);
    // Rows of n (or m) elements, an odd multiple of 8, split into core matrices only.
    if (use.wgmma && !swizzle && real[1] * bytes % 16 == 0)
      swizzle = 16;
    if (auto l = hopperShared(real[0], real[1], bytes, swizzle); succeeded(l))
      return restoreOnes(*l, shape);
    return rowMajorOf(shape);
  }
  if (real.size() != shape.size())
    return rowMajorOf(shape);
  SmallVector<SharedAccess> accesses;
  for (Operation *user : use.users)
    addAccesses(use, user, accesses);
  // Whole rows arrive as 16-byte pieces from global memory.
  bool copied = llvm::any_of(use.users, [](Operation *user) { return isa<CopyOp>(user); });
  if (copied) {
    std::optional<Layout> turned =
        use.turned() ? layouts.forTransposition(shape, bytes, /*store=*/true) : std::nullopt;
    accesses.push_back({turned ? *turned : layouts.forAccess(shape, bytes), SharedAccess::Plain});
  }
  BankModel model = bankModelOf(layouts.targetDesc());
  if (use.turned()) {
    for (SharedAccess &a : accesses)
      a.map = a.map.transpose();
    auto best = chooseShared(shape[1], shape[0], bytes, accesses, model);
    return (best ? best->layout : rowMajorOf({shape[1], shape[0]})).transpose();
  }
  if (accesses.size() > 1)
    if (auto best = chooseShared(shape[0], shape[1], bytes, accesses, model))
      return best->layout;
  return rowMajorOf(shape);
}

/// Part of a buffer that is row-major or itself such a part; axes of one element may be dropped. Of one in
/// pieces of 8 swizzled rows: a part of whole pieces.
static Layout partOf(const Layout &l, ArrayRef<int64_t> shape, SubbufferOp sub) {
  ArrayRef<int64_t> extents = sub.getExtents(), kept = sub.getResult().getType().getShape();
  if (l.zone(DimId::Offset))
    if (auto rows = l.lowPart(DimId::D0, extents[0]); succeeded(rows))
      if (auto part = rows->lowPart(DimId::D1, extents[1]); succeeded(part))
        return *part;
  SmallVector<DimValue> dims;
  SmallVector<int64_t> strides;
  for (auto [axis, extent] : llvm::enumerate(extents)) {
    if (dims.size() == kept.size() || extent != kept[dims.size()])
      continue; // one element
    strides.push_back(shape[axis] > 1 ? l.at(DimId::Offset, {{coord(axis), 1}}) : 0);
    dims.push_back({coord(dims.size()), extent});
  }
  return Layout::strided(dims, strides);
}

/// The buffer and its aliases; a recast is row-major as its root is.
void BufferAssigner::retype(Value buffer, const Layout &l) {
  auto type = cast<BufferType>(buffer.getType());
  buffer.setType(type.withLayout(LayoutAttr::get(type.getContext(), l)));
  for (Operation *user : buffer.getUsers()) {
    if (auto sub = dyn_cast<SubbufferOp>(user)) {
      retype(sub.getResult(), partOf(l, type.getShape(), sub));
    } else if (auto recast = dyn_cast<RecastBufferOp>(user)) {
      retype(recast.getResult(), rowMajorOf(recast.getResult().getType().getShape()));
    }
  }
}

void BufferAssigner::run() {
  SmallVector<AllocOp> allocs;
  launch.walk([&](AllocOp alloc) { allocs.push_back(alloc); });
  for (AllocOp alloc : allocs)
    retype(alloc.getBuffer(), choose(collect(alloc)));
}

void tilec::tile::assignBuffers(LaunchOp launch, const ThreadLayouts &layouts) {
  BufferAssigner(launch, layouts).run();
}
