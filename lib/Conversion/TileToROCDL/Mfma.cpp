//===- Mfma.cpp - products of waves on the matrix cores ----------------------===//
// AMD CDNA3 ISA, "Matrix Arithmetic Instructions". Both operands come from registers; a wave multiplies the
// tile it owns atom by atom.
#include "ROCDLEmitter.h"
#include "tilec/Support/LayoutTables.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::simt;
using namespace tilec::tile;

/// The intrinsic's name behind llvm.amdgcn.mfma. and what an operand is for it; empty: there is none.
static std::pair<StringRef, Type> mfmaName(Type element, ArrayRef<int64_t> shape) {
  MLIRContext *c = element.getContext();
  bool wide = shape[0] == 32;
  auto vec = [](int64_t n, Type t) { return VectorType::get({n}, t); };
  if (element.isF16() && shape[2] == (wide ? 8 : 16))
    return {wide ? "f32.32x32x8f16" : "f32.16x16x16f16", vec(4, element)};
  if (element.isBF16() && shape[2] == (wide ? 8 : 16))
    return {wide ? "f32.32x32x8bf16.1k" : "f32.16x16x16bf16.1k", vec(4, IntegerType::get(c, 16))};
  if (element.isF32() && shape[2] == (wide ? 2 : 4))
    return {wide ? "f32.32x32x2f32" : "f32.16x16x4f32", element};
  return {"", Type()};
}

/// Registers [from, from + n) as the instruction's operand.
static Value operandOf(Code &code, Value fragment, int64_t from, int64_t n, Type type) {
  if (!isa<VectorType>(type))
    return code.element(fragment, from);
  Value part = code.slice(fragment, from, n);
  return part.getType() == type ? part : LLVM::BitcastOp::create(code.b, code.loc, type, part).getResult();
}

LogicalResult ROCDLEmitter::emitMfma(GemmOp op) {
  InstAttr inst = op.getInstAttr();
  ArrayRef<int64_t> shape = inst.getShape();
  Type element = getElementTypeOf(op.getA().getType());
  TileType accType = op.getResult().getType();
  const MatrixAtom *atom =
      matrixAtom(MatrixKind::MFMA, element.getIntOrFloatBitWidth(), shape[0], shape[1], shape[2]);
  auto [name, operandType] = mfmaName(element, shape);
  if (!atom || name.empty() || !accType.getElementType().isF32() ||
      getElementTypeOf(op.getB().getType()) != element)
    return unsupported(*op, "an mfma of these types");
  // d0 = m, d1 = k; d0 = k, d1 = n. Swapped: the instruction's rows are the tile's columns.
  Layout first, second, lc = squeezeOnes(accType.getLayout().getLayout(), accType.getShape());
  Value a = operandFragment(op, 0, first), b = operandFragment(op, 1, second);
  if (inst.getSwapped()) {
    lc = lc.transpose();
    std::swap(a, b);
    std::swap(first, second);
    first = first.transpose();
    second = second.transpose();
  }
  if (!first.over(atom->a) || !second.over(atom->b) || !lc.over(atom->d))
    return unsupported(*op, "a product whose operands do not consist of the instruction's fragments");
  int64_t perA = atom->a.inSize(DimId::Reg), perB = atom->b.inSize(DimId::Reg),
          perC = atom->d.inSize(DimId::Reg);
  auto startA = atomStarts(first, perA), startB = atomStarts(second, perB);
  Value old = get(op.getAcc());
  if (op.getClear())
    old = code.select(flatten(op.getClear()).front(), code.zero(old.getType()), old);
  auto mRegs = lc.contributions(DimId::Reg, DimId::D0), nRegs = lc.contributions(DimId::Reg, DimId::D1);
  int64_t depth = dropOnes(getShapeOf(op.getA().getType()))[op.getTransA() ? 0 : 1];
  SmallVector<Value> parts;
  for (int64_t r = 0; r < lc.inSize(DimId::Reg); r += perC)
    parts.push_back(code.slice(old, r, perC));
  Value zero = code.i32(0);
  Type result = code.vec(code.b.getF32Type(), perC);
  for (int64_t k = 0; k < depth; k += shape[2])
    for (int64_t i = 0; i < int64_t(parts.size()); ++i) {
      int64_t r = i * perC;
      auto ia = startA.find({mRegs[r].first + mRegs[r].second, k});
      auto ib = startB.find({k, nRegs[r].first + nRegs[r].second});
      if (ia == startA.end() || ib == startB.end())
        return unsupported(*op, "a product whose operands lie in other waves");
      Value x = operandOf(code, a, ia->second, perA, operandType);
      Value y = operandOf(code, b, ib->second, perB, operandType);
      parts[i] = intrinsic(("amdgcn.mfma." + name).str(), result, {x, y, parts[i], zero, zero, zero});
    }
  SmallVector<Value> all;
  for (Value part : parts)
    llvm::append_range(all, code.elements(part));
  set(op.getResult(), code.fromElements(all));
  return success();
}

LogicalResult ROCDLEmitter::emitGemm(GemmOp op) {
  InstAttr inst = op.getInstAttr();
  if (!inst)
    return unsupported(*op, "a product without an instruction");
  if (inst.getKind() == InstKind::fma)
    return emitFma(op);
  if (inst.getKind() == InstKind::mfma)
    return emitMfma(op);
  return unsupported(*op, "this matrix instruction");
}
