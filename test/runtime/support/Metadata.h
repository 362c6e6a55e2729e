// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Metadata that several tests of the runtime use.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_METADATA_H
#define IRIS_TEST_RUNTIME_SUPPORT_METADATA_H

#include <string>

namespace iris::rt::test {

/// One kernel `kernels::k` that uses every feature of the metadata:
///   (!iris.ctx, memref<?x?xf16, symmetric> with divisibility,
///    memref<4x?xf32, strided<[?, 1]>>, i32 divisible by 4, i1, index)
inline std::string richMetadata() {
  return R"({"kernels": [{
    "name": "k", "module": "kernels", "symbol": "k",
    "workgroup": [256, 1, 1], "shared_bytes": 4096,
    "dynamic_shared_bytes": 1024, "arena_bytes": 0, "coresident": true,
    "args_bytes": 152,
    "args": [
      {"kind": "context", "offset": 0},
      {"kind": "memref", "offset": 88, "element": "f16", "symmetric": true,
       "sizes": [null, null], "strides": null,
       "divisibility": {"pointer": 16, "sizes": [1, 8], "strides": [8, 1]}},
      {"kind": "memref", "offset": 112, "element": "f32", "symmetric": false,
       "sizes": [4, null], "strides": [null, 1]},
      {"kind": "scalar", "offset": 136, "element": "i32", "divisibility": 4},
      {"kind": "scalar", "offset": 140, "element": "i1"},
      {"kind": "scalar", "offset": 144, "element": "index"}],
    "hidden": [],
    "sites": [{"op": "iris.wait", "loc": "a.mlir:12:5", "what": "",
               "element": "i32"},
              {"op": "iris.expect_eq", "loc": "a.mlir:20:3",
               "what": "gathered"}],
    "dependent_launch": true,
    "config": {"num_warps": 4}
  }]})";
}

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_METADATA_H
