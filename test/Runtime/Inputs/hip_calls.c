/*===- hip_calls.c - what calls make of the HIP driver ----------------------===*/
#include "rt_tensors.h"

static void test_start(void) {
  const char *real = getenv("TILE_HIP_LIBRARY");
  char path[4096];
  rt_gemm g;
  int32_t count = -1;
  snprintf(path, sizeof(path), "%s", real ? real : "");
  rt_gemm_set(&g, TILE_DEVICE_ROCM, 128, 64, 32);
  setenv("TILE_HIP_LIBRARY", "/nonexistent/libamdhip64.so", 1);
  CHECK_EQ(rt_gemm_run(&g), TILE_ERR_NO_DRIVER);
  setenv("TILE_HIP_LIBRARY", path, 1);
  setenv("FAKE_DEVICES", "0", 1);
  CHECK_EQ(rt_gemm_run(&g), TILE_ERR_NO_DEVICE);
  CHECK_EQ(tile_device_count(TILE_DEVICE_ROCM, &count), TILE_OK);
  CHECK_EQ(count, 0);
  unsetenv("FAKE_DEVICES");
}

static void test_launch(const fake_control *fake) {
  rt_gemm g;
  fake_launch l;
  int32_t count = 0;
  CHECK_EQ(tile_device_count(TILE_DEVICE_ROCM, &count), TILE_OK);
  CHECK_EQ(count, 1);
  rt_gemm_set(&g, TILE_DEVICE_ROCM, 128, 200, 32);
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  fake->last_launch(&l);
  CHECK(strcmp(l.symbol, "gemm_942") == 0);
  CHECK_EQ(l.grid[0], 8);
  CHECK_EQ(l.block[0], 256);
  CHECK_EQ(l.shared, 32768);
  CHECK_EQ(l.params[0], 4);
  CHECK_EQ(l.params[1], 0x100000000);
  CHECK_EQ(l.params[2], 32);
  CHECK_EQ(l.params[3], 0x3fc00000);
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  CHECK_EQ(fake->calls("hipModuleLoadData"), 1);
  CHECK_EQ(fake->calls("hipModuleGetFunction"), 3);
  /* The seed of pauses comes from the environment of each launch. */
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
  launch.device.type = TILE_DEVICE_ROCM;
  launch.device.id = 0;
  setenv("TILE_SCHEDULE_SEED", "41", 1);
  CHECK_EQ(t_tick(&launch, NULL, 5), TILE_OK);
  fake->last_launch(&l);
  CHECK_EQ(l.params[1], 41);
  unsetenv("TILE_SCHEDULE_SEED");
}

static void test_devices(const fake_control *fake) {
  const fake_device list[] = {{0, 0, "gfx942:sramecc+:xnack-", 304, 65536, 65536},
                              {0, 0, "gfx942:sramecc+:xnack+", 228, 65536, 65536},
                              {0, 0, "gfx90a:sramecc+:xnack-", 104, 65536, 65536},
                              {0, 0, "gfx942", 304, 20000, 65536}};
  rt_gemm g;
  fake_launch l;
  fake->set_devices(4, list);
  rt_gemm_set(&g, TILE_DEVICE_ROCM, 128, 64, 32);
  g.launch.stream = fake->new_stream(1);
  CHECK_EQ(rt_gemm_run(&g), TILE_ERR_DEVICE_MISMATCH);
  g.A.t.device.id = g.B.t.device.id = g.C.t.device.id = 1;
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  fake->last_launch(&l);
  CHECK_EQ(l.device, 1);
  CHECK_EQ(fake->depth(), 0);                    /* the current device is what it was */
  CHECK_EQ(fake->calls("hipModuleLoadData"), 2); /* one module for each device */
  g.launch.stream = NULL;
  g.A.t.device.id = g.B.t.device.id = g.C.t.device.id = 2;
  CHECK_EQ(rt_gemm_run(&g), TILE_ERR_NO_IMAGE);
  CHECK_TEXT(rt_message(), "no image for gfx90a:sramecc+:xnack-");
  g.A.t.device.id = g.B.t.device.id = g.C.t.device.id = 3;
  CHECK_EQ(rt_gemm_run(&g), TILE_ERR_SHARED_MEM);
  CHECK_EQ(fake->depth(), 0);
  g.A.t.device.id = g.B.t.device.id = g.C.t.device.id = 9;
  CHECK_EQ(rt_gemm_run(&g), TILE_ERR_NO_DEVICE);
  /* HIP takes fewer than 2^32 threads in all. */
  const int64_t shape[2] = {INT64_C(1) << 22, 2};
  rt_tensor X, Y;
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
  rt_strides(rt_set(&X, 0x100000, TILE_DEVICE_ROCM, TILE_DTYPE_FLOAT, 32, 2, shape), 2, 1, 0);
  rt_strides(rt_set(&Y, 0x900000000, TILE_DEVICE_ROCM, TILE_DTYPE_FLOAT, 32, 2, shape), 2, 1, 0);
  CHECK_EQ(t_scale(&launch, &X.t, &Y.t, 1), TILE_ERR_GRID);
  X.shape[0] = Y.shape[0] = (INT64_C(1) << 22) - 1;
  CHECK_EQ(t_scale(&launch, &X.t, &Y.t, 1), TILE_OK);
  fake->last_launch(&l);
  CHECK_EQ(l.grid[0], (1 << 22) - 1);
}

static void test_failures(const fake_control *fake) {
  static const struct {
    const char *function;
    int32_t code;
    tile_status status;
  } failures[] = {{"hipGetDevice", 1, TILE_ERR_DRIVER},
                  {"hipGetDevicePropertiesR0600", 3, TILE_ERR_DRIVER},
                  {"hipDeviceGetAttribute", 2, TILE_ERR_OUT_OF_MEMORY},
                  {"hipModuleLoadData", 209, TILE_ERR_BAD_IMAGE},
                  {"hipModuleLoadData", 35, TILE_ERR_DRIVER_TOO_OLD},
                  {"hipModuleGetFunction", 500, TILE_ERR_BAD_IMAGE},
                  {"hipModuleLaunchKernel", 1, TILE_ERR_DRIVER},
                  {"hipModuleLaunchKernel", 901, TILE_ERR_CAPTURE}};
  rt_gemm g;
  rt_gemm_set(&g, TILE_DEVICE_ROCM, 128, 64, 32);
  for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); ++i) {
    tile_rt_shutdown();
    fake->fail(failures[i].function, failures[i].code, 1);
    CHECK_EQ(rt_gemm_run(&g), failures[i].status);
    CHECK_EQ(rt_error().native_api, TILE_NATIVE_HIP);
    CHECK_EQ(rt_error().native_code, failures[i].code);
  }
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  tile_rt_shutdown();
  g.launch.flags = TILE_LAUNCH_NO_LAZY_LOAD;
  CHECK_EQ(rt_gemm_run(&g), TILE_ERR_NOT_LOADED);
}

int main(void) {
  const fake_control *fake = rt_fake("TILE_HIP_LIBRARY", "fake_hip_control");
  test_start();
  test_launch(fake);
  test_devices(fake);
  test_failures(fake);
  tile_rt_shutdown();
  CHECK_EQ(fake->mistakes(), 0);
  return rt_report("hip_calls");
}
