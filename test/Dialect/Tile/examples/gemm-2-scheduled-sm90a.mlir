// RUN: tile-opt %s --verify-roundtrip --tile-verify-stage=stage=scheduled -o /dev/null
// tile-select-schedule: attributes only. 3 stages, not 4: 64 KiB of C staging would not fit (remark).
#schedule = #tile.schedule<threads = 384, partition = [2, 1], roles = [<kind = load, warps = 4, regs = 40>, <kind = compute, warps = 8, regs = 232>], persistent = true, raster = <kind = grouped, group = 8>, staging = true>
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
    %a = tile.alloc : !tile.buffer<128x64xf16>
    %b = tile.alloc : !tile.buffer<64x256xf16>
    %zero = arith.constant 0.0 : f32
    %acc0 = tile.splat %zero : !tile.tile<128x256xf32>
    %nk = arith.ceildivui %K, %BK : index
    %row = arith.muli %by, %BM : index
    %col = arith.muli %bx, %BN : index
    %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %acc0) -> (!tile.tile<128x256xf32>) {
      %kk = arith.muli %k, %BK : index
      tile.copy %A[%row, %kk] to %a engine tma : !tile.view<?x?xf16>, !tile.buffer<128x64xf16>
      tile.copy %B[%kk, %col] to %b engine tma : !tile.view<?x?xf16>, !tile.buffer<64x256xf16>
      %s1 = tile.gemm %a, %b, %s inst <kind = wgmma, shape = [64, 256, 16]> : !tile.buffer<128x64xf16>, !tile.buffer<64x256xf16>, !tile.tile<128x256xf32>
      scf.yield %s1 : !tile.tile<128x256xf32>
    } {tile.pipeline = #tile.pipeline<stages = 3>}
    %u = tile.undef : !tile.tile<128x256xf16>
    %h = tile.generic [128, 256] ins(%acc : !tile.tile<128x256xf32>) outs(%u : !tile.tile<128x256xf16>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %x: f32, %old: f16):
      %y = arith.truncf %x : f32 to f16
      tile.yield %y : f16
    } -> !tile.tile<128x256xf16>
    tile.store %h to %C[%row, %col] : !tile.tile<128x256xf16>, !tile.view<?x?xf16>
  }
  tile.yield
}
