//===- Math.cpp - elementary functions: libdevice and exact instructions -----===//
#include "mlir/Dialect/Math/IR/Math.h"
#include "NVVMEmitter.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;

/// Name in libdevice, without __nv_ and the final f of float32.
static StringRef libdeviceName(Operation &op) {
  return llvm::StringSwitch<StringRef>(op.getName().stripDialect())
      .Case("exp", "exp")
      .Case("expm1", "expm1")
      .Case("log", "log")
      .Case("log2", "log2")
      .Case("log10", "log10")
      .Case("log1p", "log1p")
      .Case("sin", "sin")
      .Case("cos", "cos")
      .Case("tan", "tan")
      .Case("asin", "asin")
      .Case("acos", "acos")
      .Case("atan", "atan")
      .Case("atan2", "atan2")
      .Case("sinh", "sinh")
      .Case("cosh", "cosh")
      .Case("tanh", "tanh")
      .Case("asinh", "asinh")
      .Case("acosh", "acosh")
      .Case("atanh", "atanh")
      .Case("erf", "erf")
      .Case("erfc", "erfc")
      .Case("cbrt", "cbrt")
      .Case("powf", "pow")
      .Case("rsqrt", "rsqrt")
      .Case("round", "round")
      .Default("");
}

FailureOr<Value> NVVMEmitter::emitMathCall(Operation &op, ValueRange operands) {
  OpBuilder &b = code.b;
  Location loc = op.getLoc();
  Type type = operands[0].getType();
  auto keep = [&]() -> Value {
    Type result = isa<FloatType>(op.getResult(0).getType()) ? type : op.getResult(0).getType();
    OperationState state(loc, op.getName(), operands, {result}, op.getAttrs());
    return b.create(state)->getResult(0);
  };
  // Single instructions (or a few), right to the last bit.
  if (isa<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp,
          math::FmaOp, math::CopySignOp, math::CtPopOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp,
          math::SqrtOp, math::IsNaNOp, math::IsInfOp, math::IsFiniteOp, math::IsNormalOp>(op))
    return keep();
  if (isa<math::Exp2Op>(op) && type.isF32())
    return keep(); // ex2.approx.f32: 2 ulp, denormals kept
  if (kernel->hasAttr(tile::TileDialect::kFastMathAttrName) && type.isF32()) {
    if (isa<math::TanhOp>(op))
      return math::TanhOp::create(b, loc, operands[0], arith::FastMathFlags::afn).getResult(); // tanh.approx
    if (isa<math::ExpOp>(op)) {
      Value log2e = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1.44269504f));
      return math::Exp2Op::create(b, loc, arith::MulFOp::create(b, loc, operands[0], log2e)).getResult();
    }
  }
  StringRef name = libdeviceName(op);
  if (isa<math::Exp2Op>(op))
    name = "exp2";
  if (auto clamp = dyn_cast<math::ClampFOp>(op))
    return arith::MinimumFOp::create(b, loc, arith::MaximumFOp::create(b, loc, operands[0], operands[1]),
                                     operands[2])
        .getResult();
  bool isInt = isa<math::FPowIOp>(op);
  if (isInt)
    name = "powi";
  if (name.empty() || !(type.isF32() || type.isF64()) || (isInt && !operands[1].getType().isInteger(32))) {
    if (failed(unsupported(op, "'" + op.getName().getStringRef() + "'")))
      return failure();
    return failure();
  }
  std::string symbol = ("__nv_" + name + (type.isF32() ? "f" : "")).str();
  auto module = function->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(symbol)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    SmallVector<Type> inputs(operands.getTypes());
    LLVM::LLVMFuncOp::create(b, module.getLoc(), symbol, LLVM::LLVMFunctionType::get(type, inputs));
  }
  return LLVM::CallOp::create(b, loc, TypeRange(type), symbol, operands).getResult();
}
