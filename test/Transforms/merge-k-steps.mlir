// RUN: tile-opt --split-input-file --pass-pipeline="builtin.module(tile.kernel(tile-merge-k-steps))" %s | FileCheck %s

// Both tensors end with the loop (one name for both extents): four trips of 64 become one of 256.
// CHECK-LABEL: tile.kernel @whole
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %[[C4]]
// CHECK: tile.alloc : <128x256xf32>
// CHECK: tile.alloc : <256x256xf32>
// CHECK: tile.gemm
// CHECK-NOT: scf.for
tile.kernel @whole(%g: index, %A: !tile.view<?x?xf32> {tile.dims = ["M", "K"]}, %B: !tile.view<?x?xf32> {tile.dims = ["K", "N"]}, %C: !tile.view<?x?xf32>)
    attributes {tile.device, tile.target = #tile.target<"x86-64-v3">} {
  %c64 = arith.constant 64 : index
  %K = tile.dim %A, 1 : !tile.view<?x?xf32>
  %nk = arith.ceildivui %K, %c64 : index
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.alloc : !tile.buffer<128x64xf32>
    %bb = tile.alloc : !tile.buffer<64x256xf32>
    %z = arith.constant 0.0 : f32
    %s = tile.splat %z : !tile.tile<128x256xf32>
    %r = scf.for %k = %c0 to %nk step %c1 iter_args(%acc = %s) -> (!tile.tile<128x256xf32>) {
      %kk = arith.muli %k, %c64 : index
      tile.copy %A[%c0, %kk] to %a : !tile.view<?x?xf32>, !tile.buffer<128x64xf32>
      tile.copy %B[%kk, %c0] to %bb : !tile.view<?x?xf32>, !tile.buffer<64x256xf32>
      %n = tile.gemm %a, %bb, %acc : !tile.buffer<128x64xf32>, !tile.buffer<64x256xf32>, !tile.tile<128x256xf32>
      scf.yield %n : !tile.tile<128x256xf32>
    }
    tile.store %r to %C[%c0, %c0] : !tile.tile<128x256xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}

// -----

// A part of K: the trips behind the last whole group stay as they were.
// CHECK-LABEL: tile.kernel @part
// CHECK: %[[END:.*]] = arith.addi %arg{{[0-9]+}}, %{{.*}} : index
// CHECK: %[[MAIN:.*]] = scf.for %{{.*}} = %{{.*}} to %[[END]]
// CHECK: tile.alloc : <128x256xf32>
// CHECK: scf.for %{{.*}} = %[[END]] to %{{.*}} iter_args(%{{.*}} = %[[MAIN]])
// CHECK: !tile.buffer<128x64xf32>
tile.kernel @part(%g: index, %k0: index, %k1: index, %A: !tile.view<?x?xf32>, %B: !tile.view<?x?xf32>, %C: !tile.view<?x?xf32>)
    attributes {tile.device, tile.target = #tile.target<"x86-64-v3">} {
  %c64 = arith.constant 64 : index
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.alloc : !tile.buffer<128x64xf32>
    %bb = tile.alloc : !tile.buffer<64x256xf32>
    %z = arith.constant 0.0 : f32
    %s = tile.splat %z : !tile.tile<128x256xf32>
    %r = scf.for %k = %k0 to %k1 step %c1 iter_args(%acc = %s) -> (!tile.tile<128x256xf32>) {
      %kk = arith.muli %k, %c64 : index
      tile.copy %A[%c0, %kk] to %a : !tile.view<?x?xf32>, !tile.buffer<128x64xf32>
      tile.copy %B[%kk, %c0] to %bb : !tile.view<?x?xf32>, !tile.buffer<64x256xf32>
      %n = tile.gemm %a, %bb, %acc : !tile.buffer<128x64xf32>, !tile.buffer<64x256xf32>, !tile.tile<128x256xf32>
      scf.yield %n : !tile.tile<128x256xf32>
    }
    tile.store %r to %C[%c0, %c0] : !tile.tile<128x256xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}

// -----

// The loop reads its accumulator: nothing is merged. Nor is anything for another target.
// CHECK-LABEL: tile.kernel @other
// CHECK-NOT: 128x256xf16
tile.kernel @other(%g: index, %n: index, %A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>, %C: !tile.view<?x?xf32>)
    attributes {tile.device, tile.target = #tile.target<"sm_80">} {
  %c64 = arith.constant 64 : index
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.alloc : !tile.buffer<128x64xf16>
    %bb = tile.alloc : !tile.buffer<64x256xf16>
    %z = arith.constant 0.0 : f32
    %s = tile.splat %z : !tile.tile<128x256xf32>
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %s) -> (!tile.tile<128x256xf32>) {
      %kk = arith.muli %k, %c64 : index
      tile.copy %A[%c0, %kk] to %a : !tile.view<?x?xf16>, !tile.buffer<128x64xf16>
      tile.copy %B[%kk, %c0] to %bb : !tile.view<?x?xf16>, !tile.buffer<64x256xf16>
      %m = tile.gemm %a, %bb, %acc : !tile.buffer<128x64xf16>, !tile.buffer<64x256xf16>, !tile.tile<128x256xf32>
      scf.yield %m : !tile.tile<128x256xf32>
    }
    tile.store %r to %C[%c0, %c0] : !tile.tile<128x256xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}
