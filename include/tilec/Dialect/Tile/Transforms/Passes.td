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

def TileVerifyStage : Pass<"tile-verify-stage"> {
  let summary = "Check what a stage promises to the next one";
  let description = [{
    Runs on anything that holds kernels. Contracts add up from stage to stage; the first violation is an error.

    - `tile`: tile, arith, math, scf only; no layouts, nothing asynchronous; each read of a buffer is reached by a write.
    - `scheduled`: target, schedule, instruction of each product, engine of each copy.
    - `laid-out`: every tile and buffer has a layout, generics agree with the layouts of their operands through their maps,
      products consist of their instruction's fragments, buffers are legal for the engines that use them.
    - `async`: offsets and counts are there; memory that overlaps is not live at once; `pending` of each wait is safe on every
      path; and the synchronisation is replayed with small extents: deadlocks, lost slots, missing barriers (with scopes),
      fences and waits.
    - `threads`: no op and no type of the tile dialect.

    It rewrites nothing, so there is no before and after.
  }];
  let options = [Option<"stage", "stage", "::tilec::tile::VerifiedStage", "::tilec::tile::VerifiedStage::Tile",
    "the stage that has just ended",
    [{::llvm::cl::values(clEnumValN(::tilec::tile::VerifiedStage::Tile, "tile", "after MLIRGen and its clean-up"),
                         clEnumValN(::tilec::tile::VerifiedStage::Scheduled, "scheduled", "after select-schedule"),
                         clEnumValN(::tilec::tile::VerifiedStage::LaidOut, "laid-out", "after assign-layouts"),
                         clEnumValN(::tilec::tile::VerifiedStage::Async, "async", "after insert-barriers"),
                         clEnumValN(::tilec::tile::VerifiedStage::Threads, "threads", "after the conversions"))}]>];
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

//===- Async --------------------------------------------------------------===//

def TileMakePersistent : Pass<"tile-make-persistent", "::tilec::tile::KernelOp"> {
  let summary = "Move allocations to the front of a launch; where the schedule says so, loop over tiles";
  let description = [{
    A persistent launch has one id per block, `%cta`, and loops `for %t = %cta to %tiles step tile.num_blocks`; `tile.raster`
    turns the tile's number into block ids.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def TileWarpSpecialize : Pass<"tile-warp-specialize", "::tilec::tile::KernelOp"> {
  let summary = "Split a launch into a load and a compute role that meet in rings";
  let description = [{
    Copies by the copy engine whose addresses need scalars only go to the load role. Copies with the same first and last reader
    share a ring. A copy that cannot move stays in the compute role as a synchronous one (remark R0405).
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def TileAsyncGemms : Pass<"tile-async-gemms", "::tilec::tile::KernelOp"> {
  let summary = "Let asynchronous products run under what follows";
  let description = [{
    A product that accumulates around a loop and reads ring slots stays in flight over the trips, and the slot of a trip is
    released in the next one. Other asynchronous products are awaited where they stand.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def TileStageStores : Pass<"tile-stage-stores", "::tilec::tile::KernelOp"> {
  let summary = "Make copies from staging buffers to views asynchronous";
  let description = [{
    The engine reads the buffer while the block goes on; the token of the copy is carried around the loops to the next store
    into the buffer.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def TileAllocateShared : Pass<"tile-allocate-shared", "::tilec::tile::KernelOp"> {
  let summary = "Byte offsets of buffers, rings, barriers and scratch";
  let description = [{
    Writes `at` on every alloc and ring, `tile.scratch` on operations that exchange values between warps, and the total in
    `tile.shared_bytes`. More than the target has is E0402, with the largest pieces as notes.
  }];
}

def TileInsertBarriers : Pass<"tile-insert-barriers", "::tilec::tile::KernelOp"> {
  let summary = "Barriers and fences where accesses of different threads conflict; arrival counts of rings";
  let description = [{
    Forward dataflow with a fixpoint over loops. Buffers of rings synchronise themselves; everything else that one thread wrote
    and another reads (or the other way round) gets a barrier of the smallest scope, and a fence when ordinary stores meet the
    copy engine or wgmma.
  }];
}

#endif // TILEC_DIALECT_TILE_TRANSFORMS_PASSES_TD
