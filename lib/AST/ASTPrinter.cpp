//===- ASTPrinter.cpp - the tree as indented text (--emit-ast) ---------------------------===//
//
// One node a line: kind, the names and values of its own, and its place as <line:column-line:column>.
// Children follow, indented by two; a child's role stands in front when the kind alone does not tell it.
//
//===----------------------------------------------------------------------===//

#include "tilec/AST/AST.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

using namespace tilec;
using namespace tilec::ast;
using llvm::cast;

namespace {
class Printer {
public:
  Printer(StringRef source, llvm::raw_ostream &os) : source(source), os(os) {
    for (size_t i = 0; i != source.size(); ++i) {
      bool crlf = source[i] == '\r' && i + 1 != source.size() && source[i + 1] == '\n';
      if (source[i] == '\n' || (source[i] == '\r' && !crlf))
        lineStarts.push_back(uint32_t(i + 1));
    }
  }

  void module(const Module &module) {
    os << "Module\n";
    indent = 2;
    if (module.docstring)
      child("docstring: ", module.docstring);
    block("", module.body);
  }

private:
  void child(StringRef role, const Node *node) {
    if (!node)
      return;
    os.indent(indent) << role << kindName(node->getKind());
    details(node);
    place(node->getRange());
    os << '\n';
    indent += 2;
    children(node);
    indent -= 2;
  }

  template <typename T> void block(StringRef role, ArrayRef<const T *> nodes) {
    for (const T *node : nodes)
      child(role, node);
  }

  void place(SourceRange range) {
    os << " <";
    point(range.begin);
    os << '-';
    point(range.end);
    os << '>';
  }

  void point(uint32_t offset) {
    auto line = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset) - 1;
    uint32_t begin = *line == 0 && source.starts_with("\xEF\xBB\xBF") ? 3 : *line;
    // Mostly the next place is a little further on the same line.
    if (counted.begin != begin || counted.end > offset)
      counted = {begin, begin, 1};
    for (char c : source.slice(counted.end, offset))
      counted.column += (uint8_t(c) & 0xC0) != 0x80;
    counted.end = offset;
    os << (line - lineStarts.begin() + 1) << ':' << counted.column;
  }

  void quoted(StringRef text) {
    os << " \"";
    os.write_escaped(text);
    os << '"';
  }

  /// What a node says about itself on its own line.
  void details(const Node *node);
  void children(const Node *node);
  void param(const Param &param);

  StringRef source;
  llvm::raw_ostream &os;
  std::vector<uint32_t> lineStarts{0};
  /// The column of `end`, which is on the line that begins at `begin`.
  struct {
    uint32_t begin = 0;
    uint32_t end = 0;
    unsigned column = 1;
  } counted;
  unsigned indent = 0;
};
} // namespace

void Printer::details(const Node *node) {
  switch (node->getKind()) {
  case NodeKind::Name:
    os << ' ' << cast<NameExpr>(node)->name;
    return;
  case NodeKind::Attribute:
    os << " ." << cast<AttributeExpr>(node)->attr.text;
    return;
  case NodeKind::Unary:
    os << ' ' << spelling(cast<UnaryExpr>(node)->op);
    return;
  case NodeKind::Binary:
    os << ' ' << spelling(cast<BinaryExpr>(node)->op);
    return;
  case NodeKind::BoolOp:
    os << (cast<BoolOpExpr>(node)->isAnd ? " and" : " or");
    return;
  case NodeKind::Compare:
    for (const CompareExpr::Op &op : cast<CompareExpr>(node)->ops)
      os << ' ' << spelling(op.op);
    return;
  case NodeKind::AugAssign:
    os << ' ' << spelling(cast<AugAssignStmt>(node)->op) << '=';
    return;
  case NodeKind::IntLiteral: {
    llvm::SmallString<32> digits;
    cast<IntLiteral>(node)->getValue().toString(digits, 10);
    os << ' ' << digits;
    return;
  }
  case NodeKind::FloatLiteral:
    os << ' ' << llvm::format("%.17g", cast<FloatLiteral>(node)->value);
    return;
  case NodeKind::StringLiteral:
    quoted(cast<StringLiteral>(node)->value);
    return;
  case NodeKind::BoolLiteral:
    os << (cast<BoolLiteral>(node)->value ? " True" : " False");
    return;
  case NodeKind::FunctionDef:
    os << ' ' << cast<FunctionDef>(node)->name.text;
    return;
  case NodeKind::If:
    if (cast<IfStmt>(node)->isElif)
      os << " elif";
    return;
  case NodeKind::Import:
    for (const ImportStmt::Item &item : cast<ImportStmt>(node)->items)
      os << ' ' << item.module.text << (item.alias.empty() ? "" : " as ") << item.alias.text;
    return;
  case NodeKind::ImportFrom: {
    const auto *import = cast<ImportFromStmt>(node);
    os << ' ' << std::string(import->level, '.') << import->module.text << ':';
    if (import->star.isValid())
      os << " *";
    for (const ImportFromStmt::Item &item : import->items)
      os << ' ' << item.name.text << (item.alias.empty() ? "" : " as ") << item.alias.text;
    return;
  }
  default:
    return;
  }
}

void Printer::param(const Param &param) {
  static constexpr llvm::StringLiteral kinds[] = {"", " positional-only", " keyword-only", " *", " **"};
  os.indent(indent) << "Param " << param.name.text << kinds[size_t(param.kind)];
  place(param.range);
  os << '\n';
  indent += 2;
  child("annotation: ", param.annotation);
  child("default: ", param.defaultValue);
  indent -= 2;
}

void Printer::children(const Node *node) {
  switch (node->getKind()) {
  case NodeKind::Call: {
    const auto *call = cast<CallExpr>(node);
    child("callee: ", call->callee);
    for (const Argument &arg : call->args)
      child(arg.keyword.empty() ? std::string() : (arg.keyword.text + "=").str(), arg.value);
    return;
  }
  case NodeKind::Slice: {
    const auto *slice = cast<SliceExpr>(node);
    child("lower: ", slice->lower);
    child("upper: ", slice->upper);
    child("step: ", slice->step);
    return;
  }
  case NodeKind::ListComp: {
    const auto *comp = cast<ListCompExpr>(node);
    child("", comp->element);
    for (const ListCompExpr::Clause &clause : comp->clauses) {
      child("for: ", clause.target);
      child("in: ", clause.iterable);
      block("if: ", clause.conditions);
    }
    return;
  }
  case NodeKind::Conditional: {
    const auto *cond = cast<ConditionalExpr>(node);
    child("then: ", cond->thenValue);
    child("if: ", cond->condition);
    child("else: ", cond->elseValue);
    return;
  }
  case NodeKind::FunctionDef: {
    const auto *function = cast<FunctionDef>(node);
    block("@", function->decorators);
    for (const Param &p : function->params)
      param(p);
    child("returns: ", function->returns);
    child("docstring: ", function->docstring);
    block("", function->body);
    return;
  }
  case NodeKind::With: {
    const auto *with = cast<WithStmt>(node);
    for (const WithStmt::Item &item : with->items) {
      child("context: ", item.context);
      child("as: ", item.target);
    }
    block("", with->body);
    return;
  }
  case NodeKind::For: {
    const auto *loop = cast<ForStmt>(node);
    child("target: ", loop->target);
    child("in: ", loop->iterable);
    block("", loop->body);
    return;
  }
  case NodeKind::While:
    child("condition: ", cast<WhileStmt>(node)->condition);
    block("", cast<WhileStmt>(node)->body);
    return;
  case NodeKind::If: {
    const auto *branch = cast<IfStmt>(node);
    child("condition: ", branch->condition);
    block("then: ", branch->thenBody);
    block("else: ", branch->elseBody);
    return;
  }
  case NodeKind::Assign:
    block("target: ", cast<AssignStmt>(node)->targets);
    child("value: ", cast<AssignStmt>(node)->value);
    return;
  case NodeKind::AnnAssign: {
    const auto *assign = cast<AnnAssignStmt>(node);
    child("target: ", assign->target);
    child("annotation: ", assign->annotation);
    child("value: ", assign->value);
    return;
  }
  case NodeKind::Assert:
    child("condition: ", cast<AssertStmt>(node)->condition);
    child("message: ", cast<AssertStmt>(node)->message);
    return;
  default:
    forEachChild(node, [&](const Node *inner) { child("", inner); });
  }
}

void tilec::ast::print(const Module &module, StringRef source, llvm::raw_ostream &os) {
  Printer(source, os).module(module);
}
