//===- KernelGen.h - one kernel of HIR -> one tile.kernel --------------------===//
//
// The state of the translation: a builder, and an environment that gives each mutable thing (fragment,
// scalar, element of a local array, flag of a loop) its current value. Inside a Parallel nest the environment
// holds the current *element* of each fragment that the nest writes.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_MLIRGEN_KERNELGEN_H
#define TILEC_LIB_MLIRGEN_KERNELGEN_H
#include "Scalars.h"
#include "Scan.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/SaveAndRestore.h"

namespace tilec::mlirgen {

using mlir::Value;

/// sum of coeffs[k] * (variable k of the nest) + constant
struct Linear {
  llvm::SmallVector<int64_t, 4> coeffs;
  int64_t constant = 0;
  bool operator==(const Linear &other) const { return coeffs == other.coeffs && constant == other.constant; }
  /// The position of the one variable, when the form is `variable + constant`; -1 for a plain constant.
  std::optional<int> unitVariable() const;
};
/// One form per axis of the object.
using LinearMap = llvm::SmallVector<Linear, 4>;

/// The Parallel nest whose body is being translated.
struct Nest {
  const hir::Parallel *stmt = nullptr;
  llvm::SmallVector<const hir::VarObj *, 4> vars;
  llvm::SmallVector<const hir::Expr *, 4> extentExprs;
  llvm::SmallVector<int64_t, 4> domain; ///< kDynamic where the extent is a run-time value
  llvm::SmallVector<Value, 4> extents;  ///< of the dynamic axes
  std::vector<const hir::Stmt *> body;
  llvm::DenseMap<const hir::Object *, LinearMap>
      scalarForms;                                  ///< private scalars that are linear in the variables
  llvm::DenseSet<const hir::Object *> recomputable; ///< private scalars that later groups may compute again
  llvm::DenseSet<const hir::Object *> viaShared;    ///< fragments that the nest reaches only in a shared copy
  // Of the group of statements that becomes the current generic:
  llvm::MapVector<const hir::Object *, LinearMap> outs;
  llvm::DenseMap<const hir::Object *, Value> tiles;        ///< fragments as they were before the group
  llvm::DenseMap<const hir::Object *, Value> sharedCopies; ///< of `viaShared`
  bool isDynamic() const { return llvm::any_of(domain, mlir::ShapedType::isDynamic); }
};

class KernelGen {
public:
  KernelGen(mlir::MLIRContext *context, const hir::Program &program, const hir::Kernel &kernel);
  /// Appends the kernel to `module`.
  mlir::LogicalResult run(mlir::ModuleOp module);

private:
  using Stmts = llvm::ArrayRef<const hir::Stmt *>;
  using Extents = llvm::ArrayRef<int64_t>;

  //===- Kernels.cpp: parameters, host level, launches --------------------------===//
  tile::KernelOp createKernel(mlir::ModuleOp module);
  mlir::ArrayAttr argumentAttrs();
  void setKernelAttrs(tile::KernelOp op);
  void bindSymbols();
  void requireEquations();
  void findIndexVars();
  bool isIndexArithmetic(const hir::Expr *expr) const;
  void findEscapingLoopVars(Stmts stmts, UseCounts total);
  tile::ViewType viewType(const hir::TensorObj *tensor, int64_t align);
  Value makeView(const hir::TensorObj *tensor);
  void launch(const hir::Launch *stmt);
  void applySafeValues(const hir::Launch *stmt);
  mlir::DictionaryAttr hints(const hir::Launch *stmt);
  mlir::Location locOf(const hir::Loc &loc) const;
  mlir::Location namedLoc(llvm::StringRef name, const hir::Loc &loc) const;

  //===- Expressions.cpp ---------------------------------------------------------===//
  Value expr(const hir::Expr *e);
  Value indexExpr(const hir::Expr *e);
  Value literal(const hir::IntConst *e);
  Value objectValue(const hir::ObjRef *e);
  Value dimension(const hir::TensorObj *tensor, unsigned axis, bool stride);
  Value symbol(const hir::Symbol *symbol);
  Value logical(const hir::Logical *e);
  Value conditional(const hir::Select *e);
  Value element(const hir::Element *e);
  Value localElement(const hir::Element *e);
  Value viewElement(const hir::TensorObj *tensor, Value view, mlir::ValueRange indices);
  bool mustGuard(const hir::Expr *e) const; ///< may it read where it is not allowed to?
  std::optional<int64_t> constantOf(const hir::Expr *e) const;
  Value ifValue(Value cond, const hir::Expr *onTrue, const hir::Expr *onFalse, mlir::Type type);
  llvm::SmallVector<Value> indices(llvm::ArrayRef<const hir::Expr *> exprs);
  mlir::Type varType(const hir::Object *var);

  //===- ControlFlow.cpp ---------------------------------------------------------===//
  /// What a loop or branch carries: keys, the values they have before it, and their types.
  struct Carried {
    llvm::SmallVector<Key> keys;
    llvm::SmallVector<Value> inits;
    llvm::SmallVector<mlir::Type> types;
  };
  void block(Stmts stmts, const hir::Stmt *loop);
  void statement(const hir::Stmt *stmt, const hir::Stmt *loop);
  void jump(const hir::Stmt *stmt, const hir::Stmt *loop);
  void branch(Value cond, Stmts thenStmts, Stmts elseStmts, const hir::Stmt *loop);
  void loop(const hir::For *stmt);
  void countedLoop(const hir::For *stmt, Value start, Value stop, Value step, const Carried &carried);
  void breakingLoop(const hir::For *stmt, Value start, Value stop, Value step, const Carried &carried);
  void bindLoopVar(const hir::For *stmt, Value iv, bool nonNegative);
  void setPipeline(const hir::For *stmt, mlir::Operation *op);
  Carried carriedBy(llvm::ArrayRef<Stmts> blocks, const hir::Stmt *loop);
  Value initialValue(Key key, const hir::Object *object);
  llvm::SmallVector<Value> current(const Carried &carried);
  void bind(const Carried &carried, mlir::ValueRange values);
  void hoistBuffers(const hir::Stmt *stmt);

  //===- Bodies.cpp: statements of one element or scalar ---------------------------===//
  void allocate(const hir::Object *object);
  void assign(const hir::Assign *stmt);
  void storeElement(const hir::StoreElement *stmt);
  void storeLocal(const hir::StoreElement *stmt, Value value);
  Value sharedCopyOf(const hir::TileObj *fragment, const hir::Loc &loc, llvm::StringRef why);

  //===- Tiles.cpp: copy, fill, gemm, reduce ----------------------------------------===//
  tile::TileType tileType(Extents shape, DType t);
  Value undef(Extents shape, DType t);
  Value splat(Extents shape, DType t, Value value);
  Value reshaped(Value tile, Extents shape);
  Value readRegion(const hir::Region &region, Extents shape);
  Value readView(const hir::TensorObj *tensor, Value view, mlir::ValueRange offsets, Extents extents,
                 Extents shape);
  Value readSlice(Value tile, const hir::Region &region, Extents shape);
  void writeRegion(const hir::Region &region, Value tile);
  void writeSlice(const hir::Region &region, Value tile);
  Value bufferOperand(const hir::Region &region, Extents shape);
  Value convert(Value tile, DType from, DType to);
  Value transposed(Value tile);
  using Body = llvm::function_ref<Value(mlir::ValueRange indices, mlir::ValueRange elements)>;
  /// A generic over `domain`: reads `ins` at `inMaps`, writes `out` at `outMap`.
  Value generic(Extents domain, mlir::ValueRange ins, llvm::ArrayRef<mlir::AffineMap> inMaps, Value out,
                mlir::AffineMap outMap, Body body);
  Value elementwise(mlir::ValueRange ins, DType result, Body body);
  std::optional<mlir::AffineMap> sliceMap(const hir::Region &region, Extents domain);
  void copy(const hir::Copy *stmt);
  bool copyMemory(const hir::Copy *stmt);
  void fill(const hir::Fill *stmt);
  void gemm(const hir::Gemm *stmt);
  Value gemmOperand(const hir::Region &region, int64_t rows, int64_t cols);
  void reduce(const hir::Reduce *stmt);
  Value memory(const hir::Object *object);
  bool hasRunTimeSafeValue(const hir::Object *object) const;

  //===- Parallel.cpp ----------------------------------------------------------------===//
  void parallel(const hir::Parallel *stmt);
  void serialNest(const hir::Parallel *stmt, unsigned axis);
  void flatten(const hir::Parallel *stmt, Nest &nest);
  bool evaluateDomain(Nest &nest);
  void analyzeScalars(Nest &nest);
  void chooseSharedCopies(Nest &nest);
  std::optional<Linear> linear(const hir::Expr *e, const Nest &nest) const;
  std::optional<LinearMap> linearMap(llvm::ArrayRef<const hir::Expr *> indices, const Nest &nest) const;
  bool isOutMap(const LinearMap &map, const hir::TileObj *fragment, const Nest &nest) const;
  llvm::MapVector<const hir::Object *, llvm::SmallVector<LinearMap>> writesOf(Stmts stmts,
                                                                              const Nest &nest) const;
  struct Group {
    llvm::SmallVector<const hir::Stmt *> stmts;
    llvm::MapVector<const hir::Object *, LinearMap> outs;
    llvm::SmallVector<const hir::VarObj *> spills; ///< private scalars that later groups read
  };
  std::vector<Group> groupsOf(Nest &nest);
  void planSpills(std::vector<Group> &groups, const Nest &nest);
  void emitGroup(Nest &nest, const Group &group, llvm::MapVector<const hir::Object *, Value> &spilled);
  mlir::AffineMap affineMap(const LinearMap &map, unsigned dims);
  Value nestElement(const hir::TileObj *fragment, llvm::ArrayRef<const hir::Expr *> indices, Value &handled);

  mlir::InFlightDiagnostic remark(const hir::Loc &loc);

  const hir::Program &program;
  const hir::Kernel &kernel;
  mlir::OpBuilder b;
  Scalars s;
  llvm::DenseMap<Key, Value> env;
  llvm::DenseMap<const hir::Object *, Value> memories; ///< views, buffers and pointers
  llvm::DenseMap<const hir::Symbol *, Value> symbols;
  llvm::DenseMap<std::pair<const hir::TensorObj *, unsigned>, Value>
      dims;                                         ///< of parameters; strides after rank axes
  llvm::DenseSet<const hir::Object *> indexVars;    ///< int64 scalars that only ever hold index arithmetic
  llvm::DenseSet<const hir::Object *> escapingVars; ///< loop variables read after their loop
  llvm::DenseSet<const hir::Object *> hoisted; ///< buffers allocated before the statement that allocates them
  UseCounts uses;
  Nest *nest = nullptr;

  /// Ops made while it lives are at `loc`.
  struct At {
    At(KernelGen &g, const hir::Loc &loc) : saved(g.s.loc, g.locOf(loc)) {}
    llvm::SaveAndRestore<mlir::Location> saved;
  };
};

} // namespace tilec::mlirgen
#endif
