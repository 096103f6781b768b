// RUN: tile-opt --convert-tile-host-to-llvm --split-input-file --verify-diagnostics %s

tile.kernel @prints(%X: !tile.view<?xf32>) {
  // expected-error@+1 {{cannot stand on the host level}}
  tile.print "x"
  tile.yield
}

// -----

tile.kernel @choice(%X: !tile.view<?xf32>, %Y: !tile.view<?xf32>, %c: i1) {
  // expected-error@+1 {{a tensor cannot be chosen at run time on the host level}}
  %Z = scf.if %c -> !tile.view<?xf32> {
    scf.yield %X : !tile.view<?xf32>
  } else {
    scf.yield %Y : !tile.view<?xf32>
  }
  %n = tile.dim %Z, 0 : !tile.view<?xf32>
  tile.launch_call @choice.0(%n) args(%Z : !tile.view<?xf32>)
  tile.yield
}
tile.kernel @choice.0(%g: index, %X: !tile.view<?xf32>) attributes {tile.device} {
  tile.launch (%x) in (%g) {
    tile.yield
  }
  tile.yield
}
