// RUN: tile-opt %s --tile-normalize-loops | FileCheck %s

// The first loop moves through %X; the second copies the same thing each trip; the third has the user's word.
// CHECK-LABEL: tile.kernel @loops
// CHECK: scf.for
// CHECK: } {tile.pipeline = #tile.pipeline<stages = 3, inferred = true>}
// CHECK: scf.for
// CHECK: }
// CHECK-NOT: tile.pipeline
// CHECK: scf.for
// CHECK: } {tile.pipeline = #tile.pipeline<stages = 1>}
tile.kernel @loops(%X: !tile.view<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.launch (%b) in (%c1) {
    %s = tile.alloc : !tile.buffer<64xf32>
    scf.for %i = %c0 to %n step %c1 {
      %at = arith.muli %i, %c64 : index
      tile.copy %X[%at] to %s : !tile.view<?xf32>, !tile.buffer<64xf32>
    }
    scf.for %i = %c0 to %n step %c1 {
      tile.copy %X[%b] to %s : !tile.view<?xf32>, !tile.buffer<64xf32>
    }
    scf.for %i = %c0 to %n step %c1 {
      %at = arith.muli %i, %c64 : index
      tile.copy %X[%at] to %s : !tile.view<?xf32>, !tile.buffer<64xf32>
    } {tile.pipeline = #tile.pipeline<stages = 1>}
  }
  tile.yield
}
