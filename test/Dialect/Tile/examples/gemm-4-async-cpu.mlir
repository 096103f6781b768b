// RUN: tile-opt %s --verify-roundtrip --tile-verify-stage=stage=async -o /dev/null
// Four trips merged (BK 64 -> KC 256); f16 buffers whose only use is a gemm are held as f32; no ring, no barrier, no token.
#schedule = #tile.schedule<threads = 1, partition = [1, 1]>
// One thread owns the tile: only registers. Their order is the order in the arena, [BN/32][BM/8][8][32].
#acc = #tile.layout<"reg 2:d1 2:2d1 2:4d1 2:8d1 2:16d1 2:d0 2:2d0 2:4d0 2:8d0 2:16d0 2:32d0 2:64d0 2:32d1 2:64d1 2:128d1 -> 128x256">
#sA = #tile.layout<"d0 128:272 | d1 256:1 -> 34816">
#sB = #tile.layout<"d0 256:32 | d1 32:1 8:8192 -> 65536">
!A = !tile.buffer<128x256xf32, #sA>
!B = !tile.buffer<256x256xf32, #sB>
!acc = !tile.tile<128x256xf32, #acc>
tile.kernel @matmul(%A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>, %C: !tile.view<?x?xf16>) attributes {tile.target = #tile.target<"x86-64-v4">} {
  %c1 = arith.constant 1 : index
  %BM = arith.constant 128 : index
  %BN = arith.constant 256 : index
  %BK = arith.constant 256 : index
  %M = tile.dim %A, 0 : !tile.view<?x?xf16>
  %K = tile.dim %A, 1 : !tile.view<?x?xf16>
  %N = tile.dim %B, 1 : !tile.view<?x?xf16>
  %gx = arith.ceildivui %N, %BN : index
  %gy = arith.ceildivui %M, %BM : index
  tile.launch (%bx, %by) in (%gx, %gy) schedule #schedule attributes {tile.shared_bytes = 401408 : i64} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %nk = arith.ceildivui %K, %BK : index
    %row = arith.muli %by, %BM : index
    %col = arith.muli %bx, %BN : index
    %a = tile.alloc at 0 : !A
    %b = tile.alloc at 139264 : !B
    %acc0 = tile.splat %zero : !acc
    %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %acc0) -> (!acc) {
      %kk = arith.muli %k, %BK : index
      tile.copy %A[%row, %kk] to %a : !tile.view<?x?xf16>, !A
      tile.copy %B[%kk, %col] to %b : !tile.view<?x?xf16>, !B
      %s1 = tile.gemm %a, %b, %s inst <kind = cpu_fma, shape = [8, 32, 1]> : !A, !B, !acc
      scf.yield %s1 : !acc
    }
    %u = tile.undef : !tile.tile<128x256xf16, #acc>
    %h = tile.generic [128, 256] ins(%acc : !acc) outs(%u : !tile.tile<128x256xf16, #acc>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] layout #acc {
    ^bb0(%i: index, %j: index, %x: f32, %old: f16):
      %y = arith.truncf %x : f32 to f16
      tile.yield %y : f16
    } -> !tile.tile<128x256xf16, #acc>
    tile.store %h to %C[%row, %col] : !tile.tile<128x256xf16, #acc>, !tile.view<?x?xf16>
  }
  tile.yield
}
