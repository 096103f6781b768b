// RUN: tile-opt %s --tile-split-comparisons | FileCheck %s

// The end of the keys: what moves with the loop goes before the nest, the constant with it.
// CHECK-LABEL: tile.kernel @keys
// CHECK: scf.for %[[N:.*]] =
// CHECK: %[[K:.*]] = tile.dim
// CHECK: %[[MINUS:.*]] = arith.muli %[[N]], %c-128
// CHECK: %[[SUM:.*]] = arith.addi %[[MINUS]], %[[K]]
// CHECK: %[[BOUND:.*]] = arith.addi %[[SUM]], %c-3
// CHECK: tile.generic
// CHECK: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index,
// CHECK: arith.cmpi slt, %[[J]], %[[BOUND]] : index
tile.kernel @keys(%X: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c128 = arith.constant 128 : index
  %g = tile.dim %X, 1 : !tile.view<?x?xf32>
  tile.launch (%b) in (%g) {
    scf.for %n = %c0 to %g step %c1 {
      %K = tile.dim %X, 0 : !tile.view<?x?xf32>
      %at = arith.muli %n, %c128 : index
      %from = arith.addi %at, %c3 : index
      %s = tile.undef : !tile.tile<16x128xi1>
      %r = tile.generic [16, 128] outs(%s : !tile.tile<16x128xi1>) maps [affine_map<(i, j) -> (i, j)>] {
      ^bb0(%i: index, %j: index, %x: i1):
        %key = arith.addi %from, %j : index
        %p = arith.cmpi slt, %key, %K : index
        tile.yield %p : i1
      } -> !tile.tile<16x128xi1>
    }
  }
  tile.yield
}

// A triangle: both positions on the left, both blocks on the right.
// CHECK-LABEL: tile.kernel @triangle
// CHECK: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index,
// CHECK: %[[NEG:.*]] = arith.muli %[[I]], %c-1
// CHECK: %[[P:.*]] = arith.addi %[[NEG]], %[[J]]
// CHECK: arith.cmpi sle, %[[P]], %{{.*}} : index
tile.kernel @triangle(%X: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %g = tile.dim %X, 1 : !tile.view<?x?xf32>
  tile.launch (%b) in (%g) {
    scf.for %n = %c0 to %g step %c1 {
      %s = tile.undef : !tile.tile<128x128xi1>
      %r = tile.generic [128, 128] outs(%s : !tile.tile<128x128xi1>) maps [affine_map<(i, j) -> (i, j)>] {
      ^bb0(%i: index, %j: index, %x: i1):
        %col0 = arith.muli %n, %c128 : index
        %col = arith.addi %col0, %j : index
        %row0 = arith.muli %b, %c128 : index
        %row = arith.addi %row0, %i : index
        %p = arith.cmpi sle, %col, %row : index
        tile.yield %p : i1
      } -> !tile.tile<128x128xi1>
    }
  }
  tile.yield
}

// 64-bit data may wrap where extents cannot, products of positions are no sums, and what is made in the nest has
// no value before it.
// CHECK-LABEL: tile.kernel @left_alone
// CHECK: arith.cmpi slt, %[[A:.*]], %[[L:.*]] : index
// CHECK: arith.cmpi slt, %[[B:.*]], %{{.*}} : index
// CHECK: arith.cmpi slt, %[[C:.*]], %{{.*}} : index
// CHECK: arith.cmpi ult, %[[D:.*]], %{{.*}} : index
tile.kernel @left_alone(%X: !tile.view<?x?xf32>, %wide: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %L = arith.index_cast %wide : i64 to index
  %g = tile.dim %X, 1 : !tile.view<?x?xf32>
  tile.launch (%b) in (%g) {
    %s = tile.undef : !tile.tile<16x128xi1>
    %r:4 = tile.generic [16, 128] outs(%s, %s, %s, %s : !tile.tile<16x128xi1>, !tile.tile<16x128xi1>, !tile.tile<16x128xi1>, !tile.tile<16x128xi1>)
        maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %x: i1, %y: i1, %z: i1, %w: i1):
      %a = arith.addi %j, %b : index
      %p = arith.cmpi slt, %a, %L : index
      %square = arith.muli %i, %j : index
      %bb = arith.addi %square, %b : index
      %q = arith.cmpi slt, %bb, %g : index
      %third = arith.floordivsi %j, %c7 : index
      %c = arith.addi %third, %b : index
      %t = arith.cmpi slt, %c, %g : index
      %u = arith.cmpi ult, %a, %g : index
      tile.yield %p, %q, %t, %u : i1, i1, i1, i1
    } -> !tile.tile<16x128xi1>, !tile.tile<16x128xi1>, !tile.tile<16x128xi1>, !tile.tile<16x128xi1>
  }
  tile.yield
}
