tile.kernel @plain(%g: index, %A: !tile.view<?x?xf32>, %B: !tile.view<?x?xf32>, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc : !tile.buffer<128x32xf32>
    %w = tile.alloc : !tile.buffer<32x256xf32>
    %sum = tile.splat %zero : !tile.tile<128x256xf32>
    tile.copy %A[%b, %c0] to %a[] : !tile.view<?x?xf32>, !tile.buffer<128x32xf32>
    tile.copy %B[%b, %c0] to %w[] : !tile.view<?x?xf32>, !tile.buffer<32x256xf32>
    %r = tile.gemm %a, %w, %sum precision ieee : !tile.buffer<128x32xf32>, !tile.buffer<32x256xf32>, !tile.tile<128x256xf32>
    tile.store %r to %C[%c0, %b] : !tile.tile<128x256xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}
