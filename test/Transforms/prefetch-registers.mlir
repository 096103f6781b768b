// Copies of a loop run a trip ahead through registers: two slots where LDS has room, else one and a second barrier.
// RUN: tile-opt %s --tile-select-schedule --tile-assign-layouts --tile-prefetch-registers | FileCheck %s
// RUN: tile-opt %s --tile-select-schedule --tile-assign-layouts --tile-prefetch-registers --tile-make-persistent --canonicalize --cse --tile-allocate-shared --tile-insert-barriers | tile-opt --tile-verify-stage=stage=async
// RUN: sed s/sm_80/gfx942/ %S/Inputs/gemm-sm80.mlir | tile-opt --tile-select-schedule --tile-assign-layouts --tile-prefetch-registers 2>/dev/null | FileCheck %s --check-prefix=ONE
// RUN: sed s/sm_80/gfx942/ %S/Inputs/gemm-sm80.mlir | tile-opt --tile-select-schedule --tile-assign-layouts --tile-prefetch-registers --tile-make-persistent --canonicalize --cse --tile-allocate-shared --tile-insert-barriers 2>/dev/null | tile-opt --tile-verify-stage=stage=async

// CHECK-LABEL: tile.kernel @two
// CHECK: tile.ring : <2 x
// A loop without trips reads nothing.
// CHECK: scf.if
// CHECK: tile.load
// CHECK: tile.load
// CHECK: else
// CHECK: tile.slot_at
// CHECK: tile.store
// B is turned in registers: its products read k neighbours, and k is its slow axis.
// CHECK: tile.convert_layout
// CHECK: tile.store
// CHECK: scf.for
// CHECK: tile.barrier block
// CHECK: %[[NEXT:.*]] = arith.select
// CHECK: arith.muli %[[NEXT]]
// CHECK: tile.load
// CHECK: tile.load
// CHECK: tile.slot_at
// CHECK: tile.gemm
// CHECK-NEXT: tile.fence issue
// CHECK-NOT: tile.barrier
// CHECK: tile.store
// CHECK: tile.store
// CHECK: scf.yield

// ONE: tile.ring : <1 x
// ONE: scf.for
// ONE: tile.barrier block
// ONE: tile.load
// ONE: tile.gemm
// ONE: tile.fence issue
// ONE: tile.barrier block
// ONE: tile.store
tile.kernel @two(%g: index, %A: !tile.view<?x?xf16, align = 16>, %B: !tile.view<?x?xf16, align = 16>, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc : !tile.buffer<64x32xf16>
    %w = tile.alloc : !tile.buffer<32x64xf16>
    %K = tile.dim %A, 1 : !tile.view<?x?xf16, align = 16>
    %nk = arith.ceildivui %K, %c32 : index
    %row = arith.muli %b, %c64 : index
    %acc0 = tile.splat %zero : !tile.tile<64x64xf32>
    %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %acc0) -> (!tile.tile<64x64xf32>) {
      %kk = arith.muli %k, %c32 : index
      tile.copy %A[%row, %kk] to %a : !tile.view<?x?xf16, align = 16>, !tile.buffer<64x32xf16>
      tile.copy %B[%kk, %c0] to %w : !tile.view<?x?xf16, align = 16>, !tile.buffer<32x64xf16>
      %d = tile.gemm %a, %w, %s : !tile.buffer<64x32xf16>, !tile.buffer<32x64xf16>, !tile.tile<64x64xf32>
      scf.yield %d : !tile.tile<64x64xf32>
    } {tile.pipeline = #tile.pipeline<stages = 2>}
    tile.store %acc to %C[%row, %c0] : !tile.tile<64x64xf32>, !tile.view<?x?xf32>
  }
  tile.yield
}

// A copy whose buffer is read before it is filled carries a value from trip to trip: it stays, with a remark.
// RUN: tile-opt %s --tile-select-schedule --tile-assign-layouts --tile-prefetch-registers 2>&1 | FileCheck %s --check-prefix=STAYS
// STAYS: remark: [R0405] this copy is not overlapped with computation: its buffer is read before it is filled again
// STAYS-LABEL: tile.kernel @late
// STAYS: tile.copy {{.*}} engine simt
tile.kernel @late(%g: index, %A: !tile.view<?x?xf32>, %C: !tile.view<?x?xf32>) attributes {tile.device, tile.target = #tile.target<"gfx942">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a = tile.alloc : !tile.buffer<16x16xf32>
    scf.for %k = %c0 to %c8 step %c1 {
      %x = tile.load %a : !tile.buffer<16x16xf32> -> !tile.tile<16x16xf32>
      tile.store %x to %C[%c0, %k] : !tile.tile<16x16xf32>, !tile.view<?x?xf32>
      tile.copy %A[%c0, %k] to %a : !tile.view<?x?xf32>, !tile.buffer<16x16xf32>
    } {tile.pipeline = #tile.pipeline<stages = 2>}
  }
  tile.yield
}
