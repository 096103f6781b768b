// RUN: tile-opt %s --verify-roundtrip | FileCheck %s

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
// CHECK-LABEL: tile.kernel @roles
tile.kernel @roles(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    // CHECK: tile.ring full 1 empty 1 at [0, 24576] barriers 49152 : <3 x[!tile.buffer<64x64xf16>, !tile.buffer<64x64xf16>]>
    %r = tile.ring full 1 empty 1 at [0, 24576] barriers 49152 : !R
    %out = tile.alloc : !A
    // CHECK: tile.fence barrier_init
    tile.fence barrier_init
    // CHECK: tile.barrier block id 0
    tile.barrier block id 0
    // CHECK: tile.warp_groups role <kind = load, warps = 4, regs = 40> {
    tile.warp_groups
    role <kind = load, warps = 4, regs = 40> {
      // CHECK: tile.cursor : <3>
      %p = tile.cursor : !tile.cursor<3>
      // CHECK: tile.acquire %{{.*}} at %{{.*}} tx 16384 : <3 x
      %x, %y = tile.acquire %r at %p tx 16384 : !R
      // CHECK: tile.async_copy tma %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} : !tile.view<?x?xf16>, !tile.buffer<64x64xf16>
      %t = tile.async_copy tma %X[%c0, %c0] to %x : !tile.view<?x?xf16>, !A
      %u = tile.async_copy tma %X[%b, %c0] to %y : !tile.view<?x?xf16>, !A
      // CHECK: tile.commit %{{.*}} at %{{.*}} after %{{.*}}, %{{.*}} : <3 x
      tile.commit %r at %p after %t, %u : !R
      // CHECK: tile.advance %{{.*}} : <3>
      %q = tile.advance %p : !tile.cursor<3>
    // CHECK: } role <kind = compute, warps = 4, regs = 232> {
    }
    role <kind = compute, warps = 4, regs = 232> {
      %p = tile.cursor : !tile.cursor<3>
      // CHECK: tile.ready
      %t0 = tile.ready
      %acc = tile.undef : !acc
      // CHECK: tile.consume %{{.*}} at %{{.*}} : <3 x
      %x, %y = tile.consume %r at %p : !R
      // CHECK: tile.in_flight %{{.*}} : <64x64xf32> -> <!tile.tile<64x64xf32>>
      %f0 = tile.in_flight %acc : !acc -> !tile.future<!acc>
      // CHECK: tile.turn take id 4
      tile.turn take id 4
      // CHECK: tile.async_gemm %{{.*}}, %{{.*}}, %{{.*}} trans_b inst <kind = wgmma, shape = [64, 64, 16]> : !tile.buffer<64x64xf16>, !tile.buffer<64x64xf16>, !tile.future<!tile.tile<64x64xf32>> -> <!tile.tile<64x64xf32>>
      %f, %t = tile.async_gemm %x, %y, %f0 trans_b inst <kind = wgmma, shape = [64, 64, 16]> : !A, !A, !tile.future<!acc> -> !tile.future<!acc>
      // CHECK: tile.turn pass id 4
      tile.turn pass id 4
      // CHECK: tile.await %{{.*}} pending 0 : <!tile.tile<64x64xf32>> -> <64x64xf32>
      %d = tile.await %f pending 0 : !tile.future<!acc> -> !acc
      // CHECK: tile.release %{{.*}} at %{{.*}} after %{{.*}} : <3 x
      tile.release %r at %p after %t : !R
      // CHECK: tile.wait %{{.*}} pending 0 read
      tile.wait %t0 pending 0 read
      // CHECK: tile.barrier group id 1
      tile.barrier group id 1
      // CHECK: tile.fence async_proxy
      tile.fence async_proxy
      // CHECK: tile.async_copy tma %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : !tile.buffer<64x64xf16>, !tile.view<?x?xf16>
      %s = tile.async_copy tma %out to %X[%c0, %c0] : !A, !tile.view<?x?xf16>
      // CHECK: tile.join %{{.*}}
      %g = tile.join %s
      tile.wait %g
    }
  }
  tile.yield
}

// CHECK-LABEL: tile.kernel @tokens
tile.kernel @tokens(%X: !tile.view<?x?xf16>, %n: index, %in: i1) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    // CHECK: tile.ring : <3 x
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // CHECK: tile.slot_at %{{.*}} at %{{.*}} : <3 x
    %x, %y = tile.slot_at %r at %p : !R
    // CHECK: tile.async_copy cp_async if %{{.*}} %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} : !tile.view<?x?xf16>, !tile.buffer<64x64xf16>
    %t = tile.async_copy cp_async if %in %X[%b, %c0] to %x : !tile.view<?x?xf16>, !A
    %g = tile.join %t
    // CHECK: tile.wait %{{.*}} pending 0
    tile.wait %g pending 0
    // CHECK: tile.advance %{{.*}} {by = -1 : i64} : <3>
    %q = tile.advance %p {by = -1 : i64} : !tile.cursor<3>
    // CHECK: tile.barrier warp
    tile.barrier warp
    // CHECK: tile.fence device
    tile.fence device
    // CHECK: tile.delay site 3 counters %{{.*}}, %{{.*}}
    tile.delay site 3 counters %b, %c0
    // CHECK: tile.delay site 4{{$}}
    tile.delay site 4
  }
  tile.yield
}
