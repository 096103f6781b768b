//===- PackedFields.cpp - a few bits of integers become floats, two at a time -===//
//
// Memory is read in wide vectors, also where each thread needs only every fourth byte of them. prmt brings
// the bytes of two neighbours into the halves of a word, an and takes their bits, an or puts these into the
// mantissa of a power of two, and one exact fma for both takes that away again: three operations for two
// weights of four bits. float32 has an and-or and an fma each.
//
//===----------------------------------------------------------------------===//
#include "BitFields.h"
#include "Emitter.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

std::optional<FloatHolder> tilec::simt::holderOf(Type type) {
  if (type.isF32())
    return FloatHolder{0x4B000000, 1 << 23, 23};
  if (type.isF16())
    return FloatHolder{0x6400, 1 << 10, 10};
  if (type.isBF16())
    return FloatHolder{0x4300, 1 << 7, 7};
  return std::nullopt;
}

namespace {
/// Code for the fields of one conversion, out of the words that hold them.
class FieldPacker {
public:
  /// Operations that chips have instructions of their own for (Emitter.h).
  struct Machine {
    llvm::function_ref<Value(Value, Value, Value)> permuteBytes;
    llvm::function_ref<Value(Value, int64_t, int64_t)> andOr;
    llvm::function_ref<Value(Value)> ownRegisters;
  };
  FieldPacker(Code &code, const BitFields &fields, const Emitter::FieldWords &words, const Machine &machine)
      : code(code), fields(fields), vectors(words.vectors), threadByte(words.threadByte), machine(machine),
        type(fields.conversion->getResult(0).getType()), holder(*holderOf(type)) {}
  SmallVector<Value> run();
  /// Can every number on the way be told exactly?
  static bool isExact(const BitFields &fields);

private:
  Value word(const FieldPlace &place) { return vectors[place.vector][place.word]; }
  Value logicalShift(Value x, int64_t by) { return by ? code.fold<arith::ShRUIOp>(x, code.i32(by)) : x; }
  Value constants(ArrayRef<double> numbers);
  Value unscaled(Value v, ArrayRef<FieldPlace> places);
  Value single(FieldPlace place);
  Value pair(FieldPlace x, FieldPlace y);

  Code &code;
  const BitFields &fields;
  ArrayRef<SmallVector<Value>> vectors;
  Value threadByte; ///< null: known for each register
  const Machine &machine;
  Type type;
  FloatHolder holder;
};
} // namespace

static int64_t maskOf(const FieldPlace &place) { return ((int64_t(1) << place.width) - 1) << place.shift; }

/// What the fma takes away after it has scaled the holder and the bits down.
static double offsetOf(const FloatHolder &holder, int64_t shift, int64_t bias) {
  return -(double(holder.value) / double(int64_t(1) << shift) + double(bias));
}

bool FieldPacker::isExact(const BitFields &fields) {
  Type type = fields.conversion->getResult(0).getType();
  std::optional<FloatHolder> holder = holderOf(type);
  if (!holder || (holder->bits != 23 && fields.registers.size() % 2))
    return false;
  const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  return llvm::all_of(fields.registers, [&](const FieldPlace &place) {
    int64_t most = (int64_t(1) << place.width) - 1;
    if (place.width > holder->bits)
      return false;
    // The numbers themselves, and what is taken away for every shift that the code may use.
    for (double number : {double(-fields.bias), double(most - fields.bias), offsetOf(*holder, 0, fields.bias),
                          offsetOf(*holder, place.shift, fields.bias)}) {
      APFloat value(number);
      bool loses = false;
      value.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
      if (loses)
        return false;
    }
    return true;
  });
}

Value FieldPacker::constants(ArrayRef<double> numbers) {
  SmallVector<Attribute> values;
  for (double number : numbers)
    values.push_back(code.b.getFloatAttr(type, number));
  auto vector = cast<ShapedType>(Type(code.vec(type, numbers.size())));
  return arith::ConstantOp::create(code.b, code.loc, DenseElementsAttr::get(vector, values));
}

/// The bits that were put into holders, as numbers.
Value FieldPacker::unscaled(Value v, ArrayRef<FieldPlace> places) {
  SmallVector<double> scales, offsets;
  for (const FieldPlace &place : places) {
    scales.push_back(1.0 / double(int64_t(1) << place.shift));
    offsets.push_back(offsetOf(holder, place.shift, fields.bias));
  }
  if (llvm::all_of(places, [](const FieldPlace &place) { return place.shift == 0; }))
    return arith::AddFOp::create(code.b, code.loc, v, constants(offsets));
  // An instruction has room for one number, or pair of numbers; the other would be made anew for each.
  Value scale = machine.ownRegisters(constants(scales));
  return LLVM::FMAOp::create(code.b, code.loc, v.getType(), ValueRange{v, scale, constants(offsets)});
}

Value FieldPacker::single(FieldPlace place) {
  Value bits = word(place);
  if (threadByte) {
    bits = machine.permuteBytes(bits, code.i32(0), code.add(threadByte, 0x4440 + place.byte));
  } else {
    place.shift += 8 * place.byte;
    if (place.shift + place.width > holder.bits) {
      bits = logicalShift(bits, 16);
      place.shift -= 16;
    }
  }
  Value v = machine.andOr(bits, maskOf(place), holder.pattern);
  return code.element(unscaled(code.fromElements({code.cast(v, type)}), place), 0);
}

Value FieldPacker::pair(FieldPlace x, FieldPlace y) {
  auto wordOf = [&](FieldPlace &place) {
    Value w = word(place);
    if (place.shift + place.width <= holder.bits)
      return w;
    w = logicalShift(w, place.shift);
    place.shift = 0;
    return w;
  };
  Value first = wordOf(x), second = wordOf(y);
  bool same = first == second;
  // Each half gets its byte twice; the upper one is masked away.
  int64_t bytes = x.byte * 0x11 + (y.byte + (same ? 0 : 4)) * 0x1100;
  Value selector = threadByte ? code.add(code.mul(threadByte, 0x1111), bytes) : code.i32(bytes);
  int64_t holders = holder.pattern | holder.pattern << 16;
  Value bits =
      machine.andOr(machine.permuteBytes(first, second, selector), maskOf(x) | maskOf(y) << 16, holders);
  return unscaled(LLVM::BitcastOp::create(code.b, code.loc, code.vec(type, 2), bits), {x, y});
}

SmallVector<Value> FieldPacker::run() {
  SmallVector<Value> values;
  bool pairs = holder.bits != 23;
  for (size_t r = 0; r < fields.registers.size(); r += pairs ? 2 : 1)
    if (pairs)
      llvm::append_range(values, code.elements(pair(fields.registers[r], fields.registers[r + 1])));
    else
      values.push_back(single(fields.registers[r]));
  return values;
}

/// Ops of the body that `value` is made of, in program order.
static void collectNeeded(Value value, Block &body, llvm::SetVector<Operation *> &needed) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &body || needed.contains(op))
    return;
  for (Value operand : op->getOperands())
    collectNeeded(operand, body, needed);
  needed.insert(op);
}

/// The vectors that a thread reads for the fields, as words, and its byte in each.
FailureOr<Emitter::FieldWords> Emitter::readFields(GenericOp nest, const Coords &coords,
                                                   const BitFields &fields) {
  FieldWords words;
  auto load = fields.source.getDefiningOp<ElemLoadOp>();
  if (!load) {
    auto argument = cast<BlockArgument>(fields.source);
    unsigned number = argument.getArgNumber() - nest.getDomain().size(), numIns = nest.getIns().size();
    Value tile = get(number < numIns ? nest.getIns()[number] : nest.getOuts()[number - numIns]);
    int64_t perWord = 4 / memoryBytes(argument.getType());
    for (const FieldVector &v : fields.vectors)
      words.vectors.push_back(
          code.elements(code.bitcast(code.slice(tile, v.first * perWord, perWord), code.b.getI32Type())));
    return words;
  }
  auto type = cast<BufferType>(load.getSource().getType());
  Block &block = nest.getBody().front();
  llvm::SetVector<Operation *> needed;
  for (Value index : load.getIndices())
    collectNeeded(index, block, needed);
  // Relative to the buffer, whose slot changes from trip to trip: the same in all of them.
  auto offsetOf = [&](int64_t r) -> Value {
    Body body;
    for (auto [axis, arg] : llvm::enumerate(nest.getIndexArgs()))
      body.map[arg] = code.toIndex(coordAt(coords, axis, r));
    for (Operation *op : needed)
      if (failed(emitBodyOp(*op, body)))
        return {};
    SmallVector<Value> at;
    for (Value index : load.getIndices())
      at.push_back(code.toI32(lookup(body, index)));
    return code.add(bufferOffset(code.i32(0), type, at), fields.registers[r].inElement);
  };
  if (fields.threadByte) {
    Value offset = offsetOf(fields.least);
    if (!offset)
      return failure();
    words.threadByte = code.fold<arith::AndIOp>(offset, code.i32(3));
  }
  SmallVector<Value> starts;
  for (auto [i, v] : llvm::enumerate(fields.vectors)) {
    starts.push_back(Value());
    if (v.base == int64_t(i)) {
      Value offset = offsetOf(v.first);
      if (!offset)
        return failure();
      Value inside = code.fold<arith::AndIOp>(offset, code.i32(-fields.vectorBytes));
      starts.back() = sharedPtr(code.add(get(load.getSource()), inside));
    }
    Value ptr = code.offset(starts[v.base], code.b.getI8Type(), v.distance ? code.i32(v.distance) : Value());
    Value vector = code.load(ptr, code.vec(code.b.getI32Type(), fields.vectorBytes / 4), fields.vectorBytes);
    words.vectors.push_back(code.elements(vector));
  }
  return words;
}

/// What is known of the nest's fields; found once.
ArrayRef<BitFields> Emitter::fieldsOf(GenericOp nest) {
  auto [it, isNew] = fieldNests.try_emplace(nest);
  if (!isNew)
    return it->second;
  const Layout &l = nest.getLayoutAttr().getLayout();
  auto fields = findBitFields(nest, l.inSize(DimId::Reg), registersOf(nest));
  llvm::erase_if(fields, [](const BitFields &f) { return !FieldPacker::isExact(f); });
  return it->second = std::move(fields);
}

/// Reads the vectors for all fields of the nest, unless that has been done.
LogicalResult Emitter::readFields(GenericOp nest) {
  Coords coords = coordsOf(nest.getLayoutAttr().getLayout(), nest.getDomain().size());
  for (const BitFields &fields : fieldsOf(nest)) {
    if (fieldWords.contains(fields.conversion))
      continue;
    code.loc = fields.conversion->getLoc();
    FailureOr<FieldWords> words = readFields(nest, coords, fields);
    if (failed(words))
      return failure();
    fieldWords[fields.conversion] = std::move(*words);
  }
  return success();
}

/// Turns a product that has begun into its sums.
static bool isWait(Operation *op) {
  return op->getNumOperands() == 1 && isa<FutureType>(op->getOperand(0).getType());
}

/// The next nest with fields that a product stands before: it can be read now, since only products and nests
/// are in between, and is then there when the product has begun. Null where the sums leave no registers.
GenericOp Emitter::nextFields(GenericOp nest) {
  constexpr int64_t mostSums = 16, mostWords = 32;
  bool overlaps = false;
  for (Operation *op = nest->getNextNode(); op; op = op->getNextNode()) {
    auto sums = op->getNumResults() ? dyn_cast<FutureType>(op->getResult(0).getType()) : FutureType();
    if (sums && !isPure(op)) { // a product that begins
      overlaps = true;
      if (sums.getTile().getLayout().getNumRegs() > mostSums)
        return {};
    } else if (auto next = dyn_cast<GenericOp>(op)) {
      int64_t words = 0;
      for (const BitFields &fields : fieldsOf(next))
        if (fields.source.getDefiningOp<ElemLoadOp>())
          words += fields.vectors.size() * fields.vectorBytes / 4;
      if (words)
        return overlaps && words <= mostWords ? next : GenericOp();
      if (!isPure(next))
        return {};
    } else if (!isPure(op) && !isWait(op) && !isa<LoadOp>(op)) {
      return {};
    }
  }
  return {};
}

/// Conversions in the body of a nest whose values are made for all registers at once, and the operations that
/// nothing else needs.
LogicalResult Emitter::emitBitFields(GenericOp nest, PackedValues &packed) {
  ArrayRef<BitFields> all = fieldsOf(nest);
  if (all.empty())
    return success();
  if (failed(readFields(nest)))
    return failure();
  if (GenericOp next = nextFields(nest); next && failed(readFields(next)))
    return failure();
  for (const BitFields &fields : fieldsOf(nest)) {
    code.loc = fields.conversion->getLoc();
    const FieldWords &words = fieldWords[fields.conversion];
    packed.values[fields.conversion] =
        FieldPacker(code, fields, words,
                    {[&](Value x, Value y, Value s) { return permuteBytes(x, y, s); },
                     [&](Value x, int64_t mask, int64_t bits) { return andOr(x, mask, bits); },
                     [&](Value v) { return ownRegisters(v); }})
            .run();
  }
  for (Operation &op : llvm::reverse(nest.getBody().front().without_terminator())) {
    bool unused = llvm::all_of(op.getUsers(), [&](Operation *user) {
      return packed.values.contains(user) || packed.unused.contains(user);
    });
    if (unused && !op.use_empty() && !packed.values.contains(&op) && (isPure(&op) || isa<ElemLoadOp>(op)))
      packed.unused.insert(&op);
  }
  return success();
}
