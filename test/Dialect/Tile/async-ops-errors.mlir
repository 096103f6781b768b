// RUN: tile-opt %s -split-input-file -verify-diagnostics

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    %f = tile.alloc : !tile.buffer<4x4xf32>
    // expected-error @+1 {{element types differ: 'f16' in '!tile.view<?x?xf16>' and 'f32' in '!tile.buffer<4x4xf32>'}}
    %t = tile.async_copy tma %X[%c0, %c0] to %f : !tile.view<?x?xf16>, !tile.buffer<4x4xf32>
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{moves between a view and a buffer, got '!tile.buffer<64x64xf16>' and '!tile.buffer<64x64xf16>'}}
    %t = tile.async_copy tma %a to %a : !A, !A
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{simt copies are tile.copy}}
    %t = tile.async_copy simt %X[%c0, %c0] to %a : !tile.view<?x?xf16>, !A
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{needs an offset and an extent for each of the 2 axes of '!tile.view<?x?xf16>', ones but for the last two extents}}
    %t = tile.async_copy words %X[%c0, %c0] to %a : !tile.view<?x?xf16>, !A
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{engine 'cp_async' only loads, got '!tile.view<?x?xf16>' as destination}}
    %t = tile.async_copy cp_async %a to %X[%c0, %c0] : !A, !tile.view<?x?xf16>
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{accumulator is '!tile.tile<64x64xf32>', result '!tile.tile<64x32xf32>'}}
    %f, %t = tile.async_gemm %a, %a, %x inst <kind = wgmma, shape = [64, 64, 16]> : !A, !A, !acc -> !tile.future<!tile.tile<64x32xf32>>
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{'mma_sync' is not asynchronous}}
    %f, %t = tile.async_gemm %a, %a, %x inst <kind = mma_sync, shape = [16, 8, 16]> : !A, !A, !acc -> !tile.future<!acc>
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    %y = tile.undef : !tile.tile<64x32xf32>
    // expected-error @+1 {{expected (M, K) x (K, N) -> (M, N), got (64, 64) x (64, 64) -> (64, 32)}}
    %f, %t = tile.async_gemm %a, %a, %y inst <kind = wgmma, shape = [64, 32, 16]> : !A, !A, !tile.tile<64x32xf32> -> !tile.future<!tile.tile<64x32xf32>>
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{tile is '!tile.tile<64x64xf32>', future of '!tile.tile<32xf32>'}}
    %f = tile.in_flight %x : !acc -> !tile.future<!tile.tile<32xf32>>
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    %f = tile.in_flight %x : !acc -> !tile.future<!acc>
    // expected-error @+1 {{tile is '!tile.tile<32xf32>', future of '!tile.tile<64x64xf32>'}}
    %y = tile.await %f : !tile.future<!acc> -> !tile.tile<32xf32>
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    %f = tile.in_flight %x : !acc -> !tile.future<!acc>
    // expected-error @+1 {{pending is at least 0, got -1}}
    %y = tile.await %f pending -1 : !tile.future<!acc> -> !acc
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    %t = tile.ready
    // expected-error @+1 {{pending is at least 0, got -2}}
    tile.wait %t pending -2
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{expected 2 offsets, one per buffer, got 1}}
    %q = tile.ring at [0] : !R
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{arrival counts are at least 1, got 0}}
    %q = tile.ring full 0 : !R
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{offset is at least 0, got -8}}
    %q = tile.ring at [0, -8] : !R
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{tx is at least 1 byte, got 0}}
    %y, %z = tile.acquire %r at %p tx 0 : !R
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-note @+1 {{prior use here}}
    %q = tile.cursor : !tile.cursor<4>
    // expected-error @+1 {{use of value '%q' expects different type than prior uses: '!tile.cursor<3>' vs '!tile.cursor<4>'}}
    %y, %z = tile.consume %r at %q : !R
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{barrier ids are 0 to 15, got 16}}
    tile.barrier group id 16
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{barrier ids are 0 to 15, got -1}}
    tile.turn take id -1
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
!R = !tile.ring<3 x [!A, !A]>
!acc = !tile.tile<64x64xf32>
tile.kernel @k(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !A
    %x = tile.undef : !acc
    %r = tile.ring : !R
    %p = tile.cursor : !tile.cursor<3>
    // expected-error @+1 {{expected one region per role, got 0 for 0}}
    tile.warp_groups
  }
  tile.yield
}

// -----

!A = !tile.buffer<64x64xf16>
tile.kernel @crosses(%n: index) {
  tile.launch (%b) in (%n) {
    %p = tile.cursor : !tile.cursor<3>
    tile.warp_groups
    role <kind = load, warps = 4> {
      // expected-error @+1 {{'!tile.cursor<3>' crosses into a role}}
      %q = tile.advance %p : !tile.cursor<3>
    }
  }
  tile.yield
}

// -----

tile.kernel @nested(%n: index) {
  tile.launch (%b) in (%n) {
    tile.warp_groups
    role <kind = load, warps = 4> {
      // expected-error @+1 {{roles do not nest}}
      tile.warp_groups
      role <kind = load, warps = 4> {
      }
    }
  }
  tile.yield
}

// -----

tile.kernel @count(%n: index) {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 256, roles = [<kind = load, warps = 4>, <kind = compute, warps = 4>]> {
    // expected-error @+1 {{schedule has 2 roles, got 1}}
    tile.warp_groups
    role <kind = load, warps = 4> {
    }
  }
  tile.yield
}

// -----

tile.kernel @other_role(%n: index) {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128, roles = [<kind = load, warps = 4>]> {
    // expected-error @+1 {{schedule has #tile.role<kind = load, warps = 4>, got #tile.role<kind = compute, warps = 4>}}
    tile.warp_groups
    role <kind = compute, warps = 4> {
    }
  }
  tile.yield
}

// -----

!R = !tile.ring<3 x [!tile.buffer<64x64xf16>]>
tile.kernel @slot_in_role(%n: index) {
  tile.launch (%b) in (%n) {
    %r = tile.ring : !R
    tile.warp_groups
    role <kind = load, warps = 4> {
      %p = tile.cursor : !tile.cursor<3>
      // expected-error @+1 {{inside roles use acquire or consume}}
      %a = tile.slot_at %r at %p : !R
    }
  }
  tile.yield
}

// -----

tile.kernel @words_into_part(%X: !tile.view<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %w = tile.alloc : !tile.buffer<64x40xf16>
    // expected-error @+1 {{words fill a whole buffer as they are}}
    %t = tile.async_copy words %X[%b, %c0] to %w[%c0, %c0] extents [64, 32] : !tile.view<?x?xf16>, !tile.buffer<64x40xf16>
  }
  tile.yield
}
