/*===- cpu.c - the CPU as a device ------------------------------------------===*
 *
 * The images are levels of x86-64; one is picked at the first call, by what the
 * processor has and TILE_CPU_LEVEL allows. A launch is a loop over work items
 * that the pool distributes.
 *
 *===------------------------------------------------------------------------===*/
#include "tile_rt_internal.h"

#include <stdlib.h>
#include <string.h>

static int32_t processor_level(void) {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4"))
    return 4;
  return __builtin_cpu_supports("x86-64-v3") ? 3 : 2;
}

/* TILE_CPU_LEVEL=v2, v3, v4 (or x86-64-v3, or 3) lowers the level; anything else
   is ignored, since a library must not fail for an environment variable. */
static int32_t allowed_level(void) {
  int32_t level = processor_level();
  const char *text = secure_getenv("TILE_CPU_LEVEL");
  if (!text)
    return level;
  if (strncmp(text, "x86-64-", 7) == 0)
    text += 7;
  if (*text == 'v')
    ++text;
  if (text[0] >= '2' && text[0] <= '4' && text[1] == 0 && text[0] - '0' < level)
    level = text[0] - '0';
  return level;
}

static tile_status cpu_enter(call_state *call) {
  tile_status s = TILE_OK;
  if (call->device < 0)
    call->device = 0;
  call->loaded = tilert_load(call->library, call->kernel->name, BACKEND_CPU, call->device,
                             !(call->flags & TILE_LAUNCH_NO_LAZY_LOAD), &s);
  return s;
}

static void cpu_leave(call_state *call) { (void)call; }

static tile_status cpu_load(library_state *state, const tile_gen_library *library, const char *kernel,
                            int32_t device, loaded_state *loaded) {
  (void)state;
  error_place place = NO_PLACE(kernel);
  place.actual = device;
  if (device != 0)
    return tilert_fail(TILE_ERR_NO_DEVICE, &place, "there is only CPU device 0, not %d", device);
  device_traits traits;
  memset(&traits, 0, sizeof(traits));
  traits.backend = BACKEND_CPU;
  traits.level = allowed_level();
  loaded->multiprocessors = 1;
  return tilert_select_images(library, kernel, &traits, loaded);
}

static void cpu_unload(library_state *state, loaded_state *loaded) {
  (void)state;
  (void)loaded;
}
static void cpu_unload_library(library_state *state) { (void)state; }
static void cpu_shutdown(void) {}

static tile_status cpu_count(int32_t *count) {
  *count = 1;
  return TILE_OK;
}

static tile_status cpu_launch(call_state *call, const tile_gen_launch *launch, const tile_gen_variant *v,
                              const uint64_t *values, int64_t blocks, launch_plan *plan) {
  (void)plan;
  pool_job job;
  memset(&job, 0, sizeof(job));
  job.work = v->work;
  job.values = values;
  job.items = v->count(values);
  job.arena_bytes = v->arena_bytes > 0 ? (size_t)v->arena_bytes : 0;
  if (UNLIKELY(tilert_log_enabled()))
    tilert_log(TILE_LOG_DEBUG, "%s: launch %s: image %s, %s, %lld blocks in %lld work items",
               call->kernel->name, launch->name, call->loaded->arch, v->symbol, (long long)blocks,
               (long long)job.items);
  return job.items > 0 ? tilert_pool_run(&job, call->kernel->name) : TILE_OK;
}

const backend_ops tilert_cpu = {cpu_enter,  cpu_leave,          cpu_launch,   cpu_load,
                                cpu_unload, cpu_unload_library, cpu_shutdown, cpu_count};
