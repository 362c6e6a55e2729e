// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An unranked buffer, which pipelines reject earlier (verify-portable.mlir).
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-inline-functions,iris-resolve-dims))' --verify-diagnostics

gpu.module @kernels {
  gpu.func @no_rank(%b: memref<?xf32>, %out: memref<?xindex>) kernel {
    %c0 = arith.constant 0 : index
    %m1 = arith.constant -1 : index
    %any = memref.cast %b : memref<?xf32> to memref<*xf32>
    // expected-error @below {{'memref.dim' op takes a dimension of 'memref<*xf32>'; expected a buffer with a rank}}
    %0 = memref.dim %any, %m1 : memref<*xf32>
    memref.store %0, %out[%c0] : memref<?xindex>
    gpu.return
  }
}
