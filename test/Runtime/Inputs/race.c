/*===- race.c - 64 threads come first at once; for ThreadSanitizer ----------===*/
#include "rt_tensors.h"

#include <pthread.h>

enum { THREADS = 64 };

static pthread_barrier_t barrier;
static int32_t wanted_device;

static void *first_launch(void *argument) {
  rt_gemm g;
  (void)argument;
  rt_gemm_set(&g, wanted_device, 128, 64, 32);
  pthread_barrier_wait(&barrier);
  return (void *)(intptr_t)rt_gemm_run(&g);
}

/* How many of 64 simultaneous first launches gave `status`. */
static int run_all(int32_t device, tile_status status) {
  pthread_t threads[THREADS];
  int same = 0;
  wanted_device = device;
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; ++i)
    if (pthread_create(&threads[i], NULL, first_launch, NULL))
      exit(3);
  for (int i = 0; i < THREADS; ++i) {
    void *result = NULL;
    pthread_join(threads[i], &result);
    same += (tile_status)(intptr_t)result == status;
  }
  pthread_barrier_destroy(&barrier);
  return same;
}

static void drop_log(void *user, int32_t level, const char *text) {
  (void)level;
  __atomic_fetch_add((int *)user, text[0] != 0, __ATOMIC_RELAXED);
}

static void *meddle(void *stop) {
  int lines = 0;
  while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE)) {
    tile_set_log(drop_log, &lines);
    if (tile_rt_set_image_filter(NULL) != TILE_OK)
      exit(4);
    tile_rt_shutdown();
    tile_set_log(NULL, NULL);
    (void)tile_set_num_threads(1 + lines % 3); /* no log call is under way any more */
  }
  return NULL;
}

int main(void) {
  const fake_control *cuda = rt_fake("TILE_CUDA_LIBRARY", "fake_cuda_control");
  const fake_control *hip = rt_fake("TILE_HIP_LIBRARY", "fake_hip_control");
  CHECK_EQ(tile_set_num_threads(3), TILE_OK);
  CHECK_EQ(run_all(TILE_DEVICE_CUDA, TILE_OK), THREADS);
  CHECK_EQ(cuda->calls("cuLibraryLoadData"), 1);
  CHECK_EQ(cuda->calls("cuLibraryGetKernel"), 4);
  CHECK_EQ(cuda->calls("cuDevicePrimaryCtxRetain"), 1);
  CHECK_EQ(cuda->calls("cuInit"), 1);
  CHECK_EQ(cuda->calls("cuLaunchKernelEx"), THREADS);
  CHECK_EQ(run_all(TILE_DEVICE_ROCM, TILE_OK), THREADS);
  CHECK_EQ(hip->calls("hipModuleLoadData"), 1);
  CHECK_EQ(hip->calls("hipInit"), 1);
  CHECK_EQ(run_all(TILE_DEVICE_CPU, TILE_OK), THREADS);
  /* One failed load is reported to all who waited for it, and tried again by those who come later. */
  tile_rt_shutdown();
  int32_t loads = cuda->calls("cuLibraryLoadData");
  cuda->fail("cuLibraryLoadData", 2, 1 << 30);
  CHECK_EQ(run_all(TILE_DEVICE_CUDA, TILE_ERR_OUT_OF_MEMORY), THREADS);
  CHECK(cuda->calls("cuLibraryLoadData") - loads <= THREADS);
  cuda->fail("cuLibraryLoadData", 0, 0);
  CHECK_EQ(run_all(TILE_DEVICE_CUDA, TILE_OK), THREADS);
  /* Launches while settings change and everything is unloaded under them. */
  int stop = 0;
  pthread_t other;
  CHECK_EQ(pthread_create(&other, NULL, meddle, &stop), 0);
  for (int i = 0; i < 5; ++i) {
    CHECK_EQ(run_all(TILE_DEVICE_CUDA, TILE_OK), THREADS);
    CHECK_EQ(run_all(TILE_DEVICE_CPU, TILE_OK), THREADS);
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
  pthread_join(other, NULL);
  tile_rt_shutdown();
  CHECK_EQ(cuda->mistakes() + hip->mistakes(), 0);
  return rt_report("race");
}
