// A product whose every edge is somewhere else than the tile's, in single precision: compiled, counted, run.
// RUN: sh %S/Inputs/lower.sh %s 3 %t.o
// RUN: llvm-objdump -d --no-show-raw-insn %t.o | FileCheck --check-prefix=AVX2 %s
// RUN: %cc -O1 -std=gnu11 %S/Inputs/gemm.c %t.o -lm -o %t
// RUN: %t
// RUN: sh %S/Inputs/lower.sh %s 2 %t2.o
// RUN: %cc -O1 -std=gnu11 %S/Inputs/gemm.c %t2.o -lm -o %t2
// RUN: %t2
// RUN: sh %S/Inputs/lower.sh %s 4 %t4.o
// RUN: llvm-objdump -d --no-show-raw-insn %t4.o | FileCheck --check-prefix=AVX512 %s

// The register kernel: 6 x 16 (two vectors of 8), 8 x 32 (two of 16), nothing spilled between.
// AVX2-COUNT-12: vfmadd231ps %ymm
// AVX512-COUNT-16: vfmadd231ps {{.*}}%zmm

!v = !tile.view<?x?xf32>
tile.kernel @gemm(%gx: index, %gy: index, %A: !v {tile.dims = ["M", "K"]}, %B: !v {tile.dims = ["K", "N"]}, %C: !v)
    attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %K = tile.dim %A, 1 : !v
  %M = tile.dim %C, 0 : !v
  %nk = arith.ceildivui %K, %c64 : index
  %rows = arith.ceildivui %M, %c128 : index
  %all = arith.cmpi eq, %gy, %rows : index
  tile.assume %all, "grid extent"
  tile.launch (%bx, %by) in (%gx, %gy) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.alloc : !tile.buffer<128x64xf32>
    %b = tile.alloc : !tile.buffer<64x256xf32>
    %z = arith.constant 0.0 : f32
    %s = tile.splat %z : !tile.tile<128x256xf32>
    %row = arith.muli %by, %c128 : index
    %col = arith.muli %bx, %c256 : index
    %r = scf.for %k = %c0 to %nk step %c1 iter_args(%acc = %s) -> (!tile.tile<128x256xf32>) {
      %kk = arith.muli %k, %c64 : index
      tile.copy %A[%row, %kk] to %a : !v, !tile.buffer<128x64xf32>
      tile.copy %B[%kk, %col] to %b : !v, !tile.buffer<64x256xf32>
      %n = tile.gemm %a, %b, %acc : !tile.buffer<128x64xf32>, !tile.buffer<64x256xf32>, !tile.tile<128x256xf32>
      scf.yield %n : !tile.tile<128x256xf32>
    } {tile.pipeline = #tile.pipeline<stages = 4>}
    tile.store %r to %C[%row, %col] : !tile.tile<128x256xf32>, !v
  }
  tile.yield
}
