/*===- plan.c - what to measure ------------------------------------------------===*/
#include "runner.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grown(void *list, int32_t count, size_t size) {
  void *more = realloc(list, ((size_t)count + 1) * size);
  if (!more) {
    fprintf(stderr, "run: no memory\n");
    exit(EXIT_ENVIRONMENT);
  }
  memset((char *)more + (size_t)count * size, 0, size);
  return more;
}

static char *copy_text(const char *text) {
  size_t size = strlen(text) + 1;
  return memcpy(grown(NULL, 0, size), text, size);
}

/* "M=1536 N=1536 alpha=0.5" */
static int read_shape(const char *text, plan_shape *shape) {
  shape->text = copy_text(text);
  for (const char *at = text; *at;) {
    const char *equals = strchr(at, '=');
    char *end = NULL;
    if (!equals || equals == at || equals - at >= 64 || shape->num_names == MAX_NAMES)
      return 0;
    memcpy(shape->names[shape->num_names], at, (size_t)(equals - at));
    shape->values[shape->num_names++] = strtod(equals + 1, &end);
    if (end == equals + 1 || (*end && *end != ' '))
      return 0;
    at = end + strspn(end, " ");
  }
  return shape->num_names > 0 || !*text;
}

static int read_kernel(const char *line, plan *result) {
  char name[256], hash[128];
  int32_t index;
  if (sscanf(line, "kernel %d %255s %127s", &index, name, hash) != 3 || index < 0)
    return 0;
  result->kernels = grown(result->kernels, result->num_kernels, sizeof(plan_kernel));
  plan_kernel *k = &result->kernels[result->num_kernels++];
  k->index = index;
  k->name = copy_text(name);
  k->hash = copy_text(hash);
  return 1;
}

static int read_point(const char *line, plan_kernel *k) {
  plan_point point;
  int used = 0;
  memset(&point, 0, sizeof(point));
  if (sscanf(line, "point %63s %d%n", point.arch, &point.number, &used) != 2)
    return 0;
  point.values = copy_text(line + used + strspn(line + used, " "));
  k->points = grown(k->points, k->num_points, sizeof(plan_point));
  k->points[k->num_points++] = point;
  return 1;
}

/* "extent ceildiv(K, 128) : ceildiv(K, GROUP)" */
static int read_extent(const char *line, plan_kernel *k) {
  const char *colon = strstr(line, " : ");
  if (!colon)
    return 0;
  plan_extent extent = {copy_text(colon + 3), copy_text(line)};
  extent.formula[colon - line] = 0;
  k->extents = grown(k->extents, k->num_extents, sizeof(plan_extent));
  k->extents[k->num_extents++] = extent;
  return 1;
}

static int read_line(const char *line, int32_t number, plan *result) {
  plan_kernel *k = result->num_kernels ? &result->kernels[result->num_kernels - 1] : NULL;
  if (number == 1)
    return strcmp(line, "tile-plan 1") == 0;
  if (number == 2) {
    result->tune = strcmp(line, "tune") == 0;
    return result->tune || strcmp(line, "bench") == 0;
  }
  if (strncmp(line, "kernel ", 7) == 0)
    return read_kernel(line, result);
  if (!k)
    return 0;
  if (strncmp(line, "point ", 6) == 0)
    return read_point(line, k);
  if (strncmp(line, "extent ", 7) == 0)
    return read_extent(line + 7, k);
  if (strncmp(line, "shape ", 6) != 0)
    return 0;
  k->shapes = grown(k->shapes, k->num_shapes, sizeof(plan_shape));
  return read_shape(line + 6, &k->shapes[k->num_shapes++]);
}

int read_plan(const char *path, plan *result) {
  char line[4096];
  int32_t number = 0;
  FILE *file = fopen(path, "r");
  memset(result, 0, sizeof(*result));
  if (!file) {
    fprintf(stderr, "run: cannot read %s: %s\n", path, strerror(errno));
    return 0;
  }
  while (fgets(line, sizeof(line), file)) {
    size_t length = strcspn(line, "\r\n");
    while (length && line[length - 1] == ' ')
      --length;
    line[length] = 0;
    if (!line[0] || line[0] == '#')
      continue;
    if (!read_line(line, ++number, result)) {
      fprintf(stderr, "run: %s: not a line of a plan: %s\n", path, line);
      fclose(file);
      return 0;
    }
  }
  fclose(file);
  for (int32_t i = 0; i < result->num_kernels; ++i)
    for (int32_t j = 0; j < result->kernels[i].num_shapes; ++j) {
      result->kernels[i].shapes[j].extents = result->kernels[i].extents;
      result->kernels[i].shapes[j].num_extents = result->kernels[i].num_extents;
    }
  if (number < 2)
    fprintf(stderr, "run: %s is no plan\n", path);
  return number >= 2;
}

const char *point_values(const plan_kernel *kernel, const char *arch, int32_t point) {
  for (int32_t i = 0; i < kernel->num_points; ++i)
    if (kernel->points[i].number == point && strcmp(kernel->points[i].arch, arch) == 0)
      return kernel->points[i].values;
  return NULL;
}

/*===- Extents -------------------------------------------------------------------*/

typedef struct expression {
  const char *at;
  const plan_shape *shape;
  int good;
} expression;

static int64_t sum(expression *e);

static int takes(expression *e, const char *token) {
  e->at += strspn(e->at, " ");
  size_t length = strlen(token);
  if (strncmp(e->at, token, length) != 0)
    return 0;
  e->at += length;
  return 1;
}

static int64_t floor_div(expression *e, int64_t x, int64_t y) {
  if (y == 0) {
    e->good = 0;
    return 0;
  }
  int64_t q = x / y;
  return q - (x % y != 0 && (x < 0) != (y < 0));
}

static int64_t call(expression *e, const char *name) {
  int64_t x = sum(e);
  if (!takes(e, ","))
    e->good = 0;
  int64_t y = sum(e);
  if (!takes(e, ")"))
    e->good = 0;
  if (strcmp(name, "min") == 0)
    return x < y ? x : y;
  if (strcmp(name, "max") == 0)
    return x > y ? x : y;
  const char *dot = strrchr(name, '.');
  if (strcmp(dot ? dot + 1 : name, "ceildiv") == 0)
    return -floor_div(e, -x, y);
  e->good = 0;
  return 0;
}

static int64_t named(expression *e) {
  char name[64];
  size_t length = 0;
  while (isalnum((unsigned char)e->at[length]) || e->at[length] == '_' || e->at[length] == '.')
    ++length;
  if (!length || length >= sizeof(name)) {
    e->good = 0;
    return 0;
  }
  memcpy(name, e->at, length);
  name[length] = 0;
  e->at += length;
  if (takes(e, "("))
    return call(e, name);
  for (int32_t i = 0; i < e->shape->num_names; ++i)
    if (strcmp(e->shape->names[i], name) == 0)
      return (int64_t)e->shape->values[i];
  e->good = 0;
  return 0;
}

static int64_t factor(expression *e) {
  if (takes(e, "-"))
    return -factor(e);
  if (takes(e, "(")) {
    int64_t x = sum(e);
    if (!takes(e, ")"))
      e->good = 0;
    return x;
  }
  if (isdigit((unsigned char)*e->at)) {
    char *end;
    int64_t x = strtoll(e->at, &end, 10);
    e->at = end;
    return x;
  }
  return named(e);
}

static int64_t product(expression *e) {
  int64_t x = factor(e);
  while (e->good)
    if (takes(e, "//")) {
      x = floor_div(e, x, factor(e));
    } else if (takes(e, "%")) {
      int64_t y = factor(e);
      x -= floor_div(e, x, y) * y;
    } else if (takes(e, "*")) {
      e->good &= !__builtin_mul_overflow(x, factor(e), &x);
    } else {
      break;
    }
  return x;
}

static int64_t sum(expression *e) {
  int64_t x = product(e);
  while (e->good)
    if (takes(e, "+"))
      x += product(e);
    else if (takes(e, "-"))
      x -= product(e);
    else
      break;
  return x;
}

int evaluate(const char *text, const plan_shape *shape, int64_t *value) {
  for (int32_t i = 0; i < shape->num_extents; ++i)
    if (strcmp(shape->extents[i].text, text) == 0) {
      text = shape->extents[i].formula;
      break;
    }
  expression e = {text, shape, 1};
  *value = sum(&e);
  e.at += strspn(e.at, " ");
  return e.good && !*e.at;
}

void shrink_shape(const plan_shape *shape, const tile_gen_kernel *kernel, plan_shape *small) {
  *small = *shape;
  for (int32_t i = 0; i < small->num_names; ++i) {
    int extent = 0;
    for (int32_t a = 0; a < kernel->num_args; ++a)
      for (int32_t j = 0; j < kernel->args[a].rank; ++j)
        extent |= strcmp(kernel->args[a].dims[j].text, small->names[i]) == 0;
    if (extent && small->values[i] > 384)
      small->values[i] = 256 + fmod(small->values[i], 128);
  }
}
