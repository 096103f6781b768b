// RUN: tile-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tile-select-schedule,tile.kernel(tile-assign-layouts))"

// A million elements in 128 threads.
tile.kernel @large(%g: index, %X: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    // expected-error-re @+1 {{{{.*}}[E0406] a tile of 1048576 elements takes {{[0-9]+}} registers of each thread, at most 512 fit; use smaller tiles or more threads}}
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
