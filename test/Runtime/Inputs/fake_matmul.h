/*===- fake_matmul.h - memory, time and one kernel for the fake driver ------===*
 *
 * Memory of the device is the host's. Launches of kernels called matmul$.. (of
 * test/Driver/Inputs/matmul.tile) do what they should, C = A @ B in float16, and
 * take as long as the environment says, so that a program that tunes them can be
 * run from end to end:
 *
 *   FAKE_FAST=SYMBOL   that one takes 10 us, all others 20
 *   FAKE_WRONG=SYMBOL  stores one wrong number
 *   FAKE_FAIL=SYMBOL   the driver reports an error
 *   FAKE_DIE=SYMBOL    the process dies
 *   FAKE_HANG=SYMBOL   never ends
 *===------------------------------------------------------------------------===*/
#include <signal.h>
#include <unistd.h>

static double fake_clock_us;

static float fake_from_half(uint16_t h) {
  _Float16 x;
  memcpy(&x, &h, sizeof(x));
  return (float)x;
}

static uint16_t fake_to_half(float f) {
  _Float16 x = (_Float16)f;
  uint16_t h;
  memcpy(&h, &x, sizeof(h));
  return h;
}

static int is_named(const char *variable, const char *symbol) {
  const char *name = getenv(variable);
  return name && strcmp(name, symbol) == 0;
}

static uint64_t parameter(void **params, int32_t i) {
  uint64_t value;
  memcpy(&value, params[i], sizeof(value)); /* of a map: the address, see cuTensorMapEncodeTiled */
  return value;
}

static int32_t run_matmul(const char *symbol, void **params) {
  int any = strstr(symbol, "$any") != NULL;
  /* In the order in which the code first uses them. */
  int64_t k = (int64_t)parameter(params, 0), m = (int64_t)parameter(params, any ? 2 : 4);
  int64_t n = (int64_t)parameter(params, any ? 4 : 1);
  const uint16_t *a = (const uint16_t *)(uintptr_t)parameter(params, any ? 9 : 8);
  const uint16_t *b = (const uint16_t *)(uintptr_t)parameter(params, any ? 11 : 9);
  uint16_t *c = (uint16_t *)(uintptr_t)parameter(params, any ? 13 : 10);
  if (is_named("FAKE_FAIL", symbol))
    return 719;
  if (is_named("FAKE_DIE", symbol))
    raise(SIGKILL);
  while (is_named("FAKE_HANG", symbol))
    pause();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t x = 0; x < k; ++x)
        sum += fake_from_half(a[i * k + x]) * fake_from_half(b[x * n + j]);
      c[i * n + j] = fake_to_half(sum);
    }
  if (is_named("FAKE_WRONG", symbol))
    c[m * n - 1] = fake_to_half(1000);
  fake_clock_us += is_named("FAKE_FAST", symbol) ? 10 : 20;
  return 0;
}

static int32_t f_cuDeviceGetName(char *name, int32_t size, int32_t device) {
  snprintf(name, (size_t)size, "fake device %d", device);
  return 0;
}
static int32_t f_cuCtxSynchronize(void) { return 0; }
static int32_t f_cuMemAlloc(uint64_t *address, size_t size) {
  *address = (uint64_t)(uintptr_t)aligned_alloc(256, (size + 255) / 256 * 256);
  return *address ? 0 : 2;
}
static int32_t f_cuMemFree(uint64_t address) {
  free((void *)(uintptr_t)address);
  return 0;
}
static int32_t f_cuMemcpyHtoD(uint64_t to, const void *from, size_t size) {
  memcpy((void *)(uintptr_t)to, from, size);
  return 0;
}
static int32_t f_cuMemcpyDtoH(void *to, uint64_t from, size_t size) {
  memcpy(to, (const void *)(uintptr_t)from, size);
  return 0;
}
static int32_t f_cuMemsetD8Async(uint64_t to, uint8_t value, size_t size, void *stream) {
  (void)stream;
  if (size < 64 << 20) /* not what empties the cache: that would take all the time of the test */
    memset((void *)(uintptr_t)to, value, size);
  return 0;
}
static int32_t f_cuEventCreate(void **event, uint32_t flags) {
  (void)flags;
  *event = new_handle(sizeof(double));
  return 0;
}
static int32_t f_cuEventRecord(void *event, void *stream) {
  (void)stream;
  *(double *)event = fake_clock_us;
  return 0;
}
static int32_t f_cuEventSynchronize(void *event) {
  (void)event;
  return 0;
}
static int32_t f_cuEventElapsedTime(float *ms, void *start, void *end) {
  *ms = (float)((*(double *)end - *(double *)start) * 1e-3);
  return 0;
}
