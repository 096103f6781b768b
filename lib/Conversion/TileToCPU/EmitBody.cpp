//===- EmitBody.cpp - scalar code, one or several lanes at a time ------------===//
//
// With one lane this is what it says. With several, a value that differs between lanes becomes a vector, a
// branch on such a value becomes a mask, and indices that advance by a constant per lane are remembered as
// such, so that their loads and stores stay contiguous.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::cpu;
using namespace tilec::tile;

Type Emitter::laneType(Type type) {
  type = registerType(type);
  if (lanes > 1 && type.isIntOrIndexOrFloat())
    return code.vec(type, lanes);
  return type;
}

//===- Indices ---------------------------------------------------------------===//
Index Emitter::indexOf(Value value) {
  if (auto it = tracked.find(value); it != tracked.end())
    return it->second;
  Value v = get(value);
  if (!Code::isVector(v))
    return {v, 0, Value()};
  return {Value(), std::nullopt, v};
}

SmallVector<Index> Emitter::indicesOf(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value v) { return indexOf(v); });
}

/// Keeps base + lane * step through additions and constant products.
void Emitter::trackIndex(Operation &op) {
  if (lanes == 1 || op.getNumResults() != 1)
    return;
  auto at = [&](unsigned i) { return indexOf(op.getOperand(i)); };
  Type type = op.getResult(0).getType();
  if (isa<arith::IndexCastOp>(op)) {
    Index x = at(0);
    bool wide = (type.isIndex() && op.getOperand(0).getType().isInteger(64)) || type.isInteger(64);
    if (x.step && *x.step && wide)
      tracked[op.getResult(0)] = {code.b.createOrFold<arith::IndexCastOp>(code.loc, type, x.base), x.step,
                                  Value()};
    return;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || !(type.isIndex() || type.isInteger(64)))
    return;
  Index x = at(0), y = at(1);
  if (!x.step || !y.step || (!*x.step && !*y.step))
    return;
  if (isa<arith::AddIOp>(op))
    tracked[op.getResult(0)] = {code.add(x.base, y.base), *x.step + *y.step, Value()};
  else if (isa<arith::SubIOp>(op))
    tracked[op.getResult(0)] = {code.sub(x.base, y.base), *x.step - *y.step, Value()};
  else if (auto factor = Code::constant(y.base); factor && !*y.step)
    tracked[op.getResult(0)] = {code.fold<arith::MulIOp>(x.base, y.base), *x.step * *factor, Value()};
  else if (auto factor = Code::constant(x.base); factor && !*x.step)
    tracked[op.getResult(0)] = {code.fold<arith::MulIOp>(x.base, y.base), *y.step * *factor, Value()};
}

//===- Elementwise -----------------------------------------------------------===//
/// arith and math on scalars: the same op on vectors where an operand is one, through f32 where it is an
/// 8-bit float.
LogicalResult Emitter::emitElementwise(Operation &op) {
  bool vector = llvm::any_of(op.getOperands(), [&](Value v) { return Code::isVector(get(v)); });
  auto widened = [&](Type type) -> Type {
    return isFloat8(type) ? Type(code.b.getF32Type()) : registerType(type);
  };
  bool keepBytes = isa<arith::SelectOp>(op);
  OperationState state(code.loc, op.getName());
  for (Value operand : op.getOperands()) {
    Value v = get(operand);
    if (vector)
      v = code.broadcast(v, lanes);
    if (isFloat8(operand.getType()) && !keepBytes)
      v = convert(v, operand.getType(), code.b.getF32Type());
    state.operands.push_back(v);
  }
  for (Type type : op.getResultTypes()) {
    Type result = keepBytes ? registerType(type) : widened(type);
    state.types.push_back(vector ? Type(code.vec(result, lanes)) : result);
  }
  state.addAttributes(op.getAttrs());
  Operation *made = code.b.create(state);
  for (auto [from, to] : llvm::zip(op.getResults(), made->getResults())) {
    Value v = to;
    if (isFloat8(from.getType()) && !keepBytes)
      v = convert(v, code.b.getF32Type(), from.getType());
    map.map(from, v);
  }
  return success();
}

LogicalResult Emitter::emitConversionOp(Operation &op, Value value) {
  map.map(op.getResult(0), convert(value, op.getOperand(0).getType(), op.getResult(0).getType()));
  return success();
}

static bool isLaneOp(Operation &op) {
  return isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) && op.getNumRegions() == 0;
}

LogicalResult Emitter::emitBodyOp(Operation &op) {
  code.loc = op.getLoc();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()); number && isFloat8(number.getType()))
      map.map(op.getResult(0),
              code.integer(code.b.getI8Type(), number.getValue().bitcastToAPInt().getZExtValue()));
    else
      map.map(op.getResult(0), code.b.clone(op)->getResult(0));
    return success();
  }
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
      (isFloat8(op.getOperand(0).getType()) || isFloat8(op.getResult(0).getType())))
    return emitConversionOp(op, get(op.getOperand(0)));
  if (isa<arith::BitcastOp>(op) &&
      registerType(op.getOperand(0).getType()) == registerType(op.getResult(0).getType())) {
    map.map(op.getResult(0), get(op.getOperand(0)));
    return success();
  }
  if (isLaneOp(op)) {
    if (failed(emitElementwise(op)))
      return failure();
    trackIndex(op);
    return success();
  }
  if (auto dim = dyn_cast<DimOp>(op)) {
    map.map(dim.getResult(), viewOf(dim.getView()).sizes[dim.getAxis()]);
    return success();
  }
  if (auto stride = dyn_cast<StrideOp>(op)) {
    map.map(stride.getResult(), viewOf(stride.getView()).strides[stride.getAxis()]);
    return success();
  }
  if (auto view = dyn_cast<MakeViewOp>(op))
    return emitMakeView(view);
  if (auto view = dyn_cast<RecastViewOp>(op))
    return emitRecastView(view);
  if (auto load = dyn_cast<ElemLoadOp>(op)) {
    map.map(load.getValue(), loadElements(memoryOf(load.getSource()), indicesOf(load.getIndices()),
                                          load.getInbounds().value_or(ArrayRef<bool>())));
    return success();
  }
  if (auto store = dyn_cast<ElemStoreOp>(op)) {
    storeElements(get(store.getValue()), memoryOf(store.getDest()), indicesOf(store.getIndices()),
                  store.getInbounds().value_or(ArrayRef<bool>()));
    return success();
  }
  if (auto extract = dyn_cast<ExtractOp>(op)) {
    if (Value scalar = uniform.lookup(extract.getTile()))
      map.map(extract.getValue(), scalar);
    else
      map.map(extract.getValue(),
              loadElements(memoryOf(extract.getTile()), indicesOf(extract.getIndices()), {}));
    return success();
  }
  if (auto atomic = dyn_cast<ElemAtomicOp>(op))
    return emitElemAtomic(atomic);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitBodyIf(branch);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitBodyFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitBodyWhile(loop);
  if (isa<AssumeOp, DeviceAssertOp>(op))
    return success(); // promises; what checks them is the sanitizer's code
  if (isa<memref::MemRefDialect>(op.getDialect())) {
    OpBuilder::InsertionGuard guard(code.b);
    if (isa<memref::AllocaOp>(op)) // once per call, not once per iteration
      code.b.setInsertionPointToStart(&code.b.getInsertionBlock()
                                           ->getParent()
                                           ->getParentOfType<FunctionOpInterface>()
                                           .getFunctionBody()
                                           .front());
    Operation *copy = code.b.clone(op, map);
    map.map(op.getResults(), copy->getResults());
    return success();
  }
  if (isa<PrintOp>(op))
    return op.emitError() << "[E0540] `print` is not supported on the CPU; write the value into a tensor";
  if (isa<ThreadsOp>(op))
    return op.emitError()
           << "[E0540] `with Threads()` is not supported on the CPU: a block is one thread there; "
              "use `Parallel`";
  return op.emitError() << "[E0540] '" << op.getName().getStringRef() << "' has no lowering for the CPU";
}

LogicalResult Emitter::emitBody(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emitBodyOp(op)))
      return failure();
  return success();
}

//===- Control in bodies -----------------------------------------------------===//
/// Branches on a condition that differs between lanes: both sides run under their masks.
LogicalResult Emitter::emitBodyIf(scf::IfOp op) {
  Value condition = get(op.getCondition());
  bool ok = true;
  auto side = [&](Region &region, Value sideMask) {
    SmallVector<Value> values;
    if (region.empty())
      return values;
    Value saved = mask;
    mask = sideMask;
    ok &= succeeded(emitBody(region.front()));
    if (ok)
      for (Value v : region.front().getTerminator()->getOperands())
        values.push_back(asLanes(get(v)));
    mask = saved;
    return values;
  };
  if (Code::isVector(condition)) {
    Value all = code.broadcast(condition, lanes);
    SmallVector<Value> yes = side(op.getThenRegion(), code.bothOf(mask, all));
    SmallVector<Value> no = side(op.getElseRegion(), code.bothOf(mask, code.invert(all)));
    if (!ok)
      return failure();
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      map.map(result, code.select(all, yes[i], no[i]));
    return success();
  }
  SmallVector<Type> types = llvm::map_to_vector(op.getResultTypes(), [&](Type t) { return laneType(t); });
  auto branch = scf::IfOp::create(code.b, op.getLoc(), types, condition, /*addThenBlock=*/true,
                                  /*addElseBlock=*/!op.getElseRegion().empty());
  OpBuilder::InsertionGuard guard(code.b);
  for (auto [from, to] : llvm::zip(op->getRegions(), branch->getRegions())) {
    if (from.empty())
      continue;
    Block &block = to.front();
    if (!block.empty())
      block.back().erase();
    code.b.setInsertionPointToEnd(&block);
    SmallVector<Value> values = side(from, mask);
    if (!ok)
      return failure();
    scf::YieldOp::create(code.b, op.getLoc(), values);
  }
  map.map(op.getResults(), branch.getResults());
  return success();
}

LogicalResult Emitter::emitBodyFor(scf::ForOp op) {
  SmallVector<Value> inits = llvm::map_to_vector(op.getInitArgs(), [&](Value v) { return asLanes(get(v)); });
  auto loop = scf::ForOp::create(code.b, op.getLoc(), get(op.getLowerBound()), get(op.getUpperBound()),
                                 get(op.getStep()), inits);
  loop.setUnsignedCmp(op.getUnsignedCmp());
  OpBuilder::InsertionGuard guard(code.b);
  if (!loop.getBody()->empty())
    loop.getBody()->back().erase();
  code.b.setInsertionPointToEnd(loop.getBody());
  map.map(op.getBody()->getArguments(), loop.getBody()->getArguments());
  if (failed(emitBody(*op.getBody())))
    return failure();
  SmallVector<Value> next = llvm::map_to_vector(op.getBody()->getTerminator()->getOperands(),
                                                [&](Value v) { return asLanes(get(v)); });
  scf::YieldOp::create(code.b, op.getLoc(), next);
  map.map(op.getResults(), loop.getResults());
  return success();
}

/// Only with one lane: chooseAxis keeps such bodies scalar.
LogicalResult Emitter::emitBodyWhile(scf::WhileOp op) {
  auto mapped = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value v) { return get(v); });
  };
  auto types = [&](TypeRange range) {
    return llvm::map_to_vector(range, [&](Type t) { return registerType(t); });
  };
  auto loop = scf::WhileOp::create(code.b, op.getLoc(), types(op.getResultTypes()), mapped(op.getInits()));
  OpBuilder::InsertionGuard guard(code.b);
  auto fill = [&](Block &from, Region &to) -> LogicalResult {
    SmallVector<Location> locs(from.getNumArguments(), op.getLoc());
    Block *block = code.b.createBlock(&to, {}, types(from.getArgumentTypes()), locs);
    map.map(from.getArguments(), block->getArguments());
    return emitBody(from);
  };
  if (failed(fill(*op.getBeforeBody(), loop.getBefore())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  scf::ConditionOp::create(code.b, op.getLoc(), get(condition.getCondition()), mapped(condition.getArgs()));
  if (failed(fill(*op.getAfterBody(), loop.getAfter())))
    return failure();
  scf::YieldOp::create(code.b, op.getLoc(), mapped(op.getAfterBody()->getTerminator()->getOperands()));
  map.map(op.getResults(), loop.getResults());
  return success();
}
