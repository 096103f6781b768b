//===- Bundle.cpp - the folder that `tilec tune` and `tilec bench` write ------===//
#include "Bundle.h"
#include "Tuning.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tilec;

using Names = llvm::SetVector<llvm::StringRef>;

/// The tune parameters that are free: their values differ among the points.
static std::vector<std::string> tunedParameters(const hir::Program &program, const hir::Kernel &kernel) {
  std::vector<std::string> names;
  for (auto [i, constant] : llvm::enumerate(kernel.constants))
    if (llvm::any_of(program.points, [&, i = i, &constant = constant](const auto &point) {
          return point->pointOf == kernel.name && i < point->constants.size() &&
                 point->constants[i].value != constant.value;
        }))
      names.push_back(constant.name);
  return names;
}

/// What a call of the kernel needs to know: its extents, and its scalars.
static void namesOf(const hir::Kernel &kernel, Names &extents, Names &scalars) {
  for (const hir::Symbol *symbol : kernel.symbols)
    extents.insert(symbol->name);
  for (const hir::Object *param : kernel.params)
    if (param->kind == hir::Object::Scalar && !extents.contains(param->name))
      scalars.insert(param->name);
}

/// An extent in the runner's terms: extents, scalars and numbers; none for what it does not compute.
static std::optional<std::string> formulaOf(const hir::Expr &e);

static std::optional<std::string> formulaOf(const hir::Binary &e) {
  constexpr llvm::StringLiteral known[] = {"+", "-", "*", "//", "%", "ceildiv", "min", "max"};
  llvm::StringRef op = hir::spelled(e.op);
  std::optional<std::string> x = formulaOf(*e.lhs), y = formulaOf(*e.rhs);
  if (!x || !y || !llvm::is_contained(known, op))
    return std::nullopt;
  return llvm::isAlpha(op.front()) ? (op + "(" + *x + ", " + *y + ")").str()
                                   : ("(" + *x + " " + op + " " + *y + ")").str();
}

static std::optional<std::string> formulaOf(const hir::Expr &e) {
  switch (e.kind) {
  case hir::Expr::IntConst:
    return llvm::itostr(static_cast<const hir::IntConst &>(e).value.getSExtValue());
  case hir::Expr::SymRef:
    return static_cast<const hir::SymRef &>(e).symbol->name;
  case hir::Expr::ObjRef:
    return static_cast<const hir::ObjRef &>(e).object->name;
  case hir::Expr::Cast:
    return formulaOf(*static_cast<const hir::Cast &>(e).operand);
  case hir::Expr::Binary:
    return formulaOf(static_cast<const hir::Binary &>(e));
  default:
    return std::nullopt;
  }
}

static std::vector<std::string> formulasOf(const hir::Kernel &kernel) {
  std::vector<std::string> formulas;
  auto add = [&](llvm::ArrayRef<hir::DimExpr> dims) {
    for (const hir::DimExpr &dim : dims)
      if (dim.expr)
        if (std::optional<std::string> formula = formulaOf(*dim.expr); formula && *formula != dim.text)
          if (std::string line = *formula + " : " + dim.text; !llvm::is_contained(formulas, line))
            formulas.push_back(std::move(line));
  };
  for (const hir::Object *param : kernel.params)
    if (param->kind == hir::Object::Tensor) {
      add(static_cast<const hir::TensorObj *>(param)->dims);
      add(static_cast<const hir::TensorObj *>(param)->strides);
    }
  return formulas;
}

static std::vector<std::pair<llvm::StringRef, llvm::StringRef>> splitShape(llvm::StringRef shape) {
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> parts;
  for (llvm::StringRef part : llvm::split(shape, ','))
    parts.push_back(part.split('='));
  return parts;
}

/// "M=1536 N=1536" of what concerns the kernel; empty when an extent is missing, which goes into `missing`.
static std::string shapeFor(llvm::StringRef shape, const Names &extents, const Names &scalars,
                            Names &missing) {
  std::string text;
  Names given;
  for (auto [name, value] : splitShape(shape))
    if (extents.contains(name) || scalars.contains(name)) {
      given.insert(name);
      text += (text.empty() ? "" : " ") + name.str() + "=" + value.str();
    }
  for (llvm::StringRef name : extents)
    if (!given.contains(name))
      missing.insert(name);
  return missing.empty() ? text : std::string();
}

bool BundlePlan::start(const DriverOptions &options, const hir::Program &program, mlir::ModuleOp module,
                       DiagnosticEngine &diags, std::vector<std::string> &shapes) {
  command = options.command;
  Names known, missing;
  for (const auto &k : program.kernels) {
    Names extents, scalars;
    namesOf(*k, extents, scalars);
    Kernel kernel{k->name, tuningHash(module, k->name), tunedParameters(program, *k), {}, formulasOf(*k)};
    for (const std::string &shape : options.shapes) {
      Names lacks;
      std::string text = shapeFor(shape, extents, scalars, lacks);
      missing.insert(lacks.begin(), lacks.end());
      if (lacks.empty())
        kernel.shapes.push_back(text);
    }
    known.insert(extents.begin(), extents.end());
    known.insert(scalars.begin(), scalars.end());
    if (!kernel.shapes.empty())
      kernels.push_back(std::move(kernel));
  }
  for (const std::string &shape : options.shapes) {
    std::string all = shape;
    std::replace(all.begin(), all.end(), ',', ':');
    shapes.push_back(all);
    for (auto [name, value] : splitShape(shape))
      if (!known.contains(name)) {
        diags.report(diag::E0602, {}, "--shape: no kernel has an extent or a scalar `" + name + "`");
        return false;
      }
  }
  if (kernels.empty()) {
    diags.report(diag::E0602, {},
                 "--shape: no kernel has all its sizes; give also " + llvm::join(missing.takeVector(), ", "));
    return false;
  }
  return true;
}

/// "BM=128 BN=256": the values of the tune parameters.
static std::string valuesOf(llvm::ArrayRef<std::string> names,
                            llvm::ArrayRef<std::pair<std::string, std::string>> constants) {
  std::string text;
  for (const std::string &name : names)
    for (const auto &[constant, value] : constants)
      if (constant == name)
        text += " " + name + "=" + value;
  return text;
}

std::string BundlePlan::text(const target::Library &library) const {
  std::string result;
  llvm::raw_string_ostream os(result);
  os << "tile-plan 1\n" << (command == Command::Tune ? "tune" : "bench") << "\n";
  for (const Kernel &kernel : kernels) {
    auto described = llvm::find_if(library.kernels, [&](const auto &k) { return k.name == kernel.name; });
    size_t index = described - library.kernels.begin();
    os << "kernel " << index << " " << kernel.name << " " << kernel.hash << "\n";
    std::vector<std::string> points; // of several variants each
    for (const target::Image &image : library.images)
      for (const auto &launch : image.variants[index])
        for (const target::Variant &v : launch)
          if (std::string line = image.arch + " " + llvm::utostr(v.point) +
                                 valuesOf(kernel.tuned, v.point ? v.constants : described->constants);
              !llvm::is_contained(points, line))
            points.push_back(std::move(line));
    for (const std::string &point : points)
      os << "point " << point << "\n";
    for (const std::string &formula : kernel.formulas)
      os << "extent " << formula << "\n";
    for (const std::string &shape : kernel.shapes)
      os << "shape " << shape << "\n";
  }
  return result;
}

llvm::Expected<std::string> tilec::linkBundle(llvm::StringRef object, const target::ToolPaths &tools) {
  auto lld = target::findLld(tools);
  if (!lld)
    return lld.takeError();
  auto in = target::TempFile::create(tools, "o", object);
  if (!in)
    return in.takeError();
  auto out = target::TempFile::create(tools, "so");
  if (!out)
    return out.takeError();
  auto result = target::runTool(
      tools, *lld,
      {"-shared", "-z", "noexecstack", "--build-id=none", "-o", out->path().str(), in->path().str()});
  if (!result)
    return result.takeError();
  if (result->exitCode != 0)
    return target::toolError(target::ToolError::Rejected,
                             "ld.lld does not link the bundle: " +
                                 llvm::StringRef(result->output).split('\n').first);
  return out->read();
}

llvm::Expected<std::string> tilec::readRunner(const target::ToolPaths &tools) {
  llvm::SmallString<128> path(tools.executableDir);
  llvm::sys::path::append(path, "tile-bundle-runner");
  if (!llvm::sys::fs::exists(path))
    return target::toolError(target::ToolError::Missing,
                             "tile-bundle-runner, which goes into bundles, is not beside tilec (" +
                                 path.str() + "); build or install it");
  return target::readFile(path);
}
