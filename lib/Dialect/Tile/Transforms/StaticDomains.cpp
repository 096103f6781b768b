//===- StaticDomains.cpp - Parallel extents known only at run time -----------===//
//
// A run-time axis that indexes a fragment takes the fragment's extent and a guard. Any other becomes a loop:
// the last one runs in chunks, whole chunks without a guard and the rest with one, the ones before it trip by
// trip. Large nests over memory alone are cut into chunks as well, so that what they load fits into
// registers.
//
//===----------------------------------------------------------------------===//
#include "tilec/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILESTATICDOMAINS
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec::tile;

namespace {
/// Elements that one generic over memory alone should handle at once: 16 for each of 256 threads.
constexpr int64_t kChunk = 4096;
/// Elements of a chunk of a run-time axis.
constexpr int64_t kDynamicChunk = 1024;

/// The values of one execution of a generic's body at shifted indices.
class GenericBuilder {
public:
  GenericBuilder(OpBuilder &b, GenericOp source) : b(b), source(source), domain(source.getDomain()) {
    axisOffsets.resize(domain.size());
    axisLimits.resize(domain.size());
  }

  OpBuilder &b;
  GenericOp source;
  SmallVector<int64_t> domain;
  SmallVector<Value> axisOffsets; ///< added to the index; null: 0
  SmallVector<Value> axisLimits;  ///< iterations at or past it do nothing; null: none

  /// The generic over the (now static) domain, from the outs given.
  SmallVector<Value> create(ValueRange outs) {
    Location loc = source.getLoc();
    auto op = GenericOp::create(b, loc, TypeRange(outs), domain, ValueRange{}, ValueRange{}, outs, outMaps(),
                                source.getCombineAttr(), source.getLayoutAttr());
    op->setDiscardableAttrs(source->getDiscardableAttrDictionary());
    SmallVector<Type> types(domain.size(), b.getIndexType());
    for (Value out : outs)
      types.push_back(getElementTypeOf(out.getType()));
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&op.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
    auto old = body->getArguments().drop_front(domain.size());
    Value inside;
    for (auto [axis, limit] : llvm::enumerate(axisLimits)) {
      if (!limit)
        continue;
      Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, body->getArgument(axis), limit);
      inside = inside ? arith::AndIOp::create(b, loc, inside, below).getResult() : below;
    }
    SmallVector<Value> results;
    if (inside) {
      auto choice = scf::IfOp::create(b, loc, TypeRange(ValueRange(old)), inside, /*addThenBlock=*/true,
                                      /*addElseBlock=*/!old.empty());
      b.setInsertionPointToStart(choice.thenBlock());
      SmallVector<Value> fresh = cloneBody(body);
      scf::YieldOp::create(b, loc, fresh);
      if (!old.empty()) {
        b.setInsertionPointToStart(choice.elseBlock());
        scf::YieldOp::create(b, loc, old);
      }
      b.setInsertionPointAfter(choice);
      results.assign(choice.result_begin(), choice.result_end());
    } else {
      results = cloneBody(body);
    }
    YieldOp::create(b, loc, results);
    return SmallVector<Value>(op.result_begin(), op.result_end());
  }

private:
  ArrayAttr outMaps() {
    SmallVector<AffineMap> maps = source.getIndexingMaps();
    maps.erase(maps.begin(), maps.begin() + source.getIns().size());
    return b.getAffineMapArrayAttr(maps);
  }

  /// Operands are read where they stand: the maps of `ins` cannot say an offset.
  Value readIn(unsigned i, ValueRange indices) {
    Location loc = source.getLoc();
    Value in = source.getIns()[i];
    SmallVector<Value> at;
    for (AffineExpr expr : source.getInMap(i).getResults())
      at.push_back(evaluate(expr, indices));
    if (isa<TileType>(in.getType()))
      return ExtractOp::create(b, loc, in, at);
    return ElemLoadOp::create(b, loc, in, at, DenseBoolArrayAttr());
  }

  Value evaluate(AffineExpr expr, ValueRange indices) {
    Location loc = source.getLoc();
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return indices[dim.getPosition()];
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return arith::ConstantIndexOp::create(b, loc, constant.getValue());
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Value lhs = evaluate(binary.getLHS(), indices), rhs = evaluate(binary.getRHS(), indices);
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return arith::AddIOp::create(b, loc, lhs, rhs);
    case AffineExprKind::Mul:
      return arith::MulIOp::create(b, loc, lhs, rhs);
    case AffineExprKind::FloorDiv:
      return arith::FloorDivSIOp::create(b, loc, lhs, rhs);
    case AffineExprKind::CeilDiv:
      return arith::CeilDivSIOp::create(b, loc, lhs, rhs);
    default: { // mod is not negative for the positive divisors that affine maps have
      Value quotient = arith::FloorDivSIOp::create(b, loc, lhs, rhs);
      return arith::SubIOp::create(b, loc, lhs, arith::MulIOp::create(b, loc, quotient, rhs));
    }
    }
  }

  SmallVector<Value> cloneBody(Block *into) {
    Location loc = source.getLoc();
    IRMapping map;
    SmallVector<Value> indices;
    for (auto [axis, offset] : llvm::enumerate(axisOffsets)) {
      Value index = into->getArgument(axis);
      if (offset && domain[axis] == 1)
        index = offset;
      else if (offset)
        index = arith::AddIOp::create(b, loc, offset, index);
      indices.push_back(index);
    }
    map.map(source.getIndexArgs(), indices);
    for (auto [i, argument] : llvm::enumerate(source.getInArgs()))
      if (!argument.use_empty())
        map.map(argument, readIn(i, indices));
    map.map(source.getOutArgs(), into->getArguments().drop_front(domain.size()));
    Block &body = source.getBody().front();
    for (Operation &op : body.without_terminator())
      b.clone(op, map);
    SmallVector<Value> results;
    for (Value value : cast<YieldOp>(body.getTerminator()).getValues())
      results.push_back(map.lookupOrDefault(value));
    return results;
  }
};

/// `f(iv, carried)` for iv in lower .. upper by step; returns the final values.
SmallVector<Value> makeLoop(OpBuilder &b, Location loc, Value lower, Value upper, Value step,
                            ValueRange inits, function_ref<SmallVector<Value>(Value, ValueRange)> f) {
  auto loop = scf::ForOp::create(b, loc, lower, upper, step, inits);
  if (!loop.getBody()->empty())
    loop.getBody()->back().erase();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> next = f(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.result_begin(), loop.result_end());
}

class DomainRewriter {
public:
  explicit DomainRewriter(GenericOp op) : op(op), b(op), loc(op.getLoc()), builder(b, op) {}

  LogicalResult makeStatic() {
    unsigned next = 0;
    SmallVector<std::pair<unsigned, Value>> loops; // axis, extent
    for (auto [axis, extent] : llvm::enumerate(op.getDomain())) {
      if (!ShapedType::isDynamic(extent))
        continue;
      Value size = op.getExtents()[next++];
      FailureOr<std::optional<int64_t>> limit = limitByTiles(axis);
      if (failed(limit))
        return failure();
      if (*limit) {
        builder.domain[axis] = **limit;
        builder.axisLimits[axis] = size;
      } else {
        loops.push_back({static_cast<unsigned>(axis), size});
      }
    }
    replace(loopNest(loops, op.getOuts()));
    return success();
  }

  /// A large domain over memory alone: chunks of the first axis that can be cut evenly, else loops over the
  /// first axes.
  void cut() {
    double total = 1; // the product of int64 extents may be more than an int64
    for (int64_t extent : op.getDomain())
      total *= double(extent);
    if (total <= kChunk)
      return;
    for (unsigned axis = 0; axis < op.getDomain().size(); ++axis) {
      int64_t extent = op.getDomain()[axis], chunk = extent;
      double rest = total / double(extent);
      while (chunk > 1 && double(chunk) * rest > kChunk && chunk % 2 == 0)
        chunk /= 2;
      if (double(chunk) * rest > kChunk)
        continue;
      builder.domain[axis] = chunk;
      Value zero = constant(0), upper = constant(extent), step = constant(chunk);
      replace(makeLoop(b, loc, zero, upper, step, {}, [&](Value iv, ValueRange) {
        builder.axisOffsets[axis] = iv;
        return builder.create({});
      }));
      return;
    }
    SmallVector<std::pair<unsigned, Value>> loops;
    for (unsigned axis = 0; total > kChunk; ++axis) {
      loops.push_back({axis, constant(op.getDomain()[axis])});
      total /= double(op.getDomain()[axis]);
    }
    replace(loopNest(loops, {}));
  }

private:
  Value constant(int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); }

  void replace(ArrayRef<Value> values) {
    op->replaceAllUsesWith(values);
    op.erase();
  }

  /// The largest extent of `axis` for which every tile indexed by it is still inside.
  FailureOr<std::optional<int64_t>> limitByTiles(unsigned axis) {
    std::optional<int64_t> limit;
    SmallVector<Value> operands(op.getIns());
    llvm::append_range(operands, op.getOuts());
    SmallVector<AffineMap> maps = op.getIndexingMaps();
    for (auto [i, operand] : llvm::enumerate(operands)) {
      bool isOut = i >= op.getIns().size();
      auto tile = dyn_cast<TileType>(operand.getType());
      if (!tile || !isOut)
        continue; // read where they stand, under the guard
      for (auto [result, extent] : llvm::zip(maps[i].getResults(), tile.getShape())) {
        if (!result.isFunctionOfDim(axis))
          continue;
        AffineExpr offset = result - b.getAffineDimExpr(axis);
        auto constant = dyn_cast<AffineConstantExpr>(offset);
        if (!constant)
          return op.emitOpError() << "has a run-time extent along axis " << axis << ", which map "
                                  << AffineMapAttr::get(maps[i]) << " of out " << i - op.getIns().size()
                                  << " uses otherwise than as an index";
        int64_t most = extent - constant.getValue();
        limit = std::min(limit.value_or(most), most);
      }
    }
    return limit;
  }

  SmallVector<Value> loopNest(ArrayRef<std::pair<unsigned, Value>> loops, ValueRange outs) {
    if (loops.empty())
      return builder.create(outs);
    auto [axis, size] = loops.front();
    if (loops.size() == 1)
      return chunks(axis, size, outs);
    builder.domain[axis] = 1;
    return makeLoop(b, loc, constant(0), size, constant(1), outs,
                    [&, axis = axis](Value iv, ValueRange carried) {
                      builder.axisOffsets[axis] = iv;
                      return loopNest(loops.drop_front(), carried);
                    });
  }

  /// What the axis indexes bounds its trips; a longer chunk would never be whole.
  int64_t smallestExtent(unsigned axis) {
    int64_t smallest = kDynamicChunk;
    auto consider = [&](Type memory, ValueRange indices) {
      if (isa<ViewType>(memory))
        return;
      for (auto [index, extent] : llvm::zip(indices, getShapeOf(memory)))
        if (index == op.getIndexArgs()[axis])
          smallest = std::min(smallest, extent);
    };
    op.getBody().walk([&](Operation *inner) {
      if (auto load = dyn_cast<ElemLoadOp>(inner))
        consider(load.getSource().getType(), load.getIndices());
      else if (auto store = dyn_cast<ElemStoreOp>(inner))
        consider(store.getDest().getType(), store.getIndices());
      else if (auto extract = dyn_cast<ExtractOp>(inner))
        consider(extract.getTile().getType(), extract.getIndices());
    });
    return smallest;
  }

  SmallVector<Value> chunks(unsigned axis, Value size, ValueRange outs) {
    int64_t rest = 1;
    for (auto [i, extent] : llvm::enumerate(builder.domain))
      if (i != axis)
        rest *= ShapedType::isDynamic(extent) ? 1 : extent;
    int64_t chunk = 1, most = smallestExtent(axis);
    while (chunk * 2 * rest <= kDynamicChunk && chunk * 2 <= most)
      chunk *= 2;
    builder.domain[axis] = chunk;
    Value step = constant(chunk);
    Value trips = arith::DivUIOp::create(b, loc, size, step);
    Value whole = arith::MulIOp::create(b, loc, trips, step);
    SmallVector<Value> values =
        makeLoop(b, loc, constant(0), whole, step, outs, [&](Value iv, ValueRange carried) {
          builder.axisOffsets[axis] = iv;
          return builder.create(carried);
        });
    if (chunk == 1)
      return values;
    Value left = arith::SubIOp::create(b, loc, size, whole);
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, left, constant(0));
    auto tail = scf::IfOp::create(b, loc, TypeRange(ValueRange(values)), some, /*addThenBlock=*/true,
                                  /*addElseBlock=*/!values.empty());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(tail.thenBlock());
    builder.axisOffsets[axis] = whole;
    builder.axisLimits[axis] = left;
    scf::YieldOp::create(b, loc, builder.create(values));
    builder.axisLimits[axis] = {};
    if (!values.empty()) {
      b.setInsertionPointToStart(tail.elseBlock());
      scf::YieldOp::create(b, loc, values);
    }
    return SmallVector<Value>(tail.result_begin(), tail.result_end());
  }

  GenericOp op;
  OpBuilder b;
  Location loc;
  GenericBuilder builder;
};

/// Does it touch fragments? Then its domain is theirs.
bool touchesTiles(GenericOp op) {
  auto isTile = [](Value v) { return isa<TileType>(v.getType()); };
  if (llvm::any_of(op.getIns(), isTile) || !op.getOuts().empty())
    return true;
  return op.getBody().walk([](ExtractOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

struct StaticDomains : tilec::tile::impl::TileStaticDomainsBase<StaticDomains> {
  void runOnOperation() override {
    SmallVector<GenericOp> generics;
    getOperation().walk([&](GenericOp op) { generics.push_back(op); });
    for (GenericOp op : generics) {
      if (llvm::any_of(op.getDomain(), ShapedType::isDynamic)) {
        if (failed(DomainRewriter(op).makeStatic()))
          return signalPassFailure();
        continue;
      }
      if (!touchesTiles(op))
        DomainRewriter(op).cut();
    }
  }
};
} // namespace
