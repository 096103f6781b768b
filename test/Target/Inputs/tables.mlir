tile.kernel @mm(%A: !tile.view<?x?xf16> {tile.name = "A"}, %C: !tile.view<?x64xbf16, strides = [?, 1]> {tile.name = "C"},
                %flag: i1 {tile.name = "flag"}, %p: !tile.ptr<i32> {tile.name = "p"}, %D: !tile.view<?x?xi8> {tile.name = "D"}) {
  %k = tile.dim %A, 1 : !tile.view<?x?xf16>
  %d1 = tile.dim %D, 1 : !tile.view<?x?xi8>
  %c2 = arith.constant 2 : index
  %half = arith.floordivsi %k, %c2 : index
  tile.require_equal %d1, %half arg 4 axis 1, "K // 2"
  %m = tile.dim %A, 0 : !tile.view<?x?xf16>
  tile.launch_call @mm.0(%m, %k) args(%A, %C, %flag : !tile.view<?x?xf16>, !tile.view<?x64xbf16, strides = [?, 1]>, i1)
  tile.launch_call @mm.1(%m) args(%p : !tile.ptr<i32>)
  tile.yield
}
tile.kernel @mm.0(%g: index, %h: index, %A: !tile.view<?x?xf16>, %C: !tile.view<?x64xbf16, strides = [?, 1]>, %flag: i1) attributes {tile.device} {
  tile.launch (%b, %c) in (%g, %h) {
    tile.yield
  }
  tile.yield
}
tile.kernel @mm.1(%g: index, %p: !tile.ptr<i32>) attributes {tile.device} {
  tile.launch (%b) in (%g) {
    tile.yield
  }
  tile.yield
}
tile.kernel @none() {
  tile.yield
}
