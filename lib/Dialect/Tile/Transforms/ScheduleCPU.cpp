//===- ScheduleCPU.cpp - schedules of x86-64 ---------------------------------===//
//
// A block runs on one thread, so there is little to decide: the register block of each product. 16
// accumulators (AVX-512), 12 (AVX2) or 8 (SSE) keep two multiply-add pipes of latency four busy and leave
// registers for B's row and A's element.
//
//===----------------------------------------------------------------------===//
#include "ScheduleCPU.h"
#include "ScheduleHints.h"
#include "mlir/Transforms/Passes.h"
#include "tilec/Dialect/Tile/IR/KernelTarget.h"
#include "tilec/Dialect/Tile/Transforms/CPU.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

const TargetDesc *tilec::tile::cpuTargetOf(KernelOp kernel) {
  const TargetDesc *target = targetOf(kernel);
  return target && target->family == Family::CPU && kernel.isDevice() ? target : nullptr;
}

int64_t tilec::tile::cpuChunk(const TargetDesc &target, int64_t columns, int64_t elementBytes) {
  int64_t chunk = 512;
  while (chunk > 64 && chunk * columns * elementBytes * 3 > static_cast<int64_t>(target.l1Bytes) * 2)
    chunk /= 2;
  return std::min<int64_t>(chunk, 256);
}

bool tilec::tile::sameViewExtent(Value view, unsigned axis, DimOp dim) {
  if (view == dim.getView())
    return axis == static_cast<unsigned>(dim.getAxis());
  auto nameOf = [](Value v, unsigned axis) -> Attribute {
    auto argument = dyn_cast<BlockArgument>(v);
    auto kernel = argument ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp()) : KernelOp();
    auto names = kernel
                     ? kernel.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), TileDialect::kDimsAttrName)
                     : ArrayAttr();
    return names && axis < names.size() ? names[axis] : Attribute();
  };
  Attribute mine = nameOf(view, axis);
  return mine && mine == nameOf(dim.getView(), dim.getAxis());
}

/// Lanes of the type that a product is computed in.
static int64_t lanesOf(GemmOp gemm, const TargetDesc &target) {
  Type acc = gemm.getAcc().getType().getElementType();
  bool wide = acc.getIntOrFloatBitWidth() == 64;
  return wide ? target.vectorLanes32 / 2 : target.vectorLanes32;
}

LogicalResult tilec::tile::scheduleCPU(KernelOp kernel, const TargetDesc &target) {
  LaunchOp launch = kernel.getDeviceLaunch();
  MLIRContext *context = kernel.getContext();
  int64_t rows = target.cpuLevel == 4 ? 8 : target.cpuLevel == 3 ? 6 : 4;
  launch.walk([&](GemmOp gemm) {
    if (gemm.getInstAttr())
      return;
    // Narrow products keep their rows and lose a vector of columns.
    int64_t lanes = lanesOf(gemm, target), columns = gemm.getAcc().getType().getShape()[1];
    int64_t vectors = columns <= lanes ? 1 : 2;
    SmallVector<int64_t> shape = {rows, vectors * lanes, 1};
    gemm.setInstAttr(InstAttr::get(context, InstKind::cpu_fma, shape, /*swapped=*/false, /*a_reg=*/false,
                                   /*k_slices=*/1));
  });
  if (readHints(launch).persistent.value_or(false))
    launch.emitRemark()
        << "[R0404] persistent=True changes nothing on CPUs: their threads take block after block";
  if (!launch.getScheduleAttr())
    launch.setScheduleAttr(ScheduleAttr::get(context, /*threads=*/1, /*partition=*/{}, /*roles=*/{},
                                             /*persistent=*/false, /*raster=*/RasterAttr(), /*cluster=*/{},
                                             /*min_blocks=*/1, /*skew=*/false, /*staging=*/false,
                                             /*passes=*/1, /*index_bits=*/64));
  return success();
}

void tilec::tile::buildScheduleCPU(OpPassManager &pm) {
  pm.addPass(createTileSelectSchedule());
  pm.addNestedPass<KernelOp>(createTileGroupBlocks());
  pm.addNestedPass<KernelOp>(createTileMergeKSteps());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void tilec::tile::buildLayoutsCPU(OpPassManager &pm) {
  pm.addNestedPass<KernelOp>(createTileAssignLayoutsCPU());
}
