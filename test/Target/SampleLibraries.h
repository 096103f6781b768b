//===- SampleLibraries.h - libraries written by hand ------------------------------===//
#ifndef TILEC_TEST_TARGET_SAMPLELIBRARIES_H
#define TILEC_TEST_TARGET_SAMPLELIBRARIES_H
#include "tilec/Target/Kernel.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

/// "axpy": one kernel for the CPU; "tables": every kind of entry of the generated constants; "hostile": text
/// that tries to get out of comments and strings; "names": C keywords as parameters; "clashes": kernels whose
/// C names cannot be.
std::optional<tilec::target::Library> sampleLibrary(llvm::StringRef name);

#endif
