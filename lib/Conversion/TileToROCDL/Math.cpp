//===- Math.cpp - elementary functions of AMD GPUs ---------------------------===//
// Without AMD's device library: what LLVM expands itself to within an ulp or two becomes an intrinsic, the
// rest stays an operation of the math dialect and is expanded into polynomials afterwards.
#include "mlir/Dialect/Math/IR/Math.h"
#include "ROCDLEmitter.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;

FailureOr<Value> ROCDLEmitter::emitMathCall(Operation &op, ValueRange operands) {
  OpBuilder &b = code.b;
  Location loc = op.getLoc();
  Type type = operands[0].getType();
  if (auto clamp = dyn_cast<math::ClampFOp>(op)) {
    Value low = arith::MaximumFOp::create(b, loc, operands[0], operands[1]);
    return arith::MinimumFOp::create(b, loc, low, operands[2]).getResult();
  }
  StringRef name = llvm::StringSwitch<StringRef>(op.getName().stripDialect())
                       .Case("exp", "exp.f32")
                       .Case("exp2", "exp2.f32")
                       .Case("log", "log.f32")
                       .Case("log2", "log2.f32")
                       .Case("log10", "log10.f32")
                       .Default("");
  if (!name.empty() && type.isF32())
    return intrinsic(name, type, operands);
  Type result = isa<FloatType>(op.getResult(0).getType()) ? type : op.getResult(0).getType();
  OperationState state(loc, op.getName(), operands, {result}, op.getAttrs());
  return b.create(state)->getResult(0);
}
