//===- more.cl - softmax, int8 products, copies to LDS, packed and wide arithmetic ---===//
#include "common.h"

static float shx(float v, int m) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((LID ^ m) * 4, __builtin_bit_cast(int, v)));
}
// row softmax, one wave per row of 256, f16 in/out
KERNEL(64) softmax(__global const half *x, __global half *y) {
  int l = LID;
  __global const h4 *p = (__global const h4 *)(x + GX * 256);
  h4 h = p[l];
  float v[4];
  float mx = -1e30f;
  for (int i = 0; i < 4; i++) {
    v[i] = (float)h[i];
    mx = __builtin_fmaxf(mx, v[i]);
  }
  for (int m = 32; m; m >>= 1)
    mx = __builtin_fmaxf(mx, shx(mx, m));
  float s = 0;
  for (int i = 0; i < 4; i++) {
    v[i] = __builtin_amdgcn_exp2f((v[i] - mx) * 1.44269504f);
    s += v[i];
  }
  for (int m = 32; m; m >>= 1)
    s += shx(s, m);
  float r = 1.0f / s;
  for (int i = 0; i < 4; i++)
    h[i] = (half)(v[i] * r);
  ((__global h4 *)(y + GX * 256))[l] = h;
}
#ifndef __gfx90a__
// int8 GEMM 16x16x32 (gfx942+)
KERNEL(64) mfma_i8(__global const long *A, __global const long *B, __global int *C, int N, int K) {
  int l = LID, r = l & 15, g = l >> 4;
  i4 acc = 0;
  int m0 = GY * 16, n0 = GX * 16;
  for (int k = 0; k < K; k += 32)
    acc = __builtin_amdgcn_mfma_i32_16x16x32_i8(A[(m0 + r) * (K / 8) + k / 8 + g],
                                                B[(n0 + r) * (K / 8) + k / 8 + g], acc, 0, 0, 0);
  for (int j = 0; j < 4; j++)
    C[(m0 + 4 * g + j) * N + n0 + r] = acc[j];
}
// copies from global memory to LDS; on gfx90a LLVM folds address arithmetic into their offset, which reaches LDS too
KERNEL(64) g2l(__global int *a, __global int *o) {
  __local int s[256];
  int l = LID;
  for (int k = 0; k < 4; k++)
    __builtin_amdgcn_global_load_lds(a + GX * 256 + k * 64 + l, s + k * 64, 4, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  BARRIER;
  for (int k = 0; k < 4; k++)
    o[GX * 256 + k * 64 + l] = s[k * 64 + (63 - l)];
}
#endif
// packed f16 math, cvt_pkrtz, integer division, 64-bit ints
KERNEL(64)
mixed(__global const h2 *a, __global h2 *o, __global const int *p, __global int *q, __global const long *u,
      __global long *w) {
  int i = GX * 64 + LID;
  h2 x = a[i];
  h2 y = x * x + (h2)(0.5h, -1.5h);
  o[i] = y;
  q[i] = p[i] / 7 + p[i] % 13 + p[i] / (i + 3);
  w[i] = u[i] * u[i] + (u[i] >> 3) - (long)i * 1000003;
}
#ifdef __gfx950__
KERNEL(64) plswap(__global const int *a, __global int *o) {
  int l = LID;
  u2 r = __builtin_amdgcn_permlane32_swap(a[l], a[64 + l], false, false);
  o[l] = r[0];
  o[64 + l] = r[1];
  u2 t = __builtin_amdgcn_permlane16_swap(a[l], a[64 + l], false, false);
  o[128 + l] = t[0];
  o[192 + l] = t[1];
}
#endif
