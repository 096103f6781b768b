//===- LayoutCompose.cpp - composition and inverse of layouts ---------------===//

#include "LayoutDetail.h"

#include "llvm/ADT/STLExtras.h"

#include <array>
#include <map>

using namespace llvm;
using namespace tilec;
using namespace tilec::layout_detail;

//===----------------------------------------------------------------------===//
// Composition
//===----------------------------------------------------------------------===//

namespace {

/// A piece of a digit of f: k values that move digit j of g, mult steps each.
struct Cut {
  int64_t k;
  unsigned j;
  int64_t mult;
};

/// g after f. Bits inside f's zones go to binary digits of g one by one; strides are cut along g's radix.
class Composer {
public:
  Composer(const Layout &f, const Layout &g, ArrayRef<unsigned> zones,
           ArrayRef<SmallVector<Layout::Run, 8>> places, ArrayRef<SmallVector<unsigned, 32>> hits,
           std::string *why)
      : f(f), g(g), zones(zones), places(places), hits(hits), why(why) {
    for (auto &p : places)
      steps.emplace_back(p.size(), 0);
  }
  LogicalResult digit(const Layout::Digit &d, SmallVectorImpl<Layout::Digit> &out);
  LogicalResult checkCarries();

private:
  void add(Layout::Vec &vec, const Layout::Vec &w, int64_t t) {
    for (unsigned z = 0; z < w.size(); ++z) {
      int64_t m = lowMask(zones[z]), o = vec[z], c = w[z] * t;
      vec[z] = ((o & m) ^ (c & m)) + (o & ~m) + (c & ~m);
    }
  }
  LogicalResult bits(unsigned d, int64_t low, Layout::Vec &base);
  LogicalResult cut(unsigned d, int64_t n, int64_t stride, SmallVectorImpl<Cut> &out);

  const Layout &f, &g;
  ArrayRef<unsigned> zones;
  ArrayRef<SmallVector<Layout::Run, 8>> places;
  ArrayRef<SmallVector<unsigned, 32>> hits;
  std::string *why;
  /// Per output of f and digit of g: how far f moves that digit at most (bits count once however often they
  /// are fed).
  SmallVector<SmallVector<int64_t, 8>, 4> steps;
  SmallVector<std::pair<unsigned, unsigned>, 8> seenBits;
};

} // namespace

/// The binary place of g's digit that bit \p b lands on.
static const Layout::Run *binaryPlace(ArrayRef<Layout::Run> places, unsigned b) {
  int64_t x = int64_t(1) << b;
  for (const Layout::Run &r : places)
    if (isPow2(r.place) && r.place <= x && x < r.place * r.n)
      return &r;
  return nullptr;
}

LogicalResult Composer::bits(unsigned d, int64_t low, Layout::Vec &base) {
  for (unsigned b = 0; low >> b; ++b) {
    if (!(low >> b & 1))
      continue;
    const Layout::Run *r = binaryPlace(places[d], b);
    StringRef name = dimName(f.outs()[d].id);
    if (!r)
      return refuse(why, Twine("xor bit ") + Twine(b) + " of " + name +
                             " is no binary digit of the second layout");
    int64_t t = (int64_t(1) << b) / r->place;
    if (hits[d][b] > 1)
      for (unsigned z = 0; z < r->v.size(); ++z)
        if (r->v[z] * t >> zones[z])
          return refuse(why, Twine("xor bit ") + Twine(b) + " of " + name +
                                 " meets a stride of the second layout");
    add(base, r->v, t);
    if (!llvm::is_contained(seenBits, std::make_pair(d, b))) {
      seenBits.push_back({d, b});
      steps[d][r - places[d].begin()] += t;
    }
  }
  return success();
}

LogicalResult Composer::cut(unsigned d, int64_t n, int64_t st, SmallVectorImpl<Cut> &out) {
  StringRef name = dimName(f.outs()[d].id);
  int64_t fullN = n, fullStride = st;
  for (auto [j, r] : llvm::enumerate(places[d])) {
    if (st >= r.place * r.n || n == 1)
      continue;
    if (st % r.place)
      return refuse(why,
                    Twine("stride ") + Twine(st) + " of " + name + " does not fit the second layout's radix");
    int64_t t = st / r.place, k = r.n / t;
    if (n <= k) {
      out.push_back({n, static_cast<unsigned>(j), t});
      return success();
    }
    if (r.n % t || n % k)
      return refuse(why, Twine("a digit of ") + Twine(fullN) + " with stride " + Twine(fullStride) + " of " +
                             name + " straddles the second layout's radix");
    if (k > 1)
      out.push_back({k, static_cast<unsigned>(j), t});
    n /= k;
    st *= k;
  }
  if (n > 1)
    return refuse(why, Twine(name) + ": " + Twine(n) + " steps of " + Twine(st) + " leave the " +
                           Twine(g.inSize(f.outs()[d].id)) + " values of the second layout");
  return success();
}

LogicalResult Composer::digit(const Layout::Digit &dg, SmallVectorImpl<Layout::Digit> &out) {
  Layout::Vec base(g.outs().size(), 0);
  SmallVector<std::pair<unsigned, SmallVector<Cut, 4>>, 2> cuts;
  for (unsigned d = 0; d < dg.v.size(); ++d) {
    int64_t low = dg.v[d] & lowMask(f.outs()[d].zone), high = dg.v[d] - low;
    if (failed(bits(d, low, base)))
      return failure();
    if (!high)
      continue;
    cuts.push_back({d, {}});
    if (failed(cut(d, dg.n, high, cuts.back().second)))
      return failure();
  }
  if (cuts.empty()) {
    out.push_back({dg.n, base});
    return success();
  }
  SmallVector<int64_t, 8> marks; // the common refinement of the splits
  for (auto &[d, c] : cuts) {
    int64_t p = 1;
    for (const Cut &x : c)
      marks.push_back(p *= x.k);
  }
  llvm::sort(marks);
  marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
  int64_t prev = 1;
  for (int64_t mark : marks) {
    if (mark % prev)
      return refuse(why, "two outputs need different splits of a digit");
    Layout::Vec vec = prev == 1 ? base : Layout::Vec(g.outs().size(), 0);
    for (auto &[d, c] : cuts) {
      int64_t q = 1;
      for (const Cut &x : c) {
        if (q <= prev && prev < q * x.k) {
          int64_t t = x.mult * (prev / q);
          add(vec, places[d][x.j].v, t);
          steps[d][x.j] += t * (mark / prev - 1);
        }
        q *= x.k;
      }
    }
    out.push_back({mark / prev, vec});
    prev = mark;
  }
  return success();
}

LogicalResult Composer::checkCarries() {
  for (unsigned d = 0; d < steps.size(); ++d)
    for (unsigned j = 0; j < steps[d].size(); ++j)
      if (steps[d][j] > places[d][j].n - 1)
        return refuse(why, Twine(dimName(f.outs()[d].id)) + ": digits carry in the second layout");
  return success();
}

FailureOr<Layout> Layout::then(const Layout &g, std::string *why) const {
  SmallVector<unsigned, 4> zones;
  for (const Out &o : g.outputs)
    zones.push_back(o.zone);
  // A bit that several digits feed is xored here, so g must xor what it maps to as well.
  SmallVector<SmallVector<unsigned, 32>, 4> hits;
  for (unsigned d = 0; d < outputs.size(); ++d) {
    hits.emplace_back(outputs[d].zone, 0u);
    for (const In &in : inputs)
      for (const Digit &dg : in.digits)
        for (unsigned b = 0; b < outputs[d].zone; ++b)
          hits[d][b] += dg.v[d] >> b & 1;
    SmallVector<Run, 8> own;
    for (unsigned b = 0; b < outputs[d].zone; ++b) {
      if (hits[d][b] < 2)
        continue;
      if (own.empty())
        own = g.runs(outputs[d].id);
      const Run *r = binaryPlace(own, b);
      for (unsigned z = 0; r && z < r->v.size(); ++z) {
        unsigned a = bitLength(r->v[z] * ((int64_t(1) << b) / r->place));
        if (a > zones[z] && g.canRaise(z, a))
          zones[z] = a;
      }
    }
  }
  SmallVector<SmallVector<Run, 8>, 4> places;
  for (const Out &o : outputs)
    places.push_back(g.runsIn(o.id, zones));
  Composer c(*this, g, zones, places, hits, why);
  SmallVector<In, 4> ins;
  for (const In &in : inputs) {
    In made{in.id, {}};
    for (const Digit &d : in.digits)
      if (failed(c.digit(d, made.digits)))
        return failure();
    ins.push_back(std::move(made));
  }
  if (failed(c.checkCarries()))
    return failure();
  SmallVector<Out, 4> outs(g.outputs.begin(), g.outputs.end());
  for (unsigned z = 0; z < outs.size(); ++z)
    outs[z].zone = zones[z];
  return get(ins, outs, why);
}

//===----------------------------------------------------------------------===//
// Inverse
//===----------------------------------------------------------------------===//

namespace {

/// One digit of an input that can supply coordinates.
struct Source {
  unsigned in; ///< index of the input dimension
  int64_t place;
  int64_t n;
  uint64_t low; ///< its bits in the zones of all outputs, concatenated
};

/// Which sources give which bit of the zones: Gauss-Jordan elimination over GF(2).
class ZoneSolver {
public:
  /// Adds a source that moves the bits \p w.
  void add(uint64_t w, uint64_t source) {
    for (unsigned k = 0; k < 64; ++k)
      if (rows[k].first && (w >> k & 1)) {
        w ^= rows[k].first;
        source ^= rows[k].second;
      }
    if (!w)
      return;
    unsigned k = Log2_64(w);
    for (auto &[pw, ps] : rows)
      if (pw >> k & 1) {
        pw ^= w;
        ps ^= source;
      }
    rows[k] = {w, source};
    ++rank;
  }
  /// The sources whose xor moves exactly the bits \p w (all rows being unit vectors by now).
  uint64_t solve(uint64_t w) const {
    uint64_t r = 0;
    for (unsigned k = 0; k < 64; ++k)
      if (w >> k & 1)
        r ^= rows[k].second;
    return r;
  }
  unsigned rank = 0;

private:
  std::array<std::pair<uint64_t, uint64_t>, 64> rows{};
};

} // namespace

Layout::SectionResult Layout::sectionImpl(ArrayRef<DimId> prefer, Layout *result, std::string *why) const {
  SmallVector<unsigned, 8> order;
  for (unsigned i = 0; i < inputs.size(); ++i)
    order.push_back(i);
  auto rankOf = [&](unsigned i) { return llvm::find(prefer, inputs[i].id) - prefer.begin(); };
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::make_pair(rankOf(a), a) < std::make_pair(rankOf(b), b);
  });

  SmallVector<unsigned, 4> base; // first bit of each output's zone
  unsigned zoneBits = 0;
  for (const Out &o : outputs) {
    base.push_back(zoneBits);
    zoneBits += o.zone;
  }
  if (zoneBits > 64) {
    (void)refuse(why, "the xor zones are too large to invert");
    return SectionResult::NotRepresentable;
  }
  // Digits with a part above the zone are pinned one to one to that stride; the others supply zone bits.
  SmallVector<std::map<int64_t, Source>, 4> pins(outputs.size());
  SmallVector<Source, 32> bits;
  for (unsigned i : order)
    for (const Run &r : places(inputs[i].id)) {
      int at = -1;
      uint64_t low = 0;
      for (unsigned o = 0; o < outputs.size(); ++o) {
        low |= static_cast<uint64_t>(r.v[o] & lowMask(outputs[o].zone)) << base[o];
        if (!(r.v[o] >> outputs[o].zone))
          continue;
        if (at >= 0) {
          (void)refuse(why, Twine("a digit of ") + dimName(r.dim) + " strides two outputs");
          return SectionResult::Diagonal;
        }
        at = o;
      }
      if (at >= 0)
        pins[at].try_emplace(r.v[at] & ~lowMask(outputs[at].zone), Source{i, r.place, r.n, low});
      else if (low && bits.size() < 64)
        bits.push_back({i, r.place, r.n, low});
    }
  ZoneSolver solver;
  for (unsigned b = 0; b < bits.size(); ++b)
    solver.add(bits[b].low, uint64_t(1) << b);
  if (solver.rank < zoneBits) {
    (void)refuse(why, "the xor zone is not reached");
    return SectionResult::NotSurjective;
  }

  SmallVector<unsigned, 32> uses(bits.size(), 0);
  auto vec = [&](uint64_t sources, const Source *pin) {
    Vec v(inputs.size(), 0);
    for (unsigned b = 0; b < bits.size(); ++b)
      if (sources >> b & 1) {
        v[bits[b].in] ^= bits[b].place;
        ++uses[b];
      }
    if (pin)
      v[pin->in] += pin->place;
    return v;
  };
  SmallVector<In, 4> ins;
  for (unsigned o = 0; o < outputs.size(); ++o) {
    In in{outputs[o].id, {}};
    for (unsigned b = 0; b < outputs[o].zone; ++b)
      in.digits.push_back({2, vec(solver.solve(uint64_t(1) << (base[o] + b)), nullptr)});
    for (int64_t st = lowMask(outputs[o].zone) + 1; st < outputs[o].size;) {
      auto it = pins[o].find(st);
      if (it == pins[o].end()) {
        (void)refuse(why, Twine("nothing has stride ") + Twine(st) + " in " + dimName(outputs[o].id));
        return SectionResult::NotSurjective;
      }
      const Source &s = it->second;
      in.digits.push_back({s.n, vec(solver.solve(s.low), &s)});
      st *= s.n;
    }
    ins.push_back(std::move(in));
  }
  SmallVector<Out, 4> outs;
  for (const In &in : inputs)
    outs.push_back({in.id, inSize(in.id), 0});
  for (unsigned b = 0; b < bits.size(); ++b) {
    if (uses[b] < 2)
      continue;
    if (!isPow2(bits[b].place)) {
      (void)refuse(why, Twine("xor above an odd digit of ") + dimName(inputs[bits[b].in].id));
      return SectionResult::NotRepresentable;
    }
    unsigned &zone = outs[bits[b].in].zone;
    zone = std::max(zone, log2Of(bits[b].place) + 1);
  }
  if (!result)
    return SectionResult::Ok;
  FailureOr<Layout> l = get(ins, outs, why);
  if (failed(l))
    return SectionResult::NotRepresentable;
  *result = *l;
  return SectionResult::Ok;
}

FailureOr<Layout> Layout::section(ArrayRef<DimId> prefer, std::string *why) const {
  Layout l;
  if (sectionImpl(prefer, &l, why) != SectionResult::Ok)
    return failure();
  return l;
}

bool Layout::isSurjective() const {
  SectionResult r = sectionImpl({}, nullptr, nullptr);
  return r == SectionResult::Ok || r == SectionResult::NotRepresentable;
}

bool Layout::isBijective() const {
  int64_t n = 1;
  for (const Out &o : outputs)
    n *= o.size;
  return n == domainSize() && isSurjective();
}

FailureOr<Layout> Layout::inverse(std::string *why) const {
  int64_t n = 1;
  for (const Out &o : outputs)
    n *= o.size;
  if (n != domainSize())
    return refuse(why, Twine("no bijection: ") + Twine(domainSize()) + " inputs, " + Twine(n) + " outputs");
  return section({}, why);
}
