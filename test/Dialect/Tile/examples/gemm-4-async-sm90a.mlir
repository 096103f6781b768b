// RUN: tile-opt %s --verify-roundtrip --tile-verify-stage=stage=async -o /dev/null
// tile-warp-specialize, tile-make-persistent, tile-allocate-shared, tile-insert-barriers.
#schedule = #tile.schedule<threads = 384, partition = [2, 1], roles = [<kind = load, warps = 4, regs = 40>, <kind = compute, warps = 8, regs = 232>], persistent = true, raster = <kind = grouped, group = 8>, staging = true>
// wgmma accumulator m64n256: d[4j+0,1] row r, columns 8j+2(t%4)+{0,1}; d[4j+2,3] row r+8; 4 warps of 16 rows; 2 groups of 64 rows
#acc = #tile.layout<"reg 2:d1 2:8d0 2:8d1 2:16d1 2:32d1 2:64d1 2:128d1 | lane 2:2d1 2:4d1 2:d0 2:2d0 2:4d0 | warp 2:16d0 2:32d0 | group 2:64d0 -> 128x256">
#sA = #tile.layout<"d0 8:64^8 16:512 | d1 64:1 -> 8192^64">
#sB = #tile.layout<"d0 8:64^8 8:512 | d1 64:1 4:4096 -> 16384^64">
#sC = #tile.layout<"d0 8:64^8 16:512 | d1 64:1 4:8192 -> 32768^64">
!A = !tile.buffer<128x64xf16, #sA>
!B = !tile.buffer<64x256xf16, #sB>
!C = !tile.buffer<128x256xf16, #sC>
!R = !tile.ring<3 x [!A, !B]>
!acc = !tile.tile<128x256xf32, #acc>
!h = !tile.tile<128x256xf16, #acc>
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
  %tiles = arith.muli %gx, %gy : index
  %sms = tile.sm_count
  %ctas = arith.minui %tiles, %sms : index
  tile.launch (%cta) in (%ctas) schedule #schedule attributes {tile.shared_bytes = 213040 : i64} {
    %c0 = arith.constant 0 : index
    %nk = arith.ceildivui %K, %BK : index
    %ring = tile.ring full 1 empty 2 at [0, 49152] barriers 212992 : !R
    %stage = tile.alloc at 147456 : !C
    tile.fence barrier_init
    tile.barrier block id 0
    tile.warp_groups
    role <kind = load, warps = 4, regs = 40> {
      %p0 = tile.cursor : !tile.cursor<3>
      %pe = scf.for %t = %cta to %tiles step %ctas iter_args(%pt = %p0) -> (!tile.cursor<3>) {
        %bx, %by = tile.raster %t in (%gx, %gy) <kind = grouped, group = 8> : index, index
        %row = arith.muli %by, %BM : index
        %col = arith.muli %bx, %BN : index
        %pn = scf.for %k = %c0 to %nk step %c1 iter_args(%p = %pt) -> (!tile.cursor<3>) {
          %kk = arith.muli %k, %BK : index
          %a, %b = tile.acquire %ring at %p tx 49152 : !R
          %ta = tile.async_copy tma %A[%row, %kk] to %a : !tile.view<?x?xf16>, !A
          %tb = tile.async_copy tma %B[%kk, %col] to %b : !tile.view<?x?xf16>, !B
          tile.commit %ring at %p after %ta, %tb : !R
          %q = tile.advance %p : !tile.cursor<3>
          scf.yield %q : !tile.cursor<3>
        }
        scf.yield %pn : !tile.cursor<3>
      }
    }
    role <kind = compute, warps = 8, regs = 232> {
      %zero = arith.constant 0.0 : f32
      %p0 = tile.cursor : !tile.cursor<3>
      %st0 = tile.ready
      %pe, %ste = scf.for %t = %cta to %tiles step %ctas iter_args(%pt = %p0, %st = %st0) -> (!tile.cursor<3>, !tile.token) {
        %bx, %by = tile.raster %t in (%gx, %gy) <kind = grouped, group = 8> : index, index
        %row = arith.muli %by, %BM : index
        %col = arith.muli %bx, %BN : index
        %acc0 = tile.splat %zero : !acc
        %f0 = tile.in_flight %acc0 : !acc -> !tile.future<!acc>
        %tk0 = tile.ready
        %f, %pn, %tk = scf.for %k = %c0 to %nk step %c1 iter_args(%fi = %f0, %p = %pt, %tp = %tk0)
            -> (!tile.future<!acc>, !tile.cursor<3>, !tile.token) {
          %a, %b = tile.consume %ring at %p : !R
          %fj, %tj = tile.async_gemm %a, %b, %fi inst <kind = wgmma, shape = [64, 256, 16]> : !A, !B, !tile.future<!acc> -> !tile.future<!acc>
          %again = arith.cmpi ugt, %k, %c0 : index
          scf.if %again {
            tile.wait %tp pending 1
            %prev = tile.advance %p {by = -1 : i64} : !tile.cursor<3>
            tile.release %ring at %prev after %tp : !R
          }
          %q = tile.advance %p : !tile.cursor<3>
          scf.yield %fj, %q, %tj : !tile.future<!acc>, !tile.cursor<3>, !tile.token
        }
        %acc = tile.await %f pending 0 : !tile.future<!acc> -> !acc
        %any = arith.cmpi ugt, %nk, %c0 : index
        scf.if %any {
          %last = tile.advance %pn {by = -1 : i64} : !tile.cursor<3>
          tile.release %ring at %last after %tk : !R
        }
        %u = tile.undef : !h
        %h = tile.generic [128, 256] ins(%acc : !acc) outs(%u : !h) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] layout #acc {
        ^bb0(%i: index, %j: index, %x: f32, %old: f16):
          %y = arith.truncf %x : f32 to f16
          tile.yield %y : f16
        } -> !h
        tile.wait %st pending 0 read
        tile.barrier group id 1
        tile.store %h to %stage : !h, !C
        tile.fence async_proxy
        tile.barrier group id 1
        %tc = tile.async_copy tma %stage to %C[%row, %col] : !C, !tile.view<?x?xf16>
        %st1 = tile.join %tc
        scf.yield %pn, %st1 : !tile.cursor<3>, !tile.token
      }
      tile.wait %ste pending 0 read
    }
  }
  tile.yield
}
