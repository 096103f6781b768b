// RUN: tile-opt %s --tile-split-buffers | FileCheck %s

// Two live ranges, the second in a loop.
// CHECK-LABEL: tile.kernel @two
// CHECK: %[[A:.*]] = tile.alloc
// CHECK: tile.copy %{{.*}} to %[[A]]
// CHECK: tile.load %[[A]]
// CHECK: %[[B:.*]] = tile.alloc
// CHECK: scf.for
// CHECK:   tile.copy %{{.*}} to %[[B]]
// CHECK:   tile.load %[[B]]
tile.kernel @two(%X: !tile.view<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch (%b) in (%c1) {
    %s = tile.alloc : !tile.buffer<64xf32>
    tile.copy %X[%c0] to %s : !tile.view<?xf32>, !tile.buffer<64xf32>
    %x = tile.load %s : !tile.buffer<64xf32> -> !tile.tile<64xf32>
    tile.store %x to %X[%c1] : !tile.tile<64xf32>, !tile.view<?xf32>
    scf.for %i = %c0 to %n step %c1 {
      tile.copy %X[%i] to %s : !tile.view<?xf32>, !tile.buffer<64xf32>
      %y = tile.load %s : !tile.buffer<64xf32> -> !tile.tile<64xf32>
      tile.store %y to %X[%i] : !tile.tile<64xf32>, !tile.view<?xf32>
    }
  }
  tile.yield
}

// Kept whole: a read after a loop that may run no trip, a partial write, a write under a condition.
// CHECK-LABEL: tile.kernel @one
// CHECK-COUNT-3: tile.alloc
// CHECK-NOT: tile.alloc
tile.kernel @one(%X: !tile.view<?xf32>, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.launch (%b) in (%c1) {
    %s = tile.alloc : !tile.buffer<64xf32>
    tile.copy %X[%c0] to %s : !tile.view<?xf32>, !tile.buffer<64xf32>
    scf.for %i = %c0 to %n step %c1 {
      tile.copy %X[%i] to %s : !tile.view<?xf32>, !tile.buffer<64xf32>
    }
    %x = tile.load %s : !tile.buffer<64xf32> -> !tile.tile<64xf32>
    tile.store %x to %X[%c0] : !tile.tile<64xf32>, !tile.view<?xf32>

    %t = tile.alloc : !tile.buffer<64xf32>
    tile.copy %X[%c0] to %t : !tile.view<?xf32>, !tile.buffer<64xf32>
    tile.elem_store %zero to %t[%c1] : !tile.buffer<64xf32>
    %y = tile.load %t : !tile.buffer<64xf32> -> !tile.tile<64xf32>
    tile.store %y to %X[%c0] : !tile.tile<64xf32>, !tile.view<?xf32>

    %u = tile.alloc : !tile.buffer<64xf32>
    tile.copy %X[%c0] to %u : !tile.view<?xf32>, !tile.buffer<64xf32>
    scf.if %p {
      tile.copy %X[%c1] to %u : !tile.view<?xf32>, !tile.buffer<64xf32>
    }
    %z = tile.load %u : !tile.buffer<64xf32> -> !tile.tile<64xf32>
    tile.store %z to %X[%c0] : !tile.tile<64xf32>, !tile.view<?xf32>
  }
  tile.yield
}

// No loop fills it from a tensor: two buffers would take twice the memory for nothing.
// CHECK-LABEL: tile.kernel @no_loop
// CHECK-COUNT-1: tile.alloc
// CHECK-NOT: tile.alloc
tile.kernel @no_loop(%X: !tile.view<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch (%b) in (%c1) {
    %s = tile.alloc : !tile.buffer<64xf32>
    tile.copy %X[%c0] to %s : !tile.view<?xf32>, !tile.buffer<64xf32>
    %x = tile.load %s : !tile.buffer<64xf32> -> !tile.tile<64xf32>
    tile.store %x to %X[%c1] : !tile.tile<64xf32>, !tile.view<?xf32>
    tile.copy %X[%n] to %s : !tile.view<?xf32>, !tile.buffer<64xf32>
    scf.for %i = %c0 to %n step %c1 {
      %y = tile.load %s : !tile.buffer<64xf32> -> !tile.tile<64xf32>
      tile.store %y to %X[%i] : !tile.tile<64xf32>, !tile.view<?xf32>
    }
  }
  tile.yield
}
