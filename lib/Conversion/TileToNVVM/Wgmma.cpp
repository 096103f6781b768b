//===- Wgmma.cpp - products of warp groups ------------------------------------===//
//
// Sums.h says where the sums of a product stand.
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

bool tilec::simt::isWarpGroupProduct(Operation *op) {
  auto gemm = dyn_cast<GemmOp>(op);
  return isa<AsyncGemmOp>(op) || (gemm && gemm.getInst() && gemm.getInst()->getKind() == InstKind::wgmma);
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

static std::string instructionName(InstAttr inst, Type sum, StringRef a, StringRef b) {
  StringRef d = sum.isInteger(32) ? "s32" : sum.isF16() ? "f16" : "f32";
  return ("wgmma.mma_async.sync.aligned.m64n" + llvm::Twine(inst.getShape()[1]) + "k" +
          llvm::Twine(inst.getShape()[2]) + "." + d + "." + a + "." + b)
      .str();
}

namespace {
/// Assembly of a product: its sums and other operands.
class Piece {
public:
  Piece(Code &code, Sums &sums) : sums(sums), code(code) {}
  Sums &sums;
  std::string text;

  /// The name of an operand, which is the same for the same value.
  std::string operand(Value v, StringRef constraint) {
    auto [it, isNew] = names.try_emplace(v, "$" + std::to_string(2 * sums.words.size() + operands.size()));
    if (isNew) {
      operands.push_back(v);
      constraints += (constraints.empty() ? "" : ",") + constraint.str();
    }
    return it->second;
  }
  void end() {
    sums.words = tied(code, "{\n\t.reg .pred p;\n\t" + text + "}", sums.words, constraints, operands);
    text.clear();
    constraints.clear();
    operands.clear();
    names.clear();
  }

private:
  Code &code;
  std::string constraints;
  SmallVector<Value> operands;
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

LogicalResult NVVMEmitter::issueWgmma(Product &p, Sums &sums) {
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
  // Fence, steps and commit in one piece. Where the first operand stands in registers, each step is a piece:
  // its fragment is made while the one before multiplies.
  Piece piece(code, sums);
  int64_t wordsPerAtom = wordsOfSums(accElement, perAtom);
  Value holds = sums.holds;
  if (p.clear)
    holds = code.fold<arith::AndIOp>(holds, arith::ExtUIOp::create(code.b, code.loc, code.b.getI32Type(),
                                                                   code.exor(p.clear, code.boolean(true))));
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
      std::string adds = k || matchPattern(holds, m_One()) ? "1"
                         : matchPattern(holds, m_Zero())   ? "0"
                                                           : piece.operand(holds, "r");
      piece.text += "setp.ne.b32 p, " + adds + ", 0;\n\t" + name + " {";
      for (int64_t i = 0, first = r / perAtom * wordsPerAtom; i < wordsPerAtom; ++i)
        piece.text += (i ? ", " : "") + sums.word(first + i);
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
  sums.holds = code.i32(1);
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
  Sums sums = isa<TileType>(op.getAcc().getType())
                  ? beginSums(op.getResult(), code.elements(get(op.getAcc())))
                  : sumsOf(op.getAcc());
  if (failed(issueWgmma(p, sums)))
    return failure();
  setSums(op.getResult(), sums);
  env[op.getToken()] = {};
  return success();
}

LogicalResult NVVMEmitter::emitAwait(AwaitOp op) {
  SmallVector<Value> read;
  if (auto product = op.getFuture().getDefiningOp<AsyncGemmOp>())
    for (Value operand : {product.getA(), product.getB()})
      if (isa<TileType>(operand.getType()))
        llvm::append_range(read, code.elements(code.bitcast(get(operand), code.b.getI32Type())));
  SmallVector<Value> values =
      endSums(sumsOf(op.getFuture()), op.getTile().getType(), op.getPending().value_or(0), read);
  set(op.getTile(), code.fromElements(values));
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
  Sums sums = beginSums("sum" + std::to_string(declaredSums.size()), code.elements(get(op.getAcc())));
  if (failed(readProduct(op, p)) || failed(issueWgmma(p, sums)))
    return failure();
  set(op.getResult(), code.fromElements(endSums(sums, p.acc, /*pending=*/0)));
  return success();
}
