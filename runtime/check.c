/*===- check.c - tile_rt_begin: every check that needs no device ------------===*
 *
 * What accept.c does not let pass at once is looked at here, in the promised
 * order: the first failure is the one that is reported. Two passes, because the
 * strides of one tensor may name an extent of a later one: extents of all
 * tensors, then strides and the rest.
 *
 *===------------------------------------------------------------------------===*/
#include "tile_rt_internal.h"

#include <stdio.h>
#include <string.h>

typedef char call_state_fits[sizeof(call_state) <= sizeof(tile_call) ? 1 : -1];

/* What the second pass learns about each tensor, for the aliasing check. */
typedef struct tensor_range {
  uint64_t low, high; /* addresses of the first and one past the last byte */
  int32_t arg;
  uint8_t written, empty, contiguous;
} tensor_range;

/* Of an empty tensor: as if its empty extents were 1. */
static COLD int empty_row_major(const uint64_t *sizes, int32_t rank, int64_t *strides) {
  int64_t stride = 1;
  for (int32_t i = rank; i-- > 0;) {
    strides[i] = stride;
    int64_t size = (int64_t)sizes[i];
    if (__builtin_mul_overflow(stride, size > 0 ? size : 1, &stride))
      return 0;
  }
  return 1;
}

/* Row-major strides and the number of elements; 0 when it exceeds 63 bits. */
static int row_major(const uint64_t *sizes, int32_t rank, int64_t *strides, int64_t *elements) {
  int64_t product = 1;
  int overflow = 0;
  for (int32_t i = rank; i-- > 0;) {
    strides[i] = product;
    overflow |= __builtin_mul_overflow(product, (int64_t)sizes[i], &product);
  }
  *elements = product;
  if (LIKELY(product > 0 && !overflow))
    return 1;
  /* Empty, too large, or (without checks) negative. */
  for (int32_t i = 0; i < rank; ++i)
    if ((int64_t)sizes[i] <= 0)
      *elements = 0;
  return *elements == 0 && empty_row_major(sizes, rank, strides);
}

/*===- Failures ---------------------------------------------------------------*/

static error_place place_of(const call_state *call, int32_t arg, int32_t dim, int64_t expected,
                            int64_t actual) {
  error_place place = {call->kernel->name, arg, dim, expected, actual, TILE_NATIVE_NONE, 0};
  return place;
}

static COLD tile_status fail_null(const call_state *call, int32_t arg, const char *what) {
  error_place place = place_of(call, arg, -1, 0, 0);
  return tilert_fail(TILE_ERR_NULL_ARG, &place, "argument %s (%d): %s is NULL", call->kernel->args[arg].name,
                     arg, what);
}

static COLD tile_status fail_rank(const call_state *call, int32_t arg, int32_t actual) {
  const tile_gen_arg *a = &call->kernel->args[arg];
  error_place place = place_of(call, arg, -1, a->rank, actual);
  return tilert_fail(TILE_ERR_RANK, &place, "argument %s (%d): must have %d dimensions, got %d", a->name, arg,
                     a->rank, actual);
}

static const char *dtype_name(int32_t code, int32_t bits, char *text, size_t size) {
  static const struct {
    int32_t code;
    const char *name;
  } families[] = {{TILE_DTYPE_INT, "int"},
                  {TILE_DTYPE_UINT, "uint"},
                  {TILE_DTYPE_FLOAT, "float"},
                  {TILE_DTYPE_BFLOAT, "bfloat"},
                  {TILE_DTYPE_BOOL, "bool"},
                  {TILE_DTYPE_E4M3, "float8_e4m3fn/"},
                  {TILE_DTYPE_E4M3FNUZ, "float8_e4m3fnuz/"},
                  {TILE_DTYPE_E5M2, "float8_e5m2/"},
                  {TILE_DTYPE_E5M2FNUZ, "float8_e5m2fnuz/"},
                  {TILE_DTYPE_E8M0, "float8_e8m0fnu/"},
                  {TILE_DTYPE_E2M3, "float6_e2m3fn/"},
                  {TILE_DTYPE_E3M2, "float6_e3m2fn/"},
                  {TILE_DTYPE_E2M1, "float4_e2m1fn/"}};
  for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); ++i)
    if (families[i].code == code) {
      snprintf(text, size, "%s%d", families[i].name, bits);
      return text;
    }
  snprintf(text, size, "DLPack type (%d, %d)", code, bits);
  return text;
}

static COLD tile_status fail_dtype(const call_state *call, int32_t arg, tile_dtype actual) {
  const tile_gen_arg *a = &call->kernel->args[arg];
  char want[48], got[48];
  error_place place =
      place_of(call, arg, -1, a->dtype_code << 8 | a->dtype_bits, actual.code << 8 | actual.bits);
  if (actual.lanes != 1)
    return tilert_fail(TILE_ERR_DTYPE, &place, "argument %s (%d): elements of %d lanes are not supported",
                       a->name, arg, actual.lanes);
  return tilert_fail(TILE_ERR_DTYPE, &place, "argument %s (%d): must be %s, got %s", a->name, arg,
                     dtype_name(a->dtype_code, a->dtype_bits, want, sizeof(want)),
                     dtype_name(actual.code, actual.bits, got, sizeof(got)));
}

static COLD tile_status fail_extent(const call_state *call, int32_t arg, int32_t dim, int64_t expected,
                                    int64_t actual) {
  const tile_gen_arg *a = &call->kernel->args[arg];
  error_place place = place_of(call, arg, dim, expected, actual);
  place.expected = actual < 0 ? 0 : expected;
  if (actual < 0)
    return tilert_fail(TILE_ERR_SHAPE, &place,
                       "argument %s (%d), dim %d: extent must not be negative, got %lld", a->name, arg, dim,
                       (long long)actual);
  if (a->dims[dim].kind == TILE_DIM_CONST)
    return tilert_fail(TILE_ERR_SHAPE, &place, "argument %s (%d), dim %d: extent must be %lld, got %lld",
                       a->name, arg, dim, (long long)expected, (long long)actual);
  return tilert_fail(TILE_ERR_SHAPE, &place, "argument %s (%d), dim %d: extent must be %s = %lld, got %lld",
                     a->name, arg, dim, a->dims[dim].text, (long long)expected, (long long)actual);
}

static COLD tile_status fail_stride(const call_state *call, int32_t arg, int32_t dim, int64_t expected,
                                    int64_t actual) {
  const tile_gen_arg *a = &call->kernel->args[arg];
  error_place place = place_of(call, arg, dim, expected, actual);
  if (a->strides && a->strides[dim].kind == TILE_DIM_EQUAL)
    return tilert_fail(TILE_ERR_STRIDE, &place,
                       "argument %s (%d), dim %d: stride must be %s = %lld, got %lld", a->name, arg, dim,
                       a->strides[dim].text, (long long)expected, (long long)actual);
  return tilert_fail(TILE_ERR_STRIDE, &place, "argument %s (%d), dim %d: stride must be %lld, got %lld",
                     a->name, arg, dim, (long long)expected, (long long)actual);
}

static COLD tile_status fail_zero_stride(const call_state *call, int32_t arg, int32_t dim) {
  error_place place = place_of(call, arg, dim, 1, 0);
  return tilert_fail(TILE_ERR_STRIDE, &place,
                     "argument %s (%d), dim %d: a written tensor must not have stride 0",
                     call->kernel->args[arg].name, arg, dim);
}

static COLD tile_status fail_overlap(const call_state *call, int32_t arg, int32_t first, int32_t second,
                                     const uint64_t *strides) {
  error_place place = place_of(call, arg, first, 0, (int64_t)strides[first]);
  return tilert_fail(
      TILE_ERR_STRIDE, &place,
      "argument %s (%d), dim %d: a written tensor must not overlap itself: strides %lld and %lld "
      "(dim %d) meet",
      call->kernel->args[arg].name, arg, first, (long long)strides[first], (long long)strides[second],
      second);
}

static COLD tile_status fail_width(const call_state *call, int32_t arg) {
  int32_t bits = call->kernel->index_bits == 32 ? 32 : 64;
  error_place place = place_of(call, arg, -1, bits, 0);
  return tilert_fail(TILE_ERR_INDEX_WIDTH, &place,
                     "argument %s (%d): byte offsets do not fit the kernel's %d-bit index",
                     call->kernel->args[arg].name, arg, bits);
}

static COLD tile_status fail_align(const call_state *call, int32_t arg, uint64_t address) {
  const tile_gen_arg *a = &call->kernel->args[arg];
  int64_t rest = (int64_t)(address & (uint64_t)(a->align - 1));
  error_place place = place_of(call, arg, -1, a->align, rest);
  return tilert_fail(TILE_ERR_ALIGN, &place,
                     "argument %s (%d): address must be a multiple of %lld, is %lld over", a->name, arg,
                     (long long)a->align, (long long)rest);
}

static COLD tile_status fail_device(const call_state *call, int32_t arg, tile_device expected,
                                    tile_device actual) {
  error_place place = place_of(call, arg, -1, expected.id, actual.id);
  return tilert_fail(TILE_ERR_DEVICE_MISMATCH, &place,
                     "argument %s (%d): must be on device %d:%d like the others, is on %d:%d",
                     call->kernel->args[arg].name, arg, expected.type, expected.id, actual.type, actual.id);
}

static COLD tile_status fail_alias(const call_state *call, const tensor_range *a, const tensor_range *b) {
  const tensor_range *first = a->arg < b->arg ? a : b, *second = first == a ? b : a;
  error_place place = place_of(call, second->arg, -1, 0, (int64_t)(second->low - first->low));
  const tile_gen_arg *args = call->kernel->args;
  return tilert_fail(TILE_ERR_ALIAS, &place, "argument %s (%d) overlaps %s (%d), and %s is written",
                     args[second->arg].name, second->arg, args[first->arg].name, first->arg,
                     args[second->written ? second->arg : first->arg].name);
}

/*===- First pass: NULL, rank, dtype, extents ---------------------------------*/

static int same_dtype(const tile_gen_arg *a, tile_dtype t) {
  if (LIKELY(t.code == a->dtype_code && t.bits == a->dtype_bits && t.lanes == 1))
    return 1;
  return a->dtype_code == TILE_DTYPE_BOOL && t.code == TILE_DTYPE_UINT && t.bits == 8 && t.lanes == 1;
}

static tile_status read_extents(const call_state *call, const tile_tensor *const *tensors, int64_t *symbols,
                                uint64_t *view) {
  const tile_gen_kernel *kernel = call->kernel;
  int check = !(call->flags & TILE_LAUNCH_NO_CHECKS);
  for (int32_t arg = 0, n = 0; arg < kernel->num_args; ++arg) {
    const tile_gen_arg *a = &kernel->args[arg];
    if (a->kind != TILE_ARG_TENSOR)
      continue;
    const tile_tensor *t = tensors[n++];
    if (UNLIKELY(!t))
      return fail_null(call, arg, "the tensor");
    if (UNLIKELY(t->ndim != a->rank))
      return fail_rank(call, arg, t->ndim);
    if (UNLIKELY(!t->shape && a->rank > 0))
      return fail_null(call, arg, "its shape");
    if (UNLIKELY(check && !same_dtype(a, t->dtype)))
      return fail_dtype(call, arg, t->dtype);
    view[0] = (uint64_t)(uintptr_t)t->data + (t->data ? t->byte_offset : 0);
    for (int32_t i = 0; i < a->rank; ++i) {
      const tile_gen_dim *d = &a->dims[i];
      int64_t size = t->shape[i];
      view[1 + i] = (uint64_t)size;
      int64_t expected = size;
      if (d->kind == TILE_DIM_BIND)
        symbols[d->symbol] = size;
      else if (d->kind != TILE_DIM_ANY)
        expected = d->kind == TILE_DIM_CONST ? d->value : symbols[d->symbol];
      if (UNLIKELY((size != expected || size < 0) && check))
        return fail_extent(call, arg, i, expected, size);
    }
    view += 1 + 2 * a->rank;
  }
  return TILE_OK;
}

/*===- Second pass: strides, address, index width -----------------------------*/

/* Strides of a Tensor: row-major, whatever stands at extents of 1. */
static tile_status read_plain_strides(const call_state *call, int32_t arg, const tile_tensor *t,
                                      const int64_t *rows, int64_t elements, uint64_t *view) {
  int32_t rank = call->kernel->args[arg].rank;
  int check = t->strides && elements && !(call->flags & TILE_LAUNCH_NO_CHECKS);
  for (int32_t i = 0; i < rank; ++i)
    view[1 + rank + i] = (uint64_t)rows[i];
  for (int32_t i = 0; check && i < rank; ++i)
    if (UNLIKELY(t->strides[i] != rows[i] && view[1 + i] != 1))
      return fail_stride(call, arg, i, rows[i], t->strides[i]);
  return TILE_OK;
}

/* Strides of a StridedTensor; where they do not matter the signature's stand in
   the view. */
static tile_status read_declared_strides(const call_state *call, int32_t arg, const tile_tensor *t,
                                         const int64_t *rows, int64_t elements, int64_t *symbols,
                                         uint64_t *view) {
  const tile_gen_arg *a = &call->kernel->args[arg];
  int check = !(call->flags & TILE_LAUNCH_NO_CHECKS);
  for (int32_t i = 0; i < a->rank; ++i) {
    const tile_gen_dim *d = &a->strides[i];
    int64_t stride = t->strides ? t->strides[i] : rows[i];
    int matters = elements && view[1 + i] != 1;
    if (d->kind == TILE_DIM_BIND)
      symbols[d->symbol] = stride;
    if (d->kind == TILE_DIM_CONST || d->kind == TILE_DIM_EQUAL) {
      int64_t expected = d->kind == TILE_DIM_CONST ? d->value : symbols[d->symbol];
      if (UNLIKELY(check && matters && stride != expected))
        return fail_stride(call, arg, i, expected, stride);
      if (!matters)
        stride = expected;
    }
    if (UNLIKELY(check && matters && stride == 0 && (a->access & TILE_ACCESS_OUT)))
      return fail_zero_stride(call, arg, i);
    view[1 + a->rank + i] = (uint64_t)stride;
  }
  return TILE_OK;
}

/* The bytes a tensor reaches, relative to its address; 0: beyond 63 bits. */
static int reach(const uint64_t *view, const tile_gen_arg *a, int64_t *low, int64_t *high) {
  int64_t lowest = 0, highest = 0;
  for (int32_t i = 0; i < a->rank; ++i) {
    int64_t span;
    if (__builtin_mul_overflow((int64_t)view[1 + i] - 1, (int64_t)view[1 + a->rank + i], &span))
      return 0;
    if (__builtin_add_overflow(span < 0 ? lowest : highest, span, span < 0 ? &lowest : &highest))
      return 0;
  }
  if (__builtin_add_overflow(highest, 1, &highest))
    return 0;
  int64_t unit = a->dtype_bits % 8 == 0 ? a->dtype_bits / 8 : a->dtype_bits;
  if (__builtin_mul_overflow(lowest, unit, low) || __builtin_mul_overflow(highest, unit, high))
    return 0;
  if (a->dtype_bits % 8 != 0) { /* packed elements: from bits to bytes, outward */
    *low = -((-*low + 7) / 8);
    *high = *high / 8 + (*high % 8 != 0);
  }
  return 1;
}

static int dense_reach(int64_t elements, int64_t bits, int64_t *high) {
  if (bits % 8 == 0)
    return !__builtin_mul_overflow(elements, bits / 8, high);
  *high = elements / 8 * bits + (elements % 8 * bits + 7) / 8;
  return 1;
}

static int is_row_major(const uint64_t *view, const int64_t *rows, int32_t rank) {
  for (int32_t i = 0; i < rank; ++i)
    if (view[1 + i] != 1 && (int64_t)view[1 + rank + i] != rows[i])
      return 0;
  return 1;
}

/* Past one end of the address space and in again at the other. */
static int wraps_around(const tile_tensor *t, uint64_t address, int64_t low, int64_t high) {
  uint64_t end;
  return address < (uint64_t)(uintptr_t)t->data || address < (uint64_t)-low ||
         __builtin_add_overflow(address, (uint64_t)high, &end);
}

static uint64_t divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Two steps along one dimension that end where steps along another do. What takes three dimensions to meet
   stays unseen. No stride of an extent above 1 is 0 here. */
static int meet(uint64_t size, int64_t stride, uint64_t other_size, int64_t other_stride) {
  if (size == 1 || other_size == 1)
    return 0;
  uint64_t a = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
  uint64_t b = other_stride < 0 ? -(uint64_t)other_stride : (uint64_t)other_stride, common = divisor(a, b);
  return b / common < size && a / common < other_size;
}

static tile_status check_overlap(const call_state *call, int32_t arg, const uint64_t *view) {
  int32_t rank = call->kernel->args[arg].rank;
  const uint64_t *sizes = view + 1, *strides = sizes + rank;
  for (int32_t i = 0; i < rank; ++i)
    for (int32_t j = i + 1; j < rank; ++j)
      if (UNLIKELY(meet(sizes[i], (int64_t)strides[i], sizes[j], (int64_t)strides[j])))
        return fail_overlap(call, arg, i, j, strides);
  return TILE_OK;
}

static tile_status check_memory(const call_state *call, int32_t arg, const tile_tensor *t,
                                const uint64_t *view, const int64_t *rows, int64_t elements,
                                tensor_range *range) {
  const tile_gen_arg *a = &call->kernel->args[arg];
  range->arg = arg;
  range->written = (a->access & TILE_ACCESS_OUT) != 0;
  range->empty = elements == 0;
  if (elements == 0)
    return TILE_OK;
  if (call->mode != TILE_MODE_WORKSPACE) {
    if (UNLIKELY(!view[0]))
      return fail_null(call, arg, "its data");
    if (UNLIKELY(view[0] & (uint64_t)(a->align - 1)))
      return fail_align(call, arg, view[0]);
  }
  int64_t low = 0, high = 0;
  int fits = a->strides ? reach(view, a, &low, &high) : dense_reach(elements, a->dtype_bits, &high);
  if (UNLIKELY(!fits))
    return fail_width(call, arg);
  if (UNLIKELY(call->kernel->index_bits == 32 && (high > INT64_C(0x80000000) || low < -INT64_C(0x80000000))))
    return fail_width(call, arg);
  if (UNLIKELY(call->mode != TILE_MODE_WORKSPACE && wraps_around(t, view[0], low, high)))
    return fail_width(call, arg);
  if (a->strides && (a->access & TILE_ACCESS_OUT)) {
    tile_status s = check_overlap(call, arg, view);
    if (UNLIKELY(s))
      return s;
  }
  range->contiguous = !a->strides || (uint8_t)is_row_major(view, rows, a->rank);
  range->low = view[0] + (uint64_t)low;
  range->high = view[0] + (uint64_t)high;
  return TILE_OK;
}

/*===- Devices ----------------------------------------------------------------*/

static COLD tile_status fail_unknown_device(const call_state *call, int32_t arg, tile_device device) {
  error_place place = place_of(call, arg, -1, 0, device.type);
  return tilert_fail(TILE_ERR_NO_DEVICE, &place,
                     "device %d:%d is not of a supported type (CPU 1, CUDA 2, ROCm 10)", device.type,
                     device.id);
}

static COLD tile_status fail_launch_device(const call_state *call, tile_device device, const char *text) {
  error_place place = place_of(call, -1, -1, call->device, device.id);
  return tilert_fail(TILE_ERR_DEVICE_MISMATCH, &place, "launch: %s", text);
}

/* All tensors live on one device. */
static tile_status find_device(call_state *call, const tile_tensor *const *tensors) {
  const tile_gen_kernel *kernel = call->kernel;
  tile_device device = {TILE_DEVICE_NONE, -1};
  int32_t n = 0;
  for (int32_t arg = 0; n < kernel->num_tensors && arg < kernel->num_args; ++arg) {
    if (kernel->args[arg].kind != TILE_ARG_TENSOR)
      continue;
    tile_device d = tensors[n]->device;
    if (n++ == 0) {
      device = d;
      call->backend = tilert_backend_of(d.type);
      if (UNLIKELY(call->backend == BACKEND_NONE))
        return fail_unknown_device(call, arg, d);
    } else if (UNLIKELY(d.id != device.id ||
                        (d.type != device.type && tilert_backend_of(d.type) != call->backend))) {
      return fail_device(call, arg, device, d);
    }
  }
  call->device = device.id;
  return TILE_OK;
}

/* The launch descriptor agrees with the tensors, or names the device where there are none. */
static tile_status check_launch_device(call_state *call, const tile_launch *launch) {
  if (!launch)
    return TILE_OK;
  if (launch->device.type != TILE_DEVICE_NONE) {
    int32_t backend = tilert_backend_of(launch->device.type);
    if (UNLIKELY(backend == BACKEND_NONE))
      return fail_unknown_device(call, -1, launch->device);
    if (call->kernel->num_tensors == 0) {
      call->backend = backend;
      call->device = launch->device.id;
    } else if (UNLIKELY(backend != call->backend ||
                        (launch->device.id >= 0 && launch->device.id != call->device))) {
      return fail_launch_device(call, launch->device, "its device is not the tensors' device");
    }
  }
  if (UNLIKELY(call->backend == BACKEND_NONE)) {
    error_place place = place_of(call, -1, -1, 0, 0);
    return tilert_fail(TILE_ERR_NO_DEVICE, &place, "a kernel without tensors needs launch.device");
  }
  if (UNLIKELY(call->backend == BACKEND_CPU && launch->stream))
    return fail_launch_device(call, launch->device, "a stream was given, but the tensors are on the CPU");
  return TILE_OK;
}

/*===- Aliasing ---------------------------------------------------------------*/

/* In-place kernels may get one tensor twice: same address, extents, strides. */
static int same_view(const call_state *call, int32_t first, int32_t second) {
  const tile_gen_arg *args = call->kernel->args;
  if (args[first].rank != args[second].rank || args[first].dtype_bits != args[second].dtype_bits)
    return 0;
  const uint64_t *views[2] = {NULL, NULL}, *view = call->views;
  for (int32_t arg = 0; arg <= first || arg <= second; ++arg) {
    if (args[arg].kind != TILE_ARG_TENSOR)
      continue;
    if (arg == first)
      views[0] = view;
    if (arg == second)
      views[1] = view;
    view += 1 + 2 * args[arg].rank;
  }
  return memcmp(views[0], views[1], sizeof(uint64_t) * (size_t)(1 + 2 * args[first].rank)) == 0;
}

static tile_status check_aliases(const call_state *call, const tensor_range *ranges, const uint64_t *bases) {
  int32_t n = call->kernel->num_tensors;
  for (int32_t i = 0; i < n; ++i) {
    if (!ranges[i].written || ranges[i].empty)
      continue;
    for (int32_t j = 0; j < n; ++j) {
      if (j == i || ranges[j].empty || (ranges[j].written && j < i))
        continue;
      int meet = bases[i] == bases[j] || (ranges[i].contiguous && ranges[j].contiguous &&
                                          ranges[i].low < ranges[j].high && ranges[j].low < ranges[i].high);
      if (LIKELY(!meet))
        continue;
      if ((call->kernel->flags & TILE_KERNEL_INPLACE) && same_view(call, ranges[i].arg, ranges[j].arg))
        continue;
      return fail_alias(call, &ranges[i], &ranges[j]);
    }
  }
  return TILE_OK;
}

static tile_status read_strides(const call_state *call, const tile_tensor *const *tensors, int64_t *symbols,
                                uint64_t *view, tensor_range *ranges, uint64_t *bases) {
  const tile_gen_kernel *kernel = call->kernel;
  int check = !(call->flags & TILE_LAUNCH_NO_CHECKS);
  for (int32_t arg = 0, n = 0; arg < kernel->num_args; ++arg) {
    const tile_gen_arg *a = &kernel->args[arg];
    if (a->kind != TILE_ARG_TENSOR)
      continue;
    int64_t rows[MAX_RANK], elements;
    if (UNLIKELY(!row_major(view + 1, a->rank, rows, &elements)))
      return fail_width(call, arg);
    tile_status s = a->strides ? read_declared_strides(call, arg, tensors[n], rows, elements, symbols, view)
                               : read_plain_strides(call, arg, tensors[n], rows, elements, view);
    if (UNLIKELY(s))
      return s;
    bases[n] = view[0];
    if (check && UNLIKELY((s = check_memory(call, arg, tensors[n], view, rows, elements, &ranges[n]))))
      return s;
    ++n;
    view += 1 + 2 * a->rank;
  }
  return TILE_OK;
}

/*===- tile_rt_begin ----------------------------------------------------------*/

static COLD tile_status fail_descriptor(const call_state *call, tile_status status, const char *text,
                                        int64_t expected, int64_t actual) {
  error_place place = place_of(call, -1, -1, expected, actual);
  return tilert_fail(status, &place, "launch: %s", text);
}

static tile_status read_launch(call_state *call, const tile_launch *launch) {
  const uint32_t known = TILE_LAUNCH_NO_CHECKS | TILE_LAUNCH_NO_LAZY_LOAD | TILE_LAUNCH_PDL;
  if (UNLIKELY(!launch))
    return fail_descriptor(call, TILE_ERR_NULL_ARG, "the descriptor is NULL", 0, 0);
  if (UNLIKELY(launch->struct_size < sizeof(tile_launch)))
    return fail_descriptor(call, TILE_ERR_LAUNCH, "struct_size is too small; use TILE_LAUNCH_INIT",
                           (int64_t)sizeof(tile_launch), launch->struct_size);
  if (UNLIKELY(launch->flags & ~known))
    return fail_descriptor(call, TILE_ERR_LAUNCH, "flags has unknown bits", known, launch->flags);
  if (UNLIKELY(launch->variant < -1 || launch->reserved != 0))
    return fail_descriptor(call, TILE_ERR_LAUNCH,
                           "variant is below -1 or reserved is not 0; use TILE_LAUNCH_INIT", -1,
                           launch->variant);
  call->flags = launch->flags;
  call->stream = launch->stream;
  call->variant = launch->variant;
  call->workspace = launch->workspace;
  call->workspace_bytes = launch->workspace_bytes;
  return TILE_OK;
}

static COLD tile_status fail_abi(const tile_gen_library *library) {
  error_place place = NO_PLACE(library->name);
  place.expected = TILE_RT_ABI;
  place.actual = library->abi;
  return tilert_fail(TILE_ERR_ABI, &place,
                     "the object was built for runtime ABI %d, this runtime has %d: rebuild it", library->abi,
                     TILE_RT_ABI);
}

static COLD tile_status fail_table(const call_state *call) {
  error_place place = place_of(call, -1, -1, 0, 0);
  return tilert_fail(TILE_ERR_INTERNAL, &place, "the kernel's table is malformed");
}

tile_status tilert_check_in_order(call_state *call, const tile_launch *launch,
                                  const tile_tensor *const *tensors, int64_t *symbols, uint64_t *views) {
  tensor_range ranges[MAX_TENSORS];
  uint64_t bases[MAX_TENSORS];
  tile_status s = read_extents(call, tensors, symbols, views);
  if (s || (s = read_strides(call, tensors, symbols, views, ranges, bases)))
    return s;
  if (call->mode == TILE_MODE_WORKSPACE)
    return TILE_OK;
  if ((s = find_device(call, tensors)) || (s = check_launch_device(call, launch)))
    return s;
  return call->flags & TILE_LAUNCH_NO_CHECKS ? TILE_OK : check_aliases(call, ranges, bases);
}

tile_status tile_rt_begin(tile_call *opaque, const tile_gen_library *library, int32_t kernel, int32_t mode,
                          const tile_launch *launch, uint64_t *bytes, const tile_tensor *const *tensors,
                          int64_t *symbols, uint64_t *views) {
  call_state *call = call_of(opaque);
  if (UNLIKELY(library->abi != TILE_RT_ABI))
    return fail_abi(library);
  call_state fresh = {.library = library,
                      .kernel = &library->kernels[kernel],
                      .views = views,
                      .bytes = bytes,
                      .mode = mode,
                      .variant = -1,
                      .backend = BACKEND_NONE,
                      .device = -1};
  *call = fresh;
  if (UNLIKELY(call->kernel->num_tensors > MAX_TENSORS))
    return fail_table(call);
  tile_status s = TILE_OK;
  if (mode == TILE_MODE_RUN && UNLIKELY((s = read_launch(call, launch))))
    return s;
  if (mode == TILE_MODE_WORKSPACE && UNLIKELY(!bytes))
    return fail_descriptor(call, TILE_ERR_NULL_ARG, "bytes is NULL", 0, 0);
  if (LIKELY(mode != TILE_MODE_WORKSPACE && (tilert_accept_known(call, tensors, symbols, views) ||
                                             tilert_accept(call, tensors, symbols, views))))
    return check_launch_device(call, launch);
  return tilert_check_in_order(call, launch, tensors, symbols, views);
}
