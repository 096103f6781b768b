//===- OutputNames.cpp - which files a run writes -----------------------------===//
#include "OutputNames.h"
#include "Outputs.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tilec;

bool tilec::kindFits(llvm::StringRef kind, const TargetDesc &t) {
  if (kind == "ptx")
    return t.family == Family::NVIDIA;
  if (kind == "cubin")
    return t.family == Family::NVIDIA && !t.emitsPTX;
  if (kind == "hsaco")
    return t.family == Family::AMD;
  return true;
}

std::string tilec::fileFor(const DriverOptions &options, llvm::StringRef kind, const TargetDesc &t) {
  auto asked = options.emits.find(kind.str());
  if (asked == options.emits.end() || !kindFits(kind, t))
    return {};
  std::string file = asked->second;
  if (size_t at = file.find("%a"); at != std::string::npos)
    file.replace(at, 2, t.name);
  return file;
}

OutputNames::OutputNames(const DriverOptions &options, llvm::StringRef input) {
  auto named = [&](const char *kind) {
    auto it = options.emits.find(kind);
    return it == options.emits.end() ? std::string() : it->second;
  };
  std::string stem = input == "-" || input == "<stdin>" ? "stdin" : llvm::sys::path::stem(input).str();
  if (options.command != Command::Compile) {
    bundle = !options.output.empty() ? options.output
                                     : stem + (options.command == Command::Tune ? ".tune" : ".bench");
    for (const char *file : {"run", "plan", "kernels.so"})
      all.emplace_back("the bundle", bundle + "/" + file);
    return;
  }
  bool defaults = !options.anyOutputNamed();
  object = !named("obj").empty() ? named("obj") : options.output;
  header = named("header");
  if (defaults) {
    object = stem + ".o";
    header = stem + ".h";
  }
  if (options.depfile) {
    llvm::SmallString<128> d(object.empty() ? stem : object);
    llvm::sys::path::replace_extension(d, "d");
    depfile = options.depfilePath.empty() ? d.str().str() : options.depfilePath;
  }
  auto add = [&](std::string what, std::string file) {
    if (!file.empty())
      all.emplace_back(std::move(what), std::move(file));
  };
  add("the depfile", depfile);
  add("the object", object);
  add("the header", header);
  for (const char *kind : {"manifest", "ast", "ir-tile"})
    add(std::string("--emit-") + kind, named(kind));
  for (llvm::StringRef kind : perTargetKinds)
    for (const std::string &name : options.targets)
      add(("--emit-" + kind).str(), fileFor(options, kind, *lookupTarget(name)));
}

/// One spelling for each file, whether it exists or not: links on the way to its folder are followed. A link
/// in the last place is not: writing replaces it.
static std::string canonical(llvm::StringRef path) {
  llvm::SmallString<256> folder(path), result;
  llvm::sys::fs::make_absolute(folder);
  llvm::SmallString<64> name = llvm::sys::path::filename(folder);
  llvm::sys::path::remove_filename(folder);
  if (llvm::sys::fs::real_path(folder, result)) {
    result = folder;
    llvm::sys::path::remove_dots(result, /*remove_dot_dot=*/true);
  }
  llvm::sys::path::append(result, name);
  return result.str().str();
}

std::string tilec::inputClash(const OutputNames &outputs, llvm::ArrayRef<std::string> inputs) {
  for (const auto &[what, file] : outputs.all) {
    if (file == "-" || isSpecialFile(file))
      continue;
    for (const std::string &input : inputs)
      if (input != "-" && (canonical(input) == canonical(file) || llvm::sys::fs::equivalent(input, file)))
        return what + " would be written to `" + file + "`, which is the input `" + input + "`";
  }
  return {};
}

std::string tilec::findClash(const DriverOptions &options) {
  std::vector<std::string> inputs = options.inputs;
  if (auto [stage, file] = llvm::StringRef(options.loadIR).split('='); !file.empty())
    inputs.push_back(file.str());
  llvm::append_range(inputs, options.tuningFiles);
  struct Use {
    std::string what, file, input;
  };
  llvm::StringMap<Use> written;
  for (const std::string &input : options.inputs) {
    OutputNames outputs(options, input);
    if (std::string clash = inputClash(outputs, inputs); !clash.empty())
      return clash;
    if (options.listKernels) // writes none of them
      continue;
    for (const auto &[what, file] : outputs.all) {
      if (file != "-" && isSpecialFile(file))
        continue;
      auto [it, fresh] = written.try_emplace(file == "-" ? file : canonical(file), Use{what, file, input});
      const Use &other = it->second;
      if (fresh || (other.what == what && other.input == input)) // of one kind for two targets: E0609
        continue;
      std::string first = other.input == input ? other.what : other.what + " of `" + other.input + "`";
      std::string second = other.input == input ? what : what + " of `" + input + "`";
      return first + " (`" + other.file + "`) and " + second + " (`" + file + "`) would be one file";
    }
  }
  return {};
}
