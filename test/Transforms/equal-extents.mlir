// What is known of one extent is known of all that equal it, in whatever order they stand: C's last from B's, B's from D's, D's a
// multiple of 8. The last pair can learn nothing from each other, since its numbers are too large to multiply.
// RUN: tile-opt %s --tile-select-schedule | FileCheck %s
// CHECK: tile.kernel @matmul.0({{.*}}tile.conditions = [
// CHECK-SAME: stride 0 of `arg2`
// CHECK-NOT: stride 0 of `arg{{[34]}}`
// CHECK: tile.kernel @matmul.0.any
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  tile.kernel @matmul.0(%arg0: index {tile.name = "grid.x"}, %arg1: index {tile.name = "grid.y"}, %arg2: !tile.view<?x?xf16>, %arg3: !tile.view<?x?xf16>, %arg4: !tile.view<?x?xf16>, %d: !tile.view<?xf16>, %p: !tile.view<?xf16>, %q: !tile.view<?xf16>) attributes {tile.device, tile.target = #tile.target<"sm_90a">, tile.host = "matmul"} {
    %0 = tile.dim %arg2, 1 : <?x?xf16>
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %c1 = arith.constant 1 : index
    %1 = tile.dim %arg3, 1 : <?x?xf16>
    %2 = arith.ceildivui %1, %c256 : index
    %3 = arith.cmpi eq, %arg0, %2 : index
    tile.assume %3, "grid extent"
    %4 = tile.dim %arg2, 0 : <?x?xf16>
    %5 = arith.ceildivui %4, %c128 : index
    %6 = arith.cmpi eq, %arg1, %5 : index
    tile.assume %6, "grid extent"
    %zero = arith.constant 0 : index
    %eight = arith.constant 8 : index
    %c = tile.dim %arg4, 1 : <?x?xf16>
    %dd = tile.dim %d, 0 : <?xf16>
    %e1 = arith.cmpi eq, %c, %1 : index
    tile.assume %e1, "C and B"
    %e2 = arith.cmpi eq, %1, %dd : index
    tile.assume %e2, "B and D"
    %r = arith.remui %dd, %eight : index
    %m = arith.cmpi eq, %r, %zero : index
    tile.assume %m, "D % 8 == 0"
    %three = arith.constant 387420489 : index
    %five = arith.constant 244140625 : index
    %pp = tile.dim %p, 0 : <?xf16>
    %qq = tile.dim %q, 0 : <?xf16>
    %rp = arith.remui %pp, %three : index
    %rq = arith.remui %qq, %five : index
    %mp = arith.cmpi eq, %rp, %zero : index
    %mq = arith.cmpi eq, %rq, %zero : index
    tile.assume %mp, "P % 3^18 == 0"
    tile.assume %mq, "Q % 5^12 == 0"
    %e3 = arith.cmpi eq, %pp, %qq : index
    tile.assume %e3, "P and Q"
    tile.launch (%arg5, %arg6) in (%arg0, %arg1) {
      %c0 = arith.constant 0 : index
      %7 = tile.alloc : <128x64xf16>
      %8 = tile.alloc : <64x256xf16>
      %cst = arith.constant 0.000000e+00 : f32
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
      %15 = tile.generic [128, 256] ins(%13 : !tile.tile<128x256xf32>) outs(%14 : !tile.tile<128x256xf16>) maps [#map, #map] {
      ^bb0(%arg7: index, %arg8: index, %arg9: f32, %arg10: f16):
        %16 = arith.truncf %arg9 : f32 to f16
        tile.yield %16 : f16
      } -> !tile.tile<128x256xf16>
      tile.store %15 to %arg4[%11, %12] : <128x256xf16>, !tile.view<?x?xf16>
    }
    tile.yield
  }
}

