// RUN: tile-opt %s --verify-roundtrip --tile-verify-stage=stage=laid-out -o /dev/null
// Async equals LaidOut here: no loop, no shared memory, one-shot grid. assume(N % 8 == 0) made 16-byte vectors legal.
#schedule = #tile.schedule<threads = 128, partition = [4, 1], index_bits = 32>
// one 16-byte vector per thread, one warp per row of 256: the anchor is the vector access
#vec = #tile.layout<"reg 2:d1 2:2d1 2:4d1 | lane 2:8d1 2:16d1 2:32d1 2:64d1 2:128d1 | warp 2:d0 2:2d0 -> 4x256">
tile.kernel @gelu(%X: !tile.view<?x?xbf16>, %Y: !tile.view<?x?xbf16>) attributes {tile.target = #tile.target<"sm_90a">} {
  %BM = arith.constant 4 : index
  %BN = arith.constant 256 : index
  %M = tile.dim %X, 0 : !tile.view<?x?xbf16>
  %N = tile.dim %X, 1 : !tile.view<?x?xbf16>
  %gx = arith.ceildivui %N, %BN : index
  %gy = arith.ceildivui %M, %BM : index
  tile.launch (%bx, %by) in (%gx, %gy) schedule #schedule {
    %row = arith.muli %by, %BM : index
    %col = arith.muli %bx, %BN : index
    %x = tile.load %X[%row, %col] : !tile.view<?x?xbf16> -> !tile.tile<4x256xbf16, #vec>
    %u = tile.undef : !tile.tile<4x256xbf16, #vec>
    %y = tile.generic [4, 256] ins(%x : !tile.tile<4x256xbf16, #vec>) outs(%u : !tile.tile<4x256xbf16, #vec>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] layout #vec {
    ^bb0(%i: index, %j: index, %e: bf16, %old: bf16):
      %half = arith.constant 0.5 : f32
      %one = arith.constant 1.0 : f32
      %r = arith.constant 0.70710678 : f32
      %f = arith.extf %e : bf16 to f32
      %z = arith.mulf %f, %r : f32
      %erf = math.erf %z : f32
      %p = arith.addf %erf, %one : f32
      %h = arith.mulf %f, %half : f32
      %g = arith.mulf %h, %p : f32
      %o = arith.truncf %g : f32 to bf16
      tile.yield %o : bf16
    } -> !tile.tile<4x256xbf16, #vec>
    tile.store %y to %Y[%row, %col] : !tile.tile<4x256xbf16, #vec>, !tile.view<?x?xbf16>
  }
  tile.yield
}
