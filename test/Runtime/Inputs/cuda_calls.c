/*===- cuda_calls.c - what good calls make of the CUDA driver ---------------===*/
#include "rt_tensors.h"

static char log_text[1 << 16];
static void keep_log(void *user, int32_t level, const char *text) {
  (void)user;
  (void)level;
  strncat(log_text, text, sizeof(log_text) - strlen(log_text) - 2);
  strcat(log_text, "\n");
}

static void test_first_launch(const fake_control *fake) {
  rt_gemm g;
  fake_launch l;
  fake_map m;
  int32_t count = -1;
  CHECK_EQ(tile_device_count(TILE_DEVICE_CUDA, &count), TILE_OK);
  CHECK_EQ(count, 1);
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 1000, 200, 64);
  tile_set_log(keep_log, NULL);
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  tile_set_log(NULL, NULL);
  CHECK_TEXT(log_text, "image sm_90a chosen for device sm_90");
  CHECK_TEXT(log_text,
             "launch gemm.0: image sm_90a, gemm_tma, 64 blocks of 384 threads, 200000 bytes shared");
  fake->last_launch(&l);
  CHECK(strcmp(l.symbol, "gemm_tma") == 0);
  CHECK_EQ(l.grid[0], 64); /* 4 x 16 blocks, fewer than 132 multiprocessors */
  CHECK_EQ(l.block[0], 384);
  CHECK_EQ(l.shared, 200000);
  CHECK_EQ(l.params[0], 4);
  CHECK_EQ(l.params[1], 16);
  CHECK_EQ(l.params[2], 0x100000000); /* the fake's map begins with the address */
  CHECK_EQ(l.params[3], 0x200000000);
  CHECK_EQ(l.params[4], 0x300000000);
  CHECK_EQ(l.params[5], 200);        /* stride 0 of C, 4 bytes */
  CHECK_EQ(l.params[6], 0x3fc00000); /* 1.5f */
  fake->last_map(&m);
  CHECK_EQ(m.rank, 2);
  CHECK_EQ(m.type, 6);
  CHECK_EQ(m.dims[0], 200);
  CHECK_EQ(m.dims[1], 64);
  CHECK_EQ(m.strides[0], 400);
  CHECK_EQ(m.box[0], 64);
  CHECK_EQ(m.box[1], 64);
  CHECK_EQ(m.swizzle, 3);
  CHECK_EQ(fake->depth(), 0);
  /* Nothing is loaded twice. */
  int32_t loads = fake->calls("cuLibraryLoadData"), kernels = fake->calls("cuLibraryGetKernel");
  CHECK_EQ(loads, 1);
  CHECK_EQ(kernels, 4); /* all kernels of the chosen image, and only those */
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  CHECK_EQ(fake->calls("cuLibraryLoadData"), loads);
  CHECK_EQ(fake->calls("cuLibraryGetKernel"), kernels);
  CHECK_EQ(fake->calls("cuDevicePrimaryCtxRetain"), 1);
}

static void test_grids(const fake_control *fake) {
  rt_gemm g;
  fake_launch l;
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 6400, 6400, 64);
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  fake->last_launch(&l);
  CHECK_EQ(l.grid[0], 132); /* persistent: one block for each multiprocessor */
  /* A pitch TMA cannot take: the other variant, with the whole grid folded into x. */
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 6400, 6401, 66);
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  fake->last_launch(&l);
  CHECK(strcmp(l.symbol, "gemm_plain") == 0);
  CHECK_EQ(l.grid[0], 101 * 100);
  CHECK_EQ(l.params[1], 0x100000000);
  CHECK_EQ(l.params[2], 66);
  /* K = 0: A and B are empty, no map of them exists, but C must still be written. */
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 64, 64, 0);
  g.A.t.data = NULL;
  g.B.t.data = NULL;
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  fake->last_launch(&l);
  CHECK(strcmp(l.symbol, "gemm_plain") == 0);
  /* An empty grid launches nothing. */
  int32_t launches = fake->calls("cuLaunchKernelEx");
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 0, 64, 32);
  g.A.t.data = NULL;
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  CHECK_EQ(fake->calls("cuLaunchKernelEx"), launches);
  /* Asking for a variant by number. */
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 128, 64, 32);
  g.launch.variant = 1;
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  fake->last_launch(&l);
  CHECK(strcmp(l.symbol, "gemm_plain") == 0);
}

/* Before CUDA 12.8. */
static int is_old_driver(void) {
  const char *missing = getenv("FAKE_MISSING");
  return missing && strcmp(missing, "cuStreamGetDevice") == 0;
}

static int32_t asked_of_contexts(const fake_control *fake) {
  return fake->calls("cuStreamGetCtx") + fake->calls("cuCtxGetCurrent") + fake->calls("cuCtxPushCurrent") +
         fake->calls("cuCtxGetDevice");
}

static void test_streams(const fake_control *fake) {
  rt_gemm g;
  fake_launch l;
  void *stream = fake->new_stream(0);
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 128, 64, 32);
  g.launch.stream = stream;
  g.launch.flags = TILE_LAUNCH_PDL;
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  fake->last_launch(&l);
  CHECK(l.stream == stream);
  CHECK_EQ(l.pdl, 1);
  CHECK_EQ(fake->depth(), 0);
  /* Loaded, it asks the driver nothing: the only device there is must be the stream's. */
  int32_t before = asked_of_contexts(fake), devices = fake->calls("cuStreamGetDevice");
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  CHECK_EQ(asked_of_contexts(fake) - before, is_old_driver() ? 4 : 0);
  CHECK_EQ(fake->calls("cuStreamGetDevice") - devices, 0);
  g.A.t.byte_offset = 128; /* a tensor map can only be encoded in a context */
  fake->fail("cuTensorMapReplaceAddress", 201, 1);
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  CHECK_EQ(fake->depth(), 0);
  fake->last_launch(&l);
  CHECK(l.stream == stream);
  g.launch.variant = 1; /* gemm_plain does not wait for its predecessor, so the flag must not reach it */
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  fake->last_launch(&l);
  CHECK_EQ(l.pdl, 0);
  int32_t asked = fake->calls("cuStreamGetCtx");
  for (uintptr_t pseudo = 0; pseudo <= 2; ++pseudo) {
    g.launch.stream = (void *)pseudo;
    CHECK_EQ(rt_gemm_run(&g), TILE_OK);
    fake->last_launch(&l);
    CHECK(l.stream == (void *)pseudo);
  }
  CHECK_EQ(fake->calls("cuStreamGetCtx"), asked);
  /* No tensors: the device comes from the stream, or from the descriptor. */
  tile_launch launch = TILE_LAUNCH_INIT(stream);
  launch.device.type = TILE_DEVICE_CUDA;
  CHECK_EQ(t_tick(&launch, NULL, 5), TILE_OK);
  fake->last_launch(&l);
  CHECK(strcmp(l.symbol, "tick_90a") == 0);
  CHECK_EQ(l.grid[0], 5);
  launch.stream = NULL;
  CHECK_EQ(t_tick(&launch, NULL, 5), TILE_ERR_NO_DEVICE);
  launch.device.id = 0;
  CHECK_EQ(t_tick(&launch, NULL, 5), TILE_OK);
}

/* Two devices of different architectures: one library each, one load of each image. */
static void test_devices(const fake_control *fake) {
  const fake_device two[] = {
      {9, 0, NULL, 132, 232448, 65536}, {10, 3, NULL, 160, 232448, 65536}, {8, 9, NULL, 142, 101376, 65536}};
  rt_gemm g;
  fake_launch l;
  fake->set_devices(3, two);
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 128, 64, 32);
  for (int32_t device = 2; device >= 0; --device) {
    static const char *const symbols[] = {"gemm_plain", "gemm_f", "gemm_80"};
    g.A.t.device.id = g.B.t.device.id = g.C.t.device.id = device;
    g.launch.variant = device == 0 ? 1 : -1;
    CHECK_EQ(rt_gemm_run(&g), TILE_OK);
    fake->last_launch(&l);
    CHECK(strcmp(l.symbol, symbols[device]) == 0);
    CHECK_EQ(l.device, device);
  }
  CHECK_EQ(fake->calls("cuLibraryLoadData"), 3);
  CHECK_EQ(fake->calls("cuDevicePrimaryCtxRetain"), 3);
  /* Loaded, a call asks the driver for the device of the stream and no more. */
  int32_t asked = asked_of_contexts(fake), devices = fake->calls("cuStreamGetDevice");
  g.A.t.device.id = g.B.t.device.id = g.C.t.device.id = 2;
  g.launch.variant = -1;
  g.launch.stream = fake->new_stream(2);
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  CHECK_EQ(asked_of_contexts(fake) - asked, is_old_driver() ? 4 : 0);
  CHECK_EQ(fake->calls("cuStreamGetDevice") - devices, !is_old_driver());
  g.launch.stream = fake->new_stream(1);
  CHECK_EQ(rt_gemm_run(&g), TILE_ERR_DEVICE_MISMATCH);
}

static void test_load_and_filter(const fake_control *fake) {
  const tile_device device = {TILE_DEVICE_CUDA, 0}, cpu = {TILE_DEVICE_CPU, 0};
  rt_gemm g;
  fake_launch l;
  const fake_device h200 = {9, 0, NULL, 132, 232448, 65536};
  tile_rt_shutdown();
  fake->set_devices(1, &h200);
  CHECK_EQ(fake->calls("cuLibraryUnload"), fake->calls("cuLibraryLoadData"));
  CHECK_EQ(fake->calls("cuDevicePrimaryCtxRelease"), fake->calls("cuDevicePrimaryCtxRetain"));
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 128, 64, 32);
  g.launch.flags = TILE_LAUNCH_NO_LAZY_LOAD;
  CHECK_EQ(rt_gemm_run(&g), TILE_ERR_NOT_LOADED);
  CHECK_EQ(t_load(device), TILE_OK);
  CHECK_EQ(t_load(cpu), TILE_OK);
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  CHECK_EQ(tile_rt_set_image_filter("compute_80"), TILE_OK);
  g.launch.flags = 0;
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  fake->last_launch(&l);
  CHECK(strcmp(l.symbol, "gemm_80") == 0);
  CHECK_EQ(tile_rt_set_image_filter("sm_100f"), TILE_OK);
  CHECK_EQ(rt_gemm_run(&g), TILE_ERR_NO_IMAGE);
  CHECK_TEXT(rt_message(), "the image filter is sm_100f");
  CHECK_EQ(tile_rt_set_image_filter(NULL), TILE_OK);
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
}

static void test_modes(const fake_control *fake) {
  rt_gemm g;
  uint64_t bytes = 7;
  int32_t launches = fake->calls("cuLaunchKernelEx");
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 100, 64, 32);
  CHECK_EQ(rt_gemm_check(&g), TILE_OK);
  g.A.t.data = g.B.t.data = g.C.t.data = NULL;
  CHECK_EQ(t_gemm_workspace(&g.A.t, &g.B.t, &g.C.t, 1, &bytes), TILE_OK);
  CHECK_EQ(bytes, 512);
  CHECK_EQ(rt_gemm_check(&g), TILE_ERR_NULL_ARG);
  CHECK_EQ(fake->calls("cuLaunchKernelEx"), launches);
  /* The caller vouches for everything: a wrong dtype and an odd K pass. */
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 100, 64, 33);
  g.A.t.dtype.bits = 8;
  g.launch.flags = TILE_LAUNCH_NO_CHECKS;
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  CHECK_EQ(fake->calls("cuLaunchKernelEx"), launches + 1);
}

/* The seed of pauses comes from the environment of each launch; nonsense in front of a number's end is no
 * number. */
static void test_schedule_seed(const fake_control *fake) {
  static const struct {
    const char *text;
    uint64_t seed;
  } cases[] = {{NULL, 0}, {"7", 7}, {"0x10", 16}, {"4294967303", 7}, {"none", 0}};
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
  fake_launch l;
  launch.device.type = TILE_DEVICE_CUDA;
  launch.device.id = 0;
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    if (cases[i].text)
      setenv("TILE_SCHEDULE_SEED", cases[i].text, 1);
    CHECK_EQ(t_tick(&launch, NULL, 5), TILE_OK);
    fake->last_launch(&l);
    CHECK_EQ(l.params[1], cases[i].seed);
  }
  unsetenv("TILE_SCHEDULE_SEED");
}

static void test_points(const fake_control *fake) {
  enum { SMS = 132 };
  static const struct {
    uintptr_t p;
    int64_t n, trips;
    const char *symbol;
    uint32_t blocks;
  } cases[] = {
      {64, 64 * SMS, 100, "tuned_64", SMS},         /* one wave of either: the cheaper block */
      {64, 256 * SMS, 100, "tuned_256", SMS},       /* one wave against four */
      {4096, 256 * SMS, 100, "tuned_128", 2 * SMS}, /* two waves of a block at less than half the price */
      {8192, 64 * SMS + 1, 100, "tuned_128",
       SMS / 2 + 1},              /* one block more is a second wave of the small ones */
      {64, 1, 0, "tuned_256", 1}, /* the same price: the first */
      {64, 256 * SMS, INT64_MAX / 8, "tuned_256", SMS}, /* too large to multiply: still one of them */
  };
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
  fake_launch l;
  launch.device.type = TILE_DEVICE_CUDA;
  launch.device.id = 0;
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    CHECK_EQ(t_tuned(&launch, (void *)cases[i].p, cases[i].n, cases[i].trips), TILE_OK);
    fake->last_launch(&l);
    CHECK(strcmp(l.symbol, cases[i].symbol) == 0);
    CHECK_EQ(l.grid[0], cases[i].blocks);
    CHECK_EQ(l.params[0], cases[i].blocks);
    CHECK_EQ(l.params[1], cases[i].p);
  }
  /* A number asked for is obeyed, its conditions are kept. */
  launch.variant = 1;
  CHECK_EQ(t_tuned(&launch, (void *)64, 256 * SMS, 100), TILE_OK);
  fake->last_launch(&l);
  CHECK(strcmp(l.symbol, "tuned_64") == 0);
  CHECK_EQ(l.grid[0], 4 * SMS);
  launch.variant = 2;
  CHECK_EQ(t_tuned(&launch, (void *)64, 256, 100), TILE_ERR_NO_VARIANT);
}

int main(void) {
  const fake_control *fake = rt_fake("TILE_CUDA_LIBRARY", "fake_cuda_control");
  test_first_launch(fake);
  test_grids(fake);
  test_streams(fake);
  test_devices(fake);
  test_load_and_filter(fake);
  test_modes(fake);
  test_schedule_seed(fake);
  test_points(fake);
  CHECK_EQ(fake->depth(), 0);
  tile_rt_shutdown();
  CHECK_EQ(fake->mistakes(), 0);
  return rt_report("cuda_calls");
}
