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
