// RUN: tile-opt %s --verify-roundtrip --tile-verify-stage=stage=laid-out -o /dev/null
#schedule = #tile.schedule<threads = 256, partition = [2, 2], raster = <kind = grouped, group = 8>>
// mfma 32x32x8 f16: D reg i of lane l holds row 8*(i/4) + 4*(l/32) + i%4, column l%32; 64 lanes, 4 waves 2x2 of 64x64
#acc = #tile.layout<"reg 2:d0 2:2d0 2:8d0 2:16d0 2:32d1 2:32d0 | lane 2:d1 2:2d1 2:4d1 2:8d1 2:16d1 2:4d0 | warp 2:64d1 2:64d0 -> 128x128">
#opA = #tile.layout<"reg 2:d1 2:2d1 2:8d1 2:16d1 2:32d0 | lane 2:d0 2:2d0 2:4d0 2:8d0 2:16d0 2:4d1 | warp 2:0 2:64d0 -> 128x32">
#opB = #tile.layout<"reg 2:d0 2:2d0 2:8d0 2:16d0 2:32d1 | lane 2:d1 2:2d1 2:4d1 2:8d1 2:16d1 2:4d0 | warp 2:64d1 2:0 -> 32x128">
#gA = #tile.layout<"reg 2:d1 2:2d1 2:4d1 2:64d0 | lane 2:8d1 2:16d1 2:d0 2:2d0 2:4d0 2:8d0 | warp 2:16d0 2:32d0 -> 128x32">
#gB = #tile.layout<"reg 2:d1 2:2d1 2:4d1 2:16d0 | lane 2:8d1 2:16d1 2:32d1 2:64d1 2:d0 2:2d0 | warp 2:4d0 2:8d0 -> 32x128">
#sA = #tile.layout<"d0 128:40 | d1 32:1 -> 5120">
#sB = #tile.layout<"d0 32:1 | d1 128:40 -> 5120">
tile.kernel @matmul(%A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>, %C: !tile.view<?x?xf16>) attributes {tile.target = #tile.target<"gfx942">} {
  %c1 = arith.constant 1 : index
  %BM = arith.constant 128 : index
  %BN = arith.constant 128 : index
  %BK = arith.constant 32 : index
  %M = tile.dim %A, 0 : !tile.view<?x?xf16>
  %K = tile.dim %A, 1 : !tile.view<?x?xf16>
  %N = tile.dim %B, 1 : !tile.view<?x?xf16>
  %gx = arith.ceildivui %N, %BN : index
  %gy = arith.ceildivui %M, %BM : index
  tile.launch (%bx, %by) in (%gx, %gy) schedule #schedule {
    %c0 = arith.constant 0 : index
    %a = tile.alloc : !tile.buffer<128x32xf16, #sA>
    %b = tile.alloc : !tile.buffer<32x128xf16, #sB>
    %zero = arith.constant 0.0 : f32
    %acc0 = tile.splat %zero : !tile.tile<128x128xf32, #acc>
    %nk = arith.ceildivui %K, %BK : index
    %row = arith.muli %by, %BM : index
    %col = arith.muli %bx, %BN : index
    %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %acc0) -> (!tile.tile<128x128xf32, #acc>) {
      %kk = arith.muli %k, %BK : index
      tile.copy %A[%row, %kk] to %a engine simt : !tile.view<?x?xf16>, !tile.buffer<128x32xf16, #sA>
      tile.copy %B[%kk, %col] to %b engine simt : !tile.view<?x?xf16>, !tile.buffer<32x128xf16, #sB>
      %at = tile.load %a : !tile.buffer<128x32xf16, #sA> -> !tile.tile<128x32xf16, #opA>
      %bt = tile.load %b : !tile.buffer<32x128xf16, #sB> -> !tile.tile<32x128xf16, #opB>
      %s1 = tile.gemm %at, %bt, %s inst <kind = mfma, shape = [32, 32, 8], a_reg = true> : !tile.tile<128x32xf16, #opA>, !tile.tile<32x128xf16, #opB>, !tile.tile<128x128xf32, #acc>
      scf.yield %s1 : !tile.tile<128x128xf32, #acc>
    } {tile.pipeline = #tile.pipeline<stages = 2>}
    %u = tile.undef : !tile.tile<128x128xf16, #acc>
    %h = tile.generic [128, 128] ins(%acc : !tile.tile<128x128xf32, #acc>) outs(%u : !tile.tile<128x128xf16, #acc>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] layout #acc {
    ^bb0(%i: index, %j: index, %x: f32, %old: f16):
      %y = arith.truncf %x : f32 to f16
      tile.yield %y : f16
    } -> !tile.tile<128x128xf16, #acc>
    tile.store %h to %C[%row, %col] : !tile.tile<128x128xf16, #acc>, !tile.view<?x?xf16>
  }
  tile.yield
}
