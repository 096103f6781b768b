//===- AssignLayouts.cpp - a layout for every tile ---------------------------===//
// Classes of values that want one layout (loop carries, identity-mapped operands), relations between classes
// (a row vector is its parent without an axis), strict anchors (what a matrix instruction demands) and soft
// ones (wide accesses, cheap reductions). A class takes the layout of its strongest anchor; where two
// disagree, the value is converted. There is no program without an assignment: everything has a default.
#include "BufferLayouts.h"
#include "Divisibility.h"
#include "LaunchFeatures.h"
#include "LaunchScratch.h"
#include "LegalizeOperands.h"
#include "ScheduleGPU.h"
#include "SourceNames.h"
#include "ThreadLayouts.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tilec/Dialect/Tile/IR/KernelTarget.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEASSIGNLAYOUTS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {

/// `child` is `parent` read through a projecting map: its layout follows from the parent's.
struct Relation {
  Value child, parent;
  AffineMap map;
};

class Assigner {
public:
  Assigner(LaunchOp launch, const TargetDesc &target)
      : launch(launch), known(launch->getParentOfType<KernelOp>()), layouts(launch, target),
        b(launch.getContext()) {}
  /// Fails with E0406 when a tile is larger than a thread can hold.
  LogicalResult run();

private:
  /// Bytes of a class's elements, and of the neighbours in a thread.
  struct Width {
    unsigned element, vector;
  };
  static TileType tile(Value v) { return dyn_cast<TileType>(v.getType()); }
  void *key(Value v) { return classes.getOrInsertLeaderValue(v.getAsOpaquePointer()); }
  void same(Value x, Value y) {
    if (tile(x) && tile(y))
      classes.unionSets(x.getAsOpaquePointer(), y.getAsOpaquePointer());
  }
  bool anchor(Value v, const Layout &l) { return chosen.try_emplace(key(v), l).second; }

  void collectValues();
  void collectClasses();
  void collectGeneric(GenericOp generic);
  void strictAnchors();
  void softAnchors();
  void propagate();
  void writeTypes();
  LogicalResult checkSizes();
  LogicalResult fitRings();
  void convert(OpOperand &operand, const Layout &l);
  void convertOperands();
  void convertGeneric(GenericOp generic);
  int64_t atOnce(Value v) const;
  Width widthOf(Value v);
  int64_t bytesPerStep(Value v, unsigned axis);

  static constexpr int64_t kVectorBytes = 16; ///< that one instruction moves for a thread
  LaunchOp launch;
  Divisibility known;
  ThreadLayouts layouts;
  OpBuilder b;
  llvm::EquivalenceClasses<void *> classes;
  DenseMap<void *, Layout> chosen;
  SmallVector<Value> values;
  SmallVector<Relation> relations;
};

} // namespace

void Assigner::collectValues() {
  auto see = [&](Value v) {
    if (tile(v)) {
      values.push_back(v);
      classes.insert(v.getAsOpaquePointer());
    }
  };
  launch.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value v : op->getResults())
      see(v);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value v : block.getArguments())
          see(v);
  });
}

void Assigner::collectClasses() {
  launch.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, arg, yield, result] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                                                       loop.getYieldedValues(), loop.getResults())) {
        same(init, arg);
        same(arg, yield);
        same(arg, result);
      }
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (auto [init, arg, yield] :
           llvm::zip(loop.getInits(), loop.getBeforeArguments(), loop.getYieldOp().getOperands())) {
        same(init, arg);
        same(arg, yield);
      }
      for (auto [passed, arg, result] :
           llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments(), loop.getResults())) {
        same(passed, arg);
        same(arg, result);
      }
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (auto [i, result] : llvm::enumerate(branch.getResults())) {
        same(result, branch.thenYield().getOperand(i));
        same(result, branch.elseYield().getOperand(i));
      }
    } else if (auto gemm = dyn_cast<GemmOp>(op)) {
      same(gemm.getAcc(), gemm.getResult());
    } else if (auto insert = dyn_cast<InsertOp>(op)) {
      same(insert.getTile(), insert.getResult());
    } else if (auto scan = dyn_cast<ScanOp>(op)) {
      same(scan.getSource(), scan.getResult());
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      same(select.getTrueValue(), select.getResult());
      same(select.getFalseValue(), select.getResult());
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      unsigned rank = reduce.getSource().getType().getRank();
      SmallVector<AffineExpr> kept;
      for (unsigned d = 0; d < rank; ++d)
        if (d != reduce.getAxis())
          kept.push_back(b.getAffineDimExpr(d));
      if (reduce.getResult().getType().getRank() == int64_t(kept.size()))
        relations.push_back(
            {reduce.getResult(), reduce.getSource(), AffineMap::get(rank, 0, kept, b.getContext())});
    } else if (auto generic = dyn_cast<GenericOp>(op)) {
      collectGeneric(generic);
    }
  });
}

void Assigner::collectGeneric(GenericOp generic) {
  for (auto [out, result] : llvm::zip(generic.getOuts(), generic.getResults()))
    same(out, result);
  SmallVector<Value> operands(generic.getIns());
  llvm::append_range(operands, generic.getOuts());
  Value whole;
  auto mapOf = [](Attribute m) { return cast<AffineMapAttr>(m).getValue(); };
  for (auto [v, m] : llvm::zip(operands, generic.getMaps()))
    if (tile(v) && mapOf(m).isIdentity()) {
      if (whole)
        same(whole, v);
      else
        whole = v;
    }
  if (!whole)
    return;
  for (auto [v, m] : llvm::zip(operands, generic.getMaps()))
    if (tile(v) && !mapOf(m).isIdentity() && mapOf(m).isProjectedPermutation())
      relations.push_back({v, whole, mapOf(m)});
}

/// Elements of the tile `v` that one access moves at once between rows in memory and a thread with
/// neighbours.
int64_t Assigner::atOnce(Value v) const {
  int64_t aligned = kVectorBytes;
  auto access = [&](auto op, Value memory) {
    auto view = dyn_cast<ViewType>(memory.getType());
    if (!view || view.getRank() == 0 || view.getStaticStride(view.getRank() - 1) != 1)
      return;
    ArrayRef<int64_t> shape = tile(v).getShape();
    SmallVector<int64_t> extents(op.getExtents().value_or(shape));
    if (int64_t(extents.size()) == view.getRank())
      aligned = std::min(aligned, known.ofRows(memory, op.getOffsets(), extents));
  };
  if (auto load = v.getDefiningOp<LoadOp>())
    access(load, load.getSource());
  for (Operation *user : v.getUsers())
    if (auto store = dyn_cast<StoreOp>(user); store && store.getValue() == v)
      access(store, store.getDest());
  return aligned < kVectorBytes ? std::max<int64_t>(1, aligned / storageBytes(tile(v).getElementType()))
                                : kVectorBytes;
}

/// The narrowest element decides how many neighbours a thread holds, unless memory gives fewer at once: then
/// neighbours belong to neighbouring lanes. Else each of a warp's accesses would touch all that a vector
/// would have brought.
Assigner::Width Assigner::widthOf(Value v) {
  int64_t bytes = 8, neighbours = kVectorBytes;
  void *leader = key(v);
  for (Value x : values)
    if (key(x) == leader) {
      bytes = std::min(bytes, storageBytes(tile(x).getElementType()));
      neighbours = std::min(neighbours, atOnce(x));
    }
  return {unsigned(bytes),
          unsigned(std::min<int64_t>(kVectorBytes, llvm::bit_floor<uint64_t>(neighbours) * bytes))};
}

/// By how much an index grows with one step along `axis` of its nest; 0 where that is not plain to see.
static int64_t stepOf(Value index, BlockArgument axis) {
  if (index == axis)
    return 1;
  Operation *op = index.getDefiningOp();
  if (isa_and_nonnull<arith::AddIOp>(op))
    return stepOf(op->getOperand(0), axis) + stepOf(op->getOperand(1), axis);
  if (isa_and_nonnull<arith::MulIOp>(op))
    if (std::optional<int64_t> factor = getConstantIntValue(op->getOperand(1)))
      return *factor * stepOf(op->getOperand(0), axis);
  return 0;
}

/// Bytes of shared memory that the nests of the class read in single elements while they take one step along
/// an axis: lanes with vectors of more than 16 bytes between them wait for each other's banks.
int64_t Assigner::bytesPerStep(Value v, unsigned axis) {
  int64_t bytes = 1;
  launch.walk([&](GenericOp nest) {
    bool inClass = llvm::any_of(nest->getResults(), [&](Value result) { return key(result) == key(v); });
    if (!inClass || axis >= nest.getDomain().size())
      return;
    nest.walk([&](ElemLoadOp load) {
      if (auto type = dyn_cast<BufferType>(load.getSource().getType()); type && type.getRank())
        bytes = std::max(bytes, stepOf(load.getIndices().back(), nest.getIndexArgs()[axis]) *
                                    std::max<int64_t>(1, type.getElementType().getIntOrFloatBitWidth() / 8));
    });
  });
  return std::min<int64_t>(llvm::PowerOf2Ceil(bytes), 16);
}

void Assigner::strictAnchors() {
  launch.walk([&](GemmOp gemm) {
    anchor(gemm.getResult(), layouts.accumulator(gemm));
    InstKind kind = gemm.getInstAttr().getKind();
    if (kind == InstKind::fma)
      return;
    if (tile(gemm.getA()))
      anchor(gemm.getA(), layouts.operand(gemm, 0));
    if (tile(gemm.getB()) && (kind != InstKind::wgmma || gemm.getInstAttr().getSwapped()))
      anchor(gemm.getB(), layouts.operand(gemm, 1));
  });
}

void Assigner::propagate() {
  for (bool again = true; again;) {
    again = false;
    for (const Relation &r : relations)
      if (auto it = chosen.find(key(r.parent)); it != chosen.end())
        if (auto l = operandLayout(it->second, r.map))
          again |= anchor(r.child, *l);
  }
}

void Assigner::softAnchors() {
  propagate();
  launch.walk([&](ReduceOp reduce) {
    TileType source = reduce.getSource().getType();
    if (chosen.count(key(reduce.getSource())))
      return;
    Width width = widthOf(reduce.getSource());
    unsigned bytes = std::max<int64_t>(width.element, bytesPerStep(reduce.getSource(), reduce.getAxis()));
    anchor(reduce.getSource(),
           layouts.forReduction(source.getShape(), reduce.getAxis(), bytes, width.vector));
    propagate();
  });
  auto access = [&](Value v) {
    if (chosen.count(key(v)))
      return;
    Width width = widthOf(v);
    anchor(v, layouts.forAccess(tile(v).getShape(), width.element, width.vector));
    propagate();
  };
  launch.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op); load && isa<ViewType>(load.getSource().getType()))
      access(load.getResult());
    else if (auto store = dyn_cast<StoreOp>(op); store && isa<ViewType>(store.getDest().getType()))
      access(store.getValue());
  });
  // Largest first: a vector whose parent has no anchor yet follows the parent.
  SmallVector<std::pair<int64_t, unsigned>> rest;
  for (auto [i, v] : llvm::enumerate(values))
    rest.push_back({-tile(v).getNumElements(), i});
  llvm::sort(rest);
  for (auto [size, i] : rest)
    access(values[i]);
}

void Assigner::writeTypes() {
  for (Value v : values)
    v.setType(tile(v).withLayout(LayoutAttr::get(b.getContext(), chosen.find(key(v))->second)));
}

/// Registers that a computing thread of the launch can have.
static int64_t registersOfThread(ScheduleAttr schedule, const TargetDesc &target) {
  for (RoleAttr role : schedule.getRoles())
    if (role.getKind() == RoleKind::compute && role.getRegs())
      return role.getRegs();
  return std::min<int64_t>(target.maxRegisters,
                           target.registersPerBlock / (schedule.getThreads() * schedule.getMinBlocks()));
}

/// The code for tiles of several times as many registers as a thread has is slow to compile and slow to run;
/// for the time it takes to compile, a narrow element counts as much as a wide one.
/// The sums of a product stand in registers through its whole loop, beside its operands: they must fit.
LogicalResult Assigner::checkSizes() {
  int64_t sums = registersOfThread(launch.getScheduleAttr(), layouts.targetDesc()) - 1;
  int64_t blocks = launch.getScheduleAttr().getMinBlocks();
  for (Value v : values) {
    TileType type = tile(v);
    Type element = type.getElementType();
    bool isSum = v.getDefiningOp<GemmOp>();
    constexpr int64_t mostElements = 512;
    int64_t most = isSum ? sums : mostElements, elements = type.getLayout().getNumRegs();
    int64_t bits = element.isIndex() ? 64 : std::max(8u, element.getIntOrFloatBitWidth());
    int64_t registers = llvm::divideCeil(elements * bits, 32);
    auto refuse = [&] {
      return emitError(v.getLoc()) << "[E0406] the " << (isSum ? "product " : "tile ")
                                   << describe(v.getLoc(), type.getShape(), element);
    };
    if (registers > most) {
      // The limit is that of one variant; the message is the same for all, and so is told once.
      InFlightDiagnostic error = refuse();
      error << " takes " << registers << " registers of each thread; use smaller tiles or more threads";
      error.attachNote() << "at most " << most << " fit"
                         << (blocks > 1 ? ", with " + std::to_string(blocks) + " blocks on a multiprocessor"
                                        : std::string());
      return error;
    }
    if (elements > mostElements)
      return refuse() << " puts " << elements << " elements into each thread, at most " << mostElements
                      << " are supported; use smaller tiles or more threads";
  }
  return success();
}

void Assigner::convert(OpOperand &operand, const Layout &l) {
  TileType type = tile(operand.get());
  LayoutAttr want = LayoutAttr::get(b.getContext(), l);
  if (type.getLayout() == want)
    return;
  Operation *owner = operand.getOwner();
  b.setInsertionPoint(owner);
  operand.set(ConvertLayoutOp::create(b, owner->getLoc(), type.withLayout(want), operand.get()));
}

/// The iteration layout is that of an identity-mapped tile, else the default over the domain; every other
/// operand is converted to what the iteration reads.
void Assigner::convertGeneric(GenericOp generic) {
  SmallVector<OpOperand *> operands;
  for (OpOperand &o : generic.getInsMutable())
    operands.push_back(&o);
  for (OpOperand &o : generic.getOutsMutable())
    operands.push_back(&o);
  auto map = [&](unsigned i) { return cast<AffineMapAttr>(generic.getMaps()[i]).getValue(); };
  std::optional<Layout> iteration;
  unsigned bytes = 8;
  for (auto [i, o] : llvm::enumerate(operands)) {
    Type element = getElementTypeOf(o->get().getType());
    bytes = std::min(bytes, std::max(1u, (element.isIndex() ? 64 : element.getIntOrFloatBitWidth()) / 8));
    if (!iteration && tile(o->get()) && map(i).isIdentity())
      iteration = tile(o->get()).getLayout().getLayout();
  }
  if (!iteration)
    iteration = layouts.forAccess(generic.getDomain(), bytes);
  generic.setLayoutAttr(LayoutAttr::get(b.getContext(), *iteration));
  for (auto [i, o] : llvm::enumerate(operands))
    if (tile(o->get()))
      if (auto l = operandLayout(*iteration, map(i)))
        convert(*o, *l);
}

void Assigner::convertOperands() {
  launch.walk([&](Operation *op) {
    if (auto gemm = dyn_cast<GemmOp>(op)) {
      if (gemm.getInstAttr().getKind() == InstKind::fma)
        return;
      if (tile(gemm.getA()))
        convert(gemm.getAMutable(), layouts.operand(gemm, 0));
      if (tile(gemm.getB()))
        convert(gemm.getBMutable(), layouts.operand(gemm, 1));
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      // The result's class may live elsewhere: reduce in place, then move the result.
      TileType type = reduce.getResult().getType();
      LayoutAttr own = reduce.getSource().getType().getLayout().dropAxis(reduce.getAxis());
      if (type.getLayout() == own)
        return;
      reduce.getResult().setType(type.withLayout(own));
      b.setInsertionPointAfter(reduce);
      auto moved = ConvertLayoutOp::create(b, reduce.getLoc(), type, reduce.getResult());
      reduce.getResult().replaceAllUsesExcept(moved.getResult(), moved);
    } else if (auto generic = dyn_cast<GenericOp>(op)) {
      convertGeneric(generic);
    }
  });
}

/// Tiles that pass through shared memory, now that all layouts are known, take room from the pipelines.
LogicalResult Assigner::fitRings() {
  const TargetDesc &target = layouts.targetDesc();
  constexpr int64_t barriers = 512; // at most
  int64_t scratch = scratchBytes(launch), reserved = scratch;
  if (target.family == Family::NVIDIA)
    reserved = std::max(kReservedShared, scratch + barriers);
  return fitStages(launch, target, /*staging=*/0, reserved, [](scf::ForOp loop) {
    return loop->getAttrOfType<PipelineAttr>(TileDialect::kPipelineAttrName).getStages();
  });
}

LogicalResult Assigner::run() {
  legalizeOperands(launch);
  collectValues();
  collectClasses();
  strictAnchors();
  softAnchors();
  writeTypes();
  if (failed(checkSizes()))
    return failure();
  convertOperands();
  stageStores(launch);
  sinkSlices(launch);
  stageLoads(launch);
  assignBuffers(launch, layouts);
  return fitRings();
}

namespace {
struct AssignLayouts : tile::impl::TileAssignLayoutsBase<AssignLayouts> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const TargetDesc *target = targetOf(kernel);
    if (!target || !kernel.isDevice())
      return;
    LaunchOp launch = kernel.getDeviceLaunch();
    if (!launch.getScheduleAttr()) {
      launch.emitOpError("has no schedule: run tile-select-schedule first");
      return signalPassFailure();
    }
    if (failed(Assigner(launch, *target).run()))
      signalPassFailure();
  }
};
} // namespace
