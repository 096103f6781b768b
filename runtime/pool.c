/*===- pool.c - fork-join threads for CPU kernels ---------------------------===*
 *
 * The caller works too. Items are handed out one at a time from a counter, so a
 * late thread costs nothing but its share. A worker joins a job only while the
 * job is open, and the caller closes it when the counter has run out: nobody
 * waits for a worker that is still asleep.
 *
 * Placement: right after idling the kernel likes to wake a worker on the
 * caller's own CPU, where the two then take turns. So workers are pinned to
 * other CPUs than the caller's, within the caller's affinity mask; the caller is
 * never touched. With more threads than CPUs nothing is pinned and waits yield.
 *
 * Two callers at once: the second one works alone in its own thread.
 *
 *===------------------------------------------------------------------------===*/
#include "tile_rt_internal.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

enum { MAX_THREADS = 256, SPINS = 20000, SPINS_CROWDED = 50, JOB_CLOSED = 1 << 30 };

static struct {
  int32_t busy;    /* atomic: some caller has the pool */
  int32_t running; /* workers that exist; 0 = not started */
  int32_t crowded; /* atomic: more threads than CPUs */
  int32_t stop;    /* atomic */
  pthread_t threads[MAX_THREADS];
  int32_t cpu[MAX_THREADS]; /* where worker i is pinned, -1 = nowhere */
  int32_t home;             /* CPU the workers keep clear of */
  pool_job *job;            /* valid while open */
  uint32_t generation;      /* atomic, futex: one more for each job */
  int32_t sleepers;         /* atomic */
  int32_t active;           /* atomic, futex: workers in the job, plus JOB_CLOSED */
  int32_t caller_sleeps;    /* atomic */
  int64_t next;             /* atomic: next item */
} pool = {0, 0, 0, 0, {0}, {0}, -1, NULL, 0, 0, JOB_CLOSED, 0, 0};

static int32_t wanted_threads;  /* atomic; 0 = by default */
static int32_t default_threads; /* atomic; 0 = not asked yet */

static pthread_mutex_t replacement_mutex = PTHREAD_MUTEX_INITIALIZER;
static tile_parallel_fn replacement;
static void *replacement_user;

/*===- Arena ------------------------------------------------------------------*/

typedef struct arena {
  void *memory;
  size_t size;
} arena;

static pthread_key_t arena_key;
static pthread_once_t arena_once = PTHREAD_ONCE_INIT;
static int arena_key_made;

static void free_arena(void *p) {
  arena *a = p;
  free(a->memory);
  free(a);
}

static void make_arena_key(void) { arena_key_made = pthread_key_create(&arena_key, free_arena) == 0; }

static arena *arena_of_thread(void) {
  pthread_once(&arena_once, make_arena_key);
  if (!arena_key_made)
    return NULL;
  arena *a = pthread_getspecific(arena_key);
  if (!a && (a = calloc(1, sizeof(*a))) != NULL && pthread_setspecific(arena_key, a)) {
    free(a);
    a = NULL;
  }
  return a;
}

void *tilert_arena(size_t bytes) {
  arena *a = arena_of_thread();
  if (!a)
    return NULL;
  bytes = (bytes + 63) & ~(size_t)63;
  if (bytes < 64)
    bytes = 64;
  if (a->size < bytes) {
    free(a->memory);
    a->size = 0;
    if (posix_memalign(&a->memory, 4096, bytes)) {
      a->memory = NULL;
      return NULL;
    }
    a->size = bytes;
  }
  return a->memory;
}

/*===- Waiting ----------------------------------------------------------------*/

static void futex_wait(void *word, int32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(void *word, int32_t count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static int is_crowded(void) { return __atomic_load_n(&pool.crowded, __ATOMIC_RELAXED); }

/* One step of a busy wait. */
static void pause_a_bit(int32_t step) {
  if (is_crowded() || (step & 1023) == 1023)
    sched_yield();
  else
    _mm_pause();
}

/*===- Work -------------------------------------------------------------------*/

/* Kernels are compiled for the default rounding mode with subnormals. */
enum { DEFAULT_MXCSR = 0x1f80 };

static void work_on(pool_job *job, void *memory) {
  unsigned saved = _mm_getcsr();
  _mm_setcsr(DEFAULT_MXCSR);
  int64_t item;
  while ((item = __atomic_fetch_add(&pool.next, 1, __ATOMIC_RELAXED)) < job->items)
    job->work(job->values, item, memory);
  _mm_setcsr(saved);
}

static void work_alone(pool_job *job, void *memory) {
  unsigned saved = _mm_getcsr();
  _mm_setcsr(DEFAULT_MXCSR);
  for (int64_t item = 0; item < job->items; ++item)
    job->work(job->values, item, memory);
  _mm_setcsr(saved);
}

/* A worker without memory leaves its share to the others. */
static void join_job(void) {
  if (!(__atomic_fetch_add(&pool.active, 1, __ATOMIC_ACQ_REL) & JOB_CLOSED)) {
    void *memory = tilert_arena(pool.job->arena_bytes);
    if (memory)
      work_on(pool.job, memory);
  }
  if (__atomic_sub_fetch(&pool.active, 1, __ATOMIC_SEQ_CST) == JOB_CLOSED &&
      __atomic_load_n(&pool.caller_sleeps, __ATOMIC_SEQ_CST))
    futex_wake(&pool.active, 1);
}

static uint32_t wait_for_job(uint32_t seen) {
  int32_t spins = is_crowded() ? SPINS_CROWDED : SPINS;
  uint32_t now;
  for (int32_t i = 0; (now = __atomic_load_n(&pool.generation, __ATOMIC_ACQUIRE)) == seen; ++i) {
    if (i < spins) {
      pause_a_bit(i);
      continue;
    }
    __atomic_fetch_add(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pool.generation, __ATOMIC_SEQ_CST) == seen)
      futex_wait(&pool.generation, (int32_t)seen);
    __atomic_fetch_sub(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
    i = 0;
  }
  return now;
}

static void *worker_main(void *argument) {
  uint32_t seen = (uint32_t)(uintptr_t)argument;
  pthread_setname_np(pthread_self(), "tile-worker");
  for (;;) {
    seen = wait_for_job(seen);
    if (__atomic_load_n(&pool.stop, __ATOMIC_ACQUIRE))
      return NULL;
    join_job();
  }
}

/*===- Threads and their places -----------------------------------------------*/

static int32_t threads_from_environment(void) {
  const char *text = secure_getenv("TILE_NUM_THREADS");
  char *end;
  long n = text ? strtol(text, &end, 10) : 0;
  return text && end != text && *end == 0 && n > 0 ? (int32_t)(n < MAX_THREADS ? n : MAX_THREADS) : 0;
}

static int32_t allowed_cpus(cpu_set_t *set) {
  CPU_ZERO(set);
  if (sched_getaffinity(0, sizeof(*set), set) != 0)
    return 0;
  return CPU_COUNT(set);
}

/* Environment and affinity are asked once: this is on the path of each launch. */
static COLD int32_t find_default_threads(void) {
  cpu_set_t set;
  int32_t n = threads_from_environment();
  if (n <= 0)
    n = allowed_cpus(&set);
  if (n <= 0)
    n = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
  n = n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
  __atomic_store_n(&default_threads, n, __ATOMIC_RELAXED);
  return n;
}

static int32_t target_threads(void) {
  int32_t n = __atomic_load_n(&wanted_threads, __ATOMIC_RELAXED);
  if (n <= 0)
    n = __atomic_load_n(&default_threads, __ATOMIC_RELAXED);
  return LIKELY(n > 0) ? n : find_default_threads();
}

static void pin(int32_t worker, int32_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  pool.cpu[worker] = pthread_setaffinity_np(pool.threads[worker], sizeof(set), &set) == 0 ? cpu : -1;
}

/* Workers go to the CPUs after the caller's, in turn. */
static void place_workers(const cpu_set_t *allowed) {
  int32_t cpu = pool.home;
  for (int32_t i = 0; i < pool.running; ++i) {
    pool.cpu[i] = -1;
    if (is_crowded())
      continue;
    do
      cpu = (cpu + 1) % CPU_SETSIZE;
    while (!CPU_ISSET((size_t)cpu, allowed) || cpu == pool.home);
    pin(i, cpu);
  }
}

/* The caller moved onto a worker's CPU: that worker takes the one it left. */
static void make_way(void) {
  int32_t here = sched_getcpu();
  if (here == pool.home || here < 0 || is_crowded())
    return;
  for (int32_t i = 0; i < pool.running; ++i)
    if (pool.cpu[i] == here) {
      pin(i, pool.home);
      pool.home = here;
      return;
    }
  /* The caller is on a CPU nobody uses: it is the new one to keep clear of. */
  pool.home = here;
}

static void start_workers(int32_t threads) {
  sigset_t all, old;
  cpu_set_t allowed;
  sigfillset(&all);
  pool.home = sched_getcpu();
  int32_t cpus = allowed_cpus(&allowed);
  __atomic_store_n(&pool.crowded, threads > cpus || pool.home < 0 || pool.home >= CPU_SETSIZE,
                   __ATOMIC_RELAXED);
  __atomic_store_n(&pool.stop, 0, __ATOMIC_RELEASE);
  uint32_t seen = __atomic_load_n(&pool.generation, __ATOMIC_RELAXED);
  pthread_sigmask(SIG_SETMASK, &all, &old); /* the program's signals are not for these threads */
  for (pool.running = 0; pool.running < threads - 1; ++pool.running)
    if (pthread_create(&pool.threads[pool.running], NULL, worker_main, (void *)(uintptr_t)seen))
      break;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  place_workers(&allowed);
}

static void stop_workers(void) {
  if (!pool.running)
    return;
  __atomic_store_n(&pool.stop, 1, __ATOMIC_RELEASE);
  __atomic_fetch_add(&pool.generation, 1, __ATOMIC_SEQ_CST);
  futex_wake(&pool.generation, INT_MAX);
  for (int32_t i = 0; i < pool.running; ++i)
    pthread_join(pool.threads[i], NULL);
  pool.running = 0;
}

/*===- Jobs -------------------------------------------------------------------*/

static void wait_for_workers(void) {
  int32_t active, spins = is_crowded() ? SPINS_CROWDED : SPINS;
  for (int32_t i = 0; (active = __atomic_load_n(&pool.active, __ATOMIC_ACQUIRE)) != JOB_CLOSED; ++i) {
    if (i < spins) {
      pause_a_bit(i);
      continue;
    }
    __atomic_store_n(&pool.caller_sleeps, 1, __ATOMIC_SEQ_CST);
    active = __atomic_load_n(&pool.active, __ATOMIC_SEQ_CST);
    if (active != JOB_CLOSED)
      futex_wait(&pool.active, active);
    __atomic_store_n(&pool.caller_sleeps, 0, __ATOMIC_SEQ_CST);
  }
}

/* The pool is this caller's. */
static void run_in_pool(pool_job *job, void *memory, int32_t threads) {
  if (pool.running != threads - 1) {
    stop_workers();
    start_workers(threads);
  }
  make_way();
  pool.job = job;
  __atomic_store_n(&pool.next, 0, __ATOMIC_RELAXED);
  __atomic_fetch_and(&pool.active, ~JOB_CLOSED, __ATOMIC_ACQ_REL);
  __atomic_fetch_add(&pool.generation, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&pool.sleepers, __ATOMIC_SEQ_CST))
    futex_wake(&pool.generation, INT_MAX);
  work_on(job, memory);
  __atomic_fetch_or(&pool.active, JOB_CLOSED, __ATOMIC_ACQ_REL);
  wait_for_workers();
}

static void replacement_body(void *context, int64_t item) {
  pool_job *job = context;
  void *memory = tilert_arena(job->arena_bytes);
  if (!memory) {
    __atomic_store_n(&job->failed, 1, __ATOMIC_RELAXED);
    return;
  }
  unsigned saved = _mm_getcsr();
  _mm_setcsr(DEFAULT_MXCSR);
  job->work(job->values, item, memory);
  _mm_setcsr(saved);
}

static COLD tile_status fail_arena(const pool_job *job, const char *kernel) {
  error_place place = NO_PLACE(kernel);
  place.expected = (int64_t)job->arena_bytes;
  place.native_api = TILE_NATIVE_OS;
  place.native_code = 12; /* ENOMEM */
  return tilert_fail(TILE_ERR_OUT_OF_MEMORY, &place, "no memory for a thread's %lld bytes of tiles",
                     (long long)job->arena_bytes);
}

tile_status tilert_pool_run(pool_job *job, const char *kernel) {
  pthread_mutex_lock(&replacement_mutex);
  tile_parallel_fn parallel = replacement;
  void *user = replacement_user;
  pthread_mutex_unlock(&replacement_mutex);
  if (parallel) {
    parallel(user, job->items, replacement_body, job);
    return __atomic_load_n(&job->failed, __ATOMIC_RELAXED) ? fail_arena(job, kernel) : TILE_OK;
  }
  void *memory = tilert_arena(job->arena_bytes);
  if (!memory)
    return fail_arena(job, kernel);
  int32_t threads = job->items > 1 ? target_threads() : 1, free_pool = 0;
  if (threads > 1 &&
      __atomic_compare_exchange_n(&pool.busy, &free_pool, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    run_in_pool(job, memory, threads);
    __atomic_store_n(&pool.busy, 0, __ATOMIC_RELEASE);
  } else {
    work_alone(job, memory);
  }
  return TILE_OK;
}

/*===- Settings ---------------------------------------------------------------*/

tile_status tile_set_num_threads(int32_t count) {
  error_place place = NO_PLACE("");
  place.expected = MAX_THREADS;
  place.actual = count;
  if (count < 0 || count > MAX_THREADS)
    return tilert_fail(TILE_ERR_LAUNCH, &place, "the number of threads must be 0 to %d, not %d", MAX_THREADS,
                       count);
  __atomic_store_n(&default_threads, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&wanted_threads, count, __ATOMIC_RELAXED);
  return TILE_OK;
}

int32_t tile_num_threads(void) { return target_threads(); }

void tile_set_parallel(tile_parallel_fn fn, void *user) {
  pthread_mutex_lock(&replacement_mutex);
  replacement = fn;
  replacement_user = user;
  pthread_mutex_unlock(&replacement_mutex);
}

/* No launch is under way: the runtime's lock is held for writing. */
void tilert_pool_shutdown(void) { stop_workers(); }

/* In the child of fork: the workers are gone, and so may be whoever used them. */
void tilert_pool_forked(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  replacement_mutex = mutex;
  pool.busy = pool.running = pool.sleepers = pool.caller_sleeps = 0;
  pool.active = JOB_CLOSED;
  pool.job = NULL;
}
