/*===- launch_bench.c - what a call from C costs the host -------------------===*
 *
 * usage: launch_bench [ROUNDS]
 *
 * For a product whose tiles the compiler chose and for an element-wise kernel,
 * nanoseconds per call of
 * - bare: cuLaunchKernelEx with the arguments that the runtime passed for the
 *   same tensors, kept from one call;
 * - same: the generated function, the same tensors each time;
 * - addresses, shapes: the same with other addresses or shapes each time;
 * - check: the generated _check function
 *
 * in bursts of BURST calls, between which the stream runs empty; each round
 * takes the candidates in another order. A line for each: name, candidate,
 * median, 10th and 90th percentile. Without a driver only `check` is timed.
 *
 *===------------------------------------------------------------------------===*/
#include "cuda_api.h"
#include "elementwise_f16.h"
#include "gemm_f16_nn.h"
#include "tile_rt_internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BURST = 50, PLACES = 4096, SHAPES = 8, CANDIDATES = 5, MAX_PARAMETER = 128 };
enum { BARE, SAME, ADDRESSES, OTHER_SHAPES, CHECKS };
static const char *const names[CANDIDATES] = {"bare", "same", "addresses", "shapes", "check"};

static void stop(const char *what, int code) {
  fprintf(stderr, "launch_bench: %s: %d\n", what, code);
  exit(2);
}
#define MUST(call)                                                                                           \
  do {                                                                                                       \
    int code_ = (int)(call);                                                                                 \
    if (code_)                                                                                               \
      stop(#call, code_);                                                                                    \
  } while (0)

/*===- The driver, for what a program does itself -----------------------------*/

static CUresult (*mem_alloc)(uint64_t *address, size_t bytes);
static CUresult (*mem_set)(uint64_t address, uint16_t value, size_t count);
static CUresult (*mem_get)(void *host, uint64_t address, size_t bytes);
static CUresult (*stream_create)(CUstream *stream, uint32_t flags);
static CUresult (*stream_wait)(CUstream stream);
static CUresult (*wait_all)(void);
static CUresult (*set_context)(CUcontext context);
static CUresult (*replace_address)(void *map, void *address);
static CUresult (*param_info)(CUkernel kernel, size_t index, size_t *offset, size_t *size);
static cuda_api *cu;
static CUstream stream;

static int open_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    return 0;
  const struct {
    void *slot;
    const char *name;
  } wanted[] = {{&mem_alloc, "cuMemAlloc_v2"},
                {&mem_set, "cuMemsetD16_v2"},
                {&mem_get, "cuMemcpyDtoH_v2"},
                {&stream_create, "cuStreamCreate"},
                {&stream_wait, "cuStreamSynchronize"},
                {&wait_all, "cuCtxSynchronize"},
                {&set_context, "cuCtxSetCurrent"},
                {&param_info, "cuKernelGetParamInfo"},
                {&replace_address, "cuTensorMapReplaceAddress"}};
  for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
    void *symbol = dlsym(library, wanted[i].name);
    if (!symbol)
      stop(wanted[i].name, 0);
    memcpy(wanted[i].slot, &symbol, sizeof(symbol));
  }
  tile_status s;
  cu = (cuda_api *)(uintptr_t)tilert_cuda_driver("", &s);
  MUST(s);
  CUcontext context;
  MUST(cu->cuDevicePrimaryCtxRetain(&context, 0));
  MUST(set_context(context));
  MUST(stream_create(&stream, 1));
  return 1;
}

/*===- The bare launch: what one call of ours passed to the driver -------------*/

static struct {
  CUlaunchConfig config;
  CUlaunchAttribute attributes[4];
  void *kernel, *params[MAX_PARAMS];
  uint8_t bytes[MAX_PARAMS][MAX_PARAMETER] __attribute__((aligned(64)));
  CUresult (*launch)(const CUlaunchConfig *, void *, void **, void **);
} bare;

static CUresult keep_launch(const CUlaunchConfig *config, void *kernel, void **params, void **extra) {
  bare.config = *config;
  bare.config.attributes = bare.attributes;
  memcpy(bare.attributes, config->attributes, config->num_attributes * sizeof(CUlaunchAttribute));
  bare.kernel = kernel;
  size_t offset, size;
  for (size_t i = 0; param_info(kernel, i, &offset, &size) == CUDA_SUCCESS; ++i) {
    if (i == MAX_PARAMS || size > MAX_PARAMETER)
      stop("a parameter is too large", (int)size);
    memcpy(bare.bytes[i], params[i], size);
    bare.params[i] = bare.bytes[i];
  }
  return bare.launch(config, kernel, params, extra);
}

/*===- Kernels ------------------------------------------------------------------*/

typedef struct operand {
  tile_tensor t;
  int64_t shape[2];
} operand;

static operand operands[3];
static uint64_t memory[3];

static void set_shape(int i, int32_t rank, int64_t first, int64_t second) {
  operands[i].shape[0] = first;
  operands[i].shape[1] = second;
  operands[i].t.ndim = rank;
}

static void shape_gemm(int64_t size) {
  for (int i = 0; i < 3; ++i)
    set_shape(i, 2, size, size);
}
static void shape_add(int64_t size) {
  for (int i = 0; i < 3; ++i)
    set_shape(i, 1, size * size, 0);
}

static tile_status call_gemm(const tile_launch *launch) {
  return launch ? gemm_f16_nn_matmul(launch, &operands[0].t, &operands[1].t, &operands[2].t)
                : gemm_f16_nn_matmul_check(&operands[0].t, &operands[1].t, &operands[2].t);
}
static tile_status call_add(const tile_launch *launch) {
  return launch ? elementwise_f16_add_1d(launch, &operands[0].t, &operands[1].t, &operands[2].t)
                : elementwise_f16_add_1d_check(&operands[0].t, &operands[1].t, &operands[2].t);
}

static const struct {
  const char *name;
  void (*shape)(int64_t size);
  tile_status (*call)(const tile_launch *launch);
  uint16_t result; /* its elements for ones of 64 x 64: 64 and 2 in float16 */
} kernels[] = {{"gemm", shape_gemm, call_gemm, 0x5400}, {"add", shape_add, call_add, 0x4000}};
static int tested;

static void place(int64_t number) {
  for (int i = 0; i < 3; ++i)
    operands[i].t.data = (void *)(uintptr_t)(memory[i] + (uint64_t)(number % PLACES) * 8192);
}

/*===- Timing ---------------------------------------------------------------------*/

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

static double burst(int kernel, int candidate, const tile_launch *launch, int64_t *number) {
  kernels[kernel].shape(64);
  place(0);
  double start = now();
  for (int i = 0; i < BURST; ++i) {
    tile_status s = TILE_OK;
    if (candidate == BARE) {
      s = bare.launch(&bare.config, bare.kernel, bare.params, NULL);
    } else {
      if (candidate == ADDRESSES)
        place(++*number);
      else if (candidate == OTHER_SHAPES)
        kernels[kernel].shape(32 + 8 * (++*number % SHAPES));
      s = kernels[kernel].call(candidate == CHECKS ? NULL : launch);
    }
    if (s)
      stop(names[candidate], s);
  }
  double time = (now() - start) / BURST;
  if (cu)
    MUST(stream_wait(stream));
  return time;
}

static void show(const char *name, const char *candidate, double *times, int count, double base) {
  qsort(times, (size_t)count, sizeof(double), compare);
  printf("%-5s %-10s %8.0f %8.0f %8.0f", name, candidate, times[count / 2], times[count / 10],
         times[count * 9 / 10]);
  if (base > 0)
    printf("   %.3f x bare", times[count / 2] / base);
  printf("\n");
  fflush(stdout);
}

/* Without a current context: the stream has one. */
static void *call_thrice(void *launch) {
  for (int64_t where = 0; where < 3; ++where) {
    place(where);
    MUST(kernels[tested].call(launch));
  }
  return NULL;
}

/* Ones, whose sums are exact in float16, from a new thread. */
static void check_result(int kernel, tile_launch *launch) {
  enum { ELEMENTS = 64 * 64 };
  static uint16_t host[ELEMENTS];
  pthread_t thread;
  tested = kernel;
  kernels[kernel].shape(64);
  for (int64_t where = 0; where < 3; ++where) {
    place(where);
    for (int i = 0; i < 3; ++i)
      MUST(mem_set((uint64_t)(uintptr_t)operands[i].t.data, i == 2 ? 0x7e00 : 0x3c00, ELEMENTS));
  }
  MUST(wait_all());
  MUST(pthread_create(&thread, NULL, call_thrice, launch));
  MUST(pthread_join(thread, NULL));
  MUST(stream_wait(stream));
  for (int64_t where = 0; where < 3; ++where) {
    place(where);
    MUST(mem_get(host, (uint64_t)(uintptr_t)operands[2].t.data, sizeof(host)));
    for (int i = 0; i < ELEMENTS; ++i)
      if (host[i] != kernels[kernel].result)
        stop("a wrong result", i);
  }
}

static void measure(int kernel, int rounds, tile_launch *launch) {
  double *times[CANDIDATES];
  int64_t number = 0;
  for (int c = 0; c < CANDIDATES; ++c)
    times[c] = malloc(sizeof(double) * (size_t)rounds);
  if (cu) {
    check_result(kernel, launch);
    place(0);
    bare.launch = cu->cuLaunchKernelEx;
    cu->cuLaunchKernelEx = keep_launch;
    MUST(kernels[kernel].call(launch));
    cu->cuLaunchKernelEx = bare.launch;
  }
  int first = cu ? BARE : CHECKS;
  for (int r = -rounds / 20; r < rounds; ++r) { /* the first ones warm up */
    int start = rand() % (CANDIDATES - first), step = rand() % 2 ? 1 : CANDIDATES - first - 1;
    for (int i = 0; i < CANDIDATES - first; ++i) {
      int c = first + (start + i * step) % (CANDIDATES - first);
      double time = burst(kernel, c, launch, &number);
      if (r >= 0)
        times[c][r] = time;
    }
  }
  double base = 0;
  for (int c = first; c < CANDIDATES; ++c) {
    show(kernels[kernel].name, names[c], times[c], rounds, c == BARE || c == CHECKS ? 0 : base);
    if (c == BARE)
      base = times[c][rounds / 2];
    free(times[c]);
  }
}

/* What the driver's own functions cost, on which a call is built. */
static void measure_parts(int rounds) {
  enum { PARTS = 6 };
  static const char *const parts[PARTS] = {"encode", "replace",    "stream>ctx",
                                           "ctx",    "ctx>device", "stream>dev"};
  static uint64_t map[16] __attribute__((aligned(64)));
  const uint64_t dims[2] = {64, 64}, strides[1] = {128};
  const uint32_t box[2] = {64, 64}, steps[2] = {1, 1};
  double *times = malloc(sizeof(double) * (size_t)rounds);
  CUcontext context;
  CUdevice device;
  for (int part = 0; part < PARTS; ++part) {
    for (int r = 0; r < rounds; ++r) {
      double start = now();
      for (int i = 0; i < BURST; ++i)
        MUST(part == 0   ? cu->cuTensorMapEncodeTiled(map, 6, 2, (void *)(uintptr_t)memory[0], dims, strides,
                                                      box, steps, 0, 3, 2, 0)
             : part == 1 ? replace_address(map, (void *)(uintptr_t)(memory[0] + 8192 * (uint64_t)i))
             : part == 2 ? cu->cuStreamGetCtx(stream, &context)
             : part == 3 ? cu->cuCtxGetCurrent(&context)
             : part == 4 ? cu->cuCtxGetDevice(&device)
             : cu->cuStreamGetDevice ? cu->cuStreamGetDevice(stream, &device)
                                     : 0);
      times[r] = (now() - start) / BURST;
    }
    show("part", parts[part], times, rounds, 0);
  }
  free(times);
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 2000, driver = open_driver();
  if (rounds < 20)
    stop("too few rounds", rounds);
  for (int i = 0; i < 3; ++i) {
    memory[i] = (uint64_t)(i + 1) << 32;
    if (driver)
      MUST(mem_alloc(&memory[i], PLACES * 8192 + 2 * 128 * 128));
    operands[i].t.device.type = TILE_DEVICE_CUDA;
    operands[i].t.dtype.code = TILE_DTYPE_FLOAT;
    operands[i].t.dtype.bits = 16;
    operands[i].t.dtype.lanes = 1;
    operands[i].t.shape = operands[i].shape;
  }
  printf("ns per call:        median     10 %%     90 %%\n");
  for (size_t kernel = 0; kernel < sizeof(kernels) / sizeof(kernels[0]); ++kernel) {
    tile_launch launch = TILE_LAUNCH_INIT(stream);
    measure((int)kernel, rounds, &launch);
  }
  if (driver)
    measure_parts(rounds);
  return 0;
}
