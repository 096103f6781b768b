//===- gfx950.cl - instructions that only gfx950 has ---===//
#include "common.h"

// fp8(e4m3) 16x16x128, one scale byte per 32 k: A [16][128] bytes, B^T [16][128] bytes; sa/sb [16][4] e8m0
KERNEL(64)
scaled(__global const i8 *A, __global const i8 *B, __global const uchar *sa, __global const uchar *sb,
       __global float *C) {
  int l = LID, r = l & 15, g = l >> 4;
  f4 c = 0;
  c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(A[r * 4 + g], B[r * 4 + g], c, 0, 0, 0,
                                                       (int)sa[r * 4 + g], 0, (int)sb[r * 4 + g]);
  for (int j = 0; j < 4; j++)
    C[(4 * g + j) * 16 + r] = c[j];
}
KERNEL(64) m32k16(__global const h8 *A, __global const h8 *B, __global float *C) { // A [32][16], B^T [32][16]
  int l = LID, r = l & 31, g = l >> 5;
  f16v c = 0;
  c = __builtin_amdgcn_mfma_f32_32x32x16_f16(A[r * 2 + g], B[r * 2 + g], c, 0, 0, 0);
  for (int j = 0; j < 16; j++)
    C[(8 * (j / 4) + 4 * g + (j & 3)) * 32 + r] = c[j];
}
// LDS transpose read: dump what each lane gets, tile in LDS = 0..1023 (u16)
KERNEL(64) dstr(__global short *o) {
  __local short s[1024];
  int l = LID;
  for (int i = 0; i < 16; i++)
    s[i * 64 + l] = i * 64 + l;
  BARRIER;
  s4 v = __builtin_amdgcn_ds_read_tr16_b64_v4i16((__local s4 *)(s + l * 4));
  for (int j = 0; j < 4; j++)
    o[l * 4 + j] = v[j];
}
