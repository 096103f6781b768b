// RUN: tile-opt %s --tile-static-domains --cse --canonicalize | FileCheck %s

// A run-time axis over memory: whole chunks, then the rest under a guard.
// CHECK-LABEL: tile.kernel @scale
// CHECK: %[[N:.*]] = tile.dim
// CHECK: scf.for %[[C:.*]] = %{{.*}} to %[[WHOLE:.*]] step %c1024
// CHECK:   tile.generic [1024] maps []
// CHECK:   ^bb0(%[[I:.*]]: index):
// CHECK-NOT: scf.if
// CHECK:     %[[AT:.*]] = arith.addi %[[C]], %[[I]]
// CHECK:     tile.elem_load %{{.*}}[%[[AT]]]
// CHECK: scf.if
// CHECK:   tile.generic [1024] maps []
// CHECK:     arith.cmpi slt
// CHECK:     scf.if
// CHECK:       tile.elem_load
// CHECK:       tile.elem_store
tile.kernel @scale(%X: !tile.view<?xf32>) {
  %c1 = arith.constant 1 : index
  %n = tile.dim %X, 0 : !tile.view<?xf32>
  tile.launch (%b) in (%c1) {
    tile.generic [%n] maps [] {
    ^bb0(%i: index):
      %x = tile.elem_load %X[%i] : !tile.view<?xf32>
      %y = arith.addf %x, %x : f32
      tile.elem_store %y to %X[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}

// An axis that indexes an out takes the out's extent; what it does not reach stays.
// CHECK-LABEL: tile.kernel @fragment
// CHECK: tile.generic [64] outs(
// CHECK: ^bb0(%[[I:.*]]: index, %[[OLD:.*]]: f32):
// CHECK:   %[[IN:.*]] = arith.cmpi slt, %[[I]], %{{.*}}
// CHECK:   %[[R:.*]] = scf.if %[[IN]] -> (f32)
// CHECK:   } else {
// CHECK:     scf.yield %[[OLD]]
// CHECK:   tile.yield %[[R]]
tile.kernel @fragment(%X: !tile.view<?xf32>, %Y: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tile.dim %X, 0 : !tile.view<?xf32>
  tile.launch (%b) in (%c1) {
    %f = tile.splat %zero : !tile.tile<64xf32>
    %g = tile.generic [%n] outs(%f : !tile.tile<64xf32>) maps [affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %old: f32):
      %x = tile.elem_load %X[%i] : !tile.view<?xf32>
      tile.yield %x : f32
    } -> !tile.tile<64xf32>
    tile.store %g to %Y[%c0] : !tile.tile<64xf32>, !tile.view<?xf32>
  }
  tile.yield
}

// Two run-time axes: the outer one trip by trip. Operands are read where they stand.
// CHECK-LABEL: tile.kernel @two
// CHECK: scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1
// CHECK:   scf.for %[[C:.*]] =
// CHECK:     tile.generic [1, 1024] maps []
// CHECK:       tile.elem_load %{{.*}}[%[[I]], %
tile.kernel @two(%X: !tile.view<?x?xf32>) {
  %c1 = arith.constant 1 : index
  %m = tile.dim %X, 0 : !tile.view<?x?xf32>
  %n = tile.dim %X, 1 : !tile.view<?x?xf32>
  tile.launch (%b) in (%c1) {
    tile.generic [%m, %n] ins(%X : !tile.view<?x?xf32>) maps [affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %x: f32):
      %y = arith.addf %x, %x : f32
      tile.elem_store %y to %X[%i, %j] : !tile.view<?x?xf32>
      tile.yield
    }
  }
  tile.yield
}

// A large nest over memory alone is cut so that its loads fit into registers.
// CHECK-LABEL: tile.kernel @large
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c32
// CHECK:   tile.generic [32, 128]
tile.kernel @large(%X: !tile.view<128x128xf32>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.launch (%b) in (%c1) {
    tile.generic [128, 128] maps [] {
    ^bb0(%i: index, %j: index):
      tile.elem_store %zero to %X[%i, %j] : !tile.view<128x128xf32>
      tile.yield
    }
  }
  tile.yield
}

// What the axis indexes bounds its trips: no chunk is longer than the buffer.
// CHECK-LABEL: tile.kernel @bounded
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c16
// CHECK:   tile.generic [16]
tile.kernel @bounded(%n: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.launch (%b) in (%c1) {
    %s = tile.alloc : !tile.buffer<20xf32>
    tile.generic [%n] maps [] {
    ^bb0(%i: index):
      tile.elem_store %zero to %s[%i] : !tile.buffer<20xf32>
      tile.yield
    }
  }
  tile.yield
}

// A large constant nest that no even cut makes small: loops, whole chunks and a rest.
// CHECK-LABEL: tile.kernel @odd
// CHECK: scf.for %{{.*}} = %{{.*}} to %c3 step %c1
// CHECK:   scf.for %{{.*}} = %{{.*}} to %c2147482624 step %c1024
// CHECK:     tile.generic [1, 1024] maps []
// CHECK:   tile.generic [1, 1024] maps []
// CHECK:     arith.cmpi slt, %{{.*}}, %c1023
tile.kernel @odd(%X: !tile.view<?xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch (%b) in (%c1) {
    tile.generic [3, 2147483647] maps [] {
    ^bb0(%i: index, %j: index):
      %k = arith.addi %i, %j : index
      %x = tile.elem_load %X[%k] : !tile.view<?xf32>
      tile.elem_store %x to %X[%k] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
