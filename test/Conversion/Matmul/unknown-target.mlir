// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not iris-opt %s --tile-assign-matmul-layouts=target=gfx9999 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not iris-opt %s --iris-pipeline=target=sm_95 2>&1 | FileCheck %s --check-prefix=PIPELINE

// No chip stands for its family.
// PASS: error: 'tile.matmul' op is compiled for an unknown target 'gfx9999'; expected one of gfx942, {{.*}}, host
// PIPELINE: error: 'tile.matmul' op is compiled for an unknown target 'sm_95'; expected one of gfx942, {{.*}}, host
gpu.module @kernels {
  gpu.func @matmul(%a: memref<?x?xf16>, %c: memref<?x?xf32>, %k: index) kernel {
    %r = tile.matmul %a[%k, %k], %a[%k, %k] k(%k) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
    tile.store %r, %c[%k, %k] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }
}
