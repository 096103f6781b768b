// RUN: tile-opt %S/Inputs/gemm-sm90a.mlir --tile-select-schedule 2>&1 | FileCheck %s --check-prefix=HOPPER
// RUN: tile-opt %S/Inputs/gemm-sm80.mlir --tile-select-schedule 2>&1 | FileCheck %s --check-prefix=AMPERE
// RUN: sed s/sm_80/gfx942/ %S/Inputs/gemm-sm80.mlir | tile-opt --tile-select-schedule 2>&1 | FileCheck %s --check-prefix=CDNA
// RUN: sed 's/stages = 4/stages = 5/' %S/Inputs/gemm-sm90a.mlir | tile-opt --tile-select-schedule 2>&1 | FileCheck %s --check-prefix=FIVE
// The sums of 208 x 192 do not fit one group: two take 104 rows each, though parts of 16 read memory better.
// RUN: %tilec %samples/gemm/gemm.tile -DBM=208 -DBN=192 --arch=sm_90a -w --emit-ir-scheduled=- | FileCheck %s --check-prefix=GROUPS
// GROUPS: tile.schedule<threads = 384, partition = [2, 1], roles = [<kind = load, {{.*}}<kind = compute, warps = 8
// FIVE: remark: [R0401] 4 stages instead of 5
// RUN: tile-opt %S/Inputs/gemm-sm90a.mlir --tile-select-schedule 2>/dev/null | tile-opt --tile-verify-stage=stage=scheduled

// A producer warp group, two that compute, wgmma over all columns; four stages because the result is staged in two parts.
// HOPPER-NOT: R0401
// HOPPER: #[[FAST:.*]] = #tile.schedule<threads = 384, partition = [2, 1], roles = [<kind = load, warps = 4, regs = 40>, <kind = compute, warps = 8, regs = 232>], persistent = true, raster = <kind = grouped, group = 8>, staging = true, passes = 2>
// HOPPER: #[[ANY:.*]] = #tile.schedule<threads = 256, partition = [2, 1]>
// Pitches and addresses that the copy engine needs are launch conditions of the first variant.
// HOPPER: tile.kernel @matmul.0({{.*}}tile.conditions = [{kind = "multiple_of", slot = 2 : i64, {{.*}}value = 16 : i64}
// HOPPER-SAME: tile.launch_name = "matmul.0"
// HOPPER: tile.launch {{.*}} schedule #[[FAST]]
// HOPPER: tile.copy {{.*}} engine tma
// HOPPER: tile.gemm {{.*}} inst <kind = wgmma, shape = [64, 256, 16]>
// HOPPER: tile.pipeline = #tile.pipeline<stages = 4>
// The other relies on nothing.
// HOPPER: tile.kernel @matmul.0.any
// HOPPER-NOT: tile.conditions
// HOPPER: tile.launch {{.*}} schedule #[[ANY]]
// HOPPER: tile.copy {{.*}} engine simt
// HOPPER: tile.pipeline = #tile.pipeline<stages = 1>

// AMPERE: tile.schedule<threads = 256, partition = [2, 4]>
// AMPERE: tile.copy {{.*}} engine cp_async
// AMPERE: inst <kind = mma_sync, shape = [16, 8, 16]

// Eight waves of 64 lanes; 48 KiB of tiles leave room for one slot, which registers fill a trip ahead.
// CDNA: remark: [R0401] 2 stages instead of 4: on gfx942 copies run one trip ahead, through registers
// CDNA: remark: [R0401] 1 stage instead of 2: each takes 49152 bytes of the 65536 bytes of shared memory of gfx942
// CDNA: tile.schedule<threads = 512, partition = [2, 4]>
// CDNA: tile.copy {{.*}} engine registers
// CDNA: inst <kind = mfma, shape = [32, 32, 8], swapped = true
// CDNA: tile.pipeline = #tile.pipeline<stages = 1>
