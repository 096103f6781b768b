//===- VerifyStageScalars.cpp - evaluates the scalars of a launch ----------===//
#include "VerifyStageTrace.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::tile {
std::optional<int64_t> Tracer::get(Value value) const {
  auto it = env.find(value);
  return it == env.end() ? std::nullopt : std::optional<int64_t>(it->second);
}

void Tracer::set(Value value, std::optional<int64_t> known) {
  if (known)
    env[value] = *known;
  else
    env.erase(value);
}

SmallVector<std::optional<int64_t>> Tracer::values(ValueRange range) const {
  return llvm::map_to_vector(range, [&](Value value) { return get(value); });
}

void Tracer::bind(ValueRange targets, ArrayRef<std::optional<int64_t>> known) {
  for (auto [target, value] : llvm::zip_equal(targets, known))
    set(target, value);
}

/// What the launch writes to; looked up at each load of an element.
void Tracer::findWritten() {
  launch.walk([&](Operation *op) {
    TypeSwitch<Operation *>(op).Case<StoreOp, CopyOp, AtomicOp, ElemStoreOp, ElemAtomicOp, AsyncCopyOp>(
        [&](auto writer) { written.insert(writer.getDest()); });
  });
}

/// Integer parameters are taken to be extents; the grid follows from the assumption that outlining left
/// behind.
void Tracer::seedArguments() {
  auto kernel = launch->getParentOfType<KernelOp>();
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (argument.getType().isIntOrIndexOrFloat())
      env[argument] = assume(argument.getType());
}

/// What stands for a number that cannot be computed here but is the same in every role. Loops then run as
/// often and branches go the same way wherever it decides, and that is all a replay asks. Floats only have to
/// be there.
int64_t Tracer::assume(Type type) {
  if (!type.isInteger(1))
    return sample.extent;
  unknownSeen = true;
  return sample.unknownBranch;
}

/// Do all roles read the same number, whenever they read it? Page tables and group offsets: as long as nobody
/// writes them here.
bool Tracer::isAgreed(ElemLoadOp load) const {
  return !role || (isa<ViewType>(load.getSource().getType()) && !written.contains(load.getSource()));
}

/// Common operations without going through attributes: a replay executes hundreds of thousands of them. Only
/// where no type of 32 bits or more can overflow.
static std::optional<int64_t> evaluateFast(Operation *op, int64_t lhs, int64_t rhs) {
  constexpr int64_t small = int64_t(1) << 30;
  Type type = op->getResult(0).getType();
  if (lhs < 0 || rhs < 0 || lhs >= small || rhs >= small ||
      (!type.isIndex() && type.getIntOrFloatBitWidth() < 32))
    return std::nullopt;
  auto fits = [](int64_t v) { return v < small ? std::optional<int64_t>(v) : std::nullopt; };
  return TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<arith::AddIOp>([&](auto) { return lhs + rhs; })
      .Case<arith::SubIOp>([&](auto) { return lhs - rhs; })
      .Case<arith::MulIOp>([&](auto) { return fits(lhs * rhs); })
      .Case<arith::MinUIOp, arith::MinSIOp>([&](auto) { return std::min(lhs, rhs); })
      .Case<arith::MaxUIOp, arith::MaxSIOp>([&](auto) { return std::max(lhs, rhs); })
      .Case<arith::DivUIOp, arith::DivSIOp>([&](auto) { return rhs ? lhs / rhs : 0; })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) { return rhs ? lhs % rhs : 0; })
      .Case<arith::CeilDivUIOp>([&](auto) { return rhs ? (lhs + rhs - 1) / rhs : 0; })
      .Default([](Operation *) { return std::nullopt; });
}

/// Everything else of arith folds; all operands are constants, so nothing is changed in place.
static std::optional<int64_t> evaluateByFolding(Operation *op, ArrayRef<std::optional<int64_t>> known) {
  SmallVector<Attribute> operands;
  for (auto [operand, value] : llvm::zip_equal(op->getOperands(), known)) {
    if (!value || !operand.getType().isIntOrIndex())
      return std::nullopt;
    unsigned width = operand.getType().isIndex() ? 64 : operand.getType().getIntOrFloatBitWidth();
    operands.push_back(IntegerAttr::get(operand.getType(), APInt(width, *value, /*isSigned=*/true,
                                                                 /*implicitTrunc=*/true)));
  }
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return std::nullopt;
  if (auto value = dyn_cast<Value>(results[0])) {
    for (auto [operand, constant] : llvm::zip_equal(op->getOperands(), known))
      if (operand == value)
        return constant;
    return std::nullopt;
  }
  auto constant = dyn_cast<IntegerAttr>(cast<Attribute>(results[0]));
  if (!constant)
    return std::nullopt;
  return constant.getType().isInteger(1) ? constant.getValue().getZExtValue()
                                         : constant.getValue().getSExtValue();
}

static std::optional<int64_t> evaluateCompare(arith::CmpIOp compare, int64_t lhs, int64_t rhs) {
  return arith::applyCmpPredicate(compare.getPredicate(), APInt(64, lhs, true), APInt(64, rhs, true));
}

/// Extents: the type, else what made the view, else the sample.
static std::optional<int64_t> sampledDim(DimOp dim, const TraceSample &sample) {
  ViewType view = dim.getView().getType();
  int64_t axis = dim.getAxis();
  if (!view.isDynamicExtent(axis))
    return view.getShape()[axis];
  return axis + 2 < view.getRank() ? sample.batch : sample.extent;
}

void Tracer::evaluateRaster(RasterOp raster) {
  std::optional<int64_t> linear = get(raster.getLinear());
  for (auto [id, extent] : llvm::zip_equal(raster.getIds(), raster.getGrid())) {
    std::optional<int64_t> size = get(extent);
    if (!linear || !size || *size == 0) {
      set(id, std::nullopt);
      linear.reset();
      continue;
    }
    set(id, *linear % *size); // any bijection will do: the order of blocks has no meaning here
    linear = *linear / *size;
  }
}

/// A grid extent is an argument of the device kernel; its formula is in the assumption that outlining left.
static void learnFromAssumption(AssumeOp assume, DenseMap<Value, int64_t> &env) {
  auto equal = assume.getCond().getDefiningOp<arith::CmpIOp>();
  if (!equal || equal.getPredicate() != arith::CmpIPredicate::eq)
    return;
  auto argument = dyn_cast<BlockArgument>(equal.getLhs());
  auto formula = env.find(equal.getRhs());
  if (argument && formula != env.end() && isa<KernelOp>(argument.getOwner()->getParentOp()))
    env[argument] = int64_t(formula->second);
}

void Tracer::evaluate(Operation *op) {
  if (auto assume = dyn_cast<AssumeOp>(op))
    return learnFromAssumption(assume, env);
  if (auto raster = dyn_cast<RasterOp>(op))
    return evaluateRaster(raster);
  if (op->getNumResults() != 1)
    return;
  Value result = op->getResult(0);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto value = dyn_cast<IntegerAttr>(constant.getValue()))
      env[result] = value.getType().isInteger(1) ? value.getValue().getZExtValue() : value.getInt();
    else if (isa<FloatType>(result.getType()))
      env[result] = assume(result.getType());
    return;
  }
  if (auto dim = dyn_cast<DimOp>(op))
    return set(result, sampledDim(dim, sample));
  if (isa<StrideOp>(op))
    return set(result, sample.extent);
  if (isa<SmCountOp, NumBlocksOp>(op))
    return set(result, 2);
  if (isa<CursorOp, ReadyOp>(op))
    return set(result, 0);
  if (auto advance = dyn_cast<AdvanceOp>(op)) {
    std::optional<int64_t> at = get(advance.getCursor());
    return set(result, at ? std::optional<int64_t>(*at + int64_t(advance.getBy())) : std::nullopt);
  }
  if (!result.getType().isIntOrIndexOrFloat())
    return;
  if (auto load = dyn_cast<ElemLoadOp>(op))
    return set(result, isAgreed(load) ? std::optional<int64_t>(assume(result.getType())) : std::nullopt);
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return set(result, role ? std::nullopt : std::optional<int64_t>(assume(result.getType())));
  auto known = values(op->getOperands());
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return set(result, !known[0] ? std::nullopt : *known[0] ? known[1] : known[2]);
  std::optional<int64_t> value;
  if (known.size() == 2 && known[0] && known[1]) {
    value = evaluateFast(op, *known[0], *known[1]);
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      value = evaluateCompare(compare, *known[0], *known[1]);
  }
  if (!value)
    value = evaluateByFolding(op, known);
  // What does not fold is float arithmetic, or integers that leave their type on the way.
  if (!value && llvm::all_of(known, [](const std::optional<int64_t> &v) { return v.has_value(); }))
    value = assume(result.getType());
  set(result, value);
}
} // namespace tilec::tile
