//===- LayoutTiles.cpp - tiles made of matrix instructions or of vectors -----===//

#include "LayoutDetail.h"
#include "tilec/Support/LayoutTables.h"

#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::layout_detail;

//===----------------------------------------------------------------------===//
// Tiles of matrix instructions
//===----------------------------------------------------------------------===//

/// Repeats \p atom (an extents a0 x a1) over a tile of n0 x n1: in registers along `inner` first, then over
/// the grid, whose members along axis 1 count first; an axis of the grid that the tile does not have
/// replicates.
static Layout repeatAtom(const Layout &atom, int64_t n0, int64_t n1, unsigned inner, DimId over,
                         std::optional<int64_t> grid0, std::optional<int64_t> grid1, int64_t replicate0,
                         int64_t replicate1) {
  int64_t a0 = atom.outSize(DimId::D0), a1 = atom.outSize(DimId::D1);
  int64_t r0 = divideCeil(n0, a0 * grid0.value_or(1)), r1 = divideCeil(n1, a1 * grid1.value_or(1));
  int64_t all0 = r0 * grid0.value_or(1), all1 = r1 * grid1.value_or(1);
  LayoutBuilder b;
  b.out(DimId::D0, all0).out(DimId::D1, all1);
  if (inner == 1)
    b.digit(DimId::Reg, r1, {{DimId::D1, 1}}).digit(DimId::Reg, r0, {{DimId::D0, 1}});
  else
    b.digit(DimId::Reg, r0, {{DimId::D0, 1}}).digit(DimId::Reg, r1, {{DimId::D1, 1}});
  if (grid1)
    b.digit(over, *grid1, {{DimId::D1, r1}});
  b.digit(over, replicate1);
  if (grid0)
    b.digit(over, *grid0, {{DimId::D0, r0}});
  b.digit(over, replicate0);
  FailureOr<Layout> tile = atom.times(b.known());
  if (failed(tile))
    reportFatalInternalError("layout algebra: tile of atoms");
  return tile->pad({{DimId::D0, n0}, {DimId::D1, n1}});
}

Layout tilec::accumulatorTile(const MatrixAtom &atom, int64_t M, int64_t N, WarpGrid grid, DimId over) {
  return repeatAtom(atom.d, M, N, 1, over, grid.m, grid.n, 1, 1);
}

Layout tilec::operandATile(const MatrixAtom &atom, int64_t M, int64_t K, WarpGrid grid, DimId over) {
  return repeatAtom(atom.a, M, K, 1, over, grid.m, std::nullopt, 1, grid.n);
}

Layout tilec::operandBTile(const MatrixAtom &atom, int64_t K, int64_t N, WarpGrid grid, DimId over) {
  return repeatAtom(atom.b, K, N, 0, over, std::nullopt, grid.n, grid.m, 1);
}

Layout tilec::wgmmaAccumulator(int64_t M, int64_t N, WarpGrid groups, bool neighbours) {
  Layout d = wgmmaD(alignTo(divideCeil(N, groups.n), 8), neighbours);
  return repeatAtom(d, M, N, 1, DimId::Group, groups.m, groups.n, 1, 1);
}

//===----------------------------------------------------------------------===//
// Tiles for element-wise work
//===----------------------------------------------------------------------===//

/// A rows x cols tile: v elements of a row in registers, then lanes along it, and so on. Widths beyond the
/// extents are masked.
namespace {
struct RowShape {
  int64_t rows, cols, v;
  int64_t lanesCol, lanesRow; ///< of a warp
  int64_t warpsCol, warpsRow, warpsIdle = 1;
};
} // namespace

/// Registers run along the row first. Fails only when the warps cannot be cut into groups.
static FailureOr<Layout> rowTile(const RowShape &s, ThreadShape threads) {
  int64_t perRow = divideCeil(divideCeil(s.cols, s.v), s.lanesCol * s.warpsCol);
  int64_t perCol = divideCeil(s.rows, s.lanesRow * s.warpsRow);
  Layout l = LayoutBuilder()
                 .out(DimId::D0, s.rows)
                 .out(DimId::D1, s.cols)
                 .digit(DimId::Reg, s.v, {{DimId::D1, 1}})
                 .digit(DimId::Reg, perRow, {{DimId::D1, s.v * s.lanesCol * s.warpsCol}})
                 .digit(DimId::Reg, perCol, {{DimId::D0, s.lanesRow * s.warpsRow}})
                 .digit(DimId::Lane, s.lanesCol, {{DimId::D1, s.v}})
                 .digit(DimId::Lane, s.lanesRow, {{DimId::D0, 1}})
                 .digit(DimId::Warp, s.warpsCol, {{DimId::D1, s.v * s.lanesCol}})
                 .digit(DimId::Warp, s.warpsRow, {{DimId::D0, s.lanesRow}})
                 .digit(DimId::Warp, s.warpsIdle)
                 .known();
  if (threads.groups == 1)
    return l;
  return l.part(DimId::Warp, threads.warps, DimId::Warp, DimId::Group);
}

static int64_t vectorOf(int64_t cols, unsigned elemBytes, unsigned vectorBytes) {
  int64_t v = std::max(1u, vectorBytes / elemBytes);
  while (cols % v)
    v /= 2;
  return v;
}

static int64_t floorPow2(int64_t x) { return int64_t(1) << log2Of(x); }

/// Lanes along a row of \p chunks vectors: a power of two that divides, unless that leaves too much to the
/// registers.
static int64_t lanesAlong(int64_t chunks, int64_t lanes) {
  int64_t lc = std::min(floorPow2(lanes), chunks & -chunks);
  if (chunks / lc > 64)
    lc = std::min(lanes, floorPow2(chunks));
  return lc;
}

/// The warps go to the rows; those that the rows cannot use go along the columns, and what neither can use
/// replicates.
static Layout spreadWarps(RowShape s, ThreadShape threads, bool columnsFirst) {
  int64_t W = threads.allWarps(), chunks = divideCeil(divideCeil(s.cols, s.v), s.lanesCol);
  int64_t rows = divideCeil(s.rows, s.lanesRow);
  std::optional<Layout> best;
  int64_t bestCost = 0;
  for (int64_t idle = 1; idle <= W; ++idle) {
    if (W % idle)
      continue;
    for (int64_t wc = 1; wc <= W / idle; ++wc) {
      if ((W / idle) % wc)
        continue;
      s.warpsCol = wc;
      s.warpsRow = W / idle / wc;
      s.warpsIdle = idle;
      // What counts is the registers of a thread; then fewer masked slots, then the preferred direction.
      int64_t cost = divideCeil(chunks, wc) * divideCeil(rows, s.warpsRow);
      int64_t waste = alignTo(chunks, wc) * alignTo(rows, s.warpsRow);
      int64_t order = columnsFirst ? s.warpsRow : wc;
      int64_t key = (cost * 4096 + std::min<int64_t>(waste, 1 << 20) * 64 / (chunks * rows)) * 64 + order;
      if (best && key >= bestCost)
        continue;
      FailureOr<Layout> l = rowTile(s, threads);
      if (succeeded(l)) {
        best = *l;
        bestCost = key;
      }
    }
  }
  if (!best) // the warps in a row always cut into groups
    reportFatalInternalError("layout algebra: default tile");
  return *best;
}

/// Gives a tile of rows x cols the axes of \p shape. When the factors of the rows do not nest, the leading
/// axes become registers of a smaller tile.
static Layout splitRows(const Layout &tile, ArrayRef<int64_t> shape,
                        function_ref<Layout(ArrayRef<int64_t>)> lastTwo) {
  unsigned rank = shape.size();
  if (rank == 1)
    return tile.sliceAxis(0).squeeze();
  if (rank == 2)
    return tile;
  LayoutBuilder split;
  for (unsigned a = 0; a < rank; ++a)
    split.out(coord(a), shape[a]);
  int64_t rows = 1;
  for (unsigned a = rank - 1; a-- > 0;) {
    // Masked rows beyond the last go to the outermost axis.
    int64_t n = a ? shape[a] : divideCeil(tile.cover(DimId::D0), rows);
    split.digit(DimId::D0, n, {{coord(a), 1}});
    rows *= shape[a];
  }
  split.digit(DimId::D1, tile.cover(DimId::D1), {{coord(rank - 1), 1}});
  if (FailureOr<Layout> l = tile.then(split.known()); succeeded(l))
    return *l;
  Layout small = lastTwo(shape.take_back(2));
  LayoutBuilder lead;
  for (unsigned a = 0; a < rank; ++a)
    lead.out(coord(a), a + 2 < rank ? shape[a] : 1);
  for (unsigned a = rank - 2; a-- > 0;)
    lead.digit(DimId::Reg, shape[a], {{coord(a), 1}});
  SmallVector<std::pair<DimId, DimId>, 2> names{{DimId::D0, coord(rank - 2)}, {DimId::D1, coord(rank - 1)}};
  FailureOr<Layout> l = small.rename(names).times(lead.known());
  if (failed(l))
    reportFatalInternalError("layout algebra: tile of many axes");
  return *l;
}

static std::pair<int64_t, int64_t> rowsAndCols(ArrayRef<int64_t> shape) {
  int64_t rows = 1;
  for (int64_t n : shape.drop_back())
    rows *= n;
  return {rows, shape.back()};
}

Layout tilec::defaultTile(ArrayRef<int64_t> shape, unsigned elemBytes, ThreadShape threads,
                          unsigned vectorBytes) {
  if (threads.threads() == 1)
    return threadTile(shape);
  auto [rows, cols] = rowsAndCols(shape);
  RowShape s{rows, cols, vectorOf(cols, elemBytes, vectorBytes), 0, 0, 0, 0};
  // A narrower vector when whole threads would otherwise have nothing to do.
  while (s.v * elemBytes > 4 && s.v > 1 && rows * cols / s.v < threads.threads())
    s.v /= 2;
  s.lanesCol = lanesAlong(divideCeil(cols, s.v), threads.lanes);
  s.lanesRow = threads.lanes / s.lanesCol;
  return splitRows(spreadWarps(s, threads, false), shape, [&](ArrayRef<int64_t> last) {
    return defaultTile(last, elemBytes, threads, vectorBytes);
  });
}

Layout tilec::reductionTile(ArrayRef<int64_t> shape, unsigned axis, unsigned elemBytes, ThreadShape threads,
                            unsigned vectorBytes) {
  if (threads.threads() == 1)
    return threadTile(shape);
  if (axis + 1 != shape.size()) {
    if (shape.size() != 2)
      return defaultTile(shape, elemBytes, threads, vectorBytes);
    // Down the columns: lanes and warps beside each other along the rows, the axis in registers.
    RowShape s{shape[0], shape[1], vectorOf(shape[1], elemBytes, vectorBytes), 0, 0, 0, 0};
    while (s.v > 1 && shape[1] / s.v < threads.threads() && s.v * elemBytes > 4)
      s.v /= 2;
    s.lanesCol = std::min(floorPow2(threads.lanes), floorPow2(divideCeil(shape[1], s.v)));
    s.lanesRow = threads.lanes / s.lanesCol;
    return spreadWarps(s, threads, true);
  }
  auto [rows, cols] = rowsAndCols(shape);
  RowShape s{rows, cols, vectorOf(cols, elemBytes, vectorBytes), 0, 0, 1, threads.allWarps()};
  s.lanesCol = std::min(floorPow2(threads.lanes), floorPow2(divideCeil(cols, s.v)));
  s.lanesRow = threads.lanes / s.lanesCol;
  auto lastTwo = [&](ArrayRef<int64_t> last) {
    return reductionTile(last, 1, elemBytes, threads, vectorBytes);
  };
  // A warp to itself reduces without shared memory; long rows need more than one.
  if (rows >= threads.allWarps() * s.lanesRow || cols * int64_t(elemBytes) <= 2048)
    if (FailureOr<Layout> l = rowTile(s, threads); succeeded(l))
      return splitRows(*l, shape, lastTwo);
  return splitRows(spreadWarps(s, threads, false), shape, lastTwo);
}

Layout tilec::threadTile(ArrayRef<int64_t> shape) {
  SmallVector<DimValue, 4> dims;
  for (auto [a, n] : llvm::enumerate(shape))
    dims.push_back({coord(a), n});
  return Layout::unflatten(dims, DimId::Reg);
}
