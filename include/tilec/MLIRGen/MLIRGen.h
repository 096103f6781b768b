//===- MLIRGen.h - elaborated kernels -> the tile dialect --------------------===//
#ifndef TILEC_MLIRGEN_MLIRGEN_H
#define TILEC_MLIRGEN_MLIRGEN_H
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "tilec/Sema/HIR.h"

namespace tilec::mlirgen {

/// One `tile.kernel` per instance, at stage Tile. Loads the dialects it needs. Only remarks are emitted
/// through the context; a result that does not verify is a defect of tilec, and so is a null result (the
/// message is out).
mlir::OwningOpRef<mlir::ModuleOp> generate(mlir::MLIRContext &context, const hir::Program &program);

} // namespace tilec::mlirgen
#endif
