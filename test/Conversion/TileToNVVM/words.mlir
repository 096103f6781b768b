// An operand with the pitch of the result, of any length: words of 16 bytes by cp.async, single elements into the instruction's register
// operand.
// RUN: tile-opt %s --pass-pipeline="builtin.module(tile-select-schedule,tile.kernel(tile-assign-layouts,canonicalize,cse,tile-pipeline-loops,tile-make-persistent,tile-warp-specialize,tile-async-gemms,tile-stage-stores,\
// RUN:   canonicalize,cse,tile-allocate-shared,tile-insert-barriers,canonicalize,cse),\
// RUN:   convert-tile-to-nvvm,canonicalize,cse)" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: tile-opt %t.mlir --tile-nvvm-to-llvm | FileCheck %s --check-prefix=LLVM
// LLVM-NOT: {{= (scf|arith|vector|tile)\.}}
// LLVM: llvm.return

// CHECK-LABEL: llvm.func @matmul$0$loads(
// All words of a trip inside the tensor: no sizes.
// CHECK: scf.if
// CHECK-COUNT-9: cp.async.ca.shared.global [$0], [$1], 16;
// CHECK: } else {
// CHECK: scf.for
// A word that begins before the tensor comes by elements, in front of a fence; any other with the bytes that are the tensor's.
// CHECK: scf.if
// CHECK: llvm.store {{.*}} : f16, !llvm.ptr<3>
// CHECK: nvvm.memory.barrier
// CHECK: } else {
// CHECK: cp.async.ca.shared.global [$0], [$1], 16, $2;
// CHECK: cp.async.mbarrier.arrive.noinc
// Single elements, and columns outside cleared in pairs.
// CHECK-COUNT-32: llvm.load {{.*}} : !llvm.ptr<3> -> f16
// CHECK: arith.select {{.*}} : i32
// CHECK: arith.andi {{.*}} : i32
// CHECK: wgmma.mma_async
// Until the wait, the engine reads these registers.
// CHECK: wgmma.wait_group.sync.aligned 0;", "{{[=&f,0-9]*}},63,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,~{memory}"
// CHECK-LABEL: llvm.func @matmul$0$any(
tile.kernel @matmul.0(%arg0: index {tile.name = "grid.x"}, %arg1: index {tile.name = "grid.y"}, %arg2: !tile.view<?x?xf16>, %arg3: !tile.view<?x?xf16>, %arg4: !tile.view<?x?xf16>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c64 = arith.constant 64 : index
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tile.dim %arg2, 1 : <?x?xf16>
  %1 = tile.dim %arg3, 1 : <?x?xf16>
  %2 = arith.ceildivui %1, %c128 : index
  %3 = arith.cmpi eq, %arg0, %2 : index
  tile.assume %3, "grid extent"
  %4 = tile.dim %arg2, 0 : <?x?xf16>
  %5 = arith.ceildivui %4, %c128 : index
  %6 = arith.cmpi eq, %arg1, %5 : index
  tile.assume %6, "grid extent"
  %n = tile.dim %arg4, 1 : <?x?xf16>
  %same = arith.cmpi eq, %n, %1 : index
  tile.assume %same, "N"
  tile.launch (%arg5, %arg6) in (%arg0, %arg1) {
    %7 = tile.alloc : <128x64xf16>
    %8 = tile.alloc : <64x128xf16>
    %9 = tile.splat %cst : <128x128xf32>
    %10 = arith.ceildivui %0, %c64 : index
    %11 = arith.muli %arg6, %c128 : index
    %12 = arith.muli %arg5, %c128 : index
    %13 = scf.for %arg7 = %c0 to %10 step %c1 iter_args(%arg8 = %9) -> (!tile.tile<128x128xf32>) {
      %16 = arith.muli %arg7, %c64 : index
      tile.copy %arg2[%11, %16] to %7 : !tile.view<?x?xf16>, !tile.buffer<128x64xf16>
      tile.copy %arg3[%16, %12] to %8 : !tile.view<?x?xf16>, !tile.buffer<64x128xf16>
      %17 = tile.gemm %7, %8, %arg8 : !tile.buffer<128x64xf16>, !tile.buffer<64x128xf16>, <128x128xf32>
      scf.yield %17 : !tile.tile<128x128xf32>
    } {tile.pipeline = #tile.pipeline<stages = 4>}
    %14 = tile.undef : <128x128xf16>
    %15 = tile.generic [128, 128] ins(%13 : !tile.tile<128x128xf32>) outs(%14 : !tile.tile<128x128xf16>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%arg7: index, %arg8: index, %arg9: f32, %arg10: f16):
      %16 = arith.truncf %arg9 : f32 to f16
      tile.yield %16 : f16
    } -> !tile.tile<128x128xf16>
    tile.store %15 to %arg4[%11, %12] : <128x128xf16>, !tile.view<?x?xf16>
  }
  tile.yield
}
