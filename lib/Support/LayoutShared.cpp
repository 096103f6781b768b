//===- LayoutShared.cpp - layouts of shared memory and of CPU panels ---------===//

#include "LayoutDetail.h"
#include "tilec/Support/LayoutTables.h"

#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::layout_detail;

//===----------------------------------------------------------------------===//
// Hopper
//===----------------------------------------------------------------------===//

FailureOr<Layout> tilec::hopperShared(int64_t rows, int64_t cols, unsigned elemBytes, unsigned swizzle,
                                      DimId row, DimId col, std::string *why) {
  if (!elemBytes || elemBytes > 16 || !isPow2(elemBytes))
    return refuse(why, Twine("elements of ") + Twine(elemBytes) + " bytes have no shared layout");
  int64_t width = swizzle ? swizzle / elemBytes : cols;
  if (cols < width || cols % width)
    return refuse(why, Twine(cols) + " columns are no multiple of the " + Twine(width) +
                           "-element swizzle row: pad, or use a narrower swizzle");
  Layout box = Layout::rowMajor({{row, rows}, {col, width}});
  if (!swizzle)
    return box;
  if (swizzle < 16 || swizzle > 128 || !isPow2(swizzle))
    return refuse(why, Twine("no swizzle of ") + Twine(swizzle) + " bytes");
  // Address bits 4.. are xored with bits 7.. (PTX ISA, "Shared Memory Matrix Layout", and the tensor map's
  // swizzle); a row of 16 bytes is one chunk, which stays where it is.
  FailureOr<Layout> s = box;
  if (swizzle > 16)
    s = box.swizzled(log2Of(swizzle / 16), log2Of(16 / elemBytes), 3, DimId::Offset, why);
  if (failed(s) || cols == width)
    return s;
  return s->times(
      LayoutBuilder().out(DimId::Offset, cols / width).digit(col, cols / width, {{DimId::Offset, 1}}).known(),
      why);
}

unsigned tilec::widestSwizzle(int64_t rows, int64_t cols, unsigned elemBytes) {
  for (unsigned swizzle : {128u, 64u, 32u})
    if (succeeded(hopperShared(rows, cols, elemBytes, swizzle)))
      return swizzle;
  return 0;
}

Layout tilec::coreShared(int64_t mn, int64_t k, unsigned elemBytes) {
  int64_t chunk = 16 / elemBytes;
  return LayoutBuilder()
      .out(DimId::Offset, mn * k)
      .digit(DimId::D0, 8, {{DimId::Offset, chunk}})
      .digit(DimId::D0, mn / 8, {{DimId::Offset, 8 * k}})
      .digit(DimId::D1, chunk, {{DimId::Offset, 1}})
      .digit(DimId::D1, k / chunk, {{DimId::Offset, 8 * chunk}})
      .known();
}

Layout tilec::withSlots(const Layout &l, int64_t slots, int64_t align) {
  int64_t size = llvm::alignTo(l.outSize(DimId::Offset), align);
  Layout slot = l.pad({{DimId::Offset, size}});
  FailureOr<Layout> r = slot.times(
      LayoutBuilder().out(DimId::Offset, slots).digit(DimId::Slot, slots, {{DimId::Offset, 1}}).known());
  if (failed(r))
    reportFatalInternalError("layout algebra: slots of a buffer");
  return *r;
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

Layout tilec::cpuA(int64_t BM, int64_t KC, int64_t pad) {
  return Layout::strided({{DimId::D0, BM}, {DimId::D1, KC}}, {KC + pad, 1});
}

Layout tilec::cpuB(int64_t KC, int64_t BN, int64_t NR) {
  int64_t panels = divideCeil(BN, NR);
  return LayoutBuilder()
      .out(DimId::Offset, panels * NR * KC)
      .digit(DimId::D0, KC, {{DimId::Offset, NR}})
      .digit(DimId::D1, NR, {{DimId::Offset, 1}})
      .digit(DimId::D1, panels, {{DimId::Offset, KC * NR}})
      .known();
}

Layout tilec::cpuBPairs(int64_t KC, int64_t BN, int64_t NR) {
  int64_t panels = divideCeil(BN, NR);
  return LayoutBuilder()
      .out(DimId::Offset, panels * NR * KC)
      .digit(DimId::D0, 2, {{DimId::Offset, 1}})
      .digit(DimId::D0, KC / 2, {{DimId::Offset, 2 * NR}})
      .digit(DimId::D1, NR, {{DimId::Offset, 2}})
      .digit(DimId::D1, panels, {{DimId::Offset, KC * NR}})
      .known();
}

Layout tilec::cpuC(int64_t BM, int64_t BN, int64_t MR, int64_t NR) {
  int64_t mp = divideCeil(BM, MR), np = divideCeil(BN, NR);
  return LayoutBuilder()
      .out(DimId::Offset, np * mp * MR * NR)
      .digit(DimId::D0, MR, {{DimId::Offset, NR}})
      .digit(DimId::D0, mp, {{DimId::Offset, MR * NR}})
      .digit(DimId::D1, NR, {{DimId::Offset, 1}})
      .digit(DimId::D1, np, {{DimId::Offset, mp * MR * NR}})
      .known();
}

Layout tilec::cpuAccumulator(int64_t BM, int64_t BN, int64_t MR, int64_t NR) {
  return LayoutBuilder()
      .out(DimId::D0, BM)
      .out(DimId::D1, BN)
      .digit(DimId::Reg, NR, {{DimId::D1, 1}})
      .digit(DimId::Reg, MR, {{DimId::D0, 1}})
      .digit(DimId::Reg, divideCeil(BM, MR), {{DimId::D0, MR}})
      .digit(DimId::Reg, divideCeil(BN, NR), {{DimId::D1, NR}})
      .known();
}
