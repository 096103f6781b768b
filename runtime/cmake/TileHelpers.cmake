# tile_add_library(): .tile sources become an ordinary CMake library target.
#
#   tile_add_library(name [STATIC|SHARED|OBJECT]
#     SOURCES a.tile [sub/b.tile ...]
#     [ARCH cpu sm_90a compute_90 gfx942 ...]   default: ${TILE_ARCHITECTURES}, else tilec's own default
#     [PREFIX p]            C names become p_kernel; needed when two targets of a build compile one source
#     [IMPORT_DIRS dirs...] where `import` looks, relative to the current source folder
#     [TUNING files...]     measurements by `tilec tune`, relative to the current source folder
#     [OPTIONS opts...]     further options for tilec
#     [DEPENDS deps...]     further files or targets the sources depend on
#     [MANIFEST outvar])    also write the manifests; outvar gets the list of JSON files
#
# A source sub/b.tile gives the header <sub/b.h>. Consumers link `name`; it brings Tile::rt and the include folder.
include_guard(GLOBAL)

set(TILE_ARCHITECTURES "${TILE_ARCHITECTURES}" CACHE STRING "Default ARCH of tile_add_library, like sm_90a;gfx942")

function(_tile_check_arguments name)
  if(NOT TARGET Tile::tilec)
    message(FATAL_ERROR "tile_add_library(${name}): there is no tilec; set TILE_TILEC to its path")
  endif()
  if(T_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tile_add_library(${name}): unknown arguments: ${T_UNPARSED_ARGUMENTS}")
  endif()
  if(T_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "tile_add_library(${name}): no value for ${T_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT T_SOURCES)
    message(FATAL_ERROR "tile_add_library(${name}): SOURCES is missing")
  endif()
  # A misspelt keyword after SOURCES would pass for a source.
  foreach(source IN LISTS T_SOURCES)
    if(NOT source MATCHES "\\.tile$")
      message(FATAL_ERROR "tile_add_library(${name}): ${source} is neither a keyword nor a .tile file")
    endif()
  endforeach()
  set(types 0)
  foreach(type STATIC SHARED OBJECT)
    if(T_${type})
      math(EXPR types "${types} + 1")
    endif()
  endforeach()
  if(types GREATER 1)
    message(FATAL_ERROR "tile_add_library(${name}): STATIC, SHARED and OBJECT exclude each other")
  endif()
endfunction()

# Where the outputs of a source go, relative to the output folder: its own path below the current source folder, so that
# two sources may have one stem.
function(_tile_output_stem name source absolute out)
  cmake_path(IS_PREFIX CMAKE_CURRENT_SOURCE_DIR "${absolute}" NORMALIZE inside)
  if(inside)
    cmake_path(RELATIVE_PATH absolute BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE relative)
  else()
    cmake_path(GET absolute FILENAME relative)
  endif()
  cmake_path(REMOVE_EXTENSION relative LAST_ONLY)
  set(${out} "${relative}" PARENT_SCOPE)
endfunction()

# Two targets that compile one source under one prefix would define the same symbols.
function(_tile_claim name absolute)
  string(MD5 key "${absolute}|${T_PREFIX}")
  get_property(owner GLOBAL PROPERTY TILE_SOURCE_${key})
  if(owner)
    message(FATAL_ERROR "tile_add_library(${name}): ${absolute} is already compiled for target ${owner} with the same "
                        "names; give one of the two another PREFIX")
  endif()
  set_property(GLOBAL PROPERTY TILE_SOURCE_${key} "${name}")
endfunction()

function(tile_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 T "STATIC;SHARED;OBJECT" "PREFIX;MANIFEST" "SOURCES;ARCH;IMPORT_DIRS;TUNING;OPTIONS;DEPENDS")
  _tile_check_arguments(${name})
  if(NOT T_ARCH)
    set(T_ARCH ${TILE_ARCHITECTURES})
  endif()
  list(JOIN T_ARCH "," arch)
  set(flags "")
  if(arch)
    list(APPEND flags "--arch=${arch}")
  endif()
  if(T_PREFIX)
    list(APPEND flags "--symbol-prefix=${T_PREFIX}")
  endif()
  foreach(dir IN LISTS T_IMPORT_DIRS)
    cmake_path(ABSOLUTE_PATH dir BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND flags "-I${dir}")
  endforeach()
  set(tuning "")
  foreach(file IN LISTS T_TUNING)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND tuning "${file}")
    list(APPEND flags "--tuning=${file}")
  endforeach()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.tile.dir")
  set(objects "")
  set(headers "")
  set(manifests "")
  foreach(source IN LISTS T_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE absolute)
    _tile_claim(${name} "${absolute}")
    _tile_output_stem(${name} "${source}" "${absolute}" stem)
    set(object "${folder}/${stem}.o")
    set(header "${folder}/include/${stem}.h")
    if(object IN_LIST objects)
      message(FATAL_ERROR "tile_add_library(${name}): two sources would both write ${object}")
    endif()
    set(outputs "${object}" "${header}")
    set(wanted "-o" "${object}" "--emit-header=${header}")
    if(T_MANIFEST)
      list(APPEND outputs "${folder}/${stem}.json")
      list(APPEND wanted "--emit-manifest=${folder}/${stem}.json")
      list(APPEND manifests "${folder}/${stem}.json")
    endif()
    foreach(output IN LISTS outputs)
      cmake_path(GET output PARENT_PATH parent)
      file(MAKE_DIRECTORY "${parent}")
    endforeach()
    add_custom_command(OUTPUT ${outputs}
      COMMAND Tile::tilec "${absolute}" ${wanted} -MD -MF "${folder}/${stem}.d" -MT "${object}" ${flags} ${T_OPTIONS}
      DEPENDS "${absolute}" Tile::tilec ${tuning} ${T_DEPENDS}
      DEPFILE "${folder}/${stem}.d"
      COMMENT "Compiling ${source}"
      VERBATIM COMMAND_EXPAND_LISTS)
    list(APPEND objects "${object}")
    list(APPEND headers "${header}")
  endforeach()

  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_custom_target(${name}_tile_outputs DEPENDS ${objects} ${headers} ${manifests})
  if(T_OBJECT)
    # CMake's object libraries hold only what CMake compiles: here consumers get the objects as sources.
    add_library(${name} INTERFACE)
    target_sources(${name} INTERFACE ${objects})
    set(scope INTERFACE)
  else()
    set(type STATIC)
    if(T_SHARED)
      set(type SHARED)
    endif()
    add_library(${name} ${type} ${objects})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
    set(scope PUBLIC)
  endif()
  add_dependencies(${name} ${name}_tile_outputs)
  target_sources(${name} ${scope} FILE_SET HEADERS BASE_DIRS "${folder}/include" FILES ${headers})
  target_link_libraries(${name} ${scope} Tile::rt)
  if(T_MANIFEST)
    set(${T_MANIFEST} "${manifests}" PARENT_SCOPE)
  endif()
endfunction()
