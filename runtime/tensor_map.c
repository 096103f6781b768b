/*===- tensor_map.c - may a view become a CUtensorMap? ----------------------===*
 *
 * cuTensorMapEncodeTiled answers every violation with "invalid value". Here each
 * precondition of cuda.h is checked by name first, so that variants can be
 * chosen by them and errors can be understood.
 *
 *===------------------------------------------------------------------------===*/
#include "tile_rt_internal.h"

#include <string.h>

static map_problem problem(const char *text, int32_t dim, int64_t expected, int64_t actual) {
  map_problem p = {text, dim, expected, actual};
  return p;
}

enum { /* CUtensorMapDataType, the packed ones */
       TYPE_16U4_ALIGN8 = 13,
       TYPE_16U4_ALIGN16 = 14,
       TYPE_16U6_ALIGN16 = 15
};

static int is_padded(const tile_gen_map *map) {
  return map->type == TYPE_16U4_ALIGN16 || map->type == TYPE_16U6_ALIGN16;
}

/* What the view's memory must be a multiple of, in bytes. */
static int64_t required_alignment(const tile_gen_map *map) {
  return map->interleave == 2 || is_padded(map) ? 32 : 16;
}

static int64_t swizzle_span(int32_t swizzle) { return swizzle == 1 ? 32 : swizzle == 2 ? 64 : 128; }

/* What depends on the recipe alone: asked once, when its library is loaded. */
map_problem tilert_map_recipe(const tile_gen_map *map) {
  if (map->rank < 1 || map->rank > 5)
    return problem("a tensor map has 1 to 5 dimensions", -1, 5, map->rank);
  if (map->interleave && map->rank < 3)
    return problem("an interleaved tensor map has at least 3 dimensions", -1, 3, map->rank);
  for (int32_t i = 0; i < map->rank; ++i) {
    if (map->axes[i] < 0 || map->axes[i] >= map->view_rank)
      return problem("the recipe names an axis the view does not have", -1, map->view_rank, map->axes[i]);
    if (map->box[i] < 1 || map->box[i] > 256)
      return problem("box extents must be 1 to 256", map->axes[i], 256, map->box[i]);
    if (map->elem_step[i] < 1 || map->elem_step[i] > 8)
      return problem("element steps must be 1 to 8", map->axes[i], 8, map->elem_step[i]);
  }
  int64_t row = (int64_t)map->box[0] * map->elem_bits / 8;
  if (is_padded(map) && map->box[0] != 128)
    return problem("the innermost box extent of a packed type must be 128", map->axes[0], 128, map->box[0]);
  if (map->interleave == 0 && row % 16 != 0)
    return problem("the box's innermost extent must be a multiple of 16 bytes", map->axes[0], 16, row);
  if (map->interleave == 0 && map->swizzle && !is_padded(map) && row > swizzle_span(map->swizzle))
    return problem("the box's innermost extent must not exceed the swizzle width", map->axes[0],
                   swizzle_span(map->swizzle), row);
  if (map->interleave == 2 && map->swizzle != 1)
    return problem("interleave 32 needs the 32-byte swizzle", -1, 1, map->swizzle);
  return problem(0, -1, 0, 0);
}

/* An extent of 1 is never stepped over, so any legal stride does for it. */
static map_problem find_stride(const tile_gen_map *map, const uint64_t *values, int32_t j, int64_t fallback,
                               int64_t *bytes) {
  int32_t axis = map->axes[j];
  int64_t size = (int64_t)values[map->slot + 1 + axis];
  int64_t stride = (int64_t)values[map->slot + 1 + map->view_rank + axis];
  int64_t align = required_alignment(map), bits;
  if (size == 1) {
    *bytes = fallback;
    return problem(0, -1, 0, 0);
  }
  if (stride <= 0)
    return problem("the stride must be positive", axis, 1, stride);
  if (__builtin_mul_overflow(stride, (int64_t)map->elem_bits, &bits) || bits / 8 >= INT64_C(1) << 40)
    return problem("the stride must be below 2^40 bytes", axis, INT64_C(1) << 40, stride);
  if (bits & (8 * align - 1))
    return problem("the stride in bytes must be a multiple of the required alignment", axis, align, bits / 8);
  *bytes = bits / 8;
  return problem(0, -1, 0, 0);
}

/* The engine stores 16 bytes at a time, past the innermost extent if that is no
   multiple of it: seen on Hopper, and the reason why only inputs are let off. */
static int may_be_stored(const tile_gen_kernel *kernel, const tile_gen_map *map) {
  return map->arg < 0 || map->arg >= kernel->num_args || kernel->args[map->arg].kind != TILE_ARG_TENSOR ||
         kernel->args[map->arg].access != TILE_ACCESS_IN;
}

map_problem tilert_map_geometry(const tile_gen_kernel *kernel, const tile_gen_map *map,
                                const uint64_t *values, map_geometry *geometry) {
  map_problem p = problem(0, -1, 0, 0);
  int64_t align = required_alignment(map);
  memset(geometry, 0, sizeof(*geometry));
  geometry->address = values[map->slot];
  int64_t over = (int64_t)(geometry->address & (uint64_t)(align - 1));
  if (UNLIKELY(over))
    return problem("the address must be a multiple of the required alignment", -1, align, over);
  int64_t stride = 0;
  for (int32_t j = 0; j < map->rank; ++j) {
    int32_t axis = map->axes[j];
    int64_t size = (int64_t)values[map->slot + 1 + axis];
    if (UNLIKELY(size < 1 || size > INT64_C(1) << 32))
      return problem("the extent must be 1 to 2^32", axis, INT64_C(1) << 32, size);
    geometry->dims[j] = (uint64_t)size;
    geometry->box[j] = (uint32_t)map->box[j];
    geometry->steps[j] = (uint32_t)map->elem_step[j];
    if (j == 0) {
      int64_t step = (int64_t)values[map->slot + 1 + map->view_rank + axis];
      if (UNLIKELY(size != 1 && step != 1))
        return problem("the innermost stride must be 1 element", axis, 1, step);
      /* Dense rows, for a second dimension whose own stride does not matter. */
      stride = ((size * map->elem_bits >> 3) + align - 1) & -align;
      continue;
    }
    p = find_stride(map, values, j, stride, &stride);
    if (UNLIKELY(p.text != 0))
      return p;
    geometry->strides[j] = (uint64_t)stride;
  }
  int64_t inner = map->type < TYPE_16U4_ALIGN8 ? 1 : is_padded(map) ? 128 : 2;
  if (UNLIKELY(geometry->dims[0] & (uint64_t)(inner - 1)))
    return problem("the innermost extent of a packed type must be a multiple of its group", map->axes[0],
                   inner, (int64_t)geometry->dims[0]);
  int64_t bits = (int64_t)geometry->dims[0] * map->elem_bits;
  if (UNLIKELY(bits & 127) && may_be_stored(kernel, map))
    return problem("the innermost extent of a written tensor must be a multiple of 16 bytes", map->axes[0],
                   16, bits / 8);
  return p;
}

/* Tensors under 128 KiB with gaps: Blackwell drivers up to 13.x set a wrong
   out-of-bounds mode for them. */
int tilert_map_is_small_and_sparse(const tile_gen_map *map, const map_geometry *g) {
  uint64_t last = (g->dims[0] * (uint64_t)map->elem_bits + 7) / 8, dense = last;
  for (int32_t j = 1; j < map->rank; ++j) {
    uint64_t span;
    if (__builtin_mul_overflow(g->dims[j] - 1, g->strides[j], &span) || span >= (1u << 17) ||
        last >= (1u << 17))
      return 0;
    last += span;
    dense *= g->dims[j];
  }
  return last < (1u << 17) && last != dense;
}
