//===- LayoutTables.cpp - fragments of matrix instructions, as text ----------===//
//
// Sources: PTX ISA, "Matrix Fragments for mma.m16n8kX", "Register Fragments for
// wgmma", "ldmatrix"; AMD's CDNA3 and RDNA3/4 ISA documents (the order of k in an
// operand shows only where scales or mixed loads are used). The tests compare the
// rows with the documents' formulas, element by element.
//
//===----------------------------------------------------------------------===//

#include "tilec/Support/LayoutTables.h"
#include "LayoutDetail.h"

#include <memory>

using namespace llvm;
using namespace tilec;
using namespace tilec::layout_detail;

//===----------------------------------------------------------------------===//
// NVIDIA
//===----------------------------------------------------------------------===//

Layout tilec::wgmmaD(int64_t n, bool neighbours) {
  return LayoutBuilder()
      .out(DimId::D0, 64)
      .out(DimId::D1, n)
      .digit(DimId::Reg, 2, {{DimId::D1, 1}})
      .digit(DimId::Reg, 2, {{DimId::D0, neighbours ? 1 : 8}})
      .digit(DimId::Reg, n / 8, {{DimId::D1, 8}})
      .digit(DimId::Lane, 4, {{DimId::D1, 2}})
      .digit(DimId::Lane, 8, {{DimId::D0, neighbours ? 2 : 1}})
      .digit(DimId::Warp, 4, {{DimId::D0, 16}})
      .known();
}

const Layout *tilec::wgmmaA(unsigned bits, bool neighbours) {
  static const Layout a16 = Layout::known("reg 2:d1 2:8d0 2:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 -> 64x16");
  static const Layout a32 = Layout::known("reg 2:8d0 2:4d1 | lane 4:d1 8:d0 | warp 4:16d0 -> 64x8");
  static const Layout a8 = Layout::known("reg 4:d1 2:8d0 2:16d1 | lane 4:4d1 8:d0 | warp 4:16d0 -> 64x32");
  static const Layout pairs8 =
      Layout::known("reg 4:d1 2:d0 2:16d1 | lane 4:4d1 8:2d0 | warp 4:16d0 -> 64x32");
  if (neighbours)
    return bits == 8 ? &pairs8 : nullptr;
  return bits == 16 ? &a16 : bits == 32 ? &a32 : bits == 8 ? &a8 : nullptr;
}

bool tilec::wgmmaHasN(int64_t n, bool integer) {
  if (n < 8 || n > 256 || n % 8)
    return false;
  return !integer || n <= 24 || n % 16 == 0;
}

const Layout &tilec::ldMatrixAtom(bool trans) {
  static const Layout plain = Layout::known("reg 2:d1 | lane 4:2d1 8:d0 -> 8x8");
  static const Layout transposed = Layout::known("reg 2:d0 | lane 4:2d0 8:d1 -> 8x8");
  return trans ? transposed : plain;
}

namespace {

struct TextAtom {
  MatrixKind kind;
  unsigned bits;
  int m, n, k;
  const char *a, *b, *d;
};

struct AtomEntry {
  MatrixKind kind;
  unsigned bits;
  MatrixAtom atom;
};

} // namespace

static constexpr const char *kMmaD = "reg 2:d1 2:8d0 | lane 4:2d1 8:d0 -> 16x8";

// mma.sync: lane l is "groupID" l / 4 and "threadID_in_group" l % 4.
static constexpr TextAtom kMmaSync[] = {
    {MatrixKind::MMASync, 16, 16, 8, 8, "reg 2:d1 2:8d0 | lane 4:2d1 8:d0 -> 16x8",
     "reg 2:d0 | lane 4:2d0 8:d1 -> 8x8", kMmaD},
    {MatrixKind::MMASync, 16, 16, 8, 16, "reg 2:d1 2:8d0 2:8d1 | lane 4:2d1 8:d0 -> 16x16",
     "reg 2:d0 2:8d0 | lane 4:2d0 8:d1 -> 16x8", kMmaD},
    {MatrixKind::MMASync, 32, 16, 8, 4, "reg 2:8d0 | lane 4:d1 8:d0 -> 16x4", "lane 4:d0 8:d1 -> 4x8", kMmaD},
    {MatrixKind::MMASync, 32, 16, 8, 8, "reg 2:8d0 2:4d1 | lane 4:d1 8:d0 -> 16x8",
     "reg 2:4d0 | lane 4:d0 8:d1 -> 8x8", kMmaD},
    {MatrixKind::MMASync, 8, 16, 8, 16, "reg 4:d1 2:8d0 | lane 4:4d1 8:d0 -> 16x16",
     "reg 4:d0 | lane 4:4d0 8:d1 -> 16x8", kMmaD},
    {MatrixKind::MMASync, 8, 16, 8, 32, "reg 4:d1 2:8d0 2:16d1 | lane 4:4d1 8:d0 -> 16x32",
     "reg 4:d0 2:16d0 | lane 4:4d0 8:d1 -> 32x8", kMmaD},
    {MatrixKind::MMASync, 4, 16, 8, 64, "reg 8:d1 2:8d0 2:32d1 | lane 4:8d1 8:d0 -> 16x64",
     "reg 8:d0 2:32d0 | lane 4:8d0 8:d1 -> 64x8", kMmaD},
    {MatrixKind::MMASync, 64, 8, 8, 4, "lane 4:d1 8:d0 -> 8x4", "lane 4:d0 8:d1 -> 4x8",
     "reg 2:d1 | lane 4:2d1 8:d0 -> 8x8"},
};

//===----------------------------------------------------------------------===//
// AMD
//===----------------------------------------------------------------------===//

/// One operand of an MFMA on mn x mn tiles: every lane holds perLane consecutive k, lanes of one group run
/// along m or n.
static Layout mfmaOperand(DimId mnDim, DimId kDim, int64_t mn, int64_t perLane) {
  int64_t groups = 64 / mn;
  return LayoutBuilder()
      .out(mnDim, mn)
      .out(kDim, perLane * groups)
      .digit(DimId::Reg, perLane, {{kDim, 1}})
      .digit(DimId::Lane, mn, {{mnDim, 1}})
      .digit(DimId::Lane, groups, {{kDim, perLane}})
      .known();
}

static const char *mfmaD(int64_t mn) {
  return mn == 16 ? "reg 4:d0 | lane 16:d1 4:4d0 -> 16x16" : "reg 4:d0 4:8d0 | lane 32:d1 2:4d0 -> 32x32";
}

// Operand bits, extent of m and n, k: the shapes of gfx908 to gfx950 (which chip has which is the target
// table's matter).
static constexpr struct {
  unsigned bits;
  int mn, k;
} kMfma[] = {{16, 16, 16}, {16, 32, 8}, {16, 16, 32}, {16, 32, 16}, {8, 16, 32},
             {8, 32, 16},  {8, 16, 16}, {8, 32, 8},   {32, 16, 4},  {32, 32, 2}};

const MatrixAtom &tilec::mfmaScaledAtom() {
  static const MatrixAtom atom{Layout::known("reg 16:d1 2:64d1 | lane 16:d0 4:16d1 -> 16x128"),
                               Layout::known("reg 16:d0 2:64d0 | lane 16:d1 4:16d0 -> 128x16"),
                               Layout::known(mfmaD(16)),
                               16,
                               16,
                               128};
  return atom;
}

const MatrixAtom &tilec::wmmaAtom(bool gfx12) {
  static const MatrixAtom eleven{Layout::known("reg 16:d1 | lane 16:d0 2:0 -> 16x16"),
                                 Layout::known("reg 16:d0 | lane 16:d1 2:0 -> 16x16"),
                                 Layout::known("reg 8:2d0 | lane 16:d1 2:d0 -> 16x16"),
                                 16,
                                 16,
                                 16};
  static const MatrixAtom twelve{Layout::known("reg 8:d1 | lane 16:d0 2:8d1 -> 16x16"),
                                 Layout::known("reg 8:d0 | lane 16:d1 2:8d0 -> 16x16"),
                                 Layout::known("reg 8:d0 | lane 16:d1 2:8d0 -> 16x16"),
                                 16,
                                 16,
                                 16};
  return gfx12 ? twelve : eleven;
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

static std::vector<AtomEntry> makeAtoms() {
  std::vector<AtomEntry> r;
  for (const TextAtom &t : kMmaSync)
    r.push_back(
        {t.kind, t.bits, {Layout::known(t.a), Layout::known(t.b), Layout::known(t.d), t.m, t.n, t.k}});
  for (auto [bits, mn, k] : kMfma) {
    int64_t perLane = int64_t(k) * mn / 64;
    r.push_back({MatrixKind::MFMA,
                 bits,
                 {mfmaOperand(DimId::D0, DimId::D1, mn, perLane),
                  mfmaOperand(DimId::D1, DimId::D0, mn, perLane), Layout::known(mfmaD(mn)), mn, mn, k}});
  }
  for (unsigned bits : {8u, 16u, 32u})
    for (int64_t n = 8; n <= 256; n += 8)
      r.push_back({MatrixKind::WGMMA, bits, {*wgmmaA(bits), Layout(), wgmmaD(n), 64, n, wgmmaK(bits)}});
  return r;
}

const MatrixAtom *tilec::matrixAtom(MatrixKind kind, unsigned bits, int64_t m, int64_t n, int64_t k) {
  static const std::vector<AtomEntry> atoms = makeAtoms();
  for (const AtomEntry &e : atoms)
    if (e.kind == kind && e.bits == bits && e.atom.m == m && e.atom.n == n && e.atom.k == k)
      return &e.atom;
  return nullptr;
}
