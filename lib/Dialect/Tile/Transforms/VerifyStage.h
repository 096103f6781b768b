//===- VerifyStage.h - contracts between the stages ------------------------===//
//
// The checks of tile-verify-stage, one function per file. They report with op.emitError and trust nothing
// that a pass of the stage might have got wrong.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_VERIFYSTAGE_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_VERIFYSTAGE_H

#include "tilec/Dialect/Tile/IR/Tile.h"

namespace tilec::tile {
/// Stage tile: W0202 for a read of a shared buffer that no write can reach.
void warnOfUnwrittenBuffers(KernelOp kernel);

/// Stage laid-out: layouts present, and what each op and engine needs of them.
llvm::LogicalResult verifyLayouts(KernelOp kernel);

/// Stage async: `pending` of each wait is at most the number of groups closed since the awaited one on every
/// path.
llvm::LogicalResult verifyPendingCounts(KernelOp kernel);

/// Stage async: offsets, ring counts, barrier ids; memory of two buffers that overlap is never live at once.
llvm::LogicalResult verifySharedMemory(LaunchOp launch);

/// Stage async: runs the scalar part of the launch with small sizes and looks for deadlocks, lost slots and
/// hazards.
llvm::LogicalResult replayLaunch(LaunchOp launch);
} // namespace tilec::tile

#endif // TILEC_LIB_DIALECT_TILE_TRANSFORMS_VERIFYSTAGE_H
