//===- EmitReduce.cpp - along an axis: reductions, scans; reshape ------------===//
//
// Sums run in four vectors and meet in a fixed tree, so results do not depend on anything but the shape and
// the level.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::cpu;
using namespace tilec::tile;

//===- Combining -------------------------------------------------------------===//
Value Emitter::prepare(Combine kind, Value x) {
  if (kind != Combine::absadd && kind != Combine::absmax)
    return x;
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return math::AbsFOp::create(code.b, code.loc, x);
  return math::AbsIOp::create(code.b, code.loc, x);
}

Value Emitter::combine(Combine kind, Value x, Value y) {
  Code &c = code;
  c.unify(x, y);
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  auto pick = [&](auto makeFloat, auto makeInt) { return isFloat ? makeFloat() : makeInt(); };
  switch (kind) {
  case Combine::add:
  case Combine::absadd:
    return pick([&] { return c.fold<arith::AddFOp>(x, y); }, [&] { return c.fold<arith::AddIOp>(x, y); });
  case Combine::mul:
    return pick([&] { return c.fold<arith::MulFOp>(x, y); }, [&] { return c.fold<arith::MulIOp>(x, y); });
  case Combine::max:
  case Combine::absmax:
    return pick([&] { return c.fold<arith::MaximumFOp>(x, y); },
                [&] { return c.fold<arith::MaxSIOp>(x, y); });
  case Combine::min:
    return pick([&] { return c.fold<arith::MinimumFOp>(x, y); },
                [&] { return c.fold<arith::MinSIOp>(x, y); });
  case Combine::maxnum:
    return pick([&] { return c.fold<arith::MaxNumFOp>(x, y); }, [&] { return c.fold<arith::MaxSIOp>(x, y); });
  case Combine::minnum:
    return pick([&] { return c.fold<arith::MinNumFOp>(x, y); }, [&] { return c.fold<arith::MinSIOp>(x, y); });
  case Combine::band:
    return c.fold<arith::AndIOp>(x, y);
  case Combine::bor:
    return c.fold<arith::OrIOp>(x, y);
  case Combine::bxor:
    return c.fold<arith::XOrIOp>(x, y);
  case Combine::none:
  case Combine::xchg:
  case Combine::cas:
    break;
  }
  return y;
}

/// Neutral element, as a scalar.
Value Emitter::identity(Combine kind, Type type) {
  Code &c = code;
  if (auto number = dyn_cast<FloatType>(type)) {
    auto infinity = [&](bool negative) -> Value {
      return arith::ConstantOp::create(
          c.b, c.loc, c.b.getFloatAttr(type, APFloat::getInf(number.getFloatSemantics(), negative)));
    };
    switch (kind) {
    case Combine::mul:
      return c.number(type, 1.0);
    case Combine::max:
    case Combine::absmax:
      return infinity(true);
    case Combine::min:
      return infinity(false);
    case Combine::maxnum:
    case Combine::minnum:
      return arith::ConstantOp::create(c.b, c.loc,
                                       c.b.getFloatAttr(type, APFloat::getQNaN(number.getFloatSemantics())));
    default:
      return c.number(type, 0.0);
    }
  }
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  switch (kind) {
  case Combine::mul:
    return c.integer(type, 1);
  case Combine::max:
  case Combine::maxnum:
  case Combine::absmax:
    return arith::ConstantOp::create(c.b, c.loc, c.b.getIntegerAttr(type, APInt::getSignedMinValue(bits)));
  case Combine::min:
  case Combine::minnum:
    return arith::ConstantOp::create(c.b, c.loc, c.b.getIntegerAttr(type, APInt::getSignedMaxValue(bits)));
  case Combine::band:
    return c.integer(type, -1);
  default:
    return c.integer(type, 0);
  }
}

/// One value out of all lanes, halves meeting halves.
Value Emitter::reduceLanes(Combine kind, Value x) {
  Code &c = code;
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type)
    return x;
  for (int64_t n = type.getNumElements(); n > 1; n /= 2) {
    SmallVector<int64_t> low(n / 2), high(n / 2);
    for (int64_t i = 0; i < n / 2; ++i) {
      low[i] = i;
      high[i] = n / 2 + i;
    }
    Value a = vector::ShuffleOp::create(c.b, c.loc, x, x, low),
          b = vector::ShuffleOp::create(c.b, c.loc, x, x, high);
    x = combine(kind, a, b);
  }
  return vector::ExtractOp::create(c.b, c.loc, x, 0);
}

/// Sums of narrow floats are kept in f32 and rounded once.
static Type workType(Type type) {
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(type.getContext());
  return type;
}

static SmallVector<Value> without(ArrayRef<Value> at, unsigned axis) {
  SmallVector<Value> rest(at);
  rest.erase(rest.begin() + axis);
  if (rest.empty())
    rest.push_back(at[axis]);
  return rest;
}

//===- Reductions ------------------------------------------------------------===//
namespace {
/// A running maximum or minimum that remembers NaNs on the side: compare and select cost half of a
/// propagating maximum.
struct Running {
  Value value, sawNan;
};
} // namespace

void Emitter::reduceRows(ReduceOp op, const Access &source, const Access &dest, Type type) {
  Code &c = code;
  Combine kind = op.getKind();
  ArrayRef<int64_t> shape = op.getSource().getType().getShape();
  unsigned axis = op.getAxis(), rank = shape.size();
  int64_t n = shape[axis], width = std::max<int64_t>(target.vectorBytes / elementBytes(type), 2);
  while (width > 2 && width > n)
    width /= 2;
  bool tracksNan =
      isa<FloatType>(type) && (kind == Combine::max || kind == Combine::min || kind == Combine::absmax);
  int64_t chains = std::clamp<int64_t>(n / width, 1, 4);
  int64_t block = chains * width, main = n / block * block;
  auto predicate = kind == Combine::min ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT;
  auto step = [&](Running r, Value x) -> Running {
    x = prepare(kind, x);
    if (!tracksNan)
      return {combine(kind, r.value, x), r.sawNan};
    Value better = arith::CmpFOp::create(c.b, c.loc, predicate, x, r.value);
    Value isNan = arith::CmpFOp::create(c.b, c.loc, arith::CmpFPredicate::UNO, x, x);
    return {c.select(better, x, r.value), c.either(r.sawNan, isNan)};
  };
  SmallVector<Value> lo, hi;
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < rank; ++i) {
    lo.push_back(c.index(0));
    hi.push_back(c.index(shape[i]));
    if (i != axis)
      order.push_back(i);
  }
  Value start = identity(kind, type);
  nest(lo, hi, order, [&](SmallVector<Value> &at) {
    SmallVector<Value> carried(chains, c.broadcast(start, width));
    if (tracksNan)
      carried.append(chains, c.integer(c.vec(c.b.getI1Type(), width), 0));
    auto load = [&](Value from, int64_t lanesHere) {
      at[axis] = from;
      return convert(c.load(addressOf(source, at), source.element, lanesHere), source.element, type);
    };
    if (main)
      carried = c.loop(c.index(0), c.index(main), block, carried, [&](Value iv, ValueRange args) {
        SmallVector<Value> next(args.size());
        for (int64_t i = 0; i < chains; ++i) {
          Running r =
              step({args[i], tracksNan ? args[chains + i] : Value()}, load(c.add(iv, i * width), width));
          next[i] = r.value;
          if (tracksNan)
            next[chains + i] = r.sawNan;
        }
        return next;
      });
    Running all{carried[0], tracksNan ? carried[chains] : Value()};
    int64_t done = main;
    for (; done + width <= n; done += width)
      all = step(all, load(c.index(done), width));
    for (int64_t i = 1; i < chains; ++i) {
      if (!tracksNan) {
        all.value = combine(kind, all.value, carried[i]);
        continue;
      }
      Value better = arith::CmpFOp::create(c.b, c.loc, predicate, carried[i], all.value);
      all = {c.select(better, carried[i], all.value), c.either(all.sawNan, carried[chains + i])};
    }
    Value result = all.value;
    if (tracksNan) {
      Value nan = arith::ConstantOp::create(
          c.b, c.loc, c.b.getFloatAttr(type, APFloat::getQNaN(cast<FloatType>(type).getFloatSemantics())));
      result = c.select(all.sawNan, c.broadcast(nan, width), result);
    }
    result = reduceLanes(kind, result);
    for (; done < n; ++done)
      result = combine(kind, result, prepare(kind, load(c.index(done), 1)));
    at[axis] = c.index(0);
    c.store(convert(result, type, dest.element), addressOf(dest, without(at, axis)), dest.element);
  });
}

/// The reduced axis is not the last one: vectors along the last, four of them at a time.
void Emitter::reduceColumns(ReduceOp op, const Access &source, const Access &dest, Type type) {
  Code &c = code;
  Combine kind = op.getKind();
  ArrayRef<int64_t> shape = op.getSource().getType().getShape();
  unsigned axis = op.getAxis(), last = shape.size() - 1;
  int64_t n = shape[last], width = std::max<int64_t>(target.vectorBytes / elementBytes(type), 2);
  while (width > 1 && width > n)
    width /= 2;
  SmallVector<Value> lo, hi;
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < shape.size(); ++i) {
    lo.push_back(c.index(0));
    hi.push_back(c.index(shape[i]));
    if (i != axis && i != last)
      order.push_back(i);
  }
  Value start = identity(kind, type);
  nest(lo, hi, order, [&](SmallVector<Value> &at) {
    auto strip = [&](Value from, int64_t chains, int64_t lanesHere) {
      Value first = lanesHere > 1 ? c.broadcast(start, lanesHere) : start;
      SmallVector<Value> sums =
          c.loop(c.index(0), hi[axis], 1, SmallVector<Value>(chains, first), [&](Value iv, ValueRange args) {
            SmallVector<Value> next;
            at[axis] = iv;
            for (int64_t i = 0; i < chains; ++i) {
              at[last] = c.add(from, i * lanesHere);
              Value x =
                  convert(c.load(addressOf(source, at), source.element, lanesHere), source.element, type);
              next.push_back(combine(kind, args[i], prepare(kind, x)));
            }
            return next;
          });
      at[axis] = c.index(0);
      for (int64_t i = 0; i < chains; ++i) {
        at[last] = c.add(from, i * lanesHere);
        c.store(convert(sums[i], type, dest.element), addressOf(dest, without(at, axis)), dest.element);
      }
    };
    int64_t chains = std::clamp<int64_t>(n / width, 1, 4), done = n / (chains * width) * (chains * width);
    c.loop(c.index(0), c.index(done), chains * width, [&](Value iv) { strip(iv, chains, width); });
    c.loop(c.index(done), c.index(n / width * width), width, [&](Value iv) { strip(iv, 1, width); });
    c.loop(c.index(n / width * width), c.index(n), 1, [&](Value iv) { strip(iv, 1, 1); });
  });
}

LogicalResult Emitter::emitReduce(ReduceOp op) {
  if (!plan->hasPlace(op.getResult()) || op.getResult().use_empty())
    return success();
  Access source = accessOf(op.getSource()), dest = accessOf(op.getResult());
  Type type = workType(registerType(op.getResult().getType().getElementType()));
  if (isFloat8(op.getResult().getType().getElementType()))
    type = code.b.getF32Type();
  if (static_cast<size_t>(op.getAxis()) + 1 == op.getSource().getType().getShape().size())
    reduceRows(op, source, dest, type);
  else
    reduceColumns(op, source, dest, type);
  return success();
}

//===- Scans -----------------------------------------------------------------===//
LogicalResult Emitter::emitScan(ScanOp op) {
  Code &c = code;
  if (!plan->hasPlace(op.getResult()))
    return success();
  Access source = accessOf(op.getSource()), dest = accessOf(op.getResult());
  ArrayRef<int64_t> shape = op.getSource().getType().getShape();
  unsigned axis = op.getAxis(), last = shape.size() - 1;
  Type element = op.getSource().getType().getElementType(), type = workType(registerType(element));
  if (isFloat8(element))
    type = c.b.getF32Type();
  int64_t width = axis == last ? 1 : std::max<int64_t>(target.vectorBytes / elementBytes(type), 2);
  SmallVector<Value> lo, hi;
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < shape.size(); ++i) {
    lo.push_back(c.index(0));
    hi.push_back(c.index(shape[i]));
    if (i != axis && i != last)
      order.push_back(i);
  }
  Value start = identity(op.getKind(), type);
  nest(lo, hi, order, [&](SmallVector<Value> &at) {
    auto line = [&](int64_t lanesHere) {
      Value first = lanesHere > 1 ? c.broadcast(start, lanesHere) : start;
      c.loop(c.index(0), hi[axis], 1, ValueRange{first}, [&](Value iv, ValueRange args) {
        at[axis] = op.getReverse() ? c.sub(c.sub(hi[axis], 1), iv) : iv;
        Value x = convert(c.load(addressOf(source, at), source.element, lanesHere), source.element, type);
        Value sum = combine(op.getKind(), args[0], prepare(op.getKind(), x));
        c.store(convert(sum, type, dest.element), addressOf(dest, at), dest.element);
        return SmallVector<Value>{sum};
      });
    };
    if (axis == last)
      return line(1);
    int64_t main = shape[last] / width * width;
    c.loop(c.index(0), c.index(main), width, [&](Value iv) {
      at[last] = iv;
      line(width);
    });
    c.loop(c.index(main), hi[last], 1, [&](Value iv) {
      at[last] = iv;
      line(1);
    });
  });
  return success();
}

//===- Reshape ---------------------------------------------------------------===//
/// Row-major order of the elements is kept; other element types take the same bytes.
LogicalResult Emitter::emitReshape(ReshapeOp op) {
  Code &c = code;
  TileType from = op.getSource().getType(), to = op.getResult().getType();
  if (Value scalar = uniform.lookup(op.getSource()); scalar && from.getElementType() == to.getElementType())
    uniform[op.getResult()] = scalar;
  if (!plan->hasPlace(op.getResult()))
    return success();
  Access source = accessOf(op.getSource()), dest = accessOf(op.getResult());
  int64_t fromBytes = elementBytes(from.getElementType()), toBytes = elementBytes(to.getElementType());
  int64_t unit = std::min(fromBytes, toBytes);
  Type piece = c.b.getIntegerType(unit * 8);
  int64_t count = from.getNumElements() * fromBytes / unit;
  // Piece number -> address: coordinates of the element, then the piece in it.
  auto address = [&](const Access &side, ArrayRef<int64_t> shape, int64_t bytes, Value number) {
    int64_t pieces = bytes / unit;
    Value rest = c.div(number, pieces), inside = c.rem(number, pieces);
    SmallVector<Value> at(shape.size());
    for (size_t axis = shape.size(); axis-- > 0;) {
      at[axis] = axis ? c.rem(rest, shape[axis]) : rest;
      rest = c.div(rest, shape[axis]);
    }
    return c.gep(addressOf(side, at), piece, inside);
  };
  c.loop(c.index(0), c.index(count), 1, [&](Value iv) {
    Value raw =
        LLVM::LoadOp::create(c.b, c.loc, piece, address(source, from.getShape(), fromBytes, iv), unit);
    LLVM::StoreOp::create(c.b, c.loc, raw, address(dest, to.getShape(), toBytes, iv), unit);
  });
  return success();
}
