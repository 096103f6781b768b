//===- MakePersistent.cpp - one block, many tiles ----------------------------===//
// A persistent block loops over tiles, so that loads of the next tile run under the epilogue of this one and
// the start-up cost is paid once. Runs before the roles are split: both then get the loop, and cursors are
// carried through it.
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEMAKEPERSISTENT
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

/// Shared memory belongs to the block, not to the tile: allocations move in front of all loops. Their
/// contents are undefined at each execution either way.
static void hoistAllocs(LaunchOp launch) {
  Block &body = launch.getBody().front();
  SmallVector<AllocOp> allocs;
  launch.walk([&](AllocOp alloc) { allocs.push_back(alloc); });
  Operation *last = nullptr;
  for (AllocOp alloc : allocs) {
    if (last)
      alloc->moveAfter(last);
    else
      alloc->moveBefore(&body, body.begin());
    last = alloc;
  }
}

static void wrapInTileLoop(LaunchOp launch) {
  OpBuilder b(launch);
  Location loc = launch.getLoc();
  ScheduleAttr schedule = launch.getScheduleAttr();
  SmallVector<Value> grid(launch.getGrid());
  Value tiles = grid.front();
  for (Value extent : llvm::drop_begin(grid))
    tiles = arith::MulIOp::create(b, loc, tiles, extent);
  Value blocks = NumBlocksOp::create(b, loc);
  Block &body = launch.getBody().front();
  // The allocs stay outside the loop, everything else goes in.
  Operation *firstInside = &body.front();
  while (isa<AllocOp>(firstInside))
    firstInside = firstInside->getNextNode();
  Block *inside = body.splitBlock(firstInside);
  b.setInsertionPointToEnd(&body);
  BlockArgument cta = body.addArgument(b.getIndexType(), loc);
  auto loop = scf::ForOp::create(b, loc, cta, tiles, blocks);
  YieldOp::create(b, loc);
  Block *loopBody = loop.getBody();
  Operation *loopYield = loopBody->getTerminator();
  inside->getTerminator()->erase();
  loopBody->getOperations().splice(Block::iterator(loopYield), inside->getOperations());
  inside->erase();
  b.setInsertionPointToStart(loopBody);
  SmallVector<Type> ids(grid.size(), b.getIndexType());
  RasterAttr raster =
      schedule.getRaster() ? schedule.getRaster() : RasterAttr::get(b.getContext(), RasterKind::row, 1);
  auto order = RasterOp::create(b, loc, ids, loop.getInductionVar(), grid, raster);
  unsigned axes = grid.size();
  for (unsigned i = 0; i < axes; ++i)
    body.getArgument(i).replaceAllUsesWith(order.getIds()[i]);
  body.eraseArguments(0, axes);
  launch.getGridMutable().assign(blocks);
  loop->setAttr(TileDialect::kTileLoopAttrName, b.getUnitAttr());
}

namespace {
struct MakePersistent : tilec::tile::impl::TileMakePersistentBase<MakePersistent> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.isDevice())
      return;
    LaunchOp launch = kernel.getDeviceLaunch();
    hoistAllocs(launch);
    if (launch.getScheduleAttr() && launch.getScheduleAttr().getPersistent())
      wrapInTileLoop(launch);
  }
};
} // namespace
