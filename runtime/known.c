/*===- known.c - tensors that passed all checks before ----------------------===*
 *
 * Whether tensors are in order depends on their fields, extents and strides, and
 * on nothing else; the addresses count only in three questions: are they aligned,
 * do they wrap around, does a written tensor meet another. So each thread keeps
 * what passed, and a call with the same tensors at whatever addresses answers
 * these three alone. Views and symbols of the earlier call are its own, too.
 *
 *===------------------------------------------------------------------------===*/
#include "tile_rt_internal.h"

#include <string.h>

/* ndim and dtype: neighbours in the tensor. */
static uint64_t kind_of(const tile_tensor *t) {
  uint64_t kind;
  memcpy(&kind, &t->ndim, sizeof(kind));
  return kind;
}

static uint64_t device_of(const tile_tensor *t) {
  uint64_t device;
  memcpy(&device, &t->device, sizeof(device));
  return device;
}

/* NULL: nothing can be kept. Calls that alternate between a few shapes have an entry each. */
static known_call *entry_of(const tile_gen_kernel *kernel, const tile_tensor *const *tensors) {
  thread_state *thread = tilert_thread();
  if (UNLIKELY(!thread))
    return NULL;
  uint64_t mixed = (uint64_t)(uintptr_t)kernel;
  for (int32_t n = 0; n < kernel->num_tensors && n < 2; ++n)
    if (tensors[n] && tensors[n]->shape && tensors[n]->ndim > 0)
      mixed = mixed * 31 + (uint64_t)tensors[n]->shape[0];
  return &thread->known[(uint32_t)(mixed * UINT64_C(0x9e3779b97f4a7c15) >> 32) % KNOWN_CALLS];
}

/* Words `from` that the caller gave are those of an earlier call, which go into the view. */
static inline uint64_t take_words(const int64_t *given, const uint64_t *from, uint64_t *view, int32_t count) {
  uint64_t different = 0;
  for (int32_t i = 0; i < count; ++i) {
    different |= (uint64_t)given[i] ^ from[i];
    view[i] = from[i];
  }
  return different;
}

/* Not 0: another tensor than before. */
static inline uint64_t take_tensor(const known_tensor *known, const tile_tensor *t, const uint64_t *from,
                                   uint64_t *view) {
  const int64_t *strides = t->strides ? t->strides : (const int64_t *)(const void *)(from + 1 + known->rank);
  switch (known->rank) { /* the usual ones without a loop */
  case 1:
    return take_words(t->shape, from + 1, view + 1, 1) | take_words(strides, from + 2, view + 2, 1);
  case 2:
    return take_words(t->shape, from + 1, view + 1, 2) | take_words(strides, from + 3, view + 3, 2);
  default:
    return take_words(t->shape, from + 1, view + 1, known->rank) |
           take_words(strides, from + 1 + known->rank, view + 1 + known->rank, known->rank);
  }
}

/* Symbols that tensors bind are those of the earlier call; the caller's must be. */
static inline int64_t take_symbols(const known_call *known, int64_t *symbols) {
  int64_t different = 0;
  for (int32_t i = 0; i < known->num_symbols; ++i) {
    if (UNLIKELY(known->given >> i & 1))
      different |= symbols[i] ^ known->symbols[i];
    else
      symbols[i] = known->symbols[i];
  }
  return different;
}

/* A new stamp where tensors are all that the caller gives: scalars and pointers are not looked at here. */
static void move_known(known_call *known, const byte_range *ranges) {
  for (int32_t n = 0; n < known->num_tensors; ++n)
    known->tensors[n].address = ranges[n].low;
  known->stamp =
      known->kernel->num_args == known->num_tensors && !known->given ? ++tilert_thread_memory->stamps : 0;
}

int tilert_accept_known(call_state *call, const tile_tensor *const *tensors, int64_t *symbols,
                        uint64_t *views) {
  const tile_gen_kernel *kernel = call->kernel;
  known_call *known = entry_of(kernel, tensors);
  const void *library = __atomic_load_n((void **)(void *)call->library->state, __ATOMIC_ACQUIRE);
  if (UNLIKELY(!known || known->kernel != kernel || !library || known->library != library))
    return 0;
  byte_range ranges[KNOWN_TENSORS];
  const uint64_t *from = known->views;
  uint64_t different = 0, moved = 0;
  int overflow = 0;
  for (int32_t n = 0; n < known->num_tensors; ++n) {
    const tile_tensor *t = tensors[n];
    const known_tensor *k = &known->tensors[n];
    if (UNLIKELY(!t || !t->shape || !t->data || kind_of(t) != k->kind || (k->strided && !t->strides)))
      return 0; /* else there are as many extents as before */
    different |= take_tensor(k, t, from, views) | (device_of(t) ^ known->device_bits);
    overflow |= __builtin_add_overflow((uint64_t)(uintptr_t)t->data, t->byte_offset, &ranges[n].low);
    overflow |= __builtin_add_overflow(ranges[n].low, k->bytes, &ranges[n].high);
    different |= ranges[n].low & k->alignment;
    moved |= ranges[n].low ^ k->address;
    views[0] = ranges[n].low;
    views += 1 + 2 * k->rank;
    from += 1 + 2 * k->rank;
  }
  if (UNLIKELY(different || overflow || !tilert_are_apart(known->num_tensors, ranges, known->written)))
    return 0;
  if (UNLIKELY(take_symbols(known, symbols)))
    return 0;
  if (moved)
    move_known(known, ranges);
  call->stamp = known->stamp;
  call->shapes = known->shapes;
  call->backend = known->backend;
  call->device = tensors[0]->device.id;
  return 1;
}

static uint32_t bound_by(const tile_gen_dim *dims, int32_t rank) {
  uint32_t bound = 0;
  for (int32_t i = 0; dims && i < rank; ++i)
    if (dims[i].kind == TILE_DIM_BIND)
      bound |= UINT32_C(1) << dims[i].symbol;
  return bound;
}

void tilert_keep_known(const call_state *call, const tile_tensor *const *tensors, const int64_t *symbols,
                       const uint64_t *views, const byte_range *ranges, uint64_t written) {
  const tile_gen_kernel *kernel = call->kernel;
  if (kernel->num_tensors == 0 || kernel->num_tensors > KNOWN_TENSORS || kernel->num_symbols > KNOWN_SYMBOLS)
    return;
  known_call *known = entry_of(kernel, tensors);
  const void *library = known ? tilert_library_state(call->library) : NULL;
  if (!library)
    return;
  known->kernel = NULL; /* until all of it is there */
  int32_t words = 0;
  known->given = (UINT32_C(1) << kernel->num_symbols) - 1;
  for (int32_t arg = 0, n = 0; arg < kernel->num_args; ++arg) {
    const tile_gen_arg *a = &kernel->args[arg];
    if (a->kind != TILE_ARG_TENSOR)
      continue;
    known_tensor *k = &known->tensors[n];
    k->kind = kind_of(tensors[n]);
    k->bytes = ranges[n].high - ranges[n].low;
    k->alignment = (uint64_t)(a->align - 1);
    k->rank = a->rank;
    k->strided = a->strides != NULL;
    known->given &= ~(bound_by(a->dims, a->rank) | bound_by(a->strides, a->rank));
    words += 1 + 2 * a->rank;
    ++n;
  }
  if (words > KNOWN_WORDS)
    return;
  memcpy(known->views, views, sizeof(uint64_t) * (size_t)words);
  memcpy(known->symbols, symbols, sizeof(int64_t) * (size_t)kernel->num_symbols);
  known->num_tensors = kernel->num_tensors;
  known->num_symbols = kernel->num_symbols;
  known->written = written;
  known->shapes = call->shapes;
  known->backend = call->backend;
  known->device_bits = device_of(tensors[0]);
  known->library = library;
  known->kernel = kernel;
  move_known(known, ranges);
}
