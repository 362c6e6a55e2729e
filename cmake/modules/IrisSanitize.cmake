# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Turns IRIS_SANITIZE into compile and link flags for all targets.
if(IRIS_SANITIZE)
  string(REPLACE ";" "," _iris_sanitizers "${IRIS_SANITIZE}")
  add_compile_options(-fsanitize=${_iris_sanitizers} -fno-omit-frame-pointer -g
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${_iris_sanitizers})
endif()
