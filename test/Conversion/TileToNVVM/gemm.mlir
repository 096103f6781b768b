// One product on all NVIDIA generations: roles, TMA and wgmma on sm_90a; cp.async, ldmatrix and mma.sync on sm_80.
// RUN: tile-opt %s --pass-pipeline="builtin.module(tile-select-schedule,tile.kernel(tile-assign-layouts,canonicalize,cse,tile-pipeline-loops,tile-make-persistent,tile-warp-specialize,tile-async-gemms,tile-stage-stores,\
// RUN:   canonicalize,cse,tile-allocate-shared,tile-insert-barriers,canonicalize,cse),\
// RUN:   convert-tile-to-nvvm,canonicalize,cse)" -o %t.sm_90a.mlir
// RUN: FileCheck %s --check-prefix=HOPPER --input-file=%t.sm_90a.mlir
// RUN: tile-opt %t.sm_90a.mlir --tile-nvvm-to-llvm | FileCheck %s --check-prefix=LLVM
// RUN: sed s/sm_90a/sm_80/ %s > %t.sm_80.in.mlir
// RUN: tile-opt %t.sm_80.in.mlir --pass-pipeline="builtin.module(tile-select-schedule,tile.kernel(tile-assign-layouts,canonicalize,cse,tile-pipeline-loops,tile-make-persistent,tile-warp-specialize,tile-async-gemms,tile-stage-stores,\
// RUN:   canonicalize,cse,tile-allocate-shared,tile-insert-barriers,canonicalize,cse),\
// RUN:   convert-tile-to-nvvm,canonicalize,cse)" -o %t.sm_80.mlir
// RUN: FileCheck %s --check-prefix=AMPERE --input-file=%t.sm_80.mlir
// RUN: tile-opt %t.sm_80.mlir --tile-nvvm-to-llvm | FileCheck %s --check-prefix=LLVM
// LLVM-NOT: {{= (scf|arith|vector|tile)\.}}
// LLVM: llvm.return

// HOPPER-LABEL: llvm.func @matmul$0(
// HOPPER-SAME: llvm.byval = !llvm.array<16 x i64>, nvvm.grid_constant
// HOPPER-SAME: nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>
// HOPPER-SAME: tile.conditions = [{kind = "multiple_of"
// HOPPER-SAME: tile.launch_name = "matmul.0", tile.min_blocks = 1
// HOPPER-SAME: {box = array<i64: 128, 64>, dtype = "float16", rank = 2 : i64, swizzle = 128 : i64, view_slot = 2 : i64}
// HOPPER-SAME: tile.persistent
// HOPPER-SAME: tile.shared_bytes = 229440 : i64, tile.threads = 384 : i64
// HOPPER: nvvm.mbarrier.init
// HOPPER: fence.mbarrier_init.release.cluster
// HOPPER: nvvm.barrier
// The load role: one lane.
// HOPPER: nvvm.setmaxregister decrease 40
// HOPPER: nvvm.elect.sync
// HOPPER: scf.for
// HOPPER: mbarrier.try_wait.parity.shared::cta.b64
// HOPPER: mbarrier.arrive.expect_tx.shared::cta.b64
// HOPPER-COUNT-5: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// HOPPER-NOT: cp.async.bulk.tensor.2d.shared::cluster.global
// HOPPER: nvvm.setmaxregister increase 232
// HOPPER: wgmma.fence.sync.aligned
// HOPPER-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// HOPPER: wgmma.commit_group.sync.aligned
// HOPPER: wgmma.wait_group.sync.aligned 1
// HOPPER: mbarrier.arrive.shared::cta.b64
// HOPPER: wgmma.wait_group.sync.aligned 0
// The result leaves through the staging buffer, one half after the other.
// HOPPER: nvvm.cp.async.bulk.wait_group 0 {read}
// HOPPER-COUNT-8: stmatrix.sync.aligned.m8n8.x4.shared.b16
// HOPPER: fence.proxy.async.shared::cta
// HOPPER-COUNT-2: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// HOPPER: nvvm.cp.async.bulk.commit.group
// HOPPER: nvvm.cp.async.bulk.wait_group 0 {read}
// HOPPER-COUNT-8: stmatrix.sync.aligned.m8n8.x4.shared.b16
// HOPPER: fence.proxy.async.shared::cta
// HOPPER-COUNT-2: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// HOPPER: nvvm.cp.async.bulk.commit.group
// Any shape: no engine, no condition.
// HOPPER-LABEL: llvm.func @matmul$0$any(
// HOPPER-SAME: tile.conditions = []
// HOPPER-NOT: cp.async.bulk

// AMPERE-LABEL: llvm.func @matmul$0(
// AMPERE-SAME: tile.threads = 256 : i64
// AMPERE: cp.async.cg.shared.global [$0], [$1], 16, $2;
// AMPERE: nvvm.cp.async.commit.group
// AMPERE: scf.for
// AMPERE: nvvm.cp.async.wait.group
// AMPERE: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// AMPERE: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// AMPERE: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
tile.kernel @matmul.0(%arg0: index {tile.name = "grid.x"}, %arg1: index {tile.name = "grid.y"}, %arg2: !tile.view<?x?xf16>, %arg3: !tile.view<?x?xf16>, %arg4: !tile.view<?x?xf16>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c128 = arith.constant 128 : index
  %c64 = arith.constant 64 : index
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tile.dim %arg2, 1 : <?x?xf16>
  %1 = tile.dim %arg3, 1 : <?x?xf16>
  %2 = arith.ceildivui %1, %c256 : index
  %3 = arith.cmpi eq, %arg0, %2 : index
  tile.assume %3, "grid extent"
  %4 = tile.dim %arg2, 0 : <?x?xf16>
  %5 = arith.ceildivui %4, %c128 : index
  %6 = arith.cmpi eq, %arg1, %5 : index
  tile.assume %6, "grid extent"
  tile.launch (%arg5, %arg6) in (%arg0, %arg1) {
    %7 = tile.alloc : <128x64xf16>
    %8 = tile.alloc : <64x256xf16>
    %9 = tile.splat %cst : <128x256xf32>
    %10 = arith.ceildivui %0, %c64 : index
    %11 = arith.muli %arg6, %c128 : index
    %12 = arith.muli %arg5, %c256 : index
    %13 = scf.for %arg7 = %c0 to %10 step %c1 iter_args(%arg8 = %9) -> (!tile.tile<128x256xf32>) {
      %16 = arith.muli %arg7, %c64 : index
      tile.copy %arg2[%11, %16] to %7 : !tile.view<?x?xf16>, !tile.buffer<128x64xf16>
      tile.copy %arg3[%16, %12] to %8 : !tile.view<?x?xf16>, !tile.buffer<64x256xf16>
      %17 = tile.gemm %7, %8, %arg8 : !tile.buffer<128x64xf16>, !tile.buffer<64x256xf16>, <128x256xf32>
      scf.yield %17 : !tile.tile<128x256xf32>
    } {tile.pipeline = #tile.pipeline<stages = 4>}
    %14 = tile.undef : <128x256xf16>
    %15 = tile.generic [128, 256] ins(%13 : !tile.tile<128x256xf32>) outs(%14 : !tile.tile<128x256xf16>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%arg7: index, %arg8: index, %arg9: f32, %arg10: f16):
      %16 = arith.truncf %arg9 : f32 to f16
      tile.yield %16 : f16
    } -> !tile.tile<128x256xf16>
    tile.store %15 to %arg4[%11, %12] : <128x256xf16>, !tile.view<?x?xf16>
  }
  tile.yield
}
