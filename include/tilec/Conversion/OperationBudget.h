//===- OperationBudget.h - how much code one kernel may become ---------------===//
#ifndef TILEC_CONVERSION_OPERATIONBUDGET_H
#define TILEC_CONVERSION_OPERATIONBUDGET_H
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

namespace tilec {

/// Counts the operations a conversion emits for one kernel. Unrolled loops over large tiles multiply: what
/// every earlier limit lets pass can still be hours of work for the code generators, whose time grows faster
/// than the code.
class OperationBudget : public mlir::OpBuilder::Listener {
public:
  explicit OperationBudget(mlir::OpBuilder &builder) : builder(builder) { builder.setListener(this); }
  ~OperationBudget() override { builder.setListener(nullptr); }
  OperationBudget(const OperationBudget &) = delete;
  OperationBudget &operator=(const OperationBudget &) = delete;

  /// Several times what the largest hand-written kernels become.
  static constexpr int64_t most = 16'000;

  /// Reports where in the source the budget ended.
  llvm::LogicalResult check(mlir::Operation &at) const {
    if (count <= most)
      return mlir::success();
    mlir::InFlightDiagnostic error = at.emitError();
    error << "[E0306] too many operations in the code of one thread: the limit is " << most;
    error.attachNote() << "a run-time loop (`range`) instead of `unroll`, more threads or smaller tiles keep "
                          "the code small";
    return error;
  }

  /// Constants are made wherever they are needed and leave no code.
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override {
    count += !op->hasTrait<mlir::OpTrait::ConstantLike>();
  }

private:
  mlir::OpBuilder &builder;
  int64_t count = 0;
};

} // namespace tilec
#endif
