// RUN: tile-opt --convert-tile-host-to-llvm --split-input-file %s | FileCheck %s

// Tensors, dims, an assume, a launch with all kinds of values.

// CHECK-DAG: llvm.mlir.global private constant @tilec.text.0("N % 2 == 0\00")
// CHECK-DAG: llvm.mlir.global external constant @tilec.library() {{.*}} : !llvm.array<0 x i8>
// CHECK-NOT: tile.kernel
// CHECK-LABEL: llvm.func internal @values__host(
// CHECK-SAME:    %[[MODE:[a-z0-9]+]]: i32, %[[KERNEL:[a-z0-9]+]]: i32, %[[LAUNCH:[a-z0-9]+]]: !llvm.ptr, %[[BYTES:[a-z0-9]+]]: !llvm.ptr,
// CHECK-SAME:    %[[X:[a-z0-9]+]]: !llvm.ptr, %[[H:[a-z0-9]+]]: i16, %[[B:[a-z0-9]+]]: i8, %[[U:[a-z0-9]+]]: i16, %[[I:[a-z0-9]+]]: i32, %[[P:[a-z0-9]+]]: !llvm.ptr, %[[F:[a-z0-9]+]]: f32) -> i32
// CHECK:         %[[STATUS:.*]] = llvm.call @tile_rt_begin(%[[CALL:.*]], %[[LIB:.*]], %[[KERNEL]], %[[MODE]], %[[LAUNCH]], %[[BYTES]], %[[TENSORS:.*]], %[[SYMBOLS:.*]], %[[VIEWS:[a-z0-9]+]])
// CHECK:         %[[BAD:.*]] = llvm.icmp "ne" %[[STATUS]]
// CHECK:         llvm.cond_br %[[BAD]], ^[[EXIT:.*]](%[[STATUS]] : i32), ^[[GO:.*]]
// CHECK:         llvm.call @tile_rt_fail(%[[CALL]]
// CHECK-DAG:     llvm.zext %[[H]] : i16 to i64
// CHECK-DAG:     llvm.zext %{{.*}} : i1 to i64
// CHECK-DAG:     llvm.sext %[[I]] : i32 to i64
// CHECK-DAG:     llvm.bitcast %[[F]] : f32 to i32
// CHECK:         llvm.call @tile_rt_launch(%[[CALL]]
// CHECK:         llvm.call @tile_rt_end(%[[CALL]])
// CHECK:       ^[[EXIT]](%[[R:.*]]: i32):
// CHECK:         llvm.return %[[R]] : i32
tile.kernel @values(%X: !tile.view<?xf32>, %h: f16, %b: i1, %u: i16 {tile.dtype = "uint16"}, %i: i32, %p: !tile.ptr<f32>, %f: f32) {
  %n = tile.dim %X, 0 : !tile.view<?xf32>
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %r = arith.remsi %n, %c2 : index
  %even = arith.cmpi eq, %r, %c0 : index
  tile.assume %even, "N % 2 == 0"
  tile.launch_call @values.0(%n) args(%X, %h, %b, %u, %i, %p, %f : !tile.view<?xf32>, f16, i1, i16, i32, !tile.ptr<f32>, f32)
  tile.yield
}
tile.kernel @values.0(%g: index, %X: !tile.view<?xf32>, %h: f16, %b: i1, %u: i16, %i: i32, %p: !tile.ptr<f32>, %f: f32) attributes {tile.device} {
  tile.launch (%x) in (%g) {
    tile.yield
  }
  tile.yield
}

// -----

// Checks and workspace come before the first launch, wherever they stand; launches are numbered in textual order.

// CHECK-LABEL: llvm.func internal @order__host(
// CHECK:         llvm.call @tile_rt_begin
// CHECK:         %[[PAIR:.*]] = "llvm.intr.smul.with.overflow"
// CHECK:         llvm.select
// CHECK:         llvm.call @tile_rt_workspace
// CHECK:         llvm.call @tile_rt_fail
// CHECK:         llvm.getelementptr %{{.*}}[3]
// CHECK-NEXT:    llvm.store
// CHECK-NEXT:    %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK:         llvm.call @tile_rt_launch(%{{.*}}, %[[ZERO]], %{{.*}})
// CHECK:         llvm.getelementptr %{{.*}}[5]
// CHECK-NEXT:    llvm.store
// CHECK-NEXT:    %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK:         llvm.call @tile_rt_launch(%{{.*}}, %[[ONE]], %{{.*}})
tile.kernel @order(%X: !tile.view<?xf32>) {
  %n = tile.dim %X, 0 : !tile.view<?xf32>
  tile.launch_call @order.0(%n) args(%X : !tile.view<?xf32>)
  %W = tile.workspace sizes [%n] : !tile.view<?x4xf32>
  %c1 = arith.constant 1 : index
  %ok = arith.cmpi sge, %n, %c1 : index
  tile.assume %ok, "N >= 1"
  tile.launch_call @order.1(%n) args(%W : !tile.view<?x4xf32>)
  tile.yield
}
tile.kernel @order.0(%g: index, %X: !tile.view<?xf32>) attributes {tile.device} {
  tile.launch (%x) in (%g) {
    tile.yield
  }
  tile.yield
}
tile.kernel @order.1(%g: index, %X: !tile.view<?x4xf32>) attributes {tile.device} {
  tile.launch (%x) in (%g) {
    tile.yield
  }
  tile.yield
}

// -----

// A launch in a loop and under a condition; every failure leaves at once.

// CHECK-LABEL: llvm.func internal @flow__host(
// CHECK:         llvm.call @tile_rt_begin
// CHECK:         llvm.cond_br %{{.*}}, ^[[EXIT:.*]](
// CHECK:         llvm.br ^[[HEAD:bb[0-9]+]](%{{.*}} : i64)
// CHECK:       ^[[HEAD]](%{{.*}}: i64):
// CHECK:         llvm.cond_br
// CHECK:         llvm.call @tile_rt_launch
// CHECK:         llvm.cond_br %{{.*}}, ^[[EXIT]](
// CHECK:         llvm.call @tile_rt_end
tile.kernel @flow(%X: !tile.view<?xf32>, %go: i1) {
  %n = tile.dim %X, 0 : !tile.view<?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.if %go {
      tile.launch_call @flow.0(%n) args(%X, %i : !tile.view<?xf32>, index)
    }
  }
  tile.yield
}
tile.kernel @flow.0(%g: index, %X: !tile.view<?xf32>, %i: index) attributes {tile.device} {
  tile.launch (%x) in (%g) {
    tile.yield
  }
  tile.yield
}

// -----

// Views made on the host: row-major strides are computed, a reshape checks the number of elements.

// CHECK-DAG: llvm.mlir.global private constant @tilec.text.{{[0-9]+}}("reshape\00")
// CHECK-DAG: llvm.mlir.global private constant @tilec.text.{{[0-9]+}}("2 * N\00")
// CHECK-LABEL: llvm.func internal @views__host(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: !llvm.ptr, %[[P:[a-z0-9]+]]: !llvm.ptr) -> i32
// CHECK:         llvm.ptrtoint %[[P]] : !llvm.ptr to i64
// CHECK:         llvm.mlir.constant(104 : i32) : i32
// CHECK-NEXT:    llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:    llvm.mlir.constant(0 : i32) : i32
// CHECK:         llvm.call @tile_rt_fail
// CHECK:         llvm.call @tile_rt_fail
// CHECK:         llvm.call @tile_rt_launch
tile.kernel @views(%X: !tile.view<?x?xf32>, %p: !tile.ptr<f32>) {
  %m = tile.dim %X, 0 : !tile.view<?x?xf32>
  %n = tile.dim %X, 1 : !tile.view<?x?xf32>
  %s = tile.stride %X, 0 : !tile.view<?x?xf32>
  %c2 = arith.constant 2 : index
  %twice = arith.muli %n, %c2 : index
  tile.require_equal %m, %twice arg 0 axis 0, "2 * N"
  %V = tile.make_view %p sizes [%m] strides [%s] : !tile.ptr<f32> -> !tile.view<?x8xf32, strides = [?, 1]>
  %flat = arith.muli %m, %n : index
  %R = tile.recast_view %X sizes [%flat] : !tile.view<?x?xf32> -> !tile.view<?xf32>
  %S = tile.recast_view %R : !tile.view<?xf32> -> !tile.view<?xf32, align = 16>
  tile.launch_call @views.0(%m) args(%V, %S : !tile.view<?x8xf32, strides = [?, 1]>, !tile.view<?xf32, align = 16>)
  tile.yield
}
tile.kernel @views.0(%g: index, %V: !tile.view<?x8xf32, strides = [?, 1]>, %S: !tile.view<?xf32, align = 16>) attributes {tile.device} {
  tile.launch (%x) in (%g) {
    tile.yield
  }
  tile.yield
}
