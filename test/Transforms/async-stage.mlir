// The passes of stage Async on one product, each looked at where it ends.
// RUN: tile-opt %S/Inputs/gemm-sm90a.mlir --tile-select-schedule --tile-assign-layouts --tile-make-persistent 2>/dev/null | FileCheck %s --check-prefix=PERSISTENT
// RUN: tile-opt %S/Inputs/gemm-sm90a.mlir --tile-select-schedule --tile-assign-layouts --tile-make-persistent --tile-warp-specialize 2>/dev/null | FileCheck %s --check-prefix=ROLES
// RUN: tile-opt %S/Inputs/gemm-sm90a.mlir --tile-select-schedule --tile-assign-layouts --tile-make-persistent --tile-warp-specialize --tile-async-gemms 2>/dev/null | FileCheck %s --check-prefix=FLIGHT
// RUN: tile-opt %S/Inputs/gemm-sm90a.mlir --tile-select-schedule --tile-assign-layouts --tile-make-persistent --tile-warp-specialize --tile-async-gemms --tile-stage-stores 2>/dev/null | FileCheck %s --check-prefix=STAGED
// RUN: tile-opt %S/Inputs/gemm-sm90a.mlir --tile-select-schedule --tile-assign-layouts --tile-pipeline-loops --tile-make-persistent --tile-warp-specialize --tile-async-gemms --tile-stage-stores --canonicalize --cse --tile-allocate-shared --tile-insert-barriers 2>/dev/null > %t.mlir
// RUN: FileCheck %s --check-prefix=PLACED < %t.mlir
// RUN: tile-opt %t.mlir --tile-verify-stage=stage=async
// RUN: tile-opt %S/Inputs/gemm-sm80.mlir --tile-select-schedule --tile-assign-layouts --tile-pipeline-loops 2>/dev/null | FileCheck %s --check-prefix=TOKENS
// RUN: tile-opt %S/Inputs/gemm-sm80.mlir --tile-select-schedule --tile-assign-layouts --tile-pipeline-loops --tile-make-persistent --canonicalize --cse --tile-allocate-shared --tile-insert-barriers 2>/dev/null | tile-opt --tile-verify-stage=stage=async

// PERSISTENT: %[[BLOCKS:.*]] = tile.num_blocks
// PERSISTENT: tile.launch (%[[CTA:.*]]) in (%[[BLOCKS]])
// PERSISTENT: tile.alloc
// PERSISTENT: scf.for %[[T:.*]] = %[[CTA]] to %{{.*}} step %[[BLOCKS]]
// PERSISTENT: tile.raster %[[T]] in({{.*}}) <kind = grouped, group = 8>

// Both copies have one ring; the load role acquires, copies and commits, the compute role consumes and releases.
// ROLES: tile.ring : <4 x{{ ?}}[
// ROLES: role <kind = load
// ROLES: tile.acquire {{.*}} tx 49152
// ROLES: tile.async_copy tma
// ROLES: tile.async_copy tma
// ROLES: tile.commit
// ROLES: role <kind = compute
// ROLES: tile.consume
// ROLES: tile.gemm
// ROLES: tile.release

// The product stays in flight over the trips; a slot is free one trip later. Where the tile lies is computed behind the loop, while
// the last product runs.
// FLIGHT: role <kind = compute
// FLIGHT-NOT: tile.raster
// FLIGHT: tile.in_flight
// FLIGHT: tile.consume
// FLIGHT: tile.async_gemm
// FLIGHT-NEXT: tile.wait {{.*}} pending 1
// FLIGHT: scf.if
// FLIGHT-NEXT: tile.advance {{.*}}by = -1
// FLIGHT-NEXT: tile.release
// FLIGHT: scf.yield
// FLIGHT: tile.raster
// FLIGHT: tile.await {{.*}} pending 0

// STAGED: tile.wait {{.*}} pending 0 read
// STAGED: tile.barrier group id 1
// STAGED: tile.store
// STAGED: tile.fence async_proxy
// STAGED: tile.barrier group id 1
// STAGED: tile.async_copy tma
// STAGED: tile.join

// PLACED: tile.shared_bytes = 229440 : i64
// PLACED: tile.ring full 1 empty 2 at {{.*}} barriers
// PLACED: tile.fence barrier_init
// PLACED: tile.barrier block id 0
// PLACED: tile.warp_groups

// TOKENS: tile.ring
// TOKENS: tile.async_copy cp_async if
// TOKENS: scf.for
// TOKENS: tile.wait {{.*}} pending 1
// TOKENS: tile.barrier block
// TOKENS: tile.async_copy cp_async if
// TOKENS: tile.gemm
