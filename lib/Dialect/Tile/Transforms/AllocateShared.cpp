//===- AllocateShared.cpp - byte offsets in shared memory --------------------===//
// Whatever two roles touch lives as long as the launch, so do rings; nothing is overlaid. First the largest
// alignments, the mbarriers last.
#include "LaunchScratch.h"
#include "SourceNames.h"
#include "tilec/Dialect/Tile/IR/KernelTarget.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEALLOCATESHARED
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

namespace {
struct Piece {
  Operation *owner;
  unsigned index; ///< buffer of a ring
  BufferType type;
  int64_t bytes, align;
  size_t order = 0; ///< in the program
};
} // namespace

static int64_t depthOf(Operation *owner) {
  auto ring = dyn_cast<RingOp>(owner);
  return ring ? ring.getRing().getType().getDepth() : 1;
}

namespace {
struct AllocateShared : tilec::tile::impl::TileAllocateSharedBase<AllocateShared> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.isDevice())
      return;
    LaunchOp launch = kernel.getDeviceLaunch();
    SmallVector<Piece> pieces;
    SmallVector<RingOp> rings;
    launch.walk([&](Operation *op) {
      if (auto alloc = dyn_cast<AllocOp>(op)) {
        pieces.push_back({op, 0, alloc.getBuffer().getType(), bufferBytes(alloc.getBuffer().getType()),
                          bufferAlign(alloc.getBuffer().getType())});
      } else if (auto ring = dyn_cast<RingOp>(op)) {
        rings.push_back(ring);
        for (auto [i, type] : llvm::enumerate(ring.getRing().getType().getBuffers())) {
          auto buffer = cast<BufferType>(type);
          pieces.push_back({op, unsigned(i), buffer, slotBytes(buffer), bufferAlign(buffer)});
        }
      }
    });
    for (auto [i, piece] : llvm::enumerate(pieces))
      piece.order = i;
    llvm::sort(pieces, [](const Piece &x, const Piece &y) {
      return std::make_pair(-x.align, x.order) < std::make_pair(-y.align, y.order);
    });
    OpBuilder b(kernel.getContext());
    int64_t at = 0;
    DenseMap<Operation *, SmallVector<int64_t>> ringOffsets;
    for (RingOp ring : rings)
      ringOffsets[ring].resize(ring.getRing().getType().getBuffers().size());
    for (const Piece &piece : pieces) {
      at = llvm::alignTo(at, piece.align);
      if (auto alloc = dyn_cast<AllocOp>(piece.owner))
        alloc.setOffsetAttr(b.getI64IntegerAttr(at));
      else
        ringOffsets[piece.owner][piece.index] = at;
      at += piece.bytes * depthOf(piece.owner);
    }
    at = llvm::alignTo(at, 16);
    for (RingOp ring : rings) {
      ring.setOffsetsAttr(b.getDenseI64ArrayAttr(ringOffsets[ring]));
      if (!launch.getScheduleAttr().getRoles().empty()) { // a full and an empty barrier for each slot
        ring.setBarriersAttr(b.getI64IntegerAttr(at));
        at += 16 * ring.getRing().getType().getDepth();
      }
    }
    at = llvm::alignTo(at, 16);
    at += placeScratch(launch, at);
    launch->setAttr(TileDialect::kSharedBytesAttrName, b.getI64IntegerAttr(at));
    checkLimit(kernel, launch, at, pieces);
  }

  void checkLimit(KernelOp kernel, LaunchOp launch, int64_t total, ArrayRef<Piece> pieces) {
    const tilec::TargetDesc *target = targetOf(kernel);
    if (!target || total <= int64_t(target->sharedBytes))
      return;
    InFlightDiagnostic error = launch.emitError()
                               << "[E0402] this launch needs " << total << " bytes of shared memory; "
                               << target->name << " allows " << target->sharedBytes;
    for (const Piece &piece : pieces)
      error.attachNote(piece.owner->getLoc())
          << describe(piece.owner->getLoc(), piece.type.getShape(), piece.type.getElementType()) << ", takes "
          << piece.bytes << " bytes"
          << (depthOf(piece.owner) > 1 ? " in each of " + std::to_string(depthOf(piece.owner)) + " stages"
                                       : std::string());
    error.attachNote(launch.getLoc()) << "smaller tiles or fewer stages make it fit";
    signalPassFailure();
  }
};
} // namespace
