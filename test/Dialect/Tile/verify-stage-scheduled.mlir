// RUN: tile-opt %s --tile-verify-stage=stage=scheduled -split-input-file -verify-diagnostics

tile.kernel @schedule(%n: index) attributes {tile.target = #tile.target<"sm_80">} {
  // expected-error @+1 {{launch without a schedule after select-schedule}}
  tile.launch (%b) in (%n) {
  }
  tile.yield
}

// -----

// expected-error @+1 {{kernel without a target after select-schedule}}
tile.kernel @target(%n: index) {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
  }
  tile.yield
}

// -----

tile.kernel @inst(%n: index) attributes {tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    %x = tile.undef : !tile.tile<64x64xf32>
    // expected-error @+1 {{product without an instruction after select-schedule}}
    %y = tile.gemm %x, %x, %x : !tile.tile<64x64xf32>, !tile.tile<64x64xf32>, !tile.tile<64x64xf32>
  }
  tile.yield
}

// -----

tile.kernel @engine(%X: !tile.view<?xf32>, %n: index) attributes {tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    %a = tile.alloc : !tile.buffer<64xf32>
    // expected-error @+1 {{copy without an engine after select-schedule}}
    tile.copy %X[%b] to %a : !tile.view<?xf32>, !tile.buffer<64xf32>
  }
  tile.yield
}

// -----

tile.kernel @asynchronous(%n: index) attributes {tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%n) schedule #tile.schedule<threads = 128> {
    // expected-error @+1 {{belongs to stage async}}
    %p = tile.cursor : !tile.cursor<3>
  }
  tile.yield
}

// -----

// The host part is done with the stages after Tile.
tile.kernel @host(%n: index) {
  tile.launch_call @host.0(%n) args()
  tile.yield
}
tile.kernel @host.0(%gx: index) attributes {tile.device, tile.target = #tile.target<"sm_80">} {
  tile.launch (%b) in (%gx) schedule #tile.schedule<threads = 128> {
  }
  tile.yield
}
