# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Thin wrappers over MLIR's CMake functions.

# A library of the compiler. MLIR libraries (MLIR_LIBS) are linked through
# mlir_target_link_libraries, which turns them into libMLIR.so.
#   add_iris_library(IrisFoo Foo.cpp MLIR_LIBS MLIRIR LINK_LIBS IrisBar
#                    DEPENDS MLIRFooIncGen)
function(add_iris_library name)
  cmake_parse_arguments(ARG "" "" "MLIR_LIBS;LINK_LIBS;DEPENDS" ${ARGN})
  add_mlir_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS}
    DISABLE_INSTALL
    DEPENDS ${ARG_DEPENDS})
  if(ARG_MLIR_LIBS)
    mlir_target_link_libraries(${name} PUBLIC ${ARG_MLIR_LIBS})
  endif()
  if(ARG_LINK_LIBS)
    target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  endif()
endfunction()
