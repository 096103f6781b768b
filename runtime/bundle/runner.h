/*===- runner.h - the program in a bundle: measures kernels it does not know --===*
 *
 * Linked with the runtime; everything about the kernels comes from the tables in
 * kernels.so (tile_gen_bundle) and from the text file `plan`. docs/Tuning.md says
 * what a user sees.
 *
 *===------------------------------------------------------------------------===*/
#ifndef TILE_BUNDLE_RUNNER_H
#define TILE_BUNDLE_RUNNER_H

#include "tile_rt_gen.h"

#include <stddef.h>

enum { MAX_NAMES = 32, MAX_ARGS = 80, MAX_RANK = 8, EXIT_MEASURED = 5, EXIT_USAGE = 2, EXIT_ENVIRONMENT = 3 };

/*===- plan.c: what to measure --------------------------------------------------*/

typedef struct plan_extent {
  char *text, *formula; /* "ceildiv(K, GROUP)", "ceildiv(K, 128)" */
} plan_extent;

typedef struct plan_shape {
  char *text;                 /* "M=1536 N=1536" */
  const plan_extent *extents; /* of its kernel */
  int32_t num_extents, num_names;
  char names[MAX_NAMES][64];
  double values[MAX_NAMES];
} plan_shape;

typedef struct plan_point {
  char arch[64];
  int32_t number;
  char *values; /* "BM=128 BN=256"; empty without tune parameters */
} plan_point;

typedef struct plan_kernel {
  int32_t index; /* in the library */
  char *name, *hash;
  plan_point *points;
  plan_shape *shapes;
  plan_extent *extents;
  int32_t num_points, num_shapes, num_extents;
} plan_kernel;

typedef struct plan {
  int32_t tune; /* else bench */
  plan_kernel *kernels;
  int32_t num_kernels;
} plan;

/* Prints what is wrong and returns 0. */
int read_plan(const char *path, plan *result);
/* "BM=128 BN=256" of a point; NULL: the plan does not know it. */
const char *point_values(const plan_kernel *kernel, const char *arch, int32_t point);
/* An extent as the source has it: "M", "2 * N", "ceildiv(K, GROUP)" where the plan says what that is. Returns
   0 when it cannot be computed. */
int evaluate(const char *text, const plan_shape *shape, int64_t *value);
/* The same kernel at sizes that a CPU computes at once: extents above 384 become 256 and what they are over a
   multiple of 128. */
void shrink_shape(const plan_shape *shape, const tile_gen_kernel *kernel, plan_shape *small);

/*===- numbers.c: elements ------------------------------------------------------*/

int64_t element_bytes(uint8_t bits);
double read_number(const void *data, int64_t i, uint8_t code, uint8_t bits);
void write_number(void *data, int64_t i, uint8_t code, uint8_t bits, double value);
/* Normal numbers; integers small and not negative, so that they may be indices. The same for the same seed.
 */
void fill_random(void *data, int64_t count, uint8_t code, uint8_t bits, uint32_t seed);
/* 1: equal but for rounding. Else `why` says where they differ. */
int agree(const void *found, const void *expected, int64_t count, uint8_t code, uint8_t bits, char *why,
          size_t size);

/*===- device.c: memory and time ------------------------------------------------*/

typedef struct device {
  int32_t type; /* TILE_DEVICE_CPU or _CUDA */
  char name[128];
  int32_t driver; /* 13000 */
} device;

/* Each prints or stores what is wrong: see device_error. 0: failure. */
int device_open(device *d, int32_t type);
const char *device_error(void);
void *device_allocate(const device *d, int64_t bytes);
void device_free(const device *d, void *memory);
int device_upload(const device *d, void *to, const void *from, int64_t bytes);
int device_download(const device *d, void *to, const void *from, int64_t bytes);
int device_poison(const device *d, void *to, int64_t bytes); /* 0xFF: NaN in every format */
int device_wait(const device *d);
/* Empties the caches, then times one call of `run`; negative: failed. */
double device_seconds(const device *d, int (*run)(void *), void *context);

/*===- call.c: one kernel at one shape -------------------------------------------*/

typedef struct argument {
  const tile_gen_arg *decl;
  tile_tensor tensor;
  int64_t shape[MAX_RANK], strides[MAX_RANK];
  int64_t count; /* elements from the first to the last */
  void *host;    /* what it starts with */
  uint64_t scalar;
} argument;

typedef struct kernel_call {
  const tile_gen_bundle *bundle;
  const tile_gen_kernel *kernel;
  int32_t index;
  const device *d;
  argument args[MAX_ARGS];
  const void *pointers[MAX_ARGS];
  void *workspace;
  uint64_t workspace_bytes;
  int64_t traffic; /* bytes that must be read and written */
  char problem[256];
} kernel_call;

/* Allocates and fills everything. 0: `problem` says why not. */
int prepare_call(kernel_call *call, const tile_gen_bundle *bundle, int32_t index, const plan_shape *shape,
                 const device *d);
void release_call(kernel_call *call);
tile_status run_call(kernel_call *call, int32_t variant);
/* Poisons outputs, restores what is read and written. */
int reset_call(kernel_call *call);
/* Outputs one after the other, in memory that the caller frees; NULL: failed. */
void *fetch_outputs(kernel_call *call);
/* Of the same kernel at the same shape. */
int compare_outputs(const kernel_call *call, const void *found, const void *expected, char *why, size_t size);

/* What the runtime launched last: set_launch_log() once, then after each call. */
void set_launch_log(void);
const char *launched_arch(void);
const char *launched_symbol(void);

/*===- measure.c: every point of every kernel and shape -----------------------------*/

typedef enum outcome { UNTRIED, UNFIT, RIGHT, WRONG, FAILED } outcome;

typedef struct candidate {
  int32_t variant; /* number for tile_launch; -1: the launcher's choice */
  int32_t point;   /* -1: not known */
  char arch[64];
  outcome outcome;
  char why[256];
  int32_t rounds;
  double median, lower, upper; /* seconds, with the quartiles */
} candidate;

enum { MAX_CANDIDATES = 2048 };

typedef struct trial {
  int32_t kernel, shape; /* in the plan */
  int32_t listed, checked, done;
  int32_t num_candidates;
  int32_t chosen; /* candidate that the launcher takes */
  int64_t traffic;
  char reference[256]; /* why there is none */
  candidate candidates[MAX_CANDIDATES];
} trial;

/* Lives in memory that the workers share with their parent: a worker that dies leaves what it found. */
typedef struct session {
  int32_t num_trials;
  int32_t trial, current; /* candidate under way */
  uint32_t heartbeat;
  char fatal[256];
  char device_name[128];
  int32_t driver;
  trial trials[];
} session;

typedef struct settings {
  const plan *plan;
  const tile_gen_bundle *bundle;
  int32_t device_type;
  int32_t rounds;
  int32_t seconds; /* without a sign of life until a worker is taken for dead */
} settings;

/* In the worker: goes on where the last one stopped. */
void work(const settings *s, session *all);
/* Starts workers until all is measured. */
int measure(const settings *s, session *all);

/*===- report.c ----------------------------------------------------------------*/

void print_report(const settings *s, const session *all);
int write_tuning(const settings *s, const session *all, const char *path);
/* EXIT_MEASURED when a point was wrong or failed. */
int exit_code(const settings *s, const session *all);

#endif
