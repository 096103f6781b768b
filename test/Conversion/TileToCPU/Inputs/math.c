/* Runs the functions of math.mlir over exponents of all sizes, denormals, infinities and NaN. */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 200003
static float xf[COUNT], zf[COUNT], yf[COUNT];
static double xd[COUNT], zd[COUNT], yd[COUNT];
static _Alignas(64) char arena[1 << 16];
static int failures;
static uint64_t state = 88172645463325252ull;
static uint64_t bits(void) { return state ^= state << 13, state ^= state >> 7, state ^= state << 17; }

static void run(void (*work)(const uint64_t *, int64_t, void *), void *x, void *z, void *y) {
  uint64_t slots[10] = {1, (uintptr_t)x, COUNT, 1, (uintptr_t)z, COUNT, 1, (uintptr_t)y, COUNT, 1};
  work(slots, 0, arena);
}

static void judge(const char *name, double x, double z, double got, long double want, int digits, int least,
                  double bound, double *worst) {
  int e;
  frexpl(want, &e);
  long double unit = ldexpl(1, (e - 1 < least ? least : e - 1) - digits + 1),
              most = ldexpl(2 - ldexpl(1, 1 - digits), 1 - least);
  int nan = want != want, both = nan ? got != got : got == (double)want;
  if (both || (!nan && got == got && fabsl(want) > most && fabs(got) >= (double)most))
    return;
  double error =
      nan || got != got || isinf(got) || isinf((double)want) ? HUGE_VAL : (double)(fabsl(got - want) / unit);
  if (isinf(got) && fabsl(want) > most * (1 - ldexpl(1, -20)))
    error = 1;
  if (error > *worst)
    *worst = error;
  if (error > bound && ++failures < 25)
    printf("%s(%a, %a): got %a, want %La, %.2f ulp\n", name, x, z, got, want, error);
}

static long double one(const char *f, long double x, long double z) {
#define F(n, e)                                                                                              \
  if (!strcmp(f, n))                                                                                         \
    return e;
  F("exp", expl(x))
  F("exp2", exp2l(x)) F("expm1", expm1l(x)) F("log", logl(x)) F("log2", log2l(x)) F("log10", log10l(x))
      F("log1p", log1pl(x)) F("tanh", tanhl(x)) F("erf", erfl(x)) F("rsqrt", 1 / sqrtl(x)) F("sin", sinl(x))
          F("cos", cosl(x)) F("tan", tanl(x)) F("sqrt", sqrtl(x)) F("round", roundl(x))
              F("roundeven", roundevenl(x)) F("floor", floorl(x)) F("ceil", ceill(x)) F("trunc", truncl(x))
                  F("pow", powl(x, z)) F("rem", fmodl(x, z)) return 0;
}

#define LIST(X)                                                                                              \
  X(exp, 1.5, 1.5)                                                                                           \
  X(exp2, 1.5, 2) X(expm1, 3, 3) X(log, 1.5, 1.5) X(log2, 2, 3) X(log10, 3, 4) X(log1p, 4, 4) X(tanh, 3, 3)  \
      X(erf, 3, 20) X(rsqrt, 1.5, 1.5) X(sin, 1, 1) X(cos, 1, 1) X(tan, 1, 4) X(sqrt, .5, .5) X(round, 0, 0) \
          X(roundeven, 0, 0) X(floor, 0, 0) X(ceil, 0, 0) X(trunc, 0, 0) X(pow, 1, 1000) X(rem, 0, 0)
#define DECLARE(f, a, b)                                                                                     \
  extern void f##_f32(const uint64_t *, int64_t, void *) __asm__(#f "_f32.work");                            \
  extern void f##_f64(const uint64_t *, int64_t, void *) __asm__(#f "_f64.work");
LIST(DECLARE)
DECLARE(fma, 0, 0)

    static void fill(const char *name) {
  int circular = !strcmp(name, "sin") || !strcmp(name, "cos") || !strcmp(name, "tan");
  for (int i = 0; i < COUNT; ++i) {
    uint32_t a = (uint32_t)bits(), b = (uint32_t)bits();
    uint64_t c = bits(), d = bits();
    memcpy(xf + i, &a, 4), memcpy(zf + i, &b, 4), memcpy(xd + i, &c, 8), memcpy(zd + i, &d, 8);
    if (i % 3 == 0) // where the functions do something
      xf[i] = (float)((double)a / 0x1p25 - 64), xd[i] = xf[i] * (1 + ldexp((double)b, -60));
    if (i % 3 == 0 || i % 7 == 0)
      zf[i] = (float)((int)(b % 200) - 100) / 4, zd[i] = zf[i];
    if (circular && fabs(xd[i]) > 1e5) // f64 arguments are reduced up to 2^20
      xd[i] = fmod(xd[i], 1e5);
    if (!strcmp(name, "rem") && i % 5)
      xd[i] = xf[i], zd[i] = zf[i];
  }
  static const double special[] = {0,        -0.0,      1,        -1,   INFINITY, -INFINITY, NAN,
                                   0x1p-149, -0x1p-149, 0x1p-126, 3e38, 88.7,     -103.9};
  for (int i = 0; i < 13; ++i)
    for (int j = 0; j < 13; ++j)
      xd[i * 13 + j] = xf[i * 13 + j] = (float)special[i],
                  zd[i * 13 + j] = zf[i * 13 + j] = (float)special[j];
  for (int i = 0; circular && i < 169; ++i)
    if (fabs(xd[i]) > 1e6 && !isinf(xd[i]))
      xd[i] = 1e5;
}

static void both(const char *name, void (*f)(const uint64_t *, int64_t, void *),
                 void (*d)(const uint64_t *, int64_t, void *), double boundF, double boundD) {
  double worstF = 0, worstD = 0;
  fill(name);
  run(f, xf, zf, yf), run(d, xd, zd, yd);
  char text[32];
  for (int i = 0; i < COUNT; ++i) {
    snprintf(text, sizeof text, "%s f32", name);
    judge(text, xf[i], zf[i], yf[i], one(name, xf[i], zf[i]), 24, -126, boundF, &worstF);
    snprintf(text, sizeof text, "%s f64", name);
    judge(text, xd[i], zd[i], yd[i], one(name, xd[i], zd[i]), 53, -1022, boundD, &worstD);
  }
  printf("%-10s f32 %.2f ulp, f64 %.2f ulp\n", name, worstF, worstD);
}

int main(void) {
#define CALL(f, a, b) both(#f, f##_f32, f##_f64, a, b);
  LIST(CALL)
  fill("fma");
  run(fma_f32, xf, zf, yf);
  for (int i = 0; i < COUNT; ++i) {
    float want = fmaf(xf[i], zf[i], zf[i]);
    if (!(yf[i] == want || (want != want && yf[i] != yf[i])) && ++failures < 25)
      printf("fma(%a, %a): got %a, want %a\n", xf[i], zf[i], yf[i], want);
  }
  if (failures)
    printf("%d failures\n", failures);
  return failures != 0;
}
