//===- VerifyStageLayouts.cpp - what each op needs of its layouts ----------===//
#include "ThreadLayouts.h"
#include "VerifyStage.h"

#include "tilec/Support/LayoutDecisions.h"
#include "tilec/Support/LayoutTables.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::tile {
namespace {
//===- Presence ------------------------------------------------------------===//
/// The tile or buffer inside `type` that has no layout.
Type typeWithoutLayout(Type type) {
  if (auto ring = dyn_cast<RingType>(type)) {
    for (Type buffer : ring.getBuffers())
      if (Type missing = typeWithoutLayout(buffer))
        return missing;
    return {};
  }
  if (!isa<TileType, BufferType, FutureType>(type))
    return {};
  return getLayoutOf(type) ? Type() : type;
}

LogicalResult verifyPresent(Operation *op) {
  for (Type type : op->getResultTypes())
    if (Type missing = typeWithoutLayout(type))
      return op->emitError() << (isa<BufferType>(missing) ? "buffer" : "tile")
                             << " without layout after assign-layouts: " << missing;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes())
        if (Type missing = typeWithoutLayout(type))
          return op->emitError() << "block argument without layout after assign-layouts: " << missing;
  return success();
}

//===- Generics ------------------------------------------------------------===//
/// What a map that only drops and permutes axes makes of the iteration's layout; nothing for other maps.
std::optional<Layout> throughProjection(const Layout &iteration, AffineMap map) {
  SmallVector<unsigned> kept;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || llvm::is_contained(kept, dim.getPosition()))
      return std::nullopt;
    kept.push_back(dim.getPosition());
  }
  Layout result = iteration;
  for (unsigned axis = map.getNumDims(); axis-- > 0;)
    if (!llvm::is_contained(kept, axis))
      result = result.sliceAxis(axis);
  SmallVector<unsigned> sorted(kept);
  llvm::sort(sorted);
  SmallVector<unsigned> order; // axis i of the operand is the kept axis order[i]
  for (unsigned axis : kept)
    order.push_back(llvm::find(sorted, axis) - sorted.begin());
  return result.permuteAxes(order).squeeze();
}

/// For each element, the threads that hold it, as a sorted list.
using Holders = std::vector<SmallVector<int32_t, 4>>;

int64_t flatten(ArrayRef<int64_t> at, ArrayRef<int64_t> shape) {
  int64_t flat = 0;
  for (auto [x, extent] : llvm::zip_equal(at, shape)) {
    if (x < 0 || x >= extent)
      return -1;
    flat = flat * extent + x;
  }
  return flat;
}

/// Threads numbered by (group, warp, lane) with the sizes of `like`, so that two layouts agree on the
/// numbers.
struct ThreadCount {
  int64_t lanes, warps, groups;
};

Holders holdersOf(const Layout &layout, ThreadCount count, ArrayRef<int64_t> shape,
                  function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)> through) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  Holders holders(elements);
  SmallVector<DimId> order = {DimId::Group, DimId::Warp, DimId::Lane, DimId::Reg};
  SmallVector<std::vector<int64_t>> tables;
  for (unsigned axis = 0; axis < layout.rank(); ++axis)
    tables.push_back(layout.table(coord(axis), order));
  int64_t regs = layout.inSize(DimId::Reg), lanes = layout.inSize(DimId::Lane),
          warps = layout.inSize(DimId::Warp), groups = layout.inSize(DimId::Group);
  SmallVector<int64_t, 4> extents = layout.shape();
  for (int64_t g = 0; g < count.groups; ++g)
    for (int64_t w = 0; w < count.warps; ++w)
      for (int64_t l = 0; l < count.lanes; ++l)
        for (int64_t r = 0; r < regs; ++r) {
          // An index that the layout does not use replicates.
          int64_t row = ((g % groups * warps + w % warps) * lanes + l % lanes) * regs + r;
          SmallVector<int64_t> at;
          for (auto &table : tables)
            at.push_back(table[row]);
          if (flatten(at, extents) < 0)
            continue;
          int64_t element = flatten(through(at), shape);
          int32_t thread = (g * count.warps + w) * count.lanes + l;
          if (element >= 0 && (holders[element].empty() || holders[element].back() != thread))
            holders[element].push_back(thread);
        }
  for (SmallVector<int32_t, 4> &list : holders)
    list.erase(llvm::unique(list), list.end());
  return holders;
}

/// Each thread must hold what its iterations read; and compute, in every copy, what they write.
LogicalResult verifyByEnumeration(GenericOp generic, unsigned i, TileType tile, AffineMap map, bool isOut) {
  const Layout &iteration = generic.getLayoutAttr().getLayout(), &operand = tile.getLayout().getLayout();
  constexpr int64_t enumerable = 1 << 18;
  if (iteration.domainSize() > enumerable || operand.domainSize() > enumerable)
    return success();
  auto larger = [&](DimId dim) { return std::max(iteration.inSize(dim), operand.inSize(dim)); };
  ThreadCount count{larger(DimId::Lane), larger(DimId::Warp), larger(DimId::Group)};
  Holders runs = holdersOf(iteration, count, tile.getShape(),
                           [&](ArrayRef<int64_t> at) { return SmallVector<int64_t>(map.compose(at)); });
  Holders holds = holdersOf(operand, count, tile.getShape(),
                            [](ArrayRef<int64_t> at) { return SmallVector<int64_t>(at); });
  for (auto [run, hold] : llvm::zip_equal(runs, holds)) {
    if (run.empty())
      continue;
    bool fits = isOut ? run == hold : std::includes(hold.begin(), hold.end(), run.begin(), run.end());
    if (!fits)
      return generic.emitError() << "operand " << i << " in " << tile.getLayout()
                                 << " is not where the iteration in " << generic.getLayoutAttr()
                                 << " needs it";
  }
  return success();
}

LogicalResult verifyGeneric(GenericOp generic) {
  SmallVector<Value> operands(generic.getIns());
  llvm::append_range(operands, generic.getOuts());
  for (auto [i, operand] : llvm::enumerate(operands)) {
    auto tile = dyn_cast<TileType>(operand.getType());
    if (!tile)
      continue;
    if (!generic.getLayoutAttr())
      return generic.emitError() << "works on " << tile << " but has no layout of its own";
    bool isOut = i >= generic.getIns().size();
    if (isOut && generic.getCombineOf(i - generic.getIns().size()) != Combine::none)
      continue; // the partial values of all threads meet anyway
    AffineMap map = generic.getIndexingMaps()[i];
    std::optional<Layout> expected = throughProjection(generic.getLayoutAttr().getLayout(), map);
    if (expected && *expected == tile.getLayout().getLayout())
      continue;
    if (failed(verifyByEnumeration(generic, i, tile, map, isOut)))
      return failure();
  }
  return success();
}

//===- Products ------------------------------------------------------------===//
std::optional<MatrixKind> matrixKind(InstKind kind) {
  switch (kind) {
  case InstKind::mma_sync:
    return MatrixKind::MMASync;
  case InstKind::wgmma:
    return MatrixKind::WGMMA;
  case InstKind::mfma:
    return MatrixKind::MFMA;
  case InstKind::wmma:
    return MatrixKind::WMMA;
  case InstKind::fma:
  case InstKind::tcgen05:
  case InstKind::cpu_fma:
    return std::nullopt; // any layout will do, or none is tabulated
  }
  return std::nullopt;
}

/// Does the fragment consist of the instruction's? Masked tiles count with what they are rounded up to.
bool consistsOf(const Layout &fragment, const Layout &atom) {
  SmallVector<DimValue> sizes;
  for (unsigned axis = 0; axis < fragment.rank(); ++axis)
    sizes.push_back({coord(axis), fragment.cover(coord(axis))});
  return fragment.pad(sizes).over(atom).has_value();
}

struct Product {
  Operation *op;
  Value a, b;
  TileType acc;
  bool transA, transB;
  InstAttr inst;
};

LogicalResult verifyFragment(const Product &product, StringRef name, TileType type, const Layout &atom,
                             bool transposed) {
  if (type.getRank() != 2)
    return success();
  const Layout &layout = type.getLayout().getLayout();
  if (consistsOf(transposed ? layout.transpose() : layout, atom))
    return success();
  return product.op->emitError() << name << " in " << type.getLayout()
                                 << " does not consist of the fragments of " << product.inst;
}

/// wgmma reads operands from shared memory through descriptors. `extent`: rows of the operand that an
/// instruction reads, which may begin at any box of the swizzle, but not inside of one.
LogicalResult verifyDescriptor(const Product &product, StringRef name, BufferType type, bool rowsAreK,
                               int64_t extent) {
  Type element = type.getElementType();
  if (type.getRank() != 2 || element.getIntOrFloatBitWidth() % 8)
    return success();
  const Layout &layout = type.getLayout().getLayout();
  std::string why;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  FailureOr<WgmmaDesc> d = asWgmmaOperand(rowsAreK ? layout.transpose() : layout, bytes, &why);
  if (failed(d))
    return product.op->emitError() << name << " in " << type.getLayout()
                                   << " has no matrix descriptor: " << why;
  int64_t box = std::max<int64_t>(d->swizzle, 16) / bytes;
  if (d->mnMajor && type.getShape()[rowsAreK ? 1 : 0] != extent && extent % box)
    return product.op->emitError() << name << " in " << type.getLayout() << ": instructions of " << extent
                                   << " begin inside of boxes of " << box;
  return success();
}

LogicalResult verifyProduct(const Product &product) {
  std::optional<MatrixKind> kind = product.inst ? matrixKind(product.inst.getKind()) : std::nullopt;
  Type element = getElementTypeOf(product.a.getType());
  if (!kind || !element.isIntOrFloat() || product.inst.getKSlices() > 1)
    return success(); // partial sums over K have layouts of their own
  ArrayRef<int64_t> shape = product.inst.getShape();
  unsigned bits = element.getIntOrFloatBitWidth();
  const MatrixAtom *known = matrixAtom(*kind, bits, shape[0], shape[1], shape[2]);
  if (!known)
    return product.op->emitError() << product.inst << " is no instruction for operands of " << element;
  MatrixAtom atom = *known;
  if (holdsNeighbours(product.inst, element, product.transA, product.transB)) {
    atom.a = *wgmmaA(bits, /*neighbours=*/true);
    atom.d = wgmmaD(shape[1], /*neighbours=*/true);
  }
  bool swapped = product.inst.getSwapped();
  if (failed(verifyFragment(product, "accumulator", product.acc, atom.d, swapped)))
    return failure();
  // Swapped: the instruction computes B^T A^T, so its first operand is the tile's second.
  auto verifyOperand = [&](StringRef name, Value operand, bool first, bool transposed) -> LogicalResult {
    if (auto tile = dyn_cast<TileType>(operand.getType())) {
      if (*kind == MatrixKind::WGMMA && !first)
        return product.op->emitError() << name << " of wgmma must be in shared memory, got " << tile;
      return verifyFragment(product, name, tile, first ? atom.a : atom.b, transposed != swapped);
    }
    if (*kind != MatrixKind::WGMMA)
      return success();
    bool isA = operand == product.a && name == "operand A";
    return verifyDescriptor(product, name, cast<BufferType>(operand.getType()),
                            isA ? transposed : !transposed, shape[first ? 0 : 1]);
  };
  if (failed(verifyOperand("operand A", product.a, !swapped, product.transA)))
    return failure();
  return verifyOperand("operand B", product.b, swapped, product.transB);
}

//===- Copies --------------------------------------------------------------===//
template <typename T> LogicalResult verifyTma(T copy) {
  bool loads = isa<BufferType>(copy.getDest().getType());
  auto buffer = dyn_cast<BufferType>(loads ? copy.getDest().getType() : copy.getSource().getType());
  auto view = dyn_cast<ViewType>(loads ? copy.getSource().getType() : copy.getDest().getType());
  if (!buffer || !view)
    return copy.emitError() << "engine tma moves between a view and a buffer";
  unsigned bits = buffer.getElementType().getIntOrFloatBitWidth();
  if (buffer.getElementType() != view.getElementType())
    return copy.emitError() << "engine tma does not convert " << view.getElementType() << " to "
                            << buffer.getElementType();
  if (copy.getIm2col() || bits % 8)
    return success();
  int64_t inner = view.getRank() ? view.getStaticStride(view.getRank() - 1) : 1;
  if (inner != 1)
    return copy.emitError() << "engine tma needs the innermost stride of " << view << " to be 1";
  std::string why;
  if (succeeded(asTmaBoxes(buffer.getLayout().getLayout(), bits / 8, {}, 16, &why)))
    return success();
  return copy.emitError() << "no TMA box fills " << buffer.getLayout() << ": " << why;
}
} // namespace

LogicalResult verifyLayouts(KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    if (failed(verifyPresent(op)))
      return WalkResult::interrupt();
    LogicalResult checked =
        TypeSwitch<Operation *, LogicalResult>(op)
            .Case<GenericOp>([](GenericOp generic) { return verifyGeneric(generic); })
            .Case<GemmOp>([](GemmOp gemm) {
              return verifyProduct({gemm, gemm.getA(), gemm.getB(), gemm.getAcc().getType(), gemm.getTransA(),
                                    gemm.getTransB(), gemm.getInstAttr()});
            })
            .Case<AsyncGemmOp>([](AsyncGemmOp gemm) {
              return verifyProduct({gemm, gemm.getA(), gemm.getB(), gemm.getResult().getType().getTile(),
                                    gemm.getTransA(), gemm.getTransB(), gemm.getInstAttr()});
            })
            .Case<CopyOp>(
                [](CopyOp copy) { return copy.getEngine() == Engine::tma ? verifyTma(copy) : success(); })
            .Case<AsyncCopyOp>([](AsyncCopyOp copy) {
              return copy.getEngine() == Engine::tma ? verifyTma(copy) : success();
            })
            .Default([](Operation *) { return success(); });
    return failed(checked) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
} // namespace tilec::tile
