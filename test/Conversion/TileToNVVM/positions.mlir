// A position against a bound that is the same for all threads: one number in 32 bits, cut to where it makes a
// difference, and a constant of each register against it. No register has a 64-bit coordinate.
// RUN: tile-opt %s --pass-pipeline="builtin.module(tile-select-schedule,tile.kernel(tile-assign-layouts,canonicalize,cse,tile-pipeline-loops,tile-make-persistent,tile-warp-specialize,tile-async-gemms,tile-stage-stores,\
// RUN:   canonicalize,cse,tile-allocate-shared,tile-insert-barriers,canonicalize,cse),\
// RUN:   convert-tile-to-nvvm,canonicalize,cse)" | FileCheck %s

// CHECK-LABEL: llvm.func @below(
// CHECK: %[[LEAST:.*]] = arith.maxsi %{{.*}}, %c-1 : index
// CHECK: %[[MOST:.*]] = arith.minsi %[[LEAST]], %c256 : index
// CHECK: %[[BOUND:.*]] = arith.index_cast %[[MOST]] : index to i32
// CHECK: %[[MINE:.*]] = arith.subi %[[BOUND]], %{{.*}} : i32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[MINE]] : i32 to vector<[[N:[0-9]+]]xi32>
// CHECK: arith.cmpi s{{lt|gt}}, {{.*}}%[[ALL]]{{.*}} : vector<[[N]]xi32>
// CHECK-NOT: vector<{{[0-9]+}}xindex>
// CHECK: llvm.return
tile.kernel @below(%gx: index, %X: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%bx) in (%gx) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %N = tile.dim %X, 1 : !tile.view<?x?xf32>
    %row = arith.muli %bx, %c16 : index
    %bound = arith.subi %N, %row : index
    %u = tile.undef : !tile.tile<16x256xf32>
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %y = tile.generic [16, 256] outs(%u : !tile.tile<16x256xf32>) maps [affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %old: f32):
      %p = arith.cmpi slt, %j, %bound : index
      %v = arith.select %p, %one, %zero : f32
      tile.yield %v : f32
    } -> !tile.tile<16x256xf32>
    tile.store %y to %X[%row, %c0] : !tile.tile<16x256xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}

// An offset of the program's may lie on either side of the tensor, and anywhere in 64 bits: both ends are cut
// before they are narrowed, and whether all lies inside is asked without a sum that might wrap.
// CHECK-LABEL: llvm.func @anywhere(
// CHECK: %[[SIZE:.*]] = arith.subi %[[M:.*]], %[[AT:.*]] : index
// CHECK: arith.maxsi %[[SIZE]], %c0 : index
// CHECK: arith.minsi %{{.*}}, %c32 : index
// CHECK: arith.index_castui %{{.*}} : index to i32
// CHECK: %[[BEFORE:.*]] = arith.subi %c0, %[[AT]] : index
// CHECK: arith.maxsi %[[BEFORE]], %c0 : index
// CHECK: %[[ROOM:.*]] = arith.subi %[[M]], %c32 : index
// CHECK: arith.cmpi sle, %[[AT]], %[[ROOM]] : index
tile.kernel @anywhere(%gx: index, %X: !tile.view<?x64xf32>, %Y: !tile.view<32x64xf32>, %at: i64) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%bx) in (%gx) {
    %c0 = arith.constant 0 : index
    %row = arith.index_cast %at : i64 to index
    %x = tile.load %X[%row, %c0] : !tile.view<?x64xf32> -> !tile.tile<32x64xf32>
    tile.store %x to %Y[%c0, %c0] : !tile.tile<32x64xf32>, !tile.view<32x64xf32>
  }
  tile.yield
}
