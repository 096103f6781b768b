tile.kernel @axpy(%X: !tile.view<?xf32> {tile.name = "X"}, %Y: !tile.view<?xf32> {tile.name = "Y"},
                  %alpha: f32 {tile.name = "alpha"}) {
  %n = tile.dim %X, 0 : !tile.view<?xf32>
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %r = arith.remsi %n, %c2 : index
  %even = arith.cmpi eq, %r, %c0 : index
  tile.assume %even, "N % 2 == 0"
  %g = arith.ceildivsi %n, %c256 : index
  tile.launch_call @axpy.0(%g) args(%X, %Y, %alpha : !tile.view<?xf32>, !tile.view<?xf32>, f32)
  tile.yield
}
tile.kernel @axpy.0(%g: index, %X: !tile.view<?xf32>, %Y: !tile.view<?xf32>, %alpha: f32) attributes {tile.device, tile.host = "axpy"} {
  tile.launch (%b) in (%g) {
    tile.yield
  }
  tile.yield
}
