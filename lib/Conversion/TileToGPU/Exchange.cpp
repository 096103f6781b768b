//===- Exchange.cpp - what threads tell each other ---------------------------===//
#include "Emitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

//===----------------------------------------------------------------------===//
// Combining
//===----------------------------------------------------------------------===//

Value Emitter::combine(Combine kind, Value x, Value y) {
  bool f = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  switch (kind) {
  case Combine::add:
  case Combine::absadd:
    return f ? code.fold<arith::AddFOp>(x, y) : code.fold<arith::AddIOp>(x, y);
  case Combine::mul:
    return f ? code.fold<arith::MulFOp>(x, y) : code.fold<arith::MulIOp>(x, y);
  case Combine::max:
  case Combine::absmax:
    return f ? code.fold<arith::MaximumFOp>(x, y) : code.fold<arith::MaxSIOp>(x, y);
  case Combine::min:
    return f ? code.fold<arith::MinimumFOp>(x, y) : code.fold<arith::MinSIOp>(x, y);
  case Combine::maxnum:
    return f ? code.fold<arith::MaxNumFOp>(x, y) : code.fold<arith::MaxSIOp>(x, y);
  case Combine::minnum:
    return f ? code.fold<arith::MinNumFOp>(x, y) : code.fold<arith::MinSIOp>(x, y);
  case Combine::band:
    return code.fold<arith::AndIOp>(x, y);
  case Combine::bor:
    return code.fold<arith::OrIOp>(x, y);
  case Combine::bxor:
    return code.fold<arith::XOrIOp>(x, y);
  default:
    return y;
  }
}

Value Emitter::prepare(Combine kind, Value x) {
  if (kind != Combine::absadd && kind != Combine::absmax)
    return x;
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return math::AbsFOp::create(code.b, code.loc, x);
  return code.fold<arith::MaxSIOp>(x, code.sub(code.zero(x.getType()), x));
}

Value Emitter::identity(Combine kind, Type type) {
  if (auto f = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &s = f.getFloatSemantics();
    APFloat value = APFloat::getZero(s);
    if (kind == Combine::mul)
      value = APFloat::getOne(s);
    else if (kind == Combine::max)
      value = APFloat::getInf(s, /*Negative=*/true);
    else if (kind == Combine::min)
      value = APFloat::getInf(s);
    else if (kind == Combine::maxnum || kind == Combine::minnum)
      value = APFloat::getNaN(s); // loses against everything
    return arith::ConstantOp::create(code.b, code.loc, code.b.getFloatAttr(f, value));
  }
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  APInt value = APInt::getZero(bits);
  if (kind == Combine::mul)
    value = APInt(bits, 1);
  else if (kind == Combine::max || kind == Combine::maxnum)
    value = APInt::getSignedMinValue(bits);
  else if (kind == Combine::min || kind == Combine::minnum)
    value = APInt::getSignedMaxValue(bits);
  else if (kind == Combine::band)
    value = APInt::getAllOnes(bits);
  return arith::ConstantOp::create(code.b, code.loc, code.b.getIntegerAttr(type, value));
}

/// A tree, so that several chains run at once; its shape depends on the count alone.
Value Emitter::combineAll(Combine kind, SmallVector<Value> values) {
  while (values.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(combine(kind, values[i], values[i + 1]));
    if (values.size() % 2)
      next.push_back(values.back());
    values = std::move(next);
  }
  return values.front();
}

/// Moves a scalar of any width as 32-bit words.
Value Emitter::shuffle(Value scalar, llvm::function_ref<Value(Value)> move) {
  OpBuilder &b = code.b;
  Type type = scalar.getType(), i32 = b.getI32Type();
  if (type.isIndex())
    return code.toIndex(shuffle(b.createOrFold<arith::IndexCastOp>(code.loc, b.getI64Type(), scalar), move));
  unsigned bits = type.getIntOrFloatBitWidth();
  Type word = b.getIntegerType(bits);
  Value x = code.cast(scalar, word);
  if (bits == 64) {
    Value low = arith::TruncIOp::create(b, code.loc, i32, x);
    Value high =
        arith::TruncIOp::create(b, code.loc, i32, arith::ShRUIOp::create(b, code.loc, x, code.i64(32)));
    low = arith::ExtUIOp::create(b, code.loc, word, move(low));
    high = arith::ExtUIOp::create(b, code.loc, word, move(high));
    x = arith::OrIOp::create(b, code.loc, low, arith::ShLIOp::create(b, code.loc, high, code.i64(32)));
  } else if (bits < 32) {
    x = move(arith::ExtUIOp::create(b, code.loc, i32, x));
    x = arith::TruncIOp::create(b, code.loc, word, x);
  } else {
    x = move(x);
  }
  return code.cast(x, type);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitReduce(ReduceOp op) {
  TileType source = op.getSource().getType(), result = op.getResult().getType();
  const Layout &l = source.getLayout().getLayout(), &out = result.getLayout().getLayout();
  unsigned axis = op.getAxis();
  Type element = source.getElementType();
  Type acc = result.getElementType();
  if (isa<FloatType>(acc) && acc.getIntOrFloatBitWidth() < 32)
    acc = code.b.getF32Type();
  int64_t bytes = std::max<int64_t>(4, storageBits(result.getElementType()) / 8);
  std::string why;
  FailureOr<Reduction> plan = planReduction(l, axis, bytes, &why);
  if (failed(plan))
    return unsupported(*op, "a reduction of this layout (" + why + ")");
  Combine kind = op.getKind();
  Coords coords = coordsOf(l, source.getRank());
  // Registers of the result: those of the source that agree on the other axes.
  SmallVector<AffineExpr> kept;
  for (unsigned d = 0; d < unsigned(source.getRank()); ++d)
    if (d != axis)
      kept.push_back(getAffineDimExpr(d, op.getContext()));
  if (kept.empty())
    kept.push_back(getAffineConstantExpr(0, op.getContext()));
  AffineMap map = AffineMap::get(source.getRank(), 0, kept, op.getContext());
  SmallVector<int64_t> place = matchRegisters(l, map, out);
  if (llvm::is_contained(place, -1))
    return op.emitError() << "[E0505] the result of this reduction lies in other threads";
  Value fragment = get(op.getSource());
  SmallVector<SmallVector<Value>> parts(out.inSize(DimId::Reg));
  for (int64_t r = 0; r < l.inSize(DimId::Reg); ++r) {
    if (isReplicaRegister(l, r))
      continue;
    Value x = code.element(fragment, r);
    if (x.getType() != acc) {
      if (isFloat8(element))
        x = convertFloat(x, element, acc);
      else if (isa<FloatType>(acc))
        x = arith::ExtFOp::create(code.b, code.loc, acc, x);
      else
        x = code.b.createOrFold<arith::ExtSIOp>(code.loc, acc, x);
    }
    x = prepare(kind, x);
    if (plan->identityFill) {
      Value inside = code.ult(coordAt(coords, axis, r), source.getShape()[axis]);
      x = code.select(inside, x, identity(kind, acc));
    }
    parts[place[r]].push_back(x);
  }
  SmallVector<Value> values;
  for (SmallVector<Value> &p : parts)
    values.push_back(p.empty() ? identity(kind, acc) : combineAll(kind, p));
  for (const Reduction::Step &step : plan->steps)
    for (Value &v : values) {
      if (!step.rotate) {
        v = combine(kind, v, shuffle(v, [&](Value w) { return shuffleXor(w, step.place); }));
        continue;
      }
      // All lanes read all values in the same order, so that they agree on the last bit.
      Value digit = code.rem(code.div(threads.lane, step.place), step.n);
      Value first = code.sub(threads.lane, code.mul(digit, step.place));
      Value mine = v, sum;
      for (int64_t i = 0; i < step.n; ++i) {
        Value from = code.add(first, i * step.place);
        Value x = shuffle(mine, [&](Value w) { return shuffleFrom(w, from); });
        sum = sum ? combine(kind, sum, x) : x;
      }
      v = sum;
    }
  if (plan->parts > 1) {
    auto scratch = op->getAttrOfType<IntegerAttr>(TileDialect::kScratchAttrName);
    if (!scratch)
      return op.emitError()
             << "[E0505] a reduction across warps has no shared memory: run tile-allocate-shared";
    // partial[part][element of the result]
    SmallVector<int64_t> shape(result.getShape());
    int64_t count = 1;
    for (int64_t e : shape)
      count *= e;
    Coords oc = coordsOf(out, shape.size());
    Value part;
    int64_t scale = 1;
    for (const Layout::Run &run : plan->warps) {
      for (const LayoutInput &in : threadInputs(l))
        if (in.dim == run.dim) {
          Value digit = code.div(in.value, run.place);
          if (run.place * run.n < in.range)
            digit = code.rem(digit, run.n);
          part = code.add(part, code.mul(digit, scale));
        }
      scale *= run.n;
    }
    auto offsetOf = [&](int64_t r) {
      Value at;
      for (unsigned d = 0; d < shape.size(); ++d)
        at = code.add(at ? code.mul(at, shape[d]) : at, coordAt(oc, d, r));
      return at ? at : code.i32(0);
    };
    int64_t width = memoryBytes(acc);
    Type mem = memoryType(acc);
    for (size_t r = 0; r < values.size(); ++r) {
      Value valid = validAt(out, oc, shape, r), value = values[r];
      code.when(valid, [&] {
        Value at = code.add(offsetOf(r), code.mul(part ? part : code.i32(0), count));
        Value ptr = sharedPtr(code.add(code.mul(at, width), code.i32(scratch.getInt())));
        code.store(code.toMemory(value, acc), ptr, width);
      });
    }
    roleBarrier();
    for (size_t r = 0; r < values.size(); ++r) {
      Value valid = validAt(out, oc, shape, r), old = values[r];
      values[r] = code.choose(
                          valid, {acc},
                          [&]() -> SmallVector<Value> {
                            SmallVector<Value> all;
                            for (int64_t p = 0; p < plan->parts; ++p) {
                              Value at = code.add(code.mul(code.add(offsetOf(r), p * count), width),
                                                  code.i32(scratch.getInt()));
                              all.push_back(code.fromMemory(code.load(sharedPtr(at), mem, width), acc));
                            }
                            return {combineAll(kind, all)};
                          },
                          [&] { return SmallVector<Value>{old}; })
                      .front();
    }
    roleBarrier(); // the scratch is free again
  }
  Type finalType = registerType(result.getElementType());
  for (Value &v : values)
    if (v.getType() != finalType)
      v = isFloat8(result.getElementType())
              ? convertFloat(v, acc, result.getElementType())
              : arith::TruncFOp::create(code.b, code.loc, finalType, v).getResult();
  set(op.getResult(), code.fromElements(values));
  return success();
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// Through shared memory: one thread runs along one row.
LogicalResult Emitter::emitScan(ScanOp op) {
  TileType type = op.getSource().getType();
  const Layout &l = type.getLayout().getLayout();
  Type element = type.getElementType();
  auto scratch = op->getAttrOfType<IntegerAttr>(TileDialect::kScratchAttrName);
  if (!scratch)
    return unsupported(*op, "a scan");
  SmallVector<DimValue> dims;
  for (auto [axis, extent] : llvm::enumerate(type.getShape()))
    dims.push_back({coord(axis), extent});
  auto layout = LayoutAttr::get(op.getContext(), Layout::rowMajor(dims));
  auto bufferType = BufferType::get(op.getContext(), type.getShape(), element, layout);
  // A value of the tile dialect stands for the scratch area while its address is known here.
  OpBuilder before(op);
  Value buffer = AllocOp::create(before, op.getLoc(), bufferType, before.getI64IntegerAttr(scratch.getInt()));
  set(buffer, code.i32(scratch.getInt()));
  Region region = regionOf(buffer, {}, std::nullopt, type.getShape());
  storeFragment(get(op.getSource()), l, type.getShape(), element, region, 0, l.inSize(DimId::Reg));
  roleBarrier();
  unsigned axis = op.getAxis();
  int64_t length = type.getShape()[axis], inner = 1, outer = 1;
  for (unsigned d = 0; d < unsigned(type.getRank()); ++d)
    (d < axis ? outer : inner) *= d == axis ? 1 : type.getShape()[d];
  int64_t rows = inner * outer, count = threads.allWarps() * target.warpSize, bytes = memoryBytes(element);
  Type mem = memoryType(element);
  bool narrow = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  Type acc = narrow ? Type(code.b.getF32Type()) : element;
  auto widen = [&](Value v) { return narrow ? convertFloat(v, element, acc) : v; };
  auto loop = scf::ForOp::create(code.b, code.loc, threadInRole(), code.i32(rows), code.i32(count));
  {
    OpBuilder::InsertionGuard guard(code.b);
    code.b.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar();
    Value start = code.add(code.mul(code.div(row, inner), inner * length), code.rem(row, inner));
    int64_t step = inner;
    if (op.getReverse()) {
      start = code.add(start, (length - 1) * inner);
      step = -inner;
    }
    Value base = sharedPtr(code.add(code.mul(start, bytes), code.i32(scratch.getInt())));
    auto run = scf::ForOp::create(code.b, code.loc, code.i32(0), code.i32(length), code.i32(1),
                                  ValueRange{identity(op.getKind(), acc)});
    code.b.setInsertionPointToStart(run.getBody());
    Value ptr = code.offset(base, code.b.getI8Type(), code.mul(run.getInductionVar(), step * bytes));
    Value x = prepare(op.getKind(), widen(code.fromMemory(code.load(ptr, mem, bytes), element)));
    Value sum = combine(op.getKind(), run.getRegionIterArg(0), x);
    Value back = narrow ? convertFloat(sum, acc, element) : sum;
    code.store(code.toMemory(back, element), ptr, bytes);
    scf::YieldOp::create(code.b, code.loc, sum);
  }
  roleBarrier();
  set(op.getResult(), loadFragment(l, type.getShape(), element, region, 0, l.inSize(DimId::Reg)));
  roleBarrier();
  return success();
}

//===----------------------------------------------------------------------===//
// Changes of layout
//===----------------------------------------------------------------------===//

Value Emitter::convertBySelect(const Conversion &plan, Value value, const Layout &dst) {
  const Layout &from = *plan.from;
  auto thread = evaluate(from, DimId::Reg, threadInputs(from));
  auto regs = from.contributions(DimId::Reg, DimId::Reg);
  int64_t n = cast<VectorType>(value.getType()).getNumElements();
  SmallVector<Value> result;
  for (int64_t r = 0; r < dst.inSize(DimId::Reg); ++r) {
    auto [rl, rh] = regs.empty() ? std::pair<int64_t, int64_t>{0, 0} : regs[r];
    Value sum = join(thread, rl);
    Value which = sum ? code.add(sum, rh) : code.i32(rh);
    Value picked = code.element(value, 0);
    for (int64_t k = 1; k < n; ++k)
      picked = code.select(code.eq(which, k), code.element(value, k), picked);
    result.push_back(picked);
  }
  return code.fromElements(result);
}

Value Emitter::convertByShuffle(const Conversion &plan, Value value, const Layout &dst) {
  int64_t n = dst.inSize(DimId::Reg);
  Type type = cast<VectorType>(value.getType()).getElementType();
  SmallVector<Value> result(n);
  // The lane's entry of a table, as constants and selects.
  auto maskOf = [](ArrayRef<int16_t> table, int16_t x) {
    int64_t mask = 0;
    for (auto [lane, y] : llvm::enumerate(table))
      if (y == x)
        mask |= int64_t(1) << lane;
    return mask;
  };
  int64_t everyone = target.warpSize >= 64 ? -1 : (int64_t(1) << target.warpSize) - 1;
  auto isIn = [&](int64_t mask) -> Value {
    if (mask == everyone)
      return {};
    Value lane = code.b.createOrFold<arith::ExtUIOp>(code.loc, code.b.getI64Type(), threads.lane);
    Value bit = code.fold<arith::ShRUIOp>(code.i64(mask), lane);
    return code.eq(code.rem(bit, 2), 1);
  };
  for (const Conversion::Round &round : plan.rounds) {
    Value send;
    llvm::SmallSetVector<int16_t, 8> sends(round.sendReg.begin(), round.sendReg.end());
    for (int16_t r : sends) {
      if (r < 0)
        continue;
      Value x = code.element(value, r);
      send = send ? code.select(isIn(maskOf(round.sendReg, r)), x, send) : x;
    }
    if (!send)
      continue;
    Value got = send;
    if (round.moves) {
      Value lane;
      if (auto table = affineInLane(round.srcLane)) {
        for (unsigned bit = 0; bit + 1 < table->size(); ++bit)
          if (int64_t v = (*table)[bit + 1])
            lane = code.exor(lane, code.mul(code.rem(code.div(threads.lane, int64_t(1) << bit), 2), v));
        lane = lane ? code.exor(lane, (*table)[0]) : code.i32((*table)[0]);
      } else {
        llvm::SmallSetVector<int16_t, 8> lanes(round.srcLane.begin(), round.srcLane.end());
        for (int16_t s : lanes)
          lane = lane ? code.select(isIn(maskOf(round.srcLane, s)), code.i32(s), lane) : code.i32(s);
      }
      Value from = lane;
      got = shuffle(send, [&](Value w) { return shuffleFrom(w, from); });
    }
    llvm::SmallSetVector<int16_t, 8> dests(round.dstReg.begin(), round.dstReg.end());
    for (int16_t d : dests)
      if (d >= 0)
        result[d] = result[d] ? code.select(isIn(maskOf(round.dstReg, d)), got, result[d]) : got;
  }
  for (Value &v : result)
    if (!v)
      v = code.zero(type);
  return code.fromElements(result);
}

LogicalResult Emitter::emitConvertLayout(ConvertLayoutOp op) {
  TileType from = op.getSource().getType(), to = op.getResult().getType();
  const Layout &src = from.getLayout().getLayout(), &dst = to.getLayout().getLayout();
  Type element = from.getElementType();
  Conversion plan = planConversion(src, dst, memoryBytes(element));
  Value value = get(op.getSource());
  switch (plan.kind) {
  case Conversion::None:
    set(op.getResult(), value);
    return success();
  case Conversion::Registers:
    set(op.getResult(), code.permute(value, plan.perm));
    return success();
  case Conversion::Select:
    set(op.getResult(), convertBySelect(plan, value, dst));
    return success();
  case Conversion::Shuffle:
    set(op.getResult(), convertByShuffle(plan, value, dst));
    return success();
  case Conversion::Shared:
    break;
  }
  auto scratch = op->getAttrOfType<IntegerAttr>(TileDialect::kScratchAttrName);
  if (!scratch)
    return op.emitError() << "[E0505] a change of layout has no shared memory: run tile-allocate-shared";
  OpBuilder before(op);
  auto type = BufferType::get(op.getContext(), from.getShape(), element,
                              LayoutAttr::get(op.getContext(), plan.staging));
  Value buffer = AllocOp::create(before, op.getLoc(), type, before.getI64IntegerAttr(scratch.getInt()));
  set(buffer, code.i32(scratch.getInt()));
  Region region = regionOf(buffer, {}, std::nullopt, from.getShape());
  storeFragment(value, src, from.getShape(), element, region, 0, src.inSize(DimId::Reg));
  roleBarrier();
  set(op.getResult(), loadFragment(dst, to.getShape(), element, region, 0, dst.inSize(DimId::Reg)));
  roleBarrier();
  return success();
}

LogicalResult Emitter::emitInsert(InsertOp op) {
  TileType type = op.getResult().getType();
  const Layout &l = type.getLayout().getLayout();
  Coords coords = coordsOf(l, type.getRank());
  Value fragment = get(op.getTile()), value = flatten(op.getValue()).front();
  SmallVector<Value> result;
  for (int64_t r = 0; r < l.inSize(DimId::Reg); ++r) {
    Value here;
    for (auto [axis, index] : llvm::enumerate(op.getIndices())) {
      Value at = code.toIndex(coordAt(coords, axis, r));
      here = code.both(here, code.cmp(arith::CmpIPredicate::eq, at, flatten(index).front()));
    }
    result.push_back(code.select(here, value, code.element(fragment, r)));
  }
  set(op.getResult(), code.fromElements(result));
  return success();
}

/// Renames registers.
LogicalResult Emitter::emitSlice(SliceOp op) {
  TileType from = op.getSource().getType(), to = op.getResult().getType();
  AffineMap identity = AffineMap::getMultiDimIdentityMap(to.getRank(), op.getContext());
  SmallVector<int64_t> place =
      matchRegisters(to.getLayout().getLayout(), identity, from.getLayout().getLayout(), op.getOffsets());
  if (llvm::is_contained(place, -1))
    return op.emitError() << "[E0505] a part of this tile lies in other threads";
  SmallVector<Value> elements =
      llvm::map_to_vector(place, [&](int64_t r) { return code.element(get(op.getSource()), r); });
  set(op.getResult(), code.fromElements(elements));
  return success();
}
