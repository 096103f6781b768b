/*===- cuda.c - NVIDIA devices through the CUDA driver ----------------------===*
 *
 * Contexts: a stream names its context; without one (or with the driver's two
 * pseudo streams) the device's primary context is used. It is pushed only when
 * it is not current and something needs it, and popped before the call returns.
 *
 * Images: one CUlibrary per image and process, for all contexts. Loading means
 * also fetching every kernel, since the driver accepts a whole image for
 * another chip and refuses only its kernels.
 *
 *===------------------------------------------------------------------------===*/
#include "cuda_api.h"
#include "tile_rt_internal.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t primary_mutex = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primary[MAX_DEVICES]; /* atomic; retained until shutdown */

/*===- Contexts ---------------------------------------------------------------*/

static COLD CUcontext retain_primary(const cuda_api *cu, const char *kernel, int32_t device,
                                     tile_status *status) {
  CUcontext context = NULL;
  CUdevice handle = 0;
  CUresult error = CUDA_SUCCESS;
  const char *what = "cuDeviceGet";
  pthread_mutex_lock(&primary_mutex);
  context = primary[device];
  if (!context && !(error = cu->cuDeviceGet(&handle, device))) {
    what = "cuDevicePrimaryCtxRetain";
    if (!(error = cu->cuDevicePrimaryCtxRetain(&context, handle)))
      __atomic_store_n(&primary[device], context, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&primary_mutex);
  if (!error)
    return context;
  *status = tilert_cuda_fail(cu, kernel, what, error);
  return NULL;
}

static CUcontext primary_context(const cuda_api *cu, const call_state *call, tile_status *status) {
  if (UNLIKELY(call->device < 0 || call->device >= MAX_DEVICES)) {
    error_place place = NO_PLACE(call->kernel->name);
    place.actual = call->device;
    *status = tilert_fail(TILE_ERR_NO_DEVICE, &place, "there is no CUDA device %d", call->device);
    return NULL;
  }
  CUcontext context = __atomic_load_n(&primary[call->device], __ATOMIC_ACQUIRE);
  return LIKELY(context != NULL) ? context : retain_primary(cu, call->kernel->name, call->device, status);
}

/* 1 and 2 are CU_STREAM_LEGACY and CU_STREAM_PER_THREAD: no objects. */
static int is_real_stream(const void *stream) { return (uintptr_t)stream > 2; }

static CUcontext find_context(const cuda_api *cu, const call_state *call, tile_status *status) {
  if (!is_real_stream(call->stream))
    return primary_context(cu, call, status);
  CUcontext context = NULL;
  CUresult error = cu->cuStreamGetCtx((CUstream)call->stream, &context);
  if (UNLIKELY(error)) {
    *status = tilert_cuda_fail(cu, call->kernel->name, "cuStreamGetCtx", error);
    return NULL;
  }
  return context;
}

static void cuda_leave(call_state *call) {
  call->current = 0;
  if (LIKELY(!call->restore))
    return;
  tile_status status;
  const cuda_api *cu = tilert_cuda_driver(call->kernel->name, &status);
  CUcontext context;
  if (cu)
    cu->cuCtxPopCurrent(&context);
  call->restore = 0;
}

/* The tensors' device must be the stream's. */
static tile_status check_device(call_state *call, CUdevice device) {
  if (call->device < 0)
    call->device = device;
  if (LIKELY(call->device == device))
    return TILE_OK;
  error_place place = NO_PLACE(call->kernel->name);
  place.expected = call->device;
  place.actual = device;
  return tilert_fail(TILE_ERR_DEVICE_MISMATCH, &place,
                     "launch: the stream is of device %d, the tensors are on device %d", device,
                     call->device);
}

static tile_status make_current(const cuda_api *cu, call_state *call) {
  tile_status s = TILE_OK;
  CUcontext context = find_context(cu, call, &s), current = NULL;
  if (UNLIKELY(s))
    return s;
  CUresult error = cu->cuCtxGetCurrent(&current);
  if (LIKELY(!error) && current != context) {
    error = cu->cuCtxPushCurrent(context);
    call->restore = error == CUDA_SUCCESS;
  }
  call->current = error == CUDA_SUCCESS;
  return LIKELY(!error) ? TILE_OK
                        : tilert_cuda_fail(cu, call->kernel->name, "making the context current", error);
}

static tile_status check_stream(const cuda_api *cu, call_state *call) {
  CUdevice device = 0;
  int direct = cu->cuStreamGetDevice != NULL;
  CUresult error =
      direct ? cu->cuStreamGetDevice((CUstream)call->stream, &device) : cu->cuCtxGetDevice(&device);
  if (UNLIKELY(error))
    return tilert_cuda_fail(cu, call->kernel->name, direct ? "cuStreamGetDevice" : "cuCtxGetDevice", error);
  return check_device(call, device);
}

/* A CUkernel runs in the context of its stream, whatever is current: with a stream whose device is known, a
   library that is loaded needs nothing else, until a tensor map must be encoded. */
static tile_status cuda_enter(call_state *call) {
  tile_status s = TILE_OK;
  const cuda_api *cu = tilert_cuda_driver(call->kernel->name, &s);
  if (UNLIKELY(!cu))
    return s;
  int stream = is_real_stream(call->stream), direct = stream && cu->cuStreamGetDevice;
  if (direct) {
    /* Where there is one device only, a stream is of no other. */
    call->loaded = call->device == 0 ? tilert_loaded(call->library, BACKEND_CUDA, 0) : NULL;
    if (LIKELY(call->loaded && call->loaded->only_device))
      return TILE_OK;
    if (UNLIKELY((s = check_stream(cu, call))))
      return s;
    call->loaded = tilert_loaded(call->library, BACKEND_CUDA, call->device);
    if (LIKELY(call->loaded != NULL))
      return TILE_OK;
  }
  if (UNLIKELY((s = make_current(cu, call))))
    return s;
  if (stream && !direct)
    s = check_stream(cu, call);
  if (LIKELY(!s))
    call->loaded = tilert_load(call->library, call->kernel->name, BACKEND_CUDA, call->device,
                               !(call->flags & TILE_LAUNCH_NO_LAZY_LOAD), &s);
  if (UNLIKELY(s))
    cuda_leave(call);
  return s;
}

/*===- Loading ----------------------------------------------------------------*/

static tile_status read_device(const cuda_api *cu, const char *kernel, int32_t device, device_traits *traits,
                               loaded_state *loaded) {
  int32_t shared = 0, registers = 0, devices = 0;
  CUdevice handle = 0;
  CUresult error = cu->cuDeviceGet(&handle, device);
  const struct {
    int32_t attribute;
    int32_t *value;
  } wanted[] = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &traits->major},
                {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &traits->minor},
                {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &loaded->multiprocessors},
                {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &shared},
                {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &registers}};
  for (size_t i = 0; !error && i < sizeof(wanted) / sizeof(wanted[0]); ++i)
    error = cu->cuDeviceGetAttribute(wanted[i].value, wanted[i].attribute, handle);
  if (error || (error = cu->cuDeviceGetCount(&devices)))
    return tilert_cuda_fail(cu, kernel, "reading the device's attributes", error);
  loaded->only_device = devices == 1;
  traits->backend = BACKEND_CUDA;
  traits->shared_limit = loaded->shared_limit = shared;
  traits->register_limit = registers;
  loaded->clear_small_map_bit = traits->major >= 10 && tilert_cuda_version() <= 13030;
  return TILE_OK;
}

static tile_status load_image(const cuda_api *cu, library_state *state, const tile_gen_library *library,
                              const char *kernel, int32_t image) {
  if (!state->cuda_images && !(state->cuda_images = calloc((size_t)state->num_images + 1, sizeof(void *)))) {
    error_place place = NO_PLACE(kernel);
    return tilert_fail(TILE_ERR_OUT_OF_MEMORY, &place, "no memory for the image table");
  }
  if (state->cuda_images[image])
    return TILE_OK;
  const tile_gen_image *i = &library->images[image];
  if (!i->data || i->size <= 0 || (i->kind == TILE_IMAGE_PTX && ((const char *)i->data)[i->size - 1] != 0)) {
    error_place place = NO_PLACE(kernel);
    return tilert_fail(TILE_ERR_BAD_IMAGE, &place, "image %s is empty or does not end in NUL", i->arch);
  }
  int32_t option = CU_LIBRARY_BINARY_IS_PRESERVED;
  uint64_t yes = 1;
  void *value = NULL;
  memcpy(&value, &yes, sizeof(value));
  CUlibrary handle = NULL;
  CUresult error = cu->cuLibraryLoadData(&handle, i->data, NULL, NULL, 0, &option, &value, 1);
  if (error)
    return tilert_cuda_fail(cu, kernel, "loading the image", error);
  state->cuda_images[image] = handle;
  tilert_log(TILE_LOG_INFO, "%s: loaded image %s, %lld bytes", library->name, i->arch, (long long)i->size);
  return TILE_OK;
}

static tile_status load_function(const cuda_api *cu, library_state *state, const char *kernel,
                                 const tile_gen_variant *variant, CUdevice device, loaded_state *loaded) {
  if (variant->function < 0 || variant->function >= loaded->num_functions ||
      variant->num_params > MAX_PARAMS || variant->num_maps > MAX_MAPS) {
    error_place place = NO_PLACE(kernel);
    return tilert_fail(TILE_ERR_INTERNAL, &place, "the table of %s is malformed", variant->symbol);
  }
  for (int32_t i = 0; i < variant->num_maps; ++i) {
    map_problem p = tilert_map_recipe(&variant->maps[i]);
    if (p.text) {
      error_place place = {kernel, variant->maps[i].arg, p.dim, p.expected, p.actual, TILE_NATIVE_NONE, 0};
      return tilert_fail(TILE_ERR_TENSOR_MAP, &place, "tensor map %d of %s: %s (%lld), got %lld", i,
                         variant->symbol, p.text, (long long)p.expected, (long long)p.actual);
    }
  }
  CUkernel handle = NULL;
  CUresult error =
      cu->cuLibraryGetKernel(&handle, (CUlibrary)state->cuda_images[variant->image], variant->symbol);
  if (error)
    return tilert_cuda_fail(cu, kernel, variant->symbol, error);
  /* Too much for this device is reported when such a variant is launched. */
  int64_t shared = variant->shared_bytes;
  if (shared > loaded->shared[variant->function] &&
      shared + variant->static_shared_bytes <= loaded->shared_limit) {
    error = cu->cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int32_t)shared, handle,
                                     device);
    if (error)
      return tilert_cuda_fail(cu, kernel, "cuKernelSetAttribute", error);
    loaded->shared[variant->function] = shared;
  }
  loaded->functions[variant->function] = handle;
  return TILE_OK;
}

static tile_status load_functions(const cuda_api *cu, library_state *state, const tile_gen_library *library,
                                  const char *kernel, CUdevice device, loaded_state *loaded) {
  for (int32_t k = 0; k < library->num_kernels; ++k)
    for (int32_t l = 0; l < library->kernels[k].num_launches; ++l) {
      const tile_gen_launch *launch = &library->kernels[k].launches[l];
      for (int32_t v = 0; v < launch->num_variants; ++v) {
        if (!loaded->selected[launch->variants[v].image])
          continue;
        tile_status s = load_function(cu, state, kernel, &launch->variants[v], device, loaded);
        if (s)
          return s;
      }
    }
  return TILE_OK;
}

static tile_status cuda_load(library_state *state, const tile_gen_library *library, const char *kernel,
                             int32_t device, loaded_state *loaded) {
  tile_status s = TILE_OK;
  const cuda_api *cu = tilert_cuda_driver(kernel, &s);
  device_traits traits;
  memset(&traits, 0, sizeof(traits));
  if (s || (s = read_device(cu, kernel, device, &traits, loaded)) ||
      (s = tilert_select_images(library, kernel, &traits, loaded)))
    return s;
  for (int32_t i = 0; i < library->num_images; ++i)
    if (loaded->selected[i] && (s = load_image(cu, state, library, kernel, i)))
      return s;
  CUdevice handle = 0;
  CUresult error = cu->cuDeviceGet(&handle, device);
  if (error)
    return tilert_cuda_fail(cu, kernel, "cuDeviceGet", error);
  return load_functions(cu, state, library, kernel, handle, loaded);
}

static void cuda_unload(library_state *state, loaded_state *loaded) {
  (void)state;
  (void)loaded; /* kernels go with their library */
}

/* At process exit the driver may be gone already: its answer does not matter. */
static void cuda_unload_library(library_state *state) {
  tile_status s;
  if (!state->cuda_images)
    return;
  const cuda_api *cu = tilert_cuda_driver("", &s);
  for (int32_t i = 0; cu && i < state->num_images; ++i)
    if (state->cuda_images[i])
      cu->cuLibraryUnload((CUlibrary)state->cuda_images[i]);
  free(state->cuda_images);
  state->cuda_images = NULL;
}

static void cuda_shutdown(void) {
  tile_status s;
  for (int32_t d = 0; d < MAX_DEVICES; ++d) {
    if (!primary[d])
      continue;
    const cuda_api *cu = tilert_cuda_driver("", &s);
    CUdevice handle;
    if (cu && !cu->cuDeviceGet(&handle, d))
      cu->cuDevicePrimaryCtxRelease(handle);
    primary[d] = NULL;
  }
}

static tile_status cuda_count(int32_t *count) {
  tile_status s = TILE_OK;
  const cuda_api *cu = tilert_cuda_driver("", &s);
  if (!cu)
    return s == TILE_ERR_NO_DEVICE ? TILE_OK : s; /* a driver without a device counts 0 */
  CUresult error = cu->cuDeviceGetCount(count);
  if (!error)
    return TILE_OK;
  *count = 0;
  return error == CUDA_ERROR_NO_DEVICE ? TILE_OK : tilert_cuda_fail(cu, "", "cuDeviceGetCount", error);
}

/*===- Launching --------------------------------------------------------------*/

static COLD tile_status fail_map(const call_state *call, const tile_gen_map *map, map_problem p) {
  int known = map->arg >= 0 && map->arg < call->kernel->num_args;
  error_place place = {call->kernel->name, map->arg, p.dim, p.expected, p.actual, TILE_NATIVE_NONE, 0};
  const char *name = known ? call->kernel->args[map->arg].name : "a view";
  if (p.dim < 0)
    return tilert_fail(TILE_ERR_TENSOR_MAP, &place, "argument %s (%d): %s (%lld), got %lld", name, map->arg,
                       p.text, (long long)p.expected, (long long)p.actual);
  return tilert_fail(TILE_ERR_TENSOR_MAP, &place, "argument %s (%d), dim %d: %s (%lld), got %lld", name,
                     map->arg, p.dim, p.text, (long long)p.expected, (long long)p.actual);
}

static tile_status encode_map(const cuda_api *cu, call_state *call, const tile_gen_map *map,
                              const uint64_t *values, tensor_map *out) {
  map_geometry g;
  map_problem p = tilert_map_geometry(call->kernel, map, values, &g);
  if (UNLIKELY(p.text != NULL))
    return fail_map(call, map, p);
  tile_status s = call->current ? TILE_OK : make_current(cu, call);
  if (UNLIKELY(s))
    return s;
  CUresult error = cu->cuTensorMapEncodeTiled(
      out, map->type, (uint32_t)map->rank, (void *)(uintptr_t)g.address, g.dims, g.strides + 1, g.box,
      g.steps, map->interleave, map->swizzle, map->l2_promotion, map->oob_fill);
  if (UNLIKELY(error)) {
    error_place where = {call->kernel->name, map->arg, -1, 0, 0, TILE_NATIVE_CUDA, error};
    return tilert_fail(TILE_ERR_TENSOR_MAP, &where, "cuTensorMapEncodeTiled refused argument %d (error %d)",
                       map->arg, error);
  }
  if (call->loaded->clear_small_map_bit && tilert_map_is_small_and_sparse(map, &g))
    out->words[1] &= ~(UINT64_C(1) << 21);
  return TILE_OK;
}

/* A plan's map fits the values up to the address. */
static tile_status refresh_map(const cuda_api *cu, call_state *call, const tile_gen_map *map, int32_t i,
                               const uint64_t *values, launch_plan *plan) {
  uint64_t address = values[map->slot];
  uint32_t bit = UINT32_C(1) << i;
  if (plan->maps_made & bit) {
    if (plan->addresses[i] == address)
      return TILE_OK;
    plan->addresses[i] = address;
    /* Not where encoding needs a correction afterwards: what the driver does to it here is unknown. */
    if (!call->loaded->clear_small_map_bit &&
        cu->cuTensorMapReplaceAddress(&plan->maps[i], (void *)(uintptr_t)address) == CUDA_SUCCESS)
      return TILE_OK;
  }
  plan->maps_made &= ~bit;
  tile_status s = encode_map(cu, call, map, values, &plan->maps[i]);
  if (UNLIKELY(s))
    return s;
  plan->addresses[i] = address;
  plan->maps_made |= bit;
  return TILE_OK;
}

static tile_status cuda_launch(call_state *call, const tile_gen_launch *launch, const tile_gen_variant *v,
                               const uint64_t *values, int64_t blocks, launch_plan *plan) {
  tile_status s = TILE_OK;
  const cuda_api *cu = tilert_cuda_driver(call->kernel->name, &s);
  if (UNLIKELY((s = tilert_before_launch(call, launch, v, &blocks))))
    return s;
  tensor_map unplanned[MAX_MAPS];
  tensor_map *maps = plan ? plan->maps : unplanned;
  void *params[MAX_PARAMS];
  for (int32_t i = 0; i < v->num_maps; ++i) {
    s = plan ? refresh_map(cu, call, &v->maps[i], i, values, plan)
             : encode_map(cu, call, &v->maps[i], values, &maps[i]);
    if (UNLIKELY(s))
      return s;
  }
  uint64_t seed;
  void **used = tilert_launch_params(v, values, maps, &seed, params, plan);
  CUlaunchAttribute attribute;
  CUlaunchConfig config = {{(uint32_t)blocks, 1, 1},
                           {(uint32_t)v->threads, 1, 1},
                           (uint32_t)v->shared_bytes,
                           (CUstream)call->stream,
                           &attribute,
                           0};
  if ((call->flags & TILE_LAUNCH_PDL) && (v->flags & TILE_VARIANT_PDL)) {
    memset(&attribute, 0, sizeof(attribute));
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.number = 1;
    config.num_attributes = 1;
  }
  CUresult error = cu->cuLaunchKernelEx(&config, call->loaded->functions[v->function], used, NULL);
  return LIKELY(!error) ? TILE_OK : tilert_cuda_fail(cu, call->kernel->name, "the launch", error);
}

const backend_ops tilert_cuda = {cuda_enter,  cuda_leave,          cuda_launch,   cuda_load,
                                 cuda_unload, cuda_unload_library, cuda_shutdown, cuda_count};
