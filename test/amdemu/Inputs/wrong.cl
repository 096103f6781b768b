//===- wrong.cl - kernels with mistakes that the emulator must report -------------------===//
#include "common.h"

// A product whose second barrier is missing: right results on most runs, and a race.
KERNEL(256) missing_barrier(__global const float *a, __global float *o, int n) {
  __local float tile[256];
  float sum = 0;
  for (int k = 0; k < n; k += 256) {
    tile[LID] = a[k + LID];
    BARRIER;
    for (int j = 0; j < 256; ++j)
      sum += tile[(LID + j) & 255];
  }
  o[LID] = sum;
}

// The same with both.
KERNEL(256) both_barriers(__global const float *a, __global float *o, int n) {
  __local float tile[256];
  float sum = 0;
  for (int k = 0; k < n; k += 256) {
    tile[LID] = a[k + LID];
    BARRIER;
    for (int j = 0; j < 256; ++j)
      sum += tile[(LID + j) & 255];
    BARRIER;
  }
  o[LID] = sum;
}

// Two waves write the halves of one dword: no race.
KERNEL(128) halves_of_dwords(__global const half *a, __global half *o) {
  __local half tile[128];
  tile[(LID & 63) * 2 + (LID >> 6)] = a[LID];
  BARRIER;
  o[LID] = tile[127 - LID];
}

KERNEL(128) same_bytes(__global const half *a, __global half *o) {
  __local half tile[128];
  tile[LID & 63] = a[LID];
  BARRIER;
  o[LID] = tile[LID & 63];
}

KERNEL(64) wild_read(__global const float *a, __global float *o, int n) { o[LID] = a[LID + n]; }

KERNEL(64) wild_write(__global const float *a, __global float *o, int n) { o[LID + n] = a[LID]; }

KERNEL(64) writes_input(__global float *a, __global float *o, int n) { a[LID] = o[LID]; }

KERNEL(64) outside_lds(__global const float *a, __global float *o, int n) {
  __local float tile[64];
  tile[LID] = a[LID];
  BARRIER;
  o[LID] = ((volatile __local float *)tile)[LID + n];
}

// Half of the waves leave before the barrier.
KERNEL(128) deadlock(__global const float *a, __global float *o, int n) {
  __local float tile[128];
  tile[LID] = a[LID];
  if (__builtin_amdgcn_readfirstlane(LID) >= n)
    return;
  BARRIER;
  o[LID] = tile[127 - LID];
}

KERNEL(64) endless(__global const float *a, __global volatile float *o, int n) {
  while (n)
    o[LID] = a[LID];
}

// Nobody has written this.
KERNEL(64) unwritten(__global const float *a, __global float *o, int n) {
  __local float tile[64];
  if (n)
    tile[LID] = a[LID];
  BARRIER;
  o[LID] = tile[63 - LID];
}
