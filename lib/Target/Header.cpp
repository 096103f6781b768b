//===- Header.cpp - the C header of a library -----------------------------------------===//
#include "tilec/Target/Header.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <set>

using namespace llvm;
using namespace tilec;
using namespace tilec::target;

//===----------------------------------------------------------------------===//
// Text as data
//===----------------------------------------------------------------------===//

/// Characters that reorder the text around them on a screen; compilers warn about them even in comments.
static bool isDirectionMark(StringRef text, size_t i) {
  // U+061C; U+200E, U+200F, U+202A..U+202E; U+2066..U+2069
  StringRef three = text.substr(i, 3), two = text.substr(i, 2);
  if (two == "\xD8\x9C")
    return true;
  if (three.size() < 3 || three[0] != '\xE2')
    return false;
  unsigned char b = three[1], c = three[2];
  return (b == 0x80 && (c == 0x8E || c == 0x8F || (c >= 0xAA && c <= 0xAE))) ||
         (b == 0x81 && c >= 0xA6 && c <= 0xA9);
}

std::string target::escapeComment(StringRef raw) {
  std::string text = json::fixUTF8(raw), result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = text[i];
    char last = result.empty() ? '\n' : result.back();
    if (isDirectionMark(text, i)) {
      i += c == 0xD8 ? 1 : 2;
      result += '?';
      continue;
    }
    if (c == '\r') {
      if (i + 1 < text.size() && text[i + 1] == '\n')
        continue;
      c = '\n';
    }
    if (c == '\n' && last == '\\')
      result += '.'; // not a continued line
    if ((c == '/' && last == '*') || (c == '*' && last == '/') || (c == '?' && last == '?'))
      result += ' ';
    result += c == '\n' ? '\n' : c < 0x20 || c == 0x7F ? ' ' : char(c);
  }
  if (!result.empty() && result.back() == '\\')
    result += '.';
  return result;
}

//===----------------------------------------------------------------------===//
// Names and types
//===----------------------------------------------------------------------===//

std::string target::apiName(const Library &library, const KernelDesc &kernel) {
  return library.prefix.empty() ? kernel.name : library.prefix + "_" + kernel.name;
}

StringRef target::cScalarType(DType type) {
  switch (type) {
  case DType::Bool:
  case DType::U8:
  case DType::E4M3:
  case DType::E5M2:
    return "uint8_t";
  case DType::I8:
    return "int8_t";
  case DType::I16:
    return "int16_t";
  case DType::I32:
    return "int32_t";
  case DType::I64:
    return "int64_t";
  case DType::U16:
  case DType::F16:
  case DType::BF16:
    return "uint16_t";
  case DType::U32:
    return "uint32_t";
  case DType::U64:
    return "uint64_t";
  case DType::F32:
    return "float";
  case DType::F64:
    return "double";
  }
  return "void";
}

/// TILE_GEN_<PREFIX>_<FILE>_H. Names that lose something on the way to upper case get a hash, so that two
/// headers never share a guard.
static std::string guardName(const Library &library, StringRef fileName) {
  StringRef stem = sys::path::filename(fileName);
  stem.consume_back(".h");
  std::string key = library.prefix.empty() ? stem.str() : library.prefix + "_" + stem.str();
  std::string name = "TILE_GEN";
  bool lossless = !key.empty();
  char last = '_';
  for (char c : "_" + key) {
    char upper = isAlnum(c) ? toUpper(c) : '_';
    lossless &= isDigit(c) || isLower(c) || c == '_';
    if (upper == '_' && last == '_' && name.back() == '_')
      lossless = false;
    else
      name += upper;
    last = upper;
  }
  while (name.back() == '_') {
    name.pop_back();
    lossless = false;
  }
  if (!lossless)
    name += "_" + utohexstr(xxh3_64bits(key), /*LowerCase=*/false, 16);
  return name + "_H";
}

namespace {

/// The C parameters of one kernel, named so that no two collide.
struct Parameters {
  SmallVector<std::string> declarations;

  explicit Parameters(const KernelDesc &kernel) {
    std::set<std::string> used = {"launch", "bytes", "device"};
    for (const Arg &arg : kernel.args) {
      std::string base = cParameterName(arg.name), name = base;
      if (used.count(name) && !StringRef(base).ends_with("_"))
        name = base += "_";
      for (unsigned n = 2; !used.insert(name).second; ++n)
        name = base + utostr(n);
      declarations.push_back(typeOf(arg) + name);
    }
  }

  static std::string typeOf(const Arg &arg) {
    switch (arg.kind) {
    case Arg::Tensor:
      return "const tile_tensor *";
    case Arg::Pointer:
      return "void *";
    case Arg::Scalar:
      break;
    }
    return cScalarType(arg.dtype).str() + " ";
  }

  /// `first`, the kernel's own, `last`; "void" when there is none. Wrapped at 100 columns.
  std::string list(StringRef first, StringRef last, size_t indent) const {
    SmallVector<std::string> all;
    if (!first.empty())
      all.push_back(first.str());
    append_range(all, declarations);
    if (!last.empty())
      all.push_back(last.str());
    if (all.empty())
      return "void";
    std::string text;
    size_t column = indent;
    for (size_t i = 0; i < all.size(); ++i) {
      std::string item = all[i] + (i + 1 < all.size() ? "," : "");
      if (i && column + 1 + item.size() > 98) {
        text += "\n" + std::string(indent, ' ');
        column = indent;
      } else if (i) {
        text += " ";
        ++column;
      }
      text += item;
      column += item.size();
    }
    return text;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Comments
//===----------------------------------------------------------------------===//

static void commentLines(raw_ostream &os, StringRef text) {
  // Split first: the line prefix must not meet an escape.
  std::string safe = escapeComment(text);
  for (StringRef line : split(StringRef(safe).trim('\n'), '\n'))
    os << (" * " + line.rtrim().str() + "\n");
}

/// Long lines of our own making, broken at blanks.
static std::string wrap(StringRef text) {
  std::string result;
  size_t column = 0;
  for (StringRef word : split(text, ' ')) {
    bool fits = column + 1 + word.size() <= 95;
    if (column)
      result += fits ? " " : "\n  ";
    column = fits || !column ? column + (column != 0) + word.size() : 2 + word.size();
    result += word;
  }
  return result;
}

static StringRef accessName(Arg::Access access) {
  switch (access) {
  case Arg::In:
    return "in";
  case Arg::Out:
    return "out";
  case Arg::InOut:
    return "inout";
  case Arg::None:
    break;
  }
  return "not used";
}

static std::string argumentLine(const Arg &arg) {
  std::string text = arg.name + ": ";
  if (arg.kind == Arg::Scalar) {
    text += dtypeName(arg.dtype).str();
    if (isFloat(arg.dtype) && dtypeBits(arg.dtype) < 32)
      text += " as its bits";
    return text;
  }
  if (arg.kind == Arg::Pointer)
    return text + "pointer to " + dtypeName(arg.dtype).str();
  auto dims = [](ArrayRef<Dim> list) {
    std::string s = "(";
    for (size_t i = 0; i < list.size(); ++i)
      s += (i ? ", " : "") + list[i].text;
    return s + (list.size() == 1 ? ",)" : ")");
  };
  text += dtypeName(arg.dtype).str() + " " + dims(arg.dims);
  if (arg.strided)
    text += " strides " + dims(arg.strides);
  if (arg.align > 1)
    text += ", aligned to " + itostr(arg.align) + " bytes";
  return text + ", " + accessName(arg.access).str();
}

static bool hasVariant(const Image &image, size_t kernel) {
  return kernel < image.variants.size() &&
         any_of(image.variants[kernel], [](const auto &launch) { return !launch.empty(); });
}

static void kernelComment(raw_ostream &os, const Library &library, size_t index) {
  const KernelDesc &kernel = library.kernels[index];
  os << "/*\n";
  commentLines(os, wrap(kernel.signature.empty() ? kernel.name : kernel.signature));
  if (!StringRef(kernel.doc).trim().empty()) {
    os << " *\n";
    commentLines(os, StringRef(kernel.doc).trim());
  }
  os << " *\n";
  commentLines(os, "Source: " + kernel.file + ":" + utostr(kernel.line));
  for (const Arg &arg : kernel.args)
    commentLines(os, "  " + argumentLine(arg));
  if (!kernel.constants.empty()) {
    SmallVector<std::string> texts;
    for (const auto &[name, value] : kernel.constants)
      texts.push_back(name + " = " + value);
    commentLines(os, wrap("With " + join(texts, ", ") + "."));
  }
  for (const std::string &condition : kernel.preconditions)
    commentLines(os, "Requires: " + condition);
  if (kernel.inplace)
    commentLines(os, "A written tensor may be the same as another argument.");
  SmallVector<StringRef> images;
  for (const Image &image : library.images)
    if (hasVariant(image, index) && !is_contained(images, image.arch))
      images.push_back(image.arch);
  if (!images.empty())
    commentLines(os, "Images: " + join(images, ", ") + ".");
  commentLines(os, kernel.needsWorkspace
                       ? "Workspace: as many bytes as " + apiName(library, kernel) + "_workspace() says."
                       : std::string("Workspace: none."));
  os << " */\n";
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

static void declare(raw_ostream &os, StringRef type, const Twine &name, const Parameters &parameters,
                    StringRef first, StringRef last) {
  std::string start = (type + name + "(").str();
  os << start << parameters.list(first, last, start.size()) << ");\n";
}

static void kernelDeclarations(raw_ostream &os, const Library &library, size_t index) {
  const KernelDesc &kernel = library.kernels[index];
  std::string name = apiName(library, kernel);
  Parameters parameters(kernel);
  StringRef status = "TILE_NODISCARD TILE_API tile_status ";
  kernelComment(os, library, index);
  declare(os, status, name, parameters, "const tile_launch *launch", "");
  os << "/* All checks that need no device; touches no tensor data. */\n";
  declare(os, status, name + "_check", parameters, "", "");
  os << "/* Bytes of workspace for these shapes and scalars; data pointers may be NULL. */\n";
  declare(os, status, name + "_workspace", parameters, "", "uint64_t *bytes");
  os << "/* Optional: loads the device code now instead of at the first launch. */\n";
  os << status << name << "_load(tile_device device);\n";
  os << "/* What is known about the kernel, as static JSON. */\n";
  os << "TILE_API const char *" << name << "_manifest(void);\n\n";
}

std::string target::emitHeader(const Library &library, const HeaderOptions &options) {
  std::string text;
  raw_string_ostream os(text);
  std::string guard = guardName(library, options.fileName);
  os << "/*\n";
  commentLines(os, "Generated by tilec from " + library.module + ". Do not edit.");
  os << " */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#include <tile_rt.h>\n\n"
     << "#if TILE_RT_ABI != " << kRuntimeABI << "\n"
     << "#error \"this header belongs to tile runtime ABI " << kRuntimeABI
     << ": compile the .tile file with the tilec of this tile_rt.h\"\n"
     << "#endif\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  for (size_t i = 0; i < library.kernels.size(); ++i)
    kernelDeclarations(os, library, i);
  os << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}

std::vector<NameCollision> target::checkApiNames(const Library &library) {
  std::vector<NameCollision> collisions;
  std::set<std::string> used;
  for (size_t i = 0; i < library.kernels.size(); ++i) {
    std::string name = apiName(library, library.kernels[i]);
    if (StringRef why = reservedCName(name); !why.empty())
      collisions.push_back({i, name, why.str()});
    for (StringRef suffix : {"", "_check", "_workspace", "_load", "_manifest"})
      if (!used.insert(name + suffix.str()).second)
        collisions.push_back({i, name + suffix.str(), "also a function of another kernel"});
  }
  return collisions;
}
