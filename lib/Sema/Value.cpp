//===- Value.cpp - compile-time values: making, comparing, printing -------------------===//

#include "Value.h"
#include "Builtins.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tilec;
using namespace tilec::sema;

Value Value::ofInt(llvm::APSInt v) {
  Value r = of(Int);
  r.integer = std::move(v);
  return r;
}

Value Value::ofFloat(double v) {
  Value r = of(Float);
  r.number = v;
  return r;
}

Value Value::ofBool(bool v) {
  Value r = of(Bool);
  r.boolean = v;
  return r;
}

Value Value::ofString(std::string v) {
  Value r = of(String);
  r.text = std::make_shared<const std::string>(std::move(v));
  return r;
}

Value Value::ofDType(DType t) {
  Value r = of(DTypeName);
  r.dtype = t;
  return r;
}

Value Value::ofItems(Kind kind, ValueList v) {
  Value r = of(kind);
  r.items = std::make_shared<const ValueList>(std::move(v));
  return r;
}

Value Value::ofExpr(const hir::Expr *e, Weak weak) {
  Value r = of(Expr);
  r.expr = e;
  r.dtype = e->type;
  r.weak = weak;
  return r;
}

Value Value::ofObject(const hir::Object *o) {
  Value r = of(Object);
  r.object = o;
  r.dtype = o->dtype;
  return r;
}

Value Value::ofBuiltin(const BuiltinInfo *b) {
  Value r = of(Builtin);
  r.builtin = b;
  return r;
}

Value Value::ofFunction(const FunctionInfo *f) {
  Value r = of(Function);
  r.function = f;
  return r;
}

bool Value::isConst() const {
  switch (kind) {
  case Expr:
  case Object:
  case Poison:
    return false;
  case Tuple:
  case List:
    for (const Value &v : *items)
      if (!v.isConst())
        return false;
    return true;
  default:
    return true;
  }
}

bool Value::isTile() const { return kind == Object && isTileKind(object->kind); }
bool Value::isTensor() const { return kind == Object && isTensorKind(object->kind); }

std::optional<int64_t> Value::asInt64() const {
  if (kind != Int || !integer.isSignedIntN(64))
    return std::nullopt;
  return integer.getSExtValue();
}

bool tilec::sema::identical(const Value &a, const Value &b) {
  if (a.kind != b.kind)
    return false;
  switch (a.kind) {
  case Value::Poison:
  case Value::None:
  case Value::ModuleAlias:
  case Value::PolicyClass:
    return true;
  case Value::Int:
    return llvm::APSInt::isSameValue(a.integer, b.integer);
  case Value::Float:
    return a.number == b.number || (std::isnan(a.number) && std::isnan(b.number));
  case Value::Bool:
    return a.boolean == b.boolean;
  case Value::String:
    return *a.text == *b.text;
  case Value::DTypeName:
    return a.dtype == b.dtype;
  case Value::Tuple:
  case Value::List:
    if (a.items == b.items)
      return true;
    if (a.items->size() != b.items->size())
      return false;
    for (size_t i = 0; i < a.items->size(); ++i)
      if (!identical((*a.items)[i], (*b.items)[i]))
        return false;
    return true;
  case Value::Policy:
    return a.policy == b.policy;
  case Value::Expr:
    return a.expr == b.expr;
  case Value::Object:
    return a.object == b.object;
  case Value::Builtin:
    return a.builtin == b.builtin;
  case Value::Function:
    return a.function == b.function;
  }
  return false;
}

bool tilec::sema::truth(const Value &v) {
  switch (v.kind) {
  case Value::Poison:
  case Value::None:
    return false;
  case Value::Int:
    return !v.integer.isZero();
  case Value::Float:
    return v.number != 0;
  case Value::Bool:
    return v.boolean;
  case Value::String:
    return !v.text->empty();
  case Value::Tuple:
  case Value::List:
    return !v.items->empty();
  default:
    return true;
  }
}

std::string tilec::sema::intText(const llvm::APSInt &v) {
  llvm::SmallString<32> text;
  v.toString(text, 10);
  if (text.size() > 60) // a 4096-bit number helps nobody in a message
    return (text.substr(0, 24) + "..." + text.substr(text.size() - 24)).str();
  return std::string(text);
}

std::string tilec::sema::floatText(double v) {
  if (std::isnan(v))
    return "nan";
  if (std::isinf(v))
    return v < 0 ? "-inf" : "inf";
  char buffer[40];
  for (int precision = 1; precision <= 17; ++precision) {
    std::snprintf(buffer, sizeof buffer, "%.*g", precision, v);
    if (std::strtod(buffer, nullptr) == v)
      break;
  }
  // Python writes an exponent below 1e-4 and from 1e16.
  double magnitude = std::fabs(v);
  if (std::strchr(buffer, 'e') && magnitude >= 1e-4 && magnitude < 1e16) {
    int decimals = 0;
    do
      std::snprintf(buffer, sizeof buffer, "%.*f", decimals++, v);
    while (std::strtod(buffer, nullptr) != v);
  }
  std::string text = buffer;
  if (text.find_first_of(".en") == std::string::npos)
    text += ".0";
  return text;
}

static std::string quoted(llvm::StringRef text) {
  std::string out = "'";
  llvm::raw_string_ostream os(out);
  for (char c : text.take_front(200)) {
    if (c == '\'' || c == '\\')
      os << '\\' << c;
    else if (c == '\n')
      os << "\\n";
    else if (static_cast<unsigned char>(c) < 32 || c == 127)
      os << "\\x" << llvm::hexdigit(static_cast<unsigned char>(c) >> 4, true) << llvm::hexdigit(c & 15, true);
    else
      os << c;
  }
  os << (text.size() > 200 ? "..." : "") << '\'';
  return out;
}

static void printItems(const Value &v, unsigned depth, std::string &out);

static void printValue(const Value &v, unsigned depth, std::string &out) {
  switch (v.kind) {
  case Value::Poison:
    out += "?";
    return;
  case Value::None:
    out += "None";
    return;
  case Value::Int:
    out += intText(v.integer);
    return;
  case Value::Float:
    out += floatText(v.number);
    return;
  case Value::Bool:
    out += v.boolean ? "True" : "False";
    return;
  case Value::String:
    out += quoted(*v.text);
    return;
  case Value::DTypeName:
    out += dtypeName(v.dtype);
    return;
  case Value::Tuple:
  case Value::List:
    printItems(v, depth, out);
    return;
  case Value::Policy:
    out += "GemmWarpPolicy";
    return;
  case Value::Object:
    out += v.object->name;
    return;
  case Value::Builtin:
    out += v.builtin->name;
    return;
  default:
    out += describe(v);
  }
}

static void printItems(const Value &v, unsigned depth, std::string &out) {
  bool tuple = v.kind == Value::Tuple;
  out += tuple ? "(" : "[";
  size_t shown = 0;
  for (const Value &item : *v.items) {
    if (shown)
      out += ", ";
    if (depth > 8 || out.size() > 400) {
      out += "...";
      break;
    }
    printValue(item, depth + 1, out);
    ++shown;
  }
  if (tuple && v.items->size() == 1)
    out += ",";
  out += tuple ? ")" : "]";
}

std::string tilec::sema::repr(const Value &v) {
  std::string out;
  printValue(v, 0, out);
  return out;
}

static std::string describeObject(const Value &v) {
  std::string dtype = dtypeName(v.dtype).str();
  switch (v.object->kind) {
  case hir::Object::Pointer:
    return "a pointer to " + dtype;
  case hir::Object::Shared:
    return "a shared tile of " + dtype;
  case hir::Object::Fragment:
    return "a fragment of " + dtype;
  case hir::Object::Local:
    return "a local array of " + dtype;
  default:
    return "a tensor of " + dtype;
  }
}

std::string tilec::sema::describe(const Value &v) {
  switch (v.kind) {
  case Value::Poison:
    return "an erroneous value";
  case Value::None:
    return "None";
  case Value::Int:
    return "an int";
  case Value::Float:
    return "a float";
  case Value::Bool:
    return "a bool";
  case Value::String:
    return "a string";
  case Value::DTypeName:
    return "a dtype";
  case Value::Tuple:
    return "a tuple";
  case Value::List:
    return "a list";
  case Value::Policy:
  case Value::PolicyClass:
    return "a GemmWarpPolicy";
  case Value::Expr:
    return "a run-time " + dtypeName(v.dtype).str();
  case Value::Object:
    return describeObject(v);
  case Value::Builtin:
    return "the built-in `" + v.builtin->name.str() + "`";
  case Value::ModuleAlias:
    return "a module";
  case Value::Function:
    return "a function";
  }
  return "a value";
}

std::string tilec::sema::shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string out = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + (shape.size() == 1 ? ",)" : ")");
}
