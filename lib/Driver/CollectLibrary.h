//===- CollectLibrary.h - what the outputs say about kernels and images ------===//
#ifndef TILEC_DRIVER_COLLECTLIBRARY_H
#define TILEC_DRIVER_COLLECTLIBRARY_H
#include "mlir/IR/BuiltinOps.h"
#include "tilec/Sema/HIR.h"
#include "tilec/Target/CPUBackend.h"
#include "tilec/Target/Kernel.h"

namespace tilec {

/// The kernels of `program` with the launches that outlining cut out of them in `module` (host and device
/// kernels).
std::vector<target::KernelDesc> describeKernels(const hir::Program &program, mlir::ModuleOp module);

/// An empty image with a place for each launch.
target::Image makeImage(const target::Library &library, const TargetDesc &target);

/// Variants of a GPU module at stage LLVM: what its functions say in tile.params, tile.conditions, ...
void collectVariants(mlir::ModuleOp module, const target::Library &library, target::Image &image);

/// The same for CPU code.
void collectVariants(const target::CPUObject &object, const target::Library &library, target::Image &image);

} // namespace tilec
#endif
