//===- ControlFlow.cpp - blocks, branches and loops in SSA form --------------===//
#include "KernelGen.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::mlirgen;
using namespace tilec::tile;

/// Statements after one that may leave the trip run only when it has not.
void KernelGen::block(Stmts stmts, const hir::Stmt *loop) {
  while (!stmts.empty()) {
    const hir::Stmt *stmt = stmts.front();
    stmts = stmts.drop_front();
    statement(stmt, loop);
    if (stmt->kind == hir::Stmt::Break || stmt->kind == hir::Stmt::Continue)
      return; // nothing after it runs
    if (stmts.empty() || !findJumps(stmt).any)
      continue;
    At at(*this, stmts.front()->loc);
    return branch(env.lookup({loop, kAlive}), stmts, {}, loop);
  }
}

void KernelGen::statement(const hir::Stmt *stmt, const hir::Stmt *loop) {
  At at(*this, stmt->loc);
  switch (stmt->kind) {
  case hir::Stmt::Alloc:
    return allocate(static_cast<const hir::Alloc *>(stmt)->object);
  case hir::Stmt::Assign:
    return assign(static_cast<const hir::Assign *>(stmt));
  case hir::Stmt::StoreElement:
    return storeElement(static_cast<const hir::StoreElement *>(stmt));
  case hir::Stmt::Copy:
    return copy(static_cast<const hir::Copy *>(stmt));
  case hir::Stmt::Fill:
    return fill(static_cast<const hir::Fill *>(stmt));
  case hir::Stmt::Gemm:
    return gemm(static_cast<const hir::Gemm *>(stmt));
  case hir::Stmt::Reduce:
    return reduce(static_cast<const hir::Reduce *>(stmt));
  case hir::Stmt::For:
    return this->loop(static_cast<const hir::For *>(stmt));
  case hir::Stmt::Parallel:
    return parallel(static_cast<const hir::Parallel *>(stmt));
  case hir::Stmt::If: {
    auto *choice = static_cast<const hir::If *>(stmt);
    hoistBuffers(stmt);
    Value cond = expr(choice->cond);
    return branch(cond, choice->thenBody, choice->elseBody, loop);
  }
  case hir::Stmt::Break:
  case hir::Stmt::Continue:
    return jump(stmt, loop);
  case hir::Stmt::Assume: {
    auto *assume = static_cast<const hir::Assume *>(stmt);
    Value cond = expr(assume->cond);
    AssumeOp::create(b, s.loc, cond, assume->text);
    return;
  }
  case hir::Stmt::Launch:
    return launch(static_cast<const hir::Launch *>(stmt));
  }
}

void KernelGen::jump(const hir::Stmt *stmt, const hir::Stmt *loop) {
  env[{loop, kAlive}] = s.boolean(false);
  if (stmt->kind == hir::Stmt::Break)
    env[{loop, kGo}] = s.boolean(false);
}

//===- What is carried ----------------------------------------------------------===//
Value KernelGen::initialValue(Key key, const hir::Object *object) {
  if (object->kind == hir::Object::Fragment) {
    auto *fragment = static_cast<const hir::TileObj *>(object);
    return undef(fragment->shape, fragment->dtype);
  }
  return s.zero(varType(object));
}

/// Everything that `blocks` assign and that has a value before them or a reader outside of them. What has no
/// value yet starts as something: every path to its readers writes it first.
KernelGen::Carried KernelGen::carriedBy(ArrayRef<Stmts> blocks, const hir::Stmt *loop) {
  Keys assigned;
  UseCounts inside;
  for (Stmts stmts : blocks) {
    collectAssigned(stmts, loop, escapingVars, assigned);
    countUses(stmts, inside);
  }
  Carried carried;
  for (Key key : assigned) {
    Value init = env.lookup(key);
    if (!init) {
      if (!uses.contains(static_cast<const hir::Object *>(key.first)))
        continue; // the flag of a loop
      auto *object = static_cast<const hir::Object *>(key.first);
      bool readOutside = uses.lookup(object) > inside.lookup(object);
      if (!readOutside || (nest && object->kind == hir::Object::Fragment))
        continue;
      init = initialValue(key, object);
      env[key] = init;
    }
    carried.keys.push_back(key);
    carried.inits.push_back(init);
    carried.types.push_back(init.getType());
  }
  return carried;
}

SmallVector<Value> KernelGen::current(const Carried &carried) {
  SmallVector<Value> values;
  for (auto [key, type] : llvm::zip(carried.keys, carried.types))
    values.push_back(s.fit(env.lookup(key), type));
  return values;
}

void KernelGen::bind(const Carried &carried, ValueRange values) {
  for (auto [key, value] : llvm::zip(carried.keys, values))
    env[key] = value;
}

/// A buffer that is used after the loop or branch that allocates it is allocated before: its contents are
/// undefined until it is written in any case.
void KernelGen::hoistBuffers(const hir::Stmt *stmt) {
  UseCounts inside;
  countUses(stmt, inside);
  forEachStmt(stmt, [&](const hir::Stmt *inner) {
    if (inner->kind != hir::Stmt::Alloc)
      return;
    const hir::Object *object = static_cast<const hir::Alloc *>(inner)->object;
    if (object->kind != hir::Object::Shared || hoisted.contains(object) ||
        uses.lookup(object) == inside.lookup(object))
      return;
    allocate(object);
    hoisted.insert(object);
  });
}

//===- Branches -------------------------------------------------------------------===//
void KernelGen::branch(Value cond, Stmts thenStmts, Stmts elseStmts, const hir::Stmt *loop) {
  Carried carried = carriedBy({thenStmts, elseStmts}, loop);
  bool hasElse = !carried.keys.empty() || !elseStmts.empty();
  auto op = scf::IfOp::create(b, s.loc, carried.types, cond, /*addThenBlock=*/true, /*addElseBlock=*/hasElse);
  auto saved = env;
  auto savedMemories = memories;
  auto side = [&](mlir::Block *into, Stmts stmts) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(into);
    block(stmts, loop);
    scf::YieldOp::create(b, s.loc, current(carried));
    env = saved;
    memories = savedMemories;
  };
  side(op.thenBlock(), thenStmts);
  if (hasElse)
    side(op.elseBlock(), elseStmts);
  bind(carried, op.getResults());
}

//===- Loops ----------------------------------------------------------------------===//
void KernelGen::loop(const hir::For *stmt) {
  hoistBuffers(stmt);
  Value start = indexExpr(stmt->start), stop = indexExpr(stmt->stop), step = indexExpr(stmt->step);
  const hir::Stmt *self = stmt;
  Carried carried = carriedBy({Stmts(self)}, nullptr);
  if (findJumps(stmt->body).breaks)
    breakingLoop(stmt, start, stop, step, carried);
  else
    countedLoop(stmt, start, stop, step, carried);
}

void KernelGen::bindLoopVar(const hir::For *stmt, Value iv, bool nonNegative) {
  if (nonNegative)
    s.setNonNegative(iv);
  DType t = stmt->var->dtype;
  env[keyOf(stmt->var)] = t == DType::I64 ? iv : s.convert(iv, DType::I64, t);
}

void KernelGen::setPipeline(const hir::For *stmt, Operation *op) {
  if (!stmt->pipelined)
    return;
  // Nothing asked for: the schedule chooses. A ring has at most 16 slots.
  constexpr int64_t usual = 3, most = 16;
  int64_t stages = stmt->numStages ? std::clamp<int64_t>(*stmt->numStages, 1, most) : usual;
  op->setAttr(TileDialect::kPipelineAttrName, PipelineAttr::get(b.getContext(), stages, !stmt->numStages));
  if (stmt->numStages && stmt->stagesLiteral)
    op->setAttr(TileDialect::kStagesDemandAttrName, b.getUnitAttr());
}

/// scf.for counts upward; a descending loop counts its trips.
void KernelGen::countedLoop(const hir::For *stmt, Value start, Value stop, Value step,
                            const Carried &carried) {
  Value lower = start, upper = stop, by = step;
  if (stmt->stepNegative) {
    Value down = s.sub(s.index(0), step);
    Value distance = s.sub(start, stop);
    lower = s.index(0);
    upper = s.binary(hir::BinaryOp::CeilDiv, DType::I64, distance, down);
    by = s.index(1);
  }
  auto op = scf::ForOp::create(b, s.loc, lower, upper, by, carried.inits);
  setPipeline(stmt, op);
  mlir::Block *body = op.getBody();
  if (!body->empty())
    body->back().erase(); // the terminator that a loop without values comes with
  auto saved = env;
  auto savedMemories = memories;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(body);
    bind(carried, op.getRegionIterArgs());
    Value iv = op.getInductionVar();
    if (stmt->stepNegative)
      iv = s.add(start, s.mul(iv, step));
    bindLoopVar(stmt, iv, !stmt->stepNegative && s.isNonNegative(start));
    if (findJumps(stmt->body).any)
      env[{stmt, kAlive}] = s.boolean(true);
    block(stmt->body, stmt);
    scf::YieldOp::create(b, s.loc, current(carried));
  }
  env = std::move(saved);
  memories = std::move(savedMemories);
  bind(carried, op.getResults());
}

/// With `break`: scf.while over (variable, go flag, what is carried).
void KernelGen::breakingLoop(const hir::For *stmt, Value start, Value stop, Value step,
                             const Carried &carried) {
  Type index = b.getIndexType(), i1 = b.getI1Type();
  SmallVector<Value> inits{start, s.boolean(true)};
  llvm::append_range(inits, carried.inits);
  SmallVector<Type> beforeTypes{index, i1}, resultTypes{index};
  llvm::append_range(beforeTypes, carried.types);
  llvm::append_range(resultTypes, carried.types);
  auto op = scf::WhileOp::create(b, s.loc, resultTypes, inits);
  setPipeline(stmt, op);
  OpBuilder::InsertionGuard guard(b);
  mlir::Block *before =
      b.createBlock(&op.getBefore(), {}, beforeTypes, SmallVector<Location>(beforeTypes.size(), s.loc));
  auto args = before->getArguments();
  auto predicate = stmt->stepNegative ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt;
  Value inside = arith::CmpIOp::create(b, s.loc, predicate, args[0], stop);
  inside = arith::AndIOp::create(b, s.loc, inside, args[1]);
  SmallVector<Value> passed{args[0]};
  llvm::append_range(passed, args.drop_front(2));
  scf::ConditionOp::create(b, s.loc, inside, passed);

  mlir::Block *after =
      b.createBlock(&op.getAfter(), {}, resultTypes, SmallVector<Location>(resultTypes.size(), s.loc));
  auto saved = env;
  auto savedMemories = memories;
  bind(carried, after->getArguments().drop_front());
  bindLoopVar(stmt, after->getArgument(0), !stmt->stepNegative && s.isNonNegative(start));
  Value yes = s.boolean(true); // not env[..] = env[..] = yes: the first look-up may move the other's entry
  env[{stmt, kGo}] = yes;
  env[{stmt, kAlive}] = yes;
  block(stmt->body, stmt);
  Value next = s.add(after->getArgument(0), step);
  SmallVector<Value> yielded{next, env.lookup({stmt, kGo})};
  llvm::append_range(yielded, current(carried));
  scf::YieldOp::create(b, s.loc, yielded);
  env = std::move(saved);
  memories = std::move(savedMemories);
  bind(carried, op.getResults().drop_front());
}
