//===- AssignLayoutsCPU.cpp - where operands of products lie in memory -------===//
#include "ScheduleCPU.h"
#include "tilec/Dialect/Tile/Transforms/Passes.h"

namespace tilec::tile {
#define GEN_PASS_DEF_TILEASSIGNLAYOUTSCPU
#include "tilec/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tilec::tile

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {
/// What a buffer is to all products that read it.
struct Role {
  bool isA = false, transposed = false;
  int64_t columns = 0; ///< of the register block
  GemmOp gemm;
};
} // namespace

/// A buffer that only whole copies write and only products read, all in the same way.
static std::optional<Role> roleOf(AllocOp alloc) {
  if (alloc.getBuffer().getType().getShape().size() != 2 || alloc.getBuffer().getType().getLayout())
    return std::nullopt;
  std::optional<Role> role;
  for (OpOperand &use : alloc.getBuffer().getUses()) {
    if (auto copy = dyn_cast<CopyOp>(use.getOwner())) {
      if (copy.getSource() == alloc.getBuffer() || !copy.getDestOffsets().empty() || copy.getExtents())
        return std::nullopt;
      continue;
    }
    auto gemm = dyn_cast<GemmOp>(use.getOwner());
    if (!gemm || !gemm.getInst() || gemm.getInst()->getShape().size() < 2 || gemm.getA() == gemm.getB())
      return std::nullopt;
    Role now{gemm.getA() == alloc.getBuffer(), false, gemm.getInst()->getShape()[1], gemm};
    now.transposed = now.isA ? gemm.getTransA() : gemm.getTransB();
    if (role && (role->isA != now.isA || role->transposed != now.transposed || role->columns != now.columns))
      return std::nullopt;
    role = now;
  }
  return role;
}

/// Rows of A, one after another, with a pitch that keeps them out of each other's cache sets; A^T as it is.
/// Panels of the register block's columns for B, K running over the rows of a panel.
static Layout layoutOf(const Role &role, ArrayRef<int64_t> shape) {
  LayoutBuilder builder;
  if (role.isA) {
    int64_t pitch = shape[1] + (role.transposed ? 0 : 16);
    builder.out(DimId::Offset, shape[0] * pitch);
    builder.digit(coord(0), shape[0], {{DimId::Offset, pitch}});
    builder.digit(coord(1), shape[1], {{DimId::Offset, 1}});
    return builder.known();
  }
  unsigned nAxis = role.transposed ? 0 : 1, kAxis = 1 - nAxis;
  int64_t k = shape[kAxis], panels = (shape[nAxis] + role.columns - 1) / role.columns;
  builder.out(DimId::Offset, panels * role.columns * k);
  builder.digit(coord(nAxis), role.columns, {{DimId::Offset, 1}});
  builder.digit(coord(nAxis), panels, {{DimId::Offset, k * role.columns}});
  builder.digit(coord(kAxis), k, {{DimId::Offset, role.columns}});
  return builder.known();
}

namespace {
struct AssignLayoutsCPU : tile::impl::TileAssignLayoutsCPUBase<AssignLayoutsCPU> {
  void runOnOperation() override {
    if (!cpuTargetOf(getOperation()))
      return;
    llvm::MapVector<Value, Role> roles;
    getOperation().walk([&](AllocOp alloc) {
      if (std::optional<Role> role = roleOf(alloc))
        roles[alloc.getBuffer()] = *role;
    });
    // Narrow floats are held as f32: the copy converts them for nothing. Both operands of a product change,
    // or none; a product that sums in a narrow type takes them as they are.
    auto isNarrow = [](Value v) {
      Type element = getElementTypeOf(v.getType());
      return element.isF16() || element.isBF16();
    };
    llvm::DenseSet<Value> keep;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto &[buffer, role] : roles)
        for (Operation *user : buffer.getUsers()) {
          auto gemm = dyn_cast<GemmOp>(user);
          if (!gemm || !isNarrow(buffer) || keep.contains(buffer))
            continue;
          Value other = gemm.getA() == buffer ? gemm.getB() : gemm.getA();
          if (isNarrow(gemm.getAcc()) || !roles.count(other) || !isNarrow(other) || keep.contains(other))
            changed |= keep.insert(buffer).second;
        }
    }
    for (auto &[buffer, role] : roles) {
      auto type = cast<BufferType>(buffer.getType());
      Type element = type.getElementType();
      if (isNarrow(buffer)) {
        if (keep.contains(buffer))
          continue; // packed by each product
        element = Float32Type::get(&getContext());
      }
      LayoutAttr layout = LayoutAttr::get(&getContext(), layoutOf(role, type.getShape()));
      Value(buffer).setType(BufferType::get(&getContext(), type.getShape(), element, layout));
    }
  }
};
} // namespace
