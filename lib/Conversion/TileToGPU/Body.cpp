//===- Body.cpp - scalar operations, one element or a whole fragment at once -===//
#include "Emitter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

Value Emitter::lookup(Body &body, Value value) {
  auto it = body.map.find(value);
  return it != body.map.end() ? it->second : flatten(value).front();
}

LogicalResult Emitter::emitBodyBlock(Block &block, Body &body) {
  for (Operation &op : block.without_terminator())
    if (failed(emitBodyOp(op, body)))
      return failure();
  return success();
}

static bool hasFloat8(Operation &op) {
  auto narrow = [](Type t) { return isFloat8(getElementTypeOrSelf(t)); };
  return llvm::any_of(op.getOperandTypes(), narrow) || llvm::any_of(op.getResultTypes(), narrow);
}

LogicalResult Emitter::emitBodyOp(Operation &op, Body &body) {
  code.loc = op.getLoc();
  if (body.packed) {
    if (auto it = body.packed->values.find(&op); it != body.packed->values.end()) {
      body.map[op.getResult(0)] = it->second[body.reg];
      return success();
    }
    if (body.packed->unused.contains(&op))
      return success();
  }
  auto indicesOf = [&](ValueRange values) {
    SmallVector<Value> indices;
    for (Value v : values)
      indices.push_back(lookup(body, v));
    return indices;
  };
  auto inbounds = [](std::optional<ArrayRef<bool>> a) { return a ? *a : ArrayRef<bool>(); };
  if (auto o = dyn_cast<scf::IfOp>(op))
    return emitBodyIf(o, body);
  if (auto o = dyn_cast<scf::ForOp>(op))
    return emitBodyFor(o, body);
  if (auto o = dyn_cast<scf::WhileOp>(op))
    return emitBodyWhile(o, body);
  if (auto o = dyn_cast<ElemLoadOp>(op)) {
    body.map[o.getValue()] =
        loadElement(o.getSource(), indicesOf(o.getIndices()), inbounds(o.getInbounds()), body.guard);
    return success();
  }
  if (auto o = dyn_cast<ElemStoreOp>(op)) {
    storeElement(lookup(body, o.getValue()), o.getDest(), indicesOf(o.getIndices()),
                 inbounds(o.getInbounds()), code.both(body.guard, body.owner));
    return success();
  }
  if (auto o = dyn_cast<ElemAtomicOp>(op)) {
    if (body.owner && !o.getPrevious().use_empty())
      return unsupported(op, "the previous value of an atomic update that several threads would see");
    Value compare = o.getCompare() ? lookup(body, o.getCompare()) : Value();
    Value v = atomicElement(o, lookup(body, o.getValue()), compare, indicesOf(o.getIndices()),
                            code.both(body.guard, body.owner));
    if (!v)
      return unsupported(op, "this kind of atomic update");
    body.map[o.getPrevious()] = v;
    return success();
  }
  if (auto o = dyn_cast<DimOp>(op)) {
    body.map[o.getResult()] = sizeOf(o.getView(), o.getAxis());
    return success();
  }
  if (auto o = dyn_cast<StrideOp>(op)) {
    body.map[o.getResult()] = strideOf(o.getView(), o.getAxis());
    return success();
  }
  if (auto o = dyn_cast<affine::AffineApplyOp>(op)) {
    body.map[o.getResult()] = affine(o.getAffineMap().getResult(0), indicesOf(o.getOperands()));
    return success();
  }
  if (auto o = dyn_cast<DeviceAssertOp>(op)) {
    Value bad = code.exor(lookup(body, o.getCond()), code.boolean(true));
    code.when(code.both(bad, body.guard), [&] { trap(); });
    return success();
  }
  if (isa<AssumeOp>(op))
    return success();
  if (auto o = dyn_cast<arith::ConstantOp>(op)) {
    Type type = o.getType();
    if (isFloat8(type))
      body.map[o.getResult()] = code.constant(
          registerType(type), cast<FloatAttr>(o.getValue()).getValue().bitcastToAPInt().getSExtValue());
    else
      body.map[o.getResult()] = arith::ConstantOp::create(code.b, op.getLoc(), o.getValue());
    return success();
  }
  if (isa<arith::SelectOp>(op) && isa<ViewType>(op.getResult(0).getType())) {
    Value condition = lookup(body, op.getOperand(0));
    SmallVector<Value> x = flatten(op.getOperand(1)), y = flatten(op.getOperand(2)), z;
    for (auto [a, c] : llvm::zip(x, y))
      z.push_back(code.select(condition, a, c));
    bind(op.getResult(0), z);
    body.map[op.getResult(0)] = z.front();
    return success();
  }
  if (isa<math::MathDialect>(op.getDialect()))
    return emitMath(op, body);
  if (hasFloat8(op) && !isa<arith::SelectOp, arith::BitcastOp>(op))
    return emitConversion(op, body);
  if (isa<arith::ArithDialect>(op.getDialect()) && op.getNumRegions() == 0)
    return emitElementwise(op, body);
  return unsupported(op, "'" + op.getName().getStringRef() + "' here");
}

LogicalResult Emitter::emitElementwise(Operation &op, Body &body) {
  if (auto cmp = dyn_cast<arith::CmpIOp>(op); cmp && emitPositionTest(cmp, body))
    return success();
  SmallVector<Value> operands;
  bool isVector = false;
  for (Value v : op.getOperands()) {
    operands.push_back(lookup(body, v));
    isVector |= Code::isVector(operands.back());
  }
  if (isVector)
    for (Value &v : operands)
      v = code.broadcast(v, body.lanes);
  SmallVector<Type> types;
  for (Type t : op.getResultTypes()) {
    Type r = registerType(t);
    types.push_back(isVector ? Type(code.vec(r, body.lanes)) : r);
  }
  if (isa<arith::BitcastOp>(op) && types[0] == operands[0].getType()) {
    body.map[op.getResult(0)] = operands[0];
    return success();
  }
  if (Value small = op.getNumOperands() == 1 ? smallIntToFloat(op, operands[0]) : Value()) {
    body.map[op.getResult(0)] = small;
    return success();
  }
  OperationState state(op.getLoc(), op.getName(), operands, types, op.getAttrs());
  if (auto cmp = dyn_cast<arith::CmpIOp>(op)) {
    body.map[op.getResult(0)] = code.cmp(cmp.getPredicate(), operands[0], operands[1]);
    return success();
  }
  SmallVector<Value> folded;
  Operation *made = code.b.create(state);
  if (auto div = dyn_cast<arith::DivFOp>(made); div && kernel->hasAttr(TileDialect::kFastMathAttrName))
    div.setFastmath(arith::FastMathFlags::arcp | arith::FastMathFlags::afn);
  if (succeeded(code.b.tryFold(made, folded)) && folded.size() == op.getNumResults()) {
    made->erase();
    for (auto [from, to] : llvm::zip(op.getResults(), folded))
      body.map[from] = to;
    return success();
  }
  for (auto [from, to] : llvm::zip(op.getResults(), made->getResults()))
    body.map[from] = to;
  return success();
}

/// Conversions that meet an 8-bit float.
LogicalResult Emitter::emitConversion(Operation &op, Body &body) {
  if (op.getNumOperands() != 1 || op.getNumResults() != 1)
    return unsupported(op, "arithmetic on 8-bit floats");
  Value v =
      convertFloat(lookup(body, op.getOperand(0)), op.getOperand(0).getType(), op.getResult(0).getType());
  if (!v)
    return unsupported(op, "this conversion");
  body.map[op.getResult(0)] = v;
  return success();
}

/// Functions of f16 and bf16 are computed in f32 and rounded once.
LogicalResult Emitter::emitMath(Operation &op, Body &body) {
  SmallVector<Value> operands;
  int64_t lanes = 0;
  for (Value v : op.getOperands()) {
    operands.push_back(lookup(body, v));
    if (Code::isVector(operands.back()))
      lanes = body.lanes;
  }
  Type result = op.getResult(0).getType();
  bool narrow = isa<FloatType>(result) && result.getIntOrFloatBitWidth() < 32;
  Type f32 = code.b.getF32Type();
  SmallVector<Value> done;
  for (int64_t i = 0; i < std::max<int64_t>(1, lanes); ++i) {
    SmallVector<Value> scalars;
    for (Value v : operands) {
      Value x = Code::isVector(v) ? code.element(v, i) : v;
      if (isa<FloatType>(x.getType()) && x.getType().getIntOrFloatBitWidth() < 32)
        x = arith::ExtFOp::create(code.b, code.loc, f32, x);
      scalars.push_back(x);
    }
    FailureOr<Value> y = emitMathCall(op, scalars);
    if (failed(y))
      return failure();
    done.push_back(narrow && *y && (*y).getType() != result
                       ? arith::TruncFOp::create(code.b, code.loc, result, *y).getResult()
                       : *y);
  }
  body.map[op.getResult(0)] = lanes ? code.fromElements(done) : done.front();
  return success();
}

LogicalResult Emitter::emitBodyIf(scf::IfOp op, Body &body) {
  SmallVector<Type> types;
  for (Type t : op.getResultTypes())
    types.push_back(registerType(t));
  bool hasElse = op.elseBlock() != nullptr;
  auto branch = scf::IfOp::create(code.b, op.getLoc(), types, lookup(body, op.getCondition()), true, hasElse);
  auto side = [&](Block *from, Block *to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(code.b);
    if (!to->empty())
      to->back().erase();
    code.b.setInsertionPointToEnd(to);
    if (failed(emitBodyBlock(*from, body)))
      return failure();
    SmallVector<Value> yields;
    for (Value v : from->getTerminator()->getOperands())
      yields.push_back(lookup(body, v));
    scf::YieldOp::create(code.b, op.getLoc(), yields);
    return success();
  };
  if (failed(side(op.thenBlock(), branch.thenBlock())) ||
      (hasElse && failed(side(op.elseBlock(), branch.elseBlock()))))
    return failure();
  for (auto [from, to] : llvm::zip(op.getResults(), branch.getResults()))
    body.map[from] = to;
  return success();
}

LogicalResult Emitter::emitBodyFor(scf::ForOp op, Body &body) {
  SmallVector<Value> init;
  for (Value v : op.getInitArgs())
    init.push_back(lookup(body, v));
  auto loop = scf::ForOp::create(code.b, op.getLoc(), lookup(body, op.getLowerBound()),
                                 lookup(body, op.getUpperBound()), lookup(body, op.getStep()), init);
  body.map[op.getInductionVar()] = loop.getInductionVar();
  for (auto [from, to] : llvm::zip(op.getRegionIterArgs(), loop.getRegionIterArgs()))
    body.map[from] = to;
  {
    OpBuilder::InsertionGuard guard(code.b);
    if (!loop.getBody()->empty())
      loop.getBody()->back().erase();
    code.b.setInsertionPointToEnd(loop.getBody());
    if (failed(emitBodyBlock(*op.getBody(), body)))
      return failure();
    SmallVector<Value> yields;
    for (Value v : op.getYieldedValues())
      yields.push_back(lookup(body, v));
    scf::YieldOp::create(code.b, op.getLoc(), yields);
  }
  for (auto [from, to] : llvm::zip(op.getResults(), loop.getResults()))
    body.map[from] = to;
  return success();
}

LogicalResult Emitter::emitBodyWhile(scf::WhileOp op, Body &body) {
  SmallVector<Value> init;
  for (Value v : op.getInits())
    init.push_back(lookup(body, v));
  SmallVector<Type> before, after;
  for (Value v : op.getBeforeArguments())
    before.push_back(registerType(v.getType()));
  for (Type t : op.getResultTypes())
    after.push_back(registerType(t));
  auto loop = scf::WhileOp::create(code.b, op.getLoc(), after, init);
  OpBuilder::InsertionGuard guard(code.b);
  auto start = [&](mlir::Region &region, ArrayRef<Type> types, Block::BlockArgListType from) {
    Block *block = code.b.createBlock(&region, {}, types, SmallVector<Location>(types.size(), op.getLoc()));
    for (auto [x, y] : llvm::zip(from, block->getArguments()))
      body.map[x] = y;
  };
  auto values = [&](ValueRange range) {
    SmallVector<Value> out;
    for (Value v : range)
      out.push_back(lookup(body, v));
    return out;
  };
  start(loop.getBefore(), before, op.getBeforeArguments());
  if (failed(emitBodyBlock(*op.getBeforeBody(), body)))
    return failure();
  scf::ConditionOp::create(code.b, op.getLoc(), lookup(body, op.getConditionOp().getCondition()),
                           values(op.getConditionOp().getArgs()));
  start(loop.getAfter(), after, op.getAfterArguments());
  if (failed(emitBodyBlock(*op.getAfterBody(), body)))
    return failure();
  scf::YieldOp::create(code.b, op.getLoc(), values(op.getYieldOp().getOperands()));
  for (auto [from, to] : llvm::zip(op.getResults(), loop.getResults()))
    body.map[from] = to;
  return success();
}
