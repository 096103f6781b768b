//===- LayoutAccessTest.cpp - ldmatrix, descriptors, TMA, banks, addresses ---===//

#include "LayoutTestUtil.h"

using namespace llvm;
using namespace tilec;

static Layout hopper(int64_t rows, int64_t cols, unsigned es, unsigned sw, DimId row = D0, DimId col = D1) {
  return *hopperShared(rows, cols, es, sw, row, col);
}
static const MatrixAtom &mma(unsigned bits, int64_t k) {
  return *matrixAtom(MatrixKind::MMASync, bits, 16, 8, k);
}
static Layout rows(int64_t m, int64_t n) { return Layout::rowMajor({{D0, m}, {D1, n}}); }

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

TEST(LayoutAccess, StMatrixRowMajorC) {
  // Row (l & 7) + 8 * ((l >> 3) & 1) + 16 w, chunk 2 q + (l >> 4), blocks of 64 columns 8192 bytes apart.
  for (int64_t N : {64, 128, 192, 256}) {
    FailureOr<MatrixAccess> q = asStMatrix(wgmmaD(N), hopper(64, N, 2, 128), 2, false);
    ASSERT_TRUE(succeeded(q));
    EXPECT_EQ(q->x, 4);
    EXPECT_EQ(q->count, N / 16);
    EXPECT_TRUE(q->waves.conflictFree());
    for (int64_t l = 0; l < 32; ++l)
      for (int64_t w = 0; w < 4; ++w)
        for (int64_t j = 0; j < N / 64; ++j)
          for (int64_t k = 0; k < 4; ++k) {
            int64_t row = (l & 7) + ((l >> 3) & 1) * 8 + w * 16;
            ASSERT_EQ(q->address.at(Off, {{Lane, l}, {Reg, 4 * j + k}, {Warp, w}}) * 2,
                      j * 8192 + row * 128 + (((k * 2 + (l >> 4)) ^ (row & 7)) << 4));
          }
  }
}

TEST(LayoutAccess, StMatrixTransposedC) {
  for (int64_t N : {16, 96, 144, 208, 256}) {
    FailureOr<MatrixAccess> q = asStMatrix(wgmmaD(N), hopper(N, 64, 2, 128, D1, D0), 2, true);
    ASSERT_TRUE(succeeded(q));
    EXPECT_EQ(q->x, 4);
    EXPECT_TRUE(q->waves.conflictFree());
    for (int64_t l = 0; l < 32; ++l)
      for (int64_t w = 0; w < 4; ++w)
        for (int64_t j = 0; j < N / 16; ++j)
          ASSERT_EQ(q->address.at(Off, {{Lane, l}, {Reg, j}, {Warp, w}}) * 2,
                    ((l & 7) + (l >> 4) * 8) * 128 + (((2 * w + ((l >> 3) & 1)) ^ (l & 7)) << 4) + 2048 * j);
  }
}

/// The definition: matrix q's row i comes from lane 8 q + i; lane l gets row l / 4, columns 2 (l % 4)..;
/// .trans swaps.
static void expectRows(const Layout &f, const Layout &s, bool trans) {
  FailureOr<MatrixAccess> q = asLdMatrix(f, s, 2, trans);
  ASSERT_TRUE(succeeded(q));
  Layout direct = *f.then(s);
  for (int64_t w = 0; w < f.inSize(Warp); ++w)
    for (int64_t i = 0; i < q->count; ++i)
      for (int64_t m = 0; m < q->x; ++m)
        for (int64_t l = 0; l < 32; ++l)
          for (int64_t h = 0; h < 2; ++h) {
            int64_t row = trans ? 2 * (l % 4) + h : l / 4, col = trans ? l / 4 : 2 * (l % 4) + h;
            ASSERT_EQ(q->address.at(Off, {{Lane, 8 * m + row}, {Reg, i}, {Warp, w}}) + col,
                      direct.at(Off, {{Reg, 2 * (i * q->x + m) + h}, {Lane, l}, {Warp, w}}));
          }
}

TEST(LayoutAccess, LdMatrixOperands) {
  const MatrixAtom &a = mma(16, 16);
  expectRows(a.a, hopper(16, 64, 2, 128), false);
  expectRows(a.b, hopper(16, 64, 2, 128), true);
  expectRows(wgmmaD(96), hopper(96, 64, 2, 128, D1, D0), true);
  expectRows(operandATile(a, 64, 64, {2, 1}), hopper(64, 64, 2, 128), false);
  expectRows(operandBTile(a, 64, 64, {1, 2}), hopper(64, 64, 2, 128), true);
  expectRows(operandBTile(a, 64, 64, {1, 2}), hopper(64, 64, 2, 128, D1, D0), false);
  EXPECT_EQ(asLdMatrix(*a.a.times(L("reg 4:d1 -> 1x4")), hopper(16, 64, 2, 128), 2, false)->x, 4);
  EXPECT_EQ(asLdMatrix(*a.b.times(L("reg 2:d1 -> 1x2")), hopper(16, 64, 2, 128, D1, D0), 2, false)->x, 4);
  EXPECT_EQ(asLdMatrix(a.b, hopper(16, 64, 2, 128), 2, true)->x, 2);
  EXPECT_EQ(asLdMatrix(mma(8, 32).a, hopper(16, 128, 1, 128), 1, false)->x, 4);
  EXPECT_EQ(asLdMatrix(wgmmaD(72), rows(64, 72), 2, false)->x, 2);
  FailureOr<MatrixAccess> three =
      asLdMatrix(*wgmmaD(96).times(L("warp 3:d0 -> 3x1")), hopper(192, 96, 2, 64), 2, false);
  EXPECT_EQ(three->x, 4);
  EXPECT_TRUE(three->waves.conflictFree());
  // Without a swizzle eight rows meet in the same banks.
  EXPECT_EQ(asLdMatrix(wgmmaD(64), rows(64, 64), 2, false)->waves.waves,
            8 * asLdMatrix(wgmmaD(64), hopper(64, 64, 2, 128), 2, false)->waves.waves);
}

TEST(LayoutAccess, LdMatrixTurnsPairsOfBytes) {
  // By the definition above, a lane's 16 bits are two columns of a row; of words 2 j and 2 j + 1 as loaded,
  // the fragment's word 2 j + c has byte c of each 16 bits.
  Layout f = *wgmmaA(8, /*neighbours=*/true), s = hopper(32, 64, 1, 64, D1, D0);
  FailureOr<MatrixAccess> q = asLdMatrix(f, s, 1, true);
  ASSERT_TRUE(succeeded(q));
  EXPECT_TRUE(q->bytePairs);
  EXPECT_EQ(q->x, 4);
  EXPECT_EQ(q->count, 1);
  Layout direct = *f.then(s);
  for (int64_t w = 0; w < 4; ++w)
    for (int64_t l = 0; l < 32; ++l)
      for (int64_t r = 0; r < 16; ++r) {
        int64_t column = r / 4 % 2, k = r % 4, matrix = r / 8 * 2 + k / 2, row = 2 * (l % 4) + k % 2;
        ASSERT_EQ(q->address.at(Off, {{Lane, 8 * matrix + row}, {Reg, 0}, {Warp, w}}) + 2 * (l / 4) + column,
                  direct.at(Off, {{Reg, r}, {Lane, l}, {Warp, w}}));
      }
}

TEST(LayoutAccess, LdMatrixReasons) {
  auto reason = [](const Layout &f, const Layout &s, unsigned es, bool trans) {
    std::string why = "accepted";
    (void)asLdMatrix(f, s, es, trans, &why);
    return why;
  };
  EXPECT_EQ(reason(wgmmaD(64), hopper(64, 64, 2, 128, D1, D0), 2, false),
            "the elements of a register are not consecutive in shared memory");
  EXPECT_EQ(reason(wgmmaD(64), Layout::strided({{D0, 64}, {D1, 64}}, {68, 1}), 2, false),
            "rows are not 16-byte aligned");
  EXPECT_EQ(reason(wgmmaD(64), rows(64, 64), 4, false), "lanes 0 to 3 do not run along a 16-byte row");
  EXPECT_EQ(reason(L("reg 2:d1 | lane 2:2d1 2:8d0 8:d0 -> 16x4"), rows(16, 8), 2, false),
            "lanes 0 to 3 do not run along a 16-byte row");
  EXPECT_EQ(reason(mma(8, 32).b, rows(32, 16), 1, true), "lanes 0, 4, 8, .. do not run along a 16-byte row");
  EXPECT_EQ(reason(mma(32, 8).b, rows(8, 8), 4, true),
            ".trans moves elements of 16 bits, or pairs of bytes, only");
  EXPECT_EQ(reason(wgmmaD(64), rows(64, 64), 8, false), "elements wider than 32 bits");
  EXPECT_EQ(reason(matrixAtom(MatrixKind::MFMA, 16, 16, 16, 16)->a, rows(16, 16), 2, false),
            "needs 32 lanes");
  std::string why;
  EXPECT_TRUE(failed(asStMatrix(mma(8, 32).a, hopper(16, 128, 1, 128), 1, false, &why)));
}

//===----------------------------------------------------------------------===//
// wgmma descriptors
//===----------------------------------------------------------------------===//

static uint64_t handDesc(uint64_t a, uint64_t lbo, uint64_t sbo, uint64_t field = 1) {
  return ((a & 0x3FFFF) >> 4) | (lbo >> 4) << 16 | (sbo >> 4) << 32 | field << 62;
}

using Steps = SmallVector<int64_t, 8>;

TEST(LayoutAccess, WgmmaKMajor) {
  WgmmaDesc d = *asWgmmaOperand(hopper(128, 64, 2, 128), 2);
  EXPECT_EQ(d.bits(0x2400), handDesc(0x2400, 16, 1024));
  EXPECT_EQ(d.kStep, (Steps{0, 32, 64, 96}));
  EXPECT_FALSE(d.mnMajor);
  EXPECT_EQ(d.align, 1024);
  for (auto [BN, HD] : {std::pair<int64_t, int64_t>(128, 64), {128, 128}, {80, 256}, {176, 128}}) {
    WgmmaDesc k = *asWgmmaOperand(hopper(BN, HD, 2, 128), 2);
    EXPECT_EQ(k.sbo, 1024);
    for (int64_t q = 0; q < HD / 16; ++q)
      EXPECT_EQ(k.kStep[q], q / 4 * BN * 128 + q % 4 * 32);
  }
  EXPECT_EQ(asWgmmaOperand(hopper(128, 128, 1, 128), 1)->kStep, (Steps{0, 32, 64, 96})); // 8-bit
  EXPECT_EQ(asWgmmaOperand(hopper(64, 32, 4, 128), 4)->kStep, (Steps{0, 32, 64, 96}));   // tf32
  EXPECT_EQ(asWgmmaOperand(hopper(96, 80, 2, 32), 2)->kStep,
            (Steps{0, 3072, 6144, 9216, 12288})); // head dim 80
  for (auto [sw, field] : {std::pair<unsigned, unsigned>(64, 2), {32, 3}}) {
    WgmmaDesc n = *asWgmmaOperand(hopper(64, sw / 2, 2, sw), 2);
    EXPECT_EQ(n.field, field);
    EXPECT_EQ(n.sbo, 8 * sw);
  }
  WgmmaDesc core = *asWgmmaOperand(coreShared(64, 64, 2), 2);
  EXPECT_EQ(std::make_tuple(core.field, core.lbo, core.sbo),
            std::make_tuple(0u, int64_t(128), int64_t(1024)));
  EXPECT_EQ(core.kStep, (Steps{0, 256, 512, 768}));
}

TEST(LayoutAccess, WgmmaMnMajor) {
  WgmmaDesc d = *asWgmmaOperand(hopper(64, 256, 2, 128, D1, D0), 2);
  EXPECT_EQ(d.bits(0x5000400), handDesc(0x400, 8192, 1024));
  EXPECT_EQ(d.kStep, (Steps{0, 2048, 4096, 6144}));
  EXPECT_TRUE(d.mnMajor);
  for (auto [BN, HD] : {std::pair<int64_t, int64_t>(128, 64), {128, 128}, {80, 256}, {176, 128}}) {
    WgmmaDesc v = *asWgmmaOperand(hopper(BN, HD, 2, 128, D1, D0), 2);
    EXPECT_EQ(v.lbo, HD > 64 ? BN * 128 : 1024);
    EXPECT_EQ(v.sbo, 1024);
    for (int64_t q = 0; q < BN / 16; ++q)
      EXPECT_EQ(v.kStep[q], 2048 * q);
  }
  // 24 columns have core matrices only: those of k lie 128 bytes apart, those of n 64 rows.
  WgmmaDesc narrow = *asWgmmaOperand(hopper(64, 24, 2, 16, D1, D0), 2);
  EXPECT_EQ(std::make_tuple(narrow.mnMajor, narrow.field, narrow.lbo, narrow.sbo, narrow.align),
            std::make_tuple(true, 0u, int64_t(128), int64_t(1024), int64_t(16)));
  EXPECT_EQ(narrow.kStep, (Steps{0, 256, 512, 768}));
}

TEST(LayoutAccess, WgmmaReasons) {
  auto reason = [](const Layout &l, unsigned es) {
    std::string why = "accepted";
    (void)asWgmmaOperand(l, es, &why);
    return why;
  };
  EXPECT_EQ(reason(hopper(64, 128, 1, 128, D1, D0), 1), "MN-major operands exist for 16-bit types only");
  EXPECT_EQ(reason(hopper(64, 64, 2, 128).pad({{Off, 4096}}), 8),
            "wgmma has operands of 8, 16 and 32 bits only");
  std::string none = "no canonical wgmma atom (8 rows of 16, 32, 64 or 128 bytes, 16-byte chunk xor row)";
  EXPECT_EQ(reason(Layout::strided({{D0, 64}, {D1, 64}}, {72, 1}), 2), none);
  EXPECT_EQ(reason(rows(64, 64), 2), none);
  EXPECT_EQ(reason(*hopper(64, 64, 2, 128).then(L("offset 64:64 64:1 -> offset=4096")), 2), none);
  EXPECT_EQ(reason(hopper(64, 24, 2, 0), 2), "64x24 is no multiple of 8x16");
  // A slot that is no multiple of the swizzle's period shifts the pattern.
  EXPECT_EQ(reason(withSlots(hopper(64, 64, 2, 128).pad({{Off, 4096 + 64}}), 2), 2),
            "slots of 8320 bytes break the alignment of 1024");
  EXPECT_EQ(reason(withSlots(hopper(64, 64, 2, 128), 3), 2), "accepted");
}

//===----------------------------------------------------------------------===//
// TMA
//===----------------------------------------------------------------------===//

TEST(LayoutAccess, TmaBoxes) {
  auto expectBoxes = [](const Layout &l, unsigned es, SmallVector<int64_t, 5> box, unsigned sw, int64_t n,
                        int64_t align) {
    std::string why;
    FailureOr<TmaBoxes> b = asTmaBoxes(l, es, {}, 16, &why);
    ASSERT_TRUE(succeeded(b)) << why;
    EXPECT_EQ(b->box, box);
    EXPECT_EQ(b->swizzle, sw);
    EXPECT_EQ(b->count, n);
    EXPECT_EQ(b->align, align);
  };
  expectBoxes(hopper(128, 64, 2, 128), 2, {128, 64}, 128, 1, 1024);
  expectBoxes(hopper(64, 256, 2, 128), 2, {64, 64}, 128, 4, 1024);
  expectBoxes(rows(96, 96), 2, {96, 96}, 0, 1, 128);
  // One row lies anywhere: no swizzle, whose pattern follows the address.
  expectBoxes(Layout::rowMajor({{D0, 64}}), 2, {64}, 0, 1, 128);
  expectBoxes(Layout::rowMajor({{D0, 512}}), 2, {256}, 0, 2, 128);
  expectBoxes(hopper(384, 64, 2, 128), 2, {192, 64}, 128, 2, 1024);
  expectBoxes(hopper(96, 192, 2, 128), 2, {96, 64}, 128, 3, 1024);
  expectBoxes(hopper(64, 576, 2, 128), 2, {64, 64}, 128, 9, 1024);
  expectBoxes(withSlots(hopper(64, 80, 2, 32), 3), 2, {64, 16}, 32, 5, 256);
  expectBoxes(Layout::rowMajor({{D0, 4}, {D1, 16}, {D2, 64}}), 2, {4, 16, 64}, 0, 1, 128);
  expectBoxes(*Layout::rowMajor({{D0, 4}, {D1, 16}, {D2, 64}}).swizzled(3, 3, 3), 2, {4, 16, 64}, 128, 1,
              1024);
}

TEST(LayoutAccess, TmaReasons) {
  auto reason = [](const Layout &l, unsigned es, ArrayRef<int64_t> strides = {}, unsigned align = 16) {
    std::string why = "accepted";
    (void)asTmaBoxes(l, es, strides, align, &why);
    return why;
  };
  EXPECT_EQ(reason(rows(8, 64), 2, {4097}), "a global stride of 8194 bytes is not a multiple of 16");
  EXPECT_EQ(reason(rows(8, 64), 2, {4096}, 8), "the global base is not 16-byte aligned");
  EXPECT_EQ(reason(rows(8, 229), 2), "an inner box of 458 bytes is not a multiple of 16");
  EXPECT_EQ(reason(Layout::strided({{D0, 64}, {D1, 64}}, {72, 1}), 2), "the layout is not a row-major box");
  EXPECT_EQ(reason(withSlots(rows(8, 24), 2), 2), "accepted"); // 384 bytes
  EXPECT_EQ(reason(withSlots(rows(3, 24), 2), 2), "slots of 144 bytes are not 128-byte aligned");
}

//===----------------------------------------------------------------------===//
// Banks
//===----------------------------------------------------------------------===//

TEST(LayoutAccess, Banks) {
  auto waves = [](int64_t stride, unsigned width, BankModel model = BankModel::SM, int lanes = 32) {
    SmallVector<int64_t, 64> a;
    for (int l = 0; l < lanes; ++l)
      a.push_back(l * stride);
    Waves w = bankWaves(a, width, model);
    return std::make_pair(w.waves, w.ideal);
  };
  using P = std::pair<int64_t, int64_t>;
  EXPECT_EQ(waves(4, 4), P(1, 1));
  EXPECT_EQ(waves(128, 4), P(32, 1));
  EXPECT_EQ(waves(0, 4), P(1, 1));
  EXPECT_EQ(waves(8, 8), P(2, 2));
  EXPECT_EQ(waves(16, 16), P(4, 4));
  EXPECT_EQ(waves(144, 16), P(4, 4));
  EXPECT_EQ(waves(128, 16), P(32, 4));
  EXPECT_EQ(waves(2, 2), P(1, 1));
  EXPECT_EQ(waves(16, 16, BankModel::GFX942Read, 64), P(8, 8));
  EXPECT_EQ(waves(16, 16, BankModel::GFX950Read, 64), P(4, 4));
  EXPECT_EQ(waves(4, 4, BankModel::GFX950Read, 64), P(1, 1));
  // Every lane belongs to exactly one group of every model: dense accesses of all widths are free of
  // conflicts.
  for (BankModel m : {BankModel::SM, BankModel::GFX942Read, BankModel::GFX942Write, BankModel::GFX950Read,
                      BankModel::GFX950Write, BankModel::GFX11})
    for (unsigned width : {4u, 8u, 16u}) {
      int lanes = m == BankModel::SM || m == BankModel::GFX11 ? 32 : 64;
      auto [w, ideal] = waves(width, width, m, lanes);
      EXPECT_EQ(w, ideal);
      for (int l = 0; l < lanes; ++l) {
        SmallVector<int64_t, 64> one(lanes, -1);
        one[l] = 0;
        EXPECT_EQ(bankWaves(one, width, m).waves, 1);
      }
    }
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

static void expectAddresses(const Layout &a, unsigned bases) {
  AddressPlan p = planAddress(a);
  EXPECT_EQ(p.bases, bases) << a.str();
  int64_t mask = (int64_t(1) << p.zone) - 1;
  for (int64_t l = 0; l < a.inSize(Lane); ++l)
    for (int64_t w = 0; w < a.inSize(Warp); ++w)
      for (int64_t r = 0; r < a.inSize(Reg); ++r) {
        int64_t thread = a.at(Off, {{Lane, l}, {Warp, w}});
        ASSERT_EQ((((thread & mask) ^ p.xors[r]) + (thread & ~mask)) + p.imms[r],
                  a.at(Off, {{Reg, r}, {Lane, l}, {Warp, w}}));
      }
}

TEST(LayoutAccess, AddressCode) {
  expectAddresses(asLdMatrix(wgmmaD(256), hopper(64, 256, 2, 128), 2, false)->address, 4);
  expectAddresses(asLdMatrix(wgmmaD(208), hopper(208, 64, 2, 128, D1, D0), 2, true)->address, 1);
  expectAddresses(asLdMatrix(wgmmaD(96), hopper(64, 96, 2, 64), 2, false)->address, 2);
  expectAddresses(asLdMatrix(wgmmaD(80), rows(64, 80), 2, false)->address, 1);
  // Zone bits that no thread moves are immediates.
  expectAddresses(L("reg 2:8^2 2:16^2 2:32^1 | lane 2:4^1 -> offset=64^4"), 2);
}
