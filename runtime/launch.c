/*===- launch.c - what launches on GPUs have in common ------------------------===*/
#include "tile_rt_internal.h"

#include <string.h>

static COLD tile_status fail_shared(const call_state *call, const tile_gen_variant *v) {
  error_place place = NO_PLACE(call->kernel->name);
  place.expected = call->loaded->shared_limit;
  place.actual = v->shared_bytes + v->static_shared_bytes;
  return tilert_fail(TILE_ERR_SHARED_MEM, &place,
                     "%s needs %lld bytes of shared memory, a block may have %lld", v->symbol,
                     (long long)place.actual, (long long)place.expected);
}

tile_status tilert_before_launch(const call_state *call, const tile_gen_launch *launch,
                                 const tile_gen_variant *v, int64_t *blocks) {
  if (UNLIKELY(v->shared_bytes + v->static_shared_bytes > call->loaded->shared_limit))
    return fail_shared(call, v);
  if (v->flags & TILE_VARIANT_PERSISTENT) {
    int64_t resident = (int64_t)call->loaded->multiprocessors * (v->min_blocks > 0 ? v->min_blocks : 1);
    *blocks = *blocks < resident ? *blocks : resident;
  }
  if (UNLIKELY(tilert_log_enabled()))
    tilert_log(TILE_LOG_DEBUG, "%s: launch %s: image %s, %s, %lld blocks of %d threads, %lld bytes shared",
               call->kernel->name, launch->name, call->loaded->arch, v->symbol, (long long)*blocks,
               v->threads, (long long)v->shared_bytes);
  return TILE_OK;
}

void **tilert_launch_params(const tile_gen_variant *v, const uint64_t *values, tensor_map *maps,
                            uint64_t *seed, void **params, launch_plan *plan) {
  /* Calls from the same place have their values in the same place. */
  if (LIKELY(plan && plan->params_of == values))
    return plan->params;
  int keep = plan && v->num_params <= PLAN_PARAMS;
  for (int32_t i = 0; i < v->num_params; ++i) {
    int32_t index = v->params[i].index;
    if (v->params[i].kind == TILE_PARAM_MAP) {
      params[i] = &maps[index];
    } else if (UNLIKELY(v->params[i].kind == TILE_PARAM_SEED)) {
      *seed = tilert_schedule_seed();
      params[i] = seed;
      keep = 0;
    } else {
      params[i] = (void *)(uintptr_t)&values[index];
    }
  }
  if (keep) {
    memcpy(plan->params, params, sizeof(void *) * (size_t)v->num_params);
    plan->params_of = values;
  }
  return params;
}
