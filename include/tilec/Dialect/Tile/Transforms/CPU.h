//===- CPU.h - stages Scheduled and LaidOut on x86-64 ------------------------===//
#ifndef TILEC_DIALECT_TILE_TRANSFORMS_CPU_H
#define TILEC_DIALECT_TILE_TRANSFORMS_CPU_H
#include "mlir/Pass/PassManager.h"

namespace tilec::tile {

/// Decisions and the rewrites that depend on them: #tile.schedule, #tile.inst, merged K steps. Pass manager
/// anchored on builtin.module; only device kernels whose tile.target is an x86-64 level are touched.
void buildScheduleCPU(mlir::OpPassManager &pm);
/// Layouts of tiles (registers in row-major order) and of buffers (row-major, padded rows, panels).
void buildLayoutsCPU(mlir::OpPassManager &pm);

} // namespace tilec::tile
#endif
