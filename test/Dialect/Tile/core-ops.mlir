// RUN: tile-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: tile.kernel @host
// CHECK-SAME: {tile.access = "in", tile.dims = ["M", "2 * N"], tile.dtype = "float16", tile.name = "A"}
tile.kernel @host(%A: !tile.view<?x?xf16> {tile.name = "A", tile.access = "in", tile.dtype = "float16", tile.dims = ["M", "2 * N"]},
                  %p: !tile.ptr<f32>, %n: index, %s: f32)
    attributes {tile.doc = "does nothing", tile.c_name = "host_f16", tile.signature = "host(A, p, n, s)"} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // CHECK: tile.dim %{{.*}}, 0 : <?x?xf16>
  %m = tile.dim %A, 0 : !tile.view<?x?xf16>
  %k = tile.dim %A, 1 : !tile.view<?x?xf16>
  // CHECK: tile.stride %{{.*}}, 0 : <?x?xf16>
  %ld = tile.stride %A, 0 : !tile.view<?x?xf16>
  %some = arith.cmpi ugt, %m, %c0 : index
  // CHECK: tile.assume %{{.*}}, "M > 0"
  tile.assume %some, "M > 0"
  %twice = arith.muli %n, %c2 : index
  // CHECK: tile.require_equal %{{.*}}, %{{.*}} arg 0 axis 1, "2 * N"
  tile.require_equal %k, %twice arg 0 axis 1, "2 * N"
  // CHECK: tile.require_equal %{{.*}}, %{{.*}} arg 0 axis 0 stride, "K"
  tile.require_equal %ld, %k arg 0 axis 0 stride, "K"
  // CHECK: tile.make_view %{{.*}} sizes[%{{.*}}] : <f32> -> <?xf32>
  %v = tile.make_view %p sizes [%n] : !tile.ptr<f32> -> !tile.view<?xf32>
  // CHECK: tile.make_view %{{.*}} sizes[%{{.*}}] strides[%{{.*}}] : <f32> -> <?x4xf32, strides = [?, 1], align = 16>
  %w = tile.make_view %p sizes [%n] strides [%ld] : !tile.ptr<f32> -> !tile.view<?x4xf32, strides = [?, 1], align = 16>
  // CHECK: tile.recast_view %{{.*}} : <?xf32> -> <?xf32, safe = 0xFF800000 : f32>
  %x = tile.recast_view %v : !tile.view<?xf32> -> !tile.view<?xf32, safe = 0xFF800000 : f32>
  // CHECK: tile.recast_view %{{.*}} sizes[%{{.*}}] : <?xf32> -> <?x2xf32>
  %y = tile.recast_view %v sizes [%m] : !tile.view<?xf32> -> !tile.view<?x2xf32>
  // CHECK: tile.workspace sizes[%{{.*}}] : <?x8xf32>
  %ws = tile.workspace sizes [%n] : !tile.view<?x8xf32>
  // CHECK: tile.workspace : <8xf32>
  %ws8 = tile.workspace : !tile.view<8xf32>
  // CHECK: tile.sm_count
  %sms = tile.sm_count
  // CHECK: tile.launch (%[[B:.*]]) in (%{{.*}}) schedule #schedule attributes {tile.shared_bytes = 1024 : i64} {
  tile.launch (%b) in (%sms) schedule #tile.schedule<threads = 128, partition = [4, 1]> attributes {tile.shared_bytes = 1024 : i64} {
    // CHECK: tile.raster %[[B]] in(%{{.*}}, %{{.*}}) <kind = grouped, group = 8> : index, index
    %i, %j = tile.raster %b in (%n, %m) <kind = grouped, group = 8> : index, index
    %r = tile.raster %b in (%n) <kind = row> : index
    // CHECK: tile.threads {
    tile.threads {
      // CHECK: tile.print "at {}, {}", %{{.*}}, %{{.*}} : index, f32
      tile.print "at {}, {}", %i, %s : index, f32
    }
    tile.print "done"
    %ok = arith.cmpi ult, %i, %n : index
    // CHECK: tile.device_assert %{{.*}}, "i < n"
    tile.device_assert %ok, "i < n"
  }
  // CHECK: tile.launch_call @host.0(%{{.*}}) args(%{{.*}}, %{{.*}} : !tile.view<?x?xf16>, f32)
  tile.launch_call @host.0(%n) args(%A, %s : !tile.view<?x?xf16>, f32)
  tile.launch_call @empty(%n, %n, %n) args()
  tile.yield
}

// CHECK-LABEL: tile.kernel @host.0
// CHECK-SAME: attributes {tile.device, tile.host = "host", tile.target = #tile.target<"sm_90a">}
tile.kernel @host.0(%gx: index, %A: !tile.view<?x?xf16>, %s: f32)
    attributes {tile.device, tile.host = "host", tile.target = #tile.target<"sm_90a">} {
  // CHECK: tile.num_blocks
  %n = tile.num_blocks
  tile.launch (%bx) in (%n) {
  }
  tile.yield
}

// CHECK-LABEL: tile.kernel @empty
tile.kernel @empty(%gx: index, %gy: index, %gz: index) attributes {tile.device} {
  // CHECK: tile.launch (%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}, %{{.*}}) {
  tile.launch (%bx, %by, %bz) in (%gx, %gy, %gz) {
  }
  // CHECK: tile.yield
  tile.yield
}
