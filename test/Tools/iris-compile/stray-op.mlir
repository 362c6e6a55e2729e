// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not iris-compile %s --target=sm_90a -o %t 2>&1 | FileCheck %s
// RUN: not iris-compile %s --target=gfx942 -o %t 2>&1 | FileCheck %s
// RUN: not iris-compile %s --target=host -o %t 2>&1 | FileCheck %s
// RUN: not ls %t

// CHECK: stray-op.mlir:[[# @LINE + 5]]:3: error: 'gpu.barrier' op is outside of the functions of its gpu.module; expected functions and globals there
gpu.module @kernels {
  gpu.func @k() kernel {
    gpu.return
  }
  gpu.barrier
}
