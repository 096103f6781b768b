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

def ExpandMathForCPU : Pass<"tile-expand-cpu-math", "::mlir::ModuleOp"> {
  let summary = "Functions, conversions and divisions that LLVM would turn into library calls, traps or poison";
  let description = [{
    Rewrites, for scalars and vectors alike: elementary functions into polynomials with bounds in ulp (table in
    docs), arithmetic on f16 and bf16 into f32 with one rounding, conversions to and from bf16 and (on x86-64-v2) f16 into
    integer arithmetic, float to integer into saturating conversions, and integer division and shifts into forms that
    never trap. Denormals are kept throughout.
  }];
  let options = [Option<"level", "level", "unsigned", "3", "x86-64 level: 2, 3 or 4">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"];
}

#endif // TILEC_CONVERSION_PASSES_TD
