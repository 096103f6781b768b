//===- LayoutAccess.cpp - what ldmatrix, wgmma and TMA accept ----------------===//

#include "LayoutDetail.h"
#include "tilec/Support/LayoutDecisions.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::layout_detail;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

FailureOr<Reduction> tilec::planReduction(const Layout &f, unsigned axis, unsigned elemBytes,
                                          std::string *why) {
  Reduction r;
  DimId dim = coord(axis);
  int o = f.outIndex(dim);
  if (o < 0)
    return refuse(why, Twine("there is no axis ") + Twine(axis));
  int64_t inReg = 1, perThread = 1, exchanges = 0;
  for (const Layout::In &in : f.ins())
    for (const Layout::Run &run : f.places(in.id)) {
      if (in.id == DimId::Reg && !isZero(run.v))
        perThread *= run.n;
      if (!run.v[o])
        continue;
      for (unsigned x = 0; x < run.v.size(); ++x)
        if (static_cast<int>(x) != o && run.v[x])
          return refuse(why,
                        Twine("a digit of ") + dimName(in.id) + " moves the reduced axis and another one");
      if (in.id == DimId::Reg) {
        inReg *= run.n;
      } else if (in.id == DimId::Lane) {
        r.steps.push_back({run.n != 2, run.place, run.n});
        exchanges += run.n - 1;
      } else {
        r.warps.push_back(run);
        r.parts *= run.n;
      }
    }
  int64_t values = perThread / inReg; // that a thread ends up with
  r.inThread = (inReg - 1) * values;
  r.shuffles = exchanges * values;
  r.result = f.sliceAxis(axis).squeeze();
  if (r.parts > 1) {
    int64_t kept = 1;
    for (const Layout::Out &out : r.result.outs())
      kept *= out.size;
    r.sharedBytes = kept * r.parts * elemBytes;
  }
  r.identityFill = f.cover(dim) > f.outSize(dim);
  return r;
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

/// Rows of eight lanes each, as the instruction serves them.
static Waves rowWaves(const Layout &address, unsigned elemBytes, int x) {
  auto lanes = address.contributions(DimId::Lane, DimId::Offset);
  auto regs = address.contributions(DimId::Reg, DimId::Offset);
  Waves total, one;
  SmallVector<int64_t, 8> addr(8);
  std::optional<int64_t> last; // rows are aligned, so that only what is xored changes the banks
  for (auto &r : regs) {
    if (last != r.first) {
      last = r.first;
      one = {};
      for (int q = 0; q < x; ++q) {
        for (int i = 0; i < 8; ++i) {
          auto &l = lanes[8 * q + i];
          addr[i] = ((l.first ^ r.first) + l.second + r.second) * elemBytes;
        }
        Waves w = bankWaves(addr, 16, BankModel::SM);
        one.waves += w.waves;
        one.ideal += w.ideal;
      }
    }
    total.waves += one.waves;
    total.ideal += one.ideal;
  }
  return total;
}

FailureOr<MatrixAccess> tilec::asLdMatrix(const Layout &f, const Layout &s, unsigned elemBytes, bool trans,
                                          std::string *why) {
  if (trans && elemBytes > 2)
    return refuse(why, ".trans moves elements of 16 bits, or pairs of bytes, only");
  if (elemBytes != 1 && elemBytes != 2 && elemBytes != 4)
    return refuse(why, "elements wider than 32 bits");
  FailureOr<Layout> a = f.then(s, why);
  if (failed(a))
    return failure();
  if (a->outs().size() != 1)
    return refuse(why, "not a memory layout");
  SmallVector<Layout::Run, 8> reg = a->places(DimId::Reg), lane = a->places(DimId::Lane);
  if (a->inSize(DimId::Lane) != 32 || lane.size() != 5)
    return refuse(why, "needs 32 lanes");
  int64_t perWord = 4 / elemBytes, chunk = 16 / elemBytes;
  unsigned inWord = log2Of(perWord);
  if (reg.size() < inWord || llvm::any_of(ArrayRef(reg).take_front(inWord), [](auto &r) { return r.n != 2; }))
    return refuse(why, Twine("a 4-byte register needs ") + Twine(perWord) + " elements");
  SmallVector<int64_t, 8>
      rows; // the five lane bits of the instruction's row addresses, as far as this fragment has them
  SmallVector<Layout::Run, 8> matrices(reg.begin() + inWord, reg.end()); // bits that count matrices
  if (!trans) {
    for (unsigned b = 0; b < inWord; ++b)
      if (reg[b].v[0] != int64_t(1) << b)
        return refuse(why, "the elements of a register are not consecutive in shared memory");
    if (lane[0].v[0] != perWord || lane[1].v[0] != 2 * perWord)
      return refuse(why, "lanes 0 to 3 do not run along a 16-byte row");
    for (unsigned b = 2; b < 5; ++b)
      rows.push_back(lane[b].v[0]);
  } else {
    // Bytes: a lane gets two columns of each row, and its words have four rows of one column.
    int64_t width = elemBytes == 1 ? 2 : 1;
    for (unsigned b = 0; b < 3; ++b)
      if (lane[b + 2].v[0] != width << b)
        return refuse(why, "lanes 0, 4, 8, .. do not run along a 16-byte row");
    if (width == 2) {
      if (matrices.empty() || matrices[0].n != 2 || matrices[0].v[0] != 1)
        return refuse(why, "the lanes hold no pairs of bytes of a 16-byte row");
      matrices[0] = reg[1];
    }
    rows.push_back(reg[0].v[0]);
    rows.push_back(lane[0].v[0]);
    rows.push_back(lane[1].v[0]);
  }
  bool aligned = llvm::all_of(rows, [&](int64_t v) { return v % chunk == 0; });
  for (const Layout::Run &r : matrices)
    aligned &= r.v[0] % chunk == 0;
  for (const Layout::In &in : a->ins())
    if (in.id != DimId::Reg && in.id != DimId::Lane)
      for (const Layout::Digit &d : in.digits)
        aligned &= d.v[0] % chunk == 0;
  if (!aligned)
    return refuse(why, "rows are not 16-byte aligned");
  MatrixAccess m;
  m.bytePairs = trans && elemBytes == 1;
  LayoutBuilder b;
  b.out(DimId::Offset, a->outs()[0].size, a->outs()[0].zone);
  for (int64_t v : rows)
    b.digit(DimId::Lane, 2, {{DimId::Offset, v}});
  for (const Layout::Run &r : matrices) {
    bool wider = m.count == 1 && m.x < 4 &&
                 r.n == 2; // more matrices per instruction: their rows come from lanes 8..31
    b.digit(wider ? DimId::Lane : DimId::Reg, r.n, {{DimId::Offset, r.v[0]}});
    if (wider)
      m.x *= 2;
    else
      m.count *= r.n;
  }
  for (const Layout::In &in : a->ins())
    if (in.id != DimId::Reg && in.id != DimId::Lane)
      for (const Layout::Digit &d : in.digits)
        b.digit(in.id, d.n, {{DimId::Offset, d.v[0]}});
  FailureOr<Layout> address = b.build(why);
  if (failed(address))
    return failure();
  m.address = *address;
  m.waves = rowWaves(m.address, elemBytes, m.x);
  return m;
}

FailureOr<MatrixAccess> tilec::asStMatrix(const Layout &f, const Layout &s, unsigned elemBytes, bool trans,
                                          std::string *why) {
  if (elemBytes != 2)
    return refuse(why, "stmatrix moves 16-bit elements only");
  return asLdMatrix(f, s, elemBytes, trans, why);
}

//===----------------------------------------------------------------------===//
// wgmma descriptors
//===----------------------------------------------------------------------===//

uint64_t WgmmaDesc::bits(uint64_t address) const {
  return ((address & 0x3FFFF) >> 4) | static_cast<uint64_t>(lbo >> 4) << 16 |
         static_cast<uint64_t>(sbo >> 4) << 32 | static_cast<uint64_t>(field) << 62;
}

static constexpr unsigned kSwizzles[] = {128, 64, 32, 0};

/// The canonical atom: 8 rows of \p width elements, chunks of 16 bytes xored with the row as the swizzle
/// says.
static FailureOr<Layout> canonicalAtom(DimId inner, DimId outer, int64_t width, unsigned elemBytes,
                                       unsigned swizzle) {
  if (swizzle)
    return hopperShared(8, width, elemBytes, swizzle, outer, inner);
  return Layout::rowMajor({{outer, 8}, {inner, width}});
}

namespace {
/// How often and how far apart an atom repeats along one dimension.
struct Repeat {
  int64_t count = 1, stride = 0;
};
} // namespace

/// The repeats of \p in above its first \p low values: none if they are unevenly spaced or reach into the
/// zone.
static std::optional<Repeat> repeatsOf(const Layout &l, DimId in, int64_t low) {
  Repeat r;
  int64_t zone = lowMask(l.zone(DimId::Offset));
  for (Layout::Run run : l.runs(in)) {
    if (run.place * run.n <= low)
      continue;
    if (run.place < low) {
      int64_t cut = low / run.place;
      run.n /= cut;
      run.v[0] *= cut;
    }
    if ((run.v[0] & zone) || (r.count > 1 && run.v[0] != r.count * r.stride) || !run.v[0])
      return std::nullopt;
    if (r.count == 1)
      r.stride = run.v[0];
    r.count *= run.n;
  }
  return r;
}

namespace {

/// Tries to read \p l as a wgmma operand whose rows run along one of its two dimensions.
class DescMatcher {
public:
  DescMatcher(const Layout &l, unsigned elemBytes, DimId inner, DimId outer)
      : l(l), es(elemBytes), inner(inner), outer(outer), kMajor(inner == DimId::D1) {}
  enum Result { No, Yes, Refused };
  Result match(unsigned swizzle, unsigned field, WgmmaDesc &d, std::string *why);

private:
  const Layout &l;
  int64_t es;
  DimId inner, outer;
  bool kMajor;
};

} // namespace

DescMatcher::Result DescMatcher::match(unsigned swizzle, unsigned field, WgmmaDesc &d, std::string *why) {
  int64_t width = std::max(swizzle, 16u) / es, unitK = 32 / es;
  if (l.inSize(inner) % width || l.inSize(outer) % 8)
    return No;
  FailureOr<Layout> corner = l.lowPart(inner, width);
  if (succeeded(corner))
    corner = corner->lowPart(outer, 8);
  FailureOr<Layout> atom = canonicalAtom(inner, outer, width, es, swizzle);
  if (failed(corner) || failed(atom))
    return No;
  if (corner->pad({{DimId::Offset, 8 * width}}) != *atom)
    return No;
  std::optional<Repeat> in = repeatsOf(l, inner, width), out = repeatsOf(l, outer, 8);
  if (!in || !out) {
    (void)refuse(why, Twine(kMajor ? "K" : "MN") + "-major " + Twine(swizzle) +
                          "-byte atom matches, but its repeats are not evenly spaced");
    return Refused;
  }
  int64_t inStride = in->count > 1 ? in->stride * es : 0;
  int64_t outStride = out->count > 1 ? out->stride * es : 8 * width * es;
  d.swizzle = swizzle;
  d.field = field;
  d.align = swizzle ? 8 * swizzle : 16;
  if (inStride % d.align || outStride % d.align) {
    (void)refuse(why,
                 Twine("the atom repeats at a distance that is no multiple of ") + Twine(d.align) + " bytes");
    return Refused;
  }
  int64_t steps = l.inSize(DimId::D1) / unitK;
  if (!kMajor) {
    if (es != 2) {
      (void)refuse(why, "MN-major operands exist for 16-bit types only");
      return Refused;
    }
    d.mnMajor = true;
    // Without a swizzle the two offsets swap their roles.
    d.lbo = swizzle ? (inStride ? inStride : swizzle * 8) : outStride;
    d.sbo = swizzle ? outStride : inStride;
    for (int64_t q = 0; q < steps; ++q)
      d.kStep.push_back(q * unitK / 8 * outStride);
    return Yes;
  }
  d.sbo = outStride;
  d.lbo = 16;
  if (!swizzle) {
    if (unitK * es > 16 && !inStride) {
      (void)refuse(why, "K-major without swizzle needs two chunks of k");
      return Refused;
    }
    d.lbo = inStride;
  }
  for (int64_t q = 0; q < steps; ++q)
    d.kStep.push_back(swizzle ? q * unitK / width * inStride + q * unitK % width * es : 2 * inStride * q);
  return Yes;
}

FailureOr<WgmmaDesc> tilec::asWgmmaOperand(const Layout &buffer, unsigned elemBytes, std::string *why) {
  if (elemBytes != 1 && elemBytes != 2 && elemBytes != 4)
    return refuse(why, "wgmma has operands of 8, 16 and 32 bits only");
  Layout l = buffer.without(DimId::Slot);
  int64_t unitK = 32 / elemBytes, mn = l.inSize(DimId::D0), k = l.inSize(DimId::D1);
  if (l.outs().size() != 1 || l.inSize(DimId::D2) != 1)
    return refuse(why, "a wgmma operand is a buffer of two dimensions");
  if (mn % 8 || k % unitK)
    return refuse(why, Twine(mn) + "x" + Twine(k) + " is no multiple of 8x" + Twine(unitK));
  for (bool kMajor : {true, false}) {
    DescMatcher m(l, elemBytes, kMajor ? DimId::D1 : DimId::D0, kMajor ? DimId::D0 : DimId::D1);
    for (auto [field, swizzle] : {std::pair(1u, 128u), {2u, 64u}, {3u, 32u}, {0u, 0u}}) {
      WgmmaDesc d;
      DescMatcher::Result r = m.match(swizzle, field, d, why);
      if (r == DescMatcher::Refused)
        return failure();
      if (r == DescMatcher::No)
        continue;
      for (const Layout::Digit &slot : buffer.digits(DimId::Slot))
        if (slot.v[0] * elemBytes % d.align)
          return refuse(why, Twine("slots of ") + Twine(slot.v[0] * elemBytes) +
                                 " bytes break the alignment of " + Twine(d.align));
      return d;
    }
  }
  return refuse(why, "no canonical wgmma atom (8 rows of 16, 32, 64 or 128 bytes, 16-byte chunk xor row)");
}

//===----------------------------------------------------------------------===//
// TMA
//===----------------------------------------------------------------------===//

static int64_t largestDivisor(int64_t n, int64_t most) {
  for (int64_t q = std::min(n, most); q > 1; --q)
    if (n % q == 0)
      return q;
  return 1;
}

/// Is \p l boxes of inner width \p width, side by side along the innermost axis?
static bool consistsOfBoxes(const Layout &l, ArrayRef<DimValue> dims, int64_t width, unsigned elemBytes,
                            unsigned swizzle) {
  SmallVector<DimValue, 4> box(dims.begin(), dims.end());
  int64_t n = box.back().second / width;
  box.back().second = width;
  Layout one = Layout::rowMajor(box);
  if (swizzle) {
    FailureOr<Layout> s = one.swizzled(swizzle == 128 ? 3 : swizzle == 64 ? 2 : 1, log2Of(16 / elemBytes), 3);
    if (failed(s))
      return false;
    one = *s;
  }
  FailureOr<Layout> all = one.times(
      LayoutBuilder().out(DimId::Offset, n).digit(box.back().first, n, {{DimId::Offset, 1}}).known());
  return succeeded(all) && *all == l.pad({{DimId::Offset, all->outSize(DimId::Offset)}});
}

/// Cuts boxes of more than 256 rows, and fills in the answer.
static FailureOr<TmaBoxes> boxesOf(ArrayRef<DimValue> dims, int64_t width, unsigned swizzle,
                                   std::string *why) {
  TmaBoxes b;
  b.swizzle = swizzle;
  b.align = std::max(128u, 8 * swizzle);
  b.count = dims.back().second / width;
  int64_t rows = 1;
  for (auto [d, n] : dims.drop_back()) {
    int64_t q = largestDivisor(n, 256);
    b.count *= n / q;
    b.box.push_back(q);
    rows *= q;
  }
  b.box.push_back(width);
  if (swizzle && rows % 8 && b.count > 1)
    return refuse(why, Twine("boxes of ") + Twine(rows) + " rows break the swizzle's period of 8 rows");
  return b;
}

FailureOr<TmaBoxes> tilec::asTmaBoxes(const Layout &buffer, unsigned elemBytes,
                                      ArrayRef<int64_t> globalStrides, unsigned baseAlign, std::string *why) {
  Layout l = buffer.without(DimId::Slot);
  SmallVector<DimValue, 4> dims;
  for (const Layout::In &in : l.ins())
    if (isCoord(in.id))
      for (unsigned a = dims.size(); a <= axisOf(in.id); ++a)
        dims.push_back({coord(a), l.inSize(coord(a))});
  if (l.outs().size() != 1 || dims.empty() || dims.size() > 5)
    return refuse(why, "a TMA copy fills a buffer of one to five dimensions");
  for (int64_t st : globalStrides)
    if (st * elemBytes % 16)
      return refuse(why,
                    Twine("a global stride of ") + Twine(st * elemBytes) + " bytes is not a multiple of 16");
  if (baseAlign % 16)
    return refuse(why, "the global base is not 16-byte aligned");
  for (const Layout::Digit &slot : buffer.digits(DimId::Slot))
    if (slot.v[0] * elemBytes % 128)
      return refuse(why,
                    Twine("slots of ") + Twine(slot.v[0] * elemBytes) + " bytes are not 128-byte aligned");
  int64_t inner = dims.back().second;
  std::string reason = "not a row-major box in any swizzle mode";
  for (unsigned swizzle : kSwizzles) {
    // The engine exchanges pieces by their address: in a single row, which lies anywhere, that is no layout.
    if (swizzle &&
        llvm::all_of(ArrayRef<DimValue>(dims).drop_back(), [](DimValue d) { return d.second == 1; }))
      continue;
    int64_t row = swizzle ? swizzle / elemBytes : inner;
    if (inner % row) {
      reason = (Twine("the inner extent of ") + Twine(inner * elemBytes) + " bytes is no multiple of " +
                Twine(swizzle))
                   .str();
      continue;
    }
    if (row * elemBytes % 16) {
      reason = (Twine("an inner box of ") + Twine(row * elemBytes) + " bytes is not a multiple of 16").str();
      continue;
    }
    SmallVector<int64_t, 8> widths{row};
    if (!swizzle)
      widths.append({256, 128, 64, 32, 16, 8});
    for (int64_t width : widths)
      if (width <= std::min<int64_t>(256, inner) && inner % width == 0 && width * elemBytes % 16 == 0 &&
          consistsOfBoxes(l, dims, width, elemBytes, swizzle))
        if (FailureOr<TmaBoxes> boxes = boxesOf(dims, width, swizzle, &reason); succeeded(boxes))
          return boxes;
    reason = swizzle ? (Twine("the layout is not the ") + Twine(swizzle) + "-byte swizzled box").str()
                     : "the layout is not a row-major box";
  }
  return refuse(why, reason);
}
