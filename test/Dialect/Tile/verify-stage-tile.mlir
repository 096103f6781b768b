// RUN: tile-opt %s --tile-verify-stage=stage=tile -split-input-file -verify-diagnostics

tile.kernel @asynchronous(%n: index) {
  tile.launch (%b) in (%n) {
    // expected-error @+1 {{belongs to stage async}}
    tile.barrier block
  }
  tile.yield
}

// -----

// A barrier between the user's threads is the user's.
tile.kernel @threads(%n: index) {
  tile.launch (%b) in (%n) {
    tile.threads {
      tile.barrier block
    }
  }
  tile.yield
}

// -----

tile.kernel @dialect(%n: index) {
  tile.launch (%b) in (%n) {
    // expected-error @+1 {{stage tile knows tile, arith, math and scf only}}
    %m = memref.alloca() : memref<4xf32>
  }
  tile.yield
}

// -----

tile.kernel @layout(%n: index) {
  tile.launch (%b) in (%n) {
    // expected-error @+1 {{there are no layouts before assign-layouts, got '!tile.tile<4xf32, #tile.layout<"reg 4:d0 -> 4">>'}}
    %m = tile.undef : !tile.tile<4xf32, #tile.layout<"reg 4:d0 -> 4">>
  }
  tile.yield
}

// -----

tile.kernel @never_written(%n: index) {
  tile.launch (%b) in (%n) {
    // expected-note @+1 {{allocated here}}
    %a = tile.alloc : !tile.buffer<4x4xf32>
    %s = tile.subbuffer %a[%b, %b] extents [1, 4] : !tile.buffer<4x4xf32> -> !tile.buffer<4xf32>
    // expected-warning @+1 {{[W0202] this reads shared memory that nothing has written yet}}
    %t = tile.load %s : !tile.buffer<4xf32> -> !tile.tile<4xf32>
  }
  tile.yield
}

// -----

tile.kernel @written_later(%n: index) {
  tile.launch (%b) in (%n) {
    // expected-note @+1 {{allocated here}}
    %a = tile.alloc : !tile.buffer<4xf32>
    // expected-warning @+1 {{[W0202] this reads shared memory that nothing has written yet}}
    %t = tile.load %a : !tile.buffer<4xf32> -> !tile.tile<4xf32>
    tile.store %t to %a : !tile.tile<4xf32>, !tile.buffer<4xf32>
  }
  tile.yield
}

// -----

// A write of an earlier trip, a write under a condition, a write through an alias: all may come before the read.
tile.kernel @may_be_written(%X: !tile.view<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !tile.buffer<4xf32>
    scf.for %i = %c0 to %n step %c1 {
      %later = arith.cmpi ugt, %i, %c0 : index
      scf.if %later {
        %t = tile.load %a : !tile.buffer<4xf32> -> !tile.tile<4xf32>
        tile.store %t to %X[%b] : !tile.tile<4xf32>, !tile.view<?xf32>
      }
      tile.copy %X[%i] to %a : !tile.view<?xf32>, !tile.buffer<4xf32>
    }
    %c = tile.alloc : !tile.buffer<4x4xf32>
    %s = tile.subbuffer %c[%c0, %c0] extents [1, 4] : !tile.buffer<4x4xf32> -> !tile.buffer<4xf32>
    tile.copy %X[%b] to %s : !tile.view<?xf32>, !tile.buffer<4xf32>
    %u = tile.load %c : !tile.buffer<4x4xf32> -> !tile.tile<4x4xf32>
    tile.print "", %u : !tile.tile<4x4xf32>
  }
  tile.yield
}
