//===- EmitControl.cpp - the launch, loops and branches around tiles ---------===//
#include "Emitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::cpu;
using namespace tilec::tile;

LogicalResult Emitter::emitPrologue(LaunchOp launch) {
  for (Operation &op : kernel.getBody().front()) {
    if (&op == launch.getOperation())
      return success();
    if (failed(emitOp(op)))
      return failure();
  }
  return success();
}

/// Negative extents count as zero.
Value Emitter::gridExtent(LaunchOp launch, unsigned axis) {
  return code.max(get(launch.getGrid()[axis]), code.index(0));
}

LogicalResult Emitter::emitLaunch(LaunchOp launch, const StoragePlan &storage, Value item, Value arenaPtr) {
  plan = &storage;
  arena = arenaPtr;
  code.loc = launch.getLoc();
  // The item counts blocks with x fastest. There are fewer than 2^63 of them and none when an extent is zero.
  Value rest = item;
  unsigned axes = launch.getGrid().size();
  for (unsigned axis = 0; axis < axes; ++axis) {
    Value extent = gridExtent(launch, axis);
    Value id = rest;
    if (axis + 1 < axes) {
      id = code.fold<arith::RemUIOp>(rest, extent);
      rest = code.fold<arith::DivUIOp>(rest, extent);
    }
    map.map(launch.getBody().getArgument(axis), id);
  }
  return emitBlock(launch.getBody().front());
}

LogicalResult Emitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(op)))
      return failure();
  return success();
}

LogicalResult Emitter::emitRaster(RasterOp op) {
  // A worker takes blocks in the order of their numbers; neighbours share rows of the grid either way.
  Value rest = get(op.getLinear());
  unsigned axes = op.getGrid().size();
  bool column = op.getRaster().getKind() == RasterKind::column;
  for (unsigned i = 0; i < axes; ++i) {
    unsigned axis = column ? axes - 1 - i : i;
    Value extent = code.max(get(op.getGrid()[axis]), code.index(1));
    Value id = i + 1 < axes ? code.fold<arith::RemUIOp>(rest, extent) : rest;
    rest = code.fold<arith::DivUIOp>(rest, extent);
    map.map(op.getIds()[axis], id);
  }
  return success();
}

LogicalResult Emitter::emitOp(Operation &op) {
  code.loc = op.getLoc();
  if (failed(budget.check(op)))
    return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<scf::ForOp>([&](auto o) { return emitFor(o); })
      .Case<scf::WhileOp>([&](auto o) { return emitWhile(o); })
      .Case<scf::IfOp>([&](auto o) { return emitIf(o); })
      .Case<GenericOp>([&](auto o) { return emitGeneric(o); })
      .Case<GemmOp>([&](auto o) { return emitGemm(o); })
      .Case<LoadOp>([&](auto o) { return emitLoad(o); })
      .Case<StoreOp>([&](auto o) { return emitStore(o); })
      .Case<CopyOp>([&](auto o) { return emitCopy(o); })
      .Case<AtomicOp>([&](auto o) { return emitAtomicTile(o); })
      .Case<ReduceOp>([&](auto o) { return emitReduce(o); })
      .Case<ScanOp>([&](auto o) { return emitScan(o); })
      .Case<ReshapeOp>([&](auto o) { return emitReshape(o); })
      .Case<RasterOp>([&](auto o) { return emitRaster(o); })
      .Case<AllocOp, SubbufferOp, RecastBufferOp, BarrierOp, FenceOp>([&](auto) { return success(); })
      .Case<SmCountOp>([&](auto o) {
        map.map(o.getResult(), code.index(1)); // persistence is the pool's business
        return success();
      })
      .Case<UndefOp, SplatOp>([&](auto o) {
        Type element = getElementTypeOf(o.getResult().getType());
        Value scalar = o->getNumOperands() ? get(o->getOperand(0)) : code.zero(registerType(element));
        uniform[o.getResult()] = scalar;
        if (plan->hasPlace(o.getResult())) {
          Rect all = wholeTile(o.getResult());
          SmallVector<Value> lo, hi;
          boxOf(all, lo, hi);
          fillBox(all.access, lo, hi, scalar);
        }
        return success();
      })
      .Case<ConvertLayoutOp>([&](auto o) {
        if (Value scalar = uniform.lookup(o.getSource()))
          uniform[o.getResult()] = scalar;
        if (plan->hasPlace(o.getResult()))
          copyTile(o.getSource(), o.getResult());
        return success();
      })
      .Case<InsertOp>([&](auto o) {
        copyTile(o.getTile(), o.getResult());
        storeElements(get(o.getValue()), memoryOf(o.getResult()), indicesOf(o.getIndices()), {});
        return success();
      })
      .Default([&](Operation *o) { return emitBodyOp(*o); });
}

//===- Tiles across borders --------------------------------------------------===//
void Emitter::copyTile(Value from, Value to) {
  if (!plan->hasPlace(to) || plan->samePlace(from, to))
    return;
  Rect dest = wholeTile(to);
  SmallVector<Value> lo, hi;
  boxOf(dest, lo, hi);
  if (plan->hasPlace(from))
    moveBox(wholeTile(from).access, dest.access, lo, hi);
  else
    fillBox(dest.access, lo, hi, uniform.lookup(from));
}

/// All at once: sources that a copy would overwrite before they are read wait in scratch.
void Emitter::moveTiles(Operation *op, ValueRange from, ArrayRef<Value> to) {
  llvm::DenseMap<unsigned, Access> parked;
  for (auto [i, source] : llvm::enumerate(from)) {
    if (!plan->hasScratch(op, i))
      continue;
    Access place = accessOf(source);
    Access temporary = place;
    temporary.ptr = code.gep(arena, code.b.getI8Type(), plan->scratch(op, i));
    Rect all = wholeTile(source);
    SmallVector<Value> lo, hi;
    boxOf(all, lo, hi);
    // Same strides as the source, so the scratch area has the source's size.
    Access dense = all.access;
    dense.ptr = temporary.ptr;
    moveBox(all.access, dense, lo, hi);
    parked[i] = dense;
  }
  for (auto [i, dest] : llvm::enumerate(to)) {
    if (!parked.count(i)) {
      copyTile(from[i], dest);
      continue;
    }
    Rect all = wholeTile(dest);
    SmallVector<Value> lo, hi;
    boxOf(all, lo, hi);
    moveBox(parked[i], all.access, lo, hi);
  }
}

static bool isTile(Value value) { return isa<TileType>(value.getType()); }

/// The product whose accumulator `arg` is, when nothing else in the loop reads it.
static GemmOp soleProduct(BlockArgument arg) {
  if (!arg.hasOneUse())
    return {};
  auto gemm = dyn_cast<GemmOp>(*arg.user_begin());
  if (!gemm || gemm.getAcc() != arg || gemm->getBlock() != arg.getOwner() || gemm.getClear())
    return {};
  return gemm;
}

LogicalResult Emitter::emitFor(scf::ForOp op) {
  SmallVector<Value> from, to, scalars;
  SmallVector<BlockArgument> late; // accumulators that the first trip initialises
  for (auto [init, arg] : llvm::zip(op.getInitArgs(), op.getRegionIterArgs())) {
    if (!isTile(arg)) {
      scalars.push_back(get(init));
      continue;
    }
    if (uniform.lookup(init) && !plan->hasPlace(init) && soleProduct(arg) &&
        plan->samePlace(arg, soleProduct(arg).getResult())) {
      late.push_back(arg);
      uniformStart[arg] = uniform.lookup(init);
      from.push_back(arg); // a copy onto itself
    } else {
      from.push_back(init);
    }
    to.push_back(arg);
  }
  moveTiles(op, from, to);
  Value lower = get(op.getLowerBound()), upper = get(op.getUpperBound());
  auto loop = scf::ForOp::create(code.b, op.getLoc(), lower, upper, get(op.getStep()), scalars);
  loop.setUnsignedCmp(op.getUnsignedCmp());
  {
    OpBuilder::InsertionGuard guard(code.b);
    if (!loop.getBody()->empty())
      loop.getBody()->back().erase();
    code.b.setInsertionPointToEnd(loop.getBody());
    map.map(op.getInductionVar(), loop.getInductionVar());
    unsigned next = 0;
    for (BlockArgument arg : op.getRegionIterArgs())
      if (!isTile(arg))
        map.map(arg, loop.getRegionIterArgs()[next++]);
    for (BlockArgument arg : late)
      startsUniform[arg] = code.eq(loop.getInductionVar(), lower);
    if (failed(emitBlock(*op.getBody())))
      return failure();
    SmallVector<Value> sources, results;
    for (auto [arg, value] :
         llvm::zip(op.getRegionIterArgs(), op.getBody()->getTerminator()->getOperands())) {
      if (isTile(arg))
        sources.push_back(value);
      else
        results.push_back(get(value));
    }
    code.loc = op.getLoc();
    moveTiles(op.getBody()->getTerminator(), sources, to);
    scf::YieldOp::create(code.b, op.getLoc(), results);
  }
  unsigned next = 0;
  for (Value result : op.getResults())
    if (!isTile(result))
      map.map(result, loop.getResult(next++));
  code.loc = op.getLoc();
  for (BlockArgument arg : late) // no trip at all
    code.when(code.invert(code.cmp(
                  op.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, lower, upper)),
              [&] {
                Rect all = wholeTile(arg);
                SmallVector<Value> lo, hi;
                boxOf(all, lo, hi);
                fillBox(all.access, lo, hi, uniformStart[arg]);
              });
  return success();
}

LogicalResult Emitter::emitWhile(scf::WhileOp op) {
  auto split = [&](ValueRange values, SmallVector<Value> &tiles) {
    SmallVector<Value> scalars;
    for (Value v : values) {
      if (isTile(v))
        tiles.push_back(v);
      else
        scalars.push_back(get(v));
    }
    return scalars;
  };
  auto tilesOf = [](ValueRange values) { return llvm::filter_to_vector(values, isTile); };
  auto types = [&](TypeRange range) {
    SmallVector<Type> result;
    for (Type t : range)
      if (!isa<TileType>(t))
        result.push_back(registerType(t));
    return result;
  };
  SmallVector<Value> tiles;
  SmallVector<Value> scalars = split(op.getInits(), tiles);
  SmallVector<Value> before = tilesOf(ValueRange(op.getBeforeArguments()));
  moveTiles(op, tiles, before);
  auto loop = scf::WhileOp::create(code.b, op.getLoc(), types(op.getResultTypes()), scalars);
  OpBuilder::InsertionGuard guard(code.b);
  auto open = [&](Block &from, Region &to) {
    SmallVector<Type> argTypes = types(from.getArgumentTypes());
    SmallVector<Location> locs(argTypes.size(), op.getLoc());
    Block *block = code.b.createBlock(&to, {}, argTypes, locs);
    unsigned next = 0;
    for (BlockArgument arg : from.getArguments())
      if (!isTile(arg))
        map.map(arg, block->getArgument(next++));
    return emitBlock(from);
  };
  if (failed(open(*op.getBeforeBody(), loop.getBefore())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  tiles.clear();
  scalars = split(condition.getArgs(), tiles);
  code.loc = op.getLoc();
  moveTiles(condition, tiles, tilesOf(ValueRange(op.getAfterArguments())));
  scf::ConditionOp::create(code.b, op.getLoc(), get(condition.getCondition()), scalars);
  if (failed(open(*op.getAfterBody(), loop.getAfter())))
    return failure();
  Operation *yield = op.getAfterBody()->getTerminator();
  tiles.clear();
  scalars = split(yield->getOperands(), tiles);
  code.loc = op.getLoc();
  moveTiles(yield, tiles, before);
  scf::YieldOp::create(code.b, op.getLoc(), scalars);
  unsigned next = 0;
  for (Value result : op.getResults())
    if (!isTile(result))
      map.map(result, loop.getResult(next++));
  return success();
}

LogicalResult Emitter::emitIf(scf::IfOp op) {
  SmallVector<Type> types;
  SmallVector<Value> to;
  for (Value result : op.getResults()) {
    if (isTile(result))
      to.push_back(result);
    else
      types.push_back(registerType(result.getType()));
  }
  auto branch = scf::IfOp::create(code.b, op.getLoc(), types, get(op.getCondition()), /*addThenBlock=*/true,
                                  /*addElseBlock=*/!op.getElseRegion().empty());
  {
    OpBuilder::InsertionGuard guard(code.b);
    for (auto [from, into] : llvm::zip(op->getRegions(), branch->getRegions())) {
      if (from.empty())
        continue;
      Block &block = into.front();
      if (!block.empty())
        block.back().erase();
      code.b.setInsertionPointToEnd(&block);
      if (failed(emitBlock(from.front())))
        return failure();
      Operation *yield = from.front().getTerminator();
      SmallVector<Value> sources, scalars;
      for (Value v : yield->getOperands()) {
        if (isTile(v))
          sources.push_back(v);
        else
          scalars.push_back(get(v));
      }
      code.loc = op.getLoc();
      moveTiles(yield, sources, to);
      scf::YieldOp::create(code.b, op.getLoc(), scalars);
    }
  }
  unsigned next = 0;
  for (Value result : op.getResults())
    if (!isTile(result))
      map.map(result, branch.getResult(next++));
  return success();
}

/// `value` at the current place, computed again from what is mapped already. Null when it cannot be.
Value Emitter::materialize(Value value) {
  if (Value v = map.lookupOrNull(value))
    return v;
  Operation *def = value.getDefiningOp();
  if (!def || def->getNumRegions() || !isPure(def) || def->getNumResults() != 1)
    return {};
  if (auto dim = dyn_cast<DimOp>(def))
    return views.count(dim.getView()) ? viewOf(dim.getView()).sizes[dim.getAxis()] : Value();
  if (!isa<arith::ArithDialect>(def->getDialect()))
    return {};
  SmallVector<Value> operands;
  for (Value operand : def->getOperands()) {
    Value v = materialize(operand);
    if (!v)
      return {};
    operands.push_back(v);
  }
  Operation *copy = code.b.clone(*def);
  copy->setOperands(operands);
  return copy->getResult(0);
}
