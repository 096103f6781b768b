/*===- tile_rt.h - public C interface of the tile runtime -------------------===*
 *
 * What a program that calls compiled .tile kernels sees: tensors, the launch
 * descriptor, status codes and a few settings. Needs no CUDA or HIP header and
 * is valid C99 and C++11 and later. Generated headers include only this file.
 *
 * Promises of every function here and of every generated function:
 *  - it may be called from any thread at any time (tile_rt_shutdown waits for
 *    calls in flight);
 *  - it never exits, aborts, throws or prints, never allocates device memory,
 *    never synchronises with a device, never uses a stream the caller did not
 *    name, and leaves the current device or context as it found it;
 *  - it may be called while the stream is being captured into a graph. The
 *    graph then keeps addresses AND shapes as they were at capture; tensors
 *    and workspace must outlive it.
 *
 *===------------------------------------------------------------------------===*/
#ifndef TILE_RT_H
#define TILE_RT_H

#include <stddef.h>
#include <stdint.h>

/* Changes whenever a structure or the meaning of a field changes. Generated
   headers compare it at compile time, generated objects at run time. */
#define TILE_RT_ABI 1

#if defined(__cplusplus) && __cplusplus >= 201703L
#define TILE_NODISCARD [[nodiscard]]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L
#define TILE_NODISCARD [[nodiscard]]
#elif defined(__GNUC__) || defined(__clang__)
#define TILE_NODISCARD __attribute__((warn_unused_result))
#else
#define TILE_NODISCARD
#endif

#ifndef TILE_API
#if defined(__GNUC__) || defined(__clang__)
#define TILE_API __attribute__((visibility("default")))
#else
#define TILE_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*===- Status -----------------------------------------------------------------
 * One closed set of codes. Driver codes never appear here: see
 * tile_error_info.native_code. 1xx argument, 2xx driver or device, 3xx image,
 * 4xx launch, 5xx the driver said no, 9xx a bug in the runtime or compiler. */
typedef int32_t tile_status;

enum {
  TILE_OK = 0,
  TILE_ERR_NULL_ARG = 101,        /* a required pointer is NULL */
  TILE_ERR_RANK = 102,            /* wrong number of dimensions */
  TILE_ERR_DTYPE = 103,           /* wrong element type */
  TILE_ERR_SHAPE = 104,           /* an extent is not what the signature says */
  TILE_ERR_STRIDE = 105,          /* a stride is not what the signature says */
  TILE_ERR_ALIGN = 106,           /* an address is not aligned as required */
  TILE_ERR_ALIAS = 107,           /* a written tensor overlaps another one */
  TILE_ERR_DEVICE_MISMATCH = 108, /* tensors, stream and device do not belong together */
  TILE_ERR_INDEX_WIDTH = 109,     /* a tensor is too large for the kernel's index type */
  TILE_ERR_NO_VARIANT = 110,      /* no compiled variant accepts these arguments */
  TILE_ERR_PRECONDITION = 111,    /* an assume() of the source does not hold */
  TILE_ERR_LAUNCH = 112,          /* the launch descriptor is malformed */
  TILE_ERR_NO_DRIVER = 201,       /* the driver library is not there or not usable */
  TILE_ERR_NO_DEVICE = 202,       /* no such device */
  TILE_ERR_DRIVER_TOO_OLD = 203,  /* the driver lacks a function that is needed */
  TILE_ERR_NO_IMAGE = 301,        /* the library holds no image for this device */
  TILE_ERR_BAD_IMAGE = 302,       /* the driver rejected the image */
  TILE_ERR_ABI = 303,             /* object and runtime were built for different ABIs */
  TILE_ERR_NOT_LOADED = 304,      /* TILE_LAUNCH_NO_LAZY_LOAD and the kernel is not loaded */
  TILE_ERR_GRID = 401,            /* more than 2^31 - 1 blocks */
  TILE_ERR_SHARED_MEM = 402,      /* more shared memory than the device has */
  TILE_ERR_CAPTURE = 403,         /* not possible while the stream is captured */
  TILE_ERR_WORKSPACE = 404,       /* workspace missing or too small; expected = bytes needed */
  TILE_ERR_TENSOR_MAP = 405,      /* a tensor cannot be described to the copy engine */
  TILE_ERR_DRIVER = 500,          /* any other driver error */
  TILE_ERR_OUT_OF_MEMORY = 501,   /* host or driver memory exhausted */
  TILE_ERR_INTERNAL = 900         /* a bug: please report it with the message */
};

/*===- Tensors ----------------------------------------------------------------
 * The same layout as DLPack's DLDataType, DLDevice and DLTensor, so that a
 * DLTensor* can be passed after a pointer cast. */
typedef struct tile_dtype {
  uint8_t code; /* TILE_DTYPE_* */
  uint8_t bits;
  uint16_t lanes; /* always 1 */
} tile_dtype;

enum { /* tile_dtype.code, DLPack's numbers */
       TILE_DTYPE_INT = 0,
       TILE_DTYPE_UINT = 1,
       TILE_DTYPE_FLOAT = 2,
       TILE_DTYPE_BFLOAT = 4,
       TILE_DTYPE_BOOL = 6,
       TILE_DTYPE_E4M3 = 10, /* float8_e4m3fn */
       TILE_DTYPE_E4M3FNUZ = 11,
       TILE_DTYPE_E5M2 = 12,
       TILE_DTYPE_E5M2FNUZ = 13,
       TILE_DTYPE_E8M0 = 14,
       TILE_DTYPE_E2M3 = 15, /* 6 bits */
       TILE_DTYPE_E3M2 = 16, /* 6 bits */
       TILE_DTYPE_E2M1 = 17  /* 4 bits */
};

enum { /* tile_device.type, DLPack's numbers */
       TILE_DEVICE_NONE = 0,
       TILE_DEVICE_CPU = 1,
       TILE_DEVICE_CUDA = 2,
       TILE_DEVICE_ROCM = 10,
       TILE_DEVICE_CUDA_MANAGED = 13
};

typedef struct tile_device {
  int32_t type;
  int32_t id;
} tile_device;

typedef struct tile_tensor {
  void *data;
  tile_device device;
  int32_t ndim;
  tile_dtype dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL = row-major and contiguous */
  uint64_t byte_offset;
} tile_tensor;

/*===- Launch -----------------------------------------------------------------*/
enum {                               /* tile_launch.flags */
       TILE_LAUNCH_NO_CHECKS = 1,    /* the caller promises that all preconditions hold */
       TILE_LAUNCH_NO_LAZY_LOAD = 2, /* TILE_ERR_NOT_LOADED instead of loading an image */
       TILE_LAUNCH_PDL = 4           /* programmatic dependent launch, where kernel and device can */
};

typedef struct tile_launch {
  uint32_t struct_size;     /* sizeof(tile_launch): lets fields be added */
  uint32_t flags;           /* TILE_LAUNCH_* or 0 */
  void *stream;             /* CUstream, cudaStream_t or hipStream_t, no cast needed; NULL = default */
  tile_device device;       /* {0, -1}: the first tensor's; needed by a kernel without tensors */
  int32_t variant;          /* -1: choose; otherwise the number of a variant */
  int32_t reserved;         /* 0 */
  void *workspace;          /* memory of the same device, 256-byte aligned; K_workspace says how much */
  uint64_t workspace_bytes; /* its size */
} tile_launch;

#define TILE_LAUNCH_INIT(stream_)                                                                            \
  {sizeof(tile_launch), 0u, (stream_), {TILE_DEVICE_NONE, -1}, -1, 0, NULL, 0u}

/*===- Errors -----------------------------------------------------------------*/
typedef struct tile_error_info {
  uint32_t struct_size; /* set by the caller to sizeof(tile_error_info) */
  tile_status status;
  int32_t native_api;  /* TILE_NATIVE_* */
  int32_t native_code; /* CUresult, hipError_t or errno */
  int32_t arg_index;   /* parameter number not counting `launch`; -1: not about a parameter */
  int32_t dim;         /* -1: not about a dimension */
  int64_t expected;
  int64_t actual;
  const char *kernel;  /* never NULL */
  const char *message; /* never NULL; this thread's, until its next failing call */
} tile_error_info;

enum { TILE_NATIVE_NONE = 0, TILE_NATIVE_CUDA = 1, TILE_NATIVE_HIP = 2, TILE_NATIVE_OS = 3 };

/* "TILE_ERR_SHAPE" and "an extent is not what the signature says". Never NULL. */
TILE_API const char *tile_status_name(tile_status status);
TILE_API const char *tile_status_string(tile_status status);

/* The last failure on this thread; status TILE_OK when there was none. A call
   that succeeds leaves it alone. */
TILE_API void tile_last_error(tile_error_info *info);

/*===- Process-wide settings --------------------------------------------------*/
TILE_API uint32_t tile_rt_abi(void);

/* How many devices of a type (TILE_DEVICE_*) there are. TILE_ERR_NO_DRIVER with
 *count = 0 when its driver is missing. */
TILE_NODISCARD TILE_API tile_status tile_device_count(int32_t device_type, int32_t *count);

enum { TILE_LOG_ERROR = 1, TILE_LOG_WARNING = 2, TILE_LOG_INFO = 3, TILE_LOG_DEBUG = 4 };

/* The runtime prints nothing; it tells this function, when one is set, what it
   loads and launches. It may be called from any thread, also concurrently, and
   must not call back into the runtime. NULL switches it off. */
typedef void (*tile_log_fn)(void *user, int32_t level, const char *text);
TILE_API void tile_set_log(tile_log_fn fn, void *user);

/* CPU kernels: number of threads including the caller; 0 = TILE_NUM_THREADS if
   set, else one per CPU this process may use. Results never depend on it. */
TILE_NODISCARD TILE_API tile_status tile_set_num_threads(int32_t count);
TILE_API int32_t tile_num_threads(void);

/* Replaces the thread pool. The function must call body(context, item) exactly
   once for each item in [0, items), on any threads, in any order or at once, and
   return after all of them have. NULL gives the pool back. */
typedef void (*tile_body_fn)(void *context, int64_t item);
typedef void (*tile_parallel_fn)(void *user, int64_t items, tile_body_fn body, void *context);
TILE_API void tile_set_parallel(tile_parallel_fn fn, void *user);

/* Only images whose architecture is written exactly so ("compute_80",
   "x86-64-v3") are considered from now on; NULL = all. For tests. */
TILE_NODISCARD TILE_API tile_status tile_rt_set_image_filter(const char *arch);

/* Waits for calls in flight, unloads all images, releases contexts, ends the
   threads. Kernels may be called again afterwards and load anew. Work queued on
   a device must have finished: the runtime cannot wait for it. */
TILE_API void tile_rt_shutdown(void);

#ifdef __cplusplus
}
#endif
#endif
