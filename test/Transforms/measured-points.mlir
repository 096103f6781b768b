// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-merge-points)' | FileCheck %s
// Measurements become a choice by the sizes of the call: exact sizes win over near ones, the first in order over later ones, and
// near ones count only while the launch makes as many waves.
// CHECK-LABEL: tile.kernel @f(
// CHECK-SAME: %[[A:[a-z0-9]+]]: !tile.view<?xf16>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: arith.constant 960 : index
// CHECK-DAG: arith.constant 1088 : index
// CHECK-DAG: arith.constant 132 : index
// Near 1024 or 1056 with points 1 and 0, then at 1056 and 1024.
// CHECK-DAG: %[[N:.*]] = tile.dim %[[A]], 0
// CHECK: %[[S0:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
// CHECK: %[[S1:.*]] = arith.select %{{.*}}, %{{.*}}, %[[S0]] : index
// CHECK: %[[S2:.*]] = arith.select %{{.*}}, %{{.*}}, %[[S1]] : index
// CHECK: tile.launch_call @f.0({{.*}}) args({{.*}}) points [@f.t1.0] grids({{.*}}) trips({{.*}}) measured ["sm_90a"](%[[S2]])
tile.kernel @f(%A: !tile.view<?xf16> {tile.dims = ["N"]}) attributes {
    tile.measured = [{order = 1 : i64, sizes = {N = 1056 : i64}, target = "sm_90a"}]} {
  %c64 = arith.constant 64 : index
  %n = tile.dim %A, 0 : <?xf16>
  %g = arith.ceildivui %n, %c64 : index
  tile.launch_call @f.0(%g) args(%A : !tile.view<?xf16>)
  tile.yield
}
tile.kernel @f.0(%g: index, %A: !tile.view<?xf16>) attributes {tile.device, tile.host = "f"} {
  tile.launch (%b) in (%g) {
    tile.yield
  }
  tile.yield
}
tile.kernel @f.t1(%A: !tile.view<?xf16> {tile.dims = ["N"]}) attributes {tile.point_of = "f", tile.measured = [
    {blocks_over = 0 : i64, blocks_upto = 132 : i64, order = 0 : i64, sizes = {N = 1024 : i64}, target = "sm_90a"}]} {
  %c128 = arith.constant 128 : index
  %n = tile.dim %A, 0 : <?xf16>
  %g = arith.ceildivui %n, %c128 : index
  tile.launch_call @f.t1.0(%g) args(%A : !tile.view<?xf16>)
  tile.yield
}
tile.kernel @f.t1.0(%g: index, %A: !tile.view<?xf16>) attributes {tile.device, tile.host = "f.t1"} {
  tile.launch (%b) in (%g) {
    tile.yield
  }
  tile.yield
}
