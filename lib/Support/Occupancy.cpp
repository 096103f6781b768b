//===- Occupancy.cpp - how many blocks a multiprocessor runs at once ----------===//
#include "tilec/Support/Occupancy.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec;

namespace {
/// What the blocks on one multiprocessor share.
struct Room {
  int64_t warps, blocks, registers, shared;
  int64_t registerUnit; ///< a warp's registers are handed out in multiples of it
  int64_t sharedUnit;   ///< a block's shared memory is handed out in multiples of it
  int64_t sharedExtra;  ///< taken by the system for each block
};
} // namespace

static Room roomOf(const TargetDesc &target) {
  if (target.family == Family::AMD) // four SIMDs with room for 8 waves of 512 registers each
    return {32, 16, 4 * 512 * 64, target.sharedBytes, 8 * 64, 512, 0};
  // A block may have all of the shared memory but what the system keeps.
  constexpr int64_t kept = 1024;
  bool small = target.smVersion == 86 || target.smVersion == 89; // chips for graphics
  int64_t blocks = target.smVersion == 86 ? 16 : target.smVersion == 89 ? 24 : 32;
  return {small ? 48 : 64, blocks, target.registersPerBlock, target.sharedBytes + kept, 256, 128, kept};
}

Occupancy tilec::occupancyOf(const TargetDesc &target, const BlockNeeds &needs) {
  Room room = roomOf(target);
  Occupancy result;
  result.mostWarps = room.warps;
  int64_t warps = std::max<int64_t>(1, llvm::divideCeil(needs.threads, target.warpSize));
  int64_t registers =
      llvm::alignTo(std::max<int64_t>(1, needs.registers) * target.warpSize, room.registerUnit);
  int64_t shared = llvm::alignTo(needs.shared, room.sharedUnit) + room.sharedExtra;
  struct Limit {
    const char *name;
    int64_t blocks;
  } limits[] = {{"threads", room.warps / warps},
                {"shared memory", room.shared / std::max<int64_t>(1, shared)},
                {"registers", room.registers / registers / warps},
                {"blocks", room.blocks}};
  const Limit *least = limits;
  for (const Limit &limit : limits)
    if (limit.blocks < least->blocks)
      least = &limit;
  result.blocks = least->blocks;
  result.limiter = least->name;
  result.warps = result.blocks * warps;
  return result;
}

int64_t tilec::sharedShare(const TargetDesc &target, int64_t blocks) {
  Room room = roomOf(target);
  int64_t share = room.shared / std::max<int64_t>(1, blocks) - room.sharedExtra;
  return std::min<int64_t>(target.sharedBytes, llvm::alignDown(std::max<int64_t>(share, 0), room.sharedUnit));
}
