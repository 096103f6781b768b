/*===- accept.c - are all tensors of a call in order? -----------------------===*
 *
 * Runs before each launch. One pass over the tables that knows no failure, only
 * "in order" and "look closely": what is wrong, or right in an unusual way (an
 * empty tensor, an extent of 1 with a stride of its own, one tensor given
 * twice), is for the checks of check.c, which go in the promised order. What is
 * accepted here, they accept too, and with the same views and symbols.
 *
 *===------------------------------------------------------------------------===*/
#include "tile_rt_internal.h"

#include <string.h>

static int has_dtype(const tile_gen_arg *a, const tile_tensor *t) {
  return t->dtype.code == a->dtype_code && t->dtype.bits == a->dtype_bits && t->dtype.lanes == 1;
}

/* Extents into the view and the symbols. */
static int accept_extents(call_state *call, const tile_gen_arg *a, const int64_t *shape, int64_t *symbols,
                          uint64_t *view) {
  int64_t sign = 0, difference = 0;
  for (int32_t i = 0; i < a->rank; ++i) {
    const tile_gen_dim *d = &a->dims[i];
    int64_t size = shape[i];
    view[1 + i] = (uint64_t)size;
    call->shapes = call->shapes * 31 + (uint64_t)size;
    sign |= size - 1;
    if (d->kind == TILE_DIM_BIND)
      symbols[d->symbol] = size;
    else if (d->kind == TILE_DIM_EQUAL)
      difference |= size ^ symbols[d->symbol];
    else if (d->kind == TILE_DIM_CONST)
      difference |= size ^ d->value;
  }
  return !difference && sign >= 0;
}

/* `span` elements from `address`; 0: too many for 64 bits. */
static int find_range(const tile_gen_arg *a, uint64_t address, int64_t span, byte_range *range) {
  range->low = address;
  return span <= INT64_MAX / 256 &&
         !__builtin_add_overflow(address, ((uint64_t)span * a->dtype_bits + 7) / 8, &range->high);
}

/* Row-major strides into the view, and what lies between the address and the end. */
static int accept_rows(const tile_gen_arg *a, const tile_tensor *t, uint64_t *view, byte_range *range) {
  int64_t stride = 1;
  int overflow = 0;
  for (int32_t i = a->rank; i-- > 0;) {
    if (t->strides && t->strides[i] != stride)
      return 0;
    view[1 + a->rank + i] = (uint64_t)stride;
    overflow |= __builtin_mul_overflow(stride, (int64_t)view[1 + i], &stride);
  }
  return !overflow && find_range(a, view[0], stride, range);
}

/* No element twice: each stride steps over all that the dimensions before it reach, or those behind it. */
static int is_nested(const tile_gen_arg *a, const uint64_t *view) {
  const uint64_t *sizes = view + 1, *strides = sizes + a->rank;
  uint64_t up = 1, down = 1;
  int ascends = 1, descends = 1;
  for (int32_t i = 0; i < a->rank; ++i) {
    int32_t j = a->rank - 1 - i;
    ascends &= sizes[i] == 1 || strides[i] >= up;
    descends &= sizes[j] == 1 || strides[j] >= down;
    up += (sizes[i] - 1) * strides[i];
    down += (sizes[j] - 1) * strides[j];
  }
  return ascends | descends;
}

/* Strides that the caller gave. Only called when all extents are known: a stride may name any of them. */
static int accept_strides(const tile_gen_arg *a, const tile_tensor *t, int64_t *symbols, uint64_t *view,
                          byte_range *range) {
  int64_t span = 1, elements = 1;
  int overflow = 0;
  for (int32_t i = 0; i < a->rank; ++i) {
    const tile_gen_dim *d = &a->strides[i];
    int64_t stride = t->strides[i], size = (int64_t)view[1 + i], step;
    if (d->kind == TILE_DIM_BIND)
      symbols[d->symbol] = stride;
    else if ((d->kind == TILE_DIM_EQUAL && stride != symbols[d->symbol]) ||
             (d->kind == TILE_DIM_CONST && stride != d->value))
      return 0;
    overflow |= __builtin_mul_overflow(size - 1, stride, &step);
    overflow |= __builtin_add_overflow(span, step, &span);
    overflow |= __builtin_mul_overflow(elements, size, &elements);
    if (stride <= 0)
      return 0;
    view[1 + a->rank + i] = (uint64_t)stride;
  }
  return !overflow && find_range(a, view[0], span, range) &&
         (!(a->access & TILE_ACCESS_OUT) || is_nested(a, view));
}

int tilert_are_apart(int32_t count, const byte_range *ranges, uint64_t written) {
  int meet = 0;
  for (; written; written &= written - 1) {
    int32_t i = __builtin_ctzll(written);
    for (int32_t j = 0; j < count; ++j)
      meet |= (i != j) & (ranges[i].high > ranges[j].low) & (ranges[j].high > ranges[i].low);
  }
  return !meet;
}

int tilert_accept(call_state *call, const tile_tensor *const *tensors, int64_t *symbols, uint64_t *views) {
  const tile_gen_kernel *kernel = call->kernel;
  byte_range ranges[MAX_TENSORS];
  uint64_t *view = views, written = 0, longest = 0;
  int strided = 0;
  for (int32_t arg = 0, n = 0; arg < kernel->num_args; ++arg) {
    const tile_gen_arg *a = &kernel->args[arg];
    if (a->kind != TILE_ARG_TENSOR)
      continue;
    const tile_tensor *t = tensors[n];
    if (!t || t->ndim != a->rank || !t->shape || !t->data || !has_dtype(a, t) ||
        memcmp(&t->device, &tensors[0]->device, sizeof(t->device)) != 0)
      return 0;
    if (__builtin_add_overflow((uint64_t)(uintptr_t)t->data, t->byte_offset, &view[0]) ||
        (view[0] & (uint64_t)(a->align - 1)) || !accept_extents(call, a, t->shape, symbols, view))
      return 0;
    strided |= a->strides != NULL;
    if (!a->strides && !accept_rows(a, t, view, &ranges[n]))
      return 0;
    if (a->strides && !t->strides)
      return 0;
    written |= (uint64_t)((a->access & TILE_ACCESS_OUT) != 0) << n++;
    view += 1 + 2 * a->rank;
  }
  view = views;
  for (int32_t arg = 0, n = 0; strided && arg < kernel->num_args; ++arg) {
    const tile_gen_arg *a = &kernel->args[arg];
    if (a->kind != TILE_ARG_TENSOR)
      continue;
    if (a->strides && !accept_strides(a, tensors[n], symbols, view, &ranges[n]))
      return 0;
    ++n;
    view += 1 + 2 * a->rank;
  }
  for (int32_t n = 0; kernel->index_bits == 32 && n < kernel->num_tensors; ++n)
    longest |= ranges[n].high - ranges[n].low;
  if (longest > INT32_MAX || !tilert_are_apart(kernel->num_tensors, ranges, written))
    return 0;
  if (kernel->num_tensors) {
    call->backend = tilert_backend_of(tensors[0]->device.type);
    call->device = tensors[0]->device.id;
  }
  if (kernel->num_tensors && call->backend == BACKEND_NONE)
    return 0;
  tilert_keep_known(call, tensors, symbols, views, ranges, written);
  return 1;
}
