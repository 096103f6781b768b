// RUN: tile-opt %s --split-input-file --tile-split-guards | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-split-guards --tile-promote-elements --canonicalize | FileCheck %s --check-prefix=STORES

// Rows of a tile up to an end that the program reads: the last row decides, where its number does not wrap.
// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[STOP:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: %[[LAST:.*]] = arith.addi %arg2, %c127_i64 : i64
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[LAST]], %[[STOP]] : i64
// CHECK: %[[WRAPS_NOT:.*]] = arith.cmpi sge, %[[LAST]], %arg2 : i64
// CHECK: %[[ALL:.*]] = arith.andi %[[BELOW]], %[[WRAPS_NOT]] : i1
// CHECK: scf.if %[[ALL]] {
// CHECK:   tile.generic [128, 64]
// CHECK-NOT: scf.if
// CHECK:     tile.elem_store
// CHECK: } else {
// CHECK:   tile.generic [128, 64]
// CHECK:     scf.if
// CHECK:       tile.elem_store
// STORES-LABEL: tile.kernel @rows
// STORES: scf.if
// STORES:   tile.store %{{.*}} to %arg0[%{{.*}}, %{{.*}}] : <128x64xf16>, !tile.view<?x?xf16>
// STORES: } else {
// STORES:   tile.elem_store
tile.kernel @rows(%C: !tile.view<?x?xf16>, %E: !tile.view<?xi32>, %row: i64, %col: index, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.launch (%b) in (%c1) {
    %stop = tile.elem_load %E[%b] : !tile.view<?xi32>
    %acc = tile.splat %x : !tile.tile<128x64xf32>
    tile.generic [128, 64] maps [] {
    ^bb0(%i: index, %j: index):
      %w = arith.index_cast %i : index to i64
      %r = arith.addi %row, %w : i64
      %e = arith.extsi %stop : i32 to i64
      %p = arith.cmpi slt, %r, %e : i64
      scf.if %p {
        %v = tile.extract %acc[%i, %j] : !tile.tile<128x64xf32>
        %h = arith.truncf %v : f32 to f16
        %ri = arith.index_cast %r : i64 to index
        %c = arith.addi %col, %j : index
        tile.elem_store %h to %C[%ri, %c] : !tile.view<?x?xf16>
      }
      tile.yield
    }
  }
  tile.yield
}

// -----

// Both axes, written the other way around, and a condition that is the same for all iterations.
// CHECK-LABEL: tile.kernel @both
// CHECK-DAG: %[[ROWS:.*]] = arith.cmpi sle, %{{.*}}, %{{.*}} : i64
// CHECK-DAG: %[[COLUMNS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK: scf.if
// CHECK:   tile.generic [128, 64]
// CHECK-NOT: scf.if
// CHECK: } else {
// CHECK:     scf.if
// STORES-LABEL: tile.kernel @both
// STORES: tile.store
tile.kernel @both(%C: !tile.view<?x?xf32>, %m: index, %n: index, %row: index, %on: i1, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.launch (%b) in (%c1) {
    %acc = tile.splat %x : !tile.tile<128x64xf32>
    tile.generic [128, 64] maps [] {
    ^bb0(%i: index, %j: index):
      %r = arith.addi %row, %i : index
      %p = arith.cmpi sge, %m, %r : index
      %q = arith.cmpi sgt, %n, %j : index
      %pq = arith.andi %p, %q : i1
      %all = arith.andi %pq, %on : i1
      scf.if %all {
        %v = tile.extract %acc[%i, %j] : !tile.tile<128x64xf32>
        tile.elem_store %v to %C[%r, %j] : !tile.view<?x?xf32>
      }
      tile.yield
    }
  }
  tile.yield
}

// -----

// Two variables of the nest, a lower bound, a limit that an iteration computes, narrow numbers that may wrap on their way, and a
// branch with another side: all stay as they are.
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: } else {
tile.kernel @others(%C: !tile.view<?x?xf32>, %n: index, %s: i32, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.launch (%b) in (%c1) {
    %acc = tile.splat %x : !tile.tile<128x64xf32>
    tile.generic [128, 64] maps [] {
    ^bb0(%i: index, %j: index):
      %r = arith.addi %i, %j : index
      %p = arith.cmpi slt, %r, %n : index
      scf.if %p {
        %v = tile.extract %acc[%i, %j] : !tile.tile<128x64xf32>
        tile.elem_store %v to %C[%i, %j] : !tile.view<?x?xf32>
      }
      tile.yield
    }
    tile.generic [128, 64] maps [] {
    ^bb0(%i: index, %j: index):
      %p = arith.cmpi sgt, %i, %n : index
      scf.if %p {
        %v = tile.extract %acc[%i, %j] : !tile.tile<128x64xf32>
        tile.elem_store %v to %C[%i, %j] : !tile.view<?x?xf32>
      }
      tile.yield
    }
    tile.generic [128, 64] maps [] {
    ^bb0(%i: index, %j: index):
      %l = arith.muli %j, %n : index
      %p = arith.cmpi slt, %i, %l : index
      scf.if %p {
        %v = tile.extract %acc[%i, %j] : !tile.tile<128x64xf32>
        tile.elem_store %v to %C[%i, %j] : !tile.view<?x?xf32>
      }
      tile.yield
    }
    tile.generic [128, 64] maps [] {
    ^bb0(%i: index, %j: index):
      %w = arith.index_cast %i : index to i32
      %p = arith.cmpi slt, %w, %s : i32
      scf.if %p {
        %v = tile.extract %acc[%i, %j] : !tile.tile<128x64xf32>
        tile.elem_store %v to %C[%i, %j] : !tile.view<?x?xf32>
      }
      tile.yield
    }
    tile.generic [128, 64] maps [] {
    ^bb0(%i: index, %j: index):
      %p = arith.cmpi slt, %i, %n : index
      scf.if %p {
        tile.elem_store %x to %C[%i, %j] : !tile.view<?x?xf32>
      }
      tile.yield
    }
  }
  tile.yield
}

// -----

// A nest that also reads a tensor.
// CHECK-LABEL: tile.kernel @residual
// CHECK-NOT: } else {
tile.kernel @residual(%C: !tile.view<?x?xf32>, %R: !tile.view<?x?xf32>, %n: index, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.launch (%b) in (%c1) {
    %acc = tile.splat %x : !tile.tile<128x64xf32>
    tile.generic [128, 64] maps [] {
    ^bb0(%i: index, %j: index):
      %p = arith.cmpi slt, %i, %n : index
      scf.if %p {
        %v = tile.extract %acc[%i, %j] : !tile.tile<128x64xf32>
        %r = tile.elem_load %R[%i, %j] : !tile.view<?x?xf32>
        %y = arith.addf %v, %r : f32
        tile.elem_store %y to %C[%i, %j] : !tile.view<?x?xf32>
      }
      tile.yield
    }
  }
  tile.yield
}

// -----

// One of several nests that write to tensors.
// CHECK-LABEL: tile.kernel @several
// CHECK-NOT: } else {
tile.kernel @several(%C: !tile.view<?x?xf32>, %n: index, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.launch (%b) in (%c1) {
    %acc = tile.splat %x : !tile.tile<128x64xf32>
    tile.store %acc to %C[%n, %n] : !tile.tile<128x64xf32>, !tile.view<?x?xf32>
    tile.generic [128, 64] maps [] {
    ^bb0(%i: index, %j: index):
      %p = arith.cmpi slt, %i, %n : index
      scf.if %p {
        %v = tile.extract %acc[%i, %j] : !tile.tile<128x64xf32>
        tile.elem_store %v to %C[%i, %j] : !tile.view<?x?xf32>
      }
      tile.yield
    }
  }
  tile.yield
}
