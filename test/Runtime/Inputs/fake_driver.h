/*===- fake_driver.h - what tests ask of the fake CUDA and HIP drivers ------===*
 *
 * The fakes implement the driver functions that the runtime uses, check what a
 * real driver checks (and some rules of the runtime's own, like balanced context
 * stacks), record the last launch and fail on demand. Tests reach these controls
 * through dlsym, with the prefix of the driver: fake_cuda_fail, fake_hip_fail.
 *
 * At start they read the environment: FAKE_FAIL=function:code, FAKE_MISSING=
 * function, FAKE_VERSION=11080, FAKE_DEVICES=0.
 *
 *===------------------------------------------------------------------------===*/
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include <stdint.h>

typedef struct fake_launch {
  char symbol[64];
  uint32_t grid[3], block[3], shared;
  void *stream;
  int32_t pdl;
  int32_t device;      /* current when launched */
  void *context;       /* CUDA: current when launched */
  uint64_t params[16]; /* the first 8 bytes of each */
} fake_launch;

typedef struct fake_map {
  int32_t type, rank, interleave, swizzle, promotion, fill;
  uint64_t address, dims[5], strides[5];
  uint32_t box[5], steps[5];
} fake_map;

typedef struct fake_device {
  int32_t major, minor; /* CUDA */
  const char *target;   /* HIP */
  int32_t multiprocessors, shared, registers;
} fake_device;

typedef struct fake_control {
  void (*reset)(void); /* forgets counts, failures and devices */
  void (*set_devices)(int32_t count, const fake_device *);
  void (*fail)(const char *function, int32_t code, int32_t times); /* the next `times` calls */
  int32_t (*calls)(const char *function);
  void *(*new_stream)(int32_t device); /* CUDA: in a context of its own, not the primary one */
  void (*last_launch)(fake_launch *);
  void (*last_map)(fake_map *);
  int32_t (*mistakes)(void); /* misuse seen so far: launch without context, wrong device, unknown handle */
  int32_t (*depth)(void);    /* CUDA: contexts on this thread's stack; HIP: current device */
} fake_control;

/* Exported as fake_cuda_control and fake_hip_control. */
typedef const fake_control *(*fake_control_fn)(void);

#endif
