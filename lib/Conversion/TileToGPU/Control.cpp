//===- Control.cpp - loops, branches, dispatch -------------------------------===//
#include "Emitter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

LogicalResult Emitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(op)))
      return failure();
  return success();
}

LogicalResult Emitter::emitOp(Operation &op) {
  code.loc = op.getLoc();
  if (failed(budget.check(op)))
    return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](scf::ForOp o) { return emitFor(o); })
      .Case([&](scf::WhileOp o) { return emitWhile(o); })
      .Case([&](scf::IfOp o) { return emitIf(o); })
      .Case([&](MakeViewOp o) { return emitMakeView(o); })
      .Case([&](RecastViewOp o) { return emitRecastView(o); })
      .Case([&](SubbufferOp o) { return emitSubbuffer(o); })
      .Case([&](RecastBufferOp o) {
        set(o.getResult(), get(o.getSource()));
        return success();
      })
      .Case([&](AllocOp o) -> LogicalResult {
        if (!o.getOffset())
          return o.emitError() << "[E0505] shared memory without a place: run tile-allocate-shared first";
        set(o.getBuffer(), code.i32(*o.getOffset()));
        return success();
      })
      .Case([&](DimOp o) {
        set(o.getResult(), sizeOf(o.getView(), o.getAxis()));
        return success();
      })
      .Case([&](StrideOp o) {
        set(o.getResult(), strideOf(o.getView(), o.getAxis()));
        return success();
      })
      .Case([&](NumBlocksOp o) {
        set(o.getResult(), code.toIndex(gridSize()));
        return success();
      })
      .Case([&](RasterOp o) { return emitRaster(o); })
      .Case([&](CursorOp o) {
        env[o.getCursor()] = {code.i32(0), code.i32(0)};
        return success();
      })
      .Case([&](AdvanceOp o) { return emitAdvance(o); })
      .Case([&](SlotAtOp o) {
        bindSlot(o.getRing(), flatten(o.getCursor())[0], o.getBuffers());
        return success();
      })
      .Case([&](AssumeOp) { return success(); })
      .Case([&](DelayOp o) { return emitDelay(o); })
      .Case([&](LoadOp o) { return emitLoad(o); })
      .Case([&](StoreOp o) { return emitStore(o); })
      .Case([&](CopyOp o) { return emitCopy(o); })
      .Case([&](SplitCopyOp o) { return emitSplitCopy(o); })
      .Case([&](AtomicOp o) { return emitAtomic(o); })
      .Case([&](GenericOp o) { return emitGeneric(o); })
      .Case([&](GemmOp o) { return emitGemm(o); })
      .Case([&](ReduceOp o) { return emitReduce(o); })
      .Case([&](ScanOp o) { return emitScan(o); })
      .Case([&](ConvertLayoutOp o) { return emitConvertLayout(o); })
      .Case([&](InsertOp o) { return emitInsert(o); })
      .Case([&](SliceOp o) { return emitSlice(o); })
      .Case([&](SplatOp o) {
        Value value = flatten(o.getValue()).front();
        set(o.getResult(), code.broadcast(value, o.getResult().getType().getLayout().getNumRegs()));
        return success();
      })
      .Case([&](UndefOp o) {
        // One fixed value, not poison: a masked write merges with it.
        set(o.getResult(), code.zero(flatTypes(o.getResult().getType())[0]));
        return success();
      })
      .Case([&](ReshapeOp o) -> LogicalResult {
        Type element = registerType(o.getResult().getType().getElementType());
        Value value = code.bitcast(get(o.getSource()), element);
        if (value.getType() != flatTypes(o.getResult().getType())[0])
          return unsupported(op, "a reshape between these layouts");
        set(o.getResult(), value);
        return success();
      })
      .Case<ElemLoadOp, ElemStoreOp, ElemAtomicOp>([&](Operation *o) {
        Body body;
        if (!threads.oneLane)
          body.owner = isa<ElemLoadOp>(o) ? Value() : isThreadZero();
        if (failed(emitBodyOp(*o, body)))
          return failure();
        for (Value result : o->getResults())
          set(result, body.map[result]);
        return success();
      })
      .Case([&](DeviceAssertOp o) {
        Value bad = code.exor(flatten(o.getCond()).front(), code.boolean(true));
        code.when(bad, [&] { trap(); });
        return success();
      })
      .Case([&](PrintOp) { return unsupported(op, "printing from the device"); })
      .Case([&](ThreadsOp) { return unsupported(op, "a block of thread-level code"); })
      .Default([&](Operation *o) -> LogicalResult {
        if (isa<TileDialect>(o->getDialect()))
          return emitTargetOp(op);
        Body body;
        if (failed(emitBodyOp(op, body)))
          return failure();
        for (Value result : op.getResults())
          set(result, body.map[result]);
        return success();
      });
}

LogicalResult Emitter::emitFor(scf::ForOp op) {
  SmallVector<Value> init = flattenAll(op.getInitArgs());
  Value lb = flatten(op.getLowerBound()).front(), ub = flatten(op.getUpperBound()).front();
  Value step = flatten(op.getStep()).front();
  auto loop = scf::ForOp::create(code.b, op.getLoc(), lb, ub, step, init);
  set(op.getInductionVar(), loop.getInductionVar());
  bindAll(op.getRegionIterArgs(), loop.getRegionIterArgs());
  {
    OpBuilder::InsertionGuard guard(code.b);
    Block *body = loop.getBody();
    if (!body->empty())
      body->back().erase();
    code.b.setInsertionPointToEnd(body);
    if (failed(emitBlock(*op.getBody())))
      return failure();
    code.loc = op.getLoc();
    scf::YieldOp::create(code.b, op.getLoc(), flattenAll(op.getYieldedValues()));
  }
  bindAll(op.getResults(), loop.getResults());
  return success();
}

LogicalResult Emitter::emitWhile(scf::WhileOp op) {
  SmallVector<Value> init = flattenAll(op.getInits());
  SmallVector<Type> before, after;
  for (Value v : op.getBeforeArguments())
    llvm::append_range(before, flatTypes(v.getType()));
  for (Type t : op.getResultTypes())
    llvm::append_range(after, flatTypes(t));
  auto loop = scf::WhileOp::create(code.b, op.getLoc(), after, init);
  OpBuilder::InsertionGuard guard(code.b);
  Block *first =
      code.b.createBlock(&loop.getBefore(), {}, before, SmallVector<Location>(before.size(), op.getLoc()));
  bindAll(op.getBeforeArguments(), first->getArguments());
  if (failed(emitBlock(*op.getBeforeBody())))
    return failure();
  auto condition = op.getConditionOp();
  scf::ConditionOp::create(code.b, op.getLoc(), flatten(condition.getCondition()).front(),
                           flattenAll(condition.getArgs()));
  Block *second =
      code.b.createBlock(&loop.getAfter(), {}, after, SmallVector<Location>(after.size(), op.getLoc()));
  bindAll(op.getAfterArguments(), second->getArguments());
  if (failed(emitBlock(*op.getAfterBody())))
    return failure();
  scf::YieldOp::create(code.b, op.getLoc(), flattenAll(op.getYieldOp().getOperands()));
  bindAll(op.getResults(), loop.getResults());
  return success();
}

LogicalResult Emitter::emitIf(scf::IfOp op) {
  SmallVector<Type> types;
  for (Type t : op.getResultTypes())
    llvm::append_range(types, flatTypes(t));
  bool hasElse = op.elseBlock() != nullptr;
  auto branch =
      scf::IfOp::create(code.b, op.getLoc(), types, flatten(op.getCondition()).front(), true, hasElse);
  auto emitSide = [&](Block *from, Block *to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(code.b);
    if (!to->empty())
      to->back().erase();
    code.b.setInsertionPointToEnd(to);
    if (failed(emitBlock(*from)))
      return failure();
    scf::YieldOp::create(code.b, op.getLoc(), flattenAll(from->getTerminator()->getOperands()));
    return success();
  };
  if (failed(emitSide(op.thenBlock(), branch.thenBlock())) ||
      (hasElse && failed(emitSide(op.elseBlock(), branch.elseBlock()))))
    return failure();
  bindAll(op.getResults(), branch.getResults());
  return success();
}

/// Any kind is a bijection of [0, product of the grid). The runtime launches no grid of more than 2^31 - 1
/// blocks, so 32 bits hold every number here; divisions of 64 bits are calls on GPUs.
LogicalResult Emitter::emitRaster(RasterOp op) {
  SmallVector<Value> grid;
  for (Value extent : op.getGrid())
    grid.push_back(code.toI32(flatten(extent).front()));
  Value linear = code.toI32(flatten(op.getLinear()).front());
  auto rem = [&](Value x, Value y) { return code.fold<arith::RemUIOp>(x, y); };
  auto div = [&](Value x, Value y) { return code.fold<arith::DivUIOp>(x, y); };
  auto setId = [&](unsigned axis, Value id) { set(op.getIds()[axis], code.toIndex(id)); };
  RasterKind kind = op.getRaster().getKind();
  bool columns = kind == RasterKind::column && op.getRaster().getGroup() > 1;
  if ((kind == RasterKind::grouped || columns) && grid.size() >= 2) {
    // `group` rows of tiles are taken together, down each column of them; or the other way round.
    unsigned x = columns, y = !columns;
    Value gx = grid[x], gy = grid[y], plane = code.mul(gx, gy);
    if (grid.size() == 3) {
      setId(2, div(linear, plane));
      linear = rem(linear, plane);
    }
    Value whole = code.i32(op.getRaster().getGroup());
    Value group = code.fold<arith::MinUIOp>(whole, gy), perGroup = code.mul(gx, group);
    // Divisions by what is not known take long on GPUs, and first loads and last stores wait for them: there
    // is none in the first group, and none by the rows of a whole group. Where many threads load, nobody has
    // registers to spare for numbers of which ptxas no longer knows that they are the same in all lanes.
    auto shortcut = [&](arith::CmpIPredicate p, Value a, Value b) {
      return threads.loadedByOneLane ? code.cmp(p, a, b) : code.boolean(false);
    };
    Type i32 = code.b.getI32Type();
    auto divide = [&](Value n, Value by) { return SmallVector<Value>{div(n, by), rem(n, by)}; };
    SmallVector<Value> found = code.choose(
        shortcut(arith::CmpIPredicate::ult, linear, perGroup), {i32, i32},
        [&] { return SmallVector<Value>{code.i32(0), linear}; }, [&] { return divide(linear, perGroup); });
    Value first = code.mul(found[0], group), in = found[1];
    Value rows = code.fold<arith::MinUIOp>(code.sub(gy, first), group);
    found = code.choose(
        shortcut(arith::CmpIPredicate::eq, rows, whole), {i32, i32}, [&] { return divide(in, whole); },
        [&] { return divide(in, rows); });
    setId(x, found[0]);
    setId(y, code.add(first, found[1]));
    return success();
  }
  if (kind == RasterKind::lpt) {
    Value all = code.i32(1);
    for (Value extent : grid)
      all = code.mul(all, extent);
    linear =
        code.sub(code.sub(all, code.i32(1)), linear); // the last rows of a causal problem are the longest
  }
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < grid.size(); ++i)
    order.push_back(i);
  if (kind == RasterKind::column)
    std::reverse(order.begin(), order.end());
  for (auto [n, axis] : llvm::enumerate(order)) {
    bool last = n + 1 == order.size();
    setId(axis, last ? linear : rem(linear, grid[axis]));
    if (!last)
      linear = div(linear, grid[axis]);
  }
  return success();
}
