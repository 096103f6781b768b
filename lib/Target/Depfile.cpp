//===- Depfile.cpp - Make rules for build systems --------------------------------------===//
#include "tilec/Target/Depfile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tilec;

std::string target::escapeMake(StringRef path) {
  std::string result;
  for (char c : path) {
    if (c == '$') {
      result += "$$";
      continue;
    }
    if (c == '#') {
      result += "\\#";
      continue;
    }
    if (c == ' ' || c == '\t') {
      // Backslashes in front of an escaped blank count, so they are doubled.
      for (size_t i = result.size(); i > 0 && path.size() && result[i - 1] == '\\'; --i)
        result += '\\';
      result += '\\';
    }
    result += c;
  }
  return result;
}

/// Make has no way to write such a name; a dependency on it cannot be expressed.
static bool expressible(StringRef path) {
  return none_of(path, [](char c) { return c == '\n' || c == '\r' || c == '\0'; });
}

std::string target::emitDepfile(const DepfileOptions &options) {
  SmallVector<std::string> targets;
  for (const std::string &t : options.literalTargets)
    targets.push_back(t);
  for (const std::string &t : options.targets)
    targets.push_back(escapeMake(t));
  std::string text = join(targets, " ") + ":";
  size_t column = text.size();
  SmallVector<std::string> inputs;
  for (const std::string &input : options.inputs)
    if (expressible(input) && !is_contained(inputs, input))
      inputs.push_back(input);
  for (const std::string &input : inputs) {
    std::string escaped = escapeMake(input);
    if (column + escaped.size() + 3 > 75) {
      text += " \\\n ";
      column = 1;
    }
    text += " " + escaped;
    column += escaped.size() + 1;
  }
  text += "\n";
  if (options.phony)
    for (const std::string &input : drop_begin(inputs, inputs.empty() ? 0 : 1))
      text += escapeMake(input) + ":\n";
  return text;
}
