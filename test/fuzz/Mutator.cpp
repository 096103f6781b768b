//===- Mutator.cpp - makes new .tile files out of old ones ------------------------------===//
//
// Most edits follow the tree, so that most results still parse and the faults reach Sema: an expression takes
// the place of another, a name or number becomes another one, a line is copied, moved or dropped. A few work
// on tokens and break syntax.
//
//===----------------------------------------------------------------------===//

#include "Mutator.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>

using namespace tilec;
using namespace tilec::fuzz;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Seeds
//===----------------------------------------------------------------------===//

static void collect(const ast::Node *node, Seed &seed) {
  if (llvm::isa<ast::Expr>(node) && !llvm::isa<ast::SliceExpr, ast::StarredExpr>(node))
    seed.exprs.push_back(node->getRange());
  if (llvm::isa<ast::NameExpr>(node))
    seed.names.push_back(node->getRange());
  if (llvm::isa<ast::IntLiteral, ast::FloatLiteral>(node))
    seed.numbers.push_back(node->getRange());
  if (const auto *binary = llvm::dyn_cast<ast::BinaryExpr>(node))
    seed.operators.push_back(binary->opRange);
  if (llvm::isa<ast::Stmt>(node)) {
    StringRef text = seed.text;
    SourceRange range = node->getRange();
    StringRef before = text.take_front(range.begin);
    StringRef own = before.substr(before.rfind('\n') + 1);
    bool alone = own.trim(' ').empty() && (range.end == text.size() || text[range.end] == '\n');
    if (alone && !text.slice(range.begin, range.end).contains('\n'))
      seed.lines.push_back(range);
  }
  ast::forEachChild(node, [&](const ast::Node *child) { collect(child, seed); });
}

/// Words, numbers and single signs; blanks and comments between them.
static void tokenize(Seed &seed) {
  StringRef text = seed.text;
  for (uint32_t i = 0; i < text.size();) {
    auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || uint8_t(c) >= 0x80; };
    uint32_t begin = i;
    if (isWord(text[i]))
      while (i < text.size() && isWord(text[i]))
        ++i;
    else
      ++i;
    if (text[begin] != ' ')
      seed.tokens.push_back({1, begin, i});
  }
}

Seed::Seed(std::string source, const ast::Module &module) : text(std::move(source)) {
  for (const ast::Stmt *stmt : module.body)
    collect(stmt, *this);
  tokenize(*this);
}

//===----------------------------------------------------------------------===//
// Edits
//===----------------------------------------------------------------------===//

static SourceRange pick(const std::vector<SourceRange> &ranges, std::mt19937_64 &rng) {
  return ranges.empty() ? SourceRange() : ranges[rng() % ranges.size()];
}

static std::string textOf(const Seed &seed, SourceRange range) {
  return seed.text.substr(range.begin, range.end - range.begin);
}

static const char *const numbers[] = {
    "0",     "1",          "-1",         "2",          "3",       "7",     "8",
    "16",    "64",         "255",        "256",        "1024",    "65536", "0.5",
    "1e300", "2147483647", "2147483648", "4294967296", "2 ** 63", "1e-45", "10 ** 100"};
static const char *const operators[] = {"+", "-", "*", "/", "//", "%",  "**", "<<",  ">>", "&",  "|",
                                        "^", "@", "<", ">", "<=", "==", "!=", "and", "or", "in", "is"};
static const char *const words[] = {"float16",
                                    "float32",
                                    "bfloat16",
                                    "float64",
                                    "int8",
                                    "int32",
                                    "int64",
                                    "uint8",
                                    "uint64",
                                    "bool",
                                    "True",
                                    "False",
                                    "None",
                                    "range",
                                    "len",
                                    "min",
                                    "max",
                                    "exp",
                                    "exp2",
                                    "cast",
                                    "copy",
                                    "fill",
                                    "clear",
                                    "gemm",
                                    "tune",
                                    "ceildiv",
                                    "infinity",
                                    "reduce_max",
                                    "reduce_sum",
                                    "Kernel",
                                    "Parallel",
                                    "Pipelined",
                                    "unroll",
                                    "serial",
                                    "assume",
                                    "static_assert",
                                    "alloc_shared",
                                    "alloc_fragment",
                                    "alloc_var",
                                    "get_program_id",
                                    "Tensor",
                                    "StridedTensor",
                                    "ptr",
                                    "const",
                                    "dtype",
                                    "print",
                                    "atomic_add",
                                    "Threads",
                                    "x",
                                    "T"};
static const char *const signs[] = {
    "(",   ")",    "[",  "]",      "{",      "}",   ",",    ":",  "=",  ";",    "\n",  "\n    ",
    "*",   "**",   "@",  "\"",     "'",      "\\",  "#",    "\t", "if", "else", "for", "while",
    "def", "with", "as", "return", "lambda", "not", "1__0", "0x", "é",  "\xff", "$"};

template <size_t N> static std::string choose(const char *const (&list)[N], std::mt19937_64 &rng) {
  return list[rng() % N];
}

Mutator::Edit Mutator::treeEdit(const Seed &seed, Rng &rng) {
  const Seed &other = rng() % 4 ? seed : any(rng);
  SourceRange expr = pick(seed.exprs, rng);
  switch (rng() % 9) {
  case 0:
    return {pick(seed.names, rng), textOf(seed, pick(seed.names, rng))};
  case 1:
    return {pick(seed.names, rng), choose(words, rng)};
  case 2:
    return {pick(seed.numbers, rng), choose(numbers, rng)};
  case 3:
    return {pick(seed.operators, rng), choose(operators, rng)};
  case 4:
    return {expr, "(" + textOf(seed, expr) + " " + choose(operators, rng) + " " +
                      textOf(other, pick(other.exprs, rng)) + ")"};
  case 5:
    return {expr, choose(words, rng) + "(" + textOf(seed, expr) + ")"};
  case 6:
    return {expr,
            textOf(seed, expr) + "[" + textOf(other, pick(other.exprs, rng)) + (rng() % 2 ? ":]" : "]")};
  case 7:
    return {expr, "(" + textOf(seed, expr) + " if " + textOf(other, pick(other.exprs, rng)) + " else " +
                      choose(numbers, rng) + ")"};
  default:
    return {expr, "(" + textOf(other, pick(other.exprs, rng)) + ")"};
  }
}

Mutator::Edit Mutator::lineEdit(const Seed &seed, Rng &rng) {
  SourceRange line = pick(seed.lines, rng);
  if (!line.isValid())
    return treeEdit(seed, rng);
  size_t begin = seed.text.rfind('\n', line.begin);
  std::string indent(line.begin - (begin == std::string::npos ? 0 : begin + 1), ' ');
  const Seed &other = rng() % 4 ? seed : any(rng);
  std::string text = textOf(other, pick(other.lines, rng)), own = textOf(seed, line);
  switch (rng() % 6) {
  case 0:
    return {line, "pass"};
  case 1:
    return {line, text.empty() ? own : text};
  case 2:
    return {line, own + "\n" + indent + own};
  case 3:
    return {line, "if " + textOf(seed, pick(seed.exprs, rng)) + ":\n" + indent + "    " + own};
  case 4:
    return {line, "for i_ in " + (rng() % 2 ? std::string("range") : choose(words, rng)) + "(" +
                      textOf(seed, pick(seed.exprs, rng)) + "):\n" + indent + "    " + own};
  default:
    return {line, text + "\n" + indent + own};
  }
}

Mutator::Edit Mutator::tokenEdit(const Seed &seed, Rng &rng) {
  SourceRange token = pick(seed.tokens, rng);
  std::string own = textOf(seed, token);
  switch (rng() % 5) {
  case 0:
    return {token, ""};
  case 1:
    return {token, own + own};
  case 2:
    return {token, textOf(seed, pick(seed.tokens, rng))};
  case 3:
    return {token, choose(signs, rng)};
  default:
    return {token.atBegin(), choose(signs, rng) + " "};
  }
}

std::string Mutator::make(uint64_t number) {
  Rng rng(number);
  const Seed &seed = any(rng);
  std::vector<Edit> edits;
  for (size_t count = 1 + rng() % 4; count; --count) {
    unsigned kind = rng() % 16;
    Edit edit = kind == 0 ? tokenEdit(seed, rng) : kind < 5 ? lineEdit(seed, rng) : treeEdit(seed, rng);
    auto overlaps = [&](const Edit &e) {
      return e.range.begin < edit.range.end && edit.range.begin < e.range.end;
    };
    if (edit.range.isValid() && std::none_of(edits.begin(), edits.end(), overlaps))
      edits.push_back(std::move(edit));
  }
  // From the back, so that places in front stay true.
  std::sort(edits.begin(), edits.end(),
            [](const Edit &a, const Edit &b) { return a.range.begin > b.range.begin; });
  std::string text = seed.text;
  for (const Edit &edit : edits)
    text.replace(edit.range.begin, edit.range.end - edit.range.begin, edit.text);
  return text;
}
