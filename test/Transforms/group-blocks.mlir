// RUN: tile-opt --split-input-file --pass-pipeline="builtin.module(tile.kernel(tile-group-blocks))" %s | FileCheck %s

// Four blocks of 64 rows become one of 256: A, the accumulator and what is made of it grow, B does not.
// CHECK-LABEL: tile.kernel @grows
// CHECK: %[[GY:.*]] = arith.ceildivsi %arg1, %c4
// CHECK: tile.launch (%{{.*}}, %[[BY:.*]]) in (%arg0, %[[GY]])
// CHECK: tile.alloc : <256x64xf16>
// CHECK: tile.alloc : <64x256xf16>
// CHECK: %[[ROW:.*]] = arith.muli %[[BY]], %c256
// CHECK: tile.copy %arg2[%[[ROW]], %{{.*}}]
// CHECK: tile.generic [256, 256]
// CHECK: tile.store %{{.*}} to %arg4[%[[ROW]], %{{.*}}] : <256x256xf16>
tile.kernel @grows(%gx: index, %gy: index, %A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>, %C: !tile.view<?x?xf16>)
    attributes {tile.device, tile.target = #tile.target<"x86-64-v4">} {
  %c64 = arith.constant 64 : index
  %M = tile.dim %C, 0 : !tile.view<?x?xf16>
  %tiles = arith.ceildivui %M, %c64 : index
  %same = arith.cmpi eq, %gy, %tiles : index
  tile.assume %same, "grid extent"
  tile.launch (%bx, %by) in (%gx, %gy) {
    %c0 = arith.constant 0 : index
    %a = tile.alloc : !tile.buffer<64x64xf16>
    %b = tile.alloc : !tile.buffer<64x256xf16>
    %z = arith.constant 0.0 : f32
    %s = tile.splat %z : !tile.tile<64x256xf32>
    %row = arith.muli %by, %c64 : index
    tile.copy %A[%row, %c0] to %a : !tile.view<?x?xf16>, !tile.buffer<64x64xf16>
    tile.copy %B[%c0, %c0] to %b : !tile.view<?x?xf16>, !tile.buffer<64x256xf16>
    %r = tile.gemm %a, %b, %s inst <kind = cpu_fma, shape = [8, 32, 1]> : !tile.buffer<64x64xf16>, !tile.buffer<64x256xf16>, !tile.tile<64x256xf32>
    %u = tile.undef : !tile.tile<64x256xf16>
    %h = tile.generic [64, 256] ins(%r : !tile.tile<64x256xf32>) outs(%u : !tile.tile<64x256xf16>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %x: f32, %old: f16):
      %v = arith.addf %x, %x : f32
      %y = arith.truncf %v : f32 to f16
      tile.yield %y : f16
    } -> !tile.tile<64x256xf16>
    tile.store %h to %C[%row, %c0] : !tile.tile<64x256xf16>, !tile.view<?x?xf16>
  }
  tile.yield
}

// -----

// Without the promise about the grid, blocks that the program does not have could write.
// CHECK-LABEL: tile.kernel @unknown_grid
// CHECK-NOT: 256x64
tile.kernel @unknown_grid(%gx: index, %gy: index, %A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>, %C: !tile.view<?x?xf16>)
    attributes {tile.device, tile.target = #tile.target<"x86-64-v4">} {
  %c64 = arith.constant 64 : index
  %M = tile.dim %C, 0 : !tile.view<?x?xf16>
  %tiles = arith.ceildivui %M, %c64 : index
  %same = arith.cmpi eq, %gy, %tiles : index
  
  tile.launch (%bx, %by) in (%gx, %gy) {
    %c0 = arith.constant 0 : index
    %a = tile.alloc : !tile.buffer<64x64xf16>
    %b = tile.alloc : !tile.buffer<64x256xf16>
    %z = arith.constant 0.0 : f32
    %s = tile.splat %z : !tile.tile<64x256xf32>
    %row = arith.muli %by, %c64 : index
    tile.copy %A[%row, %c0] to %a : !tile.view<?x?xf16>, !tile.buffer<64x64xf16>
    tile.copy %B[%c0, %c0] to %b : !tile.view<?x?xf16>, !tile.buffer<64x256xf16>
    %r = tile.gemm %a, %b, %s inst <kind = cpu_fma, shape = [8, 32, 1]> : !tile.buffer<64x64xf16>, !tile.buffer<64x256xf16>, !tile.tile<64x256xf32>
    %u = tile.undef : !tile.tile<64x256xf16>
    %h = tile.generic [64, 256] ins(%r : !tile.tile<64x256xf32>) outs(%u : !tile.tile<64x256xf16>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %x: f32, %old: f16):
      %v = arith.addf %x, %x : f32
      %y = arith.truncf %v : f32 to f16
      tile.yield %y : f16
    } -> !tile.tile<64x256xf16>
    tile.store %h to %C[%row, %c0] : !tile.tile<64x256xf16>, !tile.view<?x?xf16>
  }
  tile.yield
}

// -----

// The row within the block is seen.
// CHECK-LABEL: tile.kernel @sees_row
// CHECK-NOT: 256x64
tile.kernel @sees_row(%gx: index, %gy: index, %A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>, %C: !tile.view<?x?xf16>)
    attributes {tile.device, tile.target = #tile.target<"x86-64-v4">} {
  %c64 = arith.constant 64 : index
  %M = tile.dim %C, 0 : !tile.view<?x?xf16>
  %tiles = arith.ceildivui %M, %c64 : index
  %same = arith.cmpi eq, %gy, %tiles : index
  tile.assume %same, "grid extent"
  tile.launch (%bx, %by) in (%gx, %gy) {
    %c0 = arith.constant 0 : index
    %a = tile.alloc : !tile.buffer<64x64xf16>
    %b = tile.alloc : !tile.buffer<64x256xf16>
    %z = arith.constant 0.0 : f32
    %s = tile.splat %z : !tile.tile<64x256xf32>
    %row = arith.muli %by, %c64 : index
    tile.copy %A[%row, %c0] to %a : !tile.view<?x?xf16>, !tile.buffer<64x64xf16>
    tile.copy %B[%c0, %c0] to %b : !tile.view<?x?xf16>, !tile.buffer<64x256xf16>
    %r = tile.gemm %a, %b, %s inst <kind = cpu_fma, shape = [8, 32, 1]> : !tile.buffer<64x64xf16>, !tile.buffer<64x256xf16>, !tile.tile<64x256xf32>
    %u = tile.undef : !tile.tile<64x256xf16>
    %h = tile.generic [64, 256] ins(%r : !tile.tile<64x256xf32>) outs(%u : !tile.tile<64x256xf16>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %x: f32, %old: f16):
      %n = arith.index_cast %i : index to i64
      %f = arith.sitofp %n : i64 to f32
      %v = arith.addf %x, %f : f32
      %y = arith.truncf %v : f32 to f16
      tile.yield %y : f16
    } -> !tile.tile<64x256xf16>
    tile.store %h to %C[%row, %c0] : !tile.tile<64x256xf16>, !tile.view<?x?xf16>
  }
  tile.yield
}
