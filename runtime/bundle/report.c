/*===- report.c - tables for people, a tuning file for the build ----------------------===*/
#include "runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const candidate *own_choice(const trial *t) {
  return t->chosen >= 0 && t->candidates[t->chosen].outcome == RIGHT ? &t->candidates[t->chosen] : NULL;
}

/* The fastest of those that went through all rounds. */
static const candidate *fastest(const settings *s, const trial *t) {
  const candidate *best = NULL;
  for (int32_t i = 0; i < t->num_candidates; ++i) {
    const candidate *c = &t->candidates[i];
    if (c->outcome == RIGHT && c->rounds == s->rounds && (!best || c->median < best->median))
      best = c;
  }
  return best;
}

static int by_time(const void *x, const void *y) {
  const candidate *a = *(const candidate *const *)x, *b = *(const candidate *const *)y;
  if (a->rounds != b->rounds)
    return (a->rounds < b->rounds) - (a->rounds > b->rounds);
  return (a->median > b->median) - (a->median < b->median);
}

static const char *name_of(const plan_kernel *kernel, const candidate *c, char *text, size_t size) {
  const char *values = c->point >= 0 ? point_values(kernel, c->arch, c->point) : "";
  if (values)
    return values;
  snprintf(text, size, "point %d", c->point);
  return text;
}

static int32_t count(const trial *t, outcome outcome) {
  int32_t n = 0;
  for (int32_t i = 0; i < t->num_candidates; ++i)
    n += t->candidates[i].outcome == outcome;
  return n;
}

static void print_rows(const settings *s, const trial *t, const plan_kernel *kernel, int32_t most) {
  static const candidate *rows[MAX_CANDIDATES];
  const candidate *own = own_choice(t);
  int32_t n = 0;
  char text[32];
  for (int32_t i = 0; i < t->num_candidates; ++i)
    if (t->candidates[i].outcome == RIGHT && t->candidates[i].rounds)
      rows[n++] = &t->candidates[i];
  qsort(rows, (size_t)n, sizeof(rows[0]), by_time);
  printf("  %10s  %10s %10s  %8s%s  %s\n", "median us", "quartiles", "", "GB/s",
         s->plan->tune ? "  speed-up" : "", "point");
  for (int32_t i = 0; i < n; ++i) {
    const candidate *c = rows[i];
    if (i >= most && c != own)
      continue;
    printf("  %10.2f  %10.2f %10.2f  %8.0f", c->median * 1e6, c->lower * 1e6, c->upper * 1e6,
           (double)t->traffic / c->median * 1e-9);
    if (s->plan->tune && own)
      printf("  %8.4f", own->median / c->median);
    printf("  %s%s%s\n", name_of(kernel, c, text, sizeof(text)),
           c == own && s->plan->tune ? " (the launcher's choice)" : "",
           c->rounds < s->rounds ? " (first rounds only)" : "");
  }
}

static void print_bad(const trial *t, const plan_kernel *kernel) {
  char text[32];
  for (int32_t i = 0; i < t->num_candidates; ++i) {
    const candidate *c = &t->candidates[i];
    if (c->outcome == WRONG || c->outcome == FAILED)
      printf("  %s: %s: %s\n", c->outcome == WRONG ? "wrong" : "failed",
             name_of(kernel, c, text, sizeof(text)), c->why);
  }
}

void print_report(const settings *s, const session *all) {
  printf("%s", all->device_name);
  if (all->driver)
    printf(", driver for CUDA %d.%d", all->driver / 1000, all->driver % 1000 / 10);
  printf("; caches emptied before each launch, medians of %d rounds in random order\n", s->rounds);
  for (int32_t i = 0; i < all->num_trials; ++i) {
    const trial *t = &all->trials[i];
    const plan_kernel *kernel = &s->plan->kernels[t->kernel];
    printf("\n%s %s", kernel->name, kernel->shapes[t->shape].text);
    if (s->plan->tune)
      printf(": %d points right, %d wrong, %d failed", count(t, RIGHT), count(t, WRONG), count(t, FAILED));
    printf("\n");
    if (t->reference[0] && s->plan->tune)
      printf("  not compared with the CPU's results: %s\n", t->reference);
    print_rows(s, t, kernel, 10);
    print_bad(t, kernel);
  }
}

static void write_trial(FILE *file, const settings *s, const trial *t) {
  const plan_kernel *kernel = &s->plan->kernels[t->kernel];
  const candidate *best = fastest(s, t), *own = own_choice(t);
  const char *values = best ? point_values(kernel, best->arch, best->point) : NULL;
  if (!values || !*values)
    return;
  /* Sizes alone: scalars choose no point. */
  const plan_shape *shape = &kernel->shapes[t->shape];
  const tile_gen_kernel *decl = &s->bundle->library->kernels[kernel->index];
  for (int32_t i = 0; i < shape->num_names; ++i) {
    int extent = 0;
    for (int32_t a = 0; a < decl->num_args; ++a)
      for (int32_t j = 0; j < decl->args[a].rank; ++j)
        extent |= strcmp(decl->args[a].dims[j].text, shape->names[i]) == 0;
    if (extent)
      fprintf(file, "%s=%lld ", shape->names[i], (long long)shape->values[i]);
  }
  fprintf(file, ": %s : median %.2f us, quartiles %.2f %.2f, %d rounds", values, best->median * 1e6,
          best->lower * 1e6, best->upper * 1e6, best->rounds);
  if (own)
    fprintf(file, ", the launcher's choice %.2f us", own->median * 1e6);
  fprintf(file, "\n");
}

/* The architecture that the kernel's points ran on; NULL: nothing was measured. */
static const char *arch_of(const session *all, int32_t kernel) {
  for (int32_t i = 0; i < all->num_trials; ++i)
    if (all->trials[i].kernel == kernel && all->trials[i].num_candidates &&
        all->trials[i].candidates[0].arch[0])
      return all->trials[i].candidates[0].arch;
  return NULL;
}

int write_tuning(const settings *s, const session *all, const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) {
    fprintf(stderr, "run: cannot write %s: %s\n", path, strerror(errno));
    return 0;
  }
  fprintf(file, "tile-tuning 1\n# %s, driver for CUDA %d.%d\n", all->device_name, all->driver / 1000,
          all->driver % 1000 / 10);
  for (int32_t k = 0; k < s->plan->num_kernels; ++k) {
    const char *arch = arch_of(all, k);
    if (!arch)
      continue;
    fprintf(file, "kernel %s %s %s\n", s->plan->kernels[k].name, arch, s->plan->kernels[k].hash);
    for (int32_t i = 0; i < all->num_trials; ++i)
      if (all->trials[i].kernel == k)
        write_trial(file, s, &all->trials[i]);
  }
  int good = !ferror(file);
  if (fclose(file) != 0 || !good) {
    fprintf(stderr, "run: cannot write %s: %s\n", path, strerror(errno));
    return 0;
  }
  printf("\nwritten: %s (tilec --tuning=FILE)\n", path);
  return 1;
}

int exit_code(const settings *s, const session *all) {
  (void)s;
  for (int32_t i = 0; i < all->num_trials; ++i)
    if (count(&all->trials[i], WRONG) || count(&all->trials[i], FAILED))
      return EXIT_MEASURED;
  return 0;
}
