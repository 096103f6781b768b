// Where the sums of products stand: registers that have names in PTX, or values tied to the assembly.
// RUN: tile-opt %s --split-input-file --convert-tile-to-nvvm --canonicalize | FileCheck %s
#s = #tile.schedule<threads = 128>
#k = #tile.layout<"d0 8:64^8 8:512 | d1 64:1 -> 4096^64">
#d = #tile.layout<"reg 2:d1 2:8d0 2:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 -> 64x16">
#n = #tile.layout<"d0 8:64^8 2:512 | d1 64:1 -> 1024^64">
!a = !tile.buffer<64x64xf16, #k>
!b = !tile.buffer<16x64xf16, #n>
!acc = !tile.tile<64x16xf32, #d>
!f = !tile.future<!acc>
#i = #tile.inst<kind = wgmma, shape = [64, 16, 16]>

// A loop carries the sums by name and one number: they begin as zeros, and are zeros after a loop without trips.
// CHECK-LABEL: llvm.func @zeros(
// CHECK: ".reg .b32 sums0_<8>;"
// CHECK-NOT: mov.b32 sums0
// CHECK: %[[HELD:.*]] = scf.for {{.*}} iter_args(%[[BEFORE:.*]] = %c0_i32) -> (i32)
// CHECK: "{{.*}}setp.ne.b32 p, $[[SCALE:[0-9]+]], 0;{{.*}} {sums0_0, sums0_1, sums0_2, sums0_3, sums0_4, sums0_5, sums0_6, sums0_7}, $0, $1, p, 1, 1{{.*}}setp.ne.b32 p, 1, 0;
// CHECK-SAME: %[[BEFORE]]
// CHECK: scf.yield %c1_i32
// CHECK: "wgmma.wait_group.sync.aligned 0;", "~{memory}"
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[HELD]], %c0_i32
// CHECK: scf.if %[[NONE]]
// CHECK-NEXT: "mov.b32 sums0_0, 0;{{.*}}mov.b32 sums0_7, 0;
// CHECK: "mov.b32 $0, sums0_0;{{.*}}mov.b32 $7, sums0_7;{{.*}}", "=f,=f,=f,=f,=f,=f,=f,=f,~{memory}"
tile.kernel @zeros(%g: index, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%x) in (%g) schedule #s {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0.0 : f32
    %a = tile.alloc at 0 : !a
    %b = tile.alloc at 8192 : !b
    %t = tile.splat %z : !acc
    %f0 = tile.in_flight %t : !acc -> !f
    %f1 = scf.for %i = %c0 to %g step %c1 iter_args(%f = %f0) -> (!f) {
      %f2, %token = tile.async_gemm %a, %b, %f trans_b inst #i : !a, !b, !f -> !f
      scf.yield %f2 : !f
    }
    %r = tile.await %f1 pending 0 : !f -> !acc
    tile.store %r to %C[%c0, %c0] : !acc, !tile.view<?x?xf32>
  }
  tile.yield
}

// -----

#s = #tile.schedule<threads = 128>
#k = #tile.layout<"d0 8:64^8 8:512 | d1 64:1 -> 4096^64">
#d = #tile.layout<"reg 2:d1 2:8d0 2:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 -> 64x16">
#n = #tile.layout<"d0 8:64^8 2:512 | d1 64:1 -> 1024^64">
!a = !tile.buffer<64x64xf16, #k>
!b = !tile.buffer<16x64xf16, #n>
!acc = !tile.tile<64x16xf32, #d>
!f = !tile.future<!acc>
#i = #tile.inst<kind = wgmma, shape = [64, 16, 16]>

// A tile that goes into a loop is moved there once. One tile may start several chains.
// CHECK-LABEL: llvm.func @values(
// CHECK: ".reg .b32 sums[[A:[0-9]+]]_<8>;"
// CHECK: ".reg .b32 sums[[B:[0-9]+]]_<8>;"
// CHECK: "mov.b32 sums[[A]]_0, $0;{{.*}}mov.b32 sums[[A]]_7, $7;{{.*}}", "f,f,f,f,f,f,f,f,~{memory}"
// CHECK: "mov.b32 sums[[B]]_0, $0;{{.*}}mov.b32 sums[[B]]_7, $7;{{.*}}", "f,f,f,f,f,f,f,f,~{memory}"
// CHECK: scf.for
// CHECK: wgmma.mma_async{{.*}} {sums[[B]]_0,
// CHECK: wgmma.mma_async{{.*}} {sums[[A]]_0,
// CHECK: "mov.b32 $0, sums[[B]]_0;
// CHECK: "mov.b32 $0, sums[[A]]_0;
tile.kernel @values(%g: index, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%x) in (%g) schedule #s {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.alloc at 0 : !a
    %b = tile.alloc at 8192 : !b
    %t = tile.load %C[%c0, %c0] : !tile.view<?x?xf32> -> !acc
    %f0 = tile.in_flight %t : !acc -> !f
    %f1:2 = scf.for %i = %c0 to %g step %c1 iter_args(%f = %f0, %h = %f0) -> (!f, !f) {
      %f2, %token = tile.async_gemm %a, %b, %f trans_b inst #i : !a, !b, !f -> !f
      %h2, %token2 = tile.async_gemm %a, %b, %h trans_b inst #i : !a, !b, !f -> !f
      scf.yield %f2, %h2 : !f, !f
    }
    %r = tile.await %f1#0 pending 0 : !f -> !acc
    %q = tile.await %f1#1 pending 0 : !f -> !acc
    tile.store %r to %C[%c0, %c0] : !acc, !tile.view<?x?xf32>
    tile.store %q to %C[%c0, %c1] : !acc, !tile.view<?x?xf32>
  }
  tile.yield
}

// -----

#s = #tile.schedule<threads = 128>
#k = #tile.layout<"d0 8:64^8 8:512 | d1 64:1 -> 4096^64">
#d = #tile.layout<"reg 2:d1 2:8d0 2:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 -> 64x16">
#n = #tile.layout<"d0 8:64^8 2:512 | d1 64:1 -> 1024^64">
!a = !tile.buffer<64x64xf16, #k>
!b = !tile.buffer<16x64xf16, #n>
!acc = !tile.tile<64x16xf32, #d>
!f = !tile.future<!acc>
#i = #tile.inst<kind = wgmma, shape = [64, 16, 16]>

// A tile goes in and a tile comes out each time: values, tied to the product and to the wait.
// CHECK-LABEL: llvm.func @tied(
// CHECK-NOT: sums
// CHECK: scf.for
// CHECK: wgmma.mma_async{{.*}} {$0, $1, $2, $3, $4, $5, $6, $7}{{.*}}", "=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,0,1,2,3,4,5,6,7,l,l
// CHECK: "wgmma.wait_group.sync.aligned 0;", "=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,0,1,2,3,4,5,6,7,~{memory}"
tile.kernel @tied(%g: index, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%x) in (%g) schedule #s {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.alloc at 0 : !a
    %b = tile.alloc at 8192 : !b
    %t = tile.load %C[%c0, %c0] : !tile.view<?x?xf32> -> !acc
    %r = scf.for %i = %c0 to %g step %c1 iter_args(%v = %t) -> (!acc) {
      %f0 = tile.in_flight %v : !acc -> !f
      %f1, %token = tile.async_gemm %a, %b, %f0 trans_b inst #i : !a, !b, !f -> !f
      %v2 = tile.await %f1 pending 0 : !f -> !acc
      scf.yield %v2 : !acc
    }
    tile.store %r to %C[%c0, %c0] : !acc, !tile.view<?x?xf32>
  }
  tile.yield
}

// -----

#s = #tile.schedule<threads = 128>
#k = #tile.layout<"d0 8:64^8 8:512 | d1 64:1 -> 4096^64">
#d = #tile.layout<"reg 2:d1 2:8d0 2:8d1 | lane 4:2d1 8:d0 | warp 4:16d0 -> 64x16">
#n = #tile.layout<"d0 8:64^8 2:512 | d1 64:1 -> 1024^64">
!a = !tile.buffer<64x64xf16, #k>
!b = !tile.buffer<16x64xf16, #n>
!acc = !tile.tile<64x16xf32, #d>
!f = !tile.future<!acc>
#i = #tile.inst<kind = wgmma, shape = [64, 16, 16]>

// Hoisted out of a loop, a start is still one each time around it.
// CHECK-LABEL: llvm.func @hoisted(
// CHECK: scf.for
// CHECK-NEXT: "mov.b32 sums0_0, $0;
// CHECK: scf.for
// CHECK: wgmma.mma_async{{.*}} {sums0_0,
tile.kernel @hoisted(%g: index, %C: !tile.view<?x?xf32>, %v: f32) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%x) in (%g) schedule #s {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.alloc at 0 : !a
    %b = tile.alloc at 8192 : !b
    %t = tile.splat %v : !acc
    %f0 = tile.in_flight %t : !acc -> !f
    scf.for %j = %c0 to %g step %c1 {
      %f1 = scf.for %i = %c0 to %g step %c1 iter_args(%f = %f0) -> (!f) {
        %f2, %token = tile.async_gemm %a, %b, %f trans_b inst #i : !a, !b, !f -> !f
        scf.yield %f2 : !f
      }
      %r = tile.await %f1 pending 0 : !f -> !acc
      tile.store %r to %C[%j, %c0] : !acc, !tile.view<?x?xf32>
    }
  }
  tile.yield
}
