/*===- fake_hip.c - a libamdhip64.so for tests ------------------------------===*/
#include "fake_common.h"

typedef struct fake_module {
  char arch[60];
  int32_t device, alive;
} fake_module;
typedef struct fake_function {
  char symbol[64];
  fake_module *module;
} fake_function;
typedef struct fake_stream {
  int32_t device;
} fake_stream;

static fake_function kernels[MAX_KERNELS];
static int32_t num_kernels;
static __thread int32_t current;

#define HIP(name, ...)                                                                                       \
  EXPORT int32_t name(__VA_ARGS__);                                                                          \
  EXPORT int32_t name(__VA_ARGS__)
#define ENTER(name)                                                                                          \
  int32_t failure = enter_fake(name);                                                                        \
  if (failure)                                                                                               \
  return failure

static const fake_device mi300 = {0, 0, "gfx942:sramecc+:xnack-", 304, 65536, 65536};

static void control_reset(void) {
  control_set_devices(1, &mi300);
  forget_calls();
}
__attribute__((constructor)) static void start(void) { control_reset(); }

static void *control_new_stream(int32_t device) {
  fake_stream *s = new_handle(sizeof(*s));
  s->device = device;
  return s;
}
static void control_last_map(fake_map *out) { memset(out, 0, sizeof(*out)); }
static int32_t control_depth(void) { return current; }

HIP(hipInit, uint32_t flags) {
  (void)flags;
  ENTER("hipInit");
  return device_count() ? 0 : 100;
}
HIP(hipGetDeviceCount, int32_t *count) {
  ENTER("hipGetDeviceCount");
  *count = device_count();
  return 0;
}
HIP(hipGetDevice, int32_t *device) {
  ENTER("hipGetDevice");
  *device = current;
  return 0;
}
HIP(hipSetDevice, int32_t device) {
  ENTER("hipSetDevice");
  if (device < 0 || device >= device_count())
    return 101;
  current = device;
  return 0;
}
HIP(hipDeviceGetAttribute, int32_t *value, int32_t attribute, int32_t device) {
  ENTER("hipDeviceGetAttribute");
  switch (attribute) {
  case 63:
    *value = devices[device].multiprocessors;
    return 0;
  case 71:
    *value = devices[device].registers;
    return 0;
  case 74:
    *value = devices[device].shared;
    return 0;
  }
  mistake("unknown device attribute");
  return 1;
}
/* The size of ROCm 6's structure, so that a caller's smaller buffer would show. */
HIP(hipGetDevicePropertiesR0600, void *properties, int32_t device) {
  ENTER("hipGetDevicePropertiesR0600");
  memset(properties, 0, 1472);
  snprintf((char *)properties + 1160, 256, "%s", devices[device].target);
  return 0;
}
HIP(hipStreamGetDevice, void *stream, int32_t *device) {
  ENTER("hipStreamGetDevice");
  *device = ((fake_stream *)stream)->device;
  return 0;
}
HIP(hipModuleLoadData, void **module, const void *image) {
  ENTER("hipModuleLoadData");
  fake_module *m = new_handle(sizeof(*m));
  const char *arch = strchr(image, ' ');
  snprintf(m->arch, sizeof(m->arch), "%s", arch ? arch + 1 : "?");
  m->device = current;
  m->alive = 1;
  *module = m;
  return 0;
}
HIP(hipModuleUnload, void *module) {
  ENTER("hipModuleUnload");
  if (!((fake_module *)module)->alive)
    mistake("module unloaded twice");
  ((fake_module *)module)->alive = 0;
  return 0;
}
HIP(hipModuleGetFunction, void **function, void *module, const char *name) {
  ENTER("hipModuleGetFunction");
  pthread_mutex_lock(&fake_mutex);
  fake_function *f = &kernels[num_kernels++ % MAX_KERNELS];
  snprintf(f->symbol, sizeof(f->symbol), "%s", name);
  f->module = module;
  *function = f;
  pthread_mutex_unlock(&fake_mutex);
  return 0;
}
HIP(hipModuleLaunchKernel, void *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by,
    uint32_t bz, uint32_t shared, void *stream, void **params, void **extra) {
  ENTER("hipModuleLaunchKernel");
  fake_function *f = function;
  if (!f->module->alive || f->module->device != current)
    mistake("launch on a device where the module is not loaded");
  if (!gx || gy != 1 || gz != 1 || by != 1 || bz != 1 || extra || (uint64_t)gx * bx > 4294967295u)
    return 1;
  fake_launch l;
  memset(&l, 0, sizeof(l));
  snprintf(l.symbol, sizeof(l.symbol), "%s", f->symbol);
  l.grid[0] = gx;
  l.grid[1] = l.grid[2] = 1;
  l.block[0] = bx;
  l.block[1] = l.block[2] = 1;
  l.shared = shared;
  l.stream = stream;
  l.device = current;
  record_parameters(params, &l);
  pthread_mutex_lock(&fake_mutex);
  recorded = l;
  pthread_mutex_unlock(&fake_mutex);
  return 0;
}

EXPORT const char *hipGetErrorName(int32_t error);
EXPORT const char *hipGetErrorName(int32_t error) {
  return error == 1 ? "hipErrorInvalidValue" : "hipErrorFake";
}
EXPORT const char *hipGetErrorString(int32_t error);
EXPORT const char *hipGetErrorString(int32_t error) {
  (void)error;
  return "made up by the fake driver";
}

EXPORT const fake_control *fake_hip_control(void);
EXPORT const fake_control *fake_hip_control(void) {
  static const fake_control control = {control_reset,    control_set_devices, control_fail,
                                       control_calls,    control_new_stream,  control_last_launch,
                                       control_last_map, control_mistakes,    control_depth};
  return &control;
}
