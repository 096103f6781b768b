//===- PlanWGMMA.cpp - products over warp groups -----------------------------===//
// m64nNkK (PTX ISA, "wgmma") of 32 bytes along k: f16, bf16, fp8, int8 and float32 read as tf32. a from
// shared memory or from registers, b from shared memory; in shared memory 16-bit operands lie either way, all
// others along k. Numbers and their reasons: docs/Schedules.md.
#include "PlanWGMMA.h"
#include "tilec/Support/LayoutTables.h"
#include <array>

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

bool tilec::tile::hasMatrixTypes(const GemmFeature &g) {
  if (g.a.isF16() || g.a.isBF16())
    return g.a == g.b && (g.acc.isF32() || (g.acc.isF16() && g.a.isF16()));
  if (isFloat8(g.a))
    return isFloat8(g.b) && g.acc.isF32();
  if (g.a.isInteger(8))
    return g.b.isInteger(8) && g.acc.isInteger(32);
  return g.a.isF32() && g.b.isF32() && g.acc.isF32() && GemmOp(g.op).getPrecision() == Precision::tf32;
}

int64_t tilec::tile::matrixDepth(const GemmFeature &g) { return wgmmaK(g.a.getIntOrFloatBitWidth()); }

/// A buffer seen in two shapes, or with parts that do not consist of 8 rows of 32 bytes, lies row by row
/// (BufferLayouts.cpp); no wgmma reads that.
static bool liesInRows(Value operand) {
  if (!isa<BufferType>(operand.getType()))
    return false;
  Value root = rootBuffer(operand);
  int64_t columns = columnsOfParts(root), bits = getElementTypeOf(root.getType()).getIntOrFloatBitWidth();
  return llvm::any_of(bufferUsers(root), llvm::IsaPred<SubbufferOp, RecastBufferOp>) &&
         (columns == 0 || columns * bits % 256 != 0);
}

/// Do the rows of that operand run along k?
static bool alongK(const GemmFeature &g, bool isA) {
  GemmOp op = g.op;
  return isA ? !op.getTransA() : op.getTransB();
}

bool tilec::tile::firstInRegisters(const GemmFeature &g, bool swapped) {
  bool isA = !swapped;
  return (isA ? g.aInRegisters : g.bInRegisters) || (g.a.getIntOrFloatBitWidth() != 16 && !alongK(g, isA));
}

/// The instruction's first operand may stand in registers, its rows along k; one in shared memory is read
/// into registers where its rows run across k.
static bool operandsFit(const GemmFeature &g, bool swapped) {
  return llvm::all_of(std::array{true, false}, [&](bool isA) {
    bool isFirst = isA != swapped;
    if (isA ? g.aInRegisters : g.bInRegisters)
      return isFirst && alongK(g, isA);
    return g.a.getIntOrFloatBitWidth() == 16 || alongK(g, isA) || isFirst;
  });
}

static bool extentsFit(const GemmFeature &g, bool swapped) {
  int64_t rows = swapped ? g.n : g.m, columns = swapped ? g.m : g.n;
  return rows % 64 == 0 && columns % 8 == 0 && g.k % matrixDepth(g) == 0 && g.k > 0;
}

static bool isLegal(const GemmFeature &g, bool swapped) {
  GemmOp op = g.op;
  return hasMatrixTypes(g) && operandsFit(g, swapped) && extentsFit(g, swapped) && !liesInRows(op.getA()) &&
         !liesInRows(op.getB());
}

StringRef tilec::tile::whyNoWGMMA(const GemmFeature &g) {
  GemmOp op = g.op;
  if (isLegal(g, false) || isLegal(g, true))
    return "the products of this launch have no orientation in common that it takes";
  if (liesInRows(op.getA()) || liesInRows(op.getB()))
    return "an operand is a part of a shared tile, or one in another shape";
  if (!extentsFit(g, false) && !extentsFit(g, true))
    return "that takes a multiple of 64 along m or n, of 8 along the other and of 32 bytes along k";
  if (g.aInRegisters || g.bInRegisters)
    return "that takes one operand out of registers, its rows along k";
  return "both operands lie across k, and of this type it reads one so at most: store A as (M, K) or B as "
         "(N, K)";
}

int64_t tilec::tile::sumRegisters(const GemmFeature &g, int64_t threads) {
  return g.m * g.n / threads * g.acc.getIntOrFloatBitWidth() / 32;
}

int64_t tilec::tile::accumulatorRegisters(const LaunchFeatures &features, int64_t groups) {
  int64_t total = 0;
  for (const GemmFeature &g : features.gemms)
    total += sumRegisters(g, 128 * groups);
  return total;
}

/// The widest instruction of up to `widest` columns that divides `extent` columns.
static int64_t widthOf(int64_t extent, bool integers, int64_t widest = 256) {
  int64_t width = std::min(extent, widest);
  while (extent % width || !wgmmaHasN(width, integers))
    --width;
  return width;
}

int64_t WGMMAPlan::width(int64_t m, int64_t n, int64_t widest) const {
  return widthOf(swapped ? m / rows : n / columns, integers, widest);
}

/// Cycles of the matrix units (half a cycle a column for 32 bytes along k, whatever their type) and of shared
/// memory, which delivers both operands at 128 bytes a cycle.
struct UnitCycles {
  UnitCycles(int64_t rows, int64_t columns, int64_t width)
      : instructions(double(rows) / 64 * columns / width), matrix(instructions * width / 2),
        shared(instructions * (64 + width) * 32 / 128) {}
  double instructions, matrix, shared;
  double most() const { return std::max(matrix, shared); }
  bool operator<(const UnitCycles &o) const {
    return std::pair(most(), shared) < std::pair(o.most(), o.shared);
  }
};

static UnitCycles cyclesOf(const WGMMAPlan &plan, int64_t m, int64_t n) {
  return plan.swapped ? UnitCycles(n, m, plan.width(m, n)) : UnitCycles(m, n, plan.width(m, n));
}

double WGMMAPlan::matrixCycles(int64_t m, int64_t n) const { return cyclesOf(*this, m, n).matrix; }
double WGMMAPlan::sharedCycles(int64_t m, int64_t n) const { return cyclesOf(*this, m, n).shared; }

namespace {
/// One orientation, in the instruction's axes.
struct Orientation {
  int64_t rows, columns; ///< extents: the least of all products
  bool integers;
  int64_t rowGroups = 1, columnGroups = 1;
  void split(const LaunchFeatures &features, const LaunchHints &hints, bool chained);
  UnitCycles cycles() const { return UnitCycles(rows, columns, widthOf(columns / columnGroups, integers)); }
};
} // namespace

/// Warp groups split the rows; a product of 64 rows and many columns splits these instead. Chained products
/// (a register operand) must own whole rows.
void Orientation::split(const LaunchFeatures &features, const LaunchHints &hints, bool chained) {
  int64_t most = hints.threads ? std::max<int64_t>(1, (*hints.threads + 127) / 128) : 2;
  for (int64_t groups = std::min<int64_t>(most, 3); groups > 1 && rowGroups == 1; --groups)
    if (rows % (64 * groups) == 0)
      rowGroups = groups;
  // Three groups leave 160 registers a thread: take them only when two do not divide the rows evenly.
  if (!hints.threads && rowGroups == 1 && rows == 192 && accumulatorRegisters(features, 3) <= 96)
    rowGroups = 3;
  // Parts of 16 columns read shared memory best; where the sums do not fit one group, parts of 8 will do.
  int64_t sums = accumulatorRegisters(features, 1), part = sums < kRegistersAlone ? 16 : 8;
  if (rowGroups == 1 && !chained && most >= 2 && columns % (2 * part) == 0 && sums > 64)
    columnGroups = 2;
}

int64_t WGMMAPlan::parts(int64_t m, int64_t n, llvm::function_ref<bool(int64_t)> enough) const {
  // Along the instruction's n side all threads hold some of every 16 elements; along the other side a thread
  // holds all of whole instructions only. Rows in memory run along n: a part should have whole rows of 128
  // bytes.
  bool across = swapped ? rows == 1 : columns == 1;
  if (!across && (!swapped || columns > 1))
    return 1;
  bool cutsRows = swapped && across;
  int64_t extent = cutsRows ? m : n, step = cutsRows ? 16 : 64;
  constexpr int64_t most = 4;
  for (int64_t parts = 1; parts <= most; ++parts)
    if (extent % (parts * step) == 0 && enough(parts))
      return parts;
  return 1;
}

std::optional<WGMMAPlan> tilec::tile::planWGMMA(const LaunchFeatures &features, const LaunchHints &hints,
                                                const TargetDesc &target) {
  if (!target.mbarriers || features.gemms.empty())
    return std::nullopt;
  auto legal = [&](bool swapped) {
    return llvm::all_of(features.gemms, [&](const GemmFeature &g) { return isLegal(g, swapped); });
  };
  bool chained = hasChainedProducts(features) || features.gemms.front().aInRegisters;
  int64_t m = features.gemms.front().m, n = features.gemms.front().n;
  for (const GemmFeature &g : features.gemms)
    m = std::min(m, g.m);
  bool integers = llvm::any_of(features.gemms, [](const GemmFeature &g) { return g.a.isInteger(8); });
  Orientation straight{m, n, integers}, turned{n, m, integers};
  straight.split(features, hints, chained);
  turned.split(features, hints, chained);
  bool canTurn = !chained && legal(true);
  if (legal(false) && !(canTurn && turned.cycles() < straight.cycles()))
    return WGMMAPlan{false, straight.rowGroups, straight.columnGroups, integers};
  if (canTurn)
    return WGMMAPlan{true, turned.columnGroups, turned.rowGroups, integers};
  return std::nullopt;
}
