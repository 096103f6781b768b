/*===- call.c - one kernel at one shape --------------------------------------------===*/
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*===- The log ---------------------------------------------------------------------*/

/* "gemm: launch gemm.0: image sm_90a, gemm$0, 64 blocks of ..": the only place where the runtime says which
   variant it chose. */
static char last_arch[64], last_symbol[256];

static void take_log(void *user, int32_t level, const char *text) {
  const char *image = strstr(text, ": image ");
  (void)user;
  if (level == TILE_LOG_DEBUG && image && strstr(text, ": launch "))
    if (sscanf(image, ": image %63[^,], %255[^,]", last_arch, last_symbol) != 2)
      last_symbol[0] = 0;
}

void set_launch_log(void) { tile_set_log(take_log, NULL); }
const char *launched_arch(void) { return last_arch; }
const char *launched_symbol(void) { return last_symbol; }

/*===- Arguments ---------------------------------------------------------------------*/

static int give_up(kernel_call *call, const char *what, const char *name, const char *more) {
  snprintf(call->problem, sizeof(call->problem), "%s `%s`%s", what, name, more);
  return 0;
}

static int64_t value_of(const plan_shape *shape, const char *name, double otherwise, double *value) {
  *value = otherwise;
  for (int32_t i = 0; i < shape->num_names; ++i)
    if (strcmp(shape->names[i], name) == 0) {
      *value = shape->values[i];
      return 1;
    }
  return 0;
}

static int prepare_tensor(kernel_call *call, argument *arg, const plan_shape *shape, uint32_t seed) {
  const tile_gen_arg *decl = arg->decl;
  int64_t row_major = 1, last = 0, bytes = element_bytes(decl->dtype_bits);
  arg->count = 1;
  for (int32_t i = decl->rank - 1; i >= 0; --i) {
    if (decl->dims[i].kind == TILE_DIM_CONST)
      arg->shape[i] = decl->dims[i].value;
    else if (!evaluate(decl->dims[i].text, shape, &arg->shape[i]) || arg->shape[i] < 0)
      return give_up(call, "the sizes of the plan do not give extent", decl->dims[i].text, "");
    arg->strides[i] = row_major;
    if (decl->strides && decl->strides[i].kind == TILE_DIM_CONST)
      arg->strides[i] = decl->strides[i].value;
    else if (decl->strides && !evaluate(decl->strides[i].text, shape, &arg->strides[i]))
      arg->strides[i] = row_major;
    if (__builtin_mul_overflow(row_major, arg->shape[i], &row_major) || row_major > (int64_t)1 << 40)
      return give_up(call, "too large:", decl->name, "");
    last += arg->shape[i] ? (arg->shape[i] - 1) * arg->strides[i] : 0;
    arg->count *= arg->shape[i] != 0;
  }
  arg->count *= last + 1;
  if (arg->count < 0 || arg->count > (int64_t)1 << 40)
    return give_up(call, "strides that are no layout:", decl->name, "");
  tile_tensor *t = &arg->tensor;
  t->device.type = call->d->type;
  t->ndim = decl->rank;
  t->dtype.code = decl->dtype_code;
  t->dtype.bits = decl->dtype_bits;
  t->dtype.lanes = 1;
  t->shape = arg->shape;
  t->strides = arg->strides;
  if (!(arg->host = malloc((size_t)(arg->count * bytes) + 1)))
    return give_up(call, "no memory for", decl->name, "");
  if (!(t->data = device_allocate(call->d, arg->count * bytes)))
    return give_up(call, "no memory for", decl->name, " on the device");
  fill_random(arg->host, arg->count, decl->dtype_code, decl->dtype_bits, seed);
  if (decl->access == TILE_ACCESS_OUT)
    memset(arg->host, 0xFF, (size_t)(arg->count * bytes)); /* NaN */
  call->traffic += arg->count * bytes * (1 + (decl->access == TILE_ACCESS_INOUT));
  return device_upload(call->d, t->data, arg->host, arg->count * bytes) ||
         give_up(call, "cannot fill", decl->name, "");
}

static int prepare_argument(kernel_call *call, int32_t i, const plan_shape *shape) {
  argument *arg = &call->args[i];
  double value;
  arg->decl = &call->kernel->args[i];
  if (arg->decl->kind == TILE_ARG_TENSOR) {
    call->pointers[i] = &arg->tensor;
    return prepare_tensor(call, arg, shape, (uint32_t)i + 1);
  }
  if (arg->decl->kind == TILE_ARG_PTR)
    return give_up(call, "the runner cannot make memory for pointer", arg->decl->name, "");
  value_of(shape, arg->decl->name, 1, &value);
  write_number(&arg->scalar, 0, arg->decl->dtype_code, arg->decl->dtype_bits, value);
  call->pointers[i] = &arg->scalar;
  return 1;
}

static int fail_call(kernel_call *call, tile_status status) {
  tile_error_info info;
  memset(&info, 0, sizeof(info));
  info.struct_size = sizeof(info);
  tile_last_error(&info);
  snprintf(call->problem, sizeof(call->problem), "%s",
           info.message ? info.message : tile_status_name(status));
  return 0;
}

int prepare_call(kernel_call *call, const tile_gen_bundle *bundle, int32_t index, const plan_shape *shape,
                 const device *d) {
  memset(call, 0, sizeof(*call));
  call->bundle = bundle;
  call->kernel = &bundle->library->kernels[index];
  call->index = index;
  call->d = d;
  if (call->kernel->num_args > MAX_ARGS)
    return give_up(call, "too many arguments:", call->kernel->name, "");
  for (int32_t i = 0; i < call->kernel->num_args; ++i)
    if (!prepare_argument(call, i, shape))
      return 0;
  tile_status status =
      bundle->kernels[index](TILE_MODE_WORKSPACE, NULL, &call->workspace_bytes, call->pointers);
  if (status)
    return fail_call(call, status);
  if (call->workspace_bytes && !(call->workspace = device_allocate(d, (int64_t)call->workspace_bytes)))
    return give_up(call, "no memory for the workspace of", call->kernel->name, "");
  return 1;
}

void release_call(kernel_call *call) {
  for (int32_t i = 0; i < call->kernel->num_args; ++i) {
    if (call->args[i].tensor.data)
      device_free(call->d, call->args[i].tensor.data);
    free(call->args[i].host);
  }
  if (call->workspace)
    device_free(call->d, call->workspace);
}

tile_status run_call(kernel_call *call, int32_t variant) {
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
  launch.device.type = call->d->type;
  launch.device.id = 0;
  launch.variant = variant;
  launch.workspace = call->workspace;
  launch.workspace_bytes = call->workspace_bytes;
  tile_status status = call->bundle->kernels[call->index](TILE_MODE_RUN, &launch, NULL, call->pointers);
  if (status)
    fail_call(call, status);
  return status;
}

/*===- Results -------------------------------------------------------------------------*/

static int is_output(const argument *arg) {
  return arg->decl->kind == TILE_ARG_TENSOR &&
         (arg->decl->access == TILE_ACCESS_OUT || arg->decl->access == TILE_ACCESS_INOUT);
}

int reset_call(kernel_call *call) {
  for (int32_t i = 0; i < call->kernel->num_args; ++i) {
    argument *arg = &call->args[i];
    int64_t bytes = arg->count * element_bytes(arg->decl->dtype_bits);
    if (!is_output(arg))
      continue;
    if (!(arg->decl->access == TILE_ACCESS_OUT ? device_poison(call->d, arg->tensor.data, bytes)
                                               : device_upload(call->d, arg->tensor.data, arg->host, bytes)))
      return 0;
  }
  return 1;
}

void *fetch_outputs(kernel_call *call) {
  int64_t total = 0, at = 0;
  for (int32_t i = 0; i < call->kernel->num_args; ++i)
    if (is_output(&call->args[i]))
      total += call->args[i].count * element_bytes(call->args[i].decl->dtype_bits);
  char *all = malloc((size_t)total + 1);
  for (int32_t i = 0; all && i < call->kernel->num_args; ++i) {
    argument *arg = &call->args[i];
    int64_t bytes = arg->count * element_bytes(arg->decl->dtype_bits);
    if (!is_output(arg))
      continue;
    if (!device_download(call->d, all + at, arg->tensor.data, bytes)) {
      free(all);
      return NULL;
    }
    at += bytes;
  }
  return all;
}

int compare_outputs(const kernel_call *call, const void *found, const void *expected, char *why,
                    size_t size) {
  int64_t at = 0;
  for (int32_t i = 0; i < call->kernel->num_args; ++i) {
    const argument *arg = &call->args[i];
    char detail[120];
    if (!is_output(arg))
      continue;
    if (!agree((const char *)found + at, (const char *)expected + at, arg->count, arg->decl->dtype_code,
               arg->decl->dtype_bits, detail, sizeof(detail))) {
      snprintf(why, size, "%s: %s", arg->decl->name, detail);
      return 0;
    }
    at += arg->count * element_bytes(arg->decl->dtype_bits);
  }
  return 1;
}
