//===- basic.cl - arithmetic, LDS, lanes, scratch, functions, atomics, buffers ---===//
#include "common.h"

KERNEL(256) vadd(__global const float *a, __global const float *b, __global float *c, int n) {
  int i = GX * 256 + LID;
  if (i < n)
    c[i] = a[i] + b[i];
}
KERNEL(256) reduce_lds(__global const float *a, __global float *out, int n) {
  __local float s[256];
  int t = LID, i = GX * 512 + t;
  float v = (i < n ? a[i] : 0.f) + (i + 256 < n ? a[i + 256] : 0.f);
  s[t] = v;
  BARRIER;
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k)
      s[t] += s[t + k];
    BARRIER;
  }
  if (t == 0)
    out[GX] = s[0];
}
// wave-level: ds_bpermute, DPP row_shr / row_bcast style update_dpp, ds_swizzle, readlane, ballot
KERNEL(64) wave_ops(__global const int *a, __global int *o) {
  int l = LID;
  int v = a[l];
  o[0 * 64 + l] = __builtin_amdgcn_ds_bpermute(((l * 7 + 3) & 63) * 4, v);
  o[1 * 64 + l] = __builtin_amdgcn_update_dpp(-1, v, 0x111, 0xf, 0xf, false); // row_shr:1
  o[2 * 64 + l] = __builtin_amdgcn_update_dpp(0, v, 0x4e, 0xf, 0xf, true);    // quad_perm [2,3,0,1]
  o[3 * 64 + l] = __builtin_amdgcn_ds_swizzle(v, 0x041F);                     // xor 1
  o[4 * 64 + l] = __builtin_amdgcn_readlane(v, 5);
  o[5 * 64 + l] = __builtin_amdgcn_readfirstlane(v) + 1;
  o[6 * 64 + l] = __builtin_amdgcn_ds_permute(((l * 5 + 1) & 63) * 4, v);
  o[7 * 64 + l] = __builtin_amdgcn_update_dpp(v, v, 0x140, 0xf, 0xf, false); // row_mirror
}
KERNEL(64) scratch(__global const int *idx, __global int *o) {
  volatile int p[40];
  int l = LID;
  for (int i = 0; i < 40; i++)
    p[i] = i * i + l;
  int s = 0;
  for (int i = 0; i < 16; i++)
    s += p[idx[(l + i) & 63] % 40];
  o[l] = s;
}
KERNEL(64) mathk(__global const float *a, __global float *o, int n) {
  int i = GX * 64 + LID;
  float x = a[i];
  o[i] = __builtin_amdgcn_exp2f(x);
  o[n + i] = __builtin_amdgcn_logf(x * x + 1.f);
  o[2 * n + i] = __builtin_amdgcn_rcpf(x + 3.5f);
  o[3 * n + i] = __builtin_amdgcn_rsqf(x * x + 0.5f);
  o[4 * n + i] = __builtin_amdgcn_sinf(x);
  o[5 * n + i] = a[(i + 1) % n] / (x + 5.0f);
  o[6 * n + i] = __builtin_fmaf(x, x, 1.0f);
  o[7 * n + i] = (float)(half)x;
}
KERNEL(64) atom(__global int *cnt, __global float *f, __global const int *key, __global const float *v) {
  int i = GX * 64 + LID;
  __hip_atomic_fetch_add((__global int *)&cnt[key[i] & 15], 1, __ATOMIC_RELAXED, 4);
  __hip_atomic_fetch_max((__global int *)&cnt[16 + (key[i] & 15)], i, __ATOMIC_RELAXED, 4);
  __builtin_amdgcn_global_atomic_fadd_f32(&f[key[i] & 15], v[i]);
}
KERNEL(64) bufld(__global int *a, __global int *o, int bytes) {
  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc(a, 0, bytes, BUFFLAGS);
  int l = LID;
  u4 v = __builtin_amdgcn_raw_buffer_load_b128(r, l * 16, 0, 0); // OOB lanes -> 0
  o[l * 4] = v[0];
  o[l * 4 + 1] = v[1];
  o[l * 4 + 2] = v[2];
  o[l * 4 + 3] = v[3];
  o[256 + l] = __builtin_amdgcn_raw_buffer_load_b32(r, l * 4, 64, 0);
}
