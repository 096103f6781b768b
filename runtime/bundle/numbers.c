/*===- numbers.c - elements of all types ----------------------------------------===*/
#include "runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t element_bytes(uint8_t bits) { return bits <= 8 ? 1 : bits / 8; }

/* A format with `exponent` and `mantissa` bits below its sign. */
typedef struct float_format {
  int exponent, mantissa, bias;
  int infinity; /* the largest exponent is for infinity and NaN; else only all ones is NaN */
} float_format;

static const float_format *format_of(uint8_t code, uint8_t bits) {
  static const float_format half = {5, 10, 15, 1}, brain = {8, 7, 127, 1}, e4m3 = {4, 3, 7, 0},
                            e5m2 = {5, 2, 15, 1};
  if (code == TILE_DTYPE_FLOAT && bits == 16)
    return &half;
  if (code == TILE_DTYPE_BFLOAT)
    return &brain;
  return code == TILE_DTYPE_E4M3 ? &e4m3 : code == TILE_DTYPE_E5M2 ? &e5m2 : NULL;
}

static double decode(uint32_t word, const float_format *f) {
  uint32_t mantissa = word & ((1u << f->mantissa) - 1), top = (1u << f->exponent) - 1;
  uint32_t exponent = word >> f->mantissa & top;
  double sign = word >> (f->mantissa + f->exponent) & 1 ? -1 : 1;
  if (exponent == top && (f->infinity || mantissa == (1u << f->mantissa) - 1))
    return f->infinity && !mantissa ? sign * INFINITY : NAN;
  int e = exponent ? (int)exponent : 1;
  double m = (double)mantissa + (exponent ? (double)(1u << f->mantissa) : 0);
  return sign * ldexp(m, e - f->bias - f->mantissa);
}

/* To the nearest, ties to even; the numbers of tests are nowhere near the largest. */
static uint32_t encode(double value, const float_format *f) {
  uint32_t sign = signbit(value) ? 1u << (f->mantissa + f->exponent) : 0;
  double x = fabs(value);
  int e;
  if (isnan(value))
    return sign | ((1u << (f->mantissa + f->exponent)) - 1);
  if (x == 0)
    return sign;
  frexp(x, &e);
  int exponent = e - 1 + f->bias;
  if (exponent < 1)
    exponent = 1; /* subnormal */
  uint32_t m = (uint32_t)nearbyint(ldexp(x, f->mantissa - (exponent - f->bias)));
  if (m < 1u << f->mantissa)
    return sign | m;
  return sign | (((uint32_t)exponent << f->mantissa) + (m - (1u << f->mantissa)));
}

double read_number(const void *data, int64_t i, uint8_t code, uint8_t bits) {
  const float_format *f = format_of(code, bits);
  int64_t bytes = element_bytes(bits);
  uint64_t word = 0;
  memcpy(&word, (const char *)data + i * bytes, (size_t)bytes);
  if (f)
    return decode((uint32_t)word, f);
  if (code == TILE_DTYPE_FLOAT && bits == 32) {
    float x;
    memcpy(&x, &word, sizeof(x));
    return (double)x;
  }
  if (code == TILE_DTYPE_FLOAT) {
    double x;
    memcpy(&x, &word, sizeof(x));
    return x;
  }
  if (code == TILE_DTYPE_INT && bits < 64)
    return (double)((int64_t)(word << (64 - bits)) >> (64 - bits));
  return code == TILE_DTYPE_INT ? (double)(int64_t)word : (double)word;
}

void write_number(void *data, int64_t i, uint8_t code, uint8_t bits, double value) {
  const float_format *f = format_of(code, bits);
  int64_t bytes = element_bytes(bits);
  uint64_t word = 0;
  if (f) {
    word = encode(value, f);
  } else if (code == TILE_DTYPE_FLOAT && bits == 32) {
    float x = (float)value;
    memcpy(&word, &x, sizeof(x));
  } else if (code == TILE_DTYPE_FLOAT) {
    memcpy(&word, &value, sizeof(value));
  } else if (code == TILE_DTYPE_BOOL) {
    word = value != 0;
  } else {
    word = (uint64_t)(int64_t)value;
  }
  memcpy((char *)data + i * bytes, &word, (size_t)bytes);
}

/* splitmix64 */
static uint64_t next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static double uniform(uint64_t *state) { return ((double)(next(state) >> 11) + 0.5) * 0x1p-53; }

void fill_random(void *data, int64_t count, uint8_t code, uint8_t bits, uint32_t seed) {
  /* Repeated after a prime number of elements, so that no two rows are equal. */
  enum { PERIOD = 1048573 };
  uint64_t state = seed * 0x2545f4914f6cdd1du + 1;
  int64_t first = count < PERIOD ? count : PERIOD, bytes = element_bytes(bits);
  int integer = code == TILE_DTYPE_INT || code == TILE_DTYPE_UINT || code == TILE_DTYPE_BOOL;
  for (int64_t i = 0; i < first; ++i) {
    double x = integer ? (double)(next(&state) >> 61)
                       : sqrt(-2 * log(uniform(&state))) * cos(6.283185307179586 * uniform(&state));
    write_number(data, i, code, bits, code == TILE_DTYPE_BOOL ? fmod(x, 2) : x);
  }
  for (int64_t done = first; done < count; done += first)
    memcpy((char *)data + done * bytes, data,
           (size_t)((count - done < first ? count - done : first) * bytes));
}

/* How far two results of one computation may lie apart: other orders of the same additions, and operands that
   the target rounds further. */
static double tolerance(uint8_t code, uint8_t bits) {
  const float_format *f = format_of(code, bits);
  if (f)
    return ldexp(8, -f->mantissa - 1);
  return code == TILE_DTYPE_FLOAT ? (bits == 32 ? 0x1p-9 : 0x1p-30) : 0;
}

/* Root of the mean square, of a sample of the elements. */
static double usual_size(const void *data, int64_t count, uint8_t code, uint8_t bits) {
  double squares = 0;
  int64_t step = count / 65536 + 1, taken = 0;
  for (int64_t i = 0; i < count; i += step, ++taken) {
    double x = read_number(data, i, code, bits);
    squares += isfinite(x) ? x * x : 0;
  }
  return taken ? sqrt(squares / (double)taken) : 0;
}

int agree(const void *found, const void *expected, int64_t count, uint8_t code, uint8_t bits, char *why,
          size_t size) {
  size_t bytes = (size_t)element_bytes(bits);
  if (memcmp(found, expected, (size_t)count * bytes) == 0)
    return 1;
  double slack = tolerance(code, bits), usual = usual_size(expected, count, code, bits);
  for (int64_t i = 0; i < count; ++i) {
    if (memcmp((const char *)found + (size_t)i * bytes, (const char *)expected + (size_t)i * bytes, bytes) ==
        0)
      continue;
    double x = read_number(found, i, code, bits), y = read_number(expected, i, code, bits);
    if (x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= slack * (usual > fabs(y) ? usual : fabs(y)))
      continue;
    snprintf(why, size, "element %lld is %g, expected %g", (long long)i, x, y);
    return 0;
  }
  return 1;
}
