//===- LayoutTables.h - layouts that hardware prescribes ---------------------===//
//
// Matrix instructions, ldmatrix, Hopper shared memory, CPU panels, and the usual
// tiles made of them. One table row per instruction: D[m,n] += A[m,k] B[k,n] with
// A: d0 = m, d1 = k; B: d0 = k, d1 = n; C and D: d0 = m, d1 = n. One register is
// one element; elements are packed in order into 32-bit registers.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_SUPPORT_LAYOUTTABLES_H
#define TILEC_SUPPORT_LAYOUTTABLES_H

#include "tilec/Support/Layout.h"
#include "tilec/Support/Target.h"

namespace tilec {

//===--- matrix instructions ------------------------------------------------===//

/// The operand and accumulator fragments of one matrix instruction. wgmma reads B from shared memory only:
/// its b is empty.
struct MatrixAtom {
  Layout a, b, d;
  int64_t m = 0, n = 0, k = 0;
};

/// The fragments of an instruction whose operands have \p bits bits, or null when the chip family has none
/// such. WGMMA takes any n that wgmmaHasN() allows. The result lives for ever.
const MatrixAtom *matrixAtom(MatrixKind kind, unsigned bits, int64_t m, int64_t n, int64_t k);
inline const MatrixAtom *matrixAtom(const MatrixInst &i, int64_t n = 0) {
  return matrixAtom(i.kind, dtypeBits(i.a), i.m, i.n ? i.n : n, i.k);
}

/// wgmma.mma_async (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNkK"): the accumulator of 64 x n for
/// four warps. n: any multiple of 8, beyond 256 it is several instructions side by side. \p neighbours: rows
/// renamed so that a lane holds rows 2 i and 2 i + 1 of 16 where the ISA says i and i + 8.
Layout wgmmaD(int64_t n, bool neighbours = false);
/// A in registers: 16 bits (k = 16), 32 bits = tf32 (k = 8), 8 bits (k = 32). Null for other widths. Operand
/// and accumulator must have the same \p neighbours.
const Layout *wgmmaA(unsigned bits, bool neighbours = false);
/// Elements along k of one wgmma.
inline int64_t wgmmaK(unsigned bits) { return 256 / bits; }
/// Is \p n an N of wgmma? Integer types: 8, 16, 24, then multiples of 16.
bool wgmmaHasN(int64_t n, bool integer);

/// RDNA's 16x16x16 product of one wave32; gfx11 holds A and B twice, gfx12 does not.
const MatrixAtom &wmmaAtom(bool gfx12);
/// gfx950's scaled 16x16x128 product of 8-bit operands.
const MatrixAtom &mfmaScaledAtom();

/// The 8x8 matrix of 16-bit elements that ldmatrix and stmatrix move (PTX ISA, "ldmatrix"): d0 = row that a
/// 16-byte address names, d1 = column. With .trans the two are swapped.
const Layout &ldMatrixAtom(bool trans);

//===--- tiles of matrix instructions ----------------------------------------===//

/// How the warps (or warp groups) of a block share a tile; the ones along n count first.
struct WarpGrid {
  int64_t m = 1, n = 1;
  WarpGrid transposed() const { return {n, m}; }
};

/// The accumulator of an M x N tile: the atom, repeated in registers along n then m, each member of the grid
/// owning a contiguous part. Extents that are no multiple are rounded up and masked. \p over: Warp, or Group
/// for wgmma.
Layout accumulatorTile(const MatrixAtom &atom, int64_t M, int64_t N, WarpGrid grid, DimId over = DimId::Warp);
/// Operand A (M x K) in registers, repeated along k then m, the same for all members of the grid along n.
Layout operandATile(const MatrixAtom &atom, int64_t M, int64_t K, WarpGrid grid, DimId over = DimId::Warp);
/// Operand B (K x N) in registers, repeated along k then n, the same for all members along m.
Layout operandBTile(const MatrixAtom &atom, int64_t K, int64_t N, WarpGrid grid, DimId over = DimId::Warp);
/// The wgmma accumulator of an M x N tile over warp groups: M rounded up to 64 * grid.m, N to 8 * grid.n.
Layout wgmmaAccumulator(int64_t M, int64_t N, WarpGrid groups, bool neighbours = false);

//===--- tiles for element-wise work ------------------------------------------===//

/// The threads of a block (or of a role): lanes of a warp, warps of a warp group, groups.
struct ThreadShape {
  int64_t lanes = 32, warps = 4, groups = 1;
  int64_t allWarps() const { return warps * groups; }
  int64_t threads() const { return lanes * allWarps(); }
};

/// What an unconstrained tile gets: vectors along the last axis of as many bytes as memory gives at once,
/// lanes and warps over the rest. Defined for every shape and every number of threads; what does not divide
/// is masked.
Layout defaultTile(llvm::ArrayRef<int64_t> shape, unsigned elemBytes, ThreadShape threads,
                   unsigned vectorBytes = 16);
/// The tile that makes a reduction over \p axis cheap: the axis in threads and lanes of one warp, across
/// warps only when there are too few rows.
Layout reductionTile(llvm::ArrayRef<int64_t> shape, unsigned axis, unsigned elemBytes, ThreadShape threads,
                     unsigned vectorBytes = 16);
/// One thread holds everything, last axis fastest.
Layout threadTile(llvm::ArrayRef<int64_t> shape);

//===--- shared memory --------------------------------------------------------===//

/// What TMA boxes of \p swizzle (128, 64, 32, 16; 0: one box without) bytes inner extent leave in shared
/// memory, side by side along \p col: [cols/inner][rows][inner], 16-byte chunks xored with the row (those of
/// 16-byte rows stay). K-major operands have col = k, MN-major ones col = m or n. Fails when cols is no
/// multiple of the swizzle row, or rows break the swizzle's period.
llvm::FailureOr<Layout> hopperShared(int64_t rows, int64_t cols, unsigned elemBytes, unsigned swizzle,
                                     DimId row = DimId::D0, DimId col = DimId::D1,
                                     std::string *why = nullptr);
/// The widest swizzle hopperShared has for this tile, 0 if only the plain form exists.
unsigned widestSwizzle(int64_t rows, int64_t cols, unsigned elemBytes);
/// wgmma operand without swizzle, K-major: core matrices of 8 x 16 bytes, chunks of k adjacent. d0 = m or n,
/// d1 = k.
Layout coreShared(int64_t mn, int64_t k, unsigned elemBytes);
/// A ring of \p slots copies, each rounded up to \p align elements.
Layout withSlots(const Layout &l, int64_t slots, int64_t align = 1);

//===--- CPU ------------------------------------------------------------------===//

/// A: row-major BM x KC with padded rows, so that rows do not share cache sets.
Layout cpuA(int64_t BM, int64_t KC, int64_t pad = 16);
/// B: panels [BN/NR][KC][NR]; N is rounded up to whole panels.
Layout cpuB(int64_t KC, int64_t BN, int64_t NR);
/// B of 16-bit elements with pairs of k together: [BN/NR][KC/2][NR][2] (vdpbf16ps). KC must be even.
Layout cpuBPairs(int64_t KC, int64_t BN, int64_t NR);
/// Accumulator in memory: [BN/NR][BM/MR][MR][NR], rounded up in both.
Layout cpuC(int64_t BM, int64_t BN, int64_t MR, int64_t NR);
/// The same order as a tile of one thread: reg to (m, n).
Layout cpuAccumulator(int64_t BM, int64_t BN, int64_t MR, int64_t NR);

} // namespace tilec

#endif // TILEC_SUPPORT_LAYOUTTABLES_H
