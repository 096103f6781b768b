//===- LayoutConversion.cpp - from one fragment to another -------------------===//
//
// transfer(src, dst) = dst, then the inverse of src: where each destination
// element comes from. What kind of move that is can be read off its digits.
//
//===----------------------------------------------------------------------===//

#include "LayoutDetail.h"
#include "tilec/Support/LayoutDecisions.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::layout_detail;

/// The cost of a conversion through shared memory that could not be priced.
static constexpr int64_t kUnpriced = 1000000;

//===----------------------------------------------------------------------===//
// Small linear algebra over GF(2)
//===----------------------------------------------------------------------===//

namespace {

/// A reduced basis of vectors, each with what it is made of.
class Basis {
public:
  struct Row {
    int64_t v, from;
  };
  /// Reduces x, collecting in `from` what was xored in.
  int64_t reduce(int64_t x, int64_t &from) const {
    for (const Row &r : rows)
      if (x >> log2Of(r.v) & 1) {
        x ^= r.v;
        from ^= r.from;
      }
    return x;
  }
  bool add(int64_t x, int64_t from) {
    x = reduce(x, from);
    if (!x)
      return false;
    unsigned k = log2Of(x);
    for (Row &r : rows)
      if (r.v >> k & 1) {
        r.v ^= x;
        r.from ^= from;
      }
    rows.push_back({x, from});
    return true;
  }
  SmallVector<Row, 8> rows;
};

} // namespace

static unsigned rankOf(ArrayRef<int64_t> vs) {
  Basis b;
  for (int64_t v : vs)
    b.add(v, 0);
  return b.rows.size();
}

std::optional<SmallVector<int64_t, 8>> tilec::affineInLane(ArrayRef<int16_t> table) {
  if (!isPow2(table.size()))
    return std::nullopt;
  SmallVector<int64_t, 8> r{table[0]};
  for (size_t bit = 1; bit < table.size(); bit *= 2)
    r.push_back(table[bit] ^ table[0]);
  for (size_t l = 0; l < table.size(); ++l) {
    int64_t x = r[0];
    for (unsigned b = 0; (size_t(1) << b) < table.size(); ++b)
      if (l >> b & 1)
        x ^= r[b + 1];
    if (x != table[l])
      return std::nullopt;
  }
  return r;
}

//===----------------------------------------------------------------------===//
// The transfer map
//===----------------------------------------------------------------------===//

/// Where each destination element comes from. A source that several lanes or warps hold is read from the
/// reader's own.
static FailureOr<Layout> transfer(const Layout &src, const Layout &dst, std::string *why) {
  FailureOr<Layout> inv = src.section({}, why);
  if (failed(inv))
    return failure();
  FailureOr<Layout> p = dst.then(*inv, why);
  if (failed(p))
    return failure();
  SmallVector<Layout::In, 4> ins(p->ins().begin(), p->ins().end());
  for (const Layout::Run &r : src.replication()) {
    int o = p->outIndex(r.dim);
    if (r.dim == DimId::Reg || o < 0)
      continue;
    for (Layout::In &in : ins) {
      if (in.id != r.dim)
        continue;
      int64_t place = 1;
      for (Layout::Digit &d : in.digits) {
        if (place == r.place && d.n == r.n)
          d.v[o] += r.place;
        place *= d.n;
      }
    }
  }
  return Layout::get(ins, p->outs(), why);
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

namespace {

class Planner {
public:
  Planner(const Layout &src, const Layout &dst, unsigned elemBytes, BankModel model, bool withStaging)
      : src(src), dst(dst), elemBytes(elemBytes), model(model), withStaging(withStaging) {}
  Conversion run();

private:
  bool owns(DimId dim) const;
  bool crossesWarps() const;
  Conversion within();
  Conversion shared(std::string why);
  Conversion shuffle();
  Conversion broadcast();
  bool chooseReaders(const Basis &exchange);
  void addRound(ArrayRef<int64_t> readerReg, const std::vector<int64_t> &lane,
                const std::vector<int64_t> &reg);
  void countPacked(ArrayRef<Layout::Run> regs, int64_t moved);
  std::pair<std::vector<int64_t>, std::vector<int64_t>> sources() const;
  std::optional<SharedChoice> stage(unsigned outer, unsigned inner, ArrayRef<int64_t> extents) const;

  const Layout &src, &dst;
  unsigned elemBytes;
  BankModel model;
  bool withStaging;
  Layout p; ///< transfer map
  Conversion c;
  SmallVector<int64_t, 8> toReg; ///< per lane bit, which registers the reader flips in a round
};

} // namespace

/// Does every destination element come from the same \p dim?
bool Planner::owns(DimId dim) const {
  int o = p.outIndex(dim);
  for (const Layout::In &in : p.ins())
    for (const Layout::Run &r : p.places(in.id))
      if ((o < 0 ? 0 : r.v[o]) != (in.id == dim && o >= 0 ? r.place : 0))
        return false;
  return true;
}

bool Planner::crossesWarps() const {
  for (const Layout::Out &o : p.outs())
    if (o.id != DimId::Reg && o.id != DimId::Lane && !owns(o.id))
      return true;
  return false;
}

Conversion Planner::run() {
  if (src == dst)
    return c;
  std::string why;
  FailureOr<Layout> map = transfer(src, dst, &why);
  if (failed(map))
    return shared(why);
  p = *map;
  c.from = p;
  return crossesWarps() ? shared("crosses warps") : within();
}

Conversion Planner::within() {
  int64_t R = p.inSize(DimId::Reg);
  if (!owns(DimId::Lane))
    return shuffle();
  int o = p.outIndex(DimId::Reg);
  for (const Layout::In &in : p.ins())
    for (const Layout::Digit &d : in.digits)
      if (in.id != DimId::Reg && o >= 0 && d.v[o]) {
        c.kind = Conversion::Select;
        c.cost = R;
        return c;
      }
  bool same = R == src.inSize(DimId::Reg);
  for (auto [low, high] : p.contributions(DimId::Reg, DimId::Reg)) {
    same &= low + high == static_cast<int64_t>(c.perm.size());
    c.perm.push_back(low + high);
  }
  c.kind = same ? Conversion::None : Conversion::Registers;
  return c;
}

/// Source lane and register of every (destination register, lane) of warp 0.
std::pair<std::vector<int64_t>, std::vector<int64_t>> Planner::sources() const {
  DimId order[] = {DimId::Reg, DimId::Lane};
  return {p.table(DimId::Lane, order), p.table(DimId::Reg, order)};
}

/// Chooses, per lane bit, the registers G that a reader flips, so that in each round every lane is read in
/// one register only: C G + D = 1 if that has a solution (data that can stay then stays), else any G with C G
/// + D invertible.
bool Planner::chooseReaders(const Basis &exchange) {
  SmallVector<int64_t, 8> D;
  for (const Layout::Run &r : p.places(DimId::Lane))
    D.push_back(r.v[p.outIndex(DimId::Lane)]);
  bool stay = true;
  for (unsigned i = 0; i < D.size(); ++i) {
    int64_t g = 0;
    stay &= exchange.reduce(D[i] ^ (int64_t(1) << i), g) == 0;
    toReg.push_back(g);
  }
  if (stay)
    return true;
  toReg.assign(D.size(), 0);
  Basis used;
  SmallVector<unsigned, 8> todo;
  for (unsigned i = 0; i < D.size(); ++i)
    if (!used.add(D[i], 0))
      todo.push_back(i);
  for (unsigned i : todo)
    for (const Basis::Row &r : exchange.rows)
      if (used.add(D[i] ^ r.v, 0)) {
        toReg[i] = r.from;
        break;
      }
  return used.rows.size() == D.size();
}

/// A round in which lane l reads for its register readerReg[l] (-1: none).
void Planner::addRound(ArrayRef<int64_t> readerReg, const std::vector<int64_t> &lane,
                       const std::vector<int64_t> &reg) {
  size_t lanes = readerReg.size();
  Conversion::Round round;
  round.sendReg.assign(lanes, -1);
  round.srcLane.resize(lanes);
  round.moves = false;
  for (size_t l = 0; l < lanes; ++l) {
    round.dstReg.push_back(readerReg[l]);
    if (readerReg[l] < 0) {
      round.srcLane[l] = l;
      continue;
    }
    size_t at = readerReg[l] * lanes + l;
    round.srcLane[l] = lane[at];
    round.sendReg[lane[at]] = reg[at];
    round.moves |= lane[at] != static_cast<int64_t>(l);
  }
  c.rounds.push_back(std::move(round));
}

/// Narrow elements move a word at a time when the registers of a word stay together.
void Planner::countPacked(ArrayRef<Layout::Run> regs, int64_t moved) {
  int64_t R = p.inSize(DimId::Reg), perWord = elemBytes < 4 ? 4 / elemBytes : 1;
  int o = p.outIndex(DimId::Reg); // negative: the source has one register
  unsigned low = log2Of(perWord);
  auto sourceReg = [&](const Layout::Run &r) { return o < 0 ? 0 : r.v[o]; };
  bool keep = regs.size() >= low;
  for (unsigned b = 0; keep && b < low; ++b)
    for (int x = 0; x < static_cast<int>(regs[b].v.size()); ++x)
      keep &= regs[b].n == 2 && regs[b].v[x] == (x == o ? int64_t(1) << b : 0);
  for (const Layout::In &in : p.ins())
    for (const Layout::Run &r : p.places(in.id))
      if (in.id != DimId::Reg || r.place >= perWord)
        keep &= sourceReg(r) % perWord == 0;
  SmallVector<int64_t, 8> take;
  for (auto [g, r] : llvm::zip(toReg, p.places(DimId::Lane))) {
    keep &= g % perWord == 0;
    take.push_back(sourceReg(r) ^ p.at(DimId::Reg, {{DimId::Reg, g}}));
  }
  int64_t together = keep ? perWord : 1;
  c.packed = keep || perWord == 1;
  c.shuffles = moved / together;
  c.selects = R / together * (rankOf(toReg) + rankOf(take));
  c.cost = 2 * c.shuffles + c.selects;
}

Conversion Planner::shuffle() {
  SmallVector<Layout::Run, 8> regs = p.places(DimId::Reg);
  unsigned o = p.outIndex(DimId::Lane);
  Basis exchange;
  for (const Layout::Run &r : regs) {
    if (r.v[o] && (r.n != 2 || !isPow2(r.place)))
      return shared("an odd digit crosses lanes");
    exchange.add(r.v[o], r.place);
  }
  for (const Layout::Run &r : p.places(DimId::Lane))
    if (r.n != 2)
      return shared("an odd digit crosses lanes");
  if (!chooseReaders(exchange))
    return dst.replication().empty() ? shared("the destination replicates over lanes") : broadcast();
  c.kind = Conversion::Shuffle;
  c.exchangeBits = exchange.rows.size();
  auto [lane, reg] = sources();
  int64_t R = p.inSize(DimId::Reg), lanes = p.inSize(DimId::Lane), moved = 0;
  for (int64_t rho = 0; rho < R; ++rho) {
    SmallVector<int64_t, 64> reader(lanes, rho);
    for (int64_t l = 0; l < lanes; ++l)
      for (unsigned b = 0; b < toReg.size(); ++b)
        if (l >> b & 1)
          reader[l] ^= toReg[b];
    addRound(reader, lane, reg);
    moved += c.rounds.back().moves;
  }
  countPacked(regs, moved);
  return c;
}

/// Replicated destination: per register, rounds of lanes whose sources do not clash.
Conversion Planner::broadcast() {
  c.kind = Conversion::Shuffle;
  auto [lane, reg] = sources();
  int64_t R = p.inSize(DimId::Reg), lanes = p.inSize(DimId::Lane);
  for (int64_t r = 0; r < R; ++r) {
    SmallVector<bool, 64> done(lanes, false);
    for (int64_t left = lanes; left > 0;) {
      SmallVector<int64_t, 64> reader(lanes, -1), offers(lanes, -1);
      for (int64_t l = 0; l < lanes; ++l) {
        int64_t s = lane[r * lanes + l], g = reg[r * lanes + l];
        if (done[l] || (offers[s] >= 0 && offers[s] != g))
          continue;
        offers[s] = g;
        reader[l] = r;
        done[l] = true;
        --left;
      }
      addRound(reader, lane, reg);
      c.rounds.back().moves = true;
    }
  }
  c.packed = true;
  c.shuffles = c.selects = c.rounds.size();
  c.cost = 3 * c.shuffles;
  return c;
}

/// Staging with axis \p inner contiguous.
std::optional<SharedChoice> Planner::stage(unsigned outer, unsigned inner, ArrayRef<int64_t> extents) const {
  unsigned perm[] = {outer, inner};
  SharedAccess accesses[] = {{src.permuteAxes(perm)}, {dst.permuteAxes(perm)}};
  std::optional<SharedChoice> s = chooseShared(extents[outer], extents[inner], elemBytes, accesses, model);
  if (s && outer)
    s->layout = s->layout.transpose();
  return s;
}

Conversion Planner::shared(std::string why) {
  c.kind = Conversion::Shared;
  c.why = std::move(why);
  c.cost = kUnpriced;
  if (!withStaging)
    return c;
  SmallVector<int64_t, 4> extents; // masked elements get a place as well
  SmallVector<DimValue, 4> dims;
  for (const Layout::Out &o : src.outs()) {
    extents.push_back(std::max({o.size, src.cover(o.id), dst.cover(o.id)}));
    dims.push_back({o.id, extents.back()});
  }
  c.staging = Layout::rowMajor(dims);
  if (extents.size() == 2 && src.rank() == 2) {
    std::optional<SharedChoice> s = stage(0, 1, extents), t = stage(1, 0, extents);
    if (t && (!s || t->cost.waves < s->cost.waves))
      s = std::move(t);
    if (s) {
      c.staging = s->layout;
      c.waves = s->cost;
      c.cost = s->cost.waves * 4 + 60;
    }
  }
  c.bytes = c.staging.cover(DimId::Offset) * elemBytes;
  return c;
}

Conversion tilec::planConversion(const Layout &src, const Layout &dst, unsigned elemBytes, BankModel model,
                                 bool withStaging) {
  return Planner(src, dst, elemBytes, model, withStaging).run();
}

bool tilec::sameUpToRegisters(const Layout &a, const Layout &b) {
  Conversion::Kind k = planConversion(a.squeeze(), b.squeeze(), 4, BankModel::SM, false).kind;
  return k == Conversion::None || k == Conversion::Registers;
}

std::optional<Layout> tilec::sameUpToAxis(const Layout &a, const Layout &b, unsigned axis) {
  DimId k = coord(axis);
  int ka = a.outIndex(k), kb = b.outIndex(k);
  if (ka < 0 || kb < 0 || a.outs().size() != b.outs().size())
    return std::nullopt;
  // Match the registers: kept coordinates digit by digit, the digits of k in order.
  ArrayRef<Layout::Digit> mine = a.digits(DimId::Reg);
  SmallVector<unsigned, 8> order;
  for (const Layout::Digit &d : b.digits(DimId::Reg)) {
    bool found = false;
    for (unsigned i = 0; i < mine.size() && !found; ++i) {
      if (llvm::is_contained(order, i) || mine[i].n != d.n)
        continue;
      if (d.v[kb] ? mine[i].v[ka] != 0 : mine[i].v == d.v) {
        order.push_back(i);
        found = true;
      }
    }
    if (!found)
      return std::nullopt;
  }
  if (order.size() != mine.size())
    return std::nullopt;
  FailureOr<Layout> inv = a.permuteDigits(DimId::Reg, order).section();
  if (failed(inv))
    return std::nullopt;
  FailureOr<Layout> q = inv->then(b); // coordinates of a to coordinates of b
  if (failed(q))
    return std::nullopt;
  for (const Layout::In &in : q->ins())
    for (const Layout::Run &r : q->places(in.id))
      for (unsigned o = 0; o < r.v.size(); ++o) {
        DimId out = q->outs()[o].id;
        bool ok = in.id == k ? out == k || !r.v[o] : r.v[o] == (out == in.id ? r.place : 0);
        if (!ok)
          return std::nullopt;
      }
  Layout only = *q;
  for (const Layout::Out &o : a.outs())
    if (o.id != k)
      only = only.without(o.id).slice(o.id);
  return only;
}
