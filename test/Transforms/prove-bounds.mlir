// RUN: tile-opt %s --tile-prove-bounds | FileCheck %s

// Divisible extents: the last block ends where the tensor does. Without the assumption nothing is claimed.
// CHECK-LABEL: tile.kernel @divisible
// CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] inbounds [true, false]
tile.kernel @divisible(%X: !tile.view<?x?xf32>, %Y: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %M = tile.dim %X, 0 : !tile.view<?x?xf32>
  %N = tile.dim %X, 1 : !tile.view<?x?xf32>
  %r = arith.remui %M, %c128 : index
  %p = arith.cmpi eq, %r, %c0 : index
  tile.assume %p, "M % 128 == 0"
  %gy = arith.ceildivui %M, %c64 : index
  %gx = arith.ceildivui %N, %c64 : index
  tile.launch (%bx, %by) in (%gx, %gy) {
    %row = arith.muli %by, %c64 : index
    %col = arith.muli %bx, %c64 : index
    %x = tile.load %X[%row, %col] : !tile.view<?x?xf32> -> !tile.tile<64x64xf32>
  }
  tile.yield
}

// Extents that the launcher requires to be equal are one.
// CHECK-LABEL: tile.kernel @equations
// CHECK: tile.elem_load %arg0[%{{.*}}] inbounds [true]
// CHECK: tile.elem_store %{{.*}} to %arg1[%{{.*}}] inbounds [true]
tile.kernel @equations(%X: !tile.view<?xf32>, %Y: !tile.view<?xf32>) {
  %n = tile.dim %X, 0 : !tile.view<?xf32>
  %m = tile.dim %Y, 0 : !tile.view<?xf32>
  tile.require_equal %m, %n arg 1 axis 0, "N"
  tile.launch (%b) in (%n) {
    %x = tile.elem_load %X[%b] : !tile.view<?xf32>
    tile.elem_store %x to %Y[%b] : !tile.view<?xf32>
  }
  tile.yield
}

// A guard, whole chunks of a loop, and constant extents.
// CHECK-LABEL: tile.kernel @guards
// CHECK: tile.generic
// CHECK:   tile.elem_load %arg0[%{{.*}}] inbounds [true]
// CHECK: scf.for
// CHECK:   tile.load %arg0[%{{.*}}] inbounds [true]
// CHECK: tile.load %arg1[%c0{{.*}}] inbounds [true]
tile.kernel @guards(%X: !tile.view<?xf32>, %Z: !tile.view<100xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %n = tile.dim %X, 0 : !tile.view<?xf32>
  tile.launch (%b) in (%c1) {
    tile.generic [64] maps [] {
    ^bb0(%i: index):
      %p = arith.cmpi ult, %i, %n : index
      scf.if %p {
        %x = tile.elem_load %X[%i] : !tile.view<?xf32>
      }
      tile.yield
    }
    %q = arith.divui %n, %c32 : index
    %whole = arith.muli %q, %c32 : index
    scf.for %c = %c0 to %whole step %c32 {
      %x = tile.load %X[%c] : !tile.view<?xf32> -> !tile.tile<32xf32>
    }
    %z = tile.load %Z[%c0] : !tile.view<100xf32> -> !tile.tile<100xf32>
  }
  tile.yield
}

// What holds inside of a loop says nothing outside of it (N may be 0), a tail may be outside, int64 data may wrap.
// CHECK-LABEL: tile.kernel @no
// CHECK-NOT: inbounds
tile.kernel @no(%X: !tile.view<?xf32>, %Z: !tile.view<100xf32>, %k: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %big = arith.constant 1099511627776 : index
  %n = tile.dim %X, 0 : !tile.view<?xf32>
  tile.launch (%b) in (%c1) {
    scf.for %i = %c0 to %n step %c1 {
      %y = arith.addi %i, %c1 : index
      %x = tile.elem_load %X[%y] : !tile.view<?xf32>
    }
    %x = tile.elem_load %X[%c0] : !tile.view<?xf32>
    %z = tile.load %Z[%c64] : !tile.view<100xf32> -> !tile.tile<64xf32>
    %kk = arith.index_cast %k : i64 to index
    %p = arith.cmpi sge, %kk, %c0 : index
    scf.if %p {
      %w = arith.muli %kk, %big : index
      %q = arith.cmpi slt, %w, %n : index
      scf.if %q {
        %x2 = tile.elem_load %X[%w] : !tile.view<?xf32>
      }
    }
  }
  tile.yield
}
