//===- SourceNames.h - what messages call buffers and tiles ------------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_SOURCENAMES_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_SOURCENAMES_H
#include "mlir/IR/Location.h"
#include "mlir/IR/Types.h"
#include <string>

namespace tilec::tile {

/// "float16" for f16; signless integers by their signed name.
std::string dtypeOf(mlir::Type element);
/// "(128, 64) float16"
std::string shapeAndDtype(llvm::ArrayRef<int64_t> shape, mlir::Type element);
/// "`a`, (128, 64) float16" when the location carries the program's name for it, else without a name.
std::string describe(mlir::Location loc, llvm::ArrayRef<int64_t> shape, mlir::Type element);

} // namespace tilec::tile
#endif
