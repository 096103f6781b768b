//===- Scan.h - what statements assign, use and leave ------------------------===//
//
// Control flow of the language is structured, so SSA form needs no search for phis: a loop or branch carries
// what its statements assign and somebody else can see. These are the walks that tell.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_MLIRGEN_SCAN_H
#define TILEC_LIB_MLIRGEN_SCAN_H
#include "tilec/Sema/HIR.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace tilec::mlirgen {

/// Something that the environment gives a value: an object (slot 0; element i of a local array: slot i) or a
/// flag of a loop (its statement, with kAlive or kGo).
using Key = std::pair<const void *, unsigned>;
using Keys = llvm::SetVector<Key>;

inline constexpr unsigned kAlive = 0; ///< of a loop body: no `continue` or `break` has been met in this trip
inline constexpr unsigned kGo = 1;    ///< of a loop: no `break` has been met

inline Key keyOf(const hir::Object *object, unsigned slot = 0) { return {object, slot}; }

/// What `stmts` assign, in order of first appearance. `loop` is the loop whose `break` and `continue` they
/// may hold; `escaping` are loop variables that are read after their loop.
void collectAssigned(llvm::ArrayRef<const hir::Stmt *> stmts, const hir::Stmt *loop,
                     const llvm::DenseSet<const hir::Object *> &escaping, Keys &keys);

/// May these statements leave the current trip or the loop around them?
struct Jumps {
  bool any = false, breaks = false;
};
Jumps findJumps(llvm::ArrayRef<const hir::Stmt *> stmts);
inline Jumps findJumps(const hir::Stmt *stmt) { return findJumps(llvm::ArrayRef(stmt)); }

/// Pre-order visits.
void forEachStmt(llvm::ArrayRef<const hir::Stmt *> stmts, llvm::function_ref<void(const hir::Stmt *)> fn);
/// The expressions that stand directly in `stmt`, not in statements inside of it.
void forEachOperand(const hir::Stmt *stmt, llvm::function_ref<void(const hir::Expr *)> fn);
void forEachExpr(const hir::Expr *expr, llvm::function_ref<void(const hir::Expr *)> fn);

/// How often each object is mentioned, as operand or target.
using UseCounts = llvm::DenseMap<const hir::Object *, unsigned>;
void countUses(llvm::ArrayRef<const hir::Stmt *> stmts, UseCounts &counts);

/// Local arrays have one slot per element.
int64_t numSlots(const hir::Object *object);

} // namespace tilec::mlirgen
#endif
