//===- Layout.cpp - normal form, evaluation and constructors of layouts -----===//

#include "tilec/Support/Layout.h"
#include "LayoutDetail.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;
using namespace tilec;
using namespace tilec::layout_detail;

static constexpr const char *kDimNames[] = {"reg", "lane", "warp", "group", "block", "slot", "offset", "d0",
                                            "d1",  "d2",   "d3",   "d4",    "d5",    "d6",   "d7"};

StringRef tilec::dimName(DimId d) { return kDimNames[static_cast<unsigned>(d)]; }

std::optional<DimId> tilec::dimByName(StringRef name) {
  for (auto [i, n] : llvm::enumerate(kDimNames))
    if (name == n)
      return static_cast<DimId>(i);
  return std::nullopt;
}

bool Layout::Digit::moves() const {
  return llvm::any_of(v, [](int64_t c) { return c != 0; });
}

//===----------------------------------------------------------------------===//
// Normal form
//===----------------------------------------------------------------------===//

// Bounds that keep every sum and product below inside 64 bits; far above any tile.
static constexpr int64_t kMaxExtent = int64_t(1) << 40;
static constexpr int64_t kMaxReach = int64_t(1) << 48;
static constexpr unsigned kMaxZone = 32;
static constexpr size_t kMaxDigits = 256;

FailureOr<Layout> Layout::get(ArrayRef<In> ins, ArrayRef<Out> outs, std::string *why) {
  Layout l;
  SmallVector<unsigned, 4> order(outs.size());
  for (unsigned i = 0; i < outs.size(); ++i)
    order[i] = i;
  llvm::sort(order, [&](unsigned a, unsigned b) { return outs[a].id < outs[b].id; });
  for (unsigned i : order) {
    const Out &o = outs[i];
    if (!l.outputs.empty() && l.outputs.back().id == o.id)
      return refuse(why, Twine("output ") + dimName(o.id) + " is listed twice");
    if (o.size < 1 || o.size > kMaxReach)
      return refuse(why, Twine("size ") + Twine(o.size) + " of " + dimName(o.id) + " is out of range");
    if (o.zone > kMaxZone)
      return refuse(why, Twine("the xor zone of ") + dimName(o.id) + " is too large");
    l.outputs.push_back(o);
  }
  for (const In &in : ins) {
    In mine{in.id, {}};
    int64_t size = 1;
    for (const Digit &d : in.digits) {
      if (d.v.size() != outs.size())
        return refuse(why, Twine("a digit of ") + dimName(in.id) + " has the wrong number of strides");
      if (d.n < 1 || d.n > kMaxExtent || (size *= d.n) > kMaxExtent)
        return refuse(why, Twine(dimName(in.id)) + " is too large");
      Digit mineDigit{d.n, {}};
      for (unsigned i : order) {
        if (d.v[i] < 0 || d.v[i] > kMaxReach || (d.v[i] && d.n > kMaxReach / d.v[i]))
          return refuse(why, Twine("stride ") + Twine(d.v[i]) + " of " + dimName(in.id) + " is out of range");
        mineDigit.v.push_back(d.v[i]);
      }
      mine.digits.push_back(std::move(mineDigit));
    }
    if (mine.digits.size() > kMaxDigits)
      return refuse(why, Twine(dimName(in.id)) + " has too many digits");
    l.inputs.push_back(std::move(mine));
  }
  llvm::sort(l.inputs, [](const In &a, const In &b) { return a.id < b.id; });
  for (unsigned i = 1; i < l.inputs.size(); ++i)
    if (l.inputs[i].id == l.inputs[i - 1].id)
      return refuse(why, Twine("input ") + dimName(l.inputs[i].id) + " is listed twice");
  if (failed(l.normalise(why)))
    return failure();
  return l;
}

bool Layout::outsideZones(const Vec &v, ArrayRef<unsigned> zones) const {
  for (unsigned o = 0; o < zones.size(); ++o)
    if (v[o] & lowMask(zones[o]))
      return false;
  return true;
}

static SmallVector<unsigned, 4> zonesOf(ArrayRef<Layout::Out> outs) {
  SmallVector<unsigned, 4> z;
  for (const Layout::Out &o : outs)
    z.push_back(o.zone);
  return z;
}

/// Splits digits that reach into a zone into bits.
LogicalResult Layout::expandZones(std::string *why) {
  SmallVector<unsigned, 4> zones = zonesOf(outputs);
  for (In &in : inputs) {
    SmallVector<Digit, 6> out;
    for (Digit &d : in.digits) {
      while (d.n > 2 && d.n % 2 == 0 && !outsideZones(d.v, zones)) {
        out.push_back({2, d.v});
        d.n /= 2;
        for (int64_t &c : d.v)
          c *= 2;
      }
      if (d.n > 2 && !outsideZones(d.v, zones))
        return refuse(why, Twine("a digit of ") + Twine(d.n) + " values of " + dimName(in.id) +
                               " lies inside an xor zone");
      if (d.n > 1)
        out.push_back(std::move(d));
    }
    in.digits = std::move(out);
  }
  llvm::erase_if(inputs, [](const In &in) { return in.digits.empty(); });
  return success();
}

/// The smallest zone reaches one past the highest bit that two digits share.
void Layout::shrinkZones() {
  for (unsigned o = 0; o < outputs.size(); ++o) {
    int64_t seen = 0, shared = 0;
    int64_t mask = lowMask(outputs[o].zone);
    if (!mask)
      continue;
    for (const In &in : inputs)
      for (const Digit &d : in.digits) {
        shared |= seen & d.v[o] & mask;
        seen |= d.v[o];
      }
    outputs[o].zone = bitLength(shared);
  }
}

/// Joins neighbours that continue each other, then splits the power of two off, bit by bit.
void Layout::mergeAndSplit() {
  SmallVector<unsigned, 4> zones = zonesOf(outputs);
  for (In &in : inputs) {
    SmallVector<Digit, 6> merged;
    bool lastFree = false;
    for (Digit &d : in.digits) {
      bool free = outsideZones(d.v, zones);
      if (!merged.empty() && free && lastFree && continues(merged.back().n, merged.back().v, d.v))
        merged.back().n *= d.n;
      else
        merged.push_back(std::move(d));
      lastFree = free;
    }
    in.digits.clear();
    for (Digit &d : merged) {
      for (; d.n % 2 == 0; d.n /= 2) {
        in.digits.push_back({2, d.v});
        for (int64_t &c : d.v)
          c *= 2;
      }
      if (d.n > 1)
        in.digits.push_back(std::move(d));
    }
  }
}

LogicalResult Layout::normalise(std::string *why) {
  if (failed(expandZones(why)))
    return failure();
  shrinkZones();
  mergeAndSplit();
  return success();
}

namespace tilec {
// Declared by its friend alone: a qualified name would not find it.
hash_code hash_value(const Layout &l) {
  hash_code h = llvm::hash_value(l.inputs.size());
  for (const Layout::In &in : l.inputs) {
    h = hash_combine(h, static_cast<unsigned>(in.id), in.digits.size());
    for (const Layout::Digit &d : in.digits)
      h = hash_combine(h, d.n, hash_combine_range(d.v.begin(), d.v.end()));
  }
  for (const Layout::Out &o : l.outputs)
    h = hash_combine(h, static_cast<unsigned>(o.id), o.size, o.zone);
  return h;
}
} // namespace tilec

//===----------------------------------------------------------------------===//
// Looking
//===----------------------------------------------------------------------===//

ArrayRef<Layout::Digit> Layout::digits(DimId in) const {
  for (const In &i : inputs)
    if (i.id == in)
      return i.digits;
  return {};
}

int Layout::outIndex(DimId d) const {
  for (unsigned i = 0; i < outputs.size(); ++i)
    if (outputs[i].id == d)
      return i;
  return -1;
}

int64_t Layout::inSize(DimId d) const {
  int64_t n = 1;
  for (const Digit &g : digits(d))
    n *= g.n;
  return n;
}

int64_t Layout::domainSize() const {
  int64_t n = 1;
  for (const In &in : inputs)
    n *= inSize(in.id);
  return n;
}

int64_t Layout::outSize(DimId d) const {
  int i = outIndex(d);
  return i < 0 ? 1 : outputs[i].size;
}

unsigned Layout::zone(DimId d) const {
  int i = outIndex(d);
  return i < 0 ? 0 : outputs[i].zone;
}

int64_t Layout::cover(DimId d) const {
  int o = outIndex(d);
  if (o < 0)
    return 1;
  int64_t mask = lowMask(outputs[o].zone), low = 0, high = 0;
  for (const In &in : inputs)
    for (const Digit &g : in.digits) {
      low |= g.v[o] & mask;
      high += (g.n - 1) * (g.v[o] & ~mask);
    }
  return high + low + 1;
}

unsigned Layout::rank() const {
  return llvm::count_if(outputs, [](const Out &o) { return isCoord(o.id); });
}

SmallVector<int64_t, 4> Layout::shape() const {
  SmallVector<int64_t, 4> s;
  for (const Out &o : outputs)
    if (isCoord(o.id))
      s.push_back(o.size);
  return s;
}

SmallVector<int64_t, 4> Layout::operator()(ArrayRef<DimValue> at) const {
  SmallVector<int64_t, 4> low(outputs.size(), 0), high(outputs.size(), 0);
  for (auto [dim, x] : at) {
    for (const Digit &g : digits(dim)) {
      int64_t q = x % g.n;
      x /= g.n;
      for (unsigned o = 0; q && o < outputs.size(); ++o) {
        int64_t mask = lowMask(outputs[o].zone), c = q * g.v[o];
        low[o] ^= c & mask;
        high[o] += c & ~mask;
      }
    }
    assert(x == 0 && "coordinate outside the layout");
  }
  for (unsigned o = 0; o < outputs.size(); ++o)
    high[o] += low[o];
  return high;
}

int64_t Layout::at(DimId out, ArrayRef<DimValue> in) const {
  int o = outIndex(out);
  return o < 0 ? 0 : (*this)(in)[o];
}

std::vector<std::pair<int64_t, int64_t>> Layout::contributions(DimId in, DimId out) const {
  int o = outIndex(out);
  std::vector<std::pair<int64_t, int64_t>> r{{0, 0}};
  int64_t mask = lowMask(zone(out));
  for (const Digit &g : digits(in)) {
    int64_t c = o < 0 ? 0 : g.v[o];
    size_t below = r.size();
    r.reserve(below * g.n);
    for (int64_t q = 1; q < g.n; ++q)
      for (size_t k = 0; k < below; ++k)
        r.emplace_back(r[k].first ^ (q * c & mask), r[k].second + (q * c & ~mask));
  }
  return r;
}

std::vector<int64_t> Layout::table(DimId out, ArrayRef<DimId> order) const {
  std::vector<std::pair<int64_t, int64_t>> acc{{0, 0}};
  for (DimId in : order) {
    auto part = contributions(in, out);
    std::vector<std::pair<int64_t, int64_t>> next;
    next.reserve(acc.size() * part.size());
    for (auto &a : acc)
      for (auto &p : part)
        next.emplace_back(a.first ^ p.first, a.second + p.second);
    acc = std::move(next);
  }
  std::vector<int64_t> r;
  r.reserve(acc.size());
  for (auto &a : acc)
    r.push_back(a.first + a.second);
  return r;
}

SmallVector<Layout::Run, 8> Layout::places(DimId in) const {
  SmallVector<Run, 8> r;
  int64_t p = 1;
  for (const Digit &g : digits(in)) {
    r.push_back({in, p, g.n, g.v});
    p *= g.n;
  }
  return r;
}

SmallVector<Layout::Run, 8> Layout::runs(DimId in) const { return runsIn(in, zonesOf(outputs)); }

SmallVector<Layout::Run, 8> Layout::runsIn(DimId in, ArrayRef<unsigned> zones) const {
  SmallVector<Run, 8> r;
  bool lastFree = false;
  int64_t p = 1;
  for (const Digit &g : digits(in)) {
    bool free = outsideZones(g.v, zones);
    if (!r.empty() && free && lastFree && continues(r.back().n, r.back().v, g.v))
      r.back().n *= g.n;
    else
      r.push_back({in, p, g.n, g.v});
    lastFree = free;
    p *= g.n;
  }
  return r;
}

SmallVector<Layout::Run, 4> Layout::replication() const {
  SmallVector<Run, 4> r;
  for (const In &in : inputs) {
    int64_t p = 1;
    for (const Digit &g : in.digits) {
      if (!g.moves())
        r.push_back({in.id, p, g.n, g.v});
      p *= g.n;
    }
  }
  return r;
}

bool Layout::isInjective() const {
  if (outputs.size() != 1)
    return false;
  int64_t mask = lowMask(outputs[0].zone);
  SmallVector<std::pair<int64_t, int64_t>, 16> strides; // stride above the zone, digit size
  SmallVector<int64_t, 16> basis;
  for (const In &in : inputs)
    for (const Digit &g : in.digits) {
      if (int64_t high = g.v[0] & ~mask) {
        strides.push_back({high, g.n});
        continue;
      }
      int64_t w = g.v[0];
      for (int64_t b : basis)
        w = std::min(w, w ^ b);
      if (!w)
        return false;
      basis.push_back(w);
    }
  llvm::sort(strides);
  int64_t reach = 0;
  for (auto [stride, n] : strides) {
    if (stride <= reach)
      return false;
    reach += (n - 1) * stride;
  }
  return true;
}

bool Layout::canRaise(unsigned o, unsigned a) const {
  int64_t mask = lowMask(a), above = mask & ~lowMask(outputs[o].zone), seen = 0;
  for (const In &in : inputs)
    for (const Digit &g : in.digits) {
      if (g.n > 2) {
        if (g.v[o] & mask)
          return false;
        continue;
      }
      if (seen & g.v[o] & above)
        return false;
      seen |= g.v[o];
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Constructors
//===----------------------------------------------------------------------===//

LayoutBuilder &LayoutBuilder::out(DimId id, int64_t size, unsigned zone) {
  outs.push_back({id, size, zone});
  for (Layout::In &in : ins)
    for (Layout::Digit &d : in.digits)
      d.v.push_back(0);
  return *this;
}

LayoutBuilder &LayoutBuilder::digit(DimId in, int64_t n, ArrayRef<DimValue> moves) {
  Layout::Digit d{n, Layout::Vec(outs.size(), 0)};
  for (auto [id, stride] : moves)
    for (unsigned o = 0; o < outs.size(); ++o)
      if (outs[o].id == id)
        d.v[o] += stride;
  auto it = llvm::find_if(ins, [&](const Layout::In &i) { return i.id == in; });
  if (it == ins.end()) {
    ins.push_back({in, {}});
    it = std::prev(ins.end());
  }
  it->digits.push_back(std::move(d));
  return *this;
}

FailureOr<Layout> LayoutBuilder::build(std::string *why) const { return Layout::get(ins, outs, why); }

Layout LayoutBuilder::known() const {
  std::string why;
  FailureOr<Layout> l = build(&why);
  if (failed(l))
    reportFatalInternalError(Twine("layout table: ") + why);
  return *l;
}

Layout Layout::known(StringRef text) {
  std::string why;
  FailureOr<Layout> l = parse(text, &why);
  if (failed(l))
    reportFatalInternalError(Twine("layout table: ") + text + ": " + why);
  return *l;
}

Layout Layout::identity(ArrayRef<DimValue> dims) {
  LayoutBuilder b;
  for (auto [d, n] : dims)
    b.out(d, n);
  for (auto [d, n] : dims)
    b.digit(d, n, {{d, 1}});
  return b.known();
}

Layout Layout::strided(ArrayRef<DimValue> dims, ArrayRef<int64_t> strides, int64_t size, DimId out) {
  assert(dims.size() == strides.size());
  int64_t last = 0;
  for (auto [dim, stride] : llvm::zip(dims, strides))
    last += (dim.second - 1) * stride;
  LayoutBuilder b;
  b.out(out, size ? size : last + 1);
  for (auto [dim, stride] : llvm::zip(dims, strides))
    b.digit(dim.first, dim.second, {{out, stride}});
  return b.known();
}

Layout Layout::rowMajor(ArrayRef<DimValue> dims, DimId out) {
  SmallVector<int64_t, 4> strides(dims.size());
  int64_t st = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = st;
    st *= dims[i].second;
  }
  return strided(dims, strides, st, out);
}

Layout Layout::unflatten(ArrayRef<DimValue> dims, DimId in) {
  LayoutBuilder b;
  for (auto [d, n] : dims)
    b.out(d, n);
  for (auto [d, n] : llvm::reverse(dims))
    b.digit(in, n, {{d, 1}});
  return b.known();
}
