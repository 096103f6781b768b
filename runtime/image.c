/*===- image.c - which images of a library suit a device --------------------===*
 *
 * Pure functions of names and numbers, so that the whole matrix of images and
 * devices can be tested without any driver.
 *
 *===------------------------------------------------------------------------===*/
#include "tile_rt_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Classes of suitability, best first; the finer order is added to them. */
enum {
  RANK_EXACT = 4000000,
  RANK_FAMILY = 3000000,
  RANK_OLDER = 2000000,    /* same major version, lower minor */
  RANK_PORTABLE = 1000000, /* PTX, generic code objects */
  RANK_MISFIT = 10         /* right architecture, but too much shared memory or registers: a last resort */
};

/*===- NVIDIA -----------------------------------------------------------------*/

typedef struct nvidia_arch {
  int32_t number; /* 90, 120 */
  char suffix;    /* 'a', 'f' or 0 */
} nvidia_arch;

static int parse_nvidia(const char *arch, const char *prefix, nvidia_arch *out) {
  size_t n = strlen(prefix);
  if (strncmp(arch, prefix, n) != 0)
    return 0;
  char *end;
  long number = strtol(arch + n, &end, 10);
  if (end == arch + n || number < 10 || number > 9999)
    return 0;
  out->number = (int32_t)number;
  out->suffix = *end;
  return *end == 0 || ((*end == 'a' || *end == 'f') && end[1] == 0);
}

static int32_t suffix_order(char suffix) { return suffix == 'a' ? 2 : suffix == 'f' ? 1 : 0; }

/* Machine code runs on its own major version only. */
static int32_t rank_cubin(const device_traits *device, nvidia_arch arch) {
  int32_t major = arch.number / 10, minor = arch.number % 10;
  if (major != device->major || minor > device->minor)
    return 0;
  if (minor == device->minor)
    return RANK_EXACT + suffix_order(arch.suffix);
  if (arch.suffix == 'a')
    return 0;
  return (arch.suffix == 'f' ? RANK_FAMILY : RANK_OLDER) + minor;
}

/* PTX of an older architecture is compiled by the driver, arch-specific PTX only
   for its own chip or family. */
static int32_t rank_ptx(const device_traits *device, nvidia_arch arch) {
  int32_t number = device->major * 10 + device->minor;
  if (arch.number > number || (arch.suffix == 'a' && arch.number != number) ||
      (arch.suffix == 'f' && arch.number / 10 != device->major))
    return 0;
  return RANK_PORTABLE + arch.number * 4 + suffix_order(arch.suffix);
}

/*===- AMD --------------------------------------------------------------------*/

static const struct {
  const char *generic;
  const char *chips[10];
} amd_families[] = {
    {"gfx9-generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c", NULL}},
    {"gfx9-4-generic", {"gfx940", "gfx941", "gfx942", "gfx950", NULL}},
    {"gfx10-1-generic", {"gfx1010", "gfx1011", "gfx1012", "gfx1013", NULL}},
    {"gfx10-3-generic", {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036", NULL}},
    {"gfx11-generic",
     {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153", NULL}},
    {"gfx12-generic", {"gfx1200", "gfx1201", NULL}},
};

static int same_name(const char *name, const char *text, size_t size) {
  return strlen(name) == size && strncmp(name, text, size) == 0;
}

/* Each ":feature+" of the image must stand likewise in the device's target id;
   what the image leaves open fits both. Returns how many, -1: some do not. */
static int32_t match_features(const char *image, const char *device) {
  int32_t count = 0;
  while (*image == ':') {
    size_t n = strcspn(image + 1, ":") + 1;
    const char *d = strchr(device, ':');
    while (d && (strcspn(d + 1, ":") + 1 != n || strncmp(d, image, n) != 0))
      d = strchr(d + 1, ':');
    if (!d)
      return -1;
    ++count;
    image += n;
  }
  return *image ? -1 : count;
}

static int32_t rank_amd(const device_traits *device, const char *arch) {
  if (!device->target)
    return 0;
  size_t chip = strcspn(device->target, ":"), name = strcspn(arch, ":");
  int32_t features = match_features(arch + name, device->target);
  if (features < 0)
    return 0;
  if (name == chip && strncmp(arch, device->target, chip) == 0)
    return RANK_EXACT + features;
  for (size_t f = 0; f < sizeof(amd_families) / sizeof(amd_families[0]); ++f) {
    if (!same_name(amd_families[f].generic, arch, name))
      continue;
    for (const char *const *c = amd_families[f].chips; *c; ++c)
      if (same_name(*c, device->target, chip))
        return RANK_PORTABLE + features;
  }
  return 0;
}

/*===- All --------------------------------------------------------------------*/

static int32_t rank_cpu(const device_traits *device, const char *arch) {
  if (strncmp(arch, "x86-64-v", 8) != 0 || arch[8] < '2' || arch[8] > '4' || arch[9])
    return 0;
  int32_t level = arch[8] - '0';
  return level <= device->level ? level : 0;
}

int32_t tilert_rank_image(const device_traits *device, int32_t kind, const char *arch, int64_t need_shared,
                          int64_t need_registers) {
  int32_t rank = 0;
  nvidia_arch parsed;
  if (device->backend == BACKEND_CPU && kind == TILE_IMAGE_CPU)
    return rank_cpu(device, arch);
  if (device->backend == BACKEND_HIP && kind == TILE_IMAGE_HSACO)
    rank = rank_amd(device, arch);
  else if (device->backend == BACKEND_CUDA && kind == TILE_IMAGE_CUBIN && parse_nvidia(arch, "sm_", &parsed))
    rank = rank_cubin(device, parsed);
  else if (device->backend == BACKEND_CUDA && kind == TILE_IMAGE_PTX &&
           parse_nvidia(arch, "compute_", &parsed))
    rank = rank_ptx(device, parsed);
  if (rank && (need_shared > device->shared_limit || need_registers > device->register_limit))
    rank = RANK_MISFIT + rank / 1000000;
  return rank;
}

void tilert_device_name(const device_traits *device, char *text, size_t size) {
  if (device->backend == BACKEND_CUDA)
    snprintf(text, size, "sm_%d%d", device->major, device->minor);
  else if (device->backend == BACKEND_HIP)
    snprintf(text, size, "%s", device->target ? device->target : "unknown");
  else
    snprintf(text, size, "x86-64-v%d", device->level);
}

/* The most shared memory and registers that one block of some kernel needs. */
static void image_needs(const tile_gen_library *library, int32_t image, int64_t *shared, int64_t *registers) {
  *shared = *registers = 0;
  for (int32_t k = 0; k < library->num_kernels; ++k)
    for (int32_t l = 0; l < library->kernels[k].num_launches; ++l) {
      const tile_gen_launch *launch = &library->kernels[k].launches[l];
      for (int32_t v = 0; v < launch->num_variants; ++v) {
        const tile_gen_variant *variant = &launch->variants[v];
        if (variant->image != image)
          continue;
        int64_t s = variant->shared_bytes + variant->static_shared_bytes;
        int64_t r = (int64_t)variant->registers * variant->threads;
        *shared = s > *shared ? s : *shared;
        *registers = r > *registers ? r : *registers;
      }
    }
}

static int32_t rank_of(const tile_gen_library *library, int32_t image, const device_traits *device) {
  const tile_gen_image *i = &library->images[image];
  const char *filter = tilert_image_filter();
  if (filter && strcmp(filter, i->arch) != 0)
    return 0;
  int64_t shared, registers;
  image_needs(library, image, &shared, &registers);
  return tilert_rank_image(device, i->kind, i->arch, shared, registers);
}

static COLD tile_status fail_no_image(const tile_gen_library *library, const char *kernel,
                                      const device_traits *device) {
  char name[128], text[512];
  text_buffer list = {text, sizeof(text), 0};
  text[0] = 0;
  tilert_device_name(device, name, sizeof(name));
  for (int32_t i = 0; i < library->num_images; ++i)
    if (!i || strcmp(library->images[i].arch, library->images[i - 1].arch) != 0)
      tilert_append(&list, "%s%s", i ? ", " : "", library->images[i].arch);
  error_place place = NO_PLACE(kernel);
  const char *filter = tilert_image_filter();
  return tilert_fail(TILE_ERR_NO_IMAGE, &place, "no image for %s; this library has %s%s%s", name,
                     list.used ? text : "none", filter ? "; the image filter is " : "", filter ? filter : "");
}

/* Selects the images of the best architecture. */
tile_status tilert_select_images(const tile_gen_library *library, const char *kernel,
                                 const device_traits *device, loaded_state *loaded) {
  int32_t best = 0, best_rank = 0;
  for (int32_t i = 0; i < library->num_images; ++i) {
    int32_t rank = rank_of(library, i, device);
    if (rank > best_rank) {
      best_rank = rank;
      best = i;
    }
  }
  if (!best_rank)
    return fail_no_image(library, kernel, device);
  const tile_gen_image *chosen = &library->images[best];
  for (int32_t i = 0; i < library->num_images; ++i)
    loaded->selected[i] =
        library->images[i].kind == chosen->kind && strcmp(library->images[i].arch, chosen->arch) == 0;
  snprintf(loaded->arch, sizeof(loaded->arch), "%s", chosen->arch);
  if (tilert_log_enabled()) {
    char name[128];
    tilert_device_name(device, name, sizeof(name));
    tilert_log(TILE_LOG_INFO, "%s: image %s chosen for device %s", library->name, chosen->arch, name);
  }
  return TILE_OK;
}
