# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# iris_add_package(<name> <source.mlir> TARGETS <target>... [OUTPUT <file>]
#                  [OPTIONS <iris-compile option>...])
#
# Compiles <source.mlir> for every target (host, gfx942, sm_90a, ...) into the
# package <file> (default: <name>.iris in the current binary folder), as part of
# the target <name>. The property IRIS_PACKAGE of <name> is the package's path.
function(iris_add_package name source)
  cmake_parse_arguments(ARG "" "OUTPUT" "TARGETS;OPTIONS" ${ARGN})
  if(NOT TARGET Iris::iris-compile)
    message(FATAL_ERROR "iris_add_package(${name}): this installation of Iris "
                        "has no iris-compile; build Iris with "
                        "IRIS_BUILD_COMPILER=ON, or ship the package")
  endif()
  if(NOT ARG_TARGETS)
    message(FATAL_ERROR "iris_add_package(${name}): TARGETS is missing")
  endif()
  get_filename_component(source "${source}" ABSOLUTE)
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${name}.iris")
  endif()
  list(JOIN ARG_TARGETS "," targets)
  add_custom_command(
    OUTPUT "${ARG_OUTPUT}"
    COMMAND Iris::iris-compile "${source}" "--target=${targets}"
            --emit=package -o "${ARG_OUTPUT}" ${ARG_OPTIONS}
    DEPENDS "${source}" Iris::iris-compile
    COMMENT "Compiling ${name} for ${targets}"
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS "${ARG_OUTPUT}")
  set_target_properties(${name} PROPERTIES IRIS_PACKAGE "${ARG_OUTPUT}")
endfunction()
