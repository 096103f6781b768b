//===- LayoutTablesTest.cpp - the tables against the documents' formulas -----===//

#include "LayoutTestUtil.h"

#include <functional>

using namespace llvm;
using namespace tilec;

using Formula = std::function<std::pair<int64_t, int64_t>(int64_t r, int64_t l, int64_t w)>;

static void expectFormula(const Layout &f, const Formula &want, StringRef what) {
  FragTable t(f);
  for (int64_t r = 0; r < t.R; ++r)
    for (int64_t l = 0; l < t.L; ++l)
      for (int64_t w = 0; w < t.W; ++w)
        ASSERT_EQ(std::make_pair(t.at(0, r, l, w), t.at(1, r, l, w)), want(r, l, w))
            << what.str() << " r" << r << " l" << l << " w" << w << ": " << f.str();
}

//===----------------------------------------------------------------------===//
// NVIDIA: PTX ISA's formulas, groupID = l / 4, threadID_in_group = l % 4
//===----------------------------------------------------------------------===//

TEST(LayoutTables, Wgmma) {
  for (int64_t n : {8, 24, 64, 80, 96, 144, 192, 208, 256}) {
    Layout d = wgmmaD(n);
    expectFormula(
        d,
        [](int64_t r, int64_t l, int64_t w) {
          return std::make_pair(16 * w + l / 4 + 8 * (r / 2 % 2), 8 * (r / 4) + l % 4 * 2 + r % 2);
        },
        "wgmma D");
    EXPECT_TRUE(d.isBijective());
    EXPECT_EQ(matrixAtom(MatrixKind::WGMMA, 16, 64, n, 16)->d, d);
  }
  expectFormula(
      *wgmmaA(16),
      [](int64_t r, int64_t l, int64_t w) {
        return std::make_pair(16 * w + l / 4 + 8 * (r / 2 % 2), l % 4 * 2 + r % 2 + 8 * (r / 4));
      },
      "wgmma A 16");
  expectFormula(
      *wgmmaA(32),
      [](int64_t r, int64_t l, int64_t w) {
        return std::make_pair(16 * w + l / 4 + 8 * (r % 2), l % 4 + 4 * (r / 2));
      },
      "wgmma A tf32");
  expectFormula(
      *wgmmaA(8),
      [](int64_t r, int64_t l, int64_t w) {
        return std::make_pair(16 * w + l / 4 + 8 * (r / 4 % 2), l % 4 * 4 + r % 4 + 16 * (r / 8));
      },
      "wgmma A 8");
  EXPECT_TRUE(wgmmaHasN(40, false));
  EXPECT_FALSE(wgmmaHasN(40, true));
  EXPECT_TRUE(wgmmaHasN(24, true));
  EXPECT_FALSE(wgmmaHasN(264, false));
}

TEST(LayoutTables, MmaSync) {
  struct Row {
    unsigned bits;
    int m, n, k;
    Formula a, b;
  };
  using P = std::pair<int64_t, int64_t>;
  const Row rows[] = {
      {16, 16, 8, 8, [](int64_t i, int64_t l, int64_t) { return P(l / 4 + 8 * (i >= 2), l % 4 * 2 + i % 2); },
       [](int64_t i, int64_t l, int64_t) { return P(l % 4 * 2 + i, l / 4); }},
      {16, 16, 8, 16,
       [](int64_t i, int64_t l, int64_t) {
         return P(l / 4 + 8 * !(i < 2 || (4 <= i && i < 6)), l % 4 * 2 + i % 2 + 8 * (i >= 4));
       },
       [](int64_t i, int64_t l, int64_t) { return P(l % 4 * 2 + i % 2 + 8 * (i >= 2), l / 4); }},
      {32, 16, 8, 4, [](int64_t i, int64_t l, int64_t) { return P(l / 4 + 8 * i, l % 4); },
       [](int64_t, int64_t l, int64_t) { return P(l % 4, l / 4); }},
      {32, 16, 8, 8,
       [](int64_t i, int64_t l, int64_t) { return P(l / 4 + 8 * (i % 2), l % 4 + 4 * (i >= 2)); },
       [](int64_t i, int64_t l, int64_t) { return P(l % 4 + 4 * i, l / 4); }},
      {8, 16, 8, 16, [](int64_t i, int64_t l, int64_t) { return P(l / 4 + 8 * (i >= 4), l % 4 * 4 + i % 4); },
       [](int64_t i, int64_t l, int64_t) { return P(l % 4 * 4 + i, l / 4); }},
      {8, 16, 8, 32,
       [](int64_t i, int64_t l, int64_t) {
         return P(l / 4 + 8 * !(i < 4 || (8 <= i && i < 12)), l % 4 * 4 + i % 4 + 16 * (i >= 8));
       },
       [](int64_t i, int64_t l, int64_t) { return P(l % 4 * 4 + i % 4 + 16 * (i >= 4), l / 4); }},
      {4, 16, 8, 64,
       [](int64_t i, int64_t l, int64_t) {
         return P(l / 4 + 8 * !(i < 8 || (16 <= i && i < 24)), l % 4 * 8 + i % 8 + 32 * (i >= 16));
       },
       [](int64_t i, int64_t l, int64_t) { return P(l % 4 * 8 + i % 8 + 32 * (i >= 8), l / 4); }},
      {64, 8, 8, 4, [](int64_t, int64_t l, int64_t) { return P(l / 4, l % 4); },
       [](int64_t, int64_t l, int64_t) { return P(l % 4, l / 4); }},
  };
  for (const Row &r : rows) {
    const MatrixAtom *atom = matrixAtom(MatrixKind::MMASync, r.bits, r.m, r.n, r.k);
    ASSERT_TRUE(atom);
    expectFormula(atom->a, r.a, "mma A");
    expectFormula(atom->b, r.b, "mma B");
    expectFormula(
        atom->d, [](int64_t i, int64_t l, int64_t) { return P(l / 4 + 8 * (i >= 2), l % 4 * 2 + i % 2); },
        "mma C");
    EXPECT_TRUE(atom->a.isBijective() && atom->b.isBijective() && atom->d.isBijective());
  }
  // wgmma's A is four warps of mma.sync's, its D is N/8 x 4 warps of it.
  const MatrixAtom &m = *matrixAtom(MatrixKind::MMASync, 16, 16, 8, 16);
  EXPECT_EQ(*wgmmaA(16), *m.a.times(L("warp 4:d0 -> 4x1")));
  EXPECT_EQ(wgmmaD(96), *m.d.times(L("reg 12:d1 | warp 4:d0 -> 4x12")));
  EXPECT_EQ(wgmmaD(96).over(m.d), L("reg 12:d1 | warp 4:d0 -> 4x12"));
  EXPECT_TRUE(wgmmaD(96).over(m.a)); // an accumulator is the next product's operand
  EXPECT_FALSE(wgmmaD(96).over(m.b));
  EXPECT_EQ(matrixAtom(MatrixKind::MMASync, 16, 16, 8, 32), nullptr);
}

//===----------------------------------------------------------------------===//
// AMD
//===----------------------------------------------------------------------===//

TEST(LayoutTables, Amd) {
  using P = std::pair<int64_t, int64_t>;
  for (auto [bits, mn, k] : {std::tuple(16, 16, 16),
                             {16, 32, 8},
                             {16, 16, 32},
                             {16, 32, 16},
                             {8, 16, 32},
                             {8, 32, 16},
                             {8, 16, 16},
                             {8, 32, 8},
                             {32, 16, 4},
                             {32, 32, 2}}) {
    const MatrixAtom *a = matrixAtom(MatrixKind::MFMA, bits, mn, mn, k);
    ASSERT_TRUE(a);
    int64_t per = k * mn / 64, n = mn;
    expectFormula(a->a, [&](int64_t r, int64_t l, int64_t) { return P(l % n, l / n * per + r); }, "mfma A");
    expectFormula(a->b, [&](int64_t r, int64_t l, int64_t) { return P(l / n * per + r, l % n); }, "mfma B");
    if (mn == 16)
      expectFormula(a->d, [](int64_t r, int64_t l, int64_t) { return P(l / 16 * 4 + r, l % 16); }, "mfma D");
    else
      expectFormula(
          a->d, [](int64_t r, int64_t l, int64_t) { return P(r / 4 * 8 + l / 32 * 4 + r % 4, l % 32); },
          "mfma D");
    EXPECT_TRUE(a->a.isBijective() && a->b.isBijective() && a->d.isBijective());
  }
  expectFormula(
      mfmaScaledAtom().a,
      [](int64_t r, int64_t l, int64_t) { return P(l % 16, r / 16 * 64 + l / 16 * 16 + r % 16); },
      "scaled A");
  expectFormula(
      wmmaAtom(false).d, [](int64_t r, int64_t l, int64_t) { return P(2 * r + l / 16, l % 16); }, "gfx11 D");
  expectFormula(
      wmmaAtom(true).d, [](int64_t r, int64_t l, int64_t) { return P(8 * (l / 16) + r, l % 16); }, "gfx12 D");
  expectFormula(
      wmmaAtom(true).a, [](int64_t r, int64_t l, int64_t) { return P(l % 16, 8 * (l / 16) + r); }, "gfx12 A");
  EXPECT_EQ(wmmaAtom(false).a.replication().size(), 1u);
  EXPECT_TRUE(wmmaAtom(false).a.isSurjective());
  EXPECT_TRUE(wmmaAtom(true).b.isBijective());
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static int64_t covered(const Layout &l) {
  std::vector<std::vector<int64_t>> t;
  std::vector<DimId> order{Reg, Lane, Warp, Group};
  int64_t size = 1;
  for (const Layout::Out &o : l.outs()) {
    t.push_back(l.table(o.id, order));
    size *= o.size;
  }
  std::vector<bool> hit(size);
  for (size_t i = 0; i < t[0].size(); ++i) {
    int64_t x = 0;
    bool inside = true;
    for (size_t o = 0; o < t.size(); ++o) {
      inside &= t[o][i] < l.outs()[o].size;
      x = x * l.outs()[o].size + t[o][i];
    }
    if (inside)
      hit[x] = true;
  }
  return std::count(hit.begin(), hit.end(), true);
}

TEST(LayoutTables, MatrixTiles) {
  EXPECT_EQ(wgmmaAccumulator(128, 256, {2, 1}),
            L("reg 2:d1 2:8d0 32:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 | group 2:64d0 -> 128x256"));
  EXPECT_EQ(wgmmaAccumulator(192, 80, {3, 1}),
            L("reg 2:d1 2:8d0 10:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 | group 3:64d0 -> 192x80"));
  EXPECT_EQ(wgmmaAccumulator(64, 96, {1, 3}),
            L("reg 2:d1 2:8d0 4:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 | group 3:32d1 -> 64x96"));
  EXPECT_EQ(wgmmaAccumulator(256, 128, {2, 1}),
            L("reg 2:d1 2:8d0 16:8d1 2:64d0 | lane 4:2d1 8:d0 | warp 4:16d0 | group 2:128d0 -> 256x128"));
  EXPECT_TRUE(wgmmaAccumulator(192, 120, {3, 1}).isBijective());
  EXPECT_EQ(covered(wgmmaAccumulator(100, 229, {2, 1})), 100 * 229);
  const MatrixAtom &m = *matrixAtom(MatrixKind::MMASync, 16, 16, 8, 16);
  EXPECT_EQ(accumulatorTile(m, 128, 128, {2, 2}),
            L("reg 2:d1 2:8d0 8:8d1 4:16d0 | lane 4:2d1 8:d0 | warp 2:64d1 2:64d0 -> 128x128"));
  EXPECT_EQ(operandATile(m, 128, 32, {2, 2}),
            L("reg 2:d1 2:8d0 2:8d1 2:16d1 4:16d0 | lane 4:2d1 8:d0 | warp 2:0 2:64d0 -> 128x32"));
  EXPECT_EQ(operandBTile(m, 32, 128, {2, 2}),
            L("reg 2:d0 2:8d0 2:16d0 8:8d1 | lane 4:2d0 8:d1 | warp 2:64d1 2:0 -> 32x128"));
  const MatrixAtom &f = *matrixAtom(MatrixKind::MFMA, 16, 32, 32, 8);
  Layout acc = accumulatorTile(f, 128, 128, {2, 2});
  EXPECT_EQ(acc, L("reg 4:d0 4:8d0 2:32d1 2:32d0 | lane 32:d1 2:4d0 | warp 2:64d1 2:64d0 -> 128x128"));
  EXPECT_TRUE(acc.over(f.d));
  EXPECT_TRUE(operandATile(f, 128, 32, {2, 2}).over(f.a));
  EXPECT_TRUE(operandBTile(f, 32, 128, {2, 2}).over(f.b));
  EXPECT_EQ(covered(accumulatorTile(m, 50, 70, {1, 3})), 50 * 70);
  // Chained products: an accumulator's registers are the next product's operand A.
  EXPECT_EQ(accumulatorTile(m, 64, 64, {4, 1}), operandATile(m, 64, 64, {4, 1}));
  const MatrixAtom &w = *matrixAtom(MatrixKind::WGMMA, 16, 64, 128, 16);
  EXPECT_EQ(wgmmaAccumulator(128, 128, {2, 1}), operandATile(w, 128, 128, {2, 1}, Group));
  for (int64_t n = 16; n <= 256; n += 16) // the heart of attention, for every key tile
    EXPECT_EQ(wgmmaD(n), operandATile(w, 64, n, {1, 1}, Group));
}

TEST(LayoutTables, ElementwiseTiles) {
  std::vector<std::vector<int64_t>> shapes{{1},        {7},       {229},     {4096},
                                           {64, 229},  {1, 1024}, {3, 5, 7}, {2, 64, 96},
                                           {128, 576}, {1, 1},    {8192, 1}, {2, 3, 4, 5}};
  for (auto &shape : shapes)
    for (ThreadShape t : {ThreadShape{32, 1, 1},
                          {32, 3, 1},
                          {32, 4, 1},
                          {32, 4, 2},
                          {32, 4, 3},
                          {64, 4, 1},
                          {1, 1, 1},
                          {32, 5, 1}})
      for (unsigned es : {1u, 2u, 4u, 8u}) {
        int64_t size = 1;
        for (int64_t n : shape)
          size *= n;
        for (unsigned vectorBytes : {16u, es}) {
          Layout l = defaultTile(shape, es, t, vectorBytes);
          ASSERT_EQ(SmallVector<int64_t>(shape.begin(), shape.end()), SmallVector<int64_t>(l.shape()))
              << l.str();
          ASSERT_EQ(covered(l), size) << l.str();
          ASSERT_LE(l.inSize(Lane), t.lanes);
          ASSERT_LE(l.inSize(Warp), t.warps) << l.str();
          ASSERT_LE(l.inSize(Group), t.groups) << l.str();
        }
        for (unsigned axis = 0; axis < shape.size(); ++axis) {
          Layout r = reductionTile(shape, axis, es, t);
          ASSERT_EQ(covered(r), size) << r.str();
          ASSERT_LE(r.inSize(Lane), t.lanes);
          ASSERT_LE(r.inSize(Warp), t.warps);
          ASSERT_LE(r.inSize(Group), t.groups);
          ASSERT_TRUE(succeeded(planReduction(r, axis, es))) << r.str();
        }
      }
  EXPECT_EQ(defaultTile({128, 576}, 2, {32, 4, 1}),
            L("reg 8:d1 9:64d1 8:16d0 | lane 8:8d1 4:d0 | warp 4:4d0 -> 128x576"));
  // All threads of a block have something to do in one long row.
  EXPECT_EQ(defaultTile({4096}, 2, {32, 4, 1}), L("reg 8:d0 4:1024d0 | lane 32:8d0 | warp 4:256d0 -> 4096"));
  // Memory that gives single elements: neighbours belong to neighbouring lanes.
  EXPECT_EQ(defaultTile({4096}, 2, {32, 4, 1}, 2), L("reg 32:128d0 | lane 32:d0 | warp 4:32d0 -> 4096"));
  EXPECT_EQ(reductionTile({4, 256}, 1, 2, {32, 4, 1}, 2), L("reg 8:32d1 | lane 32:d1 | warp 4:d0 -> 4x256"));
  // A row is reduced by one warp when there are rows for all.
  EXPECT_TRUE(planReduction(reductionTile({64, 512}, 1, 4, {32, 4, 1}), 1, 4)->warps.empty());
  EXPECT_EQ(planReduction(reductionTile({128, 256}, 0, 4, {32, 2, 1}), 0, 4)->shuffles, 0);
}

//===----------------------------------------------------------------------===//
// Shared memory and panels
//===----------------------------------------------------------------------===//

TEST(LayoutTables, HopperShared) {
  // PTX ISA's canonical layouts, in bytes: the address of (i, j) before the swizzle, then bits 4.. xor
  // bits 7...
  for (unsigned es : {1u, 2u, 4u})
    for (auto [sw, bits] : {std::pair(128, 3), {64, 2}, {32, 1}, {16, 0}})
      for (int64_t rows : {8, 24, 64, 136})
        for (int64_t blocks : {1, 2, 3, 5}) {
          int64_t inner = sw / es, cols = inner * blocks;
          FailureOr<Layout> s = hopperShared(rows, cols, es, sw);
          ASSERT_TRUE(succeeded(s));
          std::vector<int64_t> t = s->table(Off, {D0, D1});
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < cols; ++j) {
              int64_t x = ((j / inner * rows + i) * inner + j % inner) * es;
              ASSERT_EQ(t[i * cols + j] * es, x ^ ((x >> 7 & ((1 << bits) - 1)) << 4)) << s->str();
            }
        }
  EXPECT_EQ(*hopperShared(96, 64, 2, 128), L("d0 8:64^8 12:512 | d1 64:1 -> 6144^64"));
  std::string why;
  EXPECT_TRUE(failed(hopperShared(64, 80, 2, 128, D0, D1, &why)));
  EXPECT_EQ(why, "80 columns are no multiple of the 64-element swizzle row: pad, or use a narrower swizzle");
  EXPECT_TRUE(failed(hopperShared(12, 64, 2, 128, D0, D1, &why)));
  EXPECT_EQ(widestSwizzle(64, 80, 2), 32u);
  EXPECT_EQ(widestSwizzle(64, 256, 2), 128u);
  EXPECT_EQ(widestSwizzle(64, 96, 2), 64u);
  EXPECT_EQ(widestSwizzle(64, 24, 2), 0u);
  Layout ring = withSlots(*hopperShared(128, 64, 2, 128), 3);
  EXPECT_EQ(ring.at(Off, {{Slot, 2}, {D0, 5}, {D1, 9}}),
            2 * 8192 + hopperShared(128, 64, 2, 128)->at(Off, {{D0, 5}, {D1, 9}}));
  EXPECT_EQ(withSlots(Layout::strided({{D0, 10}, {D1, 10}}, {12, 1}), 2, 64).at(Off, {{Slot, 1}}), 128);
}

TEST(LayoutTables, CpuPanels) {
  for (auto [KC, BN, NR] :
       {std::tuple<int64_t, int64_t, int64_t>(256, 256, 32), {16, 192, 24}, {10, 96, 16}, {8, 100, 24}}) {
    int64_t N = (BN + NR - 1) / NR * NR;
    std::vector<int64_t> t = cpuB(KC, BN, NR).table(Off, {D0, D1});
    ASSERT_EQ(static_cast<int64_t>(t.size()), KC * N);
    for (int64_t k = 0; k < KC; ++k)
      for (int64_t j = 0; j < N; ++j)
        ASSERT_EQ(t[k * N + j], (j / NR * KC + k) * NR + j % NR);
    EXPECT_TRUE(cpuB(KC, BN, NR).isInjective());
    t = cpuBPairs(KC, BN, NR).table(Off, {D0, D1});
    for (int64_t k = 0; k < KC; ++k)
      for (int64_t j = 0; j < N; ++j)
        ASSERT_EQ(t[k * N + j], j / NR * KC * NR + k / 2 * 2 * NR + j % NR * 2 + k % 2);
  }
  Layout c = cpuC(128, 192, 6, 16); // 128 rows are 21 microtiles and two rows
  ASSERT_EQ(c.inSize(D0), 132);
  std::vector<int64_t> t = c.table(Off, {D0, D1});
  for (int64_t i = 0; i < 132; ++i)
    for (int64_t j = 0; j < 192; ++j)
      ASSERT_EQ(t[i * 192 + j], ((j / 16 * 22 + i / 6) * 6 + i % 6) * 16 + j % 16);
  Layout acc = cpuAccumulator(128, 192, 8, 32);
  EXPECT_EQ(acc.inverse()->rename({{Reg, Off}}), cpuC(128, 192, 8, 32));
  EXPECT_EQ(cpuAccumulator(128, 192, 6, 16).cover(D0), 132);
  EXPECT_EQ(contiguity(cpuB(16, 192, 24), D1), 8);
  EXPECT_EQ(contiguity(cpuB(16, 256, 32), D1), 32);
  EXPECT_EQ(contiguity(cpuA(128, 256), D1), 16);
  EXPECT_EQ(threadTile({4, 6}), L("reg 2:d1 3:2d1 4:d0 -> 4x6"));
}
