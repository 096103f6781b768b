//===- ThreadLayouts.cpp - layouts for the threads of one launch -------------===//
#include "ThreadLayouts.h"
#include "LaunchFeatures.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

ThreadLayouts::ThreadLayouts(LaunchOp launch, const TargetDesc &target) : target(target) {
  ScheduleAttr s = launch.getScheduleAttr();
  partition.assign(s.getPartition().begin(), s.getPartition().end());
  int64_t warps = 0;
  for (RoleAttr role : s.getRoles())
    if (role.getKind() == RoleKind::compute)
      warps += role.getWarps();
  if (warps == 0)
    warps = std::max<int64_t>(1, s.getThreads() / target.warpSize);
  threads.lanes = target.warpSize;
  threads.warps = warps;
  threads.groups = 1;
  if (target.warpsPerGroup > 1 && warps > target.warpsPerGroup && warps % target.warpsPerGroup == 0) {
    threads.warps = target.warpsPerGroup;
    threads.groups = warps / target.warpsPerGroup;
  }
}

/// Tables that know warps only are cut into warps and groups.
Layout ThreadLayouts::finish(Layout l) const {
  if (threads.groups > 1 && !l.hasIn(DimId::Group) && l.inSize(DimId::Warp) > threads.warps)
    if (auto cut = l.part(DimId::Warp, threads.warps, DimId::Warp, DimId::Group); succeeded(cut))
      return *cut;
  return l;
}

Layout ThreadLayouts::forAccess(ArrayRef<int64_t> shape, unsigned elemBytes, unsigned vectorBytes) const {
  return finish(defaultTile(shape, elemBytes, threads, vectorBytes));
}

Layout ThreadLayouts::forReduction(ArrayRef<int64_t> shape, unsigned axis, unsigned elemBytes,
                                   unsigned vectorBytes) const {
  return finish(reductionTile(shape, axis, elemBytes, threads, vectorBytes));
}

static const MatrixAtom *atomOf(InstAttr inst, Type element) {
  MatrixKind kind = inst.getKind() == InstKind::mma_sync ? MatrixKind::MMASync
                    : inst.getKind() == InstKind::mfma   ? MatrixKind::MFMA
                                                         : MatrixKind::WGMMA;
  ArrayRef<int64_t> s = inst.getShape();
  return matrixAtom(kind, element.getIntOrFloatBitWidth(), s[0], s[1], s[2]);
}

namespace {
/// Spreads registers, lanes and warps over a tile of powers of two, axis by axis.
class PowerTile {
public:
  PowerTile(int64_t rows, int64_t columns) : extent{rows, columns} {
    b.out(DimId::D0, rows).out(DimId::D1, columns);
  }
  /// `count` members of `in` along an axis, as far as it reaches; what is left over.
  int64_t along(DimId in, int64_t count, unsigned axis) {
    int64_t take = std::min(count, extent[axis] / at[axis]);
    if (take > 1)
      b.digit(in, take, {{coord(axis), at[axis]}});
    at[axis] *= std::max<int64_t>(take, 1);
    return count / std::max<int64_t>(take, 1);
  }
  /// The same, for one step of what stands in registers anyway.
  void step(DimId in, int64_t count, unsigned axis, int64_t stride) {
    if (count > 1)
      b.digit(in, count, {{coord(axis), stride}});
  }
  void skip(unsigned axis, int64_t count) { at[axis] *= count; }
  void replicate(DimId in, int64_t count) {
    if (count > 1)
      b.digit(in, count);
  }
  int64_t left(unsigned axis) const { return extent[axis] / at[axis]; }
  Layout finish() { return b.known(); }

private:
  LayoutBuilder b;
  int64_t extent[2], at[2] = {1, 1};
};
} // namespace

/// Warps, `along` of them along the rows, and what is left in registers.
static void spreadWarps(PowerTile &tile, int64_t along, int64_t warps) {
  int64_t across = warps / along * tile.along(DimId::Warp, along, 0);
  tile.replicate(DimId::Warp, tile.along(DimId::Warp, across, 1));
  tile.along(DimId::Reg, tile.left(1), 1);
  tile.along(DimId::Reg, tile.left(0), 0);
}

static bool powerOfTwo(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

std::optional<Layout> ThreadLayouts::forTransposition(ArrayRef<int64_t> shape, unsigned elemBytes,
                                                      bool store) const {
  int64_t all = threads.lanes * threads.allWarps();
  if (shape.size() != 2 || !powerOfTwo(shape[0]) || !powerOfTwo(shape[1]) || !powerOfTwo(all))
    return std::nullopt;
  int64_t wide = std::max<int64_t>(1, 16 / elemBytes), columns = std::min(wide, shape[1]),
          rows = std::min(wide, shape[0]);
  // Rather short columns than idle threads, down to one 32-bit word.
  while (rows * elemBytes > 4 && rows > 1 && shape[0] / rows * (shape[1] / columns) < all)
    rows /= 2;
  PowerTile tile(shape[0], shape[1]);
  if (store)
    tile.step(DimId::Reg, rows, 0, 1);
  tile.step(DimId::Reg, columns, 1, 1);
  if (!store)
    tile.step(DimId::Reg, rows, 0, 1);
  tile.skip(0, rows);
  tile.skip(1, columns);
  int64_t lanes = tile.along(DimId::Lane, threads.lanes, 1);
  tile.replicate(DimId::Lane, tile.along(DimId::Lane, lanes, 0));
  int64_t warps = tile.along(DimId::Warp, threads.allWarps(), 0);
  tile.replicate(DimId::Warp, tile.along(DimId::Warp, warps, 1));
  tile.along(DimId::Reg, tile.left(1), 1);
  tile.along(DimId::Reg, tile.left(0), 0);
  return finish(tile.finish());
}

/// Warps along m: as many as make a thread's tile nearly square where `rows` x `columns` are left for warps
/// and registers, since a thread reads a whole side of each operand; a column counts as `wide` rows. A side
/// of 4 x 32 with its four steps of k took 144 registers beside 128 accumulators, one of 8 x 16 takes 96.
static int64_t squareWarps(int64_t rows, int64_t columns, int64_t warps, int64_t wide) {
  int64_t best = 1, fewest = INT64_MAX;
  for (int64_t along = 1; along <= std::min(warps, rows); along *= 2) {
    if (warps / along > columns)
      continue;
    if (int64_t side = rows / along + wide * (columns / (warps / along)); side <= fewest) {
      fewest = side;
      best = along;
    }
  }
  return best;
}

/// Thread tiles of the plain units: vectors of four along n, lanes 8 along n and 4 along m, the rest in warps
/// and registers. Operand reads of a warp are then one broadcast along m and one row segment along n. Warps
/// of a launch with several products go along m, so that statistics of rows stay in one warp.
Layout ThreadLayouts::plainAccumulator(int64_t m, int64_t n, bool alone) const {
  int64_t laneN = threads.lanes / 4, warps = threads.allWarps();
  if (!powerOfTwo(m) || !powerOfTwo(n) || n < 4 * laneN || m < 4 || !powerOfTwo(warps))
    return forAccess({m, n}, 4);
  PowerTile tile(m, n);
  tile.along(DimId::Reg, 4, 1);
  tile.along(DimId::Lane, laneN, 1);
  tile.along(DimId::Lane, 4, 0);
  int64_t along = alone ? squareWarps(tile.left(0), tile.left(1), warps, 4) : warps;
  spreadWarps(tile, along, warps);
  return finish(tile.finish());
}

/// The same where both operands lie with k as their slow axis, so that vectors of four are read along m as
/// well: blocks of 4 x 4, lanes 8 along m and 4 along n.
std::optional<Layout> ThreadLayouts::blockAccumulator(int64_t m, int64_t n) const {
  int64_t warps = threads.allWarps();
  if (target.family != Family::NVIDIA || !powerOfTwo(m) || !powerOfTwo(n) || m < 32 || n < 16 ||
      !powerOfTwo(warps) || m * n < 16 * 32 * warps)
    return std::nullopt;
  PowerTile tile(m, n);
  tile.along(DimId::Reg, 4, 1);
  tile.along(DimId::Reg, 4, 0);
  tile.along(DimId::Lane, 4, 1);
  tile.along(DimId::Lane, 8, 0);
  spreadWarps(tile, squareWarps(tile.left(0), tile.left(1), warps, 1), warps);
  return finish(tile.finish());
}

/// Is it the only product of its launch?
static bool isAlone(GemmOp gemm) {
  return !gemm->getParentOfType<LaunchOp>()
              .walk([&](GemmOp other) {
                return other == gemm ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

bool tilec::tile::holdsNeighbours(InstAttr inst, Type element, bool transA, bool transB) {
  bool acrossK = inst.getSwapped() ? !transB : transA;
  return inst.getKind() == InstKind::wgmma && inst.getAReg() && element.getIntOrFloatBitWidth() == 8 &&
         acrossK;
}

static bool hasNeighbours(GemmOp gemm) {
  return holdsNeighbours(gemm.getInstAttr(), getElementTypeOf(gemm.getA().getType()), gemm.getTransA(),
                         gemm.getTransB());
}

Layout ThreadLayouts::plainLayout(GemmOp gemm, int64_t m, int64_t n) const {
  bool alone = isAlone(gemm);
  if (alone && isPlainFloat32(gemm))
    if (std::optional<Layout> blocks = blockAccumulator(m, n))
      return *blocks;
  return plainAccumulator(m, n, alone);
}

Layout ThreadLayouts::accumulator(GemmOp gemm) const {
  auto [m, n, k] = gemmExtents(gemm);
  InstAttr inst = gemm.getInstAttr();
  ArrayRef<int64_t> part = partition;
  WarpGrid grid{part.empty() ? 1 : part[0], part.size() < 2 ? 1 : part[1]};
  Layout l;
  if (inst.getKind() == InstKind::wgmma)
    l = inst.getSwapped() ? wgmmaAccumulator(n, m, grid.transposed(), hasNeighbours(gemm)).transpose()
                          : wgmmaAccumulator(m, n, grid, hasNeighbours(gemm));
  else if (inst.getSwapped())
    l = finish(
        accumulatorTile(*atomOf(inst, getElementTypeOf(gemm.getA().getType())), n, m, grid.transposed())
            .transpose());
  else if (const MatrixAtom *atom = inst.getKind() == InstKind::fma
                                        ? nullptr
                                        : atomOf(inst, getElementTypeOf(gemm.getA().getType())))
    l = finish(accumulatorTile(*atom, m, n, grid));
  else
    l = plainLayout(gemm, m, n);
  return restoreOnes(l, gemm.getAcc().getType().getShape());
}

Layout ThreadLayouts::operand(GemmOp gemm, unsigned which) const {
  auto [m, n, k] = gemmExtents(gemm);
  InstAttr inst = gemm.getInstAttr();
  ArrayRef<int64_t> part = partition;
  WarpGrid grid{part.empty() ? 1 : part[0], part.size() < 2 ? 1 : part[1]};
  Type element = getElementTypeOf(gemm.getA().getType());
  unsigned bits = element.getIntOrFloatBitWidth();
  MatrixAtom atom = inst.getKind() == InstKind::wgmma
                        ? *matrixAtom(MatrixKind::WGMMA, bits, 64, inst.getShape()[1], inst.getShape()[2])
                        : *atomOf(inst, element);
  if (hasNeighbours(gemm))
    atom.a = *wgmmaA(bits, /*neighbours=*/true);
  DimId over = inst.getKind() == InstKind::wgmma ? DimId::Group : DimId::Warp;
  Layout l;
  if (inst.getSwapped())
    l = which == 0 ? operandBTile(atom, k, m, grid.transposed(), over).transpose()
                   : operandATile(atom, n, k, grid.transposed(), over).transpose();
  else
    l = which == 0 ? operandATile(atom, m, k, grid, over) : operandBTile(atom, k, n, grid, over);
  if (inst.getKind() != InstKind::wgmma)
    l = finish(l);
  if (which == 0 ? gemm.getTransA() : gemm.getTransB())
    l = l.transpose();
  return restoreOnes(l, getShapeOf((which == 0 ? gemm.getA() : gemm.getB()).getType()));
}

std::optional<Layout> tilec::tile::operandLayout(const Layout &iteration, AffineMap map) {
  if (!map.isProjectedPermutation())
    return std::nullopt;
  Layout l = iteration;
  SmallVector<unsigned> kept; // iteration axes that are left, in their order
  for (unsigned d = 0; d < map.getNumDims(); ++d)
    if (map.isFunctionOfDim(d))
      kept.push_back(d);
  for (unsigned d = map.getNumDims(); d-- > 0;)
    if (!map.isFunctionOfDim(d))
      l = l.sliceAxis(d);
  SmallVector<unsigned> perm;
  for (AffineExpr e : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(e).getPosition();
    perm.push_back(llvm::find(kept, dim) - kept.begin());
  }
  bool ordered = llvm::is_sorted(perm);
  if (!ordered)
    l = l.permuteAxes(perm);
  return l.squeeze(DimId::Reg);
}

Layout tilec::tile::restoreOnes(Layout l, ArrayRef<int64_t> shape) {
  if (l.rank() == shape.size())
    return l;
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (extent == 1 && l.rank() < shape.size())
      l = l.insertAxis(axis);
  return l;
}
