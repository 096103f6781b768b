// RUN: tile-opt %S/Inputs/gemm-sm90a.mlir --tile-select-schedule --tile-assign-layouts 2>/dev/null | FileCheck %s --check-prefix=HOPPER
// RUN: tile-opt %S/Inputs/gemm-sm90a.mlir --tile-select-schedule --tile-assign-layouts 2>/dev/null | tile-opt --tile-verify-stage=stage=laid-out
// RUN: tile-opt %S/Inputs/gemm-sm80.mlir --tile-select-schedule --tile-assign-layouts 2>/dev/null | tile-opt --tile-verify-stage=stage=laid-out
// RUN: tile-opt %S/Inputs/plain-product.mlir --tile-select-schedule --tile-assign-layouts 2>/dev/null | FileCheck %s --check-prefix=PLAIN
// RUN: tile-opt %s --tile-assign-layouts | FileCheck %s

// A float32 product alone on the plain units: warps over rows and columns, 8 x 16 sums in each thread, in blocks of 4 x 4. k is
// the slow axis of both operands in memory.
// PLAIN: #[[SUMS:.*]] = #tile.layout<"reg 4:d1 4:d0 4:64d1 2:64d0 | lane 4:4d1 8:4d0 | warp 2:32d0 4:16d1 -> 128x256">
// PLAIN: #[[A:.*]] = #tile.layout<"d0 128:1 | d1 8:128^4 4:1024 -> 4096^32">
// PLAIN: #[[B:.*]] = #tile.layout<"d0 32:256 | d1 256:1 -> 8192">
// PLAIN: tile.gemm {{.*}}kind = fma{{.*}}!tile.buffer<128x32xf32, #[[A]]>, !tile.buffer<32x256xf32, #[[B]]>, <128x256xf32, #[[SUMS]]>

// The accumulator of m64n256 over two warp groups; everything that meets it at the same indices has its layout.
// HOPPER: #[[ACC:.*]] = #tile.layout<"reg 2:d1 2:8d0 32:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 | group 2:64d0 -> 128x256">
// HOPPER: tile.alloc : <128x64xf16, #[[A:.*]]>
// HOPPER: tile.splat {{.*}} : <128x256xf32, #[[ACC]]>
// HOPPER-NOT: convert_layout
// The result leaves in two halves by a staging buffer and the copy engine.
// HOPPER: tile.slice {{.*}} : <128x256xf32, #[[ACC]]> -> <128x128xf32, #[[PART:.*]]>
// HOPPER: tile.generic [128, 128] {{.*}} layout #[[PART]]
// HOPPER: tile.copy {{.*}} engine tma : !tile.buffer<128x128xf16
// HOPPER: tile.slice {{.*}} : <128x256xf32, #[[ACC]]> -> <128x128xf32, #[[PART]]>
// HOPPER: tile.generic [128, 128] {{.*}} layout #[[PART]]
// HOPPER: tile.copy {{.*}} engine tma : !tile.buffer<128x128xf16

// CHECK-DAG: #[[ONE:.*]] = #tile.layout<"reg 4:32d1 2:4d0 | lane 32:d1 | warp 4:d0 -> 8x128">
// CHECK-DAG: #[[TWO:.*]] = #tile.layout<"reg 2:d1 2:64d1 2:4d0 | lane 32:2d1 | warp 4:d0 -> 8x128">
// CHECK-DAG: #[[EIGHT:.*]] = #tile.layout<"reg 8:d1 | lane 16:8d1 2:d0 | warp 4:2d0 -> 8x128">

#schedule = #tile.schedule<threads = 128, partition = [4, 1]>
// A row maximum has its parent's layout without the axis; the generic that reads it needs no conversion.
// CHECK-LABEL: tile.kernel @rows
// CHECK: tile.reduce max
// CHECK-NOT: convert_layout
// A gather passes through shared memory.
// CHECK: %[[B:.*]] = tile.alloc
// CHECK: tile.store {{.*}} to %[[B]]
// CHECK: tile.generic
// CHECK: tile.elem_load %[[B]]
tile.kernel @rows(%g: index, %X: !tile.view<?x?xf32>, %Y: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #schedule {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%b, %c0] : !tile.view<?x?xf32> -> !tile.tile<8x256xf32>
    %m = tile.reduce max %x axis 1 : !tile.tile<8x256xf32> -> !tile.tile<8xf32>
    %y = tile.generic [8, 256] ins(%m : !tile.tile<8xf32>) outs(%x : !tile.tile<8x256xf32>) maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %e: f32, %old: f32):
      %d = arith.subf %old, %e : f32
      tile.yield %d : f32
    } -> !tile.tile<8x256xf32>
    %z = tile.generic [8, 256] outs(%y : !tile.tile<8x256xf32>) maps [affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %old: f32):
      %v = tile.extract %x[%i, %i] : !tile.tile<8x256xf32>
      %d = arith.addf %old, %v : f32
      tile.yield %d : f32
    } -> !tile.tile<8x256xf32>
    tile.store %z to %Y[%b, %c0] : !tile.tile<8x256xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}

#parts = #tile.schedule<threads = 128, partition = [4, 1], staging = true, passes = 4>
// Results go out in parts where each thread has its share of every part; what they are made of is loaded in parts.
// CHECK-LABEL: tile.kernel @parts
// CHECK: tile.alloc : <16x64xf16
// CHECK-COUNT-4: tile.load {{.*}} extents [16, 64] : {{.*}} -> <16x64xf16
// CHECK-NOT: tile.load
// A tile that is spread over the threads evenly cannot be cut so: it leaves as it stands.
// CHECK-LABEL: tile.kernel @whole
// CHECK-NOT: tile.slice
// CHECK: tile.store {{.*}}, !tile.view
tile.kernel @parts(%g: index, %X: !tile.view<?x?xf16>, %Y: !tile.view<?x?xf16>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #parts {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0, %c0] : !tile.view<?x?xf16> -> !tile.tile<64x64xf16>
    tile.store %x to %Y[%c0, %c0] : !tile.tile<64x64xf16>, !tile.view<?x?xf16>
  }
  tile.yield
}
tile.kernel @whole(%g: index, %X: !tile.view<?x64xf16, align = 16>, %Y: !tile.view<?x64xf16, align = 16>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #parts {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0, %c0] : !tile.view<?x64xf16, align = 16> -> !tile.tile<16x64xf16>
    tile.store %x to %Y[%c0, %c0] : !tile.tile<16x64xf16>, !tile.view<?x64xf16, align = 16>
  }
  tile.yield
}

#odd = #tile.schedule<threads = 128, partition = [4, 1]>
// Rows that start at any element: neighbours belong to neighbouring lanes. Rows that start at a multiple of 4 bytes give two
// of float16 at once. Where a tile starts says nothing about its rows, and the narrowest access of a class decides.
// CHECK-LABEL: tile.kernel @odd
// CHECK: tile.load %arg1{{.*}} -> <8x128xf16, #[[ONE]]>
// CHECK: tile.load %arg2{{.*}} -> <8x128xf16, #[[TWO]]>
// CHECK: tile.load %arg3{{.*}} -> <8x128xf16, #[[EIGHT]]>
tile.kernel @odd(%g: index, %X: !tile.view<?x?xf16, align = 16>, %Y: !tile.view<?x?xf16, strides = [6, 1], align = 16>, %Z: !tile.view<?x128xf16, align = 16>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #odd {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0, %c0] : !tile.view<?x?xf16, align = 16> -> !tile.tile<8x128xf16>
    tile.store %x to %Z[%c0, %c0] : !tile.tile<8x128xf16>, !tile.view<?x128xf16, align = 16>
    %y = tile.load %Y[%c0, %c0] : !tile.view<?x?xf16, strides = [6, 1], align = 16> -> !tile.tile<8x128xf16>
    tile.store %y to %Z[%c0, %c0] : !tile.tile<8x128xf16>, !tile.view<?x128xf16, align = 16>
    %z = tile.load %Z[%c0, %c0] : !tile.view<?x128xf16, align = 16> -> !tile.tile<8x128xf16>
    tile.store %z to %Z[%c0, %c0] : !tile.tile<8x128xf16>, !tile.view<?x128xf16, align = 16>
  }
  tile.yield
}

#direct = #tile.schedule<threads = 128, partition = [4, 1], passes = 4>
// An epilogue in parts. The bias is cut where its axis is, indices begin where the part does, and what is staged comes by
// a buffer of its own; without staging of results the parts go straight to the view.
// CHECK-LABEL: tile.kernel @epilogue
// CHECK: %[[BUFFER:.*]] = tile.alloc : <16x64xf16
// CHECK: tile.copy %arg2[{{.*}}] to %[[BUFFER]] extents [16, 64] engine tma
// CHECK: %[[R:.*]] = tile.load %[[BUFFER]] : {{.*}} -> <16x64xf16
// CHECK: %[[BIAS:.*]] = tile.load %arg3{{.*}} extents [16] : {{.*}} -> <16xf16
// CHECK: %[[SUM:.*]] = tile.load %arg1[{{.*}}] extents [16, 64]
// CHECK: tile.generic [16, 64] ins(%[[R]], %[[BIAS]] : {{.*}} outs(%[[SUM]] :
// CHECK-NOT: arith.addi %arg
// CHECK: tile.store {{.*}} extents [16, 64] : {{.*}}, !tile.view
// CHECK: tile.generic [16, 64]
// CHECK: %[[ROW:.*]] = arith.addi %arg{{.*}}, %c16
// CHECK: arith.index_cast %[[ROW]]
// CHECK-COUNT-3: tile.store {{.*}} extents [16, 64] : {{.*}}, !tile.view
// CHECK-NOT: tile.store
tile.kernel @epilogue(%g: index, %S: !tile.view<?x?xf32>, %R: !tile.view<?x?xf16>, %B: !tile.view<?xf16>, %Y: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #direct {
    %c0 = arith.constant 0 : index
    %s = tile.load %S[%c0, %c0] : !tile.view<?x?xf32> -> !tile.tile<64x64xf32>
    %r = tile.load %R[%c0, %c0] {tile.staged} : !tile.view<?x?xf16> -> !tile.tile<64x64xf16>
    %bias = tile.load %B[%c0] : !tile.view<?xf16> -> !tile.tile<64xf16>
    %y = tile.generic [64, 64] ins(%r, %bias : !tile.tile<64x64xf16>, !tile.tile<64xf16>) outs(%s : !tile.tile<64x64xf32>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %e: f16, %f: f16, %old: f32):
      %w = arith.addf %e, %f : f16
      %x = arith.extf %w : f16 to f32
      %n = arith.index_cast %i : index to i32
      %row = arith.sitofp %n : i32 to f32
      %z = arith.addf %x, %row : f32
      %d = arith.addf %old, %z : f32
      tile.yield %d : f32
    } -> !tile.tile<64x64xf32>
    tile.store %y to %Y[%c0, %c0] : !tile.tile<64x64xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}
