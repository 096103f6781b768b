//===- common.h - types and shorthands of the emulator's test kernels -------------------===//
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half h2 __attribute__((ext_vector_type(2)));
typedef half h4 __attribute__((ext_vector_type(4)));
typedef half h8 __attribute__((ext_vector_type(8)));
typedef half h16 __attribute__((ext_vector_type(16)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f8 __attribute__((ext_vector_type(8)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i8 __attribute__((ext_vector_type(8)));
typedef unsigned int u2 __attribute__((__vector_size__(8)));
typedef unsigned int u4 __attribute__((__vector_size__(16)));

#define KERNEL(threads) __attribute__((reqd_work_group_size(threads, 1, 1))) __kernel void
#define LID __builtin_amdgcn_workitem_id_x()
#define GX __builtin_amdgcn_workgroup_id_x()
#define GY __builtin_amdgcn_workgroup_id_y()
#define BARRIER                                                                                              \
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                                                     \
  __builtin_amdgcn_s_barrier();                                                                              \
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
