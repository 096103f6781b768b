// RUN: tile-opt %s --canonicalize --cse --loop-invariant-code-motion -split-input-file | FileCheck %s
// What the generic clean-up passes may and may not do to our ops.

!b = !tile.buffer<64xf16>
!t = !tile.tile<64xf16>
// CHECK-LABEL: tile.kernel @memory
tile.kernel @memory(%X: !tile.view<?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%i) in (%n) {
    // Two buffers are two buffers.
    // CHECK: tile.alloc
    // CHECK: tile.alloc
    %a = tile.alloc : !b
    %b = tile.alloc : !b
    // Two loads with nothing between are one; a store, a copy, a barrier, an atomic between keeps them.
    // CHECK-COUNT-1: tile.load
    %0 = tile.load %X[%i] : !tile.view<?xf16> -> !t
    %1 = tile.load %X[%i] : !tile.view<?xf16> -> !t
    // CHECK: tile.store
    tile.store %0 to %a : !t, !b
    tile.store %1 to %b : !t, !b
    // CHECK: tile.load
    %2 = tile.load %a : !b -> !t
    // CHECK: tile.barrier block
    tile.barrier block
    // CHECK: tile.load
    %3 = tile.load %a : !b -> !t
    // CHECK: tile.copy
    tile.copy %X[%i] to %a : !tile.view<?xf16>, !b
    // CHECK: tile.load
    %4 = tile.load %a : !b -> !t
    // CHECK: tile.atomic
    tile.atomic add %4 to %a : !t, !b
    // CHECK: tile.load
    %5 = tile.load %a : !b -> !t
    // CHECK: tile.elem_atomic
    %one = arith.constant 1.0 : f16
    %old = tile.elem_atomic add %one to %a[%c0] : !b
    // CHECK: tile.elem_load
    %e = tile.elem_load %a[%c0] : !b
    // CHECK: tile.elem_store
    tile.elem_store %e to %b[%c0] : !b
    // CHECK: tile.print
    tile.print "", %2, %3, %5, %b : !t, !t, !t, !b
    // A load of nobody goes; messages, assertions and assumptions stay.
    // CHECK-NOT: tile.load
    %6 = tile.load %b : !b -> !t
    %ok = arith.cmpi ult, %i, %n : index
    // CHECK: tile.device_assert
    tile.device_assert %ok, "i"
    // CHECK: tile.assume
    tile.assume %ok, "i"
  }
  tile.yield
}

// -----

!t = !tile.tile<64xf32>
// CHECK-LABEL: tile.kernel @values
tile.kernel @values(%X: !tile.view<?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch (%i) in (%n) {
    // undef is one value, not poison: arithmetic on it stays, and two of them may be the same.
    // CHECK: %[[U:.*]] = tile.undef
    // CHECK-NOT: tile.undef
    %u = tile.undef : !t
    %v = tile.undef : !t
    // A generic without effects leaves the loop, one that reads memory does not.
    // CHECK: %[[G:.*]] = tile.generic [64] outs(%[[U]]
    // CHECK: arith.addf
    // CHECK: scf.for
    // CHECK-NEXT: tile.generic [64] ins(
    scf.for %k = %c0 to %n step %c1 {
      %g = tile.generic [64] outs(%v : !t) maps [affine_map<(i) -> (i)>] {
      ^bb0(%j: index, %old: f32):
        %x = arith.addf %old, %s : f32
        tile.yield %x : f32
      } -> !t
      %h = tile.generic [64] ins(%X : !tile.view<?xf32>) outs(%g : !t) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
      ^bb0(%j: index, %e: f32, %old: f32):
        %x = arith.addf %old, %e : f32
        tile.yield %x : f32
      } -> !t
      // A generic that writes memory stays although it has no result.
      // CHECK: tile.generic [64] ins(
      // CHECK: tile.elem_store
      tile.generic [64] ins(%h, %u : !t, !t) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
      ^bb0(%j: index, %e: f32, %f: f32):
        %x = arith.addf %f, %e : f32
        tile.elem_store %x to %X[%j] : !tile.view<?xf32>
        tile.yield
      }
    }
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<2 x [!A]>
!acc = !tile.tile<64x64xf32>
// CHECK-LABEL: tile.kernel @async
tile.kernel @async(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%i) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    // Nothing of this may be dropped, merged or moved: wait counts depend on it.
    // CHECK-COUNT-2: tile.async_copy
    %0 = tile.async_copy cp_async %X[%c0, %c0] to %a : !tile.view<?x?xf16>, !A
    %1 = tile.async_copy cp_async %X[%c0, %c0] to %a : !tile.view<?x?xf16>, !A
    // CHECK-COUNT-2: tile.join
    %2 = tile.join %0
    %3 = tile.join %1
    // CHECK-COUNT-2: tile.wait
    tile.wait %2 pending 1
    tile.wait %3
    // CHECK-COUNT-2: tile.async_gemm
    %f, %t = tile.async_gemm %a, %a, %x inst <kind = wgmma, shape = [64, 64, 16]> : !A, !A, !acc -> !tile.future<!acc>
    %g, %u = tile.async_gemm %a, %a, %x inst <kind = wgmma, shape = [64, 64, 16]> : !A, !A, !acc -> !tile.future<!acc>
    // CHECK-COUNT-2: tile.await
    %d = tile.await %f pending 1 : !tile.future<!acc> -> !acc
    %e = tile.await %g pending 0 : !tile.future<!acc> -> !acc
    // CHECK-COUNT-2: tile.fence
    tile.fence async_proxy
    tile.fence async_proxy
    // CHECK-COUNT-2: tile.barrier
    tile.barrier block
    tile.barrier block
    // CHECK-COUNT-2: tile.turn
    tile.turn take
    tile.turn take
    // CHECK: tile.warp_groups
    // CHECK: tile.acquire
    // CHECK: tile.commit
    // CHECK: tile.consume
    // CHECK: tile.release
    %r = tile.ring : !R
    tile.warp_groups
    role <kind = load, warps = 4> {
      %p = tile.cursor : !tile.cursor<2>
      %b = tile.acquire %r at %p : !R
      tile.commit %r at %p : !R
    }
    role <kind = compute, warps = 4> {
      %p = tile.cursor : !tile.cursor<2>
      %b = tile.consume %r at %p : !R
      tile.release %r at %p : !R
    }
    // An empty set of roles, an empty launch: nothing is left of them.
    // CHECK-NOT: tile.warp_groups
    tile.warp_groups
    role <kind = load, warps = 4> {
    }
    role <kind = compute, warps = 4> {
    }
  }
  // CHECK-NOT: tile.launch
  tile.launch (%i) in (%n) {
  }
  tile.yield
}

// -----

// The host calls a device kernel, so its launch stays when nothing is left in it.
// CHECK-LABEL: tile.kernel @device(
// CHECK-LABEL: tile.kernel @device.0(
// CHECK: tile.launch (
// CHECK-NOT: tile.load
tile.kernel @device(%X: !tile.view<?xf16>, %n: index) {
  tile.launch_call @device.0 (%n) args(%X : !tile.view<?xf16>)
  tile.yield
}
tile.kernel @device.0(%n: index, %X: !tile.view<?xf16>) attributes {tile.device, tile.host = "device"} {
  tile.launch (%i) in (%n) {
    %x = tile.load %X[%i] : !tile.view<?xf16> -> !tile.tile<64xf16>
  }
  tile.yield
}
