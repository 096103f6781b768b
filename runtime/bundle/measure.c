/*===- measure.c - every point of every kernel and shape ----------------------------===*
 *
 * Kernels run in a worker process: one that hangs or breaks its context takes the
 * worker along, not the session. The parent notes what was under way and starts
 * another worker, which goes on behind it. The driver is never touched in the parent.
 *
 *===------------------------------------------------------------------------------===*/
#include "runner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Everything a worker holds while it is at one trial. */
typedef struct bench {
  const settings *s;
  session *all;
  trial *t;
  const plan_kernel *kernel;
  const plan_shape *shape;
  device d, cpu;
  kernel_call full, small, oracle;
  int has_oracle;       /* `small` and `oracle` are there */
  void *expected;       /* outputs of the first right candidate at the full size */
  void *expected_small; /* the CPU's, at the small one */
} bench;

static void alive(session *all, int32_t current) {
  all->current = current;
  __atomic_add_fetch(&all->heartbeat, 1, __ATOMIC_RELAXED);
}

static void set_outcome(candidate *c, outcome outcome, const char *why) {
  snprintf(c->why, sizeof(c->why), "%s", why);
  c->outcome = outcome;
}

/* The worker's context may be broken: the next one goes on. */
static void fail_candidate(candidate *c, const char *why) {
  set_outcome(c, FAILED, why);
  _exit(1);
}

static void give_up(session *all, const char *why) {
  snprintf(all->fatal, sizeof(all->fatal), "%s", why);
  _exit(EXIT_ENVIRONMENT);
}

/*===- Candidates -----------------------------------------------------------------------*/

/* The number of a symbol among the variants of the selected images, which are those of one architecture. */
static void list_variants(bench *b, const char *arch, const char *symbol) {
  const tile_gen_library *library = b->s->bundle->library;
  const tile_gen_launch *launch = &b->full.kernel->launches[0];
  trial *t = b->t;
  int32_t number = 0;
  t->chosen = -1;
  for (int32_t i = 0; i < launch->num_variants && t->num_candidates < MAX_CANDIDATES; ++i) {
    const tile_gen_variant *v = &launch->variants[i];
    if (strcmp(library->images[v->image].arch, arch) != 0)
      continue;
    candidate *c = &t->candidates[t->num_candidates];
    memset(c, 0, sizeof(*c));
    c->variant = number++;
    c->point = v->point;
    snprintf(c->arch, sizeof(c->arch), "%s", arch);
    if (strcmp(v->symbol, symbol) == 0)
      t->chosen = t->num_candidates;
    ++t->num_candidates;
  }
}

/* Of a kernel that launches once on a GPU; -1: not known. */
static int32_t launched_point(const bench *b) {
  const tile_gen_launch *launch = &b->full.kernel->launches[0];
  for (int32_t i = 0; b->full.kernel->num_launches == 1 && i < launch->num_variants; ++i)
    if (strcmp(launch->variants[i].symbol, launched_symbol()) == 0)
      return launch->variants[i].point;
  return -1;
}

/* The launcher's choice, and for tuning all points, each by its first variant that takes the arguments. */
static void list_candidates(bench *b) {
  trial *t = b->t;
  t->num_candidates = 0;
  candidate *own = &t->candidates[t->num_candidates++];
  memset(own, 0, sizeof(*own));
  own->variant = own->point = -1;
  alive(b->all, 0);
  set_launch_log();
  tile_status status = run_call(&b->full, -1);
  tile_set_log(NULL, NULL);
  if (status == TILE_ERR_NO_DRIVER || status == TILE_ERR_NO_DEVICE || status == TILE_ERR_NO_IMAGE ||
      status == TILE_ERR_DRIVER_TOO_OLD)
    give_up(b->all, b->full.problem);
  if (status || !device_wait(&b->d))
    fail_candidate(own, status ? b->full.problem : device_error());
  if (b->s->plan->tune && b->full.kernel->num_launches == 1) {
    t->num_candidates = 0;
    list_variants(b, launched_arch(), launched_symbol());
  } else {
    snprintf(own->arch, sizeof(own->arch), "%s", launched_arch());
    own->point = launched_point(b);
    t->chosen = 0;
  }
  t->listed = 1;
}

/*===- Right or wrong ---------------------------------------------------------------------*/

static void *outputs_of(bench *b, kernel_call *call, candidate *c, tile_status *status) {
  *status = TILE_OK;
  if (!reset_call(call) || !device_wait(call->d))
    fail_candidate(c, device_error());
  if ((*status = run_call(call, c->variant)))
    return NULL;
  if (!device_wait(call->d))
    fail_candidate(c, device_error());
  void *all = fetch_outputs(call);
  if (!all)
    fail_candidate(c, device_error());
  alive(b->all, b->all->current);
  return all;
}

/* A launch that was refused leaves the context whole; one that the driver reports may not. */
static void refused(candidate *c, tile_status status, const char *why) {
  if (status == TILE_ERR_NO_VARIANT)
    set_outcome(c, UNFIT, why);
  else
    fail_candidate(c, why);
}

/* At a size where the CPU can say what is right. */
static int check_small(bench *b, candidate *c) {
  tile_status status;
  char why[180];
  if (!b->has_oracle)
    return 1;
  void *found = outputs_of(b, &b->small, c, &status);
  if (!found && status == TILE_ERR_NO_VARIANT)
    return 1; /* it takes the full size alone */
  if (!found)
    refused(c, status, b->small.problem);
  int right = compare_outputs(&b->small, found, b->expected_small, why, sizeof(why));
  free(found);
  if (!right)
    set_outcome(c, WRONG, why);
  return right;
}

static void check_candidate(bench *b, int32_t i) {
  candidate *c = &b->t->candidates[i];
  tile_status status;
  char why[180];
  alive(b->all, i);
  void *found = outputs_of(b, &b->full, c, &status);
  if (!found) {
    refused(c, status, b->full.problem);
    return;
  }
  if (check_small(b, c)) {
    if (!b->expected || compare_outputs(&b->full, found, b->expected, why, sizeof(why)))
      set_outcome(c, RIGHT, "");
    else
      set_outcome(c, WRONG, why);
  }
  if (c->outcome == RIGHT && !b->expected)
    b->expected = found;
  else
    free(found);
}

/* A point counts once, by the first of its variants that runs. */
static int is_spare(const trial *t, int32_t i) {
  for (int32_t j = 0; j < i; ++j)
    if (t->candidates[j].point == t->candidates[i].point && t->candidates[j].outcome != UNFIT &&
        t->candidates[i].point >= 0)
      return 1;
  return 0;
}

/* A worker that takes over needs the results of a right candidate again. */
static void recall_expected(bench *b) {
  tile_status status;
  for (int32_t i = 0; i < b->t->num_candidates && !b->expected; ++i)
    if (b->t->candidates[i].outcome == RIGHT) {
      alive(b->all, i);
      b->expected = outputs_of(b, &b->full, &b->t->candidates[i], &status);
    }
}

static void check_all(bench *b) {
  recall_expected(b);
  for (int32_t i = 0; i < b->t->num_candidates; ++i) {
    candidate *c = &b->t->candidates[i];
    if (c->outcome == UNTRIED && is_spare(b->t, i))
      set_outcome(c, UNFIT, "another variant of the point runs");
    if (c->outcome == UNTRIED)
      check_candidate(b, i);
  }
  b->t->checked = 1;
}

/*===- Time -----------------------------------------------------------------------------------*/

typedef struct timed_run {
  kernel_call *call;
  int32_t variant;
} timed_run;

static int run_timed(void *context) {
  timed_run *r = context;
  return run_call(r->call, r->variant) == TILE_OK;
}

static int compare_doubles(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* Some rounds of the candidates in `list`, in an order that is new in each. */
static void time_candidates(bench *b, const int32_t *list, int32_t count, int32_t rounds, uint64_t *state) {
  double *times = malloc((size_t)count * (size_t)rounds * sizeof(double));
  int32_t *order = malloc((size_t)count * sizeof(int32_t));
  if (!times || !order)
    give_up(b->all, "no memory");
  for (int32_t i = 0; i < count; ++i)
    order[i] = i;
  for (int32_t r = 0; r < rounds; ++r) {
    for (int32_t i = count - 1; i > 0; --i) {
      *state = *state * 6364136223846793005u + 1442695040888963407u;
      int32_t j = (int32_t)((*state >> 33) % (uint64_t)(i + 1)), x = order[i];
      order[i] = order[j];
      order[j] = x;
    }
    for (int32_t i = 0; i < count; ++i) {
      candidate *c = &b->t->candidates[list[order[i]]];
      timed_run run = {&b->full, c->variant};
      alive(b->all, list[order[i]]);
      double seconds = device_seconds(&b->d, run_timed, &run);
      if (seconds < 0)
        fail_candidate(c, b->full.problem[0] ? b->full.problem : device_error());
      times[order[i] * rounds + r] = seconds;
    }
  }
  for (int32_t i = 0; i < count; ++i) {
    candidate *c = &b->t->candidates[list[i]];
    double *own = times + (int64_t)i * rounds;
    qsort(own, (size_t)rounds, sizeof(double), compare_doubles);
    c->rounds = rounds;
    c->lower = own[rounds / 4];
    c->median = own[rounds / 2];
    c->upper = own[rounds * 3 / 4];
  }
  free(times);
  free(order);
}

/* Some rounds for all; then as many as asked for, for the launcher's choice and those that come near the
   best: the fastest of many is otherwise the luckiest. */
static void time_all(bench *b) {
  enum { FIRST_ROUNDS = 9, MAX_FINAL = 12 };
  static int32_t list[MAX_CANDIDATES];
  int32_t count = 0, left = 0;
  uint64_t state = 0x5851f42d4c957f2du;
  double best = 0;
  trial *t = b->t;
  for (int32_t i = 0; i < t->num_candidates; ++i)
    if (t->candidates[i].outcome == RIGHT)
      list[count++] = i;
  if (!count)
    return;
  time_candidates(b, list, count, 2, &state); /* warm */
  if (count > MAX_FINAL) {
    time_candidates(b, list, count, FIRST_ROUNDS, &state);
    for (int32_t i = 0; i < count; ++i)
      best = !i || t->candidates[list[i]].median < best ? t->candidates[list[i]].median : best;
    for (double slack = 1.15; slack > 1 && (!left || left > MAX_FINAL); slack -= 0.01) {
      left = 0;
      for (int32_t i = 0; i < count; ++i)
        left += t->candidates[list[i]].median <= best * slack;
      if (left <= MAX_FINAL || slack < 1.02) {
        int32_t kept = 0;
        for (int32_t i = 0; i < count; ++i)
          if (t->candidates[list[i]].median <= best * slack || list[i] == t->chosen)
            list[kept++] = list[i];
        count = kept;
        break;
      }
    }
  }
  time_candidates(b, list, count, b->s->rounds, &state);
}

/*===- Worker -----------------------------------------------------------------------------------*/

/* The CPU's results at a small size; without them the points are compared with each other alone. */
static void open_oracle(bench *b) {
  plan_shape small;
  tile_gen_kernel *kernel = (tile_gen_kernel *)(uintptr_t)&b->s->bundle->library->kernels[b->kernel->index];
  shrink_shape(b->shape, kernel, &small);
  b->t->reference[0] = 0;
  if (b->d.type == TILE_DEVICE_CPU) {
    snprintf(b->t->reference, sizeof(b->t->reference), "the CPU is what is measured");
    return;
  }
  const char *problem = NULL;
  if (!prepare_call(&b->oracle, b->s->bundle, b->kernel->index, &small, &b->cpu) || !reset_call(&b->oracle) ||
      run_call(&b->oracle, -1) || !(b->expected_small = fetch_outputs(&b->oracle)))
    problem = b->oracle.problem;
  else if (!prepare_call(&b->small, b->s->bundle, b->kernel->index, &small, &b->d))
    problem = b->small.problem;
  b->has_oracle = !problem;
  if (problem)
    snprintf(b->t->reference, sizeof(b->t->reference), "%s", problem);
}

/* Sizes that the kernel refuses, or that do not fit into memory: the other trials may be better. */
static void refuse_trial(bench *b) {
  candidate *own = &b->t->candidates[0];
  own->variant = own->point = -1;
  b->t->num_candidates = 1;
  b->t->listed = b->t->checked = b->t->done = 1;
  set_outcome(own, FAILED, b->full.problem);
  release_call(&b->full);
}

static void do_trial(bench *b) {
  if (!prepare_call(&b->full, b->s->bundle, b->kernel->index, b->shape, &b->d)) {
    refuse_trial(b);
    return;
  }
  b->t->traffic = b->full.traffic;
  open_oracle(b);
  if (!b->t->listed)
    list_candidates(b);
  if (!b->t->checked)
    check_all(b);
  time_all(b);
  b->t->done = 1;
  release_call(&b->full);
  if (b->oracle.kernel)
    release_call(&b->oracle);
  if (b->small.kernel)
    release_call(&b->small);
  free(b->expected);
  free(b->expected_small);
}

void work(const settings *s, session *all) {
  static bench b;
  device d, cpu;
  if (!device_open(&d, s->device_type))
    give_up(all, device_error());
  device_open(&cpu, TILE_DEVICE_CPU);
  snprintf(all->device_name, sizeof(all->device_name), "%s", d.name);
  all->driver = d.driver;
  for (int32_t i = 0; i < all->num_trials; ++i) {
    if (all->trials[i].done)
      continue;
    memset(&b, 0, sizeof(b));
    b.s = s;
    b.all = all;
    b.t = &all->trials[i];
    b.kernel = &s->plan->kernels[b.t->kernel];
    b.shape = &b.kernel->shapes[b.t->shape];
    b.d = d;
    b.cpu = cpu;
    all->trial = i;
    alive(all, -1);
    do_trial(&b);
  }
}

/*===- Parent -------------------------------------------------------------------------------------*/

/* Waits for the worker; kills one that gives no sign of life. 0: it ended well. */
static int watch(const settings *s, session *all, pid_t worker, char *how, size_t size) {
  uint32_t seen = all->heartbeat;
  time_t since = time(NULL);
  int status, killed = 0;
  struct timespec pause = {0, 2000000};
  for (;;) {
    pid_t ended = waitpid(worker, &status, WNOHANG);
    if (ended == worker)
      break;
    if (ended < 0 && errno != EINTR)
      return -1;
    uint32_t beat = __atomic_load_n(&all->heartbeat, __ATOMIC_RELAXED);
    if (beat != seen) {
      seen = beat;
      since = time(NULL);
    } else if (time(NULL) - since > s->seconds && !killed) {
      kill(worker, SIGKILL);
      killed = 1;
    }
    nanosleep(&pause, NULL);
  }
  if (killed)
    snprintf(how, size, "did not end within %d s", s->seconds);
  else if (WIFSIGNALED(status))
    snprintf(how, size, "ended the process by signal %d", WTERMSIG(status));
  else
    snprintf(how, size, "ended the process with exit code %d", WEXITSTATUS(status));
  return killed || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

int measure(const settings *s, session *all) {
  int32_t deaths = 0;
  for (;;) {
    char how[100];
    all->current = -1;
    fflush(NULL);
    pid_t worker = fork();
    if (worker == 0) {
      work(s, all);
      _exit(0);
    }
    int bad = worker < 0 ? -1 : watch(s, all, worker, how, sizeof(how));
    if (!bad)
      return 1;
    if (all->fatal[0] || bad < 0)
      break;
    trial *t = &all->trials[all->trial];
    if (all->current < 0 || ++deaths > 200) {
      snprintf(all->fatal, sizeof(all->fatal), "the worker %s", how);
      break;
    }
    candidate *c = &t->candidates[all->current];
    if (c->outcome != FAILED)
      set_outcome(c, FAILED, how);
    if (!t->listed) /* the launcher's own choice: nothing can be compared */
      t->done = t->listed = t->checked = 1;
  }
  fprintf(stderr, "run: %s\n", all->fatal[0] ? all->fatal : strerror(errno));
  return 0;
}
