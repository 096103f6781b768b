// float32 products as six products of bfloat16 planes: A is split in registers; a copy that fills B fills its planes.
// RUN: tile-opt %s --pass-pipeline="builtin.module(tile.kernel(tile-expand-precision))" | FileCheck %s

// CHECK-LABEL: tile.kernel @planes
// CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[A:.*]] : !tile.view<?x?xf32>, !tile.buffer<128x64xf32>
// CHECK-NOT: tile.copy
// CHECK: tile.split_copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[B0:.*]], %[[B1:.*]], %[[B2:.*]] : !tile.view<?x?xf32>, !tile.buffer<64x128xbf16>, !tile.buffer<64x128xbf16>, !tile.buffer<64x128xbf16>
// CHECK: %[[X:.*]] = tile.load %[[A]] : !tile.buffer<128x64xf32> -> <128x64xf32>
// CHECK: %[[P:.*]]:3 = tile.generic [128, 64] ins(%[[X]] : {{.*}}) outs(
// CHECK-COUNT-3: arith.subf
// CHECK: tile.yield %{{.*}}, %{{.*}}, %{{.*}} : bf16, bf16, bf16
// CHECK: %[[S0:.*]] = tile.undef
// CHECK: %[[S1:.*]] = tile.gemm %[[P]]#1, %[[B1]], %[[S0]] clear %true
// CHECK-NOT: precision
// CHECK: %[[S2:.*]] = tile.gemm %[[P]]#2, %[[B0]], %[[S1]] :
// CHECK: %[[S3:.*]] = tile.gemm %[[P]]#0, %[[B2]], %[[S2]] :
// CHECK: %[[S4:.*]] = tile.gemm %[[P]]#1, %[[B0]], %[[S3]] :
// CHECK: %[[S5:.*]] = tile.gemm %[[P]]#0, %[[B1]], %[[S4]] :
// CHECK: %[[S6:.*]] = tile.gemm %[[P]]#0, %[[B0]], %[[S5]] :
// CHECK: tile.generic [128, 128] ins(%[[S6]] : {{.*}}) outs(%{{.*}} : {{.*}})
// CHECK: arith.addf
tile.kernel @planes(%g: index, %A: !tile.view<?x?xf32>, %B: !tile.view<?x?xf32>, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc : !tile.buffer<128x64xf32>
    %w = tile.alloc : !tile.buffer<64x128xf32>
    %acc0 = tile.splat %zero : !tile.tile<128x128xf32>
    %acc = scf.for %k = %c0 to %g step %c1 iter_args(%s = %acc0) -> (!tile.tile<128x128xf32>) {
      %kk = arith.muli %k, %c64 : index
      tile.copy %A[%b, %kk] to %a : !tile.view<?x?xf32>, !tile.buffer<128x64xf32>
      tile.copy %B[%kk, %b] to %w : !tile.view<?x?xf32>, !tile.buffer<64x128xf32>
      %r = tile.gemm %a, %w, %s precision bf16x6 : !tile.buffer<128x64xf32>, !tile.buffer<64x128xf32>, !tile.tile<128x128xf32>
      scf.yield %r : !tile.tile<128x128xf32>
    }
    tile.store %acc to %C[%b, %c0] : !tile.tile<128x128xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}

// A B in registers goes through shared memory; an A whose rows are k is split as B is, and keeps the copy that others read too. tf32x3
// is computed the same way, and `clear` drops the accumulator in the addition.
// CHECK-LABEL: tile.kernel @others
// CHECK: tile.copy
// CHECK: tile.store %{{.*}} to %[[T:.*]] : <16x8xf32>
// CHECK: tile.split_copy %[[T]] to
// CHECK: tile.split_copy %{{.*}} to {{.*}} : !tile.buffer<16x64xf32>
// CHECK-COUNT-6: tile.gemm
// CHECK: arith.select
// CHECK: arith.addf
tile.kernel @others(%g: index, %clear: i1, %B: !tile.view<?x?xf32>, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %x = tile.splat %one : !tile.tile<16x8xf32>
    %s = tile.splat %one : !tile.tile<64x8xf32>
    %w = tile.alloc : !tile.buffer<16x64xf32>
    tile.copy %B[%c0, %b] to %w : !tile.view<?x?xf32>, !tile.buffer<16x64xf32>
    %l = tile.load %w : !tile.buffer<16x64xf32> -> !tile.tile<16x64xf32>
    tile.store %l to %C[%c0, %c0] : !tile.tile<16x64xf32>, !tile.view<?x?xf32>
    %r = tile.gemm %w, %x, %s clear %clear trans_a precision tf32x3 : !tile.buffer<16x64xf32>, !tile.tile<16x8xf32>, !tile.tile<64x8xf32>
    tile.store %r to %C[%b, %c0] : !tile.tile<64x8xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}

// What wgmma does not take, other precisions and other chips stay as they are.
// CHECK-LABEL: tile.kernel @stay
// CHECK: tile.gemm {{.*}} precision bf16x6
// CHECK: tile.gemm {{.*}} precision ieee
tile.kernel @stay(%g: index, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) {
    %one = arith.constant 1.0 : f32
    %x = tile.splat %one : !tile.tile<32x32xf32>
    %r = tile.gemm %x, %x, %x precision bf16x6 : !tile.tile<32x32xf32>, !tile.tile<32x32xf32>, !tile.tile<32x32xf32>
    %y = tile.splat %one : !tile.tile<64x64xf32>
    %q = tile.gemm %y, %y, %y precision ieee : !tile.tile<64x64xf32>, !tile.tile<64x64xf32>, !tile.tile<64x64xf32>
    tile.store %r to %C[%b, %b] : !tile.tile<32x32xf32>, !tile.view<?x?xf32>
    tile.store %q to %C[%b, %b] : !tile.tile<64x64xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}

// CHECK-LABEL: tile.kernel @older
// CHECK-NOT: tile.split_copy
// CHECK: tile.gemm {{.*}} precision bf16x6
tile.kernel @older(%g: index, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%g) {
    %one = arith.constant 1.0 : f32
    %y = tile.splat %one : !tile.tile<64x64xf32>
    %q = tile.gemm %y, %y, %y precision bf16x6 : !tile.tile<64x64xf32>, !tile.tile<64x64xf32>, !tile.tile<64x64xf32>
    tile.store %q to %C[%b, %b] : !tile.tile<64x64xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}
