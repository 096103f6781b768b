// RUN: tile-opt %s --verify-roundtrip --tile-verify-stage=stage=async -o /dev/null
// Token regime: one program for all threads, ring without barriers, predicated steady state (no epilogue copy of the body).
#schedule = #tile.schedule<threads = 128, partition = [2, 2], raster = <kind = grouped, group = 8>>
#acc = #tile.layout<"reg 2:d1 2:8d0 2:8d1 2:16d1 2:32d1 2:16d0 2:32d0 | lane 2:2d1 2:4d1 2:d0 2:2d0 2:4d0 | warp 2:64d1 2:64d0 -> 128x128">
#opA = #tile.layout<"reg 2:d1 2:8d0 2:8d1 2:16d1 2:16d0 2:32d0 | lane 2:2d1 2:4d1 2:d0 2:2d0 2:4d0 | warp 2:0 2:64d0 -> 128x32">
#opB = #tile.layout<"reg 2:d0 2:8d0 2:16d0 2:8d1 2:16d1 2:32d1 | lane 2:2d0 2:4d0 2:d1 2:2d1 2:4d1 | warp 2:64d1 2:0 -> 32x128">
#sA = #tile.layout<"d0 2:32 4:64^8 16:256 | d1 32:1 -> 4096^32">
#sB = #tile.layout<"d0 8:64^8 4:512 | d1 64:1 2:2048 -> 4096^64">
!A = !tile.buffer<128x32xf16, #sA>
!B = !tile.buffer<32x128xf16, #sB>
!R = !tile.ring<4 x [!A, !B]>
!acc = !tile.tile<128x128xf32, #acc>
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
  tile.launch (%bx, %by) in (%gx, %gy) schedule #schedule attributes {tile.shared_bytes = 65536 : i64} {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0.0 : f32
    %nk = arith.ceildivui %K, %BK : index
    %row = arith.muli %by, %BM : index
    %col = arith.muli %bx, %BN : index
    %ring = tile.ring at [0, 32768] : !R
    %q0 = tile.cursor : !tile.cursor<4>
    %k0 = arith.constant 0 : index
    %kk0 = arith.constant 0 : index
    %w0 = tile.advance %q0 {by = 0 : i64} : !tile.cursor<4>
    %a0, %b0 = tile.slot_at %ring at %w0 : !R
    %in0 = arith.cmpi ult, %k0, %nk : index
    %ta0 = tile.async_copy cp_async if %in0 %A[%row, %kk0] to %a0 : !tile.view<?x?xf16>, !A
    %tb0 = tile.async_copy cp_async if %in0 %B[%kk0, %col] to %b0 : !tile.view<?x?xf16>, !B
    %g0 = tile.join %ta0, %tb0
    %k1 = arith.constant 1 : index
    %kk1 = arith.constant 32 : index
    %w1 = tile.advance %q0 {by = 1 : i64} : !tile.cursor<4>
    %a1, %b1 = tile.slot_at %ring at %w1 : !R
    %in1 = arith.cmpi ult, %k1, %nk : index
    %ta1 = tile.async_copy cp_async if %in1 %A[%row, %kk1] to %a1 : !tile.view<?x?xf16>, !A
    %tb1 = tile.async_copy cp_async if %in1 %B[%kk1, %col] to %b1 : !tile.view<?x?xf16>, !B
    %g1 = tile.join %ta1, %tb1
    %k2 = arith.constant 2 : index
    %kk2 = arith.constant 64 : index
    %w2 = tile.advance %q0 {by = 2 : i64} : !tile.cursor<4>
    %a2, %b2 = tile.slot_at %ring at %w2 : !R
    %in2 = arith.cmpi ult, %k2, %nk : index
    %ta2 = tile.async_copy cp_async if %in2 %A[%row, %kk2] to %a2 : !tile.view<?x?xf16>, !A
    %tb2 = tile.async_copy cp_async if %in2 %B[%kk2, %col] to %b2 : !tile.view<?x?xf16>, !B
    %g2 = tile.join %ta2, %tb2
    %acc0 = tile.splat %zero : !acc
    %acc, %qe, %ge0, %ge1, %ge2 = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %acc0, %q = %q0, %t0 = %g0, %t1 = %g1, %t2 = %g2)
        -> (!acc, !tile.cursor<4>, !tile.token, !tile.token, !tile.token) {
      tile.wait %t0 pending 2
      tile.barrier block
      %kn = arith.addi %k, %c3 : index
      %in = arith.cmpi ult, %kn, %nk : index
      %kk = arith.muli %kn, %BK : index
      %qw = tile.advance %q {by = 3 : i64} : !tile.cursor<4>
      %an, %bn = tile.slot_at %ring at %qw : !R
      %ta = tile.async_copy cp_async if %in %A[%row, %kk] to %an : !tile.view<?x?xf16>, !A
      %tb = tile.async_copy cp_async if %in %B[%kk, %col] to %bn : !tile.view<?x?xf16>, !B
      %g = tile.join %ta, %tb
      %a, %b = tile.slot_at %ring at %q : !R
      %at = tile.load %a : !A -> !tile.tile<128x32xf16, #opA>
      %bt = tile.load %b : !B -> !tile.tile<32x128xf16, #opB>
      %s1 = tile.gemm %at, %bt, %s inst <kind = mma_sync, shape = [16, 8, 16], a_reg = true> : !tile.tile<128x32xf16, #opA>, !tile.tile<32x128xf16, #opB>, !acc
      %qn = tile.advance %q : !tile.cursor<4>
      scf.yield %s1, %qn, %t1, %t2, %g : !acc, !tile.cursor<4>, !tile.token, !tile.token, !tile.token
    }
    tile.wait %ge0, %ge1, %ge2 pending 0
    %u = tile.undef : !tile.tile<128x128xf16, #acc>
    %h = tile.generic [128, 128] ins(%acc : !acc) outs(%u : !tile.tile<128x128xf16, #acc>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] layout #acc {
    ^bb0(%i: index, %j: index, %x: f32, %old: f16):
      %y = arith.truncf %x : f32 to f16
      tile.yield %y : f16
    } -> !tile.tile<128x128xf16, #acc>
    tile.store %h to %C[%row, %col] : !tile.tile<128x128xf16, #acc>, !tile.view<?x?xf16>
  }
  tile.yield
}
