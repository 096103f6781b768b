// RUN: tile-opt %s --verify-roundtrip --tile-verify-stage=stage=async -o /dev/null
// Roles, skew (second product one trip late), the mask only where it can matter, one ring per operand, own staging for O.
#schedule = #tile.schedule<threads = 384, partition = [2, 1], roles = [<kind = load, warps = 4, regs = 40>, <kind = compute, warps = 8, regs = 232>], persistent = true, raster = <kind = row>, skew = true, staging = true>
// S, P (A operand of the second product: the same map) and O share one layout; m, l, alpha have its row slice: no shuffle but the reduction's
#S = #tile.layout<"reg 2:d1 2:8d0 2:8d1 2:16d1 2:32d1 2:64d1 | lane 2:2d1 2:4d1 2:d0 2:2d0 2:4d0 | warp 2:16d0 2:32d0 | group 2:64d0 -> 128x128">
#r = #tile.layout<"reg 2:8d0 | lane 2:0 2:0 2:d0 2:2d0 2:4d0 | warp 2:16d0 2:32d0 | group 2:64d0 -> 128">
#sh = #tile.layout<"d0 8:64^8 16:512 | d1 64:1 2:8192 -> 16384^64">
!B = !tile.buffer<128x128xf16, #sh>
!Qr = !tile.ring<1 x [!B]>
!KV = !tile.ring<2 x [!B]>
!S = !tile.tile<128x128xf32, #S>
!h = !tile.tile<128x128xf16, #S>
!r = !tile.tile<128xf32, #r>
!v = !tile.view<?x?x?x128xf16>
tile.kernel @attention(%Q: !v, %K: !v, %V: !v, %O: !v, %c: f32) attributes {tile.target = #tile.target<"sm_90a">} {
  %BM = arith.constant 128 : index
  %B = tile.dim %Q, 0 : !v
  %H = tile.dim %Q, 1 : !v
  %Sq = tile.dim %Q, 2 : !v
  %Sk = tile.dim %K, 2 : !v
  %z = arith.constant 0 : index
  %some = arith.cmpi ugt, %Sk, %z : index
  tile.assume %some, "Sk > 0"
  %gx = arith.ceildivui %Sq, %BM : index
  %t0 = arith.muli %gx, %H : index
  %tiles = arith.muli %t0, %B : index
  %sms = tile.sm_count
  %ctas = arith.minui %tiles, %sms : index
  tile.launch (%cta) in (%ctas) schedule #schedule attributes {tile.shared_bytes = 196736 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %nk = arith.ceildivui %Sk, %BM : index
    %qr = tile.ring full 1 empty 2 at [0] barriers 196608 : !Qr
    %kr = tile.ring full 1 empty 2 at [32768] barriers 196624 : !KV
    %vr = tile.ring full 1 empty 2 at [98304] barriers 196656 : !KV
    %os = tile.alloc at 163840 : !B
    tile.fence barrier_init
    tile.barrier block id 0
    tile.warp_groups
    role <kind = load, warps = 4, regs = 40> {
      %qc0 = tile.cursor : !tile.cursor<1>
      %kc0 = tile.cursor : !tile.cursor<2>
      %vc0 = tile.cursor : !tile.cursor<2>
      %qce, %kce, %vce = scf.for %t = %cta to %tiles step %ctas iter_args(%qc = %qc0, %kt = %kc0, %vt = %vc0)
          -> (!tile.cursor<1>, !tile.cursor<2>, !tile.cursor<2>) {
        %bx, %h, %b = tile.raster %t in (%gx, %H, %B) <kind = row> : index, index, index
        %row = arith.muli %bx, %BM : index
        %q = tile.acquire %qr at %qc tx 32768 : !Qr
        %tq = tile.async_copy tma %Q[%b, %h, %row, %c0] to %q : !v, !B
        tile.commit %qr at %qc after %tq : !Qr
        %kn, %vn = scf.for %n = %c0 to %nk step %c1 iter_args(%kc = %kt, %vc = %vt) -> (!tile.cursor<2>, !tile.cursor<2>) {
          %j0 = arith.muli %n, %BM : index
          %k = tile.acquire %kr at %kc tx 32768 : !KV
          %tk = tile.async_copy tma %K[%b, %h, %j0, %c0] to %k : !v, !B
          tile.commit %kr at %kc after %tk : !KV
          %v = tile.acquire %vr at %vc tx 32768 : !KV
          %tv = tile.async_copy tma %V[%b, %h, %j0, %c0] to %v : !v, !B
          tile.commit %vr at %vc after %tv : !KV
          %k1 = tile.advance %kc : !tile.cursor<2>
          %v1 = tile.advance %vc : !tile.cursor<2>
          scf.yield %k1, %v1 : !tile.cursor<2>, !tile.cursor<2>
        }
        %q1 = tile.advance %qc : !tile.cursor<1>
        scf.yield %q1, %kn, %vn : !tile.cursor<1>, !tile.cursor<2>, !tile.cursor<2>
      }
    }
    role <kind = compute, warps = 8, regs = 232> {
      %zero = arith.constant 0.0 : f32
      %ninf = arith.constant 0xFF800000 : f32
      %u = tile.undef : !h
      %m0 = tile.splat %ninf : !r
      %l0 = tile.splat %zero : !r
      %o0 = tile.splat %zero : !S
      %nfull0 = arith.divui %Sk, %BM : index
      %nfull = arith.maxui %nfull0, %c1 : index
      %qc0 = tile.cursor : !tile.cursor<1>
      %kc0 = tile.cursor : !tile.cursor<2>
      %vc0 = tile.cursor : !tile.cursor<2>
      %st0 = tile.ready
      %qce, %kce, %vce, %ste = scf.for %t = %cta to %tiles step %ctas iter_args(%qc = %qc0, %kt = %kc0, %vt = %vc0, %sto = %st0)
          -> (!tile.cursor<1>, !tile.cursor<2>, !tile.cursor<2>, !tile.token) {
        %bx, %h, %b = tile.raster %t in (%gx, %H, %B) <kind = row> : index, index, index
        %row = arith.muli %bx, %BM : index
        %q = tile.consume %qr at %qc : !Qr
        // trip 0: first product and softmax, masked
        %k0 = tile.consume %kr at %kt : !KV
        %sf0, %sft0 = tile.async_gemm %q, %k0, %o0 trans_b inst <kind = wgmma, shape = [64, 128, 16]> : !B, !B, !S -> !tile.future<!S>
        %s0 = tile.await %sf0 pending 0 : !tile.future<!S> -> !S
        tile.release %kr at %kt after %sft0 : !KV
        %kc1 = tile.advance %kt : !tile.cursor<2>
        %sm0 = tile.generic [128, 128] outs(%s0 : !S) maps [affine_map<(i, j) -> (i, j)>] layout #S {
        ^bb0(%i: index, %j: index, %e: f32):
          %jj = arith.addi %c0, %j : index
          %ok = arith.cmpi ult, %jj, %Sk : index
          %g = arith.select %ok, %e, %ninf : f32
          tile.yield %g : f32
        } -> !S
        %mt0 = tile.reduce max %sm0 axis 1 : !S -> !r
        %mn0 = tile.generic [128] ins(%m0 : !r) outs(%mt0 : !r) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] layout #r {
        ^bb0(%i: index, %e: f32, %g: f32):
          %x = arith.maximumf %e, %g : f32
          tile.yield %x : f32
        } -> !r
        %p0 = tile.generic [128, 128] ins(%mn0 : !r) outs(%sm0 : !S) maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] layout #S {
        ^bb0(%i: index, %j: index, %mx: f32, %e: f32):
          %d = arith.subf %e, %mx : f32
          %d1 = arith.mulf %d, %c : f32
          %x = math.exp2 %d1 : f32
          tile.yield %x : f32
        } -> !S
        %al0 = tile.generic [128] ins(%mn0 : !r) outs(%m0 : !r) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] layout #r {
        ^bb0(%i: index, %mx: f32, %e: f32):
          %d = arith.subf %e, %mx : f32
          %d1 = arith.mulf %d, %c : f32
          %x = math.exp2 %d1 : f32
          tile.yield %x : f32
        } -> !r
        %ls0 = tile.reduce add %p0 axis 1 : !S -> !r
        %ln0 = tile.generic [128] ins(%al0, %ls0 : !r, !r) outs(%l0 : !r) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] layout #r {
        ^bb0(%i: index, %aa: f32, %tt: f32, %e: f32):
          %x = arith.mulf %e, %aa : f32
          %y = arith.addf %x, %tt : f32
          tile.yield %y : f32
        } -> !r
        %ph0 = tile.generic [128, 128] ins(%p0 : !S) outs(%u : !h) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] layout #S {
        ^bb0(%i: index, %j: index, %e: f32, %old: f16):
          %x = arith.truncf %e : f32 to f16
          tile.yield %x : f16
        } -> !h
        %o00 = tile.generic [128, 128] ins(%al0 : !r) outs(%o0 : !S) maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] layout #S {
        ^bb0(%i: index, %j: index, %aa: f32, %e: f32):
          %x = arith.mulf %e, %aa : f32
          tile.yield %x : f32
        } -> !S
        // trips 1 .. nfull: no mask; trips nfull .. nk: mask
        %mA, %lA, %oA, %phA, %kcA, %vcA = scf.for %n = %c1 to %nfull step %c1
            iter_args(%mi = %mn0, %li = %ln0, %oi = %o00, %pp = %ph0, %kc = %kc1, %vc = %vt)
            -> (!r, !r, !S, !h, !tile.cursor<2>, !tile.cursor<2>) {
          %k = tile.consume %kr at %kc : !KV
          %z0 = tile.splat %zero : !S
          %sf, %st = tile.async_gemm %q, %k, %z0 trans_b inst <kind = wgmma, shape = [64, 128, 16]> : !B, !B, !S -> !tile.future<!S>
          %v = tile.consume %vr at %vc : !KV
          %of, %ot = tile.async_gemm %pp, %v, %oi inst <kind = wgmma, shape = [64, 128, 16], a_reg = true> : !h, !B, !S -> !tile.future<!S>
          %s = tile.await %sf pending 1 : !tile.future<!S> -> !S
          tile.release %kr at %kc after %st : !KV
          %j0 = arith.muli %n, %BM : index
          %mt = tile.reduce max %s axis 1 : !S -> !r
          %mn = tile.generic [128] ins(%mi : !r) outs(%mt : !r) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] layout #r {
          ^bb0(%i: index, %e: f32, %g: f32):
            %x = arith.maximumf %e, %g : f32
            tile.yield %x : f32
          } -> !r
          %p = tile.generic [128, 128] ins(%mn : !r) outs(%s : !S) maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] layout #S {
          ^bb0(%i: index, %j: index, %mx: f32, %e: f32):
            %d = arith.subf %e, %mx : f32
            %d1 = arith.mulf %d, %c : f32
            %x = math.exp2 %d1 : f32
            tile.yield %x : f32
          } -> !S
          %al = tile.generic [128] ins(%mn : !r) outs(%mi : !r) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] layout #r {
          ^bb0(%i: index, %mx: f32, %e: f32):
            %d = arith.subf %e, %mx : f32
            %d1 = arith.mulf %d, %c : f32
            %x = math.exp2 %d1 : f32
            tile.yield %x : f32
          } -> !r
          %ls = tile.reduce add %p axis 1 : !S -> !r
          %ln = tile.generic [128] ins(%al, %ls : !r, !r) outs(%li : !r) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] layout #r {
          ^bb0(%i: index, %aa: f32, %tt: f32, %e: f32):
            %x = arith.mulf %e, %aa : f32
            %y = arith.addf %x, %tt : f32
            tile.yield %y : f32
          } -> !r
          %ph = tile.generic [128, 128] ins(%p : !S) outs(%u : !h) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] layout #S {
          ^bb0(%i: index, %j: index, %e: f32, %old: f16):
            %x = arith.truncf %e : f32 to f16
            tile.yield %x : f16
          } -> !h
          %o1 = tile.await %of pending 0 : !tile.future<!S> -> !S
          tile.release %vr at %vc after %ot : !KV
          %on = tile.generic [128, 128] ins(%al : !r) outs(%o1 : !S) maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] layout #S {
          ^bb0(%i: index, %j: index, %a: f32, %e: f32):
            %x = arith.mulf %e, %a : f32
            tile.yield %x : f32
          } -> !S
          %kn = tile.advance %kc : !tile.cursor<2>
          %vn = tile.advance %vc : !tile.cursor<2>
          scf.yield %mn, %ln, %on, %ph, %kn, %vn : !r, !r, !S, !h, !tile.cursor<2>, !tile.cursor<2>
        }
        %mB, %lB, %oB, %phB, %kcB, %vcB = scf.for %n = %nfull to %nk step %c1
            iter_args(%mi = %mA, %li = %lA, %oi = %oA, %pp = %phA, %kc = %kcA, %vc = %vcA)
            -> (!r, !r, !S, !h, !tile.cursor<2>, !tile.cursor<2>) {
          %k = tile.consume %kr at %kc : !KV
          %z0 = tile.splat %zero : !S
          %sf, %st = tile.async_gemm %q, %k, %z0 trans_b inst <kind = wgmma, shape = [64, 128, 16]> : !B, !B, !S -> !tile.future<!S>
          %v = tile.consume %vr at %vc : !KV
          %of, %ot = tile.async_gemm %pp, %v, %oi inst <kind = wgmma, shape = [64, 128, 16], a_reg = true> : !h, !B, !S -> !tile.future<!S>
          %s = tile.await %sf pending 1 : !tile.future<!S> -> !S
          tile.release %kr at %kc after %st : !KV
          %j0 = arith.muli %n, %BM : index
          %sm = tile.generic [128, 128] outs(%s : !S) maps [affine_map<(i, j) -> (i, j)>] layout #S {
          ^bb0(%i: index, %j: index, %e: f32):
            %jj = arith.addi %j0, %j : index
            %ok = arith.cmpi ult, %jj, %Sk : index
            %g = arith.select %ok, %e, %ninf : f32
            tile.yield %g : f32
          } -> !S
          %mt = tile.reduce max %sm axis 1 : !S -> !r
          %mn = tile.generic [128] ins(%mi : !r) outs(%mt : !r) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] layout #r {
          ^bb0(%i: index, %e: f32, %g: f32):
            %x = arith.maximumf %e, %g : f32
            tile.yield %x : f32
          } -> !r
          %p = tile.generic [128, 128] ins(%mn : !r) outs(%sm : !S) maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] layout #S {
          ^bb0(%i: index, %j: index, %mx: f32, %e: f32):
            %d = arith.subf %e, %mx : f32
            %d1 = arith.mulf %d, %c : f32
            %x = math.exp2 %d1 : f32
            tile.yield %x : f32
          } -> !S
          %al = tile.generic [128] ins(%mn : !r) outs(%mi : !r) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] layout #r {
          ^bb0(%i: index, %mx: f32, %e: f32):
            %d = arith.subf %e, %mx : f32
            %d1 = arith.mulf %d, %c : f32
            %x = math.exp2 %d1 : f32
            tile.yield %x : f32
          } -> !r
          %ls = tile.reduce add %p axis 1 : !S -> !r
          %ln = tile.generic [128] ins(%al, %ls : !r, !r) outs(%li : !r) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] layout #r {
          ^bb0(%i: index, %aa: f32, %tt: f32, %e: f32):
            %x = arith.mulf %e, %aa : f32
            %y = arith.addf %x, %tt : f32
            tile.yield %y : f32
          } -> !r
          %ph = tile.generic [128, 128] ins(%p : !S) outs(%u : !h) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] layout #S {
          ^bb0(%i: index, %j: index, %e: f32, %old: f16):
            %x = arith.truncf %e : f32 to f16
            tile.yield %x : f16
          } -> !h
          %o1 = tile.await %of pending 0 : !tile.future<!S> -> !S
          tile.release %vr at %vc after %ot : !KV
          %on = tile.generic [128, 128] ins(%al : !r) outs(%o1 : !S) maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] layout #S {
          ^bb0(%i: index, %j: index, %a: f32, %e: f32):
            %x = arith.mulf %e, %a : f32
            tile.yield %x : f32
          } -> !S
          %kn = tile.advance %kc : !tile.cursor<2>
          %vn = tile.advance %vc : !tile.cursor<2>
          scf.yield %mn, %ln, %on, %ph, %kn, %vn : !r, !r, !S, !h, !tile.cursor<2>, !tile.cursor<2>
        }
        // second product of the last trip
        %vl = tile.consume %vr at %vcB : !KV
        %of, %oft = tile.async_gemm %phB, %vl, %oB inst <kind = wgmma, shape = [64, 128, 16], a_reg = true> : !h, !B, !S -> !tile.future<!S>
        tile.release %qr at %qc : !Qr
        %o = tile.await %of pending 0 : !tile.future<!S> -> !S
        tile.release %vr at %vcB after %oft : !KV
        %vce1 = tile.advance %vcB : !tile.cursor<2>
        %oh = tile.generic [128, 128] ins(%o, %lB : !S, !r) outs(%u : !h) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] layout #S {
        ^bb0(%i: index, %j: index, %e: f32, %l: f32, %old: f16):
          %x = arith.divf %e, %l : f32
          %y = arith.truncf %x : f32 to f16
          tile.yield %y : f16
        } -> !h
        tile.wait %sto pending 0 read
        tile.barrier group id 1
        tile.store %oh to %os : !h, !B
        tile.fence async_proxy
        tile.barrier group id 1
        %tc = tile.async_copy tma %os to %O[%b, %h, %row, %c0] : !B, !v
        %st1 = tile.join %tc
        %q1 = tile.advance %qc : !tile.cursor<1>
        scf.yield %q1, %kcB, %vce1, %st1 : !tile.cursor<1>, !tile.cursor<2>, !tile.cursor<2>, !tile.token
      }
      tile.wait %ste pending 0 read
    }
  }
  tile.yield
}
