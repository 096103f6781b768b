//===- Tools.cpp - external tools: where they are, how they run -------------------===//
#include "tilec/Target/Tools.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <mutex>
#include <unistd.h>

using namespace llvm;
using namespace tilec;
using namespace tilec::target;

char ToolError::ID;

void ToolError::log(raw_ostream &os) const { os << message; }

Error target::toolError(ToolError::Kind kind, const Twine &message, StringRef log) {
  return make_error<ToolError>(kind, message.str(), log.str());
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Expected<std::string> target::readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return toolError(ToolError::Failed, "cannot read " + path + ": " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

TempFile::~TempFile() {
  if (path_.empty())
    return;
  sys::fs::remove(path_);
  sys::DontRemoveFileOnSignal(path_);
}

static std::string tempDirectory(const ToolPaths &paths) {
  if (!paths.tempDir.empty())
    return paths.tempDir;
  SmallString<128> dir;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, dir);
  return std::string(dir);
}

Expected<TempFile> TempFile::create(const ToolPaths &paths, StringRef suffix, StringRef contents) {
  SmallString<128> model(tempDirectory(paths)), name;
  sys::path::append(model, "tilec-%%%%%%%%%%." + suffix);
  int fd = -1;
  // createUniqueFile opens with O_CREAT | O_EXCL and tries other names on a collision.
  if (std::error_code ec = sys::fs::createUniqueFile(model, fd, name))
    return toolError(ToolError::Failed,
                     "cannot create a temporary file in " + tempDirectory(paths) + ": " + ec.message());
  TempFile file;
  file.path_ = std::string(name);
  sys::RemoveFileOnSignal(name);
  raw_fd_ostream os(fd, /*shouldClose=*/true);
  os << contents;
  os.close();
  if (os.has_error()) {
    std::string why = os.error().message();
    os.clear_error();
    return toolError(ToolError::Failed, "cannot write " + file.path_ + ": " + why);
  }
  return std::move(file);
}

Expected<std::string> TempFile::read() const { return readFile(path_); }

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Our environment for a tool, with large pages for its heap where glibc and the kernel offer them: ptxas
/// asks the system for tens of megabytes, and a sixth of its time is faults on pages of 4 KB. Who has set
/// tunables of glibc keeps them.
static std::vector<StringRef> toolEnvironment() {
  constexpr StringRef variable = "GLIBC_TUNABLES=", largePages = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1";
  std::vector<StringRef> result;
  for (char **entry = environ; *entry; ++entry)
    result.push_back(*entry);
  if (none_of(result, [&](StringRef entry) { return entry.starts_with(variable); }))
    result.push_back(largePages);
  return result;
}

Expected<RunResult> target::runTool(const ToolPaths &paths, const Tool &tool, ArrayRef<std::string> args) {
  Expected<TempFile> out = TempFile::create(paths, "log");
  if (!out)
    return out.takeError();
  SmallVector<StringRef> argv = {tool.path};
  argv.append(args.begin(), args.end());
  if (paths.verbose) {
    std::string line; // in one piece: tools run on several threads
    raw_string_ostream os(line);
    for (StringRef arg : argv)
      sys::printArg(os << ' ', arg, /*Quote=*/false);
    errs() << line << '\n';
  }
  // One file for both streams: LLVM opens it once when the two names are equal.
  std::optional<StringRef> redirects[] = {StringRef(), out->path(), out->path()};
  std::string why;
  bool failed = false;
  int code = sys::ExecuteAndWait(tool.path, argv, toolEnvironment(), redirects, 0, 0, &why, &failed);
  Expected<std::string> output = out->read();
  if (!output)
    return output.takeError();
  if (failed || code < 0)
    return toolError(ToolError::Failed, "cannot run " + tool.path + ": " + (why.empty() ? "it died" : why),
                     *output);
  return RunResult{code, std::move(*output)};
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

namespace {

/// Places to look at, in order, and what to say when nothing is there.
struct Search {
  SmallVector<std::string> candidates; ///< full paths
  bool explicitly = false;             ///< the user named the place: look nowhere else

  void add(StringRef dir, const Twine &file) {
    if (dir.empty())
      return;
    SmallString<128> path(dir);
    sys::path::append(path, file);
    if (!is_contained(candidates, path.str()))
      candidates.push_back(std::string(path));
  }
  void addPath(StringRef program) {
    if (ErrorOr<std::string> found = sys::findProgramByName(program))
      candidates.push_back(*found);
  }
};

} // namespace

static Expected<std::string> firstThatExists(const Search &search, StringRef what, StringRef hint,
                                             bool execute) {
  for (const std::string &path : search.candidates)
    if (execute ? sys::fs::can_execute(path) : sys::fs::exists(path))
      return path;
  std::string message = (what + " not found").str();
  if (!search.candidates.empty())
    message += "; looked for " + join(search.candidates, ", ");
  if (execute && !search.explicitly)
    message += " and in PATH";
  return toolError(ToolError::Missing, message + "; " + hint);
}

/// Folders of CUDA toolkits: --cuda-path alone when it is given.
static SmallVector<std::string> cudaRoots(const ToolPaths &paths) {
  if (!paths.cudaPath.empty())
    return {paths.cudaPath};
  SmallVector<std::string> roots;
  for (const char *name : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
    if (std::optional<std::string> value = sys::Process::GetEnv(name); value && !value->empty())
      roots.push_back(*value);
  return roots;
}

static Expected<std::string> ptxasVersion(const ToolPaths &paths, const std::string &path) {
  // Asking costs a process start, so each ptxas is asked once.
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  std::lock_guard<std::mutex> lock(mutex);
  if (auto it = known.find(path); it != known.end())
    return it->second;
  Expected<RunResult> result = runTool(paths, {path, ""}, {"--version"});
  if (!result)
    return result.takeError();
  StringRef text = result->output;
  auto [before, after] = text.split("release ");
  StringRef version = after.take_while([](char c) { return isDigit(c) || c == '.'; });
  if (result->exitCode != 0 || version.empty())
    return toolError(ToolError::Failed, path + " --version does not answer like ptxas", text);
  return known[path] = version.str();
}

Expected<Tool> target::findPtxas(const ToolPaths &paths) {
  Search search;
  if (!paths.ptxasPath.empty()) {
    search.explicitly = true;
    search.candidates.push_back(paths.ptxasPath);
  } else {
    for (const std::string &root : cudaRoots(paths))
      search.add(root, "bin/ptxas");
    search.explicitly = !paths.cudaPath.empty();
    if (!search.explicitly) {
      search.add(paths.executableDir, "ptxas");
      search.addPath("ptxas");
      search.add("/usr/local/cuda", "bin/ptxas");
    }
  }
  Expected<std::string> path =
      firstThatExists(search, "ptxas", "name the CUDA toolkit with --cuda-path=DIR", /*execute=*/true);
  if (!path)
    return path.takeError();
  Expected<std::string> version = ptxasVersion(paths, *path);
  if (!version)
    return version.takeError();
  return Tool{*path, *version};
}

Expected<Tool> target::findLld(const ToolPaths &paths) {
  Search search;
  if (!paths.lldPath.empty()) {
    search.explicitly = true;
    search.candidates.push_back(paths.lldPath);
  } else {
    search.add(paths.executableDir, "ld.lld");
    search.add(TILEC_LLVM_BINDIR, "ld.lld");
    search.addPath("ld.lld-22");
    search.addPath("ld.lld");
  }
  Expected<std::string> path =
      firstThatExists(search, "ld.lld", "name it with --lld-path=FILE", /*execute=*/true);
  if (!path)
    return path.takeError();
  return Tool{*path, ""};
}

Expected<std::string> target::findLibdevice(const ToolPaths &paths) {
  Search search;
  const char *inToolkit = "nvvm/libdevice/libdevice.10.bc";
  for (const std::string &root : cudaRoots(paths))
    search.add(root, inToolkit);
  search.explicitly = !paths.cudaPath.empty();
  if (!search.explicitly) {
    search.add(paths.executableDir, "libdevice.10.bc");
    // <toolkit>/bin/ptxas -> <toolkit>
    if (ErrorOr<std::string> ptxas = sys::findProgramByName("ptxas"))
      search.add(sys::path::parent_path(sys::path::parent_path(*ptxas)), inToolkit);
    search.add("/usr/local/cuda", inToolkit);
  }
  return firstThatExists(search, "libdevice.10.bc, which this kernel's math functions need,",
                         "name the CUDA toolkit with --cuda-path=DIR", /*execute=*/false);
}

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

/// Source: PTX ISA, "Release Notes", table "PTX Release History".
static StringRef firstCudaOfPtx(unsigned ptxVersion) {
  static constexpr std::pair<unsigned, const char *> table[] = {
      {70, "11.0"}, {71, "11.1"}, {72, "11.2"}, {73, "11.3"}, {74, "11.4"}, {75, "11.5"}, {76, "11.6"},
      {77, "11.7"}, {78, "11.8"}, {80, "12.0"}, {81, "12.1"}, {82, "12.2"}, {83, "12.3"}, {84, "12.4"},
      {85, "12.5"}, {86, "12.7"}, {87, "12.8"}, {88, "12.9"}, {90, "13.0"},
  };
  for (auto [ptx, cuda] : table)
    if (ptx >= ptxVersion)
      return cuda;
  return "13.0";
}

static unsigned versionNumber(StringRef version) {
  unsigned major = 0, minor = 0;
  auto [a, b] = version.split('.');
  // Both come from our table or have been checked to be digits; a failure leaves 0, "too old".
  if (a.getAsInteger(10, major) || b.take_while(isDigit).getAsInteger(10, minor))
    return major * 100;
  return major * 100 + minor;
}

Error target::checkPtxasVersion(const Tool &ptxas, const TargetDesc &target, unsigned ptxVersion) {
  StringRef needed = firstCudaOfPtx(ptxVersion);
  if (versionNumber(ptxas.version) >= versionNumber(needed))
    return Error::success();
  return toolError(ToolError::TooOld, ptxas.path + " of CUDA " + ptxas.version + " is too old for " +
                                          target.name + ", which needs CUDA " + needed +
                                          " or later; name a newer toolkit with --cuda-path=DIR");
}
