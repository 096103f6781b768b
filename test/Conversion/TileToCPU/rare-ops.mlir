// Ops that plain products and loops do not need, compiled and run; the reference is plain C (Inputs/rare-ops.c).
// RUN: sh %S/Inputs/lower.sh %s 2 %t2.o
// RUN: %cc -O1 -std=gnu11 %S/Inputs/rare-ops.c %t2.o -lm -o %t2
// RUN: %t2
// RUN: sh %S/Inputs/lower.sh %s 3 %t3.o
// RUN: %cc -O1 -std=gnu11 %S/Inputs/rare-ops.c %t3.o -lm -o %t3
// RUN: %t3

#id = affine_map<(i, j) -> (i, j)>
#frag = #tile.layout<"reg 2:4d0 | lane 4:d0 8:d1 -> 8x8">
#frag2 = #tile.layout<"reg 2:4d1 | lane 8:d0 4:d1 -> 8x8">
!v = !tile.view<?x?xf32>
!buf = !tile.buffer<8x8xf32>

// A view made from a pointer and a run-time stride; the stride read back; one row added atomically.
tile.kernel @pointers(%g: index, %n: index, %ld: index, %p: !tile.ptr<f32>, %Y: !tile.view<?xi64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %m = tile.make_view %p sizes [%n] strides [%ld] : !tile.ptr<f32> -> !tile.view<?x5xf32, strides = [?, 1]>
    %stride = tile.stride %m, 0 : !tile.view<?x5xf32, strides = [?, 1]>
    %s = arith.index_cast %stride : index to i64
    tile.elem_store %s to %Y[%c0] : !tile.view<?xi64>
    %two = arith.constant 2.0 : f32
    %t = tile.splat %two : !tile.tile<5xf32>
    %last = arith.subi %n, %b : index
    %c1 = arith.constant 1 : index
    %row = arith.subi %last, %c1 : index
    tile.atomic add %t to %m[%row, %c0] extents [1, 5] : !tile.tile<5xf32>, !tile.view<?x5xf32, strides = [?, 1]>
  }
  tile.yield
}

// A row of a buffer under a name of its own, its bits under another type; barriers and fences mean nothing here.
tile.kernel @buffers(%g: index, %X: !v, %Y: !tile.view<?xf32>, %Z: !tile.view<?x?xi32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %a = tile.alloc : !buf
    tile.copy %X[%c0, %c0] to %a : !v, !buf
    tile.barrier block id 0
    tile.fence async_proxy
    %row = tile.subbuffer %a[%c3, %c0] extents [1, 8] : !buf -> !tile.buffer<8xf32>
    tile.copy %row to %Y[%c0] : !tile.buffer<8xf32>, !tile.view<?xf32>
    %bits = tile.recast_buffer %a : !buf -> !tile.buffer<8x8xi32>
    tile.copy %bits to %Z[%c0, %c0] : !tile.buffer<8x8xi32>, !tile.view<?x?xi32>
  }
  tile.yield
}

// The number of units is 1; block ids out of one number, by rows and by columns.
tile.kernel @rasters(%g: index, %n: index, %m: index, %Y: !tile.view<?xi64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    %i, %j = tile.raster %c7 in (%n, %m) <kind = row> : index, index
    %k, %l = tile.raster %c7 in (%n, %m) <kind = column> : index, index
    %units = tile.sm_count
    %ok = arith.cmpi ult, %i, %n : index
    tile.device_assert %ok, "i < n"
    %vi = arith.index_cast %i : index to i64
    %vj = arith.index_cast %j : index to i64
    %vk = arith.index_cast %k : index to i64
    %vl = arith.index_cast %l : index to i64
    %vu = arith.index_cast %units : index to i64
    tile.elem_store %vi to %Y[%c0] : !tile.view<?xi64>
    tile.elem_store %vj to %Y[%c1] : !tile.view<?xi64>
    tile.elem_store %vk to %Y[%c2] : !tile.view<?xi64>
    tile.elem_store %vl to %Y[%c3] : !tile.view<?xi64>
    tile.elem_store %vu to %Y[%c4] : !tile.view<?xi64>
  }
  tile.yield
}

// Every element of a tile without contents is written before it is read; a change of layout changes no value.
tile.kernel @layouts(%g: index, %X: !v, %Y: !v) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %u = tile.undef : !tile.tile<8x8xf32, #frag>
    %x = tile.load %X[%c0, %c0] : !v -> !tile.tile<8x8xf32, #frag>
    %d = tile.generic [8, 8] ins(%x : !tile.tile<8x8xf32, #frag>) outs(%u : !tile.tile<8x8xf32, #frag>) maps [#id, #id] layout #frag {
    ^bb0(%i: index, %j: index, %e: f32, %old: f32):
      %s = arith.addf %e, %e : f32
      tile.yield %s : f32
    } -> !tile.tile<8x8xf32, #frag>
    %c = tile.convert_layout %d : !tile.tile<8x8xf32, #frag> -> !tile.tile<8x8xf32, #frag2>
    tile.store %c to %Y[%c0, %c0] : !tile.tile<8x8xf32, #frag2>, !v
  }
  tile.yield
}
