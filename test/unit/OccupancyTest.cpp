//===- OccupancyTest.cpp - against NVIDIA's occupancy calculator -------------===//
#include "tilec/Support/Occupancy.h"
#include <gtest/gtest.h>

using namespace tilec;

static std::string occupancy(const char *target, BlockNeeds needs) {
  Occupancy o = occupancyOf(*lookupTarget(target), needs);
  return std::to_string(o.blocks) + " blocks, " + std::to_string(o.warps) + " of " +
         std::to_string(o.mostWarps) + " warps: " + o.limiter;
}

TEST(Occupancy, OfEachLimit) {
  EXPECT_EQ(occupancy("sm_80", {256, 32, 0}), "8 blocks, 64 of 64 warps: threads");
  EXPECT_EQ(occupancy("sm_80", {256, 64, 0}), "4 blocks, 32 of 64 warps: registers");
  EXPECT_EQ(occupancy("sm_80", {256, 32, 48 * 1024}), "3 blocks, 24 of 64 warps: shared memory");
  EXPECT_EQ(occupancy("sm_80", {32, 16, 0}), "32 blocks, 32 of 64 warps: blocks");
  EXPECT_EQ(occupancy("sm_89", {1024, 32, 0}), "1 blocks, 32 of 48 warps: threads");
  EXPECT_EQ(occupancy("sm_89", {32, 16, 0}), "24 blocks, 24 of 48 warps: blocks");
  EXPECT_EQ(occupancy("sm_90a", {384, 168, 229440}), "1 blocks, 12 of 64 warps: shared memory");
  // A warp's registers are handed out by 256.
  EXPECT_EQ(occupancy("sm_90a", {128, 33, 0}), "12 blocks, 48 of 64 warps: registers");
  EXPECT_EQ(occupancy("sm_90a", {33, 8, 0}), "32 blocks, 64 of 64 warps: threads");
}

TEST(Occupancy, OfAMD) {
  EXPECT_EQ(occupancy("gfx942", {256, 128, 0}), "4 blocks, 16 of 32 warps: registers");
  EXPECT_EQ(occupancy("gfx942", {256, 64, 32768}), "2 blocks, 8 of 32 warps: shared memory");
}

TEST(Occupancy, ShareOfSharedMemory) {
  for (const char *target : {"sm_80", "sm_86", "sm_90a", "gfx942"})
    for (int64_t blocks : {1, 2, 3, 5, 8}) {
      const TargetDesc &chip = *lookupTarget(target);
      int64_t share = sharedShare(chip, blocks);
      EXPECT_LE(share, chip.sharedBytes);
      EXPECT_GE(occupancyOf(chip, {64, 16, share}).blocks, blocks) << target;
      EXPECT_TRUE(blocks == 1 || occupancyOf(chip, {64, 16, share + 1}).blocks < blocks) << target;
    }
  EXPECT_EQ(sharedShare(*lookupTarget("sm_90a"), 2), 115712);
}
