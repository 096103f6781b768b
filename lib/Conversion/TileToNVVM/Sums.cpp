//===- Sums.cpp - registers of the sums of products under way ----------------===//
#include "NVVMEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

//===----------------------------------------------------------------------===//
// Chains of futures
//===----------------------------------------------------------------------===//

static bool isFuture(Value v) { return isa<FutureType>(v.getType()); }

void SumRegisters::join(ValueRange a, ValueRange b) {
  for (auto [x, y] : llvm::zip_equal(a, b))
    if (isFuture(x))
      chains.unionSets(x, y);
}

void SumRegisters::follow(Operation *op) {
  for (Value result : op->getResults())
    if (isFuture(result))
      chains.insert(result);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](AsyncGemmOp o) {
        if (isFuture(o.getAcc()))
          chains.unionSets(o.getAcc(), o.getResult());
      })
      .Case([&](scf::ForOp o) {
        join(o.getInitArgs(), o.getRegionIterArgs());
        join(o.getYieldedValues(), o.getRegionIterArgs());
        join(o.getResults(), o.getRegionIterArgs());
      })
      .Case([&](scf::WhileOp o) {
        join(o.getInits(), o.getBeforeArguments());
        join(o.getYieldedValues(), o.getBeforeArguments());
        join(o.getConditionOp().getArgs(), o.getAfterArguments());
        join(o.getConditionOp().getArgs(), o.getResults());
      })
      .Case([&](scf::IfOp o) {
        join(o.getResults(), o.thenYield().getOperands());
        if (o.elseBlock())
          join(o.getResults(), o.elseYield().getOperands());
      });
}

//===----------------------------------------------------------------------===//
// One at a time
//===----------------------------------------------------------------------===//

/// All of `ops` in different branches.
static bool excludeEachOther(ArrayRef<Operation *> ops) {
  for (auto [i, op] : llvm::enumerate(ops))
    for (Operation *other : ops.drop_front(i + 1))
      if (!insideMutuallyExclusiveRegions(op, other))
        return false;
  return true;
}

/// Of values that exist side by side each needs a chain of its own.
bool SumRegisters::apart(ValueRange values) const {
  llvm::SmallDenseSet<Value> seen;
  return llvm::all_of(values,
                      [&](Value v) { return !isFuture(v) || seen.insert(chains.getLeaderValue(v)).second; });
}

static bool starts(Operation *op) {
  auto product = dyn_cast<AsyncGemmOp>(op);
  return isa<InFlightOp>(op) || (product && !isFuture(product.getAcc()));
}

LogicalResult SumRegisters::verify(LaunchOp launch) const {
  llvm::MapVector<Value, SmallVector<Operation *>> begun;
  auto isLegal = [&](Operation *op) {
    auto loop = dyn_cast<LoopLikeOpInterface>(op);
    bool legal = apart(op->getResults()) && (!loop || apart(loop.getRegionIterArgs()));
    for (Value result : op->getResults())
      legal &= !isFuture(result) || excludeEachOther(llvm::to_vector(result.getUsers()));
    if (starts(op)) {
      auto &others = begun[chains.getLeaderValue(op->getResult(0))];
      others.push_back(op);
      legal &= excludeEachOther(others);
    }
    return legal;
  };
  WalkResult walk = launch.walk([&](Operation *op) {
    if (isLegal(op))
      return WalkResult::advance();
    op->emitError() << "[E0505] two sums under way would need the same registers";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// One for each product, loop or branch that begins with it, each time around a loop: a pass may have hoisted
/// it, and one tile may be the start of several chains.
static void startWhereUsed(InFlightOp op) {
  for (OpOperand &use : llvm::make_early_inc_range(op.getFuture().getUses())) {
    OpBuilder b(use.getOwner());
    use.set(InFlightOp::create(b, op.getLoc(), op.getFuture().getType(), op.getTile()));
  }
  op.erase();
}

FailureOr<SumRegisters> SumRegisters::assign(LaunchOp launch) {
  SumRegisters sums;
  SmallVector<InFlightOp> starts;
  launch.walk([&](InFlightOp op) { starts.push_back(op); });
  llvm::for_each(starts, startWhereUsed);
  launch.walk([&](Operation *op) { sums.follow(op); });
  if (failed(sums.verify(launch)))
    return failure();
  launch.walk([&](Operation *op) { sums.number(op); });
  return sums;
}

void SumRegisters::number(Operation *op) {
  for (Value result : op->getResults())
    if (isFuture(result)) {
      Value leader = chains.getLeaderValue(result);
      numbers.try_emplace(leader, numbers.size());
      if (!isa<InFlightOp, AsyncGemmOp>(op))
        carried.insert(leader);
    }
}

std::string SumRegisters::nameOf(Value future) const {
  return "sums" + std::to_string(numbers.lookup(chains.getLeaderValue(future)));
}

//===----------------------------------------------------------------------===//
// Tied values
//===----------------------------------------------------------------------===//

/// Sums as the registers of the instruction: f16 in pairs.
static SmallVector<Value> toWords(Code &c, ArrayRef<Value> values) {
  if (values.empty() || !values[0].getType().isF16())
    return SmallVector<Value>(values);
  SmallVector<Value> words;
  for (size_t i = 0; i + 1 < values.size(); i += 2) {
    Value pair = c.fromElements({values[i], values[i + 1]});
    words.push_back(LLVM::BitcastOp::create(c.b, c.loc, c.b.getI32Type(), pair));
  }
  return words;
}

static SmallVector<Value> fromWords(Code &c, ArrayRef<Value> words, Type element) {
  if (!element.isF16())
    return SmallVector<Value>(words);
  SmallVector<Value> values;
  for (Value w : words)
    llvm::append_range(values,
                       c.elements(LLVM::BitcastOp::create(c.b, c.loc, c.vec(element, 2), w).getResult()));
  return values;
}

SmallVector<Value> tilec::simt::tied(Code &c, StringRef text, ArrayRef<Value> words, StringRef constraints,
                                     ArrayRef<Value> more) {
  if (words.empty()) {
    c.assembly(Type(), text, constraints, more);
    return {};
  }
  std::string all;
  SmallVector<Type> types;
  for (Value w : words) {
    all += (all.empty() ? "" : ",") + std::string(w.getType().isF32() ? "=&f" : "=&r");
    types.push_back(w.getType());
  }
  for (size_t i = 0; i < words.size(); ++i)
    all += "," + std::to_string(i);
  if (!constraints.empty())
    all += "," + constraints.str();
  SmallVector<Value> operands(words);
  operands.append(more.begin(), more.end());
  return c.assemblies(types, text, all, operands);
}

//===----------------------------------------------------------------------===//
// Registers with names
//===----------------------------------------------------------------------===//

std::string Sums::word(int64_t i) const {
  return name.empty() ? "$" + std::to_string(i) : name + "_" + std::to_string(i);
}

static bool areZeros(ArrayRef<Value> values) {
  return llvm::all_of(values,
                      [](Value v) { return matchPattern(v, m_AnyZeroFloat()) || matchPattern(v, m_Zero()); });
}

static StringRef constraintOf(Type type) { return type.isF32() ? "f" : "r"; }

Sums NVVMEmitter::beginSums(std::string name, ArrayRef<Value> values, bool isNamed) {
  bool areZero = areZeros(values);
  Sums sums;
  SmallVector<Value> words = toWords(code, values);
  if (!isNamed && !areZero) {
    sums.words = words;
    sums.holds = code.i32(1);
    return sums;
  }
  sums.name = std::move(name);
  // Zeros need no registers set to them: the first instruction overwrites what is there.
  sums.holds = code.i32(!areZero);
  if (declaredSums.insert(sums.name).second) {
    OpBuilder::InsertionGuard guard(code.b);
    code.b.setInsertionPoint(entryEnd);
    code.assembly(Type(), ".reg .b32 " + sums.name + "_<" + std::to_string(words.size()) + ">;", "", {});
  }
  if (areZero)
    return sums;
  std::string text, constraints;
  for (auto [i, word] : llvm::enumerate(words)) {
    text += "mov.b32 " + sums.word(i) + ", $" + std::to_string(i) + ";\n\t";
    constraints += (i ? "," : "") + constraintOf(word.getType()).str();
  }
  code.assembly(Type(), text, constraints, words);
  return sums;
}

SmallVector<Value> NVVMEmitter::endSums(Sums sums, TileType tile, int64_t pending, ArrayRef<Value> read) {
  Type element = registerType(tile.getElementType());
  SmallVector<StringRef> constraints(read.size(), "r");
  sums.words = tied(code, "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";", sums.words,
                    llvm::join(constraints, ","), read);
  if (sums.name.empty())
    return fromWords(code, sums.words, element);
  int64_t count = wordsOfSums(element, tile.getLayout().getNumRegs());
  std::string zeros, text, results;
  Type word = element.isF32() ? element : code.b.getI32Type();
  for (int64_t i = 0; i < count; ++i) {
    zeros += "mov.b32 " + sums.word(i) + ", 0;\n\t";
    text += "mov.b32 $" + std::to_string(i) + ", " + sums.word(i) + ";\n\t";
    results += (i ? ",=" : "=") + constraintOf(word).str();
  }
  // After the wait: ptxas lets products overlap only if nothing else may write their registers meanwhile.
  if (!matchPattern(sums.holds, m_One()))
    code.when(code.eq(sums.holds, 0), [&] { code.assembly(Type(), zeros, "", {}); }); // a loop without trips
  return fromWords(code, code.assemblies(SmallVector<Type>(count, word), text, results, {}), element);
}

LogicalResult NVVMEmitter::prepare() {
  FailureOr<SumRegisters> assigned = SumRegisters::assign(launch);
  if (succeeded(assigned))
    sumRegisters = std::move(*assigned);
  return assigned;
}

Sums NVVMEmitter::beginSums(Value future, ArrayRef<Value> values) {
  return beginSums(sumRegisters.nameOf(future), values, sumRegisters.isCarried(future));
}

Sums NVVMEmitter::sumsOf(Value future) {
  auto it = tiedSums.find(future);
  return it != tiedSums.end() ? it->second : Sums{sumRegisters.nameOf(future), {}, get(future)};
}

void NVVMEmitter::setSums(Value future, const Sums &sums) {
  if (sums.name.empty())
    tiedSums[future] = sums;
  else
    set(future, sums.holds);
}
