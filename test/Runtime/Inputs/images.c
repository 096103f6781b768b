/*===- images.c - which image for which device, and which views are maps ----===*/
#include "rt_test.h"
#include "tile_rt_internal.h"

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

/* The image of the list that a device gets; "" = none. */
static const char *choose(const device_traits *device, const char *list) {
  static char best[64];
  int32_t best_rank = 0;
  best[0] = 0;
  char text[256], *rest = text;
  snprintf(text, sizeof(text), "%s", list);
  for (char *name; (name = strtok_r(rest, " ", &rest)) != NULL;) {
    int64_t shared = 1000;
    char *at = strchr(name, '@'); /* sm_80@160000: needs that much shared memory */
    if (at) {
      *at = 0;
      shared = atoll(at + 1);
    }
    int32_t kind = strncmp(name, "sm_", 3) == 0        ? TILE_IMAGE_CUBIN
                   : strncmp(name, "compute_", 8) == 0 ? TILE_IMAGE_PTX
                   : strncmp(name, "gfx", 3) == 0      ? TILE_IMAGE_HSACO
                                                       : TILE_IMAGE_CPU;
    int32_t rank = tilert_rank_image(device, kind, name, shared, 1000);
    if (rank > best_rank) {
      best_rank = rank;
      snprintf(best, sizeof(best), "%s", name);
    }
  }
  return best;
}

static void expect_image(int line, const device_traits *device, const char *list, const char *want) {
  const char *got = choose(device, list);
  ++checks_done;
  if (strcmp(got, want) == 0)
    return;
  ++checks_failed;
  fprintf(stderr, "line %d: of \"%s\" got \"%s\", expected \"%s\"\n", line, list, got, want);
}

static void nvidia_images(void) {
  static const struct {
    int line, major, minor;
    const char *list, *want;
  } cases[] = {
      /* the chip itself; `a` before `f` before plain, whatever the order */
      {__LINE__, 9, 0, "sm_90 sm_90a compute_90", "sm_90a"},
      {__LINE__, 9, 0, "compute_90 sm_80 sm_90", "sm_90"},
      {__LINE__, 10, 0, "sm_100 sm_100f sm_100a", "sm_100a"},
      {__LINE__, 10, 0, "sm_100 sm_100f", "sm_100f"},
      /* `a` runs nowhere else */
      {__LINE__, 10, 0, "sm_90a", ""},
      {__LINE__, 10, 3, "sm_100a", ""},
      {__LINE__, 12, 1, "sm_120a compute_120a", ""},
      /* family: same major, at least its minor */
      {__LINE__, 10, 3, "sm_100f sm_100", "sm_100f"},
      {__LINE__, 10, 3, "sm_103f sm_100f", "sm_103f"},
      {__LINE__, 10, 0, "sm_103f", ""},
      {__LINE__, 12, 0, "sm_100f", ""},
      /* older minor of the same major, the highest */
      {__LINE__, 8, 9, "sm_80 sm_86", "sm_86"},
      {__LINE__, 8, 6, "sm_80 sm_89", "sm_80"},
      {__LINE__, 8, 0, "sm_86", ""},
      {__LINE__, 8, 7, "sm_80 compute_86", "sm_80"},
      /* machine code never crosses a major version, PTX does */
      {__LINE__, 9, 0, "sm_80", ""},
      {__LINE__, 9, 0, "sm_80 compute_80", "compute_80"},
      {__LINE__, 9, 0, "compute_80 compute_75 compute_90", "compute_90"},
      {__LINE__, 12, 0, "compute_90a compute_80", "compute_80"},
      {__LINE__, 9, 0, "compute_90a compute_90", "compute_90a"},
      {__LINE__, 10, 3, "compute_100f compute_100", "compute_100f"},
      {__LINE__, 12, 0, "compute_100f compute_80", "compute_80"},
      {__LINE__, 7, 5, "compute_80 sm_80", ""},
      /* what does not fit is the last resort: PTX first, then the misfit itself */
      {__LINE__, 8, 6, "sm_80@163000 compute_80", "compute_80"},
      {__LINE__, 8, 6, "sm_80@163000 sm_86", "sm_86"},
      {__LINE__, 8, 6, "sm_80@163000", "sm_80"},
      /* other makers' images and nonsense */
      {__LINE__, 9, 0, "gfx942 x86-64-v3 sm_9 sm_90x sm_ sm_90aa compute_ sm_99999", ""},
  };
  for (int32_t i = 0; i < COUNT(cases); ++i) {
    device_traits d = {BACKEND_CUDA, cases[i].major, cases[i].minor, NULL, 0, 101376, 65536};
    expect_image(cases[i].line, &d, cases[i].list, cases[i].want);
  }
  device_traits few = {BACKEND_CUDA, 9, 0, NULL, 0, 232448, 500};
  CHECK(tilert_rank_image(&few, TILE_IMAGE_CUBIN, "sm_90a", 0, 501) <
        tilert_rank_image(&few, TILE_IMAGE_CUBIN, "sm_90", 0, 500));
}

static void amd_images(void) {
  static const struct {
    int line;
    const char *target, *list, *want;
  } cases[] = {
      {__LINE__, "gfx942:sramecc+:xnack-", "gfx90a gfx942", "gfx942"},
      {__LINE__, "gfx942:sramecc+:xnack-", "gfx942 gfx942:xnack-", "gfx942:xnack-"},
      {__LINE__, "gfx942:sramecc+:xnack-", "gfx942:xnack+", ""},
      {__LINE__, "gfx942:sramecc+:xnack+", "gfx942:xnack+:sramecc+", "gfx942:xnack+:sramecc+"},
      {__LINE__, "gfx942", "gfx942:xnack+", ""},
      {__LINE__, "gfx942:sramecc+:xnack-", "gfx9-4-generic", "gfx9-4-generic"},
      {__LINE__, "gfx950:sramecc+:xnack-", "gfx942 gfx9-4-generic", "gfx9-4-generic"},
      {__LINE__, "gfx942", "gfx9-4-generic gfx942", "gfx942"},
      {__LINE__, "gfx90a:sramecc+:xnack-", "gfx9-generic gfx9-4-generic", ""},
      {__LINE__, "gfx906:sramecc+:xnack-", "gfx9-generic", "gfx9-generic"},
      {__LINE__, "gfx1036", "gfx10-3-generic gfx1030", "gfx10-3-generic"},
      {__LINE__, "gfx1100", "gfx11-generic gfx12-generic", "gfx11-generic"},
      {__LINE__, "gfx1201", "gfx11-generic gfx12-generic", "gfx12-generic"},
      {__LINE__, "gfx94", "gfx942", ""},
      {__LINE__, "gfx942", "gfx94 sm_90a compute_80 x86-64-v2", ""},
  };
  for (int32_t i = 0; i < COUNT(cases); ++i) {
    device_traits d = {BACKEND_HIP, 0, 0, cases[i].target, 0, 65536, INT64_MAX};
    expect_image(cases[i].line, &d, cases[i].list, cases[i].want);
  }
}

static void cpu_images(void) {
  static const char *const want[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
  for (int32_t level = 2; level <= 4; ++level) {
    device_traits d = {BACKEND_CPU, 0, 0, NULL, level, 0, 0};
    expect_image(__LINE__, &d, "x86-64-v3 x86-64-v2 x86-64-v4 sm_90a", want[level - 2]);
    expect_image(__LINE__, &d, "x86-64-v2", "x86-64-v2");
    expect_image(__LINE__, &d, "x86-64-v5 x86-64-v22 x86-64-v1", "");
  }
}

/*===- Tensor maps ------------------------------------------------------------*/

static const tile_gen_arg map_args[] = {
    {"in", NULL, NULL, 1, TILE_ARG_TENSOR, 3, TILE_ACCESS_IN, 2, 16, {0, 0}},
    {"out", NULL, NULL, 1, TILE_ARG_TENSOR, 3, TILE_ACCESS_OUT, 2, 16, {0, 0}}};
static const tile_gen_kernel map_kernel = {"k", map_args, NULL, 2, 2, 0, 0, 64, 0, 0};

static tile_gen_map good_map(void) {
  tile_gen_map m = {0, 3, 0, 6, 16, 3, {2, 1, 0}, {64, 8, 1}, {1, 1, 1}, 0, 3, 3, 0, {0, 0, 0}};
  return m;
}

static void expect_map(int line, const tile_gen_map *map, const uint64_t *values, const char *part,
                       int32_t dim) {
  map_geometry g;
  map_problem p = tilert_map_recipe(map);
  if (!p.text)
    p = tilert_map_geometry(&map_kernel, map, values, &g);
  ++checks_done;
  if (part ? p.text && strstr(p.text, part) && p.dim == dim : !p.text)
    return;
  ++checks_failed;
  fprintf(stderr, "line %d: got \"%s\" dim %d, expected \"%s\" dim %d\n", line, p.text ? p.text : "fine",
          p.dim, part ? part : "fine", dim);
}

static void maps_of_views(void) {
  tile_gen_map m = good_map();
  map_geometry g;
  /* address, sizes 2 x 30 x 100, strides */
  uint64_t v[7] = {0x10000, 2, 30, 100, 3120, 104, 1};
#define EXPECT(part, dim) expect_map(__LINE__, &m, v, part, dim)
#define WITH(place, value, part, dim)                                                                        \
  do {                                                                                                       \
    uint64_t saved_ = (uint64_t)(place);                                                                     \
    (place) = (value);                                                                                       \
    EXPECT(part, dim);                                                                                       \
    (place) = saved_;                                                                                        \
  } while (0)
#define WITH_MAP(field, value, part, dim)                                                                    \
  do {                                                                                                       \
    m.field = (value);                                                                                       \
    EXPECT(part, dim);                                                                                       \
    m = good_map();                                                                                          \
  } while (0)
  EXPECT(NULL, -1);
  CHECK(!tilert_map_geometry(&map_kernel, &m, v, &g).text);
  CHECK_EQ(g.dims[0], 100);
  CHECK_EQ(g.dims[1], 30);
  CHECK_EQ(g.dims[2], 2);
  CHECK_EQ(g.strides[1], 208);
  CHECK_EQ(g.strides[2], 6240);
  CHECK(tilert_map_is_small_and_sparse(&m, &g));
  /* A written tensor whose rows end inside 16 bytes: the engine would write beyond them. */
  WITH_MAP(arg, 1, "of a written tensor must be a multiple of 16 bytes", 2);
  WITH_MAP(arg, -1, "of a written tensor must be a multiple of 16 bytes", 2);
  v[3] = 104;
  WITH_MAP(arg, 1, NULL, -1);
  v[3] = 100;
  WITH(v[0], 0x10008, "address must be a multiple", -1);
  WITH(v[1], 0, "extent must be 1 to 2^32", 0);
  WITH(v[3], (UINT64_C(1) << 32) + 1, "extent must be 1 to 2^32", 2);
  WITH(v[6], 2, "innermost stride must be 1", 2);
  WITH(v[5], 100, "multiple of the required alignment", 1);
  WITH(v[5], 0, "must be positive", 1);
  WITH(v[4], (uint64_t)-3120, "must be positive", 0);
  WITH(v[4], UINT64_C(1) << 39, "below 2^40 bytes", 0);
  WITH_MAP(rank, 6, "1 to 5 dimensions", -1);
  WITH_MAP(rank, 0, "1 to 5 dimensions", -1);
  WITH_MAP(axes[1], 3, "an axis the view does not have", -1);
  WITH_MAP(box[1], 257, "1 to 256", 1);
  WITH_MAP(box[2], 0, "1 to 256", 0);
  WITH_MAP(elem_step[1], 9, "1 to 8", 1);
  WITH_MAP(box[0], 4, "multiple of 16 bytes", 2);
  WITH_MAP(box[0], 72, "must not exceed the swizzle width", 2);
  WITH_MAP(interleave, 2, "needs the 32-byte swizzle", -1);
  /* Strides of extents of 1 do not matter, whatever stands there. */
  v[1] = 1;
  v[4] = 7;
  EXPECT(NULL, -1);
  v[3] = 1;
  v[6] = 999;
  EXPECT(NULL, -1);
  v[2] = 1;
  v[5] = (uint64_t)-1;
  CHECK(!tilert_map_geometry(&map_kernel, &m, v, &g).text);
  CHECK_EQ(g.strides[1] % 16, 0);
  CHECK(g.strides[1] > 0);
  m.type = 14; /* packed 4-bit */
  m.elem_bits = 4;
  m.box[0] = 64;
  EXPECT("packed type must be 128", 2);
  m.box[0] = 128;
  EXPECT("multiple of its group", 2);
  v[3] = 128;
  v[6] = 1;
  EXPECT(NULL, -1);
}

int main(void) {
  nvidia_images();
  amd_images();
  cpu_images();
  maps_of_views();
  return rt_report("images");
}
