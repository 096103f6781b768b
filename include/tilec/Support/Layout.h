//===- Layout.h - mixed-radix layouts with an xor zone ----------------------===//
//
// A layout is a map between named index spaces. Every input dimension is a
// mixed-radix number; each of its digits adds a stride vector to the outputs,
// except that every output has a low "xor zone" of a bits in which
// contributions are xored instead of added:
//
//   out_d(x) = XOR_ij ((x_ij * v_ij,d) & m)  +  SUM_ij ((x_ij * v_ij,d) & ~m)
//
// with m = 2^a_d - 1, and the rule that a digit which reaches into a zone is
// binary. Zone 0 everywhere is a CuTe shape:stride layout; binary digits and a
// zone over everything is a GF(2)-linear layout. Swizzles live in the zone, odd
// extents (96, 3 warp groups, NR = 24) above it, both in one object.
//
//   fragments map (reg, lane, warp, group, block) to tile coordinates,
//   memory maps tile coordinates (and slot) to an offset in elements,
//   and the address of a register is their composition.
//
// Coordinates at or above the output's size are invalid elements: the only form
// of partiality. A digit that moves nothing is replication.
//
// Values are always in normal form, so == is equality of functions (with equal
// extents) and hashing is structural. docs/Layouts.md explains the algebra.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_SUPPORT_LAYOUT_H
#define TILEC_SUPPORT_LAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilec {

/// The index spaces that layouts connect. The order is the order of printing and the order in which an
/// inverse prefers to keep a value close (registers before lanes before warps).
enum class DimId : uint8_t {
  Reg,    ///< element held by a thread (one register = one element; packing is not the layout's business)
  Lane,   ///< thread in a warp (32) or wave (64)
  Warp,   ///< warp in its warp group
  Group,  ///< warp group in the block
  Block,  ///< block in the cluster
  Slot,   ///< slot of a multi-buffered shared buffer
  Offset, ///< offset in memory, in elements
  D0,     ///< tile coordinates, outermost first
  D1,
  D2,
  D3,
  D4,
  D5,
  D6,
  D7,
};

constexpr unsigned kMaxRank = 8;

/// The coordinate dimension of tile axis \p axis.
inline DimId coord(unsigned axis) { return static_cast<DimId>(static_cast<unsigned>(DimId::D0) + axis); }
inline bool isCoord(DimId d) { return d >= DimId::D0; }
inline unsigned axisOf(DimId d) { return static_cast<unsigned>(d) - static_cast<unsigned>(DimId::D0); }
llvm::StringRef dimName(DimId d);
std::optional<DimId> dimByName(llvm::StringRef name);

/// A dimension with an extent, a coordinate or a stride, depending on the operation.
using DimValue = std::pair<DimId, int64_t>;

class Layout {
public:
  using Vec = llvm::SmallVector<int64_t, 2>;
  /// One digit of an input dimension: n values, each unit moves the outputs by v (one stride per output).
  struct Digit {
    int64_t n = 1;
    Vec v;
    bool moves() const;
    bool operator==(const Digit &o) const { return n == o.n && v == o.v; }
  };
  struct In {
    DimId id;
    llvm::SmallVector<Digit, 6> digits; ///< least significant first
    bool operator==(const In &o) const { return id == o.id && digits == o.digits; }
  };
  struct Out {
    DimId id;
    int64_t size = 1;  ///< logical extent
    unsigned zone = 0; ///< bits in which contributions are xored
    bool operator==(const Out &o) const { return id == o.id && size == o.size && zone == o.zone; }
  };
  /// A digit, or several that continue each other, with its place value in its dimension.
  struct Run {
    DimId dim;
    int64_t place = 1;
    int64_t n = 1;
    Vec v;
  };

  /// The layout without inputs and outputs.
  Layout() = default;

  //===--- construction ---------------------------------------------------===//

  /// Builds the normal form. Digit vectors are parallel to \p outs; dimensions may come in any order. Fails
  /// (with the reason in \p why) when a digit that is not binary reaches into a zone, a dimension occurs
  /// twice, or a number is out of range.
  static llvm::FailureOr<Layout> get(llvm::ArrayRef<In> ins, llvm::ArrayRef<Out> outs,
                                     std::string *why = nullptr);

  /// Reads the text that print() writes, see there. Input from users: never asserts.
  static llvm::FailureOr<Layout> parse(llvm::StringRef text, std::string *why = nullptr);
  /// parse() for texts written in the compiler itself; aborts on a mistake in them.
  static Layout known(llvm::StringRef text);

  /// Each dimension to itself.
  static Layout identity(llvm::ArrayRef<DimValue> dims);
  /// Plain memory: every dimension (extent) with its stride. \p size 0 means up to the last element.
  static Layout strided(llvm::ArrayRef<DimValue> dims, llvm::ArrayRef<int64_t> strides, int64_t size = 0,
                        DimId out = DimId::Offset);
  /// Dense memory, the last dimension fastest.
  static Layout rowMajor(llvm::ArrayRef<DimValue> dims, DimId out = DimId::Offset);
  /// The inverse of rowMajor: a flat index to coordinates.
  static Layout unflatten(llvm::ArrayRef<DimValue> dims, DimId in = DimId::Offset);

  //===--- text -----------------------------------------------------------===//

  /// `reg 2:d1 2:8d0 12:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 -> 64x96` for fragments and
  /// `d0 8:64^8 12:512 | d1 64:1 -> 6144^64` for memory. `n:stride dim`, digits least significant first;
  /// `64^8` adds 64 and xors 8 per unit, bits doubling both; a number without a name is an offset;
  /// `4:2d1+8d0` moves two outputs, `2:0` none. After the arrow the sizes of d0, d1, .. (or of the offset),
  /// `^64` giving a zone of 6 bits, `()` when there is no output. Any other set of outputs is written with
  /// names: `-> reg=8 lane=32`.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

  //===--- looking --------------------------------------------------------===//

  llvm::ArrayRef<In> ins() const { return inputs; }
  llvm::ArrayRef<Out> outs() const { return outputs; }
  llvm::ArrayRef<Digit> digits(DimId in) const;
  bool hasIn(DimId d) const { return !digits(d).empty(); }
  bool hasOut(DimId d) const { return outIndex(d) >= 0; }
  /// Position of output \p d in outs() and in digit vectors, or -1.
  int outIndex(DimId d) const;
  /// Number of values of input \p d (1 when the layout does not use it).
  int64_t inSize(DimId d) const;
  /// Product of all input sizes.
  int64_t domainSize() const;
  /// Logical extent of output \p d (1 when there is none).
  int64_t outSize(DimId d) const;
  unsigned zone(DimId d) const;
  /// 1 + the largest value of output \p d over the domain.
  int64_t cover(DimId d) const;
  /// Number of coordinate outputs d0, d1, ..
  unsigned rank() const;
  /// The extents of the coordinate outputs.
  llvm::SmallVector<int64_t, 4> shape() const;

  /// Values of all outputs, in the order of outs(). Inputs not listed are 0.
  llvm::SmallVector<int64_t, 4> operator()(llvm::ArrayRef<DimValue> at) const;
  /// Value of one output.
  int64_t at(DimId out, llvm::ArrayRef<DimValue> in) const;
  /// All values of \p out over the inputs \p order, the last one fastest.
  std::vector<int64_t> table(DimId out, llvm::ArrayRef<DimId> order) const;
  /// What each value of input \p in contributes to \p out: the part inside the zone and the part above. The
  /// value of the layout is the xor of the first plus the sum of the second.
  std::vector<std::pair<int64_t, int64_t>> contributions(DimId in, DimId out) const;

  /// Digits with their place values.
  llvm::SmallVector<Run, 8> places(DimId in) const;
  /// places(), with neighbours that continue each other joined (bits that reach into a zone stay single).
  llvm::SmallVector<Run, 8> runs(DimId in) const;
  /// Digits that move nothing.
  llvm::SmallVector<Run, 4> replication() const;

  /// Is every value below the extents reached? (A digit that strides two outputs counts as no.)
  bool isSurjective() const;
  /// Surjective, and as many inputs as outputs.
  bool isBijective() const;
  /// For one output: do different inputs surely have different values? Sufficient, not necessary.
  bool isInjective() const;

  bool operator==(const Layout &o) const { return inputs == o.inputs && outputs == o.outputs; }
  bool operator!=(const Layout &o) const { return !(*this == o); }
  friend llvm::hash_code hash_value(const Layout &l);

  //===--- algebra --------------------------------------------------------===//
  // Each operation gives the exact layout or says in `why` that there is none.

  /// \p g after this one; outputs meet inputs by name. Inputs of \p g that are no output here are 0.
  llvm::FailureOr<Layout> then(const Layout &g, std::string *why = nullptr) const;
  /// Right inverse of a surjective layout (the inverse of a bijection): outputs to inputs, 0 on replicated
  /// digits. When several inputs could supply a coordinate, the first of \p prefer does; by default the order
  /// of DimId.
  llvm::FailureOr<Layout> section(llvm::ArrayRef<DimId> prefer = {}, std::string *why = nullptr) const;
  llvm::FailureOr<Layout> inverse(std::string *why = nullptr) const;
  /// Blocked product: this layout is the atom, \p b says (in atoms) where its copies go.
  llvm::FailureOr<Layout> times(const Layout &b, std::string *why = nullptr) const;
  /// The b with atom.times(b) == *this, if there is one: "does this tile consist of these atoms?"
  std::optional<Layout> over(const Layout &atom) const;

  /// Forgets an output: the layout of a row vector or of a reduction's result.
  Layout slice(DimId out) const;
  /// slice() of a coordinate, and the later axes move up.
  Layout sliceAxis(unsigned axis) const;
  /// A new axis of the given extent (not moved by any input) in front of \p axis.
  Layout insertAxis(unsigned axis, int64_t size = 1) const;
  /// Drops replicated digits of \p in (registers that would hold the same element).
  Layout squeeze(DimId in = DimId::Reg) const;
  /// Renames inputs and outputs simultaneously.
  Layout rename(llvm::ArrayRef<std::pair<DimId, DimId>> names) const;
  /// Axis i of the result is axis perm[i] of this layout, in inputs and outputs alike.
  Layout permuteAxes(llvm::ArrayRef<unsigned> perm) const;
  /// Axes 0 and 1 swapped.
  Layout transpose() const { return permuteAxes({1, 0}); }
  /// Same map, other logical extents (smaller: the rest is masked, larger: not covered).
  Layout pad(llvm::ArrayRef<DimValue> sizes) const;
  /// Same map without input \p in (held at 0).
  Layout without(DimId in) const;
  /// Lets inputs run further, so that masked elements have an address: the last run is prolonged.
  llvm::FailureOr<Layout> widen(llvm::ArrayRef<DimValue> sizes, std::string *why = nullptr) const;
  /// Same elements in row-major order under other extents; the new axes are d0, d1, ..
  llvm::FailureOr<Layout> reshape(llvm::ArrayRef<int64_t> shape, std::string *why = nullptr) const;
  /// Views several inputs as one, the first least significant: (lane, warp) as a thread number.
  Layout join(llvm::ArrayRef<DimId> dims, DimId into) const;
  /// Cuts input \p dim at \p at into a low and a high dimension.
  llvm::FailureOr<Layout> part(DimId dim, int64_t at, DimId lo, DimId hi, std::string *why = nullptr) const;
  /// The first \p n values of input \p in only, if they are whole digits.
  llvm::FailureOr<Layout> lowPart(DimId in, int64_t n, std::string *why = nullptr) const;
  /// Reorders the digits of an input: digit i of the result is digit perm[i].
  Layout permuteDigits(DimId in, llvm::ArrayRef<unsigned> perm) const;
  /// x ^= ((x >> (M+S)) & (2^B - 1)) << M on output \p out, in elements (CuTe's Swizzle<B, M, S>).
  llvm::FailureOr<Layout> swizzled(unsigned B, unsigned M, unsigned S, DimId out = DimId::Offset,
                                   std::string *why = nullptr) const;

private:
  enum class SectionResult { Ok, NotSurjective, NotRepresentable, Diagonal };
  SectionResult sectionImpl(llvm::ArrayRef<DimId> prefer, Layout *result, std::string *why) const;
  llvm::LogicalResult normalise(std::string *why);
  llvm::LogicalResult expandZones(std::string *why);
  void shrinkZones();
  void mergeAndSplit();
  /// May output \p o be read with an xor zone of \p a bits? (Where bits never meet, xor is plus.)
  bool canRaise(unsigned o, unsigned a) const;
  llvm::SmallVector<Run, 8> runsIn(DimId in, llvm::ArrayRef<unsigned> zones) const;
  bool outsideZones(const Vec &v, llvm::ArrayRef<unsigned> zones) const;

  llvm::SmallVector<In, 0> inputs;   ///< sorted by id, none empty
  llvm::SmallVector<Out, 2> outputs; ///< sorted by id
};

/// Puts a layout together digit by digit.
class LayoutBuilder {
public:
  LayoutBuilder &out(DimId id, int64_t size, unsigned zone = 0);
  /// Appends a digit of \p n values to input \p in; \p moves lists outputs (declared before) and strides. n =
  /// 1 is ignored.
  LayoutBuilder &digit(DimId in, int64_t n, llvm::ArrayRef<DimValue> moves = {});
  llvm::FailureOr<Layout> build(std::string *why = nullptr) const;
  /// build() for layouts that are right by construction.
  Layout known() const;

private:
  llvm::SmallVector<Layout::In, 4> ins;
  llvm::SmallVector<Layout::Out, 2> outs;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Layout &l);

} // namespace tilec

#endif // TILEC_SUPPORT_LAYOUT_H
