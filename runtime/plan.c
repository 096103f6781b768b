/*===- plan.c - what earlier launches of a thread came to -------------------===*
 *
 * Choosing among many variants and describing tensors to the copy engine cost
 * more than all checks of a call, and the next call usually comes to the same.
 * Each thread keeps its last results: which variant a launch took, and its
 * tensor maps. A result holds for all launch values that differ only where no
 * condition, price or map looks: in scalars and in the upper bits of addresses.
 *
 *===------------------------------------------------------------------------===*/
#include "tile_rt_internal.h"

#include <string.h>

static uint32_t epoch; /* atomic */

void tilert_forget_plans(void) { __atomic_fetch_add(&epoch, 1, __ATOMIC_RELEASE); }

static int32_t count_words(const tile_gen_launch *launch) {
  int32_t measured = 0;
  if (!launch->num_points)
    return launch->num_slots;
  for (int32_t v = 0; v < launch->num_variants; ++v)
    if (launch->variants[v].measured > measured)
      measured = launch->variants[v].measured;
  return launch->num_slots + 1 + launch->num_points * (1 + launch->grid_rank) + measured;
}

/*===- What a result depends on -----------------------------------------------*/

static int add_condition(const tile_gen_condition *c, int32_t num_slots, uint64_t *masks) {
  if (c->kind == TILE_COND_MAPS)
    return 1; /* looks at the maps, which stand in the variant */
  if (c->slot < 0 || c->slot >= num_slots)
    return 0;
  uint64_t value = (uint64_t)c->value;
  int low_bits = c->kind == TILE_COND_MULTIPLE && c->value > 0 && !(value & (value - 1));
  masks[c->slot] |= low_bits ? value - 1 : UINT64_MAX;
  return 1;
}

static int add_map(const tile_gen_map *map, int32_t num_slots, uint64_t *masks) {
  if (map->slot < 0 || map->view_rank < 0 || map->slot + 2 * map->view_rank >= num_slots)
    return 0;
  masks[map->slot] |= MAP_ALIGNMENTS;
  for (int32_t i = 1; i <= 2 * map->view_rank; ++i)
    masks[map->slot + i] = UINT64_MAX;
  return 1;
}

/* The bits of each value that a choice or a map depends on. 0: the launch cannot be planned. */
static int find_masks(const tile_gen_launch *launch, uint64_t *masks) {
  if (launch->num_slots > PLAN_SLOTS || count_words(launch) > PLAN_WORDS)
    return 0;
  memset(masks, 0, sizeof(uint64_t) * PLAN_SLOTS);
  for (int32_t i = 0; launch->num_points && i < launch->grid_rank; ++i)
    masks[i] = UINT64_MAX;
  for (int32_t v = 0; v < launch->num_variants; ++v) {
    const tile_gen_variant *variant = &launch->variants[v];
    if (variant->num_maps > PLAN_MAPS)
      return 0;
    for (int32_t i = 0; i < variant->num_conditions; ++i)
      if (!add_condition(&variant->conditions[i], launch->num_slots, masks))
        return 0;
    for (int32_t i = 0; i < variant->num_maps; ++i)
      if (!add_map(&variant->maps[i], launch->num_slots, masks))
        return 0;
  }
  return 1;
}

/*===- Look-up ----------------------------------------------------------------*/

static int is_for(const launch_plan *plan, const call_state *call, const tile_gen_launch *launch) {
  return plan->launch == launch && plan->loaded == call->loaded && plan->backend == call->backend &&
         plan->wanted == call->variant && plan->epoch == __atomic_load_n(&epoch, __ATOMIC_ACQUIRE);
}

static int same_values(const launch_plan *plan, const tile_gen_launch *launch, const uint64_t *values) {
  uint64_t different = 0;
  for (int32_t i = 0; i < launch->num_slots; ++i)
    different |= (values[i] ^ plan->values[i]) & plan->masks[i];
  int32_t rest = plan->words - launch->num_slots;
  return !different && (!rest || memcmp(values + launch->num_slots, plan->values + launch->num_slots,
                                        sizeof(uint64_t) * (size_t)rest) == 0);
}

static uint32_t set_of(const call_state *call, const tile_gen_launch *launch) {
  uint64_t mixed = call->shapes ^ (uint64_t)(uintptr_t)launch;
  return (uint32_t)(mixed * UINT64_C(0x9e3779b97f4a7c15) >> 32) % PLAN_SETS;
}

static COLD launch_plan *start_plan(launch_plan *plan, const call_state *call, const tile_gen_launch *launch,
                                    const uint64_t *values) {
  if (!is_for(plan, call, launch)) {
    plan->plannable = find_masks(launch, plan->masks);
    plan->launch = launch;
    plan->loaded = call->loaded;
    plan->backend = call->backend;
    plan->wanted = call->variant;
    plan->epoch = __atomic_load_n(&epoch, __ATOMIC_ACQUIRE);
    plan->words = count_words(launch);
  }
  plan->variant = NULL;
  plan->maps_made = 0;
  plan->params_of = NULL;
  if (!plan->plannable)
    return NULL;
  memcpy(plan->values, values, sizeof(uint64_t) * (size_t)plan->words);
  return plan;
}

/* The first launch of a call follows from the arguments alone, so a stamp stands for its values. Later ones
 * may stand in a loop. */
launch_plan *tilert_take_plan(call_state *call, const tile_gen_launch *launch, const uint64_t *values) {
  uint64_t stamp = call->stamp;
  call->stamp = 0;
  thread_state *t = tilert_thread();
  if (UNLIKELY(!t || t->busy))
    return NULL;
  uint32_t set = set_of(call, launch);
  launch_plan *plan = NULL;
  for (uint32_t way = 0; way < PLAN_WAYS; ++way) {
    plan = &t->plans[set][way];
    if (LIKELY(is_for(plan, call, launch) && plan->variant &&
               ((stamp && plan->stamp == stamp) || same_values(plan, launch, values)))) {
      plan->stamp = stamp;
      t->older[set] = (uint8_t)(1 - way);
      t->busy = 1;
      return plan;
    }
  }
  uint32_t way = t->older[set];
  t->older[set] = (uint8_t)(1 - way);
  plan = start_plan(&t->plans[set][way], call, launch, values);
  t->busy = plan != NULL;
  if (plan)
    plan->stamp = stamp;
  return plan;
}

void tilert_release_plan(launch_plan *plan) {
  if (plan)
    tilert_thread_memory->busy = 0;
}
