//===- Emitter.h - one device kernel -> loops over vectors and memory --------===//
//
// Walks the launch once and writes the loops of each op. Scalars map to scalars; inside a vectorised generic
// a scalar of the body maps to a vector, or to a scalar where all lanes agree. Tiles and buffers are places
// in the arena.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_CONVERSION_TILETOCPU_EMITTER_H
#define TILEC_LIB_CONVERSION_TILETOCPU_EMITTER_H
#include "Code.h"
#include "Storage.h"
#include "mlir/IR/IRMapping.h"
#include "tilec/Conversion/OperationBudget.h"

namespace tilec::cpu {

/// Element (c0, c1, ..) lies at ptr + sum over axes of the digits of (start + c) times their strides, in
/// elements.
struct Access {
  struct Digit {
    int64_t radix; ///< 0: whatever remains
    Value stride;
  };
  struct Axis {
    Value start; ///< null: 0
    SmallVector<Digit, 1> digits;
  };
  Value ptr;
  Type element;
  SmallVector<Axis> axes;
};

/// A global tensor at run time.
struct ViewDesc {
  Value ptr;
  Type element;
  SmallVector<Value> sizes, strides;
  TypedAttr safe;
};

/// One index of an element access in the current mode: base + lane * step, or any vector.
struct Index {
  Value base;                      ///< of lane 0
  std::optional<int64_t> step = 0; ///< null: `lanes` says it all
  Value lanes;                     ///< vector of all indices, when it is not base + lane * step
};

/// Memory that elements are read from and written to.
struct Memory {
  Access access;
  bool isView = false;
  SmallVector<Value> sizes; ///< of a view
  TypedAttr safe;
};

/// A rectangle of memory as loops see it: axes of extent one are gone (but for one, if there is no other).
struct Rect {
  Access access;
  SmallVector<int64_t> extents;
  SmallVector<Value> lo, hi; ///< the part of it that exists; null: all
  TypedAttr safe;
  bool whole() const {
    return llvm::all_of(hi, [](Value v) { return !v; });
  }
};

/// What a product needs to know about a lazily filled operand: elements at and above `hi` are zero, but not
/// in memory.
struct LazyBox {
  SmallVector<Value> hi;
};

class Emitter {
public:
  Emitter(OpBuilder &b, const TargetDesc &target, tile::KernelOp kernel)
      : code(b, kernel.getLoc()), budget(b), target(target), kernel(kernel) {}

  /// Maps the kernel's arguments to slots of `values`.
  LogicalResult bindArguments(Value values);
  /// The kernel's ops before its launch.
  LogicalResult emitPrologue(tile::LaunchOp launch);
  LogicalResult emitLaunch(tile::LaunchOp launch, const StoragePlan &plan, Value item, Value arena);
  Value gridExtent(tile::LaunchOp launch, unsigned axis);
  Code code;

private:
  OperationBudget budget;

  //===- Control and scalars (EmitControl.cpp) ---------------------------------===//
  LogicalResult emitBlock(Block &block);
  LogicalResult emitOp(Operation &op);
  LogicalResult emitFor(scf::ForOp op);
  LogicalResult emitWhile(scf::WhileOp op);
  LogicalResult emitIf(scf::IfOp op);
  LogicalResult emitRaster(tile::RasterOp op);
  void moveTiles(Operation *op, ValueRange from, ArrayRef<Value> to);
  void copyTile(Value from, Value to);
  Value materialize(Value value);

  //===- Scalars of bodies, one or several lanes at a time (EmitBody.cpp) ------===//
  LogicalResult emitBody(Block &block);
  LogicalResult emitBodyOp(Operation &op);
  LogicalResult emitElementwise(Operation &op);
  LogicalResult emitBodyIf(scf::IfOp op);
  LogicalResult emitBodyFor(scf::ForOp op);
  LogicalResult emitBodyWhile(scf::WhileOp op);
  LogicalResult emitConversionOp(Operation &op, Value value);
  void trackIndex(Operation &op);
  Value get(Value value) { return map.lookup(value); }
  Value asLanes(Value value) { return lanes > 1 ? code.broadcast(value, lanes) : value; }
  Type laneType(Type type);
  Index indexOf(Value value);
  SmallVector<Index> indicesOf(ValueRange values);

  //===- Element access (EmitAccess.cpp) ---------------------------------------===//
  Access accessOf(Value tileOrBuffer);
  Access placeAccess(Value ptr, Type element, ArrayRef<int64_t> strides);
  Access layoutAccess(Value ptr, Type element, Layout layout, unsigned rank);
  Memory memoryOf(Value value);
  const ViewDesc &viewOf(Value value) { return views[value]; }
  Value offsetOf(const Access &access, ArrayRef<Value> coords);
  Value addressOf(const Access &access, ArrayRef<Value> coords);
  Value safeValue(TypedAttr safe, Type element);
  Value loadElements(const Memory &memory, ArrayRef<Index> index, ArrayRef<bool> inbounds);
  void storeElements(Value value, const Memory &memory, ArrayRef<Index> index, ArrayRef<bool> inbounds);
  struct Reach;
  Reach reach(const Memory &memory, ArrayRef<Index> index, ArrayRef<bool> inbounds);
  Value convert(Value value, Type from, Type to, bool isUnsigned = false);
  LogicalResult emitMakeView(tile::MakeViewOp op);
  LogicalResult emitRecastView(tile::RecastViewOp op);

  //===- Regions (EmitTransfer.cpp) --------------------------------------------===//
  Rect regionOf(Value memory, ValueRange offsets, ArrayRef<int64_t> extents, bool transpose,
                std::optional<ArrayRef<bool>> inbounds);
  Rect wholeTile(Value tile);
  LogicalResult emitLoad(tile::LoadOp op);
  LogicalResult emitStore(tile::StoreOp op);
  LogicalResult emitCopy(tile::CopyOp op);
  LogicalResult emitIm2col(tile::CopyOp op);
  LogicalResult emitAtomicTile(tile::AtomicOp op);
  LogicalResult emitElemAtomic(tile::ElemAtomicOp op);
  Value atomicUpdate(tile::Combine kind, Value value, Value compare, Value ptr, Type element, bool shared);
  /// dest[box] = source[box], safe values where only dest exists.
  void transfer(const Rect &source, const Rect &dest);
  struct MoveOptions {
    unsigned prefetch = 0;   ///< rows ahead
    int64_t padTo = 1;       ///< zeros up to the next multiple along the vector axis
    bool isUnsigned = false; ///< integers of the source have no sign
  };
  void moveBox(const Access &source, const Access &dest, ArrayRef<Value> lo, ArrayRef<Value> hi,
               MoveOptions options);
  void moveBox(const Access &source, const Access &dest, ArrayRef<Value> lo, ArrayRef<Value> hi) {
    moveBox(source, dest, lo, hi, MoveOptions());
  }
  void moveRows(const Access &source, const Access &dest, ArrayRef<Value> lo, ArrayRef<Value> hi,
                unsigned axis, int64_t width, MoveOptions options);
  void moveTransposed(const Access &source, const Access &dest, ArrayRef<Value> lo, ArrayRef<Value> hi,
                      unsigned from, unsigned to, int64_t width, bool isUnsigned);
  void moveScalars(const Access &source, const Access &dest, ArrayRef<Value> lo, ArrayRef<Value> hi,
                   bool isUnsigned);
  void fillBox(const Access &dest, ArrayRef<Value> lo, ArrayRef<Value> hi, Value value);
  void boxOf(const Rect &region, SmallVector<Value> &lo, SmallVector<Value> &hi);
  void nest(ArrayRef<Value> lo, ArrayRef<Value> hi, ArrayRef<unsigned> order,
            llvm::function_ref<void(SmallVector<Value> &)> body);
  bool unitStride(const Access &access, unsigned axis, int64_t width);
  bool dynamicStride(const Access &access, unsigned axis);

  //===- Tile values (EmitGeneric.cpp, EmitReduce.cpp, EmitGemm.cpp) ------------===//
  LogicalResult emitGeneric(tile::GenericOp op);
  struct GenericState;
  int chooseAxis(tile::GenericOp op, int64_t &width);
  LogicalResult emitIterations(GenericState &state, int axis, int64_t width);
  LogicalResult emitIteration(GenericState &state, ArrayRef<Value> iv, int axis);
  Index affineIndex(AffineExpr expr, ArrayRef<Value> iv, int axis);
  Value affineValue(AffineExpr expr, ArrayRef<Value> iv);
  LogicalResult emitReduce(tile::ReduceOp op);
  void reduceRows(tile::ReduceOp op, const Access &source, const Access &dest, Type type);
  void reduceColumns(tile::ReduceOp op, const Access &source, const Access &dest, Type type);
  LogicalResult emitScan(tile::ScanOp op);
  LogicalResult emitReshape(tile::ReshapeOp op);
  Value combine(tile::Combine kind, Value x, Value y);
  Value identity(tile::Combine kind, Type type);
  Value prepare(tile::Combine kind, Value x);
  Value reduceLanes(tile::Combine kind, Value x);

  LogicalResult emitGemm(tile::GemmOp op);
  struct Product;
  Access packOperand(tile::GemmOp op, const GemmPlan &plan, bool isA, Value mLimit, Value nLimit);
  void emitBlocks(Product &product);
  void emitBlock(Product &product, Value p, Value q);
  struct Demand {
    Value m, n; ///< null: all
  };
  Demand demandOf(Value tile);
  bool isLazy(Value buffer, tile::CopyOp &copy);
  LogicalResult emitLazyCopy(tile::CopyOp op);

  const TargetDesc &target;
  tile::KernelOp kernel;
  const StoragePlan *plan = nullptr;
  Value arena;
  IRMapping map;
  llvm::DenseMap<Value, ViewDesc> views;
  llvm::DenseMap<Value, Value> uniform;       ///< tile -> the number that it is everywhere
  llvm::DenseMap<Value, LazyBox> lazy;        ///< buffer -> what the last copy left
  llvm::DenseMap<Value, Value> startsUniform; ///< accumulator carried by a loop -> "this is the first trip"
  llvm::DenseMap<Value, Value> uniformStart;  ///< .. and its value then

  // Mode of emitBody.
  int64_t lanes = 1;
  Value mask; ///< lanes that take part; null: all
  llvm::DenseMap<Value, Index> tracked;
};

} // namespace tilec::cpu
#endif
