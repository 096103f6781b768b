/*===- emulated_hip.c - a libamdhip64.so whose kernels an emulator runs ------===*
 *
 * Device memory is the process's own; a launch goes to a function that the test
 * has set, with the code object, the kernel's name and the packed parameters.
 * One device, of the chip that the test names.
 *
 *===------------------------------------------------------------------------===*/
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define HIP(name, ...)                                                                                       \
  EXPORT int32_t name(__VA_ARGS__);                                                                          \
  EXPORT int32_t name(__VA_ARGS__)

enum {
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  NOT_FOUND = 500,
  LAUNCH_FAILURE = 719
};
enum { ATTRIBUTE_MULTIPROCESSORS = 63, ATTRIBUTE_REGISTERS = 71, ATTRIBUTE_SHARED = 74 };
/* hipDeviceProp_tR0600 of ROCm 6. */
enum { PROPERTIES_SIZE = 1472, ARCH_OFFSET = 1160, ARCH_SIZE = 256 };

/* Runs a kernel to its end; 0, or nonzero with a text in `error`. */
typedef int32_t (*launch_function)(const void *image, const char *kernel, const uint32_t grid[3],
                                   const uint32_t block[3], uint32_t shared_bytes, void **parameters,
                                   char *error, uint32_t error_size);

typedef struct module {
  const void *image;
} module;
typedef struct function {
  const module *of;
  char name[512];
} function;

static launch_function run_kernel;
static char arch[ARCH_SIZE];
static char last_error[4096];

/* `chip`: as the driver reports it, e.g. gfx942:sramecc+:xnack-. */
EXPORT void emulated_hip_set(const char *chip, launch_function run);
EXPORT void emulated_hip_set(const char *chip, launch_function run) {
  snprintf(arch, sizeof(arch), "%s", chip);
  run_kernel = run;
}

HIP(hipInit, uint32_t flags) {
  (void)flags;
  return run_kernel ? 0 : NO_DEVICE;
}
HIP(hipGetDeviceCount, int32_t *count) {
  *count = run_kernel ? 1 : 0;
  return 0;
}
HIP(hipGetDevice, int32_t *device) {
  *device = 0;
  return 0;
}
HIP(hipSetDevice, int32_t device) { return device ? INVALID_DEVICE : 0; }
HIP(hipDeviceGetAttribute, int32_t *value, int32_t attribute, int32_t device) {
  if (device)
    return INVALID_DEVICE;
  switch (attribute) {
  case ATTRIBUTE_MULTIPROCESSORS:
    *value = strncmp(arch, "gfx90a", 6) == 0 ? 104 : 304;
    return 0;
  case ATTRIBUTE_REGISTERS:
  case ATTRIBUTE_SHARED:
    *value = 65536;
    return 0;
  default:
    return INVALID_VALUE;
  }
}
HIP(hipGetDevicePropertiesR0600, void *properties, int32_t device) {
  if (device)
    return INVALID_DEVICE;
  memset(properties, 0, PROPERTIES_SIZE);
  memcpy((char *)properties + ARCH_OFFSET, arch, sizeof(arch));
  return 0;
}
HIP(hipStreamGetDevice, void *stream, int32_t *device) {
  (void)stream;
  *device = 0;
  return 0;
}
HIP(hipModuleLoadData, void **out, const void *image) {
  module *m = malloc(sizeof(*m));
  if (!m)
    return OUT_OF_MEMORY;
  m->image = image;
  *out = m;
  return 0;
}
/* Functions are kept until the process ends: the runtime unloads modules at exit only. */
HIP(hipModuleUnload, void *of) {
  free(of);
  return 0;
}
HIP(hipModuleGetFunction, void **out, void *of, const char *name) {
  function *f = malloc(sizeof(*f));
  if (!f)
    return OUT_OF_MEMORY;
  f->of = of;
  if (snprintf(f->name, sizeof(f->name), "%s", name) >= (int)sizeof(f->name)) {
    free(f);
    return NOT_FOUND;
  }
  *out = f;
  return 0;
}
HIP(hipModuleLaunchKernel, void *what, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by,
    uint32_t bz, uint32_t shared, void *stream, void **parameters, void **extra) {
  (void)stream;
  const function *f = what;
  const uint32_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  if (!gx || !gy || !gz || !bx || !by || !bz || extra)
    return INVALID_VALUE;
  return run_kernel(f->of->image, f->name, grid, block, shared, parameters, last_error, sizeof(last_error))
             ? LAUNCH_FAILURE
             : 0;
}

EXPORT const char *hipGetErrorName(int32_t error);
EXPORT const char *hipGetErrorName(int32_t error) {
  return error == LAUNCH_FAILURE  ? "hipErrorLaunchFailure"
         : error == INVALID_VALUE ? "hipErrorInvalidValue"
                                  : "hipError";
}
/* What the emulator said, where a launch failed. */
EXPORT const char *hipGetErrorString(int32_t error);
EXPORT const char *hipGetErrorString(int32_t error) {
  return error == LAUNCH_FAILURE ? last_error : "refused by the emulated driver";
}
