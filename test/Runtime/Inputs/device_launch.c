/*===- device_launch.c - the CUDA back end on a real device -----------------===*
 *
 * usage: device_launch (no arguments). Needs the NVIDIA driver alone. Images come in by
 * .incbin, from -DCUBIN=file and -DPTX=file made of device_kernels.cu.
 *
 *===------------------------------------------------------------------------===*/
#include "cuda_api.h"
#include "rt_test.h"
#include "tile_rt_gen.h"

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
__asm__(".section .rodata\n.balign 64\ncubin_start: .incbin \"" TEXT(
    CUBIN) "\"\ncubin_end:\n"
           ".balign 64\nptx_start: .incbin \"" TEXT(PTX) "\"\n.byte 0\nptx_end:\n.text\n");
extern const char cubin_start[], cubin_end[], ptx_start[], ptx_end[];

/*===- The generated part -----------------------------------------------------*/

enum { SLOT_X = 2, SLOT_Y = 7, SLOT_ADD = 12, SLOTS = 13 };
static const tile_gen_dim x_dims[] = {{0, "M", TILE_DIM_BIND, 0}, {0, "N", TILE_DIM_BIND, 1}};
static const tile_gen_dim y_dims[] = {{0, "M", TILE_DIM_EQUAL, 0}, {0, "N", TILE_DIM_EQUAL, 1}};
static const tile_gen_dim strides[] = {{0, "ld", TILE_DIM_ANY, 0}, {1, "1", TILE_DIM_CONST, 0}};
static const tile_gen_arg args[] = {
    {"X", x_dims, strides, 2, TILE_ARG_TENSOR, 2, TILE_ACCESS_IN, TILE_DTYPE_FLOAT, 16, {0, 0}},
    {"Y", y_dims, strides, 2, TILE_ARG_TENSOR, 2, TILE_ACCESS_OUT, TILE_DTYPE_FLOAT, 16, {0, 0}},
    {"add", NULL, NULL, 1, TILE_ARG_SCALAR, 0, 0, TILE_DTYPE_FLOAT, 32, {0, 0}}};
static const tile_gen_map maps[] = {
    {SLOT_X, 2, 0, 6, 16, 2, {1, 0}, {64, 64}, {1, 1}, 0, 0, 2, 0, {0, 0, 0}},
    {SLOT_Y, 2, 1, 6, 16, 2, {1, 0}, {64, 64}, {1, 1}, 0, 0, 2, 0, {0, 0, 0}}};
static const tile_gen_condition legal[] = {{0, "X and Y as tensor maps", TILE_COND_MAPS, 0}};
#define VALUE(slot, size) {TILE_PARAM_VALUE, slot, size, 0}
static const tile_gen_param tma_params[] = {
    VALUE(0, 8), VALUE(1, 8), {TILE_PARAM_MAP, 0, 128, 0}, {TILE_PARAM_MAP, 1, 128, 0}, VALUE(SLOT_ADD, 4)};
static const tile_gen_param plain_params[] = {
    VALUE(0, 8),          VALUE(1, 8),      VALUE(SLOT_X, 8),     VALUE(SLOT_X + 1, 8), VALUE(SLOT_X + 2, 8),
    VALUE(SLOT_X + 3, 8), VALUE(SLOT_Y, 8), VALUE(SLOT_Y + 3, 8), VALUE(SLOT_ADD, 4)};
static const tile_gen_variant variants[] = {
    {"copy_tma", legal, tma_params, maps, NULL, NULL, 0, 100000, 0, 0, 0, 1, 5, 2, 128, 2, 40,
     TILE_VARIANT_PERSISTENT, 0},
    {"copy_plain", NULL, plain_params, NULL, NULL, NULL, 0, 0, 0, 0, 1, 0, 9, 0, 128, 0, 40, 0, 0},
    {"copy_plain", NULL, plain_params, NULL, NULL, NULL, 0, 0, 0, 1, 2, 0, 9, 0, 128, 0, 0, 0, 0}};
static const tile_gen_launch launches[] = {{"copy.0", variants, 3, 2, SLOTS, 0}};
static const tile_gen_kernel kernels[] = {{"copy", args, launches, 3, 2, 2, 1, 64, 0, 0}};
static tile_gen_image images[] = {{"sm_90a", NULL, 0, TILE_IMAGE_CUBIN, 0},
                                  {"compute_80", NULL, 0, TILE_IMAGE_PTX, 0}};
static void *state;
static const tile_gen_library library = {"device", images, kernels, &state, TILE_RT_ABI, 2, 1, 3, 0};

static tile_status copy(const tile_launch *launch, const tile_tensor *X, const tile_tensor *Y, float add) {
  tile_call call;
  const tile_tensor *tensors[2] = {X, Y};
  int64_t sym[2];
  uint64_t v[SLOTS];
  tile_status s = tile_rt_begin(&call, &library, 0, TILE_MODE_RUN, launch, NULL, tensors, sym, v + SLOT_X);
  if (s)
    return s;
  v[0] = (uint64_t)(sym[1] + 63) / 64;
  v[1] = (uint64_t)(sym[0] + 63) / 64;
  memcpy(&v[SLOT_ADD], &add, 4);
  if ((s = tile_rt_launch(&call, 0, v)))
    return s;
  return tile_rt_end(&call);
}

/*===- The driver, for what a program does itself -----------------------------*/

static void *libcuda;
static void *symbol(const char *name) {
  void *p = dlsym(libcuda, name);
  if (!p) {
    fprintf(stderr, "no %s\n", name);
    exit(2);
  }
  return p;
}
#define DRIVER(variable, name, ...)                                                                          \
  CUresult (*variable)(__VA_ARGS__);                                                                         \
  *(void **)&variable = symbol(name)

static uint64_t allocate(size_t bytes) {
  DRIVER(alloc, "cuMemAlloc_v2", uint64_t *, size_t);
  uint64_t p = 0;
  CHECK_EQ(alloc(&p, bytes), 0);
  return p;
}

static char last_log[512];
static void keep_log(void *user, int32_t level, const char *text) {
  (void)user;
  if (level == TILE_LOG_DEBUG)
    snprintf(last_log, sizeof(last_log), "%s", text);
}

typedef struct matrix {
  tile_tensor t;
  int64_t shape[2], strides[2];
} matrix;

static void set_matrix(matrix *m, uint64_t p, int64_t rows, int64_t columns, int64_t pitch) {
  memset(m, 0, sizeof(*m));
  m->shape[0] = rows;
  m->shape[1] = columns;
  m->strides[0] = pitch;
  m->strides[1] = 1;
  m->t.data = (void *)(uintptr_t)p;
  m->t.device.type = TILE_DEVICE_CUDA;
  m->t.ndim = 2;
  m->t.dtype.code = TILE_DTYPE_FLOAT;
  m->t.dtype.bits = 16;
  m->t.dtype.lanes = 1;
  m->t.shape = m->shape;
  m->t.strides = m->strides;
}

enum { BYTES = 8 << 20, ONE = 0x3c00, TWO = 0x4000, GUARD = 0x7777 };
static uint64_t x, y;
static uint16_t *host;

static void fill(void) {
  DRIVER(set, "cuMemsetD16_v2", uint64_t, uint16_t, size_t);
  DRIVER(sync, "cuCtxSynchronize", void);
  CHECK_EQ(set(x, ONE, BYTES / 2), 0);
  CHECK_EQ(set(y, GUARD, BYTES / 2), 0);
  CHECK_EQ(sync(), 0);
}

/* All elements are 1 + 1, everything between them as it was. */
static int right(int64_t rows, int64_t columns, int64_t pitch) {
  DRIVER(sync, "cuCtxSynchronize", void);
  DRIVER(get, "cuMemcpyDtoH_v2", void *, uint64_t, size_t);
  if (sync() || get(host, y, BYTES))
    return 0;
  for (int64_t i = 0; i < BYTES / 2; ++i) {
    int inside = i / pitch < rows && i % pitch < columns;
    if (host[i] != (inside ? TWO : GUARD)) {
      fprintf(stderr, "element %lld is %x\n", (long long)i, host[i]);
      return 0;
    }
  }
  return 1;
}

static tile_status run(void *stream, int64_t rows, int64_t columns, int64_t pitch) {
  matrix X, Y;
  tile_launch launch = TILE_LAUNCH_INIT(stream);
  set_matrix(&X, x, rows, columns, pitch);
  set_matrix(&Y, y, rows, columns, pitch);
  return copy(&launch, &X.t, &Y.t, 1);
}

static void test_shapes(void) {
  static const struct {
    int64_t rows, columns, pitch;
    const char *variant;
  } shapes[] = {{64, 64, 64, "copy_tma"},      {1, 1, 8, "copy_plain"},        {100, 77, 80, "copy_plain"},
                {100, 72, 80, "copy_tma"},     {1000, 1000, 1000, "copy_tma"}, {1000, 999, 999, "copy_plain"},
                {3, 1000, 1003, "copy_plain"}, {2000, 2000, 2000, "copy_tma"}, {1, 777, 777, "copy_plain"},
                {1, 776, 776, "copy_tma"}};
  for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) {
    fill();
    CHECK_EQ(run(NULL, shapes[i].rows, shapes[i].columns, shapes[i].pitch), TILE_OK);
    CHECK(right(shapes[i].rows, shapes[i].columns, shapes[i].pitch));
    CHECK_TEXT(last_log, shapes[i].variant);
  }
}

static void test_ptx(void) {
  CHECK_EQ(tile_rt_set_image_filter("compute_80"), TILE_OK);
  fill();
  CHECK_EQ(run(NULL, 500, 333, 336), TILE_OK);
  CHECK(right(500, 333, 336));
  CHECK_TEXT(last_log, "image compute_80");
  CHECK_EQ(tile_rt_set_image_filter(NULL), TILE_OK);
}

/* The very first load inside a capture, on a stream of another context. */
static void test_capture(void) {
  DRIVER(create, "cuStreamCreate", void **, uint32_t);
  DRIVER(begin, "cuStreamBeginCapture_v2", void *, int);
  DRIVER(end, "cuStreamEndCapture", void *, void **);
  DRIVER(make, "cuGraphInstantiateWithFlags", void **, void *, unsigned long long);
  DRIVER(launch, "cuGraphLaunch", void *, void *);
  void *stream = NULL, *graph = NULL, *executable = NULL;
  for (int mode = 0; mode < 3; ++mode) {
    tile_rt_shutdown();
    fill();
    CHECK_EQ(create(&stream, 1), 0);
    CHECK_EQ(begin(stream, mode), 0);
    CHECK_EQ(run(stream, 200, 200, 200), TILE_OK);
    CHECK_EQ(end(stream, &graph), 0);
    CHECK_EQ(make(&executable, graph, 0), 0);
    CHECK_EQ(launch(executable, stream), 0);
    CHECK(right(200, 200, 200));
  }
}

static void *from_thread(void *stream) { return (void *)(intptr_t)run(stream, 64, 64, 64); }

/* Fresh threads have no current context; the stream names it. */
static void test_threads(void) {
  DRIVER(create, "cuStreamCreate", void **, uint32_t);
  void *stream = NULL, *result = NULL;
  pthread_t threads[32];
  CHECK_EQ(create(&stream, 1), 0);
  tile_rt_shutdown();
  fill();
  for (int i = 0; i < 32; ++i)
    CHECK_EQ(pthread_create(&threads[i], NULL, from_thread, i % 2 ? stream : NULL), 0);
  for (int i = 0; i < 32; ++i) {
    pthread_join(threads[i], &result);
    CHECK_EQ((intptr_t)result, TILE_OK);
  }
  CHECK(right(64, 64, 64));
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

/* One launch through the runtime against the bare driver call, in turn; medians in microseconds. */
static void measure(const char *name, int64_t pitch, int number) {
  enum { RUNS = 200, BATCH = 100 };
  static double ours[RUNS], bare[RUNS];
  DRIVER(load, "cuLibraryLoadData", void **, const void *, int *, void **, uint32_t, int *, void **,
         uint32_t);
  DRIVER(kernel, "cuLibraryGetKernel", void **, void *, const char *);
  DRIVER(attribute, "cuKernelSetAttribute", int, int, void *, int);
  DRIVER(launch, "cuLaunchKernelEx", const CUlaunchConfig *, void *, void **, void **);
  DRIVER(sync, "cuCtxSynchronize", void);
  DRIVER(create, "cuStreamCreate", void **, uint32_t);
  void *lib = NULL, *function = NULL, *stream = NULL;
  static uint64_t map[32] __attribute__((aligned(64)));
  uint64_t v[16] = {1, 1};
  void *params[16];
  CHECK_EQ(create(&stream, 1), 0);
  CHECK_EQ(load(&lib, images[0].data, NULL, NULL, 0, NULL, NULL, 0), 0);
  CHECK_EQ(kernel(&function, lib, variants[number].symbol), 0);
  CHECK_EQ(attribute(8, 100000, function, 0), 0);
  for (int i = 0; i < 16; ++i)
    params[i] = &v[i];
  if (number == 0)
    params[2] = map, params[3] = map + 16;
  v[0] = v[1] = 0; /* no tile: the kernels do nothing */
  CUlaunchConfig c = {{1, 1, 1}, {128, 1, 1}, (uint32_t)variants[number].shared_bytes, stream, NULL, 0};
  matrix X, Y;
  tile_launch l = TILE_LAUNCH_INIT(stream);
  set_matrix(&X, x, 64, 64, pitch);
  set_matrix(&Y, y, 64, 64, pitch);
  tile_set_log(NULL, NULL);
  if (number == 1)
    v[0] = v[1] = 1, v[2] = x, v[3] = v[4] = 64, v[5] = (uint64_t)pitch, v[6] = y, v[7] = (uint64_t)pitch;
  for (int r = 0; r < RUNS; ++r) {
    double t0 = now();
    for (int i = 0; i < BATCH; ++i)
      CHECK_EQ(copy(&l, &X.t, &Y.t, 1), TILE_OK);
    double t1 = now();
    sync();
    double t2 = now();
    for (int i = 0; i < BATCH; ++i)
      CHECK_EQ(launch(&c, function, params, NULL), 0);
    double t3 = now();
    sync();
    ours[r] = (t1 - t0) / BATCH;
    bare[r] = (t3 - t2) / BATCH;
  }
  qsort(ours, RUNS, sizeof(double), compare);
  qsort(bare, RUNS, sizeof(double), compare);
  printf("launch of %s: runtime %.2f us, bare cuLaunchKernelEx %.2f us, ratio %.2f\n", name, ours[RUNS / 2],
         bare[RUNS / 2], ours[RUNS / 2] / bare[RUNS / 2]);
}

int main(void) {
  images[0].data = cubin_start;
  images[0].size = cubin_end - cubin_start;
  images[1].data = ptx_start;
  images[1].size = ptx_end - ptx_start;
  if (!(libcuda = dlopen("libcuda.so.1", RTLD_NOW))) {
    puts("no driver here");
    return 77;
  }
  DRIVER(init, "cuInit", uint32_t);
  DRIVER(retain, "cuDevicePrimaryCtxRetain", void **, int);
  DRIVER(current, "cuCtxSetCurrent", void *);
  void *context = NULL;
  CHECK_EQ(init(0), 0);
  CHECK_EQ(retain(&context, 0), 0);
  CHECK_EQ(current(context), 0);
  host = malloc(BYTES);
  x = allocate(BYTES);
  y = allocate(BYTES);
  tile_set_log(keep_log, NULL);
  test_shapes();
  test_ptx();
  test_capture();
  test_threads();
  measure("copy_plain", 65, 1);
  measure("copy_tma with 2 tensor maps", 64, 0);
  tile_rt_shutdown();
  return rt_report("device_launch");
}
