#include "x.h"
#include <stdio.h>

int main(void) {
  float x[3] = {1, 2, 3}, y[3];
  int64_t n = 3;
  tile_tensor X = {x, {TILE_DEVICE_CPU, 0}, 1, {TILE_DTYPE_FLOAT, 32, 1}, &n, NULL, 0}, Y = X;
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
  tile_error_info info;
  tile_status status;
  Y.data = y;
  status = scale(&launch, &X, &Y, 1.0f, 4);
  info.struct_size = sizeof info;
  tile_last_error(&info);
  printf("%d %s\n", (int)status, info.message);
  return 0;
}
