// RUN: tile-opt %s -split-input-file -verify-diagnostics

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{offset is at least 0, got -16}}
    %x = tile.alloc at -16 : !tile.buffer<4xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{needs offsets, one for each axis of '!tile.buffer<64x32xf16>'}}
    %x = "tile.subbuffer"(%buf) <{extents = array<i64: 64, 32>}> : (!tile.buffer<64x32xf16>) -> !tile.buffer<64x32xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{element types differ: 'f16' in '!tile.buffer<64x32xf16>' and 'f32' in '!tile.buffer<1x32xf32>'}}
    %x = tile.subbuffer %buf[%c0, %c0] extents [1, 32] : !tile.buffer<64x32xf16> -> !tile.buffer<1x32xf32>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{source region is 1x32, the other side has 64}}
    %x = tile.subbuffer %buf[%c0, %c0] extents [1, 32] : !tile.buffer<64x32xf16> -> !tile.buffer<64xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{extents 1x64 do not fit into source '!tile.buffer<64x32xf16>'}}
    %x = tile.subbuffer %buf[%c0, %c0] extents [1, 64] : !tile.buffer<64x32xf16> -> !tile.buffer<64xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{changes the number of bits: 32768 in '!tile.buffer<64x32xf16>', 65536 in '!tile.buffer<64x32xf32>'}}
    %x = tile.recast_buffer %buf : !tile.buffer<64x32xf16> -> !tile.buffer<64x32xf32>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{element types differ: 'f16' in '!tile.view<?x?xf16>' and 'f32' in '!tile.tile<4x4xf32>'}}
    %x = tile.load %A[%c0, %c0] : !tile.view<?x?xf16> -> !tile.tile<4x4xf32>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{source is a view and needs offsets, one for each of its 2 axes}}
    %x = tile.load %A : !tile.view<?x?xf16> -> !tile.tile<4x4xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{expected 2 offsets for source '!tile.view<?x?xf16>', got 1}}
    %x = tile.load %A[%c0] : !tile.view<?x?xf16> -> !tile.tile<4x4xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{expected 2 extents for source '!tile.view<?x?xf16>', got 1}}
    %x = tile.load %A[%c0, %c0] extents [4] : !tile.view<?x?xf16> -> !tile.tile<4xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{source region is 64x32, the other side has 64x16}}
    %x = tile.load %buf : !tile.buffer<64x32xf16> -> !tile.tile<64x16xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{a region of 4x4x4 does not fit into source '!tile.view<?x?xf16>'}}
    %x = tile.load %A[%c0, %c0] : !tile.view<?x?xf16> -> !tile.tile<4x4x4xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{expected 2 inbounds flags for '!tile.view<?x?xf16>', got 1}}
    %x = tile.load %A[%c0, %c0] inbounds [true] : !tile.view<?x?xf16> -> !tile.tile<4x4xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    %u2 = tile.undef : !tile.tile<64xf16>
    // expected-error @+1 {{destination region is 64x32, the other side has 64}}
    tile.store %u2 to %buf : !tile.tile<64xf16>, !tile.buffer<64x32xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{element types differ: 'f16' in '!tile.tile<64x32xf16>' and 'f32' in '!tile.view<?xf32>'}}
    tile.store %t to %F[%c0] : !tile.tile<64x32xf16>, !tile.view<?xf32>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{needs extents: neither '!tile.view<?x?xf16>' nor '!tile.buffer<64x32xf16>' is a whole buffer}}
    tile.copy %A[%c0, %c0] to %buf[%c0, %c0] : !tile.view<?x?xf16>, !tile.buffer<64x32xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{im2col reads an NHWC view at two offsets, got '!tile.view<?x?xf16>' at 2}}
    tile.copy %A[%c0, %c0] to %buf im2col <kernel = 1, stride = 1, dilation = 1, pad = 0> : !tile.view<?x?xf16>, !tile.buffer<64x32xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{im2col does not transpose}}
    tile.copy %A[%c0, %c0] to %buf transpose im2col <kernel = 1, stride = 1, dilation = 1, pad = 0> : !tile.view<?x?xf16>, !tile.buffer<64x32xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{a region of 64x32 does not fit into source '!tile.view<?xf32>'}}
    tile.copy %F[%c0] to %buf : !tile.view<?xf32>, !tile.buffer<64x32xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{'cas' works on single elements, use elem_atomic}}
    tile.atomic cas %u to %F[%c0] : !tile.tile<64xf32>, !tile.view<?xf32>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{'absmax' is not an atomic operation}}
    tile.atomic absmax %u to %F[%c0] : !tile.tile<64xf32>, !tile.view<?xf32>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{'xor' needs integers, got 'f32'}}
    tile.atomic xor %u to %F[%c0] : !tile.tile<64xf32>, !tile.view<?xf32>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{expected 1 indices into '!tile.view<?xf32>', got 2}}
    %x = tile.elem_load %F[%c0, %c0] : !tile.view<?xf32>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{expected 1 inbounds flags for '!tile.view<?xf32>', got 2}}
    %x = tile.elem_load %F[%c0] inbounds [true, true] : !tile.view<?xf32>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    %h = arith.constant 1.0 : f16
    // expected-error @+1 {{expected 2 indices into '!tile.view<?x?xf16>', got 1}}
    tile.elem_store %h to %A[%c0] : !tile.view<?x?xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{'compare' belongs to cas and to nothing else}}
    %x = tile.elem_atomic add %one compare %one : i32 to %I[%c0] : !tile.view<?xi32>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{'compare' belongs to cas and to nothing else}}
    %x = tile.elem_atomic cas %one to %I[%c0] : !tile.view<?xi32>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %I: !tile.view<?xi32>, %S: !tile.view<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %t = tile.undef : !tile.tile<64x32xf16>
    %u = tile.undef : !tile.tile<64xf32>
    %v = arith.constant 1.0 : f32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{compares 'f32' with elements of type 'i32'}}
    %x = tile.elem_atomic cas %one compare %v : f32 to %I[%c0] : !tile.view<?xi32>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %p = tile.alloc : !tile.buffer<32x16xbf16>
    %h = tile.alloc : !tile.buffer<32x16xf16>
    // expected-error @+1 {{splits f32, got '!tile.view<?x?xf16>'}}
    tile.split_copy %A[%c0, %c0] to %p, %p : !tile.view<?x?xf16>, !tile.buffer<32x16xbf16>, !tile.buffer<32x16xbf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %p = tile.alloc : !tile.buffer<32x16xbf16>
    %h = tile.alloc : !tile.buffer<32x16xf16>
    // expected-error @+1 {{planes are bf16 buffers of one type, got '!tile.buffer<32x16xf16>'}}
    tile.split_copy %F[%c0, %c0] to %p, %h : !tile.view<?x?xf32>, !tile.buffer<32x16xbf16>, !tile.buffer<32x16xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %p = tile.alloc : !tile.buffer<32x16xbf16>
    %h = tile.alloc : !tile.buffer<32x16xf16>
    // expected-error @+1 {{expected 2 offsets for source '!tile.view<?x?xf32>', got 1}}
    tile.split_copy %F[%c0] to %p : !tile.view<?x?xf32>, !tile.buffer<32x16xbf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %p = tile.alloc : !tile.buffer<32x16xbf16>
    %h = tile.alloc : !tile.buffer<32x16xf16>
    // expected-error @+1 {{has no plane to write}}
    "tile.split_copy"(%F, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 2, 0>}> : (!tile.view<?x?xf32>, index, index) -> ()
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %N: !tile.view<?x?xi1>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %w = tile.alloc : !tile.buffer<64x40xf16>
    %w4 = tile.alloc : !tile.buffer<64x36xf16>
    %wb = tile.alloc : !tile.buffer<64x40xbf16>
    %wf = tile.alloc : !tile.buffer<64xf32>
    %wi = tile.alloc : !tile.buffer<64x34xi1>
    // expected-error @+1 {{words fill a whole buffer as they are}}
    tile.copy %A[%b, %c0] to %w[%c0, %c0] extents [64, 32] engine words : !tile.view<?x?xf16>, !tile.buffer<64x40xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %N: !tile.view<?x?xi1>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %w = tile.alloc : !tile.buffer<64x40xf16>
    %w4 = tile.alloc : !tile.buffer<64x36xf16>
    %wb = tile.alloc : !tile.buffer<64x40xbf16>
    %wf = tile.alloc : !tile.buffer<64xf32>
    %wi = tile.alloc : !tile.buffer<64x34xi1>
    // expected-error @+1 {{words go from a view to a buffer, got '!tile.buffer<64x32xf16>' and '!tile.buffer<64x40xf16>'}}
    tile.copy %buf to %w extents [64, 32] engine words : !tile.buffer<64x32xf16>, !tile.buffer<64x40xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %N: !tile.view<?x?xi1>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %w = tile.alloc : !tile.buffer<64x40xf16>
    %w4 = tile.alloc : !tile.buffer<64x36xf16>
    %wb = tile.alloc : !tile.buffer<64x40xbf16>
    %wf = tile.alloc : !tile.buffer<64xf32>
    %wi = tile.alloc : !tile.buffer<64x34xi1>
    // expected-error @+1 {{element types differ: 'bf16' in '!tile.buffer<64x40xbf16>' and 'f16' in '!tile.view<?x?xf16>'}}
    tile.copy %A[%b, %c0] to %wb extents [64, 32] engine words : !tile.view<?x?xf16>, !tile.buffer<64x40xbf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %N: !tile.view<?x?xi1>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %w = tile.alloc : !tile.buffer<64x40xf16>
    %w4 = tile.alloc : !tile.buffer<64x36xf16>
    %wb = tile.alloc : !tile.buffer<64x40xbf16>
    %wf = tile.alloc : !tile.buffer<64xf32>
    %wi = tile.alloc : !tile.buffer<64x34xi1>
    // expected-error @+1 {{words of 16 bytes hold elements of 8, 16, 32 or 64 bits, got 'i1'}}
    tile.copy %N[%b, %c0] to %wi extents [64, 32] engine words : !tile.view<?x?xi1>, !tile.buffer<64x34xi1>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %N: !tile.view<?x?xi1>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %w = tile.alloc : !tile.buffer<64x40xf16>
    %w4 = tile.alloc : !tile.buffer<64x36xf16>
    %wb = tile.alloc : !tile.buffer<64x40xbf16>
    %wf = tile.alloc : !tile.buffer<64xf32>
    %wi = tile.alloc : !tile.buffer<64x34xi1>
    // expected-error @+1 {{words are taken from rows of neighbours, got '!tile.view<?xf32>'}}
    tile.copy %F[%b] to %wf extents [64] engine words : !tile.view<?xf32>, !tile.buffer<64xf32>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %N: !tile.view<?x?xi1>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %w = tile.alloc : !tile.buffer<64x40xf16>
    %w4 = tile.alloc : !tile.buffer<64x36xf16>
    %wb = tile.alloc : !tile.buffer<64x40xbf16>
    %wf = tile.alloc : !tile.buffer<64xf32>
    %wi = tile.alloc : !tile.buffer<64x34xi1>
    // expected-error @+1 {{the words around 64x32 elements of 'f16' take a buffer of 64x40, a multiple of 8 columns, got '!tile.buffer<64x32xf16>'}}
    tile.copy %A[%b, %c0] to %buf extents [64, 32] engine words : !tile.view<?x?xf16>, !tile.buffer<64x32xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %N: !tile.view<?x?xi1>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %w = tile.alloc : !tile.buffer<64x40xf16>
    %w4 = tile.alloc : !tile.buffer<64x36xf16>
    %wb = tile.alloc : !tile.buffer<64x40xbf16>
    %wf = tile.alloc : !tile.buffer<64xf32>
    %wi = tile.alloc : !tile.buffer<64x34xi1>
    // expected-error @+1 {{the words around 64x28 elements of 'f16' take a buffer of 64x36, a multiple of 8 columns, got '!tile.buffer<64x36xf16>'}}
    tile.copy %A[%b, %c0] to %w4 extents [64, 28] engine words : !tile.view<?x?xf16>, !tile.buffer<64x36xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %N: !tile.view<?x?xi1>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %w = tile.alloc : !tile.buffer<64x40xf16>
    %w4 = tile.alloc : !tile.buffer<64x36xf16>
    %wb = tile.alloc : !tile.buffer<64x40xbf16>
    %wf = tile.alloc : !tile.buffer<64xf32>
    %wi = tile.alloc : !tile.buffer<64x34xi1>
    // expected-error @+1 {{the region is a tile of 32x64, got '!tile.tile<64x32xf16>'}}
    %x = tile.realign %w of %A[%b, %c0] extents [64, 32] transpose : !tile.buffer<64x40xf16>, !tile.view<?x?xf16> -> !tile.tile<64x32xf16>
  }
  tile.yield
}

// -----

tile.kernel @k(%A: !tile.view<?x?xf16>, %F: !tile.view<?xf32>, %N: !tile.view<?x?xi1>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%n) {
    %buf = tile.alloc : !tile.buffer<64x32xf16>
    %w = tile.alloc : !tile.buffer<64x40xf16>
    %w4 = tile.alloc : !tile.buffer<64x36xf16>
    %wb = tile.alloc : !tile.buffer<64x40xbf16>
    %wf = tile.alloc : !tile.buffer<64xf32>
    %wi = tile.alloc : !tile.buffer<64x34xi1>
    // expected-error @+1 {{element types differ: 'f16' in '!tile.buffer<64x40xf16>' and 'bf16' in '!tile.tile<64x32xbf16>'}}
    %x = tile.realign %w of %A[%b, %c0] extents [64, 32] : !tile.buffer<64x40xf16>, !tile.view<?x?xf16> -> !tile.tile<64x32xbf16>
  }
  tile.yield
}
