//===- Sema.cpp - analyze(): modules, instances, walks until types stand --------------===//

#include "tilec/Sema/Sema.h"
#include "Elaborator.h"
#include "ModuleAnalyzer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tilec;
using namespace tilec::sema;

void Context::analyzeModule(ModuleScope &m) {
  m.loading = true;
  ModuleAnalyzer(*this, m).run();
  m.loading = false;
}

//===----------------------------------------------------------------------===//
// Instances (rule 62)
//===----------------------------------------------------------------------===//

namespace {
struct Instance {
  std::string name;
  llvm::StringMap<Value> values;
};
} // namespace

/// What a key's value adds to the C name; "" for False.
static std::string namePart(llvm::StringRef key, const Value &v) {
  switch (v.kind) {
  case Value::DTypeName:
    return dtypeShortName(v.dtype).str();
  case Value::Bool:
    return v.boolean ? key.str() : "";
  case Value::Int:
    return key.str() + (v.integer.isNegative() ? "m" + intText(v.integer).substr(1) : intText(v.integer));
  case Value::String:
    return *v.text;
  case Value::Float: {
    std::string text = floatText(v.number);
    for (char &c : text)
      c = c == '.' ? 'p' : c == '-' ? 'm' : c == '+' ? '_' : c;
    return key.str() + text;
  }
  default:
    return key.str();
  }
}

static bool crossProduct(Context &ctx, const FunctionInfo &fn, std::vector<Instance> &instances) {
  instances.assign(1, {fn.def->name.text.str(), {}});
  if (!fn.instantiate)
    return true;
  Settled settled;
  Elaborator e(ctx, *fn.module, settled);
  for (const ast::Argument &a : fn.instantiate->args) {
    Value v = a.keyword.empty() ? Value::poison() : e.eval(a.value);
    if (!v.isSequence() || v.items->empty()) {
      if (a.keyword.empty() || !v.isPoison())
        ctx.sink.report(diag::E0152, a.range);
      return false;
    }
    std::vector<Instance> next;
    if (instances.size() * v.items->size() > 1000) {
      ctx.sink.report(diag::E0306, a.range, "instances of a kernel", 1000);
      return false;
    }
    for (const Instance &before : instances)
      for (const Value &value : *v.items) {
        Instance i = before;
        std::string part = namePart(a.keyword.text, value);
        i.name += part.empty() ? "" : "_" + part;
        i.values[a.keyword.text] = value;
        next.push_back(std::move(i));
      }
    instances = std::move(next);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Walks until no type and no kind of a local changes. Each walk only raises them, so this ends.
static std::unique_ptr<hir::Kernel> settle(Context &ctx, const FunctionInfo &fn, const Instance &instance) {
  constexpr unsigned maxWalks = 200;
  Settled settled;
  for (unsigned walk = 0; walk < maxWalks; ++walk) {
    ctx.sink.clear();
    settled.changed = false;
    ctx.raceWork = 0;
    ctx.space.clear();
    size_t mark = ctx.program->mark();
    Elaborator elaborator(ctx, *fn.module, settled);
    std::unique_ptr<hir::Kernel> kernel = elaborator.elaborate(fn, instance.values);
    if (!settled.changed && !settled.resolveWeak()) {
      ctx.statements += elaborator.statements();
      return kernel;
    }
    kernel.reset();
    ctx.program->release(mark);
  }
  ctx.sink.clear();
  ctx.sink.report(diag::E0309, fn.def->name.range, fn.def->name.text, maxWalks);
  return nullptr;
}

/// All points of the space that the elaboration of `instance` found; none where they are too many.
static std::vector<Instance> pointsOf(Context &ctx, const FunctionInfo &fn, const Instance &instance) {
  constexpr size_t most = 1024;
  std::vector<Instance> points{instance};
  for (const FreeTune &tune : ctx.space) {
    if (tune.candidates.empty())
      continue;
    if (points.size() * tune.candidates.size() > most) {
      ctx.sink.report(diag::E0306, fn.def->name.range, "points in a tuning space", most);
      return {};
    }
    std::vector<Instance> next;
    for (const Instance &point : points)
      for (const Value &value : tune.candidates) {
        next.push_back(point);
        next.back().values[tune.name] = value;
      }
    points = std::move(next);
  }
  return points;
}

/// Elaborates `kernel` at the other points of its tuning space. A point whose source says no, by a
/// static_assert or otherwise, is none.
static void addPoints(Context &ctx, const FunctionInfo &fn, const Instance &instance,
                      const hir::Kernel &kernel, unsigned statements) {
  std::vector<Instance> points = pointsOf(ctx, fn, instance);
  if (points.size() <= 1)
    return;
  if (points.size() * statements > Budget::maxFileStatements) {
    ctx.sink.report(diag::E0306, fn.def->name.range, "statements at all points of a tuning space",
                    Budget::maxFileStatements);
    return;
  }
  unsigned number = 0, before = ctx.statements;
  for (const Instance &point : points) {
    size_t mark = ctx.program->mark();
    std::unique_ptr<hir::Kernel> other = settle(ctx, fn, point);
    bool allowed = other && !ctx.sink.hasErrors();
    ctx.sink.clear();
    auto same = [](const hir::ConstBinding &x, const hir::ConstBinding &y) { return x.value == y.value; };
    if (!allowed || std::equal(other->constants.begin(), other->constants.end(), kernel.constants.begin(),
                               kernel.constants.end(), same)) {
      other.reset();
      ctx.program->release(mark);
      continue;
    }
    other->name = kernel.name + ".t" + std::to_string(++number);
    other->pointOf = kernel.name;
    ctx.program->points.push_back(std::move(other));
  }
  ctx.statements = before;
}

/// The function's name, or what @kernel(name=..) calls it.
static std::string exportedName(Context &ctx, const FunctionInfo &fn) {
  std::string name = fn.def->name.text.str();
  if (!fn.kernelCall)
    return name;
  Settled settled;
  Elaborator e(ctx, *fn.module, settled);
  for (const ast::Argument &a : fn.kernelCall->args)
    if (a.keyword.text == "name")
      if (Value v = e.eval(a.value); v.kind == Value::String)
        name = *v.text;
  ctx.sink.clear(); // said again when the kernel is elaborated
  return name;
}

/// --kernel takes a kernel with all its instances or one instance, under the function's or the exported name.
static bool wanted(Context &ctx, const FunctionInfo &fn, llvm::StringRef instance,
                   llvm::StringMap<bool> &used) {
  const std::vector<std::string> &asked = ctx.options.kernels;
  if (asked.empty())
    return true;
  llvm::StringRef own = fn.def->name.text;
  std::string exported = exportedName(ctx, fn);
  bool found = false;
  for (const std::string &name :
       {own.str(), instance.str(), exported, exported + instance.substr(own.size()).str()})
    if (llvm::is_contained(asked, name)) {
      used[name] = true;
      found = true;
    }
  return found;
}

void Context::analyzeKernels() {
  std::vector<const FunctionInfo *> kernels = main->kernels;
  // An imported kernel only when it is asked for.
  std::vector<std::string> imported;
  for (const auto &entry : main->names) {
    const Value &v = entry.second.value;
    if (v.kind == Value::Function && !v.function->isMacro && v.function->module != main &&
        llvm::is_contained(options.kernels, entry.getKey()))
      imported.push_back(entry.getKey().str());
  }
  llvm::sort(imported);
  for (const std::string &name : imported)
    kernels.push_back(main->names[name].value.function);
  llvm::StringMap<bool> used;
  llvm::StringMap<SourceRange> names;
  for (const FunctionInfo *fn : kernels) {
    std::vector<Instance> instances;
    bool ok = crossProduct(*this, *fn, instances);
    sink.flush(engine);
    if (!ok)
      continue;
    for (const Instance &instance : instances) {
      if (!wanted(*this, *fn, instance.name, used))
        continue;
      unsigned before = statements;
      std::unique_ptr<hir::Kernel> kernel = settle(*this, *fn, instance);
      bool failed = sink.hasErrors() || !kernel;
      sink.flush(engine);
      if (failed)
        continue;
      // @kernel(name=..) stands for the function's name.
      kernel->name = kernel->sourceName + instance.name.substr(fn->def->name.text.size());
      auto [it, fresh] = names.try_emplace(kernel->name, fn->def->name.range);
      if (!fresh)
        sink.report(diag::E0153, fn->def->name.range, kernel->name)
            .note(it->second, "the other one is defined here");
      sink.flush(engine);
      if (options.points)
        addPoints(*this, *fn, instance, *kernel, statements - before);
      program->kernels.push_back(std::move(kernel));
      sink.flush(engine);
    }
  }
  for (const std::string &name : options.kernels)
    if (!used.count(name))
      sink.report(diag::E0612, {}, name);
  sink.flush(engine);
}

std::unique_ptr<hir::Program> tilec::analyze(const ast::Module &module, const SemaOptions &options,
                                             DiagnosticEngine &diags) {
  unsigned errorsBefore = diags.numErrors();
  Context ctx(options, diags);
  for (const auto &[name, text] : options.defines) {
    auto [scope, bare] = llvm::StringRef(name).rsplit('.');
    ctx.defines.push_back({bare.empty() ? "" : scope.str(), bare.empty() ? name : bare.str(), text});
  }
  llvm::SmallString<128> real;
  if (llvm::sys::fs::real_path(module.getPath(), real))
    real = module.getPath();
  std::unique_ptr<ModuleScope> &entry = ctx.modules[std::string(real)];
  entry = std::make_unique<ModuleScope>();
  ctx.main = entry.get();
  ctx.main->ast = &module;
  ctx.main->path = module.getPath().str();
  ctx.main->name = llvm::sys::path::stem(module.getPath()).str();
  ctx.main->isMain = true;
  ctx.program->moduleName = llvm::sys::path::filename(module.getPath()).str();
  if (module.docstring)
    ctx.program->moduleDoc = module.docstring->value.str();
  ctx.analyzeModule(*ctx.main);
  ctx.sink.flush(diags);
  ctx.analyzeKernels();
  for (const Define &d : ctx.defines)
    if (!d.used && diags.numErrors() == errorsBefore)
      diags.report(
          diag::E0611, {}, (d.scope.empty() ? "" : d.scope + ".") + d.name + "=" + d.text,
          "nothing that can be set has this name: module constants, const, dtype and tune parameters, "
          "symbolic dimensions");
  if (diags.numErrors() != errorsBefore)
    return nullptr;
  return std::move(ctx.program);
}
