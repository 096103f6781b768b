// RUN: tile-opt %s --tile-verify-stage=stage=threads -split-input-file -verify-diagnostics

gpu.module @clean {
  llvm.func @f(%a: i64) {
    llvm.return
  }
}

// -----

gpu.module @op {
  func.func @f() {
    // expected-error @+1 {{op of the tile dialect after stage threads}}
    %p = tile.cursor : !tile.cursor<3>
    return
  }
}

// -----

// expected-error @+1 {{type of the tile dialect after stage threads: '!tile.view<?xf32>'}}
func.func @type(%v: !tile.view<?xf32>) {
  return
}
