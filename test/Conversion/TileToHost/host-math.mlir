// RUN: tile-opt "--tile-expand-math=level=2" --convert-tile-host-to-llvm %s | FileCheck %s

// Scalars of the host: no library function is left, divisors are never zero.

// CHECK-LABEL: llvm.func internal @m__host(
// CHECK-NOT:     math.
// CHECK-NOT:     llvm.intr.exp
// CHECK-NOT:     llvm.fptrunc {{.*}} to bf16
// CHECK:         %[[SAFE:.*]] = llvm.select
// CHECK:         llvm.sdiv %{{.*}}, %{{.*}} : i64
// CHECK:         llvm.call @tile_rt_launch
tile.kernel @m(%X: !tile.view<?xf32>, %h: f16, %s: f32, %k: i32) {
  %n = tile.dim %X, 0 : !tile.view<?xf32>
  %e = math.exp %s : f32
  %w = arith.extf %h : f16 to f32
  %v = arith.addf %w, %e : f32
  %t = arith.truncf %v : f32 to bf16
  %ki = arith.index_cast %k : i32 to index
  %d = arith.floordivsi %n, %ki : index
  tile.launch_call @m.0(%d) args(%X, %v, %t : !tile.view<?xf32>, f32, bf16)
  tile.yield
}
tile.kernel @m.0(%g: index, %X: !tile.view<?xf32>, %v: f32, %t: bf16) attributes {tile.device} {
  tile.launch (%x) in (%g) {
    tile.yield
  }
  tile.yield
}
