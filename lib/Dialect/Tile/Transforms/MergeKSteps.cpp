//===- MergeKSteps.cpp - several trips of a K loop in one --------------------===//
//
// A loop that copies tiles of A and B and multiplies them into one accumulator touches the accumulator once
// per trip. With the trips merged it does so once per KC elements of K, whatever BK the program chose; the
// sums run in the same order. Where the merged trips provably end past the tensors (the view rule makes the
// rest zero) they replace the loop; else the old loop stays for what is left over.
//
//===----------------------------------------------------------------------===//
#include "ScheduleCPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEMERGEKSTEPS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {
/// One copy of the loop: its buffer, the buffer's K axis, and where K is in the source.
struct Fetch {
  CopyOp copy;
  AllocOp alloc;
  unsigned bufferAxis = 0, viewAxis = 0;
};

struct KLoop {
  scf::ForOp loop;
  GemmOp gemm;
  SmallVector<Fetch, 2> fetches;
  int64_t step = 1, depth = 0; ///< K elements of a trip
};
} // namespace

static std::optional<int64_t> constantOf(Value v) {
  APInt number;
  if (!matchPattern(v, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

/// How much `v` grows per unit of `iv`; nothing when it is not linear.
static std::optional<int64_t> slopeOf(Value v, Value iv, scf::ForOp loop) {
  if (v == iv)
    return 1;
  Operation *def = v.getDefiningOp();
  if (!def || !loop->isProperAncestor(def))
    return loop.isDefinedOutsideOfLoop(v) ? std::optional<int64_t>(0) : std::nullopt;
  SmallVector<std::optional<int64_t>> slopes;
  for (Value operand : def->getOperands()) {
    slopes.push_back(slopeOf(operand, iv, loop));
    if (!slopes.back())
      return std::nullopt;
  }
  if (def->getNumRegions() || !isPure(def))
    return std::nullopt;
  if (llvm::all_of(slopes, [](auto s) { return *s == 0; }))
    return 0;
  if (isa<arith::AddIOp>(def))
    return *slopes[0] + *slopes[1];
  if (isa<arith::SubIOp>(def))
    return *slopes[0] - *slopes[1];
  if (isa<arith::MulIOp>(def))
    for (unsigned i : {0u, 1u})
      if (auto factor = constantOf(def->getOperand(i)))
        return *factor * *slopes[1 - i];
  return std::nullopt;
}

/// The axis of the view that axis `axis` of the whole destination comes from.
static unsigned sourceAxis(CopyOp copy, unsigned axis) {
  unsigned rank = getShapeOf(copy.getSource().getType()).size();
  unsigned fromLast = 1 - axis; // the buffer has two axes
  if (copy.getTranspose())
    fromLast = 1 - fromLast;
  return rank - 1 - fromLast;
}

static std::optional<Fetch> fetchOf(CopyOp copy, KLoop &k) {
  auto view = dyn_cast<ViewType>(copy.getSource().getType());
  auto alloc = copy.getDest().getDefiningOp<AllocOp>();
  if (!view || !alloc || view.getShape().size() < 2 || copy.getExtents() || copy.getIm2col() ||
      !copy.getDestOffsets().empty())
    return std::nullopt;
  ArrayRef<int64_t> shape = alloc.getBuffer().getType().getShape();
  if (shape.size() != 2 || shape[0] == 1 || shape[1] == 1 || alloc.getBuffer().getType().getLayout())
    return std::nullopt;
  for (Operation *user : alloc.getBuffer().getUsers())
    if (user != copy && user != k.gemm)
      return std::nullopt;
  bool isA = k.gemm.getA() == alloc.getBuffer();
  if (!isA && k.gemm.getB() != alloc.getBuffer())
    return std::nullopt;
  Fetch fetch{copy, alloc, 0, 0};
  fetch.bufferAxis = isA ? (k.gemm.getTransA() ? 0 : 1) : (k.gemm.getTransB() ? 1 : 0);
  fetch.viewAxis = sourceAxis(copy, fetch.bufferAxis);
  return fetch;
}

/// Nothing but scalars, copies out of views and one product into one carried accumulator.
static std::optional<KLoop> analyze(scf::ForOp loop) {
  KLoop k;
  k.loop = loop;
  auto step = constantOf(loop.getStep());
  if (!step || *step < 1 || loop.getUnsignedCmp() || loop.getNumRegionIterArgs() != 1)
    return std::nullopt;
  k.step = *step;
  SmallVector<CopyOp> copies;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto gemm = dyn_cast<GemmOp>(op)) {
      if (k.gemm || gemm.getClear())
        return std::nullopt;
      k.gemm = gemm;
    } else if (auto copy = dyn_cast<CopyOp>(op)) {
      copies.push_back(copy);
    } else if (!isa<AllocOp>(op) && (!isPure(&op) || op.getNumRegions())) {
      return std::nullopt;
    }
  }
  if (!k.gemm || k.gemm.getAcc() != loop.getRegionIterArg(0) || !k.gemm.getAcc().hasOneUse() ||
      loop.getBody()->getTerminator()->getOperand(0) != k.gemm.getResult() ||
      !k.gemm.getResult().hasOneUse() || copies.size() != 2 || k.gemm.getA() == k.gemm.getB())
    return std::nullopt;
  for (CopyOp copy : copies) {
    std::optional<Fetch> fetch = fetchOf(copy, k);
    if (!fetch || !copy->isBeforeInBlock(k.gemm))
      return std::nullopt;
    int64_t depth = fetch->alloc.getBuffer().getType().getShape()[fetch->bufferAxis];
    if (k.depth && k.depth != depth)
      return std::nullopt;
    k.depth = depth;
    for (auto [axis, offset] : llvm::enumerate(copy.getSourceOffsets())) {
      auto slope = slopeOf(offset, loop.getInductionVar(), loop);
      int64_t want = axis == fetch->viewAxis ? depth : 0;
      if (!slope || *slope * k.step != want)
        return std::nullopt;
    }
    k.fetches.push_back(*fetch);
  }
  if (k.fetches[0].alloc == k.fetches[1].alloc)
    return std::nullopt;
  return k;
}

//===- The end of K ----------------------------------------------------------===//
/// Does `upper` times `depth` reach the end of the view's axis, when trips start at K = 0?
static bool reachesEnd(KLoop &k, Fetch &fetch) {
  scf::ForOp loop = k.loop;
  auto view = cast<ViewType>(fetch.copy.getSource().getType());
  // Offset exactly iv * depth / step.
  Value offset = fetch.copy.getSourceOffsets()[fetch.viewAxis];
  bool fromZero = offset == loop.getInductionVar() && k.step == k.depth;
  if (auto mul = offset.getDefiningOp<arith::MulIOp>())
    fromZero |=
        k.step == 1 && ((mul.getLhs() == loop.getInductionVar() && constantOf(mul.getRhs()) == k.depth) ||
                        (mul.getRhs() == loop.getInductionVar() && constantOf(mul.getLhs()) == k.depth));
  if (!fromZero || constantOf(loop.getLowerBound()) != 0)
    return false;
  int64_t extent = view.getShape()[fetch.viewAxis], perUnit = k.depth / k.step;
  if (auto upper = constantOf(loop.getUpperBound()); upper && !ShapedType::isDynamic(extent))
    return *upper * perUnit >= extent;
  Value size = loop.getUpperBound();
  if (k.step == 1) {
    Operation *def = size.getDefiningOp();
    if (!def || !isa<arith::CeilDivUIOp, arith::CeilDivSIOp>(def) ||
        constantOf(def->getOperand(1)) != k.depth)
      return false;
    size = def->getOperand(0);
  }
  if (auto number = constantOf(size); number && !ShapedType::isDynamic(extent))
    return *number >= extent;
  auto dim = size.getDefiningOp<DimOp>();
  return dim && sameViewExtent(fetch.copy.getSource(), fetch.viewAxis, dim);
}

//===- The rewrite -----------------------------------------------------------===//
static void merge(KLoop &k, int64_t factor) {
  scf::ForOp loop = k.loop;
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  bool whole = llvm::all_of(k.fetches, [&](Fetch &f) { return reachesEnd(k, f); });
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  Value step = arith::ConstantIndexOp::create(b, loc, k.step * factor);
  Value end = upper;
  if (!whole) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value length = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, upper, lower), zero);
    Value rest = arith::RemUIOp::create(b, loc, length, step);
    end = arith::AddIOp::create(b, loc, lower, arith::SubIOp::create(b, loc, length, rest));
  }
  auto merged = scf::ForOp::create(b, loc, lower, end, step, loop.getInitArgs());
  merged->setAttrs(loop->getAttrs());
  b.setInsertionPointToStart(merged.getBody());
  IRMapping map;
  map.map(loop.getInductionVar(), merged.getInductionVar());
  map.map(loop.getRegionIterArg(0), merged.getRegionIterArg(0));
  for (Fetch &fetch : k.fetches) {
    auto type = AllocOp(fetch.alloc).getBuffer().getType();
    SmallVector<int64_t> shape(type.getShape());
    shape[fetch.bufferAxis] *= factor;
    auto larger = BufferType::get(b.getContext(), shape, type.getElementType(), type.getLayout());
    map.map(AllocOp(fetch.alloc).getBuffer(), AllocOp::create(b, loc, larger, IntegerAttr()).getBuffer());
  }
  for (Operation &op : loop.getBody()->getOperations())
    if (!isa<AllocOp>(op) || !map.contains(op.getResult(0)))
      b.clone(op, map);
  if (!whole) {
    loop.getLowerBoundMutable().assign(end);
    loop.getInitArgsMutable().assign(merged.getResult(0));
    return;
  }
  loop.replaceAllUsesWith(merged.getResults());
  loop.erase();
  for (Fetch &fetch : k.fetches)
    if (fetch.alloc.getBuffer().use_empty() && !isa<scf::ForOp>(fetch.alloc->getParentOp()))
      fetch.alloc.erase();
}

namespace {
struct MergeKSteps : tile::impl::TileMergeKStepsBase<MergeKSteps> {
  void runOnOperation() override {
    const TargetDesc *target = cpuTargetOf(getOperation());
    if (!target)
      return;
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      std::optional<KLoop> k = analyze(loop);
      if (!k)
        continue;
      int64_t columns = k->gemm.getInst() && k->gemm.getInst()->getShape().size() > 1
                            ? k->gemm.getInst()->getShape()[1]
                            : 2 * target->vectorLanes32;
      int64_t bytes = k->gemm.getAcc().getType().getElementType().isF64() ? 8 : 4;
      int64_t factor = cpuChunk(*target, columns, bytes) / k->depth;
      if (factor > 1)
        merge(*k, factor);
    }
  }
};
} // namespace
