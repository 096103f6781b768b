/*===- tile_rt_gen.h - contract between generated objects and the runtime ---===*
 *
 * tilec writes constants of these structures into each object, and native host
 * functions that call the tile_rt_* functions at the end of this file. Nothing
 * else crosses the border. User code never includes this file.
 *
 * All structures have a fixed layout on 64-bit hosts: pointers, int64_t,
 * int32_t and uint8_t only, explicit padding, no bit fields. Every reserved
 * field is 0. Strings are NUL-terminated UTF-8. Counts may be 0, the matching
 * pointer is then NULL. Everything is constant except tile_gen_library.state.
 *
 * One object holds one tile_gen_library: one image per architecture (or
 * several of one architecture, when device kernels were assembled apart) and
 * one tile_gen_kernel per API function.
 *
 *===------------------------------------------------------------------------===*/
#ifndef TILE_RT_GEN_H
#define TILE_RT_GEN_H

#include "tile_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===- Arguments --------------------------------------------------------------*/

enum {                     /* tile_gen_dim.kind: one extent or stride of the signature */
       TILE_DIM_ANY = 0,   /* not checked here: any value, or generated code checks an expression */
       TILE_DIM_CONST = 1, /* must equal `value` */
       TILE_DIM_BIND = 2,  /* symbols[symbol] = what the tensor has */
       TILE_DIM_EQUAL = 3  /* must equal symbols[symbol], bound earlier or put there by generated code */
};

/* Order in which the runtime reads and binds: the extents of all tensors in
   parameter order, then the strides of all tensors in parameter order. An EQUAL
   stands after its BIND in that order; a symbol that is a scalar parameter has
   no BIND, generated code stores it (sign- or zero-extended) before
   tile_rt_begin. */
typedef struct tile_gen_dim { /* 24 bytes */
  int64_t value;              /* CONST */
  const char *text;           /* as in the source, for messages: "64", "M", "M // 2"; never NULL */
  int32_t kind;
  int32_t symbol; /* BIND, EQUAL */
} tile_gen_dim;

enum { TILE_ARG_TENSOR = 0, TILE_ARG_PTR = 1, TILE_ARG_SCALAR = 2 };

enum { /* tile_gen_arg.access, tensors only */
       TILE_ACCESS_NONE = 0,
       TILE_ACCESS_IN = 1,
       TILE_ACCESS_OUT = 2,
       TILE_ACCESS_INOUT = 3
};

typedef struct tile_gen_arg { /* 48 bytes; one per C parameter after `launch`, in order */
  const char *name;
  const tile_gen_dim *dims;    /* rank of them */
  const tile_gen_dim *strides; /* rank of them, or NULL: row-major is demanded (Tensor) */
  int64_t align;               /* bytes, a power of two, at least 1: demanded of the address */
  int32_t kind;                /* TILE_ARG_* */
  int32_t rank;                /* 0 to 8; 0 for ptr and scalar */
  int32_t access;
  uint8_t dtype_code; /* TILE_DTYPE_*; bool also accepts uint8. 0 for ptr */
  uint8_t dtype_bits;
  uint8_t reserved[2];
} tile_gen_arg;

/*===- Images and variants ----------------------------------------------------*/

enum { /* tile_gen_image.kind */
       TILE_IMAGE_CUBIN = 1,
       TILE_IMAGE_PTX = 2, /* text; size counts the final NUL, which must be there */
       TILE_IMAGE_HSACO = 3,
       TILE_IMAGE_CPU = 4 /* no bytes: data NULL, size 0; code is reached through count and work */
};

typedef struct tile_gen_image { /* 32 bytes */
  const char *arch;             /* "sm_90a", "sm_100f", "sm_80", "compute_80", "gfx942", "gfx90a:xnack+",
                                   "gfx9-4-generic", "x86-64-v2", "x86-64-v3", "x86-64-v4" */
  const void *data;             /* aligned to 64 */
  int64_t size;                 /* bytes */
  int32_t kind;
  int32_t reserved;
} tile_gen_image;

enum {                         /* tile_gen_condition.kind; slot values are compared as int64_t */
       TILE_COND_MULTIPLE = 1, /* values[slot] % value == 0 */
       TILE_COND_GE = 2,
       TILE_COND_LE = 3,
       TILE_COND_EQ = 4,
       TILE_COND_MAPS = 5 /* every tensor map of this variant can be encoded: see tile_gen_map */
};

typedef struct tile_gen_condition { /* 24 bytes */
  int64_t value;
  const char *text; /* for messages, "stride 0 of A is a multiple of 8"; never NULL */
  int32_t kind;
  int32_t slot;
} tile_gen_condition;

/* A CUtensorMap of a view, made at launch. Map dimension j (0 = innermost) is
   axis axes[j] of the view. Needed: address a multiple of 16, no axis empty or
   over 2^32, stride of axes[0] 1 element, the other strides positive multiples
   of 16 bytes below 2^40, and from the recipe itself: box 1..256,
   box[0] * elem_bits / 8 a multiple of 16 and within the swizzle width. The
   stride of an axis of extent 1 does not matter. The engine writes whole chunks
   of 16 bytes, beyond the innermost extent too, so that extent must be a multiple
   of 16 bytes unless `arg` is a tensor with access IN. Without a TILE_COND_MAPS
   condition a view that breaks this is TILE_ERR_TENSOR_MAP. */
typedef struct tile_gen_map { /* 112 bytes */
  int32_t slot;               /* of the view: address, then view_rank sizes, then view_rank strides */
  int32_t view_rank;
  int32_t arg;          /* the argument it views, for messages; -1 */
  int32_t type;         /* CUtensorMapDataType: u8 0, f16 6, f32 7, f64 8, bf16 9, tf32 11 */
  int32_t elem_bits;    /* of one element in memory */
  int32_t rank;         /* 1..5 */
  int32_t axes[5];      /* view axis of each map dimension, innermost first; the rest 0 */
  int32_t box[5];       /* elements, innermost first; the rest 0 */
  int32_t elem_step[5]; /* cuda.h's elementStrides, usually 1; the rest 0 */
  int32_t interleave;   /* cuda.h's numbers: 0 none, 1 16 B, 2 32 B */
  int32_t swizzle;      /* 0 none, 1 32 B, 2 64 B, 3 128 B, 4.. the 128 B atoms */
  int32_t l2_promotion; /* 0 none, 1 64 B, 2 128 B, 3 256 B */
  int32_t oob_fill;     /* 0 zeros, 1 NaN */
  int32_t reserved[3];
} tile_gen_map;

enum { /* tile_gen_param.kind */
       TILE_PARAM_VALUE = 0,
       TILE_PARAM_MAP = 1,
       TILE_PARAM_SEED =
           2 /* of pauses (--sanitize=schedule): TILE_SCHEDULE_SEED of the environment, else 0 */
};

typedef struct tile_gen_param { /* 16 bytes; one per parameter of the device function, in order */
  int32_t kind;
  int32_t index; /* VALUE: slot; MAP: number in maps, passed as 128 bytes by value, aligned to 64; SEED: 0 */
  int32_t size;  /* VALUE: 1, 2, 4 or 8, the low bytes of the slot; MAP: 128; SEED: 4 */
  int32_t reserved;
} tile_gen_param;

enum {                              /* tile_gen_variant.flags */
       TILE_VARIANT_PERSISTENT = 1, /* grid = min(blocks, multiprocessors * min_blocks) */
       TILE_VARIANT_PDL = 2         /* executes griddepcontrol.wait before it reads global memory */
};

typedef int64_t (*tile_gen_count_fn)(const uint64_t *values);
typedef void (*tile_gen_work_fn)(const uint64_t *values, int64_t item, void *arena);

/* One way to run a launch, in one image. Of the image chosen for the device the
   first variant whose conditions all hold is used; where the launch has points,
   the cheapest of those whose conditions hold, the first of equals; a variant of
   the point that measurements put first costs nothing, one that nobody knows a
   price for, all three numbers 0, one cycle. A launch of
   b blocks whose main loop makes t trips costs, in clock cycles,
     ceil(b / (multiprocessors * resident)) * (t * trip_cycles + block_cycles) + launch_cycles. */
typedef struct tile_gen_variant { /* 144 bytes */
  const char *symbol;             /* GPU: name of the device function. CPU: a name for the log */
  const tile_gen_condition *conditions;
  const tile_gen_param *params; /* GPU */
  const tile_gen_map *maps;     /* CUDA */
  tile_gen_count_fn count;      /* CPU: number of work items; negative counts as 0 */
  tile_gen_work_fn work;        /* CPU: one item; arena is 64-byte aligned, contents undefined */
  int64_t arena_bytes;          /* CPU */
  int64_t shared_bytes;         /* GPU: dynamic shared memory of a block, given at launch */
  int64_t static_shared_bytes;  /* GPU: what the code itself declares; only to see whether it fits */
  int32_t image;                /* number in tile_gen_library.images */
  int32_t function;             /* GPU: 0..num_functions-1, unique in the library; CPU: 0 */
  int32_t num_conditions;
  int32_t num_params;
  int32_t num_maps;   /* up to 32 */
  int32_t threads;    /* GPU: of a block */
  int32_t min_blocks; /* PERSISTENT: blocks per multiprocessor, at least 1 */
  int32_t registers;  /* per thread as reported by the assembler; 0 = unknown */
  int32_t flags;
  int32_t point; /* whose grid and trips it runs with: 0 the launch's own, else 1..num_points */
  int64_t trip_cycles;
  int64_t block_cycles;
  int64_t launch_cycles;
  int32_t resident; /* blocks that a multiprocessor runs at once; 0 counts as 1 */
  int32_t measured; /* which of the measured points behind the grids is for this image, from 1; 0: none is */
} tile_gen_variant;

typedef struct tile_gen_launch {    /* 32 bytes */
  const char *name;                 /* "matmul.0", for messages */
  const tile_gen_variant *variants; /* of all images, by preference within each image */
  int32_t num_variants;
  int32_t grid_rank; /* 1..3: the grid's extents are slots 0.. of the values, as int64_t */
  int32_t num_slots;
  int32_t num_points; /* grids beside the first: see tile_rt_launch */
} tile_gen_launch;

/*===- Kernel and library -----------------------------------------------------*/

enum { TILE_KERNEL_INPLACE = 1 }; /* @kernel(inplace=True) */

typedef struct tile_gen_kernel { /* 56 bytes */
  const char *name;              /* the kernel as in the source, for messages: "gemm" */
  const tile_gen_arg *args;
  const tile_gen_launch *launches;
  int32_t num_args;
  int32_t num_tensors; /* how many of args are tensors, at most 64 */
  int32_t num_symbols;
  int32_t num_launches;
  int32_t index_bits; /* 64, or 32: every reachable byte offset must be below 2^31 */
  int32_t flags;      /* TILE_KERNEL_* */
  int64_t reserved;
} tile_gen_kernel;

typedef struct tile_gen_library { /* 56 bytes */
  const char *name;               /* prefix or file stem, for messages */
  const tile_gen_image *images;
  const tile_gen_kernel *kernels;
  void **state; /* a writable pointer of the object, initially NULL; the runtime's alone */
  int32_t abi;  /* TILE_RT_ABI */
  int32_t num_images;
  int32_t num_kernels;
  int32_t num_functions; /* GPU functions of all images: one more than the largest variant.function */
  int64_t reserved;
} tile_gen_library;

/* What `tilec tune` and `tilec bench` put beside the API, under the name
   `tile_bundle`, for a program that knows no kernel. args: for each argument the
   address of the tile_tensor, or of the scalar or pointer. Modes: see below. */
typedef tile_status (*tile_gen_invoke_fn)(int32_t mode, const tile_launch *launch, uint64_t *bytes,
                                          const void *const *args);

typedef struct tile_gen_bundle { /* 24 bytes */
  const tile_gen_library *library;
  const tile_gen_invoke_fn *kernels; /* num_kernels, in the order of the library */
  int32_t num_kernels;
  int32_t reserved;
} tile_gen_bundle;

/*===- Functions that generated host code calls -------------------------------
 *
 * K, K_check and K_workspace share one generated function:
 *
 *   static tile_status K_host(int32_t mode, const tile_launch *launch, uint64_t *bytes,
 *                             const tile_tensor *A, .., float alpha) {
 *     tile_call call;                                      // 256 bytes, uninitialised
 *     const tile_tensor *tensors[n] = {A, ..};             // tensor parameters, in order
 *     int64_t symbols[num_symbols]; symbols[i] = m;        // only scalar parameters used as dimensions
 *     uint64_t views[sum of (1 + 2 * rank) over tensors];  // uninitialised
 *     tile_status s = tile_rt_begin(&call, &library, k, mode, launch, bytes, tensors, symbols, views);
 *     if (s) return s;
 *     ..derived values, from symbols, views and scalars..
 *     if (sizeOfB0 != M / 2) if ((s = tile_rt_fail(&call, TILE_ERR_SHAPE, 1, 0, M / 2, sizeOfB0, "M // 2")))
 * return s; if (!(M % 8 == 0)) if ((s = tile_rt_fail(&call, TILE_ERR_PRECONDITION, -1, -1, 0, 0, "M % 8 ==
 * 0"))) return s; uint64_t w; if ((s = tile_rt_workspace(&call, size, &w))) return s;   // each alloc_global
 *     uint64_t values[slots] = {..};
 *     if ((s = tile_rt_launch(&call, 0, values))) return s;                 // each launch
 *     return tile_rt_end(&call);
 *   }
 *   K(launch, A, ..)       = K_host(TILE_MODE_RUN, launch, NULL, A, ..)
 *   K_check(A, ..)         = K_host(TILE_MODE_CHECK, NULL, NULL, A, ..)
 *   K_workspace(A, .., &b) = K_host(TILE_MODE_WORKSPACE, NULL, b, A, ..)
 *   K_load(device)         = tile_rt_load(&library, device)
 *
 * A function that returns other than TILE_OK has ended the call already (locks
 * released, context restored, tile_last_error set): return its value at once.
 * After tile_rt_begin returned TILE_OK exactly one of these must happen: some
 * later function fails, or tile_rt_end is reached. The code is the same in all
 * modes: the functions know the mode and do nothing where they should. */

enum {
  TILE_MODE_RUN = 0,
  TILE_MODE_CHECK = 1,    /* all checks that need no device; launches nothing; launch and bytes NULL */
  TILE_MODE_WORKSPACE = 2 /* shapes and scalars only, addresses may be NULL; launch NULL */
};

/* Lives on the caller's stack during one call. */
typedef union tile_call {
  uint64_t words[32];
#if defined(__GNUC__) || defined(__clang__)
  uint8_t bytes[256] __attribute__((aligned(16)));
#else
  uint8_t bytes[256];
#endif
} tile_call;

/* Checks, in this order: the ABI, `launch` (RUN) or `bytes` (WORKSPACE), then
   for all tensors: NULL, rank, dtype, constant, bound and equal extents,
   strides, alignment, device, index width, aliasing. First failure wins.
   symbols: num_symbols of them. views: for each tensor in order the address
   (byte_offset added), the rank sizes, the rank strides in elements; row-major
   strides for a Tensor whatever the caller gave for extents of 1, and for a
   StridedTensor with strides NULL. `tensors` and `views` must stay valid until
   the call ends. With TILE_LAUNCH_NO_CHECKS only NULL, rank and device are
   checked, and symbols and views are filled. */
TILE_NODISCARD TILE_API tile_status tile_rt_begin(tile_call *call, const tile_gen_library *library,
                                                  int32_t kernel, int32_t mode, const tile_launch *launch,
                                                  uint64_t *bytes, const tile_tensor *const *tensors,
                                                  int64_t *symbols, uint64_t *views);

/* Reports a check that generated code found broken: TILE_ERR_SHAPE or _STRIDE
   of an expression, _PRECONDITION of an assume, _ALIGN, _INDEX_WIDTH. arg: index
   in args or -1; dim: or -1; text: source text of the condition, shown as data.
   Returns TILE_OK when the caller asked for NO_CHECKS: then go on. */
TILE_NODISCARD TILE_API tile_status tile_rt_fail(tile_call *call, tile_status status, int32_t arg,
                                                 int32_t dim, int64_t expected, int64_t actual,
                                                 const char *text);

/* One alloc_global of `bytes` (negative: TILE_ERR_WORKSPACE), at the next
   multiple of 256 of the caller's workspace; *address = 0 in other modes than
   RUN, or when the workspace is too small. In that case launches do nothing and
   tile_rt_end returns TILE_ERR_WORKSPACE with the sum, so all calls of this
   function should come before the first launch. */
TILE_NODISCARD TILE_API tile_status tile_rt_workspace(tile_call *call, int64_t bytes, uint64_t *address);

/* Launch number `launch` of the kernel with its values: num_slots of them, the
   grid's extents first. With points, num_points + 1 numbers of trips follow, the
   launch's own first, then the grids of the points, grid_rank extents each, then
   numbers for tile_gen_variant.measured: 1 + the point that was measured to be the
   fastest at these sizes, 0 where nothing was. An empty grid is skipped. CHECK: the grid's size and whether
   some variant would do. `values` may change, and is free again on return. */
TILE_NODISCARD TILE_API tile_status tile_rt_launch(tile_call *call, int32_t launch, uint64_t *values);

/* Ends a call: restores the context; WORKSPACE: *bytes = what is needed. */
TILE_NODISCARD TILE_API tile_status tile_rt_end(tile_call *call);

/* Loads the library's image for a device now, instead of at the first launch. */
TILE_NODISCARD TILE_API tile_status tile_rt_load(const tile_gen_library *library, tile_device device);

#ifdef __cplusplus
}
#endif
#endif
