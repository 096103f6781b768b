// RUN: tile-opt %s --verify-roundtrip --tile-verify-stage=stage=laid-out -o /dev/null
// Register operands: AssignLayouts put the loads (ldmatrix follows from #sA -> #opA) before the gemm.
#schedule = #tile.schedule<threads = 128, partition = [2, 2], raster = <kind = grouped, group = 8>>
#acc = #tile.layout<"reg 2:d1 2:8d0 2:8d1 2:16d1 2:32d1 2:16d0 2:32d0 | lane 2:2d1 2:4d1 2:d0 2:2d0 2:4d0 | warp 2:64d1 2:64d0 -> 128x128">
#opA = #tile.layout<"reg 2:d1 2:8d0 2:8d1 2:16d1 2:16d0 2:32d0 | lane 2:2d1 2:4d1 2:d0 2:2d0 2:4d0 | warp 2:0 2:64d0 -> 128x32">
#opB = #tile.layout<"reg 2:d0 2:8d0 2:16d0 2:8d1 2:16d1 2:32d1 | lane 2:2d0 2:4d0 2:d1 2:2d1 2:4d1 | warp 2:64d1 2:0 -> 32x128">
#sA = #tile.layout<"d0 2:32 4:64^8 16:256 | d1 32:1 -> 4096^32">
#sB = #tile.layout<"d0 8:64^8 4:512 | d1 64:1 2:2048 -> 4096^64">
tile.kernel @matmul(%A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>, %C: !tile.view<?x?xf16>) attributes {tile.target = #tile.target<"sm_80">} {
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
      tile.copy %A[%row, %kk] to %a engine cp_async : !tile.view<?x?xf16>, !tile.buffer<128x32xf16, #sA>
      tile.copy %B[%kk, %col] to %b engine cp_async : !tile.view<?x?xf16>, !tile.buffer<32x128xf16, #sB>
      %at = tile.load %a : !tile.buffer<128x32xf16, #sA> -> !tile.tile<128x32xf16, #opA>
      %bt = tile.load %b : !tile.buffer<32x128xf16, #sB> -> !tile.tile<32x128xf16, #opB>
      %s1 = tile.gemm %at, %bt, %s inst <kind = mma_sync, shape = [16, 8, 16], a_reg = true> : !tile.tile<128x32xf16, #opA>, !tile.tile<32x128xf16, #opB>, !tile.tile<128x128xf32, #acc>
      scf.yield %s1 : !tile.tile<128x128xf32, #acc>
    } {tile.pipeline = #tile.pipeline<stages = 4>}
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
