//===- KernelParams.cpp - parameters, symbolic dimensions, equations ------------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

static bool isAttributeName(llvm::StringRef name) {
  return name == "shape" || name == "block" || name == "grid" || name == "num_threads";
}

/// By its form alone, before any name of the kernel has a meaning.
Elaborator::ParamKind Elaborator::paramKind(const ast::Param &p) {
  if (!p.annotation)
    return ParamKind::LaunchAttribute;
  if (const BuiltinInfo *info = builtinCallee(p.annotation)) {
    if (info->kind == BuiltinKind::Tensor)
      return ParamKind::Tensor;
    if (info->kind == BuiltinKind::StridedTensor)
      return ParamKind::StridedTensor;
    if (info->kind == BuiltinKind::Ptr)
      return ParamKind::Pointer;
  }
  llvm::StringRef name;
  if (auto *bare = llvm::dyn_cast<ast::NameExpr>(p.annotation))
    name = module->names.count(bare->name) ? "" : bare->name;
  else if (auto *attr = llvm::dyn_cast<ast::AttributeExpr>(p.annotation))
    name = attr->attr.text;
  const BuiltinInfo *info = findBuiltin(name);
  if (info && info->kind == BuiltinKind::Const)
    return ParamKind::Const;
  if (info && info->kind == BuiltinKind::DTypeKind)
    return ParamKind::DTypeParam;
  return ParamKind::Scalar;
}

//===----------------------------------------------------------------------===//
// const, dtype, tune
//===----------------------------------------------------------------------===//

/// The default; the candidates go to the tuning space.
Value Elaborator::tuneDefault(llvm::StringRef name, const ast::CallExpr *call) {
  BoundArgs args = bindArgs(*findBuiltin("tune"), call);
  if (!args.ok)
    return Value::poison();
  Value v = eval(args.named[0]->value), candidates = eval(args.named[1]->value);
  if (candidates.isPoison())
    return v;
  if (!candidates.isSequence()) {
    report(diag::E0218, args.named[1]->value->getRange(), "candidates", "a list", describe(candidates));
    return v;
  }
  for (const Value &c : *candidates.items)
    if (!v.isPoison() && c.kind != v.kind)
      report(diag::E0218, args.named[1]->value->getRange(), "candidates", "values of the default's kind",
             repr(c));
  ctx.space.push_back({name.str(), *candidates.items});
  return v;
}

void Elaborator::constParam(const FunctionInfo &fn, const ast::Param &p, bool isDType,
                            const llvm::StringMap<Value> &instance, hir::Kernel &k) {
  llvm::StringRef name = p.name.text;
  const BuiltinInfo *callee = p.defaultValue ? builtinCallee(p.defaultValue) : nullptr;
  bool tune = callee && callee->kind == BuiltinKind::Tune;
  Value v = Value::poison();
  SourceRange where = p.name.range;
  bool given = false;
  if (p.defaultValue) {
    v = tune ? tuneDefault(name, llvm::cast<ast::CallExpr>(p.defaultValue)) : eval(p.defaultValue);
    where = p.defaultValue->getRange();
    given = true;
  }
  auto setTo = [&](Value value) {
    v = std::move(value);
    given = true;
    if (tune && !ctx.space.empty() && ctx.space.back().name == name)
      ctx.space.pop_back(); // no longer free
  };
  if (auto it = instance.find(name); it != instance.end())
    setTo(it->second);
  if (Define *d = ctx.define(fn.def->name.text, name, fn.module->isMain)) {
    Value set = ctx.defineValue(*d);
    bool number = v.isConstNumber() && set.isConstNumber();
    if (given && !isDType && !v.isPoison() && set.kind != v.kind && !number)
      report(diag::E0611, {}, d->name + "=" + d->text, "`" + name.str() + "` is " + describe(v));
    else
      setTo(set);
    given = true;
  }
  if (!given) {
    report(diag::E0140, p.name.range, name);
    v = Value::poison();
  } else if (isDType) {
    auto t = dtypeOf(v, where);
    v = t ? Value::ofDType(*t) : Value::poison();
  } else if (!v.isPoison() && !v.isConstNumber() && v.kind != Value::String && !v.isSequence()) {
    report(diag::E0218, where, name, "an int, float, bool, string or tuple", describe(v));
    v = Value::poison();
  }
  bind(scope, name, Binding::Fixed, v, p.name.range);
  constParamNames.insert(name);
  k.constants.push_back({name.str(), repr(v), tune});
}

void Elaborator::constParams(const FunctionInfo &fn, const llvm::StringMap<Value> &instance, hir::Kernel &k) {
  for (const ast::Param &p : fn.def->params) {
    if (p.kind != ast::Param::Kind::Normal && p.kind != ast::Param::Kind::KeywordOnly &&
        p.kind != ast::Param::Kind::PositionalOnly) {
      report(diag::E0516, p.range, p.kind == ast::Param::Kind::VarArgs ? "*" : "**", p.name.text);
      continue;
    }
    ParamKind kind = paramKind(p);
    if (kind == ParamKind::Const || kind == ParamKind::DTypeParam)
      constParam(fn, p, kind == ParamKind::DTypeParam, instance, k);
  }
  for (const auto &entry : instance)
    if (!constParamNames.contains(entry.getKey()))
      report(diag::E0145, fn.instantiate->getRange(), entry.getKey(), fn.def->name.text);
}

//===----------------------------------------------------------------------===//
// Tensors, pointers, scalars
//===----------------------------------------------------------------------===//

static bool isAscii(llvm::StringRef s) {
  return llvm::all_of(s, [](unsigned char c) { return c < 128; });
}

void Elaborator::runtimeParam(const ast::Param &p, ParamKind kind, hir::Kernel &k) {
  SourceRange where = p.name.range;
  llvm::StringRef name = p.name.text;
  if (!isAscii(name))
    report(diag::E0107, where, name);
  if (p.defaultValue)
    report(diag::E0146, p.defaultValue->getRange(), name);
  hir::Object *o = nullptr;
  auto scalarType = [&](const ast::Expr *e) { return evalDType(e).value_or(DType::F32); };
  if (kind == ParamKind::Scalar || kind == ParamKind::Pointer) {
    DType t = DType::F32;
    if (kind == ParamKind::Scalar) {
      if (llvm::isa<ast::CallExpr>(p.annotation))
        report(diag::E0147, p.annotation->getRange(), text(p.annotation));
      else
        t = scalarType(p.annotation);
    } else {
      BoundArgs args = bindArgs(*findBuiltin("ptr"), llvm::cast<ast::CallExpr>(p.annotation));
      if (args.ok)
        t = scalarType(args.named[0]->value);
    }
    auto *param = makeObject<hir::ParamObj>(
        name, where, t, kind == ParamKind::Scalar ? hir::Object::Scalar : hir::Object::Pointer);
    param->paramIndex = k.params.size();
    mutableParams[param] = param;
    o = param;
  } else {
    auto *tensor = makeObject<hir::TensorObj>(name, where, DType::F32, hir::Object::Tensor);
    tensor->strided = kind == ParamKind::StridedTensor;
    tensor->paramIndex = k.params.size();
    mutableTensors[tensor] = tensor;
    tensors.push_back(tensor);
    o = tensor;
  }
  declared[o] = where;
  k.params.push_back(o);
  Value v = kind == ParamKind::Scalar ? Value::ofExpr(objRef(o, where)) : Value::ofObject(o);
  bind(scope, name, Binding::Fixed, v, where);
}

/// `(K, M) if trans_a else (M, K)`: the side that the const parameters choose.
const ast::Expr *Elaborator::chosen(const ast::Expr *e) {
  while (auto *c = llvm::dyn_cast<ast::ConditionalExpr>(e)) {
    Value v = eval(c->condition);
    if (!v.isConst()) {
      if (!v.isPoison())
        report(diag::E0308, c->condition->getRange(), text(c->condition));
      return c->elseValue;
    }
    e = truth(v) ? c->thenValue : c->elseValue;
  }
  return e;
}

/// Parameters first, then all shapes, then all strides: the order in which symbols are bound (rule 5). Dtypes
/// last: they are expressions that may ask any tensor.
void Elaborator::runtimeParams(const FunctionInfo &fn, hir::Kernel &k) {
  bool attributes = false;
  for (const ast::Param &p : fn.def->params) {
    ParamKind kind = paramKind(p);
    if (kind == ParamKind::LaunchAttribute) {
      if (!isAttributeName(p.name.text) || !p.defaultValue) {
        report(diag::E0148, p.name.range, p.name.text);
        bind(scope, p.name.text, Binding::Fixed, Value::poison(), p.name.range);
      }
      attributes |= isAttributeName(p.name.text); // another one only lacks its type
      continue;
    }
    if (attributes)
      report(diag::E0149, p.name.range, p.name.text);
    if (kind != ParamKind::Const && kind != ParamKind::DTypeParam)
      runtimeParam(p, kind, k);
    else if (!isAscii(p.name.text))
      report(diag::E0107, p.name.range, p.name.text);
  }
  auto forTensors = [&](auto each) {
    size_t at = 0;
    for (const ast::Param &p : fn.def->params) {
      ParamKind kind = paramKind(p);
      if (kind == ParamKind::Tensor || kind == ParamKind::StridedTensor)
        each(tensors[at++], p);
    }
  };
  for (bool strides : {false, true})
    forTensors([&](hir::TensorObj *t, const ast::Param &p) { tensorDims(t, p, strides, k); });
  forTensors([&](hir::TensorObj *t, const ast::Param &p) { tensorDType(t, p); });
  checkSymbols(k);
}

/// The dimensions that a shape or stride argument lists.
static llvm::ArrayRef<const ast::Expr *> listed(const ast::Expr *const &e) {
  if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(e))
    return tuple->elements;
  if (auto *list = llvm::dyn_cast<ast::ListExpr>(e))
    return list->elements;
  return e;
}

void Elaborator::tensorDims(hir::TensorObj *t, const ast::Param &p, bool strides, hir::Kernel &k) {
  auto *call = llvm::cast<ast::CallExpr>(p.annotation);
  if (strides && !t->strided)
    return;
  const BuiltinInfo &info = *findBuiltin(t->strided ? "StridedTensor" : "Tensor");
  // The arguments' form is reported once, with the shapes.
  size_t before = ctx.sink.size();
  BoundArgs args = bindArgs(info, call);
  if (!args.ok || ctx.sink.size() != before) {
    if (t->dims.empty())
      t->dims.push_back({1, nullptr, nullptr, "?"});
    if (t->strided && t->strides.size() != t->dims.size())
      t->strides.assign(t->dims.size(), {1, nullptr, nullptr, "?"});
    return;
  }
  level = Level::Dims;
  const ast::Expr *list = chosen(args.named[strides ? 1 : 0]->value);
  llvm::SmallVectorImpl<hir::DimExpr> &out = strides ? t->strides : t->dims;
  for (const ast::Expr *e : listed(list)) {
    auto *star = llvm::dyn_cast<ast::StarredExpr>(e);
    auto *name = llvm::dyn_cast<ast::NameExpr>(star ? star->value : e);
    Value known =
        name && !symbols.count(name->name) && (findSlot(name->name, true) || module->names.count(name->name))
            ? dimName(name->name, name->getRange())
            : Value::none();
    if (known.isSequence()) {
      for (const Value &item : *known.items)
        out.push_back({item.asInt64().value_or(1), nullptr, nullptr, repr(item)});
      continue;
    }
    out.push_back(dimExpr(e, t, out.size(), strides, k));
  }
  level = Level::Module;
  if (strides) {
    if (out.size() != t->rank()) {
      report(diag::E0150, list->getRange(), t->name, t->rank(), out.size());
      out.resize(t->rank(), {1, nullptr, nullptr, "?"});
    }
    return;
  }
  if (out.size() > 8)
    report(diag::E0221, list->getRange(), "`" + t->name + "`", out.size());
}

void Elaborator::tensorDType(hir::TensorObj *t, const ast::Param &p) {
  auto *call = llvm::cast<ast::CallExpr>(p.annotation);
  // The arguments' form was reported with the shapes.
  size_t before = ctx.sink.size();
  BoundArgs args = bindArgs(*findBuiltin(t->strided ? "StridedTensor" : "Tensor"), call);
  unsigned dtypeAt = t->strided ? 2 : 1;
  if (args.ok && ctx.sink.size() == before && args.named[dtypeAt])
    t->dtype = evalDType(args.named[dtypeAt]->value).value_or(DType::F32);
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

hir::Symbol *Elaborator::symbol(llvm::StringRef name, SourceRange where) {
  hir::Symbol *&s = symbols[name];
  if (s)
    return s;
  s = make<hir::Symbol>();
  s->name = name.str();
  s->loc = loc(where);
  s->index = kernel->symbols.size();
  kernel->symbols.push_back(s);
  if (findBuiltin(name) || bareDType(name) || module->names.count(name))
    report(diag::W0101, where, "the symbolic dimension", name);
  if (Define *d = ctx.define(functionName, name, module->isMain)) {
    auto n = ctx.defineValue(*d).asInt64();
    if (n && *n >= 0)
      s->fixed = *n;
    else
      report(diag::E0611, {}, d->name + "=" + d->text, "`" + name.str() + "` is a dimension: an int from 0");
  }
  return s;
}

/// Rule 4: const, dtype and scalar parameters and module constants; any other name is a symbolic dimension.
Value Elaborator::dimName(llvm::StringRef name, SourceRange where) {
  if (Slot *s = findSlot(name, true)) {
    Value v = flow.get(s->index).value;
    if (v.kind != Value::Object)
      return v;
    report(diag::E0204, where, "a dimension", describe(v));
    return Value::poison();
  }
  auto it = module->names.find(name);
  if (it != module->names.end()) {
    const Value &v = it->second.value;
    bool constant = v.isConstNumber() || v.isSequence() || v.kind == Value::String || v.isPoison();
    if (constant)
      return v;
  }
  hir::Symbol *s = symbol(name, where);
  return s->fixed ? Value::ofInt(*s->fixed) : Value::ofExpr(make<hir::SymRef>(s, loc(where)));
}

hir::DimExpr Elaborator::dimExpr(const ast::Expr *e, hir::TensorObj *t, unsigned axis, bool stride,
                                 hir::Kernel &k) {
  hir::DimExpr d;
  d.text = text(e);
  Value v = eval(e);
  auto *name = llvm::dyn_cast<ast::NameExpr>(e);
  hir::Symbol *bare = name && !findSlot(name->name, true) ? symbols.lookup(name->name) : nullptr;
  if (bare) {
    d.symbol = bare;
    d.constant = bare->fixed;
    if (!boundSymbols.insert(bare).second && !bare->fixed)
      k.equations.push_back({t, axis, stride, make<hir::SymRef>(bare, loc(e->getRange())), d.text});
    return d;
  }
  if (v.isInt()) {
    d.constant = v.asInt64();
    if (!d.constant || (!stride && *d.constant < 0)) {
      report(diag::E0144, e->getRange(), repr(v));
      d.constant = 1;
    }
    return d;
  }
  const hir::Expr *x = toIndex(v, e->getRange(), stride ? "a stride" : "a dimension");
  if (!x) {
    d.constant = 1;
    return d;
  }
  d.expr = x;
  k.equations.push_back({t, axis, stride, x, d.text});
  return d;
}

void Elaborator::checkSymbols(const hir::Kernel &k) {
  for (const hir::Symbol *s : k.symbols) {
    if (!boundSymbols.contains(s))
      report(diag::E0212, ctx.range(s->loc), s->name);
    // In the body it is a name like a parameter.
    SourceRange where = ctx.range(s->loc);
    Value v = s->fixed ? Value::ofInt(*s->fixed) : Value::ofExpr(make<hir::SymRef>(s, s->loc));
    bind(scope, s->name, Binding::Fixed, v, where);
  }
}
