# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# iris_add_check(<name> <program.mlir> [RANKS <n>...] [EXHAUST]
#                [OPTIONS <iris-run option>...])
#
# Adds a test <name>-<n> for each number of ranks (default: 2 3) that executes
# the program's @main in the interpreter and fails if there is a data race, a
# deadlock or another error: `iris-run --check`. With EXHAUST it executes all
# orders, up to equivalence, and fails too if there are more than it may execute.
#
#   include(CTest)
#   iris_add_check(kernels kernels.mlir RANKS 2 4 OPTIONS --schedules=100)
function(iris_add_check name program)
  cmake_parse_arguments(ARG "EXHAUST" "" "RANKS;OPTIONS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "iris_add_check(${name}): unknown arguments: "
                        "${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET Iris::iris-compile)
    message(FATAL_ERROR "iris_add_check(${name}): this installation of Iris "
                        "has no interpreter, which comes with iris-compile; "
                        "build Iris with IRIS_BUILD_COMPILER=ON")
  endif()
  if(NOT ARG_RANKS)
    set(ARG_RANKS 2 3)
  endif()
  get_filename_component(program "${program}" ABSOLUTE)
  if(ARG_EXHAUST)
    list(PREPEND ARG_OPTIONS --exhaust)
  endif()
  foreach(ranks IN LISTS ARG_RANKS)
    add_test(NAME "${name}-${ranks}"
      COMMAND Iris::iris-run --check -n "${ranks}" ${ARG_OPTIONS} "${program}")
    if(ARG_EXHAUST) # the exit status is 0 as well if a bound was reached
      set_tests_properties("${name}-${ranks}" PROPERTIES
        FAIL_REGULAR_EXPRESSION "bounded:")
    endif()
  endforeach()
endfunction()
