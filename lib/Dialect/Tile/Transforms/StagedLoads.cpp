//===- StagedLoads.cpp - loads that the copy engine makes ahead --------------===//
// A residual or a bias that is needed when the sums are complete would make the threads wait for memory. The
// load role fetches it as it fetches operands: while the last trips of the loop still compute.
#include "StagedLoads.h"
#include "ScalarSlice.h"
#include "Variants.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"

using namespace mlir;
using namespace tilec::tile;

bool tilec::tile::isMappable(ViewType view) {
  return view.getRank() >= 1 && view.getRank() <= 5 && llvm::all_of(view.getShape(), [](int64_t extent) {
           return ShapedType::isDynamic(extent) || (extent > 0 && extent <= kLongestMappedAxis);
         });
}

int64_t tilec::tile::bytesOf(ArrayRef<LoadOp> loads) {
  int64_t bytes = 0;
  for (LoadOp load : loads)
    bytes += dataBytes(load.getResult().getType());
  return bytes;
}

/// One tensor that only reads, rows of whole 16-byte pieces, an address that needs scalars only.
static bool mayStage(LoadOp load, LaunchOp launch) {
  auto view = cast<ViewType>(load.getSource().getType());
  TileType tile = load.getResult().getType();
  std::optional<unsigned> argument = argumentOf(load.getSource());
  if (load->getParentOp() != launch || !argument || launchWrites(launch, *argument) || view.getSafe() ||
      !isMappable(view) || !tile.getElementType().isIntOrFloat() || tile.getElementType().isInteger(1))
    return false;
  SmallVector<int64_t> real = dropOnes(tile.getShape());
  if (real.empty() || real.size() > 2 || tile.getShape().back() != real.back() ||
      real.back() * tile.getElementType().getIntOrFloatBitWidth() % 128)
    return false;
  ScalarSlice slice(launch);
  return llvm::all_of(load.getOffsets(), [&](Value offset) { return slice.add(offset); });
}

SmallVector<LoadOp, 2> tilec::tile::stagedLoads(LaunchOp launch, const LaunchFeatures &features,
                                                int64_t room) {
  SmallVector<LoadOp, 2> loads;
  for (LoadOp load : features.viewLoads)
    if (mayStage(load, launch) && dataBytes(load.getResult().getType()) <= room) {
      room -= dataBytes(load.getResult().getType());
      loads.push_back(load);
    }
  return loads;
}
