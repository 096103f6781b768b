// RUN: tile-opt --split-input-file --pass-pipeline="builtin.module(tile-select-schedule,tile.kernel(tile-assign-layouts-cpu))" %s | FileCheck %s

// A in rows with a pitch of K + 16, B in panels of 32 columns; both are held as f32.
// CHECK: #[[A:.*]] = #tile.layout<"d0 64:80 | d1 64:1 -> 5120">
// CHECK: #[[B:.*]] = #tile.layout<"d0 64:32 | d1 32:1 8:2048 -> 16384">
// CHECK-LABEL: tile.kernel @panels
// CHECK: tile.alloc : <64x64xf32, #[[A]]>
// CHECK: tile.alloc : <64x256xf32, #[[B]]>
// CHECK: tile.gemm {{.*}} inst <kind = cpu_fma, shape = [8, 32, 1]>
tile.kernel @panels(%gx: index, %gy: index, %A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>, %C: !tile.view<?x?xf16>)
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
