//===- SyntaxErrors.cpp - finding what is wrong, line by line ---------------------------------===//

#include "SyntaxErrors.h"
#include "ASTBuilder.h"
#include "SyntaxMessages.h"
#include "TileParser.h"
#include "tilec/Support/Diagnostics.h"

using namespace tilec;

//===----------------------------------------------------------------------===//
// The parser's first error
//===----------------------------------------------------------------------===//

antlr4::Token *StopAtFirstError::recoverInline(antlr4::Parser *parser) {
  failure = {parser->getCurrentToken()->getTokenIndex(), parser->getExpectedTokens()};
  throw ParseFailed();
}

void StopAtFirstError::recover(antlr4::Parser *, std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (antlr4::RecognitionException &e) {
    antlr4::Token *token = e.getOffendingToken();
    failure = {token ? token->getTokenIndex() : 0, e.getExpectedTokens()};
  }
  throw ParseFailed();
}

//===----------------------------------------------------------------------===//
// Lines and blocks
//===----------------------------------------------------------------------===//

namespace {
class SyntaxErrorFinder {
public:
  SyntaxErrorFinder(TokenRange tokens, llvm::ArrayRef<LexFault> faults, const SourceText &source,
                    DiagnosticEngine &diags)
      : tokens(tokens), faults(faults), source(source), diags(diags), messages(source, diags) {}

  void run();

private:
  using Type = size_t;

  /// One level of indentation.
  struct Level {
    /// The keyword of the compound statement that ended last on this level, for else and elif; 0 for none.
    Type last = 0;
  };

  void line(TokenRange line, size_t indents, size_t dedents, bool faulty);
  /// Blocks: is an indentation here where one must be, and only there?
  void checkIndentation(TokenRange line, size_t indents, size_t dedents, bool faulty);
  /// Words at the start of a line that no statement of the language starts with. True when one was met.
  bool checkUnsupported(TokenRange line);
  /// elif and else want something to belong to. True when they have it.
  bool checkContinuation(TokenRange line);
  void parse(TokenRange line);
  void remember(TokenRange line);
  bool hasFault(uint32_t begin, uint32_t end) const;
  SourceRange range(const CompactToken &token) const { return source.range(token.begin, token.end); }
  llvm::StringRef text(const CompactToken &token) const { return source.slice(range(token)); }

  TokenRange tokens;
  llvm::ArrayRef<LexFault> faults;
  const SourceText &source;
  DiagnosticEngine &diags;
  SyntaxMessages messages;

  std::vector<Level> levels{Level()};
  /// The line before opened a block (ended in a colon): its first token.
  std::optional<CompactToken> opener;
  bool openerFaulty = false;
  bool afterDecorator = false;
  bool found = false;
};
} // namespace

bool SyntaxErrorFinder::hasFault(uint32_t begin, uint32_t end) const {
  auto first = llvm::lower_bound(faults, begin, [](const LexFault &f, uint32_t at) { return f.begin < at; });
  return first != faults.end() && first->begin <= end;
}

void SyntaxErrorFinder::run() {
  size_t i = 0, indents = 0, dedents = 0;
  while (i != tokens.size() && !diags.limitReached()) {
    if (tokens[i].type == TileParser::INDENT || tokens[i].type == TileParser::DEDENT) {
      ++(tokens[i].type == TileParser::INDENT ? indents : dedents);
      ++i;
      continue;
    }
    size_t end = i;
    while (end != tokens.size() && tokens[end].type != TileParser::NEWLINE)
      ++end;
    TokenRange rest = tokens.slice(i, std::min(end + 1, tokens.size()) - i);
    line(rest, indents, dedents, hasFault(rest.front().begin, rest.back().end));
    i += rest.size();
    indents = dedents = 0;
  }
  if (opener && !openerFaulty) {
    found = true;
    diags.report(diag::E0007, source.range(tokens.back().end, tokens.back().end), messages.describe(*opener))
        .note(range(*opener), "the block belongs to this");
  }
  if (afterDecorator && faults.empty()) {
    found = true;
    diags.report(diag::E0020, source.range(tokens.back().begin, tokens.back().end),
                 "a function after its decorator", "the end of the file");
  }
  // Line by line all was well: something that the rules above do not know. Say at least where.
  if (!found && faults.empty())
    diags.report(diag::E0021, range(tokens.front()), "this statement");
}

void SyntaxErrorFinder::line(TokenRange line, size_t indents, size_t dedents, bool faulty) {
  checkIndentation(line, indents, dedents, faulty);
  bool check = !faulty;
  bool decorator = line.front().type == TileParser::AT;
  if (afterDecorator && !decorator && line.front().type != TileParser::DEF &&
      line.front().type != TileParser::CLASS && line.front().type != TileParser::ASYNC && check) {
    found = true;
    diags.report(diag::E0020, range(line.front()), "a function after its decorator",
                 messages.found(line.front()));
    check = false;
  }
  afterDecorator = decorator;
  if (check && !checkUnsupported(line) && checkContinuation(line))
    parse(line);
  remember(line);
}

void SyntaxErrorFinder::checkIndentation(TokenRange line, size_t indents, size_t dedents, bool faulty) {
  for (; dedents && levels.size() > 1; --dedents)
    levels.pop_back();
  bool wanted = opener.has_value();
  bool good = true;
  if (wanted && !indents && !faulty && !openerFaulty) {
    diags.report(diag::E0007, range(line.front()), messages.describe(*opener))
        .note(range(*opener), "the block belongs to this");
    good = false;
  }
  if (indents && !wanted && !faulty && !openerFaulty) {
    diags.report(diag::E0006, range(line.front()));
    good = false;
  }
  for (; indents; --indents)
    levels.push_back(Level());
  found |= !good;
}

bool SyntaxErrorFinder::checkUnsupported(TokenRange line) {
  if (!messages.unsupportedStart(line))
    return false;
  found = true;
  return true;
}

bool SyntaxErrorFinder::checkContinuation(TokenRange line) {
  Type type = line.front().type;
  if (type != TileParser::ELSE && type != TileParser::ELIF)
    return true;
  Type last = levels.back().last;
  if (last == TileParser::IF || last == TileParser::ELIF)
    return true;
  // What follows try and match is told with them.
  if (last == TileParser::TRY || last == TileParser::EXCEPT)
    return false;
  found = true;
  if (type == TileParser::ELSE && (last == TileParser::FOR || last == TileParser::WHILE))
    diags.report(diag::E0511, range(line.front()), last == TileParser::FOR ? "for" : "while");
  else
    diags.report(diag::E0021, range(line.front()), "`" + text(line.front()) + "` without an `if`");
  return false;
}

void SyntaxErrorFinder::parse(TokenRange line) {
  TokenFeed feed(line);
  antlr4::CommonTokenStream stream(&feed);
  TileParser parser(&stream);
  parser.removeErrorListeners();
  parser.setBuildParseTree(false);
  auto strategy = std::make_shared<StopAtFirstError>();
  parser.setErrorHandler(strategy);
  try {
    parser.logicalLine();
  } catch (const ParseFailed &) {
    found = true;
    messages.report(line, strategy->getFailure());
  } catch (const NestedTooDeep &) {
    found = true;
    diags.report(diag::E0010, range(line.front()), ASTBuilder::maxDepth);
  }
}

/// What the lines that follow want to know about this one.
void SyntaxErrorFinder::remember(TokenRange line) {
  Type type = line.front().type;
  size_t last = line.size() - 1;
  if (line[last].type == TileParser::NEWLINE && last)
    --last;
  opener.reset();
  if (line[last].type == TileParser::COLON) {
    opener = line.front();
    openerFaulty = hasFault(line.front().begin, line.back().end);
  } else if (messages.wantsColon(line)) {
    // The colon is missing, which is told; its block is a block all the same.
    opener = line.front();
    openerFaulty = true;
  }
  switch (type) {
  case TileParser::IF:
  case TileParser::ELIF:
  case TileParser::FOR:
  case TileParser::WHILE:
  case TileParser::TRY:
  case TileParser::EXCEPT:
    levels.back().last = type;
    return;
  default:
    levels.back().last = 0;
  }
}

void tilec::reportSyntaxErrors(TokenRange tokens, llvm::ArrayRef<LexFault> faults, const SourceText &source,
                               DiagnosticEngine &diags) {
  SyntaxErrorFinder(tokens, faults, source, diags).run();
}
