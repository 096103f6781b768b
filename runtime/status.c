/*===- status.c - codes, texts, the last error, the log ---------------------===*/
#include "tile_rt_internal.h"

#include <stdio.h>
#include <string.h>

static const struct {
  tile_status status;
  const char *name;
  const char *text;
} status_table[] = {
#define STATUS(name, text) {name, #name, text}
    STATUS(TILE_OK, "success"),
    STATUS(TILE_ERR_NULL_ARG, "a required pointer is NULL"),
    STATUS(TILE_ERR_RANK, "wrong number of dimensions"),
    STATUS(TILE_ERR_DTYPE, "wrong element type"),
    STATUS(TILE_ERR_SHAPE, "an extent is not what the signature says"),
    STATUS(TILE_ERR_STRIDE, "a stride is not what the signature says"),
    STATUS(TILE_ERR_ALIGN, "an address is not aligned as required"),
    STATUS(TILE_ERR_ALIAS, "a written tensor overlaps another one"),
    STATUS(TILE_ERR_DEVICE_MISMATCH, "tensors, stream and device do not belong together"),
    STATUS(TILE_ERR_INDEX_WIDTH, "a tensor is too large for the kernel's index type"),
    STATUS(TILE_ERR_NO_VARIANT, "no compiled variant accepts these arguments"),
    STATUS(TILE_ERR_PRECONDITION, "an assume() of the source does not hold"),
    STATUS(TILE_ERR_LAUNCH, "the launch descriptor is malformed"),
    STATUS(TILE_ERR_NO_DRIVER, "the driver library is missing or not usable"),
    STATUS(TILE_ERR_NO_DEVICE, "no such device"),
    STATUS(TILE_ERR_DRIVER_TOO_OLD, "the driver is too old"),
    STATUS(TILE_ERR_NO_IMAGE, "the library holds no image for this device"),
    STATUS(TILE_ERR_BAD_IMAGE, "the driver rejected the image"),
    STATUS(TILE_ERR_ABI, "object and runtime were built for different ABIs"),
    STATUS(TILE_ERR_NOT_LOADED, "the kernel is not loaded"),
    STATUS(TILE_ERR_GRID, "the grid is too large"),
    STATUS(TILE_ERR_SHARED_MEM, "more shared memory than the device has"),
    STATUS(TILE_ERR_CAPTURE, "not possible while the stream is captured"),
    STATUS(TILE_ERR_WORKSPACE, "the workspace is missing or too small"),
    STATUS(TILE_ERR_TENSOR_MAP, "a tensor cannot be described to the copy engine"),
    STATUS(TILE_ERR_DRIVER, "the driver reported an error"),
    STATUS(TILE_ERR_OUT_OF_MEMORY, "out of memory"),
    STATUS(TILE_ERR_INTERNAL, "internal error of the tile compiler or runtime"),
#undef STATUS
};

#define NUM_STATUS (sizeof(status_table) / sizeof(status_table[0]))

const char *tile_status_name(tile_status status) {
  for (size_t i = 0; i < NUM_STATUS; ++i)
    if (status_table[i].status == status)
      return status_table[i].name;
  return "TILE_ERR_UNKNOWN";
}

const char *tile_status_string(tile_status status) {
  for (size_t i = 0; i < NUM_STATUS; ++i)
    if (status_table[i].status == status)
      return status_table[i].text;
  return "unknown status";
}

uint32_t tile_rt_abi(void) { return TILE_RT_ABI; }

/*===- Log --------------------------------------------------------------------*/

/* Held for reading during a call of the function: once tile_set_log returns, the
   old function runs no more and its user data may go. */
static pthread_rwlock_t log_lock = PTHREAD_RWLOCK_INITIALIZER;
static tile_log_fn log_fn;
static void *log_user;
static int32_t log_on;

void tile_set_log(tile_log_fn fn, void *user) {
  pthread_rwlock_wrlock(&log_lock);
  log_fn = fn;
  log_user = user;
  __atomic_store_n(&log_on, fn != NULL, __ATOMIC_RELEASE);
  pthread_rwlock_unlock(&log_lock);
}

int tilert_log_enabled(void) { return __atomic_load_n(&log_on, __ATOMIC_ACQUIRE); }

static void send_log(int32_t level, const char *text) {
  pthread_rwlock_rdlock(&log_lock);
  if (log_fn)
    log_fn(log_user, level, text);
  pthread_rwlock_unlock(&log_lock);
}

/* In the child of fork, where another thread may have held it. */
void tilert_log_forked(void) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  log_lock = lock;
}

void tilert_log(int32_t level, const char *format, ...) {
  if (!tilert_log_enabled())
    return;
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  send_log(level, text);
}

void tilert_append(text_buffer *buffer, const char *format, ...) {
  if (buffer->used + 1 >= buffer->size)
    return;
  size_t space = buffer->size - buffer->used;
  va_list args;
  va_start(args, format);
  int n = vsnprintf(buffer->text + buffer->used, space, format, args);
  va_end(args);
  if (n < 0)
    return;
  if ((size_t)n < space) {
    buffer->used += (size_t)n;
    return;
  }
  buffer->used = buffer->size - 1;
  if (buffer->size > 4)
    memcpy(buffer->text + buffer->size - 4, "...", 4);
}

/*===- The last error of each thread ------------------------------------------*/

/* Names are copied: the library they point into may be unloaded before the
   caller asks. */
static __thread struct {
  tile_status status;
  error_place place;
  char kernel[128];
  char message[1024];
} last;

tile_status tilert_vfail(tile_status status, const error_place *place, const char *format, va_list args) {
  last.status = status;
  last.place = *place;
  snprintf(last.kernel, sizeof(last.kernel), "%s", place->kernel ? place->kernel : "");
  text_buffer message = {last.message, sizeof(last.message) - 32, 0};
  if (last.kernel[0])
    tilert_append(&message, "%s: ", last.kernel);
  if (message.used + 1 < message.size) {
    size_t space = message.size - message.used;
    int n = vsnprintf(last.message + message.used, space, format, args);
    message.used = n < 0 ? message.used : (size_t)n < space ? message.used + (size_t)n : message.size - 1;
  }
  snprintf(last.message + message.used, sizeof(last.message) - message.used, " [%s]",
           tile_status_name(status));
  if (tilert_log_enabled())
    send_log(TILE_LOG_ERROR, last.message);
  return status;
}

tile_status tilert_fail(tile_status status, const error_place *place, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tilert_vfail(status, place, format, args);
  va_end(args);
  return status;
}

/* Fields beyond the caller's struct_size are left alone, so that old callers
   work with a newer runtime. */
void tile_last_error(tile_error_info *info) {
  if (!info)
    return;
  tile_error_info all;
  memset(&all, 0, sizeof(all));
  size_t size = info->struct_size;
  if (size > sizeof(all))
    size = sizeof(all);
  if (size < sizeof(all.struct_size))
    return;
  all.struct_size = info->struct_size;
  all.status = last.status;
  all.native_api = last.place.native_api;
  all.native_code = last.place.native_code;
  all.arg_index = last.status ? last.place.arg : -1;
  all.dim = last.status ? last.place.dim : -1;
  all.expected = last.place.expected;
  all.actual = last.place.actual;
  all.kernel = last.kernel;
  all.message = last.message;
  memcpy(info, &all, size);
}
