// RUN: tile-opt %s --tile-verify-stage=stage=laid-out -split-input-file -verify-diagnostics

tile.kernel @tile(%n: index) attributes {tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    // expected-error @+1 {{tile without layout after assign-layouts: '!tile.tile<4xf32>'}}
    %x = tile.undef : !tile.tile<4xf32>
  }
  tile.yield
}

// -----

tile.kernel @buffer(%n: index) attributes {tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    // expected-error @+1 {{buffer without layout after assign-layouts: '!tile.buffer<4xf32>'}}
    %x = tile.alloc : !tile.buffer<4xf32>
  }
  tile.yield
}

// -----

// Projected, permuted and shifted operands that are where the iteration needs them.
#it = #tile.layout<"reg 4:d1 | lane 8:4d1 4:d0 | warp 4:4d0 -> 16x32">
#row = #tile.layout<"lane 8:0 4:d0 | warp 4:4d0 -> 16">
#col = #tile.layout<"reg 4:d0 | lane 8:4d0 4:0 | warp 4:0 -> 32">
#tr = #tile.layout<"reg 4:d0 | lane 8:4d0 4:d1 | warp 4:4d1 -> 32x16">
#everywhere = #tile.layout<"reg 32:d0 | lane 32:0 | warp 4:0 -> 32">
#wide = #tile.layout<"reg 4:d1 2:32d1 | lane 8:4d1 4:d0 | warp 4:4d0 -> 16x64">
tile.kernel @maps(%n: index) attributes {tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    %r = tile.undef : !tile.tile<16xf32, #row>
    %c = tile.undef : !tile.tile<32xf32, #col>
    %t = tile.undef : !tile.tile<32x16xf32, #tr>
    %e = tile.undef : !tile.tile<32xf32, #everywhere>
    %w = tile.undef : !tile.tile<16x64xf32, #wide>
    %o = tile.undef : !tile.tile<16x32xf32, #it>
    %y = tile.generic [16, 32] ins(%r, %c, %t, %e, %w : !tile.tile<16xf32, #row>, !tile.tile<32xf32, #col>, !tile.tile<32x16xf32, #tr>, !tile.tile<32xf32, #everywhere>, !tile.tile<16x64xf32, #wide>)
        outs(%o : !tile.tile<16x32xf32, #it>)
        maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j + 32)>, affine_map<(i, j) -> (i, j)>] layout #it {
    ^bb0(%i: index, %j: index, %0: f32, %1: f32, %2: f32, %3: f32, %4: f32, %old: f32):
      tile.yield %0 : f32
    } -> !tile.tile<16x32xf32, #it>
  }
  tile.yield
}

// -----

// An operand in another place.
#it = #tile.layout<"reg 4:d1 | lane 8:4d1 4:d0 | warp 4:4d0 -> 16x32">
#row = #tile.layout<"lane 16:d0 2:0 | warp 4:0 -> 16">
tile.kernel @elsewhere(%n: index) attributes {tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    %r = tile.undef : !tile.tile<16xf32, #row>
    %o = tile.undef : !tile.tile<16x32xf32, #it>
    // expected-error @+1 {{operand 0 in #tile.layout<"lane 16:d0 2:0 | warp 4:0 -> 16"> is not where the iteration in #tile.layout<"reg 4:d1 | lane 8:4d1 4:d0 | warp 4:4d0 -> 16x32"> needs it}}
    %y = tile.generic [16, 32] ins(%r : !tile.tile<16xf32, #row>) outs(%o : !tile.tile<16x32xf32, #it>)
        maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] layout #it {
    ^bb0(%i: index, %j: index, %0: f32, %old: f32):
      tile.yield %0 : f32
    } -> !tile.tile<16x32xf32, #it>
  }
  tile.yield
}

// -----

// A result that has copies the iteration does not compute.
#it = #tile.layout<"lane 32:d0 | warp 4:32d0 -> 128">
#out = #tile.layout<"reg 4:32d0 | lane 32:d0 | warp 4:0 -> 128">
tile.kernel @copies(%n: index) attributes {tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    %o = tile.undef : !tile.tile<128x1xf32, #tile.layout<"reg 4:32d0 | lane 32:d0 | warp 4:0 -> 128x1">>
    // expected-error @+1 {{operand 0 in #tile.layout<"reg 4:32d0 | lane 32:d0 | warp 4:0 -> 128x1"> is not where the iteration}}
    %y = tile.generic [128] outs(%o : !tile.tile<128x1xf32, #tile.layout<"reg 4:32d0 | lane 32:d0 | warp 4:0 -> 128x1">>)
        maps [affine_map<(i) -> (i, 0)>] layout #it {
    ^bb0(%i: index, %old: f32):
      tile.yield %old : f32
    } -> !tile.tile<128x1xf32, #tile.layout<"reg 4:32d0 | lane 32:d0 | warp 4:0 -> 128x1">>
  }
  tile.yield
}

// -----

#it = #tile.layout<"lane 32:d0 | warp 4:32d0 -> 128">
tile.kernel @generic_without(%n: index) attributes {tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    %o = tile.undef : !tile.tile<128xf32, #it>
    // expected-error @+1 {{has no layout of its own}}
    %y = tile.generic [128] outs(%o : !tile.tile<128xf32, #it>) maps [affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %old: f32):
      tile.yield %old : f32
    } -> !tile.tile<128xf32, #it>
  }
  tile.yield
}

// -----

#acc = #tile.layout<"reg 64:d1 | lane 32:d0 | warp 2:32d0 2:0 -> 64x64">
#s = #tile.layout<"d0 8:64^8 8:512 | d1 64:1 -> 4096^64">
tile.kernel @accumulator(%n: index) attributes {tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    %a = tile.alloc : !tile.buffer<64x64xf16, #s>
    %c = tile.undef : !tile.tile<64x64xf32, #acc>
    // expected-error @+1 {{accumulator in #tile.layout<"reg 64:d1 | lane 32:d0 | warp 2:32d0 2:0 -> 64x64"> does not consist of the fragments of}}
    %d = tile.gemm %a, %a, %c inst <kind = wgmma, shape = [64, 64, 16]> : !tile.buffer<64x64xf16, #s>, !tile.buffer<64x64xf16, #s>, !tile.tile<64x64xf32, #acc>
  }
  tile.yield
}

// -----

#acc = #tile.layout<"reg 2:d1 2:8d0 8:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 -> 64x64">
#s = #tile.layout<"d0 64:72 | d1 64:1 -> 4608">
tile.kernel @descriptor(%n: index) attributes {tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    %a = tile.alloc : !tile.buffer<64x64xf16, #s>
    %c = tile.undef : !tile.tile<64x64xf32, #acc>
    // expected-error @+1 {{operand A in #tile.layout<"d0 64:72 | d1 64:1 -> 4608"> has no matrix descriptor}}
    %d = tile.gemm %a, %a, %c inst <kind = wgmma, shape = [64, 64, 16]> : !tile.buffer<64x64xf16, #s>, !tile.buffer<64x64xf16, #s>, !tile.tile<64x64xf32, #acc>
  }
  tile.yield
}

// -----

// The second instruction begins at column 96, in the middle of a box of 64.
#acc = #tile.layout<"reg 2:d1 2:8d0 12:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 | group 2:96d1 -> 64x192">
#s = #tile.layout<"d0 8:64^8 8:512 | d1 64:1 -> 4096^64">
#boxes = #tile.layout<"d0 8:64^8 8:512 | d1 64:1 3:4096 -> 12288^64">
tile.kernel @inside_of_a_box(%n: index) attributes {tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 256, partition = [1, 2]> {
    %a = tile.alloc : !tile.buffer<64x64xf16, #s>
    %w = tile.alloc : !tile.buffer<64x192xf16, #boxes>
    %c = tile.undef : !tile.tile<64x192xf32, #acc>
    // expected-error-re @+1 {{operand B in {{.*}}: instructions of 96 begin inside of boxes of 64}}
    %d = tile.gemm %a, %w, %c inst <kind = wgmma, shape = [64, 96, 16]> : !tile.buffer<64x64xf16, #s>, !tile.buffer<64x192xf16, #boxes>, !tile.tile<64x192xf32, #acc>
  }
  tile.yield
}

// -----

#acc = #tile.layout<"reg 2:d1 2:8d0 8:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 -> 64x64">
tile.kernel @no_instruction(%n: index) attributes {tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    %a = tile.undef : !tile.tile<64x64xf16, #acc>
    %c = tile.undef : !tile.tile<64x64xf32, #acc>
    // expected-error @+1 {{is no instruction for operands of 'f16'}}
    %d = tile.gemm %a, %a, %c inst <kind = mma_sync, shape = [17, 8, 16]> : !tile.tile<64x64xf16, #acc>, !tile.tile<64x64xf16, #acc>, !tile.tile<64x64xf32, #acc>
  }
  tile.yield
}

// -----

#s = #tile.layout<"d0 64:72 | d1 64:1 -> 4608">
tile.kernel @box(%X: !tile.view<?x?xf16>, %n: index) attributes {tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    %a = tile.alloc : !tile.buffer<64x64xf16, #s>
    // expected-error @+1 {{no TMA box fills #tile.layout<"d0 64:72 | d1 64:1 -> 4608">}}
    tile.copy %X[%b, %b] to %a engine tma : !tile.view<?x?xf16>, !tile.buffer<64x64xf16, #s>
  }
  tile.yield
}

// -----

#s = #tile.layout<"d0 8:64^8 8:512 | d1 64:1 -> 4096^64">
tile.kernel @converting(%X: !tile.view<?x?xf32>, %n: index) attributes {tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    %a = tile.alloc : !tile.buffer<64x64xf16, #s>
    // expected-error @+1 {{engine tma does not convert 'f32' to 'f16'}}
    tile.copy %X[%b, %b] to %a engine tma : !tile.view<?x?xf32>, !tile.buffer<64x64xf16, #s>
  }
  tile.yield
}

// -----

#s = #tile.layout<"d0 8:64^8 8:512 | d1 64:1 -> 4096^64">
tile.kernel @strided(%X: !tile.view<?x?xf16, strides = [1, ?]>, %n: index) attributes {tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    %a = tile.alloc : !tile.buffer<64x64xf16, #s>
    // expected-error @+1 {{engine tma needs the innermost stride of '!tile.view<?x?xf16, strides = [1, ?]>' to be 1}}
    tile.copy %X[%b, %b] to %a engine tma : !tile.view<?x?xf16, strides = [1, ?]>, !tile.buffer<64x64xf16, #s>
  }
  tile.yield
}
