//===- MLIRDiagnostics.cpp - messages of passes become user diagnostics ------===//
#include "MLIRDiagnostics.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;

MLIRDiagnostics::MLIRDiagnostics(mlir::MLIRContext &context, DiagnosticEngine &engine,
                                 llvm::StringMap<uint32_t> modules)
    : engine(engine), modules(std::move(modules)),
      handler(&context, [this](mlir::Diagnostic &d) { return handle(d); }) {}

/// The innermost file position in a location: call sites name the callee first.
static mlir::FileLineColLoc filePosition(mlir::Location location) {
  mlir::FileLineColLoc found;
  location->walk([&](mlir::Location l) {
    if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(l)) {
      found = file;
      return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  return found;
}

SourceRange MLIRDiagnostics::rangeOf(mlir::Location location) const {
  mlir::FileLineColLoc file = filePosition(location);
  if (!file)
    return {};
  auto buffer = modules.find(file.getFilename().getValue());
  if (buffer == modules.end() || file.getLine() == 0)
    return {};
  const LineMap &lines = engine.lines();
  uint32_t begin = lines.lineBegin(buffer->second, file.getLine());
  // Columns count code points; step over continuation bytes.
  llvm::StringRef text = lines.lineText(buffer->second, file.getLine());
  size_t at = 0;
  for (unsigned column = 1; column < file.getColumn() && at < text.size(); ++column) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
      ++at;
  }
  size_t end = at;
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  while (end < text.size() && isWord(text[end]))
    ++end;
  return {buffer->second, static_cast<uint32_t>(begin + at),
          static_cast<uint32_t>(begin + std::max(end, at + 1))};
}

mlir::LogicalResult MLIRDiagnostics::handle(mlir::Diagnostic &d) {
  llvm::StringRef message;
  std::string text = d.str();
  message = text;
  std::optional<diag::ID> id;
  if (message.consume_front("["))
    if (size_t end = message.find(']'); end != llvm::StringRef::npos) {
      id = diag::fromCode(message.take_front(end));
      message = message.drop_front(end + 1).ltrim();
    }
  if (!id) {
    if (d.getSeverity() != mlir::DiagnosticSeverity::Error)
      return mlir::success(); // remarks of upstream passes are not for users
    defect = true;
    engine.report(diag::E0690, rangeOf(d.getLocation()), text);
    return mlir::success();
  }
  auto report = engine.reportText(*id, rangeOf(d.getLocation()), message);
  for (mlir::Diagnostic &note : d.getNotes())
    report.note(rangeOf(note.getLocation()), "{0}", note.str());
  return mlir::success();
}
