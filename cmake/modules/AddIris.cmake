# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Thin wrappers over MLIR's CMake functions.

# A compilation spends its time in MLIR and LLVM. At -O1 the compiler's own
# libraries are built in three quarters of the time, and no compilation takes
# more than a few percent longer.
set(iris_compiler_flags $<$<CONFIG:Release>:-O1>)

# Precompiled MLIR headers for all libraries of the compiler: parsing them takes
# most of a compilation. Sources still include what they use;
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON turns them off.
function(add_iris_mlir_headers)
  set(source "${CMAKE_BINARY_DIR}/IrisMLIRHeaders.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(IrisMLIRHeaders OBJECT "${source}")
  llvm_update_compile_flags(IrisMLIRHeaders)
  target_compile_options(IrisMLIRHeaders PRIVATE ${iris_compiler_flags})
  # ccache compares the contents of headers; Clang would compare their times.
  target_compile_options(IrisMLIRHeaders PRIVATE
    $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
  target_precompile_headers(IrisMLIRHeaders PRIVATE
    <mlir/Dialect/Arith/IR/Arith.h>
    <mlir/Dialect/Func/IR/FuncOps.h>
    <mlir/Dialect/GPU/IR/GPUDialect.h>
    <mlir/Dialect/LLVMIR/LLVMDialect.h>
    <mlir/Dialect/MemRef/IR/MemRef.h>
    <mlir/Dialect/SCF/IR/SCF.h>
    <mlir/Dialect/Tensor/IR/Tensor.h>
    <mlir/Dialect/Vector/IR/VectorOps.h>
    <mlir/IR/PatternMatch.h>
    <mlir/Interfaces/FunctionInterfaces.h>
    <mlir/Pass/Pass.h>)
endfunction()

# A library of the compiler. MLIR libraries (MLIR_LIBS) are linked through
# mlir_target_link_libraries, which turns them into libMLIR.so.
#   add_iris_library(IrisFoo Foo.cpp MLIR_LIBS MLIRIR LINK_LIBS IrisBar
#                    DEPENDS MLIRFooIncGen)
function(add_iris_library name)
  cmake_parse_arguments(ARG "" "" "MLIR_LIBS;LINK_LIBS;DEPENDS" ${ARGN})
  add_mlir_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS}
    DISABLE_INSTALL
    DEPENDS ${ARG_DEPENDS})
  if(NOT TARGET IrisMLIRHeaders)
    add_iris_mlir_headers()
  endif()
  target_precompile_headers(obj.${name} REUSE_FROM IrisMLIRHeaders)
  iris_unity_build(obj.${name})
  target_compile_options(obj.${name} PRIVATE ${iris_compiler_flags})
  if(ARG_MLIR_LIBS)
    mlir_target_link_libraries(${name} PUBLIC ${ARG_MLIR_LIBS})
  endif()
  if(ARG_LINK_LIBS)
    target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  endif()
endfunction()
