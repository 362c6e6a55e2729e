# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Finds MLIR/LLVM 22 and sets up its CMake helpers.
#
# Debian does not put MLIR on CMake's default search path under its own name,
# and leaves MLIR_LINK_MLIR_DYLIB unset, which would link every MLIR library
# statically into each Iris binary.
option(MLIR_LINK_MLIR_DYLIB "Link against libMLIR.so" ON)
# The version, so that another MLIR on the search path is passed over.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Iris needs LLVM 22; found ${LLVM_PACKAGE_VERSION}. "
                      "Point MLIR_DIR at an LLVM 22 installation.")
endif()

set(LLVM_RUNTIME_OUTPUT_INTDIR "${CMAKE_BINARY_DIR}/bin")
set(LLVM_LIBRARY_OUTPUT_INTDIR "${CMAKE_BINARY_DIR}/lib")
set(MLIR_BINARY_DIR "${CMAKE_BINARY_DIR}")
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)
include(AddIris)

# Sets `out` to folders that hold the headers of LLVM, MLIR and LLD alone. Other
# packages put theirs into LLVM's include folder, too: cxxabi.h of libc++abi
# would come before the compiler's own. Behind the standard folders
# (-idirafter), LLVM's headers would come after those of another LLVM.
function(iris_llvm_headers out)
  set(links)
  set(folders ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH links index)
    set(link "${CMAKE_BINARY_DIR}/llvm-headers/${index}")
    list(APPEND links "${link}")
    file(MAKE_DIRECTORY "${link}")
    foreach(project llvm llvm-c mlir mlir-c lld)
      if(IS_DIRECTORY "${folder}/${project}")
        file(CREATE_LINK "${folder}/${project}" "${link}/${project}" SYMBOLIC)
      endif()
    endforeach()
  endforeach()
  set(${out} "${links}" PARENT_SCOPE)
endfunction()

iris_llvm_headers(_iris_llvm_headers)
include_directories(SYSTEM ${_iris_llvm_headers})
include_directories("${CMAKE_CURRENT_SOURCE_DIR}/include"
                    "${CMAKE_CURRENT_BINARY_DIR}/include")
separate_arguments(_iris_llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${_iris_llvm_definitions})
