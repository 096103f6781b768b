// RUN: tile-opt %s --verify-roundtrip | FileCheck %s

!buf = !tile.buffer<64x64xf16>
// CHECK-LABEL: tile.kernel @memory
tile.kernel @memory(%A: !tile.view<?x?xf16>, %X: !tile.view<?x?x?xf16>, %I: !tile.view<?xi32>, %img: !tile.view<?x?x?x64xf16>,
                    %F: !tile.view<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  tile.launch (%b) in (%n) {
    // CHECK: tile.alloc : <64x64xf16>
    %a = tile.alloc : !buf
    // CHECK: tile.alloc at 16384 : <64x64xf16>
    %p = tile.alloc at 16384 : !buf
    // CHECK: tile.subbuffer %{{.*}}[%{{.*}}, %{{.*}}] extents [1, 64] : <64x64xf16> -> <64xf16>
    %s = tile.subbuffer %a[%b, %c0] extents [1, 64] : !buf -> !tile.buffer<64xf16>
    // CHECK: tile.recast_buffer %{{.*}} : <64x64xf16> -> <64x32xf32>
    %r = tile.recast_buffer %a : !buf -> !tile.buffer<64x32xf32>
    // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] extents [1, 64, 64] inbounds [true, false, true] : !tile.view<?x?x?xf16> -> <64x64xf16>
    %x = tile.load %X[%b, %c0, %c0] extents [1, 64, 64] inbounds [true, false, true] : !tile.view<?x?x?xf16> -> !tile.tile<64x64xf16>
    // CHECK: tile.load %{{.*}} : !tile.buffer<64x64xf16> -> <64x64xf16>
    %y = tile.load %a : !buf -> !tile.tile<64x64xf16>
    // CHECK: tile.store %{{.*}} to %{{.*}} : <64x64xf16>, !tile.buffer<64x64xf16>
    tile.store %x to %a : !tile.tile<64x64xf16>, !buf
    // CHECK: tile.store %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : <64x64xf16>, !tile.view<?x?xf16>
    tile.store %y to %A[%c0, %b] : !tile.tile<64x64xf16>, !tile.view<?x?xf16>
    // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} engine tma : !tile.view<?x?xf16>, !tile.buffer<64x64xf16>
    tile.copy %A[%b, %c0] to %a engine tma : !tile.view<?x?xf16>, !buf
    // CHECK: tile.copy %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] transpose : !tile.buffer<64x64xf16>, !tile.view<?x?xf16>
    tile.copy %a to %A[%b, %c0] transpose : !buf, !tile.view<?x?xf16>
    // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} im2col <kernel = 3, stride = 1, dilation = 1, pad = 1> : !tile.view<?x?x?x64xf16>, !tile.buffer<64x64xf16>
    tile.copy %img[%b, %c0] to %a im2col <kernel = 3, stride = 1, dilation = 1, pad = 1> : !tile.view<?x?x?x64xf16>, !buf
    // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}, %{{.*}}] extents [32, 16] : !tile.view<?x?xf32>, !tile.buffer<64x64xf16>
    tile.copy %F[%b, %c0] to %a[%c0, %c1] extents [32, 16] : !tile.view<?x?xf32>, !buf
    %w = tile.alloc : !tile.buffer<64x72xf16>
    // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] to %{{.*}} extents [1, 64, 64] engine words : !tile.view<?x?x?xf16>, !tile.buffer<64x72xf16>
    tile.copy %X[%b, %c0, %c1] to %w extents [1, 64, 64] engine words : !tile.view<?x?x?xf16>, !tile.buffer<64x72xf16>
    // CHECK: tile.realign %{{.*}} of %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] extents [1, 64, 64] transpose : <64x72xf16>, <?x?x?xf16> -> <64x64xf16>
    %rw = tile.realign %w of %X[%b, %c0, %c1] extents [1, 64, 64] transpose : !tile.buffer<64x72xf16>, !tile.view<?x?x?xf16> -> !tile.tile<64x64xf16>
    %p0 = tile.alloc : !tile.buffer<32x16xbf16>
    %p1 = tile.alloc : !tile.buffer<32x16xbf16>
    // CHECK: tile.split_copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}}, %{{.*}} : !tile.view<?x?xf32>, !tile.buffer<32x16xbf16>, !tile.buffer<32x16xbf16>
    tile.split_copy %F[%b, %c0] to %p0, %p1 : !tile.view<?x?xf32>, !tile.buffer<32x16xbf16>, !tile.buffer<32x16xbf16>
    // CHECK: tile.atomic add %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : <64x64xf16>, !tile.view<?x?xf16>
    tile.atomic add %x to %A[%b, %c0] : !tile.tile<64x64xf16>, !tile.view<?x?xf16>
    // CHECK: tile.elem_load %{{.*}}[%{{.*}}] inbounds [true] : !tile.view<?xi32>
    %i = tile.elem_load %I[%b] inbounds [true] : !tile.view<?xi32>
    // CHECK: tile.elem_store %{{.*}} to %{{.*}}[%{{.*}}] : !tile.view<?xi32>
    tile.elem_store %i to %I[%b] : !tile.view<?xi32>
    // CHECK: tile.elem_atomic max %{{.*}} to %{{.*}}[%{{.*}}] : !tile.view<?xi32>
    %o = tile.elem_atomic max %one to %I[%b] : !tile.view<?xi32>
    // CHECK: tile.elem_atomic cas %{{.*}} compare %{{.*}} : i32 to %{{.*}}[%{{.*}}] : !tile.view<?xi32>
    %q = tile.elem_atomic cas %one compare %o : i32 to %I[%b] : !tile.view<?xi32>
  }
  tile.yield
}
