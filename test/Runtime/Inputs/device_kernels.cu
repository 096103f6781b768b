// device_kernels.cu - what the real-device test launches: a copy through the copy engine and a plain one.
#include <cuda.h>
#include <stdint.h>

// Y = X + 1 in tiles of 64 x 64 halves; grid extents gx, gy; block ids from the linear id, persistent.
extern "C" __global__ void copy_tma(int64_t gx, int64_t gy, const __grid_constant__ CUtensorMap in,
                                    const __grid_constant__ CUtensorMap out, float add) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) unsigned char raw[];
  unsigned base = (unsigned)__cvta_generic_to_shared(raw);
  base = (base + 127) & ~127u;
  unsigned short *tile = (unsigned short *)(raw + (base - (unsigned)__cvta_generic_to_shared(raw)));
  unsigned bar = base + 64 * 64 * 2;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(bar));
  __syncthreads();
  unsigned phase = 0;
  for (int64_t t = blockIdx.x; t < gx * gy; t += gridDim.x) {
    int x = (int)(t % gx) * 64, y = (int)(t / gx) * 64;
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 8192;" ::"r"(bar));
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(base),
                   "l"(&in), "r"(x), "r"(y), "r"(bar)
                   : "memory");
    }
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" ::"r"(bar), "r"(phase)
                 : "memory");
    phase ^= 1;
    for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) {
      float v;
      asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(tile[i]));
      v += add;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(tile[i]) : "f"(v));
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&out), "r"(x),
                   "r"(y), "r"(base)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
#endif
}

extern "C" __global__ void copy_plain(int64_t gx, int64_t gy, const uint16_t *in, int64_t rows, int64_t columns,
                                      int64_t in_pitch, uint16_t *out, int64_t out_pitch, float add) {
  int64_t bx = blockIdx.x % gx * 64, by = blockIdx.x / gx * 64;
  for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) {
    int64_t r = by + i / 64, c = bx + i % 64;
    if (r < rows && c < columns && by / 64 < gy) {
      float v;
      uint16_t h = in[r * in_pitch + c];
      asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(h));
      v += add;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(v));
      out[r * out_pitch + c] = h;
    }
  }
}
