# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The kernels of libiris_nccl, compiled ahead of time: a folder kernels.TARGET
# beside the library for each target, so that programs need no compiler. All of
# NCCL's operations, types and reductions are thousands of kernels per target,
# hours of one processor; IRIS_NCCL_KERNEL_OPTIONS selects some.
set(IRIS_NCCL_KERNELS "" CACHE STRING
    "Targets whose kernels are installed with libiris_nccl: \"sm_90a;gfx942\"")
set(IRIS_NCCL_KERNEL_OPTIONS "" CACHE STRING
    "Which kernels: options of iris-bench, such as \
\"--nccl-sizes=8;--nccl-types=bf16,f32;--nccl-reductions=sum,avg,max\"")
set(IRIS_NCCL_KERNEL_JOBS "" CACHE STRING
    "Processes that compile them at once (default: one for each processor)")

if(NOT IRIS_NCCL_KERNELS)
  return()
endif()
foreach(tool iris-compile iris-bench iris_nccl)
  if(NOT TARGET ${tool})
    message(FATAL_ERROR "IRIS_NCCL_KERNELS needs the compiler and the runtime; "
                        "expected IRIS_BUILD_COMPILER and IRIS_BUILD_RUNTIME")
  endif()
endforeach()

set(_jobs "")
if(IRIS_NCCL_KERNEL_JOBS)
  set(_jobs "--jobs=${IRIS_NCCL_KERNEL_JOBS}")
endif()
foreach(target IN LISTS IRIS_NCCL_KERNELS)
  set(_folder "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/iris-nccl/kernels.${target}")
  set(_list "${CMAKE_BINARY_DIR}/nccl-kernels.${target}.mlir")
  set(_stamp "${CMAKE_BINARY_DIR}/nccl-kernels.${target}.stamp")
  # Both address translation methods: which one a device needs is known only
  # when it is opened. Kernels of an earlier list must not remain.
  add_custom_command(
    OUTPUT "${_stamp}"
    COMMAND iris-bench --nccl "--requests=${_list}" "--target=${target}"
            ${IRIS_NCCL_KERNEL_OPTIONS}
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${_folder}"
    COMMAND iris-compile "${_list}" --split "--target=${target}"
            --translation=both -g0 ${_jobs} -o "${_folder}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${_stamp}"
    DEPENDS iris-bench iris-compile
    COMMENT "Compiling the kernels of libiris_nccl for ${target}"
    VERBATIM)
  add_custom_target(iris-nccl-kernels-${target} ALL DEPENDS "${_stamp}")
  install(DIRECTORY "${_folder}"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/iris-nccl"
          FILES_MATCHING PATTERN "*.iris")
endforeach()
