# TILEC_STATIC: tilec carries MLIR and LLVM inside and needs libc, libm, libz and libzstd alone. Included only then.

# Debian's exported static targets name the dylib `LLVM` (and LLVMExtensions `Polly`, whose archive is not installed) among
# what they need: a program would get both the archives and the dylib, and every global twice.
foreach(target IN LISTS MLIR_EXPORTED_TARGETS LLVM_EXPORTED_TARGETS)
  if(TARGET ${target})
    get_target_property(needs ${target} INTERFACE_LINK_LIBRARIES)
    if(needs)
      list(REMOVE_ITEM needs LLVM MLIR Polly "$<LINK_ONLY:LLVM>" "$<LINK_ONLY:MLIR>")
      set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES "${needs}")
    endif()
  endif()
endforeach()

# All archives of MLIR: the linker takes from them what is referenced, so there is no list to keep up to date.
set(TILEC_MLIR_ARCHIVES)
foreach(target IN LISTS MLIR_EXPORTED_TARGETS)
  if(TARGET ${target} AND target MATCHES "^MLIR" AND NOT target MATCHES "CAPI|Test|Python|Lsp|LSP|ExecutionEngine|Jit|Reduce")
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND TILEC_MLIR_ARCHIVES ${target})
    endif()
  endif()
endforeach()

# Target names are case-sensitive here: "x86" would silently become -lLLVMx86.
llvm_map_components_to_libnames(TILEC_LLVM_ARCHIVES core support passes irreader bitreader bitwriter linker ipo object
  target targetparser mc mcparser transformutils binaryformat X86 NVPTX AMDGPU)

find_program(TILEC_LLD ld.lld PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)

# Static for tilec, the release artefact; the tools of developers keep the dylibs.
function(tilec_link_mlir_static name)
  if(NOT name STREQUAL "tilec")
    target_link_libraries(${name} PRIVATE MLIR LLVM)
    return()
  endif()
  target_link_libraries(${name} PRIVATE ${TILEC_MLIR_ARCHIVES} ${TILEC_LLVM_ARCHIVES})
  if(TILEC_LLD)
    target_link_options(${name} PRIVATE --ld-path=${TILEC_LLD})
  endif()
  # as-needed drops what LLVM's targets name in vain: z3 (23 MB), ffi, edit, xml2.
  target_link_options(${name} PRIVATE -Wl,--gc-sections -Wl,--as-needed -static-libstdc++ -static-libgcc)
endfunction()
