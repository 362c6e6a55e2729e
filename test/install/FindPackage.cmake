# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# See CMakeLists.txt.  Every step's output appears when the test fails.
cmake_minimum_required(VERSION 3.25)

function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
if(TREE STREQUAL "install")
  set(location "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
  step("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
  # The installed tree must not need the build tree.
  step("${WORK}/prefix/bin/iris-run" --version)
  if(EXISTS "${WORK}/prefix/bin/iris-compile")
    step("${WORK}/prefix/bin/iris-compile" --version)
  endif()
else()
  set(location "-DIris_DIR=${BUILD}/lib/cmake/Iris")
endif()

# A program that loads a sanitized library must be sanitized as well.
set(flags)
if(SANITIZE)
  string(REPLACE ";" "," sanitizers "${SANITIZE}")
  set(flags "-DCMAKE_C_FLAGS=-fsanitize=${sanitizers}"
            "-DCMAKE_CXX_FLAGS=-fsanitize=${sanitizers}")
endif()
foreach(project example collectives check)
  set(source "${EXAMPLE}")
  if(NOT project STREQUAL "example")
    set(source "${CMAKE_CURRENT_LIST_DIR}/${project}")
  endif()
  step("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${source}"
    -B "${WORK}/${project}" "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}"
    "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
    ${location} ${flags})
  step("${CMAKE_COMMAND}" --build "${WORK}/${project}")
endforeach()

# Without the compiler there are no kernels to run.
if(EXISTS "${WORK}/example/kernels.iris")
  foreach(program embed-cpp embed-c)
    foreach(ranks 1 2 4)
      step("${WORK}/example/${program}" -n ${ranks}
           "${WORK}/example/kernels.iris")
    endforeach()
  endforeach()
  step("${WORK}/collectives/collectives" "${WORK}/collectives/kernels.iris")
  step("${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/check"
       --output-on-failure --no-tests=error)
else()
  message(STATUS "no compiler in this build: the programs were not run")
endif()
