//===- Wgmma.cpp - products of warp groups ------------------------------------===//
//
// Fence, product and wait carry all accumulators as tied operands: ptxas then sees every dependence, and LLVM
// can move no use of an accumulator into the time when the engine writes it.
//
//===----------------------------------------------------------------------===//
#include "../../Dialect/Tile/Transforms/ThreadLayouts.h"
#include "NVVMEmitter.h"
#include "Product.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

static bool isHalf(Type t) { return t.isF16(); }

/// Accumulators as the registers of the instruction: f16 in pairs.
static SmallVector<Value> toWords(Code &c, ArrayRef<Value> values) {
  if (values.empty() || !isHalf(values[0].getType()))
    return SmallVector<Value>(values);
  SmallVector<Value> words;
  for (size_t i = 0; i + 1 < values.size(); i += 2) {
    Value pair = c.fromElements({values[i], values[i + 1]});
    words.push_back(LLVM::BitcastOp::create(c.b, c.loc, c.b.getI32Type(), pair));
  }
  return words;
}

static SmallVector<Value> fromWords(Code &c, ArrayRef<Value> words, Type element) {
  if (!isHalf(element))
    return SmallVector<Value>(words);
  SmallVector<Value> values;
  for (Value w : words)
    llvm::append_range(values,
                       c.elements(LLVM::BitcastOp::create(c.b, c.loc, c.vec(element, 2), w).getResult()));
  return values;
}

/// Assembly whose first operands are `words`, read and written; `more` follow.
static SmallVector<Value> tied(Code &c, StringRef text, ArrayRef<Value> words, StringRef constraints,
                               ArrayRef<Value> more) {
  std::string all;
  SmallVector<Type> types;
  for (Value w : words) {
    all += (all.empty() ? "" : ",") + std::string(w.getType().isF32() ? "=&f" : "=&r");
    types.push_back(w.getType());
  }
  for (size_t i = 0; i < words.size(); ++i)
    all += "," + std::to_string(i);
  if (!constraints.empty())
    all += "," + constraints.str();
  SmallVector<Value> operands(words);
  operands.append(more.begin(), more.end());
  Type result =
      types.size() == 1 ? types[0] : Type(LLVM::LLVMStructType::getLiteral(c.b.getContext(), types));
  Value out = c.assembly(result, text, all, operands);
  if (types.size() == 1)
    return {out};
  SmallVector<Value> values;
  for (int64_t i = 0; i < int64_t(types.size()); ++i)
    values.push_back(LLVM::ExtractValueOp::create(c.b, c.loc, out, ArrayRef<int64_t>{i}));
  return values;
}

/// `read`: words of an operand that the engine reads until then. To LLVM they would be free for other values
/// once the product has begun.
void NVVMEmitter::tieWait(SmallVector<Value> &acc, StringRef text, ArrayRef<Value> read) {
  if (acc.empty())
    return;
  Type element = acc[0].getType();
  SmallVector<Value> words = toWords(code, acc);
  SmallVector<StringRef> constraints(read.size(), "r");
  acc = fromWords(code, tied(code, text, words, llvm::join(constraints, ","), read), element);
}

static StringRef typeName(Type t, bool isUnsigned) {
  if (t.isF16())
    return "f16";
  if (t.isBF16())
    return "bf16";
  if (t.isF32())
    return "tf32";
  if (isa<Float8E4M3FNType>(t))
    return "e4m3";
  if (isa<Float8E5M2Type>(t))
    return "e5m2";
  if (t.isInteger(8))
    return isUnsigned ? "u8" : "s8";
  return "";
}

StringRef tilec::simt::operandTypeName(Type t, bool isUnsigned) { return typeName(t, isUnsigned); }

LogicalResult NVVMEmitter::readProduct(Operation *op, Product &p) {
  p.op = op;
  Layout acc = squeezeOnes(p.acc.getLayout().getLayout(), p.acc.getShape());
  p.accLayout = p.inst.getSwapped() ? acc.transpose() : acc;
  auto side = [&](Value v, bool trans, bool isA) {
    Product::Side s;
    s.value = v;
    s.element = getElementTypeOf(v.getType());
    s.inRegisters = isa<TileType>(v.getType());
    LayoutAttr attr = getLayoutOf(v.getType());
    Layout l = squeezeOnes(attr.getLayout(), getShapeOf(v.getType()));
    SmallVector<int64_t> shape = dropOnes(getShapeOf(v.getType()));
    bool flip = trans == isA; // A is (m, k), B is (k, n) in the source; both are (mn, k) here
    s.layout = flip ? l.transpose() : l;
    s.k = shape.size() == 2 ? shape[flip ? 0 : 1] : 1;
    return s;
  };
  p.a = side(p.inst.getSwapped() ? p.bValue : p.aValue, p.inst.getSwapped() ? p.transB : p.transA,
             !p.inst.getSwapped());
  p.b = side(p.inst.getSwapped() ? p.aValue : p.bValue, p.inst.getSwapped() ? p.transA : p.transB,
             p.inst.getSwapped());
  return success();
}

namespace {
/// Descriptors of one operand: a run-time start and compile-time steps.
struct Descriptors {
  WgmmaDesc d;
  Layout layout;
  int64_t bytes = 2;
  Value start; ///< i64
  Value at(Code &c, int64_t mn, int64_t step) const {
    int64_t offset = layout.at(DimId::Offset, {{DimId::D0, mn}}) * bytes + d.kStep[step];
    return c.add(start, offset >> 4);
  }
};
} // namespace

static Value descriptorStart(Code &c, Value address, const WgmmaDesc &d) {
  Value low = c.div(c.fold<arith::AndIOp>(address, c.i32(0x3FFFF)), 16);
  Value wide = arith::ExtUIOp::create(c.b, c.loc, c.b.getI64Type(), low);
  return c.fold<arith::OrIOp>(wide, c.i64(int64_t(d.bits(0))));
}

/// Sums that start at zero need no registers set to it: the first instruction overwrites what is in them.
/// Zeros that several products have in common would also tie their registers to each other.
static bool startsFresh(Code &c, SmallVector<Value> &acc) {
  if (acc.empty() || !llvm::all_of(acc, [](Value v) {
        return matchPattern(v, m_AnyZeroFloat()) || matchPattern(v, m_Zero());
      }))
    return false;
  for (Value &v : acc)
    v = LLVM::UndefOp::create(c.b, c.loc, v.getType());
  return true;
}

static std::string instructionName(InstAttr inst, Type sum, StringRef a, StringRef b) {
  StringRef d = sum.isInteger(32) ? "s32" : sum.isF16() ? "f16" : "f32";
  return ("wgmma.mma_async.sync.aligned.m64n" + llvm::Twine(inst.getShape()[1]) + "k" +
          llvm::Twine(inst.getShape()[2]) + "." + d + "." + a + "." + b)
      .str();
}

namespace {
/// Assembly around the words of an accumulator, which stay where they are. Up to 128 values go through LLVM
/// once for each piece of it.
class Piece {
public:
  Piece(Code &code, SmallVector<Value> words) : words(std::move(words)), code(code) {}
  SmallVector<Value> words;
  std::string text;

  /// The name of an operand, which is the same for the same value.
  std::string operand(Value v, StringRef constraint) {
    auto [it, isNew] = names.try_emplace(v, "$" + std::to_string(2 * words.size() + more.size()));
    if (isNew) {
      more.push_back(v);
      constraints += (constraints.empty() ? "" : ",") + constraint.str();
    }
    return it->second;
  }
  void end() {
    words = tied(code, "{\n\t.reg .pred p;\n\t" + text + "}", words, constraints, more);
    text.clear();
    constraints.clear();
    more.clear();
    names.clear();
  }

private:
  Code &code;
  std::string constraints;
  SmallVector<Value> more;
  llvm::DenseMap<Value, std::string> names;
};

/// Registers of an operand in registers, by the (m, k) where an instruction's fragment starts.
struct FragmentPlaces {
  std::map<std::pair<int64_t, int64_t>, int64_t> first;
  int64_t count = 0;
  FragmentPlaces(const Layout &operand, const Layout &atom) : count(atom.inSize(DimId::Reg)) {
    auto m = operand.contributions(DimId::Reg, DimId::D0), k = operand.contributions(DimId::Reg, DimId::D1);
    for (int64_t r = 0; r < operand.inSize(DimId::Reg); r += count)
      first.insert({{m[r].first + m[r].second, k[r].first + k[r].second}, r});
  }
};
} // namespace

LogicalResult NVVMEmitter::issueWgmma(Product &p, SmallVector<Value> &acc) {
  int64_t n = p.inst.getShape()[1], kInst = p.inst.getShape()[2];
  Type accElement = p.acc.getElementType();
  std::string why;
  bool neighbours = holdsNeighbours(p.inst, p.a.element, p.transA, p.transB);
  Layout atom = wgmmaD(n, neighbours);
  int64_t perAtom = atom.inSize(DimId::Reg), regs = p.accLayout.inSize(DimId::Reg);
  if (regs % perAtom || !p.accLayout.over(atom))
    return unsupported(*p.op, "a product whose accumulator does not consist of m64n" + llvm::Twine(n));
  auto mRegs = p.accLayout.contributions(DimId::Reg, DimId::D0);
  auto nRegs = p.accLayout.contributions(DimId::Reg, DimId::D1);
  Value mGroup, nGroup;
  if (p.accLayout.hasIn(DimId::Group)) {
    LayoutInput group{DimId::Group, threads.group, threads.groups};
    mGroup = evaluate(p.accLayout, DimId::D0, {group}).second;
    nGroup = evaluate(p.accLayout, DimId::D1, {group}).second;
  }
  auto describe = [&](Product::Side &s, Value mn, Descriptors &out) -> LogicalResult {
    out.bytes = memoryBytes(s.element);
    FailureOr<WgmmaDesc> d = asWgmmaOperand(s.layout, out.bytes, &why);
    if (failed(d))
      return unsupported(*p.op, "wgmma on this buffer (" + why + ")");
    out.d = *d;
    out.layout = s.layout;
    Value at = get(s.value);
    if (mn) {
      auto [low, high] = evaluate(s.layout, DimId::Offset, {{DimId::D0, mn, INT64_MAX}});
      if (Value sum = code.add(low, high))
        at = code.add(at, code.mul(sum, out.bytes));
    }
    out.start = descriptorStart(code, address(sharedPtr(at)), *d);
    return success();
  };
  Descriptors da, db;
  if ((!p.a.inRegisters && failed(describe(p.a, mGroup, da))) || failed(describe(p.b, nGroup, db)))
    return failure();
  std::optional<FragmentPlaces> places;
  if (p.a.inRegisters) {
    const Layout *aAtom = wgmmaA(p.a.element.getIntOrFloatBitWidth(), neighbours);
    if (!aAtom || !p.a.layout.over(*aAtom))
      return unsupported(*p.op, "a register operand that does not consist of the instruction's fragments");
    places.emplace(p.a.layout, *aAtom);
  }
  std::string name = instructionName(p.inst, accElement, typeName(p.a.element, p.aUnsigned),
                                     typeName(p.b.element, p.bUnsigned));
  bool hasTrans = p.a.element.isF16() || p.a.element.isBF16();
  bool isFresh = startsFresh(code, acc);
  // Fence, steps and commit in one piece. Where the first operand stands in registers, each step is a piece:
  // its fragment is made while the one before multiplies.
  Piece piece(code, toWords(code, acc));
  int64_t wordsPerAtom = piece.words.size() * perAtom / regs;
  Value scale;
  if (p.clear && !isFresh)
    scale =
        arith::ExtUIOp::create(code.b, code.loc, code.b.getI32Type(), code.exor(p.clear, code.boolean(true)));
  piece.text = "wgmma.fence.sync.aligned;\n\t";
  for (int64_t k = 0; k < p.b.k / kInst; ++k)
    for (int64_t r = 0; r < regs; r += perAtom) {
      int64_t m0 = mRegs[r].first + mRegs[r].second, n0 = nRegs[r].first + nRegs[r].second;
      std::string aText;
      if (places) {
        piece.end();
        auto it = places->first.find({m0, k * kInst});
        if (it == places->first.end())
          return unsupported(*p.op, "a register operand in this order");
        Value fragment = code.slice(get(p.a.value), it->second, places->count);
        for (Value w : code.elements(code.bitcast(fragment, code.b.getI32Type())))
          aText += (aText.empty() ? "{" : ", ") + piece.operand(w, "r");
        aText += "}";
      } else {
        aText = piece.operand(da.at(code, m0, k), "l");
      }
      std::string bText = piece.operand(db.at(code, n0, k), "l");
      std::string adds = k || (!scale && !isFresh) ? "1" : scale ? piece.operand(scale, "r") : "0";
      piece.text += "setp.ne.b32 p, " + adds + ", 0;\n\t" + name + " {";
      for (int64_t i = 0, first = r / perAtom * wordsPerAtom; i < wordsPerAtom; ++i)
        piece.text += (i ? ", $" : "$") + std::to_string(first + i);
      piece.text += "}, " + aText + ", " + bText + ", p";
      if (!accElement.isInteger(32))
        piece.text += ", 1, 1";
      if (hasTrans && !places)
        piece.text += da.d.mnMajor ? ", 1" : ", 0";
      if (hasTrans)
        piece.text += db.d.mnMajor ? ", 1" : ", 0";
      piece.text += ";\n\t";
    }
  piece.text += "wgmma.commit_group.sync.aligned;\n\t";
  piece.end();
  acc = fromWords(code, piece.words, accElement);
  return success();
}

LogicalResult NVVMEmitter::emitAsyncGemm(AsyncGemmOp op) {
  Product p;
  p.aValue = op.getA();
  p.bValue = op.getB();
  p.transA = op.getTransA();
  p.transB = op.getTransB();
  p.inst = op.getInst();
  p.acc = op.getResult().getType().getTile();
  p.aUnsigned = op->hasAttr(TileDialect::kAUnsignedAttrName);
  p.bUnsigned = op->hasAttr(TileDialect::kBUnsignedAttrName);
  if (op.getClear())
    p.clear = flatten(op.getClear()).front();
  if (failed(readProduct(op, p)))
    return failure();
  SmallVector<Value> acc =
      isa<TileType>(op.getAcc().getType()) ? code.elements(get(op.getAcc())) : env[op.getAcc()];
  if (failed(issueWgmma(p, acc)))
    return failure();
  env[op.getResult()] = acc;
  env[op.getToken()] = {};
  return success();
}

LogicalResult NVVMEmitter::emitAwait(AwaitOp op) {
  SmallVector<Value> acc = env[op.getFuture()], read;
  if (auto product = op.getFuture().getDefiningOp<AsyncGemmOp>())
    for (Value operand : {product.getA(), product.getB()})
      if (isa<TileType>(operand.getType()))
        llvm::append_range(read, code.elements(code.bitcast(get(operand), code.b.getI32Type())));
  tieWait(acc, "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending().value_or(0)) + ";", read);
  set(op.getTile(), code.fromElements(acc));
  return success();
}

LogicalResult NVVMEmitter::emitGemm(GemmOp op) {
  InstAttr inst = op.getInstAttr();
  if (!inst)
    return unsupported(*op, "a product without an instruction");
  if (threads.oneLane)
    return unsupported(*op, "a product in the load role");
  if (inst.getKind() == InstKind::fma)
    return emitFma(op);
  if (inst.getKind() == InstKind::mma_sync)
    return emitMmaSync(op);
  if (inst.getKind() != InstKind::wgmma)
    return unsupported(*op, "this matrix instruction");
  Product p;
  p.aValue = op.getA();
  p.bValue = op.getB();
  p.transA = op.getTransA();
  p.transB = op.getTransB();
  p.inst = inst;
  p.acc = op.getResult().getType();
  p.aUnsigned = op->hasAttr(TileDialect::kAUnsignedAttrName);
  p.bUnsigned = op->hasAttr(TileDialect::kBUnsignedAttrName);
  if (op.getClear())
    p.clear = flatten(op.getClear()).front();
  SmallVector<Value> acc = code.elements(get(op.getAcc()));
  if (failed(readProduct(op, p)) || failed(issueWgmma(p, acc)))
    return failure();
  tieWait(acc, "wgmma.wait_group.sync.aligned 0;");
  set(op.getResult(), code.fromElements(acc));
  return success();
}
