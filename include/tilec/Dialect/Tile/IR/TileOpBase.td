//===- TileOpBase.td - what the four groups of ops share ------------------===//
#ifndef TILEC_DIALECT_TILE_IR_TILEOPBASE_TD
#define TILEC_DIALECT_TILE_IR_TILEOPBASE_TD
include "tilec/Dialect/Tile/IR/TileTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mn, list<Trait> traits = []> : Op<Tile_Dialect, mn, traits>;
class Tile_PureOp<string mn, list<Trait> traits = []> : Tile_Op<mn, traits # [Pure]>;

/// `value` is an element of `container`.
class Tile_ElemOf<string container, string value>
    : TypesMatchWith<value # " is an element of " # container, container, value,
                     "::tilec::tile::getElementTypeOf($_self)">;
#endif // TILEC_DIALECT_TILE_IR_TILEOPBASE_TD
