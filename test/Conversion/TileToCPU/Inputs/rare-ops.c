/* Runs the kernels of rare-ops.mlir and compares with plain loops. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define KERNEL(k)                                                                                            \
  extern int64_t k##_count(const uint64_t *) __asm__(#k ".count");                                           \
  extern void k##_work(const uint64_t *, int64_t, void *) __asm__(#k ".work");
KERNEL(pointers)
KERNEL(buffers)
KERNEL(rasters) KERNEL(layouts)

#define RUN(k, slots)                                                                                        \
  (memset(arena, 0xff, sizeof arena), same(#k " items", (double)k##_count(slots), 1),                        \
   k##_work(slots, 0, arena))

    static _Alignas(64) char arena[1 << 16];
static int failures;

static void same(const char *what, double got, double want) {
  if (got == want)
    return;
  if (++failures < 20)
    printf("%s: got %.9g, want %.9g\n", what, got, want);
}

static uint64_t address(const void *p) { return (uint64_t)(uintptr_t)p; }

static void run_pointers(void) {
  float x[3][7];
  int64_t y[1] = {0};
  for (int i = 0; i < 21; ++i)
    x[i / 7][i % 7] = (float)i;
  uint64_t slots[] = {1, 3, 7, address(x), address(y), 1, 1};
  RUN(pointers, slots);
  same("stride", (double)y[0], 7);
  for (int i = 0; i < 21; ++i)
    same("atomic add", x[i / 7][i % 7], i / 7 == 2 && i % 7 < 5 ? i + 2 : i);
}

static void run_buffers(void) {
  static float x[8][8], y[8];
  static int32_t z[8][8];
  for (int i = 0; i < 64; ++i)
    x[i / 8][i % 8] = (float)i - 20.5f;
  uint64_t slots[] = {1, address(x), 8, 8, 8, 1, address(y), 8, 1, address(z), 8, 8, 8, 1};
  RUN(buffers, slots);
  for (int i = 0; i < 8; ++i)
    same("row of a buffer", y[i], x[3][i]);
  same("bits of a buffer", memcmp(x, z, sizeof x), 0);
}

static void run_rasters(void) {
  int64_t y[5] = {-1, -1, -1, -1, -1};
  uint64_t slots[] = {1, 3, 5, address(y), 5, 1};
  RUN(rasters, slots);
  same("row, first axis", (double)y[0], 7 % 3), same("row, second axis", (double)y[1], 7 / 3);
  same("column, first axis", (double)y[2], 7 / 5), same("column, second axis", (double)y[3], 7 % 5);
  same("units", (double)y[4], 1);
}

static void run_layouts(void) {
  static float x[8][8], y[8][8];
  for (int i = 0; i < 64; ++i)
    x[i / 8][i % 8] = (float)(i * i);
  uint64_t slots[] = {1, address(x), 8, 8, 8, 1, address(y), 8, 8, 8, 1};
  RUN(layouts, slots);
  for (int i = 0; i < 64; ++i)
    same("doubled", y[i / 8][i % 8], 2.0 * i * i);
}

int main(void) {
  run_pointers(), run_buffers(), run_rasters(), run_layouts();
  if (failures)
    printf("%d failures\n", failures);
  return failures != 0;
}
