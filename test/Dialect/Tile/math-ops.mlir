// RUN: tile-opt %s --verify-roundtrip | FileCheck %s

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
!t = !tile.tile<32x32xf32>
// CHECK-LABEL: tile.kernel @math
tile.kernel @math(%X: !tile.view<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %flag = arith.constant true
  tile.launch (%b) in (%n) {
    // CHECK: tile.undef : <32x32xf32>
    %u = tile.undef : !t
    // CHECK: tile.splat %{{.*}} : <32x32xf32>
    %z = tile.splat %zero : !t
    // CHECK: tile.extract %{{.*}}[%{{.*}}, %{{.*}}] : <32x32xf32>
    %e = tile.extract %u[%c0, %c0] : !t
    // CHECK: tile.insert %{{.*}} into %{{.*}}[%{{.*}}, %{{.*}}] : <32x32xf32>
    %i = tile.insert %e into %z[%c0, %b] : !t
    %f = tile.undef : !tile.tile<32x32xf32, #frag>
    // CHECK: tile.convert_layout %{{.*}} : <32x32xf32, #layout> -> <32x32xf32, #layout1>
    %g = tile.convert_layout %f : !tile.tile<32x32xf32, #frag> -> !tile.tile<32x32xf32, #frag2>
    // CHECK: tile.reshape %{{.*}} : <32x32xf32> -> <2048xf16>
    %h = tile.reshape %i : !t -> !tile.tile<2048xf16>
    %a = tile.alloc : !tile.buffer<1x32x64xf16>
    %bt = tile.undef : !tile.tile<32x64xf16>
    // CHECK: tile.gemm %{{.*}}, %{{.*}}, %{{.*}} clear %{{.*}} trans_b : !tile.buffer<1x32x64xf16>, !tile.tile<32x64xf16>, <32x32xf32>
    %m = tile.gemm %a, %bt, %z clear %flag trans_b : !tile.buffer<1x32x64xf16>, !tile.tile<32x64xf16>, !t
    // CHECK: tile.gemm %{{.*}}, %{{.*}}, %{{.*}} trans_a precision tf32x3 inst <kind = mma_sync, shape = [16, 8, 8], a_reg = true> : !tile.tile<32x32xf32>, !tile.tile<32x32xf32>, <32x32xf32>
    %p = tile.gemm %z, %z, %m trans_a precision tf32x3 inst <kind = mma_sync, shape = [16, 8, 8], a_reg = true> : !t, !t, !t
    // CHECK: tile.generic [32, %{{.*}}] ins(%{{.*}} : !tile.view<?x?xf32>) maps [#{{.*}}] {
    tile.generic [32, %n] ins(%X : !tile.view<?x?xf32>) maps [affine_map<(i, j) -> (i, j + 1)>] {
    ^bb0(%ii: index, %jj: index, %x: f32):
      tile.elem_store %x to %X[%ii, %jj] : !tile.view<?x?xf32>
      tile.yield
    }
    // CHECK: tile.generic [32, 32] ins(%{{.*}} : !tile.tile<32x32xf32>) outs(%{{.*}} : !tile.tile<32xf32>) maps [#{{.*}}, #{{.*}}] combine [#tile<combine add>] {
    %r0 = tile.undef : !tile.tile<32xf32>
    %r = tile.generic [32, 32] ins(%p : !t) outs(%r0 : !tile.tile<32xf32>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>] combine [#tile<combine add>] {
    ^bb0(%ii: index, %jj: index, %x: f32, %old: f32):
      // CHECK: tile.yield %{{.*}} : f32
      tile.yield %x : f32
    // CHECK: } -> !tile.tile<32xf32>
    } -> !tile.tile<32xf32>
    // CHECK: tile.generic [32, 32] outs(%{{.*}} : !tile.tile<32x32xf32, #layout>) maps [#{{.*}}] layout #layout {
    %q = tile.generic [32, 32] outs(%f : !tile.tile<32x32xf32, #frag>) maps [affine_map<(i, j) -> (i, j)>] layout #frag {
    ^bb0(%ii: index, %jj: index, %old: f32):
      tile.yield %old : f32
    } -> !tile.tile<32x32xf32, #frag>
    // CHECK: tile.reduce max %{{.*}} axis 1 : <32x32xf32> -> <32xf32>
    %mx = tile.reduce max %p axis 1 : !t -> !tile.tile<32xf32>
    // CHECK: tile.reduce add %{{.*}} axis 0 : <32xf32> -> <1xf32>
    %s = tile.reduce add %mx axis 0 : !tile.tile<32xf32> -> !tile.tile<1xf32>
    // CHECK: tile.scan add %{{.*}} axis 0 reverse : <32xf32>
    %c = tile.scan add %mx axis 0 reverse : !tile.tile<32xf32>
  }
  tile.yield
}

// CHECK-LABEL: tile.kernel @slices
tile.kernel @slices(%n: index) {
  tile.launch (%b) in (%n) {
    %x = tile.undef : !tile.tile<32x32xf32>
    // CHECK: tile.slice %{{.*}} at [16, 0] : <32x32xf32> -> <16x32xf32>
    %s = tile.slice %x at [16, 0] : !tile.tile<32x32xf32> -> !tile.tile<16x32xf32>
    %r = tile.reduce max %s axis 1 : !tile.tile<16x32xf32> -> !tile.tile<16xf32>
  }
  tile.yield
}
