// RUN: tile-opt %s --tile-merge-points | FileCheck %s
// The points of a tuning space become ways to run the launch of the kernel that has the defaults.
// CHECK-LABEL: tile.kernel @f(
// CHECK-DAG: %[[K:.*]] = tile.dim %[[A:.*]], 1
// CHECK-DAG: %[[GX:.*]] = arith.ceildivui %{{.*}}, %{{.*}} : index
// CHECK: tile.launch_call @f.0(%[[GX]]) args(%[[A]] : !tile.view<?x?xf16>) points [@f.t1.0] grids(%[[HX:.*]]) trips(%[[T0:.*]], %[[T1:.*]])
// CHECK-LABEL: tile.kernel @f.0(
// CHECK-NOT: tile.point
// CHECK-NOT: tile.kernel @f.t1(
// CHECK: tile.kernel @f.t1.0(
// CHECK-SAME: tile.host = "f", tile.launch_name = "f.0", tile.point = 1
// A point whose launch takes other arguments is none.
// CHECK-NOT: f.t2
tile.kernel @f(%A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>) {
  %c64 = arith.constant 64 : index
  %m = tile.dim %A, 0 : <?x?xf16>
  %g = arith.ceildivui %m, %c64 : index
  tile.launch_call @f.0(%g) args(%A : !tile.view<?x?xf16>)
  tile.yield
}
tile.kernel @f.0(%g: index, %A: !tile.view<?x?xf16>) attributes {tile.device, tile.host = "f"} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %k = tile.dim %A, 1 : <?x?xf16>
    %n = arith.ceildivui %k, %c32 : index
    %cst = arith.constant 0.0 : f32
    %zero = tile.splat %cst : <64x64xf32>
    %a = tile.alloc : <64x32xf16>
    %b0 = tile.alloc : <32x64xf16>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile.tile<64x64xf32>) {
      tile.copy %A[%b, %i] to %a : !tile.view<?x?xf16>, !tile.buffer<64x32xf16>
      tile.copy %A[%i, %b] to %b0 : !tile.view<?x?xf16>, !tile.buffer<32x64xf16>
      %next = tile.gemm %a, %b0, %acc : !tile.buffer<64x32xf16>, !tile.buffer<32x64xf16>, <64x64xf32>
      scf.yield %next : !tile.tile<64x64xf32>
    }
    tile.yield
  }
  tile.yield
}
tile.kernel @f.t1(%A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>) attributes {tile.point_of = "f"} {
  %c128 = arith.constant 128 : index
  %m = tile.dim %A, 0 : <?x?xf16>
  %g = arith.ceildivui %m, %c128 : index
  tile.launch_call @f.t1.0(%g) args(%A : !tile.view<?x?xf16>)
  tile.yield
}
tile.kernel @f.t1.0(%g: index, %A: !tile.view<?x?xf16>) attributes {tile.device, tile.host = "f.t1"} {
  tile.launch (%b) in (%g) {
    tile.yield
  }
  tile.yield
}
tile.kernel @f.t2(%A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>) attributes {tile.point_of = "f"} {
  %c128 = arith.constant 128 : index
  %m = tile.dim %A, 0 : <?x?xf16>
  %g = arith.ceildivui %m, %c128 : index
  tile.launch_call @f.t2.0(%g) args(%B : !tile.view<?x?xf16>)
  tile.yield
}
tile.kernel @f.t2.0(%g: index, %B: !tile.view<?x?xf16>) attributes {tile.device, tile.host = "f.t2"} {
  tile.launch (%b) in (%g) {
    tile.yield
  }
  tile.yield
}
