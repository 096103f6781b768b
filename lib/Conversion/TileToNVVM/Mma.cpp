//===- Mma.cpp - ldmatrix, stmatrix and mma.sync -----------------------------===//
#include "../../Dialect/Tile/Transforms/ThreadLayouts.h"
#include "NVVMEmitter.h"
#include "Product.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

static bool isMasked(const Layout &l, ArrayRef<int64_t> shape) {
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    if (l.cover(coord(axis)) > shape[axis])
      return true;
  return false;
}

namespace tilec::simt {
/// Reads a fragment by ldmatrix, instruction by instruction as its words are asked for.
class NVVMEmitter::MatrixReader {
public:
  /// None when the fragment does not consist of rows of `memory`, a buffer.
  static std::optional<MatrixReader> make(NVVMEmitter &e, const Layout &fragment, Type element, Value memory);

  int64_t size() const { return words.size(); }
  /// 32-bit word `i` of the fragment, in register order.
  Value word(int64_t i) {
    if (!words[i])
      read(i / plan.x);
    return words[i];
  }

private:
  MatrixReader(NVVMEmitter &e, MatrixAccess plan, bool trans, Value memory, int64_t bytes)
      : e(&e), plan(std::move(plan)), trans(trans), memory(memory), bytes(bytes) {
    words.resize(this->plan.count * this->plan.x);
    regs = this->plan.address.contributions(DimId::Reg, DimId::Offset);
    if (regs.empty())
      regs.push_back({0, 0});
  }
  void read(int64_t instruction);

  NVVMEmitter *e;
  MatrixAccess plan;
  bool trans;
  Value memory;
  int64_t bytes;
  std::vector<std::pair<int64_t, int64_t>> regs;
  std::optional<std::pair<Value, Value>> thread;
  llvm::DenseMap<int64_t, Value> bases; ///< one address register per distinct xor
  SmallVector<Value> words;
};
} // namespace tilec::simt

std::optional<NVVMEmitter::MatrixReader>
NVVMEmitter::MatrixReader::make(NVVMEmitter &e, const Layout &fragment, Type element, Value memory) {
  auto type = cast<BufferType>(memory.getType());
  int64_t bytes = memoryBytes(element);
  if (bytes > 2 || e.target.smVersion < 75 || !type.getLayout() || element.isInteger(1))
    return std::nullopt;
  SmallVector<int64_t> shape = dropOnes(type.getShape());
  Layout s = squeezeOnes(type.getLayout().getLayout(), type.getShape());
  Layout f = fragment.rank() == shape.size() ? fragment : squeezeOnes(fragment, fragment.shape());
  if (f.rank() != shape.size() || isMasked(f, shape))
    return std::nullopt;
  bool trans = false;
  FailureOr<MatrixAccess> plan = asLdMatrix(f, s, bytes, false);
  if (failed(plan) && bytes == 2) {
    plan = asLdMatrix(f, s, bytes, true);
    trans = true;
  }
  if (failed(plan) || plan->count * plan->x * 4 != fragment.inSize(DimId::Reg) * bytes)
    return std::nullopt;
  return MatrixReader(e, *plan, trans, memory, bytes);
}

void NVVMEmitter::MatrixReader::read(int64_t i) {
  Code &code = e->code;
  if (!thread)
    thread = e->evaluate(plan.address, DimId::Offset, e->threadInputs(plan.address));
  auto [rl, rh] = regs[i];
  Value &start = bases[rl];
  if (!start) {
    Value low = thread->first;
    Value x = rl ? (low ? code.exor(low, rl) : code.i32(rl)) : low;
    Value sum = code.add(x, thread->second);
    start = e->address(e->sharedPtr(sum ? code.add(e->get(memory), code.mul(sum, bytes)) : e->get(memory)));
  }
  Type i32 = code.b.getI32Type();
  std::string text =
      "ldmatrix.sync.aligned.m8n8.x" + std::to_string(plan.x) + (trans ? ".trans" : "") + ".shared.b16 {";
  std::string constraints;
  for (int q = 0; q < plan.x; ++q) {
    text += (q ? ", $" : "$") + std::to_string(q);
    constraints += "=r,";
  }
  SmallVector<Type> types(plan.x, i32);
  Type result = plan.x == 1 ? i32 : Type(LLVM::LLVMStructType::getLiteral(code.b.getContext(), types));
  Value v = code.assembly(result, text + "}, [$" + std::to_string(plan.x) + "];", constraints + "r",
                          {code.add(start, rh * bytes)});
  for (int64_t q = 0; q < plan.x; ++q)
    words[i * plan.x + q] =
        plan.x == 1 ? v : LLVM::ExtractValueOp::create(code.b, code.loc, v, ArrayRef<int64_t>{q}).getResult();
}

Value NVVMEmitter::loadMatrices(const Layout &fragment, Type element, Value memory) {
  auto reader = MatrixReader::make(*this, fragment, element, memory);
  if (!reader)
    return {};
  SmallVector<Value> words;
  for (int64_t i = 0; i < reader->size(); ++i)
    words.push_back(reader->word(i));
  return code.bitcast(code.fromElements(words), registerType(element));
}

bool NVVMEmitter::storeMatrices(Value value, const Layout &fragment, Type element, Value memory) {
  auto type = cast<BufferType>(memory.getType());
  int64_t bytes = memoryBytes(element);
  if (bytes != 2 || target.smVersion < 90 || !type.getLayout() || isOwner(fragment))
    return false;
  SmallVector<int64_t> shape = dropOnes(type.getShape());
  Layout s = squeezeOnes(type.getLayout().getLayout(), type.getShape());
  Layout f = fragment.rank() == shape.size() ? fragment : squeezeOnes(fragment, fragment.shape());
  if (f.rank() != shape.size() || isMasked(f, shape))
    return false;
  bool trans = false;
  FailureOr<MatrixAccess> plan = asStMatrix(f, s, bytes, false);
  if (failed(plan)) {
    plan = asStMatrix(f, s, bytes, true);
    trans = true;
  }
  if (failed(plan) || plan->count * plan->x * 2 != fragment.inSize(DimId::Reg))
    return false;
  auto [low, high] = evaluate(plan->address, DimId::Offset, threadInputs(plan->address));
  auto regs = plan->address.contributions(DimId::Reg, DimId::Offset);
  if (regs.empty())
    regs.push_back({0, 0});
  Value words = code.bitcast(value, code.b.getI32Type());
  std::string name =
      "stmatrix.sync.aligned.m8n8.x" + std::to_string(plan->x) + (trans ? ".trans" : "") + ".shared.b16 ";
  llvm::DenseMap<int64_t, Value> bases; // one address register per distinct xor
  for (int64_t i = 0; i < plan->count; ++i) {
    auto [rl, rh] = regs[i];
    Value &start = bases[rl];
    if (!start) {
      Value x = rl ? (low ? code.exor(low, rl) : code.i32(rl)) : low;
      Value sum = code.add(x, high);
      start = address(sharedPtr(sum ? code.add(get(memory), code.mul(sum, bytes)) : get(memory)));
    }
    std::string text = name + "[$0], {", constraints = "r";
    SmallVector<Value> operands{code.add(start, rh * bytes)};
    for (int q = 0; q < plan->x; ++q) {
      text += (q ? ", $" : "$") + std::to_string(1 + q);
      constraints += ",r";
      operands.push_back(code.element(words, i * plan->x + q));
    }
    code.assembly(Type(), text + "};", constraints, operands);
  }
  return true;
}

namespace {
/// An operand of mma.sync, by its 32-bit words.
struct Operand {
  Layout layout; ///< d0 = m or k, d1 = k or n
  std::function<Value(int64_t)> word;
};

/// One instruction: first words of its operands and of its accumulator.
struct Step {
  int64_t a, b, acc;
};
} // namespace

LogicalResult NVVMEmitter::emitMmaSync(GemmOp op) {
  InstAttr inst = op.getInstAttr();
  ArrayRef<int64_t> shape = inst.getShape();
  Type element = getElementTypeOf(op.getA().getType()), bElement = getElementTypeOf(op.getB().getType());
  TileType accType = op.getResult().getType();
  Type acc = accType.getElementType();
  const MatrixAtom *atom =
      matrixAtom(MatrixKind::MMASync, element.getIntOrFloatBitWidth(), shape[0], shape[1], shape[2]);
  StringRef at = operandTypeName(element, op->hasAttr(TileDialect::kAUnsignedAttrName));
  StringRef bt = operandTypeName(bElement, op->hasAttr(TileDialect::kBUnsignedAttrName));
  if (!atom || at.empty() || bt.empty() || inst.getSwapped())
    return unsupported(*op, "mma.sync on these types");
  // Buffers are read as the instructions need them, a step ahead; everything else lies in registers.
  auto readOperand = [&](unsigned which) {
    Value operand = which == 0 ? op.getA() : op.getB();
    Operand o;
    if (isa<BufferType>(operand.getType())) {
      Layout l = ThreadLayouts(launch, target).operand(op, which);
      if (auto reader = MatrixReader::make(*this, l, getElementTypeOf(operand.getType()), operand)) {
        l = squeezeOnes(l, getShapeOf(operand.getType()));
        o.layout = (which == 0 ? op.getTransA() : op.getTransB()) ? l.transpose() : l;
        auto shared = std::make_shared<MatrixReader>(std::move(*reader));
        o.word = [shared](int64_t i) { return shared->word(i); };
        return o;
      }
    }
    Value words = code.bitcast(operandFragment(op, which, o.layout), code.b.getI32Type());
    o.word = [this, words](int64_t i) { return code.element(words, i); };
    return o;
  };
  Operand a = readOperand(0), b = readOperand(1);
  Layout la = a.layout, lb = b.layout, lc = squeezeOnes(accType.getLayout().getLayout(), accType.getShape());
  int64_t perA = atom->a.inSize(DimId::Reg), perB = atom->b.inSize(DimId::Reg),
          perC = atom->d.inSize(DimId::Reg);
  if (!la.over(atom->a) || !lb.over(atom->b) || !lc.over(atom->d))
    return unsupported(*op, "a product whose operands do not consist of the instruction's fragments");
  auto startA = atomStarts(la, perA), startB = atomStarts(lb, perB);
  Type i32 = code.b.getI32Type();
  bool isInt = acc.isInteger(32), half = acc.isF16();
  int64_t wa = perA * element.getIntOrFloatBitWidth() / 32, wb = perB * bElement.getIntOrFloatBitWidth() / 32;
  Value old = get(op.getAcc());
  if (op.getClear())
    old = code.select(flatten(op.getClear()).front(), code.zero(old.getType()), old);
  Value cWords = half ? code.bitcast(old, i32) : old;
  int64_t wc = half ? perC / 2 : perC;
  SmallVector<Value> c = code.elements(cWords);
  std::string dt = isInt ? "s32" : half ? "f16" : "f32";
  std::string name = "mma.sync.aligned.m" + std::to_string(shape[0]) + "n" + std::to_string(shape[1]) + "k" +
                     std::to_string(shape[2]) + ".row.col." + dt + "." + at.str() + "." + bt.str() + "." +
                     dt + " ";
  auto list = [](int64_t from, int64_t n) {
    std::string text = "{";
    for (int64_t i = 0; i < n; ++i)
      text += (i ? ", $" : "$") + std::to_string(from + i);
    return text + "}";
  };
  std::string text =
      name + list(0, wc) + ", " + list(2 * wc, wa) + ", " + list(2 * wc + wa, wb) + ", " + list(0, wc) + ";";
  std::string constraints;
  for (int64_t i = 0; i < wc; ++i)
    constraints += std::string(acc.isF32() ? "=f" : "=r") + ",";
  for (int64_t i = 0; i < wc; ++i)
    constraints += std::to_string(i) + ",";
  for (int64_t i = 0; i < wa + wb; ++i)
    constraints += i ? ",r" : "r";
  Type word = c[0].getType();
  Type result = LLVM::LLVMStructType::getLiteral(code.b.getContext(), SmallVector<Type>(wc, word));
  int64_t depth = dropOnes(getShapeOf(op.getA().getType()))[op.getTransA() ? 0 : 1];
  auto mRegs = lc.contributions(DimId::Reg, DimId::D0), nRegs = lc.contributions(DimId::Reg, DimId::D1);
  // A step's operands are read while the products of the step before it run.
  SmallVector<Step> steps;
  for (int64_t k = 0; k < depth; k += shape[2])
    for (int64_t r = 0; r < lc.inSize(DimId::Reg); r += perC) {
      auto ia = startA.find({mRegs[r].first + mRegs[r].second, k});
      auto ib = startB.find({k, nRegs[r].first + nRegs[r].second});
      if (ia == startA.end() || ib == startB.end())
        return unsupported(*op, "a product whose operands lie in other warps");
      steps.push_back({ia->second / perA * wa, ib->second / perB * wb, r / perC * wc});
    }
  int64_t each = lc.inSize(DimId::Reg) / perC;
  auto fetch = [&](int64_t from) {
    for (int64_t i = from; i < std::min<int64_t>(from + each, steps.size()); ++i) {
      for (int64_t w = 0; w < wa; ++w)
        a.word(steps[i].a + w);
      for (int64_t w = 0; w < wb; ++w)
        b.word(steps[i].b + w);
    }
  };
  fetch(0);
  for (auto [i, step] : llvm::enumerate(steps)) {
    if (int64_t(i) % each == 0)
      fetch(i + each);
    SmallVector<Value> operands(c.begin() + step.acc, c.begin() + step.acc + wc);
    for (int64_t w = 0; w < wa; ++w)
      operands.push_back(a.word(step.a + w));
    for (int64_t w = 0; w < wb; ++w)
      operands.push_back(b.word(step.b + w));
    Value d = code.assembly(result, text, constraints, operands, /*memory=*/false);
    for (int64_t w = 0; w < wc; ++w)
      c[step.acc + w] = LLVM::ExtractValueOp::create(code.b, code.loc, d, ArrayRef<int64_t>{w});
  }
  Value out = code.fromElements(c);
  set(op.getResult(), half ? code.bitcast(out, acc) : out);
  return success();
}
