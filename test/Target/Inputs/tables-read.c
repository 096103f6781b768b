/* A runtime that prints what the object hands to it, through the real header. */
#include "tables.h"
#include "tile_rt_gen.h"
#include <stdio.h>

static void dims(const char *what, const tile_gen_dim *d, int32_t n) {
  int32_t i;
  printf("    %s", what);
  for (i = 0; d && i < n; ++i)
    printf(" [%d %lld %s %d]", (int)d[i].kind, (long long)d[i].value, d[i].text, (int)d[i].symbol);
  printf("%s\n", d ? "" : " none");
}

static void variant(const tile_gen_variant *v) {
  int32_t i, j;
  printf("    variant %s image %d function %d threads %d blocks %d regs %d flags %d shared %lld+%lld arena "
         "%lld cpu %d%d\n",
         v->symbol, (int)v->image, (int)v->function, (int)v->threads, (int)v->min_blocks, (int)v->registers,
         (int)v->flags, (long long)v->shared_bytes, (long long)v->static_shared_bytes,
         (long long)v->arena_bytes, v->count != NULL, v->work != NULL);
  for (i = 0; i < v->num_conditions; ++i)
    printf("      condition %d slot %d value %lld: %s\n", (int)v->conditions[i].kind,
           (int)v->conditions[i].slot, (long long)v->conditions[i].value, v->conditions[i].text);
  for (i = 0; i < v->num_params; ++i)
    printf("      param kind %d index %d size %d\n", (int)v->params[i].kind, (int)v->params[i].index,
           (int)v->params[i].size);
  for (i = 0; i < v->num_maps; ++i) {
    const tile_gen_map *m = &v->maps[i];
    printf("      map slot %d view %d arg %d type %d bits %d rank %d:", (int)m->slot, (int)m->view_rank,
           (int)m->arg, (int)m->type, (int)m->elem_bits, (int)m->rank);
    for (j = 0; j < 5; ++j)
      printf(" %d/%d/%d", (int)m->axes[j], (int)m->box[j], (int)m->elem_step[j]);
    printf(" interleave %d swizzle %d l2 %d fill %d reserved %d\n", (int)m->interleave, (int)m->swizzle,
           (int)m->l2_promotion, (int)m->oob_fill, (int)m->reserved[2]);
  }
}

static void library(const tile_gen_library *l) {
  int32_t i, j, k;
  printf("library %s abi %d functions %d state %s\n", l->name, (int)l->abi, (int)l->num_functions,
         l->state && !*l->state ? "null" : "?");
  for (i = 0; i < l->num_images; ++i)
    printf("image %s kind %d size %lld aligned %d first %d\n", l->images[i].arch, (int)l->images[i].kind,
           (long long)l->images[i].size, (int)((size_t)l->images[i].data % 64 == 0),
           l->images[i].data ? *(const unsigned char *)l->images[i].data : -1);
  for (i = 0; i < l->num_kernels; ++i) {
    const tile_gen_kernel *g = &l->kernels[i];
    printf("kernel %s args %d tensors %d symbols %d launches %d index %d flags %d\n", g->name,
           (int)g->num_args, (int)g->num_tensors, (int)g->num_symbols, (int)g->num_launches,
           (int)g->index_bits, (int)g->flags);
    for (j = 0; j < g->num_args; ++j) {
      const tile_gen_arg *a = &g->args[j];
      printf("  arg %s kind %d rank %d access %d dtype %d/%d align %lld\n", a->name, (int)a->kind,
             (int)a->rank, (int)a->access, a->dtype_code, a->dtype_bits, (long long)a->align);
      dims("dims", a->dims, a->rank);
      dims("strides", a->strides, a->rank);
    }
    for (j = 0; j < g->num_launches; ++j) {
      printf("  launch %s grid %d slots %d\n", g->launches[j].name, (int)g->launches[j].grid_rank,
             (int)g->launches[j].num_slots);
      for (k = 0; k < g->launches[j].num_variants; ++k)
        variant(&g->launches[j].variants[k]);
    }
  }
}

tile_status tile_rt_begin(tile_call *call, const tile_gen_library *lib, int32_t kernel, int32_t mode,
                          const tile_launch *launch, uint64_t *bytes, const tile_tensor *const *tensors,
                          int64_t *symbols, uint64_t *views) {
  uint64_t i;
  (void)call, (void)launch, (void)bytes, (void)tensors, (void)symbols;
  if (mode == TILE_MODE_CHECK)
    library(lib);
  printf("begin kernel %d mode %d\n", (int)kernel, (int)mode);
  if (kernel == 0)
    for (i = 0; i < 15; ++i)
      views[i] = 100 + i;
  return TILE_OK;
}
tile_status tile_rt_fail(tile_call *call, tile_status status, int32_t arg, int32_t dim, int64_t expected,
                         int64_t actual, const char *text) {
  (void)call;
  printf("fail %d arg %d dim %d expected %lld actual %lld: %s\n", (int)status, (int)arg, (int)dim,
         (long long)expected, (long long)actual, text);
  return TILE_OK;
}
tile_status tile_rt_workspace(tile_call *call, int64_t bytes, uint64_t *address) {
  (void)call, (void)bytes, (void)address;
  return TILE_ERR_INTERNAL;
}
tile_status tile_rt_launch(tile_call *call, int32_t launch, uint64_t *values) {
  int i;
  (void)call;
  printf("launch %d:", (int)launch);
  for (i = 0; i < (launch == 0 ? 13 : 2); ++i)
    printf(" %llu", (unsigned long long)values[i]);
  printf("\n");
  return TILE_OK;
}
tile_status tile_rt_end(tile_call *call) {
  (void)call;
  printf("end\n");
  return TILE_OK;
}
tile_status tile_rt_load(const tile_gen_library *lib, tile_device device) {
  printf("load %s %d %d\n", lib->name, (int)device.type, (int)device.id);
  return TILE_ERR_NO_DEVICE;
}

int main(void) {
  tile_device device = {2, 7};
  uint64_t bytes = 0;
  int x = 0;
  printf("%d\n", (int)mm_check(NULL, NULL, 1, &x, NULL));
  printf("%d\n", (int)none(NULL));
  printf("%d\n", (int)none_workspace(&bytes));
  printf("%d\n", (int)mm_load(device));
  return 0;
}
