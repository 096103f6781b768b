//===- Parser.cpp - from source text to the syntax tree ------------------------------------------===//

#include "tilec/Parse/Parser.h"
#include "ASTBuilder.h"
#include "SyntaxErrors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/thread.h"

using namespace tilec;

/// Nesting costs stack in ANTLR's prediction, in its parser and in the builder; the limits of all three fit
/// in here with room to spare.
static constexpr unsigned parserStack = 64u << 20;

/// In one statement of the module level: ANTLR takes some kilobytes for each.
static constexpr size_t maxTokens = 250'000;

namespace {
class FileParser {
public:
  FileParser(const llvm::SourceMgr &sources, unsigned buffer, DiagnosticEngine &diags)
      : module(std::make_unique<ast::Module>(buffer, sources.getMemoryBuffer(buffer)->getBufferIdentifier())),
        source(buffer, sources.getMemoryBuffer(buffer)->getBuffer()), diags(diags),
        builder(module->getArena(), source, diags) {}

  std::unique_ptr<ast::Module> run();

private:
  /// The length of the statement of the module level that the tokens start with.
  static size_t statementLength(TokenRange tokens);
  void statement(TokenRange tokens, llvm::ArrayRef<LexFault> faults);

  std::unique_ptr<ast::Module> module;
  SourceText source;
  DiagnosticEngine &diags;
  ASTBuilder builder;
  ASTBuilder::Stmts body;
  TokenList list;
  bool failed = false;
};
} // namespace

std::unique_ptr<ast::Module> FileParser::run() {
  unsigned errorsBefore = diags.numErrors();
  if (!source.decode(diags))
    return nullptr;
  list = lex(source);
  llvm::sort(list.faults, [](const LexFault &a, const LexFault &b) { return a.begin < b.begin; });
  TokenRange rest = list.tokens;
  llvm::ArrayRef<LexFault> faults = list.faults;
  while (!rest.empty() && !diags.limitReached()) {
    TokenRange tokens = rest.take_front(statementLength(rest));
    rest = rest.drop_front(tokens.size());
    size_t end = rest.empty() ? SIZE_MAX : rest.front().begin;
    llvm::ArrayRef<LexFault> own = faults.take_while([&](const LexFault &f) { return f.begin < end; });
    faults = faults.drop_front(own.size());
    reportFaults(tokens, own, source, diags);
    statement(tokens, own);
  }
  reportFaults({}, faults, source, diags);
  if (failed || diags.numErrors() != errorsBefore)
    return nullptr;
  module->body = builder.save(body);
  module->docstring = ASTBuilder::takeDocstring(module->body);
  return std::move(module);
}

size_t FileParser::statementLength(TokenRange tokens) {
  size_t depth = 0;
  bool decorator = false;
  for (size_t i = 0; i != tokens.size(); ++i) {
    switch (tokens[i].type) {
    case TileParser::INDENT:
      ++depth;
      continue;
    case TileParser::DEDENT:
      depth -= depth != 0;
      break;
    case TileParser::NEWLINE:
      break;
    case TileParser::AT:
      // At the start of a line: the function follows.
      decorator |= i == 0 || tokens[i - 1].type == TileParser::NEWLINE;
      continue;
    case TileParser::DEF:
    case TileParser::CLASS:
      decorator = false;
      continue;
    default:
      continue;
    }
    if (depth || decorator || i + 1 == tokens.size())
      continue;
    switch (tokens[i + 1].type) {
    case TileParser::INDENT:
    case TileParser::DEDENT:
    case TileParser::ELIF:
    case TileParser::ELSE:
    case TileParser::EXCEPT:
    case TileParser::FINALLY:
      continue;
    default:
      return i + 1;
    }
  }
  return tokens.size();
}

void FileParser::statement(TokenRange tokens, llvm::ArrayRef<LexFault> faults) {
  SourceRange first = source.range(tokens.front().begin, tokens.front().end);
  if (tokens.size() > maxTokens) {
    diags.report(diag::E0033, first, "statement", maxTokens, "tokens");
    failed = true;
    return;
  }
  TokenFeed feed(tokens);
  antlr4::CommonTokenStream stream(&feed);
  TileParser parser(&stream);
  parser.removeErrorListeners();
  try {
    parser.setErrorHandler(std::make_shared<StopAtFirstError>());
    builder.statement(parser.topLevel()->statement(), body);
    return;
  } catch (const ParseFailed &) {
    failed = true;
    reportSyntaxErrors(tokens, faults, source, diags);
  } catch (const NestedTooDeep &) {
    antlr4::Token *at = parser.getCurrentToken();
    diags.report(diag::E0010, source.range(at->getStartIndex(), at->getStopIndex() + 1),
                 ASTBuilder::maxDepth);
  } catch (const ExpressionTooDeep &tooDeep) {
    diags.report(diag::E0010, tooDeep.range, ASTBuilder::maxDepth);
  }
  failed = true;
}

/// On a thread of its own with a stack that is large enough.
std::unique_ptr<ast::Module> tilec::parseFile(const llvm::SourceMgr &sources, unsigned buffer,
                                              DiagnosticEngine &diags) {
  std::unique_ptr<ast::Module> result;
  llvm::thread worker(std::optional<unsigned>(parserStack),
                      [&] { result = FileParser(sources, buffer, diags).run(); });
  worker.join();
  return result;
}

std::unique_ptr<ast::Module> tilec::parseExpression(const llvm::SourceMgr &sources, unsigned buffer,
                                                    DiagnosticEngine &diags) {
  std::unique_ptr<ast::Module> module = parseFile(sources, buffer, diags);
  if (!module)
    return nullptr;
  // A string alone was taken for a docstring.
  if (module->docstring && module->body.empty()) {
    auto *statement =
        module->getArena().create<ast::ExprStmt>(module->docstring->getRange(), module->docstring);
    module->body = module->getArena().copy(ast::Block(static_cast<const ast::Stmt *>(statement)));
    module->docstring = nullptr;
  }
  if (module->body.size() == 1 && llvm::isa<ast::ExprStmt>(module->body[0]))
    return module;
  SourceRange place{buffer, 0, 0};
  if (!module->body.empty())
    place = module->body.back()->getRange();
  diags.report(diag::E0020, place, "an expression", module->body.empty() ? "nothing" : "a statement");
  return nullptr;
}
