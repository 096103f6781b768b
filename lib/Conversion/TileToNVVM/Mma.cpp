//===- Mma.cpp - ldmatrix, stmatrix and mma.sync -----------------------------===//
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

Value NVVMEmitter::loadMatrices(const Layout &fragment, Type element, Value memory) {
  auto type = cast<BufferType>(memory.getType());
  int64_t bytes = memoryBytes(element);
  if (bytes > 2 || target.smVersion < 75 || !type.getLayout() || element.isInteger(1))
    return {};
  SmallVector<int64_t> shape = dropOnes(type.getShape());
  Layout s = squeezeOnes(type.getLayout().getLayout(), type.getShape());
  Layout f = fragment.rank() == shape.size() ? fragment : squeezeOnes(fragment, fragment.shape());
  if (f.rank() != shape.size() || isMasked(f, shape))
    return {};
  bool trans = false;
  FailureOr<MatrixAccess> plan = asLdMatrix(f, s, bytes, false);
  if (failed(plan) && bytes == 2) {
    plan = asLdMatrix(f, s, bytes, true);
    trans = true;
  }
  if (failed(plan))
    return {};
  auto [low, high] = evaluate(plan->address, DimId::Offset, threadInputs(plan->address));
  auto regs = plan->address.contributions(DimId::Reg, DimId::Offset);
  if (regs.empty())
    regs.push_back({0, 0});
  SmallVector<Value> words;
  Type i32 = code.b.getI32Type();
  std::string name =
      "ldmatrix.sync.aligned.m8n8.x" + std::to_string(plan->x) + (trans ? ".trans" : "") + ".shared.b16 ";
  std::string results, constraints;
  for (int i = 0; i < plan->x; ++i) {
    results += (i ? ", $" : "$") + std::to_string(i);
    constraints += "=r,";
  }
  SmallVector<Type> types(plan->x, i32);
  Type result = plan->x == 1 ? i32 : Type(LLVM::LLVMStructType::getLiteral(code.b.getContext(), types));
  for (int64_t i = 0; i < plan->count; ++i) {
    auto [rl, rh] = regs[i];
    Value x = rl ? (low ? code.exor(low, rl) : code.i32(rl)) : low;
    Value sum = code.add(x, high);
    Value at = sum ? code.add(get(memory), code.mul(sum, bytes)) : get(memory);
    Value ptr = address(sharedPtr(code.add(at, rh * bytes)));
    Value v = code.assembly(result, name + "{" + results + "}, [$" + std::to_string(plan->x) + "];",
                            constraints + "r", {ptr});
    if (plan->x == 1)
      words.push_back(v);
    else
      for (int64_t q = 0; q < plan->x; ++q)
        words.push_back(LLVM::ExtractValueOp::create(code.b, code.loc, v, ArrayRef<int64_t>{q}));
  }
  Value packed = code.bitcast(code.fromElements(words), registerType(element));
  return cast<VectorType>(packed.getType()).getNumElements() == fragment.inSize(DimId::Reg) ? packed
                                                                                            : Value();
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
  Layout la, lb, lc = squeezeOnes(accType.getLayout().getLayout(), accType.getShape());
  Value a = operandFragment(op, 0, la), b = operandFragment(op, 1, lb);
  int64_t perA = atom->a.inSize(DimId::Reg), perB = atom->b.inSize(DimId::Reg),
          perC = atom->d.inSize(DimId::Reg);
  if (!la.over(atom->a) || !lb.over(atom->b) || !lc.over(atom->d))
    return unsupported(*op, "a product whose operands do not consist of the instruction's fragments");
  auto startA = atomStarts(la, perA), startB = atomStarts(lb, perB);
  Type i32 = code.b.getI32Type();
  bool isInt = acc.isInteger(32), half = acc.isF16();
  Value aWords = code.bitcast(a, i32), bWords = code.bitcast(b, i32);
  int64_t wa = perA * cast<VectorType>(aWords.getType()).getNumElements() / la.inSize(DimId::Reg);
  int64_t wb = perB * cast<VectorType>(bWords.getType()).getNumElements() / lb.inSize(DimId::Reg);
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
  for (int64_t k = 0; k < depth; k += shape[2])
    for (int64_t r = 0; r < lc.inSize(DimId::Reg); r += perC) {
      auto ia = startA.find({mRegs[r].first + mRegs[r].second, k});
      auto ib = startB.find({k, nRegs[r].first + nRegs[r].second});
      if (ia == startA.end() || ib == startB.end())
        return unsupported(*op, "a product whose operands lie in other warps");
      int64_t first = r / perC * wc;
      SmallVector<Value> operands(c.begin() + first, c.begin() + first + wc);
      for (int64_t i = 0; i < wa; ++i)
        operands.push_back(code.element(aWords, ia->second / perA * wa + i));
      for (int64_t i = 0; i < wb; ++i)
        operands.push_back(code.element(bWords, ib->second / perB * wb + i));
      Value d = code.assembly(result, text, constraints, operands, /*memory=*/false);
      for (int64_t i = 0; i < wc; ++i)
        c[first + i] = LLVM::ExtractValueOp::create(code.b, code.loc, d, ArrayRef<int64_t>{i});
    }
  Value out = code.fromElements(c);
  set(op.getResult(), half ? code.bitcast(out, acc) : out);
  return success();
}
