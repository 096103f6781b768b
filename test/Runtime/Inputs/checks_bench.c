/*===- checks_bench.c - what the checks of a launch cost --------------------===*/
#include "rt_tensors.h"

#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The median and the best of many short runs of 10^6 calls in all: a machine that does other things only
 * adds. */
typedef struct call_time {
  double median, best;
} call_time;

static int compare(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

static call_time time_of(int which, rt_gemm *g, rt_tensor *X, rt_tensor *Y) {
  enum { RUNS = 10000, CALLS = 100 };
  static double times[RUNS];
  for (int r = 0; r < RUNS; ++r) {
    double start = now();
    for (int i = 0; i < CALLS; ++i) {
      tile_status s = which == 0   ? rt_gemm_check(g)
                      : which == 1 ? t_scale_check(&X->t, &Y->t, 1)
                                   : rt_gemm_run(g);
      if (s) {
        fprintf(stderr, "%s\n", rt_message());
        exit(1);
      }
    }
    times[r] = (now() - start) / CALLS;
  }
  qsort(times, RUNS, sizeof(double), compare);
  return (call_time){times[RUNS / 2], times[0]};
}

/* One clock cycle as this thread gets it: a chain of dependent additions. */
static double cycle_time(void) {
  enum { ADDS = 100000 };
  double best = 1e18;
  for (int r = 0; r < 100; ++r) {
    double start = now();
    unsigned long x = 1;
    for (int i = 0; i < ADDS; ++i)
      __asm__ volatile("add $1, %0" : "+r"(x));
    double time = (now() - start) / ADDS;
    best = time < best ? time : best;
  }
  return best;
}

/* The argument limits the checks of three tensors, in cycles: busy machines change the cycle, not their
 * number. */
int main(int argc, char **argv) {
  double limit = argc > 1 ? atof(argv[1]) : 1e9;
  rt_gemm g;
  rt_tensor X, Y;
  const int64_t shape[2] = {128, 64};
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 128, 64, 32);
  rt_strides(rt_set(&X, 0x10000, TILE_DEVICE_CPU, TILE_DTYPE_FLOAT, 32, 2, shape), 64, 1, 0);
  rt_strides(rt_set(&Y, 0x990000, TILE_DEVICE_CPU, TILE_DTYPE_FLOAT, 32, 2, shape), 64, 1, 0);
  double cycle = cycle_time();
  call_time plain = time_of(0, &g, &X, &Y), strided = time_of(1, &g, &X, &Y);
  printf("checks of 3 tensors: median %.0f ns, best %.0f ns, %.0f cycles of %.2f ns; of 2 strided tensors: "
         "%.0f ns\n",
         plain.median, plain.best, plain.best / cycle, cycle, strided.median);
  if (getenv("TILE_CUDA_LIBRARY"))
    printf("whole launch, 2 tensor maps, fake driver: %.0f ns\n", time_of(2, &g, &X, &Y).median);
  if (plain.best / cycle > limit)
    printf("over the limit of %.0f cycles\n", limit);
  return plain.best / cycle > limit;
}
