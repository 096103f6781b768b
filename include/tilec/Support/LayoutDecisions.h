//===- LayoutDecisions.h - decisions that follow from layouts ----------------===//
//
// Vector widths, copies, bank conflicts, swizzles, conversions between fragments,
// reductions, addresses, and what ldmatrix, wgmma and TMA accept: each a function
// of layouts and element sizes alone. Nothing here enumerates a tile; only bank
// counting looks at the lanes of one warp. Where an answer may be "no", the reason
// is a text for a remark.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_SUPPORT_LAYOUTDECISIONS_H
#define TILEC_SUPPORT_LAYOUTDECISIONS_H

#include "tilec/Support/LayoutTables.h"

namespace tilec {

//===--- vector widths --------------------------------------------------------===//

/// The largest power of two v such that v aligned neighbours along \p in lie at consecutive offsets, aligned
/// to v.
int64_t contiguity(const Layout &l, DimId in, DimId out = DimId::Offset);
/// Bytes of the widest access along the rows of a global tile: pitch (elements), base alignment (bytes) and
/// width must all allow it; a masked tail must be whole vectors.
unsigned globalVector(int64_t cols, unsigned elemBytes, int64_t pitch, unsigned baseAlign = 16,
                      unsigned most = 16);
/// Elements of one shared access when fragment \p f touches \p s: leading registers at consecutive offsets. 1
/// if the two do not compose.
int64_t registerVector(const Layout &f, const Layout &s, unsigned elemBytes, unsigned most = 16);

//===--- banks ----------------------------------------------------------------===//

/// Which lanes a shared memory serves together. SM: NVIDIA, 32 banks of 4 bytes. The AMD reads are other
/// people's measurements, GFX11 is an assumption.
enum class BankModel : uint8_t { SM, GFX942Read, GFX942Write, GFX950Read, GFX950Write, GFX11 };
BankModel bankModelOf(const TargetDesc &target, bool write = false);

struct Waves {
  int64_t waves = 0; ///< wavefronts that the banks need
  int64_t ideal = 0; ///< wavefronts without conflicts
  bool conflictFree() const { return waves == ideal; }
};
/// One access of \p width bytes per lane; a negative address is an inactive lane.
Waves bankWaves(llvm::ArrayRef<int64_t> byteAddress, unsigned width, BankModel model);
/// All accesses of one warp of fragment \p f to \p s with vectors of \p vec elements (two warps are looked
/// at).
llvm::FailureOr<Waves> accessWaves(const Layout &f, const Layout &s, unsigned elemBytes, int64_t vec,
                                   BankModel model, std::string *why = nullptr);

//===--- copies -----------------------------------------------------------------===//

struct CopyPlan {
  unsigned bytes = 0;  ///< of one access
  Layout map;          ///< reg, lane, warp, group to (row, column)
  double useful = 1;   ///< share of the lane slots that do something
  int64_t sectors = 0; ///< 32-byte sectors of one warp access in global memory
  int64_t lines = 0;   ///< 128-byte lines of the same
  Waves shared;        ///< on the shared side
  bool maskRows = false, maskCols = false;
  int64_t idleLanes = 0;
};
struct GlobalTile {
  int64_t pitch = 0;       ///< elements; 0: dense
  unsigned baseAlign = 16; ///< bytes
};
/// The map of a register copy between a row-major global tile and shared layout \p s (d0, d1). Always a plan:
/// what does not divide is rounded up and masked, or leaves lanes idle.
CopyPlan planCopy(int64_t rows, int64_t cols, unsigned elemBytes, const Layout &s, ThreadShape threads,
                  GlobalTile global = {}, BankModel model = BankModel::SM);

//===--- layouts of shared buffers ----------------------------------------------===//

struct SharedAccess {
  enum Kind : uint8_t { Plain, LdMatrix, LdMatrixTrans };
  Layout map; ///< fragment: reg, lane, warp to (d0, d1)
  Kind kind = Plain;
};
struct SharedChoice {
  Waves cost;
  std::string name; ///< "swizzle 128B", "xor<3,2,5>", "pad 8"
  Layout layout;    ///< d0, d1 to offset
};
/// What a buffer's users insist on.
enum class SharedNeed : uint8_t { Nothing, Canonical };
/// The cheapest layout of a rows x cols buffer for all its accesses: Hopper's swizzles, then other swizzles,
/// then padded rows; the first conflict-free one wins. None when no candidate allows every access (an
/// ldmatrix of a fragment that has no rows in it).
std::optional<SharedChoice> chooseShared(int64_t rows, int64_t cols, unsigned elemBytes,
                                         llvm::ArrayRef<SharedAccess> accesses,
                                         BankModel model = BankModel::SM,
                                         SharedNeed need = SharedNeed::Nothing, bool mayPad = true);

//===--- conversions between fragments -------------------------------------------===//

struct Conversion {
  enum Kind : uint8_t {
    None,      ///< the same registers hold the same elements
    Registers, ///< registers renamed: register r comes from perm[r]
    Select,    ///< own registers, chosen by lane
    Shuffle,   ///< within warps
    Shared,    ///< through shared memory
  };
  /// One exchange: every lane offers sendReg, reads from srcLane, and keeps the value as dstReg (-1:
  /// nothing).
  struct Round {
    llvm::SmallVector<int16_t, 32> sendReg, srcLane, dstReg;
    bool moves = true; ///< false: every lane reads itself, no shuffle needed
  };
  Kind kind = None;
  std::string why;  ///< Shared: the reason
  int64_t cost = 0; ///< comparable: about instructions per thread
  /// Where each destination element comes from: (reg, lane, ..) to (reg, lane, ..). Empty when it has no
  /// layout.
  std::optional<Layout> from;
  llvm::SmallVector<int64_t, 32> perm; ///< Registers
  std::vector<Round> rounds;           ///< Shuffle
  int64_t shuffles = 0, selects = 0;   ///< Shuffle, in 32-bit operations
  unsigned exchangeBits = 0;           ///< Shuffle: register bits that come from lane bits
  bool packed = false;                 ///< Shuffle: narrow elements move a word at a time
  Layout staging;                      ///< Shared: coordinates to offset, covers both sides' masked elements
  int64_t bytes = 0;                   ///< Shared
  Waves waves;                         ///< Shared: both sides together
};
/// Plans a change of layout; never fails. \p lanesModel counts the banks of a staging buffer.
Conversion planConversion(const Layout &src, const Layout &dst, unsigned elemBytes,
                          BankModel model = BankModel::SM, bool withStaging = true);
/// A table over lanes as xor of a constant (first) and one number per lane bit, if it is one.
std::optional<llvm::SmallVector<int64_t, 8>> affineInLane(llvm::ArrayRef<int16_t> table);
/// Does every thread hold the same elements on both sides?
bool sameUpToRegisters(const Layout &a, const Layout &b);
/// Equal after renaming registers and permuting axis \p k, which is harmless if the other operand's rows
/// follow? Gives the permutation (k to k): the element that \p a holds as k is what \p b calls perm(k).
std::optional<Layout> sameUpToAxis(const Layout &a, const Layout &b, unsigned k);

//===--- reductions ----------------------------------------------------------------===//

struct Reduction {
  struct Step {
    bool rotate = false; ///< false: one exchange with lane ^ place; true: n - 1 rotations of an odd digit
    int64_t place = 1, n = 2;
  };
  int64_t inThread = 0;             ///< operations within a thread
  int64_t shuffles = 0;             ///< all lane exchanges of a thread
  llvm::SmallVector<Step, 6> steps; ///< per value
  llvm::SmallVector<Layout::Run, 4>
      warps;         ///< digits of warp, group, block whose partial results meet in shared memory
  int64_t parts = 1; ///< product of those
  int64_t sharedBytes = 0;
  Layout result;             ///< the source without the axis, later axes moved up
  bool identityFill = false; ///< masked elements must hold the operation's identity
};
llvm::FailureOr<Reduction> planReduction(const Layout &f, unsigned axis, unsigned elemBytes,
                                         std::string *why = nullptr);

//===--- addresses ------------------------------------------------------------------===//

/// offset(thread, r) = ((low(thread) ^ xors[r]) + high(thread)) + imms[r], low and high being the thread's
/// part inside and above the zone. One address register per distinct xor, the rest are immediates.
struct AddressPlan {
  llvm::SmallVector<int64_t, 32> xors, imms;
  unsigned zone = 0; ///< bits
  unsigned bases = 1;
};
/// \p a maps threads and \p unrolled (registers or instructions) to an offset.
AddressPlan planAddress(const Layout &a, DimId unrolled = DimId::Reg, DimId out = DimId::Offset);

//===--- what the hardware accepts -----------------------------------------------------===//

struct MatrixAccess {
  int x = 1;         ///< matrices per instruction: 1, 2, 4
  int64_t count = 1; ///< instructions
  Layout address;    ///< (lane = row address, reg = instruction, warp, group) to offset
  Waves waves;       ///< of one warp
  /// .trans of bytes: it moves pairs of columns. Words 2 i and 2 i + 1 as loaded hold k, k + 1 and k + 2, k +
  /// 3 of two columns; as the fragment has them, four k of one column each.
  bool bytePairs = false;
};
/// Can fragment \p f be read (ldmatrix) or written (stmatrix) in shared layout \p s?
llvm::FailureOr<MatrixAccess> asLdMatrix(const Layout &f, const Layout &s, unsigned elemBytes, bool trans,
                                         std::string *why = nullptr);
/// stmatrix (sm_90) moves 16-bit elements along the same paths.
llvm::FailureOr<MatrixAccess> asStMatrix(const Layout &f, const Layout &s, unsigned elemBytes, bool trans,
                                         std::string *why = nullptr);

/// Matrix descriptor of a wgmma operand (PTX ISA, "Matrix Descriptor Format").
struct WgmmaDesc {
  bool mnMajor = false;                ///< the instruction's transpose bit
  unsigned swizzle = 0;                ///< bytes of the swizzle row
  unsigned field = 0;                  ///< bits 62-63
  int64_t lbo = 0, sbo = 0;            ///< leading and stride byte offset
  llvm::SmallVector<int64_t, 8> kStep; ///< byte offset of each instruction's k
  int64_t align = 16;                  ///< of the start address, in bytes
  /// The descriptor for a start address in the shared window.
  uint64_t bits(uint64_t address) const;
};
/// \p l: d0 = m or n, d1 = k (and slots) to offset.
llvm::FailureOr<WgmmaDesc> asWgmmaOperand(const Layout &l, unsigned elemBytes, std::string *why = nullptr);

struct TmaBoxes {
  llvm::SmallVector<int64_t, 5> box; ///< extents, outermost first
  unsigned swizzle = 0;              ///< bytes
  int64_t count = 1;                 ///< boxes that fill the buffer
  int64_t align = 128;               ///< of the destination, in bytes
  /// CUtensorMapSwizzle.
  unsigned swizzleField() const { return swizzle == 128 ? 3 : swizzle == 64 ? 2 : swizzle == 32 ? 1 : 0; }
};
/// Which TMA copies fill shared layout \p l (d0, d1, .., outermost first)? \p globalStrides: elements, of all
/// axes but the innermost, as far as they are known.
llvm::FailureOr<TmaBoxes> asTmaBoxes(const Layout &l, unsigned elemBytes,
                                     llvm::ArrayRef<int64_t> globalStrides = {}, unsigned baseAlign = 16,
                                     std::string *why = nullptr);

} // namespace tilec

#endif // TILEC_SUPPORT_LAYOUTDECISIONS_H
