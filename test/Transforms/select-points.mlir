// RUN: tile-opt %s --tile-select-points=targets=sm_90a 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.err
// RUN: tile-opt %s --tile-select-points="targets=sm_90a,x86-64-v3 shapes=N=64" 2>%t.err | FileCheck %s --check-prefix=TUNE
// RUN: not grep R0406 %t.err
// Points of a kernel that multiplies nothing cannot be compared: the defaults stay, and a remark says so.
// REMARK: remark: [R0406] `f` is compiled with the defaults
// Tuning measures them all on the GPU; the CPU says what is right.
// TUNE: tile.kernel @f(
// TUNE: tile.kernel @f.t1({{.*}}tile.targets = ["sm_90a"]
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
