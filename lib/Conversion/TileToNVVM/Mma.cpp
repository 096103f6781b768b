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
  if (bytes > 4 || e.target.smVersion < 75 || !type.getLayout() || element.isInteger(1))
    return std::nullopt;
  SmallVector<int64_t> shape = dropOnes(type.getShape());
  Layout s = squeezeOnes(type.getLayout().getLayout(), type.getShape());
  Layout f = fragment.rank() == shape.size() ? fragment : squeezeOnes(fragment, fragment.shape());
  if (f.rank() != shape.size() || isMasked(f, shape))
    return std::nullopt;
  bool trans = false;
  FailureOr<MatrixAccess> plan = asLdMatrix(f, s, bytes, false);
  if (failed(plan) && bytes <= 2) {
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
  if (!start)
    start = e->address(e->sharedPtr(e->byteOffset(e->get(memory), *thread, rl, bytes)));
  Type i32 = code.b.getI32Type();
  std::string text =
      "ldmatrix.sync.aligned.m8n8.x" + std::to_string(plan.x) + (trans ? ".trans" : "") + ".shared.b16 {";
  std::string constraints;
  for (int q = 0; q < plan.x; ++q) {
    text += (q ? ", $" : "$") + std::to_string(q);
    constraints += "=r,";
  }
  SmallVector<Type> types(plan.x, i32);
  llvm::copy(code.assemblies(types, text + "}, [$" + std::to_string(plan.x) + "];", constraints + "r",
                             {code.add(start, rh * bytes)}),
             words.begin() + i * plan.x);
  for (int64_t q = i * plan.x; plan.bytePairs && q < (i + 1) * plan.x; q += 2) {
    SmallVector<Value, 2> pair{words[q], words[q + 1]};
    auto column = [&](StringRef bytes) {
      return code.assembly(i32, ("prmt.b32 $0, $1, $2, " + bytes + ";").str(), "=r,r,r", pair,
                           /*memory=*/false);
    };
    words[q] = column("0x6420");
    words[q + 1] = column("0x7531");
  }
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
  auto thread = evaluate(plan->address, DimId::Offset, threadInputs(plan->address));
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
    if (!start)
      start = address(sharedPtr(byteOffset(get(memory), thread, rl, bytes)));
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

namespace tilec::simt {
/// A product as a sequence of mma.sync: each reads words of its operands and adds to words of the sums.
class NVVMEmitter::WarpProduct {
public:
  WarpProduct(NVVMEmitter &e, GemmOp op) : e(e), code(e.code), op(op), shape(op.getInstAttr().getShape()) {}
  LogicalResult emit();

private:
  /// An operand, by its 32-bit words.
  struct Operand {
    Layout layout; ///< d0 = m or k, d1 = k or n
    std::function<Value(int64_t)> word;
    int64_t words; ///< of one instruction
  };
  /// One instruction: first words of its operands and of its sums.
  struct Step {
    int64_t a, b, acc;
  };

  Operand readOperand(unsigned which, const Layout &atom);
  Operand roundToTF32(Operand o);
  LogicalResult collectSteps(const MatrixAtom &atom);
  void writeInstruction(StringRef aType, StringRef bType);
  void fetch(int64_t from);
  void multiply(const Step &step);

  NVVMEmitter &e;
  Code &code;
  GemmOp op;
  ArrayRef<int64_t> shape; ///< of the instruction: m, n, k
  Operand a, b;
  Layout sums;
  SmallVector<Value> words; ///< of the sums
  int64_t accWords = 0;     ///< of one instruction
  SmallVector<Step> steps;  ///< along k, then over the registers of the sums
  int64_t perK = 0;         ///< steps that share their k
  std::string text, constraints;
};
} // namespace tilec::simt

/// Buffers are read as the instructions need them; everything else lies in registers.
NVVMEmitter::WarpProduct::Operand NVVMEmitter::WarpProduct::readOperand(unsigned which, const Layout &atom) {
  Value operand = which == 0 ? op.getA() : op.getB();
  Type element = getElementTypeOf(operand.getType());
  Operand o;
  o.words = atom.inSize(DimId::Reg) * element.getIntOrFloatBitWidth() / 32;
  if (isa<BufferType>(operand.getType())) {
    Layout l = ThreadLayouts(e.launch, e.target).operand(op, which);
    if (auto reader = MatrixReader::make(e, l, element, operand)) {
      l = squeezeOnes(l, getShapeOf(operand.getType()));
      o.layout = (which == 0 ? op.getTransA() : op.getTransB()) ? l.transpose() : l;
      auto shared = std::make_shared<MatrixReader>(std::move(*reader));
      o.word = [shared](int64_t i) { return shared->word(i); };
      return o;
    }
  }
  Value all = code.bitcast(e.operandFragment(op, which, o.layout), code.b.getI32Type());
  o.word = [this, all](int64_t i) { return code.element(all, i); };
  return o;
}

/// Each word once; without this the unit would cut the low 13 bits off.
NVVMEmitter::WarpProduct::Operand NVVMEmitter::WarpProduct::roundToTF32(Operand o) {
  auto known = std::make_shared<llvm::DenseMap<int64_t, Value>>();
  o.word = [this, known, word = o.word](int64_t i) {
    Value &rounded = (*known)[i];
    if (!rounded)
      rounded = code.assembly(code.b.getI32Type(), "cvt.rna.tf32.f32 $0, $1;", "=r,r", {word(i)},
                              /*memory=*/false);
    return rounded;
  };
  return o;
}

LogicalResult NVVMEmitter::WarpProduct::collectSteps(const MatrixAtom &atom) {
  if (!a.layout.over(atom.a) || !b.layout.over(atom.b) || !sums.over(atom.d))
    return e.unsupported(*op, "a product whose operands do not consist of the instruction's fragments");
  int64_t perA = atom.a.inSize(DimId::Reg), perB = atom.b.inSize(DimId::Reg),
          perC = atom.d.inSize(DimId::Reg);
  auto startA = atomStarts(a.layout, perA), startB = atomStarts(b.layout, perB);
  auto rows = sums.contributions(DimId::Reg, DimId::D0), columns = sums.contributions(DimId::Reg, DimId::D1);
  int64_t registers = sums.inSize(DimId::Reg);
  int64_t depth = dropOnes(getShapeOf(op.getA().getType()))[op.getTransA() ? 0 : 1];
  perK = registers / perC;
  for (int64_t k = 0; k < depth; k += shape[2])
    for (int64_t r = 0; r < registers; r += perC) {
      auto ia = startA.find({rows[r].first + rows[r].second, k});
      auto ib = startB.find({k, columns[r].first + columns[r].second});
      if (ia == startA.end() || ib == startB.end())
        return e.unsupported(*op, "a product whose operands lie in other warps");
      steps.push_back({ia->second / perA * a.words, ib->second / perB * b.words, r / perC * accWords});
    }
  return success();
}

/// PTX ISA, "mma": d, a, b, c, where the sums d take the registers of c.
void NVVMEmitter::WarpProduct::writeInstruction(StringRef aType, StringRef bType) {
  Type acc = op.getResult().getType().getElementType();
  std::string sum = acc.isInteger(32) ? "s32" : acc.isF16() ? "f16" : "f32";
  auto list = [](int64_t from, int64_t n) {
    std::string registers = "{";
    for (int64_t i = 0; i < n; ++i)
      registers += (i ? ", $" : "$") + std::to_string(from + i);
    return registers + "}";
  };
  text = "mma.sync.aligned.m" + std::to_string(shape[0]) + "n" + std::to_string(shape[1]) + "k" +
         std::to_string(shape[2]) + ".row.col." + sum + "." + aType.str() + "." + bType.str() + "." + sum +
         " " + list(0, accWords) + ", " + list(2 * accWords, a.words) + ", " +
         list(2 * accWords + a.words, b.words) + ", " + list(0, accWords) + ";";
  for (int64_t i = 0; i < accWords; ++i)
    constraints += std::string(acc.isF32() ? "=f" : "=r") + ",";
  for (int64_t i = 0; i < accWords; ++i)
    constraints += std::to_string(i) + ",";
  for (int64_t i = 0; i < a.words + b.words; ++i)
    constraints += i ? ",r" : "r";
}

/// Reads the operands of the steps that share their k.
void NVVMEmitter::WarpProduct::fetch(int64_t from) {
  for (int64_t i = from; i < std::min<int64_t>(from + perK, steps.size()); ++i) {
    for (int64_t w = 0; w < a.words; ++w)
      a.word(steps[i].a + w);
    for (int64_t w = 0; w < b.words; ++w)
      b.word(steps[i].b + w);
  }
}

void NVVMEmitter::WarpProduct::multiply(const Step &step) {
  SmallVector<Value> operands(words.begin() + step.acc, words.begin() + step.acc + accWords);
  for (int64_t w = 0; w < a.words; ++w)
    operands.push_back(a.word(step.a + w));
  for (int64_t w = 0; w < b.words; ++w)
    operands.push_back(b.word(step.b + w));
  llvm::copy(code.assemblies(SmallVector<Type>(accWords, words[0].getType()), text, constraints, operands,
                             /*memory=*/false),
             words.begin() + step.acc);
}

LogicalResult NVVMEmitter::WarpProduct::emit() {
  Type aElement = getElementTypeOf(op.getA().getType()), bElement = getElementTypeOf(op.getB().getType());
  const MatrixAtom *atom =
      matrixAtom(MatrixKind::MMASync, aElement.getIntOrFloatBitWidth(), shape[0], shape[1], shape[2]);
  StringRef aType = operandTypeName(aElement, op->hasAttr(TileDialect::kAUnsignedAttrName));
  StringRef bType = operandTypeName(bElement, op->hasAttr(TileDialect::kBUnsignedAttrName));
  if (!atom || aType.empty() || bType.empty() || op.getInstAttr().getSwapped())
    return e.unsupported(*op, "mma.sync on these types");
  TileType type = op.getResult().getType();
  bool half = type.getElementType().isF16(); // two sums in a word
  a = readOperand(0, atom->a);
  b = readOperand(1, atom->b);
  if (aElement.isF32()) {
    a = roundToTF32(a);
    b = roundToTF32(b);
  }
  sums = squeezeOnes(type.getLayout().getLayout(), type.getShape());
  accWords = atom->d.inSize(DimId::Reg) / (half ? 2 : 1);
  if (failed(collectSteps(*atom)))
    return failure();
  Value old = e.get(op.getAcc());
  if (op.getClear())
    old = code.select(e.flatten(op.getClear()).front(), code.zero(old.getType()), old);
  words = code.elements(half ? code.bitcast(old, code.b.getI32Type()) : old);
  writeInstruction(aType, bType);
  // A step's operands are read while the products of the step before it run.
  fetch(0);
  for (auto [i, step] : llvm::enumerate(steps)) {
    if (int64_t(i) % perK == 0)
      fetch(i + perK);
    multiply(step);
  }
  Value out = code.fromElements(words);
  e.set(op.getResult(), half ? code.bitcast(out, type.getElementType()) : out);
  return success();
}

LogicalResult NVVMEmitter::emitMmaSync(GemmOp op) { return WarpProduct(*this, op).emit(); }
