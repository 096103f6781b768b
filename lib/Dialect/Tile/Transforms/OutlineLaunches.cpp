//===- OutlineLaunches.cpp - one device kernel per launch ------------------===//
//
// Captures become arguments in order of first use, which makes the order of the launcher's value slots
// deterministic. Scalars that are cheap functions of other captures are cloned instead: analyses of the
// device kernel need to see them.
//
//===----------------------------------------------------------------------===//
#include "LaunchCost.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEOUTLINELAUNCHES
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

namespace {
/// Integer arithmetic, constants and view sizes: cheaper to compute again than to pass, and transparent to
/// analyses.
bool isCheapScalar(Operation *op) {
  if (!op || op->getNumRegions() || op->getNumResults() != 1 || !isPure(op))
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<DimOp, StrideOp>(op))
    return true;
  return isa<arith::ArithDialect>(op->getDialect()) && op->getResult(0).getType().isIntOrIndex();
}

/// What one launch needs from its host kernel: `values` become arguments, `cloned` is computed again.
struct Captures {
  llvm::SetVector<Value> values;
  llvm::SetVector<Operation *> cloned; // operands before users

  void add(Value value) {
    Operation *def = value.getDefiningOp();
    if (!isCheapScalar(def)) {
      values.insert(value);
      return;
    }
    if (cloned.contains(def))
      return;
    for (Value operand : def->getOperands())
      add(operand);
    cloned.insert(def);
  }

  /// Can `value` be computed from what is captured already?
  bool reaches(Value value) const {
    if (values.contains(value))
      return true;
    Operation *def = value.getDefiningOp();
    return isCheapScalar(def) &&
           llvm::all_of(def->getOperands(), [&](Value operand) { return reaches(operand); });
  }
};

class Outliner {
public:
  Outliner(KernelOp host, LaunchOp launch, StringRef name) : host(host), launch(launch), name(name) {}

  /// Creates the device kernel and leaves a call where the launch was.
  void run(SymbolTable &symbols, Operation *after) {
    collectCaptures();
    OpBuilder builder(launch);
    KernelOp device = createKernel(builder);
    symbols.insert(device, ++Block::iterator(after));
    LaunchCallOp::create(builder, launch.getLoc(), FlatSymbolRefAttr::get(device.getSymNameAttr()),
                         launch.getGrid(), captures.values.getArrayRef());
    launch.erase();
  }

private:
  void collectCaptures() {
    Region &body = launch.getBody();
    body.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (!body.isAncestor(operand.getParentRegion()))
          captures.add(operand);
    });
  }

  KernelOp createKernel(OpBuilder &builder) {
    SmallVector<Type> types(launch.getGrid().getTypes());
    SmallVector<Location> locs(launch.getGrid().size(), launch.getLoc());
    for (Value value : captures.values) {
      types.push_back(value.getType());
      locs.push_back(value.getLoc());
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.clearInsertionPoint();
    auto device =
        KernelOp::create(builder, launch.getLoc(), builder.getStringAttr(name),
                         TypeAttr::get(builder.getFunctionType(types, {})), /*sym_visibility=*/StringAttr(),
                         argumentAttrs(builder), /*res_attrs=*/ArrayAttr());
    device->setAttr(TileDialect::kDeviceAttrName, builder.getUnitAttr());
    device->setAttr(TileDialect::kHostAttrName, host.getSymNameAttr());
    for (StringLiteral inherited :
         {TileDialect::kTargetAttrName, TileDialect::kInstanceAttrName, TileDialect::kFastMathAttrName,
          TileDialect::kIndexBitsAttrName, TileDialect::kTargetsAttrName, kAnyPitchAttrName})
      if (Attribute attr = host->getAttr(inherited))
        device->setAttr(inherited, attr);
    Block *entry = builder.createBlock(&device.getBody(), {}, types, locs);
    fill(builder, entry);
    return device;
  }

  /// Names, access and dtype travel with the arguments that the device kernel shares with its host.
  ArrayAttr argumentAttrs(OpBuilder &builder) {
    SmallVector<Attribute> attrs;
    for (unsigned axis = 0; axis < launch.getGrid().size(); ++axis)
      attrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
          TileDialect::kNameAttrName, builder.getStringAttr(std::string("grid.") + "xyz"[axis]))));
    for (Value value : captures.values)
      attrs.push_back(attrsOf(builder, value));
    return builder.getArrayAttr(attrs);
  }

  Attribute attrsOf(OpBuilder &builder, Value value) {
    Type type = value.getType();
    while (auto recast = value.getDefiningOp<RecastViewOp>())
      value = recast.getSource();
    if (auto make = value.getDefiningOp<MakeViewOp>())
      value = make.getBase();
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner()->getParentOp() != host)
      return builder.getDictionaryAttr({});
    DictionaryAttr attrs = host.getArgAttrDict(argument.getArgNumber());
    if (!attrs)
      return builder.getDictionaryAttr({});
    if (type == argument.getType())
      return attrs;
    // A recast view has other extents than the argument: what the user wrote about them does not fit.
    NamedAttrList kept(attrs);
    kept.erase(TileDialect::kDimsAttrName);
    kept.erase(TileDialect::kStridesAttrName);
    return kept.getDictionary(builder.getContext());
  }

  void fill(OpBuilder &builder, Block *entry) {
    IRMapping map;
    unsigned axes = launch.getGrid().size();
    map.map(captures.values.getArrayRef(), entry->getArguments().drop_front(axes));
    builder.setInsertionPointToEnd(entry);
    for (Operation *op : captures.cloned)
      cloneSlice(builder, op, map);
    cloneAssumptions(builder, map);
    assumeGrid(builder, entry, map);
    IRMapping bodyMap = map;
    Operation *copy = builder.cloneWithoutRegions(*launch, map);
    copy->setOperands(entry->getArguments().take_front(axes));
    launch.getBody().cloneInto(&copy->getRegion(0), bodyMap);
    YieldOp::create(builder, launch.getLoc());
  }

  void cloneSlice(OpBuilder &builder, Operation *op, IRMapping &map) {
    if (map.contains(op->getResult(0)))
      return;
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp(); def && !map.contains(operand))
        cloneSlice(builder, def, map);
    builder.clone(*op, map);
  }

  /// What the host checked before the launch holds in it.
  void cloneAssumptions(OpBuilder &builder, IRMapping &map) {
    for (Operation &op : host.getBody().front()) {
      if (op.isAncestor(launch))
        return;
      if (auto assume = dyn_cast<AssumeOp>(op); assume && captures.reaches(assume.getCond())) {
        cloneValue(builder, assume.getCond(), map);
        builder.clone(op, map);
      }
      if (auto equal = dyn_cast<RequireEqualOp>(op);
          equal && captures.reaches(equal.getActual()) && captures.reaches(equal.getExpected()))
        assumeEqual(builder, cloneValue(builder, equal.getActual(), map),
                    cloneValue(builder, equal.getExpected(), map), equal.getText());
    }
  }

  Value cloneValue(OpBuilder &builder, Value value, IRMapping &map) {
    if (Operation *def = value.getDefiningOp(); def && !map.contains(value))
      cloneSlice(builder, def, map);
    return map.lookup(value);
  }

  void assumeEqual(OpBuilder &builder, Value lhs, Value rhs, StringRef text) {
    Value equal = arith::CmpIOp::create(builder, launch.getLoc(), arith::CmpIPredicate::eq, lhs, rhs);
    AssumeOp::create(builder, launch.getLoc(), equal, builder.getStringAttr(text));
  }

  /// The extents arrive as numbers; their formulas bound the block ids by the sizes of the views.
  void assumeGrid(OpBuilder &builder, Block *entry, IRMapping &map) {
    for (auto [axis, extent] : llvm::enumerate(launch.getGrid())) {
      if (captures.reaches(extent))
        assumeEqual(builder, entry->getArgument(axis), cloneValue(builder, extent, map), "grid extent");
    }
  }

  KernelOp host;
  LaunchOp launch;
  std::string name;
  Captures captures;
};

struct OutlineLaunches : tilec::tile::impl::TileOutlineLaunchesBase<OutlineLaunches> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (KernelOp host : llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      if (host.isDevice())
        continue;
      SmallVector<LaunchOp> launches;
      host.getBody().walk([&](LaunchOp launch) { launches.push_back(launch); });
      Operation *after = host;
      for (auto [i, launch] : llvm::enumerate(launches)) {
        std::string name = (host.getSymName() + "." + Twine(i)).str();
        if (symbols.lookup(name)) {
          launch.emitError() << "the name '" << name << "' of this launch's device kernel is taken";
          return signalPassFailure();
        }
        Outliner(host, launch, name).run(symbols, after);
        after = symbols.lookup(name);
      }
    }
  }
};
} // namespace
