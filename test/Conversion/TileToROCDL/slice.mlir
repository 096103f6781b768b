// A part of a tile is some of the registers of every thread.
// RUN: tile-opt %s --pass-pipeline="builtin.module(convert-tile-to-rocdl,canonicalize,cse)" | FileCheck %s

#whole = #tile.layout<"reg 4:d1 2:16d0 | lane 8:4d1 8:d0 | warp 2:8d0 -> 32x32">
#part = #tile.layout<"reg 4:d1 | lane 8:4d1 8:d0 | warp 2:8d0 -> 16x32">
!v = !tile.view<?x?xf32>

// Rows 16 to 31 stand in the second half of the registers; nothing of the first half is left.
// CHECK: arith.cmpi sgt, %{{.*}}, %c16_i32
// CHECK-COUNT-4: llvm.load
// CHECK-NOT: llvm.load
// CHECK: llvm.store
tile.kernel @lower(%g: index, %X: !v, %Y: !v) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%b) in (%g) schedule #tile.schedule<threads = 128> {
    %c0 = arith.constant 0 : index
    %t = tile.load %X[%b, %c0] : !v -> !tile.tile<32x32xf32, #whole>
    %s = tile.slice %t at [16, 0] : !tile.tile<32x32xf32, #whole> -> !tile.tile<16x32xf32, #part>
    tile.store %s to %Y[%b, %c0] : !tile.tile<16x32xf32, #part>, !v
  }
  tile.yield
}
