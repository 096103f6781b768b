/* Runs the kernels of ops.mlir and compares with plain loops. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL(k)                                                                                            \
  extern int64_t k##_count(const uint64_t *) __asm__(#k ".count");                                           \
  extern void k##_work(const uint64_t *, int64_t, void *) __asm__(#k ".work");
KERNEL(gemm64)
KERNEL(gemm8) KERNEL(copies) KERNEL(reduces) KERNEL(control) KERNEL(generics) KERNEL(odd)

/* Element `i` of a matrix, rows one after another. */
#define FLAT(m, i) (((__typeof__(&(m)[0][0]))(void *)(m))[i])

    static uint64_t slots[64];
static int used, failures;
static _Alignas(64) char arena[1 << 20];

static void start(void) { slots[0] = 1, used = 1; }
static void scalar(int64_t v) { slots[used++] = (uint64_t)v; }
static void strided(void *p, int rank, const int64_t *sizes, const int64_t *strides) {
  scalar((int64_t)(intptr_t)p);
  for (int i = 0; i < rank; ++i)
    scalar(sizes[i]);
  for (int i = 0; i < rank; ++i)
    scalar(strides[i]);
}
static void view(void *p, int rank, int64_t a, int64_t b, int64_t c, int64_t d) {
  int64_t all[4] = {a, b, c, d}, strides[4], stride = 1;
  for (int i = rank - 1; i >= 0; --i)
    strides[i] = stride, stride *= all[i];
  strided(p, rank, all, strides);
}
#define RUN(k)                                                                                               \
  (memset(arena, 0xff, sizeof arena), (void)(k##_count(slots) == 1 ? 0 : ++failures),                        \
   k##_work(slots, 0, arena))

static void same(const char *what, double got, double want, double slack) {
  if (got == want || (got != got && want != want) || fabs(got - want) <= slack)
    return;
  if (++failures < 20)
    printf("%s: got %.9g, want %.9g\n", what, got, want);
}
static unsigned seed = 1;
static float number(void) {
  seed = seed * 1664525u + 1013904223u;
  return (float)(int)(seed >> 9) / 4194304.0f - 1.0f;
}
static float half(uint16_t h) {
  int e = h >> 10 & 31, m = h & 1023;
  float v = e ? ldexpf((float)(m + 1024), e - 25) : ldexpf((float)m, -24);
  return h & 0x8000 ? -v : v;
}

static void gemm64(void) {
  static double a[72][33], b[20][72], c[33][20];
  for (int k = 0; k < 70; ++k) {
    for (int i = 0; i < 33; ++i)
      a[k][i] = number();
    for (int j = 0; j < 20; ++j)
      b[j][k] = number();
  }
  start(), view(a, 2, 70, 33, 0, 0), view(b, 2, 20, 70, 0, 0), view(c, 2, 33, 20, 0, 0);
  double packed[20][70];
  for (int j = 0; j < 20; ++j)
    for (int k = 0; k < 70; ++k)
      packed[j][k] = b[j][k];
  slots[1 + 5] = (uint64_t)(intptr_t)packed;
  RUN(gemm64);
  for (int i = 0; i < 33; ++i)
    for (int j = 0; j < 20; ++j) {
      double s = 0;
      for (int k = 0; k < 70; ++k)
        s += a[k][i] * b[j][k];
      same("gemm64", c[i][j], s, 1e-12);
    }
}

static void gemm8(void) {
  for (int clear = 0; clear < 2; ++clear) {
    static uint8_t a[10][32];
    static int8_t b[32][20];
    static int32_t c[10][20], was[10][20];
    static uint16_t h[16][16], d[16][16];
    for (int i = 0; i < 320; ++i)
      FLAT(a, i) = (uint8_t)(i * 7);
    for (int i = 0; i < 640; ++i)
      FLAT(b, i) = (int8_t)(i * 11);
    for (int i = 0; i < 200; ++i)
      FLAT(was, i) = FLAT(c, i) = i - 100;
    for (int i = 0; i < 256; ++i)
      FLAT(h, i) = (uint16_t)(0x3000 + i % 40 * 16 + (i % 3 ? 0x8000 : 0));
    start(), scalar(clear), view(a, 2, 10, 32, 0, 0), view(b, 2, 32, 20, 0, 0), view(c, 2, 10, 20, 0, 0);
    view(h, 2, 16, 16, 0, 0), view(d, 2, 16, 16, 0, 0);
    RUN(gemm8);
    for (int i = 0; i < 10; ++i)
      for (int j = 0; j < 20; ++j) {
        int32_t s = clear ? 0 : was[i][j];
        for (int k = 0; k < 32; ++k)
          s += a[i][k] * b[k][j];
        same("gemm8", c[i][j], s, 0);
      }
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 16; ++j) {
        double s = 1;
        for (int k = 0; k < 16; ++k)
          s += (double)half(h[i][k]) * half(h[j][k]);
        same("gemm16", half(d[i][j]), s, fabs(s) * 0x1p-11 + 1e-4);
      }
  }
}

static void copies(void) {
  static float x[40 * 40], y[12][20], z[20][12];
  for (int i = 0; i < 1600; ++i)
    x[i] = (float)i;
  int64_t forms[][4] = {{9, 15, 15, 1},   {9, 15, 1, 9}, {30, 40, 40, 1},
                        {9, 15, -15, -1}, {6, 7, 0, 3},  {25, 25, 40, -1}};
  for (int f = 0; f < 6; ++f)
    for (int64_t o = -4; o <= 6; o += 5) {
      int64_t *s = forms[f];
      float *base = x + 800;
      start(), scalar(o), strided(base, 2, s, s + 2), view(y, 2, 12, 20, 0, 0), view(z, 2, 20, 12, 0, 0);
      RUN(copies);
      for (int64_t i = 0; i < 12; ++i)
        for (int64_t j = 0; j < 20; ++j) {
          int64_t a = o + i, b = o + j;
          float want = a >= 0 && b >= 0 && a < s[0] && b < s[1] ? base[a * s[2] + b * s[3]] : 5;
          same("copies", y[i][j], want, 0), same("transposed", z[j][i], want, 0);
        }
    }
}

static void reduces(void) {
  static float x[7][37], r[6][37], s[51][37];
  for (int i = 0; i < 259; ++i)
    FLAT(x, i) = number();
  x[2][30] = NAN, x[4][36] = NAN;
  start(), view(x, 2, 7, 37, 0, 0), view(r, 2, 6, 37, 0, 0), view(s, 2, 51, 37, 0, 0);
  RUN(reduces);
  for (int i = 0; i < 7; ++i) {
    double sum = 0, max = -INFINITY, num = -INFINITY, top = 0;
    for (int j = 0; j < 37; ++j) {
      sum += x[i][j], num = fmax(num, x[i][j]);
      max = x[i][j] != x[i][j] || max != max ? NAN : fmax(max, x[i][j]);
      top = x[i][j] != x[i][j] || top != top ? NAN : fmax(top, fabs(x[i][j]));
    }
    same("sum", r[0][i], sum, 1e-5), same("max", r[1][i], max, 0), same("maxnum", r[2][i], num, 0);
    same("absmax", r[3][i], top, 0);
    double back = 0;
    for (int j = 36; j >= 0; --j)
      back += x[i][j], same("scan", s[i][j], back, 1e-4);
  }
  for (int j = 0; j < 37; ++j) {
    double min = INFINITY, down = 0;
    for (int i = 0; i < 7; ++i) {
      min = x[i][j] != x[i][j] || min != min ? NAN : fmin(min, x[i][j]);
      down += x[i][j], same("scan 0", s[7 + i][j], down, 1e-5);
    }
    same("min", r[5][j], min, 0);
    for (int i = 0; i < 7; ++i)
      same("reshape", s[14 + j][i], FLAT(x, j * 7 + i), 0);
  }
}

static void control(void) {
  static float x[16][9], y[16][9];
  for (int64_t n = 0; n < 4; ++n) {
    for (int i = 0; i < 144; ++i)
      FLAT(x, i) = 1 + fabsf(number());
    start(), scalar(n), view(x, 2, 16, 9, 0, 0), view(y, 2, 16, 9, 0, 0);
    RUN(control);
    float (*p)[9] = n % 2 ? x + 8 : x, (*q)[9] = n % 2 ? x : x + 8, w[8][9];
    memcpy(w, p, sizeof w);
    while (w[1][1] < 50)
      for (int i = 0; i < 72; ++i)
        FLAT(w, i) += FLAT(w, i);
    for (int i = 0; i < 72; ++i) {
      same("while", FLAT(y + 8, i), FLAT(w, i), 0);
      same("if", FLAT(y, i), n == 1 ? (i ? FLAT(w, i) : 1) : FLAT(q, i), 0);
    }
  }
}

static void generics(void) {
  static float x[50], y[50], t[3];
  static int32_t at[50];
  for (int n = 0; n <= 50; n += 25) {
    for (int i = 0; i < 50; ++i)
      x[i] = (float)(i % 8) - 2, y[i] = -1, at[i] = i % 4 == 3 ? -1 : (i * 7) % 60;
    t[0] = 1, t[1] = -5, t[2] = 9;
    int64_t fifty = 50, one = 1, three = 3;
    start(), scalar(n), strided(x, 1, &fifty, &one), strided(at, 1, &fifty, &one),
        strided(y, 1, &fifty, &one);
    strided(t, 1, &three, &one);
    RUN(generics);
    float want[50], total = 0, top = -5;
    for (int i = 0; i < 50; ++i)
      want[i] = -1;
    for (int i = 0; i < n; ++i) {
      total += x[i], top = fmaxf(top, x[i]);
      if (at[i] >= 0 && at[i] < 50) {
        want[at[i]] = x[at[i]];
        for (int k = 0; k < n; ++k)
          want[at[i]] += x[i];
      }
    }
    for (int i = 0; i < 50; ++i)
      same("scatter", y[i], want[i], 0);
    same("atomic add", t[0], 1 + total, 0), same("atomic max", t[1], top, 0), same("reducer", t[2], total, 0);
  }
}

/* The nearest value of a format with `bits` fraction bits and that least exponent, saturating. */
static double narrow(double x, int bits, int least, double most) {
  if (x != x || x == 0)
    return x;
  int e;
  frexp(x, &e);
  int scale = (e - 1 < least ? least : e - 1) - bits;
  double r = ldexp(nearbyint(ldexp(x, -scale)), scale);
  return fabs(r) > most ? copysign(most, x) : r;
}

static void odd(void) {
  static float x[4][50], y[4][50], z[4][50], image[2][2][5][2], col[20][18];
  static uint8_t e[200], f[200];
  for (int i = 0; i < 200; ++i)
    FLAT(x, i) = ldexpf(number(), i % 40 - 20);
  x[0][3] = INFINITY, x[1][3] = NAN, x[2][3] = -1e9f, x[3][3] = -0.0f;
  for (int i = 0; i < 40; ++i)
    ((float *)(void *)image)[i] = (float)(i + 1);
  start(), view(x, 2, 4, 50, 0, 0), view(e, 2, 4, 50, 0, 0), view(f, 2, 4, 50, 0, 0), view(y, 2, 4, 50, 0, 0);
  view(z, 2, 4, 50, 0, 0), view(image, 4, 2, 2, 5, 2), view(col, 2, 20, 18, 0, 0);
  RUN(odd);
  for (int i = 0; i < 200; ++i) {
    same("e4m3", FLAT(y, i), narrow(FLAT(x, i), 3, -6, 448), 0);
    same("e5m2", FLAT(z, i), narrow(FLAT(x, i), 2, -14, 57344), 0);
  }
  for (int r = 0; r < 20; ++r)
    for (int k = 0; k < 18; ++k) {
      int n = r / 10, oh = r / 5 % 2, ow = r % 5, c = k % 2, kw = k / 2 % 3, kh = k / 6;
      int h = oh + kh - 1, w = ow + kw - 1;
      same("im2col", col[r][k], h < 0 || w < 0 || h > 1 || w > 4 ? 0 : image[n][h][w][c], 0);
    }
}

int main(void) {
  gemm64(), gemm8(), copies(), reduces(), control(), generics(), odd();
  if (failures)
    printf("%d failures\n", failures);
  return failures != 0;
}
