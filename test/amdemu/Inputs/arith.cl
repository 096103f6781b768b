//===- arith.cl - what LLVM makes of functions, conversions and integers of all widths --===//
#include "common.h"

#define PUT(value) o[n++ * 256 + i] = (value)

KERNEL(64) functions(__global const float *x, __global const float *y, __global float *o) {
  int i = GX * 64 + LID, n = 0;
  float a = x[i], b = y[i];
  PUT(__builtin_elementwise_exp2(a));
  PUT(__builtin_elementwise_exp(a));
  PUT(__builtin_elementwise_log2(__builtin_fabsf(a)));
  PUT(__builtin_elementwise_log(__builtin_fabsf(a)));
  PUT(__builtin_elementwise_sqrt(__builtin_fabsf(a)));
  PUT(a / b);
  PUT(1.0f / a);
  PUT(__builtin_elementwise_floor(a));
  PUT(__builtin_elementwise_ceil(a));
  PUT(__builtin_elementwise_trunc(a));
  PUT(__builtin_elementwise_roundeven(a));
  PUT(__builtin_elementwise_round(a));
  PUT(__builtin_elementwise_fma(a, b, a));
  PUT(__builtin_elementwise_copysign(a, b));
  PUT(__builtin_elementwise_max(a, b));
  PUT(__builtin_elementwise_min(a, __builtin_elementwise_max(b, 0.0f)));
  PUT(a < b ? a * 0.5f : b - 3.0f);
  PUT(__builtin_ldexpf(a, (int)b & 15));
  PUT(a - __builtin_elementwise_floor(a));
  PUT(a != a ? 1.0f : __builtin_isinf(b) ? 2.0f : 3.0f);
}

// Products and sums of subnormal numbers.
KERNEL(64) tiny(__global const float *x, __global const float *y, __global float *o) {
  int i = GX * 64 + LID, n = 0;
  float a = x[i], b = y[i];
  PUT(a + b);
  PUT(a * 0.5f);
  PUT(__builtin_elementwise_sqrt(__builtin_fabsf(a)));
  PUT(__builtin_elementwise_exp2(-140.0f + b * 0.0f));
  PUT(__builtin_elementwise_log2(__builtin_fabsf(a)));
  PUT(a / 3.0f);
}

KERNEL(64) integers(__global const int *x, __global const int *y, __global int *o) {
  int i = GX * 64 + LID, n = 0;
  int a = x[i], b = y[i];
  uint u = a, v = b;
  PUT(a / b);
  PUT(a % b);
  PUT(u / v);
  PUT(u % v);
  PUT(__builtin_clz(u | 1));
  PUT(__builtin_ctz(u | 0x80000000u));
  PUT(__builtin_popcount(u));
  PUT(__builtin_elementwise_bitreverse(u));
  PUT(__builtin_bswap32(u));
  PUT((u << 7) | (u >> 25));
  PUT((int)(((long)a * b) >> 32));
  PUT((int)(((ulong)u * v) >> 32));
  PUT(__builtin_elementwise_max(a, b));
  PUT(__builtin_elementwise_min(u, v));
  PUT(__builtin_elementwise_abs(a));
  PUT((a << 12) >> 20);
  PUT((u >> 3) & 0x7ff);
  PUT((a & 0xffff) | (b << 16));
  PUT(a > b ? a ^ b : ~(a & b));
  PUT(a >> (b & 31));
  PUT((short)a * (short)b);
  PUT((uchar)a + (uchar)(b >> 8));
  PUT((char)(a >> 16));
  PUT(a * 100003 + b);
}

KERNEL(64) wide(__global const long *x, __global const long *y, __global long *o) {
  int i = GX * 64 + LID, n = 0;
  long a = x[i], b = y[i];
  PUT(a / b);
  PUT((long)((ulong)a % (ulong)b));
  PUT(a * b);
  PUT(a + b);
  PUT(a - b);
  PUT(a >> (b & 63));
  PUT(a << (b & 63));
  PUT((long)((ulong)a >> (b & 63)));
  PUT(a < b ? a : b);
  PUT((ulong)a < (ulong)b ? a : b);
  PUT(__builtin_popcountl(a));
  PUT(__builtin_clzl(a | 1));
  PUT((long)(double)a);
  PUT((long)((float)a));
}

KERNEL(64) doubles(__global const double *x, __global const double *y, __global double *o) {
  int i = GX * 64 + LID, n = 0;
  double a = x[i], b = y[i];
  PUT(a / b);
  PUT(__builtin_elementwise_sqrt(__builtin_fabs(a)));
  PUT(a * b + 1.5);
  PUT(__builtin_elementwise_floor(a) - b);
  PUT(__builtin_elementwise_max(a, b));
  PUT((double)(float)a);
  PUT((double)(int)a);
  PUT(a < b ? -a : __builtin_fabs(b));
  PUT(__builtin_elementwise_rint(a));
}

KERNEL(64) halves(__global const half *x, __global const half *y, __global half *o) {
  int i = GX * 64 + LID, n = 0;
  half a = x[i], b = y[i];
  PUT(a + b);
  PUT(a * b);
  PUT(a / b);
  PUT(__builtin_elementwise_fma(a, b, a));
  PUT(__builtin_elementwise_max(a, b));
  PUT(__builtin_elementwise_sqrt(__builtin_elementwise_abs(a)));
  PUT(__builtin_elementwise_exp2(a));
  PUT(__builtin_elementwise_floor(a));
  PUT((half)((float)a * (float)b));
  PUT(a < b ? -a : b);
  PUT((half)(int)a);
  PUT((half)((float)a * 1.0e-4f));
}

KERNEL(64) packed(__global const h2 *x, __global const h2 *y, __global h2 *o) {
  int i = GX * 64 + LID, n = 0;
  h2 a = x[i], b = y[i];
  PUT(a + b);
  PUT(a - b);
  PUT(a * b);
  PUT(__builtin_elementwise_fma(a, b, a));
  PUT(__builtin_elementwise_max(a, b));
  PUT(__builtin_elementwise_min(a, b.yx));
  PUT(a.xx * b);
  PUT(a.y - b);
}

typedef short s2 __attribute__((ext_vector_type(2)));
KERNEL(64) shorts(__global const s2 *x, __global const s2 *y, __global s2 *o) {
  int i = GX * 64 + LID, n = 0;
  s2 a = x[i], b = y[i];
  PUT(a + b);
  PUT(a - b);
  PUT(a * b);
  PUT(a << (b & (s2)15));
  PUT(a >> (b & (s2)15));
  PUT(__builtin_elementwise_max(a, b));
  PUT(__builtin_elementwise_min(a, b));
  PUT((s2)(a.y, a.x));
}

// Conversions: float32 to every width and back, bfloat16 by bits.
KERNEL(64) conversions(__global const float *x, __global const int *y, __global float *o) {
  int i = GX * 64 + LID, n = 0;
  float a = x[i];
  int b = y[i];
  PUT((float)(char)a);
  PUT((float)(uchar)(uint)__builtin_fabsf(a));
  PUT((float)(short)a);
  PUT((float)(int)a);
  PUT((float)(uint)__builtin_fabsf(a));
  PUT((float)(long)a);
  PUT((float)(half)a);
  PUT((float)(double)a);
  PUT((float)b);
  PUT((float)(uint)b);
  PUT((float)(uchar)(b >> 8));
  PUT((float)(short)(b >> 16));
  PUT((float)((long)b * 65537));
  uint bits = __builtin_bit_cast(uint, a);
  PUT(__builtin_bit_cast(float, (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u));
  __bf16 narrow = (__bf16)a;
  PUT((float)narrow);
}

// Packed float32 and a sum over lanes by DPP, which LLVM picks itself.
typedef float f2 __attribute__((ext_vector_type(2)));
KERNEL(64) pairs(__global const f2 *x, __global const f2 *y, __global f2 *o) {
  int i = GX * 64 + LID, n = 0;
  f2 a = x[i], b = y[i];
  PUT(a + b);
  PUT(a * b);
  PUT(__builtin_elementwise_fma(a, b, a));
  PUT(a.yx * b);
  PUT(a * 2.0f);
  PUT(-a * b + 1.0f);
}
