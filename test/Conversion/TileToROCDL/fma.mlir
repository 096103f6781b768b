// float32 products are IEEE on the matrix cores; a product that no mfma takes runs on the plain units.
// RUN: tile-opt %s --pass-pipeline="builtin.module(tile-select-schedule,tile.kernel(tile-assign-layouts,canonicalize,cse,tile-pipeline-loops,tile-prefetch-registers,tile-make-persistent,canonicalize,cse,tile-allocate-shared,tile-insert-barriers,canonicalize,cse),convert-tile-to-rocdl,canonicalize,cse)" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: tile-opt %t.mlir --tile-expand-math=level=0 --tile-rocdl-to-llvm | FileCheck %s --check-prefix=LLVM
// LLVM-NOT: {{= (scf|arith|vector|tile|math)\.}}
// LLVM: llvm.return

// CHECK-LABEL: llvm.func @sgemm(
// CHECK: llvm.amdgcn.mfma.f32.32x32x2f32"({{.*}}) : (f32, f32, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
tile.kernel @sgemm(%g: index, %A: !tile.view<?x?xf32>, %B: !tile.view<?x?xf32>, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc : !tile.buffer<128x16xf32>
    %bb = tile.alloc : !tile.buffer<16x128xf32>
    %K = tile.dim %A, 1 : !tile.view<?x?xf32>
    %nk = arith.ceildivui %K, %c16 : index
    %row = arith.muli %b, %c128 : index
    %acc0 = tile.splat %zero : !tile.tile<128x128xf32>
    %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %acc0) -> (!tile.tile<128x128xf32>) {
      %kk = arith.muli %k, %c16 : index
      tile.copy %A[%row, %kk] to %a : !tile.view<?x?xf32>, !tile.buffer<128x16xf32>
      tile.copy %B[%kk, %c0] to %bb : !tile.view<?x?xf32>, !tile.buffer<16x128xf32>
      %s1 = tile.gemm %a, %bb, %s : !tile.buffer<128x16xf32>, !tile.buffer<16x128xf32>, !tile.tile<128x128xf32>
      scf.yield %s1 : !tile.tile<128x128xf32>
    }
    tile.store %acc to %C[%row, %c0] : !tile.tile<128x128xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}

// CHECK-LABEL: llvm.func @odd(
// CHECK-NOT: mfma
// CHECK: math.fma
tile.kernel @odd(%g: index, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc : !tile.buffer<24x8xf32>
    %bb = tile.alloc : !tile.buffer<8x40xf32>
    %x = tile.splat %zero : !tile.tile<24x8xf32>
    tile.store %x to %a : !tile.tile<24x8xf32>, !tile.buffer<24x8xf32>
    %y = tile.splat %zero : !tile.tile<8x40xf32>
    tile.store %y to %bb : !tile.tile<8x40xf32>, !tile.buffer<8x40xf32>
    %s = tile.splat %zero : !tile.tile<24x40xf32>
    %acc = tile.gemm %a, %bb, %s : !tile.buffer<24x8xf32>, !tile.buffer<8x40xf32>, !tile.tile<24x40xf32>
    tile.store %acc to %C[%c0, %c0] : !tile.tile<24x40xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}
