/* main.c - calls the kernel of kernels/scale.tile on the CPU and checks what it wrote. */
#include <kernels/scale.h>

#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static float x[N], y[N];
  int64_t shape[1] = {N};
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
  tile_tensor X = {x, {TILE_DEVICE_CPU, 0}, 1, {TILE_DTYPE_FLOAT, 32, 1}, shape, NULL, 0};
  tile_tensor Y = X;
  tile_error_info error = {0};
  int i;
  Y.data = y;
  error.struct_size = sizeof(error);
  for (i = 0; i < N; ++i)
    x[i] = (float)i;
  if (mylib_scale(&launch, &X, &Y, 2.5f) != TILE_OK) {
    tile_last_error(&error);
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (i = 0; i < N; ++i)
    if (y[i] != 2.5f * x[i]) {
      fprintf(stderr, "y[%d] is %g\n", i, (double)y[i]);
      return 1;
    }
  puts("consumer: right");
  return 0;
}
