//===- ParseTest.cpp - parser, places and the way back to text --------------------------===//

#include "tilec/Parse/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cmath>
#include <thread>

using namespace tilec;
using namespace tilec::ast;

namespace {
struct Parsed {
  explicit Parsed(llvm::StringRef text) : consumer(createTextConsumer(os, false)), diags(sources, *consumer) {
    unsigned buffer = sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "t.tile"), {});
    module = parseFile(sources, buffer, diags);
  }
  const Expr *value(size_t index = 0) const {
    if (const auto *assign = llvm::dyn_cast<AssignStmt>(module->body[index]))
      return assign->value;
    return llvm::cast<ExprStmt>(module->body[index])->value;
  }
  std::string unparsed(size_t index = 0) const {
    std::string text;
    llvm::raw_string_ostream out(text);
    unparse(value(index), out);
    return text;
  }

  std::string output;
  llvm::raw_string_ostream os{output};
  llvm::SourceMgr sources;
  std::unique_ptr<DiagnosticConsumer> consumer;
  DiagnosticEngine diags;
  std::unique_ptr<Module> module;
};
} // namespace

TEST(Parse, IntegersAreExact) {
  Parsed p("x = 0xFFFFFFFFFFFFFFFF\ny = 0\nz = 1_000\n");
  ASSERT_TRUE(p.module);
  llvm::APSInt x = llvm::cast<IntLiteral>(p.value(0))->getValue();
  EXPECT_EQ(x.getZExtValue(), UINT64_MAX);
  EXPECT_FALSE(x.isNegative());
  EXPECT_GE(x.getBitWidth(), 65u);
  EXPECT_EQ(llvm::cast<IntLiteral>(p.value(1))->getValue().getBitWidth(), 64u);
  EXPECT_EQ(llvm::cast<IntLiteral>(p.value(2))->getValue(), 1000);
}

TEST(Parse, LargestInteger) {
  Parsed p("x = 0x" + std::string(1024, 'f') + "\n");
  ASSERT_TRUE(p.module);
  llvm::APSInt x = llvm::cast<IntLiteral>(p.value())->getValue();
  EXPECT_EQ(x.getActiveBits(), IntLiteral::maxIntBits);
  EXPECT_FALSE(x.isNegative());
}

TEST(Parse, FloatsRoundToNearest) {
  Parsed p("x = 0.1\ny = 1e999\nz = 5e-324\nw = 9007199254740993.0\n");
  ASSERT_TRUE(p.module);
  EXPECT_EQ(llvm::cast<FloatLiteral>(p.value(0))->value, 0.1);
  EXPECT_TRUE(std::isinf(llvm::cast<FloatLiteral>(p.value(1))->value));
  EXPECT_EQ(llvm::cast<FloatLiteral>(p.value(2))->value, 5e-324);
  EXPECT_EQ(llvm::cast<FloatLiteral>(p.value(3))->value, 9007199254740992.0);
}

TEST(Parse, StringsMayHoldNul) {
  Parsed p("x = 'a\\0b' \"\\u00e9\"\n");
  ASSERT_TRUE(p.module);
  EXPECT_EQ(llvm::cast<StringLiteral>(p.value())->value, llvm::StringRef("a\0b\xC3\xA9", 5));
}

TEST(Parse, UnparseGivesTheFewestParentheses) {
  const char *const texts[] = {"a + b * c",
                               "(a + b) * c",
                               "a - (b - c)",
                               "-a ** -b",
                               "(-a) ** b",
                               "(a ** b) ** c",
                               "a ** b ** c",
                               "not a and b or c",
                               "(a or b) and not c",
                               "a < b < c",
                               "(a < b) < c",
                               "a if b else c if d else e",
                               "(a if b else c) if d else e",
                               "f(a, *b, k=c)[0, 1:2, :]",
                               "[x for x in y if z]",
                               "(a,)",
                               "{1: 2}",
                               "t[()]",
                               "\"a\\n\\\"\"",
                               "a @ b % c // d",
                               "~a & b ^ c | d << 1",
                               "x.y.z",
                               "...",
                               "(a + b).c"};
  for (const char *text : texts) {
    Parsed p(std::string("x = ") + text + "\n");
    ASSERT_TRUE(p.module) << text;
    EXPECT_EQ(p.unparsed(), text);
  }
}

/// Children lie within their parents, in order.
static void checkRanges(const Node *node, const Node *parent) {
  SourceRange range = node->getRange();
  ASSERT_TRUE(range.isValid());
  ASSERT_LE(range.begin, range.end);
  bool decorator = llvm::isa_and_nonnull<FunctionDef>(parent) && range.begin < parent->getRange().begin;
  if (parent && !decorator) {
    EXPECT_GE(range.begin, parent->getRange().begin);
    EXPECT_LE(range.end, parent->getRange().end);
  }
  forEachChild(node, [&](const Node *child) { checkRanges(child, node); });
}

TEST(Parse, RangesNest) {
  Parsed p(
      "@k\ndef f(a: int = (1), *, b=[x for x in (y)]) -> (z):\n    'doc'\n    with (a) as (b, c):\n"
      "        if (a): x = ((1) + (2)) * 3\n        elif b: t[(1):(2), ::3] += {1: (2)}\n        else: pass\n"
      "    while (a): break\n    for (i), j in (k): assert (i), 'm'\n    return (a), *b\n");
  ASSERT_TRUE(p.module) << p.output;
  for (const Stmt *stmt : p.module->body)
    checkRanges(stmt, nullptr);
}

TEST(Parse, Expression) {
  auto parse = [](llvm::StringRef text, std::string &output) {
    llvm::raw_string_ostream os(output);
    auto consumer = createTextConsumer(os, false);
    llvm::SourceMgr sources;
    DiagnosticEngine diags(sources, *consumer);
    unsigned buffer = sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "-D"), {});
    auto module = parseExpression(sources, buffer, diags);
    return module && llvm::isa<ExprStmt>(module->body[0]);
  };
  std::string output;
  EXPECT_TRUE(parse("1 + 2", output));
  EXPECT_TRUE(parse("'text'", output));
  EXPECT_EQ(output, "");
  EXPECT_FALSE(parse("", output));
  EXPECT_FALSE(parse("x = 1", output));
  EXPECT_FALSE(parse("1; 2", output));
  EXPECT_FALSE(parse("1 +", output));
}

TEST(Parse, ThreadsMayParseAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t != 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i != 20; ++i)
        good +=
            Parsed("def f(a):\n    return [x + " + std::to_string(i) + " for x in a]\n").module != nullptr;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, 80);
}
