// Vectors of 16 bytes where the launcher has checked alignment; functions become polynomials, no library is called.
// RUN: tile-opt %s --pass-pipeline="builtin.module(tile-select-schedule,tile.kernel(tile-assign-layouts,canonicalize,cse,tile-pipeline-loops,tile-prefetch-registers,tile-make-persistent,canonicalize,cse,tile-allocate-shared,tile-insert-barriers,canonicalize,cse),convert-tile-to-rocdl,canonicalize,cse)" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: tile-opt %t.mlir --tile-expand-math=level=0 --tile-rocdl-to-llvm | FileCheck %s --check-prefix=LLVM
// LLVM-NOT: {{= (scf|arith|vector|tile|math)\.}}
// LLVM: llvm.return

// CHECK-LABEL: llvm.func @gelu(
// CHECK-SAME: tile.params = [{bytes = 8 : i64, slot = {{[0-9]+}} : i64}
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
// CHECK: math.erf
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>
// CHECK-LABEL: llvm.func @gelu$any(
// CHECK: llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
tile.kernel @gelu(%gx: index, %X: !tile.view<?x?xbf16>, %Y: !tile.view<?x?xbf16>) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%bx) in (%gx) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %row = arith.muli %bx, %c16 : index
    %x = tile.load %X[%row, %c0] : !tile.view<?x?xbf16> -> !tile.tile<16x256xbf16>
    %u = tile.undef : !tile.tile<16x256xbf16>
    %y = tile.generic [16, 256] ins(%x : !tile.tile<16x256xbf16>) outs(%u : !tile.tile<16x256xbf16>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %e: bf16, %old: bf16):
      %f = arith.extf %e : bf16 to f32
      %g = math.erf %f : f32
      %h = arith.truncf %g : f32 to bf16
      tile.yield %h : bf16
    } -> !tile.tile<16x256xbf16>
    tile.store %y to %Y[%row, %c0] : !tile.tile<16x256xbf16>, !tile.view<?x?xbf16>
  }
  tile.yield
}
