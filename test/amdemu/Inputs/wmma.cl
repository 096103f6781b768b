//===- wmma.cl - a product with WMMA ---===//
#include "common.h"

KERNEL(32) wmma16(__global const half *A, __global const half *B, __global float *C, int N, int K) {
  int l = LID, r = l & 15, g = l >> 4;
  int m0 = GY * 16, n0 = GX * 16;
  f8 acc = 0;
#ifdef __gfx1201__
  for (int k = 0; k < K; k += 16) {
    h8 a, b; // gfx12: lane group g holds k = 8*g..8*g+7
    for (int j = 0; j < 8; j++) {
      a[j] = A[(m0 + r) * K + k + 8 * g + j];
      b[j] = B[(k + 8 * g + j) * N + n0 + r];
    }
    acc = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, acc);
  }
  for (int j = 0; j < 8; j++)
    C[(m0 + 8 * g + j) * N + n0 + r] = acc[j];
#else
  for (int k = 0; k < K; k += 16) {
    h16 a, b;
    for (int j = 0; j < 16; j++) {
      a[j] = A[(m0 + r) * K + k + j];
      b[j] = B[(k + j) * N + n0 + r];
    }
    acc = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, acc);
  }
  for (int j = 0; j < 8; j++)
    C[(m0 + 2 * j + g) * N + n0 + r] = acc[j];
#endif
}
