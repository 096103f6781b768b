// RUN: tile-opt %s --verify-roundtrip --tile-verify-stage=stage=scheduled -o /dev/null
#schedule = #tile.schedule<threads = 384, partition = [2, 1], roles = [<kind = load, warps = 4, regs = 40>, <kind = compute, warps = 8, regs = 232>], persistent = true, raster = <kind = row>, skew = true, staging = true>
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
    %q = tile.alloc : !tile.buffer<128x128xf16>
    %kb = tile.alloc : !tile.buffer<128x128xf16>
    %vb = tile.alloc : !tile.buffer<128x128xf16>
    %row = arith.muli %bx, %BM : index
    tile.copy %Q[%b, %h, %row, %c0] to %q engine tma : !tile.view<?x?x?x128xf16>, !tile.buffer<128x128xf16>
    %m0 = tile.splat %ninf : !tile.tile<128xf32>
    %l0 = tile.splat %zero : !tile.tile<128xf32>
    %o0 = tile.splat %zero : !tile.tile<128x128xf32>
    %nk = arith.ceildivui %Sk, %BM : index
    %m, %l, %o = scf.for %n = %c0 to %nk step %c1 iter_args(%mi = %m0, %li = %l0, %oi = %o0) -> (!tile.tile<128xf32>, !tile.tile<128xf32>, !tile.tile<128x128xf32>) {
      %j0 = arith.muli %n, %BM : index
      tile.copy %K[%b, %h, %j0, %c0] to %kb engine tma : !tile.view<?x?x?x128xf16>, !tile.buffer<128x128xf16>
      %s0 = tile.splat %zero : !tile.tile<128x128xf32>
      %s1 = tile.gemm %q, %kb, %s0 trans_b inst <kind = wgmma, shape = [64, 128, 16]> : !tile.buffer<128x128xf16>, !tile.buffer<128x128xf16>, !tile.tile<128x128xf32>
      %s = tile.generic [128, 128] outs(%s1 : !tile.tile<128x128xf32>) maps [affine_map<(i, j) -> (i, j)>] {
      ^bb0(%i: index, %j: index, %e: f32):
        %jj = arith.addi %j0, %j : index
        %ok = arith.cmpi ult, %jj, %Sk : index
        %g = arith.select %ok, %e, %ninf : f32
        tile.yield %g : f32
      } -> !tile.tile<128x128xf32>
      %mt = tile.reduce max %s axis 1 : !tile.tile<128x128xf32> -> !tile.tile<128xf32>
      %mn = tile.generic [128] ins(%mi : !tile.tile<128xf32>) outs(%mt : !tile.tile<128xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
      ^bb0(%i: index, %e: f32, %g: f32):
        %x = arith.maximumf %e, %g : f32
        tile.yield %x : f32
      } -> !tile.tile<128xf32>
      %p = tile.generic [128, 128] ins(%mn : !tile.tile<128xf32>) outs(%s : !tile.tile<128x128xf32>) maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] {
      ^bb0(%i: index, %j: index, %mx: f32, %e: f32):
        %d = arith.subf %e, %mx : f32
        %d1 = arith.mulf %d, %c : f32
        %x = math.exp2 %d1 : f32
        tile.yield %x : f32
      } -> !tile.tile<128x128xf32>
      %al = tile.generic [128] ins(%mn : !tile.tile<128xf32>) outs(%mi : !tile.tile<128xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
      ^bb0(%i: index, %mx: f32, %e: f32):
        %d = arith.subf %e, %mx : f32
        %d1 = arith.mulf %d, %c : f32
        %x = math.exp2 %d1 : f32
        tile.yield %x : f32
      } -> !tile.tile<128xf32>
      %ls = tile.reduce add %p axis 1 : !tile.tile<128x128xf32> -> !tile.tile<128xf32>
      %ln = tile.generic [128] ins(%al, %ls : !tile.tile<128xf32>, !tile.tile<128xf32>) outs(%li : !tile.tile<128xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
      ^bb0(%i: index, %aa: f32, %tt: f32, %e: f32):
        %x = arith.mulf %e, %aa : f32
        %y = arith.addf %x, %tt : f32
        tile.yield %y : f32
      } -> !tile.tile<128xf32>
      %oa = tile.generic [128, 128] ins(%al : !tile.tile<128xf32>) outs(%oi : !tile.tile<128x128xf32>) maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] {
      ^bb0(%i: index, %j: index, %a: f32, %e: f32):
        %x = arith.mulf %e, %a : f32
        tile.yield %x : f32
      } -> !tile.tile<128x128xf32>
      %u = tile.undef : !tile.tile<128x128xf16>
      %ph = tile.generic [128, 128] ins(%p : !tile.tile<128x128xf32>) outs(%u : !tile.tile<128x128xf16>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
      ^bb0(%i: index, %j: index, %e: f32, %old: f16):
        %x = arith.truncf %e : f32 to f16
        tile.yield %x : f16
      } -> !tile.tile<128x128xf16>
      tile.copy %V[%b, %h, %j0, %c0] to %vb engine tma : !tile.view<?x?x?x128xf16>, !tile.buffer<128x128xf16>
      %on = tile.gemm %ph, %vb, %oa inst <kind = wgmma, shape = [64, 128, 16], a_reg = true> : !tile.tile<128x128xf16>, !tile.buffer<128x128xf16>, !tile.tile<128x128xf32>
      scf.yield %mn, %ln, %on : !tile.tile<128xf32>, !tile.tile<128xf32>, !tile.tile<128x128xf32>
    } {tile.pipeline = #tile.pipeline<stages = 2>}
    %w = tile.undef : !tile.tile<128x128xf16>
    %oh = tile.generic [128, 128] ins(%o, %l : !tile.tile<128x128xf32>, !tile.tile<128xf32>) outs(%w : !tile.tile<128x128xf16>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %e: f32, %t: f32, %old: f16):
      %x = arith.divf %e, %t : f32
      %y = arith.truncf %x : f32 to f16
      tile.yield %y : f16
    } -> !tile.tile<128x128xf16>
    tile.store %oh to %O[%b, %h, %row, %c0] extents [1, 1, 128, 128] : !tile.tile<128x128xf16>, !tile.view<?x?x?x128xf16>
  }
  tile.yield
}
