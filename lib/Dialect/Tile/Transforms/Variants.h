//===- Variants.h - clones of a device kernel that launch conditions pick ----===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_VARIANTS_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_VARIANTS_H
#include "tilec/Dialect/Tile/IR/Tile.h"

namespace tilec::tile {

/// First launch value (slot) of argument `index` of a device kernel: scalars and pointers take one, a view
/// its address, its extents and its strides.
int64_t slotOfArgument(KernelOp kernel, unsigned index);

/// The copy engine counts coordinates in 32 bits with a sign. Longer axes are not its; an offset outside can
/// be cut to this without coming inside, and the rest is room for the position in a box.
inline constexpr int64_t kLongestMappedAxis = (int64_t(1) << 31) - (int64_t(1) << 16);

/// What wide accesses need of a view, over and above what is known of it.
struct ViewDemand {
  unsigned argument; ///< of the device kernel
  bool tensorMap;    ///< extents of 1 to kLongestMappedAxis too
};

/// If the demanded 16-byte pitches and addresses are already known, returns the kernel itself. Otherwise
/// makes a clone of it behind it, named `<name>.any`, which relies on nothing, and returns the original,
/// which carries `tile.conditions` and assumptions that say the same to later passes. `any` receives the
/// clone, or null.
void demandAlignment(KernelOp kernel, llvm::ArrayRef<ViewDemand> demands, KernelOp &any);

} // namespace tilec::tile
#endif
