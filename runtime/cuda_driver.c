/*===- cuda_driver.c - finds libcuda, translates its errors -----------------===*/
#include "cuda_api.h"
#include "tile_rt_internal.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST_CUDA = 12000 };

static pthread_mutex_t driver_mutex = PTHREAD_MUTEX_INITIALIZER;
static cuda_api api;
static int32_t api_ready; /* atomic */
static int32_t driver_version;
static void *driver_handle;

int32_t tilert_cuda_version(void) { return driver_version; }

static tile_status status_of(CUresult error) {
  if (error >= CUDA_ERROR_STREAM_CAPTURE_FIRST && error <= CUDA_ERROR_STREAM_CAPTURE_LAST)
    return TILE_ERR_CAPTURE;
  switch (error) {
  case CUDA_ERROR_OUT_OF_MEMORY:
    return TILE_ERR_OUT_OF_MEMORY;
  case CUDA_ERROR_STUB_LIBRARY:
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    return TILE_ERR_NO_DRIVER;
  case CUDA_ERROR_COMPAT_NOT_SUPPORTED:
    return TILE_ERR_DRIVER_TOO_OLD;
  case CUDA_ERROR_NO_DEVICE:
  case CUDA_ERROR_INVALID_DEVICE:
    return TILE_ERR_NO_DEVICE;
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
  case CUDA_ERROR_NOT_FOUND:
    return TILE_ERR_BAD_IMAGE;
  default:
    return TILE_ERR_DRIVER;
  }
}

COLD tile_status tilert_cuda_fail(const cuda_api *cu, const char *kernel, const char *what, CUresult error) {
  error_place place = NO_PLACE(kernel);
  const char *name = NULL, *text = NULL;
  if (cu->cuGetErrorName(error, &name) != CUDA_SUCCESS || !name)
    name = "unknown CUDA error";
  if (cu->cuGetErrorString(error, &text) != CUDA_SUCCESS || !text)
    text = "";
  place.native_api = TILE_NATIVE_CUDA;
  place.native_code = error;
  return tilert_fail(status_of(error), &place, "%s failed: %s (%d) %s", what, name, error, text);
}

typedef CUresult (*get_proc_fn)(const char *name, void **function, int32_t version, uint64_t flags,
                                int32_t *found);

/* ISO C has no cast from void * to a function pointer. */
static int find_function(get_proc_fn get, const char *name, int32_t version, void *slot) {
  void *address = NULL;
  int32_t found = 0;
  if (get(name, &address, version, 0, &found) != CUDA_SUCCESS || !address)
    return 0;
  memcpy(slot, &address, sizeof(address));
  return 1;
}

static const char *find_functions(get_proc_fn get) {
#define CUDA_FUNCTION(name, ...)                                                                             \
  if (!find_function(get, #name, OLDEST_CUDA, &api.name))                                                    \
    return #name;
#include "cuda_symbols.def"
#undef CUDA_FUNCTION
  if (!find_function(get, "cuStreamGetDevice", 12080, &api.cuStreamGetDevice))
    api.cuStreamGetDevice = NULL;
  return NULL;
}

static tile_status open_driver(const char *kernel) {
  error_place place = NO_PLACE(kernel);
  const char *path = secure_getenv("TILE_CUDA_LIBRARY");
  path = path && *path ? path : "libcuda.so.1";
  if (!driver_handle && !(driver_handle = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
    const char *why = dlerror();
    return tilert_fail(TILE_ERR_NO_DRIVER, &place, "no CUDA driver: %s", why ? why : path);
  }
  get_proc_fn get = NULL;
  void *symbol = dlsym(driver_handle, "cuGetProcAddress_v2");
  if (!symbol)
    return tilert_fail(TILE_ERR_DRIVER_TOO_OLD, &place,
                       "the CUDA driver is older than 12.0: no cuGetProcAddress_v2");
  memcpy(&get, &symbol, sizeof(symbol));
  const char *missing = find_functions(get);
  if (missing)
    return tilert_fail(TILE_ERR_DRIVER_TOO_OLD, &place,
                       "the CUDA driver lacks %s; version 12.0 or later is needed", missing);
  CUresult error = api.cuDriverGetVersion(&driver_version);
  if (error)
    return tilert_cuda_fail(&api, kernel, "cuDriverGetVersion", error);
  if (driver_version < OLDEST_CUDA) {
    place.expected = OLDEST_CUDA;
    place.actual = driver_version;
    return tilert_fail(TILE_ERR_DRIVER_TOO_OLD, &place,
                       "the CUDA driver is for %d.%d, 12.0 or later is needed", driver_version / 1000,
                       driver_version % 1000 / 10);
  }
  if ((error = api.cuInit(0)))
    return tilert_cuda_fail(&api, kernel, "cuInit", error);
  tilert_log(TILE_LOG_INFO, "CUDA driver %d.%d from %s", driver_version / 1000, driver_version % 1000 / 10,
             path);
  return TILE_OK;
}

/* Failures are not kept: a driver may be installed or a device appear later. */
const cuda_api *tilert_cuda_driver(const char *kernel, tile_status *status) {
  *status = TILE_OK;
  if (LIKELY(__atomic_load_n(&api_ready, __ATOMIC_ACQUIRE)))
    return &api;
  pthread_mutex_lock(&driver_mutex);
  if (!api_ready && (*status = open_driver(kernel)) == TILE_OK)
    __atomic_store_n(&api_ready, 1, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&driver_mutex);
  return *status ? NULL : &api;
}
