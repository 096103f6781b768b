/*===- cpu_calls.c - the CPU back end: results, threads, arena, fork --------===*/
#include "rt_tensors.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

enum { ROWS = 37, COLUMNS = 19 };

static float input[ROWS][COLUMNS + 5] __attribute__((aligned(64)));
static float output[ROWS][COLUMNS + 9] __attribute__((aligned(64)));

static void set_tensors(rt_tensor *X, rt_tensor *Y) {
  const int64_t shape[2] = {ROWS, COLUMNS};
  rt_strides(rt_set(X, (uintptr_t)input, TILE_DEVICE_CPU, TILE_DTYPE_FLOAT, 32, 2, shape), COLUMNS + 5, 1, 0);
  rt_strides(rt_set(Y, (uintptr_t)output, TILE_DEVICE_CPU, TILE_DTYPE_FLOAT, 32, 2, shape), COLUMNS + 9, 1,
             0);
}

static int output_is_right(float a) {
  for (int i = 0; i < ROWS; ++i) {
    for (int j = 0; j < COLUMNS; ++j)
      if (output[i][j] != a * input[i][j])
        return 0;
    for (int j = COLUMNS; j < COLUMNS + 9; ++j)
      if (output[i][j] != -1.0f)
        return 0;
  }
  return 1;
}

static tile_status run_scale(float a) {
  rt_tensor X, Y;
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
  set_tensors(&X, &Y);
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS + 9; ++j)
      output[i][j] = -1.0f;
  return t_scale(&launch, &X.t, &Y.t, a);
}

static void test_thread_counts(void) {
  for (int32_t threads = 1; threads <= 9; ++threads) {
    CHECK_EQ(tile_set_num_threads(threads), TILE_OK);
    CHECK_EQ(tile_num_threads(), threads);
    for (int i = 0; i < 50; ++i) {
      t_items_run = 0;
      CHECK_EQ(run_scale((float)i), TILE_OK);
      CHECK_EQ(t_items_run, ROWS);
      CHECK(output_is_right((float)i));
    }
  }
  setenv("TILE_NUM_THREADS", "3", 1);
  CHECK_EQ(tile_set_num_threads(0), TILE_OK);
  CHECK_EQ(tile_num_threads(), 3);
  setenv("TILE_NUM_THREADS", "many", 1);
  CHECK_EQ(tile_set_num_threads(0), TILE_OK);
  cpu_set_t set;
  CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
  CHECK_EQ(tile_num_threads(), CPU_COUNT(&set));
  unsetenv("TILE_NUM_THREADS");
}

/* Workers sleep after a while without work, and wake again. */
static void test_sleep(void) {
  CHECK_EQ(tile_set_num_threads(2), TILE_OK);
  for (int i = 0; i < 5; ++i) {
    usleep(20000);
    CHECK_EQ(run_scale(3), TILE_OK);
    CHECK(output_is_right(3));
  }
}

static char log_text[4096];
static void keep_log(void *user, int32_t level, const char *text) {
  (void)user;
  if (level == TILE_LOG_DEBUG)
    snprintf(log_text, sizeof(log_text), "%s", text);
}

static void test_levels(void) {
  const char *const names[] = {"v2", "x86-64-v3", "3"};
  const char *const want[] = {"scale_v2", "scale_v3", "scale_v3"};
  tile_set_log(keep_log, NULL);
  for (int i = 0; i < 3; ++i) {
    setenv("TILE_CPU_LEVEL", names[i], 1);
    tile_rt_shutdown(); /* the level is picked at the first call */
    CHECK_EQ(run_scale(2), TILE_OK);
    CHECK(output_is_right(2));
    if (i == 0 || __builtin_cpu_supports("x86-64-v3"))
      CHECK_TEXT(log_text, want[i]);
  }
  setenv("TILE_CPU_LEVEL", "nonsense", 1);
  tile_rt_shutdown();
  CHECK_EQ(run_scale(2), TILE_OK);
  unsetenv("TILE_CPU_LEVEL");
  tile_set_log(NULL, NULL);
}

/* The caller's floating-point mode does not reach the kernel, and comes back. */
static void test_float_mode(void) {
  unsigned saved = _mm_getcsr();
  input[0][0] = 1e-39f; /* subnormal */
  for (int32_t threads = 1; threads <= 2; ++threads) {
    CHECK_EQ(tile_set_num_threads(threads), TILE_OK);
    _mm_setcsr(saved | 0x8040); /* flush to zero, denormals are zero */
    tile_status s = run_scale(1);
    unsigned after = _mm_getcsr();
    _mm_setcsr(saved);
    CHECK_EQ(s, TILE_OK);
    CHECK_EQ(after & 0x8040, 0x8040);
    CHECK(output[0][0] != 0);
  }
  input[0][0] = 1;
}

static void backwards(void *user, int64_t items, tile_body_fn body, void *context) {
  *(int64_t *)user += items;
  while (items-- > 0)
    body(context, items);
}

static void test_replacement(void) {
  int64_t items = 0;
  tile_set_parallel(backwards, &items);
  CHECK_EQ(run_scale(7), TILE_OK);
  CHECK(output_is_right(7));
  CHECK_EQ(items, ROWS);
  tile_set_parallel(NULL, NULL);
  CHECK_EQ(run_scale(8), TILE_OK);
  CHECK_EQ(items, ROWS);
}

static void test_fork(void) {
  CHECK_EQ(tile_set_num_threads(4), TILE_OK);
  CHECK_EQ(run_scale(4), TILE_OK);
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    int good = run_scale(5) == TILE_OK && output_is_right(5);
    tile_rt_shutdown();
    good = good && run_scale(6) == TILE_OK && output_is_right(6);
    _exit(good ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK_EQ(run_scale(9), TILE_OK);
  CHECK(output_is_right(9));
}

/* Many callers at once: one has the pool, the others work alone. */
static void *caller(void *argument) {
  const int64_t shape[2] = {20, 30};
  float *x = calloc(600, sizeof(float)), *y = NULL;
  rt_tensor X, Y;
  tile_launch launch = TILE_LAUNCH_INIT(NULL);
  intptr_t bad = posix_memalign((void **)&y, 64, 600 * sizeof(float));
  for (int i = 0; i < 600; ++i)
    x[i] = (float)i;
  rt_set(&X, (uintptr_t)x, TILE_DEVICE_CPU, TILE_DTYPE_FLOAT, 32, 2, shape);
  rt_set(&Y, (uintptr_t)y, TILE_DEVICE_CPU, TILE_DTYPE_FLOAT, 32, 2, shape);
  for (int i = 0; i < 200; ++i) {
    float a = (float)(i + (intptr_t)argument);
    bad += t_scale(&launch, &X.t, &Y.t, a) != TILE_OK;
    for (int j = 0; j < 600; ++j)
      bad += y[j] != a * x[j];
  }
  free(x);
  free(y);
  return (void *)bad;
}

static void test_callers(void) {
  pthread_t threads[8];
  CHECK_EQ(tile_set_num_threads(3), TILE_OK);
  for (intptr_t i = 0; i < 8; ++i)
    CHECK_EQ(pthread_create(&threads[i], NULL, caller, (void *)i), 0);
  for (int i = 0; i < 8; ++i) {
    void *bad = NULL;
    CHECK_EQ(pthread_join(threads[i], &bad), 0);
    CHECK_EQ((intptr_t)bad, 0);
  }
}

/* Workers keep within the mask of the thread that starts them. */
static void test_affinity(void) {
  cpu_set_t old, one;
  CHECK(sched_getaffinity(0, sizeof(old), &old) == 0);
  int here = sched_getcpu();
  CPU_ZERO(&one);
  CPU_SET((size_t)here, &one);
  tile_rt_shutdown();
  CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
  CHECK_EQ(tile_set_num_threads(0), TILE_OK);
  CHECK_EQ(tile_num_threads(), 1);
  CHECK_EQ(tile_set_num_threads(4), TILE_OK); /* more threads than CPUs: right, if slow */
  for (int i = 0; i < 20; ++i) {
    CHECK_EQ(run_scale(4), TILE_OK);
    CHECK(output_is_right(4));
  }
  tile_rt_shutdown();
  CHECK(sched_setaffinity(0, sizeof(old), &old) == 0);
  cpu_set_t now;
  CHECK_EQ(tile_set_num_threads(0), TILE_OK);
  CHECK_EQ(run_scale(4), TILE_OK);
  CHECK(sched_getaffinity(0, sizeof(now), &now) == 0);
  CHECK(CPU_EQUAL(&now, &old)); /* the caller itself is never pinned */
}

int main(void) {
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS + 5; ++j)
      input[i][j] = (float)(i * 100 + j);
  int32_t count = 0;
  CHECK_EQ(tile_device_count(TILE_DEVICE_CPU, &count), TILE_OK);
  CHECK_EQ(count, 1);
  test_thread_counts();
  test_sleep();
  test_levels();
  test_float_mode();
  test_replacement();
  test_fork();
  test_callers();
  test_affinity();
  tile_rt_shutdown();
  tile_rt_shutdown();
  return rt_report("cpu_calls");
}
