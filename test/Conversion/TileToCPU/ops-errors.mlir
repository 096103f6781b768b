// RUN: tile-opt --split-input-file --verify-diagnostics --convert-tile-to-cpu %s

tile.kernel @prints(%g: index, %x: f32) attributes {tile.device, tile.target = #tile.target<"x86-64-v3">} {
  tile.launch (%b) in (%g) {
    // expected-error @+1 {{[E0540] `print` is not supported on the CPU; write the value into a tensor}}
    tile.print "x", %x : f32
  }
  tile.yield
}

// -----

tile.kernel @threads(%g: index) attributes {tile.device, tile.target = #tile.target<"x86-64-v3">} {
  tile.launch (%b) in (%g) {
    // expected-error @+1 {{[E0540] `with Threads()` is not supported on the CPU: a block is one thread there; use `Parallel`}}
    tile.threads {
    }
  }
  tile.yield
}

// -----

tile.kernel @atomic(%g: index, %T: !tile.view<?xf8E5M2>, %v: f8E5M2) attributes {tile.device, tile.target = #tile.target<"x86-64-v3">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{[E0540] atomics on 'f8E5M2' are not supported on the CPU; use a wider type}}
    %p = tile.elem_atomic add %v to %T[%c0] : !tile.view<?xf8E5M2>
  }
  tile.yield
}

// -----

// Register blocks are whole vectors.
tile.kernel @block(%g: index, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"x86-64-v3">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %t = tile.load %C[%c0, %c0] : !tile.view<?x?xf32> -> !tile.tile<16x16xf32>
    // expected-error @+1 {{[E0402] register block 6x12 is no multiple of 8 lanes}}
    %r = tile.gemm %t, %t, %t inst <kind = cpu_fma, shape = [6, 12, 1]> : !tile.tile<16x16xf32>, !tile.tile<16x16xf32>, !tile.tile<16x16xf32>
    tile.store %r to %C[%c0, %c0] : !tile.tile<16x16xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}
