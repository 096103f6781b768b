//===- Access.cpp - which tensors a kernel reads and writes (rule 60) -----------------===//

#include "Elaborator.h"

using namespace tilec;
using namespace tilec::sema;

namespace {
struct Uses {
  llvm::DenseSet<const hir::Object *> read, written;
  llvm::DenseSet<const hir::Expr *> seen; ///< expressions share operands
  void visit(const hir::Block &block);
  void visit(const hir::Stmt *s);
  void visit(const hir::Expr *e);
  void region(const hir::Region &r, bool write) {
    (write ? written : read).insert(r.object);
    for (const hir::Expr *e : r.offsets)
      visit(e);
  }
};
} // namespace

template <typename T, typename Node> static const T *as(const Node *n) { return static_cast<const T *>(n); }

void Uses::visit(const hir::Expr *e) {
  if (!e || !seen.insert(e).second)
    return;
  switch (e->kind) {
  case hir::Expr::Unary:
    return visit(as<hir::Unary>(e)->operand);
  case hir::Expr::Cast:
    return visit(as<hir::Cast>(e)->operand);
  case hir::Expr::Binary:
    visit(as<hir::Binary>(e)->lhs);
    return visit(as<hir::Binary>(e)->rhs);
  case hir::Expr::Compare:
    visit(as<hir::Compare>(e)->lhs);
    return visit(as<hir::Compare>(e)->rhs);
  case hir::Expr::Logical:
    visit(as<hir::Logical>(e)->lhs);
    return visit(as<hir::Logical>(e)->rhs);
  case hir::Expr::Select:
    visit(as<hir::Select>(e)->cond);
    visit(as<hir::Select>(e)->onTrue);
    return visit(as<hir::Select>(e)->onFalse);
  case hir::Expr::Math:
    for (const hir::Expr *a : as<hir::Math>(e)->args)
      visit(a);
    return;
  case hir::Expr::Element:
    read.insert(as<hir::Element>(e)->object);
    for (const hir::Expr *i : as<hir::Element>(e)->indices)
      visit(i);
    return;
  default:
    return;
  }
}

void Uses::visit(const hir::Stmt *s) {
  switch (s->kind) {
  case hir::Stmt::Assign:
    return visit(as<hir::Assign>(s)->value);
  case hir::Stmt::StoreElement: {
    auto *x = as<hir::StoreElement>(s);
    written.insert(x->object);
    for (const hir::Expr *i : x->indices)
      visit(i);
    return visit(x->value);
  }
  case hir::Stmt::Copy:
    region(as<hir::Copy>(s)->src, false);
    return region(as<hir::Copy>(s)->dst, true);
  case hir::Stmt::Fill:
    region(as<hir::Fill>(s)->dst, true);
    return visit(as<hir::Fill>(s)->value);
  case hir::Stmt::Gemm:
    return; // tiles only
  case hir::Stmt::Reduce:
    return;
  case hir::Stmt::For: {
    auto *f = as<hir::For>(s);
    for (const hir::Expr *e : {f->start, f->stop, f->step})
      visit(e);
    return visit(f->body);
  }
  case hir::Stmt::Parallel:
    for (const hir::Expr *e : as<hir::Parallel>(s)->extents)
      visit(e);
    return visit(as<hir::Parallel>(s)->body);
  case hir::Stmt::If:
    visit(as<hir::If>(s)->cond);
    visit(as<hir::If>(s)->thenBody);
    return visit(as<hir::If>(s)->elseBody);
  case hir::Stmt::Assume:
    return visit(as<hir::Assume>(s)->cond);
  case hir::Stmt::Launch:
    return visit(as<hir::Launch>(s)->body);
  default:
    return;
  }
}

void Uses::visit(const hir::Block &block) {
  for (const hir::Stmt *s : block)
    visit(s);
}

/// Never written: in (an unused tensor too). Written and never read: out.
void tilec::sema::computeAccess(hir::Kernel &kernel, llvm::ArrayRef<hir::TensorObj *> tensors) {
  Uses uses;
  uses.visit(kernel.host);
  for (hir::TensorObj *t : tensors) {
    bool written = uses.written.contains(t), read = uses.read.contains(t);
    t->access = !written ? hir::Access::In : read ? hir::Access::InOut : hir::Access::Out;
  }
}
