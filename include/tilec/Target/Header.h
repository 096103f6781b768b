//===- Header.h - the C header of a library -----------------------------------------===//
#ifndef TILEC_TARGET_HEADER_H
#define TILEC_TARGET_HEADER_H
#include "tilec/Target/Kernel.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tilec::target {

struct HeaderOptions {
  /// Name of the header itself ("gemm.h"), for the guard and the #error. Folders do not matter.
  std::string fileName;
};

/// C99 to C23 and C++11 to C++23. Text from the source is data: it cannot end a comment or a string.
std::string emitHeader(const Library &library, const HeaderOptions &options);

/// prefix_kernel, or kernel alone.
std::string apiName(const Library &library, const KernelDesc &kernel);
/// Why `name` cannot be the name of a C function ("a keyword of C++"), or "".
llvm::StringRef reservedCName(llvm::StringRef name);
/// A parameter name that no C or C++ compiler refuses: `name`, or `name_`.
std::string cParameterName(llvm::StringRef name);
/// The C type of a scalar parameter: "int32_t", "float", "uint16_t" for float16, ...
llvm::StringRef cScalarType(DType type);
/// A kernel whose C functions cannot be declared beside the others.
struct NameCollision {
  size_t kernel;    ///< index in Library::kernels
  std::string name; ///< of the C function
  std::string why;  ///< "a keyword of C or C++"
};
std::vector<NameCollision> checkApiNames(const Library &library);
/// Text made harmless inside a C comment; lines are kept.
std::string escapeComment(llvm::StringRef text);

} // namespace tilec::target
#endif
