/*===- cuda_api.h - the part of the CUDA driver interface that is used ------===*
 *
 * Declared here, so that neither building nor running needs a CUDA toolkit. The
 * driver's interface is stable: functions are looked up by name and version.
 *
 *===------------------------------------------------------------------------===*/
#ifndef TILE_CUDA_API_H
#define TILE_CUDA_API_H

#include <stdint.h>

typedef int32_t CUresult;
typedef int32_t CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;

enum { /* CUresult */
       CUDA_SUCCESS = 0,
       CUDA_ERROR_OUT_OF_MEMORY = 2,
       CUDA_ERROR_DEINITIALIZED = 4,
       CUDA_ERROR_STUB_LIBRARY = 34,
       CUDA_ERROR_NO_DEVICE = 100,
       CUDA_ERROR_INVALID_DEVICE = 101,
       CUDA_ERROR_INVALID_IMAGE = 200,
       CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
       CUDA_ERROR_INVALID_PTX = 218,
       CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
       CUDA_ERROR_NOT_FOUND = 500,
       CUDA_ERROR_STREAM_CAPTURE_FIRST = 900,
       CUDA_ERROR_STREAM_CAPTURE_LAST = 908,
       CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
       CUDA_ERROR_COMPAT_NOT_SUPPORTED = 804
};

enum { /* CUdevice_attribute */
       CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
       CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
};

enum {
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_LIBRARY_BINARY_IS_PRESERVED = 1,
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6
};

typedef struct CUlaunchAttribute {
  int32_t id;
  int32_t pad;
  union {
    char bytes[64];
    int32_t number;
  } value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;
  CUstream stream;
  CUlaunchAttribute *attributes;
  uint32_t num_attributes;
} CUlaunchConfig;

typedef struct cuda_api {
#define CUDA_FUNCTION(name, ...) CUresult (*name)(__VA_ARGS__);
#include "cuda_symbols.def"
#undef CUDA_FUNCTION
  CUresult (*cuStreamGetDevice)(CUstream stream, CUdevice *device); /* CUDA 12.8; before: NULL */
} cuda_api;

/* cuda_driver.c */
const cuda_api *tilert_cuda_driver(const char *kernel, int32_t *status); /* NULL with the error set */
int32_t tilert_cuda_fail(const cuda_api *cu, const char *kernel, const char *what, CUresult error);
int32_t tilert_cuda_version(void); /* 12020 = 12.2; after tilert_cuda_driver succeeded */

#endif
