/*===- hip.c - AMD devices through libamdhip64 ------------------------------===*
 *
 * The same shape as cuda.c with HIP's notions: a current device for each thread
 * instead of contexts, and one module per image and device.
 *
 *===------------------------------------------------------------------------===*/
#include "tile_rt_internal.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t hip_error;

enum { /* hipError_t */
       HIP_OUT_OF_MEMORY = 2,
       HIP_INSUFFICIENT_DRIVER = 35,
       HIP_NO_DEVICE = 100,
       HIP_INVALID_DEVICE = 101,
       HIP_INVALID_IMAGE = 200,
       HIP_NO_BINARY = 209,
       HIP_INVALID_KERNEL_FILE = 218,
       HIP_NOT_FOUND = 500,
       HIP_CAPTURE_FIRST = 900,
       HIP_CAPTURE_LAST = 908
};

enum { /* hipDeviceAttribute_t, ROCm 6 and later */
       HIP_ATTRIBUTE_MULTIPROCESSORS = 63,
       HIP_ATTRIBUTE_REGISTERS_PER_BLOCK = 71,
       HIP_ATTRIBUTE_SHARED_PER_BLOCK = 74
};

enum { /* hipDeviceProp_tR0600: where gcnArchName stands, and room enough for all of it */
       HIP_PROPERTIES_SIZE = 8192,
       HIP_ARCH_OFFSET = 1160,
       HIP_ARCH_SIZE = 256
};

typedef struct hip_api {
#define HIP_FUNCTION(name, ...) hip_error (*name)(__VA_ARGS__);
#include "hip_symbols.def"
#undef HIP_FUNCTION
  const char *(*hipGetErrorName)(hip_error error);
  const char *(*hipGetErrorString)(hip_error error);
} hip_api;

static pthread_mutex_t driver_mutex = PTHREAD_MUTEX_INITIALIZER;
static hip_api api;
static int32_t api_ready; /* atomic */
static void *driver_handle;

/*===- Driver -----------------------------------------------------------------*/

static tile_status status_of(hip_error error) {
  if (error >= HIP_CAPTURE_FIRST && error <= HIP_CAPTURE_LAST)
    return TILE_ERR_CAPTURE;
  switch (error) {
  case HIP_OUT_OF_MEMORY:
    return TILE_ERR_OUT_OF_MEMORY;
  case HIP_INSUFFICIENT_DRIVER:
    return TILE_ERR_DRIVER_TOO_OLD;
  case HIP_NO_DEVICE:
  case HIP_INVALID_DEVICE:
    return TILE_ERR_NO_DEVICE;
  case HIP_INVALID_IMAGE:
  case HIP_NO_BINARY:
  case HIP_INVALID_KERNEL_FILE:
  case HIP_NOT_FOUND:
    return TILE_ERR_BAD_IMAGE;
  default:
    return TILE_ERR_DRIVER;
  }
}

static COLD tile_status hip_fail(const char *kernel, const char *what, hip_error error) {
  error_place place = NO_PLACE(kernel);
  const char *name = api.hipGetErrorName(error), *text = api.hipGetErrorString(error);
  place.native_api = TILE_NATIVE_HIP;
  place.native_code = error;
  return tilert_fail(status_of(error), &place, "%s failed: %s (%d) %s", what,
                     name ? name : "unknown HIP error", error, text ? text : "");
}

static int find_function(const char *name, void *slot) {
  void *address = dlsym(driver_handle, name);
  memcpy(slot, &address, sizeof(address));
  return address != NULL;
}

static const char *find_functions(void) {
#define HIP_FUNCTION(name, ...)                                                                              \
  if (!find_function(#name, &api.name))                                                                      \
    return #name;
#include "hip_symbols.def"
  HIP_FUNCTION(hipGetErrorName, )
  HIP_FUNCTION(hipGetErrorString, )
#undef HIP_FUNCTION
  return NULL;
}

static tile_status open_driver(const char *kernel) {
  error_place place = NO_PLACE(kernel);
  const char *path = secure_getenv("TILE_HIP_LIBRARY");
  path = path && *path ? path : "libamdhip64.so";
  if (!driver_handle)
    driver_handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  /* Machines without the development package have only the versioned name. */
  if (!driver_handle && strcmp(path, "libamdhip64.so") == 0)
    driver_handle = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
  if (!driver_handle) {
    const char *why = dlerror();
    return tilert_fail(TILE_ERR_NO_DRIVER, &place, "no HIP driver: %s", why ? why : path);
  }
  const char *missing = find_functions();
  if (missing)
    return tilert_fail(TILE_ERR_DRIVER_TOO_OLD, &place,
                       "the HIP driver lacks %s; ROCm 6.0 or later is needed", missing);
  hip_error error = api.hipInit(0);
  if (error)
    return hip_fail(kernel, "hipInit", error);
  tilert_log(TILE_LOG_INFO, "HIP driver from %s", path);
  return TILE_OK;
}

static const hip_api *hip_driver(const char *kernel, tile_status *status) {
  *status = TILE_OK;
  if (LIKELY(__atomic_load_n(&api_ready, __ATOMIC_ACQUIRE)))
    return &api;
  pthread_mutex_lock(&driver_mutex);
  if (!api_ready && (*status = open_driver(kernel)) == TILE_OK)
    __atomic_store_n(&api_ready, 1, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&driver_mutex);
  return *status ? NULL : &api;
}

/*===- Device -----------------------------------------------------------------*/

static void hip_leave(call_state *call) {
  if (call->restore)
    (void)api.hipSetDevice(call->restore - 1);
  call->restore = 0;
}

/* 1 and 2 are hipStreamLegacy and hipStreamPerThread. */
static int is_real_stream(const void *stream) { return (uintptr_t)stream > 2; }

static tile_status find_device(const hip_api *hip, call_state *call) {
  error_place place = NO_PLACE(call->kernel->name);
  if (is_real_stream(call->stream)) {
    int32_t device = 0;
    hip_error error = hip->hipStreamGetDevice(call->stream, &device);
    if (error)
      return hip_fail(call->kernel->name, "hipStreamGetDevice", error);
    place.expected = call->device;
    place.actual = device;
    if (call->device >= 0 && call->device != device)
      return tilert_fail(TILE_ERR_DEVICE_MISMATCH, &place,
                         "launch: the stream is of device %d, the tensors are on device %d", device,
                         call->device);
    call->device = device;
  }
  place.actual = call->device;
  if (call->device < 0 || call->device >= MAX_DEVICES)
    return tilert_fail(TILE_ERR_NO_DEVICE, &place, "there is no HIP device %d", call->device);
  return TILE_OK;
}

static tile_status hip_enter(call_state *call) {
  tile_status s = TILE_OK;
  const hip_api *hip = hip_driver(call->kernel->name, &s);
  if (UNLIKELY(!hip) || UNLIKELY((s = find_device(hip, call))))
    return s;
  int32_t current = 0;
  hip_error error = hip->hipGetDevice(&current);
  if (!error && current != call->device && !(error = hip->hipSetDevice(call->device)))
    call->restore = 1 + current;
  if (error)
    return hip_fail(call->kernel->name, "making the device current", error);
  call->loaded = tilert_load(call->library, call->kernel->name, BACKEND_HIP, call->device,
                             !(call->flags & TILE_LAUNCH_NO_LAZY_LOAD), &s);
  if (UNLIKELY(s))
    hip_leave(call);
  return s;
}

/*===- Loading ----------------------------------------------------------------*/

static tile_status read_device(const hip_api *hip, const char *kernel, int32_t device, char *target,
                               device_traits *traits, loaded_state *loaded) {
  union {
    char bytes[HIP_PROPERTIES_SIZE];
    uint64_t align;
  } properties;
  int32_t shared = 0, registers = 0;
  memset(&properties, 0, sizeof(properties));
  hip_error error = hip->hipGetDevicePropertiesR0600(&properties, device);
  if (!error)
    error = hip->hipDeviceGetAttribute(&loaded->multiprocessors, HIP_ATTRIBUTE_MULTIPROCESSORS, device);
  if (!error)
    error = hip->hipDeviceGetAttribute(&shared, HIP_ATTRIBUTE_SHARED_PER_BLOCK, device);
  if (!error)
    error = hip->hipDeviceGetAttribute(&registers, HIP_ATTRIBUTE_REGISTERS_PER_BLOCK, device);
  if (error)
    return hip_fail(kernel, "reading the device's properties", error);
  memcpy(target, properties.bytes + HIP_ARCH_OFFSET, HIP_ARCH_SIZE);
  target[HIP_ARCH_SIZE - 1] = 0;
  traits->backend = BACKEND_HIP;
  traits->target = target;
  traits->shared_limit = loaded->shared_limit = shared;
  traits->register_limit = INT64_MAX; /* code objects are already built for a block size */
  return TILE_OK;
}

static tile_status load_function(const hip_api *hip, const char *kernel, const tile_gen_variant *variant,
                                 loaded_state *loaded) {
  if (variant->function < 0 || variant->function >= loaded->num_functions ||
      variant->num_params > MAX_PARAMS || variant->num_maps) {
    error_place place = NO_PLACE(kernel);
    return tilert_fail(TILE_ERR_INTERNAL, &place, "the table of %s is malformed", variant->symbol);
  }
  hip_error error = hip->hipModuleGetFunction(&loaded->functions[variant->function],
                                              loaded->modules[variant->image], variant->symbol);
  return error ? hip_fail(kernel, variant->symbol, error) : TILE_OK;
}

static tile_status load_functions(const hip_api *hip, const tile_gen_library *library, const char *kernel,
                                  loaded_state *loaded) {
  for (int32_t k = 0; k < library->num_kernels; ++k)
    for (int32_t l = 0; l < library->kernels[k].num_launches; ++l) {
      const tile_gen_launch *launch = &library->kernels[k].launches[l];
      for (int32_t v = 0; v < launch->num_variants; ++v) {
        if (!loaded->selected[launch->variants[v].image])
          continue;
        tile_status s = load_function(hip, kernel, &launch->variants[v], loaded);
        if (s)
          return s;
      }
    }
  return TILE_OK;
}

static tile_status hip_load(library_state *state, const tile_gen_library *library, const char *kernel,
                            int32_t device, loaded_state *loaded) {
  (void)state;
  tile_status s = TILE_OK;
  const hip_api *hip = hip_driver(kernel, &s);
  char target[HIP_ARCH_SIZE];
  device_traits traits;
  memset(&traits, 0, sizeof(traits));
  if (s || (s = read_device(hip, kernel, device, target, &traits, loaded)) ||
      (s = tilert_select_images(library, kernel, &traits, loaded)))
    return s;
  for (int32_t i = 0; i < library->num_images; ++i) {
    if (!loaded->selected[i] || loaded->modules[i])
      continue;
    hip_error error = hip->hipModuleLoadData(&loaded->modules[i], library->images[i].data);
    if (error) {
      loaded->modules[i] = NULL;
      return hip_fail(kernel, "loading the image", error);
    }
    tilert_log(TILE_LOG_INFO, "%s: loaded image %s, %lld bytes", library->name, library->images[i].arch,
               (long long)library->images[i].size);
  }
  return load_functions(hip, library, kernel, loaded);
}

static void hip_unload(library_state *state, loaded_state *loaded) {
  (void)state;
  for (int32_t i = 0; i < loaded->num_images; ++i)
    if (loaded->modules[i])
      (void)api.hipModuleUnload(loaded->modules[i]);
}

static void hip_unload_library(library_state *state) { (void)state; }
static void hip_shutdown(void) {}

static tile_status hip_count(int32_t *count) {
  tile_status s = TILE_OK;
  const hip_api *hip = hip_driver("", &s);
  if (!hip)
    return s == TILE_ERR_NO_DEVICE ? TILE_OK : s;
  hip_error error = hip->hipGetDeviceCount(count);
  if (!error)
    return TILE_OK;
  *count = 0;
  return error == HIP_NO_DEVICE ? TILE_OK : hip_fail("", "hipGetDeviceCount", error);
}

/*===- Launching --------------------------------------------------------------*/

/* HIP counts threads, not blocks, in 32 bits. */
static COLD tile_status fail_grid(const call_state *call, const tile_gen_variant *v, int64_t blocks) {
  error_place place = NO_PLACE(call->kernel->name);
  place.expected = (INT64_C(4294967295)) / v->threads;
  place.actual = blocks;
  return tilert_fail(TILE_ERR_GRID, &place, "%lld blocks of %d threads are more than HIP's 2^32 - 1 threads",
                     (long long)blocks, v->threads);
}

static tile_status hip_launch(call_state *call, const tile_gen_launch *launch, const tile_gen_variant *v,
                              const uint64_t *values, int64_t blocks, launch_plan *plan) {
  tile_status s = tilert_before_launch(call, launch, v, &blocks);
  if (UNLIKELY(s))
    return s;
  if (UNLIKELY(blocks * v->threads > INT64_C(4294967295)))
    return fail_grid(call, v, blocks);
  void *params[MAX_PARAMS];
  uint64_t seed;
  void **used = tilert_launch_params(v, values, NULL, &seed, params, plan);
  hip_error error = api.hipModuleLaunchKernel(call->loaded->functions[v->function], (uint32_t)blocks, 1, 1,
                                              (uint32_t)v->threads, 1, 1, (uint32_t)v->shared_bytes,
                                              call->stream, used, NULL);
  return LIKELY(!error) ? TILE_OK : hip_fail(call->kernel->name, "the launch", error);
}

const backend_ops tilert_hip = {hip_enter,  hip_leave,          hip_launch,   hip_load,
                                hip_unload, hip_unload_library, hip_shutdown, hip_count};
