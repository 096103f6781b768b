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

def TileSelectPoints : Pass<"tile-select-points", "::mlir::ModuleOp"> {
  let summary = "Keep the points of tuning spaces that the targets want compiled";
  let description = [{
    Kernels with `tile.point_of` are one kernel at other values of its tune parameters. A cost model of each target prices
    all of them, the kernel with the defaults too, over a grid of sizes (over one where all sizes are known), and up to
    `most` for each target are kept and named for it in `tile.targets`. The kernel with the defaults always stays. Kernels
    that the model does not know keep their defaults, with remark R0406. A point that a tuning file names (`tile.measured`)
    is kept beside those, and learns how many blocks a launch may have for the measurement to hold.

    With `shapes` the points that the model puts first for each of them are kept, taking turns: these are what tuning measures.
    Of kernels that the model does not know GPUs then get all points that fit, or `most` at even distances.

    ```mlir
    tile.kernel @f(%A: !tile.view<?x?xf16>) { .. }
    tile.kernel @f.t1(%A: !tile.view<?x?xf16>) attributes {tile.point_of = "f"} { .. }
    tile.kernel @f.t2(%A: !tile.view<?x?xf16>) attributes {tile.point_of = "f"} { .. }
    // becomes
    tile.kernel @f(%A: !tile.view<?x?xf16>) { .. }
    tile.kernel @f.t2(%A: !tile.view<?x?xf16>) attributes {tile.point_of = "f", tile.targets = ["sm_90a"]} { .. }
    ```
  }];
  let options = [ListOption<"targets", "targets", "std::string", "names of the targets to compile for">,
                 Option<"most", "most", "unsigned", "24", "points for each target, beside the defaults">,
                 ListOption<"shapes", "shapes", "std::string", "keep the points that these want, not a grid of sizes: M=512:N=512">];
}

def TileMergePoints : Pass<"tile-merge-points", "::mlir::ModuleOp"> {
  let summary = "Make the points of a tuning space ways to run one launch";
  let description = [{
    Runs after tile-outline-launches. The launch call of the kernel with the defaults gets the device kernels of the other
    points, their grids, and the trips of each kernel's main loop; the host kernels of the points go. A point whose launch
    takes other arguments is dropped. Where points have been measured (`tile.measured`), the point for the sizes of the call
    is computed as well: that of the very sizes, else the first whose sizes all lie within a sixteenth and make as many waves.

    ```mlir
    tile.kernel @f(%A: !tile.view<?xf16>) { tile.launch_call @f.0 (%g) args(%A : !tile.view<?xf16>) }
    tile.kernel @f.t1(%A: !tile.view<?xf16>) attributes {tile.point_of = "f"} { tile.launch_call @f.t1.0 (%h) args(..) }
    // becomes
    tile.kernel @f(%A: !tile.view<?xf16>) {
      tile.launch_call @f.0 (%g) args(%A : !tile.view<?xf16>) points [@f.t1.0] grids (%h) trips (%n, %m)
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

def TileExpandPrecision : Pass<"tile-expand-precision", "::tilec::tile::KernelOp"> {
  let summary = "float32 products as accurate as single precision, on matrix units";
  let description = [{
    A product with `precision bf16x6` or `tf32x3` becomes six products of bfloat16 planes where the target has wgmma and the
    extents suit it; the sum of one step of its loop is rounded to nearest into the accumulator. A is split in registers
    where its rows are along k. A copy that fills another operand from a tensor fills the planes instead. Elsewhere the product stays, and is computed in single precision.

    ```mlir
    tile.copy %A[%i, %k] to %a : !tile.view<?x?xf32>, !tile.buffer<128x64xf32>
    tile.copy %B[%k, %j] to %b : !tile.view<?x?xf32>, !tile.buffer<64x128xf32>
    %r = tile.gemm %a, %b, %acc precision bf16x6 : ..
    // becomes
    tile.copy %A[%i, %k] to %a : !tile.view<?x?xf32>, !tile.buffer<128x64xf32>
    tile.split_copy %B[%k, %j] to %b0, %b1, %b2 : !tile.view<?x?xf32>, !tile.buffer<64x128xbf16>, ..
    %x = tile.load %a : !tile.buffer<128x64xf32> -> !tile.tile<128x64xf32>
    %a0, %a1, %a2 = tile.generic .. { leading bits of %x, and of what is left }
    %s1 = tile.gemm %a1, %b1, %undef clear %true : ..
    %s2 = tile.gemm %a2, %b0, %s1 : ..
    ..
    %r = tile.generic .. { %acc + %s6 }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

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

def TilePipelineLoops : Pass<"tile-pipeline-loops", "::tilec::tile::KernelOp"> {
  let summary = "Fetch trips ahead with cp.async where there are no roles";
  let description = [{
    Buffers that a pipelined loop fills anew in each trip become a ring of `stages` slots. A copy whose buffer carries values
    from trip to trip stays in its place (remark R0405).
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def TilePrefetchRegisters : Pass<"tile-prefetch-registers", "::tilec::tile::KernelOp"> {
  let summary = "Fetch a trip ahead through registers where no engine copies";
  let description = [{
    Copies with engine `registers` in a pipelined loop: a trip loads the next trip's tiles first, computes from one slot of a
    ring, and stores what it loaded into the other slot last. One barrier a trip, two where the loop has one stage only. A
    copy whose buffer carries values from trip to trip stays in its place (remark R0405).
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

//===- x86-64 -------------------------------------------------------------===//

def TileGroupBlocks : Pass<"tile-group-blocks", "::tilec::tile::KernelOp"> {
  let summary = "CPU: neighbouring blocks of a product become one";
  let description = [{
    Blocks of a product smaller than 256 along an axis of the grid are joined to one with larger tiles, so that the other
    operand is packed less often. Only where all offsets are block id times extent, everything else is element by element,
    and the grid ends with the tensors stored to.

    ```mlir
    tile.launch (%bx, %by) in (%gx, %gy) { %row = arith.muli %by, %c128 .. !tile.tile<128x256xf32> }
    // becomes
    tile.launch (%bx, %by) in (%gx, ceildiv(%gy, 2)) { %row = arith.muli %by, %c256 .. !tile.tile<256x256xf32> }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}
def TileMergeKSteps : Pass<"tile-merge-k-steps", "::tilec::tile::KernelOp"> {
  let summary = "CPU: several trips of a K loop in one";
  let description = [{
    A loop of copies and one product into a carried accumulator runs over KC elements of K per trip instead of BK, so that
    the accumulator is read and written less often. The order of the sums stays. Kernels for other targets are left alone.

    ```mlir
    scf.for %k = %c0 to %nk step %c1 { copy .. to %a (128x64); copy .. to %b (64x256); gemm %a, %b }
    // becomes, with nk = ceildiv(K, 64)
    scf.for %k = %c0 to %nk step %c4 { copy .. to %a (128x256); copy .. to %b (256x256); gemm %a, %b }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}
def TileAssignLayoutsCPU : Pass<"tile-assign-layouts-cpu", "::tilec::tile::KernelOp"> {
  let summary = "CPU: layouts of buffers that feed products";
  let description = [{
    A in rows with a padded pitch, B in panels as wide as the register block; f16 and bf16 are held as f32. Tiles and other
    buffers have no layout: row-major.
  }];
}

//===- Stage Tile ---------------------------------------------------------===//

def TileSplitBuffers : Pass<"tile-split-buffers", "::tilec::tile::KernelOp"> {
  let summary = "Give each live range of a shared buffer a buffer of its own";
  let description = [{
    A buffer is cut where what it holds is never read again. Two loops that fill and read one buffer in turn stop
    depending on each other.

    ```mlir
    %s = tile.alloc : !tile.buffer<64xf32>
    tile.copy %X[%i] to %s ..; %x = tile.load %s ..; tile.copy %X[%j] to %s ..; %y = tile.load %s ..
    // becomes
    %s = tile.alloc ..; tile.copy %X[%i] to %s ..; %x = tile.load %s ..
    %t = tile.alloc ..; tile.copy %X[%j] to %t ..; %y = tile.load %t ..
    ```
  }];
}

def TileStaticDomains : Pass<"tile-static-domains", "::tilec::tile::KernelOp"> {
  let summary = "Parallel nests with run-time extents become loops over nests with constant ones";
  let description = [{
    An axis that indexes an out takes the out's extent and a guard in the body. Any other run-time axis becomes a loop: the
    last one runs in whole chunks and a guarded rest, those before it one trip at a time. A large constant nest that
    touches only memory is cut into chunks too: evenly along one axis if that is enough, else by such loops.

    ```mlir
    tile.generic [%n] maps [] { ^bb0(%i: index): .. }
    // becomes
    scf.for %c = %c0 to %whole step %c1024 { tile.generic [1024] maps [] { ^bb0(%i: index): .. %c + %i .. } }
    scf.if %some { tile.generic [1024] maps [] { ^bb0(%i: index): scf.if %i < %left { .. } } }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TilePromoteElements : Pass<"tile-promote-elements", "::tilec::tile::KernelOp"> {
  let summary = "Regular element accesses of a Parallel nest become operands, loads and stores";
  let description = [{
    In a nest with constant extents: reads of fragments along the nest's variables become `ins`; unconditional reads of
    memory along them, at an offset that all iterations share, become one load before the nest, and such writes one store
    after it. The order of accesses to one memory does not change. Choices between cheap values become selects, and an out
    that is written entirely without a look at what it was starts from `undef`, so that loops need not carry it.

    ```mlir
    tile.generic [128] maps [] {
    ^bb0(%i: index):
      %r = arith.addi %row, %i : index
      %x = tile.elem_load %X[%r] : !tile.view<?xf32>
      %y = math.exp %x : f32
      tile.elem_store %y to %Y[%r] : !tile.view<?xf32>
      tile.yield
    }
    // becomes
    %t = tile.load %X[%row] : !tile.view<?xf32> -> !tile.tile<128xf32>
    %u = tile.generic [128] ins(%t ..) outs(%undef ..) maps [(d0) -> (d0), (d0) -> (d0)] { .. math.exp .. }
    tile.store %u to %Y[%row] : !tile.tile<128xf32>, !tile.view<?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileProveBounds : Pass<"tile-prove-bounds", "::tilec::tile::KernelOp"> {
  let summary = "Mark the axes along which an access of a view is always inside";
  let description = [{
    From the extents of views, the assumptions of the launcher, block ids, loop bounds and the conditions around the
    access: sums of index values with inequalities between them. `inbounds` is a proof; without one nothing is written.
  }];
}

def TileSplitComparisons : Pass<"tile-split-comparisons", "::tilec::tile::KernelOp"> {
  let summary = "Compare positions in a nest with bounds that are the same at each position";
  let description = [{
    `key < Sk` with key = n * 128 + j becomes `j < Sk - n * 128`, the right side once before the nest. Positions fit in
    few bits, so that a target compares them in narrow numbers, on most with an immediate operand. Only where both
    sides are sums of extents, ids, loop variables and other numbers whose arithmetic cannot wrap.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileSplitGuards : Pass<"tile-split-guards", "::tilec::tile::KernelOp"> {
  let summary = "A nest without its guard where that holds for all of it";
  let description = [{
    A nest over tiles that writes to tensors under `row + i < stop` becomes a branch: on one side, where the last position
    passes, the nest without the condition, whose writes are then stores of whole tiles (tile-promote-elements); on the other
    the nest as it was. Conditions are order comparisons of one variable of the nest plus anything that is the same for all
    iterations with a limit of that kind, and conjunctions of these. Only nests that read no tensor and hold all writes of the
    kernel to tensors: they stand in the code twice. Runs before tile-promote-elements.

    ```mlir
    %last = arith.addi %row, %c127 : i64
    %below = arith.cmpi slt, %last, %stop : i64
    scf.if %below { // and %last did not wrap
      tile.generic [128, 256] ... { tile.elem_store %x to %C[%r, %c] }
    } else {
      tile.generic [128, 256] ... { scf.if %inside { tile.elem_store %x to %C[%r, %c] } }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileNormalizeLoops : Pass<"tile-normalize-loops", "::tilec::tile::KernelOp"> {
  let summary = "Mark plain loops that can be pipelined";
  let description = [{
    A loop with a copy from a view into shared memory whose offsets move with the loop's variable gets
    `tile.pipeline = #tile.pipeline<stages = 3, inferred = true>`, unless the user has said something about it.
  }];
}

def TileInsertDelays : Pass<"tile-insert-delays", "::tilec::tile::KernelOp"> {
  let summary = "Pauses in front of everything that synchronises (--sanitize=schedule)";
  let description = [{
    Runs after tile-insert-barriers, on device kernels. Each acquire, consume, commit, release, wait, barrier and fence, each
    ring with barriers, each copy, product and access of shared memory gets a `tile.delay` with a number of its own in front of
    it. A program whose synchronisation is complete computes the same with any pauses; one that leaves something to chance does
    not for long.

    ```mlir
    %a = tile.consume %ring at %p : !R
    // becomes
    tile.delay site 7 counters %tile, %k
    %a = tile.consume %ring at %p : !R
    ```
  }];
}

#endif // TILEC_DIALECT_TILE_TRANSFORMS_PASSES_TD
