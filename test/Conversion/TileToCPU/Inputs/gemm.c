/* gemm.mlir on shapes around its tiles; nothing around C may be written, nothing around A and B may be used.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int64_t count(const uint64_t *) __asm__("gemm.count");
extern void work(const uint64_t *, int64_t, void *) __asm__("gemm.work");

static unsigned seed = 1;
static float number(void) {
  seed = seed * 1664525u + 1013904223u;
  return (float)(int)(seed >> 9) / 4194304.0f - 1.0f;
}
/* A matrix with `border` floats of `value` before and after it. */
static float *matrix(int64_t size, float value) {
  float *p = malloc(sizeof(float) * (size_t)(size + 128));
  for (int64_t i = 0; i < size + 128; ++i)
    p[i] = i < 64 || i >= size + 64 ? value : number();
  return p + 64;
}

static int run(int64_t m, int64_t n, int64_t k) {
  float *a = matrix(m * k, NAN), *b = matrix(k * n, NAN), *c = matrix(m * n, 7);
  uint64_t v[] = {(uint64_t)((n + 255) / 256),
                  (uint64_t)((m + 127) / 128),
                  (uintptr_t)a,
                  (uint64_t)m,
                  (uint64_t)k,
                  (uint64_t)k,
                  1,
                  (uintptr_t)b,
                  (uint64_t)k,
                  (uint64_t)n,
                  (uint64_t)n,
                  1,
                  (uintptr_t)c,
                  (uint64_t)m,
                  (uint64_t)n,
                  (uint64_t)n,
                  1};
  void *arena = aligned_alloc(64, 4 << 20);
  memset(arena, 0xff, 4 << 20);
  for (int64_t i = 0, items = count(v); i < items; ++i)
    work(v, i, arena);
  int bad = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double s = 0, size = 0;
      for (int64_t p = 0; p < k; ++p)
        s += (double)a[i * k + p] * b[p * n + j], size += fabs((double)a[i * k + p] * b[p * n + j]);
      bad += !(fabs(c[i * n + j] - s) <= (double)(k + 2) * size * 0x1p-24);
    }
  for (int64_t i = 0; i < 64; ++i)
    bad += c[-1 - i] != 7 || c[m * n + i] != 7;
  if (bad)
    printf("%ldx%ldx%ld: %d wrong\n", (long)m, (long)n, (long)k, bad);
  free(a - 64), free(b - 64), free(c - 64), free(arena);
  return bad;
}

int main(void) {
  static const int64_t m[] = {1, 6, 127, 129, 257}, n[] = {1, 15, 256, 257, 300},
                       k[] = {0, 1, 63, 64, 257, 300};
  int bad = 0;
  for (int x = 0; x < 5; ++x)
    for (int y = 0; y < 5; ++y)
      for (int z = 0; z < 6; ++z)
        bad += run(m[x], n[y], k[z]);
  return bad != 0;
}
