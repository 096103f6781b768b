//===- HIRPrinter.cpp - elaborated kernels as text ------------------------------------===//
//
// For --emit-hir in tests and for debugging: close to .tile syntax, every type and conversion spelled out.
//
//===----------------------------------------------------------------------===//

#include "Value.h"
#include "tilec/Sema/HIR.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tilec::hir;

namespace {
class Printer {
public:
  explicit Printer(llvm::raw_ostream &os) : os(os) {}
  void kernel(const Kernel &k);

private:
  void expr(const Expr *e);
  void list(llvm::ArrayRef<const Expr *> items);
  void stmt(const Stmt *s);
  void block(const Block &b);
  void region(const Region &r);
  void tensor(const TensorObj &t);
  void dims(llvm::ArrayRef<DimExpr> dims);
  void launch(const Launch &l);
  void loop(const For &f);
  void gemm(const Gemm &g);
  llvm::raw_ostream &line() { return os.indent(2 * depth); }

  llvm::raw_ostream &os;
  unsigned depth = 0;
};
} // namespace

template <typename T, typename Node> static const T *as(const Node *n) { return static_cast<const T *>(n); }

const char *tilec::hir::spelled(BinaryOp op) {
  static const char *names[] = {"+", "-", "*",  "/",  "//",  "%",   "truncdiv", "truncmod", "ceildiv", "&",
                                "|", "^", "<<", ">>", "min", "max", "minnum",   "maxnum",   "**"};
  return names[static_cast<unsigned>(op)];
}

static const char *spelled(CompareOp op) {
  static const char *names[] = {"==", "!=", "<", "<=", ">", ">="};
  return names[static_cast<unsigned>(op)];
}

static const char *spelled(MathFn fn) {
  static const char *names[] = {
#define X(e, n, a) n,
      TILEC_MATH_FUNCTIONS(X)
#undef X
  };
  return names[static_cast<unsigned>(fn)];
}

void Printer::list(llvm::ArrayRef<const Expr *> items) {
  llvm::interleave(items, os, [&](const Expr *e) { expr(e); }, ", ");
}

void Printer::expr(const Expr *e) {
  llvm::StringRef type = dtypeShortName(e->type);
  switch (e->kind) {
  case Expr::IntConst:
    as<IntConst>(e)->value.print(os, isSigned(e->type));
    if (e->type != DType::I64)
      os << ":" << type;
    return;
  case Expr::FloatConst:
    os << sema::floatText(as<FloatConst>(e)->value) << ":" << type;
    return;
  case Expr::BoolConst:
    os << (as<BoolConst>(e)->value ? "True" : "False");
    return;
  case Expr::ObjRef:
    os << as<ObjRef>(e)->object->name;
    return;
  case Expr::DimRef:
    os << as<DimRef>(e)->tensor->name << (as<DimRef>(e)->stride ? ".strides[" : ".shape[")
       << as<DimRef>(e)->axis << "]";
    return;
  case Expr::SymRef:
    os << as<SymRef>(e)->symbol->name;
    return;
  case Expr::Unary: {
    UnaryOp op = as<Unary>(e)->op;
    os << (op == UnaryOp::Neg ? "-" : op == UnaryOp::Not ? "not " : "~");
    return expr(as<Unary>(e)->operand);
  }
  case Expr::Binary: {
    auto *b = as<Binary>(e);
    bool call = llvm::isAlpha(spelled(b->op)[0]);
    os << (call ? spelled(b->op) : "") << "(";
    expr(b->lhs);
    os << (call ? ", " : std::string(" ") + spelled(b->op) + " ");
    expr(b->rhs);
    os << ")";
    return;
  }
  case Expr::Compare:
    os << "(";
    expr(as<Compare>(e)->lhs);
    os << " " << spelled(as<Compare>(e)->op) << " ";
    expr(as<Compare>(e)->rhs);
    os << ")";
    return;
  case Expr::Logical:
    os << "(";
    expr(as<Logical>(e)->lhs);
    os << (as<Logical>(e)->isAnd ? " and " : " or ");
    expr(as<Logical>(e)->rhs);
    os << ")";
    return;
  case Expr::Select:
    os << (as<Select>(e)->lazy ? "ifelse(" : "select(");
    list({as<Select>(e)->cond, as<Select>(e)->onTrue, as<Select>(e)->onFalse});
    os << ")";
    return;
  case Expr::Cast:
    os << type << (as<Cast>(e)->saturate ? "(" : "!(");
    expr(as<Cast>(e)->operand);
    os << ")";
    return;
  case Expr::Math:
    os << spelled(as<Math>(e)->fn) << ":" << type << "(";
    list(as<Math>(e)->args);
    os << ")";
    return;
  case Expr::Element:
    os << as<Element>(e)->object->name << "[";
    list(as<Element>(e)->indices);
    os << "]";
    return;
  }
}

void Printer::region(const Region &r) {
  os << r.object->name << "[";
  for (unsigned i = 0; i < r.offsets.size(); ++i) {
    os << (i ? ", " : "");
    expr(r.offsets[i]);
    if (r.dropped[i])
      continue;
    os << " +: " << r.extents[i];
  }
  os << "]";
}

void Printer::block(const Block &b) {
  ++depth;
  for (const Stmt *s : b)
    stmt(s);
  --depth;
}

void Printer::launch(const Launch &l) {
  line() << "launch (";
  list(l.grid);
  os << ") as (";
  llvm::interleave(l.blockIds, os, [&](const VarObj *v) { os << v->name; }, ", ");
  os << ")";
  if (l.threads)
    os << " threads=" << *l.threads;
  if (l.persistent)
    os << " persistent=" << (*l.persistent ? "True" : "False");
  if (l.minBlocks)
    os << " min_blocks=" << *l.minBlocks;
  if (l.panel)
    os << " panel=" << *l.panel << (l.panelColumns ? " columns" : " rows");
  if (!l.cluster.empty()) {
    os << " cluster=";
    llvm::interleave(l.cluster, os, [&](int64_t n) { os << n; }, "x");
  }
  os << ":\n";
  block(l.body);
}

void Printer::loop(const For &f) {
  line() << "for " << f.var->name << " in " << (f.pipelined ? "pipelined(" : "range(");
  list({f.start, f.stop, f.step});
  if (f.numStages)
    os << ", stages=" << *f.numStages << (f.stagesLiteral ? "!" : "");
  os << "):\n";
  block(f.body);
}

void Printer::gemm(const Gemm &g) {
  static const char *precisions[] = {"", " ieee", " tf32", " tf32x3", " bf16x6"};
  static const char *policies[] = {"", " square", " fullrow", " fullcol"};
  line() << "gemm " << g.m << "x" << g.n << "x" << g.k << " ";
  region(g.a);
  os << (g.transA ? "^T, " : ", ");
  region(g.b);
  os << (g.transB ? "^T, " : ", ");
  region(g.c);
  if (g.clearAccum) {
    os << " clear=";
    expr(g.clearAccum);
  }
  os << precisions[static_cast<unsigned>(g.precision)] << policies[static_cast<unsigned>(g.policy)] << "\n";
}

void Printer::stmt(const Stmt *s) {
  static const char *reductions[] = {"sum", "max", "min", "abssum", "absmax", "bitand", "bitor", "bitxor"};
  switch (s->kind) {
  case Stmt::Alloc: {
    auto *o = as<Alloc>(s)->object;
    line() << "alloc " << o->name << ": ";
    if (sema::isTileKind(o->kind))
      os << (o->kind == Object::Shared     ? "shared"
             : o->kind == Object::Fragment ? "fragment"
                                           : "local")
         << sema::shapeText(static_cast<const TileObj *>(o)->shape) << " " << dtypeShortName(o->dtype)
         << "\n";
    else
      os << "workspace " << dtypeShortName(o->dtype) << "\n";
    return;
  }
  case Stmt::Assign:
    line() << as<Assign>(s)->var->name << ": " << dtypeShortName(as<Assign>(s)->var->dtype) << " = ";
    expr(as<Assign>(s)->value);
    os << "\n";
    return;
  case Stmt::StoreElement:
    line() << as<StoreElement>(s)->object->name << "[";
    list(as<StoreElement>(s)->indices);
    os << "] = ";
    expr(as<StoreElement>(s)->value);
    os << "\n";
    return;
  case Stmt::Copy:
    line() << (as<Copy>(s)->transpose ? "transpose " : "copy ");
    region(as<Copy>(s)->src);
    os << " -> ";
    region(as<Copy>(s)->dst);
    os << "\n";
    return;
  case Stmt::Fill:
    line() << "fill ";
    region(as<Fill>(s)->dst);
    os << " = ";
    expr(as<Fill>(s)->value);
    os << "\n";
    return;
  case Stmt::Gemm:
    return gemm(*as<Gemm>(s));
  case Stmt::Reduce: {
    auto *r = as<Reduce>(s);
    line() << "reduce_" << reductions[static_cast<unsigned>(r->op)] << " ";
    region(r->src);
    os << " axis " << r->axis << " -> " << r->dst->name << (r->clear ? "" : " accumulate")
       << (r->nanPropagate ? "" : " nonan") << "\n";
    return;
  }
  case Stmt::For:
    return loop(*as<For>(s));
  case Stmt::Parallel: {
    auto *p = as<Parallel>(s);
    line() << "parallel ";
    llvm::interleave(p->vars, os, [&](const VarObj *v) { os << v->name; }, ", ");
    os << " in (";
    list(p->extents);
    os << "):\n";
    return block(p->body);
  }
  case Stmt::If:
    line() << "if ";
    expr(as<If>(s)->cond);
    os << ":\n";
    block(as<If>(s)->thenBody);
    if (!as<If>(s)->elseBody.empty()) {
      line() << "else:\n";
      block(as<If>(s)->elseBody);
    }
    return;
  case Stmt::Break:
    line() << "break\n";
    return;
  case Stmt::Continue:
    line() << "continue\n";
    return;
  case Stmt::Assume:
    line() << "assume ";
    expr(as<Assume>(s)->cond);
    os << "\n";
    return;
  case Stmt::Launch:
    return launch(*as<Launch>(s));
  }
}

void Printer::dims(llvm::ArrayRef<DimExpr> dims) {
  os << "(";
  for (unsigned i = 0; i < dims.size(); ++i) {
    os << (i ? ", " : "");
    if (dims[i].constant)
      os << *dims[i].constant;
    else if (dims[i].symbol)
      os << dims[i].symbol->name;
    else if (dims[i].expr)
      expr(dims[i].expr);
  }
  os << (dims.size() == 1 ? ",)" : ")");
}

void Printer::tensor(const TensorObj &t) {
  static const char *access[] = {"none", "in", "out", "inout"};
  os << t.name << ": " << access[static_cast<unsigned>(t.access)] << " " << dtypeShortName(t.dtype);
  dims(t.dims);
  if (t.strided) {
    os << " strides";
    dims(t.strides);
  }
  if (t.assumedAlign)
    os << " align " << t.assumedAlign;
  if (t.safeValue) {
    os << " safe ";
    expr(t.safeValue);
  }
}

void Printer::kernel(const Kernel &k) {
  os << "kernel " << k.name << "(";
  for (unsigned i = 0; i < k.params.size(); ++i) {
    os << (i ? ", " : "");
    const Object *o = k.params[i];
    if (o->kind == Object::Tensor)
      tensor(*static_cast<const TensorObj *>(o));
    else
      os << o->name << ": " << (o->kind == Object::Pointer ? "ptr " : "") << dtypeShortName(o->dtype);
  }
  os << ")";
  if (k.inplace)
    os << " inplace";
  if (k.fastMath)
    os << " fast_math";
  if (k.indexBits)
    os << " index_bits=" << k.indexBits;
  os << ":\n";
  ++depth;
  for (const ConstBinding &c : k.constants)
    line() << (c.tune ? "tune " : "const ") << c.name << " = " << c.value << "\n";
  for (const Symbol *s : k.symbols)
    if (s->fixed)
      line() << "symbol " << s->name << " = " << *s->fixed << "\n";
  for (const Kernel::Equation &e : k.equations) {
    line() << "require " << e.tensor->name << (e.stride ? ".strides[" : ".shape[") << e.axis << "] == ";
    expr(e.expr);
    os << "\n";
  }
  --depth;
  block(k.host);
}

void tilec::hir::print(const Program &program, llvm::raw_ostream &os) {
  for (const auto &k : program.kernels)
    Printer(os).kernel(*k);
}
