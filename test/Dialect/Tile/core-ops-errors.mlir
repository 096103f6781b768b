// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{has no results, got 'f32'}}
"tile.kernel"() <{sym_name = "results", function_type = () -> f32}> ({
  tile.yield
}) : () -> ()

// -----

// expected-error @+1 {{argument 0 must be a view, pointer or scalar, got '!tile.tile<4xf32>'}}
tile.kernel @argument(%t: !tile.tile<4xf32>) {
  tile.yield
}

// -----

// expected-error @+1 {{a device kernel has exactly one launch, got 0}}
tile.kernel @no_launch(%gx: index) attributes {tile.device} {
  tile.yield
}

// -----

// expected-error @+1 {{expected the first 2 arguments of a device kernel to be its grid}}
tile.kernel @grid(%gx: index, %n: f32) attributes {tile.device} {
  tile.launch (%x, %y) in (%gx, %gx) {
  }
  tile.yield
}

// -----

// expected-error @+1 {{expects 'tile.target' to be a #tile.target, got "sm_90a"}}
tile.kernel @target() attributes {tile.target = "sm_90a"} {
  tile.yield
}

// -----

// expected-error @+1 {{expects 'tile.device' to be a unit attribute, got true}}
tile.kernel @device() attributes {tile.device = true} {
  tile.yield
}

// -----

// expected-error @+1 {{expects 'tile.doc' to be a string, got 1 : i64}}
tile.kernel @doc() attributes {tile.doc = 1} {
  tile.yield
}

// -----

// expected-error @+1 {{expects 'tile.instance' to be a dictionary, got 1 : i64}}
tile.kernel @instance() attributes {tile.instance = 1} {
  tile.yield
}

// -----

// expected-error @+1 {{expects 'tile.access' of argument 0 to be "in", "out" or "inout", got "read"}}
tile.kernel @access(%A: !tile.view<?xf32> {tile.access = "read"}) {
  tile.yield
}

// -----

// expected-error @+1 {{'tile.dims' of argument 0 has 1 entries for 2 axes}}
tile.kernel @dims(%A: !tile.view<?x?xf32> {tile.dims = ["M"]}) {
  tile.yield
}

// -----

// expected-error @+1 {{'tile.dims' belongs on a view, argument 0 is 'f32'}}
tile.kernel @dims_of_scalar(%a: f32 {tile.dims = ["M"]}) {
  tile.yield
}

// -----

// expected-error @+1 {{expects 'tile.strides' of argument 0 to be an array of strings}}
tile.kernel @strides(%A: !tile.view<?xf32> {tile.strides = [1]}) {
  tile.yield
}

// -----

// expected-error @+1 {{expects 'tile.name' of argument 0 to be a string}}
tile.kernel @name(%A: !tile.view<?xf32> {tile.name = 3}) {
  tile.yield
}

// -----

tile.kernel @attribute_place(%n: index) {
  // expected-error @+1 {{'tile.target' belongs on tile.kernel}}
  tile.launch (%b) in (%n) attributes {tile.target = #tile.target<"sm_90a">} {
  }
  tile.yield
}

// -----

tile.kernel @pipeline_place(%n: index) {
  // expected-error @+1 {{'tile.pipeline' belongs on scf.for or scf.while}}
  tile.launch (%b) in (%n) attributes {tile.pipeline = #tile.pipeline<stages = 2>} {
  }
  tile.yield
}

// -----

tile.kernel @pipeline_kind(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expects 'tile.pipeline' to be a #tile.pipeline, got 3 : i64}}
  scf.for %i = %c0 to %n step %c1 {
  } {tile.pipeline = 3}
  tile.yield
}

// -----

tile.kernel @axes(%n: index) {
  // expected-error @+1 {{has 1 to 3 grid axes, got 4}}
  tile.launch (%a, %b, %c, %d) in (%n, %n, %n, %n) {
  }
  tile.yield
}

// -----

tile.kernel @ids(%n: index) {
  // expected-error @+1 {{expected one block id per grid axis, got 1 for 2}}
  tile.launch (%a) in (%n, %n) {
  }
  tile.yield
}

// -----

tile.kernel @capture(%A: !tile.view<?x?xf32>) {
  %c1 = arith.constant 1 : index
  %x = tile.undef : !tile.tile<16x8xf32>
  %c0 = arith.constant 0 : index
  tile.launch (%b) in (%c1) {
    // expected-error @+1 {{captures '!tile.tile<16x8xf32>' from the host level}}
    tile.store %x to %A[%c0, %c0] : !tile.tile<16x8xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}

// -----

tile.kernel @callee(%n: index) {
  // expected-error @+1 {{'other' is not a device kernel}}
  tile.launch_call @other(%n) args()
  tile.yield
}
tile.kernel @other(%n: index) {
  tile.yield
}

// -----

tile.kernel @count(%n: index) {
  // expected-error @+1 {{expected 2 grid extents and arguments for 'device', got 1}}
  tile.launch_call @device(%n) args()
  tile.yield
}
tile.kernel @device(%gx: index, %s: f32) attributes {tile.device} {
  tile.launch (%x) in (%gx) {
  }
  tile.yield
}

// -----

tile.kernel @types(%n: index, %s: f16) {
  // expected-error @+1 {{argument 1 of 'device' is 'f32', got 'f16'}}
  tile.launch_call @device(%n) args(%s : f16)
  tile.yield
}
tile.kernel @device(%gx: index, %s: f32) attributes {tile.device} {
  tile.launch (%x) in (%gx) {
  }
  tile.yield
}

// -----

tile.kernel @dim(%A: !tile.view<?x?xf32>) {
  // expected-error @+1 {{axis 2 is out of range for '!tile.view<?x?xf32>'}}
  %d = tile.dim %A, 2 : !tile.view<?x?xf32>
  tile.yield
}

// -----

tile.kernel @stride(%A: !tile.view<?x?xf32>) {
  // expected-error @+1 {{axis -1 is out of range for '!tile.view<?x?xf32>'}}
  %d = tile.stride %A, -1 : !tile.view<?x?xf32>
  tile.yield
}

// -----

tile.kernel @make_view(%p: !tile.ptr<f16>, %n: index) {
  // expected-error @+1 {{element types differ: '!tile.ptr<f16>' and '!tile.view<?xf32>'}}
  %v = tile.make_view %p sizes [%n] : !tile.ptr<f16> -> !tile.view<?xf32>
  tile.yield
}

// -----

tile.kernel @make_view_sizes(%p: !tile.ptr<f16>, %n: index) {
  // expected-error @+1 {{expected 2 sizes for '!tile.view<?x?xf16>', got 1}}
  %v = tile.make_view %p sizes [%n] : !tile.ptr<f16> -> !tile.view<?x?xf16>
  tile.yield
}

// -----

tile.kernel @make_view_strides(%p: !tile.ptr<f16>, %n: index) {
  // expected-error @+1 {{expected 1 strides for '!tile.view<?x?xf16, strides = [?, 1]>', got 0}}
  %v = tile.make_view %p sizes [%n, %n] : !tile.ptr<f16> -> !tile.view<?x?xf16, strides = [?, 1]>
  tile.yield
}

// -----

tile.kernel @recast_view(%A: !tile.view<?xf16>) {
  // expected-error @+1 {{element types differ: '!tile.view<?xf16>' and '!tile.view<?xf32>'}}
  %v = tile.recast_view %A : !tile.view<?xf16> -> !tile.view<?xf32>
  tile.yield
}

// -----

tile.kernel @recast_strided(%A: !tile.view<?x?xf16, strides = [?, 1]>, %n: index) {
  // expected-error @+1 {{only a contiguous view can be reshaped}}
  %v = tile.recast_view %A sizes [%n] : !tile.view<?x?xf16, strides = [?, 1]> -> !tile.view<?xf16>
  tile.yield
}

// -----

tile.kernel @recast_sizes(%A: !tile.view<?x?xf16>) {
  // expected-error @+1 {{expected 1 sizes for '!tile.view<?xf16>', got 0}}
  %v = tile.recast_view %A : !tile.view<?x?xf16> -> !tile.view<?xf16>
  tile.yield
}

// -----

tile.kernel @workspace(%n: index) {
  // expected-error @+1 {{a workspace is contiguous, got '!tile.view<?x4xf32, strides = [8, 1]>'}}
  %w = tile.workspace sizes [%n] : !tile.view<?x4xf32, strides = [8, 1]>
  tile.yield
}

// -----

tile.kernel @workspace_sizes() {
  // expected-error @+1 {{expected 1 sizes for '!tile.view<?xf32>', got 0}}
  %w = tile.workspace : !tile.view<?xf32>
  tile.yield
}

// -----

tile.kernel @raster(%n: index) {
  // expected-error @+1 {{expected one id for each of 1 to 3 grid axes, got 1 for 2}}
  %i = tile.raster %n in (%n, %n) <kind = row> : index
  tile.yield
}

// -----

tile.kernel @print(%A: !tile.view<?xf32>) {
  // expected-error @+1 {{prints scalars, tiles and buffers, got '!tile.view<?xf32>'}}
  tile.print "A", %A : !tile.view<?xf32>
  tile.yield
}

// -----

tile.kernel @require_equal(%A: !tile.view<?xf32>, %n: index) {
  // expected-error @+1 {{axis 1 is out of range for '!tile.view<?xf32>'}}
  tile.require_equal %n, %n arg 0 axis 1, "N"
  tile.yield
}

// -----

tile.kernel @require_equal_scalar(%n: index) {
  // expected-error @+1 {{argument 0 is not a view}}
  tile.require_equal %n, %n arg 0 axis 0, "N"
  tile.yield
}
