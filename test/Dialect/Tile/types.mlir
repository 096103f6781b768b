// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// Layouts print in normal form, under an alias that says what they are for.

// CHECK-DAG: #layout{{.*}} = #tile.layout<"reg 2:d1 2:8d0 16:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 | group 3:64d0 -> 192x128">
#three_groups = #tile.layout<"reg 2:d1 2:8d0 2:8d1 2:16d1 2:32d1 2:64d1 | lane 2:2d1 2:4d1 8:d0 | warp 2:16d0 2:32d0 | group 3:64d0 -> 192x128">
// CHECK-DAG: #layout{{.*}} = #tile.layout<"reg 2:d1 2:8d0 10:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 -> 64x80">
#uneven = #tile.layout<"reg 2:d1 2:8d0 10:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 -> 64x80">
// CHECK-DAG: #layout{{.*}} = #tile.layout<"lane 32:0 | warp 4:d0 -> 4">
#replicated = #tile.layout<"lane 32:0 | warp 4:d0 -> 4">
// CHECK-DAG: #layout{{.*}} = #tile.layout<"-> 1">
#single = #tile.layout<"-> 1">
// CHECK-DAG: #shared{{.*}} = #tile.layout<"d0 8:64^8 16:512 | d1 64:1 -> 8192^64">
#swizzled = #tile.layout<"d0 8:64^8 16:512 | d1 64:1 -> 8192^64">
// CHECK-DAG: #shared{{.*}} = #tile.layout<"d0 128:40 | d1 32:1 -> 5120">
#padded = #tile.layout<"d0 128:40 | d1 32:1 -> 5120">

// CHECK-DAG: #schedule = #tile.schedule<threads = 384, partition = [2, 1], roles = [<kind = load, warps = 4, regs = 40>, <kind = compute, warps = 8, regs = 232>], persistent = true, raster = <kind = grouped, group = 8>, cluster = [2, 1], skew = true, staging = true, index_bits = 32>

// CHECK-LABEL: tile.kernel @types
tile.kernel @types(
    // CHECK-SAME: !tile.view<f32>
    %0: !tile.view<f32>,
    // CHECK-SAME: !tile.view<?x4xi8, strides = [?, 1], align = 16, safe = -1 : i8>
    %1: !tile.view<?x4xi8, strides = [?, 1], align = 16, safe = -1 : i8>,
    // CHECK-SAME: !tile.view<?x?xf16, safe = 0xFC00 : f16>
    %2: !tile.view<?x?xf16, safe = 0xFC00 : f16>,
    // CHECK-SAME: !tile.ptr<f8E4M3FN>
    %3: !tile.ptr<f8E4M3FN>, %n: index) {
  tile.launch (%b) in (%n) {
    // CHECK: tile.undef : <192x128xf32, #layout
    %4 = tile.undef : !tile.tile<192x128xf32, #three_groups>
    %5 = tile.undef : !tile.tile<64x80xbf16, #uneven>
    %6 = tile.undef : !tile.tile<4xindex, #replicated>
    %7 = tile.undef : !tile.tile<1xi1, #single>
    // CHECK: tile.alloc : <128x64xf16, #shared
    %8 = tile.alloc : !tile.buffer<128x64xf16, #swizzled>
    %9 = tile.alloc : !tile.buffer<128x32xi8, #padded>
    // CHECK: tile.ring : <16 x[!tile.buffer<128x64xf16, #shared
    %10 = tile.ring : !tile.ring<16 x [!tile.buffer<128x64xf16, #swizzled>]>
    // The instruction, the schedule and what stands on loops.
    // CHECK: inst = #tile.inst<kind = wgmma, shape = [64, 256, 16], swapped = true, k_slices = 2>, schedule_like = #schedule}
    %11 = tile.cursor {schedule_like = #tile.schedule<threads = 384, partition = [2, 1],
        roles = [<kind = load, warps = 4, regs = 40>, <kind = compute, warps = 8, regs = 232>], persistent = true,
        raster = <kind = grouped, group = 8>, cluster = [2, 1], skew = true, staging = true, index_bits = 32>,
      inst = #tile.inst<kind = wgmma, shape = [64, 256, 16], swapped = true, k_slices = 2>} : !tile.cursor<16>
  }
  tile.yield
}
