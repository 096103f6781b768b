/*===- tile_rt_internal.h - what the files of the runtime share -------------===*
 *
 * A call goes: check.c (tile_rt_begin) fills call_state and checks the arguments;
 * call.c takes workspace and launches; the first launch enters a back end
 * (cuda.c, hip.c, cpu.c), which makes sure through library.c that the images of
 * the library are loaded for the device; tile_rt_end leaves it again.
 *
 *===------------------------------------------------------------------------===*/
#ifndef TILE_RT_INTERNAL_H
#define TILE_RT_INTERNAL_H

#include "tile_rt_gen.h"

#include <pthread.h>
#include <stdarg.h>

#define MAX_DEVICES 64
#define MAX_PARAMS 256
#define MAX_MAPS 32
#define MAX_TENSORS 64
#define MAX_RANK 8
#define MAX_BLOCKS 2147483647 /* 2^31 - 1 */
#define WORKSPACE_ALIGN 256

#define COLD __attribute__((cold, noinline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum { BACKEND_NONE = -1, BACKEND_CPU = 0, BACKEND_CUDA = 1, BACKEND_HIP = 2, NUM_BACKENDS = 3 };

/* What a library needs to run on one device. Immutable once ready is set. */
typedef struct loaded_state {
  int32_t ready;       /* atomic */
  int32_t attempts;    /* under library_state.mutex: loads tried, ... */
  tile_status failure; /* ... and how the last one ended */
  int32_t multiprocessors;
  int64_t shared_limit; /* bytes of shared memory one block may have */
  int32_t clear_small_map_bit;
  int32_t only_device; /* CUDA: the process sees no other */
  int32_t num_images;
  int32_t num_functions;
  uint8_t *selected; /* num_images: is one of the images for this device */
  void **functions;  /* num_functions: CUkernel or hipFunction_t */
  int64_t *shared;   /* num_functions: the most dynamic shared memory it is launched with */
  void **modules;    /* HIP: num_images of hipModule_t */
  char arch[64];     /* of the selected images, for messages */
} loaded_state;

/* One per generated library, made at its first use, never freed. */
typedef struct library_state {
  const tile_gen_library *library; /* dangles once the object is unloaded: only for callers that hold one */
  struct library_state *next;
  pthread_mutex_t mutex;                           /* guards everything below */
  loaded_state *loaded[NUM_BACKENDS][MAX_DEVICES]; /* pointers atomic */
  void **cuda_images; /* num_images of CUlibrary: one per process, whatever the number of devices */
  int32_t num_images;
} library_state;

/* Lives in tile_call. */
typedef struct call_state {
  const tile_gen_library *library;
  const tile_gen_kernel *kernel;
  const uint64_t *views;
  uint64_t shapes; /* a hash of all extents, or less of them */
  uint64_t stamp;  /* the same number: the same arguments in every bit; 0: unknown, or used by a launch */
  uint64_t *bytes;
  void *stream;
  uint8_t *workspace;
  uint64_t workspace_bytes;
  uint64_t workspace_used;
  loaded_state *loaded; /* set by the first launch */
  int32_t mode;
  uint32_t flags;
  int32_t variant;
  int32_t backend;
  int32_t device;      /* -1: whatever the stream says */
  int32_t entered;     /* the runtime's lock is held and the back end was entered */
  int32_t short_space; /* the workspace is too small: launch nothing more */
  int32_t current;     /* CUDA: the context of the call is current */
  int32_t restore;     /* CUDA: pop the context; HIP: 1 + the device to go back to */
} call_state;

static inline int32_t tilert_backend_of(int32_t device_type) {
  switch (device_type) {
  case TILE_DEVICE_CPU:
    return BACKEND_CPU;
  case TILE_DEVICE_CUDA:
  case TILE_DEVICE_CUDA_MANAGED:
    return BACKEND_CUDA;
  case TILE_DEVICE_ROCM:
    return BACKEND_HIP;
  default:
    return BACKEND_NONE;
  }
}

static inline call_state *call_of(tile_call *call) { return (call_state *)(void *)call; }

/*===- status.c ---------------------------------------------------------------*/

/* What goes into tile_last_error beside the text. */
typedef struct error_place {
  const char *kernel;
  int32_t arg;
  int32_t dim;
  int64_t expected;
  int64_t actual;
  int32_t native_api;
  int32_t native_code;
} error_place;

#define NO_PLACE(kernel_) {(kernel_), -1, -1, 0, 0, TILE_NATIVE_NONE, 0}

/* Stores the error of this thread and logs it; returns `status`. The message
   becomes "kernel: text [TILE_ERR_X]". */
COLD tile_status tilert_fail(tile_status status, const error_place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
COLD tile_status tilert_vfail(tile_status status, const error_place *place, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

int tilert_log_enabled(void);
void tilert_log_forked(void);
void tilert_log(int32_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A growing text in a fixed buffer; what does not fit becomes "...". */
typedef struct text_buffer {
  char *text;
  size_t size;
  size_t used;
} text_buffer;
void tilert_append(text_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*===- accept.c ---------------------------------------------------------------*/

/* Bytes from the first to one past the last. */
typedef struct byte_range {
  uint64_t low, high;
} byte_range;

/* No written tensor meets another. */
int tilert_are_apart(int32_t count, const byte_range *ranges, uint64_t written);

/* 1: the tensors pass all checks; backend, device, views and symbols are filled. 0: find out. */
int tilert_accept(call_state *call, const tile_tensor *const *tensors, int64_t *symbols, uint64_t *views);

/*===- known.c ----------------------------------------------------------------*/

enum { KNOWN_CALLS = 16, KNOWN_TENSORS = 8, KNOWN_WORDS = 56, KNOWN_SYMBOLS = 16 };

typedef struct known_tensor {
  uint64_t kind;      /* ndim and dtype */
  uint64_t bytes;     /* from the address to the end */
  uint64_t alignment; /* bits of the address that must be 0 */
  uint64_t address;   /* in the last call */
  int32_t rank;
  int32_t strided; /* strides must be given */
} known_tensor;

/* Tensors that passed all checks; kernel NULL: none. */
typedef struct known_call {
  const tile_gen_kernel *kernel;
  const void *library; /* its state: another object at the same place has another */
  uint64_t device_bits;
  uint64_t written; /* bit n: tensor n */
  uint64_t shapes;
  uint64_t stamp; /* of these tensors at the addresses of the last call */
  int32_t backend;
  int32_t num_tensors;
  int32_t num_symbols;
  uint32_t given; /* bit i: symbol i is the caller's, no tensor binds it */
  known_tensor tensors[KNOWN_TENSORS];
  uint64_t views[KNOWN_WORDS];
  int64_t symbols[KNOWN_SYMBOLS];
} known_call;

/* As tilert_accept, for tensors that an earlier call of this thread found in order. 0: these are new. */
int tilert_accept_known(call_state *call, const tile_tensor *const *tensors, int64_t *symbols,
                        uint64_t *views);
void tilert_keep_known(const call_state *call, const tile_tensor *const *tensors, const int64_t *symbols,
                       const uint64_t *views, const byte_range *ranges, uint64_t written);

/*===- check.c ----------------------------------------------------------------*/

/* All checks of the tensors, the first failure first; what tilert_accept fills is filled. */
tile_status tilert_check_in_order(call_state *call, const tile_launch *launch,
                                  const tile_tensor *const *tensors, int64_t *symbols, uint64_t *views);

/*===- call.c -----------------------------------------------------------------*/

/* Ends the call after a failure: leaves the back end, releases the lock. */
void tilert_leave(call_state *call);

/*===- plan.c -----------------------------------------------------------------*/

enum { PLAN_SLOTS = 64, PLAN_WORDS = 160, PLAN_MAPS = 8, PLAN_PARAMS = 32, PLAN_SETS = 16, PLAN_WAYS = 2 };

typedef struct tensor_map {
  uint64_t words[16];
} __attribute__((aligned(64))) tensor_map;

/* The variant that a launch took in this thread, and its tensor maps. */
typedef struct launch_plan {
  tensor_map maps[PLAN_MAPS];
  uint64_t addresses[PLAN_MAPS]; /* of the views the maps were made for */
  const tile_gen_launch *launch;
  const loaded_state *loaded;      /* NULL: a check without a device */
  const tile_gen_variant *variant; /* NULL: not chosen yet */
  uint64_t stamp;                  /* of the last call that came to it; 0 */
  int32_t backend;
  int32_t wanted; /* variant by number; -1 */
  uint32_t epoch;
  uint32_t maps_made; /* bit i: maps[i] */
  int32_t plannable;
  int32_t words;
  const uint64_t *params_of; /* the launch values that params lead into, beside maps; NULL: none are kept */
  void *params[PLAN_PARAMS];
  uint64_t masks[PLAN_SLOTS]; /* the bits of values that count; behind the slots all do */
  uint64_t values[PLAN_WORDS];
} launch_plan;

/* The plan for these values, its variant NULL if they are new; NULL where none can be kept. The caller
 * releases it. */
launch_plan *tilert_take_plan(call_state *call, const tile_gen_launch *launch, const uint64_t *values);
void tilert_release_plan(launch_plan *plan);
void tilert_forget_plans(void); /* of all threads */

/*===- thread.c ---------------------------------------------------------------*/

/* What a thread keeps between its calls. */
typedef struct thread_state {
  launch_plan plans[PLAN_SETS][PLAN_WAYS];
  known_call known[KNOWN_CALLS];
  uint64_t stamps;          /* given so far */
  uint8_t older[PLAN_SETS]; /* the way to be overwritten next */
  uint8_t busy;             /* a plan is in use: what a log function launches gets none */
} thread_state;

extern __thread thread_state *tilert_thread_memory;
thread_state *tilert_new_thread_memory(void);

/* NULL: no memory. */
static inline thread_state *tilert_thread(void) {
  thread_state *t = tilert_thread_memory;
  return LIKELY(t != NULL) ? t : tilert_new_thread_memory();
}

/*===- variant.c --------------------------------------------------------------*/

/* Blocks of a grid: 0 = empty, -1 = more than can be launched. */
int64_t tilert_count_blocks(const tile_gen_launch *launch, const uint64_t *grid);

/* The grid of a point among the values of its launch. */
static inline const uint64_t *tilert_point_grid(const tile_gen_launch *launch, int32_t point,
                                                const uint64_t *values) {
  if (point == 0)
    return values;
  return values + launch->num_slots + launch->num_points + 1 + (int64_t)(point - 1) * launch->grid_rank;
}

/* The variant to run, among those of the selected images; NULL and the error set
   when there is none. `selected` NULL: all images (for checks without a device). */
const tile_gen_variant *tilert_choose_variant(const call_state *call, const tile_gen_launch *launch,
                                              const uint64_t *values, const uint8_t *selected);

/*===- image.c ----------------------------------------------------------------*/

typedef struct device_traits {
  int32_t backend;
  int32_t major, minor; /* CUDA */
  const char *target;   /* HIP: "gfx942:sramecc+:xnack-" */
  int32_t level;        /* CPU: 2, 3 or 4 */
  int64_t shared_limit;
  int64_t register_limit; /* of a block */
} device_traits;

/* How well an image of architecture `arch` suits the device: the larger the
   better, 0 = cannot run. `need_shared` and `need_registers` (per block) are
   those of its most demanding kernel. */
int32_t tilert_rank_image(const device_traits *device, int32_t kind, const char *arch, int64_t need_shared,
                          int64_t need_registers);
void tilert_device_name(const device_traits *device, char *text, size_t size);
tile_status tilert_select_images(const tile_gen_library *library, const char *kernel,
                                 const device_traits *device, loaded_state *loaded);

/*===- library.c --------------------------------------------------------------*/

library_state *tilert_library_state(const tile_gen_library *library); /* NULL: no memory */

/* The state for a device, if it is loaded; else NULL. */
loaded_state *tilert_loaded(const tile_gen_library *library, int32_t backend, int32_t device);

/* The state for a device, loaded if need be. NULL with *status and the error set. */
loaded_state *tilert_load(const tile_gen_library *library, const char *kernel, int32_t backend,
                          int32_t device, int may_load, tile_status *status);

void tilert_read_lock(void);
void tilert_read_unlock(void);
const char *tilert_image_filter(void);

/*===- Back ends --------------------------------------------------------------
 * enter: finds the device, makes it current, sets call->loaded. leave: undoes
 * what enter did. load: fills a loaded_state for a device that is current or
 * needs not be. launch: `plan` may be NULL. unload: frees what load made in the driver. shutdown: releases
 * what the back end itself holds. All report their own errors. */
typedef struct backend_ops {
  tile_status (*enter)(call_state *call);
  void (*leave)(call_state *call);
  tile_status (*launch)(call_state *call, const tile_gen_launch *launch, const tile_gen_variant *variant,
                        const uint64_t *values, int64_t blocks, launch_plan *plan);
  tile_status (*load)(library_state *state, const tile_gen_library *library, const char *kernel,
                      int32_t device, loaded_state *loaded);
  void (*unload)(library_state *state, loaded_state *loaded);
  void (*unload_library)(library_state *state);
  void (*shutdown)(void);
  tile_status (*count)(int32_t *count);
} backend_ops;

extern const backend_ops tilert_cpu, tilert_cuda, tilert_hip;
const backend_ops *tilert_backend(int32_t backend);

/* What TILE_PARAM_SEED parameters get: TILE_SCHEDULE_SEED, read at each launch; 0 without it. */
uint64_t tilert_schedule_seed(void);

/*===- tensor_map.c -----------------------------------------------------------*/

/* Why a view cannot be a tensor map; text NULL: it can. */
typedef struct map_problem {
  const char *text;
  int32_t dim; /* axis of the view; -1 */
  int64_t expected;
  int64_t actual;
} map_problem;

enum { MAP_ALIGNMENTS = 31 }; /* the bits of an address that any map looks at */

/* The arguments of cuTensorMapEncodeTiled. */
typedef struct map_geometry {
  uint64_t address;
  uint64_t dims[5];
  uint64_t strides[5]; /* bytes, of map dimensions 1.. */
  uint32_t box[5];
  uint32_t steps[5];
} map_geometry;

map_problem tilert_map_recipe(const tile_gen_map *map);
/* `kernel` tells which arguments are only read. */
map_problem tilert_map_geometry(const tile_gen_kernel *kernel, const tile_gen_map *map,
                                const uint64_t *values, map_geometry *geometry);
int tilert_map_is_small_and_sparse(const tile_gen_map *map, const map_geometry *geometry);

/*===- launch.c - what the GPUs have in common ----------------------------------*/

/* Checks the shared memory and logs; a persistent kernel gets no more blocks than run at once. */
tile_status tilert_before_launch(const call_state *call, const tile_gen_launch *launch,
                                 const tile_gen_variant *v, int64_t *blocks);
/* The addresses of the parameters: in `values`, in `maps` (NULL: there are none), or `seed`, which is set.
 * Those of the plan (NULL: there is none) or in `params`. */
void **tilert_launch_params(const tile_gen_variant *v, const uint64_t *values, tensor_map *maps,
                            uint64_t *seed, void **params, launch_plan *plan);

/*===- pool.c -----------------------------------------------------------------*/

typedef struct pool_job {
  tile_gen_work_fn work;
  const uint64_t *values;
  int64_t items;
  size_t arena_bytes;
  int32_t failed; /* atomic: some thread had no memory */
} pool_job;

tile_status tilert_pool_run(pool_job *job, const char *kernel);
void tilert_pool_shutdown(void);
void tilert_pool_forked(void);
void *tilert_arena(size_t bytes); /* this thread's; NULL: no memory */

#endif
