//===- Target.h - what a chip can do: the one home of every number about it --===//
#ifndef TILEC_SUPPORT_TARGET_H
#define TILEC_SUPPORT_TARGET_H
#include "tilec/Support/DType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tilec {

enum class Family : uint8_t { CPU, NVIDIA, AMD };

/// Matrix instruction families (the dialect's InstKind has the same names).
enum class MatrixKind : uint8_t { FMA, MMASync, WGMMA, MFMA, WMMA, CPUFMA };

/// One matrix instruction: D[m,n] += A[m,k] B[k,n]. n = 0: any multiple of 8 from 8 to 256 (wgmma).
struct MatrixInst {
  MatrixKind kind;
  DType a, b, acc;
  int m, n, k;
};

/// Memory-to-memory engines beside plain loads and stores.
struct CopyEngines {
  bool cpAsync = false;     ///< sm_80+: 4, 8 or 16 bytes, zero fill
  bool tma = false;         ///< sm_90+: boxes, clipping, mbarrier completion
  bool bufferToLDS = false; ///< gfx94x+
};

/// Everything the target-neutral middle asks about a chip. Sizes in bytes, registers in 32-bit units.
struct TargetDesc {
  std::string name; ///< "sm_90a", "compute_80", "gfx942", "x86-64-v4", "cpu"
  Family family;
  unsigned warpSize;          ///< lanes that run together; 1 on CPU
  unsigned warpsPerGroup;     ///< warps of one warp group: 4 on sm_90a, 1 elsewhere
  unsigned maxThreads;        ///< per block
  unsigned sharedBytes;       ///< most a block can have
  unsigned registersPerBlock; ///< register file of a multiprocessor
  unsigned maxRegisters;      ///< per thread
  unsigned multiprocessors;   ///< of the usual product: a guess for cost models, never for correctness
  unsigned vectorBytes;       ///< widest load of one thread
  unsigned ptxVersion = 0;    ///< floor of the PTX ISA version, e.g. 80 for 8.0 (NVIDIA)
  unsigned smVersion = 0;     ///< 90 for sm_90a (NVIDIA)
  bool archSpecific = false;  ///< an "a" chip: the image runs on that chip alone
  bool emitsPTX = false;      ///< "compute_XY": the image is PTX text
  bool roles = false;         ///< warp specialisation with register reallocation
  bool mbarriers = false;
  CopyEngines engines;
  llvm::ArrayRef<MatrixInst> matrix; ///< best first
  unsigned cpuLevel = 0;             ///< 2, 3, 4 for x86-64-vN
  unsigned vectorLanes32 = 0;        ///< CPU: 32-bit lanes of a vector register
  unsigned l1Bytes = 0, l2Bytes = 0; ///< CPU: assumed cache sizes
  bool hasFMA = true;
};

/// The chip of that name, or null. Knows sm_80, sm_86, sm_89, sm_90a, compute_80, compute_90, gfx90a, gfx942,
/// x86-64-v2..v4.
const TargetDesc *lookupTarget(llvm::StringRef name);
/// All names, in the order --list-archs prints them ("cpu" first).
llvm::ArrayRef<llvm::StringRef> targetNames();
/// "cpu" stands for x86-64-v2, v3 and v4 in one object; every other name for itself.
llvm::SmallVector<llvm::StringRef, 3> expandTarget(llvm::StringRef name);
/// The closest known name, for "did you mean".
llvm::StringRef nearestTarget(llvm::StringRef name);

} // namespace tilec
#endif
