// What the CPU back end makes of axpy, written by hand: one work item is 256 elements.
#include <stdint.h>
#ifdef MATH
float expf(float);
#else
#define expf(x) (x)
#endif

int64_t count_(const uint64_t *v) __asm__(SYMBOL ".count");
int64_t count_(const uint64_t *v) { return (int64_t)v[0]; }

void work_(const uint64_t *v, int64_t item, void *arena) __asm__(SYMBOL ".work");
void work_(const uint64_t *v, int64_t item, void *arena) {
  union {
    uint32_t bits;
    float value;
  } alpha = {(uint32_t)v[7]};
  const float *x = (const float *)v[1];
  float *y = (float *)v[4];
  int64_t n = (int64_t)v[2], end = item * 256 + 256;
  *(char *)arena = 1;
  for (int64_t i = item * 256; i < (end < n ? end : n); ++i)
    y[i * (int64_t)v[6]] += alpha.value * expf(x[i * (int64_t)v[3]]);
}
