//===- BitFields.cpp - which conversions take a few bits of an integer -------===//
// Everything is a table over the nest's domain: indices and shift amounts are small functions of the
// iteration, and what threads hold is a layout. So what is the same for all threads, and what is not, can be
// looked up instead of proved.
#include "BitFields.h"
#include "Code.h"
#include "tilec/Dialect/Tile/IR/SharedMemory.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

namespace {
/// The coordinates of every register of every thread, as numbers of points of the domain.
struct Points {
  int64_t threads = 1, registers = 1;
  std::vector<int64_t> at; ///< threads x registers
  int64_t of(int64_t thread, int64_t reg) const { return at[thread * registers + reg]; }
};

/// One chain of integer operations, from a conversion down to the integer in memory: bits `shift` and up,
/// `width` of them. `amounts`: shifts that depend on the iteration.
struct Chain {
  Value source;
  int64_t bias = 0, shift = 0, width = 0;
  SmallVector<Value> amounts;
};

class Finder {
public:
  Finder(GenericOp nest, int64_t count, ArrayRef<SmallVector<int64_t>> places)
      : nest(nest), count(count), places(places), domain(nest.getDomain()) {}
  SmallVector<BitFields> run();

private:
  bool readPoints();
  std::optional<int64_t> evaluate(Value v, ArrayRef<int64_t> at);
  std::optional<std::vector<int64_t>> table(Value v);
  std::optional<Chain> chainOf(Operation *conversion);
  bool placeShifts(const Chain &chain, BitFields &fields);
  bool placeInMemory(ElemLoadOp load, BitFields &fields);
  bool placeVectors(ArrayRef<int64_t> offsets, int64_t bytes, BitFields &fields);
  bool placeInTile(BlockArgument argument, BitFields &fields);

  GenericOp nest;
  int64_t count;
  ArrayRef<SmallVector<int64_t>> places;
  ArrayRef<int64_t> domain;
  Points points;
};
} // namespace

/// False where a thread holds something outside the domain.
bool Finder::readPoints() {
  const Layout &l = nest.getLayoutAttr().getLayout();
  SmallVector<int64_t> strides(domain.size(), 1);
  for (size_t axis = domain.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * domain[axis];
  for (auto [axis, extent] : llvm::enumerate(domain))
    if (extent <= 0 || l.zone(coord(axis)) || l.cover(coord(axis)) > extent)
      return false;
  auto along = [&](DimId in) {
    std::vector<int64_t> sum(l.inSize(in), 0);
    for (auto [axis, stride] : llvm::enumerate(strides))
      if (l.hasIn(in) && l.hasOut(coord(axis)))
        for (auto [i, part] : llvm::enumerate(l.contributions(in, coord(axis))))
          sum[i] += part.second * stride;
    return sum;
  };
  std::vector<int64_t> threads = {0};
  for (DimId in : {DimId::Lane, DimId::Warp, DimId::Group}) {
    std::vector<int64_t> more;
    for (int64_t part : along(in))
      for (int64_t start : threads)
        more.push_back(start + part);
    threads = std::move(more);
  }
  std::vector<int64_t> registers = along(DimId::Reg);
  points.threads = threads.size();
  points.registers = count;
  for (int64_t start : threads)
    for (int64_t r = 0; r < count; ++r)
      points.at.push_back(start + registers[r]);
  return true;
}

/// An index or integer of the body at one point of the domain, where it depends on nothing else.
std::optional<int64_t> Finder::evaluate(Value v, ArrayRef<int64_t> at) {
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    if (argument.getOwner() != &nest.getBody().front() || argument.getArgNumber() >= at.size())
      return std::nullopt;
    return at[argument.getArgNumber()];
  }
  Operation *op = v.getDefiningOp();
  if (std::optional<int64_t> known = getConstantIntValue(v))
    return known;
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp>(op))
    return evaluate(op->getOperand(0), at);
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return std::nullopt;
  std::optional<int64_t> x = evaluate(op->getOperand(0), at), y = evaluate(op->getOperand(1), at);
  if (!x || !y || *x < 0 || *y < 0)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *x + *y;
  if (isa<arith::MulIOp>(op))
    return *x * *y;
  if (isa<arith::AndIOp>(op))
    return *x & *y;
  if (isa<arith::DivUIOp, arith::DivSIOp>(op) && *y)
    return *x / *y;
  if (isa<arith::RemUIOp, arith::RemSIOp>(op) && *y)
    return *x % *y;
  return std::nullopt;
}

/// Its values over the domain.
std::optional<std::vector<int64_t>> Finder::table(Value v) {
  int64_t size = 1;
  for (int64_t extent : domain)
    size *= extent;
  std::vector<int64_t> values;
  values.reserve(size);
  SmallVector<int64_t> at(domain.size(), 0);
  for (int64_t i = 0; i < size; ++i) {
    std::optional<int64_t> value = evaluate(v, at);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
    for (size_t axis = domain.size(); axis-- > 0;) {
      if (++at[axis] < domain[axis])
        break;
      at[axis] = 0;
    }
  }
  return values;
}

/// Reads the operations between a conversion and its source. What the result is made of stays "`width` bits
/// of this value from `shift` on, and zeros above".
std::optional<Chain> Finder::chainOf(Operation *conversion) {
  Value v = conversion->getOperand(0);
  if (!v.getType().isInteger() || v.getType().isInteger(1))
    return std::nullopt;
  Chain c;
  int64_t bits = v.getType().getIntOrFloatBitWidth();
  c.width = bits;
  for (Operation *op = v.getDefiningOp(); isa_and_nonnull<arith::SubIOp, arith::AddIOp>(op);
       op = v.getDefiningOp()) {
    std::optional<int64_t> number = getConstantIntValue(op->getOperand(1));
    if (!number || std::abs(*number) > 1 << 15)
      return std::nullopt;
    c.bias += isa<arith::SubIOp>(op) ? *number : -*number;
    v = op->getOperand(0);
  }
  while (Operation *op = v.getDefiningOp()) {
    if (op->getBlock() != &nest.getBody().front() || isa<ElemLoadOp>(op))
      break;
    int64_t width = v.getType().getIntOrFloatBitWidth();
    Value from = op->getOperand(0);
    int64_t below = from.getType().isInteger() ? from.getType().getIntOrFloatBitWidth() : 0;
    if (isa<arith::AndIOp>(op)) {
      std::optional<int64_t> mask = getConstantIntValue(op->getOperand(1));
      uint64_t ones = mask ? uint64_t(*mask) & llvm::maskTrailingOnes<uint64_t>(width) : 0;
      if (!llvm::isShiftedMask_64(ones) || !c.amounts.empty() || llvm::countr_zero(ones) > c.shift)
        return std::nullopt;
      c.width = std::min<int64_t>(c.width, 64 - llvm::countl_zero(ones) - c.shift);
    } else if (isa<arith::ShRUIOp, arith::ShRSIOp>(op)) {
      if (std::optional<int64_t> amount = getConstantIntValue(op->getOperand(1)))
        c.shift += *amount;
      else
        c.amounts.push_back(op->getOperand(1));
      if (isa<arith::ShRUIOp>(op) && c.amounts.empty())
        c.width = std::min(c.width, width - c.shift);
    } else if (isa<arith::ExtUIOp>(op)) {
      if (c.amounts.empty())
        c.width = std::min(c.width, below - c.shift);
    } else if (!isa<arith::TruncIOp>(op) || c.shift + c.width > width || !c.amounts.empty()) {
      return std::nullopt;
    }
    v = from;
  }
  c.source = v;
  bool isSigned = isa<arith::SIToFPOp>(conversion);
  if (c.width <= 0 || c.width > 8 || (c.width == bits && isSigned) || (c.bias > 0 && !isSigned))
    return std::nullopt;
  return c;
}

/// The bits of each register's element, the same in all threads.
bool Finder::placeShifts(const Chain &chain, BitFields &fields) {
  fields.bias = chain.bias;
  fields.registers.assign(count, FieldPlace());
  int64_t bits = getElementTypeOrSelf(chain.source.getType()).getIntOrFloatBitWidth();
  std::vector<std::vector<int64_t>> amounts;
  for (Value amount : chain.amounts) {
    std::optional<std::vector<int64_t>> values = table(amount);
    if (!values)
      return false;
    amounts.push_back(std::move(*values));
  }
  for (int64_t r = 0; r < count; ++r) {
    int64_t shift = chain.shift;
    for (const std::vector<int64_t> &amount : amounts) {
      for (int64_t t = 0; t < points.threads; ++t)
        if (amount[points.of(t, r)] != amount[points.of(0, r)])
          return false;
      shift += amount[points.of(0, r)];
    }
    // Within one byte of the element, which bounds what comes from the sign of a wider one.
    if (shift + chain.width > bits || shift % 8 + chain.width > 8)
      return false;
    fields.registers[r].inElement = shift / 8;
    fields.registers[r].shift = shift % 8;
    fields.registers[r].width = chain.width;
  }
  return true;
}

/// Vectors of `bytes` that hold all registers' elements, at the same places in all threads but for the byte
/// in a word.
bool Finder::placeVectors(ArrayRef<int64_t> offsets, int64_t bytes, BitFields &fields) {
  BitFields found = fields;
  found.vectorBytes = bytes;
  std::map<int64_t, int64_t> vectors; // by where they lie for the first thread
  auto at = [&](int64_t t, int64_t r) { return offsets[points.of(t, r)] + fields.registers[r].inElement; };
  auto varies = [&](int64_t r, llvm::function_ref<int64_t(int64_t)> part) {
    for (int64_t t = 1; t < points.threads; ++t)
      if (part(at(t, r)) != part(at(0, r)))
        return true;
    return false;
  };
  // The register whose byte comes first in the words: the thread's byte, on top of which the others count.
  int64_t least = 0;
  for (int64_t r = 1; r < count; ++r)
    least = at(0, r) % 4 < at(0, least) % 4 ? r : least;
  found.threadByte = varies(least, [](int64_t offset) { return offset % 4; });
  found.least = least;
  for (int64_t r = 0; r < count; ++r) {
    auto [it, isNew] = vectors.insert({at(0, r) / bytes, int64_t(vectors.size())});
    if (isNew)
      found.vectors.push_back({r, it->second, 0});
    int64_t first = found.vectors[it->second].first;
    if (varies(r, [&](int64_t offset) { return offset % bytes / 4; }))
      return false;
    for (int64_t t = 0; t < points.threads; ++t)
      if (at(t, r) / bytes != at(t, first) / bytes ||
          at(t, r) % 4 - at(t, least) % 4 != at(0, r) % 4 - at(0, least) % 4)
        return false;
    FieldPlace &place = found.registers[r];
    place.vector = it->second;
    place.word = at(0, r) % bytes / 4;
    place.byte = at(0, r) % 4 - (found.threadByte ? at(0, least) % 4 : 0);
  }
  // A read of what nobody needs is worth it where it replaces others.
  if (int64_t(found.vectors.size()) * (found.threadByte ? 2 : 1) > count)
    return false;
  // One address serves all vectors at fixed distances from each other.
  for (FieldVector &v : found.vectors)
    for (FieldVector &base : llvm::MutableArrayRef(found.vectors).take_front(v.base)) {
      auto distance = [&](int64_t t) { return at(t, v.first) / bytes - at(t, base.first) / bytes; };
      bool fixed = base.distance == 0 && llvm::all_of(llvm::seq(points.threads),
                                                      [&](int64_t t) { return distance(t) == distance(0); });
      if (!fixed)
        continue;
      v.base = base.base;
      v.distance = distance(0) * bytes;
      break;
    }
  fields = std::move(found);
  return true;
}

/// Elements of a shared buffer at indices that follow from the iteration.
bool Finder::placeInMemory(ElemLoadOp load, BitFields &fields) {
  auto type = dyn_cast<BufferType>(load.getSource().getType());
  if (!type || type.getRank() != 2 || !type.getLayout())
    return false;
  const Layout &s = type.getLayout().getLayout();
  int64_t elementBytes = memoryBytes(type.getElementType());
  std::optional<std::vector<int64_t>> row = table(load.getIndices()[0]), column = table(load.getIndices()[1]);
  if (!row || !column || !type.getElementType().isInteger())
    return false;
  auto rows = s.contributions(DimId::D0, DimId::Offset), columns = s.contributions(DimId::D1, DimId::Offset);
  SmallVector<int64_t> offsets;
  for (auto [i, j] : llvm::zip(*row, *column)) {
    if (i >= int64_t(rows.size()) || j >= int64_t(columns.size()))
      return false;
    offsets.push_back(((rows[i].first ^ columns[j].first) + rows[i].second + columns[j].second) *
                      elementBytes);
  }
  int64_t size = bufferBytes(type), align = bufferAlign(type);
  for (int64_t bytes : {16, 8, 4})
    if (size % bytes == 0 && align % bytes == 0 && placeVectors(offsets, bytes, fields))
      return true;
  return false;
}

/// Elements of a tile: neighbouring registers make up a word.
bool Finder::placeInTile(BlockArgument argument, BitFields &fields) {
  unsigned number = argument.getArgNumber() - domain.size();
  if (argument.getArgNumber() < domain.size() || number >= places.size() || places[number].empty())
    return false;
  Value operand =
      number < nest.getIns().size() ? nest.getIns()[number] : nest.getOuts()[number - nest.getIns().size()];
  auto type = dyn_cast<TileType>(operand.getType());
  if (!type || type.getLayout().getNumRegs() * memoryBytes(type.getElementType()) % 4)
    return false;
  int64_t bytes = memoryBytes(type.getElementType());
  std::map<int64_t, int64_t> words;
  for (int64_t r = 0; r < count; ++r) {
    int64_t offset = places[number][r] * bytes + fields.registers[r].inElement;
    auto [it, isNew] = words.insert({offset / 4, int64_t(words.size())});
    if (isNew)
      fields.vectors.push_back({offset / 4, it->second, 0});
    fields.registers[r].vector = it->second;
    fields.registers[r].byte = offset % 4;
  }
  return true;
}

SmallVector<BitFields> Finder::run() {
  SmallVector<BitFields> found;
  for (Operation &op : nest.getBody().front().without_terminator()) {
    if (!isa<arith::SIToFPOp, arith::UIToFPOp>(op))
      continue;
    std::optional<Chain> chain = chainOf(&op);
    if (!chain || (points.at.empty() && !readPoints()))
      continue;
    BitFields fields;
    fields.conversion = &op;
    fields.source = chain->source;
    if (!placeShifts(*chain, fields))
      continue;
    auto load = chain->source.getDefiningOp<ElemLoadOp>();
    auto argument = dyn_cast<BlockArgument>(chain->source);
    if ((load && placeInMemory(load, fields)) || (argument && placeInTile(argument, fields)))
      found.push_back(std::move(fields));
  }
  return found;
}

SmallVector<BitFields> tilec::simt::findBitFields(GenericOp nest, int64_t count,
                                                  ArrayRef<SmallVector<int64_t>> places) {
  return Finder(nest, count, places).run();
}
