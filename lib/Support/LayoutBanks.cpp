//===- LayoutBanks.cpp - vector widths, bank conflicts, choice of swizzle ----===//

#include "LayoutDetail.h"
#include "tilec/Support/LayoutDecisions.h"

#include "llvm/ADT/STLExtras.h"

#include <array>

using namespace llvm;
using namespace tilec;
using namespace tilec::layout_detail;

//===----------------------------------------------------------------------===//
// Vector widths
//===----------------------------------------------------------------------===//

/// Does v move \p out by \p stride and nothing else?
static bool movesOnly(const Layout::Vec &v, unsigned out, int64_t stride) {
  for (unsigned o = 0; o < v.size(); ++o)
    if (v[o] != (o == out ? stride : 0))
      return false;
  return true;
}

int64_t tilec::contiguity(const Layout &l, DimId in, DimId out) {
  int o = l.outIndex(out);
  if (o < 0)
    return 1;
  int64_t v = 1;
  for (const Layout::Run &r : l.places(in)) {
    if (r.place != v || r.n != 2 || !movesOnly(r.v, o, v))
      break;
    v *= 2;
  }
  for (const Layout::In &i : l.ins())
    for (const Layout::Run &r : l.places(i.id)) {
      if (i.id == in && r.place < v)
        continue;
      while (r.v[o] % v)
        v /= 2;
    }
  return v;
}

unsigned tilec::globalVector(int64_t cols, unsigned elemBytes, int64_t pitch, unsigned baseAlign,
                             unsigned most) {
  unsigned v = most;
  while (v > elemBytes && (pitch * elemBytes % v || baseAlign % v || cols * elemBytes % v))
    v /= 2;
  return std::max(v, elemBytes);
}

static int64_t registerVectorOf(const Layout &a, unsigned elemBytes, unsigned most) {
  int o = a.outIndex(DimId::Offset);
  if (o < 0)
    return 1;
  int64_t v = 1;
  for (const Layout::Run &r : a.places(DimId::Reg)) {
    if (r.place != v || r.n != 2 || !movesOnly(r.v, o, v) || 2 * v * elemBytes > most)
      break;
    v *= 2;
  }
  for (const Layout::In &i : a.ins())
    for (const Layout::Run &r : a.places(i.id)) {
      if (i.id == DimId::Reg && r.place < v)
        continue;
      while (r.v[o] % v)
        v /= 2;
    }
  return v;
}

int64_t tilec::registerVector(const Layout &f, const Layout &s, unsigned elemBytes, unsigned most) {
  FailureOr<Layout> a = f.then(s);
  return failed(a) ? 1 : registerVectorOf(*a, elemBytes, most);
}

//===----------------------------------------------------------------------===//
// Banks
//===----------------------------------------------------------------------===//

namespace {

/// The lanes that one wavefront serves, as bit masks.
using Groups = SmallVector<uint64_t, 8>;

struct BankTable {
  unsigned banks;
  std::array<Groups, 5> groups; ///< by log2 of the access' bytes
};

} // namespace

static Groups evenGroups(unsigned lanes, unsigned count) {
  Groups g;
  unsigned each = lanes / count;
  uint64_t mask = each == 64 ? ~uint64_t(0) : (uint64_t(1) << each) - 1;
  for (unsigned i = 0; i < count; ++i)
    g.push_back(mask << (i * each));
  return g;
}

/// The same quads of lanes in the lower and in the upper half of a wave of 64. A quad is given by its first
/// lane.
static Groups quadGroups(ArrayRef<SmallVector<unsigned, 4>> groups) {
  Groups g;
  for (unsigned half : {0u, 32u})
    for (auto &quads : groups) {
      uint64_t mask = 0;
      for (unsigned q : quads)
        mask |= uint64_t(0xF) << (q + half);
      g.push_back(mask);
    }
  return g;
}

static const BankTable &bankTable(BankModel model) {
  auto e = evenGroups;
  // NVIDIA: a wavefront serves 128 bytes. gfx942 writes: AMD's documents. gfx942 and gfx950 16-byte reads:
  // measurements published by others; the rest is assumed by analogy.
  static const BankTable sm{32, {e(32, 1), e(32, 1), e(32, 1), e(32, 2), e(32, 4)}};
  static const BankTable gfx942r{
      32, {e(64, 2), e(64, 2), e(64, 2), e(64, 4), quadGroups({{0, 20}, {4, 16}, {8, 28}, {12, 24}})}};
  static const BankTable gfx942w{32, {e(64, 2), e(64, 2), e(64, 2), e(64, 4), e(64, 8)}};
  static const BankTable gfx950r{
      64, {e(64, 1), e(64, 1), e(64, 1), e(64, 2), quadGroups({{0, 12, 20, 24}, {4, 8, 16, 28}})}};
  static const BankTable gfx950w{64, {e(64, 2), e(64, 2), e(64, 2), e(64, 4), e(64, 8)}};
  static const BankTable gfx11{64, {e(32, 1), e(32, 1), e(32, 1), e(32, 1), e(32, 2)}};
  switch (model) {
  case BankModel::SM:
    return sm;
  case BankModel::GFX942Read:
    return gfx942r;
  case BankModel::GFX942Write:
    return gfx942w;
  case BankModel::GFX950Read:
    return gfx950r;
  case BankModel::GFX950Write:
    return gfx950w;
  case BankModel::GFX11:
    break;
  }
  return gfx11;
}

BankModel tilec::bankModelOf(const TargetDesc &target, bool write) {
  if (target.family != Family::AMD)
    return BankModel::SM;
  StringRef name = target.name;
  if (name.starts_with("gfx95"))
    return write ? BankModel::GFX950Write : BankModel::GFX950Read;
  if (name.starts_with("gfx9"))
    return write ? BankModel::GFX942Write : BankModel::GFX942Read;
  return BankModel::GFX11;
}

static Waves countWaves(ArrayRef<int64_t> addr, unsigned width, unsigned banks, ArrayRef<uint64_t> groups) {
  Waves w;
  SmallVector<int64_t, 128> words;
  std::array<uint8_t, 64> perBank;
  for (uint64_t group : groups) {
    words.clear();
    for (unsigned l = 0; l < addr.size() && l < 64; ++l)
      if ((group >> l & 1) && addr[l] >= 0)
        for (int64_t x = addr[l] / 4; x <= (addr[l] + width - 1) / 4; ++x)
          words.push_back(x);
    if (words.empty())
      continue;
    llvm::sort(words); // lanes that read the same word share it
    words.erase(std::unique(words.begin(), words.end()), words.end());
    perBank.fill(0);
    uint8_t most = 0;
    for (int64_t x : words)
      most = std::max<uint8_t>(most, ++perBank[x % banks]);
    w.waves += most;
    w.ideal += divideCeil(words.size(), banks);
  }
  return w;
}

Waves tilec::bankWaves(ArrayRef<int64_t> byteAddress, unsigned width, BankModel model) {
  const BankTable &t = bankTable(model);
  return countWaves(byteAddress, width, t.banks, t.groups[std::min(4u, log2Of(std::max(1u, width)))]);
}

static Waves accessWavesOf(const Layout &a, unsigned elemBytes, int64_t vec, BankModel model) {
  auto regs = a.contributions(DimId::Reg, DimId::Offset);
  auto lanes = a.contributions(DimId::Lane, DimId::Offset);
  auto warps = a.contributions(DimId::Warp, DimId::Offset);
  // What is added to all lanes alike only rotates the banks; what is xored, or shifts within a word, matters.
  struct Counted {
    int64_t low, inWord;
    Waves waves;
  };
  SmallVector<Counted, 16> counted;
  Waves total;
  SmallVector<int64_t, 64> addr(lanes.size());
  for (size_t r = 0; r < regs.size(); r += vec)
    for (size_t w = 0; w < std::min<size_t>(warps.size(), 2); ++w) {
      int64_t low = regs[r].first ^ warps[w].first, high = regs[r].second + warps[w].second;
      int64_t inWord = high * elemBytes % 4;
      auto *it = llvm::find_if(counted, [&](const Counted &c) { return c.low == low && c.inWord == inWord; });
      if (it == counted.end()) {
        for (size_t l = 0; l < lanes.size(); ++l)
          addr[l] = ((lanes[l].first ^ low) + lanes[l].second + high) * elemBytes;
        counted.push_back({low, inWord, bankWaves(addr, vec * elemBytes, model)});
        it = std::prev(counted.end());
      }
      total.waves += it->waves.waves;
      total.ideal += it->waves.ideal;
    }
  return total;
}

FailureOr<Waves> tilec::accessWaves(const Layout &f, const Layout &s, unsigned elemBytes, int64_t vec,
                                    BankModel model, std::string *why) {
  FailureOr<Layout> a = f.then(s, why);
  if (failed(a))
    return failure();
  if (registerVectorOf(*a, elemBytes, vec * elemBytes) < vec)
    return refuse(why, Twine(vec) + " elements are not consecutive in shared memory");
  return accessWavesOf(*a, elemBytes, vec, model);
}

//===----------------------------------------------------------------------===//
// Choice of a shared layout
//===----------------------------------------------------------------------===//

namespace {

/// Prices one candidate after the other.
class Chooser {
public:
  Chooser(unsigned elemBytes, ArrayRef<SharedAccess> accesses, BankModel model)
      : elemBytes(elemBytes), accesses(accesses), model(model) {
    for (const SharedAccess &a : accesses)
      widest.push_back(a.kind == SharedAccess::Plain ? widestVector(a.map) : 1);
  }
  /// True when no later candidate can be better: free of conflicts, every access as wide as its fragment
  /// allows.
  bool consider(std::string name, const Layout &s) {
    Waves cost;
    bool full = true;
    for (auto [a, want] : llvm::zip(accesses, widest)) {
      Waves w;
      if (a.kind != SharedAccess::Plain) {
        auto m = asLdMatrix(a.map, s, elemBytes, a.kind == SharedAccess::LdMatrixTrans);
        if (failed(m))
          return false;
        w = m->waves;
      } else {
        FailureOr<Layout> at = a.map.then(s);
        if (failed(at))
          return false;
        int64_t v = registerVectorOf(*at, elemBytes, 16);
        full &= v >= want;
        w = accessWavesOf(*at, elemBytes, v, model);
      }
      cost.waves += w.waves;
      cost.ideal += w.ideal;
      if (best && cost.waves >= best->cost.waves)
        return false;
    }
    if (!best || cost.waves < best->cost.waves)
      best = SharedChoice{cost, std::move(name), s};
    return full && cost.conflictFree();
  }
  std::optional<SharedChoice> best;

private:
  /// Elements of the widest access along d1 that the registers of \p f allow in any layout.
  int64_t widestVector(const Layout &f) const {
    int o = f.outIndex(DimId::D1);
    int64_t v = 1;
    for (const Layout::Run &r : f.places(DimId::Reg)) {
      if (o < 0 || r.place != v || r.n != 2 || !movesOnly(r.v, o, v) || 2 * v * elemBytes > 16)
        break;
      v *= 2;
    }
    return v;
  }

  unsigned elemBytes;
  ArrayRef<SharedAccess> accesses;
  BankModel model;
  SmallVector<int64_t, 4> widest;
};

} // namespace

std::optional<SharedChoice> tilec::chooseShared(int64_t rows, int64_t cols, unsigned elemBytes,
                                                ArrayRef<SharedAccess> accesses, BankModel model,
                                                SharedNeed need, bool mayPad) {
  Chooser c(elemBytes, accesses, model);
  for (unsigned swizzle : {128u, 64u, 32u, 0u})
    if (auto s = hopperShared(rows, cols, elemBytes, swizzle); succeeded(s))
      if (c.consider(swizzle ? ("swizzle " + Twine(swizzle) + "B").str() : "row-major", *s))
        return c.best;
  if (need == SharedNeed::Canonical)
    return c.best;
  SmallVector<DimValue, 2> dims{{DimId::D0, rows}, {DimId::D1, cols}};
  Layout base = Layout::rowMajor(dims);
  for (int M = log2Of(std::max(1u, 16 / elemBytes)); M >= 0; --M)
    for (unsigned S = 1; S < 8; ++S)
      for (unsigned B = 1; B <= std::min(S, 5u); ++B)
        if (auto s = base.swizzled(B, M, S); succeeded(s))
          if (c.consider(("xor<" + Twine(B) + "," + Twine(M) + "," + Twine(S) + ">").str(), *s))
            return c.best;
  // Where a wave writes every eighth row and reads neighbouring ones (a turned operand on AMD), the chunk
  // must depend on two groups of row bits. ldmatrix reads whole rows: one xor serves it.
  if (model != BankModel::SM)
    for (int M = log2Of(std::max(1u, 16 / elemBytes)); M >= 0; --M)
      for (unsigned B = 2; B <= 4; ++B)
        for (unsigned S = B; S < 8; ++S)
          for (unsigned T = S + 1; T < 11; ++T) {
            FailureOr<Layout> s = base.swizzled(B, M, T);
            if (succeeded(s))
              s = s->swizzled(B, M, S);
            if (succeeded(s) &&
                c.consider(("xor<" + Twine(B) + "," + Twine(M) + "," + Twine(S) + "+" + Twine(T) + ">").str(),
                           *s))
              return c.best;
          }
  if (mayPad)
    for (unsigned bytes : {16u, 8u, 4u})
      if (int64_t pad = bytes / elemBytes)
        if (c.consider(("pad " + Twine(pad)).str(), Layout::strided(dims, {cols + pad, 1})))
          return c.best;
  return c.best;
}
