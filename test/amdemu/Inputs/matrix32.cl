//===- matrix32.cl - WMMA of other types, one wave ---===//
#include "common.h"

KERNEL(32)
wi8(__global const int *A, __global const int *B, __global int *C) { // A [16][4 ints], B^T [16][4 ints]
  int l = LID, r = l & 15, g = l >> 4;
  i8 c = 0;
#ifdef __gfx1201__
  i2 a = {A[r * 4 + 2 * g], A[r * 4 + 2 * g + 1]}, b = {B[r * 4 + 2 * g], B[r * 4 + 2 * g + 1]};
  c = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, a, true, b, c, false);
  for (int j = 0; j < 8; j++)
    C[(8 * g + j) * 16 + r] = c[j];
#else
  i4 a = {A[r * 4], A[r * 4 + 1], A[r * 4 + 2], A[r * 4 + 3]},
     b = {B[r * 4], B[r * 4 + 1], B[r * 4 + 2], B[r * 4 + 3]};
  c = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, a, true, b, c, false);
  for (int j = 0; j < 8; j++)
    C[(2 * j + g) * 16 + r] = c[j];
#endif
}
KERNEL(32)
wf16(__global const half *A, __global const half *B,
     __global half *C) { // f16 accumulate; A [16][16], B [16][16]
  int l = LID, r = l & 15, g = l >> 4;
#ifdef __gfx1201__
  h8 a, b, c = 0;
  for (int j = 0; j < 8; j++) {
    a[j] = A[r * 16 + 8 * g + j];
    b[j] = B[(8 * g + j) * 16 + r];
  }
  c = __builtin_amdgcn_wmma_f16_16x16x16_f16_w32_gfx12(a, b, c);
  for (int j = 0; j < 8; j++)
    C[(8 * g + j) * 16 + r] = c[j];
#else
  h16 a, b, c = 0;
  for (int j = 0; j < 16; j++) {
    a[j] = A[r * 16 + j];
    b[j] = B[j * 16 + r];
  }
  c = __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(a, b, c, false);
  for (int j = 0; j < 8; j++)
    C[(2 * j + g) * 16 + r] = c[2 * j];
#endif
}
#ifdef __gfx1201__
KERNEL(32) wfp8(__global const i2 *A, __global const i2 *B, __global float *C) {
  int l = LID, r = l & 15, g = l >> 4;
  f8 c = 0;
  c = __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(A[r * 2 + g], B[r * 2 + g], c);
  for (int j = 0; j < 8; j++)
    C[(8 * g + j) * 16 + r] = c[j];
}
#endif
