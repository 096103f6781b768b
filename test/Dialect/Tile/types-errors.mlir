// RUN: tile-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

// expected-error @+1 {{element type must be an integer, index or float, got 'tensor<4xf32>'}}
"test.op"() {t = !tile.tile<4xtensor<4xf32>>} : () -> ()

// -----

// expected-error @+1 {{tile extents are at least 1, got 0}}
"test.op"() {t = !tile.tile<0xf32>} : () -> ()

// -----

// expected-error @+1 {{a tile has 1 to 8 axes, got 0}}
"test.op"() {t = !tile.tile<f32>} : () -> ()

// -----

// expected-error @+1 {{a buffer has 1 to 8 axes, got 9}}
"test.op"() {t = !tile.buffer<1x1x1x1x1x1x1x1x1xf32>} : () -> ()

// -----

// expected-error @+1 {{element type must be an integer or float, got 'index'}}
"test.op"() {t = !tile.buffer<4xindex>} : () -> ()

// -----

// expected-error @+1 {{layout has rank 1, tile has rank 2}}
"test.op"() {t = !tile.tile<4x4xf32, #tile.layout<"reg 4:d0 -> 4">>} : () -> ()

// -----

// expected-error @+1 {{layout covers 8 along axis 0, tile has 4}}
"test.op"() {t = !tile.tile<4xf32, #tile.layout<"reg 8:d0 -> 8">>} : () -> ()

// -----

// expected-error @+1 {{layout covers 2 along axis 0, tile has 4}}
"test.op"() {t = !tile.tile<4xf32, #tile.layout<"reg 2:d0 -> 4">>} : () -> ()

// -----

// expected-error @+1 {{layout leaves elements of the tile without a thread}}
"test.op"() {t = !tile.tile<6xf32, #tile.layout<"reg 2:d0 | lane 2:4d0 -> 6">>} : () -> ()

// -----

// expected-error @+1 {{the layout of a tile maps registers and lanes to coordinates, got #tile.layout<"d0 4:1 -> 4">}}
"test.op"() {t = !tile.tile<4xf32, #tile.layout<"d0 4:1 -> 4">>} : () -> ()

// -----

// expected-error @+1 {{the layout of a buffer maps coordinates to an offset, got #tile.layout<"reg 4:d0 -> 4">}}
"test.op"() {t = !tile.buffer<4xf32, #tile.layout<"reg 4:d0 -> 4">>} : () -> ()

// -----

// expected-error @+1 {{layout has 4 along axis 0, buffer has 8}}
"test.op"() {t = !tile.buffer<8xf32, #tile.layout<"d0 4:1 -> 4">>} : () -> ()

// -----

// expected-error @+1 {{layout has rank 2, buffer has rank 1}}
"test.op"() {t = !tile.buffer<4xf32, #tile.layout<"d0 4:2 | d1 2:1 -> 8">>} : () -> ()

// -----

// expected-error @+1 {{layout puts two elements at one offset}}
"test.op"() {t = !tile.buffer<4x4xf32, #tile.layout<"d0 4:2 | d1 4:1 -> 16">>} : () -> ()

// -----

// expected-error @+1 {{a view has at most 8 axes, got 9}}
tile.kernel @k(%0: !tile.view<?x?x?x?x?x?x?x?x?xf32>) { tile.yield }

// -----

// expected-error @+1 {{got 1 strides for 2 axes}}
tile.kernel @k(%0: !tile.view<?x?xf32, strides = [1]>) { tile.yield }

// -----

// expected-error @+1 {{safe value is 'f16', elements are 'f32'}}
tile.kernel @k(%0: !tile.view<?xf32, safe = 0.0 : f16>) { tile.yield }

// -----

// expected-error @+1 {{alignment is a power of two, got 12}}
tile.kernel @k(%0: !tile.view<?xf32, align = 12>) { tile.yield }

// -----

// expected-error @+1 {{element type must be an integer or float, got 'index'}}
tile.kernel @k(%0: !tile.view<?xindex>) { tile.yield }

// -----

// expected-error @+1 {{element type must be an integer or float, got 'index'}}
tile.kernel @k(%0: !tile.ptr<index>) { tile.yield }

// -----

// expected-error @+1 {{a ring has 1 to 16 slots, got 17}}
"test.op"() {t = !tile.ring<17 x [!tile.buffer<4xf32>]>} : () -> ()

// -----

// expected-error @+1 {{a ring holds buffers, got '!tile.tile<4xf32>'}}
"test.op"() {t = !tile.ring<2 x [!tile.tile<4xf32>]>} : () -> ()

// -----

// expected-error @+1 {{a ring has 1 to 16 slots, got 0}}
"test.op"() {t = !tile.cursor<0>} : () -> ()

// -----

// expected-error @+1 {{malformed layout}}
"test.op"() {t = #tile.layout<"reg 4:d0 -> ">} : () -> ()

// -----

// expected-error @+1 {{'offset' is no input of a fragment layout}}
"test.op"() {t = #tile.layout<"offset 4:d0 -> 4">} : () -> ()

// -----

// expected-error @+1 {{a register may not repeat another of its thread}}
"test.op"() {t = #tile.layout<"reg 2:0 | lane 4:d0 -> 4">} : () -> ()

// -----

// expected-error @+1 {{instruction shape is [m, n, k], got 2 extents}}
"test.op"() {t = #tile.inst<kind = wgmma, shape = [64, 256]>} : () -> ()

// -----

// expected-error @+1 {{instruction extents are at least 1, got 0}}
"test.op"() {t = #tile.inst<kind = wgmma, shape = [64, 256, 0]>} : () -> ()

// -----

// expected-error @+1 {{k_slices is at least 1, got 0}}
"test.op"() {t = #tile.inst<kind = wgmma, shape = [64, 256, 16], k_slices = 0>} : () -> ()

// -----

// expected-error @+1 {{im2col needs kernel, stride, dilation >= 1 and pad >= 0, got 0, 1, 1, 0}}
"test.op"() {t = #tile.im2col<kernel = 0, stride = 1, dilation = 1, pad = 0>} : () -> ()

// -----

// expected-error @+1 {{a role has at least one warp, got 0}}
"test.op"() {t = #tile.role<kind = load, warps = 0>} : () -> ()

// -----

// expected-error @+1 {{registers of a role are a multiple of 8 from 24 to 256, got 42}}
"test.op"() {t = #tile.role<kind = load, warps = 4, regs = 42>} : () -> ()

// -----

// expected-error @+1 {{raster group is at least 1, got 0}}
"test.op"() {t = #tile.raster<kind = grouped, group = 0>} : () -> ()

// -----

// expected-error @+1 {{expects 1 to 16 stages, got 17}}
"test.op"() {t = #tile.pipeline<stages = 17>} : () -> ()

// -----

// expected-error @+1 {{a block has 1 to 1024 threads, got 2048}}
"test.op"() {t = #tile.schedule<threads = 2048>} : () -> ()

// -----

// expected-error @+1 {{partition counts are at least 1, got 0}}
"test.op"() {t = #tile.schedule<threads = 128, partition = [0, 1]>} : () -> ()

// -----

// expected-error @+1 {{100 threads are not 8 equal warps}}
"test.op"() {t = #tile.schedule<threads = 100, roles = [<kind = load, warps = 8>]>} : () -> ()

// -----

// expected-error @+1 {{roles ask for 66560 registers, the launch gets 64512}}
"test.op"() {t = #tile.schedule<threads = 384, roles = [<kind = load, warps = 4, regs = 40>, <kind = compute, warps = 8, regs = 240>]>} : () -> ()

// -----

// expected-error @+1 {{cluster has 1 to 3 extents of at least 1}}
"test.op"() {t = #tile.schedule<threads = 128, cluster = [0]>} : () -> ()

// -----

// expected-error @+1 {{min_blocks is at least 1, got 0}}
"test.op"() {t = #tile.schedule<threads = 128, min_blocks = 0>} : () -> ()

// -----

// expected-error @+1 {{index_bits is 32 or 64, got 16}}
"test.op"() {t = #tile.schedule<threads = 128, index_bits = 16>} : () -> ()
