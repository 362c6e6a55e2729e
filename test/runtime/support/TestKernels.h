// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packages of TestKernels.cpp and TestMain.cpp, and arguments for them.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_TESTKERNELS_H
#define IRIS_TEST_RUNTIME_SUPPORT_TESTKERNELS_H

#include "iris/rt/Kernel.h"
#include "iris/rt/Package.h"
#include "support/PackageWriter.h"
#include "support/ReadFile.h"

#include <string>
#include <vector>

namespace iris::rt::test {

/// Metadata of one kernel of TestKernels.cpp.
inline std::string kernelMetadata(const std::string &name, bool coresident,
                                  uint64_t arenaBytes = 0) {
  return R"({"name": ")" + name + R"(", "module": "kernels", "symbol": ")" +
         name + R"(", "workgroup": [1, 1, 1], "shared_bytes": 0,
      "dynamic_shared_bytes": 0, "arena_bytes": )" +
         std::to_string(arenaBytes) + R"(, "coresident": )" +
         (coresident ? "true" : "false") + R"(, "args_bytes": 128, "args": [
      {"kind": "context", "offset": 0},
      {"kind": "memref", "offset": 88, "element": "i32", "symmetric": true,
       "sizes": [null], "strides": null},
      {"kind": "memref", "offset": 104, "element": "i32", "symmetric": true,
       "sizes": [null], "strides": null},
      {"kind": "scalar", "offset": 120, "element": "i32"},
      {"kind": "scalar", "offset": 124, "element": "i32"}],
      "hidden": [],
      "sites": [{"op": "test.)" +
         name + R"(", "loc": "test.mlir:12:5", "what": "the value",
                 "element": "i32"}]})";
}

/// A package with the test kernels for `arch`, for these translation methods,
/// and with the `@main` in the file `mainPath`, if given.
inline std::string testPackageBytes(
    const std::string &mainPath = "", const std::string &arch = "host",
    const std::vector<const char *> &translations = {"stride", "table"}) {
  std::string metadata = "{\"kernels\": [" + kernelMetadata("fill", false) +
                         "," + kernelMetadata("all_gather", false) + "," +
                         kernelMetadata("check_gathered", false) + "," +
                         kernelMetadata("check_equal", false) + "," +
                         kernelMetadata("signal_flag", false) + "," +
                         kernelMetadata("wait_flag", true) + "," +
                         kernelMetadata("program_barrier", true) + "," +
                         kernelMetadata("rank_barrier", true) + "," +
                         kernelMetadata("use_arena", false, 5000) + "]}";
  std::string bytes;
  for (const char *translation : translations)
    bytes += writeEntry(
        kernelEntry(arch, metadata, readFile(IRIS_TEST_KERNELS), translation));
  if (!mainPath.empty())
    bytes += writeEntry(mainEntry(readFile(mainPath)));
  return bytes;
}

/// Arguments of every test kernel.
inline std::vector<IrisRtArg> testArgs(uint64_t a, int64_t aSize, uint64_t b,
                                       int64_t bSize, int32_t x = 0,
                                       int32_t y = 0) {
  return {makeContextArg(), makeMemrefArg(IRISRT_ELT_I32, a, {aSize}),
          makeMemrefArg(IRISRT_ELT_I32, b, {bSize}),
          makeScalarArg(IRISRT_ELT_I32, static_cast<uint32_t>(x)),
          makeScalarArg(IRISRT_ELT_I32, static_cast<uint32_t>(y))};
}

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_TESTKERNELS_H
