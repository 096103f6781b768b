/*===- bad_launches.c - every way to call a kernel wrongly ------------------===*
 *
 * Each line is one bad launch with the code, argument and dimension it must
 * give. At the end every code of tile_rt.h must have been seen.
 *
 *===------------------------------------------------------------------------===*/
#include "rt_tensors.h"
#include "tile_rt_gen.h"

static tile_status seen[64];
static int num_seen, num_launches;

static void expect(int line, tile_status got, tile_status want, int32_t arg, int32_t dim) {
  tile_error_info e = rt_error();
  ++num_launches;
  ++checks_done;
  if (got != want || e.status != want || e.arg_index != arg || e.dim != dim ||
      !strstr(e.message, tile_status_name(want))) {
    ++checks_failed;
    fprintf(stderr, "line %d: got %s arg %d dim %d (%s), expected %s arg %d dim %d\n", line,
            tile_status_name(got), e.arg_index, e.dim, e.message, tile_status_name(want), arg, dim);
  }
  for (int i = 0; i < num_seen; ++i)
    if (seen[i] == got)
      return;
  seen[num_seen++] = got;
}

#define BAD(call, code, arg, dim) expect(__LINE__, (call), (code), (arg), (dim))

/* Runs `change` on a good gemm, then expects the code from the check and the run. */
#define BAD_GEMM(device, change, code, arg, dim)                                                             \
  do {                                                                                                       \
    rt_gemm g;                                                                                               \
    rt_gemm_set(&g, (device), 128, 64, 32);                                                                  \
    change;                                                                                                  \
    BAD(rt_gemm_check(&g), (code), (arg), (dim));                                                            \
    BAD(rt_gemm_run(&g), (code), (arg), (dim));                                                              \
  } while (0)
#define BAD_RUN(device, change, code, arg, dim)                                                              \
  do {                                                                                                       \
    rt_gemm g;                                                                                               \
    rt_gemm_set(&g, (device), 128, 64, 32);                                                                  \
    change;                                                                                                  \
    BAD(rt_gemm_run(&g), (code), (arg), (dim));                                                              \
  } while (0)

static void bad_tensors(void) {
  const int32_t cpu = TILE_DEVICE_CPU;
  rt_gemm n;
  rt_gemm_set(&n, cpu, 128, 64, 32);
  BAD(t_gemm_check(NULL, &n.B.t, &n.C.t, 1), TILE_ERR_NULL_ARG, 0, -1);
  BAD(t_gemm_check(&n.A.t, &n.B.t, NULL, 1), TILE_ERR_NULL_ARG, 2, -1);
  BAD(t_gemm_workspace(&n.A.t, &n.B.t, &n.C.t, 1, NULL), TILE_ERR_NULL_ARG, -1, -1);
  BAD(t_gemm(NULL, &n.A.t, &n.B.t, &n.C.t, 1), TILE_ERR_NULL_ARG, -1, -1);
  BAD_GEMM(cpu, g.B.t.data = NULL, TILE_ERR_NULL_ARG, 1, -1);
  BAD_GEMM(cpu, g.C.t.shape = NULL, TILE_ERR_NULL_ARG, 2, -1);
  BAD_GEMM(cpu, g.A.t.ndim = 3, TILE_ERR_RANK, 0, -1);
  BAD_GEMM(cpu, g.C.t.ndim = 0, TILE_ERR_RANK, 2, -1);
  BAD_GEMM(cpu, g.A.t.dtype.bits = 32, TILE_ERR_DTYPE, 0, -1);
  BAD_GEMM(cpu, g.B.t.dtype.code = TILE_DTYPE_BFLOAT, TILE_ERR_DTYPE, 1, -1);
  BAD_GEMM(cpu, g.C.t.dtype.lanes = 2, TILE_ERR_DTYPE, 2, -1);
  BAD_GEMM(cpu, g.C.t.dtype.code = 99, TILE_ERR_DTYPE, 2, -1);
  BAD_GEMM(cpu, g.B.shape[0] = 31, TILE_ERR_SHAPE, 1, 0);
  BAD_GEMM(cpu, g.C.shape[0] = 127, TILE_ERR_SHAPE, 2, 0);
  BAD_GEMM(cpu, g.C.shape[1] = 65, TILE_ERR_SHAPE, 2, 1);
  BAD_GEMM(cpu, g.A.shape[1] = -1, TILE_ERR_SHAPE, 0, 1);
  BAD_GEMM(cpu, rt_strides(&g.A, 33, 1, 0), TILE_ERR_STRIDE, 0, 0);
  BAD_GEMM(cpu, rt_strides(&g.B, 1, 64, 0), TILE_ERR_STRIDE, 1, 0);
  BAD_GEMM(cpu, rt_strides(&g.C, 64, 2, 0), TILE_ERR_STRIDE, 2, 1);
  BAD_GEMM(cpu, g.A.t.byte_offset = 1, TILE_ERR_ALIGN, 0, -1);
  BAD_GEMM(cpu, g.C.t.byte_offset = 2, TILE_ERR_ALIGN, 2, -1);
  /* Round the end of the address space, by the offset and by the extents. */
  BAD_GEMM(cpu, g.A.t.byte_offset = (uint64_t)0 - 0x1000, TILE_ERR_INDEX_WIDTH, 0, -1);
  BAD_GEMM(cpu, g.C.t.data = (void *)((uintptr_t)0 - 0x1000), TILE_ERR_INDEX_WIDTH, 2, -1);
  BAD_GEMM(cpu, g.C.t.data = g.A.t.data, TILE_ERR_ALIAS, 2, -1);
  BAD_GEMM(cpu, g.C.t.data = (char *)g.B.t.data + 64, TILE_ERR_ALIAS, 2, -1);
  BAD_GEMM(cpu, g.B.t.device.type = TILE_DEVICE_CUDA, TILE_ERR_DEVICE_MISMATCH, 1, -1);
  BAD_GEMM(cpu, g.C.t.device.id = 1, TILE_ERR_DEVICE_MISMATCH, 2, -1);
  BAD_GEMM(7, (void)0, TILE_ERR_NO_DEVICE, 0, -1);
  BAD_GEMM(cpu, g.A.shape[0] = g.C.shape[0] = INT64_C(1) << 62, TILE_ERR_INDEX_WIDTH, 0, -1);
  BAD_GEMM(cpu, (g.A.shape[1] = g.B.shape[0] = 31), TILE_ERR_PRECONDITION, -1, -1);
  CHECK_TEXT(rt_message(), "\"%n\"");
}

static void bad_strided(void) {
  const int64_t shape[2] = {4, 8}, wide[2] = {4, INT64_C(1) << 28}, single[2] = {1, 8};
  rt_tensor X, Y;
#define RESET(s)                                                                                             \
  rt_strides(rt_set(&X, 0x10000, TILE_DEVICE_CPU, TILE_DTYPE_FLOAT, 32, 2, (s)), (s)[1], 1, 0);              \
  rt_strides(rt_set(&Y, 0x90000, TILE_DEVICE_CPU, TILE_DTYPE_FLOAT, 32, 2, (s)), (s)[1], 1, 0)
  RESET(shape);
  BAD(t_scale_check(&X.t, rt_strides(&Y, 0, 1, 0) ? &Y.t : NULL, 1), TILE_ERR_STRIDE, 1, 0);
  RESET(shape);
  BAD(t_scale_check(rt_strides(&X, 8, 2, 0) ? &X.t : NULL, &Y.t, 1), TILE_ERR_STRIDE, 0, 1);
  RESET(shape);
  Y.t.byte_offset = 4;
  BAD(t_scale_check(&X.t, &Y.t, 1), TILE_ERR_ALIGN, 1, -1);
  CHECK_EQ(rt_error().expected, 16);
  CHECK_EQ(rt_error().actual, 4);
  RESET(wide);
  BAD(t_scale_check(&X.t, &Y.t, 1), TILE_ERR_INDEX_WIDTH, 0, -1);
  RESET(shape); /* negative strides reach below the address: 32-bit offsets there too */
  rt_strides(&X, -(INT64_C(1) << 30), 1, 0);
  BAD(t_scale_check(&X.t, &Y.t, 1), TILE_ERR_INDEX_WIDTH, 0, -1);
  RESET(shape); /* below address 0 */
  rt_strides(&X, -8, 1, 0);
  X.t.data = (void *)(uintptr_t)64;
  BAD(t_scale_check(&X.t, &Y.t, 1), TILE_ERR_INDEX_WIDTH, 0, -1);
  RESET(shape); /* rows that overlap: to be read only */
  CHECK_EQ(t_scale_check(rt_strides(&X, 4, 1, 0) ? &X.t : NULL, &Y.t, 1), TILE_OK);
  BAD(t_scale_check(&X.t, rt_strides(&Y, 7, 1, 0) ? &Y.t : NULL, 1), TILE_ERR_STRIDE, 1, 0);
  CHECK_TEXT(rt_message(),
             "argument Y (1), dim 0: a written tensor must not overlap itself: strides 7 and 1 (dim 1) meet");
  BAD(t_scale_check(&X.t, rt_strides(&Y, -7, 1, 0) ? &Y.t : NULL, 1), TILE_ERR_STRIDE, 1, 0);
  CHECK_EQ(t_scale_check(&X.t, rt_strides(&Y, -8, 1, 0) ? &Y.t : NULL, 1), TILE_OK);
  RESET(shape); /* in place is fine for the same view, not for another one at the same address */
  Y.t.data = X.t.data;
  CHECK_EQ(t_scale_check(&X.t, &Y.t, 1), TILE_OK);
  rt_strides(&Y, 16, 1, 0);
  BAD(t_scale_check(&X.t, &Y.t, 1), TILE_ERR_ALIAS, 1, -1);
  RESET(single); /* strides of extents of 1 do not matter, nor does stride 0 there */
  rt_strides(&Y, 0, 1, 0);
  rt_strides(&X, -77, 1, 0);
  CHECK_EQ(t_scale_check(&X.t, &Y.t, 1), TILE_OK);
#undef RESET
}

static void bad_expressions(void) {
  const int64_t good[3] = {8, 2, 3}, first[3] = {9, 2, 3}, second[3] = {8, 3, 3}, third[3] = {8, 2, 4},
                huge[3] = {2000000000, 500000000, 3};
  rt_tensor T;
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
#define MASK(shape) (&rt_set(&T, 0x1000, TILE_DEVICE_CPU, TILE_DTYPE_BOOL, 8, 3, (shape))->t)
  CHECK_EQ(t_mask_check(MASK(good), 4), TILE_OK);
  BAD(t_mask_check(MASK(first), 4), TILE_ERR_SHAPE, 0, 0);
  CHECK_TEXT(rt_message(), "argument M (0), dim 0: extent must be 2 * n = 8, got 9");
  BAD(t_mask_check(MASK(second), 4), TILE_ERR_SHAPE, 0, 1);
  BAD(t_mask_check(MASK(third), 4), TILE_ERR_SHAPE, 0, 2);
  BAD(t_mask(&launch, MASK(huge), 1000000000), TILE_ERR_GRID, -1, -1);
  rt_set(&T, 0x1000, TILE_DEVICE_CPU, TILE_DTYPE_UINT, 8, 3, good);
  CHECK_EQ(t_mask_check(&T.t, 4), TILE_OK); /* bool also takes uint8 */
  rt_set(&T, 0x1000, TILE_DEVICE_CPU, TILE_DTYPE_INT, 8, 3, good);
  BAD(t_mask_check(&T.t, 4), TILE_ERR_DTYPE, 0, -1);
#undef MASK
}

static void bad_descriptors(void) {
  const int32_t cpu = TILE_DEVICE_CPU;
  static int dummy_stream;
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
  BAD_RUN(cpu, g.launch.struct_size = 8, TILE_ERR_LAUNCH, -1, -1);
  BAD_RUN(cpu, g.launch.flags = 0x80, TILE_ERR_LAUNCH, -1, -1);
  BAD_RUN(cpu, g.launch.variant = -2, TILE_ERR_LAUNCH, -1, -1);
  BAD_RUN(cpu, g.launch.reserved = 1, TILE_ERR_LAUNCH, -1, -1);
  BAD_RUN(cpu, g.launch.variant = 5, TILE_ERR_NO_VARIANT, -1, -1);
  BAD_RUN(cpu, g.launch.stream = &dummy_stream, TILE_ERR_DEVICE_MISMATCH, -1, -1);
  BAD_RUN(cpu, (g.launch.device.type = TILE_DEVICE_CUDA, g.launch.device.id = 0), TILE_ERR_DEVICE_MISMATCH,
          -1, -1);
  BAD_RUN(cpu, (g.launch.device.type = cpu, g.launch.device.id = 3), TILE_ERR_DEVICE_MISMATCH, -1, -1);
  BAD_RUN(cpu, (g.launch.device.type = 77, g.launch.device.id = 3), TILE_ERR_NO_DEVICE, -1, -1);
  BAD_RUN(cpu, g.launch.workspace = NULL, TILE_ERR_WORKSPACE, -1, -1);
  CHECK_EQ(rt_error().expected, 512);
  CHECK_EQ(rt_error().actual, 0);
  BAD_RUN(cpu, g.launch.workspace_bytes = 511, TILE_ERR_WORKSPACE, -1, -1);
  BAD_RUN(cpu, g.launch.workspace = (void *)(uintptr_t)0x400000080u, TILE_ERR_ALIGN, -1, -1);
  BAD(t_tick(&launch, NULL, 1), TILE_ERR_NO_DEVICE, -1, -1);
  launch.device.type = TILE_DEVICE_CPU;
  launch.device.id = 1;
  BAD(t_tick(&launch, NULL, 1), TILE_ERR_NO_DEVICE, -1, -1);
  launch.device.id = 0;
  BAD(t_tick(&launch, NULL, INT64_C(1) << 31), TILE_ERR_GRID, -1, -1);
  BAD(t_tick_check(NULL, INT64_MAX), TILE_ERR_GRID, -1, -1);
  CHECK_EQ(t_tick_check(NULL, 2147483647), TILE_OK);
}

static void bad_libraries(void) {
  const int64_t eight[1] = {8}, sixteen[1] = {16}, large[1] = {1600}, seven[1] = {7};
  rt_tensor X;
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
#define ONE(shape) (&rt_set(&X, 0x1000, TILE_DEVICE_CPU, TILE_DTYPE_FLOAT, 32, 1, (shape))->t)
  BAD(t_old_abi(&launch, ONE(eight)), TILE_ERR_ABI, -1, -1);
  CHECK_EQ(rt_error().actual, TILE_RT_ABI + 1);
  BAD(t_old_abi(&launch, NULL), TILE_ERR_ABI, -1, -1);
  BAD(t_no_image(&launch, ONE(eight)), TILE_ERR_NO_IMAGE, -1, -1);
  CHECK_TEXT(rt_message(), "this library has sm_90a, sm_100f");
  BAD(t_picky(&launch, ONE(eight), TILE_MODE_RUN), TILE_ERR_NO_VARIANT, -1, -1);
  CHECK_TEXT(rt_message(), "n is a multiple of 16");
  CHECK_TEXT(rt_message(), "n is 7");
  BAD(t_picky(NULL, ONE(large), TILE_MODE_CHECK), TILE_ERR_NO_VARIANT, -1, -1);
  CHECK_TEXT(rt_message(), "n is at most 1000");
  CHECK_EQ(t_picky(NULL, ONE(sixteen), TILE_MODE_CHECK), TILE_OK);
  CHECK_EQ(t_picky(&launch, ONE(seven), TILE_MODE_RUN), TILE_OK);
  launch.variant = 0;
  BAD(t_picky(&launch, ONE(seven), TILE_MODE_RUN), TILE_ERR_NO_VARIANT, -1, -1);
#undef ONE
  const tile_device none = {TILE_DEVICE_NONE, 0}, far = {TILE_DEVICE_CUDA, 64},
                    negative = {TILE_DEVICE_CPU, -1};
  BAD(t_load(none), TILE_ERR_NO_DEVICE, -1, -1);
  BAD(t_load(negative), TILE_ERR_NO_DEVICE, -1, -1);
  (void)far;
  tile_call call;
  tile_gen_kernel kernel = {"broken", NULL, NULL, 0, 65, 0, 0, 64, 0, 0};
  void *state = NULL;
  tile_gen_library broken = {"broken", NULL, &kernel, &state, TILE_RT_ABI, 0, 1, 0, 0};
  BAD(tile_rt_begin(&call, &broken, 0, TILE_MODE_CHECK, NULL, NULL, NULL, NULL, NULL), TILE_ERR_INTERNAL, -1,
      -1);
  kernel.num_tensors = 0;
  uint64_t address;
  CHECK_EQ(tile_rt_begin(&call, &broken, 0, TILE_MODE_CHECK, NULL, NULL, NULL, NULL, NULL), TILE_OK);
  BAD(tile_rt_workspace(&call, -5, &address), TILE_ERR_WORKSPACE, -1, -1);
  BAD(tile_rt_fail(&call, TILE_OK, -1, -1, 0, 0, NULL), TILE_ERR_INTERNAL, -1, -1);
}

static void bad_drivers(void) {
  const int32_t cuda = TILE_DEVICE_CUDA;
  const char *real = getenv("TILE_CUDA_LIBRARY");
  char path[4096];
  int32_t count;
  snprintf(path, sizeof(path), "%s", real ? real : "");
  setenv("TILE_CUDA_LIBRARY", "/nonexistent/libcuda.so.1", 1);
  BAD_RUN(cuda, (void)0, TILE_ERR_NO_DRIVER, -1, -1);
  BAD(tile_device_count(cuda, &count), TILE_ERR_NO_DRIVER, -1, -1);
  CHECK_EQ(count, 0);
  setenv("TILE_CUDA_LIBRARY", path, 1);
  setenv("FAKE_VERSION", "11080", 1);
  BAD_RUN(cuda, (void)0, TILE_ERR_DRIVER_TOO_OLD, -1, -1);
  unsetenv("FAKE_VERSION");
  setenv("FAKE_MISSING", "cuLibraryLoadData", 1);
  BAD_RUN(cuda, (void)0, TILE_ERR_DRIVER_TOO_OLD, -1, -1);
  CHECK_TEXT(rt_message(), "lacks cuLibraryLoadData");
  unsetenv("FAKE_MISSING");
  BAD(tile_device_count(5, &count), TILE_ERR_NO_DEVICE, -1, -1);
  BAD(tile_device_count(cuda, NULL), TILE_ERR_NULL_ARG, -1, -1);
}

static void bad_devices(const fake_control *fake) {
  const int32_t cuda = TILE_DEVICE_CUDA;
  const fake_device h200 = {9, 0, NULL, 132, 232448, 65536}, small = {9, 0, NULL, 8, 100000, 65536},
                    old = {7, 5, NULL, 40, 65536, 65536};
  BAD_RUN(cuda, g.launch.flags = TILE_LAUNCH_NO_LAZY_LOAD, TILE_ERR_NOT_LOADED, -1, -1);
  BAD_RUN(cuda, (g.A.t.device.id = g.B.t.device.id = g.C.t.device.id = 5), TILE_ERR_NO_DEVICE, -1, -1);
  BAD_RUN(cuda, (g.A.t.device.id = g.B.t.device.id = g.C.t.device.id = 500), TILE_ERR_NO_DEVICE, -1, -1);
  fake->set_devices(1, &old);
  BAD_RUN(cuda, (void)0, TILE_ERR_NO_IMAGE, -1, -1);
  CHECK_TEXT(rt_message(), "no image for sm_75; this library has sm_90a, sm_100f, compute_80");
  fake->set_devices(1, &h200);
  static const struct {
    const char *function;
    int32_t code;
    tile_status status;
  } failures[] = {{"cuDevicePrimaryCtxRetain", 2, TILE_ERR_OUT_OF_MEMORY},
                  {"cuCtxGetCurrent", 1, TILE_ERR_DRIVER},
                  {"cuCtxPushCurrent", 1, TILE_ERR_DRIVER},
                  {"cuDeviceGetAttribute", 999, TILE_ERR_DRIVER},
                  {"cuLibraryLoadData", 2, TILE_ERR_OUT_OF_MEMORY},
                  {"cuLibraryLoadData", 200, TILE_ERR_BAD_IMAGE},
                  {"cuLibraryGetKernel", 209, TILE_ERR_BAD_IMAGE},
                  {"cuLibraryGetKernel", 500, TILE_ERR_BAD_IMAGE},
                  {"cuKernelSetAttribute", 1, TILE_ERR_DRIVER},
                  {"cuTensorMapEncodeTiled", 1, TILE_ERR_TENSOR_MAP},
                  {"cuLaunchKernelEx", 1, TILE_ERR_DRIVER},
                  {"cuLaunchKernelEx", 900, TILE_ERR_CAPTURE},
                  {"cuLaunchKernelEx", 2, TILE_ERR_OUT_OF_MEMORY}};
  for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); ++i) {
    tile_rt_shutdown(); /* so that everything is loaded anew */
    fake->fail(failures[i].function, failures[i].code, 1);
    int32_t arg = failures[i].status == TILE_ERR_TENSOR_MAP ? 0 : -1;
    BAD_RUN(cuda, (void)0, failures[i].status, arg, -1);
    CHECK_EQ(rt_error().native_api, TILE_NATIVE_CUDA);
    CHECK_EQ(rt_error().native_code, failures[i].code);
    CHECK_EQ(fake->depth(), 0); /* the context is off the stack again */
  }
  /* With a second device a stream may be of the wrong one. */
  const fake_device two[] = {h200, h200};
  rt_gemm good;
  tile_rt_shutdown();
  fake->set_devices(2, two);
  rt_gemm_set(&good, cuda, 128, 64, 32);
  CHECK_EQ(rt_gemm_run(&good), TILE_OK);
  BAD_RUN(cuda, g.launch.stream = fake->new_stream(1), TILE_ERR_DEVICE_MISMATCH, -1, -1);
  void *stream = fake->new_stream(0);
  const char *missing = getenv("FAKE_MISSING"); /* a driver before 12.8 asks the context of the stream */
  int old_driver = missing && strcmp(missing, "cuStreamGetDevice") == 0;
  fake->fail(old_driver ? "cuStreamGetCtx" : "cuStreamGetDevice", 400, 1);
  BAD_RUN(cuda, g.launch.stream = stream, TILE_ERR_DRIVER, -1, -1);
  if (old_driver)
    fake->fail("cuCtxGetDevice", 201, 1);
  else
    tile_rt_shutdown(), fake->fail("cuStreamGetCtx", 201, 1); /* to load something there must be a context */
  BAD_RUN(cuda, g.launch.stream = stream, TILE_ERR_DRIVER, -1, -1);
  /* A device too small for the only image there is. */
  tile_rt_shutdown();
  fake->set_devices(1, &small);
  CHECK_EQ(tile_rt_set_image_filter("sm_90a"), TILE_OK);
  BAD_RUN(cuda, (void)0, TILE_ERR_SHARED_MEM, -1, -1);
  CHECK_EQ(rt_error().expected, 100000);
  CHECK_EQ(tile_rt_set_image_filter(NULL), TILE_OK);
  BAD(tile_rt_set_image_filter("a name of an architecture that is much longer than any architecture's name"),
      TILE_ERR_NO_IMAGE, -1, -1);
  BAD(tile_set_num_threads(-1), TILE_ERR_LAUNCH, -1, -1);
  CHECK_EQ(fake->mistakes(), 0);
}

static void all_codes(void) {
  static const tile_status all[] = {
      TILE_ERR_NULL_ARG,    TILE_ERR_RANK,          TILE_ERR_DTYPE,          TILE_ERR_SHAPE,
      TILE_ERR_STRIDE,      TILE_ERR_ALIGN,         TILE_ERR_ALIAS,          TILE_ERR_DEVICE_MISMATCH,
      TILE_ERR_INDEX_WIDTH, TILE_ERR_NO_VARIANT,    TILE_ERR_PRECONDITION,   TILE_ERR_LAUNCH,
      TILE_ERR_NO_DRIVER,   TILE_ERR_NO_DEVICE,     TILE_ERR_DRIVER_TOO_OLD, TILE_ERR_NO_IMAGE,
      TILE_ERR_BAD_IMAGE,   TILE_ERR_ABI,           TILE_ERR_NOT_LOADED,     TILE_ERR_GRID,
      TILE_ERR_SHARED_MEM,  TILE_ERR_CAPTURE,       TILE_ERR_WORKSPACE,      TILE_ERR_TENSOR_MAP,
      TILE_ERR_DRIVER,      TILE_ERR_OUT_OF_MEMORY, TILE_ERR_INTERNAL};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
    int found = 0;
    for (int j = 0; j < num_seen; ++j)
      found |= seen[j] == all[i];
    if (!found)
      fprintf(stderr, "%s was never seen\n", tile_status_name(all[i]));
    CHECK(found);
    CHECK(strncmp(tile_status_name(all[i]), "TILE_ERR_", 9) == 0);
    CHECK(strcmp(tile_status_string(all[i]), "unknown status") != 0);
    /* Prints the list, which the test compares with the enumerators of the header. */
    printf("code %s %d\n", tile_status_name(all[i]), all[i]);
  }
  CHECK(strcmp(tile_status_name(TILE_OK), "TILE_OK") == 0);
  CHECK(strcmp(tile_status_name(12345), "TILE_ERR_UNKNOWN") == 0);
}

int main(void) {
  const fake_control *fake = rt_fake("TILE_CUDA_LIBRARY", "fake_cuda_control");
  CHECK_EQ(rt_error().status, TILE_OK);
  bad_tensors();
  bad_strided();
  bad_expressions();
  bad_descriptors();
  bad_libraries();
  bad_drivers();
  bad_devices(fake);
  all_codes();
  CHECK(num_launches >= 40);
  printf("%d bad launches\n", num_launches);
  return rt_report("bad_launches");
}
