/*===- main.c - `run` of a bundle --------------------------------------------------------===*/
#include "runner.h"

#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char usage[] =
    "usage: run [--rounds=N] [--device=cuda|cpu] [--timeout=SECONDS] [-o FILE]\n"
    "\n"
    "Measures the kernels in kernels.so at the shapes in the text file `plan`, both beside this program.\n"
    "A bundle of `tilec tune` compares all points of tune parameters and writes a tuning file.\n"
    "\n"
    "  --rounds=N         launches of each candidate that is timed (default 41)\n"
    "  --device=KIND      cuda (default where there are GPU kernels) or cpu\n"
    "  --timeout=SECONDS  a kernel that takes longer has failed (default 60)\n"
    "  -o FILE            the tuning file (default: kernels.tuning beside this program)\n"
    "\n"
    "Exit codes: 0 success, 2 usage, 3 environment, 5 a point was wrong or failed.\n";

static int fail(const char *what, const char *detail) {
  fprintf(stderr, "run: %s%s%s\n", what, detail ? ": " : "", detail ? detail : "");
  return 0;
}

static int32_t number_of(const char *name, const char *text) {
  enum { most = 100000 };
  char *end;
  long n = strtol(text, &end, 10);
  if (end == text || *end || n < 1 || n > most) {
    fprintf(stderr, "run: --%s takes a number from 1 to %d, not `%s`\n", name, most, text);
    exit(EXIT_USAGE);
  }
  return (int32_t)n;
}

static int32_t device_of(const char *text) {
  if (strcmp(text, "cuda") == 0)
    return TILE_DEVICE_CUDA;
  if (strcmp(text, "cpu") == 0)
    return TILE_DEVICE_CPU;
  fprintf(stderr, "run: --device takes cuda or cpu, not `%s`\n", text);
  exit(EXIT_USAGE);
}

static void read_options(int argc, char **argv, settings *s, const char **out) {
  static const struct option options[] = {{"help", no_argument, NULL, 'h'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"timeout", required_argument, NULL, 't'},
                                          {"device", required_argument, NULL, 'd'},
                                          {NULL, 0, NULL, 0}};
  int option;
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":ho:", options, NULL)) != -1)
    switch (option) {
    case 'h':
      fputs(usage, stdout);
      exit(0);
    case 'r':
      s->rounds = number_of("rounds", optarg);
      break;
    case 't':
      s->seconds = number_of("timeout", optarg);
      break;
    case 'd':
      s->device_type = device_of(optarg);
      break;
    case 'o':
      *out = optarg;
      break;
    default:
      fprintf(stderr, option == ':' ? "run: `%s` needs a value\n%s" : "run: unknown argument `%s`\n%s",
              argv[optind - 1], usage);
      exit(EXIT_USAGE);
    }
  if (optind < argc) {
    fprintf(stderr, "run: unknown argument `%s`\n%s", argv[optind], usage);
    exit(EXIT_USAGE);
  }
}

/* The folder of this program. */
static int find_folder(char *path, size_t size) {
  ssize_t length = readlink("/proc/self/exe", path, size - 1);
  if (length <= 0)
    return fail("cannot find the bundle", strerror(errno));
  path[length] = 0;
  *strrchr(path, '/') = 0;
  return 1;
}

static const tile_gen_bundle *load_kernels(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const tile_gen_bundle *bundle = library ? dlsym(library, "tile_bundle") : NULL;
  if (!bundle)
    fail("cannot load the kernels", dlerror());
  else if (bundle->library->abi != TILE_RT_ABI)
    fail("kernels.so was made by another tilec than this program", NULL);
  else
    return bundle;
  return NULL;
}

static int plan_fits(const plan *p, const tile_gen_bundle *bundle) {
  for (int32_t i = 0; i < p->num_kernels; ++i)
    if (p->kernels[i].index >= bundle->num_kernels ||
        strcmp(bundle->library->kernels[p->kernels[i].index].name, p->kernels[i].name) != 0)
      return fail("the plan names a kernel that kernels.so does not have", p->kernels[i].name);
  return 1;
}

/* Memory that this process and its workers share. */
static session *new_session(const plan *p) {
  int32_t trials = 0;
  for (int32_t k = 0; k < p->num_kernels; ++k)
    trials += p->kernels[k].num_shapes;
  size_t size = sizeof(session) + (size_t)trials * sizeof(trial);
  session *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) {
    fail("no memory", strerror(errno));
    return NULL;
  }
  for (int32_t k = 0; k < p->num_kernels; ++k)
    for (int32_t i = 0; i < p->kernels[k].num_shapes; ++i) {
      all->trials[all->num_trials].kernel = k;
      all->trials[all->num_trials++].shape = i;
    }
  return all;
}

static int32_t default_device(const tile_gen_library *library) {
  for (int32_t i = 0; i < library->num_images; ++i)
    if (library->images[i].kind != TILE_IMAGE_CPU)
      return TILE_DEVICE_CUDA;
  return TILE_DEVICE_CPU;
}

int main(int argc, char **argv) {
  char folder[PATH_MAX - 64], path[PATH_MAX], tuning[PATH_MAX];
  plan p;
  settings s = {&p, NULL, TILE_DEVICE_NONE, 41, 60};
  const char *out = tuning;
  read_options(argc, argv, &s, &out);
  if (!find_folder(folder, sizeof(folder)))
    return EXIT_ENVIRONMENT;
  snprintf(tuning, sizeof(tuning), "%s/kernels.tuning", folder);
  snprintf(path, sizeof(path), "%s/plan", folder);
  if (!read_plan(path, &p))
    return EXIT_ENVIRONMENT;
  snprintf(path, sizeof(path), "%s/kernels.so", folder);
  if (!(s.bundle = load_kernels(path)) || !plan_fits(&p, s.bundle))
    return EXIT_ENVIRONMENT;
  if (s.device_type == TILE_DEVICE_NONE)
    s.device_type = default_device(s.bundle->library);
  session *all = new_session(&p);
  if (!all || !measure(&s, all))
    return EXIT_ENVIRONMENT;
  print_report(&s, all);
  if (p.tune && s.device_type == TILE_DEVICE_CUDA && !write_tuning(&s, all, out))
    return EXIT_ENVIRONMENT;
  return exit_code(&s, all);
}
