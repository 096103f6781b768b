//===- Kernel.h - what the back ends produce and the object writer consumes --===//
// Plain data, no MLIR: one Library per tilec run. It becomes the constants of the object
// (runtime/tile_rt_gen.h), the C header and the JSON manifest; nothing else carries information from
// compilation to output.
#ifndef TILEC_TARGET_KERNEL_H
#define TILEC_TARGET_KERNEL_H
#include "tilec/Support/DType.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilec::target {

/// TILE_RT_ABI of the runtime that the generated constants are for (a test compares them).
constexpr int kRuntimeABI = 1;

/// One condition of a variant over the launch values: `values[slot] % modulus == 0` and so on.
struct Condition {
  enum Kind : uint8_t { MultipleOf, AtLeast, AtMost, Equal, Maps /*all tensor maps can be encoded*/ } kind;
  unsigned slot;
  int64_t value;
  std::string text; ///< in the user's names, for TILE_ERR_NO_VARIANT and remarks
};

/// A CUtensorMap that the runtime encodes from the slots of a view.
struct TensorMap {
  unsigned viewSlot; ///< of the data address; sizes and strides follow
  DType elementType;
  unsigned rank;     ///< of the view, 1..5
  int argument = -1; ///< of the kernel, when the view is one; for messages
  llvm::SmallVector<uint32_t, 5>
      box;               ///< elements per axis of the view (slowest first, like the view's shape)
  unsigned swizzleBytes; ///< 0, 32, 64, 128
  bool tf32 = false;     ///< float32 that the engine rounds to tf32
};

/// One parameter of a GPU kernel, in order.
struct Param {
  /// Seed: of --sanitize=schedule, 4 bytes, from the environment.
  enum Kind : uint8_t { Slot, Map, Seed } kind;
  unsigned slot = 0;  ///< Slot: which launch value
  unsigned bytes = 8; ///< Slot: 1, 2, 4 or 8
  TensorMap map;      ///< Map: passed by value, 128 bytes, 64-byte aligned
};

struct Resources {
  int registers = -1, spillStores = -1, spillLoads = -1, stackBytes = -1;
  int64_t staticShared = 0, dynamicShared = 0;
  /// Wavefronts of one warp's accesses to shared memory, and how many there would be without bank conflicts:
  /// an estimate from the layouts. 0: it makes none but through engines that have no conflicts.
  int64_t bankWaves = 0, idealWaves = 0;
  std::vector<std::string> advisories; ///< what ptxas says about lost performance (C75xx), one line each
};

/// What a launch of `blocks` blocks with `trips` trips of the main loop costs, in cycles:
/// ceil(blocks / (multiprocessors * resident)) * (trips * trip + block) + launch.
struct Cost {
  int64_t trip = 0, block = 0, launch = 0, resident = 1;
};

/// One compiled form of one launch for one image.
struct Variant {
  std::string symbol; ///< of the kernel in the image; CPU: functions `<symbol>.count` and `<symbol>.work`
  std::vector<Condition> conditions;
  std::vector<Param> params;
  unsigned threads = 0;
  int64_t dynamicShared = 0;
  bool persistent = false;
  unsigned minBlocks = 1;
  unsigned point = 0;    ///< of the tuning space: 0 the defaults, else its number in the launch
  unsigned measured = 0; ///< which of the launch's measured points is for this image, from 1; 0: none is
  Cost cost;             ///< zero: unknown
  std::vector<std::pair<std::string, std::string>> constants; ///< of the point; empty for the defaults
  int64_t arenaBytes = 0;                                     ///< CPU: scratch of one worker, 64-byte aligned
  Resources resources;
  std::string schedule; ///< one line for the manifest: tile, stages, instruction
};

/// All launches compiled for one architecture.
struct Image {
  enum Kind : uint8_t { Cubin, PTX, HSACO, CPU } kind;
  std::string arch; ///< "sm_90a", "compute_80", "gfx942", "x86-64-v4"
  /// GPU: the image. CPU: LLVM bitcode, optimised, whose functions carry target-cpu and target-features; the
  /// object writer links it with the host code, so that one object holds all levels.
  std::string bytes;
  std::vector<std::vector<std::vector<Variant>>>
      variants;                  ///< [kernel][launch][variant]; empty list: not compiled
  std::string ptxasVersion = {}; ///< "13.0"; empty: ptxas had no part in it
};

struct Dim {
  std::optional<int64_t> constant;
  int symbol = -1; ///< index into KernelDesc::symbols; -1: constant, or an expression that host code checks
  std::string text;
};

struct Arg {
  enum Kind : uint8_t { Tensor, Pointer, Scalar } kind;
  std::string name;
  DType dtype;
  std::vector<Dim> dims;
  bool strided = false;
  std::vector<Dim> strides;
  enum Access : uint8_t { None, In, Out, InOut } access = None;
  int64_t align = 0; ///< assumed byte alignment, 0: element
};

struct LaunchDesc {
  std::string name;      ///< "matmul.0"
  unsigned gridRank = 1; ///< slots 0..gridRank-1 are the grid extents
  unsigned slots = 0;
  unsigned points = 0;                       ///< beside the defaults
  std::vector<std::string> measuredFor = {}; ///< targets for which a tuning file has measurements
};

struct KernelDesc {
  std::string name; ///< without prefix
  std::string signature, doc, file;
  unsigned line = 0;
  std::vector<Arg> args;
  std::vector<std::string> symbols;
  std::vector<std::string> preconditions;
  std::vector<std::pair<std::string, std::string>> constants;
  std::vector<LaunchDesc> launches;
  bool inplace = false;
  bool needsWorkspace = false;
  unsigned indexBits = 0;
};

struct Library {
  std::string prefix;     ///< without the underscore; may be empty
  std::string module;     ///< "gemm.tile"
  std::string sourceHash; ///< SHA-256 of the sources, hex
  std::vector<KernelDesc> kernels;
  std::vector<Image> images;
};

} // namespace tilec::target
#endif
