/*===- rt_test.h - the few things all runtime tests need --------------------===*/
#ifndef RT_TEST_H
#define RT_TEST_H

#include "tile_rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks_done, checks_failed;

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    ++checks_done;                                                                                           \
    if (!(condition)) {                                                                                      \
      ++checks_failed;                                                                                       \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                                \
    }                                                                                                        \
  } while (0)

#define CHECK_EQ(actual, expected)                                                                           \
  do {                                                                                                       \
    long long actual_ = (long long)(actual), expected_ = (long long)(expected);                              \
    ++checks_done;                                                                                           \
    if (actual_ != expected_) {                                                                              \
      ++checks_failed;                                                                                       \
      fprintf(stderr, "%s:%d: %s is %lld, expected %lld; last error: %s\n", __FILE__, __LINE__, #actual,     \
              actual_, expected_, rt_message());                                                             \
    }                                                                                                        \
  } while (0)

#define CHECK_TEXT(text, part)                                                                               \
  do {                                                                                                       \
    const char *text_ = (text);                                                                              \
    ++checks_done;                                                                                           \
    if (!text_ || !strstr(text_, (part))) {                                                                  \
      ++checks_failed;                                                                                       \
      fprintf(stderr, "%s:%d: \"%s\" does not contain \"%s\"\n", __FILE__, __LINE__, text_ ? text_ : "NULL", \
              (part));                                                                                       \
    }                                                                                                        \
  } while (0)

static inline tile_error_info rt_error(void) {
  tile_error_info info;
  memset(&info, 0, sizeof(info));
  info.struct_size = (uint32_t)sizeof(info);
  tile_last_error(&info);
  return info;
}

static inline const char *rt_message(void) { return rt_error().message; }

static inline int rt_report(const char *name) {
  printf("%s: %d checks, %d failed\n", name, checks_done, checks_failed);
  return checks_failed || !checks_done;
}

#endif
