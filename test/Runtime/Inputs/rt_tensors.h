/*===- rt_tensors.h - tensors and drivers for the runtime tests -------------===*/
#ifndef RT_TENSORS_H
#define RT_TENSORS_H

#include "fake_driver.h"
#include "rt_test.h"
#include "sample_library.h"

#include <dlfcn.h>

/* A tensor with its own shape and strides; `data` is only an address. */
typedef struct rt_tensor {
  tile_tensor t;
  int64_t shape[8], strides[8];
} rt_tensor;

static inline rt_tensor *rt_set(rt_tensor *x, uintptr_t data, int32_t device_type, uint8_t code, uint8_t bits,
                                int32_t rank, const int64_t *shape) {
  memset(x, 0, sizeof(*x));
  memcpy(x->shape, shape, sizeof(int64_t) * (size_t)rank);
  x->t.data = (void *)data;
  x->t.device.type = device_type;
  x->t.ndim = rank;
  x->t.dtype.code = code;
  x->t.dtype.bits = bits;
  x->t.dtype.lanes = 1;
  x->t.shape = x->shape;
  return x;
}

static inline rt_tensor *rt_strides(rt_tensor *x, int64_t s0, int64_t s1, int64_t s2) {
  x->strides[0] = s0;
  x->strides[1] = s1;
  x->strides[2] = s2;
  x->t.strides = x->strides;
  return x;
}

/* The three tensors of gemm, far apart from each other. */
typedef struct rt_gemm {
  rt_tensor A, B, C;
  tile_launch launch;
} rt_gemm;

static inline void rt_gemm_set(rt_gemm *g, int32_t device_type, int64_t m, int64_t n, int64_t k) {
  const int64_t a[2] = {m, k}, b[2] = {k, n}, c[2] = {m, n};
  const tile_launch plain = TILE_LAUNCH_INIT(NULL);
  rt_set(&g->A, 0x100000000u, device_type, TILE_DTYPE_FLOAT, 16, 2, a);
  rt_set(&g->B, 0x200000000u, device_type, TILE_DTYPE_FLOAT, 16, 2, b);
  rt_set(&g->C, 0x300000000u, device_type, TILE_DTYPE_FLOAT, 32, 2, c);
  g->launch = plain;
  g->launch.workspace = (void *)(uintptr_t)0x400000000u;
  g->launch.workspace_bytes = 1u << 20;
}

static inline tile_status rt_gemm_run(rt_gemm *g) {
  return t_gemm(&g->launch, &g->A.t, &g->B.t, &g->C.t, 1.5f);
}
static inline tile_status rt_gemm_check(rt_gemm *g) { return t_gemm_check(&g->A.t, &g->B.t, &g->C.t, 1.5f); }

/* The controls of a fake driver, which the runtime opens by the same path. */
static inline const fake_control *rt_fake(const char *variable, const char *symbol) {
  const char *path = getenv(variable);
  void *handle = path ? dlopen(path, RTLD_NOW) : NULL;
  void *address = handle ? dlsym(handle, symbol) : NULL;
  fake_control_fn get;
  if (!address) {
    fprintf(stderr, "set %s to the fake driver: %s\n", variable, dlerror());
    exit(2);
  }
  memcpy(&get, &address, sizeof(get));
  return get();
}

#endif
