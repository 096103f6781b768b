//===- LayoutCopy.cpp - maps of register copies, and address code -----------===//

#include "LayoutDetail.h"
#include "tilec/Support/LayoutDecisions.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::layout_detail;

namespace {

/// One way to put the threads of a block over a tile.
struct CopyShape {
  int64_t lanesCol, lanesRow; ///< lanes along a row, rows of lanes
  int64_t warpsCol, warpsRow; ///< the same for warps
  int64_t rowsPerWarp;        ///< rows a warp takes before the next warp starts (in units of lanesRow)
  bool rowsFirst;             ///< warps along the rows count first
};

class CopyPlanner {
public:
  CopyPlanner(int64_t rows, int64_t cols, unsigned elemBytes, const Layout &s, ThreadShape threads,
              GlobalTile global, BankModel model)
      : rows(rows), cols(cols), elemBytes(elemBytes), s(s), threads(threads), model(model),
        pitch(global.pitch ? global.pitch : cols) {
    unsigned wide = globalVector(cols, elemBytes, pitch, global.baseAlign);
    v = std::max<int64_t>(1, std::min<int64_t>(wide, contiguity(s, DimId::D1) * elemBytes) / elemBytes);
    chunks = divideCeil(cols, v);
  }
  CopyPlan run();

private:
  void consider(const CopyShape &c);
  Layout mapOf(const CopyShape &c) const;
  /// Rows and columns that the map covers.
  int64_t coverRows(const CopyShape &c) const {
    int64_t unit = c.lanesRow * c.rowsPerWarp * c.warpsRow;
    return alignTo(rows, unit);
  }
  int64_t coverCols(const CopyShape &c) const { return alignTo(chunks, c.lanesCol) * v; }
  void globalTraffic(const CopyShape &c, int64_t &sectors, int64_t &lines, int64_t &active) const;

  int64_t rows, cols;
  unsigned elemBytes;
  const Layout &s;
  ThreadShape threads;
  BankModel model;
  int64_t pitch, v, chunks;
  double bestScore = 0;
  std::optional<CopyPlan> best;
};

} // namespace

Layout CopyPlanner::mapOf(const CopyShape &c) const {
  int64_t colBlocks = divideCeil(chunks, c.lanesCol), unit = c.lanesRow * c.rowsPerWarp * c.warpsRow;
  LayoutBuilder b;
  b.out(DimId::D0, rows).out(DimId::D1, cols);
  b.digit(DimId::Reg, v, {{DimId::D1, 1}});
  b.digit(DimId::Reg, colBlocks / c.warpsCol, {{DimId::D1, v * c.lanesCol * c.warpsCol}});
  b.digit(DimId::Reg, c.rowsPerWarp, {{DimId::D0, c.lanesRow}});
  b.digit(DimId::Reg, divideCeil(rows, unit), {{DimId::D0, unit}});
  b.digit(DimId::Lane, c.lanesCol, {{DimId::D1, v}}).digit(DimId::Lane, c.lanesRow, {{DimId::D0, 1}});
  if (c.rowsFirst)
    b.digit(DimId::Warp, c.warpsRow, {{DimId::D0, c.lanesRow * c.rowsPerWarp}});
  b.digit(DimId::Warp, c.warpsCol, {{DimId::D1, v * c.lanesCol}});
  if (!c.rowsFirst)
    b.digit(DimId::Warp, c.warpsRow, {{DimId::D0, c.lanesRow * c.rowsPerWarp}});
  return b.known();
}

/// Sectors and lines of one warp access; masked lanes fetch nothing.
void CopyPlanner::globalTraffic(const CopyShape &c, int64_t &sectors, int64_t &lines, int64_t &active) const {
  SmallVector<int64_t, 128> sec, line;
  active = 0;
  for (int64_t l = 0; l < c.lanesCol * c.lanesRow; ++l) {
    if (l % c.lanesCol * v >= cols)
      continue;
    ++active;
    int64_t at = (l / c.lanesCol * pitch + l % c.lanesCol * v) * elemBytes;
    for (int64_t x = 0; x < v * elemBytes; x += 32)
      sec.push_back((at + x) / 32);
    line.push_back(at / 128);
  }
  auto distinct = [](SmallVectorImpl<int64_t> &x) -> int64_t {
    llvm::sort(x);
    return std::unique(x.begin(), x.end()) - x.begin();
  };
  sectors = distinct(sec);
  lines = distinct(line);
}

void CopyPlanner::consider(const CopyShape &c) {
  int64_t pr = coverRows(c), pc = coverCols(c), sectors, lines, active;
  globalTraffic(c, sectors, lines, active);
  double used = double(c.lanesCol * c.lanesRow) / threads.lanes * rows / pr * cols / pc;
  double score = (double(sectors) * 32 / (double(active) * v * elemBytes) + 0.02 * lines) / used;
  if (best && score >= bestScore - 1e-9)
    return;
  FailureOr<Layout> wide = s.widen({{DimId::D0, pr}, {DimId::D1, pc}});
  if (failed(wide))
    return;
  Layout map = mapOf(c);
  FailureOr<Waves> w = accessWaves(map, *wide, elemBytes, v, model);
  if (failed(w))
    return;
  score += (double(w->waves) / w->ideal - 1) / used;
  if (best && score >= bestScore - 1e-9)
    return;
  if (threads.groups > 1) {
    FailureOr<Layout> cut = map.part(DimId::Warp, threads.warps, DimId::Warp, DimId::Group);
    if (failed(cut))
      return;
    map = *cut;
  }
  bestScore = score;
  best = CopyPlan{static_cast<unsigned>(v * elemBytes),   map, used, sectors, lines, *w, pr > rows, pc > cols,
                  threads.lanes - c.lanesCol * c.lanesRow};
}

CopyPlan CopyPlanner::run() {
  int64_t lanes = threads.lanes, W = threads.allWarps();
  for (int64_t lc = 1; lc <= lanes; ++lc) {
    if (chunks % lc && !isPow2(lc))
      continue;
    int64_t blocks = divideCeil(chunks, lc);
    for (int64_t wc = 1; wc <= W; ++wc) {
      if (W % wc || blocks % wc)
        continue;
      // An odd number of warps must not sit inside the swizzle's row period: let each take a few rows first.
      for (int64_t perWarp : {1, 2, 4, 8})
        for (bool rowsFirst : {false, true})
          if (!rowsFirst || threads.groups > 1)
            consider({lc, lanes / lc, wc, W / wc, perWarp, rowsFirst});
    }
  }
  if (best)
    return *best;
  // No candidate reaches this memory as a layout: one element at a time, addresses from the coordinates.
  CopyPlan p;
  p.bytes = elemBytes;
  p.map = defaultTile({rows, cols}, 16, threads);
  p.maskRows = p.map.cover(DimId::D0) > rows;
  p.maskCols = p.map.cover(DimId::D1) > cols;
  return p;
}

CopyPlan tilec::planCopy(int64_t rows, int64_t cols, unsigned elemBytes, const Layout &s, ThreadShape threads,
                         GlobalTile global, BankModel model) {
  return CopyPlanner(rows, cols, elemBytes, s, threads, global, model).run();
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

AddressPlan tilec::planAddress(const Layout &a, DimId unrolled, DimId out) {
  AddressPlan p;
  p.zone = a.zone(out);
  int o = a.outIndex(out);
  // Zone bits that no thread moves are immediates; the others must be xored into the thread's part.
  int64_t byThread = 0;
  for (const Layout::In &in : a.ins())
    if (in.id != unrolled)
      for (const Layout::Digit &d : in.digits)
        byThread |= o < 0 ? 0 : d.v[o] & lowMask(p.zone);
  SmallVector<int64_t, 8> distinct;
  for (auto [low, high] : a.contributions(unrolled, out)) {
    p.xors.push_back(low & byThread);
    p.imms.push_back(high + (low & ~byThread));
    if (!llvm::is_contained(distinct, p.xors.back()))
      distinct.push_back(p.xors.back());
  }
  p.bases = distinct.size();
  return p;
}
