//===- Tuning.cpp - measurements of points, from files that tuning wrote ------===//
// docs/Tuning.md describes the format. A line names its point by the values of the tune parameters: numbers
// of points change with every edit of the source.
#include "Tuning.h"
#include "tilec/Dialect/Tile/IR/Tile.h"
#include "tilec/Support/Target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

using namespace tilec;
using namespace tilec::tile;

/// The kernel with the defaults, then the other points.
static llvm::SmallVector<KernelOp> pointsOf(mlir::ModuleOp module, llvm::StringRef name) {
  llvm::SmallVector<KernelOp> points;
  if (auto base = module.lookupSymbol<KernelOp>(name); base && !base->hasAttr(TileDialect::kPointOfAttrName))
    points.push_back(base);
  else
    return points;
  for (KernelOp kernel : module.getOps<KernelOp>())
    if (auto of = kernel->getAttrOfType<mlir::StringAttr>(TileDialect::kPointOfAttrName))
      if (of.getValue() == name)
        points.push_back(kernel);
  return points;
}

std::string tilec::tuningHash(mlir::ModuleOp module, llvm::StringRef name) {
  llvm::SHA256 hash;
  for (KernelOp kernel : pointsOf(module, name)) {
    mlir::OwningOpRef<KernelOp> copy(kernel.clone());
    (*copy)->removeAttr(TileDialect::kDocAttrName); // words change nothing
    (*copy)->removeAttr(TileDialect::kMeasuredAttrName);
    std::string text;
    llvm::raw_string_ostream os(text);
    (*copy)->print(os, mlir::OpPrintingFlags().useLocalScope());
    hash.update(text);
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true).substr(0, 32);
}

namespace {

/// One file on its way into attributes.
class TuningReader {
public:
  TuningReader(mlir::ModuleOp module, const DriverOptions &options, llvm::SourceMgr &sources, uint32_t buffer,
               DiagnosticEngine &diags, int64_t &order)
      : module(module), options(options), buffer(buffer), diags(diags), order(order),
        text(sources.getMemoryBuffer(buffer)->getBuffer()),
        file(sources.getMemoryBuffer(buffer)->getBufferIdentifier()) {}

  bool run();

private:
  using Pairs = llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>>;

  SourceRange rangeOf(llvm::StringRef part) const {
    uint32_t begin = part.data() - text.data();
    return {buffer, begin, begin + uint32_t(part.size())};
  }
  bool wrong(llvm::StringRef part, const llvm::Twine &message) {
    diags.report(diag::E0614, rangeOf(part), message.str());
    return false;
  }
  bool readPairs(llvm::StringRef part, llvm::StringRef what, Pairs &pairs);
  bool header(llvm::StringRef line);
  bool section(llvm::StringRef line);
  bool measurement(llvm::StringRef line);
  bool readSizes(llvm::StringRef part, mlir::NamedAttrList &sizes);
  KernelOp findPoint(llvm::StringRef part, const Pairs &values);
  void warnOfVersions();

  mlir::ModuleOp module;
  const DriverOptions &options;
  uint32_t buffer;
  DiagnosticEngine &diags;
  int64_t &order; ///< of measurements in all files
  llvm::StringRef text, file;
  // Of the section that is read:
  llvm::SmallVector<KernelOp> points; ///< empty: it is for something that is not compiled
  llvm::StringRef target;
  bool inSection = false, useful = false;
  /// Sections for another version of a kernel, by kernel: their hashes. Those that fit are no longer in it.
  struct Version {
    std::string kernel, found, wanted;
    SourceRange range;
    bool fits;
  };
  llvm::SmallVector<Version> versions;
};

} // namespace

/// "M=1536 N=1536"
bool TuningReader::readPairs(llvm::StringRef part, llvm::StringRef what, Pairs &pairs) {
  llvm::SmallVector<llvm::StringRef> words;
  part.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : words) {
    auto [name, value] = word.split('=');
    if (name.empty() || value.empty())
      return wrong(word, "expected NAME=VALUE, found `" + word + "`");
    if (llvm::any_of(pairs, [name = name](const auto &known) { return known.first == name; }))
      return wrong(word, "`" + name + "` stands twice");
    pairs.push_back({name, value});
  }
  return pairs.empty() ? wrong(part, "expected " + what + " as NAME=VALUE") : true;
}

bool TuningReader::header(llvm::StringRef line) {
  if (line == "tile-tuning 1")
    return true;
  if (line.starts_with("tile-tuning "))
    return wrong(line, "this tilec reads version 1 of tuning files, not `" + line.substr(12) + "`");
  return wrong(line, "a tuning file starts with `tile-tuning 1`");
}

/// "kernel NAME TARGET HASH"
bool TuningReader::section(llvm::StringRef line) {
  llvm::SmallVector<llvm::StringRef> words;
  line.split(words, ' ', -1, /*KeepEmpty=*/false);
  if (words.size() != 4)
    return wrong(line, "expected `kernel NAME TARGET HASH`");
  if (!llvm::is_contained(targetNames(), words[2]))
    return wrong(words[2], "unknown target `" + words[2] + "`; did you mean `" + nearestTarget(words[2]) +
                               "`? (--list-archs prints all)");
  if (words[3].size() != 32 || !llvm::all_of(words[3], llvm::isHexDigit))
    return wrong(words[3], "expected a hash of 32 hexadecimal digits");
  inSection = true;
  target = words[2];
  points.clear();
  if (!llvm::is_contained(options.targets, target.str()))
    return true;
  points = pointsOf(module, words[1]);
  if (points.empty())
    return true;
  useful = true;
  std::string hash = tuningHash(module, words[1]);
  versions.push_back({words[1].str(), words[3].str(), hash, rangeOf(line), hash == words[3]});
  if (hash != words[3])
    points.clear();
  return true;
}

bool TuningReader::readSizes(llvm::StringRef part, mlir::NamedAttrList &sizes) {
  Pairs pairs;
  if (!readPairs(part, "sizes", pairs))
    return false;
  KernelOp base = points.front();
  mlir::Builder b(module.getContext());
  for (auto [name, value] : pairs) {
    std::optional<KernelOp::NamedSize> size = base.findSize(name);
    if (!size)
      return wrong(name, "`" + base.getSymName() + "` has no extent and no scalar `" + name + "`");
    double number = 0;
    int64_t n = 0;
    if (!size->axis && !base.getArgumentTypes()[size->argument].isInteger()) { // floats decide nothing
      if (value.getAsDouble(number))
        return wrong(value, "expected a number, found `" + value + "`");
      continue;
    }
    if (value.getAsInteger(10, n) || (size->axis && n < 0))
      return wrong(value, "expected a size, found `" + value + "`");
    sizes.set(name, b.getI64IntegerAttr(n));
  }
  return true;
}

/// The one point with these values; null after an error.
KernelOp TuningReader::findPoint(llvm::StringRef part, const Pairs &values) {
  llvm::SmallVector<KernelOp> fitting;
  for (KernelOp kernel : points) {
    auto constants = kernel->getAttrOfType<mlir::DictionaryAttr>(TileDialect::kInstanceAttrName);
    if (llvm::all_of(values, [&](const auto &v) {
          auto value = constants ? constants.getAs<mlir::StringAttr>(v.first) : mlir::StringAttr();
          return value && value.getValue() == v.second;
        }))
      fitting.push_back(kernel);
  }
  if (fitting.size() == 1)
    return fitting.front();
  wrong(part, fitting.empty() ? "`" + points.front().getSymName() + "` has no point with these values"
                              : llvm::Twine(fitting.size()) + " points of `" + points.front().getSymName() +
                                    "` have these values; give those of the other tune parameters, too");
  return {};
}

/// "M=1536 N=1536 K=1536 : BM=128 BN=192 BK=64 : whatever else is known"
bool TuningReader::measurement(llvm::StringRef line) {
  if (!inSection)
    return wrong(line, "expected `kernel NAME TARGET HASH`");
  auto [left, rest] = line.split(':');
  llvm::StringRef middle = rest.split(':').first.trim();
  left = left.trim();
  if (middle.empty())
    return wrong(line, "expected `SIZES : VALUES`, as in `M=1536 N=1536 : BM=128 BN=256`");
  if (points.empty())
    return true;
  mlir::NamedAttrList sizes;
  Pairs values;
  if (!readSizes(left, sizes) || !readPairs(middle, "values of tune parameters", values))
    return false;
  KernelOp point = findPoint(middle, values);
  if (!point)
    return false;
  mlir::Builder b(module.getContext());
  mlir::NamedAttrList entry;
  entry.set("order", b.getI64IntegerAttr(order++));
  entry.set("target", b.getStringAttr(target));
  entry.set("sizes", sizes.getDictionary(b.getContext()));
  llvm::SmallVector<mlir::Attribute> list;
  if (auto before = point->getAttrOfType<mlir::ArrayAttr>(TileDialect::kMeasuredAttrName))
    list.assign(before.begin(), before.end());
  list.push_back(entry.getDictionary(b.getContext()));
  point->setAttr(TileDialect::kMeasuredAttrName, b.getArrayAttr(list));
  return true;
}

/// A file may hold several versions of a kernel (of other -D): a warning only where none is the one compiled.
void TuningReader::warnOfVersions() {
  for (const Version &v : versions) {
    bool served = llvm::any_of(versions, [&](const Version &o) { return o.kernel == v.kernel && o.fits; });
    if (!served)
      diags.report(diag::W0602, v.range, v.kernel, v.found, v.wanted);
  }
  if (!useful)
    diags.report(diag::W0603, {}, file);
}

bool TuningReader::run() {
  bool begun = false;
  llvm::StringRef rest = text;
  while (!rest.empty()) {
    llvm::StringRef line;
    std::tie(line, rest) = rest.split('\n');
    line = line.split('#').first.trim();
    if (line.empty())
      continue;
    bool good = !begun ? header(line) : line.starts_with("kernel ") ? section(line) : measurement(line);
    if (!good)
      return false;
    begun = true;
  }
  if (!begun)
    return wrong(text.take_front(0), "a tuning file starts with `tile-tuning 1`");
  warnOfVersions();
  return true;
}

bool tilec::readTuning(mlir::ModuleOp module, const DriverOptions &options, llvm::SourceMgr &sources,
                       DiagnosticEngine &diags, bool &missing) {
  bool good = true;
  int64_t order = 0;
  for (const std::string &path : options.tuningFiles) {
    auto read = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/true);
    if (read && llvm::sys::fs::is_directory(path))
      read = std::make_error_code(std::errc::is_a_directory);
    if (!read) {
      diags.report(diag::E0604, {}, path, read.getError().message());
      missing = true;
      return false;
    }
    uint32_t buffer = sources.AddNewSourceBuffer(std::move(*read), llvm::SMLoc());
    good &= TuningReader(module, options, sources, buffer, diags, order).run();
  }
  return good;
}
