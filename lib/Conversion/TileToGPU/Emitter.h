//===- Emitter.h - one device kernel -> the program of one thread ------------===//
//
// Walks the launch once. A tile becomes one vector per thread in the register order of its layout, a buffer
// an address in shared memory, a view its address, sizes and strides. What differs between GPUs (thread ids,
// exchanges between lanes, barriers, matrix and copy engines) is virtual.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_CONVERSION_TILETOGPU_EMITTER_H
#define TILEC_LIB_CONVERSION_TILETOGPU_EMITTER_H
#include "../../Dialect/Tile/Transforms/Divisibility.h"
#include "BitFields.h"
#include "Code.h"
#include "tilec/Conversion/OperationBudget.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Support/LayoutDecisions.h"
#include "tilec/Support/Target.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace tilec::simt {

/// The threads that run the code at hand: a role, or the whole block.
struct Threads {
  Value lane, warp, group; ///< i32; warp within its group
  int64_t warps = 1;       ///< of one group
  int64_t groups = 1;
  int64_t barrier = 0;          ///< id of the barrier of all of them
  int64_t registers = 0;        ///< of each; 0: as many as there are
  bool oneLane = false;         ///< only one lane runs the code: the load role
  bool loadedByOneLane = false; ///< in some role beside such a load role, or in it
  int64_t allWarps() const { return warps * groups; }
};

/// A global tensor. Sizes and strides are made when they are asked for: only what is used becomes a
/// parameter.
struct ViewRef {
  int64_t slot = -1; ///< of the address, for a kernel argument
  Value ptr;
  SmallVector<Value> sizes, strides; ///< index; null: not asked for yet
  tile::ViewType type;
};

/// A rectangle of a view or buffer. Axes of extent one are not seen by the tile.
struct Region {
  Value memory;       ///< in the tile dialect
  ValueRange offsets; ///< in the tile dialect; empty: zeros
  SmallVector<int64_t> extents;
  SmallVector<bool> inbounds;
  SmallVector<int> axes; ///< memory axis of each axis of the tile, -1: none
};

/// Coordinates of the elements that a thread holds: ((low ^ l) + high) + h for register contributions l, h.
struct Coords {
  SmallVector<Value> low, high; ///< i32 per axis; null: zero
  std::vector<std::vector<std::pair<int64_t, int64_t>>> regs;
};

/// An i32 input of a layout with the number of its values.
struct LayoutInput {
  DimId dim;
  Value value;
  int64_t range;
  int64_t step = 1; ///< the value is a multiple of it
};

/// A power of two of a float type whose mantissa has room for integers of that many bits.
struct FloatHolder {
  int64_t pattern, value, bits;
};
std::optional<FloatHolder> holderOf(Type type);

class Emitter {
public:
  Emitter(OpBuilder &b, tile::KernelOp kernel, const TargetDesc &target)
      : code(b, kernel.getLoc()), budget(b), kernel(kernel), target(target), divisibility(kernel) {}
  virtual ~Emitter() = default;

  /// What a thread reads for bit fields (PackedFields.cpp): the words of each vector, and which byte of them
  /// is its own, where that depends on the thread.
  struct FieldWords {
    SmallVector<SmallVector<Value>> vectors;
    Value threadByte;
  };

  /// Emits the whole kernel into an llvm.func and erases nothing.
  FailureOr<LLVM::LLVMFuncOp> run(StringRef symbol);

protected:
  //===- What differs between GPUs ---------------------------------------------===//
  virtual Value threadId() = 0;
  virtual Value blockId() = 0;
  virtual Value gridSize() = 0;
  virtual Value shuffleXor(Value word, int64_t mask) = 0;
  virtual Value shuffleFrom(Value word, Value lane) = 0;
  /// A word of the bytes that the four low hexadecimal digits of `selector` name: 0 to 3 those of x, 4 to 7
  /// of y.
  virtual Value permuteBytes(Value x, Value y, Value selector) = 0;
  /// (x & mask) | bits
  virtual Value andOr(Value x, int64_t mask, int64_t bits) {
    return code.fold<arith::OrIOp>(code.fold<arith::AndIOp>(x, code.i32(int32_t(mask))),
                                   code.i32(int32_t(bits)));
  }
  /// The same value, of which the compiler knows nothing (free of code where that is possible).
  virtual Value opaque(Value value) { return value; }
  /// A copy of these elements, in registers of their own also for a code generator that looks through copies.
  virtual Value ownRegisters(Value vector) { return vector; }
  /// Of the threads at hand, by id; `threads` of them.
  virtual void barrier(Value id, int64_t threads) = 0;
  virtual void warpBarrier() = 0;
  virtual void trap() = 0;
  /// All lanes of the warp do nothing for about `nanoseconds` (i32, the same in all lanes, below 2048).
  virtual LogicalResult pause(Operation &op, Value nanoseconds);
  /// Is a branch of all threads around loads that lie inside as a whole worth its second copy of them? Where
  /// lanes are masked anyway it only makes the two copies wait for each other.
  virtual bool splitsLoads() const { return true; }
  virtual unsigned sharedSpace() const { return 3; }
  virtual unsigned globalSpace() const { return 1; }
  /// Before anything is emitted: what the target must know of the whole launch.
  virtual LogicalResult prepare() { return success(); }
  virtual void decorate(LLVM::LLVMFuncOp function) = 0;
  /// Operations of matrix and copy engines, rings and roles.
  virtual LogicalResult emitTargetOp(Operation &op) = 0;
  virtual LogicalResult emitGemm(tile::GemmOp op) = 0;
  /// An elementary function of a scalar in f32 or f64.
  virtual FailureOr<Value> emitMathCall(Operation &op, ValueRange operands) = 0;
  /// i8 to f16 or f32; f32 to i8 with saturation. Scalars and vectors.
  virtual Value widenFloat8(Value value, bool e5m2);
  virtual Value narrowFloat8(Value value, bool e5m2);
  virtual Value atomicUpdate(tile::Combine kind, Value ptr, Value value, Value compare, Type element);
  /// Fragments that an instruction moves as matrices; null, false: not these.
  virtual Value loadMatrices(const Layout &fragment, Type element, Value memory) { return {}; }
  virtual bool storeMatrices(Value value, const Layout &fragment, Type element, Value memory) {
    return false;
  }

  /// The value of a conversion of an integer that is known to be small; null: of any other (SmallInts.cpp).
  Value smallIntToFloat(Operation &op, Value operand);

  /// Between element types, scalars and vectors; null: there is no such conversion.
  Value convertFloat(Value value, Type from, Type to);

  //===- Products (Products.cpp) -----------------------------------------------------===//
  /// An operand in registers: the tile itself, or a buffer read as the instruction wants it. `layout`: d0 = m
  /// or k, d1 = k or n, transposition applied.
  Value operandFragment(tile::GemmOp op, unsigned which, Layout &layout);
  //===- Plain units (PlainProducts.cpp) ----------------------------------------------===//
  struct PlainSide;
  PlainSide plainSide(tile::GemmOp op, unsigned which, int64_t steps);
  SmallVector<Value> readLine(PlainSide &s, Value k, int64_t step, int64_t steps);
  LogicalResult emitFma(tile::GemmOp op);

  //===- Slots (Slots.cpp) -------------------------------------------------------------===//
  void bindSlot(Value ring, Value slot, ValueRange buffers);
  LogicalResult emitAdvance(tile::AdvanceOp op);

  //===- Structure (Emitter.cpp, Control.cpp) ------------------------------------===//
  LogicalResult emitBlock(Block &block);
  LogicalResult emitOp(Operation &op);
  LogicalResult emitFor(scf::ForOp op);
  LogicalResult emitWhile(scf::WhileOp op);
  LogicalResult emitIf(scf::IfOp op);
  LogicalResult emitRaster(tile::RasterOp op);
  LogicalResult unsupported(Operation &op, const llvm::Twine &what);
  void bindArguments();
  void bindBlockIds(tile::LaunchOp launch);
  /// Value of a slot, a kernel parameter of that type.
  Value slot(int64_t index, Type type);
  Value addParameter(Type type, Attribute entry, DictionaryAttr attrs = {});
  SmallVector<Type> flatTypes(Type type);
  virtual SmallVector<Value> flatten(Value value);
  void bind(Value value, ValueRange flat);
  void bindAll(ValueRange values, ValueRange flat);
  SmallVector<Value> flattenAll(ValueRange values);
  Value get(Value value) { return env[value].front(); }
  void set(Value value, Value to) { env[value] = {to}; }
  void startThreads(int64_t firstWarp, int64_t warps);
  Value threadInRole();
  void roleBarrier() { barrier(code.i32(threads.barrier), threads.allWarps() * target.warpSize); }
  Value uniform(Value i32); ///< the same number in all lanes, told to the compiler
  Value isThreadZero();
  LogicalResult emitDelay(tile::DelayOp op);
  Value delayHash();

  //===- Views and buffers -------------------------------------------------------===//
  ViewRef &view(Value value);
  Value sizeOf(Value view, unsigned axis);
  Value strideOf(Value view, unsigned axis);
  Value safeValue(tile::ViewType type);
  LogicalResult emitMakeView(tile::MakeViewOp op);
  LogicalResult emitRecastView(tile::RecastViewOp op);
  LogicalResult emitSubbuffer(tile::SubbufferOp op);
  Value sharedPtr(Value byteOffset);

  //===- Layouts (Fragments.cpp) ---------------------------------------------------===//
  /// The parts of output `out` inside and above its zone; null is zero.
  std::pair<Value, Value> evaluate(const Layout &l, DimId out, ArrayRef<LayoutInput> inputs);
  SmallVector<LayoutInput> threadInputs(const Layout &l);
  /// The thread's parts joined with what a register contributes inside the zone: (low ^ l) + high; null is
  /// zero.
  Value join(std::pair<Value, Value> thread, int64_t l);
  /// The byte offset of that element from `base`.
  Value byteOffset(Value base, std::pair<Value, Value> thread, int64_t l, int64_t bytes);
  Coords coordsOf(const Layout &l, unsigned rank);
  Value coordAt(const Coords &c, unsigned axis, int64_t reg);
  /// Null: true. False when known.
  Value validAt(const Layout &l, const Coords &c, ArrayRef<int64_t> shape, int64_t reg);
  /// Does this thread own what it holds (of several copies, the first)? Null: always.
  Value isOwner(const Layout &l);
  bool isReplicaRegister(const Layout &l, int64_t reg);
  /// Emits `each` for registers [0, count) of a map whose elements no value holds: once for all of them, or
  /// as the body of a loop of about `most` registers a turn, in which layouts count registers from the turn's
  /// first.
  void forRegisters(const Layout &l, int64_t most, llvm::function_ref<void(int64_t count)> each);
  /// Registers that hold neighbours along `axis`, `most` at most.
  int64_t vectorAlong(const Layout &l, unsigned axis, int64_t most);

  //===- Memory (Memory.cpp) ---------------------------------------------------------===//
  Region regionOf(Value memory, ValueRange offsets, std::optional<ArrayRef<int64_t>> extents,
                  ArrayRef<int64_t> tileShape, std::optional<ArrayRef<bool>> inbounds = std::nullopt);
  /// Registers [from, to) of a fragment.
  Value loadFragment(const Layout &l, ArrayRef<int64_t> shape, Type element, const Region &region,
                     int64_t from, int64_t to);
  void storeFragment(Value value, const Layout &l, ArrayRef<int64_t> shape, Type element,
                     const Region &region, int64_t from, int64_t to);
  Value loadShared(const Layout &l, ArrayRef<int64_t> shape, Type element, const Region &region, int64_t from,
                   int64_t to);
  void storeShared(Value value, const Layout &l, ArrayRef<int64_t> shape, Type element, const Region &region,
                   int64_t from, int64_t to);
  /// How a fragment meets a view.
  struct ViewAccess {
    const Layout *l;
    const Region *region;
    SmallVector<int64_t> shape;
    Type element;
    Coords coords;
    Value ptr;                  ///< of this thread's first element, registers not counted
    SmallVector<Value> offsets; ///< index, per memory axis
    SmallVector<Value> strides; ///< index, per memory axis
    SmallVector<int> tileAxis;  ///< of each memory axis, -1: none
    /// Per memory axis, of the positions in the tile minus this thread's part, which lie in the view: i32,
    /// first and end; null: not bounded on that side.
    SmallVector<std::pair<Value, Value>> bounds;
    int64_t vec = 1;
    int axis = -1;        ///< tile axis along which vectors lie
    bool partial = false; ///< a vector may cross the end
    bool masked = false;
  };
  ViewAccess viewAccess(const Layout &l, ArrayRef<int64_t> shape, Type element, const Region &region);
  std::pair<Value, Value> viewBounds(const ViewAccess &a, unsigned axis);
  Value viewAddress(const ViewAccess &a, int64_t reg);
  Value viewInside(const ViewAccess &a, int64_t reg, int64_t last);
  Value wholeInside(const ViewAccess &a);
  Value loadView(const Layout &l, ArrayRef<int64_t> shape, Type element, const Region &region, int64_t from,
                 int64_t to);
  void storeView(Value value, const Layout &l, ArrayRef<int64_t> shape, Type element, const Region &region,
                 int64_t from, int64_t to);
  /// Byte offset in shared memory of the element at these coordinates (i32).
  Value bufferOffset(Value base, tile::BufferType type, ArrayRef<Value> coords);
  LogicalResult emitLoad(tile::LoadOp op);
  LogicalResult emitStore(tile::StoreOp op);
  Value roundedInPairs(Value value);
  LogicalResult emitCopy(tile::CopyOp op);
  struct SplitSource;
  SplitSource splitSource(tile::SplitCopyOp op);
  void loadAhead(ArrayRef<tile::SplitCopyOp> splits);
  LogicalResult emitSplitCopy(tile::SplitCopyOp op);
  int64_t copiedAtOnce(const Layout &l, unsigned rank, const Region &from, const Region &to);
  LogicalResult emitAtomic(tile::AtomicOp op);
  /// Address and condition (null: always) of one element; indices are index values of this function.
  std::pair<Value, Value> elementAddress(Value memory, ArrayRef<Value> indices, ArrayRef<bool> inbounds);
  Value loadElement(Value memory, ArrayRef<Value> indices, ArrayRef<bool> inbounds, Value guard);
  void storeElement(Value value, Value memory, ArrayRef<Value> indices, ArrayRef<bool> inbounds, Value guard);
  Value atomicElement(tile::ElemAtomicOp op, Value value, Value compare, ArrayRef<Value> indices,
                      Value guard);
  void countBanks(const Layout &f, const Layout &s, int64_t bytes, int64_t vec, bool write);
  Layout copyLayout(ArrayRef<int64_t> shape, int64_t bytes, Value source, Value dest);

  //===- Scalars and generics (Body.cpp, Generic.cpp) ---------------------------------===//
  /// What is made for all registers of a nest at once (PackedFields.cpp), and operations of the body that
  /// nothing else needs.
  struct PackedValues {
    llvm::DenseMap<Operation *, SmallVector<Value>> values;
    llvm::SmallPtrSet<Operation *, 8> unused;
  };
  ArrayRef<BitFields> fieldsOf(tile::GenericOp nest);
  FailureOr<FieldWords> readFields(tile::GenericOp nest, const Coords &coords, const BitFields &fields);
  LogicalResult readFields(tile::GenericOp nest);
  tile::GenericOp nextFields(tile::GenericOp nest);
  LogicalResult emitBitFields(tile::GenericOp nest, PackedValues &packed);
  struct Body {
    llvm::DenseMap<Value, Value> map; ///< of the body's values
    int64_t lanes = 0;                ///< 0: scalars
    Value guard;                      ///< of effects; null: always
    Value owner;                      ///< additionally, of stores
    tile::GenericOp nest;             ///< whose iterations these are; null: none
    const Coords *coords = nullptr;   ///< of the nest
    int64_t reg = -1;                 ///< of the iteration; -1: all, as vectors
    const PackedValues *packed = nullptr;
  };
  Value lookup(Body &body, Value value);
  LogicalResult emitBodyBlock(Block &block, Body &body);
  LogicalResult emitBodyOp(Operation &op, Body &body);
  LogicalResult emitElementwise(Operation &op, Body &body);
  bool emitPositionTest(arith::CmpIOp op, Body &body);
  LogicalResult emitMath(Operation &op, Body &body);
  LogicalResult emitConversion(Operation &op, Body &body);
  LogicalResult emitBodyIf(scf::IfOp op, Body &body);
  LogicalResult emitBodyFor(scf::ForOp op, Body &body);
  LogicalResult emitBodyWhile(scf::WhileOp op, Body &body);
  LogicalResult emitGeneric(tile::GenericOp op);
  LogicalResult emitIterations(tile::GenericOp op, int64_t count, ArrayRef<SmallVector<int64_t>> places,
                               MutableArrayRef<SmallVector<Value>> yields, const PackedValues &packed);
  bool isVectorBody(tile::GenericOp op);
  SmallVector<SmallVector<int64_t>> registersOf(tile::GenericOp op);
  SmallVector<int64_t> matchRegisters(const Layout &iteration, AffineMap map, const Layout &operand,
                                      ArrayRef<int64_t> offsets = {});
  Value affine(AffineExpr expr, ArrayRef<Value> dims);

  //===- Exchanges (Exchange.cpp) ------------------------------------------------------===//
  Value shuffle(Value scalar, llvm::function_ref<Value(Value)> move);
  LogicalResult emitReduce(tile::ReduceOp op);
  LogicalResult emitScan(tile::ScanOp op);
  LogicalResult emitConvertLayout(tile::ConvertLayoutOp op);
  Value convertByShuffle(const Conversion &plan, Value value, const Layout &dst);
  Value convertBySelect(const Conversion &plan, Value value, const Layout &dst);
  Value combine(tile::Combine kind, Value x, Value y);
  Value identity(tile::Combine kind, Type type);
  Value prepare(tile::Combine kind, Value x);
  Value combineAll(tile::Combine kind, SmallVector<Value> values);
  LogicalResult emitInsert(tile::InsertOp op);
  LogicalResult emitSlice(tile::SliceOp op);

  Code code;
  OperationBudget budget;
  tile::KernelOp kernel;
  tile::LaunchOp launch;
  const TargetDesc &target;
  tile::Divisibility divisibility;
  LLVM::LLVMFuncOp function;
  Threads threads;
  LayoutInput turn{DimId::Reg, Value(), 1}; ///< first register of the turn in forRegisters; null: none
  llvm::DenseMap<Value, SmallVector<Value>> env;
  llvm::DenseMap<Value, ViewRef> views;
  llvm::DenseMap<Value, int64_t> slotOf; ///< kernel argument -> first slot
  llvm::DenseMap<int64_t, Value> slots;
  SmallVector<Attribute> params;
  SmallVector<std::pair<unsigned, DictionaryAttr>> paramAttrs;
  llvm::DenseMap<Operation *, Value> ahead; ///< what copies by threads will store
  llvm::DenseMap<Operation *, SmallVector<BitFields>> fieldNests;
  llvm::DenseMap<Operation *, FieldWords> fieldWords; ///< of conversions, where they have been read
  Value warpHash;                                     ///< of delays; null: none yet
  Waves bankWaves; ///< of one warp's accesses to shared memory, each counted once
  Block *entry = nullptr;
  Operation *entryEnd = nullptr; ///< parameters are cast in front of it
};

/// The name of a device kernel in its image: identifiers of PTX have no dots.
std::string deviceSymbol(tile::KernelOp kernel);

/// Without axes of extent one: a memory layout (coordinates -> offset) or a fragment.
Layout squeezeOnes(const Layout &l, ArrayRef<int64_t> shape);

/// First registers of the `per` that make up each atom of a fragment, by the atom's first coordinates.
std::map<std::pair<int64_t, int64_t>, int64_t> atomStarts(const Layout &l, int64_t per);

} // namespace tilec::simt
#endif
