//===- tilec.cpp - main ------------------------------------------------------===//
#include "tilec/Driver/Driver.h"
#include <malloc.h>

int main(int argc, char **argv) {
#ifdef __GLIBC__
  // A compilation allocates and frees the same hundreds of megabytes over and over: they stay in the process.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 2000 << 20);
  mallopt(M_TOP_PAD, 16 << 20);
#endif
  return tilec::runDriver(argc, argv);
}
