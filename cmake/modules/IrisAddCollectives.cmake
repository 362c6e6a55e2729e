# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# iris_add_collectives(<name> TARGETS <target>... OPS <op>...
#                      [OUTPUT <file>] [OPTIONS <iris-compile option>...])
#
# Compiles the kernels of collectives for every target (host, gfx942, sm_90a,
# ...) into the package <file> (default: <name>.iris in the current binary
# folder), as part of the target <name>, whose property IRIS_PACKAGE is the
# package's path. A communicator that is given the package
# (iris::ccl::Communicator::addPackage, iriscclCommAddPackage) needs no compiler
# for them. An <op> is what `iris.collective` takes:
#
#   iris_add_collectives(kernels TARGETS gfx942 sm_90a
#     OPS "all_reduce sum bf16 size 8 {variant = \"one_shot\"}"
#         "all_reduce sum bf16 size 8 {variant = \"two_shot\"}"
#         "all_gather i8 size 8 {programs = 128}")
#
# A launch takes as many programs as its kernel was generated for at most: 32 by
# default, 128 where the selector shall be free (send, recv: 16).
# Operations that only move data serve every element type as i8. Without `size`
# a kernel serves groups of any size.
include("${CMAKE_CURRENT_LIST_DIR}/IrisAddPackage.cmake")

function(iris_add_collectives name)
  cmake_parse_arguments(ARG "" "OUTPUT" "TARGETS;OPS;OPTIONS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "iris_add_collectives(${name}): unknown arguments: "
                        "${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_OPS)
    message(FATAL_ERROR "iris_add_collectives(${name}): OPS is missing")
  endif()
  # Both address translation methods: which one a device needs is known only
  # when it is opened.
  if(NOT ARG_OPTIONS MATCHES "--translation")
    list(APPEND ARG_OPTIONS "--translation=both")
  endif()
  set(text "")
  set(index 0)
  foreach(op IN LISTS ARG_OPS)
    string(APPEND text "iris.collective @collective${index} ${op}\n")
    math(EXPR index "${index} + 1")
  endforeach()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.mlir")
  # Written only when it changes, so that nothing is recompiled needlessly.
  file(GENERATE OUTPUT "${source}" CONTENT "${text}")
  set(output)
  if(ARG_OUTPUT)
    set(output OUTPUT "${ARG_OUTPUT}")
  endif()
  iris_add_package(${name} "${source}" TARGETS ${ARG_TARGETS} ${output}
                   OPTIONS ${ARG_OPTIONS})
endfunction()
