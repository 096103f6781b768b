// Ops that the samples do not need, and values that change their layout.
// RUN: tile-opt %s --pass-pipeline="builtin.module(tile-select-schedule,tile.kernel(tile-assign-layouts,canonicalize,cse,tile-pipeline-loops,tile-prefetch-registers,tile-make-persistent,canonicalize,cse,tile-allocate-shared,tile-insert-barriers,canonicalize,cse,tile-insert-delays),convert-tile-to-rocdl,canonicalize,cse)" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: tile-opt %t.mlir --tile-expand-math=level=0 --tile-rocdl-to-llvm | FileCheck %s --check-prefix=LLVM
// LLVM-NOT: {{= (scf|arith|vector|tile|math)\.}}
// LLVM: llvm.return

!v = !tile.view<?x?xf32>

// CHECK-LABEL: llvm.func @elements(
// CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : i64, !llvm.ptr<1>
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
// CHECK: llvm.amdgcn.wave.barrier
// CHECK: llvm.amdgcn.s.sleep
// CHECK: llvm.intr.trap
// CHECK-LABEL: llvm.func @elements$any(
// A view out of a pointer; single elements of memory and of tiles; a condition that must hold; pauses.
tile.kernel @elements(%g: index, %n: index, %ld: index, %p: !tile.ptr<f32>, %X: !v, %Y: !tile.view<?xi64>) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tile.make_view %p sizes [%n] strides [%ld] : !tile.ptr<f32> -> !tile.view<?x32xf32, strides = [?, 1]>
    %stride = tile.stride %m, 0 : !tile.view<?x32xf32, strides = [?, 1]>
    %s = arith.index_cast %stride : index to i64
    tile.elem_store %s to %Y[%b] : !tile.view<?xi64>
    %t = tile.load %m[%b, %c0] extents [16, 32] : !tile.view<?x32xf32, strides = [?, 1]> -> !tile.tile<16x32xf32>
    %e = tile.extract %t[%c1, %c0] : !tile.tile<16x32xf32>
    %u = tile.insert %e into %t[%c0, %c1] : !tile.tile<16x32xf32>
    %ok = arith.cmpi ult, %b, %n : index
    tile.device_assert %ok, "b < n"
    tile.store %u to %X[%b, %c0] : !tile.tile<16x32xf32>, !v
  }
  tile.yield
}

// CHECK-LABEL: llvm.func @aliases(
// Row 3 of the buffer begins at byte 384.
// CHECK: %[[BYTE:.*]] = arith.addi %{{.*}}, %c384_i32 : i32
// CHECK-NEXT: %[[AT:.*]] = llvm.getelementptr %{{.*}}[%[[BYTE]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// CHECK-NEXT: llvm.load %[[AT]] {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xf16>
// A row of a buffer, the buffer under another shape, a tile's bits under another type.
tile.kernel @aliases(%g: index, %X: !v, %Y: !tile.view<?xf32>, %Z: !tile.view<?x?x?xf32>, %W: !tile.view<?x?xf16>) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %a = tile.alloc : !tile.buffer<16x32xf32>
    tile.copy %X[%b, %c0] to %a : !v, !tile.buffer<16x32xf32>
    %row = tile.subbuffer %a[%c3, %c0] extents [1, 32] : !tile.buffer<16x32xf32> -> !tile.buffer<32xf32>
    tile.copy %row to %Y[%c0] : !tile.buffer<32xf32>, !tile.view<?xf32>
    %halves = tile.recast_buffer %a : !tile.buffer<16x32xf32> -> !tile.buffer<2x8x32xf32>
    tile.copy %halves to %Z[%c0, %c0, %c0] : !tile.buffer<2x8x32xf32>, !tile.view<?x?x?xf32>
    %x = tile.load %X[%b, %c0] : !v -> !tile.tile<16x32xf32>
    %h = tile.reshape %x : !tile.tile<16x32xf32> -> !tile.tile<16x64xf16>
    tile.store %h to %W[%c0, %c0] : !tile.tile<16x64xf16>, !tile.view<?x?xf16>
  }
  tile.yield
}

// CHECK-LABEL: llvm.func @scaled(
// CHECK: llvm.amdgcn.mfma.f32
// CHECK: llvm.amdgcn.s.barrier
// CHECK: llvm.store %{{.*}} : vector<{{[0-9]}}xf32>, !llvm.ptr<1>
// Sums of rows scale the rows of a product: they move from the layout they are summed in to the product's.
tile.kernel @scaled(%g: index, %A: !tile.view<?x?xf16>, %B: !tile.view<?x?xf16>, %X: !v, %Y: !v) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc : !tile.buffer<64x64xf16>
    %w = tile.alloc : !tile.buffer<64x64xf16>
    tile.copy %A[%b, %c0] to %a : !tile.view<?x?xf16>, !tile.buffer<64x64xf16>
    tile.copy %B[%c0, %c0] to %w : !tile.view<?x?xf16>, !tile.buffer<64x64xf16>
    %z = tile.splat %zero : !tile.tile<64x64xf32>
    %acc = tile.gemm %a, %w, %z : !tile.buffer<64x64xf16>, !tile.buffer<64x64xf16>, !tile.tile<64x64xf32>
    %x = tile.load %X[%b, %c0] : !v -> !tile.tile<64x64xf32>
    %sum = tile.reduce add %x axis 1 : !tile.tile<64x64xf32> -> !tile.tile<64xf32>
    %r = tile.generic [64, 64] ins(%sum : !tile.tile<64xf32>) outs(%acc : !tile.tile<64x64xf32>) maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] {
    ^bb0(%i: index, %j: index, %s: f32, %old: f32):
      %p = arith.mulf %s, %old : f32
      tile.yield %p : f32
    } -> !tile.tile<64x64xf32>
    tile.store %r to %Y[%b, %c0] : !tile.tile<64x64xf32>, !v
  }
  tile.yield
}

// CHECK-LABEL: llvm.func @ids(
// CHECK: llvm.amdgcn.workgroup.id.x
// CHECK: arith.minui %{{.*}}, %c4_i32 : i32
// CHECK: arith.divui %{{.*}} : i32
// CHECK: arith.divui %{{.*}} : i32
// CHECK: llvm.amdgcn.implicitarg.ptr
// CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : i64, !llvm.ptr<1>
// Block ids out of one number, how many blocks there are; tokens mean nothing without engines.
tile.kernel @ids(%g: index, %n: index, %m: index, %Y: !tile.view<?xi64>) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %i, %j = tile.raster %b in (%n, %m) <kind = grouped, group = 4> : index, index
    %blocks = tile.num_blocks
    %t = tile.ready
    %both = tile.join %t, %t
    tile.wait %both pending 0
    %vi = arith.index_cast %i : index to i64
    %vj = arith.index_cast %j : index to i64
    %vb = arith.index_cast %blocks : index to i64
    tile.elem_store %vi to %Y[%c0] : !tile.view<?xi64>
    tile.elem_store %vj to %Y[%c1] : !tile.view<?xi64>
    tile.elem_store %vb to %Y[%c2] : !tile.view<?xi64>
  }
  tile.yield
}

// The leading bits of a number are its first plane, those of what is left the second.
// CHECK-LABEL: llvm.func @planes(
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: arith.shrui
// CHECK: arith.trunci {{.*}} : vector<[[N:[0-9]+]]xi32> to vector<[[N]]xi16>
// CHECK: arith.andi
// CHECK: arith.subf
// CHECK: arith.trunci {{.*}} : vector<[[N]]xi32> to vector<[[N]]xi16>
tile.kernel @planes(%g: index, %X: !tile.view<64x64xf32, align = 16>, %Y: !tile.view<64x64xbf16, align = 16>) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %p = tile.alloc : !tile.buffer<64x64xbf16>
    %q = tile.alloc : !tile.buffer<64x64xbf16>
    tile.split_copy %X[%c0, %c0] to %p, %q : !tile.view<64x64xf32, align = 16>, !tile.buffer<64x64xbf16>, !tile.buffer<64x64xbf16>
    tile.copy %p to %Y[%c0, %c0] : !tile.buffer<64x64xbf16>, !tile.view<64x64xbf16, align = 16>
    tile.copy %q to %Y[%c0, %c0] : !tile.buffer<64x64xbf16>, !tile.view<64x64xbf16, align = 16>
  }
  tile.yield
}
