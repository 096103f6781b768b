/*===- fake_cuda.c - a libcuda.so.1 for tests -------------------------------===*/
#include "fake_common.h"

typedef struct fake_context {
  int32_t device;
  int32_t retained;
} fake_context;
typedef struct fake_stream {
  fake_context *context;
} fake_stream;
typedef struct fake_library {
  char arch[60];
  int32_t alive;
} fake_library;
typedef struct fake_kernel {
  char symbol[64];
  fake_library *library;
  int32_t shared[MAX_FAKE_DEVICES];
} fake_kernel;

static fake_context primary[MAX_FAKE_DEVICES];
static fake_kernel kernels[MAX_KERNELS];
static int32_t num_kernels, alive_libraries;
static fake_map recorded_map;
static __thread fake_context *stack[16];
static __thread int32_t stack_depth;

#define ENTER(name)                                                                                          \
  int32_t failure = enter_fake(name);                                                                        \
  if (failure)                                                                                               \
  return failure

static const fake_device h200 = {9, 0, NULL, 132, 232448, 65536};

static void control_reset(void) {
  control_set_devices(1, &h200);
  forget_calls();
}
__attribute__((constructor)) static void start(void) { control_reset(); }

static void *control_new_stream(int32_t device) {
  fake_stream *s = new_handle(sizeof(*s));
  s->context = new_handle(sizeof(*s->context));
  s->context->device = device;
  return s;
}
static void control_last_map(fake_map *out) {
  pthread_mutex_lock(&fake_mutex);
  *out = recorded_map;
  pthread_mutex_unlock(&fake_mutex);
}
static int32_t control_depth(void) { return stack_depth; }

/*===- Driver functions -------------------------------------------------------*/

static int32_t f_cuInit(uint32_t flags) {
  (void)flags;
  ENTER("cuInit");
  return device_count() ? 0 : 100;
}
static int32_t f_cuDriverGetVersion(int32_t *version) {
  ENTER("cuDriverGetVersion");
  const char *text = getenv("FAKE_VERSION");
  *version = text ? atoi(text) : 13000;
  return 0;
}
static int32_t f_cuGetErrorName(int32_t error, const char **text) {
  *text = error == 1     ? "CUDA_ERROR_INVALID_VALUE"
          : error == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
                         : "CUDA_ERROR_FAKE";
  return error == 999 ? 1 : 0;
}
static int32_t f_cuGetErrorString(int32_t error, const char **text) {
  *text = "made up by the fake driver";
  return error == 999 ? 1 : 0;
}
static int32_t f_cuDeviceGetCount(int32_t *count) {
  ENTER("cuDeviceGetCount");
  *count = device_count();
  return 0;
}
static int32_t f_cuDeviceGet(int32_t *device, int32_t ordinal) {
  ENTER("cuDeviceGet");
  if (ordinal < 0 || ordinal >= device_count())
    return 101;
  *device = ordinal;
  return 0;
}
static int32_t f_cuDeviceGetAttribute(int32_t *value, int32_t attribute, int32_t device) {
  ENTER("cuDeviceGetAttribute");
  const fake_device *d = &devices[device];
  switch (attribute) {
  case 12:
    *value = d->registers;
    return 0;
  case 16:
    *value = d->multiprocessors;
    return 0;
  case 75:
    *value = d->major;
    return 0;
  case 76:
    *value = d->minor;
    return 0;
  case 97:
    *value = d->shared;
    return 0;
  }
  mistake("unknown device attribute");
  return 1;
}
static int32_t f_cuDevicePrimaryCtxRetain(void **context, int32_t device) {
  ENTER("cuDevicePrimaryCtxRetain");
  primary[device].device = device;
  __atomic_fetch_add(&primary[device].retained, 1, __ATOMIC_RELAXED);
  *context = &primary[device];
  return 0;
}
static int32_t f_cuDevicePrimaryCtxRelease(int32_t device) {
  ENTER("cuDevicePrimaryCtxRelease");
  if (__atomic_sub_fetch(&primary[device].retained, 1, __ATOMIC_RELAXED) < 0)
    mistake("primary context released too often");
  return 0;
}
static int32_t f_cuCtxGetCurrent(void **context) {
  ENTER("cuCtxGetCurrent");
  *context = stack_depth ? stack[stack_depth - 1] : NULL;
  return 0;
}
static int32_t f_cuCtxPushCurrent(void *context) {
  ENTER("cuCtxPushCurrent");
  if (stack_depth == 16) {
    mistake("context stack overflows");
    return 1;
  }
  stack[stack_depth++] = context;
  return 0;
}
static int32_t f_cuCtxPopCurrent(void **context) {
  ENTER("cuCtxPopCurrent");
  if (!stack_depth) {
    mistake("context stack underflows");
    return 201;
  }
  *context = stack[--stack_depth];
  return 0;
}
static int32_t f_cuCtxGetDevice(int32_t *device) {
  ENTER("cuCtxGetDevice");
  if (!stack_depth)
    return 201;
  *device = stack[stack_depth - 1]->device;
  return 0;
}
static int32_t f_cuStreamGetCtx(void *stream, void **context) {
  ENTER("cuStreamGetCtx");
  if ((uintptr_t)stream <= 2) {
    mistake("cuStreamGetCtx of a pseudo stream");
    return 400;
  }
  *context = ((fake_stream *)stream)->context;
  return 0;
}
static int32_t f_cuStreamGetDevice(void *stream, int32_t *device) {
  ENTER("cuStreamGetDevice");
  if ((uintptr_t)stream <= 2) {
    mistake("cuStreamGetDevice of a pseudo stream");
    return 400;
  }
  *device = ((fake_stream *)stream)->context->device;
  return 0;
}
static int32_t f_cuLibraryLoadData(void **library, const void *code, int32_t *jo, void **jv, uint32_t nj,
                                   int32_t *options, void **values, uint32_t num) {
  (void)jo;
  (void)jv;
  (void)nj;
  ENTER("cuLibraryLoadData");
  if (num != 1 || options[0] != 1 || !values[0])
    mistake("images must be loaded as preserved");
  fake_library *l = new_handle(sizeof(*l));
  const char *arch = strchr(code, ' ');
  snprintf(l->arch, sizeof(l->arch), "%s", arch ? arch + 1 : "?");
  l->alive = 1;
  __atomic_fetch_add(&alive_libraries, 1, __ATOMIC_RELAXED);
  *library = l;
  return 0;
}
static int32_t f_cuLibraryUnload(void *library) {
  ENTER("cuLibraryUnload");
  fake_library *l = library;
  if (!l->alive)
    mistake("library unloaded twice");
  l->alive = 0;
  __atomic_fetch_sub(&alive_libraries, 1, __ATOMIC_RELAXED);
  return 0;
}
static int32_t f_cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  ENTER("cuLibraryGetKernel");
  fake_library *l = library;
  if (!l || !l->alive)
    mistake("kernel of a library that is not loaded");
  pthread_mutex_lock(&fake_mutex);
  int32_t i = 0;
  while (i < num_kernels && (kernels[i].library != l || strcmp(kernels[i].symbol, name) != 0))
    ++i;
  if (i == num_kernels && num_kernels < MAX_KERNELS) {
    snprintf(kernels[i].symbol, sizeof(kernels[i].symbol), "%s", name);
    kernels[i].library = l;
    ++num_kernels;
  }
  *kernel = &kernels[i];
  pthread_mutex_unlock(&fake_mutex);
  return 0;
}
static int32_t f_cuKernelSetAttribute(int32_t attribute, int32_t value, void *kernel, int32_t device) {
  ENTER("cuKernelSetAttribute");
  if (attribute != 8 || value > devices[device].shared)
    return 1;
  ((fake_kernel *)kernel)->shared[device] = value;
  return 0;
}

#include "fake_matmul.h"

typedef struct launch_config {
  uint32_t grid[3], block[3], shared;
  void *stream;
  int32_t *attributes;
  uint32_t num_attributes;
} launch_config;

static int32_t f_cuLaunchKernelEx(const launch_config *c, void *kernel, void **params, void **extra) {
  ENTER("cuLaunchKernelEx");
  fake_kernel *k = kernel;
  if (k < kernels || k >= kernels + num_kernels || !k->library->alive) {
    mistake("launch of an unknown kernel");
    return 400;
  }
  /* Kernels of a library run in the context of the stream, and in the current one without a stream. */
  fake_context *context = (uintptr_t)c->stream > 2 ? ((fake_stream *)c->stream)->context
                          : stack_depth            ? stack[stack_depth - 1]
                                                   : NULL;
  if (!context) {
    mistake("launch without a context");
    return 201;
  }
  if (!c->grid[0] || c->grid[0] > 2147483647u || c->grid[1] != 1 || c->grid[2] != 1 || extra)
    return 1;
  if (c->shared > 49152 && c->shared > (uint32_t)k->shared[context->device])
    return 1;
  fake_launch l;
  memset(&l, 0, sizeof(l));
  snprintf(l.symbol, sizeof(l.symbol), "%s", k->symbol);
  memcpy(l.grid, c->grid, sizeof(l.grid));
  memcpy(l.block, c->block, sizeof(l.block));
  l.shared = c->shared;
  l.stream = c->stream;
  l.pdl = c->num_attributes == 1 && c->attributes[0] == 6 && c->attributes[2] == 1;
  l.device = context->device;
  l.context = context;
  record_parameters(params, &l);
  pthread_mutex_lock(&fake_mutex);
  recorded = l;
  pthread_mutex_unlock(&fake_mutex);
  return strncmp(k->symbol, "matmul$", 7) == 0 ? run_matmul(k->symbol, params) : 0;
}

static int32_t f_cuTensorMapEncodeTiled(void *map, int32_t type, uint32_t rank, void *address,
                                        const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                        const uint32_t *steps, int32_t interleave, int32_t swizzle,
                                        int32_t promotion, int32_t fill) {
  ENTER("cuTensorMapEncodeTiled");
  if (!stack_depth) {
    mistake("a tensor map is encoded without a context");
    return 201;
  }
  fake_map m;
  memset(&m, 0, sizeof(m));
  m.type = type;
  m.rank = (int32_t)rank;
  m.address = (uint64_t)(uintptr_t)address;
  m.interleave = interleave;
  m.swizzle = swizzle;
  m.promotion = promotion;
  m.fill = fill;
  for (uint32_t i = 0; i < rank; ++i) {
    m.dims[i] = dims[i];
    m.box[i] = box[i];
    m.steps[i] = steps[i];
    if (i + 1 < rank)
      m.strides[i] = strides[i];
  }
  memset(map, 0xff, 128);
  memcpy(map, &m.address, 8);
  pthread_mutex_lock(&fake_mutex);
  recorded_map = m;
  pthread_mutex_unlock(&fake_mutex);
  return 0;
}

static int32_t f_cuTensorMapReplaceAddress(void *map, void *address) {
  ENTER("cuTensorMapReplaceAddress");
  uint64_t number = (uint64_t)(uintptr_t)address;
  memcpy(map, &number, 8);
  pthread_mutex_lock(&fake_mutex);
  recorded_map.address = number;
  pthread_mutex_unlock(&fake_mutex);
  return 0;
}

/*===- Exports ----------------------------------------------------------------*/

EXPORT int32_t cuGetProcAddress_v2(const char *name, void **function, int32_t version, uint64_t flags,
                                   int32_t *found);
EXPORT const fake_control *fake_cuda_control(void);

EXPORT int32_t cuGetProcAddress_v2(const char *name, void **function, int32_t version, uint64_t flags,
                                   int32_t *found) {
#define ENTRY(name)                                                                                          \
  {                                                                                                          \
    #name, (void (*)(void))f_##name                                                                          \
  }
  static const struct {
    const char *name;
    void (*function)(void);
  } table[] = {ENTRY(cuInit),
               ENTRY(cuDriverGetVersion),
               ENTRY(cuGetErrorName),
               ENTRY(cuGetErrorString),
               ENTRY(cuDeviceGetCount),
               ENTRY(cuDeviceGet),
               ENTRY(cuDeviceGetAttribute),
               ENTRY(cuDevicePrimaryCtxRetain),
               ENTRY(cuDevicePrimaryCtxRelease),
               ENTRY(cuCtxGetCurrent),
               ENTRY(cuCtxPushCurrent),
               ENTRY(cuCtxPopCurrent),
               ENTRY(cuCtxGetDevice),
               ENTRY(cuStreamGetCtx),
               ENTRY(cuStreamGetDevice),
               ENTRY(cuLibraryLoadData),
               ENTRY(cuLibraryUnload),
               ENTRY(cuLibraryGetKernel),
               ENTRY(cuKernelSetAttribute),
               ENTRY(cuLaunchKernelEx),
               ENTRY(cuTensorMapEncodeTiled),
               ENTRY(cuTensorMapReplaceAddress),
               ENTRY(cuDeviceGetName),
               ENTRY(cuCtxSynchronize),
               ENTRY(cuMemAlloc),
               ENTRY(cuMemFree),
               ENTRY(cuMemcpyHtoD),
               ENTRY(cuMemcpyDtoH),
               ENTRY(cuMemsetD8Async),
               ENTRY(cuEventCreate),
               ENTRY(cuEventRecord),
               ENTRY(cuEventSynchronize),
               ENTRY(cuEventElapsedTime)};
  (void)flags;
  *function = NULL;
  if (found)
    *found = 1;
  const char *missing = getenv("FAKE_MISSING");
  if (version < 12000 || (missing && strcmp(missing, name) == 0))
    return 500;
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); ++i)
    if (strcmp(table[i].name, name) == 0) {
      memcpy(function, &table[i].function, sizeof(*function));
      if (found)
        *found = 0;
      return 0;
    }
  return 500;
}

EXPORT const fake_control *fake_cuda_control(void) {
  static const fake_control control = {control_reset,    control_set_devices, control_fail,
                                       control_calls,    control_new_stream,  control_last_launch,
                                       control_last_map, control_mistakes,    control_depth};
  return &control;
}
