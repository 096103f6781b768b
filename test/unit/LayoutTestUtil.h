//===- LayoutTestUtil.h - plain tables to compare layouts with ---------------===//
#ifndef TILEC_TEST_UNIT_LAYOUTTESTUTIL_H
#define TILEC_TEST_UNIT_LAYOUTTESTUTIL_H

#include "tilec/Support/LayoutDecisions.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

namespace tilec {

inline Layout L(llvm::StringRef text) { return Layout::known(text); }

/// gtest prints layouts by their text.
inline void PrintTo(const Layout &l, std::ostream *os) { *os << l.str(); }

inline constexpr DimId Reg = DimId::Reg, Lane = DimId::Lane, Warp = DimId::Warp, Group = DimId::Group,
                       Slot = DimId::Slot, Off = DimId::Offset, D0 = DimId::D0, D1 = DimId::D1,
                       D2 = DimId::D2;
inline const std::vector<DimId> kThread{Reg, Lane, Warp};

/// All values of a fragment: value[output][reg][lane][warp] behind an accessor.
struct FragTable {
  explicit FragTable(const Layout &f) : R(f.inSize(Reg)), L(f.inSize(Lane)), W(f.inSize(Warp)) {
    for (const Layout::Out &o : f.outs())
      t.push_back(f.table(o.id, kThread));
  }
  int64_t at(unsigned o, int64_t r, int64_t l, int64_t w) const { return t[o][(r * L + l) * W + w]; }
  /// One number per element, the same for the same coordinates.
  int64_t tag(int64_t r, int64_t l, int64_t w) const {
    int64_t v = 0;
    for (unsigned o = 0; o < t.size(); ++o)
      v = v * 4096 + at(o, r, l, w);
    return v;
  }
  int64_t R, L, W;
  std::vector<std::vector<int64_t>> t;
};

inline std::vector<int64_t> iota(int64_t n) {
  std::vector<int64_t> v(n);
  std::iota(v.begin(), v.end(), 0);
  return v;
}

/// Runs a law for every value of a small generator; std::mt19937 gives the same numbers everywhere.
struct Random {
  std::mt19937 g;
  explicit Random(unsigned seed) : g(seed) {}
  unsigned below(unsigned n) { return g() % n; }
  template <class V> auto &pick(V &v) { return v[below(v.size())]; }
  template <class V> void shuffle(V &v) {
    for (size_t i = v.size(); i > 1; --i)
      std::swap(v[i - 1], v[below(i)]);
  }
};

} // namespace tilec

#endif // TILEC_TEST_UNIT_LAYOUTTESTUTIL_H
