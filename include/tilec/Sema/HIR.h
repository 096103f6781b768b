//===- HIR.h - elaborated, typed kernels: what Sema hands to MLIRGen ---------===//
// Everything the language decides before code exists is decided here: names are resolved to objects,
// compile-time values are evaluated, branches on them are gone, compile-time loops and macros are expanded,
// every conversion is an explicit Cast, and every expression has a type. One Kernel per instance. HIR knows
// no target and no MLIR.
//
// Ownership: nodes live in the arena of their Program (`Program::make<T>(...)`); pointers are never null
// unless a comment says so. Nodes are immutable once built.
#ifndef TILEC_SEMA_HIR_H
#define TILEC_SEMA_HIR_H
#include "tilec/Support/DType.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilec::hir {

using Shape = llvm::SmallVector<int64_t, 4>;

/// A place in the source: what diagnostics of later stages and line tables point at.
struct Loc {
  unsigned buffer = 0;        ///< SourceMgr buffer id
  unsigned line = 0, col = 0; ///< 1-based; columns in code points
  llvm::SMRange range;
};

//===----------------------------------------------------------------------===//
// Objects: what names mean
//===----------------------------------------------------------------------===//

struct Expr;

/// A symbolic dimension (or stride) of a kernel: int64, bound at launch by `bindings[0]`-like first bare
/// occurrence.
struct Symbol {
  std::string name;
  Loc loc;
  unsigned index;               ///< position in Kernel::symbols
  std::optional<int64_t> fixed; ///< bound by -D: compile-time inside, still checked by the launcher
};

/// A dimension or stride in a parameter's annotation: a constant, a symbol, or an expression over symbols and
/// scalars.
struct DimExpr {
  std::optional<int64_t> constant;
  const Symbol *symbol = nullptr; ///< bare occurrence of a symbol
  const Expr *expr = nullptr;     ///< anything else: an equality that the launcher checks
  std::string text;               ///< as the user wrote it, for messages and the header
};

enum class Access : uint8_t { None, In, Out, InOut };

struct Object {
  enum Kind : uint8_t {
    Tensor,
    Pointer,
    Scalar,
    Shared,
    Fragment,
    Local,
    Var,
    LoopVar,
    BlockId,
    Workspace,
    MadeTensor
  } kind;
  std::string name;
  Loc loc;
  DType dtype = DType::I64;
  unsigned id = 0; ///< unique in its kernel
  Object(Kind k) : kind(k) {}
};

/// Tensor / StridedTensor parameter, alloc_global (Workspace) or make_tensor (MadeTensor).
struct TensorObj : Object {
  llvm::SmallVector<DimExpr, 4> dims;
  bool strided = false;
  llvm::SmallVector<DimExpr, 4> strides; ///< only when strided
  Access access = Access::None;
  unsigned paramIndex = 0;         ///< among Kernel::params
  int64_t assumedAlign = 0;        ///< bytes, from `assume(A % 16 == 0)`; 0: element
  const Expr *safeValue = nullptr; ///< annotate_safe_value; may be null (0)
  const Expr *base = nullptr;      ///< MadeTensor: the pointer
  TensorObj(Kind k = Tensor) : Object(k) {}
  unsigned rank() const { return dims.size(); }
};

/// ptr(dtype) or a scalar parameter.
struct ParamObj : Object {
  unsigned paramIndex = 0;
  int64_t assumedAlign = 0;
  ParamObj(Kind k) : Object(k) {}
};

/// alloc_shared / alloc_fragment / alloc_local: static shape.
struct TileObj : Object {
  Shape shape;
  TileObj(Kind k) : Object(k) {}
};

/// A mutable scalar (alloc_var or assignment), a loop variable, or a block id (axis).
struct VarObj : Object {
  unsigned axis = 0; ///< BlockId
  VarObj(Kind k) : Object(k) {}
};

//===----------------------------------------------------------------------===//
// Expressions. `type` is the value's dtype; Bool values are true/false.
//===----------------------------------------------------------------------===//

enum class UnaryOp : uint8_t { Neg, Not /*bool*/, BitNot };
enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div /*float*/,
  FloorDiv,
  Mod /*floor*/,
  TruncDiv,
  TruncMod,
  CeilDiv,
  BitAnd,
  BitOr,
  BitXor,
  Shl,
  Shr,
  Min /*NaN-propagating*/,
  Max,
  MinNum /*IEEE minNum*/,
  MaxNum,
  Pow
};
enum class CompareOp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

/// Math functions of one or more floating operands. f16/bf16 arguments have been cast to float32 by Sema, the
/// result cast back.
// clang-format off
#define TILEC_MATH_FUNCTIONS(X) \
  X(Exp, "exp", 1) X(Exp2, "exp2", 1) X(Exp10, "exp10", 1) X(Expm1, "expm1", 1) \
  X(Log, "log", 1) X(Log2, "log2", 1) X(Log10, "log10", 1) X(Log1p, "log1p", 1) \
  X(Sqrt, "sqrt", 1) X(Rsqrt, "rsqrt", 1) X(Sin, "sin", 1) X(Cos, "cos", 1) \
  X(Tan, "tan", 1) X(Tanh, "tanh", 1) X(Sigmoid, "sigmoid", 1) X(Erf, "erf", 1) \
  X(Abs, "abs", 1) X(Floor, "floor", 1) X(Ceil, "ceil", 1) X(Round, "round", 1) \
  X(Trunc, "trunc", 1) X(IsNan, "isnan", 1) X(IsInf, "isinf", 1) X(Fma, "fma", 3)
// clang-format on
enum class MathFn : uint8_t {
#define X(e, n, a) e,
  TILEC_MATH_FUNCTIONS(X)
#undef X
};

struct Expr {
  enum Kind : uint8_t {
    IntConst,
    FloatConst,
    BoolConst,
    ObjRef,
    DimRef,
    SymRef,
    Unary,
    Binary,
    Compare,
    Logical,
    Select,
    Cast,
    Math,
    Element
  } kind;
  DType type;
  Loc loc;
  Expr(Kind k, DType t, Loc l) : kind(k), type(t), loc(l) {}
};
struct IntConst : Expr {
  llvm::APInt value; ///< width = dtypeBits(type)
  IntConst(llvm::APInt v, DType t, Loc l) : Expr(Expr::IntConst, t, l), value(std::move(v)) {}
};
struct FloatConst : Expr {
  double value;
  FloatConst(double v, DType t, Loc l) : Expr(Expr::FloatConst, t, l), value(v) {}
};
struct BoolConst : Expr {
  bool value;
  BoolConst(bool v, Loc l) : Expr(Expr::BoolConst, DType::Bool, l), value(v) {}
};
/// The value of a scalar parameter, variable, loop variable, block id; a Pointer parameter (type = element).
struct ObjRef : Expr {
  const Object *object;
  ObjRef(const Object *o, Loc l) : Expr(Expr::ObjRef, o->dtype, l), object(o) {}
};
/// Run-time extent or stride of a tensor (int64).
struct DimRef : Expr {
  const TensorObj *tensor;
  unsigned axis;
  bool stride;
  DimRef(const TensorObj *t, unsigned a, bool s, Loc l)
      : Expr(Expr::DimRef, DType::I64, l), tensor(t), axis(a), stride(s) {}
};
/// A symbolic dimension (int64).
struct SymRef : Expr {
  const Symbol *symbol;
  SymRef(const Symbol *s, Loc l) : Expr(Expr::SymRef, DType::I64, l), symbol(s) {}
};
struct Unary : Expr {
  UnaryOp op;
  const Expr *operand;
  Unary(UnaryOp o, const Expr *e, DType t, Loc l) : Expr(Expr::Unary, t, l), op(o), operand(e) {}
};
/// Both operands have the result's type.
struct Binary : Expr {
  BinaryOp op;
  const Expr *lhs, *rhs;
  Binary(BinaryOp o, const Expr *a, const Expr *b, DType t, Loc l)
      : Expr(Expr::Binary, t, l), op(o), lhs(a), rhs(b) {}
};
/// Operands have one type; the result is Bool. With NaN all but Ne are false.
struct Compare : Expr {
  CompareOp op;
  const Expr *lhs, *rhs;
  Compare(CompareOp o, const Expr *a, const Expr *b, Loc l)
      : Expr(Expr::Compare, DType::Bool, l), op(o), lhs(a), rhs(b) {}
};
/// Short-circuit and / or over Bool: rhs is evaluated only when needed.
struct Logical : Expr {
  bool isAnd;
  const Expr *lhs, *rhs;
  Logical(bool a, const Expr *x, const Expr *y, Loc l)
      : Expr(Expr::Logical, DType::Bool, l), isAnd(a), lhs(x), rhs(y) {}
};
/// lazy: the untaken side is not evaluated (a if c else b); otherwise both are (`Select`).
struct Select : Expr {
  const Expr *cond, *onTrue, *onFalse;
  bool lazy;
  Select(const Expr *c, const Expr *t, const Expr *f, bool z, Loc l)
      : Expr(Expr::Select, t->type, l), cond(c), onTrue(t), onFalse(f), lazy(z) {}
};
/// Conversion by rule 19. saturate = false: `cast(x, dt, sat=False)`.
struct Cast : Expr {
  const Expr *operand;
  bool saturate;
  Cast(const Expr *e, DType t, bool s, Loc l) : Expr(Expr::Cast, t, l), operand(e), saturate(s) {}
};
struct Math : Expr {
  MathFn fn;
  llvm::SmallVector<const Expr *, 3> args;
  Math(MathFn f, llvm::ArrayRef<const Expr *> a, DType t, Loc l)
      : Expr(Expr::Math, t, l), fn(f), args(a.begin(), a.end()) {}
};
/// Read of one element of a tensor or tile; evaluated where it stands. Indices are int64 (or int32, used as
/// they are).
struct Element : Expr {
  const Object *object;
  llvm::SmallVector<const Expr *, 4> indices;
  Element(const Object *o, llvm::ArrayRef<const Expr *> i, Loc l)
      : Expr(Expr::Element, o->dtype, l), object(o), indices(i.begin(), i.end()) {}
};

//===----------------------------------------------------------------------===//
// Regions: operands of tile operations
//===----------------------------------------------------------------------===//

/// A box of a tensor or tile: one offset and one extent per axis of the object (extent 1 with `dropped` for
/// an integer index). Extents are compile-time. Both sides of a copy match after extent-1 axes are dropped
/// (checked by Sema).
struct Region {
  const Object *object = nullptr;
  llvm::SmallVector<const Expr *, 4> offsets;
  Shape extents;
  llvm::SmallVector<bool, 4> dropped;
  bool whole = false; ///< covers a tile entirely (offsets are all constant 0, extents = shape)
  Loc loc;
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

struct Stmt {
  enum Kind : uint8_t {
    Alloc,
    Assign,
    StoreElement,
    Copy,
    Fill,
    Gemm,
    Reduce,
    For,
    Parallel,
    If,
    Break,
    Continue,
    Assume,
    Launch
  } kind;
  Loc loc;
  Stmt(Kind k, Loc l) : kind(k), loc(l) {}
};
using Block = std::vector<const Stmt *>;

/// Execution of alloc_shared / alloc_fragment / alloc_local: the tile is fresh here. Also alloc_global on the
/// host level.
struct Alloc : Stmt {
  const Object *object;
  Alloc(const Object *o, Loc l) : Stmt(Stmt::Alloc, l), object(o) {}
};
/// var = value (types equal). A VarObj exists from its first Assign; Sema has proved that reads are reached
/// by one.
struct Assign : Stmt {
  const VarObj *var;
  const Expr *value;
  Assign(const VarObj *v, const Expr *e, Loc l) : Stmt(Stmt::Assign, l), var(v), value(e) {}
};
/// object[indices] = value (value has the object's dtype). Inside Parallel per iteration, outside once per
/// block.
struct StoreElement : Stmt {
  const Object *object;
  llvm::SmallVector<const Expr *, 4> indices;
  const Expr *value;
  StoreElement(const Object *o, llvm::ArrayRef<const Expr *> i, const Expr *v, Loc l)
      : Stmt(Stmt::StoreElement, l), object(o), indices(i.begin(), i.end()), value(v) {}
};
/// copy(src, dst): converts dtype. transpose: dst[.., j, i] = src[.., i, j].
struct Copy : Stmt {
  Region src, dst;
  bool transpose = false;
  Copy(Region s, Region d, Loc l) : Stmt(Stmt::Copy, l), src(std::move(s)), dst(std::move(d)) {}
};
/// fill / clear; value has the object's dtype.
struct Fill : Stmt {
  Region dst;
  const Expr *value;
  Fill(Region d, const Expr *v, Loc l) : Stmt(Stmt::Fill, l), dst(std::move(d)), value(v) {}
};
enum class Precision : uint8_t { Default, Ieee, TF32, TF32x3, BF16x6 };
enum class GemmPolicy : uint8_t { Default, Square, FullRow, FullCol };
/// c = (clearAccum ? 0 : c) + op(a) @ op(b); 2-D after dropping ones. m, n, k are the product's extents.
struct Gemm : Stmt {
  Region a, b, c;
  bool transA = false, transB = false;
  const Expr *clearAccum = nullptr; ///< null: false
  Precision precision = Precision::Default;
  GemmPolicy policy = GemmPolicy::Default;
  int64_t m = 0, n = 0, k = 0;
  Gemm(Loc l) : Stmt(Stmt::Gemm, l) {}
};
enum class ReduceOp : uint8_t { Sum, Max, Min, AbsSum, AbsMax, BitAnd, BitOr, BitXor };
/// dst = (clear ? reduce(src) : op(dst, reduce(src))) along `axis` of the (dropped) source shape.
struct Reduce : Stmt {
  ReduceOp op;
  Region src;
  const TileObj *dst;
  unsigned axis;
  bool clear = true, nanPropagate = true;
  Reduce(ReduceOp o, Region s, const TileObj *d, unsigned a, Loc l)
      : Stmt(Stmt::Reduce, l), op(o), src(std::move(s)), dst(d), axis(a) {}
};
/// range / serial / Pipelined with run-time bounds (int64 each; step is a non-zero constant or a run-time
/// value of known sign).
struct For : Stmt {
  const VarObj *var;
  const Expr *start, *stop, *step;
  bool stepNegative = false;
  bool pipelined = false;
  std::optional<int64_t> numStages; ///< as the user asked
  bool stagesLiteral = false;       ///< a literal or module constant: does not fit => error, not remark
  Block body;
  For(Loc l) : Stmt(Stmt::For, l) {}
};
/// Independent iterations; extents are int64 expressions (constant ones fold to IntConst).
struct Parallel : Stmt {
  llvm::SmallVector<const VarObj *, 4> vars;
  llvm::SmallVector<const Expr *, 4> extents;
  Block body;
  Parallel(Loc l) : Stmt(Stmt::Parallel, l) {}
};
struct If : Stmt {
  const Expr *cond;
  Block thenBody, elseBody;
  If(const Expr *c, Loc l) : Stmt(Stmt::If, l), cond(c) {}
};
struct Break : Stmt {
  Break(Loc l) : Stmt(Stmt::Break, l) {}
};
struct Continue : Stmt {
  Continue(Loc l) : Stmt(Stmt::Continue, l) {}
};
/// Host level: a precondition (text as written). In a launch body: a promise.
struct Assume : Stmt {
  const Expr *cond;
  std::string text;
  Assume(const Expr *c, std::string t, Loc l) : Stmt(Stmt::Assume, l), cond(c), text(std::move(t)) {}
};
/// with Kernel(...): host level.
struct Launch : Stmt {
  llvm::SmallVector<const Expr *, 3> grid;       ///< 1..3 int64 extents
  llvm::SmallVector<const VarObj *, 3> blockIds; ///< one per extent
  std::optional<int64_t> threads;
  std::optional<bool> persistent;
  std::optional<int64_t> minBlocks;
  std::optional<int64_t> panel; ///< use_swizzle: so many rows (columns) of blocks together
  bool panelColumns = false;
  llvm::SmallVector<int64_t, 3> cluster; ///< empty: compiler's choice
  Block body;
  Launch(Loc l) : Stmt(Stmt::Launch, l) {}
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A compile-time parameter's value in this instance, for the manifest and --list-kernels.
struct ConstBinding {
  std::string name, value;
  bool tune = false;
};

struct Kernel {
  std::string name; ///< C name without prefix: instance name of rule 62
  std::string sourceName;
  std::string signature; ///< in .tile syntax, one line, for the header
  std::string doc;       ///< docstring, may be empty
  Loc loc;
  std::vector<const Object *> params; ///< TensorObj / ParamObj in C order
  std::vector<const Symbol *> symbols;
  std::vector<ConstBinding> constants;
  /// Equalities of non-first occurrences: checked by the launcher (value of `expr` == that dim or stride).
  struct Equation {
    const TensorObj *tensor;
    unsigned axis;
    bool stride;
    const Expr *expr;
    std::string text;
  };
  std::vector<Equation> equations;
  Block host; ///< host statements and Launches in order
  bool inplace = false;
  bool fastMath = false;
  unsigned indexBits = 0; ///< 0 auto, 32, 64
  /// Of another point of a tuning space: the name of the kernel that has the defaults. Empty: a kernel.
  std::string pointOf;
};

class Program {
public:
  template <typename T, typename... Args> T *make(Args &&...args) {
    auto p = std::make_shared<T>(std::forward<Args>(args)...);
    T *raw = p.get();
    nodes.push_back(std::move(p));
    return raw;
  }
  /// Gives back the nodes made since `mark()`: Sema elaborates a kernel more than once while types settle.
  size_t mark() const { return nodes.size(); }
  void release(size_t mark) { nodes.resize(mark); }
  std::vector<std::unique_ptr<Kernel>> kernels;
  /// The other points of the kernels' tuning spaces that their source allows (SemaOptions::points).
  std::vector<std::unique_ptr<Kernel>> points;
  std::string moduleName; ///< "gemm.tile": the name line tables use
  std::string moduleDoc;

private:
  std::vector<std::shared_ptr<void>> nodes;
};

/// "+", "//", "ceildiv", ..: operators and functions of the language.
const char *spelled(BinaryOp op);

/// Text form, for --emit-hir in tests and for debugging.
void print(const Program &program, llvm::raw_ostream &os);

} // namespace tilec::hir
#endif
