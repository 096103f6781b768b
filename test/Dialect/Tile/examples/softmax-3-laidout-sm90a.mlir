// RUN: tile-opt %s --verify-roundtrip --tile-verify-stage=stage=laid-out -o /dev/null
#schedule = #tile.schedule<threads = 128, partition = [4, 1], index_bits = 32>
// rows of 2 KiB: one warp per row, 4 vectors of 16 bytes per lane; the reduction is in-thread, then lanes; every lane ends with the result
#row = #tile.layout<"reg 2:d1 2:2d1 2:4d1 2:256d1 2:512d1 | lane 2:8d1 2:16d1 2:32d1 2:64d1 2:128d1 | warp 2:d0 2:2d0 -> 4x1024">
#red = #tile.layout<"lane 2:0 2:0 2:0 2:0 2:0 | warp 2:d0 2:2d0 -> 4">
tile.kernel @softmax(%X0: !tile.view<?x?xf16>, %Y: !tile.view<?x?xf16>) attributes {tile.target = #tile.target<"sm_90a">} {
  %BM = arith.constant 4 : index
  %BN = arith.constant 1024 : index
  %M = tile.dim %X0, 0 : !tile.view<?x?xf16>
  %N = tile.dim %X0, 1 : !tile.view<?x?xf16>
  %fits = arith.cmpi ule, %N, %BN : index
  tile.assume %fits, "N <= 1024"
  %gx = arith.ceildivui %M, %BM : index
  tile.launch (%bx) in (%gx) schedule #schedule {
    %c0 = arith.constant 0 : index
    %row = arith.muli %bx, %BM : index
    %X = tile.recast_view %X0 : !tile.view<?x?xf16> -> !tile.view<?x?xf16, safe = 0xFC00 : f16>
    %x = tile.load %X[%row, %c0] : !tile.view<?x?xf16, safe = 0xFC00 : f16> -> !tile.tile<4x1024xf16, #row>
    %u = tile.undef : !tile.tile<4x1024xf32, #row>
    %f = tile.generic [4, 1024] ins(%x : !tile.tile<4x1024xf16, #row>) outs(%u : !tile.tile<4x1024xf32, #row>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] layout #row {
    ^bb0(%i: index, %j: index, %e: f16, %old: f32):
      %g = arith.extf %e : f16 to f32
      tile.yield %g : f32
    } -> !tile.tile<4x1024xf32, #row>
    %m = tile.reduce max %f axis 1 : !tile.tile<4x1024xf32, #row> -> !tile.tile<4xf32, #red>
    %p = tile.generic [4, 1024] ins(%f, %m : !tile.tile<4x1024xf32, #row>, !tile.tile<4xf32, #red>) outs(%u : !tile.tile<4x1024xf32, #row>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] layout #row {
    ^bb0(%i: index, %j: index, %e: f32, %mx: f32, %old: f32):
      %d = arith.subf %e, %mx : f32
      %g = math.exp %d : f32
      tile.yield %g : f32
    } -> !tile.tile<4x1024xf32, #row>
    %s = tile.reduce add %p axis 1 : !tile.tile<4x1024xf32, #row> -> !tile.tile<4xf32, #red>
    %v = tile.undef : !tile.tile<4x1024xf16, #row>
    %y = tile.generic [4, 1024] ins(%p, %s : !tile.tile<4x1024xf32, #row>, !tile.tile<4xf32, #red>) outs(%v : !tile.tile<4x1024xf16, #row>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] layout #row {
    ^bb0(%i: index, %j: index, %e: f32, %sum: f32, %old: f16):
      %q = arith.divf %e, %sum : f32
      %o = arith.truncf %q : f32 to f16
      tile.yield %o : f16
    } -> !tile.tile<4x1024xf16, #row>
    tile.store %y to %Y[%row, %c0] : !tile.tile<4x1024xf16, #row>, !tile.view<?x?xf16>
  }
  tile.yield
}
