//===- Outputs.cpp - files that appear all together or not at all ------------===//
#include "Outputs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;

Outputs::~Outputs() { forget(); }

void Outputs::declare(llvm::StringRef path) {
  if (llvm::any_of(files, [&](const File &f) { return f.path == path; }))
    return;
  files.push_back({path.str(), {}});
  llvm::sys::RemoveFileOnSignal(path); // touches nothing but regular files
}

void Outputs::set(llvm::StringRef path, std::string contents, bool onlyIfChanged) {
  declare(path);
  for (File &f : files)
    if (f.path == path) {
      f.contents = std::move(contents);
      f.ready = true;
      f.onlyIfChanged = onlyIfChanged;
    }
}

void Outputs::setExecutable(llvm::StringRef path, std::string contents) {
  set(path, std::move(contents));
  for (File &f : files)
    f.executable |= f.path == path;
}

bool tilec::isSpecialFile(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  return !llvm::sys::fs::status(path, status) && llvm::sys::fs::exists(status) &&
         !llvm::sys::fs::is_regular_file(status) && !llvm::sys::fs::is_directory(status);
}

static bool sameContents(llvm::StringRef path, llvm::StringRef contents) {
  auto old = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return old && (*old)->getBuffer() == contents;
}

static std::error_code flush(llvm::raw_fd_ostream &os, llvm::StringRef contents) {
  os << contents;
  os.flush();
  std::error_code ec = os.error();
  os.clear_error();
  return ec;
}

bool Outputs::write(const File &file, DiagnosticEngine &diags) {
  auto fail = [&](std::error_code ec) {
    diags.report(diag::E0605, {}, file.path == "-" ? "standard output" : llvm::StringRef(file.path),
                 ec.message());
    return false;
  };
  if (file.path == "-") {
    std::error_code ec = flush(llvm::outs(), file.contents);
    return ec ? fail(ec) : true;
  }
  if (isSpecialFile(file.path)) {
    std::error_code ec;
    llvm::raw_fd_ostream os(file.path, ec);
    if (!ec)
      ec = flush(os, file.contents);
    return ec ? fail(ec) : true;
  }
  if (file.onlyIfChanged && sameContents(file.path, file.contents))
    return true;
  if (llvm::sys::fs::is_directory(file.path))
    return fail(std::make_error_code(std::errc::is_a_directory));
  auto mode = llvm::sys::fs::all_read | llvm::sys::fs::all_write;
  auto temp = llvm::sys::fs::TempFile::create(file.path + "-%%%%%%%%.tmp",
                                              file.executable ? mode | llvm::sys::fs::all_exe : mode);
  if (!temp)
    return fail(llvm::errorToErrorCode(temp.takeError()));
  std::error_code ec;
  {
    llvm::raw_fd_ostream os(temp->FD, /*shouldClose=*/false);
    ec = flush(os, file.contents);
  }
  if (ec) {
    llvm::consumeError(temp->discard());
    return fail(ec);
  }
  if (llvm::Error e = temp->keep(file.path)) {
    ec = llvm::errorToErrorCode(std::move(e));
    llvm::consumeError(temp->discard());
    return fail(ec);
  }
  return true;
}

bool Outputs::commit(DiagnosticEngine &diags) {
  for (const File &f : files)
    if (f.ready && !write(f, diags)) {
      discard();
      return false;
    }
  return true;
}

void Outputs::forget() {
  for (const File &f : files)
    llvm::sys::DontRemoveFileOnSignal(f.path);
  files.clear();
}

void Outputs::discard() {
  for (const File &f : files)
    if (f.path != "-" && !isSpecialFile(f.path) && !llvm::sys::fs::is_directory(f.path))
      llvm::sys::fs::remove(f.path);
}
