// RUN: tile-opt %s --tile-select-points=targets=sm_90a 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.err
// Points of a kernel that multiplies nothing cannot be compared: the defaults stay, and a remark says so.
// REMARK: remark: [R0406] `f` is compiled with the defaults
// CHECK: tile.kernel @f(
// CHECK-NOT: @f.t1
tile.kernel @f(%A: !tile.view<?xf32>) {
  %n = tile.dim %A, 0 : <?xf32>
  tile.launch (%b) in (%n) {
    tile.yield
  }
  tile.yield
}
tile.kernel @f.t1(%A: !tile.view<?xf32>) attributes {tile.point_of = "f"} {
  %n = tile.dim %A, 0 : <?xf32>
  tile.launch (%b) in (%n) {
    tile.yield
  }
  tile.yield
}
