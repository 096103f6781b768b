//===- Passes.td - every pass from the tile dialect to itself -------------===//
#ifndef TILEC_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define TILEC_DIALECT_TILE_TRANSFORMS_PASSES_TD
include "mlir/Pass/PassBase.td"

//===- Any stage ----------------------------------------------------------===//

def TileOutlineLaunches : Pass<"tile-outline-launches", "::mlir::ModuleOp"> {
  let summary = "Cut each launch out of its kernel into a device kernel of its own";
  let description = [{
    The host kernel keeps its scalar code and calls the device kernels in order. A device kernel takes the grid extents,
    then what the launch captured, in order of first use: views, pointers, and scalars that cannot be computed again from
    those. Constants, dims and integer arithmetic are cloned into the device kernel, so that later analyses see that
    `nk` is `ceildiv(K, 64)`. Assumptions of the host about the captured values are cloned as well, and each grid extent
    that can be computed is assumed equal to its formula.

    ```mlir
    tile.kernel @f(%X: !tile.view<?xf32>) {
      %n = tile.dim %X, 0 : !tile.view<?xf32>
      %g = arith.ceildivui %n, %c256 : index
      tile.launch (%b) in (%g) { .. %X .. }
    }
    // becomes
    tile.kernel @f(%X: !tile.view<?xf32>) {
      %n = tile.dim %X, 0 : !tile.view<?xf32>
      %g = arith.ceildivui %n, %c256 : index
      tile.launch_call @f.0(%g) args(%X : !tile.view<?xf32>)
    }
    tile.kernel @f.0(%g: index, %X: !tile.view<?xf32>) attributes {tile.device, tile.host = "f"} {
      tile.launch (%b) in (%g) { .. %X .. }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

//===- Scheduled ----------------------------------------------------------===//

def TileSelectSchedule : Pass<"tile-select-schedule", "::mlir::ModuleOp"> {
  let summary = "Decide instructions, roles, stages and engines of each device kernel";
  let description = [{
    Writes `#tile.schedule` on the launch, `#tile.inst` on its products, the engine of its copies and the stages of its
    pipelined loops; decides, and rewrites nothing else. A kernel whose fast path needs 16-byte pitches or addresses that are
    not known becomes two variants: one with launch conditions, one (`.any`) without. docs/Schedules.md has the reasons.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

//===- LaidOut ------------------------------------------------------------===//

def TileAssignLayouts : Pass<"tile-assign-layouts", "::tilec::tile::KernelOp"> {
  let summary = "Give every tile and buffer of a device kernel a layout";
  let description = [{
    Layouts of GPU kernels (those of CPU kernels come from other passes). Values that are tied by loops and identity maps form
    classes; products anchor their classes, then reductions and global accesses; the rest follows or takes a default.
    `tile.convert_layout` stands where anchors disagree. Accesses to elements that another thread owns go over shared copies,
    and stores of a staged schedule over a buffer and the copy engine.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect"];
}

#endif // TILEC_DIALECT_TILE_TRANSFORMS_PASSES_TD
