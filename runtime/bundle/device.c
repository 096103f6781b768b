/*===- device.c - memory and time ------------------------------------------------===*/
#include "runner.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The part of the CUDA driver that the runtime itself has no use for, in the form of CUDA 12.0. */
#define FUNCTIONS(F)                                                                                         \
  F(cuInit, uint32_t)                                                                                        \
  F(cuDriverGetVersion, int32_t *)                                                                           \
  F(cuDeviceGet, int32_t *, int32_t)                                                                         \
  F(cuDeviceGetName, char *, int32_t, int32_t)                                                               \
  F(cuDevicePrimaryCtxRetain, void **, int32_t)                                                              \
  F(cuCtxPushCurrent, void *)                                                                                \
  F(cuCtxSynchronize, void)                                                                                  \
  F(cuMemAlloc, uint64_t *, size_t)                                                                          \
  F(cuMemFree, uint64_t)                                                                                     \
  F(cuMemcpyHtoD, uint64_t, const void *, size_t)                                                            \
  F(cuMemcpyDtoH, void *, uint64_t, size_t)                                                                  \
  F(cuMemsetD8Async, uint64_t, uint8_t, size_t, void *)                                                      \
  F(cuEventCreate, void **, uint32_t)                                                                        \
  F(cuEventRecord, void *, void *)                                                                           \
  F(cuEventSynchronize, void *)                                                                              \
  F(cuEventElapsedTime, float *, void *, void *)

#define DECLARE(name, ...) static int32_t (*name)(__VA_ARGS__);
FUNCTIONS(DECLARE)
#undef DECLARE

/* Several times what a cache holds, and long enough for the host to come with the next launch. */
enum { GPU_FLUSH = 512 << 20, CPU_FLUSH = 256 << 20 };

static char message[256];
static uint64_t flush_memory;
static char *cpu_flush;
static void *start_event, *end_event;

const char *device_error(void) { return message; }

static int check(const char *what, int32_t status) {
  if (status)
    snprintf(message, sizeof(message), "%s: CUDA error %d", what, status);
  return status == 0;
}

typedef int32_t (*get_proc_fn)(const char *name, void **function, int32_t version, uint64_t flags,
                               int32_t *found);

static int find(get_proc_fn get, const char *name, void *slot) {
  void *address = NULL;
  int32_t found = 0;
  if (get(name, &address, 12000, 0, &found) || !address) {
    snprintf(message, sizeof(message), "the CUDA driver lacks %s", name);
    return 0;
  }
  memcpy(slot, &address, sizeof(address));
  return 1;
}

static int open_cuda(device *d) {
  const char *path = secure_getenv("TILE_CUDA_LIBRARY");
  void *driver = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *symbol;
  get_proc_fn get = NULL;
  if (!driver || !(symbol = dlsym(driver, "cuGetProcAddress_v2"))) {
    snprintf(message, sizeof(message), "no CUDA driver: %s", dlerror());
    return 0;
  }
  memcpy(&get, &symbol, sizeof(symbol));
#define FIND(name, ...)                                                                                      \
  if (!find(get, #name, &name))                                                                              \
    return 0;
  FUNCTIONS(FIND)
#undef FIND
  int32_t ordinal;
  void *context;
  return check("cuInit", cuInit(0)) && check("cuDriverGetVersion", cuDriverGetVersion(&d->driver)) &&
         check("cuDeviceGet", cuDeviceGet(&ordinal, 0)) &&
         check("cuDeviceGetName", cuDeviceGetName(d->name, sizeof(d->name), ordinal)) &&
         check("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, ordinal)) &&
         check("cuCtxPushCurrent", cuCtxPushCurrent(context)) &&
         check("cuMemAlloc", cuMemAlloc(&flush_memory, GPU_FLUSH)) &&
         check("cuEventCreate", cuEventCreate(&start_event, 0)) &&
         check("cuEventCreate", cuEventCreate(&end_event, 0));
}

int device_open(device *d, int32_t type) {
  memset(d, 0, sizeof(*d));
  d->type = type;
  if (type == TILE_DEVICE_CUDA)
    return open_cuda(d);
  snprintf(d->name, sizeof(d->name), "CPU, %d threads", tile_num_threads());
  return 1;
}

void *device_allocate(const device *d, int64_t bytes) {
  size_t size = bytes > 0 ? ((size_t)bytes + 255) / 256 * 256 : 256;
  uint64_t address = 0;
  void *memory = NULL;
  if (d->type == TILE_DEVICE_CUDA)
    return check("cuMemAlloc", cuMemAlloc(&address, size)) ? (void *)(uintptr_t)address : NULL;
  if ((memory = aligned_alloc(256, size)) == NULL)
    snprintf(message, sizeof(message), "no memory for %zu bytes", size);
  return memory;
}

void device_free(const device *d, void *memory) {
  if (d->type == TILE_DEVICE_CUDA && memory)
    check("cuMemFree", cuMemFree((uint64_t)(uintptr_t)memory));
  else
    free(memory);
}

int device_upload(const device *d, void *to, const void *from, int64_t bytes) {
  if (d->type == TILE_DEVICE_CUDA)
    return check("cuMemcpyHtoD", cuMemcpyHtoD((uint64_t)(uintptr_t)to, from, (size_t)bytes));
  memcpy(to, from, (size_t)bytes);
  return 1;
}

int device_download(const device *d, void *to, const void *from, int64_t bytes) {
  if (d->type == TILE_DEVICE_CUDA)
    return check("cuMemcpyDtoH", cuMemcpyDtoH(to, (uint64_t)(uintptr_t)from, (size_t)bytes));
  memcpy(to, from, (size_t)bytes);
  return 1;
}

int device_poison(const device *d, void *to, int64_t bytes) {
  if (d->type == TILE_DEVICE_CUDA)
    return check("cuMemsetD8Async", cuMemsetD8Async((uint64_t)(uintptr_t)to, 0xFF, (size_t)bytes, NULL));
  memset(to, 0xFF, (size_t)bytes);
  return 1;
}

int device_wait(const device *d) {
  return d->type != TILE_DEVICE_CUDA || check("cuCtxSynchronize", cuCtxSynchronize());
}

static double cuda_seconds(int (*run)(void *), void *context) {
  float ms = 0;
  if (!check("cuMemsetD8Async", cuMemsetD8Async(flush_memory, 0, GPU_FLUSH, NULL)) ||
      !check("cuEventRecord", cuEventRecord(start_event, NULL)) || !run(context) ||
      !check("cuEventRecord", cuEventRecord(end_event, NULL)) ||
      !check("cuEventSynchronize", cuEventSynchronize(end_event)) ||
      !check("cuEventElapsedTime", cuEventElapsedTime(&ms, start_event, end_event)))
    return -1;
  return (double)ms * 1e-3;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double device_seconds(const device *d, int (*run)(void *), void *context) {
  if (d->type == TILE_DEVICE_CUDA)
    return cuda_seconds(run, context);
  if (!cpu_flush && (cpu_flush = malloc(CPU_FLUSH)) == NULL)
    return -1;
  memset(cpu_flush, 1, CPU_FLUSH);
  double start = now();
  return run(context) ? now() - start : -1;
}
