//===- DiagnosticsTest.cpp - the engine, its filters and its two renderings -------------===//

#include "tilec/Support/Diagnostics.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace tilec;

namespace {
struct Session {
  explicit Session(llvm::StringRef text, bool json = false)
      : consumer(json ? createJsonConsumer(os) : createTextConsumer(os, false)), diags(sources, *consumer) {
    buffer = sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "dir/f.tile"), {});
  }
  SourceRange at(uint32_t begin, uint32_t end) const { return {buffer, begin, end}; }

  std::string output;
  llvm::raw_string_ostream os{output};
  llvm::SourceMgr sources;
  unsigned buffer;
  std::unique_ptr<DiagnosticConsumer> consumer;
  DiagnosticEngine diags;
};
} // namespace

TEST(Diagnostics, ClangsShape) {
  Session s("a = 1\nbb = cc + dd\n");
  s.diags.report(diag::E0025, s.at(11, 13), "cc")
      .secondary(s.at(16, 18))
      .note(s.at(0, 1), "`{0}` is {1}", "a", 7)
      .fixit(s.at(11, 13), "ee");
  EXPECT_EQ(s.output, "dir/f.tile:2:6: error[E0025]: parameter `cc` appears twice\n"
                      "    2 | bb = cc + dd\n"
                      "      |      ^~   ~~\n"
                      "      |      ee\n"
                      "dir/f.tile:1:1: note: `a` is 7\n"
                      "    1 | a = 1\n"
                      "      | ^\n");
}

TEST(Diagnostics, ColumnsAreCodePointsAndCaretsAreCells) {
  // A wide character takes two cells, a tab goes to the next multiple of eight.
  Session s("\xE6\xBC\xA2 = x\n\ty = x\n");
  s.diags.report(diag::E0018, s.at(6, 7), "x");
  s.diags.report(diag::E0018, s.at(13, 14), "x");
  EXPECT_EQ(s.output, "dir/f.tile:1:5: error[E0018]: `x` closes nothing\n"
                      "    1 | \xE6\xBC\xA2 = x\n"
                      "      |      ^\n"
                      "dir/f.tile:2:6: error[E0018]: `x` closes nothing\n"
                      "    2 |         y = x\n"
                      "      |             ^\n");
}

TEST(Diagnostics, BytesThatAreNoTextAreShownAsSuch) {
  Session s(llvm::StringRef("a\x07\xFF\0z\n", 6));
  s.diags.report(diag::E0018, s.at(4, 5), "\x1b[31m\n");
  EXPECT_EQ(s.output, "dir/f.tile:1:5: error[E0018]: `<U+001B>[31m<U+000A>` closes nothing\n"
                      "    1 | a<U+0007><FF><U+0000>z\n"
                      "      |                      ^\n");
}

TEST(Diagnostics, LongLinesAreCutAroundTheCaret) {
  std::string text(1'000'000, 'a');
  text[500'000] = '$';
  Session s(text);
  s.diags.report(diag::E0015, s.at(500'000, 500'001), "`$`");
  EXPECT_LT(s.output.size(), 1000u);
  EXPECT_NE(s.output.find("... aaa"), std::string::npos);
  EXPECT_NE(s.output.find("f.tile:1:500001:"), std::string::npos);
  size_t dollar = s.output.find("a$a"), line = s.output.rfind('\n', dollar);
  size_t caret = s.output.find('^'), marks = s.output.rfind('\n', caret);
  EXPECT_EQ(dollar + 1 - line, caret - marks);
}

TEST(Diagnostics, EndOfFileAndEmptyFile) {
  Session s("");
  s.diags.report(diag::E0020, s.at(0, 0), "a", "b");
  EXPECT_EQ(s.output, "dir/f.tile:1:1: error[E0020]: expected a, found b\n    1 | \n      | ^\n");
}

TEST(Diagnostics, NoPlace) {
  Session s("");
  s.diags.report(diag::E0600, {}, 3);
  EXPECT_EQ(s.output,
            "tilec: error[E0600]: more than 3 errors; the rest is not shown (-ferror-limit=0 shows all)\n");
}

TEST(Diagnostics, TheSameIsToldOnce) {
  Session s("abc\n");
  for (int i = 0; i != 3; ++i)
    s.diags.report(diag::E0018, s.at(0, 1), "a");
  EXPECT_EQ(s.diags.numErrors(), 1u);
}

TEST(Diagnostics, ErrorLimit) {
  Session s("abc\n");
  s.diags.setErrorLimit(2);
  for (uint32_t i = 0; i != 4; ++i)
    s.diags.report(diag::E0018, s.at(0, i), i);
  EXPECT_EQ(s.diags.numErrors(), 4u);
  EXPECT_TRUE(s.diags.limitReached());
  EXPECT_NE(s.output.find("`1` closes"), std::string::npos);
  EXPECT_EQ(s.output.find("`2` closes"), std::string::npos);
  EXPECT_NE(s.output.find("E0600"), std::string::npos);
}

TEST(Diagnostics, WarningOptions) {
  auto run = [](std::vector<llvm::StringRef> options) {
    Session s("abc\n");
    for (llvm::StringRef option : options)
      option == "w" ? s.diags.ignoreWarnings() : s.diags.setWarningOption(option);
    s.diags.report(diag::W0002, s.at(0, 1), "q");
    return s.output.substr(0, s.output.find('\n'));
  };
  const std::string text = "`\\q` is no escape sequence and stands for itself; write `\\\\q` ";
  EXPECT_EQ(run({}), "dir/f.tile:1:1: warning[W0002]: " + text + "[-Winvalid-escape]");
  EXPECT_EQ(run({"error"}), "dir/f.tile:1:1: error[W0002]: " + text + "[-Werror=invalid-escape]");
  EXPECT_EQ(run({"error=invalid-escape"}), run({"error"}));
  EXPECT_EQ(run({"error", "no-error=invalid-escape"}), run({}));
  EXPECT_EQ(run({"no-invalid-escape"}), "");
  EXPECT_EQ(run({"no-invalid-escape", "all"}), run({}));
  EXPECT_EQ(run({"no-all", "invalid-escape"}), run({}));
  EXPECT_EQ(run({"w"}), "");
  EXPECT_EQ(
      run({"invalid-escpe"}),
      "tilec: warning[W0001]: unknown warning option `-Winvalid-escpe`; did you mean `-Winvalid-escape`? "
      "[-Wunknown-warning-option]");
}

TEST(Diagnostics, TableIsSound) {
  for (size_t i = 0; i != diag::numDiagnostics; ++i) {
    const diag::Info &info = diag::info(diag::ID(i));
    EXPECT_EQ(diag::fromCode(info.code), diag::ID(i));
    EXPECT_EQ(info.severity == Severity::Error, info.group == diag::Group::Errors) << info.code.str();
    EXPECT_EQ(info.code[0], info.severity == Severity::Error     ? 'E'
                            : info.severity == Severity::Warning ? 'W'
                                                                 : 'R');
  }
  EXPECT_TRUE(diag::page(diag::E0001).starts_with("# E0001: "));
  EXPECT_FALSE(diag::info(diag::Group::Perf).promotedByWerror);
  EXPECT_FALSE(diag::fromCode("E9999"));
}

TEST(Diagnostics, ContextEndsEachMessage) {
  Session s("abc\n");
  {
    DiagnosticContext outer(s.diags, s.at(0, 1), "in {0}", "outer");
    DiagnosticContext inner(s.diags, s.at(1, 2), "in {0}", "inner");
    s.diags.report(diag::E0018, s.at(2, 3), "c");
  }
  size_t inner = s.output.find("note: in inner"), outer = s.output.find("note: in outer");
  EXPECT_LT(inner, outer);
  EXPECT_NE(outer, std::string::npos);
}

TEST(Diagnostics, Json) {
  Session s("a = \xE6\xBC\xA2\n", /*json=*/true);
  s.diags.report(diag::E0018, s.at(4, 7), "\xFF").note({}, "n").fixit(s.at(4, 4), "f");
  s.diags.finish(1);
  auto [first, rest] = llvm::StringRef(s.output).split('\n');
  auto message = llvm::json::parse(first);
  ASSERT_TRUE(bool(message)) << llvm::toString(message.takeError());
  const llvm::json::Object &object = *message->getAsObject();
  EXPECT_EQ(object.getString("$message_type"), llvm::StringRef("diagnostic"));
  EXPECT_EQ(object.getString("code"), llvm::StringRef("E0018"));
  EXPECT_EQ(object.getInteger("column"), 5);
  EXPECT_EQ(object.getInteger("end_column"), 6);
  EXPECT_EQ(object.getInteger("end"), 7);
  EXPECT_TRUE(object.getString("rendered")->starts_with("dir/f.tile:1:5: error[E0018]: "));
  EXPECT_EQ(object.getArray("notes")->size(), 1u);
  EXPECT_EQ(rest, "{\"$message_type\":\"summary\",\"errors\":1,\"warnings\":0,\"exit\":1}\n");
}

TEST(LineMap, AllLineEnds) {
  Session s("a\rb\r\nc\nd");
  const LineMap &lines = s.diags.lines();
  EXPECT_EQ(lines.lineOf(s.buffer, 0), 1u);
  EXPECT_EQ(lines.lineOf(s.buffer, 2), 2u);
  EXPECT_EQ(lines.lineOf(s.buffer, 5), 3u);
  EXPECT_EQ(lines.lineOf(s.buffer, 7), 4u);
  EXPECT_EQ(lines.lineText(s.buffer, 2), "b");
  EXPECT_EQ(lines.lineText(s.buffer, 4), "d");
  EXPECT_EQ(lines.position(s.buffer, 100).line, 4u);
  EXPECT_EQ(lines.position(SourceRange()).line, 0u);
}

TEST(LineMap, ByteOrderMark) {
  Session s("\xEF\xBB\xBFx = 1\n");
  EXPECT_EQ(s.diags.lines().position(s.buffer, 3).column, 1u);
  EXPECT_EQ(s.diags.lines().position(s.buffer, 7).column, 5u);
}
