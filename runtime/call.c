/*===- call.c - what generated host code does between begin and end ---------===*/
#include "tile_rt_internal.h"

#include <stdlib.h>

const backend_ops *tilert_backend(int32_t backend) {
  static const backend_ops *const table[NUM_BACKENDS] = {&tilert_cpu, &tilert_cuda, &tilert_hip};
  return table[backend];
}

void tilert_leave(call_state *call) {
  if (!call->entered)
    return;
  call->entered = 0;
  tilert_backend(call->backend)->leave(call);
  tilert_read_unlock();
}

uint64_t tilert_schedule_seed(void) {
  const char *text = secure_getenv("TILE_SCHEDULE_SEED");
  return text ? strtoull(text, NULL, 0) & UINT32_MAX : 0;
}

static error_place no_place(const call_state *call) {
  error_place place = NO_PLACE(call->kernel->name);
  return place;
}

/* The text is the source of a condition: data, never a format. */
tile_status tile_rt_fail(tile_call *opaque, tile_status status, int32_t arg, int32_t dim, int64_t expected,
                         int64_t actual, const char *text) {
  call_state *call = call_of(opaque);
  if (call->flags & TILE_LAUNCH_NO_CHECKS)
    return TILE_OK;
  tilert_leave(call);
  error_place place = {call->kernel->name, arg, dim, expected, actual, TILE_NATIVE_NONE, 0};
  text = text ? text : "";
  if (status == TILE_OK)
    status = TILE_ERR_INTERNAL;
  if (status == TILE_ERR_PRECONDITION)
    return tilert_fail(status, &place, "assume does not hold: %s", text);
  if (arg < 0 || arg >= call->kernel->num_args)
    return tilert_fail(status, &place, "%s", text);
  const char *name = call->kernel->args[arg].name;
  const char *what = status == TILE_ERR_SHAPE ? "extent" : status == TILE_ERR_STRIDE ? "stride" : "value";
  if (dim < 0)
    return tilert_fail(status, &place, "argument %s (%d): %s: must be %lld, got %lld", name, arg, text,
                       (long long)expected, (long long)actual);
  return tilert_fail(status, &place, "argument %s (%d), dim %d: %s must be %s = %lld, got %lld", name, arg,
                     dim, what, text, (long long)expected, (long long)actual);
}

tile_status tile_rt_workspace(tile_call *opaque, int64_t bytes, uint64_t *address) {
  call_state *call = call_of(opaque);
  uint64_t start = call->workspace_used;
  *address = 0;
  if (bytes < 0 || (uint64_t)bytes > UINT64_MAX / 4 || start > UINT64_MAX / 4) {
    tilert_leave(call);
    error_place place = no_place(call);
    place.actual = bytes;
    return tilert_fail(TILE_ERR_WORKSPACE, &place, "a workspace buffer of %lld bytes is not possible",
                       (long long)bytes);
  }
  call->workspace_used = start + (((uint64_t)bytes + WORKSPACE_ALIGN - 1) & ~(uint64_t)(WORKSPACE_ALIGN - 1));
  if (call->mode != TILE_MODE_RUN)
    return TILE_OK;
  uint64_t base = (uint64_t)(uintptr_t)call->workspace;
  if (base % WORKSPACE_ALIGN != 0) {
    tilert_leave(call);
    error_place place = no_place(call);
    place.expected = WORKSPACE_ALIGN;
    place.actual = (int64_t)(base % WORKSPACE_ALIGN);
    return tilert_fail(TILE_ERR_ALIGN, &place, "launch.workspace must be %d-byte aligned, is %d over",
                       WORKSPACE_ALIGN, (int)(base % WORKSPACE_ALIGN));
  }
  if (call->workspace_used > (base ? call->workspace_bytes : 0))
    call->short_space = 1;
  else
    *address = base + start;
  return TILE_OK;
}

int64_t tilert_count_blocks(const tile_gen_launch *launch, const uint64_t *grid) {
  int64_t blocks = 1;
  for (int32_t i = 0; i < launch->grid_rank; ++i)
    if ((int64_t)grid[i] <= 0)
      return 0;
  for (int32_t i = 0; i < launch->grid_rank; ++i)
    if (__builtin_mul_overflow(blocks, (int64_t)grid[i], &blocks) || blocks > MAX_BLOCKS)
      return -1;
  return blocks;
}

static COLD tile_status fail_grid(const call_state *call, const tile_gen_launch *launch,
                                  const uint64_t *values) {
  error_place place = no_place(call);
  char text[80];
  text_buffer grid = {text, sizeof(text), 0};
  for (int32_t i = 0; i < launch->grid_rank; ++i)
    tilert_append(&grid, "%s%lld", i ? ", " : "", (long long)(int64_t)values[i]);
  place.expected = MAX_BLOCKS;
  return tilert_fail(TILE_ERR_GRID, &place, "launch %s: grid (%s) has more than 2^31 - 1 blocks",
                     launch->name, text);
}

static tile_status enter(call_state *call) {
  tilert_read_lock();
  tile_status s = tilert_backend(call->backend)->enter(call);
  if (UNLIKELY(s)) {
    tilert_read_unlock();
    return s;
  }
  call->entered = 1;
  return TILE_OK;
}

/* The grid of the variant's point becomes the launch's. */
static int64_t take_point(const tile_gen_launch *launch, const tile_gen_variant *variant, uint64_t *values) {
  const uint64_t *grid = tilert_point_grid(launch, variant->point, values);
  for (int32_t i = 0; i < launch->grid_rank; ++i)
    values[i] = grid[i];
  return tilert_count_blocks(launch, values);
}

static tile_status launch_planned(call_state *call, const tile_gen_launch *launch, uint64_t *values,
                                  int64_t blocks, launch_plan *plan) {
  const tile_gen_variant *variant = plan ? plan->variant : NULL;
  if (UNLIKELY(!variant)) {
    variant = tilert_choose_variant(call, launch, values, call->loaded ? call->loaded->selected : NULL);
    if (!variant)
      return TILE_ERR_NO_VARIANT;
    if (plan)
      plan->variant = variant;
  }
  if (call->mode == TILE_MODE_CHECK)
    return TILE_OK;
  if (variant->point)
    blocks = take_point(launch, variant, values);
  return tilert_backend(call->backend)->launch(call, launch, variant, values, blocks, plan);
}

tile_status tile_rt_launch(tile_call *opaque, int32_t number, uint64_t *values) {
  call_state *call = call_of(opaque);
  if (call->mode == TILE_MODE_WORKSPACE)
    return TILE_OK;
  const tile_gen_launch *launch = &call->kernel->launches[number];
  int64_t blocks = tilert_count_blocks(launch, values);
  if (UNLIKELY(blocks < 0)) {
    tilert_leave(call);
    return fail_grid(call, launch, values);
  }
  if (UNLIKELY(blocks == 0 || call->short_space))
    return TILE_OK;
  tile_status s;
  if (call->mode == TILE_MODE_RUN && !call->entered && UNLIKELY((s = enter(call))))
    return s;
  launch_plan *plan = tilert_take_plan(call, launch, values);
  s = launch_planned(call, launch, values, blocks, plan);
  tilert_release_plan(plan);
  if (UNLIKELY(s))
    tilert_leave(call);
  return s;
}

tile_status tile_rt_end(tile_call *opaque) {
  call_state *call = call_of(opaque);
  tilert_leave(call);
  if (call->mode == TILE_MODE_WORKSPACE)
    *call->bytes = call->workspace_used;
  if (LIKELY(!call->short_space))
    return TILE_OK;
  error_place place = no_place(call);
  place.expected = (int64_t)call->workspace_used;
  place.actual = (int64_t)(call->workspace ? call->workspace_bytes : 0);
  return tilert_fail(TILE_ERR_WORKSPACE, &place, "needs a workspace of %llu bytes, got %llu",
                     (unsigned long long)place.expected, (unsigned long long)place.actual);
}

tile_status tile_rt_load(const tile_gen_library *library, tile_device device) {
  error_place place = NO_PLACE(library->name);
  int32_t backend = tilert_backend_of(device.type);
  if (library->abi != TILE_RT_ABI) {
    place.expected = TILE_RT_ABI;
    place.actual = library->abi;
    return tilert_fail(TILE_ERR_ABI, &place, "the object was built for runtime ABI %d, this runtime has %d",
                       library->abi, TILE_RT_ABI);
  }
  if (backend == BACKEND_NONE || device.id < 0)
    return tilert_fail(TILE_ERR_NO_DEVICE, &place, "there is no device %d:%d", device.type, device.id);
  /* A call without tensors: enters the device and leaves it again. */
  tile_gen_kernel kernel = {library->name, NULL, NULL, 0, 0, 0, 0, 64, 0, 0};
  call_state call = {0};
  call.library = library;
  call.kernel = &kernel;
  call.backend = backend;
  call.device = device.id;
  tile_status s = enter(&call);
  if (s == TILE_OK)
    tilert_leave(&call);
  return s;
}

tile_status tile_device_count(int32_t device_type, int32_t *count) {
  error_place place = NO_PLACE("");
  if (!count)
    return tilert_fail(TILE_ERR_NULL_ARG, &place, "tile_device_count: count is NULL");
  *count = 0;
  switch (device_type) {
  case TILE_DEVICE_CPU:
    return tilert_cpu.count(count);
  case TILE_DEVICE_CUDA:
  case TILE_DEVICE_CUDA_MANAGED:
    return tilert_cuda.count(count);
  case TILE_DEVICE_ROCM:
    return tilert_hip.count(count);
  default:
    return tilert_fail(TILE_ERR_NO_DEVICE, &place, "device type %d is not supported", device_type);
  }
}
