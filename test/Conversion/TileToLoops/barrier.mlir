// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-pipeline="target=host until=tiles" | FileCheck %s

// A host program is one thread: its barriers are no-ops.
gpu.module @kernels {
  // CHECK-LABEL: func.func @meets
  // CHECK-NOT: gpu.barrier
  // CHECK: return
  gpu.func @meets(%out: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1.0> : tensor<64xf32>
    tile.store %one, %out[%c0] : tensor<64xf32>, memref<?xf32>
    gpu.barrier
    gpu.return
  }
}
