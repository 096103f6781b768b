// RUN: tile-opt %s --tile-outline-launches | FileCheck %s
// RUN: tile-opt %s --tile-outline-launches --canonicalize --tile-outline-launches | FileCheck %s --check-prefix=TWICE

// CHECK-LABEL: tile.kernel @two(
// CHECK: %[[M:.*]] = tile.dim
// CHECK: %[[G:.*]] = arith.ceildivui
// CHECK: tile.launch_call @two.0(%[[G]]) args(%arg0, %arg2, %arg1 : !tile.view<?x?xf32>, f32, !tile.view<?xf32>)
// CHECK: scf.for %[[I:.*]] =
// CHECK-NEXT: tile.launch_call @two.1(%[[G]], %{{.*}}) args(%arg0, %[[I]] : !tile.view<?x?xf32>, index)
// CHECK-NOT: tile.launch {{\(}}
// TWICE: @two(
// TWICE: @two.0(
// TWICE: @two.1(
// TWICE: tile.kernel @views.0(
// TWICE-NOT: tile.kernel
tile.kernel @two(%A: !tile.view<?x?xf32> {tile.name = "A", tile.access = "inout", tile.dims = ["M", "K"]}, %B: !tile.view<?xf32> {tile.name = "B", tile.access = "out"}, %s: f32,
                 %n: index) attributes {tile.doc = "both", tile.instance = {BM = 64}, tile.fast_math} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %BM = arith.constant 64 : index
  %M = tile.dim %A, 0 : !tile.view<?x?xf32>
  %K = tile.dim %A, 1 : !tile.view<?x?xf32>
  %N = tile.dim %B, 0 : !tile.view<?xf32>
  %some = arith.cmpi ugt, %K, %c0 : index
  tile.assume %some, "K > 0"
  %other = arith.cmpi ugt, %n, %c0 : index
  tile.assume %other, "n > 0"
  tile.require_equal %N, %M arg 1 axis 0, "M"
  %g = arith.ceildivui %M, %BM : index
  %rows = arith.muli %g, %BM : index
  tile.launch (%b) in (%g) {
    %row = arith.muli %b, %BM : index
    %ok = arith.cmpi ult, %row, %rows : index
    tile.elem_store %s to %B[%row] : !tile.view<?xf32>
    %x = tile.load %A[%row, %c0] : !tile.view<?x?xf32> -> !tile.tile<64x64xf32>
    tile.device_assert %ok, "row"
    tile.print "", %x : !tile.tile<64x64xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    tile.launch (%b, %c) in (%g, %c1) {
      %x = tile.undef : !tile.tile<64x64xf32>
      tile.store %x to %A[%b, %i] : !tile.tile<64x64xf32>, !tile.view<?x?xf32>
    } 
  }
  tile.yield
}

// The device kernel: grid, then captures in order of first use, named and marked as in the host kernel.
// CHECK-LABEL: tile.kernel @two.0(
// CHECK-SAME: %[[GX:.*]]: index {tile.name = "grid.x"}
// CHECK-SAME: %[[A:[a-z0-9]*]]: !tile.view<?x?xf32> {tile.access = "inout", tile.dims = ["M", "K"], tile.name = "A"}
// CHECK-SAME: %[[S:[a-z0-9]*]]: f32
// CHECK-SAME: %[[B:[a-z0-9]*]]: !tile.view<?xf32> {tile.access = "out", tile.name = "B"}
// CHECK-SAME: attributes {tile.device, tile.fast_math, tile.host = "two", tile.instance = {BM = 64 : i64}}
// Sizes are computed again, so that analyses see where they come from.
// CHECK: %[[M:.*]] = tile.dim %[[A]], 0
// CHECK: tile.assume %{{.*}}, "K > 0"
// What concerns arguments that the launch does not use is left out.
// CHECK-NOT: "n > 0"
// CHECK: %[[E:.*]] = arith.cmpi eq, %{{.*}}, %[[M]]
// CHECK-NEXT: tile.assume %[[E]], "M"
// CHECK: %[[E:.*]] = arith.cmpi eq, %[[GX]], %{{.*}}
// CHECK-NEXT: tile.assume %[[E]], "grid extent"
// CHECK: tile.launch (%[[BX:.*]]) in (%[[GX]]) {
// CHECK: tile.elem_store %[[S]] to %[[B]]
// CHECK-LABEL: tile.kernel @two.1(
// CHECK-SAME: %[[GX:.*]]: index {tile.name = "grid.x"}, %[[GY:.*]]: index {tile.name = "grid.y"}, %[[A:.*]]: !tile.view<?x?xf32> {{.*}}, %[[I:.*]]: index)
// CHECK: tile.launch (%[[BX:.*]], %{{.*}}) in (%[[GX]], %[[GY]]) {
// CHECK: tile.store %{{.*}} to %[[A]][%[[BX]], %[[I]]]

// A view that the host recast or made is passed as it is: its sizes and strides are the ones to launch with.
// CHECK-LABEL: tile.kernel @views.0(
// CHECK-SAME: %{{.*}}: !tile.view<?xf16, safe = 0xFC00 : f16> {tile.name = "X"}, %{{.*}}: !tile.view<?xf32> {tile.name = "p"}
tile.kernel @views(%X0: !tile.view<?xf16> {tile.name = "X", tile.dims = ["N"]}, %p: !tile.ptr<f32> {tile.name = "p"}) {
  %X = tile.recast_view %X0 : !tile.view<?xf16> -> !tile.view<?xf16, safe = 0xFC00 : f16>
  %N = tile.dim %X0, 0 : !tile.view<?xf16>
  %Y = tile.make_view %p sizes [%N] : !tile.ptr<f32> -> !tile.view<?xf32>
  tile.launch (%b) in (%N) {
    %x = tile.load %X[%b] : !tile.view<?xf16, safe = 0xFC00 : f16> -> !tile.tile<64xf16>
    %y = tile.load %Y[%b] : !tile.view<?xf32> -> !tile.tile<64xf32>
    tile.print "", %x, %y : !tile.tile<64xf16>, !tile.tile<64xf32>
  }
  tile.yield
}
