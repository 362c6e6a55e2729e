# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# With IRIS_UNITY_BUILD, compiles up to sixteen sources of a target as one: their
# headers are read, and the templates that they share are instantiated, once.
# Every source still includes what it uses: the other presets compile each by
# itself.
function(iris_unity_build target)
  if(IRIS_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES
      UNITY_BUILD ON
      UNITY_BUILD_BATCH_SIZE 16
      UNITY_BUILD_CODE_AFTER_INCLUDE "#undef DEBUG_TYPE")
  endif()
endfunction()
