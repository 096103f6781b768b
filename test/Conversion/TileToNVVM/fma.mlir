// float32 products on the plain units: outer products from shared memory.
// RUN: tile-opt %s --pass-pipeline="builtin.module(tile-select-schedule,tile.kernel(tile-assign-layouts,canonicalize,cse,tile-pipeline-loops,tile-make-persistent,tile-warp-specialize,tile-async-gemms,tile-stage-stores,\
// RUN:   canonicalize,cse,tile-allocate-shared,tile-insert-barriers,canonicalize,cse),\
// RUN:   convert-tile-to-nvvm,canonicalize,cse)" -o %t.sm_90a.mlir
// RUN: FileCheck %s --check-prefix=HOPPER --input-file=%t.sm_90a.mlir
// RUN: tile-opt %t.sm_90a.mlir --tile-nvvm-to-llvm | FileCheck %s --check-prefix=LLVM
// LLVM-NOT: {{= (scf|arith|vector|tile)\.}}
// LLVM: llvm.return

// HOPPER-LABEL: llvm.func @sgemm(
// HOPPER: scf.for
// HOPPER: scf.for
// HOPPER: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// HOPPER: math.fma {{.*}} : f32
// The sums are stored from registers of their own.
// HOPPER: nvvm.read.ptx.sreg.ctaid.y
// HOPPER: arith.xori {{.*}} : vector<{{[0-9]+}}xi32>
tile.kernel @sgemm(%g: index, %A: !tile.view<?x?xf32>, %B: !tile.view<?x?xf32>, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc : !tile.buffer<128x16xf32>
    %bb = tile.alloc : !tile.buffer<16x128xf32>
    %K = tile.dim %A, 1 : !tile.view<?x?xf32>
    %nk = arith.ceildivui %K, %c16 : index
    %row = arith.muli %b, %c128 : index
    %acc0 = tile.splat %zero : !tile.tile<128x128xf32>
    %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %acc0) -> (!tile.tile<128x128xf32>) {
      %kk = arith.muli %k, %c16 : index
      tile.copy %A[%row, %kk] to %a : !tile.view<?x?xf32>, !tile.buffer<128x16xf32>
      tile.copy %B[%kk, %c0] to %bb : !tile.view<?x?xf32>, !tile.buffer<16x128xf32>
      %s1 = tile.gemm %a, %bb, %s : !tile.buffer<128x16xf32>, !tile.buffer<16x128xf32>, !tile.tile<128x128xf32>
      scf.yield %s1 : !tile.tile<128x128xf32>
    }
    tile.store %acc to %C[%row, %c0] : !tile.tile<128x128xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}

// Roles: the operand whose fast axis is k is copied 4 bytes at a time by all threads of the load role, which arrive when their copies
// have; the other one comes through the copy engine. Eight warps let go of a slot one by one.
// HOPPER-LABEL: llvm.func @roles(
// HOPPER: %[[FULL:.*]] = arith.constant 129 : i32
// HOPPER: nvvm.mbarrier.init %{{.*}}, %[[FULL]] : !llvm.ptr<3>, i32
// HOPPER: mbarrier.arrive.expect_tx
// HOPPER: cp.async.ca.shared.global [$0], [$1], 4;
// HOPPER: cp.async.ca.shared.global [$0+4096], [$1+32], 4;
// HOPPER: cp.async.bulk.tensor.2d
// HOPPER: cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];
// HOPPER: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// HOPPER: mov.b32 $0, $1;
// HOPPER: scf.for
// HOPPER: math.fma {{.*}} : f32
// HOPPER: nvvm.bar.warp.sync
// HOPPER: mbarrier.arrive.shared::cta.b64 _, [$0];
tile.kernel @roles(%g: index, %A: !tile.view<4096x4096xf32, align = 16>, %B: !tile.view<4096x4096xf32, align = 16>, %C: !tile.view<4096x4096xf32, align = 16>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc : !tile.buffer<128x32xf32>
    %bb = tile.alloc : !tile.buffer<32x128xf32>
    %row = arith.muli %b, %c128 : index
    %acc0 = tile.splat %zero : !tile.tile<128x128xf32>
    %acc = scf.for %k = %c0 to %c128 step %c1 iter_args(%s = %acc0) -> (!tile.tile<128x128xf32>) {
      %kk = arith.muli %k, %c32 : index
      tile.copy %A[%row, %kk] to %a : !tile.view<4096x4096xf32, align = 16>, !tile.buffer<128x32xf32>
      tile.copy %B[%kk, %c0] to %bb : !tile.view<4096x4096xf32, align = 16>, !tile.buffer<32x128xf32>
      %s1 = tile.gemm %a, %bb, %s : !tile.buffer<128x32xf32>, !tile.buffer<32x128xf32>, !tile.tile<128x128xf32>
      scf.yield %s1 : !tile.tile<128x128xf32>
    } {tile.pipeline = #tile.pipeline<stages = 4, inferred = true>}
    tile.store %acc to %C[%row, %c0] : !tile.tile<128x128xf32>, !tile.view<4096x4096xf32, align = 16>
  }
  tile.yield
}
