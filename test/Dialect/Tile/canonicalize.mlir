// RUN: tile-opt %s --canonicalize="test-convergence" -split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @dims
// CHECK-SAME: (%[[A:.*]]: !tile.view<?x64xf16>, %[[P:.*]]: !tile.ptr<f16>, %[[N:.*]]: index, %[[M:.*]]: index, %{{.*}}: !tile.view<?x?xi64>)
tile.kernel @dims(%A: !tile.view<?x64xf16>, %p: !tile.ptr<f16>, %n: index, %m: index, %out: !tile.view<?x?xi64>) {
  tile.launch (%b) in (%n) {
    // A size that the type knows, the operand of what made the view, through casts.
    %0 = tile.dim %A, 1 : !tile.view<?x64xf16>
    %v = tile.make_view %p sizes [%n, %m] : !tile.ptr<f16> -> !tile.view<?x8x?xf16>
    %1 = tile.dim %v, 2 : !tile.view<?x8x?xf16>
    %w = tile.recast_view %A : !tile.view<?x64xf16> -> !tile.view<?x64xf16, align = 16>
    %2 = tile.dim %w, 0 : !tile.view<?x64xf16, align = 16>
    %r = tile.recast_view %v sizes [%m] : !tile.view<?x8x?xf16> -> !tile.view<?xf16>
    %3 = tile.dim %r, 0 : !tile.view<?xf16>
    %4 = tile.stride %A, 0 : !tile.view<?x64xf16>
    %5 = tile.stride %A, 1 : !tile.view<?x64xf16>
    // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
    // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
    // CHECK-DAG: %[[D:.*]] = tile.dim %[[A]], 0 : <?x64xf16>
    // CHECK: tile.print "", %[[C64]], %[[M]], %[[D]], %[[M]], %[[C64]], %[[C1]]
    tile.print "", %0, %1, %2, %3, %4, %5 : index, index, index, index, index, index
  }
  tile.yield
}

// -----

// CHECK-LABEL: tile.kernel @views
// CHECK-SAME: (%[[A:.*]]: !tile.view<?x?xf16>
tile.kernel @views(%A: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    // The outer cast says it all.
    %0 = tile.recast_view %A : !tile.view<?x?xf16> -> !tile.view<?x?xf16, align = 16>
    %1 = tile.recast_view %0 : !tile.view<?x?xf16, align = 16> -> !tile.view<?x?xf16, align = 16, safe = 0xFC00 : f16>
    // CHECK: %[[V:.*]] = tile.recast_view %[[A]] : <?x?xf16> -> <?x?xf16, align = 16, safe = 0xFC00 : f16>
    // CHECK-NEXT: tile.load %[[V]]
    %x = tile.load %1[%b, %c0] : !tile.view<?x?xf16, align = 16, safe = 0xFC00 : f16> -> !tile.tile<4x4xf16>
    // A cast to the same type is nothing.
    %2 = tile.recast_view %A : !tile.view<?x?xf16> -> !tile.view<?x?xf16>
    // CHECK: tile.store %{{.*}} to %[[A]][
    tile.store %x to %2[%b, %c0] : !tile.tile<4x4xf16>, !tile.view<?x?xf16>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
// CHECK-LABEL: tile.kernel @tiles
tile.kernel @tiles(%n: index, %s: f32, %X: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.load %X[%b, %c0] : !tile.view<?x?xf32> -> !tile.tile<32x32xf32, #frag>
    // CHECK: %[[X:.*]] = tile.load
    // There and back is nothing; one conversion instead of two.
    %0 = tile.convert_layout %x : !tile.tile<32x32xf32, #frag> -> !tile.tile<32x32xf32, #frag2>
    %1 = tile.convert_layout %0 : !tile.tile<32x32xf32, #frag2> -> !tile.tile<32x32xf32, #frag>
    // CHECK-NEXT: tile.store %[[X]] to
    tile.store %1 to %X[%b, %c0] : !tile.tile<32x32xf32, #frag>, !tile.view<?x?xf32>
    // A fill is as good in any layout, and each of its elements is the value.
    %f = tile.splat %s : !tile.tile<32x32xf32, #frag>
    %2 = tile.convert_layout %f : !tile.tile<32x32xf32, #frag> -> !tile.tile<32x32xf32, #frag2>
    // CHECK-NEXT: %[[F:.*]] = tile.splat %{{.*}} : <32x32xf32, #layout1>
    // CHECK-NEXT: tile.store %[[F]] to
    tile.store %2 to %X[%b, %c0] : !tile.tile<32x32xf32, #frag2>, !tile.view<?x?xf32>
    %e = tile.extract %f[%c0, %b] : !tile.tile<32x32xf32, #frag>
    // CHECK-NEXT: tile.print "", %{{.*}} : f32
    tile.print "", %e : f32
    // Not so of undef: its value is the same at every use.
    // CHECK-NEXT: %[[U:.*]] = tile.undef : <32x32xf32, #layout>
    // CHECK-NEXT: %[[V:.*]] = tile.convert_layout %[[U]]
    // CHECK-NEXT: tile.print "u", %[[U]], %[[V]]
    %u = tile.undef : !tile.tile<32x32xf32, #frag>
    %v = tile.convert_layout %u : !tile.tile<32x32xf32, #frag> -> !tile.tile<32x32xf32, #frag2>
    tile.print "u", %u, %v : !tile.tile<32x32xf32, #frag>, !tile.tile<32x32xf32, #frag2>
    %r = tile.reshape %x : !tile.tile<32x32xf32, #frag> -> !tile.tile<32x32xf32, #frag>
    // CHECK-NEXT: tile.print "r", %[[X]]
    tile.print "r", %r : !tile.tile<32x32xf32, #frag>
  }
  tile.yield
}

// -----

!b = !tile.buffer<64x32xf16>
// CHECK-LABEL: tile.kernel @buffers
tile.kernel @buffers(%n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    // CHECK: %[[A:.*]] = tile.alloc
    %a = tile.alloc : !b
    %0 = tile.subbuffer %a[%c0, %c0] extents [64, 32] : !b -> !b
    %1 = tile.recast_buffer %0 : !b -> !tile.buffer<32x64xf16>
    %2 = tile.recast_buffer %1 : !tile.buffer<32x64xf16> -> !tile.buffer<1024xf32>
    // CHECK: %[[R:.*]] = tile.recast_buffer %[[A]] : <64x32xf16> -> <1024xf32>
    // CHECK: tile.print "", %[[A]], %[[R]]
    tile.print "", %0, %2 : !b, !tile.buffer<1024xf32>
    // An allocation that nothing uses goes away.
    // CHECK-NOT: tile.alloc
    %unused = tile.alloc : !b
  }
  tile.yield
}

// -----

!R = !tile.ring<3 x [!tile.buffer<64xf16>]>
// CHECK-LABEL: tile.kernel @cursors
tile.kernel @cursors(%n: index) {
  tile.launch (%b) in (%n) {
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    %0 = tile.advance %p {by = 0 : i64} : !tile.cursor<3>
    %1 = tile.advance %0 : !tile.cursor<3>
    %2 = tile.advance %1 {by = 2 : i64} : !tile.cursor<3>
    // CHECK: %[[P:.*]] = tile.cursor
    // CHECK: %[[Q:.*]] = tile.advance %[[P]] {by = 3 : i64}
    // CHECK: tile.slot_at %{{.*}} at %[[Q]]
    %s = tile.slot_at %r at %2 : !R
    tile.print "", %s : !tile.buffer<64xf16>
  }
  tile.yield
}

// -----

// Upstream rewrites of loops keep what we hang on them.
// CHECK-LABEL: tile.kernel @loop
tile.kernel @loop(%n: index, %X: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch (%b) in (%n) {
    %u = tile.undef : !tile.tile<16xf32>
    %w = tile.undef : !tile.tile<16xf32>
    // CHECK: scf.for %{{.*}} iter_args(%{{[a-z0-9]*}} = %{{[a-z0-9]*}}) -> (!tile.tile<16xf32>)
    %y:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %u, %dead = %w) -> (!tile.tile<16xf32>, !tile.tile<16xf32>) {
      %x = tile.load %X[%i] : !tile.view<?xf32> -> !tile.tile<16xf32>
      %z = tile.generic [16] ins(%x : !tile.tile<16xf32>) outs(%a : !tile.tile<16xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
      ^bb0(%k: index, %e: f32, %old: f32):
        %s = arith.addf %e, %old : f32
        tile.yield %s : f32
      } -> !tile.tile<16xf32>
      scf.yield %z, %dead : !tile.tile<16xf32>, !tile.tile<16xf32>
    // CHECK: } {tile.pipeline = #tile.pipeline<stages = 3>}
    } {tile.pipeline = #tile.pipeline<stages = 3>}
    tile.store %y#0 to %X[%b] : !tile.tile<16xf32>, !tile.view<?xf32>
  }
  tile.yield
}

// A choice between tiles is made element by element, whether it came as a branch or as a select.
// CHECK-LABEL: tile.kernel @choose
tile.kernel @choose(%n: index, %X: !tile.view<?xf32>, %p: i1) {
  tile.launch (%b) in (%n) {
    %x = tile.load %X[%b] : !tile.view<?xf32> -> !tile.tile<16xf32>
    %zero = arith.constant 0.0 : f32
    %u = tile.splat %zero : !tile.tile<16xf32>
    %y = scf.if %p -> (!tile.tile<16xf32>) {
      scf.yield %x : !tile.tile<16xf32>
    } else {
      scf.yield %u : !tile.tile<16xf32>
    }
    // CHECK-NOT: scf.if
    // CHECK: tile.generic [16] ins(%{{.*}} : !tile.tile<16xf32>) outs(%{{.*}} : !tile.tile<16xf32>)
    // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
    tile.store %y to %X[%b] : !tile.tile<16xf32>, !tile.view<?xf32>
  }
  tile.yield
}
