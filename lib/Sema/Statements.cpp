//===- Statements.cpp - blocks, branches, jumps, conditions ---------------------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

void Elaborator::elabBlock(ast::Block block) {
  for (size_t i = 0; i < block.size(); ++i) {
    if (jump != Jump::None || !flow.reachable || stopped()) {
      if (!stopped())
        checkNames(block.drop_front(i));
      return;
    }
    lastInBlock = i + 1 == block.size();
    if (!charge(block[i]->getRange()) || !enter(block[i]->getRange()))
      return;
    elabStmt(block[i]);
    leave();
  }
}

void Elaborator::elabStmt(const ast::Stmt *s) {
  using K = ast::NodeKind;
  switch (s->getKind()) {
  case K::Assign:
    return elabAssign(llvm::cast<ast::AssignStmt>(s));
  case K::AugAssign:
    return elabAugAssign(llvm::cast<ast::AugAssignStmt>(s));
  case K::AnnAssign:
    return elabAnnAssign(llvm::cast<ast::AnnAssignStmt>(s));
  case K::ExprStmt:
    return elabExprStmt(llvm::cast<ast::ExprStmt>(s));
  case K::If:
    return elabIf(llvm::cast<ast::IfStmt>(s));
  case K::For:
    return elabFor(llvm::cast<ast::ForStmt>(s));
  case K::With:
    return elabWith(llvm::cast<ast::WithStmt>(s));
  case K::Return:
    return elabReturn(llvm::cast<ast::ReturnStmt>(s));
  case K::Break:
  case K::Continue:
    return elabJump(s, s->getKind() == K::Break);
  case K::Assert: {
    auto *a = llvm::cast<ast::AssertStmt>(s);
    return elabAssert(a->condition, a->message, a->condition->getRange(), false);
  }
  case K::Pass:
    return;
  case K::While: {
    auto *w = llvm::cast<ast::WhileStmt>(s);
    report(diag::E0530, w->head, "`while`", "write `for .. in range(limit)` with `break`");
    checkNames(w->condition);
    checkNames(w->body);
    return;
  }
  case K::Import:
  case K::ImportFrom:
    report(diag::E0120, s->getRange(), "`import`", "inside a function");
    return;
  default:
    report(diag::E0514, s->getRange(), "functions");
  }
}

void Elaborator::elabExprStmt(const ast::ExprStmt *s) {
  if (llvm::isa<ast::StringLiteral>(s->value))
    return; // a comment
  auto *call = llvm::dyn_cast<ast::CallExpr>(s->value);
  Value v = eval(s->value);
  if (v.isPoison() || (call && v.kind == Value::None))
    return;
  if (call && !builtinCallee(call)) {
    if (auto *name = llvm::dyn_cast<ast::NameExpr>(call->callee))
      if (auto it = module->names.find(name->name);
          it != module->names.end() && it->second.value.kind == Value::Function)
        return; // a macro whose value is not wanted
  }
  report(diag::E0119, call ? callName(call) : s->value->getRange(), text(s->value));
}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

void Elaborator::elabIf(const ast::IfStmt *s) {
  Value v = eval(s->condition);
  if (v.isConst()) {
    bool taken = truth(v);
    checkNames(taken ? s->elseBody : s->thenBody);
    return elabBlock(taken ? s->thenBody : s->elseBody);
  }
  const hir::Expr *condition = toCondition(v, s->condition);
  if (!condition) // still look for errors in both
    condition = make<hir::BoolConst>(true, loc(s->condition->getRange()));
  auto *branch = make<hir::If>(condition, loc(s->condition->getRange()));
  hir::Block *outer = out;
  ++runtimeDepth;
  ++conditional;
  flow.push();
  out = &branch->thenBody;
  elabBlock(s->thenBody);
  FlowState::Delta taken = flow.pop();
  flow.push();
  out = &branch->elseBody;
  elabBlock(s->elseBody);
  FlowState::Delta other = flow.pop();
  --runtimeDepth;
  --conditional;
  out = outer;
  flow.apply(flow.combine(taken, other, s->head, false));
  if (!taken.reachable && !other.reachable)
    flow.reachable = false;
  emit(branch);
}

//===----------------------------------------------------------------------===//
// break, continue, return
//===----------------------------------------------------------------------===//

void Elaborator::elabJump(const ast::Stmt *s, bool isBreak) {
  llvm::StringRef word = isBreak ? "break" : "continue";
  if (loops.size() <= (macro ? macro->loops : 0)) {
    report(diag::E0125, s->getRange(), word, "it would leave the launch body");
    return;
  }
  Loop &loop = *loops.back();
  if (loop.kind == Loop::Parallel && isBreak) {
    report(diag::E0125, s->getRange(), word, "the iterations of a `Parallel` loop have no order");
    return;
  }
  if (loop.kind == Loop::Unrolled) {
    if (runtimeDepth == loop.runtimeDepth) {
      jump = isBreak ? Jump::Break : Jump::Continue;
      return;
    }
    report(diag::E0530, s->getRange(), "a run-time `" + word.str() + "` in an unrolled loop",
           "loop over `range(n)`");
    return;
  }
  (isBreak ? loop.breaks : loop.continues).push_back(flow.since(loop.flowDepth));
  flow.reachable = false;
  if (isBreak)
    emit(make<hir::Break>(loc(s->getRange())));
  else
    emit(make<hir::Continue>(loc(s->getRange())));
}

void Elaborator::elabReturn(const ast::ReturnStmt *s) {
  if (!macro) {
    report(diag::E0126, s->getRange(), "a kernel returns nothing; write the result to a tensor");
    return;
  }
  if (runtimeDepth != macro->runtimeDepth) {
    report(diag::E0126, s->getRange(),
           "inside run-time loops and branches it cannot stand; assign to a variable and "
           "return that at the end");
    return;
  }
  if (s->value)
    macro->result = capture(eval(s->value), "result", s->value->getRange());
  jump = Jump::Return;
}

//===----------------------------------------------------------------------===//
// Conditions that must hold
//===----------------------------------------------------------------------===//

void Elaborator::elabAssert(const ast::Expr *cond, const ast::Expr *message, SourceRange where,
                            bool mustBeStatic) {
  Value v = eval(cond);
  std::string why;
  if (message) {
    Value m = eval(message);
    if (m.kind == Value::String)
      why = ": " + *m.text;
    else if (!m.isPoison())
      report(diag::E0218, message->getRange(), "message", "a string", describe(m));
  }
  if (v.isPoison())
    return;
  if (v.isConst()) {
    if (!truth(v))
      report(diag::E0307, cond->getRange(), text(cond), why);
    return;
  }
  if (mustBeStatic)
    report(diag::E0308, cond->getRange(), text(cond))
        .note({}, "`assume` states a condition on run-time values");
  else if (level == Level::Host)
    elabAssume(cond);
  else
    report(diag::E0532, where, "assert",
           "write a flag to an output tensor, or assert a compile-time condition");
}

/// `assume(A % 16 == 0)`: the byte address of a tensor or pointer.
bool Elaborator::assumeAlignment(const ast::Expr *cond) {
  auto *compare = llvm::dyn_cast<ast::CompareExpr>(cond);
  if (!compare || compare->ops.size() != 1 || compare->ops[0].op != ast::CompareOp::Eq)
    return false;
  auto *mod = llvm::dyn_cast<ast::BinaryExpr>(compare->operands[0]);
  auto *name = mod && mod->op == ast::BinaryOp::Mod ? llvm::dyn_cast<ast::NameExpr>(mod->lhs) : nullptr;
  Slot *found = name ? findSlot(name->name, true) : nullptr;
  if (!found || flow.get(found->index).value.kind != Value::Object)
    return false;
  const hir::Object *o = flow.get(found->index).value.object;
  Value by = eval(mod->rhs), zero = eval(compare->operands[1]);
  auto n = by.asInt64(), z = zero.asInt64();
  bool power = n && *n > 0 && *n <= 4096 && (*n & (*n - 1)) == 0;
  if (!power || !z || *z != 0 || level != Level::Host) {
    report(diag::E0533, cond->getRange(), "`NAME % n == 0` before the launch, n a power of two up to 4096");
    return true;
  }
  if (hir::TensorObj *t = mutableTensors.lookup(o))
    t->assumedAlign = std::max(t->assumedAlign, *n);
  else if (hir::ParamObj *p = mutableParams.lookup(o))
    p->assumedAlign = std::max(p->assumedAlign, *n);
  else
    report(diag::E0533, cond->getRange(), "the name of a parameter");
  return true;
}

void Elaborator::elabAssume(const ast::Expr *cond) {
  auto *conjunction = llvm::dyn_cast<ast::BoolOpExpr>(cond);
  if (conjunction && conjunction->isAnd) {
    for (const ast::Expr *operand : conjunction->operands)
      elabAssume(operand);
    return;
  }
  if (level == Level::Module || level == Level::Dims) {
    report(diag::E0120, cond->getRange(), "`assume`", "outside a kernel");
    return;
  }
  if (assumeAlignment(cond))
    return;
  Value v = eval(cond);
  if (v.isPoison())
    return;
  if (v.isConst()) {
    if (!truth(v))
      report(diag::E0307, cond->getRange(), text(cond), "");
    return;
  }
  if (++budget.assumptions > Budget::maxAssumptions) {
    budget.exhausted = true;
    report(diag::E0306, cond->getRange(), "assumptions of a kernel", Budget::maxAssumptions);
    return;
  }
  if (const hir::Expr *c = toCondition(v, cond)) {
    std::string spelled;
    llvm::raw_string_ostream os(spelled);
    ast::unparse(cond, os);
    emit(make<hir::Assume>(c, spelled, loc(cond->getRange())));
  }
}
