// One product on AMD: mfma, a trip fetched ahead through registers, LDS without engines.
// RUN: tile-opt %s --pass-pipeline="builtin.module(tile-select-schedule,tile.kernel(tile-assign-layouts,canonicalize,cse,tile-pipeline-loops,tile-prefetch-registers,tile-make-persistent,canonicalize,cse,tile-allocate-shared,tile-insert-barriers,canonicalize,cse),convert-tile-to-rocdl,canonicalize,cse)" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: tile-opt %t.mlir --tile-expand-math=level=0 --tile-rocdl-to-llvm | FileCheck %s --check-prefix=LLVM
// LLVM-NOT: {{= (scf|arith|vector|tile|math)\.}}
// LLVM: llvm.return

// CHECK-LABEL: llvm.func @matmul$0(
// CHECK-SAME: rocdl.flat_work_group_size = "512,512", rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 512, 1, 1>, rocdl.waves_per_eu = 2 : i32
// CHECK-SAME: tile.conditions = [{kind = "multiple_of"
// CHECK-SAME: tile.launch_name = "matmul.0"
// CHECK-SAME: tile.threads = 512 : i64
// The first trip, into LDS.
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> vector<8xf16>
// CHECK: llvm.store {{.*}}!llvm.ptr<3>
// CHECK: scf.for
// CHECK: llvm.fence syncscope("workgroup") release
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.barrier"
// CHECK: llvm.fence syncscope("workgroup") acquire
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> vector<8xf16>
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf16>
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.32x32x8f16"({{.*}}) : (vector<4xf16>, vector<4xf16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
// CHECK: llvm.call_intrinsic "llvm.amdgcn.sched.barrier"
// CHECK: llvm.store {{.*}} : vector<{{[48]}}xf16>, !llvm.ptr<3>
// Four neighbours of a row leave in one store.
// CHECK: llvm.store {{.*}} : vector<4xf16>, !llvm.ptr<1>
// CHECK-LABEL: llvm.func @matmul$0$any(
// CHECK: llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> f16
// CHECK: llvm.amdgcn.mfma.f32.32x32x8f16
tile.kernel @matmul.0(%arg0: index {tile.name = "grid.x"}, %arg1: index {tile.name = "grid.y"}, %arg2: !tile.view<?x?xf16>, %arg3: !tile.view<?x?xf16>, %arg4: !tile.view<?x?xf16>) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c128 = arith.constant 128 : index
  %c64 = arith.constant 64 : index
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tile.dim %arg2, 1 : <?x?xf16>
  %1 = tile.dim %arg3, 1 : <?x?xf16>
  %2 = arith.ceildivui %1, %c256 : index
  %3 = arith.cmpi eq, %arg0, %2 : index
  tile.assume %3, "grid extent"
  %4 = tile.dim %arg2, 0 : <?x?xf16>
  %5 = arith.ceildivui %4, %c128 : index
  %6 = arith.cmpi eq, %arg1, %5 : index
  tile.assume %6, "grid extent"
  tile.launch (%arg5, %arg6) in (%arg0, %arg1) {
    %7 = tile.alloc : <128x64xf16>
    %8 = tile.alloc : <64x256xf16>
    %9 = tile.splat %cst : <128x256xf32>
    %10 = arith.ceildivui %0, %c64 : index
    %11 = arith.muli %arg6, %c128 : index
    %12 = arith.muli %arg5, %c256 : index
    %13 = scf.for %arg7 = %c0 to %10 step %c1 iter_args(%arg8 = %9) -> (!tile.tile<128x256xf32>) {
      %16 = arith.muli %arg7, %c64 : index
      tile.copy %arg2[%11, %16] to %7 : !tile.view<?x?xf16>, !tile.buffer<128x64xf16>
      tile.copy %arg3[%16, %12] to %8 : !tile.view<?x?xf16>, !tile.buffer<64x256xf16>
      %17 = tile.gemm %7, %8, %arg8 : !tile.buffer<128x64xf16>, !tile.buffer<64x256xf16>, <128x256xf32>
      scf.yield %17 : !tile.tile<128x256xf32>
    } {tile.pipeline = #tile.pipeline<stages = 4>}
    %14 = tile.undef : <128x256xf16>
    %15 = tile.generic [128, 256] ins(%13 : !tile.tile<128x256xf32>) outs(%14 : !tile.tile<128x256xf16>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%arg7: index, %arg8: index, %arg9: f32, %arg10: f16):
      %16 = arith.truncf %arg9 : f32 to f16
      tile.yield %16 : f16
    } -> !tile.tile<128x256xf16>
    tile.store %15 to %arg4[%11, %12] : <128x256xf16>, !tile.view<?x?xf16>
  }
  tile.yield
}
