/* The smallest program that calls a compiled kernel: products of several shapes on the CPU, each checked
 * against double precision. Build it with tilec gemm.tile -D dt=float32 -D BK=32 cc main.c gemm.o -ltile_rt
 * -lm -o gemm && ./gemm
 */
#include "gemm.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static tile_tensor matrix(float *data, int64_t *shape) {
  tile_tensor t = {data, {TILE_DEVICE_CPU, 0}, 2, {TILE_DTYPE_FLOAT, 32, 1}, shape, NULL, 0};
  return t;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *values(int64_t count) {
  float *p = malloc(sizeof(float) * (size_t)(count ? count : 1));
  if (!p)
    exit(1);
  for (int64_t i = 0; i < count; ++i)
    p[i] = (float)(2.0 * rand() / RAND_MAX - 1.0);
  return p;
}

/* Largest |got - want| over its bound 2 u |want| + 4 (K + 2) u (|A| |B|), u = 2^-24; infinite where an
 * element is NaN. */
static double worst(const float *a, const float *b, const float *c, int64_t m, int64_t n, int64_t k) {
  const double u = 1.0 / (1 << 24);
  double result = 0, *sum = malloc(sizeof(double) * (size_t)n), *size = malloc(sizeof(double) * (size_t)n);
  if (!sum || !size)
    exit(1);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j)
      sum[j] = size[j] = 0;
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) {
        double x = (double)a[i * k + p] * (double)b[p * n + j];
        sum[j] += x;
        size[j] += fabs(x);
      }
    for (int64_t j = 0; j < n; ++j) {
      double error = fabs((double)c[i * n + j] - sum[j]);
      double bound = 2 * u * fabs(sum[j]) + 4 * (double)(k + 2) * u * size[j];
      if (!(error <= bound * result))
        result = bound > 0 ? error / bound : (error == 0 ? result : HUGE_VAL);
      if (c[i * n + j] != c[i * n + j])
        result = HUGE_VAL;
    }
  }
  free(sum);
  free(size);
  return result;
}

static int product(int64_t m, int64_t n, int64_t k) {
  int64_t shapes[3][2] = {{m, k}, {k, n}, {m, n}};
  float *a = values(m * k), *b = values(k * n), *c = values(m * n);
  for (int64_t i = 0; i < m * n; ++i)
    c[i] = NAN; /* what the kernel does not write is seen */
  tile_tensor A = matrix(a, shapes[0]), B = matrix(b, shapes[1]), C = matrix(c, shapes[2]);
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
  double best = HUGE_VAL;
  for (int run = 0; run < 5; ++run) {
    double start = seconds();
    if (matmul(&launch, &A, &B, &C) != TILE_OK) {
      tile_error_info info = {sizeof info, 0, 0, 0, 0, 0, 0, 0, NULL, NULL};
      tile_last_error(&info);
      fprintf(stderr, "%s\n", info.message);
      return 1;
    }
    double took = seconds() - start;
    best = took < best ? took : best;
  }
  double error = worst(a, b, c, m, n, k);
  printf("cpu     %5lld x %5lld x %5lld   %8.4f   %10.1f   %s\n", (long long)m, (long long)n, (long long)k,
         error, 2e-9 * (double)m * (double)n * (double)k / best, error <= 1 ? "ok" : "WRONG");
  free(a);
  free(b);
  free(c);
  return error > 1;
}

int main(void) {
  int wrong = 0;
  printf("target      M       N       K     error/bound    GFLOP/s   result\n");
  wrong += product(1, 1, 1);
  wrong += product(65, 129, 33);
  wrong += product(256, 256, 256);
  wrong += product(1000, 1032, 712);
  wrong += product(1024, 1024, 1024);
  return wrong != 0;
}
