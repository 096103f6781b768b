/* Calls the compiled kernel on the CPU and looks at every answer. */
#include "axpy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tile_tensor tensor(float *data, int64_t *shape) {
  tile_tensor t;
  memset(&t, 0, sizeof t);
  t.data = data;
  t.device.type = TILE_DEVICE_CPU;
  t.ndim = 1;
  t.dtype.code = TILE_DTYPE_FLOAT;
  t.dtype.bits = 32;
  t.dtype.lanes = 1;
  t.shape = shape;
  return t;
}

static void report(const char *what, tile_status status) {
  tile_error_info info;
  info.struct_size = (uint32_t)sizeof info;
  tile_last_error(&info);
  printf("%s: %s", what, tile_status_name(status));
  if (status)
    printf(" %s arg %d dim %d", info.kernel, (int)info.arg_index, (int)info.dim);
  printf("\n");
}

int main(void) {
  int64_t n = 1000, odd = 999, other = 500, i;
  uint64_t bytes = 99;
  float *x = (float *)malloc(sizeof(float) * 1000), *y = (float *)malloc(sizeof(float) * 1000);
  tile_tensor X = tensor(x, &n), Y = tensor(y, &n);
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
  for (i = 0; i < n; ++i) {
    x[i] = (float)i;
    y[i] = 1.0f;
  }
  report("run", my_axpy(&launch, &X, &Y, 2.0f));
  for (i = 0; i < n && y[i] == 1.0f + 2.0f * (float)i; ++i) {
  }
  printf("right: %d\n", (int)i);
  report("check", my_axpy_check(&X, &Y, 2.0f));
  report("workspace", my_axpy_workspace(&X, &Y, 2.0f, &bytes));
  printf("bytes: %d\n", (int)bytes);
  report("load", my_axpy_load(X.device));
  Y.shape = &other;
  report("shape", my_axpy(&launch, &X, &Y, 2.0f));
  X.shape = Y.shape = &odd;
  report("assume", my_axpy(&launch, &X, &Y, 2.0f));
  launch.flags = TILE_LAUNCH_NO_CHECKS;
  report("no checks", my_axpy(&launch, &X, &Y, 2.0f));
  printf("%.60s\n", my_axpy_manifest());
  free(x);
  free(y);
  return 0;
}
