//===- LayoutDetail.h - helpers shared by the layout sources ----------------===//

#ifndef TILEC_LIB_SUPPORT_LAYOUTDETAIL_H
#define TILEC_LIB_SUPPORT_LAYOUTDETAIL_H

#include "tilec/Support/Layout.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

namespace tilec::layout_detail {

/// Records the reason and fails.
inline llvm::LogicalResult refuse(std::string *why, const llvm::Twine &reason) {
  if (why)
    *why = reason.str();
  return llvm::failure();
}

inline int64_t lowMask(unsigned bits) { return (int64_t(1) << bits) - 1; }
/// Number of bits of x >= 0.
inline unsigned bitLength(int64_t x) { return x ? llvm::Log2_64(x) + 1 : 0; }
inline bool isPow2(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }
inline unsigned log2Of(int64_t x) { return llvm::Log2_64(x); }

/// Does a digit with vector \p next continue a run of \p n values with vector \p v?
inline bool continues(int64_t n, const Layout::Vec &v, const Layout::Vec &next) {
  for (unsigned i = 0; i < v.size(); ++i)
    if (next[i] != n * v[i])
      return false;
  return true;
}

inline bool isZero(const Layout::Vec &v) {
  for (int64_t c : v)
    if (c)
      return false;
  return true;
}

} // namespace tilec::layout_detail

#endif // TILEC_LIB_SUPPORT_LAYOUTDETAIL_H
