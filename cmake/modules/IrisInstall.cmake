# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Install rules, and the package that find_package(Iris) finds: in the installed
# tree, or in the build tree (Iris_DIR=<build>/lib/cmake/Iris).
include(CMakePackageConfigHelpers)

set(IRIS_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Iris")

install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/iris-c"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")
# The runtime's headers have the enumerators from it.
install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/iris/Plan"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/iris"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(TARGETS IrisABI EXPORT IrisTargets)

if(TARGET iris_rt)
  # Iris::runtime for consumers; the same name works inside this build.
  set_target_properties(iris_rt PROPERTIES EXPORT_NAME runtime)
  add_library(Iris::runtime ALIAS iris_rt)
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/runtime/include/"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          FILES_MATCHING PATTERN "*.h")
  install(TARGETS iris_rt EXPORT IrisTargets
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()

# Found by libiris_rt, which is in the same folder.
if(TARGET iris_ucx)
  install(TARGETS iris_ucx LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()

if(TARGET iris_nccl)
  set(_nccl_dir "${CMAKE_INSTALL_LIBDIR}/iris-nccl")
  install(TARGETS iris_nccl iris_rccl LIBRARY DESTINATION "${_nccl_dir}")
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/runtime/nccl/include/iris-nccl"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(FILES "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libiris_nccl.so"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()

# The tools, whose rpath finds Iris' libraries next to them and LLVM's in their
# link-time location.
foreach(tool iris-run iris-bench iris-compile iris-emulate iris-interpret iris-opt)
  if(TARGET ${tool})
    set_property(TARGET ${tool} APPEND PROPERTY
      INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(${tool} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${tool} EXPORT IrisTargets
            RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
endforeach()
if(TARGET IrisPlugin)
  install(TARGETS IrisPlugin LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()

install(EXPORT IrisTargets NAMESPACE Iris:: DESTINATION "${IRIS_CMAKE_DIR}")
configure_package_config_file(
  "${CMAKE_SOURCE_DIR}/cmake/modules/IrisConfig.cmake.in"
  "${CMAKE_BINARY_DIR}/install/IrisConfig.cmake"
  INSTALL_DESTINATION "${IRIS_CMAKE_DIR}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  "${CMAKE_BINARY_DIR}/install/IrisConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_BINARY_DIR}/install/IrisConfig.cmake"
  "${CMAKE_BINARY_DIR}/install/IrisConfigVersion.cmake"
  "${CMAKE_SOURCE_DIR}/cmake/modules/IrisAddCheck.cmake"
  "${CMAKE_SOURCE_DIR}/cmake/modules/IrisAddCollectives.cmake"
  "${CMAKE_SOURCE_DIR}/cmake/modules/IrisAddPackage.cmake"
  DESTINATION "${IRIS_CMAKE_DIR}")

# The same files and targets for users of the build tree.
set(_iris_build_config "${CMAKE_BINARY_DIR}/lib/cmake/Iris")
file(MAKE_DIRECTORY "${_iris_build_config}")
export(EXPORT IrisTargets NAMESPACE Iris::
       FILE "${_iris_build_config}/IrisTargets.cmake")
foreach(file
    "${CMAKE_BINARY_DIR}/install/IrisConfig.cmake"
    "${CMAKE_BINARY_DIR}/install/IrisConfigVersion.cmake"
    "${CMAKE_SOURCE_DIR}/cmake/modules/IrisAddCheck.cmake"
    "${CMAKE_SOURCE_DIR}/cmake/modules/IrisAddCollectives.cmake"
    "${CMAKE_SOURCE_DIR}/cmake/modules/IrisAddPackage.cmake")
  get_filename_component(name "${file}" NAME)
  configure_file("${file}" "${_iris_build_config}/${name}" COPYONLY)
endforeach()
