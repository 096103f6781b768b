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

Layout ThreadLayouts::forAccess(ArrayRef<int64_t> shape, unsigned elemBytes) const {
  return finish(defaultTile(shape, elemBytes, threads));
}

Layout ThreadLayouts::forReduction(ArrayRef<int64_t> shape, unsigned axis, unsigned elemBytes) const {
  return finish(reductionTile(shape, axis, elemBytes, threads));
}

static const MatrixAtom *atomOf(InstAttr inst, Type element) {
  MatrixKind kind = inst.getKind() == InstKind::mma_sync ? MatrixKind::MMASync
                    : inst.getKind() == InstKind::mfma   ? MatrixKind::MFMA
                                                         : MatrixKind::WGMMA;
  ArrayRef<int64_t> s = inst.getShape();
  return matrixAtom(kind, element.getIntOrFloatBitWidth(), s[0], s[1], s[2]);
}

/// Thread tiles of the plain units: vectors of four along n, lanes 8 along n and 4 along m, warps along m,
/// the rest in registers. Operand reads of a warp are then one broadcast along m and one row segment along n.
Layout ThreadLayouts::plainAccumulator(int64_t m, int64_t n) const {
  auto powerOfTwo = [](int64_t x) { return (x & (x - 1)) == 0; };
  int64_t laneN = threads.lanes / 4, warps = threads.allWarps();
  if (!powerOfTwo(m) || !powerOfTwo(n) || n < 4 * laneN || m < 4 || !powerOfTwo(warps))
    return forAccess({m, n}, 4);
  LayoutBuilder b;
  b.out(DimId::D0, m).out(DimId::D1, n);
  int64_t row = 1, column = 1;
  auto along = [&](DimId in, int64_t count, bool columns) {
    int64_t &at = columns ? column : row;
    int64_t take = std::min(count, (columns ? n : m) / at);
    if (take > 1)
      b.digit(in, take, {{columns ? DimId::D1 : DimId::D0, at}});
    at *= std::max<int64_t>(take, 1);
    return count / std::max<int64_t>(take, 1);
  };
  along(DimId::Reg, 4, true);
  along(DimId::Lane, laneN, true);
  along(DimId::Lane, 4, false);
  int64_t left = along(DimId::Warp, warps, false);
  left = along(DimId::Warp, left, true);
  if (left > 1)
    b.digit(DimId::Warp, left);
  along(DimId::Reg, n / column, true);
  along(DimId::Reg, m / row, false);
  return finish(b.known());
}

Layout ThreadLayouts::accumulator(GemmOp gemm) const {
  auto [m, n, k] = gemmExtents(gemm);
  InstAttr inst = gemm.getInstAttr();
  ArrayRef<int64_t> part = partition;
  WarpGrid grid{part.empty() ? 1 : part[0], part.size() < 2 ? 1 : part[1]};
  Layout l;
  if (inst.getKind() == InstKind::wgmma)
    l = wgmmaAccumulator(m, n, grid);
  else if (const MatrixAtom *atom = inst.getKind() == InstKind::fma
                                        ? nullptr
                                        : atomOf(inst, getElementTypeOf(gemm.getA().getType())))
    l = finish(accumulatorTile(*atom, m, n, grid));
  else
    l = plainAccumulator(m, n);
  return restoreOnes(l, gemm.getAcc().getType().getShape());
}

Layout ThreadLayouts::operand(GemmOp gemm, unsigned which) const {
  auto [m, n, k] = gemmExtents(gemm);
  InstAttr inst = gemm.getInstAttr();
  ArrayRef<int64_t> part = partition;
  WarpGrid grid{part.empty() ? 1 : part[0], part.size() < 2 ? 1 : part[1]};
  Type element = getElementTypeOf(gemm.getA().getType());
  const MatrixAtom *atom = inst.getKind() == InstKind::wgmma
                               ? matrixAtom(MatrixKind::WGMMA, element.getIntOrFloatBitWidth(), 64,
                                            inst.getShape()[1], inst.getShape()[2])
                               : atomOf(inst, element);
  DimId over = inst.getKind() == InstKind::wgmma ? DimId::Group : DimId::Warp;
  Layout l = which == 0 ? operandATile(*atom, m, k, grid, over) : operandBTile(*atom, k, n, grid, over);
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
