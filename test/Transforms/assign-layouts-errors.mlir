// RUN: tile-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tile-select-schedule,tile.kernel(tile-assign-layouts))"

// A million elements in 128 threads.
tile.kernel @large(%g: index, %X: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    // expected-error-re @+2 {{{{.*}}[E0406] the tile (1024, 1024) float32 takes {{[0-9]+}} registers of each thread; use smaller tiles or more threads}}
    // expected-note @+1 {{at most 512 fit}}
    %x = tile.load %X[%b, %c0] : !tile.view<?x?xf32> -> !tile.tile<1024x1024xf32>
    tile.store %x to %X[%c0, %b] : !tile.tile<1024x1024xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}

// -----

// Narrow elements share a register.
tile.kernel @narrow(%g: index, %X: !tile.view<?x?xi8>) attributes {tile.device, tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%b, %c0] : !tile.view<?x?xi8> -> !tile.tile<128x512xi8>
    tile.store %x to %X[%c0, %b] : !tile.tile<128x512xi8>, !tile.view<?x?xi8>
  }
  tile.yield
}

// -----

// They are code of their own each, though.
tile.kernel @narrow_and_many(%g: index, %X: !tile.view<?x?xf16>) attributes {tile.device, tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{[E0406] the tile (512, 512) float16 puts 1024 elements into each thread, at most 512 are supported; use smaller tiles or more threads}}
    %x = tile.load %X[%b, %c0] : !tile.view<?x?xf16> -> !tile.tile<512x512xf16>
    tile.store %x to %X[%c0, %b] : !tile.tile<512x512xf16>, !tile.view<?x?xf16>
  }
  tile.yield
}

// -----

// The sums of 256 x 256 are the whole register file of a multiprocessor, however many threads share them.
tile.kernel @sums(%g: index, %A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc : !tile.buffer<256x32xf16>
    %w = tile.alloc : !tile.buffer<32x256xf16>
    %sum = tile.splat %zero : !tile.tile<256x256xf32>
    tile.copy %A[%b, %c0] to %a[] : !tile.view<?x?xf16>, !tile.buffer<256x32xf16>
    tile.copy %B[%b, %c0] to %w[] : !tile.view<?x?xf16>, !tile.buffer<32x256xf16>
    // expected-error @+2 {{[E0406] the product (256, 256) float32 takes 256 registers of each thread; use smaller tiles or more threads}}
    // expected-note @+1 {{at most 254 fit}}
    %r = tile.gemm %a, %w, %sum precision ieee : !tile.buffer<256x32xf16>, !tile.buffer<32x256xf16>, !tile.tile<256x256xf32>
    tile.store %r to %C[%c0, %b] : !tile.tile<256x256xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}
