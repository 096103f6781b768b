//===- ObjectWriter.h - the relocatable object of a library ---------------------------===//
#ifndef TILEC_TARGET_OBJECTWRITER_H
#define TILEC_TARGET_OBJECTWRITER_H
#include "tilec/Target/Backend.h"
#include "tilec/Target/Manifest.h"

namespace tilec::target {

struct ObjectOptions {
  BackendOptions backend;
  ManifestOptions manifest;
  bool assembly = false; ///< -S: text instead of an object
  bool bundle = false;   ///< also the visible constant `tile_bundle` of runtime/tile_rt_gen.h
};

/// The host code of `hostModule` (after convert-tile-host-to-llvm), the API functions, the constants of
/// runtime/tile_rt_gen.h, the images and the CPU code of all levels in one position-independent object. Only
/// the API functions are visible; it needs nothing but tile_rt_*, memcpy and memset.
llvm::Expected<std::string> emitObject(mlir::ModuleOp hostModule, const Library &library,
                                       const ObjectOptions &options);
/// The same as LLVM IR text (--emit-llvm for the host).
llvm::Expected<std::string> emitHostLLVM(mlir::ModuleOp hostModule, const Library &library,
                                         const ObjectOptions &options);

} // namespace tilec::target
#endif
