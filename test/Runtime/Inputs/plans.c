/*===- plans.c - the short ways of a warm call give what the long ways give --===*/
#include "rt_tensors.h"
#include "tile_rt_internal.h"

#include <pthread.h>

static uint64_t random_state = 1;
static uint64_t draw(uint64_t count) { /* Knuth's generator */
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (random_state >> 33) % count;
}

/*===- Which variant, which maps ---------------------------------------------*/

/* Two tensor maps need rows and addresses of multiples of 16 bytes, the variant at least 8 rows. */
static int takes_maps(const rt_gemm *g) {
  return g->A.shape[0] >= 8 && g->A.shape[1] % 8 == 0 && g->B.shape[1] % 8 == 0 &&
         (uintptr_t)g->A.t.data % 16 == 0 && (uintptr_t)g->B.t.data % 16 == 0;
}

/* Shapes and addresses come again and again, in any order; each launch must be as if it were the first. */
static void test_random_calls(const fake_control *fake) {
  static const int64_t rows[] = {4, 8, 64, 65, 200}, columns[] = {8, 64, 66, 136},
                       depths[] = {8, 16, 34, 128};
  rt_gemm g;
  fake_launch l;
  int encoded = fake->calls("cuTensorMapEncodeTiled"), replaced = fake->calls("cuTensorMapReplaceAddress");
  for (int i = 0; i < 5000; ++i) {
    rt_gemm_set(&g, TILE_DEVICE_CUDA, rows[draw(5)], columns[draw(4)], depths[draw(4)]);
    g.A.t.data = (char *)g.A.t.data + 8 * draw(40);
    g.B.t.data = (char *)g.B.t.data + 8 * draw(4);
    g.C.t.data = (char *)g.C.t.data + 4 * draw(9);
    float alpha = (float)draw(5);
    int32_t bits;
    memcpy(&bits, &alpha, sizeof(bits));
    CHECK_EQ(t_gemm(&g.launch, &g.A.t, &g.B.t, &g.C.t, alpha), TILE_OK);
    fake->last_launch(&l);
    int maps = takes_maps(&g);
    int64_t blocks = (g.C.shape[0] + 63) / 64 * ((g.C.shape[1] + 63) / 64);
    CHECK(strcmp(l.symbol, maps ? "gemm_tma" : "gemm_plain") == 0);
    CHECK_EQ(l.grid[0], blocks);
    CHECK_EQ(l.params[maps ? 2 : 1], (uintptr_t)g.A.t.data);
    if (!maps)
      continue;
    CHECK_EQ(l.params[3], (uintptr_t)g.B.t.data);
    CHECK_EQ(l.params[4], (uintptr_t)g.C.t.data);
    CHECK_EQ(l.params[5], g.C.shape[1]);
    CHECK_EQ(l.params[6], bits);
  }
  CHECK(fake->calls("cuTensorMapEncodeTiled") > encoded);
  CHECK(fake->calls("cuTensorMapReplaceAddress") > replaced);
}

static void test_what_is_made_anew(const fake_control *fake) {
  rt_gemm g;
  fake_map m;
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 1000, 200, 64);
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
#define COSTS(change, encodes, replaces)                                                                     \
  do {                                                                                                       \
    int encoded = fake->calls("cuTensorMapEncodeTiled"),                                                     \
        replaced = fake->calls("cuTensorMapReplaceAddress");                                                 \
    change;                                                                                                  \
    CHECK_EQ(rt_gemm_run(&g), TILE_OK);                                                                      \
    CHECK_EQ(fake->calls("cuTensorMapEncodeTiled") - encoded, encodes);                                      \
    CHECK_EQ(fake->calls("cuTensorMapReplaceAddress") - replaced, replaces);                                 \
  } while (0)
  COSTS((void)0, 0, 0);
  COSTS(g.C.t.data = (char *)g.C.t.data + 4096, 0, 0); /* C has no map */
  COSTS(g.A.t.data = (char *)g.A.t.data + 4096, 0, 1);
  COSTS(g.B.t.byte_offset = 64, 0, 1);
  fake->last_map(&m);
  CHECK_EQ(m.address, 0x200000040);
  COSTS(rt_gemm_set(&g, TILE_DEVICE_CUDA, 1000, 208, 64), 2, 0);
  COSTS(rt_gemm_set(&g, TILE_DEVICE_CUDA, 1000, 200, 64), 0, 2); /* a grid of its own: still there */
  COSTS(tile_rt_shutdown(), 2, 0);
  COSTS(fake->fail("cuTensorMapReplaceAddress", 1, 1);
        g.A.t.data = (char *)g.A.t.data + 4096, 1, 1); /* the driver will not: made anew */
  /* A map that could not be made is not kept, nor one whose address could not be replaced. */
  g.A.t.data = (char *)g.A.t.data + 4096;
  fake->fail("cuTensorMapReplaceAddress", 1, 1);
  fake->fail("cuTensorMapEncodeTiled", 1, 1);
  CHECK_EQ(rt_gemm_run(&g), TILE_ERR_TENSOR_MAP);
  COSTS((void)0, 1, 0);
  fake->fail("cuTensorMapEncodeTiled", 1, 1);
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 1000, 216, 64);
  CHECK_EQ(rt_gemm_run(&g), TILE_ERR_TENSOR_MAP);
  COSTS((void)0, 2, 0);
  /* Another image has other variants. */
  fake_launch l;
  CHECK_EQ(tile_rt_set_image_filter("compute_80"), TILE_OK);
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  fake->last_launch(&l);
  CHECK(strcmp(l.symbol, "gemm_80") == 0);
  CHECK_EQ(tile_rt_set_image_filter(NULL), TILE_OK);
  COSTS((void)0, 2, 0);
#undef COSTS
}

/* Conditions on extents, without a tensor map: multiples of 16 up to 1000, or 7. */
static void test_conditions(void) {
  rt_tensor X;
  for (int i = 0; i < 2000; ++i) {
    const int64_t n = draw(4) ? (int64_t)(16 * draw(100) + 16 - draw(3)) : 7;
    rt_set(&X, 0x10000, TILE_DEVICE_CPU, TILE_DTYPE_FLOAT, 32, 1, &n);
    CHECK_EQ(t_picky(NULL, &X.t, TILE_MODE_CHECK),
             (n % 16 == 0 && n <= 1000) || n == 7 ? TILE_OK : TILE_ERR_NO_VARIANT);
  }
}

/* A log function that launches in the middle of a launch, whose tensor maps it must leave alone. */
static rt_gemm inner;
static int depth;
static void launch_from_log(void *user, int32_t level, const char *text) {
  (void)user;
  (void)level;
  (void)text;
  if (depth++ == 0)
    for (int i = 0; i < 64; ++i) {
      rt_gemm_set(&inner, TILE_DEVICE_CUDA, 64 * (i + 1), 64, 64);
      inner.A.t.data = (char *)inner.A.t.data + 65536;
      CHECK_EQ(rt_gemm_run(&inner), TILE_OK);
    }
  --depth;
}

static void test_launch_from_log(const fake_control *fake) {
  rt_gemm g;
  fake_launch l;
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 1000, 200, 64);
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  int replaced = fake->calls("cuTensorMapReplaceAddress");
  tile_set_log(launch_from_log, NULL);
  CHECK_EQ(rt_gemm_run(&g), TILE_OK);
  tile_set_log(NULL, NULL);
  CHECK_EQ(fake->calls("cuTensorMapReplaceAddress"), replaced); /* its maps were not touched */
  fake->last_launch(&l);
  CHECK_EQ(l.grid[0], 64);
  CHECK_EQ(l.params[2], 0x100000000);
}

/* Each thread has its own; AddressSanitizer sees whether they go with it. */
static void *run_gemm(void *g) { return (void *)(intptr_t)rt_gemm_run(g); }

static void test_threads(void) {
  rt_gemm g;
  pthread_t threads[8];
  rt_gemm_set(&g, TILE_DEVICE_CUDA, 1000, 200, 64);
  for (int i = 0; i < 8; ++i)
    CHECK_EQ(pthread_create(&threads[i], NULL, run_gemm, &g), 0);
  for (int i = 0; i < 8; ++i) {
    void *status;
    pthread_join(threads[i], &status);
    CHECK_EQ((intptr_t)status, TILE_OK);
  }
}

/*===- Are the tensors in order? ----------------------------------------------*/

enum { RANK = 3, TENSORS = 3, SYMBOLS = 12, WORDS = TENSORS * (1 + 2 * RANK) };

typedef struct random_kernel {
  tile_gen_dim dims[TENSORS][RANK], strides[TENSORS][RANK];
  tile_gen_arg args[TENSORS + 1];
  tile_gen_kernel kernel;
} random_kernel;

/* A signature of up to three tensors; dimensions and strides that are equal come after their binding. */
static void make_kernel(random_kernel *k) {
  int32_t bound = 0, n = 1 + (int32_t)draw(TENSORS);
  memset(k, 0, sizeof(*k));
  for (int32_t t = 0; t < n; ++t) {
    tile_gen_arg *a = &k->args[t];
    *a = (tile_gen_arg){"T",
                        k->dims[t],
                        NULL,
                        1 << draw(5),
                        TILE_ARG_TENSOR,
                        (int32_t)draw(RANK + 1),
                        1 + (int32_t)draw(3),
                        TILE_DTYPE_FLOAT,
                        (uint8_t)(draw(8) ? 32 : 4),
                        {0, 0}};
    for (int32_t i = 0; i < a->rank; ++i) {
      tile_gen_dim *d = &k->dims[t][i];
      d->text = "d";
      d->kind = (int32_t)draw(bound ? 4 : 3);
      d->value = (int64_t)(1 + draw(3));
      d->symbol = d->kind == TILE_DIM_BIND ? bound++ : bound ? (int32_t)draw((uint64_t)bound) : 0;
    }
  }
  for (int32_t t = 0; t < n; ++t) {
    tile_gen_arg *a = &k->args[t];
    if (a->rank && draw(2))
      a->strides = k->strides[t];
    for (int32_t j = 0; a->strides && j < a->rank; ++j) {
      tile_gen_dim *d = &k->strides[t][j];
      *d = (tile_gen_dim){1, "s", (int32_t)draw(bound ? 4 : 3), 0};
      d->symbol = d->kind == TILE_DIM_BIND && bound < SYMBOLS ? bound++ : 0;
    }
  }
  k->args[n].name = "scalar";
  k->args[n].kind = TILE_ARG_SCALAR;
  k->kernel = (tile_gen_kernel){"random",          k->args,          NULL, n + 1, n, SYMBOLS, 0,
                                draw(2) ? 32 : 64, (int32_t)draw(2), 0};
}

static int64_t extent(void) {
  static const int64_t rare[] = {0, -1, INT64_C(1) << 33, INT64_C(1) << 33, INT64_C(1) << 62};
  return draw(10) ? (int64_t)(1 + draw(3)) : rare[draw(5)];
}

static void make_tensor(rt_tensor *x, const tile_gen_arg *a) {
  static const int64_t shape[RANK] = {1, 1, 1};
  rt_set(x, (uintptr_t)(16 * (1 + draw(1000))), TILE_DEVICE_CUDA, TILE_DTYPE_FLOAT, a->dtype_bits, a->rank,
         shape);
  int64_t rows = 1;
  for (int32_t i = a->rank; i-- > 0;) {
    x->shape[i] = a->dims[i].kind == TILE_DIM_CONST && draw(20) ? a->dims[i].value : extent();
    x->strides[i] = draw(6) ? rows : (int64_t)draw(9) - 2;
    rows *= x->shape[i] > 0 && x->shape[i] < 4 ? x->shape[i] : 1; /* huge extents in small steps */
  }
  x->t.strides = draw(2) ? x->strides : NULL;
  switch (draw(40)) {
  case 0:
    x->t.data = NULL;
    break;
  case 1:
    x->t.shape = NULL;
    break;
  case 2:
    x->t.ndim += 1;
    break;
  case 3:
    x->t.dtype.bits = 8;
    break;
  case 4:
    x->t.dtype.lanes = 2;
    break;
  case 5:
    x->t.device.id = 1;
    break;
  case 6:
    x->t.device.type = 7;
    break;
  case 7:
    x->t.byte_offset = 16 * draw(9) - 64;
    break;
  case 8:
    x->t.byte_offset = 1;
    break;
  case 9:
    x->t.data = (void *)(uintptr_t)(0 - (uint64_t)16 * (1 + draw(4)));
    break;
  default:
    break;
  }
}

/* Every kernel has a library of its own. */
static void *library_serial;
static const tile_gen_library library = {.name = "random", .state = &library_serial};

static call_state state_of(const random_kernel *k, const uint64_t *views) {
  call_state call = {0};
  call.library = &library;
  call.kernel = &k->kernel;
  call.views = views;
  call.mode = TILE_MODE_CHECK;
  call.backend = BACKEND_NONE;
  call.device = -1;
  return call;
}

/* Other addresses, or something that may be wrong. */
static void change_tensor(rt_tensor *x, const tile_gen_arg *a) {
  int64_t axis = a->rank ? (int64_t)draw((uint64_t)a->rank) : 0;
  switch (draw(12)) {
  case 0:
    make_tensor(x, a);
    break;
  case 1:
    x->shape[axis] = extent();
    break;
  case 2:
    x->strides[axis] += 1;
    break;
  case 3:
    x->t.strides = x->t.strides ? NULL : x->strides;
    break;
  case 4:
    x->t.byte_offset += 1 + draw(16);
    break;
  case 5:
    x->t.data = (void *)(uintptr_t)(0 - (uint64_t)16 * (1 + draw(4)));
    break;
  default:
    x->t.data = (void *)(uintptr_t)(16 * (1 + draw(1000)));
    break;
  }
}

/* Tensors that passed once and change step by step: whatever is known to be in order passes the checks in
 * order, which make the same of it. Answers how many calls were known. */
static int try_known(const random_kernel *k, rt_tensor *tensors, const tile_tensor *const *list, int steps) {
  int known = 0;
  for (int step = 0; step < steps; ++step) {
    int64_t symbols[2][SYMBOLS] = {{0}};
    uint64_t views[2][WORDS] = {{0}};
    call_state quick = state_of(k, views[0]), slow = state_of(k, views[1]);
    if (tilert_accept_known(&quick, list, symbols[0], views[0])) {
      ++known;
      CHECK_EQ(tilert_check_in_order(&slow, NULL, list, symbols[1], views[1]), TILE_OK);
      CHECK(memcmp(symbols[0], symbols[1], sizeof(symbols[0])) == 0);
      CHECK(memcmp(views[0], views[1], sizeof(views[0])) == 0);
      CHECK_EQ(quick.backend, slow.backend);
      CHECK_EQ(quick.device, slow.device);
    }
    uint64_t which = draw((uint64_t)k->kernel.num_tensors);
    change_tensor(&tensors[which], &k->args[which]);
  }
  return known;
}

/* The same stamp is given for the same tensors at the same addresses, and none where the caller gives more.
 */
static void test_stamps(void) {
  random_kernel k;
  rt_tensor x;
  const tile_tensor *list[1] = {&x.t};
  const int64_t shape[1] = {2};
  int64_t symbols[1] = {0};
  uint64_t views[WORDS], stamps[5];
  memset(&k, 0, sizeof(k));
  k.dims[0][0] = (tile_gen_dim){0, "m", TILE_DIM_ANY, 0};
  k.args[0] = (tile_gen_arg){"T", k.dims[0], NULL, 4, TILE_ARG_TENSOR, 1, TILE_ACCESS_OUT, TILE_DTYPE_FLOAT,
                             32,  {0, 0}};
  k.args[1].kind = TILE_ARG_SCALAR;
  for (int32_t scalars = 0; scalars < 2; ++scalars) {
    k.kernel = (tile_gen_kernel){"stamps", k.args, NULL, 1 + scalars, 1, 0, 1, 64, 0, 0};
    library_serial = &k.args[scalars];
    rt_set(&x, 64, TILE_DEVICE_CUDA, TILE_DTYPE_FLOAT, 32, 1, shape);
    for (int i = 0; i < 5; ++i) {
      call_state call = state_of(&k, views);
      x.t.data = (void *)(uintptr_t)(i == 3 ? 128 : 64);
      CHECK_EQ(tilert_accept_known(&call, list, symbols, views), i > 0);
      CHECK(i > 0 || tilert_accept(&call, list, symbols, views));
      stamps[i] = call.stamp;
    }
    CHECK_EQ(stamps[0], 0);
    CHECK(scalars ? stamps[1] == 0 : stamps[1] != 0);
    CHECK_EQ(stamps[1], stamps[2]);
    CHECK(scalars || (stamps[3] != stamps[2] && stamps[4] != stamps[3]));
  }
}

/* A stamp stands for the values of the first launch of a call; those of later ones are compared. */
static void test_plan_by_stamp(void) {
  static const tile_gen_condition even = {2, "even", TILE_COND_MULTIPLE, 1};
  static const tile_gen_variant variant = {.symbol = "v", .conditions = &even, .num_conditions = 1};
  static const tile_gen_launch launch = {"l", &variant, 1, 1, 2, 0};
  random_kernel k;
  uint64_t values[2][2] = {{1, 4}, {1, 5}};
  memset(&k, 0, sizeof(k));
  call_state call = state_of(&k, NULL);
  const struct {
    uint64_t stamp;
    int values, known;
  } steps[] = {{7, 0, 0}, {7, 0, 1}, {7, 1, 1}, {0, 0, 1}, {8, 0, 1}, {0, 1, 0}, {7, 1, 1}, {9, 0, 1}};
  for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); ++i) {
    call.stamp = steps[i].stamp;
    launch_plan *plan = tilert_take_plan(&call, &launch, values[steps[i].values]);
    CHECK(plan && (plan->variant != NULL) == steps[i].known);
    CHECK_EQ(call.stamp, 0);
    plan->variant = &variant;
    tilert_release_plan(plan);
  }
}

/* A scalar that extents refer to is the caller's: the same tensors with another one are new. */
static void test_given_symbols(void) {
  random_kernel k;
  rt_tensor x;
  const tile_tensor *list[1] = {&x.t};
  const int64_t shape[1] = {2};
  uint64_t views[WORDS];
  memset(&k, 0, sizeof(k));
  k.dims[0][0] = (tile_gen_dim){0, "m", TILE_DIM_EQUAL, 1};
  k.args[0] = (tile_gen_arg){"T", k.dims[0], NULL, 4, TILE_ARG_TENSOR, 1, TILE_ACCESS_OUT, TILE_DTYPE_FLOAT,
                             32,  {0, 0}};
  k.kernel = (tile_gen_kernel){"given", k.args, NULL, 1, 1, 2, 0, 64, 0, 0};
  library_serial = &k;
  rt_set(&x, 64, TILE_DEVICE_CUDA, TILE_DTYPE_FLOAT, 32, 1, shape);
  for (int64_t m = 2; m >= 1; --m)
    for (int again = 0; again < 2; ++again) {
      int64_t symbols[2] = {0, m};
      call_state call = state_of(&k, views);
      CHECK_EQ(tilert_accept_known(&call, list, symbols, views), m == 2 && again);
      CHECK_EQ(tilert_accept(&call, list, symbols, views), m == 2);
    }
}

/* What is accepted at once passes the checks in order too, and makes the same of it. */
static void test_acceptance(int count) {
  int accepted = 0, refused = 0, both = 0, known = 0;
  for (int i = 0; i < count; ++i) {
    random_kernel k;
    rt_tensor tensors[TENSORS];
    const tile_tensor *list[TENSORS];
    int64_t symbols[2][SYMBOLS] = {{0}};
    uint64_t views[2][WORDS] = {{0}};
    make_kernel(&k);
    library_serial = (void *)((uintptr_t)i + 1);
    for (int32_t t = 0; t < k.kernel.num_tensors; ++t) {
      make_tensor(&tensors[t], &k.args[t]);
      list[t] = &tensors[t].t;
    }
    call_state quick = state_of(&k, views[0]), slow = state_of(&k, views[1]);
    int first = tilert_accept(&quick, list, symbols[0], views[0]);
    tile_status second = tilert_check_in_order(&slow, NULL, list, symbols[1], views[1]);
    accepted += first;
    refused += second != TILE_OK;
    both += second == TILE_OK && !first;
    if (!first)
      continue;
    CHECK_EQ(second, TILE_OK);
    CHECK(memcmp(symbols[0], symbols[1], sizeof(symbols[0])) == 0);
    CHECK(memcmp(views[0], views[1], sizeof(views[0])) == 0);
    CHECK_EQ(quick.backend, slow.backend);
    CHECK_EQ(quick.device, slow.device);
    known += try_known(&k, tensors, list, 8);
  }
  printf("accepted %d, refused %d, fine at a closer look %d, known %d\n", accepted, refused, both, known);
  CHECK(accepted > count / 20 && refused > count / 20 && both > count / 400 && known > 2 * accepted);
}

int main(int argc, char **argv) {
  const fake_control *fake = rt_fake("TILE_CUDA_LIBRARY", "fake_cuda_control");
  test_random_calls(fake);
  test_what_is_made_anew(fake);
  test_conditions();
  test_launch_from_log(fake);
  test_threads();
  test_given_symbols();
  test_stamps();
  test_plan_by_stamp();
  test_acceptance(argc > 1 ? atoi(argv[1]) : 400000);
  tile_rt_shutdown();
  CHECK_EQ(fake->mistakes(), 0);
  return rt_report("plans");
}
