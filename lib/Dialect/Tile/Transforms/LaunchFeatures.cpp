//===- LaunchFeatures.cpp - what a launch does, as far as schedules care -----===//
#include "LaunchFeatures.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <array>
#include <numeric>

using namespace mlir;
using namespace tilec::tile;

Value tilec::tile::rootBuffer(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto sub = dyn_cast<SubbufferOp>(op))
      buffer = sub.getSource();
    else if (auto recast = dyn_cast<RecastBufferOp>(op))
      buffer = recast.getSource();
    else
      break;
  }
  return buffer;
}

Value tilec::tile::rootView(Value view) {
  while (auto cast = view.getDefiningOp<RecastViewOp>()) {
    if (!cast.getSizes().empty() ||
        cast.getSource().getType().getRank() != cast.getView().getType().getRank())
      break;
    view = cast.getSource();
  }
  return view;
}

std::optional<unsigned> tilec::tile::argumentOf(Value view) {
  auto arg = dyn_cast<BlockArgument>(rootView(view));
  if (!arg || !isa<KernelOp>(arg.getOwner()->getParentOp()))
    return std::nullopt;
  return arg.getArgNumber();
}

/// The memory that this operation writes, or null.
static Value writtenBy(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<StoreOp, CopyOp, ElemStoreOp, AtomicOp, ElemAtomicOp>([](auto o) -> Value { return o.getDest(); })
      .Default([](Operation *) { return Value(); });
}

bool tilec::tile::launchWrites(LaunchOp launch, unsigned argument) {
  bool writes = false;
  launch.walk([&](Operation *op) {
    Value dest = writtenBy(op);
    if (!dest || !isa<ViewType>(dest.getType()))
      return;
    auto to = argumentOf(dest);
    writes |= !to || *to == argument;
  });
  return writes;
}

std::tuple<int64_t, int64_t, int64_t> tilec::tile::gemmExtents(GemmOp gemm) {
  SmallVector<int64_t> c = dropOnes(gemm.getAcc().getType().getShape());
  auto full = gemm.getAcc().getType().getShape();
  if (c.size() != 2)
    c.assign(full.end() - 2, full.end());
  auto a = getShapeOf(gemm.getA().getType());
  int64_t k = gemm.getTransA() ? a[a.size() - 2] : a[a.size() - 1];
  return {c[0], c[1], k};
}

bool tilec::tile::isPlainFloat32(GemmOp gemm) {
  return gemm.getInstAttr() && gemm.getInstAttr().getKind() == InstKind::fma &&
         getElementTypeOf(gemm.getA().getType()).isF32() && getElementTypeOf(gemm.getB().getType()).isF32();
}

OperandAxes tilec::tile::plainOperandAxes(Value buffer) {
  OperandAxes axes;
  for (Operation *user : buffer.getUsers()) {
    auto gemm = dyn_cast<GemmOp>(user);
    if (!gemm || !isPlainFloat32(gemm))
      continue;
    if (gemm.getA() == buffer)
      (gemm.getTransA() ? axes.kSlow : axes.kFast) = true;
    if (gemm.getB() == buffer)
      (gemm.getTransB() ? axes.kFast : axes.kSlow) = true;
  }
  return axes;
}

GemmFeature tilec::tile::describeGemm(GemmOp gemm) {
  auto [m, n, k] = gemmExtents(gemm);
  Type a = gemm.getA().getType(), b = gemm.getB().getType();
  return {gemm,
          m,
          n,
          k,
          isa<TileType>(a),
          isa<TileType>(b),
          getElementTypeOf(a),
          getElementTypeOf(b),
          gemm.getAcc().getType().getElementType(),
          gemm->getParentOfType<scf::ForOp>() != nullptr};
}

static void collectUsers(Value buffer, SmallVectorImpl<Operation *> &users) {
  for (Operation *user : buffer.getUsers()) {
    if (isa<SubbufferOp, RecastBufferOp>(user))
      collectUsers(user->getResult(0), users);
    users.push_back(user);
  }
}

SmallVector<Operation *> tilec::tile::bufferUsers(Value buffer) {
  SmallVector<Operation *> users;
  collectUsers(buffer, users);
  return users;
}

/// Folds a part of a buffer into the columns of those before it; 0 where it is no such part.
static int64_t foldPart(int64_t columns, SubbufferOp part) {
  ArrayRef<int64_t> shape = part.getSource().getType().getShape(), extents = part.getExtents();
  if (shape.size() != 2 || part.getResult().getType().getRank() != 2)
    return 0;
  std::optional<int64_t> row = getConstantIntValue(part.getOffsets()[0]),
                         column = getConstantIntValue(part.getOffsets()[1]);
  bool whole = row && column && *row % 8 == 0 && extents[0] % 8 == 0 && shape[0] % extents[0] == 0 &&
               shape[1] % extents[1] == 0;
  return whole ? std::gcd(std::gcd(columns, *column), extents[1]) : 0;
}

int64_t tilec::tile::columnsOfParts(Value buffer) {
  int64_t columns = 0;
  for (Operation *user : bufferUsers(buffer)) {
    if (isa<RecastBufferOp>(user))
      return 0;
    if (auto part = dyn_cast<SubbufferOp>(user); part && !(columns = foldPart(columns, part)))
      return 0;
  }
  return columns;
}

/// What carry `i` of a loop can hold.
static std::array<Value, 2> carried(scf::ForOp loop, unsigned i) {
  return {loop.getInitArgs()[i], loop.getYieldedValues()[i]};
}

/// Is the tile made without any product? Through loops, branches and nests.
static bool needsNoProduct(Value tile) {
  llvm::SetVector<Value> needed;
  needed.insert(tile);
  for (unsigned next = 0; next < needed.size(); ++next) {
    Operation *op = needed[next].getDefiningOp();
    auto argument = dyn_cast<BlockArgument>(needed[next]);
    if (argument)
      op = argument.getOwner()->getParentOp();
    if (isa<GemmOp>(op))
      return false;
    if (isa<LaunchOp, KernelOp>(op))
      continue;
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && !argument)
      needed.insert_range(carried(loop, cast<OpResult>(needed[next]).getResultNumber()));
    else if (loop && argument != loop.getInductionVar())
      needed.insert_range(carried(loop, argument.getArgNumber() - 1));
    else if (!loop)
      op->walk([&](Operation *inner) { needed.insert_range(inner->getOperands()); });
  }
  return true;
}

bool tilec::tile::hasChainedProducts(const LaunchFeatures &features) {
  if (features.gemms.size() < 2)
    return false;
  auto isInput = [&](Value operand) {
    if (isa<TileType>(operand.getType()))
      return needsNoProduct(operand);
    return llvm::all_of(bufferUsers(rootBuffer(operand)), [&](Operation *user) {
      auto copy = dyn_cast<CopyOp>(user);
      return isa<GemmOp, LoadOp, ElemLoadOp, SubbufferOp>(user) ||
             (copy && isa<ViewType>(copy.getSource().getType()));
    });
  };
  return !features.reduces.empty() || !llvm::all_of(features.gemms, [&](const GemmFeature &g) {
    GemmOp gemm = g.op;
    return isInput(gemm.getA()) && isInput(gemm.getB());
  });
}

static CopyFeature describeCopy(CopyOp copy) {
  CopyFeature f{copy, copy->getParentOfType<scf::ForOp>(), true, false};
  for (Operation *user : bufferUsers(rootBuffer(copy.getDest()))) {
    if (user == copy || isa<SubbufferOp, RecastBufferOp>(user))
      continue;
    if (isa<GemmOp>(user))
      f.feedsGemm = true;
    else
      f.feedsOnlyGemm = false;
  }
  f.feedsOnlyGemm &= f.feedsGemm;
  return f;
}

static int64_t elementsOf(Type type) {
  auto tile = dyn_cast<TileType>(type);
  return tile ? tile.getNumElements() : 0;
}

LaunchFeatures tilec::tile::collectFeatures(LaunchOp launch) {
  LaunchFeatures f;
  launch.walk([&](Operation *op) {
    for (Type t : op->getResultTypes())
      f.largestTile = std::max(f.largestTile, elementsOf(t));
    if (auto gemm = dyn_cast<GemmOp>(op)) {
      f.gemms.push_back(describeGemm(gemm));
    } else if (auto copy = dyn_cast<CopyOp>(op)) {
      if (isa<ViewType>(copy.getSource().getType()) && isa<BufferType>(copy.getDest().getType()))
        f.copies.push_back(describeCopy(copy));
    } else if (auto split = dyn_cast<SplitCopyOp>(op)) {
      if (isa<ViewType>(split.getSource().getType()))
        f.splits.push_back(split);
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      if (isa<ViewType>(store.getDest().getType()))
        f.viewStores.push_back(store);
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      if (isa<ViewType>(load.getSource().getType()))
        f.viewLoads.push_back(load);
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      f.reduces.push_back(reduce);
      f.largestRowReduction =
          std::max(f.largestRowReduction, reduce.getSource().getType().getShape()[reduce.getAxis()]);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (loop->hasAttr(TileDialect::kPipelineAttrName))
        f.pipelined.push_back(loop);
    } else if (auto generic = dyn_cast<GenericOp>(op)) {
      int64_t n = 1;
      for (int64_t e : generic.getDomain())
        n *= ShapedType::isDynamic(e) ? 1 : e;
      f.largestTile = std::max(f.largestTile, n);
    }
  });
  return f;
}
