//===- HostKernel.h - one host kernel becomes one function --------------------------===//
#ifndef TILEC_LIB_CONVERSION_TILETOHOST_HOSTKERNEL_H
#define TILEC_LIB_CONVERSION_TILETOHOST_HOSTKERNEL_H
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace tilec {

/// Declarations that the functions of one module share.
class HostRuntime {
public:
  explicit HostRuntime(mlir::ModuleOp module);

  /// Address of a NUL-terminated constant.
  mlir::Value text(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef text);
  /// Address of the library constant, which the object writer defines.
  mlir::Value library(mlir::OpBuilder &builder, mlir::Location loc);
  /// Calls a function of the runtime; all return a status.
  mlir::Value call(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                   mlir::ValueRange operands);

private:
  mlir::ModuleOp module;
  llvm::StringMap<mlir::LLVM::GlobalOp> texts;
};

/// Turns `kernel` (whose control flow is cf) into `<name>__host`; the kernel is erased.
class HostKernelLowering {
public:
  HostKernelLowering(tile::KernelOp kernel, HostRuntime &runtime, const llvm::StringMap<int> &launches)
      : kernel(kernel), runtime(runtime), launches(launches), builder(kernel.getContext()) {}
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> run();

private:
  /// What a view is on the host; all values are i64.
  struct View {
    mlir::Value address;
    llvm::SmallVector<mlir::Value> sizes, strides;
    int argument = -1; ///< the kernel argument it came from
  };

  void createFunction();
  void lowerArguments(mlir::Block *body);
  mlir::Value scalarArgument(mlir::Type type, mlir::Value value);
  View argumentView(tile::ViewType type, mlir::Value views, int64_t &slot);
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerLaunch(tile::LaunchCallOp op);
  mlir::LogicalResult lowerRecast(tile::RecastViewOp op);
  void lowerAssume(tile::AssumeOp op);
  void lowerRequireEqual(tile::RequireEqualOp op);
  void lowerMakeView(tile::MakeViewOp op);
  void lowerWorkspace(tile::WorkspaceOp op);
  void lowerEnd(tile::YieldOp op);

  // Small things. Numbers are i64 unless said otherwise.
  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value null();
  mlir::Value toI64(mlir::Value index);
  mlir::Value slotBits(mlir::Value scalar);
  mlir::Value scratch(int64_t words, int64_t align = 8);
  void store(mlir::Value value, mlir::Value base, int64_t word);
  mlir::Value load(mlir::Value base, int64_t word);
  mlir::Value product(llvm::ArrayRef<mlir::Value> values);
  llvm::SmallVector<mlir::Value> sizesOf(tile::ViewType type, mlir::ValueRange dynamic);
  llvm::SmallVector<mlir::Value> rowMajor(llvm::ArrayRef<mlir::Value> sizes);
  /// Returns from the function when `status` is not TILE_OK; code goes on in a new block.
  void returnOnFailure(mlir::Value status);
  /// Reports a broken check when `bad` holds.
  void failWhen(mlir::Value bad, int status, int argument, int dim, mlir::Value expected, mlir::Value actual,
                llvm::StringRef text);

  tile::KernelOp kernel;
  HostRuntime &runtime;
  const llvm::StringMap<int> &launches; ///< launch numbers by callee
  mlir::OpBuilder builder;
  mlir::Location loc = mlir::UnknownLoc::get(kernel.getContext());
  mlir::LLVM::LLVMFuncOp func;
  mlir::Block *exit = nullptr; ///< returns its argument
  mlir::Value call;            ///< tile_call
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Value, mlir::Value> pointers; ///< tile.ptr -> address
  llvm::DenseSet<mlir::Value> unsignedScalars;
};

} // namespace tilec
#endif
