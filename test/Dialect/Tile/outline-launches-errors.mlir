// RUN: tile-opt %s --tile-outline-launches -verify-diagnostics

tile.kernel @f(%n: index) {
  // expected-error @+1 {{the name 'f.0' of this launch's device kernel is taken}}
  tile.launch (%b) in (%n) {
  }
  tile.yield
}

tile.kernel @f.0(%n: index) {
  tile.yield
}
