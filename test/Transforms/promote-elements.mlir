// RUN: tile-opt %s --tile-promote-elements --cse --canonicalize | FileCheck %s

// CHECK-LABEL: tile.kernel @map
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK: %[[T:.*]] = tile.load %arg0[%[[ROW]], %c0] : !tile.view<?x?xf32> -> <4x64xf32>
// CHECK: %[[BIAS:.*]] = tile.load %arg1[%c0] : !tile.view<64xf32> -> <64xf32>
// CHECK: %[[R:.*]] = tile.generic [4, 64] ins(%[[T]], %[[BIAS]] : {{.*}}) outs(
// CHECK-NOT: elem_
// CHECK: tile.store %[[R]] to %arg2[%[[ROW]], %c0]
tile.kernel @map(%X: !tile.view<?x?xf32>, %B: !tile.view<64xf32>, %Y: !tile.view<?x?xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.launch (%b) in (%c1) {
    tile.generic [4, 64] maps [] {
    ^bb0(%i: index, %j: index):
      %row = arith.muli %b, %c4 : index
      %r = arith.addi %row, %i : index
      %x = tile.elem_load %X[%r, %j] : !tile.view<?x?xf32>
      %bias = tile.elem_load %B[%j] : !tile.view<64xf32>
      %y = arith.addf %x, %bias : f32
      tile.elem_store %y to %Y[%r, %j] : !tile.view<?x?xf32>
      tile.yield
    }
  }
  tile.yield
}

// A conditional read of memory stays, one of a fragment costs nothing. A store under a condition stays.
// CHECK-LABEL: tile.kernel @guarded
// CHECK: tile.generic [64] ins(%{{.*}} : !tile.tile<64xf32>) maps
// CHECK: scf.if
// CHECK:   tile.elem_load %arg0
// CHECK:   tile.elem_store
tile.kernel @guarded(%X: !tile.view<?xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.launch (%b) in (%c1) {
    %f = tile.splat %zero : !tile.tile<64xf32>
    %f1 = tile.insert %zero into %f[%c1] : !tile.tile<64xf32>
    tile.generic [64] maps [] {
    ^bb0(%i: index):
      %p = arith.cmpi slt, %i, %n : index
      scf.if %p {
        %e = tile.extract %f1[%i] : !tile.tile<64xf32>
        %x = tile.elem_load %X[%i] : !tile.view<?xf32>
        %y = arith.addf %x, %e : f32
        tile.elem_store %y to %X[%i] : !tile.view<?xf32>
      }
      tile.yield
    }
  }
  tile.yield
}

// In place: the read comes first, so both move out. Written, then read again: nothing moves.
// CHECK-LABEL: tile.kernel @order
// CHECK: tile.load %arg0
// CHECK: tile.generic [64] ins(
// CHECK: tile.store %{{.*}} to %arg0
// CHECK: tile.generic [64] maps []
// CHECK:   tile.elem_store %{{.*}} to %arg0
// CHECK:   tile.elem_load %arg0
tile.kernel @order(%X: !tile.view<64xf32>, %Y: !tile.view<64xf32>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.launch (%b) in (%c1) {
    tile.generic [64] maps [] {
    ^bb0(%i: index):
      %x = tile.elem_load %X[%i] : !tile.view<64xf32>
      %y = arith.addf %x, %x : f32
      tile.elem_store %y to %X[%i] : !tile.view<64xf32>
      tile.yield
    }
    tile.generic [64] maps [] {
    ^bb0(%i: index):
      %k = arith.xori %i, %c1 : index
      tile.elem_store %zero to %X[%i] : !tile.view<64xf32>
      %x = tile.elem_load %X[%i] : !tile.view<64xf32>
      tile.elem_store %x to %Y[%k] : !tile.view<64xf32>
      tile.yield
    }
  }
  tile.yield
}

// Views of one pointer may overlap, and so may all views of an in-place kernel.
// CHECK-LABEL: tile.kernel @inplace
// CHECK: tile.generic [64] maps []
// CHECK:   tile.elem_store %{{.*}} to %arg1
// CHECK:   tile.elem_load %arg0
tile.kernel @inplace(%X: !tile.view<64xf32>, %Y: !tile.view<64xf32>, %Z: !tile.view<64xf32>) attributes {tile.inplace} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.launch (%b) in (%c1) {
    tile.generic [64] maps [] {
    ^bb0(%i: index):
      tile.elem_store %zero to %Y[%i] : !tile.view<64xf32>
      %x = tile.elem_load %X[%i] : !tile.view<64xf32>
      tile.elem_store %x to %Z[%i] : !tile.view<64xf32>
      tile.yield
    }
  }
  tile.yield
}

// A transposed read; one element for all iterations; a stride is left alone.
// CHECK-LABEL: tile.kernel @shapes
// CHECK-DAG: %[[T:.*]] = tile.load %arg0[%c0, %c0] : !tile.view<64x4xf32> -> <64x4xf32>
// CHECK-DAG: tile.elem_load %arg1[%c0]
// CHECK: tile.generic [4, 64] ins(%[[T]] : !tile.tile<64x4xf32>)
// CHECK:   tile.elem_load %arg1[%{{.*}}]
tile.kernel @shapes(%X: !tile.view<64x4xf32>, %S: !tile.view<?xf32>, %Y: !tile.view<4x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.launch (%b) in (%c1) {
    tile.generic [4, 64] maps [] {
    ^bb0(%i: index, %j: index):
      %x = tile.elem_load %X[%j, %i] : !tile.view<64x4xf32>
      %s = tile.elem_load %S[%c0] : !tile.view<?xf32>
      %k = arith.muli %j, %c2 : index
      %t = tile.elem_load %S[%k] : !tile.view<?xf32>
      %y = arith.mulf %x, %s : f32
      %z = arith.mulf %y, %t : f32
      tile.elem_store %z to %Y[%i, %j] : !tile.view<4x64xf32>
      tile.yield
    }
  }
  tile.yield
}

// The guard of a read is dropped: a view may be read anywhere. What is written entirely need not be carried.
// CHECK-LABEL: tile.kernel @overwritten
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK:   tile.load %arg0
// CHECK: %[[U:.*]] = tile.undef
// CHECK:   tile.generic [64] ins({{.*}}) outs(%[[U]] :
// CHECK-NOT: scf.if
// CHECK:     arith.select
tile.kernel @overwritten(%X: !tile.view<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.launch (%b) in (%c1) {
    %f = tile.splat %zero : !tile.tile<64xf32>
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %f) -> (!tile.tile<64xf32>) {
      %g = tile.generic [64] outs(%s : !tile.tile<64xf32>) maps [affine_map<(i) -> (i)>] {
      ^bb0(%i: index, %old: f32):
        %p = arith.cmpi slt, %i, %n : index
        %v = scf.if %p -> (f32) {
          %x = tile.elem_load %X[%i] : !tile.view<?xf32>
          scf.yield %x : f32
        } else {
          scf.yield %zero : f32
        }
        tile.yield %v : f32
      } -> !tile.tile<64xf32>
      tile.store %g to %X[%k] : !tile.tile<64xf32>, !tile.view<?xf32>
      scf.yield %g : !tile.tile<64xf32>
    }
  }
  tile.yield
}
