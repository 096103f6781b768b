// What the lowering does not take is said at its place.
// RUN: tile-opt %s --split-input-file --verify-diagnostics --convert-tile-to-nvvm
#s = #tile.schedule<threads = 128>
tile.kernel @printing(%g: index, %x: f32) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #s {
    // expected-error@+1 {{[E0530] printing from the device is not supported on sm_90a yet}}
    tile.print "x = {}", %x : f32
  }
  tile.yield
}

// -----

#s = #tile.schedule<threads = 128>
tile.kernel @unplaced(%g: index) attributes {tile.device, tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%g) schedule #s {
    // expected-error@+1 {{[E0505] shared memory without a place: run tile-allocate-shared first}}
    %a = tile.alloc : !tile.buffer<8x8xf32, #tile.layout<"d0 8:8 | d1 8:1 -> 64">>
  }
  tile.yield
}

// -----

#s = #tile.schedule<threads = 128>
tile.kernel @cluster(%g: index) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #s {
    // expected-error@+1 {{[E0530] a cluster of blocks is not supported on sm_90a yet}}
    tile.barrier cluster
  }
  tile.yield
}

// -----

// expected-error@+1 {{[E0505] a device kernel holds one scheduled launch}}
tile.kernel @bare(%g: index) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) {
  }
  tile.yield
}

// -----

#whole = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#part = #tile.layout<"reg 8:d1 | lane 2:8d1 8:d0 2:0 | warp 4:8d0 -> 32x16">
tile.kernel @elsewhere(%g: index) attributes {tile.device, tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%g) schedule #tile.schedule<threads = 128> {
    %t = tile.undef : !tile.tile<32x32xf32, #whole>
    // expected-error@+1 {{[E0505] a part of this tile lies in other threads}}
    %s = tile.slice %t at [0, 16] : !tile.tile<32x32xf32, #whole> -> !tile.tile<32x16xf32, #part>
  }
  tile.yield
}

// -----

#rows = #tile.layout<"d0 64:72 | d1 72:1 -> 4608">
#mixed = #tile.layout<"reg 8:d1 8:8d1 | lane 32:d0 | warp 2:32d0 -> 64x64">
tile.kernel @narrow(%g: index, %X: !tile.view<?x?xi8>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #tile.schedule<threads = 64> {
    %c0 = arith.constant 0 : index
    %w = tile.alloc at 0 : !tile.buffer<64x80xi8, #tile.layout<"d0 64:80 | d1 80:1 -> 5120">>
    // expected-error@+1 {{[E0530] rows of words as such a fragment is not supported on sm_90a yet}}
    %x = tile.realign %w of %X[%c0, %c0] extents [64, 64] : !tile.buffer<64x80xi8, #tile.layout<"d0 64:80 | d1 80:1 -> 5120">>, !tile.view<?x?xi8> -> !tile.tile<64x64xi8, #mixed>
  }
  tile.yield
}

// -----

#rows = #tile.layout<"d0 64:72 | d1 72:1 -> 4608">
tile.kernel @conditional(%g: index, %X: !tile.view<?x?xf16>, %in: i1) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #tile.schedule<threads = 64> {
    %c0 = arith.constant 0 : index
    %w = tile.alloc at 0 : !tile.buffer<64x72xf16, #rows>
    // expected-error@+1 {{[E0530] a copy of words here is not supported on sm_90a yet}}
    %t = tile.async_copy words if %in %X[%c0, %c0] to %w extents [64, 64] : !tile.view<?x?xf16>, !tile.buffer<64x72xf16, #rows>
  }
  tile.yield
}

// -----

#rows = #tile.layout<"d0 64:72 | d1 72:1 -> 4608">
tile.kernel @alone(%g: index, %X: !tile.view<?x?xf16>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #tile.schedule<threads = 64> {
    %c0 = arith.constant 0 : index
    %w = tile.alloc at 0 : !tile.buffer<64x72xf16, #rows>
    // expected-error@+1 {{[E0530] a copy of words outside a load role is not supported on sm_90a yet}}
    tile.copy %X[%c0, %c0] to %w extents [64, 64] engine words : !tile.view<?x?xf16>, !tile.buffer<64x72xf16, #rows>
  }
  tile.yield
}

// -----

#s = #tile.schedule<threads = 128>
#d = #tile.layout<"reg 2:d1 2:8d0 2:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 -> 64x16">
!acc = !tile.tile<64x16xf32, #d>
!f = !tile.future<!acc>
tile.kernel @swapped(%g: index, %x: f32) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #s {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = tile.splat %x : !acc
    %f0 = tile.in_flight %t : !acc -> !f
    // expected-error@+1 {{[E0505] two sums under way would need the same registers}}
    %h0 = tile.in_flight %t : !acc -> !f
    %r:2 = scf.for %i = %c0 to %g step %c1 iter_args(%f = %f0, %h = %h0) -> (!f, !f) {
      scf.yield %h, %f : !f, !f
    }
  }
  tile.yield
}

// -----

#s = #tile.schedule<threads = 128>
#k = #tile.layout<"d0 8:64^8 8:512 | d1 64:1 -> 4096^64">
#d = #tile.layout<"reg 2:d1 2:8d0 2:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 -> 64x16">
#n = #tile.layout<"d0 8:64^8 2:512 | d1 64:1 -> 1024^64">
!a = !tile.buffer<64x64xf16, #k>
!b = !tile.buffer<16x64xf16, #n>
!acc = !tile.tile<64x16xf32, #d>
!f = !tile.future<!acc>
#i = #tile.inst<kind = wgmma, shape = [64, 16, 16]>
tile.kernel @either(%g: index, %x: f32, %c: i1) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%0) in (%g) schedule #s {
    %a = tile.alloc at 0 : !a
    %b = tile.alloc at 8192 : !b
    %t = tile.splat %x : !acc
    %f, %token = tile.async_gemm %a, %b, %t trans_b inst #i : !a, !b, !acc -> !f
    // expected-error@+1 {{[E0505] two sums under way would need the same registers}}
    %h, %token2 = tile.async_gemm %a, %b, %t trans_b inst #i : !a, !b, !acc -> !f
    %r = scf.if %c -> (!f) {
      scf.yield %f : !f
    } else {
      scf.yield %h : !f
    }
  }
  tile.yield
}
