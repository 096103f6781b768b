//===- Passes.td - out of the tile dialect --------------------------------===//
#ifndef TILEC_CONVERSION_PASSES_TD
#define TILEC_CONVERSION_PASSES_TD
include "mlir/Pass/PassBase.td"

//===- TileToCPU ----------------------------------------------------------===//

def ConvertTileToCPU : Pass<"convert-tile-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Device kernels -> functions over work items, with vectors and plain memory";
  let description = [{
    Each device kernel whose target is an x86-64 level becomes two functions, and is erased:

    ```mlir
    func.func @matmul.0.count(%values: !llvm.ptr) -> i64              // work items of this launch
    func.func @matmul.0.work(%values: !llvm.ptr, %item: i64, %arena: !llvm.ptr) attributes {tile.arena_bytes = 401408 : i64}
    ```
    `values` are the flattened arguments of the device kernel (one slot per scalar and pointer; address, sizes and strides
    of a view). Tiles that need memory and buffers live in the arena, one per worker; a tile that is dead shares its
    place with the next. Every op of stage Tile has a lowering; loops over elements are vectorised along the axis on
    which most operands are contiguous, and products run through a register-blocked kernel of the shape that their
    #tile.inst names.
  }];
  let options = [
    Option<"prefix", "symbol-prefix", "std::string", "\"\"", "Put before the name of each function">,
    Option<"suffix", "symbol-suffix", "std::string", "\"\"", "Put between the kernel's name and .count or .work">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def ExpandMath : Pass<"tile-expand-math", "::mlir::ModuleOp"> {
  let summary = "Functions, conversions and divisions that LLVM would turn into library calls, traps or poison";
  let description = [{
    Rewrites, for scalars and vectors alike: elementary functions into polynomials with bounds in ulp (table in
    docs), and for a CPU also arithmetic on f16 and bf16 into f32 with one rounding, conversions to and from bf16 and (on
    x86-64-v2) f16 into integer arithmetic, float to integer into saturating conversions, and integer division and shifts
    into forms that never trap. Denormals are kept throughout.
  }];
  let options = [
    Option<"level", "level", "unsigned", "3", "x86-64 level: 2, 3 or 4; 0: a GPU">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"];
}

//===- TileToNVVM ---------------------------------------------------------===//

def ConvertTileToNVVM : Pass<"convert-tile-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Device kernels of NVIDIA targets at stage Async -> the program of one thread";
  let description = [{
    Each device kernel whose target is an NVIDIA chip becomes an `llvm.func` with `nvvm.kernel` and is erased. A tile is one
    vector per thread in the register order of its layout, a buffer an address in the block's shared memory (symbol
    `tile_shared`), a view its address, sizes and strides. Roles are branches on the warp's number, rings mbarriers.

    What the launcher needs stands on the function: `tile.params` (where each parameter comes from: a slot of the flattened
    arguments of the device kernel, or a tensor map over a view), `tile.threads`, `tile.shared_bytes`, `tile.persistent`,
    `tile.min_blocks`, `tile.schedule`, `tile.conditions`, `tile.launch_name`, `tile.kernel` (the device kernel's name).

    ```mlir
    llvm.func @scale$0(%n: i64, %X: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>,
        tile.params = [{bytes = 8 : i64, slot = 2 : i64}, {bytes = 8 : i64, slot = 1 : i64} ], tile.threads = 128 : i64, ..}
    ```
  }];
  let options = [Option<"prefix", "symbol-prefix", "std::string", "\"\"", "Put before the name of each function">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

//===- TileToROCDL --------------------------------------------------------===//

def ConvertTileToROCDL : Pass<"convert-tile-to-rocdl", "::mlir::ModuleOp"> {
  let summary = "Device kernels of AMD targets at stage Async -> the program of one thread";
  let description = [{
    As convert-tile-to-nvvm, for waves of 64 lanes: products are mfma, exchanges DPP, ds_swizzle and ds_bpermute, a barrier
    is s_barrier between fences of the work group. The function carries `rocdl.kernel` and the same `tile.*` attributes.

    ```mlir
    llvm.func @scale$0(%n: i64, %X: !llvm.ptr<1>) attributes {rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 256, 1, 1>,
        tile.params = [{bytes = 8 : i64, slot = 2 : i64}, {bytes = 8 : i64, slot = 1 : i64} ], tile.threads = 256 : i64, ..}
    ```
  }];
  let options = [Option<"prefix", "symbol-prefix", "std::string", "\"\"", "Put before the name of each function">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::ROCDL::ROCDLDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

//===- TileToHost ---------------------------------------------------------===//

def ConvertTileHostToLLVM : Pass<"convert-tile-host-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Host kernels -> functions that check, allocate and launch through the runtime";
  let description = [{
    Each host kernel K becomes `K__host(mode, kernel, launch, bytes, arguments..)`, whose body is the sequence that
    runtime/tile_rt_gen.h describes: tile_rt_begin, checks (tile.assume, tile.require_equal), tile_rt_workspace for each
    tile.workspace, tile_rt_launch for each tile.launch_call with the flattened values of its operands, tile_rt_end. Checks
    and workspace move in front of the first launch. Device kernels are erased. The constant `tilec.library` is declared; the
    object writer defines it and adds the API functions.

    ```mlir
    tile.kernel @f(%X: !tile.view<?xf32>) {
      %n = tile.dim %X, 0 : !tile.view<?xf32>
      tile.launch_call @f.0(%n) args(%X : !tile.view<?xf32>)
    }
    // becomes
    llvm.func internal @f__host(%mode: i32, %kernel: i32, %launch: !llvm.ptr, %bytes: !llvm.ptr, %X: !llvm.ptr) -> i32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif // TILEC_CONVERSION_PASSES_TD
