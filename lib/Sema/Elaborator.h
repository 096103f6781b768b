//===- Elaborator.h - from the tree of one kernel instance to HIR ---------------------===//
//
// Walks a kernel body as it would run: compile-time branches are taken, compile-time loops and macros are
// expanded, run-time code becomes HIR. Types of locals depend on all their assignments, so a kernel is walked
// until they stand still; only the last walk's messages and nodes are kept. What outlives a walk is in
// `Settled`.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_SEMA_ELABORATOR_H
#define TILEC_LIB_SEMA_ELABORATOR_H

#include "Builtins.h"
#include "ConstEval.h"
#include "DiagSink.h"
#include "FlowState.h"
#include "Modules.h"
#include "Value.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <deque>
#include <map>

namespace tilec::sema {

//===----------------------------------------------------------------------===//
// What outlives a walk
//===----------------------------------------------------------------------===//

/// What is known about a local scalar from all its assignments.
struct VarInfo {
  bool runtime = false;        ///< needs a variable; otherwise a compile-time value
  bool hasType = false;        ///< `type`/`weak` are set
  bool loopVarEscapes = false; ///< a loop variable that is read after its loop
  DType type = DType::I64;
  Weak weak = Weak::No;
  std::optional<DType> fixed; ///< alloc_var or `x: dt = v`
  SourceRange typeFrom;       ///< the assignment that gave the type
};

class Settled {
public:
  bool changed = false;
  VarInfo &variable(unsigned path, llvm::StringRef name) { return variables[{path, name.str()}]; }
  /// Names the place `node` (the n-th time) inside the place `parent`; the same in every walk.
  unsigned path(unsigned parent, const void *node, uint64_t n);
  /// Loops over constant bounds that must unroll because they index a list (rule 42).
  llvm::DenseSet<unsigned> unrolledLoops;
  /// Numbers that are still weak when all else stands get int64 or float32. True when there were some.
  bool resolveWeak();

private:
  std::map<std::pair<unsigned, std::string>, VarInfo> variables;
  std::map<std::tuple<unsigned, const void *, uint64_t>, unsigned> paths;
};

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

struct Scope;

struct Slot {
  unsigned index; ///< in the FlowState
  Scope *scope;
  VarInfo *info;
  hir::VarObj *var = nullptr; ///< made when first needed
};

struct Scope {
  enum Kind : uint8_t { Kernel, Host, Launch, Macro, Parallel, Comprehension } kind;
  Scope *parent;
  unsigned path;
  unsigned runtimeDepth; ///< run-time loops and branches around it
  SourceRange where;
  llvm::StringMap<Slot *> slots;
  llvm::StringSet<> assigned;              ///< names that the body assigns anywhere
  llvm::StringMap<SourceRange> inParallel; ///< names that ended with a Parallel loop
};

/// One operand of a tile operation.
struct Operand {
  enum Kind : uint8_t { Bad, Whole, Sliced, Head, Scalar } kind = Bad;
  hir::Region region; ///< a Head has offsets only
  Value scalar;
  const ast::Expr *ast = nullptr;
  bool isObject() const { return kind == Whole || kind == Sliced || kind == Head; }
};

/// The arguments of a call in the order of the built-in's parameters; null where left out.
struct BoundArgs {
  llvm::SmallVector<const ast::Argument *, 12> named;
  llvm::SmallVector<const ast::Argument *, 8> rest; ///< of the `*x` parameter
  bool ok = true;
};

//===----------------------------------------------------------------------===//
// The elaborator
//===----------------------------------------------------------------------===//

class Elaborator {
public:
  enum class Level : uint8_t { Module, Dims, Host, Launch };

  Elaborator(Context &ctx, ModuleScope &module, Settled &settled);

  // Modules.cpp uses these without a kernel.
  Value eval(const ast::Expr *e);
  /// assert and static_assert at module level.
  void moduleAssert(const ast::Expr *cond, const ast::Expr *message) {
    elabAssert(cond, message, cond->getRange(), true);
  }

  /// One walk over a kernel instance. `instance` gives the values of @instantiate's keys.
  std::unique_ptr<hir::Kernel> elaborate(const FunctionInfo &fn, const llvm::StringMap<Value> &instance);
  /// Of the kernel elaborated.
  unsigned statements() const { return budget.statements; }

private:
  //--- helpers (Elaborator.cpp)
  template <typename... Args> Report report(diag::ID id, SourceRange where, const Args &...args) {
    return ctx.sink.report(id, where, args...);
  }
  hir::Loc loc(SourceRange r) const { return ctx.loc(r); }
  std::string text(const ast::Expr *e) const;
  template <typename T, typename... Args> T *make(Args &&...args) {
    return ctx.program->make<T>(std::forward<Args>(args)...);
  }
  template <typename T, typename... Args>
  T *makeObject(llvm::StringRef name, SourceRange where, DType type, Args &&...args) {
    T *o = make<T>(std::forward<Args>(args)...);
    o->name = name.str();
    o->loc = loc(where);
    o->dtype = type;
    o->id = nextId++;
    return o;
  }
  void emit(const hir::Stmt *s);
  bool charge(SourceRange where);
  bool enter(SourceRange where);
  void leave() { --budget.depth; }
  bool stopped() const { return budget.exhausted; }
  bool inParallel() const { return parallel != nullptr; }

  //--- names (Names.cpp)
  Scope *pushScope(Scope::Kind kind, const void *node, SourceRange where, Scope *parent);
  void popScope(Scope *previous) { scope = previous; }
  Slot *slot(Scope *s, llvm::StringRef name);
  Slot *findSlot(llvm::StringRef name, bool boundOnly);
  void bind(Scope *s, llvm::StringRef name, Binding::Kind kind, Value v, SourceRange where,
            const ast::Node *node = nullptr);
  Value lookup(llvm::StringRef name, SourceRange where);
  Value lookupGlobal(llvm::StringRef name, SourceRange where);
  Value readSlot(Slot *s, llvm::StringRef name, SourceRange where);
  Value unassigned(Scope *s, llvm::StringRef name, SourceRange where);
  Value unknown(llvm::StringRef name, SourceRange where);
  bool isKnown(llvm::StringRef name);
  void checkNames(const ast::Node *node);
  void checkNames(ast::Block block);
  void importOuterValues(Scope *s);
  Scope *functionScope() const;

  //--- building typed expressions (ExprBuild.cpp)
  const hir::Expr *intConst(int64_t v, DType t, hir::Loc l);
  const hir::Expr *binary(hir::BinaryOp op, const hir::Expr *a, const hir::Expr *b, hir::Loc l);
  const hir::Expr *negate(const hir::Expr *e, hir::Loc l);
  const hir::Expr *cast(const hir::Expr *e, DType t, bool saturate, hir::Loc l);
  const hir::Expr *objRef(const hir::Object *o, SourceRange where) {
    return make<hir::ObjRef>(o, loc(where));
  }

  //--- operators and conversions (Operators.cpp, Convert.cpp)
  Value unary(ast::UnaryOp op, const Value &v, const ast::Expr *operand, SourceRange where);
  Value binaryOp(ast::BinaryOp op, Value a, Value b, const ast::Expr *l, const ast::Expr *r,
                 SourceRange where);
  Value arithmetic(ast::BinaryOp op, const Value &a, const Value &b, SourceRange where);
  Value divide(const Value &a, const Value &b, SourceRange where);
  Value power(const Value &a, const Value &b, SourceRange where);
  Value typedBinary(hir::BinaryOp op, const Value &a, const Value &b, SourceRange where,
                    llvm::StringRef spelled);
  Value compareOp(ast::CompareOp op, const Value &a, const Value &b, SourceRange where);
  Value select(const Value &c, const Value &a, const Value &b, bool lazy, SourceRange where);
  Value minMax(bool isMax, llvm::ArrayRef<Value> values, bool nan, SourceRange where);
  Value math(hir::MathFn fn, llvm::ArrayRef<Value> args, SourceRange where);
  bool needNumber(const Value &v, const ast::Expr *e, llvm::StringRef what);
  std::optional<DType> common(const Value &a, const Value &b, SourceRange where, llvm::StringRef op,
                              Weak &weak);
  bool checkDivisor(const hir::Expr *b, SourceRange where);
  const hir::Expr *convert(const Value &v, DType t, SourceRange where, bool saturate = true);
  const hir::Expr *convertConst(const Value &v, DType t, SourceRange where, bool saturate);
  const hir::Expr *strong(const Value &v, SourceRange where);
  const hir::Expr *toIndex(const Value &v, SourceRange where, llvm::StringRef what);
  const hir::Expr *toCondition(const Value &v, const ast::Expr *e);

  //--- expressions (Expressions.cpp)
  Value evalInner(const ast::Expr *e);
  Value evalBoolOp(const ast::BoolOpExpr *e);
  Value evalCompare(const ast::CompareExpr *e);
  Value evalConditional(const ast::ConditionalExpr *e);
  Value evalSubscript(const ast::SubscriptExpr *e);
  bool unrollFor(const hir::Expr *index);
  Value evalSequenceIndex(const ast::SubscriptExpr *e, const Value &base);
  Value evalAttribute(const ast::AttributeExpr *e);
  Value evalItems(Value::Kind kind, llvm::ArrayRef<const ast::Expr *> items);
  Value evalComprehension(const ast::ListCompExpr *e);
  bool comprehend(const ast::ListCompExpr *e, size_t clause, ValueList &out);
  bool bindTarget(Scope *s, const ast::Expr *target, const Value &v, const ast::Node *node);
  Value readElement(const hir::Object *o, const ast::SubscriptExpr *e);
  bool elementIndices(const hir::Object *o, const ast::SubscriptExpr *e,
                      llvm::SmallVectorImpl<const hir::Expr *> &out);
  const hir::Expr *indexValue(const hir::Object *o, unsigned axis, const ast::Expr *e);
  Value dimension(const hir::TensorObj *t, unsigned axis, SourceRange where);
  Value strideOf(const hir::TensorObj *t, unsigned axis, SourceRange where);
  std::optional<int64_t> staticDim(const hir::Object *o, unsigned axis) const;
  unsigned rankOf(const hir::Object *o) const;
  std::string objectShape(const hir::Object *o) const;

  //--- calls (Calls.cpp, Builtins of scalars in ScalarCalls.cpp)
  Value evalCall(const ast::CallExpr *e);
  Value callBuiltin(const BuiltinInfo &info, const ast::CallExpr *e);
  bool allowedHere(const BuiltinInfo &info, SourceRange where);
  BoundArgs bindArgs(const BuiltinInfo &info, const ast::CallExpr *e);
  Value argument(const BoundArgs &args, unsigned i);
  std::optional<bool> boolArgument(const BoundArgs &args, unsigned i, llvm::StringRef name, bool otherwise);
  std::optional<int64_t> intArgument(const ast::Argument *arg, llvm::StringRef name, int64_t low,
                                     int64_t high);
  std::optional<DType> dtypeOf(const Value &v, SourceRange where);
  std::optional<DType> evalDType(const ast::Expr *e);
  Value callScalar(const BuiltinInfo &info, const ast::CallExpr *e);
  Value callMath(const BuiltinInfo &info, const ast::CallExpr *e, const BoundArgs &args);
  Value callRange(const ast::CallExpr *e, const BoundArgs &args);
  Value callLimit(const BuiltinInfo &info, DType t, SourceRange where);
  Value programId(const ast::CallExpr *e, const BoundArgs &args);
  Value castCall(const ast::CallExpr *e, DType t, const ast::Expr *operand, bool saturate);
  Value callMacro(const FunctionInfo &fn, const ast::CallExpr *e);
  bool bindMacroArgs(const FunctionInfo &fn, const ast::CallExpr *e, Scope *inner, Scope *outer);
  Value capture(Value v, llvm::StringRef name, SourceRange where);
  Value shareable(const Value &v, SourceRange where);
  static SourceRange callName(const ast::CallExpr *e);

  //--- statements (Statements.cpp, Assignments.cpp, Loops.cpp, Launch.cpp)
  enum class Jump : uint8_t { None, Break, Continue, Return };
  void elabBlock(ast::Block block);
  void elabStmt(const ast::Stmt *s);
  void elabExprStmt(const ast::ExprStmt *s);
  void elabIf(const ast::IfStmt *s);
  void elabJump(const ast::Stmt *s, bool isBreak);
  void elabReturn(const ast::ReturnStmt *s);
  void elabAssert(const ast::Expr *cond, const ast::Expr *message, SourceRange where, bool mustBeStatic);
  void elabAssume(const ast::Expr *cond);
  bool assumeAlignment(const ast::Expr *cond);
  void elabWith(const ast::WithStmt *s);
  void elabAssign(const ast::AssignStmt *s);
  void elabAugAssign(const ast::AugAssignStmt *s);
  void elabAnnAssign(const ast::AnnAssignStmt *s);
  void assignTarget(const ast::Expr *target, const Value &v, const ast::Node *node, SourceRange valueRange);
  void assignName(llvm::StringRef name, SourceRange where, const Value &v, const ast::Node *node,
                  SourceRange valueRange);
  void assignObject(Slot *s, llvm::StringRef name, SourceRange where, const Value &v, const ast::Node *node);
  void assignScalar(Slot *s, llvm::StringRef name, SourceRange where, const Value &v, const ast::Node *node,
                    SourceRange valueRange);
  void assignElement(const ast::SubscriptExpr *target, const Value &v, SourceRange valueRange);
  void storeElement(const hir::Object *o, llvm::ArrayRef<const hir::Expr *> indices, const Value &v,
                    SourceRange where, SourceRange valueRange);
  Slot *targetSlot(llvm::StringRef name, SourceRange where);
  void joinType(Slot *s, llvm::StringRef name, const Value &v, SourceRange where);
  DType typeOf(const VarInfo &info) const;
  hir::VarObj *variableOf(Slot *s, llvm::StringRef name, SourceRange where);
  void fixType(Slot *s, llvm::StringRef name, DType t, SourceRange where);
  void allocVar(llvm::StringRef name, SourceRange where, const ast::CallExpr *call, const ast::Node *node);
  const BuiltinInfo *builtinCallee(const ast::Expr *e);

  struct Loop;
  void elabFor(const ast::ForStmt *s);
  void elabRuntimeLoop(const ast::ForStmt *s, const ast::CallExpr *call, const BuiltinInfo &info);
  bool loopBounds(const ast::CallExpr *call, const BuiltinInfo &info, llvm::SmallVectorImpl<Value> &bounds,
                  BoundArgs &args);
  void pipelineArguments(const BoundArgs &args, hir::For *loop);
  bool dependsOnParameter(const ast::Expr *e);
  void elabUnrolled(const ast::ForStmt *s, const ValueList &items);
  void elabParallel(const ast::ForStmt *s, const ast::CallExpr *call);
  void parallelBody(const ast::ForStmt *s, hir::Parallel *loop, llvm::ArrayRef<const ast::Expr *> targets);
  bool parallelHeader(const ast::ForStmt *s, const ast::CallExpr *call, hir::Parallel *loop,
                      llvm::SmallVectorImpl<const ast::Expr *> &targets);
  bool bindLoopVar(Loop &loop, const ast::ForStmt *s, hir::VarObj *var);
  bool mergeParallel(const ast::ForStmt *s, const hir::Parallel &inner);
  void finishLoop(Loop &loop, SourceRange head, bool runs);
  void endLoopVar(Loop &loop, FlowState::Delta &delta);

  void elabLaunch(const ast::WithStmt *s, const ast::CallExpr *call, const ast::Expr *target);
  void launchArguments(const BoundArgs &args, const BuiltinInfo &info, hir::Launch *launch);
  void bindBlockIds(hir::Launch *launch, const ast::Expr *target);
  void launchBody(hir::Launch *launch, ast::Block body, const void *node, SourceRange where,
                  const ast::Expr *target);

  //--- kernels (KernelParams.cpp, KernelAttributes.cpp)
  enum class ParamKind : uint8_t {
    Tensor,
    StridedTensor,
    Pointer,
    Const,
    DTypeParam,
    Scalar,
    LaunchAttribute
  };
  ParamKind paramKind(const ast::Param &p);
  bool kernelOptions(const FunctionInfo &fn, hir::Kernel &kernel);
  void constParams(const FunctionInfo &fn, const llvm::StringMap<Value> &instance, hir::Kernel &kernel);
  void constParam(const FunctionInfo &fn, const ast::Param &p, bool isDType,
                  const llvm::StringMap<Value> &instance, hir::Kernel &kernel);
  Value tuneDefault(llvm::StringRef name, const ast::CallExpr *call);
  void runtimeParams(const FunctionInfo &fn, hir::Kernel &kernel);
  void runtimeParam(const ast::Param &p, ParamKind kind, hir::Kernel &kernel);
  void tensorDims(hir::TensorObj *t, const ast::Param &p, bool strides, hir::Kernel &kernel);
  void tensorDType(hir::TensorObj *t, const ast::Param &p);
  hir::DimExpr dimExpr(const ast::Expr *e, hir::TensorObj *t, unsigned axis, bool stride,
                       hir::Kernel &kernel);
  const ast::Expr *chosen(const ast::Expr *e);
  void checkSymbols(const hir::Kernel &kernel);
  Value dimName(llvm::StringRef name, SourceRange where);
  hir::Symbol *symbol(llvm::StringRef name, SourceRange where);
  void kernelBody(const FunctionInfo &fn, hir::Kernel &kernel);
  void wholeBodyLaunch(const FunctionInfo &fn, hir::Kernel &kernel);
  const ast::Expr *launchAttribute(llvm::StringRef name, const FunctionInfo &fn);
  bool gridValues(const Value &v, SourceRange where, llvm::SmallVectorImpl<const hir::Expr *> &out);
  void defaultGrid(const Value &shape, const Value &block, SourceRange where, hir::Launch *launch);
  std::string signature(const FunctionInfo &fn) const;

  //--- tiles (Regions.cpp, TileOps.cpp, Gemm.cpp)
  Value alloc(const BuiltinInfo &info, const ast::CallExpr *e, llvm::StringRef name, SourceRange nameRange);
  bool tileShape(const ast::Expr *e, hir::Shape &shape);
  Operand operand(const ast::Expr *e);
  bool wholeRegion(const Value &v, Operand &op);
  bool slicedRegion(const hir::Object *o, const ast::SubscriptExpr *e, Operand &op);
  bool sliceAxis(const hir::Object *o, unsigned axis, const ast::SliceExpr *s, hir::Region &region);
  const hir::Expr *sliceBound(const hir::Object *o, unsigned axis, const ast::Expr *e,
                              const hir::Expr *otherwise);
  bool headExtents(Operand &head, const Operand &other);
  bool needRegion(Operand &op, llvm::StringRef call);
  void checkRegionBounds(const hir::Region &r);
  void checkElementBounds(const hir::Object *o, llvm::ArrayRef<const hir::Expr *> indices, SourceRange where);
  std::string regionShape(const Operand &op) const;
  Value callTile(const BuiltinInfo &info, const ast::CallExpr *e);
  void tileCall(const BuiltinInfo &info, const ast::CallExpr *e, const BoundArgs &args);
  void wouldWrite(const BuiltinInfo &info, const BoundArgs &args);
  void copyCall(const ast::CallExpr *e, const BoundArgs &args);
  void copyScalar(const ast::CallExpr *e, Operand &src, Operand &dst);
  bool copyMatches(const ast::CallExpr *e, Operand &src, Operand &dst);
  void checkOverlap(const ast::CallExpr *e, const Operand &src, const Operand &dst);
  void transposeCall(const ast::CallExpr *e, const BoundArgs &args);
  void fillCall(const ast::CallExpr *e, const BoundArgs &args, bool clear);
  void reduceCall(const BuiltinInfo &info, const ast::CallExpr *e, const BoundArgs &args);
  void gemmCall(const ast::CallExpr *e, const BoundArgs &args);
  bool gemmShapes(const ast::CallExpr *e, hir::Gemm *g, const Operand &a, const Operand &b, const Operand &c);
  bool gemmTypes(const ast::CallExpr *e, const Operand &a, const Operand &b, const Operand &c);
  bool gemmOptions(const ast::CallExpr *e, const BoundArgs &args, hir::Gemm *g);
  void safeValueCall(const ast::CallExpr *e);
  void swizzleCall(const BoundArgs &args);

  //--- tiles written and read (FlowChecks.cpp)
  void noteWrite(const hir::Object *o, SourceRange where);
  void noteRead(const hir::Object *o, SourceRange where);
  void uninitialized(const hir::Object *o, SourceRange where, bool provable);

  //--- state
  Context &ctx;
  ModuleScope *module;
  Settled &settled;
  Budget budget;
  ConstEval constEval;
  FlowState flow;
  Level level = Level::Module;
  Scope *scope = nullptr;
  std::deque<Scope> scopes;
  std::deque<Slot> slots;
  unsigned path = 0;
  unsigned nextId = 1;
  unsigned runtimeDepth = 0; ///< run-time loops and branches around this point
  unsigned conditional = 0;  ///< of them, those that may not execute at all
  unsigned lazyDepth = 0;    ///< inside the right side of and/or or a branch of a conditional expression
  Jump jump = Jump::None;
  hir::Block *out = nullptr;
  hir::Kernel *kernel = nullptr;
  llvm::StringRef functionName; ///< of the kernel, as the source has it
  hir::Launch *launch = nullptr;
  hir::Parallel *parallel = nullptr;
  llvm::SmallVector<const hir::VarObj *, 4> serialInParallel;
  unsigned launchesSeen = 0;
  SourceRange safeValueAt; ///< an annotate_safe_value of this kernel

  struct PendingRead {
    const hir::Object *object;
    SourceRange where;
  };
  struct Loop {
    enum Kind : uint8_t { Runtime, Unrolled, Parallel } kind;
    unsigned flowDepth, runtimeDepth;
    std::vector<FlowState::Delta> breaks, continues;
    llvm::DenseSet<const hir::Object *> written;
    std::vector<PendingRead> pending;
    const hir::VarObj *var = nullptr;
    unsigned path = 0;       ///< for Settled::unrolledLoops
    bool canUnroll = false;  ///< constant bounds
    Slot *varSlot = nullptr; ///< the name of `var`
  };
  std::vector<Loop *> loops;
  struct MacroFrame {
    unsigned runtimeDepth;
    size_t loops;
    Value result = Value::none();
  };
  MacroFrame *macro = nullptr;

  llvm::StringMap<hir::Symbol *> symbols;
  llvm::DenseSet<const hir::Symbol *> boundSymbols; ///< with a bare occurrence
  std::vector<hir::TensorObj *> tensors;
  llvm::DenseMap<const hir::Object *, SourceRange> declared; ///< where objects are declared
  llvm::DenseMap<const hir::Object *, size_t> allocDepth;    ///< loops around a tile's allocation
  llvm::DenseMap<const hir::Object *, hir::TensorObj *> mutableTensors;
  llvm::DenseMap<const hir::Object *, hir::ParamObj *> mutableParams;
  llvm::DenseSet<const hir::Object *> usedTensors; ///< in this launch
  llvm::DenseMap<const hir::VarObj *, std::pair<int64_t, int64_t>>
      ranges; ///< constant [low, high] of loop variables
  llvm::StringSet<> constParamNames;
  llvm::StringRef allocName; ///< the target of the assignment at hand
  SourceRange allocRange;
  bool lastInBlock = false; ///< the statement at hand ends its block
};

//===----------------------------------------------------------------------===//
// Questions about expressions (Linear.cpp)
//===----------------------------------------------------------------------===//

/// Same value whenever both are evaluated at one place.
bool sameExpr(const hir::Expr *a, const hir::Expr *b);
/// Whether the expression, written out, has more than `limit` nodes.
bool largerThan(const hir::Expr *e, unsigned limit);
/// b - a when it is a constant, by linear simplification over int64.
std::optional<int64_t> constantDifference(const hir::Expr *a, const hir::Expr *b);
std::optional<int64_t> constantOf(const hir::Expr *e);

/// Errors about two iterations of a finished Parallel nest that meet in one element (ParallelChecks.cpp).
void checkRaces(const hir::Parallel &loop, Context &ctx);

/// The tensors' access kinds, from the statements (Access.cpp).
void computeAccess(hir::Kernel &kernel, llvm::ArrayRef<hir::TensorObj *> tensors);

/// Names that a body assigns: targets of assignments and loops, not those of nested functions.
void collectAssigned(ast::Block block, llvm::StringSet<> &names);

} // namespace tilec::sema

#endif // TILEC_LIB_SEMA_ELABORATOR_H
