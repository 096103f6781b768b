// RUN: tile-opt %s --verify-roundtrip --tile-verify-stage=stage=laid-out -o /dev/null
#schedule = #tile.schedule<threads = 384, partition = [2, 1], roles = [<kind = load, warps = 4, regs = 40>, <kind = compute, warps = 8, regs = 232>], persistent = true, raster = <kind = row>, skew = true, staging = true>
// S, P (A operand of the second product: the same map) and O share one layout; m, l, alpha have its row slice: no shuffle but the reduction's
#S = #tile.layout<"reg 2:d1 2:8d0 2:8d1 2:16d1 2:32d1 2:64d1 | lane 2:2d1 2:4d1 2:d0 2:2d0 2:4d0 | warp 2:16d0 2:32d0 | group 2:64d0 -> 128x128">
#r = #tile.layout<"reg 2:8d0 | lane 2:0 2:0 2:d0 2:2d0 2:4d0 | warp 2:16d0 2:32d0 | group 2:64d0 -> 128">
#sh = #tile.layout<"d0 8:64^8 16:512 | d1 64:1 2:8192 -> 16384^64">
tile.kernel @attention(%Q: !tile.view<?x?x?x128xf16>, %K: !tile.view<?x?x?x128xf16>, %V: !tile.view<?x?x?x128xf16>, %O: !tile.view<?x?x?x128xf16>, %c: f32) attributes {tile.target = #tile.target<"sm_90a">} {
  %BM = arith.constant 128 : index
  %B = tile.dim %Q, 0 : !tile.view<?x?x?x128xf16>
  %H = tile.dim %Q, 1 : !tile.view<?x?x?x128xf16>
  %Sq = tile.dim %Q, 2 : !tile.view<?x?x?x128xf16>
  %Sk = tile.dim %K, 2 : !tile.view<?x?x?x128xf16>
  %z = arith.constant 0 : index
  %some = arith.cmpi ugt, %Sk, %z : index
  tile.assume %some, "Sk > 0"
  %gx = arith.ceildivui %Sq, %BM : index
  tile.launch (%bx, %h, %b) in (%gx, %H, %B) schedule #schedule {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %ninf = arith.constant 0xFF800000 : f32
    %q = tile.alloc : !tile.buffer<128x128xf16, #sh>
    %kb = tile.alloc : !tile.buffer<128x128xf16, #sh>
    %vb = tile.alloc : !tile.buffer<128x128xf16, #sh>
    %row = arith.muli %bx, %BM : index
    tile.copy %Q[%b, %h, %row, %c0] to %q engine tma : !tile.view<?x?x?x128xf16>, !tile.buffer<128x128xf16, #sh>
    %m0 = tile.splat %ninf : !tile.tile<128xf32, #r>
    %l0 = tile.splat %zero : !tile.tile<128xf32, #r>
    %o0 = tile.splat %zero : !tile.tile<128x128xf32, #S>
    %nk = arith.ceildivui %Sk, %BM : index
    %m, %l, %o = scf.for %n = %c0 to %nk step %c1 iter_args(%mi = %m0, %li = %l0, %oi = %o0) -> (!tile.tile<128xf32, #r>, !tile.tile<128xf32, #r>, !tile.tile<128x128xf32, #S>) {
      %j0 = arith.muli %n, %BM : index
      tile.copy %K[%b, %h, %j0, %c0] to %kb engine tma : !tile.view<?x?x?x128xf16>, !tile.buffer<128x128xf16, #sh>
      %s0 = tile.splat %zero : !tile.tile<128x128xf32, #S>
      %s1 = tile.gemm %q, %kb, %s0 trans_b inst <kind = wgmma, shape = [64, 128, 16]> : !tile.buffer<128x128xf16, #sh>, !tile.buffer<128x128xf16, #sh>, !tile.tile<128x128xf32, #S>
      %s = tile.generic [128, 128] outs(%s1 : !tile.tile<128x128xf32, #S>) maps [affine_map<(i, j) -> (i, j)>] layout #S {
      ^bb0(%i: index, %j: index, %e: f32):
        %jj = arith.addi %j0, %j : index
        %ok = arith.cmpi ult, %jj, %Sk : index
        %g = arith.select %ok, %e, %ninf : f32
        tile.yield %g : f32
      } -> !tile.tile<128x128xf32, #S>
      %mt = tile.reduce max %s axis 1 : !tile.tile<128x128xf32, #S> -> !tile.tile<128xf32, #r>
      %mn = tile.generic [128] ins(%mi : !tile.tile<128xf32, #r>) outs(%mt : !tile.tile<128xf32, #r>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] layout #r {
      ^bb0(%i: index, %e: f32, %g: f32):
        %x = arith.maximumf %e, %g : f32
        tile.yield %x : f32
      } -> !tile.tile<128xf32, #r>
      %p = tile.generic [128, 128] ins(%mn : !tile.tile<128xf32, #r>) outs(%s : !tile.tile<128x128xf32, #S>) maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] layout #S {
      ^bb0(%i: index, %j: index, %mx: f32, %e: f32):
        %d = arith.subf %e, %mx : f32
        %d1 = arith.mulf %d, %c : f32
        %x = math.exp2 %d1 : f32
        tile.yield %x : f32
      } -> !tile.tile<128x128xf32, #S>
      %al = tile.generic [128] ins(%mn : !tile.tile<128xf32, #r>) outs(%mi : !tile.tile<128xf32, #r>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] layout #r {
      ^bb0(%i: index, %mx: f32, %e: f32):
        %d = arith.subf %e, %mx : f32
        %d1 = arith.mulf %d, %c : f32
        %x = math.exp2 %d1 : f32
        tile.yield %x : f32
      } -> !tile.tile<128xf32, #r>
      %ls = tile.reduce add %p axis 1 : !tile.tile<128x128xf32, #S> -> !tile.tile<128xf32, #r>
      %ln = tile.generic [128] ins(%al, %ls : !tile.tile<128xf32, #r>, !tile.tile<128xf32, #r>) outs(%li : !tile.tile<128xf32, #r>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] layout #r {
      ^bb0(%i: index, %aa: f32, %tt: f32, %e: f32):
        %x = arith.mulf %e, %aa : f32
        %y = arith.addf %x, %tt : f32
        tile.yield %y : f32
      } -> !tile.tile<128xf32, #r>
      %oa = tile.generic [128, 128] ins(%al : !tile.tile<128xf32, #r>) outs(%oi : !tile.tile<128x128xf32, #S>) maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] layout #S {
      ^bb0(%i: index, %j: index, %a: f32, %e: f32):
        %x = arith.mulf %e, %a : f32
        tile.yield %x : f32
      } -> !tile.tile<128x128xf32, #S>
      %u = tile.undef : !tile.tile<128x128xf16, #S>
      %ph = tile.generic [128, 128] ins(%p : !tile.tile<128x128xf32, #S>) outs(%u : !tile.tile<128x128xf16, #S>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] layout #S {
      ^bb0(%i: index, %j: index, %e: f32, %old: f16):
        %x = arith.truncf %e : f32 to f16
        tile.yield %x : f16
      } -> !tile.tile<128x128xf16, #S>
      tile.copy %V[%b, %h, %j0, %c0] to %vb engine tma : !tile.view<?x?x?x128xf16>, !tile.buffer<128x128xf16, #sh>
      %on = tile.gemm %ph, %vb, %oa inst <kind = wgmma, shape = [64, 128, 16], a_reg = true> : !tile.tile<128x128xf16, #S>, !tile.buffer<128x128xf16, #sh>, !tile.tile<128x128xf32, #S>
      scf.yield %mn, %ln, %on : !tile.tile<128xf32, #r>, !tile.tile<128xf32, #r>, !tile.tile<128x128xf32, #S>
    } {tile.pipeline = #tile.pipeline<stages = 2>}
    %w = tile.undef : !tile.tile<128x128xf16, #S>
    %oh = tile.generic [128, 128] ins(%o, %l : !tile.tile<128x128xf32, #S>, !tile.tile<128xf32, #r>) outs(%w : !tile.tile<128x128xf16, #S>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] layout #S {
    ^bb0(%i: index, %j: index, %e: f32, %t: f32, %old: f16):
      %x = arith.divf %e, %t : f32
      %y = arith.truncf %x : f32 to f16
      tile.yield %y : f16
    } -> !tile.tile<128x128xf16, #S>
    %os = tile.alloc : !tile.buffer<128x128xf16, #sh>
    tile.store %oh to %os : !tile.tile<128x128xf16, #S>, !tile.buffer<128x128xf16, #sh>
    tile.copy %os to %O[%b, %h, %row, %c0] engine tma : !tile.buffer<128x128xf16, #sh>, !tile.view<?x?x?x128xf16>
  }
  tile.yield
}
