/*===- thread.c - what a thread keeps between its calls ----------------------===*/
#include "tile_rt_internal.h"

#include <stdlib.h>
#include <string.h>

__thread thread_state *tilert_thread_memory;
static pthread_key_t key; /* frees it at the end of a thread */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int key_made;

static void free_memory(void *p) {
  tilert_thread_memory = NULL;
  free(p);
}

static void make_key(void) { key_made = pthread_key_create(&key, free_memory) == 0; }

COLD thread_state *tilert_new_thread_memory(void) {
  void *memory = NULL;
  pthread_once(&once, make_key);
  if (!key_made || posix_memalign(&memory, 64, sizeof(thread_state)))
    return NULL;
  if (pthread_setspecific(key, memory)) {
    free(memory);
    return NULL;
  }
  memset(memory, 0, sizeof(thread_state));
  return tilert_thread_memory = memory;
}
