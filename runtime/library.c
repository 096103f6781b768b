/*===- library.c - the state of generated libraries, locks, shutdown --------===*
 *
 * One readers-writer lock for the runtime: every launch holds it for reading,
 * from the moment it enters a back end until it leaves; shutdown and the image
 * filter hold it for writing. Beneath it each library has a mutex that makes
 * loading for one device happen once, however many threads come first at once.
 *
 *===------------------------------------------------------------------------===*/
#include "tile_rt_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_rwlock_t runtime_lock = PTHREAD_RWLOCK_INITIALIZER;
static library_state *all_libraries; /* atomic; grows only */
static char image_filter[64];        /* under runtime_lock; "" = none */
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

void tilert_read_lock(void) { pthread_rwlock_rdlock(&runtime_lock); }
void tilert_read_unlock(void) { pthread_rwlock_unlock(&runtime_lock); }
const char *tilert_image_filter(void) { return image_filter[0] ? image_filter : NULL; }

/* In the child of fork only the forking thread lives: locks that others held are
   made anew, and the pool starts over. (Device drivers do not survive fork.) */
static void after_fork(void) {
  pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  runtime_lock = rwlock;
  for (library_state *l = __atomic_load_n(&all_libraries, __ATOMIC_ACQUIRE); l; l = l->next)
    l->mutex = mutex;
  tilert_pool_forked();
  tilert_log_forked();
}

static void register_fork_handler(void) { pthread_atfork(NULL, NULL, after_fork); }

library_state *tilert_library_state(const tile_gen_library *library) {
  library_state *state = __atomic_load_n((library_state **)(void *)library->state, __ATOMIC_ACQUIRE);
  if (LIKELY(state != NULL))
    return state;
  pthread_once(&fork_once, register_fork_handler);
  library_state *fresh = calloc(1, sizeof(*fresh));
  if (!fresh)
    return NULL;
  pthread_mutex_init(&fresh->mutex, NULL);
  fresh->library = library;
  fresh->num_images = library->num_images;
  library_state *expected = NULL;
  if (!__atomic_compare_exchange_n((library_state **)(void *)library->state, &expected, fresh, 0,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    pthread_mutex_destroy(&fresh->mutex);
    free(fresh);
    return expected;
  }
  fresh->next = __atomic_load_n(&all_libraries, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&all_libraries, &fresh->next, fresh, 0, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED))
    ;
  return fresh;
}

/*===- Loading once -----------------------------------------------------------*/

static void free_loaded(loaded_state *loaded) {
  if (!loaded)
    return;
  free(loaded->selected);
  free(loaded->functions);
  free(loaded->shared);
  free(loaded->modules);
  free(loaded);
}

static loaded_state *new_loaded(const tile_gen_library *library) {
  loaded_state *loaded = calloc(1, sizeof(*loaded));
  if (!loaded)
    return NULL;
  loaded->num_images = library->num_images;
  loaded->num_functions = library->num_functions;
  loaded->selected = calloc((size_t)library->num_images + 1, sizeof(*loaded->selected));
  loaded->functions = calloc((size_t)library->num_functions + 1, sizeof(*loaded->functions));
  loaded->shared = calloc((size_t)library->num_functions + 1, sizeof(*loaded->shared));
  loaded->modules = calloc((size_t)library->num_images + 1, sizeof(*loaded->modules));
  if (loaded->selected && loaded->functions && loaded->shared && loaded->modules)
    return loaded;
  free_loaded(loaded);
  return NULL;
}

static COLD tile_status fail_memory(const char *kernel) {
  error_place place = NO_PLACE(kernel);
  return tilert_fail(TILE_ERR_OUT_OF_MEMORY, &place, "no memory for the state of the library");
}

/* Under the library's mutex. A thread that waited while another tried and failed
   gets that failure; one that comes later tries again. */
static tile_status load_once(library_state *state, const tile_gen_library *library, const char *kernel,
                             int32_t backend, int32_t device, loaded_state *loaded, int32_t attempts_seen) {
  if (__atomic_load_n(&loaded->ready, __ATOMIC_RELAXED))
    return TILE_OK;
  if (loaded->attempts != attempts_seen && loaded->failure) {
    error_place place = NO_PLACE(kernel);
    return tilert_fail(loaded->failure, &place, "loading for device %d failed in another thread: %s", device,
                       tile_status_string(loaded->failure));
  }
  tile_status s = tilert_backend(backend)->load(state, library, kernel, device, loaded);
  loaded->failure = s;
  __atomic_store_n(&loaded->attempts, loaded->attempts + 1, __ATOMIC_RELEASE);
  if (s == TILE_OK)
    __atomic_store_n(&loaded->ready, 1, __ATOMIC_RELEASE);
  return s;
}

static COLD loaded_state *load_slowly(library_state *state, const tile_gen_library *library,
                                      const char *kernel, int32_t backend, int32_t device,
                                      tile_status *status) {
  loaded_state **slot = &state->loaded[backend][device];
  loaded_state *loaded = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  int32_t seen = loaded ? __atomic_load_n(&loaded->attempts, __ATOMIC_ACQUIRE) : 0;
  pthread_mutex_lock(&state->mutex);
  loaded = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (!loaded && (loaded = new_loaded(library)) != NULL)
    __atomic_store_n(slot, loaded, __ATOMIC_RELEASE);
  *status = loaded ? load_once(state, library, kernel, backend, device, loaded, seen) : fail_memory(kernel);
  pthread_mutex_unlock(&state->mutex);
  return *status ? NULL : loaded;
}

loaded_state *tilert_loaded(const tile_gen_library *library, int32_t backend, int32_t device) {
  library_state *state = __atomic_load_n((library_state **)(void *)library->state, __ATOMIC_ACQUIRE);
  if (UNLIKELY(!state || device < 0 || device >= MAX_DEVICES))
    return NULL;
  loaded_state *loaded = __atomic_load_n(&state->loaded[backend][device], __ATOMIC_ACQUIRE);
  return loaded && __atomic_load_n(&loaded->ready, __ATOMIC_ACQUIRE) ? loaded : NULL;
}

loaded_state *tilert_load(const tile_gen_library *library, const char *kernel, int32_t backend,
                          int32_t device, int may_load, tile_status *status) {
  error_place place = NO_PLACE(kernel);
  *status = TILE_OK;
  if (UNLIKELY(device < 0 || device >= MAX_DEVICES)) {
    place.expected = MAX_DEVICES - 1;
    place.actual = device;
    *status = tilert_fail(TILE_ERR_NO_DEVICE, &place, "device number %d is out of range", device);
    return NULL;
  }
  library_state *state = tilert_library_state(library);
  if (UNLIKELY(!state)) {
    *status = fail_memory(kernel);
    return NULL;
  }
  loaded_state *loaded = tilert_loaded(library, backend, device);
  if (LIKELY(loaded != NULL))
    return loaded;
  if (!may_load) {
    *status = tilert_fail(
        TILE_ERR_NOT_LOADED, &place,
        "not loaded for device %d, and the launch forbids loading; call the _load function first", device);
    return NULL;
  }
  return load_slowly(state, library, kernel, backend, device, status);
}

/*===- Settings and shutdown, with all other calls excluded -------------------*/

static void for_each_loaded(library_state *state, int forget) {
  for (int32_t b = 0; b < NUM_BACKENDS; ++b)
    for (int32_t d = 0; d < MAX_DEVICES; ++d) {
      loaded_state *loaded = state->loaded[b][d];
      if (!loaded)
        continue;
      if (forget) {
        tilert_backend(b)->unload(state, loaded);
        free_loaded(loaded);
        state->loaded[b][d] = NULL;
      } else {
        __atomic_store_n(&loaded->ready, 0, __ATOMIC_RELEASE);
      }
    }
}

tile_status tile_rt_set_image_filter(const char *arch) {
  error_place place = NO_PLACE("");
  if (arch && strlen(arch) >= sizeof(image_filter))
    return tilert_fail(TILE_ERR_NO_IMAGE, &place, "the image filter is longer than any architecture's name");
  pthread_rwlock_wrlock(&runtime_lock);
  snprintf(image_filter, sizeof(image_filter), "%s", arch ? arch : "");
  for (library_state *l = __atomic_load_n(&all_libraries, __ATOMIC_ACQUIRE); l; l = l->next)
    for_each_loaded(l, 0);
  tilert_forget_plans();
  pthread_rwlock_unlock(&runtime_lock);
  return TILE_OK;
}

/* Library states themselves stay: objects point at them, and an object that was
   unloaded cannot be told. */
void tile_rt_shutdown(void) {
  pthread_rwlock_wrlock(&runtime_lock);
  for (library_state *l = __atomic_load_n(&all_libraries, __ATOMIC_ACQUIRE); l; l = l->next) {
    for_each_loaded(l, 1);
    for (int32_t b = 0; b < NUM_BACKENDS; ++b)
      tilert_backend(b)->unload_library(l);
  }
  for (int32_t b = 0; b < NUM_BACKENDS; ++b)
    tilert_backend(b)->shutdown();
  tilert_pool_shutdown();
  tilert_forget_plans();
  pthread_rwlock_unlock(&runtime_lock);
}
