/*===- sample_library.c - a library in the form tilec generates it ----------===*
 *
 * Tables and host functions written by hand after tile_rt_gen.h: what the object
 * of a .tile file holds, with device code that the fake drivers know by name.
 *
 *===------------------------------------------------------------------------===*/
#include "sample_library.h"
#include "tile_rt_gen.h"

#include <string.h>

int t_items_run;

#define DIM(kind, symbol, value, text) {value, text, kind, symbol}
#define COUNT(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

static tile_status next(tile_status s) { return s; }

/*===- gemm -------------------------------------------------------------------*/

enum { M, N, K };

static const tile_gen_dim a_dims[] = {DIM(TILE_DIM_BIND, M, 0, "M"), DIM(TILE_DIM_BIND, K, 0, "K")};
static const tile_gen_dim b_dims[] = {DIM(TILE_DIM_EQUAL, K, 0, "K"), DIM(TILE_DIM_BIND, N, 0, "N")};
static const tile_gen_dim c_dims[] = {DIM(TILE_DIM_EQUAL, M, 0, "M"), DIM(TILE_DIM_EQUAL, N, 0, "N")};

static const tile_gen_arg gemm_args[] = {
    {"A", a_dims, NULL, 2, TILE_ARG_TENSOR, 2, TILE_ACCESS_IN, TILE_DTYPE_FLOAT, 16, {0, 0}},
    {"B", b_dims, NULL, 2, TILE_ARG_TENSOR, 2, TILE_ACCESS_IN, TILE_DTYPE_FLOAT, 16, {0, 0}},
    {"C", c_dims, NULL, 4, TILE_ARG_TENSOR, 2, TILE_ACCESS_OUT, TILE_DTYPE_FLOAT, 32, {0, 0}},
    {"alpha", NULL, NULL, 1, TILE_ARG_SCALAR, 0, 0, TILE_DTYPE_FLOAT, 32, {0, 0}}};

/* slots: gx gy | A 2..6 | B 7..11 | C 12..16 | alpha 17 | workspace 18 */
enum { SLOT_A = 2, SLOT_B = 7, SLOT_C = 12, SLOT_ALPHA = 17, SLOT_WORK = 18, GEMM_SLOTS = 19 };

static const tile_gen_map gemm_maps[] = {
    {SLOT_A, 2, 0, 6, 16, 2, {1, 0}, {64, 128}, {1, 1}, 0, 3, 3, 0, {0, 0, 0}},
    {SLOT_B, 2, 1, 6, 16, 2, {1, 0}, {64, 64}, {1, 1}, 0, 3, 3, 0, {0, 0, 0}}};
static const tile_gen_condition tma_conditions[] = {{0, "A and B as tensor maps", TILE_COND_MAPS, 0},
                                                    {8, "M is at least 8", TILE_COND_GE, SLOT_A + 1}};
static const tile_gen_param tma_params[] = {
    {TILE_PARAM_VALUE, 0, 8, 0},         {TILE_PARAM_VALUE, 1, 8, 0},
    {TILE_PARAM_MAP, 0, 128, 0},         {TILE_PARAM_MAP, 1, 128, 0},
    {TILE_PARAM_VALUE, SLOT_C, 8, 0},    {TILE_PARAM_VALUE, SLOT_C + 3, 4, 0},
    {TILE_PARAM_VALUE, SLOT_ALPHA, 4, 0}};
static const tile_gen_param plain_params[] = {{TILE_PARAM_VALUE, 0, 8, 0},
                                              {TILE_PARAM_VALUE, SLOT_A, 8, 0},
                                              {TILE_PARAM_VALUE, SLOT_A + 3, 8, 0},
                                              {TILE_PARAM_VALUE, SLOT_ALPHA, 4, 0}};

static int64_t gemm_count(const uint64_t *v) { return (int64_t)(v[0] * v[1]); }
static void gemm_work(const uint64_t *v, int64_t item, void *arena) {
  (void)v;
  (void)item;
  memset(arena, 0, 64);
  __atomic_fetch_add(&t_items_run, 1, __ATOMIC_RELAXED);
}

/* Fake images: the fake driver reads this text. */
static const char image_90a[64] __attribute__((aligned(64))) = "cubin sm_90a";
static const char image_100f[64] __attribute__((aligned(64))) = "cubin sm_100f";
static const char image_80[64] __attribute__((aligned(64))) = "ptx compute_80";
static const char image_942[64] __attribute__((aligned(64))) = "hsaco gfx942";

enum { I_90A, I_100F, I_C80, I_942, I_V2, I_V3 };
static const tile_gen_image images[] = {{"sm_90a", image_90a, sizeof(image_90a), TILE_IMAGE_CUBIN, 0},
                                        {"sm_100f", image_100f, sizeof(image_100f), TILE_IMAGE_CUBIN, 0},
                                        {"compute_80", image_80, sizeof(image_80), TILE_IMAGE_PTX, 0},
                                        {"gfx942", image_942, sizeof(image_942), TILE_IMAGE_HSACO, 0},
                                        {"x86-64-v2", NULL, 0, TILE_IMAGE_CPU, 0},
                                        {"x86-64-v3", NULL, 0, TILE_IMAGE_CPU, 0}};

#define GPU(symbol, conditions, params, maps, shared, image, function, nc, np, nm, threads, blocks, flags)   \
  {symbol,   conditions, params, maps, NULL,    NULL,   0,   shared, 1024, image,                            \
   function, nc,         np,     nm,   threads, blocks, 168, flags,  0}
#define CPU(symbol, count, work, arena, image)                                                               \
  {symbol, NULL, NULL, NULL, count, work, arena, 0, 0, image, 0, 0, 0, 0, 0, 0, 0, 0, 0}

static const tile_gen_variant gemm_variants[] = {
    GPU("gemm_tma", tma_conditions, tma_params, gemm_maps, 200000, I_90A, 0, 2, 7, 2, 384, 1,
        TILE_VARIANT_PERSISTENT | TILE_VARIANT_PDL),
    GPU("gemm_plain", NULL, plain_params, NULL, 49152, I_90A, 1, 0, 4, 0, 256, 0, 0),
    GPU("gemm_f", NULL, plain_params, NULL, 65536, I_100F, 2, 0, 4, 0, 256, 0, 0),
    GPU("gemm_80", NULL, plain_params, NULL, 65536, I_C80, 3, 0, 4, 0, 128, 0, 0),
    GPU("gemm_942", NULL, plain_params, NULL, 32768, I_942, 4, 0, 4, 0, 256, 0, 0),
    CPU("gemm_v2", gemm_count, gemm_work, 4096, I_V2),
    CPU("gemm_v3", gemm_count, gemm_work, 4096, I_V3)};
static const tile_gen_launch gemm_launches[] = {
    {"gemm.0", gemm_variants, COUNT(gemm_variants), 2, GEMM_SLOTS, 0}};

/*===- scale ------------------------------------------------------------------*/

enum { S_M, S_N, S_LDX, S_LDY };
static const tile_gen_dim x_dims[] = {DIM(TILE_DIM_BIND, S_M, 0, "M"), DIM(TILE_DIM_BIND, S_N, 0, "N")};
static const tile_gen_dim y_dims[] = {DIM(TILE_DIM_EQUAL, S_M, 0, "M"), DIM(TILE_DIM_EQUAL, S_N, 0, "N")};
static const tile_gen_dim x_strides[] = {DIM(TILE_DIM_BIND, S_LDX, 0, "ldx"), DIM(TILE_DIM_CONST, 0, 1, "1")};
static const tile_gen_dim y_strides[] = {DIM(TILE_DIM_BIND, S_LDY, 0, "ldy"), DIM(TILE_DIM_CONST, 0, 1, "1")};
static const tile_gen_arg scale_args[] = {
    {"X", x_dims, x_strides, 4, TILE_ARG_TENSOR, 2, TILE_ACCESS_IN, TILE_DTYPE_FLOAT, 32, {0, 0}},
    {"Y", y_dims, y_strides, 16, TILE_ARG_TENSOR, 2, TILE_ACCESS_OUT, TILE_DTYPE_FLOAT, 32, {0, 0}},
    {"a", NULL, NULL, 1, TILE_ARG_SCALAR, 0, 0, TILE_DTYPE_FLOAT, 32, {0, 0}}};

/* slots: rows | X 1..5 | Y 6..10 | a 11 */
static int64_t scale_count(const uint64_t *v) { return (int64_t)v[0]; }
static void scale_work(const uint64_t *v, int64_t row, void *arena) {
  const float *x = (const float *)(uintptr_t)v[1] + row * (int64_t)v[4];
  float *y = (float *)(uintptr_t)v[6] + row * (int64_t)v[9], a;
  memcpy(&a, &v[11], sizeof(a));
  memset(arena, 0x5a, 4096);
  for (int64_t j = 0; j < (int64_t)v[3]; ++j)
    y[j * (int64_t)v[10]] = a * x[j * (int64_t)v[5]];
  __atomic_fetch_add(&t_items_run, 1, __ATOMIC_RELAXED);
}
static const tile_gen_param scale_params[] = {{TILE_PARAM_VALUE, 1, 8, 0}};
static const tile_gen_variant scale_variants[] = {
    GPU("scale_90a", NULL, scale_params, NULL, 0, I_90A, 5, 0, 1, 0, 128, 0, 0),
    GPU("scale_942", NULL, scale_params, NULL, 0, I_942, 6, 0, 1, 0, 1024, 0, 0),
    CPU("scale_v2", scale_count, scale_work, 4096, I_V2),
    CPU("scale_v3", scale_count, scale_work, 4096, I_V3)};
static const tile_gen_launch scale_launches[] = {
    {"scale.0", scale_variants, COUNT(scale_variants), 1, 12, 0}};

/*===- mask and tick ----------------------------------------------------------*/

static const tile_gen_dim m_dims[] = {DIM(TILE_DIM_ANY, 0, 0, "2 * n"), DIM(TILE_DIM_ANY, 0, 0, "n // 2"),
                                      DIM(TILE_DIM_CONST, 0, 3, "3")};
static const tile_gen_arg mask_args[] = {
    {"M", m_dims, NULL, 1, TILE_ARG_TENSOR, 3, TILE_ACCESS_OUT, TILE_DTYPE_BOOL, 8, {0, 0}},
    {"n", NULL, NULL, 1, TILE_ARG_SCALAR, 0, 0, TILE_DTYPE_INT, 32, {0, 0}}};
static int64_t one_item(const uint64_t *v) {
  (void)v;
  return 1;
}
static void no_work(const uint64_t *v, int64_t item, void *arena) {
  (void)v;
  (void)item;
  (void)arena;
  __atomic_fetch_add(&t_items_run, 1, __ATOMIC_RELAXED);
}
static const tile_gen_variant mask_variants[] = {CPU("mask_v2", one_item, no_work, 0, I_V2)};
static const tile_gen_launch mask_launches[] = {{"mask.0", mask_variants, 1, 3, 3, 0}};

static const tile_gen_arg tick_args[] = {
    {"p", NULL, NULL, 4, TILE_ARG_PTR, 0, 0, 0, 0, {0, 0}},
    {"n", NULL, NULL, 1, TILE_ARG_SCALAR, 0, 0, TILE_DTYPE_INT, 64, {0, 0}}};
static const tile_gen_param tick_params[] = {{TILE_PARAM_VALUE, 1, 8, 0}, {TILE_PARAM_SEED, 0, 4, 0}};
static const tile_gen_variant tick_variants[] = {
    GPU("tick_90a", NULL, tick_params, NULL, 0, I_90A, 7, 0, 2, 0, 128, 0, 0),
    GPU("tick_942", NULL, tick_params, NULL, 0, I_942, 8, 0, 2, 0, 128, 0, 0),
    CPU("tick_v2", one_item, no_work, 0, I_V2), CPU("tick_v3", one_item, no_work, 0, I_V3)};
static const tile_gen_launch tick_launches[] = {{"tick.0", tick_variants, COUNT(tick_variants), 1, 2, 0}};

static const tile_gen_kernel kernels[] = {
    {"gemm", gemm_args, gemm_launches, 4, 3, 3, 1, 64, 0, 0},
    {"scale", scale_args, scale_launches, 3, 2, 4, 1, 32, TILE_KERNEL_INPLACE, 0},
    {"mask", mask_args, mask_launches, 2, 1, 0, 1, 64, 0, 0},
    {"tick", tick_args, tick_launches, 2, 0, 0, 1, 64, 0, 0}};
static void *state;
static const tile_gen_library library = {"t",           images,         kernels, &state, TILE_RT_ABI,
                                         COUNT(images), COUNT(kernels), 9,       0};

/*===- Host functions ---------------------------------------------------------*/

static tile_status gemm_host(int32_t mode, const tile_launch *launch, uint64_t *bytes, const tile_tensor *A,
                             const tile_tensor *B, const tile_tensor *C, float alpha) {
  tile_call call;
  const tile_tensor *tensors[3] = {A, B, C};
  int64_t sym[3];
  uint64_t views[15];
  tile_status s = tile_rt_begin(&call, &library, 0, mode, launch, bytes, tensors, sym, views);
  if (s)
    return s;
  if (sym[K] % 2 != 0 &&
      (s = tile_rt_fail(&call, TILE_ERR_PRECONDITION, -1, -1, 0, 0, "K % 2 == 0 and \"%n\"")))
    return s;
  uint64_t work;
  if ((s = tile_rt_workspace(&call, sym[M] * 4, &work)))
    return s;
  uint64_t values[GEMM_SLOTS] = {(uint64_t)(sym[N] + 63) / 64, (uint64_t)(sym[M] + 63) / 64};
  memcpy(values + SLOT_A, views, sizeof(views));
  memcpy(values + SLOT_ALPHA, &alpha, sizeof(alpha));
  values[SLOT_WORK] = work;
  if ((s = tile_rt_launch(&call, 0, values)))
    return s;
  return next(tile_rt_end(&call));
}
tile_status t_gemm(const tile_launch *launch, const tile_tensor *A, const tile_tensor *B,
                   const tile_tensor *C, float alpha) {
  return gemm_host(TILE_MODE_RUN, launch, NULL, A, B, C, alpha);
}
tile_status t_gemm_check(const tile_tensor *A, const tile_tensor *B, const tile_tensor *C, float alpha) {
  return gemm_host(TILE_MODE_CHECK, NULL, NULL, A, B, C, alpha);
}
tile_status t_gemm_workspace(const tile_tensor *A, const tile_tensor *B, const tile_tensor *C, float alpha,
                             uint64_t *bytes) {
  return gemm_host(TILE_MODE_WORKSPACE, NULL, bytes, A, B, C, alpha);
}
tile_status t_load(tile_device device) { return tile_rt_load(&library, device); }

static tile_status scale_host(int32_t mode, const tile_launch *launch, const tile_tensor *X,
                              const tile_tensor *Y, float a) {
  tile_call call;
  const tile_tensor *tensors[2] = {X, Y};
  int64_t sym[4];
  uint64_t values[12];
  tile_status s = tile_rt_begin(&call, &library, 1, mode, launch, NULL, tensors, sym, values + 1);
  if (s)
    return s;
  values[0] = (uint64_t)sym[S_M];
  memcpy(&values[11], &a, sizeof(a));
  if ((s = tile_rt_launch(&call, 0, values)))
    return s;
  return next(tile_rt_end(&call));
}
tile_status t_scale(const tile_launch *launch, const tile_tensor *X, const tile_tensor *Y, float a) {
  return scale_host(TILE_MODE_RUN, launch, X, Y, a);
}
tile_status t_scale_check(const tile_tensor *X, const tile_tensor *Y, float a) {
  return scale_host(TILE_MODE_CHECK, NULL, X, Y, a);
}

static tile_status mask_host(int32_t mode, const tile_launch *launch, const tile_tensor *T, int32_t n) {
  tile_call call;
  const tile_tensor *tensors[1] = {T};
  uint64_t v[7];
  tile_status s = tile_rt_begin(&call, &library, 2, mode, launch, NULL, tensors, NULL, v);
  if (s)
    return s;
  if ((int64_t)v[1] != 2 * (int64_t)n &&
      (s = tile_rt_fail(&call, TILE_ERR_SHAPE, 0, 0, 2 * (int64_t)n, (int64_t)v[1], "2 * n")))
    return s;
  if ((int64_t)v[2] != n / 2 &&
      (s = tile_rt_fail(&call, TILE_ERR_SHAPE, 0, 1, n / 2, (int64_t)v[2], "n // 2")))
    return s;
  /* An absurd grid on purpose: its size is the test's to choose. */
  uint64_t values[3] = {v[1], v[1], v[1]};
  if ((s = tile_rt_launch(&call, 0, values)))
    return s;
  return next(tile_rt_end(&call));
}
tile_status t_mask(const tile_launch *launch, const tile_tensor *T, int32_t n) {
  return mask_host(TILE_MODE_RUN, launch, T, n);
}
tile_status t_mask_check(const tile_tensor *T, int32_t n) { return mask_host(TILE_MODE_CHECK, NULL, T, n); }

static tile_status tick_host(int32_t mode, const tile_launch *launch, void *p, int64_t n) {
  tile_call call;
  tile_status s = tile_rt_begin(&call, &library, 3, mode, launch, NULL, NULL, NULL, NULL);
  if (s)
    return s;
  uint64_t values[2] = {(uint64_t)n, (uint64_t)(uintptr_t)p};
  if ((s = tile_rt_launch(&call, 0, values)))
    return s;
  return next(tile_rt_end(&call));
}
tile_status t_tick(const tile_launch *launch, void *p, int64_t n) {
  return tick_host(TILE_MODE_RUN, launch, p, n);
}
tile_status t_tick_check(void *p, int64_t n) { return tick_host(TILE_MODE_CHECK, NULL, p, n); }

/*===- Odd libraries ----------------------------------------------------------*/

static const tile_gen_dim one_dim[] = {DIM(TILE_DIM_BIND, 0, 0, "n")};
static const tile_gen_arg one_arg[] = {
    {"X", one_dim, NULL, 4, TILE_ARG_TENSOR, 1, TILE_ACCESS_INOUT, TILE_DTYPE_FLOAT, 32, {0, 0}}};
static const tile_gen_condition picky_conditions[] = {{16, "n is a multiple of 16", TILE_COND_MULTIPLE, 2},
                                                      {1000, "n is at most 1000", TILE_COND_LE, 2}};
static const tile_gen_condition equal_conditions[] = {{7, "n is 7", TILE_COND_EQ, 2}};
static const tile_gen_variant picky_variants[] = {
    {"picky_16", picky_conditions, NULL, NULL, one_item, no_work, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0},
    {"picky_7", equal_conditions, NULL, NULL, one_item, no_work, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}};
static const tile_gen_launch picky_launches[] = {{"picky.0", picky_variants, 2, 1, 4, 0}};
static const tile_gen_kernel picky_kernels[] = {{"picky", one_arg, picky_launches, 1, 1, 1, 1, 64, 0, 0}};
static const tile_gen_image picky_images[] = {{"x86-64-v2", NULL, 0, TILE_IMAGE_CPU, 0}};
static void *picky_state, *old_state, *bare_state;
static const tile_gen_library picky = {
    "picky", picky_images, picky_kernels, &picky_state, TILE_RT_ABI, 1, 1, 0, 0};
static const tile_gen_library old_library = {
    "old", picky_images, picky_kernels, &old_state, TILE_RT_ABI + 1, 1, 1, 0, 0};
static const tile_gen_library bare = {"bare", images, picky_kernels, &bare_state, TILE_RT_ABI, 2, 1, 0, 0};

static tile_status one_host(const tile_gen_library *lib, int32_t mode, const tile_launch *launch,
                            const tile_tensor *X) {
  tile_call call;
  int64_t n;
  uint64_t values[4] = {1};
  tile_status s = tile_rt_begin(&call, lib, 0, mode, launch, NULL, &X, &n, values + 1);
  if (s || (s = tile_rt_launch(&call, 0, values)))
    return s;
  return next(tile_rt_end(&call));
}
tile_status t_old_abi(const tile_launch *launch, const tile_tensor *X) {
  tile_device cpu = {TILE_DEVICE_CPU, 0};
  if (!X)
    return tile_rt_load(&old_library, cpu);
  return one_host(&old_library, TILE_MODE_RUN, launch, X);
}
tile_status t_no_image(const tile_launch *launch, const tile_tensor *X) {
  return one_host(&bare, TILE_MODE_RUN, launch, X);
}
tile_status t_picky(const tile_launch *launch, const tile_tensor *X, int32_t mode) {
  return one_host(&picky, mode, launch, X);
}

/*===- A launch with points ---------------------------------------------------*/

#define POINT(symbol, conditions, count, function, point, trip)                                              \
  {symbol, conditions, tuned_params, NULL, NULL, NULL, 0,     0,    0,  I_90A, function, count,              \
   2,      0,          128,          1,    0,    0,    point, trip, 10, 1000,  1,        0}
static const tile_gen_param tuned_params[] = {{TILE_PARAM_VALUE, 0, 8, 0}, {TILE_PARAM_VALUE, 1, 8, 0}};
static const tile_gen_condition page[] = {{4096, "p is a multiple of 4096", TILE_COND_MULTIPLE, 1}};
static const tile_gen_variant tuned_variants[] = {POINT("tuned_256", NULL, 0, 0, 0, 100),
                                                  POINT("tuned_64", NULL, 0, 1, 1, 30),
                                                  POINT("tuned_128", page, 1, 2, 2, 45)};
static const tile_gen_launch tuned_launches[] = {{"tuned.0", tuned_variants, 3, 1, 2, 2}};
static const tile_gen_kernel tuned_kernels[] = {{"tuned", tick_args, tuned_launches, 2, 0, 0, 1, 64, 0, 0}};
static void *tuned_state;
static const tile_gen_library tuned = {"tuned", images, tuned_kernels, &tuned_state, TILE_RT_ABI, 1, 1, 3, 0};

tile_status t_tuned(const tile_launch *launch, void *p, int64_t n, int64_t trips) {
  tile_call call;
  tile_status s = tile_rt_begin(&call, &tuned, 0, TILE_MODE_RUN, launch, NULL, NULL, NULL, NULL);
  if (s)
    return s;
  uint64_t t = (uint64_t)trips, count = (uint64_t)n;
  uint64_t values[7] = {(count + 255) / 256, (uint64_t)(uintptr_t)p, t, t, t,
                        (count + 63) / 64,   (count + 127) / 128};
  if ((s = tile_rt_launch(&call, 0, values)))
    return s;
  return next(tile_rt_end(&call));
}
