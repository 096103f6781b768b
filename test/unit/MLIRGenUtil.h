//===- MLIRGenUtil.h - HIR by hand, for tests of MLIRGen ---------------------===//
#ifndef TILEC_TEST_UNIT_MLIRGENUTIL_H
#define TILEC_TEST_UNIT_MLIRGENUTIL_H
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "tilec/MLIRGen/MLIRGen.h"
#include "gtest/gtest.h"

namespace tilec::test {
using namespace tilec::hir;

/// Builds one kernel. Statements go to the innermost open block.
struct HIRBuilder {
  Program program;
  Kernel *kernel;
  std::vector<hir::Block *> open;
  unsigned nextId = 0, line = 1;
  llvm::SmallVector<For *> openLoops;

  explicit HIRBuilder(std::string name) {
    program.moduleName = name + ".tile";
    program.kernels.push_back(std::make_unique<Kernel>());
    kernel = program.kernels.back().get();
    kernel->name = kernel->sourceName = std::move(name);
    open.push_back(&kernel->host);
  }

  Loc loc() {
    Loc l;
    l.line = ++line;
    l.col = 1;
    return l;
  }
  template <typename T> T *add(T *stmt) {
    open.back()->push_back(stmt);
    return stmt;
  }

  // Objects.
  Symbol *symbol(std::string name) {
    auto *s = program.make<Symbol>();
    s->name = std::move(name);
    s->index = kernel->symbols.size();
    kernel->symbols.push_back(s);
    return s;
  }
  DimExpr dim(const Symbol *s) {
    DimExpr d;
    d.symbol = s;
    d.text = s->name;
    return d;
  }
  DimExpr dim(int64_t n) {
    DimExpr d;
    d.constant = n;
    d.text = std::to_string(n);
    return d;
  }
  TensorObj *tensor(std::string name, DType t, std::initializer_list<DimExpr> dims,
                    Access access = Access::In) {
    auto *o = program.make<TensorObj>();
    init(o, std::move(name), t);
    o->dims.assign(dims.begin(), dims.end());
    o->access = access;
    o->paramIndex = kernel->params.size();
    kernel->params.push_back(o);
    return o;
  }
  ParamObj *scalar(std::string name, DType t) {
    auto *o = program.make<ParamObj>(Object::Scalar);
    init(o, std::move(name), t);
    o->paramIndex = kernel->params.size();
    kernel->params.push_back(o);
    return o;
  }
  TileObj *tile(Object::Kind kind, std::string name, DType t, Shape shape) {
    auto *o = program.make<TileObj>(kind);
    init(o, std::move(name), t);
    o->shape = std::move(shape);
    add(program.make<Alloc>(o, loc()));
    return o;
  }
  TileObj *shared(std::string name, DType t, Shape shape) {
    return tile(Object::Shared, name, t, std::move(shape));
  }
  TileObj *fragment(std::string name, DType t, Shape shape) {
    return tile(Object::Fragment, name, t, std::move(shape));
  }
  VarObj *var(std::string name, DType t = DType::I64, Object::Kind kind = Object::Var) {
    auto *o = program.make<VarObj>(kind);
    init(o, std::move(name), t);
    return o;
  }
  void init(Object *o, std::string name, DType t) {
    o->name = std::move(name);
    o->dtype = t;
    o->id = nextId++;
    o->loc = loc();
  }

  // Expressions.
  const Expr *num(int64_t v, DType t = DType::I64) {
    return program.make<IntConst>(llvm::APInt(dtypeBits(t), v, true, true), t, loc());
  }
  const Expr *real(double v, DType t = DType::F32) { return program.make<FloatConst>(v, t, loc()); }
  const Expr *truth(bool v) { return program.make<BoolConst>(v, loc()); }
  const Expr *ref(const Object *o) { return program.make<ObjRef>(o, loc()); }
  const Expr *sym(const Symbol *s) { return program.make<SymRef>(s, loc()); }
  const Expr *bin(BinaryOp op, const Expr *a, const Expr *b) {
    return program.make<Binary>(op, a, b, a->type, loc());
  }
  const Expr *plus(const Expr *a, const Expr *b) { return bin(BinaryOp::Add, a, b); }
  const Expr *times(const Expr *a, const Expr *b) { return bin(BinaryOp::Mul, a, b); }
  const Expr *ceildiv(const Expr *a, int64_t b) { return bin(BinaryOp::CeilDiv, a, num(b)); }
  const Expr *cmp(CompareOp op, const Expr *a, const Expr *b) {
    return program.make<Compare>(op, a, b, loc());
  }
  const Expr *cast(const Expr *e, DType t) { return program.make<Cast>(e, t, true, loc()); }
  const Expr *math(MathFn f, const Expr *e) {
    return program.make<Math>(f, llvm::ArrayRef<const Expr *>(e), e->type, loc());
  }
  const Expr *el(const Object *o, llvm::ArrayRef<const Expr *> at) {
    return program.make<Element>(o, at, loc());
  }

  // Regions.
  Region whole(const TileObj *o) {
    Region r;
    r.object = o;
    r.extents = o->shape;
    r.offsets.assign(o->shape.size(), num(0));
    r.dropped.assign(o->shape.size(), false);
    r.whole = true;
    return r;
  }
  Region part(const Object *o, llvm::ArrayRef<const Expr *> at, Shape extents) {
    Region r;
    r.object = o;
    r.offsets.assign(at.begin(), at.end());
    r.dropped.assign(extents.size(), false);
    r.extents = std::move(extents);
    return r;
  }

  // Statements.
  void assign(const VarObj *v, const Expr *e) { add(program.make<Assign>(v, e, loc())); }
  void store(const Object *o, llvm::ArrayRef<const Expr *> at, const Expr *v) {
    add(program.make<StoreElement>(o, at, v, loc()));
  }
  Copy *copy(Region from, Region to) { return add(program.make<Copy>(from, to, loc())); }
  void fill(const TileObj *o, const Expr *v) { add(program.make<Fill>(whole(o), v, loc())); }
  Gemm *gemm(Region a, Region b, Region c, int64_t m, int64_t n, int64_t k) {
    auto *g = program.make<Gemm>(loc());
    g->a = a;
    g->b = b;
    g->c = c;
    g->m = m;
    g->n = n;
    g->k = k;
    return add(g);
  }
  Reduce *reduce(ReduceOp op, Region src, const TileObj *dst, unsigned axis) {
    return add(program.make<Reduce>(op, src, dst, axis, loc()));
  }
  void loop(const VarObj *v, const Expr *lo, const Expr *hi, llvm::function_ref<void(For *)> body,
            int64_t step = 1) {
    auto *f = program.make<For>(loc());
    f->var = v;
    f->start = lo;
    f->stop = hi;
    f->step = num(step);
    f->stepNegative = step < 0;
    add(f);
    open.push_back(&f->body);
    body(f);
    open.pop_back();
  }
  void nest(llvm::ArrayRef<const VarObj *> vars, llvm::ArrayRef<const Expr *> extents,
            llvm::function_ref<void()> body) {
    auto *p = program.make<Parallel>(loc());
    p->vars.assign(vars.begin(), vars.end());
    p->extents.assign(extents.begin(), extents.end());
    add(p);
    open.push_back(&p->body);
    body();
    open.pop_back();
  }
  void when(const Expr *cond, llvm::function_ref<void()> yes, llvm::function_ref<void()> no = nullptr) {
    auto *i = program.make<If>(cond, loc());
    add(i);
    open.push_back(&i->thenBody);
    yes();
    open.back() = &i->elseBody;
    if (no)
      no();
    open.pop_back();
  }
  void launch(llvm::ArrayRef<const Expr *> grid, llvm::ArrayRef<const VarObj *> ids,
              llvm::function_ref<void()> body) {
    auto *l = program.make<Launch>(loc());
    l->grid.assign(grid.begin(), grid.end());
    l->blockIds.assign(ids.begin(), ids.end());
    add(l);
    open.push_back(&l->body);
    body();
    open.pop_back();
  }

  /// The kernel as text, after canonicalization; empty if it does not verify.
  std::string print(bool canonical = true) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    mlir::OwningOpRef<mlir::ModuleOp> module = mlirgen::generate(context, program);
    std::string text;
    llvm::raw_string_ostream os(text);
    if (!module)
      return text;
    if (failed(mlir::verify(*module))) {
      module->print(llvm::errs(), mlir::OpPrintingFlags().assumeVerified());
      return text;
    }
    if (canonical) {
      mlir::PassManager pm(&context);
      pm.addPass(mlir::createCanonicalizerPass());
      pm.addPass(mlir::createCSEPass());
      if (failed(pm.run(*module)))
        return text;
    }
    module->print(os);
    return text;
  }
};

/// The pieces appear in `text` in this order.
inline ::testing::AssertionResult inOrder(llvm::StringRef text, llvm::ArrayRef<llvm::StringRef> pieces) {
  size_t from = 0;
  for (llvm::StringRef piece : pieces) {
    size_t at = text.find(piece, from);
    if (at == llvm::StringRef::npos)
      return ::testing::AssertionFailure() << "no '" << piece.str() << "' after offset " << from << " in\n"
                                           << text.str();
    from = at + piece.size();
  }
  return ::testing::AssertionSuccess();
}

} // namespace tilec::test
#endif
