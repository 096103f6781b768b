// Everything that synchronises, and nothing else, has a pause in front of it.
// DEFINE: %{async} = --tile-select-schedule --tile-assign-layouts --tile-pipeline-loops --tile-make-persistent --tile-warp-specialize --tile-async-gemms --tile-stage-stores --canonicalize --cse --tile-allocate-shared --tile-insert-barriers --tile-insert-delays
// RUN: tile-opt %S/Inputs/gemm-sm90a.mlir %{async} 2>/dev/null > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: tile-opt %t.mlir --tile-verify-stage=stage=async
// RUN: tile-opt %S/Inputs/gemm-sm80.mlir %{async} 2>/dev/null > %t.80.mlir
// RUN: FileCheck %s --check-prefix=TOKENS < %t.80.mlir
// RUN: tile-opt %t.80.mlir --tile-verify-stage=stage=async

// Sites are counted; loop variables tell the trips apart, and there is none outside of loops.
// CHECK: tile.delay site 0{{$}}
// CHECK-NEXT: tile.ring
// CHECK-NEXT: tile.delay site 1{{$}}
// CHECK-NEXT: tile.fence barrier_init
// CHECK-NEXT: tile.delay site 2{{$}}
// CHECK-NEXT: tile.barrier block
// CHECK: scf.for %[[TILE:[^ ]*]] =
// CHECK-NOT: tile.delay
// CHECK: scf.for %[[K:[^ ]*]] =
// CHECK: tile.delay site 3 counters %[[TILE]], %[[K]]
// CHECK-NEXT: tile.acquire
// CHECK-NEXT: tile.delay site 4 counters %[[TILE]], %[[K]]
// CHECK-NEXT: tile.async_copy
// CHECK-NEXT: tile.delay
// CHECK-NEXT: tile.async_copy
// CHECK-NEXT: tile.delay
// CHECK-NEXT: tile.commit
// CHECK-NEXT: tile.advance
// CHECK: tile.delay
// CHECK-NEXT: tile.consume
// CHECK-NEXT: tile.delay
// CHECK-NEXT: tile.async_gemm
// CHECK: tile.delay
// CHECK-NEXT: tile.wait
// CHECK: tile.delay
// CHECK-NEXT: tile.release
// CHECK: tile.delay
// CHECK-NEXT: tile.await
// CHECK: tile.delay {{.*}}
// CHECK-NEXT: tile.release
// CHECK: tile.delay {{.*}}
// CHECK-NEXT: tile.wait {{.*}} read
// CHECK-NEXT: tile.delay
// CHECK-NEXT: tile.barrier group
// CHECK-NEXT: tile.delay
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.delay
// CHECK-NEXT: tile.fence async_proxy
// CHECK-NEXT: tile.delay
// CHECK-NEXT: tile.barrier group
// CHECK-NEXT: tile.delay
// CHECK-NEXT: tile.async_copy

// TOKENS: tile.delay site 0{{$}}
// TOKENS-NEXT: tile.async_copy cp_async
// TOKENS-NEXT: tile.delay site 1{{$}}
// TOKENS-NEXT: tile.async_copy cp_async
// TOKENS-NEXT: tile.delay site 2{{$}}
// TOKENS-NEXT: tile.join
// TOKENS: scf.for %[[K:[^ ]*]] =
// TOKENS: tile.delay site {{[0-9]+}} counters %[[K]]
// TOKENS-NEXT: tile.wait
// TOKENS-NEXT: tile.delay
// TOKENS-NEXT: tile.barrier block
// TOKENS: tile.join
// TOKENS: tile.delay
// TOKENS-NEXT: tile.gemm

// A host kernel has nothing to pause, and memory of other kinds is not shared.
// RUN: tile-opt %s --tile-insert-delays | FileCheck %s --check-prefix=NONE
// NONE-LABEL: tile.kernel @host
// NONE-NOT: tile.delay
// NONE-LABEL: tile.kernel @device
// NONE: tile.load
// NONE-NEXT: tile.delay site 0
// NONE-NEXT: tile.store {{.*}} !tile.buffer
// NONE-NEXT: tile.store {{.*}} !tile.view
tile.kernel @host(%n: index) {
  tile.launch (%b) in (%n) {
    tile.fence device
  }
  tile.yield
}
tile.kernel @device(%n: index, %X: !tile.view<?xf32>) attributes {tile.device} {
  tile.launch (%b) in (%n) {
    %a = tile.alloc : !tile.buffer<64xf32>
    %x = tile.load %X[%b] : !tile.view<?xf32> -> !tile.tile<64xf32>
    tile.store %x to %a : !tile.tile<64xf32>, !tile.buffer<64xf32>
    tile.store %x to %X[%b] : !tile.tile<64xf32>, !tile.view<?xf32>
  }
  tile.yield
}
