// RUN: tile-opt %s --convert-tile-to-nvvm | FileCheck %s
// Integers of few bits go into the mantissa of a power of two; others, and wide ones, are converted.
#l = #tile.layout<"reg 2:d0 | lane 32:2d0 -> 64">
#map = affine_map<(i) -> (i)>
#schedule = #tile.schedule<threads = 32, partition = [1, 1]>
// CHECK-LABEL: llvm.func @small
// A nibble less eight: 0x6400 or the nibble is 1024 and the nibble.
// CHECK: arith.ori {{.*}} : vector<2xi16>
// CHECK: arith.subf {{.*}} : vector<2xf16>
// CHECK-NOT: arith.sitofp
// CHECK: arith.ori {{.*}} : vector<2xi32>
// CHECK: arith.subf {{.*}} : vector<2xf32>
// A byte has more values than the mantissa of bfloat16.
// CHECK: arith.uitofp {{.*}} : vector<2xi8> to vector<2xbf16>
tile.kernel @small(%g: index, %X: !tile.view<64xi8>, %A: !tile.view<64xf16>, %B: !tile.view<64xf32>, %C: !tile.view<64xbf16>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #schedule {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0] : !tile.view<64xi8> -> <64xi8, #l>
    %u = tile.undef : <64xf16, #l>
    %v = tile.undef : <64xf32, #l>
    %w = tile.undef : <64xbf16, #l>
    %y:3 = tile.generic [64] ins(%x : !tile.tile<64xi8, #l>) outs(%u, %v, %w : !tile.tile<64xf16, #l>, !tile.tile<64xf32, #l>, !tile.tile<64xbf16, #l>) maps [#map, #map, #map, #map] layout #l {
    ^bb0(%i: index, %e: i8, %o: f16, %p: f32, %q: bf16):
      %c15 = arith.constant 15 : i8
      %c8 = arith.constant 8 : i32
      %n = arith.andi %e, %c15 : i8
      %k = arith.extui %n : i8 to i32
      %s = arith.subi %k, %c8 : i32
      %h = arith.sitofp %s : i32 to f16
      %f = arith.uitofp %e : i8 to f32
      %t = arith.uitofp %e : i8 to bf16
      tile.yield %h, %f, %t : f16, f32, bf16
    } -> !tile.tile<64xf16, #l>, !tile.tile<64xf32, #l>, !tile.tile<64xbf16, #l>
    tile.store %y#0 to %A[%c0] : <64xf16, #l>, !tile.view<64xf16>
    tile.store %y#1 to %B[%c0] : <64xf32, #l>, !tile.view<64xf32>
    tile.store %y#2 to %C[%c0] : <64xbf16, #l>, !tile.view<64xbf16>
  }
  tile.yield
}

// fast_math lets functions and divisions be approximate.
// CHECK-LABEL: llvm.func @fast
// CHECK-DAG: math.tanh %{{.*}} fastmath<afn> : f32
// CHECK-DAG: arith.divf {{.*}} fastmath<arcp,afn> : vector<2xf32>
// CHECK-DAG: math.exp2
// CHECK-LABEL: llvm.func @slow
// CHECK-DAG: llvm.call @__nv_tanhf
// CHECK-DAG: llvm.call @__nv_expf
// CHECK-DAG: arith.divf %{{[0-9]+}}, %{{[0-9]+}} : vector<2xf32>
tile.kernel @fast(%g: index, %X: !tile.view<64xf32>) attributes {tile.device, tile.fast_math, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #schedule {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0] : !tile.view<64xf32> -> <64xf32, #l>
    %y = tile.generic [64] outs(%x : !tile.tile<64xf32, #l>) maps [#map] layout #l {
    ^bb0(%i: index, %o: f32):
      %t = math.tanh %o : f32
      %e = math.exp %o : f32
      %d = arith.divf %t, %e : f32
      tile.yield %d : f32
    } -> !tile.tile<64xf32, #l>
    tile.store %y to %X[%c0] : <64xf32, #l>, !tile.view<64xf32>
  }
  tile.yield
}
tile.kernel @slow(%g: index, %X: !tile.view<64xf32>) attributes {tile.device, tile.target = #tile.target<"sm_90a">} {
  tile.launch (%b) in (%g) schedule #schedule {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0] : !tile.view<64xf32> -> <64xf32, #l>
    %y = tile.generic [64] outs(%x : !tile.tile<64xf32, #l>) maps [#map] layout #l {
    ^bb0(%i: index, %o: f32):
      %t = math.tanh %o : f32
      %e = math.exp %o : f32
      %d = arith.divf %t, %e : f32
      tile.yield %d : f32
    } -> !tile.tile<64xf32, #l>
    tile.store %y to %X[%c0] : <64xf32, #l>, !tile.view<64xf32>
  }
  tile.yield
}
