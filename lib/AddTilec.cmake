# How every library and tool of tilec is declared: flags, precompiled header, and the two ways of linking MLIR.

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
add_definitions(${LLVM_DEFINITIONS})

set(TILEC_CXX_FLAGS -fvisibility-inlines-hidden -Wall -Wextra -Wno-unused-parameter)
if(TILEC_WERROR)
  list(APPEND TILEC_CXX_FLAGS -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Without the time stamp ccache can cache the users of a precompiled header.
  list(APPEND TILEC_CXX_FLAGS "SHELL:-Xclang -fno-pch-timestamp")
endif()
if(TILEC_SANITIZE)
  # LLVM's allocators poison memory only when LLVM itself is built with ASan, so user poisoning stays off at run time.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
set(CMAKE_BUILD_RPATH ${LLVM_LIBRARY_DIR})
# ODR-used everywhere, changed by nobody: the MLIR headers are the bulk of each compilation.
set(TILEC_USE_PCH ON)
if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(TILEC_USE_PCH OFF) # g++'s precompiled headers cost more than they save (61 s, 3.7 GB)
endif()

# tilec_library(NAME sources... [NO_PCH] [EXCEPTIONS] [DEPENDS tablegen-targets...] [LINK libs...])
# NO_PCH: for code that sees no MLIR header. EXCEPTIONS: only for the users of ANTLR.
function(tilec_library name)
  cmake_parse_arguments(ARG "NO_PCH;EXCEPTIONS" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${TILEC_CXX_FLAGS}>)
  if(NOT ARG_EXCEPTIONS)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  endif()
  if(TILEC_USE_PCH AND NOT ARG_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM TilecPCH)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# tilec_tool(NAME sources... [PCH] LINK libs...): an executable in build/bin that links the tilec libraries named and MLIR + LLVM.
# PCH: for code that sees MLIR headers. The precompiled header is position-independent code of a library, and so is its user.
function(tilec_tool name)
  cmake_parse_arguments(ARG "PCH" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${TILEC_CXX_FLAGS} -fno-exceptions)
  if(TILEC_USE_PCH AND ARG_PCH)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
    target_precompile_headers(${name} REUSE_FROM TilecPCH)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  tilec_link_mlir(${name})
endfunction()

# Dynamic for development: only the two complete dylibs, never mixed with component archives.
function(tilec_link_mlir name)
  if(TILEC_STATIC)
    tilec_link_mlir_static(${name})
  else()
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
endfunction()

if(TILEC_STATIC)
  include(${PROJECT_SOURCE_DIR}/lib/StaticMLIR.cmake)
endif()
