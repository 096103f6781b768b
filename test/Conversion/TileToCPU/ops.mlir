// Every kind of op of stage Tile, compiled and run; the reference is plain C (Inputs/ops.c).
// RUN: sh %S/Inputs/lower.sh %s 2 %t2.o | FileCheck --allow-empty --check-prefix=SYMBOLS %s
// RUN: %cc -O1 -std=gnu11 %S/Inputs/ops.c %t2.o -lm -o %t2
// RUN: %t2
// RUN: sh %S/Inputs/lower.sh %s 3 %t3.o | FileCheck --allow-empty --check-prefix=SYMBOLS %s
// RUN: %cc -O1 -std=gnu11 %S/Inputs/ops.c %t3.o -lm -o %t3
// RUN: %t3
// SYMBOLS-NOT: U {{[^m]}}
// SYMBOLS-NOT: U m{{[^e]}}

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
!v = !tile.view<?x?xf32>
!sv = !tile.view<?x?xf32, strides = [?, ?]>

// C(f64) = A^T B^T, one block of 40x24, K = 72 in steps of 8.
tile.kernel @gemm64(%g: index, %A: !tile.view<?x?xf64>, %B: !tile.view<?x?xf64>, %C: !tile.view<?x?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  %c8 = arith.constant 8 : index
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %K = tile.dim %A, 0 : !tile.view<?x?xf64>
    %nk = arith.ceildivui %K, %c8 : index
    %z = arith.constant 0.0 : f64
    %s = tile.splat %z : !tile.tile<40x24xf64>
    %a = tile.alloc : !tile.buffer<8x40xf64>
    %bb = tile.alloc : !tile.buffer<24x8xf64>
    %r = scf.for %k = %c0 to %nk step %c1 iter_args(%acc = %s) -> (!tile.tile<40x24xf64>) {
      %kk = arith.muli %k, %c8 : index
      tile.copy %A[%kk, %c0] to %a : !tile.view<?x?xf64>, !tile.buffer<8x40xf64>
      tile.copy %B[%c0, %kk] to %bb : !tile.view<?x?xf64>, !tile.buffer<24x8xf64>
      %n = tile.gemm %a, %bb, %acc trans_a trans_b : !tile.buffer<8x40xf64>, !tile.buffer<24x8xf64>, !tile.tile<40x24xf64>
      scf.yield %n : !tile.tile<40x24xf64>
    }
    tile.store %r to %C[%c0, %c0] : !tile.tile<40x24xf64>, !tile.view<?x?xf64>
  }
  tile.yield
}

// int8 x int8 (unsigned by signed), f16 accumulator from a tile operand, run-time clear.
tile.kernel @gemm8(%g: index, %clear: i1, %A: !tile.view<?x?xi8>, %B: !tile.view<?x?xi8>, %C: !tile.view<?x?xi32>, %H: !tile.view<?x?xf16>, %D: !tile.view<?x?xf16>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %a = tile.alloc : !tile.buffer<10x32xi8>
    %bb = tile.alloc : !tile.buffer<32x20xi8>
    tile.copy %A[%c0, %c0] to %a : !tile.view<?x?xi8>, !tile.buffer<10x32xi8>
    tile.copy %B[%c0, %c0] to %bb : !tile.view<?x?xi8>, !tile.buffer<32x20xi8>
    %old = tile.load %C[%c0, %c0] : !tile.view<?x?xi32> -> !tile.tile<10x20xi32>
    %r = tile.gemm %a, %bb, %old clear %clear {tile.a_unsigned} : !tile.buffer<10x32xi8>, !tile.buffer<32x20xi8>, !tile.tile<10x20xi32>
    tile.store %r to %C[%c0, %c0] : !tile.tile<10x20xi32>, !tile.view<?x?xi32>
    %h = tile.load %H[%c0, %c0] : !tile.view<?x?xf16> -> !tile.tile<16x16xf16>
    %one = arith.constant 1.0 : f16
    %acc = tile.splat %one : !tile.tile<16x16xf16>
    %d = tile.gemm %h, %h, %acc trans_b : !tile.tile<16x16xf16>, !tile.tile<16x16xf16>, !tile.tile<16x16xf16>
    tile.store %d to %D[%c0, %c0] : !tile.tile<16x16xf16>, !tile.view<?x?xf16>
  }
  tile.yield
}

// Any strides, offsets below zero, a safe value, transposition.
tile.kernel @copies(%g: index, %o: index, %X: !sv, %Y: !v, %Z: !v) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %s = tile.recast_view %X : !sv -> !tile.view<?x?xf32, strides = [?, ?], safe = 5.0 : f32>
    %m = tile.alloc : !tile.buffer<12x20xf32>
    tile.copy %s[%o, %o] to %m : !tile.view<?x?xf32, strides = [?, ?], safe = 5.0 : f32>, !tile.buffer<12x20xf32>
    tile.copy %m to %Y[%c0, %c0] : !tile.buffer<12x20xf32>, !v
    tile.copy %m to %Z[%c0, %c0] extents [20, 12] transpose : !tile.buffer<12x20xf32>, !v
  }
  tile.yield
}

// Reductions along both axes, scans, reshape, NaN.
tile.kernel @reduces(%g: index, %X: !v, %R: !v, %S: !v) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %x = tile.load %X[%c0, %c0] : !v -> !tile.tile<7x37xf32>
    %sum = tile.reduce add %x axis 1 : !tile.tile<7x37xf32> -> !tile.tile<7xf32>
    %max = tile.reduce max %x axis 1 : !tile.tile<7x37xf32> -> !tile.tile<7xf32>
    %num = tile.reduce maxnum %x axis 1 : !tile.tile<7x37xf32> -> !tile.tile<7xf32>
    %abs = tile.reduce absmax %x axis 1 : !tile.tile<7x37xf32> -> !tile.tile<7xf32>
    tile.store %sum to %R[%c0, %c0] extents [1, 7] : !tile.tile<7xf32>, !v
    tile.store %max to %R[%c1, %c0] extents [1, 7] : !tile.tile<7xf32>, !v
    tile.store %num to %R[%c2, %c0] extents [1, 7] : !tile.tile<7xf32>, !v
    tile.store %abs to %R[%c3, %c0] extents [1, 7] : !tile.tile<7xf32>, !v
    %cols = tile.reduce min %x axis 0 : !tile.tile<7x37xf32> -> !tile.tile<37xf32>
    tile.store %cols to %R[%c5, %c0] extents [1, 37] : !tile.tile<37xf32>, !v
    %scan = tile.scan add %x axis 1 reverse : !tile.tile<7x37xf32>
    %down = tile.scan add %x axis 0 : !tile.tile<7x37xf32>
    %c7 = arith.constant 7 : index
    %c14 = arith.constant 14 : index
    tile.store %scan to %S[%c0, %c0] : !tile.tile<7x37xf32>, !v
    tile.store %down to %S[%c7, %c0] : !tile.tile<7x37xf32>, !v
    %flat = tile.reshape %x : !tile.tile<7x37xf32> -> !tile.tile<37x7xf32>
    tile.store %flat to %S[%c14, %c0] : !tile.tile<37x7xf32>, !v
  }
  tile.yield
}

// Two tiles change places n times; a while loop doubles until it is large; a branch yields a tile.
tile.kernel @control(%g: index, %n: index, %X: !v, %Y: !v) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %p = tile.load %X[%c0, %c0] : !v -> !tile.tile<8x9xf32>
    %q = tile.load %X[%c8, %c0] : !v -> !tile.tile<8x9xf32>
    %u:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %p, %t = %q) -> (!tile.tile<8x9xf32>, !tile.tile<8x9xf32>) {
      scf.yield %t, %s : !tile.tile<8x9xf32>, !tile.tile<8x9xf32>
    }
    %limit = arith.constant 50.0 : f32
    %w = scf.while (%t = %u#0) : (!tile.tile<8x9xf32>) -> !tile.tile<8x9xf32> {
      %e = tile.extract %t[%c1, %c1] : !tile.tile<8x9xf32>
      %less = arith.cmpf olt, %e, %limit : f32
      scf.condition(%less) %t : !tile.tile<8x9xf32>
    } do {
    ^bb0(%t: !tile.tile<8x9xf32>):
      %d = tile.generic [8, 9] outs(%t : !tile.tile<8x9xf32>) maps [#id] {
      ^bb0(%i: index, %j: index, %e: f32):
        %s = arith.addf %e, %e : f32
        tile.yield %s : f32
      } -> !tile.tile<8x9xf32>
      scf.yield %d : !tile.tile<8x9xf32>
    }
    %odd = arith.cmpi eq, %n, %c1 : index
    %r = scf.if %odd -> (!tile.tile<8x9xf32>) {
      %one = arith.constant 1.0 : f32
      %k = tile.insert %one into %w[%c0, %c0] : !tile.tile<8x9xf32>
      scf.yield %k : !tile.tile<8x9xf32>
    } else {
      scf.yield %u#1 : !tile.tile<8x9xf32>
    }
    tile.store %r to %Y[%c0, %c0] : !tile.tile<8x9xf32>, !v
    tile.store %w to %Y[%c8, %c0] : !tile.tile<8x9xf32>, !v
  }
  tile.yield
}

// Scatter, guarded gather, atomics, a reducer, a dynamic extent, an inner loop.
tile.kernel @generics(%g: index, %n: index, %X: !tile.view<?xf32>, %I: !tile.view<?xi32>, %Y: !tile.view<?xf32>, %T: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    tile.generic [%n] ins(%X, %I : !tile.view<?xf32>, !tile.view<?xi32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %at: i32):
      %to = arith.index_cast %at : i32 to index
      %z = arith.constant 0 : i32
      %ok = arith.cmpi sge, %at, %z : i32
      scf.if %ok {
        %y = tile.elem_load %X[%to] : !tile.view<?xf32>
        %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %y) -> (f32) {
          %m = arith.addf %a, %x : f32
          scf.yield %m : f32
        }
        tile.elem_store %s to %Y[%to] : !tile.view<?xf32>
      }
      tile.yield
    }
    tile.generic [%n] ins(%X : !tile.view<?xf32>) maps [affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32):
      %p = tile.elem_atomic add %x to %T[%c0] : !tile.view<?xf32>
      %q = tile.elem_atomic max %x to %T[%c1] : !tile.view<?xf32>
      tile.yield
    }
    %init = tile.splat %zero : !tile.tile<1xf32>
    %sum = tile.generic [%n] ins(%X : !tile.view<?xf32>) outs(%init : !tile.tile<1xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (0)>] combine [#tile<combine add>] {
    ^bb0(%i: index, %x: f32, %old: f32):
      tile.yield %x : f32
    } -> !tile.tile<1xf32>
    %c2 = arith.constant 2 : index
    tile.store %sum to %T[%c2] : !tile.tile<1xf32>, !tile.view<?xf32>
  }
  tile.yield
}

// 8-bit floats there and back; an im2col.
tile.kernel @odd(%g: index, %X: !v, %E: !tile.view<?x?xf8E4M3FN>, %F: !tile.view<?x?xf8E5M2>, %Y: !v, %Z: !v, %N: !tile.view<?x?x?x?xf32>, %C: !v) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    tile.copy %X[%c0, %c0] to %E[%c0, %c0] extents [4, 50] : !v, !tile.view<?x?xf8E4M3FN>
    tile.copy %E[%c0, %c0] to %Y[%c0, %c0] extents [4, 50] : !tile.view<?x?xf8E4M3FN>, !v
    tile.copy %X[%c0, %c0] to %F[%c0, %c0] extents [4, 50] : !v, !tile.view<?x?xf8E5M2>
    tile.copy %F[%c0, %c0] to %Z[%c0, %c0] extents [4, 50] : !tile.view<?x?xf8E5M2>, !v
    %col = tile.alloc : !tile.buffer<20x18xf32>
    tile.copy %N[%c0, %c0] to %col im2col <kernel = 3, stride = 1, dilation = 1, pad = 1> : !tile.view<?x?x?x?xf32>, !tile.buffer<20x18xf32>
    tile.copy %col to %C[%c0, %c0] : !tile.buffer<20x18xf32>, !v
  }
  tile.yield
}
