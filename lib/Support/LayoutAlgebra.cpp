//===- LayoutAlgebra.cpp - products, slices and shapes of layouts -----------===//

#include "LayoutDetail.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::layout_detail;

/// Layout::get for results that cannot break the rules.
static Layout sure(ArrayRef<Layout::In> ins, ArrayRef<Layout::Out> outs) {
  std::string why;
  FailureOr<Layout> l = Layout::get(ins, outs, &why);
  if (failed(l))
    reportFatalInternalError(Twine("layout algebra: ") + why);
  return *l;
}

//===----------------------------------------------------------------------===//
// Product and division
//===----------------------------------------------------------------------===//

FailureOr<Layout> Layout::times(const Layout &b, std::string *why) const {
  SmallVector<Out, 4> outs(outputs.begin(), outputs.end());
  SmallVector<int, 4> mine, theirs; // per output, its index in *this and in b
  for (unsigned i = 0; i < outputs.size(); ++i) {
    mine.push_back(i);
    theirs.push_back(b.outIndex(outputs[i].id));
  }
  for (unsigned i = 0; i < b.outputs.size(); ++i)
    if (!hasOut(b.outputs[i].id)) {
      outs.push_back({b.outputs[i].id, 1, 0});
      mine.push_back(-1);
      theirs.push_back(i);
    }
  SmallVector<int64_t, 4> atom;
  for (unsigned i = 0; i < outs.size(); ++i) {
    atom.push_back(outs[i].size);
    if (theirs[i] < 0)
      continue;
    const Out &o = b.outputs[theirs[i]];
    outs[i].size *= o.size;
    if (!o.zone)
      continue;
    if (!isPow2(atom[i]))
      return refuse(why, Twine("xor above an atom of ") + Twine(atom[i]) + " along " + dimName(o.id));
    outs[i].zone = o.zone + log2Of(atom[i]);
  }
  SmallVector<In, 4> ins;
  auto append = [&](const In &in, ArrayRef<int> index, bool scale) {
    auto it = llvm::find_if(ins, [&](const In &i) { return i.id == in.id; });
    if (it == ins.end()) {
      ins.push_back({in.id, {}});
      it = std::prev(ins.end());
    }
    for (const Digit &d : in.digits) {
      Digit g{d.n, Vec(outs.size(), 0)};
      for (unsigned i = 0; i < outs.size(); ++i)
        if (index[i] >= 0)
          g.v[i] = d.v[index[i]] * (scale ? atom[i] : 1);
      it->digits.push_back(std::move(g));
    }
  };
  for (const In &in : inputs)
    append(in, mine, false);
  for (const In &in : b.inputs)
    append(in, theirs, true);
  return get(ins, outs, why);
}

/// Takes the runs of an atom off the front of the runs of a layout; false when they are not there.
static bool takeAtom(ArrayRef<Layout::Run> atom, SmallVectorImpl<Layout::Run> &runs) {
  size_t k = 0;
  for (const Layout::Run &a : atom) {
    if (k == runs.size() || runs[k].v != a.v)
      return false;
    if (runs[k].n == a.n) {
      ++k;
      continue;
    }
    if (runs[k].n < a.n || runs[k].n % a.n)
      return false;
    runs[k].n /= a.n;
    for (int64_t &c : runs[k].v)
      c *= a.n;
  }
  runs.erase(runs.begin(), runs.begin() + k);
  return true;
}

std::optional<Layout> Layout::over(const Layout &atom) const {
  SmallVector<Out, 4> outs;
  SmallVector<int64_t, 4> size;
  for (const Out &o : outputs) {
    int64_t s = atom.outSize(o.id);
    if (o.size % s)
      return std::nullopt;
    size.push_back(s);
    unsigned below = log2Of(s);
    outs.push_back({o.id, o.size / s, o.zone > below ? o.zone - below : 0});
  }
  for (const Out &o : atom.outputs)
    if (!hasOut(o.id))
      return std::nullopt;
  for (const In &in : atom.inputs)
    if (!hasIn(in.id))
      return std::nullopt;
  SmallVector<In, 4> ins;
  for (const In &in : inputs) {
    SmallVector<Run, 8> mine = runs(in.id), theirs = atom.runs(in.id);
    for (Run &r : theirs) { // to this layout's outputs
      Vec v(outputs.size(), 0);
      for (unsigned o = 0; o < atom.outputs.size(); ++o)
        v[outIndex(atom.outputs[o].id)] = r.v[o];
      r.v = v;
    }
    if (!takeAtom(theirs, mine))
      return std::nullopt;
    In left{in.id, {}};
    for (Run &r : mine) {
      for (unsigned o = 0; o < outputs.size(); ++o) {
        if (r.v[o] % size[o])
          return std::nullopt;
        r.v[o] /= size[o];
      }
      left.digits.push_back({r.n, r.v});
    }
    ins.push_back(std::move(left));
  }
  FailureOr<Layout> b = get(ins, outs);
  if (failed(b))
    return std::nullopt;
  FailureOr<Layout> back = atom.times(*b);
  if (failed(back) || *back != *this)
    return std::nullopt;
  return *b;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Layout Layout::slice(DimId out) const {
  int drop = outIndex(out);
  if (drop < 0)
    return *this;
  SmallVector<In, 4> ins(inputs.begin(), inputs.end());
  SmallVector<Out, 4> outs(outputs.begin(), outputs.end());
  outs.erase(outs.begin() + drop);
  for (In &in : ins)
    for (Digit &d : in.digits)
      d.v.erase(d.v.begin() + drop);
  return sure(ins, outs);
}

Layout Layout::sliceAxis(unsigned axis) const {
  Layout l = slice(coord(axis));
  SmallVector<Out, 4> outs(l.outputs.begin(), l.outputs.end());
  for (Out &o : outs)
    if (isCoord(o.id) && axisOf(o.id) > axis)
      o.id = coord(axisOf(o.id) - 1);
  return sure(l.inputs, outs);
}

Layout Layout::insertAxis(unsigned axis, int64_t size) const {
  SmallVector<In, 4> ins(inputs.begin(), inputs.end());
  SmallVector<Out, 4> outs(outputs.begin(), outputs.end());
  for (Out &o : outs)
    if (isCoord(o.id) && axisOf(o.id) >= axis)
      o.id = coord(axisOf(o.id) + 1);
  outs.push_back({coord(axis), size, 0});
  for (In &in : ins)
    for (Digit &d : in.digits)
      d.v.push_back(0);
  return sure(ins, outs);
}

Layout Layout::squeeze(DimId dim) const {
  SmallVector<In, 4> ins(inputs.begin(), inputs.end());
  for (In &in : ins)
    if (in.id == dim)
      llvm::erase_if(in.digits, [](const Digit &d) { return !d.moves(); });
  return sure(ins, outputs);
}

Layout Layout::rename(ArrayRef<std::pair<DimId, DimId>> names) const {
  auto to = [&](DimId d) {
    for (auto [from, name] : names)
      if (from == d)
        return name;
    return d;
  };
  SmallVector<In, 4> ins(inputs.begin(), inputs.end());
  SmallVector<Out, 4> outs(outputs.begin(), outputs.end());
  for (In &in : ins)
    in.id = to(in.id);
  for (Out &o : outs)
    o.id = to(o.id);
  return sure(ins, outs);
}

Layout Layout::permuteAxes(ArrayRef<unsigned> perm) const {
  SmallVector<std::pair<DimId, DimId>, 8> names;
  for (auto [i, from] : llvm::enumerate(perm))
    names.push_back({coord(from), coord(i)});
  return rename(names);
}

Layout Layout::pad(ArrayRef<DimValue> sizes) const {
  SmallVector<Out, 4> outs(outputs.begin(), outputs.end());
  for (auto [d, n] : sizes)
    if (int o = outIndex(d); o >= 0)
      outs[o].size = n;
  return sure(inputs, outs);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Layout Layout::without(DimId dim) const {
  SmallVector<In, 4> ins;
  for (const In &in : inputs)
    if (in.id != dim)
      ins.push_back(in);
  return sure(ins, outputs);
}

FailureOr<Layout> Layout::widen(ArrayRef<DimValue> sizes, std::string *why) const {
  SmallVector<In, 4> ins(inputs.begin(), inputs.end());
  for (auto [dim, want] : sizes) {
    if (want <= inSize(dim))
      continue;
    SmallVector<Run, 8> r = runs(dim);
    if (r.empty())
      r.push_back({dim, 1, 1, Vec(outputs.size(), 0)});
    Run &last = r.back();
    for (unsigned o = 0; o < outputs.size(); ++o)
      if (last.v[o] & lowMask(outputs[o].zone))
        return refuse(why, Twine(dimName(dim)) + " ends inside an xor zone: pad the memory instead");
    last.n = divideCeil(want, last.place);
    auto it = llvm::find_if(ins, [d = dim](const In &i) { return i.id == d; });
    if (it == ins.end()) {
      ins.push_back({dim, {}});
      it = std::prev(ins.end());
    }
    it->digits.clear();
    for (const Run &x : r)
      it->digits.push_back({x.n, x.v});
  }
  return get(ins, outputs, why);
}

FailureOr<Layout> Layout::reshape(ArrayRef<int64_t> shape, std::string *why) const {
  SmallVector<DimValue, 4> from, to;
  int64_t before = 1, after = 1;
  for (const Out &o : outputs) {
    from.push_back({o.id, o.size});
    before *= o.size;
  }
  for (auto [i, n] : llvm::enumerate(shape)) {
    to.push_back({coord(i), n});
    after *= n;
  }
  if (before != after)
    return refuse(why, Twine("a reshape from ") + Twine(before) + " to " + Twine(after) + " elements");
  FailureOr<Layout> flat = then(rowMajor(from), why);
  if (failed(flat))
    return failure();
  return flat->then(unflatten(to), why);
}

Layout Layout::join(ArrayRef<DimId> dims, DimId into) const {
  SmallVector<In, 4> ins;
  for (const In &in : inputs)
    if (!llvm::is_contained(dims, in.id))
      ins.push_back(in);
  In joined{into, {}};
  for (DimId d : dims)
    llvm::append_range(joined.digits, digits(d));
  ins.push_back(std::move(joined));
  return sure(ins, outputs);
}

FailureOr<Layout> Layout::part(DimId dim, int64_t at, DimId lo, DimId hi, std::string *why) const {
  In low{lo, {}}, high{hi, {}};
  for (const Run &r : places(dim)) {
    if (r.place * r.n <= at) {
      low.digits.push_back({r.n, r.v});
    } else if (r.place >= at) {
      high.digits.push_back({r.n, r.v});
    } else if (at % r.place == 0 && r.n % (at / r.place) == 0) {
      int64_t k = at / r.place;
      low.digits.push_back({k, r.v});
      Digit d{r.n / k, r.v};
      for (int64_t &c : d.v)
        c *= k;
      high.digits.push_back(std::move(d));
    } else {
      return refuse(why, Twine(dimName(dim)) + " cannot be cut at " + Twine(at));
    }
  }
  SmallVector<In, 4> ins;
  for (const In &in : inputs)
    if (in.id != dim)
      ins.push_back(in);
  ins.push_back(std::move(low));
  ins.push_back(std::move(high));
  return get(ins, outputs, why);
}

FailureOr<Layout> Layout::lowPart(DimId dim, int64_t n, std::string *why) const {
  In low{dim, {}};
  int64_t have = 1;
  for (const Run &r : runs(dim)) {
    if (have == n)
      break;
    int64_t take = std::min(r.n, n / have);
    if (n % (have * take) || r.n % take)
      return refuse(why, Twine(dimName(dim)) + " cannot be cut at " + Twine(n));
    low.digits.push_back({take, r.v});
    have *= take;
  }
  if (have != n)
    return refuse(why, Twine(dimName(dim)) + " cannot be cut at " + Twine(n));
  SmallVector<In, 4> ins;
  for (const In &in : inputs)
    if (in.id != dim)
      ins.push_back(in);
  ins.push_back(std::move(low));
  return get(ins, outputs, why);
}

Layout Layout::permuteDigits(DimId dim, ArrayRef<unsigned> perm) const {
  SmallVector<In, 4> ins(inputs.begin(), inputs.end());
  for (In &in : ins) {
    if (in.id != dim)
      continue;
    SmallVector<Digit, 6> old = in.digits;
    in.digits.clear();
    for (unsigned i : perm)
      in.digits.push_back(old[i]);
  }
  return sure(ins, outputs);
}

FailureOr<Layout> Layout::swizzled(unsigned B, unsigned M, unsigned S, DimId out, std::string *why) const {
  int64_t z = outSize(out);
  unsigned top = M + S + B;
  if (B > S || top > 30)
    return refuse(why, "no such swizzle");
  if (z % (int64_t(1) << top) && !isPow2(z))
    return refuse(why, Twine(z) + " elements are no multiple of the swizzle's period of " +
                           Twine(int64_t(1) << top));
  unsigned k = isPow2(z) ? std::min(top, log2Of(z)) : top;
  LayoutBuilder b;
  b.out(out, z, M + B);
  for (unsigned i = 0; i < k; ++i) {
    int64_t image = i >= M + S ? int64_t(1) << (i - S) : 0;
    b.digit(out, 2, {{out, (int64_t(1) << i) | image}});
  }
  b.digit(out, z >> k, {{out, int64_t(1) << k}});
  FailureOr<Layout> s = b.build(why);
  if (failed(s))
    return failure();
  return then(*s, why);
}
