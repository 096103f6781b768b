// RUN: tile-opt %s -split-input-file -verify-diagnostics

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{expected 2 indices into '!tile.tile<32x32xf32>', got 1}}
    %e = tile.extract %x[%c0] : !t
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{expected 2 indices into '!tile.tile<32x32xf32>', got 1}}
    %e = tile.insert %s into %x[%c0] : !t
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{needs both layouts, got '!tile.tile<32x32xf32>' and '!tile.tile<32x32xf32, #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">>'}}
    %e = tile.convert_layout %x : !t -> !tile.tile<32x32xf32, #frag>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{changes only the layout}}
    %e = tile.convert_layout %l : !tile.tile<32x32xf32, #frag> -> !tile.tile<32x32xf16, #frag>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{changes the number of bits: 32768 in '!tile.tile<32x32xf32>', 16384 in '!tile.tile<32x32xf16>'}}
    %e = tile.reshape %x : !t -> !tile.tile<32x32xf16>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{index elements have no bits to cast}}
    %e = tile.reshape %x : !t -> !tile.tile<16x32xindex>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    %y = tile.undef : !tile.tile<16x8xf32>
    %a = tile.undef : !tile.tile<16x16xf32>
    // expected-error @+1 {{expected (M, K) x (K, N) -> (M, N), got (16, 8) x (16, 8) -> (16, 16)}}
    %e = tile.gemm %y, %y, %a : !tile.tile<16x8xf32>, !tile.tile<16x8xf32>, !tile.tile<16x16xf32>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{operands are 2-D, got 32, 32x32 and 32x32}}
    %e = tile.gemm %v, %x, %x : !tile.tile<32xf32>, !t, !t
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    %h = tile.undef : !tile.tile<32x32xf16>
    // expected-error @+1 {{no product of 'f16' by 'f32' accumulates in 'f32'}}
    %e = tile.gemm %h, %x, %x : !tile.tile<32x32xf16>, !t, !t
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    %h = tile.undef : !tile.tile<32x32xf16>
    // expected-error @+1 {{no product of 'f32' by 'f32' accumulates in 'f16'}}
    %e = tile.gemm %x, %x, %h : !t, !t, !tile.tile<32x32xf16>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{expected 1 maps, got 2}}
    tile.generic [32, 32] ins(%x : !t) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %e: f32):
      tile.yield
    }
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{expected one combine per out, got 2 for 1}}
    %g = tile.generic [32, 32] outs(%x : !t) maps [affine_map<(i, j) -> (i, j)>] combine [#tile<combine add>, #tile<combine add>] {
    ^bb0(%i: index, %j: index, %e: f32):
      tile.yield %e : f32
    } -> !t
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{extents of the domain are at least 1, got 0}}
    tile.generic [32, 0] maps [] {
    ^bb0(%i: index, %j: index):
      tile.yield
    }
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{expected 3 block arguments, got 2}}
    tile.generic [32, 32] ins(%x : !t) maps [affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index):
      tile.yield
    }
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{the first 2 block arguments are indices, got 'i32'}}
    tile.generic [32, 32] ins(%x : !t) maps [affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: i32, %e: f32):
      tile.yield
    }
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{results have the types of outs}}
    %g = tile.generic [32, 32] outs(%x : !t) maps [affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %e: f32):
      tile.yield %e : f32
    } -> !tile.tile<32xf32>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{map 0 must have 2 dims and no symbols, got affine_map<(d0) -> (d0)>}}
    tile.generic [32, 32] ins(%v : !tile.tile<32xf32>) maps [affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %j: index, %e: f32):
      tile.yield
    }
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{map 0 has 1 results for '!tile.tile<32x32xf32>'}}
    tile.generic [32, 32] ins(%x : !t) maps [affine_map<(i, j) -> (i)>] {
    ^bb0(%i: index, %j: index, %e: f32):
      tile.yield
    }
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{block argument 2 must be 'f32', got 'f16'}}
    tile.generic [32, 32] ins(%x : !t) maps [affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %e: f16):
      tile.yield
    }
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{map 0 reaches 1..32 along axis 1 of '!tile.tile<32x32xf32>'}}
    tile.generic [32, 32] ins(%x : !t) maps [affine_map<(i, j) -> (i, j + 1)>] {
    ^bb0(%i: index, %j: index, %e: f32):
      tile.yield
    }
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{map 0 reaches -31..0 along axis 0 of '!tile.tile<32xf32>'}}
    tile.generic [32] ins(%v : !tile.tile<32xf32>) maps [affine_map<(i) -> (-i)>] {
    ^bb0(%i: index, %e: f32):
      tile.yield
    }
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{two iterations along axis 1 write one element of out 0 without combine}}
    %g = tile.generic [32, 32] ins(%x : !t) outs(%v : !tile.tile<32xf32>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>] {
    ^bb0(%i: index, %j: index, %e: f32, %old: f32):
      tile.yield %e : f32
    } -> !tile.tile<32xf32>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{operand 0 is in #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">, the iteration in #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">}}
    %g = tile.generic [32, 32] outs(%l : !tile.tile<32x32xf32, #frag>) maps [affine_map<(i, j) -> (i, j)>] layout #frag2 {
    ^bb0(%i: index, %j: index, %e: f32):
      tile.yield %e : f32
    } -> !tile.tile<32x32xf32, #frag>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{iteration layout covers 32 along axis 1, tile has 16}}
    tile.generic [32, 16] maps [] layout #frag {
    ^bb0(%i: index, %j: index):
      tile.yield
    }
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{must yield 1 values}}
    %g = tile.generic [32, 32] outs(%x : !t) maps [affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %e: f32):
      tile.yield
    } -> !t
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{yields 'f16' for out 0 of type '!tile.tile<32x32xf32>'}}
    %g = tile.generic [32, 32] outs(%x : !t) maps [affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %e: f32):
      %h = arith.truncf %e : f32 to f16
      tile.yield %h : f16
    } -> !t
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{axis 2 is out of range for '!tile.tile<32x32xf32>'}}
    %e = tile.reduce add %x axis 2 : !t -> !tile.tile<32xf32>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{expected a result of 32 ('!tile.tile<32x32xf32>' without axis 1), got '!tile.tile<16xf32>'}}
    %e = tile.reduce add %x axis 1 : !t -> !tile.tile<16xf32>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{'cas' does not combine along an axis}}
    %e = tile.reduce cas %x axis 1 : !t -> !tile.tile<32xf32>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{'and' needs integers, got 'f32'}}
    %e = tile.reduce and %x axis 1 : !t -> !tile.tile<32xf32>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{element types differ in kind: '!tile.tile<32x32xf32>' and '!tile.tile<32xi32>'}}
    %e = tile.reduce add %x axis 1 : !t -> !tile.tile<32xi32>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{result layout must be #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">, got #tile.layout<"lane 32:d0 | warp 4:0 -> 32">}}
    %e = tile.reduce add %l axis 1 : !tile.tile<32x32xf32, #frag> -> !tile.tile<32xf32, #tile.layout<"lane 32:d0 | warp 4:0 -> 32">>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{axis 1 is out of range for '!tile.tile<32xf32>'}}
    %e = tile.scan add %v axis 1 : !tile.tile<32xf32>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
#frag2 = #tile.layout<"reg 8:d0 | lane 4:8d0 8:d1 | warp 4:8d1 -> 32x32">
#rows = #tile.layout<"lane 4:0 8:d0 | warp 4:8d0 -> 32">
!t = !tile.tile<32x32xf32>
tile.kernel @k(%X: !tile.view<?x?xf32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %x = tile.undef : !t
    %v = tile.undef : !tile.tile<32xf32>
    %l = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{'none' does not combine along an axis}}
    %e = tile.scan none %v axis 0 : !tile.tile<32xf32>
  }
  tile.yield
}

// -----

tile.kernel @tile_op_in_generic(%n: index) {
  tile.launch (%b) in (%n) {
    tile.generic [32] maps [] {
    ^bb0(%i: index):
      // expected-error @+1 {{may not stand in a generic}}
      %u = tile.undef : !tile.tile<4xf32>
      tile.yield
    }
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
tile.kernel @k(%n: index) {
  tile.launch (%b) in (%n) {
    %x = tile.undef : !tile.tile<32x32xf32>
    // expected-error @+1 {{takes 16 elements from 24 on, out of 32}}
    %s = tile.slice %x at [24, 0] : !tile.tile<32x32xf32> -> !tile.tile<16x32xf32>
  }
  tile.yield
}

// -----

tile.kernel @k(%n: index) {
  tile.launch (%b) in (%n) {
    %x = tile.undef : !tile.tile<32x32xf32>
    // expected-error @+1 {{expected 2 offsets, got 1}}
    %s = tile.slice %x at [16] : !tile.tile<32x32xf32> -> !tile.tile<16x32xf32>
  }
  tile.yield
}

// -----

#frag = #tile.layout<"reg 8:d1 | lane 4:8d1 8:d0 | warp 4:8d0 -> 32x32">
tile.kernel @k(%n: index) {
  tile.launch (%b) in (%n) {
    %x = tile.undef : !tile.tile<32x32xf32, #frag>
    // expected-error @+1 {{changes only extents, got}}
    %s = tile.slice %x at [16, 0] : !tile.tile<32x32xf32, #frag> -> !tile.tile<16x32xf32>
  }
  tile.yield
}
