/*===- fake_common.h - counting and failing, shared by both fakes -----------===*/
#ifndef FAKE_COMMON_H
#define FAKE_COMMON_H

#include "fake_driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { MAX_FUNCTIONS = 64, MAX_FAKE_DEVICES = 8, MAX_KERNELS = 256 };

static pthread_mutex_t fake_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
  char name[64];
  int32_t calls, fail_code, fail_times;
} functions[MAX_FUNCTIONS];
static int32_t num_functions, num_mistakes;
static fake_device devices[MAX_FAKE_DEVICES];
static int32_t num_devices;
static fake_launch recorded;

/* Handles are never freed, so that use after unload shows; a chain keeps them from looking like leaks. */
static void *new_handle(size_t size) {
  static void *chain;
  void **block = calloc(1, size + 2 * sizeof(void *));
  if (!block)
    abort();
  pthread_mutex_lock(&fake_mutex);
  *block = chain;
  chain = block;
  pthread_mutex_unlock(&fake_mutex);
  return block + 2;
}

static int32_t find_entry(const char *name) {
  for (int32_t i = 0; i < num_functions; ++i)
    if (strcmp(functions[i].name, name) == 0)
      return i;
  snprintf(functions[num_functions].name, sizeof(functions[0].name), "%s", name);
  return num_functions++;
}

static void control_fail(const char *name, int32_t code, int32_t times) {
  pthread_mutex_lock(&fake_mutex);
  int32_t i = find_entry(name);
  functions[i].fail_code = code;
  functions[i].fail_times = times;
  pthread_mutex_unlock(&fake_mutex);
}

static void read_environment_once(void) {
  const char *text = getenv("FAKE_FAIL");
  const char *colon = text ? strchr(text, ':') : NULL;
  char name[64];
  if (!colon || (size_t)(colon - text) >= sizeof(name))
    return;
  snprintf(name, sizeof(name), "%.*s", (int)(colon - text), text);
  control_fail(name, atoi(colon + 1), 1 << 30);
}

/* Counts the call; the code it must fail with, or 0. */
static int32_t enter_fake(const char *name) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_environment_once);
  pthread_mutex_lock(&fake_mutex);
  int32_t i = find_entry(name);
  ++functions[i].calls;
  int32_t code = functions[i].fail_times > 0 ? functions[i].fail_code : 0;
  if (functions[i].fail_times > 0)
    --functions[i].fail_times;
  pthread_mutex_unlock(&fake_mutex);
  return code;
}

static int32_t control_calls(const char *name) {
  pthread_mutex_lock(&fake_mutex);
  int32_t n = functions[find_entry(name)].calls;
  pthread_mutex_unlock(&fake_mutex);
  return n;
}

static void mistake(const char *text) {
  fprintf(stderr, "fake driver: %s\n", text);
  __atomic_fetch_add(&num_mistakes, 1, __ATOMIC_RELAXED);
}

static int32_t control_mistakes(void) { return __atomic_load_n(&num_mistakes, __ATOMIC_RELAXED); }

static void control_last_launch(fake_launch *out) {
  pthread_mutex_lock(&fake_mutex);
  *out = recorded;
  pthread_mutex_unlock(&fake_mutex);
}

static void control_set_devices(int32_t count, const fake_device *list) {
  pthread_mutex_lock(&fake_mutex);
  num_devices = count;
  for (int32_t i = 0; i < count; ++i)
    devices[i] = list[i];
  pthread_mutex_unlock(&fake_mutex);
}

static void forget_calls(void) {
  pthread_mutex_lock(&fake_mutex);
  num_functions = 0;
  memset(functions, 0, sizeof(functions));
  pthread_mutex_unlock(&fake_mutex);
}

static int32_t device_count(void) {
  const char *text = getenv("FAKE_DEVICES");
  return text ? atoi(text) : num_devices;
}

/* How many parameters a sample kernel has, and how large each is: reading more
   than that from the caller's array would be a bug of the fake. */
static const char *parameter_sizes(const char *symbol) {
  if (strcmp(symbol, "gemm_tma") == 0)
    return "88MM844";
  if (strncmp(symbol, "gemm_", 5) == 0)
    return "8884";
  if (strncmp(symbol, "tick_", 5) == 0)
    return "84";
  if (strncmp(symbol, "tuned_", 6) == 0)
    return "88";
  if (strncmp(symbol, "matmul$", 7) == 0)
    return strstr(symbol, "$any") ? "88888888888888" : "88888888MMM";
  return "8";
}

static void record_parameters(void **params, fake_launch *launch) {
  const char *sizes = parameter_sizes(launch->symbol);
  for (int32_t i = 0; sizes[i]; ++i) {
    launch->params[i] = 0;
    if (sizes[i] == 'M' && (uintptr_t)params[i] % 64 != 0)
      mistake("a tensor map parameter is not 64-byte aligned");
    memcpy(&launch->params[i], params[i], sizes[i] == '4' ? 4 : 8);
  }
}

#endif
