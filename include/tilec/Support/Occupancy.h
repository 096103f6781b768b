//===- Occupancy.h - how many blocks a multiprocessor runs at once ------------===//
#ifndef TILEC_SUPPORT_OCCUPANCY_H
#define TILEC_SUPPORT_OCCUPANCY_H
#include "tilec/Support/Target.h"

namespace tilec {

/// What one block of a kernel takes.
struct BlockNeeds {
  int64_t threads = 0;
  int64_t registers = 0; ///< of a thread, as the assembler reports them
  int64_t shared = 0;    ///< bytes, static and dynamic
};

struct Occupancy {
  int64_t blocks = 0;    ///< at once on one multiprocessor (compute unit)
  int64_t warps = 0;     ///< of these blocks
  int64_t mostWarps = 0; ///< that it has room for
  const char *limiter =
      ""; ///< "shared memory", "registers", "threads", "blocks": what there is too little of
};

/// For GPUs; the numbers of CUDA's programming guide (table "technical specifications per compute
/// capability") and of AMD's instruction set guides.
Occupancy occupancyOf(const TargetDesc &target, const BlockNeeds &needs);

/// Bytes of shared memory that each of so many blocks on one multiprocessor can have.
int64_t sharedShare(const TargetDesc &target, int64_t blocks);

} // namespace tilec
#endif
