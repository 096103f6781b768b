//===- Tile.h - the tile dialect: attributes, types, ops -------------------===//
#ifndef TILEC_DIALECT_TILE_IR_TILE_H
#define TILEC_DIALECT_TILE_IR_TILE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tilec/Support/DType.h"
#include "tilec/Support/Layout.h"

#include "tilec/Dialect/Tile/IR/TileDialect.h.inc"
#include "tilec/Dialect/Tile/IR/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tilec/Dialect/Tile/IR/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "tilec/Dialect/Tile/IR/TileTypes.h.inc"

namespace tilec::tile {
/// Extents of a tile, buffer, view or future; empty for anything else.
llvm::ArrayRef<int64_t> getShapeOf(mlir::Type type);
/// Element type of a tile, buffer, view or future; `none` for anything else.
mlir::Type getElementTypeOf(mlir::Type type);
/// Layout of a tile, buffer or future; null when absent.
LayoutAttr getLayoutOf(mlir::Type type);
inline bool isFloat8(mlir::Type type) {
  return mlir::isa<mlir::FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
}
/// `shape` without its ones.
llvm::SmallVector<int64_t> dropOnes(llvm::ArrayRef<int64_t> shape);

class KernelOp;
class LaunchOp;
class LaunchCallOp;
class YieldOp;
} // namespace tilec::tile

#define GET_OP_CLASSES
#include "tilec/Dialect/Tile/IR/TileCoreOps.h.inc"
#define GET_OP_CLASSES
#include "tilec/Dialect/Tile/IR/TileMemoryOps.h.inc"
#define GET_OP_CLASSES
#include "tilec/Dialect/Tile/IR/TileMathOps.h.inc"
#define GET_OP_CLASSES
#include "tilec/Dialect/Tile/IR/TileAsyncOps.h.inc"

#endif // TILEC_DIALECT_TILE_IR_TILE_H
