// RUN: tile-opt %s --verify-roundtrip --tile-verify-stage=stage=laid-out -o /dev/null
// tile-assign-layouts: every tile and buffer type has a layout; the store goes through staging (schedule.staging).
#schedule = #tile.schedule<threads = 384, partition = [2, 1], roles = [<kind = load, warps = 4, regs = 40>, <kind = compute, warps = 8, regs = 232>], persistent = true, raster = <kind = grouped, group = 8>, staging = true>
// wgmma accumulator m64n256: d[4j+0,1] row r, columns 8j+2(t%4)+{0,1}; d[4j+2,3] row r+8; 4 warps of 16 rows; 2 groups of 64 rows
#acc = #tile.layout<"reg 2:d1 2:8d0 2:8d1 2:16d1 2:32d1 2:64d1 2:128d1 | lane 2:2d1 2:4d1 2:d0 2:2d0 2:4d0 | warp 2:16d0 2:32d0 | group 2:64d0 -> 128x256">
#sA = #tile.layout<"d0 8:64^8 16:512 | d1 64:1 -> 8192^64">
#sB = #tile.layout<"d0 8:64^8 8:512 | d1 64:1 4:4096 -> 16384^64">
#sC = #tile.layout<"d0 8:64^8 16:512 | d1 64:1 4:8192 -> 32768^64">
tile.kernel @matmul(%A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>, %C: !tile.view<?x?xf16>) attributes {tile.target = #tile.target<"sm_90a">} {
  %c1 = arith.constant 1 : index
  %BM = arith.constant 128 : index
  %BN = arith.constant 256 : index
  %BK = arith.constant 64 : index
  %M = tile.dim %A, 0 : !tile.view<?x?xf16>
  %K = tile.dim %A, 1 : !tile.view<?x?xf16>
  %N = tile.dim %B, 1 : !tile.view<?x?xf16>
  %gx = arith.ceildivui %N, %BN : index
  %gy = arith.ceildivui %M, %BM : index
  tile.launch (%bx, %by) in (%gx, %gy) schedule #schedule {
    %c0 = arith.constant 0 : index
    %a = tile.alloc : !tile.buffer<128x64xf16, #sA>
    %b = tile.alloc : !tile.buffer<64x256xf16, #sB>
    %zero = arith.constant 0.0 : f32
    %acc0 = tile.splat %zero : !tile.tile<128x256xf32, #acc>
    %nk = arith.ceildivui %K, %BK : index
    %row = arith.muli %by, %BM : index
    %col = arith.muli %bx, %BN : index
    %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %acc0) -> (!tile.tile<128x256xf32, #acc>) {
      %kk = arith.muli %k, %BK : index
      tile.copy %A[%row, %kk] to %a engine tma : !tile.view<?x?xf16>, !tile.buffer<128x64xf16, #sA>
      tile.copy %B[%kk, %col] to %b engine tma : !tile.view<?x?xf16>, !tile.buffer<64x256xf16, #sB>
      %s1 = tile.gemm %a, %b, %s inst <kind = wgmma, shape = [64, 256, 16]> : !tile.buffer<128x64xf16, #sA>, !tile.buffer<64x256xf16, #sB>, !tile.tile<128x256xf32, #acc>
      scf.yield %s1 : !tile.tile<128x256xf32, #acc>
    } {tile.pipeline = #tile.pipeline<stages = 3>}
    %u = tile.undef : !tile.tile<128x256xf16, #acc>
    %h = tile.generic [128, 256] ins(%acc : !tile.tile<128x256xf32, #acc>) outs(%u : !tile.tile<128x256xf16, #acc>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] layout #acc {
    ^bb0(%i: index, %j: index, %x: f32, %old: f16):
      %y = arith.truncf %x : f32 to f16
      tile.yield %y : f16
    } -> !tile.tile<128x256xf16, #acc>
    %stage = tile.alloc : !tile.buffer<128x256xf16, #sC>
    tile.store %h to %stage : !tile.tile<128x256xf16, #acc>, !tile.buffer<128x256xf16, #sC>
    tile.copy %stage to %C[%row, %col] engine tma : !tile.buffer<128x256xf16, #sC>, !tile.view<?x?xf16>
  }
  tile.yield
}
