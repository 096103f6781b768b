// Reductions within and across waves, scans, atomics, 8-bit floats, transposing and converting copies.
// RUN: tile-opt %s --pass-pipeline="builtin.module(tile-select-schedule,tile.kernel(tile-assign-layouts,canonicalize,cse,tile-pipeline-loops,tile-prefetch-registers,tile-make-persistent,canonicalize,cse,tile-allocate-shared,tile-insert-barriers,canonicalize,cse),convert-tile-to-rocdl,canonicalize,cse)" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: tile-opt %t.mlir --tile-expand-math=level=0 --tile-rocdl-to-llvm | FileCheck %s --check-prefix=LLVM
// LLVM-NOT: {{= (scf|arith|vector|tile|math)\.}}
// LLVM: llvm.return

// In a lane, in a wave by DPP, swizzle and bpermute; then the sum over rows through LDS.
// CHECK-LABEL: llvm.func @rows(
// CHECK: arith.maximumf
// CHECK: llvm.call_intrinsic "llvm.amdgcn.{{(update.dpp|ds.swizzle|ds.bpermute)}}"
// CHECK: arith.addf
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.waitcnt"
// CHECK-NEXT: llvm.call_intrinsic "llvm.amdgcn.s.barrier"
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: llvm.atomicrmw fadd {{.*}} syncscope("device") monotonic : !llvm.ptr<1>, f32
// 8-bit floats in integer arithmetic: gfx942's own are not the OCP ones.
// CHECK-LABEL: llvm.func @hist(
// CHECK: llvm.atomicrmw add {{.*}} : !llvm.ptr<1>, i32
// CHECK-NOT: llvm.call @
// CHECK: math.tanh
// CHECK-LABEL: llvm.func @transpose(
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> ->
// CHECK: llvm.store {{.*}}!llvm.ptr<3>
tile.kernel @rows(%g: index, %X: !tile.view<?x?xf32>, %Y: !tile.view<?xf32>, %Z: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %row = arith.muli %b, %c128 : index
    %x = tile.load %X[%row, %c0] : !tile.view<?x?xf32> -> !tile.tile<128x96xf32>
    %m = tile.reduce max %x axis 1 : !tile.tile<128x96xf32> -> !tile.tile<128xf32>
    tile.store %m to %Y[%row] : !tile.tile<128xf32>, !tile.view<?xf32>
    %s = tile.reduce add %x axis 0 : !tile.tile<128x96xf32> -> !tile.tile<96xf32>
    tile.atomic add %s to %Z[%b, %c0] extents [1, 96] : !tile.tile<96xf32>, !tile.view<?x?xf32>
    %cs = tile.scan add %x axis 1 : !tile.tile<128x96xf32>
    tile.store %cs to %X[%row, %c0] : !tile.tile<128x96xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}

tile.kernel @hist(%g: index, %X: !tile.view<?xi32>, %H: !tile.view<?xi32>, %F: !tile.view<?xf8E4M3FN>) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%b) in (%g) {
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i32
    %start = arith.muli %b, %c256 : index
    tile.generic [256] maps [] {
    ^bb0(%i: index):
      %at = arith.addi %start, %i : index
      %v = tile.elem_load %X[%at] : !tile.view<?xi32>
      %bin = arith.index_cast %v : i32 to index
      %old = tile.elem_atomic add %one to %H[%bin] : !tile.view<?xi32>
      tile.yield
    }
    %f = tile.load %F[%start] : !tile.view<?xf8E4M3FN> -> !tile.tile<256xf8E4M3FN>
    %u = tile.undef : !tile.tile<256xf8E4M3FN>
    %h = tile.generic [256] ins(%f : !tile.tile<256xf8E4M3FN>) outs(%u : !tile.tile<256xf8E4M3FN>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %e: f8E4M3FN, %old: f8E4M3FN):
      %w = arith.extf %e : f8E4M3FN to f32
      %t = math.tanh %w : f32
      %n = arith.truncf %t : f32 to f8E4M3FN
      tile.yield %n : f8E4M3FN
    } -> !tile.tile<256xf8E4M3FN>
    tile.store %h to %F[%start] : !tile.tile<256xf8E4M3FN>, !tile.view<?xf8E4M3FN>
  }
  tile.yield
}

tile.kernel @transpose(%g: index, %A: !tile.view<?x?xf32>, %B: !tile.view<?x?xf16>, %s: index) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %r = arith.muli %b, %c32 : index
    %t = tile.alloc : !tile.buffer<32x32xf32>
    tile.copy %A[%r, %c0] to %t transpose : !tile.view<?x?xf32>, !tile.buffer<32x32xf32>
    tile.copy %t to %B[%c0, %r] : !tile.buffer<32x32xf32>, !tile.view<?x?xf16>
  }
  tile.yield
}
