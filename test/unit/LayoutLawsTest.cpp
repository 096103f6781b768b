//===- LayoutLawsTest.cpp - the algebra's laws against plain tables ----------===//

#include "LayoutTestUtil.h"

#include <map>

using namespace llvm;
using namespace tilec;

//===----------------------------------------------------------------------===//
// Normal form: equal as functions <=> equal
//===----------------------------------------------------------------------===//

static void factorisations(int n, std::vector<int> &head, std::vector<std::vector<int>> &all) {
  if (n == 1) {
    all.push_back(head);
    return;
  }
  for (int f = 2; f <= n; ++f)
    if (n % f == 0) {
      head.push_back(f);
      factorisations(n / f, head, all);
      head.pop_back();
    }
}

/// All layouts of one input of size n with strides below `most` and zones 0..2.
static std::vector<Layout> allLayouts(int n, int most) {
  std::vector<std::vector<int>> factors;
  std::vector<int> head;
  factorisations(n, head, factors);
  std::vector<Layout> r;
  for (auto &f : factors) {
    int64_t count = 1;
    for (size_t i = 0; i < f.size(); ++i)
      count *= most;
    for (int64_t code = 0; code < count; ++code)
      for (unsigned zone = 0; zone < 3; ++zone) {
        LayoutBuilder b;
        b.out(Off, 64, zone);
        int64_t c = code;
        for (int k : f) {
          b.digit(D0, k, {{Off, c % most}});
          c /= most;
        }
        if (FailureOr<Layout> l = b.build(); succeeded(l))
          r.push_back(*l);
      }
  }
  return r;
}

TEST(LayoutLaws, NormalForm) {
  for (int n : {1, 2, 3, 4, 6, 8, 9, 12}) {
    std::map<std::vector<int64_t>, Layout> byFunction;
    std::map<std::string, std::vector<int64_t>> byForm;
    for (const Layout &l : allLayouts(n, n == 8 || n == 12 ? 5 : 6)) {
      std::vector<int64_t> t = l.table(Off, {D0});
      t.resize(n); // a layout of size 1 does not use d0
      auto [it, fresh] = byFunction.emplace(t, l);
      ASSERT_EQ(it->second, l) << "same function, two forms";
      ASSERT_EQ(hash_value(it->second), hash_value(l));
      auto same = byForm.emplace(l.str(), t);
      ASSERT_EQ(same.first->second, t) << "same form, two functions: " << l.str();
      std::string why;
      FailureOr<Layout> back = Layout::parse(l.str(), &why);
      ASSERT_TRUE(succeeded(back)) << l.str() << ": " << why;
      ASSERT_EQ(*back, l);
      if (fresh)
        for (int i = 0; i < (l.hasIn(D0) ? n : 1); ++i)
          ASSERT_EQ(l.at(Off, {{D0, i}}), t[i]) << l.str();
    }
  }
}

//===----------------------------------------------------------------------===//
// Random bijections
//===----------------------------------------------------------------------===//

static const std::vector<std::vector<int>> kFactors{{2, 2, 3}, {2, 2, 2}, {2, 3},    {2, 2, 2, 3},
                                                    {3, 2},    {5},       {2, 2, 5}, {2, 2}};

static int64_t product(ArrayRef<int> f) {
  int64_t n = 1;
  for (int x : f)
    n *= x;
  return n;
}

/// An invertible map of the low bits of one output onto themselves, everything above unchanged.
static std::optional<Layout> bitMix(Random &rng, ArrayRef<std::vector<int>> outs, unsigned which) {
  unsigned k = 0;
  while (k < outs[which].size() && outs[which][k] == 2)
    ++k;
  if (k < 2)
    return std::nullopt;
  std::vector<int64_t> rows(k);
  for (unsigned i = 0; i < k; ++i)
    rows[i] = int64_t(1) << i;
  for (int step = 0; step < 3; ++step) {
    unsigned a = rng.below(k), b = (a + 1 + rng.below(k - 1)) % k;
    rows[a] ^= rows[b];
  }
  LayoutBuilder m;
  for (unsigned o = 0; o < outs.size(); ++o)
    m.out(coord(o), product(outs[o]), o == which ? k : 0);
  for (unsigned o = 0; o < outs.size(); ++o) {
    if (o != which) {
      m.digit(coord(o), product(outs[o]), {{coord(o), 1}});
      continue;
    }
    for (int64_t row : rows)
      m.digit(coord(o), 2, {{coord(o), row}});
    m.digit(coord(o), product(outs[o]) >> k, {{coord(o), int64_t(1) << k}});
  }
  return m.known();
}

/// Distributes the digits of two outputs over registers, lanes and warps, and xors some low bits.
static Layout randomBijection(Random &rng, ArrayRef<std::vector<int>> outs) {
  struct Piece {
    int n;
    unsigned out;
    int64_t stride;
  };
  std::vector<Piece> pieces;
  for (unsigned o = 0; o < outs.size(); ++o) {
    int64_t st = 1;
    for (int f : outs[o]) {
      pieces.push_back({f, o, st});
      st *= f;
    }
  }
  rng.shuffle(pieces);
  LayoutBuilder b;
  for (unsigned o = 0; o < outs.size(); ++o)
    b.out(coord(o), product(outs[o]));
  for (const Piece &p : pieces)
    b.digit(kThread[rng.below(3)], p.n, {{coord(p.out), p.stride}});
  Layout l = b.known();
  if (auto mix = bitMix(rng, outs, rng.below(outs.size())))
    return *l.then(*mix);
  return l;
}

static std::optional<Layout> randomMemory(Random &rng, int64_t M, int64_t N) {
  SmallVector<DimValue, 2> dims{{D0, M}, {D1, N}};
  switch (rng.below(5)) {
  case 0:
    return Layout::rowMajor(dims);
  case 1:
    return Layout::strided(dims, {N + rng.below(9), 1});
  case 2:
    return Layout::strided(dims, {1, M});
  case 3: {
    FailureOr<Layout> s = Layout::rowMajor(dims).swizzled(1, 1, 2);
    return succeeded(s) ? std::optional<Layout>(*s) : std::nullopt;
  }
  default:
    if (N % 4)
      return Layout::rowMajor(dims);
    return LayoutBuilder()
        .out(Off, M * N)
        .digit(D0, M, {{Off, 4}})
        .digit(D1, 4, {{Off, 1}})
        .digit(D1, N / 4, {{Off, 4 * M}})
        .known();
  }
}

/// Is l the identity on everything it takes?
static bool isIdentity(const Layout &l) {
  for (const Layout::In &in : l.ins()) {
    auto t = l.contributions(in.id, in.id);
    for (size_t i = 0; i < t.size(); ++i)
      if (t[i].first + t[i].second != static_cast<int64_t>(i))
        return false;
    for (const Layout::Out &o : l.outs())
      if (o.id != in.id)
        for (auto &x : l.contributions(in.id, o.id))
          if (x.first + x.second)
            return false;
  }
  return true;
}

class RandomLayouts : public testing::Test {
protected:
  void forEach(unsigned seed, int times,
               const std::function<void(Random &, const Layout &, int64_t, int64_t)> &law) {
    Random rng(seed);
    for (int t = 0; t < times && !HasFatalFailure(); ++t) {
      std::vector<int> outs[] = {rng.pick(kFactors), rng.pick(kFactors)};
      Layout f = randomBijection(rng, outs);
      SCOPED_TRACE(f.str());
      law(rng, f, product(outs[0]), product(outs[1]));
    }
  }
};

TEST_F(RandomLayouts, TextAndInverse) {
  int inverses = 0;
  forEach(5, 1500, [&](Random &, const Layout &f, int64_t M, int64_t N) {
    FailureOr<Layout> back = Layout::parse(f.str());
    ASSERT_TRUE(succeeded(back));
    ASSERT_EQ(*back, f);
    ASSERT_TRUE(f.isBijective());
    FragTable t(f);
    std::vector<bool> hit(M * N);
    for (int64_t r = 0; r < t.R; ++r)
      for (int64_t l = 0; l < t.L; ++l)
        for (int64_t w = 0; w < t.W; ++w)
          hit[t.at(0, r, l, w) * N + t.at(1, r, l, w)] = true;
    ASSERT_EQ(std::count(hit.begin(), hit.end(), true), M * N);
    std::string why;
    FailureOr<Layout> s = f.inverse(&why);
    if (failed(s)) { // a layout that has none as a layout says so
      ASSERT_FALSE(why.empty());
      return;
    }
    ++inverses;
    FailureOr<Layout> round = f.then(*s);
    if (succeeded(round)) {
      ASSERT_TRUE(isIdentity(*round)) << round->str();
    }
    FailureOr<Layout> other = s->then(f, &why);
    ASSERT_TRUE(succeeded(other)) << why;
    ASSERT_EQ(*other, Layout::identity({{D0, M}, {D1, N}}));
    FailureOr<Layout> twice = s->section({D0, D1}, &why);
    ASSERT_TRUE(succeeded(twice)) << why;
    ASSERT_EQ(*twice, f);
  });
  EXPECT_GT(inverses, 1200);
}

TEST_F(RandomLayouts, Composition) {
  int composed = 0, associated = 0;
  forEach(6, 3000, [&](Random &rng, const Layout &f, int64_t M, int64_t N) {
    std::optional<Layout> g = randomMemory(rng, M, N);
    if (!g)
      return;
    FailureOr<Layout> h = f.then(*g);
    if (failed(h))
      return;
    ++composed;
    FragTable ft(f), ht(*h);
    std::vector<int64_t> gt = g->table(Off, {D0, D1});
    ASSERT_TRUE(ht.R == ft.R && ht.L == ft.L && ht.W == ft.W);
    for (int64_t r = 0; r < ft.R; ++r)
      for (int64_t l = 0; l < ft.L; ++l)
        for (int64_t w = 0; w < ft.W; ++w)
          ASSERT_EQ(ht.at(0, r, l, w), gt[ft.at(0, r, l, w) * N + ft.at(1, r, l, w)]) << g->str();
    int64_t rest = (h->outSize(Off) + 3) / 4;
    Layout u =
        LayoutBuilder().out(D0, 4).out(D1, rest).digit(Off, 4, {{D0, 1}}).digit(Off, rest, {{D1, 1}}).known();
    FailureOr<Layout> left = h->then(u), gu = g->then(u);
    if (failed(left) || failed(gu))
      return;
    FailureOr<Layout> right = f.then(*gu);
    if (failed(right))
      return;
    ++associated;
    ASSERT_EQ(*left, *right);
  });
  EXPECT_GT(composed, 1500);
  EXPECT_GT(associated, 500);
}

TEST_F(RandomLayouts, ProductsAndDivision) {
  forEach(7, 1500, [&](Random &rng, const Layout &f, int64_t M, int64_t N) {
    int regs = 2 + rng.below(3), warps = 2 + rng.below(2);
    Layout b = LayoutBuilder()
                   .out(D0, 4)
                   .out(D1, 3)
                   .digit(Reg, regs, {{D0, 1}})
                   .digit(Warp, warps, {{D1, 1}})
                   .known();
    FailureOr<Layout> p = f.times(b);
    ASSERT_TRUE(succeeded(p));
    std::optional<Layout> q = p->over(f);
    ASSERT_TRUE(q);
    ASSERT_EQ(*f.times(*q), *p);
    ASSERT_EQ(*q, b);
    int64_t R = f.inSize(Reg), W = f.inSize(Warp), lanes = f.inSize(Lane);
    for (int t = 0; t < 5; ++t) {
      int64_t r = rng.below(R * regs), l = rng.below(lanes), w = rng.below(W * warps);
      auto x = f({{Reg, r % R}, {Lane, l}, {Warp, w % W}}), y = b({{Reg, r / R}, {Warp, w / W}});
      auto z = (*p)({{Reg, r}, {Lane, l}, {Warp, w}});
      ASSERT_EQ(z[0], x[0] + M * y[0]);
      ASSERT_EQ(z[1], x[1] + N * y[1]);
    }
  });
}

TEST(LayoutLaws, ProductsWithXor) {
  Random rng(9);
  for (int t = 0; t < 200; ++t) {
    int64_t atom = int64_t(1) << rng.below(4), copies = 8;
    Layout a = LayoutBuilder().out(D0, atom).digit(Reg, atom, {{D0, 1}}).known();
    LayoutBuilder place;
    place.out(D0, copies, 3);
    for (DimId d : {Reg, Lane, Lane, Warp})
      place.digit(d, 2, {{D0, rng.below(8)}});
    Layout b = place.known(), p = *a.times(b);
    FragTable at(a), bt(b), pt(p);
    for (int64_t r = 0; r < pt.R; ++r)
      for (int64_t l = 0; l < pt.L; ++l)
        for (int64_t w = 0; w < pt.W; ++w)
          ASSERT_EQ(pt.at(0, r, l, w), at.at(0, r % atom, 0, 0) + atom * bt.at(0, r / atom, l, w)) << b.str();
  }
  EXPECT_TRUE(failed(L("reg 3:d0 -> 3").times(L("reg 2:d0 | lane 2:d0 -> 2^2")))); // xor above an odd atom
  // The pieces fit, but their sum is not their xor.
  EXPECT_FALSE(L("reg 2:4d0 | lane 2:4d0 -> 8^8").over(L("reg 2:4d0 -> 4")));
  EXPECT_FALSE(L("reg 6:d0 -> 12").over(L("reg 4:d0 -> 4")));
}

TEST_F(RandomLayouts, SlicesJoinsReshapes) {
  int sections = 0, reshapes = 0, parts = 0;
  forEach(8, 1500, [&](Random &, const Layout &f, int64_t M, int64_t N) {
    FragTable t(f);
    Layout rows = f.slice(D1);
    ASSERT_EQ(rows.table(D0, kThread), t.t[0]);
    ASSERT_EQ(f.sliceAxis(0), f.slice(D0).rename({{D1, D0}}));
    ASSERT_TRUE(rows.isSurjective());
    FailureOr<Layout> s = rows.section();
    if (succeeded(s)) {
      ++sections;
      ASSERT_EQ(*s->then(rows), Layout::identity({{D0, M}}));
    }
    Layout joined = f.join({Lane, Warp}, Lane);
    FailureOr<Layout> cut = joined.part(Lane, f.inSize(Lane), Lane, Warp);
    if (succeeded(cut)) {
      ++parts;
      ASSERT_EQ(*cut, f);
    }
    FailureOr<Layout> shaped = f.reshape({M * N / 2, 2});
    if (succeeded(shaped)) {
      ++reshapes;
      FragTable u(*shaped);
      for (int64_t r = 0; r < t.R; ++r)
        for (int64_t l = 0; l < t.L; ++l)
          for (int64_t w = 0; w < t.W; ++w)
            ASSERT_EQ(u.at(0, r, l, w) * 2 + u.at(1, r, l, w), t.at(0, r, l, w) * N + t.at(1, r, l, w));
    }
    ASSERT_EQ(f.transpose().transpose(), f);
    ASSERT_EQ(f.insertAxis(1).sliceAxis(1), f);
    Layout replicated = *f.times(LayoutBuilder().out(D0, 1).out(D1, 1).digit(Reg, 2).digit(Lane, 2).known());
    ASSERT_EQ(replicated.squeeze().squeeze(Lane), f);
    ASSERT_EQ(replicated.replication().size(), 2u);
  });
  EXPECT_GT(sections, 1000);
  EXPECT_GT(reshapes, 300);
  EXPECT_GT(parts, 1000);
}

//===----------------------------------------------------------------------===//
// Arbitrary layouts: replication, gaps, xors, odd digits in any order
//===----------------------------------------------------------------------===//

static std::optional<Layout> arbitrary(Random &rng, ArrayRef<DimId> ins, ArrayRef<DimId> outs, int64_t size) {
  static const std::vector<int64_t> sizes{2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 5, 6},
      strides{1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 3, 6, 12, 24};
  LayoutBuilder b;
  for (DimId o : outs)
    b.out(o, size, rng.below(5));
  for (DimId in : ins)
    for (unsigned k = rng.below(5); k > 0; --k) {
      SmallVector<DimValue, 2> moves;
      for (DimId o : outs)
        if (rng.below(5) < 2)
          moves.push_back({o, rng.below(16) ? rng.pick(strides) : rng.below(40)});
      b.digit(in, rng.pick(sizes), moves);
    }
  FailureOr<Layout> l = b.build();
  return succeeded(l) ? std::optional<Layout>(*l) : std::nullopt;
}

TEST(ArbitraryLayouts, Sections) {
  Random rng(11);
  int sections = 0, surjective = 0;
  for (int t = 0; t < 40000; ++t) {
    int64_t size = 1 + rng.below(12);
    std::optional<Layout> l = arbitrary(rng, kThread, {D0, D1}, size);
    if (!l)
      continue;
    if (FailureOr<Layout> back = Layout::parse(l->str()); failed(back) || *back != *l)
      FAIL() << l->str();
    if (l->domainSize() > 4096)
      continue;
    std::vector<bool> hit(size * size);
    auto x = l->table(D0, kThread), y = l->table(D1, kThread);
    for (size_t i = 0; i < x.size(); ++i)
      if (x[i] < size && y[i] < size)
        hit[x[i] * size + y[i]] = true;
    bool all = !llvm::is_contained(hit, false);
    if (l->isSurjective()) {
      ++surjective;
      ASSERT_TRUE(all) << l->str();
    }
    FailureOr<Layout> s = l->section();
    if (failed(s))
      continue;
    ++sections;
    for (int64_t i = 0; i < size && i < s->inSize(D0); ++i)
      for (int64_t j = 0; j < size && j < s->inSize(D1); ++j) {
        auto v = (*s)({{D0, i}, {D1, j}});
        SmallVector<DimValue, 3> at;
        for (auto [o, value] : llvm::zip(s->outs(), v))
          at.push_back({o.id, value});
        auto c = (*l)(at);
        ASSERT_TRUE(c[0] == i && c[1] == j) << l->str() << " section " << s->str();
      }
    ASSERT_GE(s->inSize(D0), size);
  }
  EXPECT_GT(sections, 500);
  EXPECT_GE(surjective, sections);
}

TEST(ArbitraryLayouts, Compositions) {
  Random rng(12);
  int composed = 0, xored = 0;
  for (int t = 0; t < 100000; ++t) {
    std::optional<Layout> f = arbitrary(rng, {Reg, Lane}, {D0, D1}, 64),
                          g = arbitrary(rng, {D0, D1}, {Off}, 4096);
    if (!f || !g || f->domainSize() > 2048)
      continue;
    FailureOr<Layout> h = f->then(*g);
    if (failed(h))
      continue;
    ++composed;
    xored += h->zone(Off) > 0;
    auto x = f->table(D0, {Reg, Lane}), y = f->table(D1, {Reg, Lane}), z = h->table(Off, {Reg, Lane});
    ASSERT_EQ(x.size(), z.size());
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(z[i], g->at(Off, {{D0, x[i]}, {D1, y[i]}}))
          << f->str() << " then " << g->str() << " gave " << h->str();
  }
  EXPECT_GT(composed, 3000);
  EXPECT_GT(xored, 150);
}

TEST(ArbitraryLayouts, Injective) {
  Random rng(13);
  int injective = 0;
  for (int t = 0; t < 20000; ++t) {
    std::optional<Layout> l = arbitrary(rng, {D0, D1}, {Off}, 4096);
    if (!l || !l->isInjective() || l->domainSize() > 4096)
      continue;
    ++injective;
    auto x = l->table(Off, {D0, D1});
    llvm::sort(x);
    ASSERT_TRUE(std::adjacent_find(x.begin(), x.end()) == x.end()) << l->str();
  }
  EXPECT_GT(injective, 300);
}

//===----------------------------------------------------------------------===//
// Swizzles
//===----------------------------------------------------------------------===//

TEST(LayoutLaws, Swizzles) {
  int count = 0;
  for (int64_t rows : {8, 16, 24, 96, 132})
    for (int64_t cols : {16, 32, 64, 128})
      for (unsigned B = 1; B < 4; ++B)
        for (unsigned M = 0; M < 4; ++M)
          for (unsigned S = B; S < 5; ++S) {
            Layout base = Layout::rowMajor({{D0, rows}, {D1, cols}});
            FailureOr<Layout> s = base.swizzled(B, M, S);
            if (failed(s))
              continue;
            ++count;
            std::vector<int64_t> t = s->table(Off, {D0, D1});
            for (int64_t x = 0; x < rows * cols; ++x)
              ASSERT_EQ(t[x], x ^ (((x >> (M + S)) & ((1 << B) - 1)) << M)) << s->str();
            ASSERT_EQ(*s->swizzled(B, M, S), base);
            ASSERT_TRUE(s->isInjective());
            ASSERT_EQ(*s->inverse()->then(*s), Layout::identity({{Off, rows * cols}}));
          }
  EXPECT_EQ(count, 675);
}

//===----------------------------------------------------------------------===//
// Text and limits
//===----------------------------------------------------------------------===//

TEST(LayoutText, Forms) {
  for (StringRef text : {"reg 2:d1 2:8d0 12:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 -> 64x96",
                         "d0 8:64^8 12:512 | d1 64:1 -> 6144^64", "slot 3:8192 | d0 64:1 -> 24576",
                         "d0 64:0 -> 64x64", "-> 1x1", "-> 7", "lane 32:0 -> ()", "d0 4:0 -> d0=4",
                         "d0 4:0 -> 4", "-> offset=1", "reg 4:8d0+2d1 -> 32x8", "reg 2:3lane -> reg=1 lane=4",
                         "lane 10:8d1 3:d0 | group 3:64d0 -> 192x80"}) {
    std::string why;
    FailureOr<Layout> l = Layout::parse(text, &why);
    ASSERT_TRUE(succeeded(l)) << text.str() << ": " << why;
    EXPECT_EQ(l->str(), text.str());
  }
}

TEST(LayoutText, Errors) {
  auto error = [](StringRef text) {
    std::string why = "parsed";
    (void)Layout::parse(text, &why);
    return why;
  };
  EXPECT_EQ(error("reg 2:q -> 4"), "'q' is no dimension");
  EXPECT_EQ(error("regs 2:d0 -> 4"), "'regs' is no dimension");
  EXPECT_EQ(error("reg 2"), "expected ':' at the end of the layout");
  EXPECT_EQ(error("reg 2:d0"), "expected '->' at the end of the layout");
  EXPECT_EQ(error("reg 2:d0 ->"), "expected the sizes of the outputs at the end of the layout");
  EXPECT_EQ(error("reg 2:d0 -> 2^3"), "expected a power of two at the end of the layout");
  EXPECT_EQ(error("reg 2:d0 -> 2 x"), "unexpected text before 'x'");
  EXPECT_EQ(error("reg 2:d1 -> 2"), "a stride moves d1, which has no size");
  EXPECT_EQ(error("d0 2:1 -> 2x2"),
            "strides without a name need one size, that of the offset at the end of the layout");
  EXPECT_EQ(error("reg 3:4^1d0 -> 64^8"), "a digit of 3 values of reg lies inside an xor zone");
  EXPECT_EQ(error("reg 2:d0 | reg 2:2d0 -> 4"), "input reg is listed twice");
  EXPECT_EQ(error("reg 0:d0 -> 4"), "reg is too large");
  EXPECT_EQ(error("reg 999999999999999:999999999999999d0 -> 4"), "reg is too large");
  EXPECT_EQ(error("reg 2:999999999999999d0 -> 4"), "stride 999999999999999 of reg is out of range");
  EXPECT_EQ(error("reg 2:d0 -> 0"), "size 0 of d0 is out of range");
  EXPECT_EQ(error(""), "expected a dimension at the end of the layout");
}

TEST(LayoutLaws, Refusals) {
  std::string why;
  Layout rows3 = L("reg 3:4d0 -> 12");
  EXPECT_TRUE(failed(rows3.then(L("d0 8:64^8 2:512 -> 1024^64"), &why)));
  EXPECT_NE(why.find("straddles"), std::string::npos) << why;
  EXPECT_TRUE(failed(L("reg 16:d0 -> 16").then(L("d0 8:1 -> 8"), &why)));
  EXPECT_NE(why.find("leave the 8 values"), std::string::npos) << why;
  EXPECT_TRUE(failed(L("reg 2:d0 2:2d0 | lane 2:d0 -> 8").then(L("d0 4:1 2:9 -> 20"), &why)));
  EXPECT_NE(why.find("carry"), std::string::npos) << why;
  EXPECT_TRUE(failed(L("reg 2:d0 -> 4").section({}, &why)));
  EXPECT_TRUE(failed(L("reg 24:d0 -> 3x8").inverse(&why)));
  EXPECT_TRUE(failed(L("reg 3:8d0 8:d0 -> 24").reshape({3, 7}, &why)));
  EXPECT_TRUE(failed(L("reg 3:d0 | lane 8:3d0 -> 3x8").pad({{D0, 24}}).part(Lane, 3, Lane, Warp, &why)));
  EXPECT_TRUE(failed(L("d0 8:4^1 -> 32^8").widen({{D0, 9}}, &why)) ||
              L("d0 8:4 -> 32").widen({{D0, 9}}, nullptr)->inSize(D0) == 9);
  EXPECT_FALSE(L("reg 2:d0 -> 4").isSurjective());
  EXPECT_FALSE(L("d0 4:1 | d1 4:3 -> 16").isInjective());
  EXPECT_TRUE(L("d0 4:40 | d1 32:1 -> 160").isInjective());
  EXPECT_FALSE(L("d0 4:0 | d1 4:1 -> 4").isInjective());
}
