// RUN: tile-opt %s --tile-static-domains --verify-diagnostics

tile.kernel @strided(%n: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.launch (%b) in (%c1) {
    %f = tile.splat %zero : !tile.tile<64xf32>
    // expected-error @+1 {{has a run-time extent along axis 0, which map affine_map<(d0) -> (d0 * 2)> of out 0 uses otherwise than as an index}}
    %g = tile.generic [%n] outs(%f : !tile.tile<64xf32>) maps [affine_map<(i) -> (i * 2)>] {
    ^bb0(%i: index, %old: f32):
      tile.yield %zero : f32
    } -> !tile.tile<64xf32>
  }
  tile.yield
}
