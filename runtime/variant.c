/*===- variant.c - which variant of a launch accepts the values -------------===*/
#include "tile_rt_internal.h"

static int maps_hold(const tile_gen_kernel *kernel, const tile_gen_variant *variant, const uint64_t *values) {
  map_geometry geometry;
  for (int32_t i = 0; i < variant->num_maps; ++i)
    if (tilert_map_geometry(kernel, &variant->maps[i], values, &geometry).text)
      return 0;
  return 1;
}

static int holds(const tile_gen_kernel *kernel, const tile_gen_variant *variant,
                 const tile_gen_condition *condition, const uint64_t *values) {
  switch (condition->kind) {
  case TILE_COND_MULTIPLE:
    return condition->value != 0 && (int64_t)values[condition->slot] % condition->value == 0;
  case TILE_COND_GE:
    return (int64_t)values[condition->slot] >= condition->value;
  case TILE_COND_LE:
    return (int64_t)values[condition->slot] <= condition->value;
  case TILE_COND_EQ:
    return (int64_t)values[condition->slot] == condition->value;
  case TILE_COND_MAPS:
    return maps_hold(kernel, variant, values);
  default:
    return 0;
  }
}

/* The first condition that does not hold, or NULL. */
static const tile_gen_condition *broken_condition(const tile_gen_kernel *kernel,
                                                  const tile_gen_variant *variant, const uint64_t *values) {
  for (int32_t i = 0; i < variant->num_conditions; ++i)
    if (!holds(kernel, variant, &variant->conditions[i], values))
      return &variant->conditions[i];
  return NULL;
}

static int is_candidate(const call_state *call, const tile_gen_variant *variant, const uint8_t *selected) {
  if (selected)
    return selected[variant->image];
  if (call->backend == BACKEND_NONE)
    return 1;
  int32_t kind = call->library->images[variant->image].kind;
  int32_t backend = kind == TILE_IMAGE_CPU     ? BACKEND_CPU
                    : kind == TILE_IMAGE_HSACO ? BACKEND_HIP
                                               : BACKEND_CUDA;
  return backend == call->backend;
}

static COLD void fail_no_variant(const call_state *call, const tile_gen_launch *launch,
                                 const uint64_t *values, const uint8_t *selected) {
  char text[640];
  text_buffer reasons = {text, sizeof(text), 0};
  int32_t number = 0;
  text[0] = 0;
  for (int32_t i = 0; i < launch->num_variants; ++i) {
    const tile_gen_variant *v = &launch->variants[i];
    if (!is_candidate(call, v, selected))
      continue;
    const tile_gen_condition *broken = broken_condition(call->kernel, v, values);
    if (call->variant < 0 || call->variant == number)
      tilert_append(&reasons, "%s%s %d needs: %s", reasons.used ? "; " : "",
                    call->library->images[v->image].arch, number, broken ? broken->text : "nothing");
    ++number;
  }
  error_place place = NO_PLACE(call->kernel->name);
  place.expected = number;
  place.actual = call->variant;
  if (!number)
    tilert_fail(TILE_ERR_NO_VARIANT, &place, "launch %s has no variant for this kind of device",
                launch->name);
  else if (call->variant >= number)
    tilert_fail(TILE_ERR_NO_VARIANT, &place, "launch %s has %d variants, number %d was asked for",
                launch->name, number, call->variant);
  else
    tilert_fail(TILE_ERR_NO_VARIANT, &place, "launch %s: no variant accepts these arguments (%s)",
                launch->name, text);
}

/* Cycles of the variant for these values: the formula of tile_gen_variant, at least 1: what the model does
   not know costs 1, so that the first is taken. 0: measured to be the best. -1: its grid is none. */
static int64_t price(const call_state *call, const tile_gen_launch *launch, const tile_gen_variant *v,
                     const uint64_t *values) {
  int64_t blocks = tilert_count_blocks(launch, tilert_point_grid(launch, v->point, values));
  if (blocks <= 0)
    return -1;
  if (v->measured &&
      values[launch->num_slots + launch->num_points + (int64_t)launch->num_points * launch->grid_rank +
             v->measured] == (uint64_t)v->point + 1)
    return 0;
  int64_t trips = (int64_t)values[launch->num_slots + v->point];
  int64_t resident = v->resident > 0 ? v->resident : 1;
  int64_t slots =
      (call->loaded && call->loaded->multiprocessors > 0 ? call->loaded->multiprocessors : 1) * resident;
  int64_t waves = (blocks + slots - 1) / slots, cycles;
  if (__builtin_mul_overflow(trips, v->trip_cycles, &cycles) ||
      __builtin_add_overflow(cycles, v->block_cycles, &cycles) ||
      __builtin_mul_overflow(cycles, waves, &cycles) ||
      __builtin_add_overflow(cycles, v->launch_cycles, &cycles))
    return INT64_MAX;
  return cycles > 0 ? cycles : 1;
}

const tile_gen_variant *tilert_choose_variant(const call_state *call, const tile_gen_launch *launch,
                                              const uint64_t *values, const uint8_t *selected) {
  const tile_gen_variant *best = NULL;
  int64_t least = 0;
  int32_t number = -1;
  for (int32_t i = 0; i < launch->num_variants; ++i) {
    const tile_gen_variant *v = &launch->variants[i];
    if (!is_candidate(call, v, selected))
      continue;
    ++number;
    if (call->variant >= 0 && call->variant != number)
      continue;
    int64_t cycles = launch->num_points ? price(call, launch, v, values) : 0;
    if (cycles < 0 || (best && cycles >= least) || broken_condition(call->kernel, v, values))
      continue;
    if (!launch->num_points)
      return v;
    best = v;
    least = cycles;
  }
  if (!best)
    fail_no_variant(call, launch, values, selected);
  return best;
}
