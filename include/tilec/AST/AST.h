//===- AST.h - the syntax tree of a .tile file --------------------------------------===//
//
// What the parser hands to Sema: Python's syntax as far as the language uses it, with a source range on every
// node and no meaning yet. Nodes are plain, immutable and trivially destructible; they, their arrays and
// their text live in the arena of the Module they belong to. Kinds work with llvm::isa / cast / dyn_cast.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_AST_AST_H
#define TILEC_AST_AST_H

#include "tilec/Support/SourceRange.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"
#include <memory>
#include <type_traits>
#include <utility>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilec::ast {

using llvm::ArrayRef;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Arena
//===----------------------------------------------------------------------===//

/// Owns nodes, arrays of nodes and text. Nothing in it is ever destroyed one by one.
class Arena {
public:
  template <typename T, typename... Args> T *create(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>, "arena nodes are never destroyed");
    return new (allocator.Allocate<T>()) T(std::forward<Args>(args)...);
  }

  template <typename T> ArrayRef<T> copy(ArrayRef<T> items) {
    static_assert(std::is_trivially_copyable_v<T>, "arena arrays are never destroyed");
    if (items.empty())
      return {};
    T *data = allocator.Allocate<T>(items.size());
    std::uninitialized_copy(items.begin(), items.end(), data);
    return {data, items.size()};
  }

  StringRef save(StringRef text) {
    if (text.empty())
      return {};
    char *data = allocator.Allocate<char>(text.size());
    std::copy(text.begin(), text.end(), data);
    return {data, text.size()};
  }

private:
  llvm::BumpPtrAllocator allocator;
};

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

enum class NodeKind : uint8_t {
  // Expressions. Keep first_/last_ in step.
  Name,
  Attribute,
  Call,
  Subscript,
  Slice,
  Starred,
  Tuple,
  List,
  Set,
  Dict,
  ListComp,
  Unary,
  Binary,
  BoolOp,
  Compare,
  Conditional,
  IntLiteral,
  FloatLiteral,
  StringLiteral,
  BoolLiteral,
  NoneLiteral,
  EllipsisLiteral,
  // Statements.
  Import,
  ImportFrom,
  FunctionDef,
  With,
  For,
  While,
  If,
  Assign,
  AugAssign,
  AnnAssign,
  Return,
  Pass,
  Break,
  Continue,
  Assert,
  ExprStmt,

  firstExpr = Name,
  lastExpr = EllipsisLiteral,
  firstStmt = Import,
  lastStmt = ExprStmt,
};

/// The kind's name as --emit-ast prints it: "Name", "FunctionDef", ...
StringRef kindName(NodeKind kind);

class Node {
public:
  NodeKind getKind() const { return kind; }
  /// The node's own text; parentheses around an expression are not part of it (except a tuple's).
  SourceRange getRange() const { return range; }

protected:
  Node(NodeKind kind, SourceRange range) : kind(kind), range(range) {}

private:
  NodeKind kind;
  SourceRange range;
};

class Expr : public Node {
public:
  static bool classof(const Node *node) {
    return node->getKind() >= NodeKind::firstExpr && node->getKind() <= NodeKind::lastExpr;
  }

protected:
  using Node::Node;
};

class Stmt : public Node {
public:
  static bool classof(const Node *node) {
    return node->getKind() >= NodeKind::firstStmt && node->getKind() <= NodeKind::lastStmt;
  }

protected:
  using Node::Node;
};

/// Gives a leaf class its kind, classof and constructor prefix.
template <typename Base, NodeKind K> class NodeOf : public Base {
public:
  static constexpr NodeKind theKind = K;
  static bool classof(const Node *node) { return node->getKind() == K; }

protected:
  explicit NodeOf(SourceRange range) : Base(K, range) {}
};

/// A name in the source that is not an expression: a parameter, an attribute, a keyword of a call.
struct Identifier {
  StringRef text;
  SourceRange range;

  bool empty() const { return text.empty(); }
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

class NameExpr : public NodeOf<Expr, NodeKind::Name> {
public:
  NameExpr(SourceRange range, StringRef name) : NodeOf(range), name(name) {}
  const StringRef name;
};

/// base.attr
class AttributeExpr : public NodeOf<Expr, NodeKind::Attribute> {
public:
  AttributeExpr(SourceRange range, const Expr *base, Identifier attr)
      : NodeOf(range), base(base), attr(attr) {}
  const Expr *const base;
  const Identifier attr;
};

/// One argument of a call. `keyword` is empty for a positional one. `*args` is a positional argument whose
/// value is a StarredExpr; `**kwargs` never reaches the tree (an error of the parser).
struct Argument {
  Identifier keyword;
  const Expr *value;
  SourceRange range;
};

class CallExpr : public NodeOf<Expr, NodeKind::Call> {
public:
  CallExpr(SourceRange range, const Expr *callee, ArrayRef<Argument> args, SourceRange parens)
      : NodeOf(range), callee(callee), args(args), parens(parens) {}
  const Expr *const callee;
  /// In source order. A positional one after a keyword is rejected by the parser.
  const ArrayRef<Argument> args;
  /// From "(" to ")".
  const SourceRange parens;
};

/// base[i, a:b, :]. The indices are the elements of the bracket; a one-element list for base[i], empty for
/// base[()]. `base[(i, j)]` is one index that is a TupleExpr, and means the same as base[i, j].
class SubscriptExpr : public NodeOf<Expr, NodeKind::Subscript> {
public:
  SubscriptExpr(SourceRange range, const Expr *base, ArrayRef<const Expr *> indices, SourceRange brackets)
      : NodeOf(range), base(base), indices(indices), brackets(brackets) {}
  const Expr *const base;
  /// Expressions, SliceExprs and StarredExprs.
  const ArrayRef<const Expr *> indices;
  /// From "[" to "]".
  const SourceRange brackets;
};

/// lower:upper:step, each may be null. Only in SubscriptExpr::indices.
class SliceExpr : public NodeOf<Expr, NodeKind::Slice> {
public:
  SliceExpr(SourceRange range, const Expr *lower, const Expr *upper, const Expr *step)
      : NodeOf(range), lower(lower), upper(upper), step(step) {}
  const Expr *const lower;
  const Expr *const upper;
  const Expr *const step;
};

/// *value, in calls, subscripts, displays and assignment targets.
class StarredExpr : public NodeOf<Expr, NodeKind::Starred> {
public:
  StarredExpr(SourceRange range, const Expr *value) : NodeOf(range), value(value) {}
  const Expr *const value;
};

/// a, b   or   (a, b)   or   ()
class TupleExpr : public NodeOf<Expr, NodeKind::Tuple> {
public:
  TupleExpr(SourceRange range, ArrayRef<const Expr *> elements) : NodeOf(range), elements(elements) {}
  const ArrayRef<const Expr *> elements;
};

class ListExpr : public NodeOf<Expr, NodeKind::List> {
public:
  ListExpr(SourceRange range, ArrayRef<const Expr *> elements) : NodeOf(range), elements(elements) {}
  const ArrayRef<const Expr *> elements;
};

/// {a, b}, as in fast_math={"exp2", "ftz"}.
class SetExpr : public NodeOf<Expr, NodeKind::Set> {
public:
  SetExpr(SourceRange range, ArrayRef<const Expr *> elements) : NodeOf(range), elements(elements) {}
  const ArrayRef<const Expr *> elements;
};

/// {k: v}, as in annotate_layout({a: l}).
class DictExpr : public NodeOf<Expr, NodeKind::Dict> {
public:
  struct Entry {
    const Expr *key;
    const Expr *value;
  };
  DictExpr(SourceRange range, ArrayRef<Entry> entries) : NodeOf(range), entries(entries) {}
  const ArrayRef<Entry> entries;
};

/// [element for target in iterable if condition ... for ...]
class ListCompExpr : public NodeOf<Expr, NodeKind::ListComp> {
public:
  struct Clause {
    const Expr *target;
    const Expr *iterable;
    ArrayRef<const Expr *> conditions;
  };
  ListCompExpr(SourceRange range, const Expr *element, ArrayRef<Clause> clauses)
      : NodeOf(range), element(element), clauses(clauses) {}
  const Expr *const element;
  const ArrayRef<Clause> clauses;
};

enum class UnaryOp : uint8_t { Neg, Pos, Invert, Not };
enum class BinaryOp : uint8_t { Add, Sub, Mul, Div, FloorDiv, Mod, Pow, MatMul, Shl, Shr, And, Or, Xor };
enum class CompareOp : uint8_t { Lt, Le, Gt, Ge, Eq, Ne, In, NotIn, Is, IsNot };

/// As written: "-", "not", "//", "is not".
StringRef spelling(UnaryOp op);
StringRef spelling(BinaryOp op);
StringRef spelling(CompareOp op);

class UnaryExpr : public NodeOf<Expr, NodeKind::Unary> {
public:
  UnaryExpr(SourceRange range, UnaryOp op, SourceRange opRange, const Expr *operand)
      : NodeOf(range), op(op), opRange(opRange), operand(operand) {}
  const UnaryOp op;
  const SourceRange opRange;
  const Expr *const operand;
};

class BinaryExpr : public NodeOf<Expr, NodeKind::Binary> {
public:
  BinaryExpr(SourceRange range, BinaryOp op, SourceRange opRange, const Expr *lhs, const Expr *rhs)
      : NodeOf(range), op(op), opRange(opRange), lhs(lhs), rhs(rhs) {}
  const BinaryOp op;
  const SourceRange opRange;
  const Expr *const lhs;
  const Expr *const rhs;
};

/// a and b and c: one node with all operands (two or more) of a run of the same operator.
class BoolOpExpr : public NodeOf<Expr, NodeKind::BoolOp> {
public:
  BoolOpExpr(SourceRange range, bool isAnd, ArrayRef<const Expr *> operands)
      : NodeOf(range), isAnd(isAnd), operands(operands) {}
  const bool isAnd;
  const ArrayRef<const Expr *> operands;
};

/// a < b <= c: operands.size() == ops.size() + 1.
class CompareExpr : public NodeOf<Expr, NodeKind::Compare> {
public:
  struct Op {
    CompareOp op;
    SourceRange range;
  };
  CompareExpr(SourceRange range, ArrayRef<const Expr *> operands, ArrayRef<Op> ops)
      : NodeOf(range), operands(operands), ops(ops) {}
  const ArrayRef<const Expr *> operands;
  const ArrayRef<Op> ops;
};

/// thenValue if condition else elseValue
class ConditionalExpr : public NodeOf<Expr, NodeKind::Conditional> {
public:
  ConditionalExpr(SourceRange range, const Expr *thenValue, const Expr *condition, const Expr *elseValue)
      : NodeOf(range), thenValue(thenValue), condition(condition), elseValue(elseValue) {}
  const Expr *const thenValue;
  const Expr *const condition;
  const Expr *const elseValue;
};

/// Exact, never negative (a sign is a UnaryExpr), at most maxIntBits wide.
class IntLiteral : public NodeOf<Expr, NodeKind::IntLiteral> {
public:
  static constexpr unsigned maxIntBits = 4096;

  IntLiteral(SourceRange range, ArrayRef<uint64_t> words) : NodeOf(range), words(words) {}
  /// Signed, with room for the sign bit: as narrow as the value allows, at least 64 bits.
  llvm::APSInt getValue() const;

private:
  /// Little endian, in the arena.
  const ArrayRef<uint64_t> words;
};

/// Rounded to the nearest double; `text` (without underscores) keeps what was written.
class FloatLiteral : public NodeOf<Expr, NodeKind::FloatLiteral> {
public:
  FloatLiteral(SourceRange range, double value, StringRef text) : NodeOf(range), value(value), text(text) {}
  const double value;
  const StringRef text;
};

/// Escapes decoded, adjacent literals joined, UTF-8; may hold NUL bytes.
class StringLiteral : public NodeOf<Expr, NodeKind::StringLiteral> {
public:
  StringLiteral(SourceRange range, StringRef value) : NodeOf(range), value(value) {}
  const StringRef value;
};

class BoolLiteral : public NodeOf<Expr, NodeKind::BoolLiteral> {
public:
  BoolLiteral(SourceRange range, bool value) : NodeOf(range), value(value) {}
  const bool value;
};

class NoneLiteral : public NodeOf<Expr, NodeKind::NoneLiteral> {
public:
  explicit NoneLiteral(SourceRange range) : NodeOf(range) {}
};

class EllipsisLiteral : public NodeOf<Expr, NodeKind::EllipsisLiteral> {
public:
  explicit EllipsisLiteral(SourceRange range) : NodeOf(range) {}
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

using Block = ArrayRef<const Stmt *>;

/// A dotted module name, "a.b.c", with its range.
using ModuleName = Identifier;

/// import a.b as c, d
class ImportStmt : public NodeOf<Stmt, NodeKind::Import> {
public:
  struct Item {
    ModuleName module;
    Identifier alias; // empty without "as"
  };
  ImportStmt(SourceRange range, ArrayRef<Item> items) : NodeOf(range), items(items) {}
  const ArrayRef<Item> items;
};

/// from ..a.b import x as y, z   or   from a import *
class ImportFromStmt : public NodeOf<Stmt, NodeKind::ImportFrom> {
public:
  struct Item {
    Identifier name;
    Identifier alias; // empty without "as"
  };
  ImportFromStmt(SourceRange range, unsigned level, ModuleName module, ArrayRef<Item> items, SourceRange star)
      : NodeOf(range), level(level), module(module), items(items), star(star) {}
  /// Leading dots.
  const unsigned level;
  /// Empty for "from . import x".
  const ModuleName module;
  const ArrayRef<Item> items;
  /// Valid for "import *"; items is then empty.
  const SourceRange star;
};

struct Param {
  enum class Kind : uint8_t {
    Normal,
    PositionalOnly, // before "/"
    KeywordOnly,    // after "*" or "*args"
    VarArgs,        // *args
    KwArgs,         // **kwargs
  };
  Kind kind;
  Identifier name;
  const Expr *annotation;   // may be null
  const Expr *defaultValue; // may be null
  SourceRange range;
};

class FunctionDef : public NodeOf<Stmt, NodeKind::FunctionDef> {
public:
  FunctionDef(SourceRange range, Identifier name, ArrayRef<const Expr *> decorators, ArrayRef<Param> params,
              const Expr *returns, const StringLiteral *docstring, Block body)
      : NodeOf(range), name(name), decorators(decorators), params(params), returns(returns),
        docstring(docstring), body(body) {}
  const Identifier name;
  /// The expressions behind each "@", outermost first.
  const ArrayRef<const Expr *> decorators;
  const ArrayRef<Param> params;
  /// The "-> expr", may be null.
  const Expr *const returns;
  /// The first statement when that is a string; it is then not part of the body. May be null.
  const StringLiteral *const docstring;
  /// Empty only when a docstring was all there was.
  const Block body;
};

class WithStmt : public NodeOf<Stmt, NodeKind::With> {
public:
  struct Item {
    const Expr *context;
    const Expr *target; // what stands behind "as"; may be null
  };
  WithStmt(SourceRange range, SourceRange head, ArrayRef<Item> items, Block body)
      : NodeOf(range), head(head), items(items), body(body) {}
  /// From the keyword to the colon.
  const SourceRange head;
  const ArrayRef<Item> items;
  const Block body;
};

class ForStmt : public NodeOf<Stmt, NodeKind::For> {
public:
  ForStmt(SourceRange range, SourceRange head, const Expr *target, const Expr *iterable, Block body)
      : NodeOf(range), head(head), target(target), iterable(iterable), body(body) {}
  const SourceRange head;
  const Expr *const target;
  const Expr *const iterable;
  const Block body;
};

class WhileStmt : public NodeOf<Stmt, NodeKind::While> {
public:
  WhileStmt(SourceRange range, SourceRange head, const Expr *condition, Block body)
      : NodeOf(range), head(head), condition(condition), body(body) {}
  const SourceRange head;
  const Expr *const condition;
  const Block body;
};

/// An elif is an IfStmt that is alone in its parent's elseBody.
class IfStmt : public NodeOf<Stmt, NodeKind::If> {
public:
  IfStmt(SourceRange range, SourceRange head, const Expr *condition, Block thenBody, Block elseBody,
         bool isElif)
      : NodeOf(range), head(head), condition(condition), thenBody(thenBody), elseBody(elseBody),
        isElif(isElif) {}
  const SourceRange head;
  const Expr *const condition;
  const Block thenBody;
  /// Empty without an else.
  const Block elseBody;
  const bool isElif;
};

/// t1 = t2 = value. A target is a name, attribute, subscript, starred expression, or a tuple or list of them.
class AssignStmt : public NodeOf<Stmt, NodeKind::Assign> {
public:
  AssignStmt(SourceRange range, ArrayRef<const Expr *> targets, const Expr *value)
      : NodeOf(range), targets(targets), value(value) {}
  const ArrayRef<const Expr *> targets;
  const Expr *const value;
};

/// target op= value; the target is a name, attribute or subscript.
class AugAssignStmt : public NodeOf<Stmt, NodeKind::AugAssign> {
public:
  AugAssignStmt(SourceRange range, const Expr *target, BinaryOp op, SourceRange opRange, const Expr *value)
      : NodeOf(range), target(target), op(op), opRange(opRange), value(value) {}
  const Expr *const target;
  const BinaryOp op;
  const SourceRange opRange;
  const Expr *const value;
};

/// target: annotation [= value]; the target is a name, attribute or subscript.
class AnnAssignStmt : public NodeOf<Stmt, NodeKind::AnnAssign> {
public:
  AnnAssignStmt(SourceRange range, const Expr *target, const Expr *annotation, const Expr *value)
      : NodeOf(range), target(target), annotation(annotation), value(value) {}
  const Expr *const target;
  const Expr *const annotation;
  const Expr *const value; // may be null
};

class ReturnStmt : public NodeOf<Stmt, NodeKind::Return> {
public:
  ReturnStmt(SourceRange range, const Expr *value) : NodeOf(range), value(value) {}
  const Expr *const value; // may be null
};

class PassStmt : public NodeOf<Stmt, NodeKind::Pass> {
public:
  explicit PassStmt(SourceRange range) : NodeOf(range) {}
};

class BreakStmt : public NodeOf<Stmt, NodeKind::Break> {
public:
  explicit BreakStmt(SourceRange range) : NodeOf(range) {}
};

class ContinueStmt : public NodeOf<Stmt, NodeKind::Continue> {
public:
  explicit ContinueStmt(SourceRange range) : NodeOf(range) {}
};

/// assert condition[, message]
class AssertStmt : public NodeOf<Stmt, NodeKind::Assert> {
public:
  AssertStmt(SourceRange range, const Expr *condition, const Expr *message)
      : NodeOf(range), condition(condition), message(message) {}
  const Expr *const condition;
  const Expr *const message; // may be null
};

class ExprStmt : public NodeOf<Stmt, NodeKind::ExprStmt> {
public:
  ExprStmt(SourceRange range, const Expr *value) : NodeOf(range), value(value) {}
  const Expr *const value;
};

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

/// One parsed file; owns its tree.
class Module {
public:
  Module(uint32_t buffer, StringRef path) : buffer(buffer), path(arena.save(path)) {}
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  uint32_t getBuffer() const { return buffer; }
  /// The buffer's name, as it was opened.
  StringRef getPath() const { return path; }
  Arena &getArena() { return arena; }

  /// The first statement when that is a string; it is then not part of the body. May be null.
  const StringLiteral *docstring = nullptr;
  Block body;

private:
  Arena arena;
  uint32_t buffer;
  StringRef path;
};

//===----------------------------------------------------------------------===//
// Walking and printing
//===----------------------------------------------------------------------===//

/// Calls `visit` on each direct child of `node` in source order (null children left out). Docstrings are
/// children.
void forEachChild(const Node *node, llvm::function_ref<void(const Node *)> visit);

/// The tree as indented text, one node a line with its line:column range; `source` is the file's text.
void print(const Module &module, StringRef source, llvm::raw_ostream &os);

/// The expression as source text with the fewest parentheses that keep its meaning: for messages and
/// conditions.
void unparse(const Expr *expr, llvm::raw_ostream &os);

} // namespace tilec::ast

#endif // TILEC_AST_AST_H
