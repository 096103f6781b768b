//===- mfma.cl - products with MFMA ---===//
#include "common.h"

// C[M,N] = A[M,K] (row) * B[K,N] (row), one wave per 16x16 tile
KERNEL(64) mfma16(__global const half *A, __global const half *B, __global float *C, int N, int K) {
  int l = LID, r = l & 15, g = l >> 4;
  int m0 = GY * 16, n0 = GX * 16;
  f4 acc = 0;
  for (int k = 0; k < K; k += 16) {
    h4 a, b;
    for (int j = 0; j < 4; j++) {
      a[j] = A[(m0 + r) * K + k + 4 * g + j];
      b[j] = B[(k + 4 * g + j) * N + n0 + r];
    }
    acc = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, acc, 0, 0, 0);
  }
  for (int j = 0; j < 4; j++)
    C[(m0 + 4 * g + j) * N + n0 + r] = acc[j];
}
KERNEL(64) mfma32(__global const half *A, __global const half *B, __global float *C, int N, int K) {
  int l = LID, r = l & 31, g = l >> 5;
  int m0 = GY * 32, n0 = GX * 32;
  f16v acc = 0;
  for (int k = 0; k < K; k += 8) {
    h4 a, b;
    for (int j = 0; j < 4; j++) {
      a[j] = A[(m0 + r) * K + k + 4 * g + j];
      b[j] = B[(k + 4 * g + j) * N + n0 + r];
    }
    acc = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, acc, 0, 0, 0);
  }
  for (int j = 0; j < 16; j++)
    C[(m0 + 8 * (j / 4) + 4 * g + (j & 3)) * N + n0 + r] = acc[j];
}
KERNEL(64) mfma16bf(__global const short *A, __global const short *B, __global float *C, int N, int K) {
  int l = LID, r = l & 15, g = l >> 4;
  int m0 = GY * 16, n0 = GX * 16;
  f4 acc = 0;
  for (int k = 0; k < K; k += 16) {
    s4 a, b;
    for (int j = 0; j < 4; j++) {
      a[j] = A[(m0 + r) * K + k + 4 * g + j];
      b[j] = B[(k + 4 * g + j) * N + n0 + r];
    }
    acc = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, acc, 0, 0, 0);
  }
  for (int j = 0; j < 4; j++)
    C[(m0 + 4 * g + j) * N + n0 + r] = acc[j];
}
// 64x64 tile, 256 threads (4 waves, each 32x32 as 2x2 of 16x16), LDS staged
KERNEL(256) gemm64(__global const half *A, __global const half *B, __global float *C, int N, int K) {
  __local half As[64 * 32 + 64 * 8], Bs[32 * 64 + 32 * 8]; // padded rows: A 40, B 72
  int t = LID, w = t >> 6, l = t & 63, r = l & 15, g = l >> 4;
  int wm = (w >> 1) * 32, wn = (w & 1) * 32;
  int m0 = GY * 64, n0 = GX * 64;
  f4 acc[2][2];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      acc[i][j] = 0;
  for (int k = 0; k < K; k += 32) {
    {
      int rr = t >> 2, cc = (t & 3) * 8;
      *(__local h8 *)&As[rr * 40 + cc] = *(__global const h8 *)&A[(m0 + rr) * K + k + cc];
    }
    {
      int rr = t >> 3, cc = (t & 7) * 8;
      *(__local h8 *)&Bs[rr * 72 + cc] = *(__global const h8 *)&B[(k + rr) * N + n0 + cc];
    }
    BARRIER;
    for (int kk = 0; kk < 32; kk += 16) {
      h4 a[2], b[2];
      for (int i = 0; i < 2; i++)
        a[i] = *(__local h4 *)&As[(wm + 16 * i + r) * 40 + kk + 4 * g];
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
          b[i][j] = Bs[(kk + 4 * g + j) * 72 + wn + 16 * i + r];
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
          acc[i][j] = __builtin_amdgcn_mfma_f32_16x16x16f16(a[i], b[j], acc[i][j], 0, 0, 0);
    }
    BARRIER;
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      for (int q = 0; q < 4; q++)
        C[(m0 + wm + 16 * i + 4 * g + q) * N + n0 + wn + 16 * j + r] = acc[i][j][q];
}
#ifndef __gfx90a__
KERNEL(64)
mfma16fp8(__global const long *A, __global const long *B, __global float *C, int N,
          int K) { // A [M][K/8] longs, B^T [N][K/8]
  int l = LID, r = l & 15, g = l >> 4;
  int m0 = GY * 16, n0 = GX * 16;
  f4 acc = 0;
  for (int k = 0; k < K; k += 32)
    acc = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(A[(m0 + r) * (K / 8) + k / 8 + g],
                                                     B[(n0 + r) * (K / 8) + k / 8 + g], acc, 0, 0, 0);
  for (int j = 0; j < 4; j++)
    C[(m0 + 4 * g + j) * N + n0 + r] = acc[j];
}
#endif
#ifdef __gfx950__
KERNEL(64) mfma16k32(__global const half *A, __global const half *B, __global float *C, int N, int K) {
  int l = LID, r = l & 15, g = l >> 4;
  int m0 = GY * 16, n0 = GX * 16;
  f4 acc = 0;
  for (int k = 0; k < K; k += 32) {
    h8 a, b;
    for (int j = 0; j < 8; j++) {
      a[j] = A[(m0 + r) * K + k + 8 * g + j];
      b[j] = B[(k + 8 * g + j) * N + n0 + r];
    }
    acc = __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, acc, 0, 0, 0);
  }
  for (int j = 0; j < 4; j++)
    C[(m0 + 4 * g + j) * N + n0 + r] = acc[j];
}
#endif
