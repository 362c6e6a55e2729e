# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Most of the code of a test runs once: in release builds it is optimized for a
# short build. What is tested has its own flags.
#   iris_test_options(<target> [LOOPS])
# LOOPS marks tests that compute and compare large data themselves.
function(iris_test_options target)
  cmake_parse_arguments(ARG "LOOPS" "" "" ${ARGN})
  if(ARG_LOOPS)
    set(level -O1)
  else()
    set(level -O0)
  endif()
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
endfunction()
